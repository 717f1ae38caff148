"""coda's own kernels, compiled before by `coda-bench prepare`."""
import os

import torch

from ..errors import NotSupported
from ..inputs import joined, separate
from ..manifest import Manifest
from .base import Case, Provider, register


@register
class Coda(Provider):
    """What coda-compile made of the op's graph.

    Artifacts are loaded by the package `coda`; neither the compiler nor LLVM is
    needed.
    """

    name = "coda"

    def setup(self):
        import coda

        if self.context.artifacts is None:
            raise RuntimeError("no folder of artifacts given; see `coda-bench prepare`")
        self.load = coda.Artifact.load
        self.manifest = Manifest.read(self.context.artifacts)
        if (self.manifest.target == "cpu") == self.context.on_gpu:
            raise RuntimeError("the artifacts are for %s" % self.manifest.target)
        self.loaded = {}

    def _entry(self, op):
        prepared = self.manifest.ops.get(op.key)
        if prepared is None:
            raise NotSupported("not prepared")
        if not prepared.artifact:
            raise NotSupported("refused: %s" % prepared.error)
        if op.key not in self.loaded:
            path = os.path.join(self.context.artifacts, prepared.artifact)
            self.loaded = {op.key: self.load(path)}
        return getattr(self.loaded[op.key], prepared.entry), prepared

    def case(self, op, t):
        entry, prepared = self._entry(op)
        tensors = separate(op, t)
        call = entry.bind(*[tensors[name] for name in prepared.arguments])

        def launch():
            return call(torch.cuda.current_stream().cuda_stream)

        return Case(
            launch if self.context.on_gpu else call,
            lambda out: joined(op, t, dict(zip(prepared.results, out))),
            launches=entry.num_launches)
