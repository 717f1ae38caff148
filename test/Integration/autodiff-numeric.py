# Random tile ops and programs of them: the derived gradient, and its own
# gradient, against differences, as derived and after fusion.
#
# REQUIRES: numpy
# RUN: %python %s %t %host_cc 1 | FileCheck %s
# CHECK: each scalar op: {{[0-9]+}} functions, {{[0-9]+}} products, 0 functions wrong
# CHECK: tile ops: {{[0-9]+}} functions, {{[0-9]+}} products, 0 functions wrong
# CHECK: programs, fused: {{[0-9]+}} functions, {{[0-9]+}} products, 0 functions wrong
# CHECK: second derivatives: {{[0-9]+}} functions, {{[0-9]+}} products, 0 functions wrong
"""autodiff-numeric.py DIR COMPILER TIMES [FIRST [JOBS]]

TIMES as many functions as the test has, 180 and 58 for second derivatives, with
seeds from FIRST on, in JOBS processes; COMPILER links.
"""
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from differentiated import Differentiable, check

# Text of a scalar op on `{x}`, `{y}`: results of smooth ops, arguments moved to
# where the op is smooth.
UNARY = {
    "negf": "arith.negf {x}", "exp": "math.exp {s}", "exp2": "math.exp2 {s}",
    "expm1": "math.expm1 {s}", "log": "math.log {p}", "log2": "math.log2 {p}",
    "log10": "math.log10 {p}", "log1p": "math.log1p {p}", "sqrt": "math.sqrt {p}",
    "rsqrt": "math.rsqrt {p}", "cbrt": "math.cbrt {p}", "sin": "math.sin {x}",
    "cos": "math.cos {x}", "tan": "math.tan {s}", "asin": "math.asin {h}", "acos": "math.acos {h}",
    "atan": "math.atan {x}", "sinh": "math.sinh {s}", "cosh": "math.cosh {s}",
    "tanh": "math.tanh {x}", "asinh": "math.asinh {x}", "acosh": "math.acosh {q}",
    "atanh": "math.atanh {h}", "erf": "math.erf {x}", "erfc": "math.erfc {x}",
    "absf": "math.absf {q}",
}
BINARY = {
    "addf": "arith.addf {x}, {y}", "subf": "arith.subf {x}, {y}", "mulf": "arith.mulf {x}, {y}",
    "divf": "arith.divf {x}, {pp}", "remf": "arith.remf {q}, {big}",
    "maximumf": "arith.maximumf {x}, {far}", "minimumf": "arith.minimumf {x}, {far}",
    "maxnumf": "arith.maxnumf {x}, {far}", "minnumf": "arith.minnumf {x}, {far}",
    "powf": "math.powf {p}, {s}", "atan2": "math.atan2 {x}, {pp}",
    "copysign": "math.copysign {q}, {pp}",
}


