"""Compile MLIR tensor graphs with coda and call them on arrays.

    import coda
    block = coda.compile(open("block.mlir").read())     # coda.Artifact
    x2, q, k, v = block.main(*arguments)                # numpy or DLPack

The package starts the `coda-compile` program and loads what it wrote; it links
neither LLVM nor MLIR. Compiled artifacts need only this package and numpy.
"""
from .artifact import Argument, Artifact, Call, Entry
from .compiler import compile, find_tool
from .errors import (
    ArgumentError,
    ArtifactError,
    AssertionFailed,
    CompileError,
    DeviceError,
    Error,
    PerformanceWarning,
    ToolNotFoundError,
    WorkspaceError,
)

__version__ = "0.1.0"
__all__ = [
    "Argument",
    "ArgumentError",
    "Artifact",
    "ArtifactError",
    "AssertionFailed",
    "Call",
    "CompileError",
    "DeviceError",
    "Entry",
    "Error",
    "PerformanceWarning",
    "ToolNotFoundError",
    "WorkspaceError",
    "compile",
    "find_tool",
]
