"""Starts coda-compile."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import warnings
from typing import Any, Optional, Union

from .artifact import Artifact
from .errors import (
    ArgumentError,
    ArtifactError,
    CompileError,
    DeviceError,
    PerformanceWarning,
    ToolNotFoundError,
)


def find_tool(name: str) -> str:
    """The path of the project's program `name`.

    Looked for in $CODA_HOME/bin, where CODA_HOME is a build folder or an
    installation, then in a `bin` beside this package, then on PATH. Raises
    ToolNotFoundError.
    """
    home = os.environ.get("CODA_HOME")
    places = [pathlib.Path(home, "bin")] if home else []
    places.append(pathlib.Path(__file__).resolve().parent / "bin")
    for place in places:
        if os.access(place / name, os.X_OK):
            return str(place / name)
    found = shutil.which(name)
    if found is None:
        raise ToolNotFoundError(
            "%s is neither in %s nor on PATH: set CODA_HOME to a build folder or "
            "an installation of coda" % (name, " nor in ".join(map(str, places))))
    return found


def _flags(options: dict) -> list:
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value)) or None
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            flags.append("%s=%s" % (flag, os.fspath(value) if hasattr(
                value, "__fspath__") else value))
    return flags


def _is_path(text: str) -> bool:
    """Whether what should be MLIR is one line that names a file."""
    return "\n" not in text and "\0" not in text and (
        text.endswith((".mlir", ".mlirbc")) or os.path.exists(text))


def compile(
    source: Union[str, bytes, "os.PathLike[str]"],
    target: str = "cpu",
    *,
    output: Optional[Union[str, "os.PathLike[str]"]] = None,
    **options: Any,
) -> Artifact:
    """Compiles MLIR and loads the artifact.

    source   MLIR as text or bytecode, or a path object of a file that holds it
    target   "cpu" or "sm_90a"
    output   where to keep the shared library, also where it cannot be loaded
             here (a GPU's, say, on a machine without one); None: it is removed
             when the artifact is no longer used
    options  flags of coda-compile with `_` for `-`: numerics="strict",
             cpu="x86-64-v3", grad_constants=[2, 3], ...; True gives the bare flag,
             None, False and an empty list none

    What will run slowly on the device, and why, is a PerformanceWarning. Raises
    ArgumentError for a source of another type and for `emit`, CompileError with
    the compiler's own text, where the text that was given is
    called <string>, ToolNotFoundError, or ArtifactError or DeviceError where the
    result cannot run on this machine: with `output` it is there nevertheless.
    """
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise ArgumentError(
            "a source of type %s: give MLIR as str or bytes, or a path object such as "
            "pathlib.Path" % type(source).__name__)
    if isinstance(source, str) and _is_path(source):
        raise ArgumentError(
            "the source %r is the name of a file, not MLIR: give a path object, "
            "pathlib.Path(%r)" % (source, source))
    if not isinstance(target, str):
        raise ArgumentError("target=%r: there are 'cpu' and 'sm_90a'" % (target,))
    if options.get("emit", "so") != "so":
        raise ArgumentError(
            "emit=%r: what is loaded is a shared library; run coda-compile --emit for other "
            "stages" % options["emit"])
    tool = find_tool("coda-compile")
    scratch = tempfile.TemporaryDirectory(prefix="coda-")
    try:
        if isinstance(source, os.PathLike):
            path, text = os.fspath(source), None
        else:
            path, text = "-", source.encode() if isinstance(source, str) else source
        library = os.fspath(output) if output else os.path.join(scratch.name, "artifact.so")
        done = subprocess.run(
            [tool, path, "--target=" + target, "-o", library, *_flags(options)],
            input=text or b"", capture_output=True)
        said = done.stderr.decode(errors="replace").strip()
        if text is not None:
            said = said.replace("<stdin>", "<string>")
        if done.returncode != 0:
            raise CompileError(
                said or "coda-compile failed with exit code %d" % done.returncode,
                done.returncode)
        for line in said.splitlines():
            if line.startswith("remark: "):
                warnings.warn(line[len("remark: "):], PerformanceWarning, stacklevel=2)
        try:
            artifact = Artifact.load(library)
        except (ArtifactError, DeviceError) as error:
            raise type(error)("%s; %s" % (
                error,
                "%s was compiled, and is complete: coda.Artifact.load takes it there" % library
                if output else
                "give output= to keep the artifact for coda.Artifact.load there")) from None
        # Loaded already, so the file is needed no longer; kept for `path`.
        artifact._scratch = scratch
        return artifact
    except BaseException:
        scratch.cleanup()
        raise
