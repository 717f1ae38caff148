"""`coda-bench prepare`: writes the graphs and compiles them, on any machine."""
import concurrent.futures
import dataclasses
import json
import os
import shutil
import subprocess
import time
from typing import List, Optional, Sequence, Tuple

from . import graphs
from .candidates import kernels_of, positions, write_positions
from .errors import UsageError
from .manifest import NAME, Manifest, Prepared
from .ops import Op


def find_compiler(given: Optional[str]) -> str:
    """coda-compile: `given`, or in $CODA_HOME/bin, or on PATH. Raises UsageError."""
    home = os.environ.get("CODA_HOME")
    places = [given] if given else [os.path.join(home, "bin", "coda-compile")] if home else []
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    found = None if given else shutil.which("coda-compile")
    if not found:
        raise UsageError(
            "no coda-compile%s; give --compiler, or put it on PATH" % (
                " at '%s'" % given if given else ""))
    return found


def _summary(report_path: str, entry: str):
    """(launches of `entry`, remarks) of the graph's fusion report."""
    try:
        with open(report_path, encoding="utf-8") as f:
            report = json.load(f)
    except (OSError, ValueError):
        return [], []
    launches = [name for f in report["functions"] if f["name"] == entry
                for name in f["launches"]]
    return launches, [remark["message"] for remark in report["remarks"]]


def compile_graph(
    compiler: str, source: str, artifact: str, target: str, flags: Sequence[str] = ()
) -> str:
    """What coda-compile said, empty if it made the artifact."""
    done = subprocess.run(
        [compiler, source, "--target=" + target, "-o", artifact, *flags],
        capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    said = lines[0] if lines else "exit code %d" % done.returncode
    # A location in a generated file says nothing to a reader of the results.
    for part in ("error: ", source):
        said = said.replace(part, "", 1)
    return said.lstrip(":0123456789 ")


@dataclasses.dataclass(frozen=True)
class Options:
    """What one call of `prepare` compiles.

    compiler    coda-compile
    flags       passed on to it
    candidates  artifacts for tuning, at most, per op
    """

    compiler: str
    target: str
    flags: Tuple[str, ...] = ()
    candidates: int = 0


def _prepare(op: Op, folder: str, options: Options) -> Prepared:
    graph = graphs.build(op)
    source, artifact = op.file_stem + ".mlir", op.file_stem + ".so"
    path = os.path.join(folder, source)
    with open(path, "w", encoding="utf-8") as f:
        f.write(graph.text())
    prepared = Prepared(
        source=source, arguments=graph.argument_names(), results=graph.result_names(),
        entry=graph.entry)
    flags = (*graph.flags(), *options.flags)
    start = time.monotonic()
    report = os.path.join(folder, op.file_stem + ".report.json")
    prepared.error = compile_graph(
        options.compiler, path, os.path.join(folder, artifact), options.target,
        ["--report=" + report, *flags])
    prepared.launches, prepared.remarks = _summary(report, graph.entry)
    if os.path.exists(report):
        os.remove(report)
    if not prepared.error:
        prepared.artifact = artifact
        if options.candidates:
            _add_candidates(prepared, folder, path, op.file_stem, options, flags)
    prepared.seconds = round(time.monotonic() - start, 2)
    return prepared


def _add_candidates(
    prepared: Prepared, folder: str, source: str, stem: str, options: Options,
    flags: Sequence[str],
) -> None:
    kernels = kernels_of(options.compiler, source, options.target, flags)
    prepared.kernels = [
        dict(name=kernel.name, key=kernel.key, selected=kernel.schedules[0])
        for kernel in kernels]
    forced = os.path.join(folder, stem + ".forced.json")
    for i, schedules in enumerate(positions(kernels, options.candidates)):
        artifact = "%s.c%d.so" % (stem, i)
        write_positions(forced, schedules)
        # One that ptxas refuses (it would spill) is no candidate.
        if not compile_graph(
                options.compiler, source, os.path.join(folder, artifact), options.target,
                [*flags, "--schedule-db=" + forced]):
            prepared.candidates.append(dict(artifact=artifact, schedules=schedules))
    if os.path.exists(forced):
        os.remove(forced)


def prepare(
    folder: str, ops: List[Op], options: Options, jobs: int, log
) -> Manifest:
    """Compiles `ops` into `folder`; ops that are there already are made again."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError("cannot make the folder %s: %s" % (folder, error.strerror)) from None
    version = subprocess.run(
        [options.compiler, "--version"], capture_output=True, text=True, check=False)
    known = Manifest.read(folder).ops if os.path.exists(os.path.join(folder, NAME)) else {}
    manifest = Manifest(" ".join(version.stdout.split()), options.target, known)
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        pending = {pool.submit(_prepare, op, folder, options): op for op in ops}
        for future in concurrent.futures.as_completed(pending):
            op, prepared = pending[future], future.result()
            manifest.ops[op.key] = prepared
            if prepared.error:
                log("%-44s refused: %s" % (op.key, prepared.error))
            else:
                tried = ", candidates: %d" % len(prepared.candidates)
                log("%-44s %4.1f s, launches: %d%s" % (
                    op.key, prepared.seconds, len(prepared.launches),
                    tried if options.candidates else ""))
    manifest.write(folder)
    refused = [manifest.ops[op.key].error for op in ops if manifest.ops[op.key].error]
    if len(refused) == len(ops):
        raise UsageError("coda-compile refused all %d ops, the first: %s" % (len(ops), refused[0]))
    return manifest
