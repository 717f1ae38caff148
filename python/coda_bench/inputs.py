"""The tensors of each op, and what they give in torch. Needs torch.

`make` gives the inputs of an op, `reference` its outputs at a precision.
`separate` and `joined` translate between these and the arguments and results
that the graphs of `graphs` name.
"""
from typing import Dict

import torch
import torch.nn.functional as F

from .ops import EPS, EXPERTS, HEAD_DIM, SEQ, VOCAB, Op

BF16, F32, E4M3 = torch.bfloat16, torch.float32, torch.float8_e4m3fn
Tensors = Dict[str, torch.Tensor]


class Maker:
    """Makes random tensors on one device. Never zeros: they run faster."""

    def __init__(self, device: torch.device):
        self.device = device

    def normal(self, *shape: int, scale: float = 1.0, dtype=BF16) -> torch.Tensor:
        made = torch.randn(*shape, device=self.device, dtype=F32 if dtype is F32 else BF16)
        return (made * scale).to(dtype)

    def weight(self, n: int, k: int) -> torch.Tensor:
        return self.normal(n, k, scale=k**-0.5)

    def norm_weight(self, n: int) -> torch.Tensor:
        return 1 + self.normal(n, scale=0.1)

    def row_scale(self, m: int) -> torch.Tensor:
        return torch.rand(m, device=self.device) + 0.5


def rms_norm(x, w, eps=EPS):
    """In the dtype of x, with statistics in f32."""
    return F.rms_norm(x, (x.shape[-1],), w, eps)


def silu_mul(z):
    gate, up = z.chunk(2, dim=-1)
    return F.silu(gate) * up


