"""cuBLAS through torch.mm, the bound of every op, and torch.compile."""
import torch
import torch.nn.functional as F

from ..inputs import (
    BF16, BLOCK_LEAVES, E4M3, Maker, block_forward, rms_norm, rope_half, silu_mul,
    swiglu_backward)
from .base import Case, Provider, register


def autograd_case(op, t, leaves, forward, names, note=""):
    """forward() gives (x2, qkv) from leaf tensors; with bwd=1 the case also takes
    the gradients of all leaves, under `names`."""
    if not op.bwd:
        def infer():
            with torch.no_grad():
                return forward()

        return Case(infer, lambda out: dict(x2=out[0], qkv=out[1]), note)

    def train():
        x2, qkv = forward()
        return x2.detach(), qkv.detach(), torch.autograd.grad(
            (x2, qkv), leaves, (t["dx2"], t["dqkv"]))

    return Case(
        train, lambda out: dict(
            x2=out[0], qkv=out[1], **{"d" + k: g for k, g in zip(names, out[2])}), note)


def _scaled_mm(op, t):
    """torch's product of 8-bit factors, with the sums that the tensor cores keep:
    cuBLAS for a scale a tensor, CUTLASS for one a row."""
    a, b = t["A"], t["W"].T
    s, u = (t["s"][:, None], t["t"][None]) if op.scale == "row" else (t["s"], t["t"])
    keywords = dict(use_fast_accum=True)
    if op.out == "bf16":
        keywords["out_dtype"] = BF16
        return Case(lambda: torch._scaled_mm(a, b, s, u, **keywords),
                    lambda out: dict(out=out), launches=1)
    keywords.update(out_dtype=E4M3, scale_result=t["u"])
    return Case(lambda: torch._scaled_mm(a, b, s, u, **keywords), lambda out: {},
                "without the largest magnitude", launches=1)


@register
class Cublas(Provider):
    """The bound: only the op's matrix products, each torch.mm, or torch.bmm of a batch,
    into its output."""

    name = "cublas"

    def case(self, op, t):
        if op.kind == "gemm":
            out = torch.empty(op.M, op.N, device=self.context.device, dtype=BF16)
            b = t["W"].T
            return Case(lambda: torch.mm(t["A"], b, out=out), lambda _: dict(out=out), launches=1)
        if op.kind == "gemm_fp8":
            return _scaled_mm(op, t)
        new = Maker(self.context.device)
        calls = []
        for p in op.products:
            if p.batch > 1:
                calls.append((
                    torch.bmm, new.normal(p.batch, p.m, p.k),
                    new.normal(p.batch, p.n, p.k, scale=p.k**-0.5).transpose(1, 2),
                    torch.empty(p.batch, p.m, p.n, device=self.context.device, dtype=BF16)))
                continue
            a = new.normal(p.k, p.m).T if p.layout == "tn" else new.normal(p.m, p.k)
            b = new.weight(p.n, p.k).T if p.layout == "nt" else new.normal(
                p.k, p.n, scale=p.k**-0.5)
            calls.append((torch.mm, a, b, torch.empty(p.m, p.n, device=a.device, dtype=BF16)))

        def run():
            for multiply, a, b, out in calls:
                multiply(a, b, out=out)

        return Case(run, lambda _: {}, "products only", launches=len(calls))


