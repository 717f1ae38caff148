"""`coda-bench`, also as `python3 -m coda_bench`."""
import argparse
import os
import subprocess
import sys
import time
from typing import List, Optional

from . import catalog, manifest, ops
from .candidates import DATABASE_NAME
from .errors import DeviceLost, UsageError

REGIMES = ("flushed", "sustained")
DEFAULT_FOLDER = "coda-bench.out"


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as the project's other tools do."""

    def error(self, message):
        raise UsageError("%s; see %s --help" % (message, self.prog))


def _words(text: str) -> List[str]:
    return [word for word in text.split(",") if word]


def _numbers(text: str) -> List[int]:
    try:
        return [int(word) for word in _words(text)]
    except ValueError:
        raise argparse.ArgumentTypeError("'%s' is no list of numbers" % text) from None


def _add_selection(parser) -> None:
    parser.add_argument("--ops", type=_words, metavar="KIND,...", help="of %s; default: all" % (
        ", ".join(ops.KINDS)))
    parser.add_argument(
        "--hidden", type=_numbers, metavar="H,...",
        help="hidden widths (default: %s)" % ",".join(map(str, ops.DEFAULT_HIDDEN)))
    parser.add_argument(
        "--tokens", type=_numbers, metavar="M,...",
        help="rows; under 128 a decode step, forward ops only (default: %d)" % ops.DEFAULT_TOKENS)
    parser.add_argument(
        "--decode", action="store_true", help="as --tokens=%s" % (
            ",".join(map(str, ops.DECODE_TOKENS))))
    parser.add_argument("--match", metavar="TEXT", help="only ops with TEXT in their key")


def _selected(args) -> List[ops.Op]:
    if args.decode and args.tokens:
        raise UsageError("--decode stands for --tokens=%s; leave one of them out" % (
            ",".join(map(str, ops.DECODE_TOKENS))))
    tokens = ops.DECODE_TOKENS if args.decode else args.tokens or [ops.DEFAULT_TOKENS]
    found = ops.select(args.ops, args.hidden or ops.DEFAULT_HIDDEN, tokens, args.match)
    if not found:
        raise UsageError("no op is left; `coda-bench list` shows what there is")
    return found


def _selected_of(args) -> List[ops.Op]:
    """Without a shape on the command line, the ops that `args.folder` was prepared
    for; else as `_selected`."""
    _require_folder(args.folder)
    named = args.hidden or args.tokens or args.decode
    if named or not os.path.exists(os.path.join(args.folder, manifest.NAME)):
        return _selected(args)
    kinds = ops.known_kinds(args.ops)
    found = [ops.from_key(key) for key in manifest.Manifest.read(args.folder).ops]
    found = [op for op in found if op.kind in kinds and (args.match or "") in op.key]
    if not found:
        raise UsageError("no op of %s is left; `coda-bench prepare` adds some; `coda-bench list` shows what there is" % args.folder)
    return found


def _add_prepare(parser) -> None:
    parser.add_argument("--compiler", metavar="PATH", help="coda-compile (default: on PATH)")
    parser.add_argument("--target", default="sm_90a", help="as coda-compile's (default: sm_90a)")
    parser.add_argument("--schedule-db", metavar="FILE",
                        help="compile with measured schedules, which `tune` wrote")
    parser.add_argument("--candidates", type=int, default=0, metavar="N",
                        help="also compile up to N schedules of each kernel, for `tune`")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")


def _add_run(parser) -> None:
    parser.add_argument("--providers", type=_words, metavar="NAME,...",
                        help="default: all; what cannot be imported is skipped")
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE",
                        help="a Python file that registers more providers")
    parser.add_argument("--regimes", type=_words, default=list(REGIMES), metavar="NAME,...",
                        help="of %s (default: both)" % ", ".join(REGIMES))
    parser.add_argument("--json", metavar="FILE", help="default: %s in the folder" % manifest.RESULTS_NAME)
    parser.add_argument("--resume", action="store_true",
                        help="keep the results there; measure what they lack")
    parser.add_argument("--budget-ms", type=float, default=120.0, metavar="MS",
                        help="GPU time for a provider, op and regime (default: 120)")
    parser.add_argument("--time-limit", type=float, default=0.0, metavar="S",
                        help="begin no op after so many seconds")
    parser.add_argument("--no-check", action="store_true", help="leave the reference out")
    parser.add_argument("--dry-run", action="store_true",
                        help="on the CPU, one call each: shows that it works, not how fast")


def _parser() -> Parser:
    parser = Parser(
        prog="coda-bench", description="Measures coda's kernels beside other libraries'. "
        "Without a command: prepare, run and report in ./%s." % DEFAULT_FOLDER)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    listing = commands.add_parser(
        "list", help="print the ops and the providers; needs neither torch nor a GPU")
    _add_selection(listing)
    preparing = commands.add_parser(
        "prepare", help="write and compile the graphs; needs no GPU")
    preparing.add_argument("folder", metavar="DIR")
    _add_selection(preparing)
    _add_prepare(preparing)
    running = commands.add_parser(
        "run", help="measure what is prepared; needs torch and a GPU (or --dry-run), no compiler")
    running.add_argument("folder", metavar="DIR")
    _add_selection(running)
    _add_run(running)
    tuning = commands.add_parser(
        "tune", help="measure the candidates that `prepare --candidates` compiled; needs "
        "torch and a GPU")
    tuning.add_argument("folder", metavar="DIR")
    _add_selection(tuning)
    tuning.add_argument("--schedule-db", metavar="FILE",
                        help="the database to add to (default: schedules.json in the folder)")
    tuning.add_argument("--rounds", type=int, default=8, help="calls of each candidate (8)")
    tuning.add_argument("--resume", action="store_true",
                        help="leave kernels alone that are in the database")
    reporting = commands.add_parser(
        "report", help="tables and plots of results; needs neither torch nor a GPU")
    reporting.add_argument(
        "results", nargs="+", metavar="RESULTS.json|DIR",
        help="results of `run`, or the folders that have them as %s" % manifest.RESULTS_NAME)
    reporting.add_argument("-o", "--output", metavar="FILE.md", help="default: standard output")
    reporting.add_argument("--plot", metavar="FILE", help="a .png, .svg or .html file")
    return parser


