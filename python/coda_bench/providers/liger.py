"""Liger's Triton kernels beside torch.mm, and Apple's cut-cross-entropy."""
import inspect

import torch

from ..errors import NotSupported
from ..ops import EPS, HEAD_DIM, SEQ
from .base import Case, Provider, register
from .pytorch import autograd_case


def _no_scale(op):
    if op.scale:
        raise NotSupported("no row scale")


@register
class Liger(Provider):
    """torch.mm and Liger's kernels, eager; q, k and v as three products."""

    name = "liger"
    needs = ("liger_kernel",)
    versions = ("liger-kernel",)

    def setup(self):
        from liger_kernel.ops.fused_add_rms_norm import (
            LigerFusedAddRMSNormFunction, _str_to_casting_mode, fused_add_rms_norm_backward)
        from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction
        from liger_kernel.ops.rope import LigerRopeFunction
        from liger_kernel.ops.swiglu import (
            LigerFusedGateUpSiLUMulFunction, swiglu_fused_gate_up_backward)
        from liger_kernel.ops.utils import calculate_settings

        self.add_rms = LigerFusedAddRMSNormFunction
        self.add_rms_backward = fused_add_rms_norm_backward
        self.casting = _str_to_casting_mode["llama"]
        self.linear_ce = LigerFusedLinearCrossEntropyFunction
        self.rope = LigerRopeFunction
        self.gate_up = LigerFusedGateUpSiLUMulFunction
        self.gate_up_backward = swiglu_fused_gate_up_backward
        self.settings = calculate_settings

    def gemm_rms(self, op, t):
        wt = t["W"].T

        def run():
            return self.add_rms.apply(t["A"] @ wt, t["res"], t["wn"], EPS, 0.0, "llama", False)

        return Case(run, lambda out: dict(x=out[1], h=out[0]))

    def gemm_swiglu(self, op, t):
        _no_scale(op)
        wt = t["W"].T

        def run():
            z = t["A"] @ wt
            return self.gate_up.apply(z), z

        return Case(run, lambda out: dict(zip("yz" if op.keep else "y", out)))

    def _heads(self, z, M):
        return z.view(M // SEQ or 1, min(M, SEQ), -1, HEAD_DIM).transpose(1, 2)

    def _qkv(self, a, weights, tables, M):
        wq, wk, wv = weights
        q, k = self.rope.apply(self._heads(a @ wq.T, M), self._heads(a @ wk.T, M), *tables)
        return q.transpose(1, 2).reshape(M, -1), k.transpose(1, 2).reshape(M, -1), a @ wv.T

    def _tables(self, t, M):
        rows = min(M, SEQ)
        return [torch.cat((t[n][:rows], t[n][:rows]), -1).unsqueeze(0) for n in ("cos", "sin")]

    def gemm_rope(self, op, t):
        _no_scale(op)
        widths = [heads * HEAD_DIM for heads in (op.Hq, op.Hk, op.Hk)]
        weights = [w.contiguous() for w in t["W"].split(widths)]
        tables = self._tables(t, op.M)
        return Case(lambda: self._qkv(t["A"], weights, tables, op.M),
                    lambda out: dict(qkv=torch.cat(out, 1)),
                    "separate q, k, v products: its RoPE copies strided inputs")

    def gemm_ce(self, op, t):
        _no_scale(op)

        def run():
            out = self.linear_ce.apply(
                t["A"], t["W"], t["target"], None, None, -100, 0.0, 0.0, "none")
            return out[0] if isinstance(out, (tuple, list)) else out

        return Case(run, lambda out: dict(loss=out), "fused linear cross-entropy in chunks")

    def swiglu_bwd(self, op, t):
        if op.stat:
            raise NotSupported("no row statistic")
        return Case(lambda: self.gate_up_backward(t["z"], t["dy"] @ t["Wd"], False),
                    lambda out: dict(dz=out), "y kept from the forward, not computed again")

    def norm_bwd(self, op, t):
        block, warps = self.settings(op.h)
        # What its own forward saves for the backward; not in all versions.
        parameters = inspect.signature(self.add_rms_backward).parameters
        extra = dict(num_stages=2) if "num_stages" in parameters else {}

        def run():
            return self.add_rms_backward(
                dY=t["dz"] @ t["W"], dS_out=t["dres"], S=t["x"], W=t["wn"], RSTD=t["r"],
                offset=0.0, casting_mode=self.casting, BLOCK_SIZE=block, num_warps=warps,
                in_place=False, **extra)

        return Case(run, lambda out: dict(dx=out[0], dwn=out[2]))

    def block(self, op, t):
        needs_gradient = bool(op.bwd)
        names = ("y0", "x0", "Wo", "wn1", "Wgu", "Wd", "wn2")
        leaves = [t[k].detach().requires_grad_(needs_gradient) for k in names]
        leaves += [
            w.detach().clone().requires_grad_(needs_gradient) for w in t["Wqkv"].chunk(3)]
        tables = self._tables(t, op.M)

        def forward():
            y0, x0, wo, wn1, wgu, wd, wn2, *heads = leaves
            h1, x1 = self.add_rms.apply(y0 @ wo.T, x0, wn1, EPS, 0.0, "llama", False)
            y1 = self.gate_up.apply(h1 @ wgu.T)
            h2, x2 = self.add_rms.apply(y1 @ wd.T, x1, wn2, EPS, 0.0, "llama", False)
            return x2, torch.cat(self._qkv(h2, heads, tables, op.M), 1)

        case = autograd_case(
            op, t, leaves, forward, names + ("Wq", "Wk", "Wv"), "separate q, k, v products")
        plain = case.canonical

        def canonical(out):
            found = plain(out)
            if needs_gradient:
                found["dWqkv"] = torch.cat([found.pop("dW" + n) for n in "qkv"])
            return found

        case.canonical = canonical
        return case


@register
class LigerCE(Provider):
    """torch.mm and Liger's plain cross-entropy: logits are written."""

    name = "liger-ce"
    needs = ("liger_kernel",)

    def setup(self):
        from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction

        self.cross_entropy = LigerCrossEntropyFunction

    def gemm_ce(self, op, t):
        _no_scale(op)
        wt = t["W"].T

        def run():
            out = self.cross_entropy.apply(
                t["A"] @ wt, t["target"], None, -100, 0.0, 0.0, "none")
            return out[0] if isinstance(out, (tuple, list)) else out

        return Case(run, lambda out: dict(loss=out))


@register
class CutCE(Provider):
    """Apple's cut-cross-entropy: logits are never written."""

    name = "cce"
    needs = ("cut_cross_entropy",)
    versions = ("cut-cross-entropy",)

    def setup(self):
        from cut_cross_entropy import linear_cross_entropy

        self.cross_entropy = linear_cross_entropy

    def gemm_ce(self, op, t):
        _no_scale(op)
        return Case(
            lambda: self.cross_entropy(t["A"], t["W"], t["target"], reduction="none"),
            lambda out: dict(loss=out))
