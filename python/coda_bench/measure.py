"""`coda-bench run`: measures providers beside each other. Needs torch."""
import contextlib
import datetime
import importlib.metadata
import os
import platform
import time
import traceback
from typing import Dict, List, Optional

import torch

from . import inputs, protocol
from .errors import DeviceLost, NotSupported, UsageError
from .manifest import read_json, write_json
from .ops import Op
from .providers import PROVIDERS, Context, Provider

RESULTS_VERSION = 1
# The error rule of the project: at most twice the error of unfused bf16.
ERROR_LIMIT = 2.0


def environment(providers: Dict[str, Provider]) -> Dict[str, object]:
    """What the times depend on: date, GPU, versions."""
    found = dict(
        date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        python=platform.python_version(), torch=torch.__version__)
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        found.update(
            gpu=properties.name, multiprocessors=properties.multi_processor_count,
            cuda=torch.version.cuda)
    distributions = ["nvidia-cublas", "triton"]
    for provider in providers.values():
        distributions += provider.versions
    for name in distributions:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


class Results:
    """The results file: whole after each op, so that a run can go on from it."""

    def __init__(self, path: str, resume: bool):
        self.path = path
        self.data = dict(version=RESULTS_VERSION, environment={}, skipped={}, results=[])
        if resume and os.path.exists(path):
            self.data = read_json(path, "leave --resume out to begin again")
            if self.data.get("version") != RESULTS_VERSION:
                raise UsageError("%s is of another version; leave --resume out" % path)
        self.by_key = {r["key"]: r for r in self.data["results"]}

    def begin(self, found: Dict[str, object]) -> None:
        """Notes the environment of what follows; those of earlier calls stay known."""
        if self.data["environment"]:
            self.data.setdefault("earlier", []).append(self.data["environment"])
        self.data["environment"] = found

    def missing(self, op: Op, providers: Dict[str, Provider]) -> Dict[str, Provider]:
        """The providers that `op` has no result of: no times, no reason for none."""
        known = self.by_key.get(op.key, dict(providers={}))["providers"]
        done = {
            name for name, entry in known.items()
            if {"failed", "skipped", "flushed", "sustained"}.intersection(entry)}
        return {name: p for name, p in providers.items() if name not in done}

    def add(self, op: Op, result: dict) -> None:
        old = self.by_key.get(op.key)
        if old:
            # The bound was measured again, beside the others: it stays the first.
            new = {
                k: v for k, v in result["providers"].items()
                if k != "cublas" or "cublas" not in old["providers"]}
            old["providers"].update(new)
        else:
            self.by_key[op.key] = result
            self.data["results"].append(result)
        self.save()

    def save(self) -> None:
        write_json(self.path, self.data)


class Measurement:
    """One op, all providers, the same inputs."""

    def __init__(self, op: Op, timer, device: torch.device, regimes: List[str], check: bool):
        self.op, self.timer, self.device, self.regimes = op, timer, device, regimes
        self.on_gpu = device.type == "cuda"
        self.check = check
        torch.manual_seed(0)
        sets = protocol.sets_of_inputs(op.bytes()) if self.on_gpu and "sustained" in regimes else 1
        self.tensors = [inputs.make(op, device) for _ in range(sets)]
        self.reference = self.units = None
        if check:
            self.reference = inputs.reference(op, self.tensors[0], inputs.F32)
            eager = inputs.reference(op, self.tensors[0], inputs.BF16)
            self.units = protocol.unfused_errors(self.reference, eager)
        self.result = dict(
            key=op.key, op=op.kind, M=op.M, h=op.h, variant=op.tag(), flops=op.flops(),
            bytes=op.bytes(), sets=sets, providers={})

    def _set_up(self, provider: Provider, entry: dict):
        """A case for each set of inputs, the first checked."""
        cases = [provider.case(self.op, t) for t in self.tensors]
        case = cases[0]
        if case.reset:
            case.reset()
        out = case.run()
        if self.on_gpu:
            torch.cuda.synchronize()
        if self.check:
            found = protocol.errors(case.canonical(out), self.reference, self.units)
            if found:
                entry["errors"] = {
                    k: [float("%.3g" % ratio), float("%.3g" % norm)]
                    for k, (ratio, norm) in found.items()}
                entry["error"] = max(
                    ratio if ratio == ratio else float("inf") for ratio, _ in found.values())
        if case.note:
            entry["note"] = case.note
        if case.launches is not None:
            entry["launches"] = case.launches
        tuned = provider.tuned()
        if tuned:
            entry["tuned"] = tuned
        return cases

    def run(self, providers: Dict[str, Provider]) -> None:
        """Fills `result`. Raises DeviceLost."""
        ready = {}
        for name, provider in providers.items():
            entry = self.result["providers"][name] = {}
            start = time.monotonic()
            try:
                ready[name] = self._set_up(provider, entry)
            except NotSupported as reason:
                entry["skipped"] = str(reason)
            except Exception as error:  # A peer that fails must not stop the others.
                entry["failed"] = "%s: %s" % (type(error).__name__, str(error)[:400])
                entry["trace"] = traceback.format_exc()[-1500:]
            entry["setup_s"] = round(time.monotonic() - start, 2)
            self._require_device(name)
        self.reference = None
        protocol.release(self.on_gpu)
        if ready:
            self._time(ready)

    def _require_device(self, name: str) -> None:
        """Raises DeviceLost, and says so in the results, if `name` broke it."""
        if not self.on_gpu:
            return
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            self.result["providers"][name]["failed"] = "the device was lost: %s" % (
                str(error).splitlines()[0])
            raise DeviceLost("%s of %s" % (self.op.key, name)) from None

    def _time(self, ready) -> None:
        for regime in self.regimes:
            if regime == "flushed":
                times = self.timer.flushed({name: cases[0].run for name, cases in ready.items()})
            else:
                times = self.timer.sustained(
                    {name: [case.run for case in cases] for name, cases in ready.items()})
            for name, taken in times.items():
                self.result["providers"][name][regime] = taken.summary()


