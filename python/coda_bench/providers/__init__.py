"""Who is measured: importing this registers all providers."""
import importlib.util
import os
import sys
from typing import List

from ..errors import UsageError
from . import coda, flashinfer, liger, pytorch, quack  # noqa: F401: they register themselves
from .base import PROVIDERS, Case, Context, Provider

__all__ = ["PROVIDERS", "Case", "Context", "Provider", "load_plugin", "names"]


def names() -> List[str]:
    """The default providers, the bound first."""
    return sorted(
        (name for name, cls in PROVIDERS.items() if cls.default), key=lambda name: name != "cublas")


def load_plugin(path: str) -> None:
    """Runs a file that registers more providers. Raises UsageError."""
    if not os.path.isfile(path):
        raise UsageError("no plugin '%s'" % path)
    name = "coda_bench_plugin_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
