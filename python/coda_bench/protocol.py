"""How times and errors are taken. Needs torch.

Two regimes, both with CUDA events and interleaved rounds: in a round each
provider has its turn, and the order rotates, because the clock of a GPU at its
power limit depends on what ran before. Times are comparable within one run only.

flushed    before each timed call a spin of about 0.5 ms, so that launch gaps do
           not count, and a write of 256 MB that takes L2. One call is timed.
sustained  trains of calls back to back, hot; the sets of inputs rotate, so that
           weights are not in L2 where they would not be in use. Short calls are
           replayed from a CUDA graph, so that the host does not count.
"""
import dataclasses
import gc
import math
import statistics
import time
from typing import Callable, Dict, List, Tuple

import torch

FLUSH_BYTES = 256 << 20
SPIN_CYCLES = 1_000_000
# Inputs rotate through this much memory: four times the L2 of an H200.
ROTATED_BYTES = 240 << 20
MAX_SETS = 16
# Calls shorter than this are replayed from a graph.
GRAPH_BELOW_MS = 0.25
TRAIN_MS = 15.0

Run = Callable[[], object]


@dataclasses.dataclass
class Times:
    """Milliseconds a call, one for each round."""

    rounds: List[float]
    graph: bool = False

    def summary(self) -> Dict[str, object]:
        ordered = sorted(self.rounds)
        return dict(
            ms=statistics.median(ordered), min=ordered[0], p20=ordered[len(ordered) // 5],
            p80=ordered[-1 - len(ordered) // 5], rounds=len(ordered),
            **({"graph": True} if self.graph else {}))


def rotated(names: List[str], turn: int) -> List[str]:
    at = turn % len(names)
    return names[at:] + names[:at]


def sets_of_inputs(op_bytes: int) -> int:
    """How many sets make the inputs of an op cold when they rotate."""
    return max(1, min(MAX_SETS, -(-ROTATED_BYTES // max(1, op_bytes))))


class GPU:
    """Takes times on the current device."""

    def __init__(self, budget_ms: float, min_rounds: int = 8, max_rounds: int = 30):
        self.budget_ms = budget_ms
        self.min_rounds, self.max_rounds = min_rounds, max_rounds
        self._flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    @staticmethod
    def memory_bandwidth() -> float:
        """TB/s of a large copy on the device, reads and writes counted."""
        source = torch.empty(1 << 30, dtype=torch.int8, device="cuda").random_()
        target = torch.empty_like(source)
        times = []
        for _ in range(10):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            target.copy_(source)
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        return 2 * source.numel() / statistics.median(times[2:]) / 1e9

    def _timed(self, run: Run, flush: bool) -> Tuple[torch.cuda.Event, torch.cuda.Event]:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(SPIN_CYCLES)
        if flush:
            self._flush.zero_()
        start.record()
        run()
        end.record()
        return start, end

    def _estimate(self, run: Run) -> float:
        run()
        events = [self._timed(run, flush=True) for _ in range(2)]
        torch.cuda.synchronize()
        return min(start.elapsed_time(end) for start, end in events)

    def flushed(self, runs: Dict[str, Run]) -> Dict[str, Times]:
        names = list(runs)
        each = sum(self._estimate(run) for run in runs.values()) / len(names)
        # A flush and a spin cost about 0.6 ms.
        rounds = int(min(self.max_rounds, max(self.min_rounds, self.budget_ms / (each + 0.6))))
        events = {name: [] for name in names}
        for turn in range(rounds):
            for name in rotated(names, turn):
                events[name].append(self._timed(runs[name], flush=True))
            torch.cuda.synchronize()
        return {
            name: Times([start.elapsed_time(end) for start, end in pairs])
            for name, pairs in events.items()}

    def sustained(self, runs: Dict[str, List[Run]]) -> Dict[str, Times]:
        """`runs` has one callable for each set of inputs."""
        trains, lengths, graphs = {}, {}, {}
        for name, calls in runs.items():
            each = max(self._estimate(calls[0]), 1e-3)
            count = max(4, int(TRAIN_MS / each))
            # Whole turns through the sets.
            count = max(1, count // len(calls)) * len(calls)
            graphs[name] = each < GRAPH_BELOW_MS
            trains[name], lengths[name] = self._train(calls, count, graphs[name])
            graphs[name] = graphs[name] and not isinstance(trains[name], _Eager)
        names = list(runs)
        rounds = int(min(self.max_rounds, max(5, self.budget_ms / (2 * TRAIN_MS))))
        times = {name: [] for name in names}
        for turn in range(rounds):
            for name in rotated(names, turn):
                trains[name]()  # Heats up, and leaves this provider's own data in L2.
                start, end = self._timed(trains[name], flush=False)
                torch.cuda.synchronize()
                times[name].append(start.elapsed_time(end) / lengths[name])
        return {name: Times(times[name], graphs[name]) for name in names}

    @staticmethod
    def _train(calls: List[Run], count: int, graph: bool) -> Tuple[Run, int]:
        """`count` calls in turn as one callable, and how many calls it makes."""
        eager = _Eager(calls, count)
        if not graph:
            return eager, count
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for call in calls:
                call()
        torch.cuda.current_stream().wait_stream(side)
        captured = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(captured):
                eager()
        except Exception:  # What cannot be captured is launched by the host.
            torch.cuda.synchronize()
            return eager, count
        return captured.replay, count


class _Eager:
    def __init__(self, calls: List[Run], count: int):
        self.calls, self.count = calls, count

    def __call__(self):
        for i in range(self.count):
            self.calls[i % len(self.calls)]()


class Host:
    """A dry run without a GPU: one call each, timed by the clock of the host."""

    @staticmethod
    def memory_bandwidth() -> float:
        return 0.0

    def flushed(self, runs: Dict[str, Run]) -> Dict[str, Times]:
        times = {}
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name] = Times([(time.perf_counter() - start) * 1e3])
        return times

    def sustained(self, runs: Dict[str, List[Run]]) -> Dict[str, Times]:
        return self.flushed({name: calls[0] for name, calls in runs.items()})


def unfused_errors(reference, eager) -> Dict[str, float]:
    """max |eager - reference| of each output: the unit of `errors`."""
    return {k: (eager[k].float() - reference[k].float()).abs().max().item() for k in reference}


def errors(outputs, reference, units) -> Dict[str, Tuple[float, float]]:
    """{output: (max |out - reference| in units, relative Frobenius norm)}.

    A unit of 1 is as good as unfused bf16; the project accepts 2. NaN where an
    output is not finite.
    """
    found = {}
    for name, value in outputs.items():
        difference = value.detach().float() - reference[name].float()
        largest = difference.abs().max().item()
        norm = reference[name].float().norm().clamp_min(1e-30)
        found[name] = (
            largest / max(units[name], 1e-30) if math.isfinite(largest) else math.nan,
            (difference.norm() / norm).item())
    return found


def release(on_gpu: bool) -> None:
    """Gives memory that nothing refers to back to the device."""
    gc.collect()
    if on_gpu:
        torch.cuda.empty_cache()
