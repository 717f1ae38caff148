# Random programs of tile ops, and of norms before products, in f64: what the
# rewrite passes make of them against the programs as they are.
#
# REQUIRES: numpy
# RUN: %python %s %t %host_cc | FileCheck %s
# CHECK: fuse: {{[0-9]+}} tile ops, 0 norms kept for a reader
# CHECK: 80 cases, 0 results differ
# CHECK: commute: {{[0-9]+}} tile ops, {{[0-9]+}} norms kept for a reader
# CHECK: 40 cases, 0 results differ
# CHECK: transpose: {{[0-9]+}} of {{[0-9]+}} row sums taken to another axis
# CHECK: 40 cases, 0 results differ
import os
import random
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from decomposed import Case, build, call, compare, function

FUSE = ("builtin.module(func.func(coda-fuse,canonicalize,cse,coda-bundle,"
        "coda-partition-reductions{granule=4 row-granule=2},canonicalize,cse))")
COMMUTE = ("builtin.module(func.func(coda-commute,coda-form-tile-ops,canonicalize,cse,coda-fuse,"
           "canonicalize,cse,coda-bundle,coda-partition-reductions{granule=4 row-granule=4},canonicalize,cse))")
TRANSPOSE = "builtin.module(func.func(coda-transpose-row-sums),canonicalize,cse)"
M, N, K = 8, 12, 6


def tensor(shape):
    return "tensor<%sf64>" % "".join("%dx" % n for n in shape)


