"""quack-kernels: fused epilogues in the CuTe DSL."""
import math
import os
import statistics

import torch

from ..inputs import BF16
from ..ops import EPS, HEAD_DIM
from .base import Case, Provider, register

# (tile m, tile n, ping-pong): quack's own list for this architecture.
TILES = [
    (256, 128, False), (256, 160, False), (256, 192, False), (256, 208, False),
    (128, 224, False), (128, 256, False), (128, 128, True), (128, 160, True),
    (128, 192, True), (128, 208, True), (192, 128, True)]


def _quick_bench(fn, arg_sets, kwarg_sets, extra_kwargs, **_):
    """In place of quack's own (250 and more calls a configuration): at least 3 + 9
    calls and 30 ms, the median of the second part."""
    sets = len(arg_sets)

    def call(i):
        fn(*arg_sets[i % sets], **kwarg_sets[i % sets], **extra_kwargs)

    call(0)
    events, wanted = [], 12
    for i in range(40):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call(i)
        end.record()
        events.append((start, end))
        if i == 2:
            torch.cuda.synchronize()
            wanted = max(12, min(40, int(30 / start.elapsed_time(end))))
        if i >= wanted:
            break
    torch.cuda.synchronize()
    median = statistics.median(a.elapsed_time(b) for a, b in events[3:])
    return [median] * 3


def _separate_halves(z):
    """Columns gate 0, up 0, gate 1, ... to [gate | up]."""
    return z.view(z.shape[0], -1, 2).transpose(1, 2).reshape(z.shape)