def rope_half(z, cos, sin, heads):
    """Half-split RoPE on the first `heads` heads of z (M, N); cos, sin (M, D/2) in f32.

    The rotation is in f32, its result in the dtype of z; the other columns pass.
    """
    rows, width = z.shape[0], heads * HEAD_DIM
    x = z[:, :width].view(rows, heads, 2, HEAD_DIM // 2).float()
    c, s = cos[:, None, :], sin[:, None, :]
    low, high = x[:, :, 0], x[:, :, 1]
    out = torch.stack((low * c - high * s, high * c + low * s), dim=2).reshape(rows, width)
    return torch.cat((out.to(z.dtype), z[:, width:]), dim=1)


def swiglu_backward(d, z):
    """(dz, y) in f32 for the gradient d of y = silu(gate) up."""
    gate, up = z.float().chunk(2, dim=-1)
    d, s = d.float(), torch.sigmoid(gate)
    dz = torch.cat((d * up * s * (1 + gate * (1 - s)), d * gate * s), dim=-1)
    return dz, gate * s * up


def interleave(w):
    """Rows [gate; up] to gate 0, up 0, gate 1, up 1, ..."""
    return w.view(2, w.shape[0] // 2, *w.shape[1:]).transpose(0, 1).reshape(w.shape).contiguous()


def rope_permutation(heads: int, n: int, device) -> torch.Tensor:
    """p such that z[:, p] has the halves of each of the first heads as adjacent pairs."""
    head = torch.arange(HEAD_DIM).view(2, HEAD_DIM // 2).T.reshape(-1)
    index = (torch.arange(heads)[:, None] * HEAD_DIM + head).reshape(-1)
    return torch.cat((index, torch.arange(heads * HEAD_DIM, n))).to(device)


def rope_tables(M: int, device) -> Tensors:
    frequency = 1.0 / (
        10000.0 ** (torch.arange(0, HEAD_DIM, 2, dtype=torch.float64) / HEAD_DIM))
    position = torch.arange(M) % SEQ
    angle = position[:, None].double() * frequency[None]
    return dict(
        inv_freq=frequency.to(device), pos=position.to(device),
        freq=frequency.float().to(device),
        cos=angle.cos().float().to(device), sin=angle.sin().float().to(device))


def _scaled(op: Op, t: Tensors, dtype):
    z = t["A"].to(dtype) @ t["W"].to(dtype).T
    return (z.float() * t["r"][:, None]).to(dtype) if op.scale else z


class _Gemm:
    @staticmethod
    def make(op, new):
        return dict(A=new.normal(op.M, op.K), W=new.weight(op.N, op.K))

    @staticmethod
    def reference(op, t, dtype):
        return dict(out=t["A"].to(dtype) @ t["W"].to(dtype).T)

    @staticmethod
    def separate(op, t):
        return t

    @staticmethod
    def joined(op, t, r):
        return r


class _GemmFp8(_Gemm):
    @staticmethod
    def make(op, new):
        rows = op.scale == "row"
        unit = torch.ones((), device=new.device)
        return dict(
            A=new.normal(op.M, op.K).to(E4M3), W=new.normal(op.N, op.K).to(E4M3),
            s=new.row_scale(op.M) if rows else unit,
            t=(new.row_scale(op.N) if rows else unit) * op.K**-0.5, u=16 * unit)

    @staticmethod
    def reference(op, t, dtype):
        if dtype is BF16 and t["A"].is_cuda:
            # Beside it: the sums that tensor cores keep of 8-bit factors.
            unit = torch.ones((), device=t["A"].device)
            z = torch._scaled_mm(t["A"], t["W"].T, unit, unit, out_dtype=BF16,
                                 use_fast_accum=True).float()
        else:
            z = (t["A"].to(dtype) @ t["W"].to(dtype).T).float()
        z = z * (t["s"][:, None] * t["t"] if op.scale == "row" else t["s"] * t["t"])
        if op.out == "bf16":
            return dict(out=z.to(dtype))
        q = (z * t["u"]).clamp(-448, 448)
        return dict(out=q if dtype is F32 else q.to(E4M3).float(), amax=z.abs().max())


class _GemmRms(_Gemm):
    @staticmethod
    def make(op, new):
        return dict(A=new.normal(op.M, op.K), W=new.weight(op.h, op.K),
                    res=new.normal(op.M, op.h), wn=new.norm_weight(op.h))

    @staticmethod
    def reference(op, t, dtype):
        x = t["A"].to(dtype) @ t["W"].to(dtype).T + t["res"].to(dtype)
        return dict(x=x, h=rms_norm(x, t["wn"].to(dtype)))

    @staticmethod
    def joined(op, t, r):
        scale = torch.rsqrt(r["ss"].sum(1) / op.h + EPS)
        return dict(x=r["x"], h=r["xw"].float() * scale[:, None])


class _GemmSwiglu(_Gemm):
    @staticmethod
    def make(op, new):
        w = new.weight(2 * op.F, op.h)
        return dict(A=new.normal(op.M, op.h), W=w, Wi=interleave(w), r=new.row_scale(op.M))

    @staticmethod
    def reference(op, t, dtype):
        z = _scaled(op, t, dtype)
        return dict(y=silu_mul(z), **({"z": z} if op.keep else {}))

    @staticmethod
    def separate(op, t):
        gate, up = t["W"].chunk(2)
        return dict(A=t["A"], Wg=gate, Wu=up, r=t["r"])

    @staticmethod
    def joined(op, t, r):
        return dict(y=r["y"], **({"z": torch.cat((r["g"], r["u"]), 1)} if op.keep else {}))


class _GemmRope(_Gemm):
    @staticmethod
    def make(op, new):
        w = new.weight(op.N, op.h)
        p = rope_permutation(op.Hq + op.Hk, op.N, new.device)
        return dict(A=new.normal(op.M, op.h), W=w, Wi=w[p].contiguous(), perm=p,
                    r=new.row_scale(op.M), **rope_tables(op.M, new.device))

    @staticmethod
    def reference(op, t, dtype):
        return dict(qkv=rope_half(_scaled(op, t, dtype), t["cos"], t["sin"], op.Hq + op.Hk))

    @staticmethod
    def separate(op, t):
        q, k, v = t["W"].split([heads * HEAD_DIM for heads in (op.Hq, op.Hk, op.Hk)])
        return dict(t, Wq=q, Wk=k, Wv=v)

    @staticmethod
    def joined(op, t, r):
        return dict(qkv=torch.cat((r["q"], r["k"], r["v"]), 1))


class _GemmCE(_Gemm):
    @staticmethod
    def make(op, new):
        return dict(A=new.normal(op.M, op.h), W=new.weight(VOCAB, op.h),
                    target=torch.randint(0, VOCAB, (op.M,), device=new.device),
                    r=new.row_scale(op.M))

    @staticmethod
    def reference(op, t, dtype):
        z = _scaled(op, t, dtype)
        return dict(loss=F.cross_entropy(z.float(), t["target"], reduction="none"))


class _SwigluBwd(_Gemm):
    @staticmethod
    def make(op, new):
        z = new.normal(op.M, 2 * op.F)
        zi = z.view(op.M, 2, op.F).transpose(1, 2).reshape(op.M, 2 * op.F).contiguous()
        return dict(dy=new.normal(op.M, op.h), Wd=new.weight(op.h, op.F), z=z, zi=zi)

    @staticmethod
    def reference(op, t, dtype):
        dz, y = swiglu_backward(t["dy"].to(dtype) @ t["Wd"].to(dtype), t["z"].to(dtype))
        out = dict(dz=dz.to(dtype), y=y.to(dtype))
        if op.stat:
            out["zdz"] = (out["dz"].float() * t["z"].float()).sum(-1)
        return out

    @staticmethod
    def separate(op, t):
        gate, up = t["z"].chunk(2, 1)
        return dict(dy=t["dy"], Wd=t["Wd"], g=gate.contiguous(), u=up.contiguous())

    @staticmethod
    def joined(op, t, r):
        out = dict(dz=torch.cat((r["dg"], r["du"]), 1), y=r["y"])
        if op.stat:
            out["zdz"] = r["zdz"].sum(1)
        return out


class _NormBwd(_Gemm):
    @staticmethod
    def make(op, new):
        t = dict(dz=new.normal(op.M, op.K), W=new.normal(op.K, op.h, scale=op.K**-0.5),
                 x=new.normal(op.M, op.h), wn=new.norm_weight(op.h),
                 dres=new.normal(op.M, op.h))
        x = t["x"].float()
        t["r"] = torch.rsqrt(x.square().mean(-1) + EPS)
        D = t["dz"].float() @ t["W"].float()
        # What the kernel before this one hands to deferred implementations.
        t["zdz"] = (D * t["wn"].float() * x * t["r"][:, None]).sum(-1)
        t["dzr"] = (t["dz"].float() * t["r"][:, None]).to(BF16)
        return t

    @staticmethod
    def reference(op, t, dtype):
        D = t["dz"].to(dtype) @ t["W"].to(dtype)
        r = t["r"][:, None]
        c = t["x"].float() * r
        Dw = D.float() * t["wn"].float()
        dx = (r * (Dw - c * (Dw * c).mean(-1, keepdim=True))).to(dtype).float()
        return dict(dx=(t["dres"].float() + dx).to(dtype), dwn=(D.float() * c).sum(0).to(dtype))

    @staticmethod
    def separate(op, t):
        names = "gu" if op.proj == "gate_up" else "qkv"
        made = dict(t, corr=-(t["r"] ** 2 / op.h) * t["zdz"])
        for name, d, w in zip(names, t["dzr"].chunk(len(names), 1), t["W"].chunk(len(names))):
            made["d" + name], made["W" + name] = d.contiguous(), w
        return made


class _Experts(_Gemm):
    @staticmethod
    def make(op, new):
        t = dict(A=new.normal(EXPERTS, op.T, op.K),
                 W=new.normal(EXPERTS, op.N, op.K, scale=op.K**-0.5))
        if op.proj == "down":
            return dict(t, res=new.normal(EXPERTS, op.T, op.N))
        return dict(t, r=new.row_scale(op.M).view(EXPERTS, op.T))

    @staticmethod
    def reference(op, t, dtype):
        z = torch.bmm(t["A"].to(dtype), t["W"].to(dtype).transpose(1, 2))
        if op.proj == "down":
            return dict(x=z + t["res"].to(dtype))
        return dict(y=silu_mul((z.float() * t["r"][..., None]).to(dtype)))

    @staticmethod
    def separate(op, t):
        if op.proj == "down":
            return t
        gate, up = (w.contiguous() for w in t["W"].chunk(2, 1))
        return dict(A=t["A"], Wg=gate, Wu=up, r=t["r"])


class _Block(_Gemm):
    @staticmethod
    def make(op, new):
        M, h, f = op.M, op.h, op.F
        p = rope_permutation(2 * op.H, 3 * h, new.device)
        t = dict(y0=new.normal(M, h), x0=new.normal(M, h), Wo=new.weight(h, h),
                 wn1=new.norm_weight(h), Wgu=new.weight(2 * f, h), Wd=new.weight(h, f),
                 wn2=new.norm_weight(h), Wqkv=new.weight(3 * h, h), perm=p,
                 **rope_tables(M, new.device))
        t["Wgu_i"], t["Wqkv_i"] = interleave(t["Wgu"]), t["Wqkv"][p].contiguous()
        if op.bwd:
            t["dx2"], t["dqkv"] = new.normal(M, h), new.normal(M, 3 * h)
            t["dqkv_i"] = t["dqkv"][:, p].contiguous()
        return t

    @staticmethod
    def reference(op, t, dtype):
        leaves = [t[k].to(dtype).detach().requires_grad_(bool(op.bwd)) for k in BLOCK_LEAVES]
        x2, qkv = block_forward(*leaves, t["cos"], t["sin"], 2 * op.H)
        out = dict(x2=x2.detach(), qkv=qkv.detach())
        if op.bwd:
            gradients = torch.autograd.grad(
                (x2, qkv), leaves, (t["dx2"].to(dtype), t["dqkv"].to(dtype)))
            out.update({"d" + k: g for k, g in zip(BLOCK_LEAVES, gradients)})
        return out

    @staticmethod
    def separate(op, t):
        gate, up = t["Wgu"].chunk(2)
        q, k, v = t["Wqkv"].chunk(3)
        made = dict(t, Wg=gate, Wu=up, Wq=q, Wk=k, Wv=v)
        if op.bwd:
            made.update(zip(("dq", "dk", "dv"), (
                d.contiguous() for d in t["dqkv"].chunk(3, 1))))
        return made

    @staticmethod
    def joined(op, t, r):
        out = dict(x2=r["x2"], qkv=torch.cat((r["q"], r["k"], r["v"]), 1))
        if op.bwd:
            # The weights of one product are stacked.
            r = dict(r, dWgu=torch.cat((r["dWg"], r["dWu"])),
                     dWqkv=torch.cat((r["dWq"], r["dWk"], r["dWv"])))
            out.update({"d" + name: r["d" + name] for name in BLOCK_LEAVES})
        return out


BLOCK_LEAVES = ("y0", "x0", "Wo", "wn1", "Wgu", "Wd", "wn2", "Wqkv")


def block_forward(y0, x0, Wo, wn1, Wgu, Wd, wn2, Wqkv, cos, sin, heads):
    x1 = y0 @ Wo.T + x0
    z = rms_norm(x1, wn1) @ Wgu.T
    x2 = silu_mul(z) @ Wd.T + x1
    return x2, rope_half(rms_norm(x2, wn2) @ Wqkv.T, cos, sin, heads)


_KINDS = {
    "gemm": _Gemm, "gemm_fp8": _GemmFp8, "gemm_rms": _GemmRms, "gemm_swiglu": _GemmSwiglu, "gemm_rope": _GemmRope,
    "gemm_ce": _GemmCE, "swiglu_bwd": _SwigluBwd, "norm_bwd": _NormBwd, "experts": _Experts,
    "block": _Block,
}


def make(op: Op, device: torch.device) -> Tensors:
    """The inputs of `op`, some of them twice in layouts that peers want."""
    return _KINDS[op.kind].make(op, Maker(device))


def reference(op: Op, t: Tensors, dtype) -> Tensors:
    """The outputs: with F32 the reference, with BF16 unfused eager torch."""
    return _KINDS[op.kind].reference(op, t, dtype)


def separate(op: Op, t: Tensors) -> Tensors:
    """The tensors by the names of the graph's arguments."""
    return _KINDS[op.kind].separate(op, t)


def joined(op: Op, t: Tensors, results: Tensors) -> Tensors:
    """The outputs of `reference` from the graph's results, untimed: joins what
    the graph keeps apart and finishes what it leaves to the next kernel."""
    return _KINDS[op.kind].joined(op, t, results)
