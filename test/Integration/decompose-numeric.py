# Random tile ops: what coda-decompose makes of them against numpy in f64.
#
# REQUIRES: numpy
# RUN: %python %s %t %host_cc | FileCheck %s
# CHECK: 96 cases, 0 results differ
import itertools
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from decomposed import Case, check

KINDS = "bmnukp"


class Generator:
    """One random legal tile op and its value, computed from the same
    description by numpy: nothing here knows how the op is decomposed."""

    def __init__(self, seed, extents=None):
        """`extents` fixes the extents of dims, by kind."""
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.fixed = extents or {}
        self.inputs = {}  # name -> (type, array)

    def name(self, dim):
        kind, index = dim
        return kind if self.count[kind] == 1 and self.random.random() < 0.8 else kind + str(index)

    def dims_of(self, kinds):
        return [d for d in self.extent if d[0] in kinds]

    def shuffled(self, dims):
        return self.random.sample(dims, len(dims))

    def subset(self, dims):
        return [d for d in dims if self.random.random() < 0.5]

    def tensor(self, dims):
        """A type of these dims; extents are static or not, per dim of the op."""
        return "tensor<%sf64>" % "".join(
            "%sx" % ("?" if d in self.dynamic else self.extent[d]) for d in dims)

    def operand(self, dims, scale=1.0):
        """An array over `dims`, and how the op refers to it."""
        name = "x%d" % len(self.inputs)
        array = scale * self.numbers.standard_normal([self.extent[d] for d in dims])
        self.inputs[name] = (self.tensor(dims), array)
        return array, "%%%s[%s]" % (name, ", ".join(map(self.name, dims))), self.tensor(dims)

    def choose_domain(self, gemm):
        r = self.random
        self.count = {
            "b": r.choice([0, 0, 1]), "m": r.choice([1, 1, 2]), "n": r.choice([1, 1, 2]),
            "u": r.choice([0, 0, 1, 2]), "k": 0, "p": r.choice([0, 1]),
        }
        if not gemm:
            self.count["m"] = r.choice([0, 1, 2])
        self.products = [r.choice([1, 1, 2]) for _ in range(r.choice([1, 1, 2]))] if gemm else []
        # Contraction dims of each product; accumulators may share them.
        self.contraction, used = [], 0
        for size in self.products:
            first = 0 if self.contraction and r.random() < 0.5 else used
            for _ in range(size):
                width = r.choice([1, 1, 2])
                self.contraction.append([("k", first + i) for i in range(width)])
                first += width
            used = max(used, first)
        self.count["k"] = used
        self.extent = {}
        for kind in KINDS:
            for i in range(self.count[kind]):
                self.extent[kind, i] = self.fixed.get(
                    kind, 2 if kind == "u" else r.choice([1, 2, 3, 4, 5]))
        self.dynamic = [d for d in self.extent if d[0] in "bmnkp" and r.random() < 0.3]
        self.points = self.dims_of("bmn")

    def spread(self, array, dims):
        """The array of `dims` over the b, m, n dims, one for each u point."""
        units = sorted(d for d in dims if d[0] == "u")
        order = units + [d for d in self.points if d in dims]
        array = np.transpose(array, [dims.index(d) for d in order])
        shape = [self.extent[d] if d in dims else 1 for d in self.points]
        return [array[i].reshape(shape) for i in np.ndindex(*[self.extent[d] for d in units])]

    def value(self):
        """An operand of an op of the region: its name and array."""
        return self.random.choice(self.values)

    def emit(self, operation, array):
        name = "%%v%d" % len(self.body)
        self.body.append("    %s = %s" % (name, operation))
        self.values.append((name, np.asarray(array)))

    def grow(self):
        """Adds a random op to the region."""
        r, n = self.random, len(self.body)
        (a, x), (b, y) = self.value(), self.value()
        kind = r.choice(["neg", "tanh", "exp", "add", "sub", "mul", "max", "select", "index", "group"])
        static = [d for d in self.dims_of("n") if d not in self.dynamic]
        if kind == "neg":
            self.emit("arith.negf %s : f64" % a, -x)
        elif kind == "tanh":
            self.emit("math.tanh %s : f64" % a, np.tanh(x))
        elif kind == "exp":
            self.body.append("    %%t%d = math.tanh %s : f64" % (n, a))
            self.emit("math.exp %%t%d : f64" % n, np.exp(np.tanh(x)))
        elif kind == "select":
            self.body.append("    %%c%d = arith.cmpf olt, %s, %s : f64" % (n, a, b))
            self.emit("arith.select %%c%d, %s, %s : f64" % (n, a, b), np.where(x < y, x, y))
        elif kind == "index" and self.points:
            dim = r.choice(self.points)
            self.body.append("    %%i%d = coda.index %s" % (n, self.name(dim)))
            self.body.append("    %%j%d = arith.index_cast %%i%d : index to i64" % (n, n))
            shape = [-1 if d == dim else 1 for d in self.points]
            self.emit("arith.sitofp %%j%d : i64 to f64" % n,
                      np.arange(self.extent[dim], dtype=np.float64).reshape(shape))
        elif kind == "group" and static:
            over = r.sample(static, r.randint(1, len(static)))
            combiner = r.choice(["add", "max", "logaddexp"])
            axes = tuple(self.points.index(d) for d in over)
            whole = np.broadcast_to(x, [self.extent[d] for d in self.points])
            self.emit("coda.group_reduce %s %s over [%s] : f64" % (
                combiner, a, ", ".join(map(self.name, over))), reduce(combiner, whole, axes, True))
        elif kind in ("add", "sub", "mul", "max"):
            operation = {"add": ("addf", np.add), "sub": ("subf", np.subtract),
                         "mul": ("mulf", np.multiply), "max": ("maximumf", np.maximum)}[kind]
            self.emit("arith.%s %s, %s : f64" % (operation[0], a, b), operation[1](x, y))

    def case(self, name, gemm):
        r = self.random
        self.choose_domain(gemm)
        self.body = []
        self.values = []  # of the region: (name, array over the points)
        arguments, accumulators, types = [], [], []
        letters = {d: chr(ord("a") + i) for i, d in enumerate(self.extent)}
        spelled = lambda dims: "".join(letters[d] for d in dims)

        product = 0
        for size in self.products:
            units = self.subset(self.dims_of("u"))
            total, terms = 0.0, []
            for _ in range(size):
                k = self.contraction[product]
                left = self.shuffled(self.dims_of("bm") + k)
                right = self.shuffled(self.dims_of("bn") + k + units)
                x, xref, xtype = self.operand(left)
                w, wref, wtype = self.operand(right, 0.5)
                result = self.points + sorted(units)
                total = total + np.einsum(
                    "%s,%s->%s" % (spelled(left), spelled(right), spelled(result)), x, w)
                terms.append("%s * %s" % (xref, wref))
                types += [xtype, wtype]
                product += 1
            accumulators.append(" + ".join(terms))
            arguments += self.spread(total, self.points + sorted(units))

        loads, load_types = [], []
        # Every dim must index some operand: the first load has the p dims, the
        # last one all others.
        number = r.randint(2, 4)
        for i in range(number):
            last = i == number - 1
            dims = self.dims_of("bmnu") if last else self.subset(self.dims_of("bmnu"))
            partial = self.dims_of("p") if i == 0 or (not last and r.random() < 0.3) else []
            dims = self.shuffled(dims + partial)
            x, ref, tensor = self.operand(dims)
            if partial:
                combiner = r.choice(["add", "max", "logaddexp"])
                x = reduce(combiner, x, (dims.index(partial[0]),), False)
                ref = combiner + " " + ref
                dims = [d for d in dims if d not in partial]
            loads.append(ref)
            load_types.append(tensor)
            arguments += self.spread(x, dims)

        self.values = [("%%a%d" % i, x) for i, x in enumerate(arguments)]
        block = ", ".join("%%a%d: f64" % i for i in range(len(arguments)))
        for _ in range(r.randint(2, 8)):
            self.grow()

        outputs, output_types, yields, expected, results = [], [], [], [], []
        shape = [self.extent[d] for d in self.points]
        for _ in range(r.randint(1, 3)):
            units = self.subset(self.dims_of("u"))
            dropped = [] if r.random() < 0.5 else self.subset(self.points)
            kept = [d for d in self.points if d not in dropped]
            dims = self.shuffled(kept + units)
            init, ref, tensor = self.operand(dims)
            combiner = r.choice(["add", "max", "logaddexp"]) if dropped else None
            fresh = bool(dropped) and r.random() < 0.5
            outputs.append(" ".join(["fresh"] * fresh + [combiner] * bool(dropped) + [ref]))
            output_types.append(tensor)
            units = sorted(units)
            parts = []
            for _ in itertools.product(*[range(self.extent[d]) for d in units]):
                value, x = self.value()
                yields.append(value)
                x = np.broadcast_to(x, shape)
                parts.append(x if not dropped else reduce(
                    combiner, x, tuple(self.points.index(d) for d in dropped), False))
            array = np.reshape(parts, [self.extent[d] for d in units + kept])
            array = np.transpose(array, [(units + kept).index(d) for d in dims])
            if dropped and not fresh:
                array = COMBINE[combiner](array, init)
            expected.append(array)
            results.append((tensor, array.shape))

        names = ", ".join("%%r%d" % i for i in range(len(outputs)))
        text = "%s = coda.%s" % (names, "gemm" if gemm else "map")
        if gemm:
            text += "\n  acc(%s : %s)" % (", ".join(accumulators), ", ".join(types))
        text += "\n  ins(%s : %s)" % (", ".join(loads), ", ".join(load_types))
        text += "\n  outs(%s : %s) {\n  ^bb0(%s):\n" % (
            ", ".join(outputs), ", ".join(output_types), block)
        text += "\n".join(self.body)
        text += "\n    coda.yield %s : %s\n}" % (
            ", ".join(yields), ", ".join(["f64"] * len(yields)))
        return Case(name, text, self.inputs, results, expected, 1e-11)


COMBINE = {"add": np.add, "max": np.maximum, "logaddexp": np.logaddexp}


def reduce(combiner, array, axes, keep):
    """The reduction over `axes`; the identity if there is nothing."""
    if combiner == "add":
        return np.sum(array, axis=axes, keepdims=keep)
    top = np.max(array, axis=axes, keepdims=True, initial=-np.inf)
    if combiner == "logaddexp":
        finite = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            top = finite + np.log(np.sum(np.exp(array - finite), axis=axes, keepdims=True))
    return top if keep else np.squeeze(top, axis=axes)


def main(folder, compiler):
    cases = []
    for seed in range(72):
        cases.append(Generator(seed).case("random%d" % seed, gemm=seed % 3 != 0))
    empty = [{"k": 0}, {"m": 0}, {"n": 0}, {"m": 1}, {"b": 0}, {"p": 0}, {"m": 0, "k": 0},
             {"m": 1, "n": 1}]
    for number, (extents, seed) in enumerate(itertools.product(empty, range(3))):
        cases.append(Generator(1000 + number, extents).case(
            "empty%d" % number, gemm="k" in extents or seed != 0))
    return check(cases, folder, compiler)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
