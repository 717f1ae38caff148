"""A writer of linalg on tensors, in the forms in which frameworks export it."""
import dataclasses
from typing import Callable, List, Optional, Sequence, Tuple

Dims = Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: Tuple[int, ...]
    dtype: str

    @property
    def type(self) -> str:
        return "tensor<%s%s>" % ("".join("%dx" % n for n in self.shape), self.dtype)


class Body:
    """The scalar ops of a linalg.generic. Calling it appends one op."""

    def __init__(self, graph: "Graph"):
        self._graph = graph
        self.lines: List[str] = []

    def __call__(self, op: str, *operands: str, type: str = "f32") -> str:
        name = self._graph.fresh()
        self.lines.append("      %s = %s %s : %s" % (name, op, ", ".join(operands), type))
        return name

    def wide(self, operand: str) -> str:
        return self("arith.extf", operand, type="bf16 to f32")

    def narrow(self, operand: str) -> str:
        return self("arith.truncf", operand, type="f32 to bf16")

    def gathered(self, table: Value, column: str) -> str:
        """table[row of this point, column] for a column of i64, as torch's gather."""
        graph = self._graph
        row, index = graph.fresh(), graph.fresh()
        self.lines.append("      %s = linalg.index 0 : index" % row)
        self.lines.append("      %s = arith.index_cast %s : i64 to index" % (index, column))
        below = self(
            "arith.cmpi slt,", index, graph.constant(table.shape[1], "index"), type="index")
        self.lines.append(
            '      cf.assert %s, "index must be smaller than dim size"' % below)
        above = self("arith.cmpi sge,", column, graph.constant(0, "i64"), type="i64")
        self.lines.append(
            '      cf.assert %s, "index must be larger or equal to 0"' % above)
        name = graph.fresh()
        self.lines.append("      %s = tensor.extract %s[%s, %s] : %s" % (
            name, table.name, row, index, table.type))
        return name

    def sigmoid(self, x: str) -> str:
        one = self._graph.constant(1.0)
        return self("arith.divf", one, self(
            "arith.addf", self("math.exp", self("arith.negf", x)), one))


