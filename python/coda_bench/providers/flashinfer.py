"""FlashInfer's elementwise kernels beside torch.mm; forward only."""
import torch

from ..errors import NotSupported
from ..ops import EPS, HEAD_DIM, SEQ
from .base import Case, Provider, register


@register
class FlashInfer(Provider):
    """torch.mm, fused_add_rmsnorm, silu_and_mul and RoPE in place."""

    name = "flashinfer"
    needs = ("flashinfer",)
    versions = ("flashinfer-python",)

    def setup(self):
        import flashinfer

        self.library = flashinfer

    def gemm_rms(self, op, t):
        wt, res = t["W"].T, t["res"].clone()

        def run():
            x = t["A"] @ wt
            self.library.fused_add_rmsnorm(x, res, t["wn"], EPS)
            return x

        return Case(run, lambda out: dict(x=res, h=out), "residual updated in place",
                    reset=lambda: res.copy_(t["res"]))

    def gemm_swiglu(self, op, t):
        if op.scale:
            raise NotSupported("no row scale")
        wt = t["W"].T

        def run():
            z = t["A"] @ wt
            return self.library.silu_and_mul(z), z

        return Case(run, lambda out: dict(zip("yz" if op.keep else "y", out)))

    def _tables(self, t):
        cache = torch.cat((t["cos"][:SEQ], t["sin"][:SEQ]), -1).contiguous()
        return t["pos"].to(torch.int32), cache

    def _rope(self, z, tables, q_heads, k_heads):
        position, cache = tables
        width = q_heads * HEAD_DIM
        q, k = z[:, :width], z[:, width:width + k_heads * HEAD_DIM]
        self.library.rope.apply_rope_with_cos_sin_cache_inplace(
            position, q, k, HEAD_DIM, cache, True)

    def gemm_rope(self, op, t):
        if op.scale:
            raise NotSupported("no row scale")
        wt, tables = t["W"].T, self._tables(t)

        def run():
            z = t["A"] @ wt
            self._rope(z, tables, op.Hq, op.Hk)
            return z

        return Case(run, lambda out: dict(qkv=out))

    def block(self, op, t):
        if op.bwd:
            raise NotSupported("forward only")
        tables = self._tables(t)
        wo, wgu, wd, wqkv = (t[k].T for k in ("Wo", "Wgu", "Wd", "Wqkv"))
        x = t["x0"].clone()

        def run():
            h = t["y0"] @ wo
            self.library.fused_add_rmsnorm(h, x, t["wn1"], EPS)
            h = self.library.silu_and_mul(h @ wgu) @ wd
            self.library.fused_add_rmsnorm(h, x, t["wn2"], EPS)
            z = h @ wqkv
            self._rope(z, tables, op.H, op.H)
            return z

        return Case(run, lambda out: dict(x2=x, qkv=out), "residual updated in place",
                    reset=lambda: x.copy_(t["x0"]))
