"""`coda-bench tune`: measures the candidates that `prepare` compiled. Needs torch.

The profiler gives the time of each kernel, so that graphs of several kernels are
tuned a kernel at a time though all of them run. Calls are interleaved and as cold
as in the regime `flushed`.
"""
import os
import statistics
from typing import Callable, Dict, List

import torch

from . import inputs, protocol
from .candidates import GOOD_ENOUGH, Database, split_by_call
from .errors import DeviceLost, UsageError
from .manifest import Manifest, Prepared
from .measure import ERROR_LIMIT
from .ops import Op


def kernel_times(
    runs: List[Callable[[], object]], names: List[str], rounds: int
) -> List[Dict[str, float]]:
    """For each of `runs` the median in ms of each kernel of `names`. A kernel's
    name on the device begins with its own. One that is launched ahead waits for the
    one before: its time is what it takes after that has ended."""
    from torch.profiler import ProfilerActivity, profile

    flush = torch.empty(protocol.FLUSH_BYTES, dtype=torch.int8, device="cuda")
    order: List[int] = []
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        for turn in range(rounds):
            for i in range(len(runs)):
                i = (i + turn) % len(runs)
                order.append(i)
                torch.cuda._sleep(protocol.SPIN_CYCLES)
                flush.zero_()
                runs[i]()
            torch.cuda.synchronize()
    return split_by_call(profiler.events(), order, names, len(runs))


class Tuning:
    """One op: its artifacts on one set of inputs, checked and measured."""

    def __init__(
        self, op: Op, prepared: Prepared, folder: str, database: Database, log
    ):
        import coda

        self.op, self.prepared, self.log = op, prepared, log
        device = torch.device("cuda")
        torch.manual_seed(0)
        t = inputs.make(op, device)
        reference = inputs.reference(op, t, inputs.F32)
        units = protocol.unfused_errors(reference, inputs.reference(op, t, inputs.BF16))
        tensors = inputs.separate(op, t)
        arguments = [tensors[name] for name in prepared.arguments]
        self.calls, self.positions, outputs = [], [], None
        for candidate in prepared.candidates:
            path = os.path.join(folder, candidate["artifact"])
            if candidate["artifact"] in database.broken:
                continue
            entry = getattr(coda.Artifact.load(path), prepared.entry)
            call = entry.bind(*arguments, out=outputs)
            outputs = call.outputs
            for output in outputs:
                output.fill_(float("nan") if output.is_floating_point() else -1)
            try:
                why = self._broken(call, lambda: protocol.errors(
                    inputs.joined(op, t, dict(zip(prepared.results, outputs))), reference, units))
            except DeviceLost as lost:
                database.broken.append(candidate["artifact"])
                database.save()
                raise DeviceLost("%s: %s" % (candidate["artifact"], lost)) from None
            if why:
                log("%-44s %s: %s" % (op.key, candidate["artifact"], why))
            else:
                self.calls.append(call)
                self.positions.append(candidate["schedules"])

    @staticmethod
    def _broken(call, errors) -> str:
        """Why a candidate must not be chosen; empty if it is right."""
        try:
            call(torch.cuda.current_stream().cuda_stream)
            torch.cuda.synchronize()
        except RuntimeError as error:
            try:
                torch.cuda.synchronize()
            except RuntimeError:
                raise DeviceLost(str(error).splitlines()[0]) from None
            return "does not run: %s" % str(error).splitlines()[0]
        worst = max(
            ratio if ratio == ratio else float("inf") for ratio, _ in errors().values())
        return "" if worst <= ERROR_LIMIT else "wrong: an error of %.1f" % worst

    def run(self, database: Database, rounds: int) -> None:
        if not self.calls:
            return
        stream = torch.cuda.current_stream().cuda_stream
        runs = [lambda call=call: call(stream) for call in self.calls]
        names = {kernel["name"]: kernel for kernel in self.prepared.kernels}
        measured = kernel_times(runs, list(names), rounds)
        for name, kernel in names.items():
            times: Dict[str, List[float]] = {}
            for schedules, found in zip(self.positions, measured):
                if name in found:
                    times.setdefault(schedules[kernel["key"]], []).append(found[name])
            # A shorter list has its first candidate more than once.
            entry = database.add(
                kernel["key"], {s: statistics.median(ts) for s, ts in times.items()},
                kernel["selected"])
            if entry is None:
                self.log("%-44s %s: the profiler shows no such kernel" % (self.op.key, name))
                continue
            share = entry["ms"] / entry["selected_ms"] if entry["selected_ms"] else float("nan")
            self.log("%-44s %-14s %8.4f ms, selected %8.4f ms (%.3f)%s of %d" % (
                self.op.key, name, entry["ms"], entry["selected_ms"] or float("nan"), share,
                ", selector below %.2f" % GOOD_ENOUGH if share < GOOD_ENOUGH else "",
                entry["candidates"]))


def tune(ops: List[Op], folder: str, path: str, rounds: int, resume: bool, log) -> int:
    """Measures the candidates of `ops` in `folder` and enters the best in the
    database `path`, op by op. Raises UsageError, and DeviceLost after noting in the
    database which candidate it was."""
    manifest = Manifest.read(folder)
    database = Database(path, torch.cuda.get_device_properties(0).name)
    torch.backends.cuda.matmul.allow_tf32 = False
    count = 0
    for op in ops:
        prepared = manifest.ops.get(op.key)
        if prepared is None or not prepared.candidates:
            continue
        count += 1
        if resume and all(k["key"] in database.entries for k in prepared.kernels):
            continue
        Tuning(op, prepared, folder, database, log).run(database, rounds)
        database.save()
        protocol.release(on_gpu=True)
    if not count:
        raise UsageError("nothing to tune in %s; `coda-bench prepare %s --candidates=12` "
                         "compiles candidates" % (folder, folder))
    below = [
        key for key, entry in database.entries.items()
        if entry["selected_ms"] and entry["ms"] < GOOD_ENOUGH * entry["selected_ms"]]
    log("%d kernels in %s; the selector is below %.2f of the best on %d" % (
        len(database.entries), path, GOOD_ENOUGH, len(below)))
    return 0
