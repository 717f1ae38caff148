"""`coda-bench report`: tables in Markdown and plots of results. Needs no torch."""
import os
from typing import Dict, List, Optional

from . import plot
from .errors import UsageError
from .manifest import RESULTS_NAME, read_json, write_text

TITLES = {
    "gemm": "Plain GEMM",
    "gemm_fp8": "GEMM of 8-bit factors",
    "gemm_rms": "GEMM + residual + RMSNorm, forward",
    "gemm_swiglu": "GEMM + SwiGLU, forward",
    "gemm_rope": "GEMM + RoPE of q and k, forward",
    "gemm_ce": "GEMM + cross-entropy, forward",
    "swiglu_bwd": "GEMM + SwiGLU backward",
    "norm_bwd": "GEMM + RMSNorm backward + residual gradient",
    "experts": "Experts of one tensor of weights, forward",
    "block": "Layer, attention to attention",
}
REGIMES = {
    "flushed": "L2 flushed and a spin before each call",
    "sustained": "back to back, hot, inputs rotated",
}
# Fewer tokens are a decode step: bound by memory, not by the products.
DECODE_BELOW = 128


def _is_run(data: dict) -> bool:
    results, environment = data.get("results"), data.get("environment")
    fields = dict(key=str, op=str, M=int, h=int, variant=str, providers=dict)
    return isinstance(results, list) and isinstance(environment, dict) and all(
        isinstance(result, dict) and all(isinstance(result.get(k), t) for k, t in fields.items())
        for result in results)


def load(paths: List[str]) -> List[dict]:
    runs = []
    for path in paths:
        if os.path.isdir(path):
            path = os.path.join(path, RESULTS_NAME)
        data = read_json(path, "`coda-bench run` writes such files")
        if not _is_run(data):
            raise UsageError("%s holds no results of coda-bench; `coda-bench run` writes them" % path)
        runs.append(data)
    return runs


def combine(runs: List[dict]) -> Dict[str, dict]:
    """{key: result} with each provider's best median over the runs, the bound's too.

    Of several errors the largest is kept.
    """
    rows: Dict[str, dict] = {}
    for run in runs:
        for result in run["results"]:
            row = rows.setdefault(result["key"], dict(result, providers={}))
            for name, entry in result["providers"].items():
                kept = row["providers"].setdefault(name, {})
                for regime in REGIMES:
                    if regime in entry and (
                            regime not in kept or entry[regime]["ms"] < kept[regime]["ms"]):
                        kept[regime] = entry[regime]
                if "error" in entry:
                    kept["error"] = max(entry["error"], kept.get("error", 0.0))
                for field in ("failed", "skipped", "launches", "note"):
                    if field in entry:
                        kept[field] = entry[field]
    for row in rows.values():
        bound = row["providers"].get("cublas", {})
        for entry in row["providers"].values():
            for regime in REGIMES:
                if regime in entry and regime in bound:
                    entry[regime] = dict(
                        entry[regime], ratio=entry[regime]["ms"] / bound[regime]["ms"])
    return rows


def _cell(row: dict, name: str, regime: str) -> str:
    entry = row["providers"].get(name, {})
    if regime not in entry:
        return "failed" if "failed" in entry else "–"
    taken = entry[regime]
    if name == "cublas" and row["M"] >= DECODE_BELOW:
        return "%.3f (%.0f TFLOP/s)" % (taken["ms"], row["flops"] / taken["ms"] / 1e9)
    decode = row["M"] < DECODE_BELOW
    text = "%.*f" % (4 if decode else 3, taken["ms"])
    if decode and "memory_ms" in row:
        text += " (%.2f)" % (taken["ms"] / row["memory_ms"])
    if name != "cublas" and "ratio" in taken:
        text += " **×%.2f**" % taken["ratio"]
    return text


def _table(rows: List[dict], regime: str) -> List[str]:
    """One row an op, one column a provider that has a time or failed: the bound, coda,
    its peers by name."""
    names = sorted(
        {n for row in rows for n, e in row["providers"].items() if regime in e or "failed" in e},
        key=lambda name: (name != "cublas", name != "coda", name))
    errors = any("error" in row["providers"].get("coda", {}) for row in rows)
    memory = all(row["M"] < DECODE_BELOW and "memory_ms" in row for row in rows)
    head = ["h", "M", "variant"] + (["memory"] if memory else []) + names + (
        ["error of coda"] if errors else [])
    lines = ["| %s |" % " | ".join(head), "|" + "---|" * len(head)]
    for row in rows:
        cells = [str(row["h"]), str(row["M"]), row["variant"]]
        if memory:
            cells.append("%.4f" % row["memory_ms"])
        cells += [_cell(row, name, regime) for name in names]
        if errors:
            error = row["providers"].get("coda", {}).get("error")
            cells.append("–" if error is None else "%.2f" % error)
        lines.append("| %s |" % " | ".join(cells))
    return lines