class Program:
    """Text of a function body and the values that it has, by shape."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines, self.inputs, self.values = [], {}, []
        self.count = 0

    def new(self):
        self.count += 1
        return "%%v%d" % self.count

    def input(self, *shape):
        name = "x%d" % len(self.inputs)
        array = self.numbers.standard_normal(shape)
        self.inputs[name] = (tensor(shape), array)
        return "%" + name

    def empty(self, *shape):
        name = self.new()
        self.lines.append("%s = tensor.empty() : %s" % (name, tensor(shape)))
        return name

    def pick(self, *shape):
        """A value of the shape, made before or given."""
        known = [v for v, s in self.values if s == shape]
        if known and self.random.random() < 0.8:
            return self.random.choice(known)
        return self.input(*shape)

    def add(self, name, *shape):
        self.values.append((name, shape))

    def scalar(self, arguments):
        """A few random ops on f64 names; returns lines and the last name."""
        lines, names = [], list(arguments)
        for _ in range(self.random.randint(1, 3)):
            result = "%%s%d_%d" % (self.count, len(lines))
            op = self.random.choice(["addf", "subf", "mulf", "maximumf", "tanh", "negf"])
            a, b = self.random.choice(names), names[-1]
            lines.append({"tanh": "%s = math.tanh %s : f64" % (result, a),
                          "negf": "%s = arith.negf %s : f64" % (result, a)}.get(
                op, "%s = arith.%s %s, %s : f64" % (result, op, a, b)))
            names.append(result)
        return lines, names[-1]

    def tile_op(self, name, head, loads, outputs, accumulators=0, per_point=1):
        """`loads`: (value, dims, shape, points); `outputs`: (prefix, value, dims,
        shape, points). Yields a random expression for each output point."""
        arguments = ["%%a%d_%d" % (self.count, i) for i in range(
            accumulators + sum(p for _, _, _, p in loads))]
        lines, yields = [], []
        for _, _, _, _, points in outputs:
            for _ in range(points):
                self.count += 1
                more, last = self.scalar(arguments)
                lines += more
                yields.append(last)
        ins = ""
        if loads:
            ins = " ins(%s : %s)" % (", ".join("%s[%s]" % (v, d) for v, d, _, _ in loads),
                                     ", ".join(tensor(s) for _, _, s, _ in loads))
        outs = " outs(%s : %s)" % (", ".join("%s%s[%s]" % (p, v, d) for p, v, d, _, _ in outputs),
                                   ", ".join(tensor(s) for _, _, _, s, _ in outputs))
        self.lines.append("%s = %s%s%s {\n^bb0(%s):\n%s\ncoda.yield %s : %s\n}" % (
            name, head, ins, outs, ", ".join(a + ": f64" for a in arguments),
            "\n".join(lines), ", ".join(yields), ", ".join(["f64"] * len(yields))))

    def gemm(self, lhs, n=N):
        weight, out, name = self.input(n, K), self.empty(M, n), self.new()
        self.tile_op(name, "coda.gemm acc(%s[m, k] * %s[n, k] : %s, %s)" % (
            lhs, weight, tensor((M, K)), tensor((n, K))), [],
            [("", out, "m, n", (M, n), 1)], accumulators=1)
        self.add(name, M, n)
        return name

    def step(self):
        r = self.random
        kind = r.choice(["tile", "tile", "tile", "sum", "row", "pair", "heads", "gemm", "slices",
                         "back"])
        if kind == "tile":
            loads = [(self.pick(M, N), "m, n", (M, N), 1) for _ in range(r.randint(1, 2))]
            if r.random() < 0.4:
                loads.append((self.pick(M), "m", (M,), 1))
            if r.random() < 0.4:
                loads.append((self.input(N), "n", (N,), 1))
            name = self.new()
            self.tile_op(name, "coda.map", loads, [("", self.empty(M, N), "m, n", (M, N), 1)])
            self.add(name, M, N)
        elif kind == "sum":
            name, combiner = self.new(), r.choice(["fresh add ", "fresh add ", "fresh max "])
            self.tile_op(name, "coda.map", [(self.pick(M, N), "m, n", (M, N), 1)],
                         [(combiner, self.empty(M), "m", (M,), 1)])
            self.add(name, M)
        elif kind == "row":
            name = self.new()
            self.tile_op(name, "coda.map", [(self.pick(M), "m", (M,), 1)],
                         [("", self.empty(M), "m", (M,), 1)])
            self.add(name, M)
        elif kind in ("pair", "heads"):
            # [8, 12] as [2, 4, 3, 2, 2], its middle pair or nothing unrolled,
            # stored with heads before rows.
            shape, view, name = (2, 4, 3, 2, 2), self.new(), self.new()
            self.lines.append(
                "%s = tensor.expand_shape %s [[0, 1], [2, 3, 4]] output_shape [2, 4, 3, 2, 2]"
                " : %s into %s" % (view, self.pick(M, N), tensor((M, N)), tensor(shape)))
            u, points = ("u", 2) if kind == "pair" else ("m3", 1)
            loads = [(view, "m0, m1, m2, %s, n" % u, shape, points)]
            if r.random() < 0.5:
                loads.append((self.input(2, 4, 2, 2), "m0, m1, %s, n" % u, (2, 4, 2, 2), points))
            stored = (2, 3, 4, 2, 2)
            self.tile_op(name, "coda.map", loads, [
                ("", self.empty(*stored), "m0, m2, m1, %s, n" % u, stored, points)])
            self.add(name, *stored)
        elif kind == "gemm":
            self.gemm(r.choice(self.lhs))
        elif kind == "slices":
            wide = self.gemm(r.choice(self.lhs), 2 * N)
            self.values.pop()
            for offset in (0, N):
                name = self.new()
                self.lines.append("%s = tensor.extract_slice %s[0, %d] [%d, %d] [1, 1] : %s to %s" % (
                    name, wide, offset, M, N, tensor((M, 2 * N)), tensor((M, N))))
                self.add(name, M, N)
        elif kind == "back":
            # A product whose left factor is a value made before.
            value, weight = self.pick(M, N), self.input(N, N)
            out, name = self.empty(M, N), self.new()
            self.tile_op(name, "coda.gemm acc(%s[m, k] * %s[k, n] : %s, %s)" % (
                value, weight, tensor((M, N)), tensor((N, N))),
                [(self.pick(M, N), "m, n", (M, N), 1)],
                [("", out, "m, n", (M, N), 1)], accumulators=1)
            self.add(name, M, N)

    def results(self):
        """A few values, the last one among them, as %r0, %r1, ..."""
        last = self.values[-1]
        chosen = self.random.sample(self.values, min(len(self.values), self.random.randint(1, 3)))
        return chosen if last in chosen else chosen + [last]

    def case(self, name):
        """Results are %r0, ...: renamed from what they are."""
        results = self.results()
        text = "\n".join(self.lines)
        for i, (value, shape) in enumerate(results):
            dims = ", ".join("m%d" % d for d in range(len(shape)))
            text += ("\n%%e%d = tensor.empty() : %s\n%%r%d = linalg.copy ins(%s : %s) "
                     "outs(%%e%d : %s) -> %s" % (i, tensor(shape), i, value, tensor(shape), i,
                                                 tensor(shape), tensor(shape)))
        return Case(name, text, self.inputs, [(tensor(s), s) for _, s in results], [], 1e-10)


def tile_program(seed):
    program = Program(seed)
    program.lhs = [program.input(M, K), program.input(M, K)]
    program.gemm(program.lhs[0])
    for _ in range(program.random.randint(2, 6)):
        program.step()
    return program.case("tile%d" % seed)


def norm_program(seed):
    """A norm, linear steps or not, products; sometimes the norm is a result."""
    p = Program(1000 + seed)
    r = p.random
    deep = r.random() < 0.4
    shape = (2, 4, K) if deep else (M, K)
    value = p.input(*shape)
    name = p.new()
    weight, offset = "", ""
    if r.random() < 0.7:
        weight = "weight(%s : %s) " % (p.input(K), tensor((K,)))
        if r.random() < 0.3:
            offset = "{offset = 1.0 : f64} "
    p.lines.append("%s = coda.rms_norm %s %seps 1.0e-03 %s: %s -> %s" % (
        name, value, weight, offset, tensor(shape), tensor(shape)))
    if r.random() < 0.3:
        p.add(name, *shape)
    if deep:
        flat = p.new()
        p.lines.append("%s = tensor.collapse_shape %s [[0, 1], [2]] : %s into %s" % (
            flat, name, tensor(shape), tensor((M, K))))
        name = flat
    for _ in range(r.randint(0, 2)):
        body = r.choice(["arith.mulf %a, %c", "arith.addf %a, %a", "arith.divf %a, %c",
                         "arith.addf %a, %c", "math.exp %a"])
        column, out, result = p.input(K), p.empty(M, K), p.new()
        p.lines.append(
            "%s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, "
            "affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = "
            "[\"parallel\", \"parallel\"]} ins(%s, %s : %s, %s) outs(%s : %s) {\n"
            "^bb0(%%a: f64, %%c: f64, %%o: f64):\n%%y = %s : f64\nlinalg.yield %%y : f64\n} -> %s" % (
                result, name, column, tensor((M, K)), tensor((K,)), out, tensor((M, K)), body,
                tensor((M, K))))
        name = result
    for _ in range(r.randint(1, 2)):
        zero, filled, result = p.new(), p.new(), p.new()
        out, weight = p.empty(M, N), p.input(K, N)
        p.lines.append("%s = arith.constant 0.0 : f64" % zero)
        p.lines.append("%s = linalg.fill ins(%s : f64) outs(%s : %s) -> %s" % (
            filled, zero, out, tensor((M, N)), tensor((M, N))))
        p.lines.append("%s = linalg.matmul ins(%s, %s : %s, %s) outs(%s : %s) -> %s" % (
            result, name, weight, tensor((M, K)), tensor((K, N)), filled, tensor((M, N)),
            tensor((M, N))))
        p.add(result, M, N)
    return p.case("norm%d" % seed)


def generic(ins, maps, out, out_map, iterators, body):
    """Text of a linalg op of `ins`, (name, shape), into `out`, (name, shape)."""
    def affine(dims):
        return "affine_map<(%s) -> (%s)>" % (
            ", ".join("d%d" % i for i in range(len(iterators))), ", ".join("d%d" % d for d in dims))
    args = "".join("%%e%d: f64, " % i for i in range(len(ins)))
    return ("linalg.generic {indexing_maps = [%s], iterator_types = [%s]} ins(%s : %s) "
            "outs(%s : %s) {\n^bb0(%s%%out: f64):\n%s\n} -> %s" % (
                ", ".join(map(affine, maps + [out_map])),
                ", ".join('"%s"' % i for i in iterators), ", ".join(n for n, _ in ins),
                ", ".join(tensor(t) for _, t in ins), out[0], tensor(out[1]), args, body,
                tensor(out[1])))


def sum_program(seed):
    """Row sums of gradients of products, times what the products contract: with a
    root per row, with a factor that no one may divide by, or with none of it."""
    p = Program(seed)
    r = p.random

    def filled(*shape):
        zero, name = p.new(), p.new()
        out = p.empty(*shape)
        p.lines.append("%s = arith.constant 0.0 : f64" % zero)
        p.lines.append("%s = linalg.fill ins(%s : f64) outs(%s : %s) -> %s" % (
            name, zero, out, tensor(shape), tensor(shape)))
        return name

    def matmul(lhs, rhs, k, n, transposed):
        name, init = p.new(), filled(M, n)
        maps = "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (%s)>, affine_map<(d0, d1, d2) -> (d0, d1)>" % (
            "d1, d2" if transposed else "d2, d1")
        shape = (n, k) if transposed else (k, n)
        p.lines.append("%s = linalg.matmul indexing_maps = [%s] ins(%s, %s : %s, %s) outs(%s : %s) -> %s" % (
            name, maps, lhs, rhs, tensor((M, k)), tensor(shape), init, tensor((M, n)), tensor((M, n))))
        return name

    def add(name, text):
        p.lines.append("%s = %s" % (name, text))
        return name

    x, w, s = p.input(M, K), p.input(K), p.input(M)
    root = add(p.new(), generic(
        [(s, (M,))], [(0,)], (p.empty(M), (M,)), (0,), ["parallel"],
        "%0 = arith.mulf %e0, %e0 : f64\n%c = arith.constant 0.5 : f64\n"
        "%1 = arith.addf %0, %c : f64\n%2 = math.rsqrt %1 : f64\nlinalg.yield %2 : f64"))
    scale = r.choice([root, root, s])
    row = [(x, (M, K)), (w, (K,)), (scale, (M,))]
    row_maps = [(0, 1), (1,), (0,)]
    y = add(p.new(), generic(
        row, row_maps, (p.empty(M, K), (M, K)), (0, 1), ["parallel"] * 2,
        "%0 = arith.mulf %e0, %e2 : f64\n%1 = arith.mulf %0, %e1 : f64\nlinalg.yield %1 : f64"))
    parts = []
    for _ in range(r.randint(1, 3)):
        n, transposed = r.choice([5, 12]), r.random() < 0.5
        weight = p.input(n, K) if transposed else p.input(K, n)
        p.add(matmul(y, weight, K, n, transposed), M, n)
        parts.append(matmul(p.input(M, n), weight, n, K, not transposed))
    gradients = [(d, (M, K)) for d in parts]
    # What is multiplied: the row without or with the scale, or another one.
    body = ["%%t%d = arith.addf %%%s, %%e%d : f64" % (i, "t%d" % (i - 1) if i > 1 else "e0", i)
            for i in range(1, len(parts))]
    total = "t%d" % (len(parts) - 1) if len(parts) > 1 else "e0"
    at = len(parts)
    body.append("%%0 = arith.mulf %%%s, %%e%d : f64" % (total, at))
    body.append("%%1 = arith.mulf %%0, %%e%d : f64" % (at + 1))
    scaled = r.random() < 0.4
    if scaled:
        body.append("%%s = arith.mulf %%1, %%e%d : f64" % (at + 2))
    if r.random() < 0.2:
        row[0] = (p.input(M, K), (M, K))
    body.append("%%2 = arith.addf %%%s, %%out : f64\nlinalg.yield %%2 : f64" % ("s" if scaled else "1"))
    total = add(p.new(), generic(
        gradients + row, [(0, 1)] * len(parts) + row_maps, (filled(M), (M,)), (0,),
        ["parallel", "reduction"], "\n".join(body)))
    p.add(total, M)
    return p.case("sum%d" % seed)


def main():
    folder, compiler = sys.argv[1:3]
    status = 0
    for name, cases, pipeline in [
            ("fuse", [tile_program(s) for s in range(80)], FUSE),
            ("commute", [norm_program(s) for s in range(40)], COMMUTE),
            ("transpose", [sum_program(s) for s in range(40)], TRANSPOSE)]:
        text = "\n".join(map(function, cases))
        plain = build(text, os.path.join(folder, name + "-plain"), compiler)
        done = subprocess.run(["coda-opt", "--pass-pipeline=" + pipeline], input=text,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit("coda-opt failed:\n" + done.stderr)
        rewritten = build(done.stdout, os.path.join(folder, name), compiler)
        if name == "transpose":
            # Sums that were taken are of two factors each, the others of four or more.
            kept = sum(names.count("%") > 2 for names in
                       re.findall(r'"reduction"\]} ins\(([^:]*):', done.stdout))
            print("transpose: %d of %d row sums taken to another axis" % (
                len(cases) - kept, len(cases)))
        else:
            print("%s: %d tile ops, %d norms kept for a reader" % (
                name, done.stdout.count("coda.gemm") + done.stdout.count("coda.map"),
                done.stderr.count("[coda-commute]")))
        for case in cases:
            case.expected = call(plain, case)
        status |= compare(rewritten, cases)
    return status


if __name__ == "__main__":
    sys.exit(main())