class Graph:
    """One function, `main`, built op by op. `arguments` and `results` keep the
    names that callers bind tensors to. `constants`: of a graph that is compiled
    with its gradient, the names of the arguments that have none; else None."""

    def __init__(self):
        self.arguments: List[Tuple[str, Value]] = []
        self.results: List[Tuple[str, Value]] = []
        self.constants: Optional[Tuple[str, ...]] = None
        self._lines: List[str] = []
        self._constants = {}
        self._count = 0

    def fresh(self) -> str:
        self._count += 1
        return "%%%d" % self._count

    def constant(self, value, type: str = "f32") -> str:
        """A scalar; floats are written with all their digits."""
        return self.constant_text(
            "%.17e" % value if isinstance(value, float) else str(value), type)

    def constant_text(self, text: str, type: str) -> str:
        return self._constants.setdefault((text, type), "%%c%d" % len(self._constants))

    def arguments_by_name(self, name: str) -> Optional[Value]:
        return dict(self.arguments).get(name)

    def argument(self, name: str, shape: Sequence[int], dtype: str = "bf16") -> Value:
        value = Value("%%arg%d" % len(self.arguments), tuple(shape), dtype)
        self.arguments.append((name, value))
        return value

    def result(self, name: str, value: Value) -> None:
        self.results.append((name, value))

    @property
    def entry(self) -> str:
        """The function of the artifact to call."""
        return "main" if self.constants is None else "main_grad"

    def flags(self) -> List[str]:
        """What coda-compile is given besides the source."""
        if self.constants is None:
            return []
        numbers = [str(i) for i, (name, _) in enumerate(self.arguments)
                   if name in self.constants]
        return ["--grad"] + (["--grad-constants=" + ",".join(numbers)] if numbers else [])

    def argument_names(self) -> List[str]:
        """Of the entry: with a gradient, also the cotangents of the results."""
        names = [name for name, _ in self.arguments]
        return names if self.constants is None else names + [
            "d" + name for name, _ in self.results]

    def result_names(self) -> List[str]:
        """Of the entry: with a gradient, also those of the arguments."""
        names = [name for name, _ in self.results]
        return names if self.constants is None else names + [
            "d" + name for name, value in self.arguments if name not in self.constants]

    def _append(self, op: str, shape: Sequence[int], dtype: str) -> Value:
        value = Value(self.fresh(), tuple(shape), dtype)
        self._lines.append("    %s = %s" % (value.name, op.format(type=value.type)))
        return value

    def empty(self, shape: Sequence[int], dtype: str) -> Value:
        return self._append("tensor.empty() : {type}", shape, dtype)

    def filled(self, value, shape: Sequence[int], dtype: str) -> Value:
        """`value` is a number, or the name of a constant."""
        scalar = value if isinstance(value, str) else self.constant(value, dtype)
        init = self.empty(shape, dtype)
        return self._append("linalg.fill ins(%s : %s) outs(%s : {type}) -> {type}" % (
            scalar, dtype, init.name), shape, dtype)

    def transpose(self, value: Value) -> Value:
        """Of the last two dims."""
        rank = len(value.shape)
        order = [*range(rank - 2), rank - 1, rank - 2]
        shape = tuple(value.shape[d] for d in order)
        init = self.empty(shape, value.dtype)
        return self._append(
            "linalg.transpose ins(%s : %s) outs(%s : {type}) permutation = [%s]" % (
                value.name, value.type, init.name, ", ".join(map(str, order))),
            shape, value.dtype)

    def matmul(self, a: Value, b: Value, dtype: str = "bf16") -> Value:
        """a (M, K) b (K, N), or a batch of these, accumulated in f32 and rounded, as
        torch exports it."""
        shape = a.shape[:-1] + b.shape[-1:]
        init = self.filled(0.0, shape, "f32")
        wide = self._append(
            "linalg.%s ins(%s, %s : %s, %s) outs(%s : {type}) -> {type}" % (
                "matmul" if len(shape) == 2 else "batch_matmul", a.name, b.name, a.type, b.type, init.name), shape, "f32")
        return self.cast(wide, dtype)

    def linear(self, x: Value, weight: Value, dtype: str = "bf16") -> Value:
        """x weight^T for a weight stored (N, K), or a batch of these: a transpose and a
        matmul."""
        return self.matmul(x, self.transpose(weight), dtype)

    def cast(self, value: Value, dtype: str) -> Value:
        if value.dtype == dtype:
            return value
        return self.elementwise(
            [value], lambda body, x: body.wide(x) if dtype == "f32" else body.narrow(x), dtype)

    def generic(
        self,
        inputs: Sequence[Tuple[Value, Dims]],
        init: Value,
        init_dims: Dims,
        loops: int,
        build: Callable[..., str],
    ) -> Value:
        """A linalg.generic of one result; dims that `init_dims` lacks are reduced.

        build(body, *scalars, out) gives the name of what it yields.
        """
        def spelled(dims):
            return "affine_map<(%s) -> (%s)>" % (
                ", ".join("d%d" % d for d in range(loops)), ", ".join("d%d" % d for d in dims))

        body = Body(self)
        names = [self.fresh() for _ in inputs] + [self.fresh()]
        yielded = build(body, *names)
        kinds = ["parallel" if d in init_dims else "reduction" for d in range(loops)]
        block = ", ".join("%s: %s" % (name, value.dtype) for name, value in zip(
            names, [value for value, _ in inputs] + [init]))
        text = (
            "linalg.generic {{indexing_maps = [%s], iterator_types = [%s]}} ins(%s : %s) "
            "outs(%s : {type}) {{\n    ^bb0(%s):\n%s\n      linalg.yield %s : %s\n    }} -> {type}" % (
                ", ".join([spelled(dims) for _, dims in inputs] + [spelled(init_dims)]),
                ", ".join('"%s"' % kind for kind in kinds),
                ", ".join(value.name for value, _ in inputs),
                ", ".join(value.type for value, _ in inputs), init.name, block,
                "\n".join(body.lines), yielded, init.dtype))
        return self._append(text, init.shape, init.dtype)

    def elementwise(
        self,
        inputs: Sequence,
        build: Callable[..., str],
        dtype: str,
        shape: Optional[Sequence[int]] = None,
    ) -> Value:
        """Inputs are values of the result's shape, or pairs of a value and its dims."""
        pairs = [i if isinstance(i, tuple) else (i, tuple(range(len(i.shape)))) for i in inputs]
        if shape is None:
            shape = next(i for i in inputs if not isinstance(i, tuple)).shape
        return self.generic(
            pairs, self.empty(shape, dtype), tuple(range(len(shape))), len(shape),
            lambda body, *names: build(body, *names[:-1]))

    def sum(self, value: Value, dim: int) -> Value:
        """Of a value of f32 over one dim."""
        rest = tuple(d for d in range(len(value.shape)) if d != dim)
        init = self.filled(0.0, [value.shape[d] for d in rest], "f32")
        return self.generic(
            [(value, tuple(range(len(value.shape))))], init, rest, len(value.shape),
            lambda body, x, out: body("arith.addf", x, out))

    def expand(self, value: Value, dim: int, extents: Sequence[int]) -> Value:
        """Splits `dim` into dims of `extents`."""
        shape = value.shape[:dim] + tuple(extents) + value.shape[dim + 1:]
        groups, at = [], 0
        for d in range(len(value.shape)):
            width = len(extents) if d == dim else 1
            groups.append("[%s]" % ", ".join(str(at + i) for i in range(width)))
            at += width
        return self._append("tensor.expand_shape %s [%s] output_shape [%s] : %s into {type}" % (
            value.name, ", ".join(groups), ", ".join(map(str, shape)), value.type),
            shape, value.dtype)

    def collapse_last(self, value: Value) -> Value:
        """Joins the last two dims."""
        rank = len(value.shape)
        shape = value.shape[:-2] + (value.shape[-2] * value.shape[-1],)
        groups = ["[%d]" % d for d in range(rank - 2)] + ["[%d, %d]" % (rank - 2, rank - 1)]
        return self._append("tensor.collapse_shape %s [%s] : %s into {type}" % (
            value.name, ", ".join(groups), value.type), shape, value.dtype)

    def slice_last(self, value: Value, offset: int, size: int) -> Value:
        shape = value.shape[:-1] + (size,)
        return self._append("tensor.extract_slice %s[%s] [%s] [%s] : %s to {type}" % (
            value.name, ", ".join(["0"] * (len(shape) - 1) + [str(offset)]),
            ", ".join(map(str, shape)), ", ".join(["1"] * len(shape)), value.type),
            shape, value.dtype)

    def concat_last(self, values: Sequence[Value]) -> Value:
        shape = values[0].shape[:-1] + (sum(v.shape[-1] for v in values),)
        return self._append("tensor.concat dim(%d) %s : (%s) -> {type}" % (
            len(shape) - 1, ", ".join(v.name for v in values),
            ", ".join(v.type for v in values)), shape, values[0].dtype)

    def text(self) -> str:
        types = ", ".join(value.type for _, value in self.results)
        constants = [
            "    %s = arith.constant %s : %s" % (name, text, type)
            for (text, type), name in self._constants.items()]
        comments = ["// %s: %s" % (value.name, name) for name, value in self.arguments]
        comments += ["// result %d: %s" % (i, name) for i, (name, _) in enumerate(self.results)]
        return "\n".join([
            *comments, "module {",
            "  func.func @main(%s) -> (%s) {" % (
                ", ".join("%s: %s" % (v.name, v.type) for _, v in self.arguments), types),
            *constants, *self._lines,
            "    return %s : %s" % (", ".join(v.name for _, v in self.results), types),
            "  }", "}", ""])