@register
class Torch(Provider):
    """torch.compile (dynamic=False) of the unfused formulas."""

    name = "torch"
    versions = ("torch", "triton")
    mode = None

    def setup(self):
        self.compiled = {}

    def _compile(self, op, fn):
        """Compiled once per op: the sets of inputs share it."""
        if not self.context.on_gpu:
            return fn
        if op.key not in self.compiled:
            torch._dynamo.reset()  # Ops share code objects.
            self.compiled = {op.key: torch.compile(fn, dynamic=False, mode=self.mode)}
        return self.compiled[op.key]

    def gemm(self, op, t):
        f = self._compile(op, lambda a, w: a @ w.T)
        return Case(lambda: f(t["A"], t["W"]), lambda out: dict(out=out))

    def gemm_fp8(self, op, t):
        rows, narrow = op.scale == "row", op.out == "e4m3"

        def formula(a, w, s, v, u):
            # The sum in f32 has no other way out.
            z = torch._scaled_mm(
                a, w.T, *((s[:, None], v[None]) if rows else (s, v)),
                out_dtype=BF16, use_fast_accum=True)
            if not narrow:
                return z
            z = z.float()
            return (z * u).clamp(-448, 448).to(E4M3), z.abs().max()

        f = self._compile(op, formula)
        return Case(lambda: f(*(t[k] for k in ("A", "W", "s", "t", "u"))),
                    lambda out: dict(out=out[0], amax=out[1]) if narrow else dict(out=out))

    def gemm_rms(self, op, t):
        def formula(a, w, res, wn):
            x = a @ w.T + res
            return x, rms_norm(x, wn)

        f = self._compile(op, formula)
        return Case(lambda: f(t["A"], t["W"], t["res"], t["wn"]),
                    lambda out: dict(x=out[0], h=out[1]))

    def gemm_swiglu(self, op, t):
        keep, scale = op.keep, op.scale

        def formula(a, w, r):
            z = a @ w.T
            if scale:
                z = (z * r[:, None]).to(a.dtype)
            return (silu_mul(z), z) if keep else (silu_mul(z),)

        f = self._compile(op, formula)
        return Case(lambda: f(t["A"], t["W"], t["r"]), lambda out: dict(zip("yz", out)))

    def gemm_rope(self, op, t):
        scale, heads = op.scale, op.Hq + op.Hk

        def formula(a, w, r, cos, sin):
            z = a @ w.T
            if scale:
                z = (z * r[:, None]).to(a.dtype)
            return rope_half(z, cos, sin, heads)

        f = self._compile(op, formula)
        return Case(lambda: f(t["A"], t["W"], t["r"], t["cos"], t["sin"]),
                    lambda out: dict(qkv=out))

    def gemm_ce(self, op, t):
        scale = op.scale

        def formula(a, w, r, target):
            z = a @ w.T
            if scale:
                z = (z * r[:, None]).to(a.dtype)
            return F.cross_entropy(z.float(), target, reduction="none")

        f = self._compile(op, formula)
        return Case(lambda: f(t["A"], t["W"], t["r"], t["target"]), lambda out: dict(loss=out))

    def swiglu_bwd(self, op, t):
        stat = op.stat

        def formula(dy, wd, z):
            dz, y = swiglu_backward(dy @ wd, z)
            out = (dz.to(BF16), y.to(BF16))
            return out + ((dz * z.float()).sum(-1),) if stat else out

        f = self._compile(op, formula)
        return Case(lambda: f(t["dy"], t["Wd"], t["z"]),
                    lambda out: dict(zip(("dz", "y", "zdz"), out)))

    def norm_bwd(self, op, t):
        def formula(dz, w, x, wn, dres, r):
            D = (dz @ w).float()
            c = x.float() * r[:, None]
            Dw = D * wn.float()
            dx = dres.float() + r[:, None] * (Dw - c * (Dw * c).mean(-1, keepdim=True))
            return dx.to(BF16), (D * c).sum(0).to(BF16)

        f = self._compile(op, formula)
        return Case(lambda: f(*(t[k] for k in ("dz", "W", "x", "wn", "dres", "r"))),
                    lambda out: dict(dx=out[0], dwn=out[1]))

    def experts(self, op, t):
        if op.proj == "down":
            f = self._compile(op, lambda a, w, res: torch.bmm(a, w.transpose(1, 2)) + res)
            return Case(lambda: f(t["A"], t["W"], t["res"]), lambda out: dict(x=out))

        def formula(a, w, r):
            z = torch.bmm(a, w.transpose(1, 2))
            return silu_mul((z * r[..., None]).to(a.dtype))

        f = self._compile(op, formula)
        return Case(lambda: f(t["A"], t["W"], t["r"]), lambda out: dict(y=out))

    def block(self, op, t):
        heads = 2 * op.H
        f = self._compile(op, lambda *args: block_forward(*args, heads))
        leaves = [t[k].detach().requires_grad_(bool(op.bwd)) for k in BLOCK_LEAVES]
        return autograd_case(
            op, t, leaves, lambda: f(*leaves, t["cos"], t["sin"]), BLOCK_LEAVES)


@register
class TorchMax(Torch):
    """torch.compile with mode max-autotune-no-cudagraphs; slow to compile."""

    name = "torch-max"
    mode = "max-autotune-no-cudagraphs"
    default = False