class Region:
    """Lines of a region; every value is f64."""

    def __init__(self, rng, prefix):
        self.random, self.lines, self.count, self.prefix = rng, [], 0, prefix

    def add(self, text, type_="f64"):
        self.count += 1
        name = "%%%s%d" % (self.prefix, self.count)
        self.lines.append("%s = %s : %s" % (name, text, type_))
        return name

    def constant(self, number):
        return self.add("arith.constant %r" % float(number))

    def op(self, text, x, y=None):
        """`text` with its arguments made of x and y."""
        values = {"x": x, "y": y}
        small = lambda: self.add("math.tanh " + x)
        if "{s}" in text:
            values["s"] = self.add("math.tanh " + (y if "{p}" in text else x))
        if "{h}" in text:
            values["h"] = self.add("arith.mulf %s, %s" % (small(), self.constant(0.8)))
        for key, of in (("p", x), ("pp", y)):
            if "{%s}" % key in text:
                square = self.add("arith.mulf %s, %s" % (of, of))
                values[key] = self.add("arith.addf %s, %s" % (square, self.constant(0.7)))
        if "{q}" in text:
            values["q"] = self.add("arith.addf %s, %s" % (small(), self.constant(2.5)))
        if "{big}" in text:
            t = self.add("math.tanh " + y)
            values["big"] = self.add("arith.addf %s, %s" % (t, self.constant(1000.0)))
        if "{far}" in text:
            # Apart from x by a half at least, on a side that y chooses.
            side = self.random.choice([-1.0, 1.0])
            t = self.add("math.exp " + self.add("math.tanh " + y))
            values["far"] = self.add("arith.addf %s, %s" % (
                x, self.add("arith.mulf %s, %s" % (t, self.constant(side)))))
        return self.add(text.format(**values))

    def some(self, names, index_dims=(), group_dims=()):
        """A few random ops on `names`; the last value."""
        r, names = self.random, list(names)
        for _ in range(r.randint(1, 4)):
            x, y = names[-1], r.choice(names)
            kind = r.random()
            if kind < 0.4:
                value = self.op(UNARY[r.choice(sorted(UNARY))], x)
            elif kind < 0.8:
                value = self.op(BINARY[r.choice(sorted(BINARY))], *r.sample([x, y], 2))
            elif kind < 0.9 and index_dims:
                i = self.add_index(r.choice(index_dims))
                c = self.add("arith.constant %d" % r.randint(0, 3), "index")
                p = self.add("arith.cmpi slt, %s, %s" % (i, c), "index")
                self.count += 1
                value = "%%%s%d" % (self.prefix, self.count)
                self.lines.append("%s = arith.select %s, %s, %s : f64" % (value, p, x, y))
            elif group_dims:
                value = self.add("coda.group_reduce %s %s over [%s]" % (
                    r.choice(["add", "logaddexp"]), x, ", ".join(r.sample(
                        group_dims, r.randint(1, len(group_dims))))))
            else:
                value = self.add("arith.mulf %s, %s" % (x, y))
            # Keeps what follows of order one.
            if r.random() < 0.3:
                value = self.add("math.tanh " + value)
            names.append(value)
        return names[-1]

    def add_index(self, dim):
        self.count += 1
        name = "%%%s%d" % (self.prefix, self.count)
        self.lines.append("%s = coda.index %s" % (name, dim))
        return name


def tensor(shape):
    return "tensor<%sf64>" % "".join("%dx" % n for n in shape)