def _line(result: dict, name: str, regimes: List[str]) -> str:
    entry = result["providers"][name]
    head = "%-46s %-11s" % (result["key"], name)
    if "failed" in entry:
        return "%s failed: %s" % (head, entry["failed"].splitlines()[0][:160])
    if "skipped" in entry:
        return "%s skipped: %s" % (head, entry["skipped"][:160])
    for regime in regimes:
        if regime in entry:
            ms = entry[regime]["ms"]
            bound = result["providers"].get("cublas", {}).get(regime)
            ratio = " x%.3f" % (ms / bound["ms"]) if bound else ""
            head += "  %s %8.4f ms%s" % (regime, ms, ratio)
    if "error" in entry:
        head += "  error %.2f" % entry["error"]
    return head


def available(names: List[str], context: Context, skipped: Dict[str, str], log):
    """The providers of `names` that can run here. Raises UsageError."""
    ready = {}
    for name in names:
        if name not in PROVIDERS:
            raise UsageError("unknown provider '%s'; there are %s" % (
                name, ", ".join(PROVIDERS)))
    for name in names:
        provider = PROVIDERS[name](context)
        why = provider.unavailable()
        if why:
            skipped[name] = why
            log("provider %s skipped: %s" % (name, why))
        else:
            skipped.pop(name, None)
            ready[name] = provider
    return ready


def run(
    ops: List[Op],
    names: List[str],
    path: str,
    artifacts: Optional[str] = None,
    on_gpu: bool = True,
    regimes: List[str] = ("flushed", "sustained"),
    budget_ms: float = 120.0,
    time_limit: float = 0.0,
    resume: bool = False,
    check: bool = True,
    log=print,
) -> int:
    """Measures `ops` with the providers `names`, writes `path` after each op.

    budget_ms    GPU time for each provider, op and regime
    time_limit   seconds after which no op is begun; 0: none
    Returns 1 if an output of coda breaks the error rule, else 0. Raises UsageError,
    and DeviceLost with the results so far written.
    """
    start = time.monotonic()
    torch.backends.cuda.matmul.allow_tf32 = False
    device = torch.device("cuda" if on_gpu else "cpu")
    timer = protocol.GPU(budget_ms) if on_gpu else protocol.Host()
    results = Results(path, resume)
    context = Context(device, artifacts, lambda runs: {
        name: times.summary()["ms"] for name, times in timer.flushed(runs).items()})
    ready = available(names, context, results.data["skipped"], log)
    around = environment(ready)
    bandwidth = timer.memory_bandwidth()
    if bandwidth:
        around["memory TB/s"] = float("%.3g" % bandwidth)
    results.begin(around)
    results.data["protocol"] = dict(regimes=list(regimes), budget_ms=budget_ms)
    log("  ".join("%s %s" % pair for pair in around.items()))
    wrong = []
    for op in ops:
        pending = results.missing(op, ready) if resume else ready
        if not pending:
            continue
        if time_limit and time.monotonic() - start > time_limit:
            log("time limit: %s and what follows not measured; go on with --resume" % op.key)
            break
        if "cublas" in ready:
            pending = dict(cublas=ready["cublas"], **{k: p for k, p in pending.items() if k != "cublas"})
        try:
            measurement = Measurement(op, timer, device, list(regimes), check)
        except torch.cuda.OutOfMemoryError:
            protocol.release(on_gpu)
            log("%-46s not measured: does not fit the memory" % op.key)
            continue
        try:
            measurement.run(pending)
        finally:  # Also of what broke the device.
            results.add(op, measurement.result)
        result = measurement.result
        del measurement
        if bandwidth:
            result["memory_ms"] = op.bytes() / bandwidth / 1e9
            results.save()
        for name in pending:
            log(_line(result, name, list(regimes)))
        if result["providers"].get("coda", {}).get("error", 0) > ERROR_LIMIT:
            wrong.append(op.key)
        protocol.release(on_gpu)
    results.save()
    log("%d ops in %.0f s, results in %s" % (
        len(results.by_key), time.monotonic() - start, path))
    for key in wrong:
        log("check failed: %s: the error of coda is over %g times that of unfused bf16" % (
            key, ERROR_LIMIT))
    return 1 if wrong else 0