@register
class Quack(Provider):
    """Tuned over its own tiles without the half that swaps the operands.

    RMSNorm is deferred: gemm_rms gives x, x * wn and the row's factor, which the
    next kernel applies (the variants with scale=1) and `canonical` here. In the
    environment QUACK_FULL_LIST=1 restores its whole list of configurations, and
    QUACK_PINGPONG_ONLY=1 leaves those without ping-pong out: half the compilation,
    and so far the choice of each tuning over both was one with it.
    """

    name = "quack"
    needs = ("quack",)
    versions = ("quack-kernels", "nvidia-cutlass-dsl", "apache-tvm-ffi")

    def setup(self):
        import quack.autotuner as autotuner
        import quack.gemm_config as gemm_config
        import quack.gemm_interface as interface
        from quack.epilogue import library, rotary

        def configurations(epilogue=None, tune_coop=True):
            return [
                gemm_config.GemmConfig(
                    tile_m=m, tile_n=n, pingpong=pingpong, cluster_m=cm, cluster_n=cn,
                    swap_ab=False, device_capacity=9, is_dynamic_persistent=False,
                    use_tma_gather=False)
                for m, n, pingpong in TILES for cm, cn in ((2, 1), (1, 2))
                if (epilogue != "gated" or n % 32 == 0)
                and (pingpong or not pingpong_only)]

        pingpong_only = bool(os.environ.get("QUACK_PINGPONG_ONLY"))

        if not os.environ.get("QUACK_FULL_LIST"):
            gemm_config._get_sm90_configs = configurations
        autotuner._bench_cuda_graph_l2_rotate = _quick_bench
        self._choices = []
        self._remeasure(autotuner.Autotuner)
        self.interface, self.library, self.rotary = interface, library, rotary

    def tuned(self):
        found, self._choices[:] = list(self._choices), []
        return found

    def _remeasure(self, tuner_class):
        """After each sweep the best five are measured again, interleaved and under
        this harness's protocol: the clock moves during a sweep, by more than the
        configurations differ. Two tunings still differ by up to 10 %."""
        sweep, choices, measure = tuner_class.__call__, self._choices, self.context.measure

        def call(tuner, *args, **kwargs):
            known = set(tuner.cache)
            result = sweep(tuner, *args, **kwargs)
            for key in set(tuner.cache) - known:
                times = {
                    c: t[0] if isinstance(t, (list, tuple)) else t
                    for c, t in tuner.configs_timings.items()}
                best = [c for c in sorted(times, key=times.get)[:5] if math.isfinite(times[c])]
                if len(best) > 1:
                    medians = measure({
                        i: lambda c=c: tuner.fn(*args, **kwargs, **c.all_kwargs())
                        for i, c in enumerate(best)})
                    tuner.cache[key] = best[min(medians, key=medians.get)]
                    result = sweep(tuner, *args, **kwargs)
                choices.append("%s: %s" % (tuner.fn.__name__[:40], tuner.cache[key]))
            return result

        tuner_class.__call__ = call

    def _empty(self, *shape):
        return torch.empty(*shape, device=self.context.device, dtype=BF16)

    def gemm(self, op, t):
        out, b = self._empty(op.M, op.N), t["W"].T
        return Case(lambda: self.interface.gemm(t["A"], b, out=out), lambda _: dict(out=out))

    def gemm_rms(self, op, t):
        b, x = t["W"].T, self._empty(op.M, op.h)

        def run():
            return self.interface.gemm_rms(
                t["A"], b, C=t["res"], norm_weight=t["wn"], premult_out=x, eps=EPS)

        return Case(run, lambda out: dict(x=x, h=out[0].float() * out[1][:, None]),
                    "deferred: the next kernel applies the row's factor")

    def gemm_swiglu(self, op, t):
        b, keep = t["Wi"].T, bool(op.keep)

        def run():
            if op.scale:
                return self.interface.gemm_norm_act(
                    t["A"], b, rstd=t["r"], activation="swiglu", store_preact=keep)
            return self.interface.gemm_act(t["A"], b, activation="swiglu", store_preact=keep)

        return Case(run, lambda out: dict(
            y=out[1], **({"z": _separate_halves(out[0])} if keep else {})))

    def _frequencies(self, t, qk_width, v_width):
        return self.rotary.make_interleaved_inv_freq(
            t["inv_freq"], qk_width, v_width).to(self.context.device)

    def gemm_rope(self, op, t):
        b, position = t["Wi"].T, t["pos"].float()
        frequencies = self._frequencies(t, (op.Hq + op.Hk) * HEAD_DIM, op.Hk * HEAD_DIM)
        back = torch.argsort(t["perm"])

        def run():
            if op.scale:
                return self.rotary.rstd_rope_posfreq_epi(
                    t["A"], b, pos=position, freq=frequencies, rstd=t["r"])["D"]
            return self.rotary.rope_posfreq_epi(t["A"], b, pos=position, freq=frequencies)["D"]

        return Case(run, lambda out: dict(qkv=out[:, back]),
                    "sine and cosine computed in the epilogue")

    def gemm_ce(self, op, t):
        b, target = t["W"].T, t["target"].to(torch.int32)

        def run():
            if op.scale:
                out = self.library.rstd_lse_epi(t["A"], b, rstd=t["r"])
                return out["lse"], out["D"].gather(1, t["target"][:, None])[:, 0]
            out = self.library.lse_target_epi(t["A"], b, store_d=False, target=target)
            return out["lse"], out["target_logit"]

        def canonical(out):
            lse = out[0] if out[0].ndim == 1 else torch.logsumexp(out[0].float(), -1)
            return dict(loss=lse - out[1].float())

        return Case(run, canonical, "logits written" if op.scale else "logits not written")

    def swiglu_bwd(self, op, t):
        def run():
            if op.stat:
                out = self.library.dswiglu_dpreact_mod(t["dy"], t["Wd"], t["zi"])
                return out["D"], out["postact"], out["dsum"]
            return self.interface.gemm_dgated(t["dy"], t["Wd"], t["zi"], activation="swiglu")[:2]

        def canonical(out):
            found = dict(dz=_separate_halves(out[0]), y=out[1])
            if op.stat:
                found["zdz"] = out[2] if out[2].ndim == 1 else out[2].sum(-1)
            return found

        return Case(run, canonical)

    def norm_bwd(self, op, t):
        correction = -(t["r"] ** 2 / op.h) * t["zdz"]

        def run():
            out = self.library.rms_bwd_apply_epi(
                t["dzr"], t["W"], t["dres"], y=t["x"], w=t["wn"], corr=correction)
            return out["D"], out["dw"]

        return Case(
            run, lambda out: dict(dx=out[0], dwn=out[1] if out[1].ndim == 1 else out[1].sum(0)),
            "deferred: the kernel before this one makes the correction")

    def _block_forward(self, op, t):
        interface, library = self.interface, self.library
        wo, wgu, wd, wqkv = t["Wo"].T, t["Wgu_i"].T, t["Wd"].T, t["Wqkv_i"].T
        position, frequencies = t["pos"].float(), self._frequencies(t, 2 * op.h, op.h)

        def forward():
            x1, x2 = self._empty(op.M, op.h), self._empty(op.M, op.h)
            a1, r1 = interface.gemm_rms(
                t["y0"], wo, C=t["x0"], norm_weight=t["wn1"], premult_out=x1, eps=EPS)
            if op.bwd:
                out = library.rstd_swiglu_preact_epi(a1, wgu, rstd=r1)
            else:
                out = library.rstd_swiglu_epi(a1, wgu, store_d=False, rstd=r1)
            a2, r2 = interface.gemm_rms(
                out["postact"], wd, C=x1, norm_weight=t["wn2"], premult_out=x2, eps=EPS)
            q = self.rotary.rstd_rope_posfreq_epi(
                a2, wqkv, pos=position, freq=frequencies, rstd=r2)["D"]
            return x1, a1, r1, out.get("D"), x2, a2, r2, q

        return forward

    def block(self, op, t):
        forward, back = self._block_forward(op, t), torch.argsort(t["perm"])
        if not op.bwd:
            return Case(forward, lambda out: dict(x2=out[4], qkv=out[7][:, back]))
        interface, library, h = self.interface, self.library, op.h

        def rope_backward(dq, q, r, cos, sin):
            """The inverse rotation of adjacent pairs times the row's factor, and the
            correction -(r^2 / h) sum dq q."""
            rows = dq.shape[0]
            d = dq[:, :2 * h].float().view(rows, -1, HEAD_DIM // 2, 2)
            c, s = cos[:, None, :], sin[:, None, :]
            d1, d2 = d[..., 0], d[..., 1]
            du = torch.stack((d1 * c + d2 * s, d2 * c - d1 * s), -1).reshape(rows, 2 * h)
            du = torch.cat((du, dq[:, 2 * h:].float()), 1) * r[:, None]
            return du.to(BF16), -(r * r / h) * (dq.float() * q.float()).sum(-1)

        rope_backward = torch.compile(rope_backward, dynamic=False)
        first_correction = torch.compile(lambda r, d: -(r * r * r / h) * d, dynamic=False)

        def run():
            x1, a1, r1, z, x2, a2, r2, q = forward()
            du, correction = rope_backward(t["dqkv_i"], q, r2, t["cos"], t["sin"])
            out = library.rms_bwd_apply_epi(
                du, t["Wqkv_i"], t["dx2"], y=x2, w=t["wn2"], corr=correction)
            dx2, dwn2 = out["D"], out["dw"]
            dwqkv = interface.gemm(du.T, a2)
            out = library.dswiglu_rstd_preact_mod(dx2, t["Wd"], z, rstd=r1)
            dz, y1, row_sum = out["D"], out["postact"], out["dsum"]
            dwd = interface.gemm(dx2.T, y1)
            out = library.rms_bwd_apply_epi(
                dz, t["Wgu_i"], dx2, y=x1, w=t["wn1"], corr=first_correction(r1, row_sum))
            dx1, dwn1 = out["D"], out["dw"]
            dwgu = interface.gemm(dz.T, a1)
            dy0 = interface.gemm(dx1, t["Wo"])
            dwo = interface.gemm(dx1.T, t["y0"])
            return dict(x2=x2, qkv=q, dy0=dy0, dx0=dx1, dWo=dwo, dwn1=dwn1, dWgu=dwgu, dWd=dwd,
                        dwn2=dwn2, dWqkv=dwqkv)

        def canonical(out):
            found = dict(out, qkv=out["qkv"][:, back], dWqkv=out["dWqkv"][back])
            w = out["dWgu"]
            found["dWgu"] = w.view(-1, 2, w.shape[1]).transpose(0, 1).reshape(w.shape)
            return found

        return Case(run, canonical, "deferred, composed by hand")