class TileOp:
    """One random legal tile op as a function of its operands."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.inputs, self.results, self.text = [], [], []
        gemm = r.random() < 0.6
        count = {"b": r.choice([0, 0, 1]), "m": r.choice([1, 1, 2]), "n": r.choice([1, 1, 2]),
                 "u": r.choice([0, 0, 1]), "p": r.choice([0, 0, 1]), "k": 0}
        products = [r.choice([1, 1, 2]) for _ in range(r.choice([1, 1, 2]))] if gemm else []
        contracted, used = [], 0
        for size in products:
            first = 0 if contracted and r.random() < 0.5 else used
            contracted.append([])
            for _ in range(size):
                width = r.choice([1, 1, 2])
                contracted[-1].append([("k", first + i) for i in range(width)])
                first += width
            used = max(used, first)
        count["k"] = used
        self.count = count
        self.extent = {(kind, i): 2 if kind == "u" else r.choice([1, 2, 3, 4])
                       for kind in "bmnukp" for i in range(count[kind])}
        points = self.dims("bmn")
        acc, arguments, points_of = "", [], []
        operand_texts, operand_types = [], []
        for a, size in enumerate(products):
            unroll = self.dims("u") if r.random() < 0.6 else []
            terms = []
            for p in range(size):
                k = contracted[a][p]
                lhs = self.operand(self.shuffled(self.dims("bm") + k), 0.7)
                rhs = self.operand(self.shuffled(self.dims("bn") + unroll + k), 0.7)
                terms.append("%s * %s" % (lhs[0], rhs[0]))
                operand_types += [lhs[1], rhs[1]]
            operand_texts.append(" + ".join(terms))
            points_of.append(2 if unroll else 1)
        if products:
            acc = " acc(%s : %s)" % (", ".join(operand_texts), ", ".join(operand_types))
        loads = []
        # Maps need an operand for each dim.
        wanted = [points] if not gemm else []
        for _ in range(r.randint(0 if gemm else 1, 3)):
            wanted.append([d for d in points if r.random() < 0.6])
        for i, dims in enumerate(wanted):
            unroll = self.dims("u") if r.random() < 0.5 or not self.covered("u") else []
            combine = ""
            if self.dims("p") and (r.random() < 0.5 or not self.covered("p")):
                dims, combine = dims + self.dims("p"), "add "
            text, type_ = self.operand(self.shuffled(dims + unroll))
            loads.append((combine + text, type_))
            points_of.append(2 if unroll else 1)
        for kind in "up":
            if self.dims(kind) and not self.covered(kind):
                text, type_ = self.operand(self.dims(kind) + points[:1])
                loads.append((("add " if kind == "p" else "") + text, type_))
                points_of.append(2 if kind == "u" else 1)
        arguments = ["%%a%d" % i for i in range(sum(points_of))]
        region = Region(r, "v")
        group_dims = [self.name(d) for d in self.dims("n")]
        outs, types, yields = [], [], []
        for o in range(r.randint(1, 3)):
            kind = r.choice(["store", "store", "add", "fresh add", "fresh logaddexp"])
            dims = self.shuffled(points)
            if kind != "store":
                dims = dims[:r.randint(0, len(dims) - 1)]
            unroll = self.dims("u") if self.dims("u") and r.random() < 0.4 else []
            dims = dims + unroll
            shape = [self.extent[d] for d in dims]
            if kind == "add":
                text, type_ = self.operand(dims)
                text = "add " + text
            else:
                name = "%%o%d" % o
                self.text.append("%s = tensor.empty() : %s" % (name, tensor(shape)))
                text = ("" if kind == "store" else kind + " ") + "%s[%s]" % (
                    name, ", ".join(map(self.name, dims)))
                type_ = tensor(shape)
            outs.append(text)
            types.append(type_)
            self.results.append((tensor(shape), tuple(shape)))
            for _ in range(2 if unroll else 1):
                yields.append(region.some(r.sample(arguments, len(arguments)),
                                          [self.name(d) for d in points], group_dims))
        results = ["%%r%d" % i for i in range(len(outs))]
        self.text.append("%s = coda.%s%s%s outs(%s : %s) {\n^bb0(%s):\n%s\ncoda.yield %s : %s\n}" % (
            ", ".join(results), "gemm" if gemm else "map", acc,
            " ins(%s : %s)" % (", ".join(l for l, _ in loads), ", ".join(t for _, t in loads))
            if loads else "", ", ".join(outs), ", ".join(types),
            ", ".join(a + ": f64" for a in arguments), "\n".join(region.lines),
            ", ".join(yields), ", ".join(["f64"] * len(yields))))
        self.text.append("return %s : %s" % (", ".join(results), ", ".join(t for t, _ in self.results)))

    def dims(self, kinds):
        return [d for d in self.extent if d[0] in kinds]

    def covered(self, kind):
        return any(kind + "0" in n or ("[%s" % kind) in n for n in self.used)

    used = ()

    def shuffled(self, dims):
        return self.random.sample(dims, len(dims))

    def name(self, dim):
        return dim[0] if self.count[dim[0]] == 1 else "%s%d" % dim

    def operand(self, dims, scale=1.0):
        shape = [self.extent[d] for d in dims]
        text = "%%x%d[%s]" % (len(self.inputs), ", ".join(map(self.name, dims)))
        self.used = self.used + tuple("[" + d[0] for d in dims)
        self.inputs.append((tensor(shape), scale * self.numbers.standard_normal(shape)))
        return text, tensor(shape)

    def function(self, name):
        return Differentiable(name, "\n".join(self.text), self.inputs, self.results)


def scalar_functions():
    functions = []
    for table in (UNARY, BINARY):
        for name, text in table.items():
            rng = random.Random(name)
            region = Region(rng, "v")
            value = region.op(text, "%a", "%b")
            numbers = np.random.default_rng(len(name))
            body = ("%%o = tensor.empty() : tensor<5x3xf64>\n"
                    "%%r = coda.map ins(%%x0[m, n], %%x1[n] : tensor<5x3xf64>, tensor<3xf64>) "
                    "outs(%%o[m, n] : tensor<5x3xf64>) {\n^bb0(%%a: f64, %%b: f64):\n%s\n"
                    "coda.yield %s : f64\n}\nreturn %%r : tensor<5x3xf64>" % (
                        "\n".join(region.lines), value))
            functions.append(Differentiable(
                "op_" + name, body, [(tensor((5, 3)), numbers.standard_normal((5, 3))),
                                     (tensor((3,)), numbers.standard_normal(3))],
                [(tensor((5, 3)), (5, 3))]))
    return functions


def program(seed):
    """Products, statistics, norms by hand, views and slices, one after another."""
    r, numbers = random.Random(seed), np.random.default_rng(seed)
    m, n, inputs, lines, values, rows = 8, 12, [], [], [], []
    count = [0]

    def new():
        count[0] += 1
        return "%%t%d" % count[0]

    def given(*shape):
        inputs.append((tensor(shape), 0.6 * numbers.standard_normal(shape)))
        return "%%x%d" % (len(inputs) - 1)

    def empty(*shape):
        name = new()
        lines.append("%s = tensor.empty() : %s" % (name, tensor(shape)))
        return name

    def pick(pool, *shape):
        return r.choice(pool) if pool and r.random() < 0.8 else given(*shape)

    def tile(head, loads, outs, numbers_of_acc=0):
        args = ["%%a%d_%d" % (count[0], i) for i in range(numbers_of_acc + len(loads))]
        region = Region(r, "v%d_" % count[0])
        yields = [f(region, args) for _, _, f in outs]
        results = [new() for _ in outs]
        lines.append("%s = %s%s outs(%s : %s) {\n^bb0(%s):\n%s\ncoda.yield %s : %s\n}" % (
            ", ".join(results), head,
            " ins(%s : %s)" % (", ".join(v + d for v, d, _ in loads),
                               ", ".join(tensor(s) for _, _, s in loads)) if loads else "",
            ", ".join(t for t, _, _ in outs), ", ".join(tensor(s) for _, s, _ in outs),
            ", ".join(a + ": f64" for a in args), "\n".join(region.lines),
            ", ".join(yields), ", ".join(["f64"] * len(yields))))
        return results

    some = lambda region, args: region.some(args)
    for _ in range(r.randint(3, 7)):
        kind = r.choice(["map", "gemm", "gemm", "sum", "norm", "view", "slice"])
        if kind == "map":
            loads = [(pick(values, m, n), "[m, n]", (m, n)), (pick(rows, m), "[m]", (m,)),
                     (given(n), "[n]", (n,))][:r.randint(1, 3)]
            values += tile("coda.map", loads, [(empty(m, n) + "[m, n]", (m, n), some)])
        elif kind == "gemm":
            x, w = pick(values, m, n), given(n, n)
            head = "coda.gemm acc(%s[m, k] * %s[%s] : %s, %s)" % (
                x, w, r.choice(["n, k", "k, n"]), tensor((m, n)), tensor((n, n)))
            loads = [(pick(rows, m), "[m]", (m,))] if r.random() < 0.5 else []
            if r.random() < 0.5:
                loads.append((pick(values, m, n), "[m, n]", (m, n)))
            values += tile(head, loads, [(empty(m, n) + "[m, n]", (m, n), some)], 1)
        elif kind == "sum":
            rows += tile("coda.map", [(pick(values, m, n), "[m, n]", (m, n))],
                         [("fresh %s %s[m]" % (r.choice(["add", "add", "logaddexp"]), empty(m)),
                           (m,), some)])
        elif kind == "norm":
            # rms_norm before a product: statistic, weighted value, scaled product.
            x, w, g = pick(values, m, n), given(n, n), given(n)
            square = lambda region, args: region.add("arith.mulf %s, %s" % (args[0], args[0]))
            s, h = tile("coda.map", [(x, "[m, n]", (m, n)), (g, "[n]", (n,))],
                        [("fresh add %s[m]" % empty(m), (m,), square),
                         (empty(m, n) + "[m, n]", (m, n), lambda region, args: region.add(
                             "arith.mulf %s, %s" % (args[0], args[1])))])

            def scaled(region, args):
                mean = region.add("arith.divf %s, %s" % (args[1], region.constant(n)))
                root = region.add("math.rsqrt " + region.add(
                    "arith.addf %s, %s" % (mean, region.constant(0.1))))
                z = region.add("arith.mulf %s, %s" % (args[0], root))
                return z if r.random() < 0.5 else region.some([z])
            values += tile("coda.gemm acc(%s[m, k] * %s[n, k] : %s, %s)" % (
                h, w, tensor((m, n)), tensor((n, n))), [(s, "[m]", (m,))],
                [(empty(m, n) + "[m, n]", (m, n), scaled)], 1)
        elif kind == "view":
            v, view, back = pick(values, m, n), new(), new()
            shape = (2, 4, 3, 4)
            lines.append("%s = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [2, 4, 3, 4] : "
                         "%s into %s" % (view, v, tensor((m, n)), tensor(shape)))
            result, = tile("coda.map", [(view, "[m0, m1, m2, n]", shape),
                                        (given(2, 3), "[m0, m2]", (2, 3))],
                           [(empty(*shape) + "[m0, m1, m2, n]", shape, some)])
            lines.append("%s = tensor.collapse_shape %s [[0, 1], [2, 3]] : %s into %s" % (
                back, result, tensor(shape), tensor((m, n))))
            values.append(back)
        elif kind == "slice":
            x, w, out = pick(values, m, n), given(2 * n, n), empty(m, 2 * n)
            wide, = tile("coda.gemm acc(%s[m, k] * %s[n, k] : %s, %s)" % (
                x, w, tensor((m, n)), tensor((2 * n, n))), [],
                [(out + "[m, n]", (m, 2 * n), lambda region, args: args[0])], 1)
            for offset in (0, n):
                part = new()
                lines.append("%s = tensor.extract_slice %s[0, %d] [%d, %d] [1, 1] : %s to %s" % (
                    part, wide, offset, m, n, tensor((m, 2 * n)), tensor((m, n))))
                values.append(part)
    results = [(v, (m, n)) for v in values[-2:]] + [(v, (m,)) for v in rows[-1:]]
    results = [(v, s) for v, s in results if v.startswith("%t")] or [(values[-1], (m, n))]
    lines.append("return %s : %s" % (", ".join(v for v, _ in results),
                                     ", ".join(tensor(s) for _, s in results)))
    return Differentiable("prog%d" % seed, "\n".join(lines), inputs,
                          [(tensor(s), s) for _, s in results])


FUSION = ["func.func(coda-fuse)", "canonicalize", "cse",
          "func.func(coda-partition-reductions{granule=4 row-granule=4})", "canonicalize", "cse",
          "func.func(coda-bundle)"]


def main():
    folder, compiler, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    jobs = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    wrong = 0

    def run(title, functions, **options):
        nonlocal wrong
        print(title, end=": ", flush=True)
        wrong += check(functions, os.path.join(folder, title.replace(",", "").replace(" ", "-")),
                       compiler, jobs=jobs, **options)

    def tile_ops(count, start):
        return [TileOp(first + s).function("tile%d" % s) for s in range(start, start + count)]

    run("each scalar op", scalar_functions())
    run("tile ops", tile_ops(120 * times, 0))
    run("programs, fused", [program(first + s) for s in range(40 * times)], then=FUSION,
        options="save=stored")
    run("programs, all saved", [program(first + s) for s in range(1000, 1000 + 20 * times)],
        options="save=all")
    run("second derivatives", scalar_functions() + tile_ops(20 * times, 5000), again=True,
        tolerance=2e-5)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