def _list(args) -> int:
    for op in _selected(args):
        print("%-44s %8.3f TFLOP %8.3f GB" % (op.key, op.flops() / 1e12, op.bytes() / 1e9))
    for name, what in catalog.providers():
        print("provider %-11s %s" % (name, what))
    return 0


def _prepare(args) -> int:
    from .prepare import Options, find_compiler, prepare

    if args.jobs < 1:
        raise UsageError("--jobs=%d: give 1 or more" % args.jobs)
    if args.candidates < 0:
        raise UsageError("--candidates=%d: give 0 or more" % args.candidates)
    if args.schedule_db is not None and not os.path.isfile(args.schedule_db):
        raise UsageError("--schedule-db=%s: no such file; `coda-bench tune` writes one" % args.schedule_db)
    flags = ("--schedule-db=" + args.schedule_db,) if args.schedule_db else ()
    prepare(
        args.folder, _selected(args),
        Options(find_compiler(args.compiler), args.target, flags, args.candidates),
        args.jobs, _say)
    return 0


def _require_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        raise UsageError("no folder '%s'; `coda-bench prepare %s` makes it" % (folder, folder))


def _require_torch(gpu: bool) -> None:
    """Says what measuring needs; `gpu`: a GPU, too."""
    try:
        import torch
    except ImportError as error:
        raise UsageError(
            "`run` and `tune` measure with torch, which this Python (%s) has not (%s): start "
            "them as `PYTHON -m coda_bench ...` with one that has; list, prepare and report "
            "work without torch and without a GPU" % (sys.executable, error)) from None
    if gpu and not torch.cuda.is_available():
        raise UsageError(
            "torch %s sees no GPU, and `run` and `tune` measure one: start them on a machine that "
            "has one, or `run --dry-run` for one call each on the CPU; list, prepare and report "
            "work without a GPU" % torch.__version__)


def _tune(args) -> int:
    selected = _selected_of(args)
    if args.rounds < 1:
        raise UsageError("--rounds=%d: give 1 or more" % args.rounds)
    _require_torch(gpu=True)
    from .tune import tune

    database = args.schedule_db or os.path.join(args.folder, DATABASE_NAME)
    try:
        return tune(selected, args.folder, database, args.rounds, args.resume, _say)
    except DeviceLost as lost:
        _say("the device was lost by %s: going on in a new process" % lost)
    return _again(args, [])


def _again(args, rest: List[str]) -> int:
    """The same command in a new process. What broke the device is on disk, so each
    process gets further."""
    done = subprocess.run(
        [sys.executable, "-m", "coda_bench", *args.given, "--resume", *rest], check=False)
    return done.returncode or 1


def _run(args) -> int:
    for regime in args.regimes:
        if regime not in REGIMES:
            raise UsageError("unknown regime '%s'; there are %s" % (regime, ", ".join(REGIMES)))
    selected = _selected_of(args)
    _require_torch(gpu=not args.dry_run)
    from . import measure, providers

    for path in args.plugin:
        providers.load_plugin(path)
    start = time.monotonic()
    try:
        return measure.run(
            selected, args.providers or providers.names(),
            args.json or os.path.join(args.folder, manifest.RESULTS_NAME), args.folder,
            on_gpu=not args.dry_run, regimes=args.regimes, budget_ms=args.budget_ms,
            time_limit=args.time_limit, resume=args.resume, check=not args.no_check, log=_say)
    except DeviceLost as lost:
        _say("the device was lost by %s: going on in a new process" % lost)
    left = max(1.0, args.time_limit - time.monotonic() + start)
    return _again(args, ["--time-limit=%g" % left] if args.time_limit else [])


def _report(args) -> int:
    from .report import write

    write(args.results, args.output, args.plot, _say)
    return 0


def _everything(args) -> int:
    # Before minutes of compiling.
    _require_torch(gpu=True)
    folder = DEFAULT_FOLDER
    parser = _parser()
    _prepare(parser.parse_args(["prepare", folder]))
    run = parser.parse_args(["run", folder])
    run.given = ["run", folder]
    status = _run(run)
    _report(parser.parse_args([
        "report", folder,
        "-o", os.path.join(folder, "performance.md"),
        "--plot", os.path.join(folder, "performance.svg")]))
    return status


def _say(line: str) -> None:
    print(line, flush=True)


COMMANDS = {
    "list": _list, "prepare": _prepare, "run": _run, "tune": _tune, "report": _report,
    None: _everything}


def main(argv: Optional[List[str]] = None) -> int:
    """Exit codes: 0 good, 1 a check failed, 2 bad input or usage."""
    try:
        args = _parser().parse_args(argv)
        args.given = sys.argv[1:] if argv is None else argv
        code = COMMANDS[args.command](args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Who reads, `head` say, has enough; nothing is left to be said at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UsageError as error:
        print("error: %s" % error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