def _environments(runs: List[dict]) -> List[str]:
    """A line for each environment with the dates of its calls. Calls are of one
    environment unless they contradict each other: a call names the versions of the
    providers that it had. What each call measured itself is a list, as the dates."""
    own = ("date", "memory TB/s")
    found: List[tuple] = []
    for run in runs:
        for around in [*run.get("earlier", []), run["environment"]]:
            facts = {k: v for k, v in around.items() if k not in own}
            for known, lists in found:
                if all(known.get(k, v) == v for k, v in facts.items()):
                    known.update(facts)
                    break
            else:
                lists = {k: [] for k in own}
                found.append((facts, lists))
            for name in own:
                if name in around and around[name] not in lists[name]:
                    lists[name].append(around[name])
    lines = []
    for facts, lists in found:
        parts = ["%s %s" % pair for pair in facts.items()]
        parts += ["%s %s" % (k, " / ".join(map(str, v))) for k, v in lists.items() if v]
        lines.append("- " + ", ".join(parts))
    return lines


def markdown(runs: List[dict], plot_path: Optional[str] = None) -> str:
    """All tables, and what was skipped or failed and why."""
    rows = combine(runs)
    lines = ["# Performance", "", "Written by `coda-bench report` from %s." % (
        "one run" if len(runs) == 1 else "%d runs, each provider's best median" % len(runs)), ""]
    lines += _environments(runs)
    lines += [
        "",
        "Cells: milliseconds and their ratio to `cublas`, which does the matrix products only "
        "(1.00: the epilogue is free). Medians of interleaved rounds. Error: the largest over an "
        "op's outputs of max|out − f32 reference| over that of unfused bf16; up to 2 is good. "
        "Decode: `memory` is the time in which a large copy moves the bytes of the products, in "
        "parentheses is the time over that. "
        "[Benchmarks.md](Benchmarks.md) has the protocol and the ops.", ""]
    if plot_path:
        lines += ["![ratios to the products alone](%s)" % plot_path, ""]
    for kind, title in TITLES.items():
        for decode in False, True:
            found = sorted(
                (r for r in rows.values()
                 if r["op"] == kind and (r["M"] < DECODE_BELOW) == decode),
                key=lambda row: (row["h"], row["M"]))
            for regime, what in REGIMES.items():
                measured = [r for r in found if any(regime in e for e in r["providers"].values())]
                if measured:
                    lines += ["## %s%s: %s" % (title, ", decode" if decode else "", what), "",
                              *_table(measured, regime), ""]
    lines += _reasons(runs, rows)
    return "\n".join(lines).rstrip() + "\n"


def _reasons(runs: List[dict], rows: Dict[str, dict]) -> List[str]:
    lines, grouped = [], {}
    for key, row in rows.items():
        for name, entry in row["providers"].items():
            for field in ("failed", "skipped"):
                if field in entry and (field == "failed" or name == "coda"):
                    what = "%s %s: %s" % (name, field, entry[field].splitlines()[0][:200])
                    grouped.setdefault(what, []).append(key)
    for what, keys in grouped.items():
        lines.append("- %s (%s)" % (what, ", ".join("`%s`" % key for key in keys)))
    for name, why in {n: w for run in runs for n, w in run.get("skipped", {}).items()}.items():
        lines.append("- %s was left out: %s" % (name, why))
    return ["## Not measured", "", *lines, ""] if lines else []


def write(
    paths: List[str], output: Optional[str], plot_file: Optional[str], log
) -> None:
    """Writes the Markdown to `output` (None: prints it) and a plot beside it."""
    runs = load(paths)
    if plot_file and not plot_file.endswith(plot.SUFFIXES):
        raise UsageError("'%s': a plot is a .png, .svg or .html file" % plot_file)
    shown = None
    if plot_file:
        plot.write(plot_file, combine(runs))
        shown = os.path.relpath(plot_file, os.path.dirname(output) or ".") if output else plot_file
        if not shown.endswith((".png", ".svg")):
            shown = None
    text = markdown(runs, shown)
    if output is None:
        log(text.rstrip("\n"))
        return
    write_text(output, text)
