"""What a provider is.

To add one, subclass Provider, decorate the class with `register`, and import the
file in `providers/__init__.py`, or name it with `run --plugin FILE`:

    from coda_bench.providers.base import Case, Provider, register

    @register
    class Mine(Provider):
        name, needs = "mine", ("mykernels",)

        def gemm_rms(self, op, t):
            kernel = mykernels.build(op.M, op.h, op.K)      # not timed
            return Case(lambda: kernel(t["A"], t["W"], t["res"], t["wn"]),
                        lambda out: dict(x=out[0], h=out[1]))
"""
import dataclasses
import importlib
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

from ..errors import NotSupported
from ..ops import KINDS, Op


@dataclasses.dataclass
class Case:
    """One op of one provider on one set of inputs.

    run        the timed work: enqueues on the current stream, returns anything
    canonical  {output: tensor} of `inputs.reference` from what `run` returned,
               untimed; outputs that it leaves out are not checked
    note       a remark that the results keep
    reset      called before a checked call, for ops that work in place
    launches   kernels that one call starts, where it is known
    """

    run: Callable[[], Any]
    canonical: Callable[[Any], Dict[str, torch.Tensor]]
    note: str = ""
    reset: Optional[Callable[[], None]] = None
    launches: Optional[int] = None


@dataclasses.dataclass
class Context:
    """What all providers of a run share.

    artifacts  folder that `prepare` filled
    measure    callable: {key: callable} to {key: median in ms}, interleaved, for
               providers that tune themselves
    """

    device: torch.device
    artifacts: Optional[str] = None
    measure: Optional[Callable[[Dict[Any, Callable[[], Any]]], Dict[Any, float]]] = None

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"


class Provider:
    """Has a method for each kind of op that it can do: method(op, t) -> Case.

    `op` has the shapes, `t` the inputs of `inputs.make`, which it must not
    change. All set-up (weights in another layout, compilation, tuning, outputs)
    belongs into the method; only `Case.run` is timed. A method is called once
    for each set of inputs that is rotated. NotSupported: no such op.

    name      as `--providers` spells it
    needs     modules that must be importable
    versions  distributions whose versions the results record
    default   measured if `--providers` is not given
    """

    name = "?"
    needs: Tuple[str, ...] = ()
    versions: Tuple[str, ...] = ()
    default = True

    def __init__(self, context: Context):
        self.context = context

    def setup(self) -> None:
        """One-time work; an exception marks the provider as skipped."""

    def unavailable(self) -> Optional[str]:
        """Why it cannot be measured, or None after a good `setup`."""
        for module in self.needs:
            try:
                importlib.import_module(module)
            except Exception as error:  # A broken package may raise anything.
                return "%s cannot be imported (%s: %s)" % (
                    module, type(error).__name__, str(error)[:120])
        try:
            self.setup()
        except Exception as error:
            return "set-up failed (%s: %s)" % (type(error).__name__, str(error)[:200])
        return None

    def case(self, op: Op, t: Dict[str, torch.Tensor]) -> Case:
        method = getattr(self, op.kind, None)
        if op.kind not in KINDS or method is None:
            raise NotSupported("not in this library")
        return method(op, t)

    def tuned(self) -> List[str]:
        """What it chose by measuring since the last call of this."""
        return []


PROVIDERS: Dict[str, type] = {}


def register(cls):
    PROVIDERS[cls.name] = cls
    return cls
