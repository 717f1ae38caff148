# Losses as torch-mlir and JAX write them: each spelling of the row's logarithm of the
# sum and of what is made of it is the product and the finishers of its sums, stores no
# logits, and has right gradients.
#
# RUN: %python %s %t | FileCheck %s
# CHECK:      torch penalty: 3 launches, no logits, gradients good
# CHECK-NEXT: torch logsumexp: 3 launches, no logits, gradients good
# CHECK-NEXT: torch smoothing: 3 launches, no logits, gradients good
# CHECK-NEXT: torch smoothing, penalty, cap: 3 launches, no logits, gradients good
# CHECK-NEXT: jax logsumexp: 3 launches, no logits, gradients good
# CHECK-NEXT: jax 16 bits: 3 launches, no logits, gradients good
# CHECK-NEXT: jax one-hot targets: 3 launches, no logits, gradients good
# CHECK-NEXT: shares given: 3 launches, no logits, gradients good
# CHECK-NEXT: divergence of all: 3 launches, no logits, gradients good
# CHECK-NEXT: any rows, divergence: 3 launches, no logits, gradients good
# CHECK-NEXT: any classes, shares given: 3 launches, no logits, gradients good
import os
import re
import subprocess
import sys


class Graph:
    """Tokens x, weights w: the logits z = x w^T in f32."""

    def __init__(self, type="f32", rows=24, columns=384):
        self.rows, self.columns, self.type = rows, columns, type
        self.arguments, self.lines, self.count = [], [], 0
        self.shapes = {"full": (rows, columns), "row": (rows, 1), "vec": (rows,), "one": ()}
        self.x = self.argument((rows, 16), type)
        self.w = self.argument((columns, 16), type)
        self.labels = None
        self.sizes = {rows: self.op("tensor.dim %s, %%i0 : %s" % self.x),
                      columns: self.op("tensor.dim %s, %%i0 : %s" % self.w)}
        zero = self.fill(self.tensor((rows, columns), "f32"), "%zero")
        maps = ", ".join("affine_map<(m, n, k) -> (%s)>" % r for r in ("m, k", "n, k", "m, n"))
        self.z = self.op(
            "linalg.matmul indexing_maps = [%s] ins(%s, %s : %s, %s) outs(%s : %s) -> %s"
            % (maps, self.x[0], self.w[0], self.x[1], self.w[1], *zero, zero[1])), zero[1]

    def tensor(self, shape, type="f32"):
        return "tensor<%s%s>" % ("".join("%sx" % ("?" if n is None or n < 0 else n)
                                         for n in shape), type)

    def argument(self, shape, type):
        value = "%%arg%d" % len(self.arguments), self.tensor(shape, type)
        self.arguments.append("%s: %s" % value)
        return value

    def op(self, text):
        self.count += 1
        self.lines.append("%%v%d = %s" % (self.count, text))
        return "%%v%d" % self.count

    def fill(self, type, number):
        shape, element = type[7:-1].rsplit("x", 1) if "x" in type else ("", type[7:-1])
        sizes = [self.sizes[self.rows if i == 0 else self.columns]
                 for i, n in enumerate(shape.split("x")) if n == "?"]
        empty = self.op("tensor.empty(%s) : %s" % (", ".join(sizes), type))
        if number is None:
            return empty, type
        cast = self.op("arith.truncf %s : f32 to %s" % (number, element)) \
            if element in ("bf16", "f16") else number
        return self.op("linalg.fill ins(%s : %s) outs(%s : %s) -> %s"
                       % (cast, element, empty, type, type)), type

    def generic(self, inputs, shape, type, body, kinds, init=None):
        """`inputs` are broadcast, as `shape` is from the loops `kinds`."""
        rank = len(kinds)
        wide = [kind == "reduction" or n != 1 for kind, n in zip(kinds, shape or kinds)]

        def map(tensor):
            dims = tensor[7:-1].split("x")[:-1]
            dims = ["d%d" % i if n != "1" or not wide[i] else "0" for i, n in enumerate(dims)]
            return "affine_map<(%s) -> (%s)>" % (
                ", ".join("d%d" % i for i in range(rank)), ", ".join(dims))
        out = self.fill(self.tensor(shape, type), init)
        ins = "ins(%s : %s) " % (", ".join(v for v, _ in inputs), ", ".join(t for _, t in inputs))
        return self.op(
            "linalg.generic {indexing_maps = [%s], iterator_types = [%s]} %souts(%s : %s) {\n"
            "^bb0(%s%%o: %s):\n%s\nlinalg.yield %%y : %s\n} -> %s"
            % (", ".join(map(t) for _, t in inputs + [out]),
               ", ".join('"%s"' % k for k in kinds), ins if inputs else "", *out,
               "".join("%%a%d: %s, " % (i, t[7:-1].split("x")[-1])
                       for i, (_, t) in enumerate(inputs)), type, "\n".join(body), type,
               out[1])), out[1]

    def map(self, shape, inputs, *body, type="f32"):
        shape = self.shapes[shape]
        return self.generic(inputs, shape, type, body, ["parallel"] * len(shape))

    def reduce(self, shape, x, op="addf", type="f32"):
        """Of a matrix to rows, of whatever to a number."""
        kinds = ["parallel", "reduction"] if shape == "row" else \
            ["reduction"] * (x[1].count("x"))
        return self.generic([x], self.shapes[shape], type,
                            ["%%y = arith.%s %%a0, %%o : %s" % (op, type)], kinds,
                            "%low" if op == "maximumf" else "%zero")

    def binary(self, op, shape, x, y, type="f32"):
        return self.map(shape, [x, y], "%%y = arith.%s %%a0, %%a1 : %s" % (op, type), type=type)

    def unary(self, op, shape, x, type="f32"):
        return self.map(shape, [x], "%%y = %s %%a0 : %s" % (op, type), type=type)

    def times(self, shape, x, number):
        return self.map(shape, [x], "%%c = arith.constant %e : f32" % number,
                        "%y = arith.mulf %a0, %c : f32")

    def vector(self, x):
        type = x[1].replace("x1x", "x")
        return self.op("tensor.collapse_shape %s [[0, 1]] : %s into %s" % (*x, type)), type

    def cap(self, z):
        return self.map("full", [z], "%c = arith.constant 4.0 : f32",
                        "%d = arith.divf %a0, %c : f32", "%t = math.tanh %d : f32",
                        "%y = arith.mulf %t, %c : f32")

    def log_softmax(self, z, type="f32"):
        """The maximum, z less it, the logarithm of the sum, and z less both."""
        m = self.reduce("row", z, "maximumf", type)
        d = self.binary("subf", "full", z, m, type)
        s = self.reduce("row", self.widen(self.unary("math.exp", "full", d, type), "full"))
        if type != "f32":
            s = self.map("row", [s], "%%y = arith.truncf %%a0 : f32 to %s" % type, type=type)
        log = self.unary("math.log", "row", s, type)
        return m, d, log, self.binary("subf", "full", d, log, type)

    def widen(self, x, shape):
        source = x[1][7:-1].split("x")[-1]
        return x if source == "f32" else self.map(
            shape, [x], "%%y = arith.extf %%a0 : %s to f32" % source)

    def finite(self, m, predicate):
        """What stands for a maximum that is infinite."""
        yes, no = ("%a0", "%zero") if predicate == "one" else ("%zero", "%a0")
        return self.map("row", [m], "%b = math.absf %a0 : f32",
                        "%%c = arith.cmpf %s, %%b, %%inf : f32" % predicate,
                        "%%y = arith.select %%c, %s, %s : f32" % (yes, no))

    def logsumexp(self, z, predicate):
        m = self.finite(self.reduce("row", z, "maximumf"), predicate)
        e = self.unary("math.exp", "full", self.binary("subf", "full", z, m))
        log = self.unary("math.log", "row", self.reduce("row", e))
        return self.binary("addf", "row", log, m)

    def get_labels(self):
        self.labels = self.labels or self.argument((self.rows,), "i64")
        return self.labels

    def gather(self, x, ignores=True):
        type = x[1][7:-1].split("x")[-1]
        body = ["%ok = arith.cmpi ne, %a0, %ignored : i64",
                "%l = arith.select %ok, %a0, %first : i64"] if ignores else []
        label = "%l" if ignores else "%a0"
        body += ["%i = linalg.index 0 : index", "%%j = arith.index_cast %s : i64 to index" % label,
                 "%%e = tensor.extract %s[%%i, %%j] : %s" % x]
        if ignores:
            body += ["%z = arith.constant 0.0 : " + type, "%n = arith.negf %e : " + type,
                     "%y = arith.select %ok, %n, %z : " + type]
        else:
            body += ["%c = arith.constant 1.0 : " + type, "%y = arith.mulf %e, %c : " + type]
        return self.map("vec", [self.get_labels()], *body, type=type)

    def counted(self):
        return self.map("vec", [self.get_labels()], "%ok = arith.cmpi ne, %a0, %ignored : i64",
                        "%y = arith.uitofp %ok : i1 to f32")

    def penalised(self, loss, lse, weight=None):
        """loss + lse^2 / 100, for rows that count."""
        square = self.times("vec", self.binary("mulf", "vec", lse, lse), 0.01)
        if weight:
            square = self.binary("mulf", "vec", square, weight)
        return self.binary("addf", "vec", loss, square)

    def mean(self, loss, weight=None):
        total = self.reduce("one", loss)
        if not weight:
            return self.times("one", total, 1 / 24)
        return self.binary("divf", "one", total, self.reduce("one", weight))

    def write(self, result):
        return "func.func @main(%s) -> %s {\n%%zero = arith.constant 0.0 : f32\n" \
            "%%low = arith.constant 0xFF800000 : f32\n%%inf = arith.constant 0x7F800000 : f32\n" \
            "%%ignored = arith.constant -100 : i64\n%%first = arith.constant 0 : i64\n" \
            "%%i0 = arith.constant 0 : index\n%s\nreturn %s : %s\n}\n" \
            % (", ".join(self.arguments), result[1], "\n".join(self.lines), *result)


def torch_loss(smoothing=0.0, penalty=False, cap=False, logsumexp=False):
    g = Graph()
    z = g.cap(g.z) if cap else g.z
    m, _, log, logarithms = g.log_softmax(z)
    loss, counted = g.gather(logarithms), g.counted()
    if smoothing:
        row = g.vector(g.reduce("row", logarithms))
        share = g.binary("mulf", "vec", g.times("vec", row, -smoothing / 384), counted)
        loss = g.binary("addf", "vec", g.times("vec", loss, 1 - smoothing), share)
    if penalty:
        lse = g.logsumexp(z, "oeq") if logsumexp else g.binary("addf", "row", m, log)
        loss = g.penalised(loss, g.vector(lse), counted)
    return g.write(g.mean(loss, counted))


def jax_loss(type="f32"):
    g = Graph(type)
    if type == "f32":
        lse = g.vector(g.logsumexp(g.z, "one"))
        loss = g.binary("subf", "vec", lse, g.gather(g.z, ignores=False))
        return g.write(g.mean(g.penalised(loss, lse)))
    z = g.map("full", [g.z], "%%y = arith.truncf %%a0 : f32 to %s" % type, type=type)
    m, d, log, _ = g.log_softmax(z, type)
    loss = g.binary("subf", "vec", g.vector(log), g.gather(d, ignores=False), type)
    lse = g.widen(g.vector(g.binary("addf", "row", log, m, type)), "vec")
    return g.write(g.mean(g.penalised(g.widen(loss, "vec"), lse)))


def one_hot():
    g = Graph()
    m, _, log, logarithms = g.log_softmax(g.z)
    target = g.map("full", [g.get_labels()], "%j = linalg.index 1 : index",
                   "%l = arith.index_cast %j : index to i64",
                   "%q = arith.cmpi eq, %a0, %l : i64", "%h = arith.constant 0.9 : f32",
                   "%s = arith.constant 0.0003 : f32", "%y = arith.select %q, %h, %s : f32")
    row = g.vector(g.reduce("row", g.binary("mulf", "full", target, logarithms)))
    loss = g.unary("arith.negf", "vec", row)
    return g.write(g.mean(g.penalised(loss, g.vector(g.binary("addf", "row", log, m)))))


def shares(whole=False, **extents):
    g = Graph(**extents)
    given = g.argument((g.rows, g.columns), "f32")
    logarithms = g.log_softmax(g.z)[3]
    if whole:  # sum(t (log(1 + t^2) - logarithm))
        own = g.map("full", [given], "%q = arith.mulf %a0, %a0 : f32", "%y = math.log1p %q : f32")
        logarithms = g.binary("subf", "full", logarithms, own)
    product = g.binary("mulf", "full", given, logarithms)
    return g.write(g.mean(product if whole else g.vector(g.reduce("row", product))))


CASES = {
    "torch penalty": torch_loss(penalty=True),
    "torch logsumexp": torch_loss(penalty=True, logsumexp=True),
    "torch smoothing": torch_loss(smoothing=0.1),
    "torch smoothing, penalty, cap": torch_loss(0.1, True, True),
    "jax logsumexp": jax_loss(),
    "jax 16 bits": jax_loss("bf16"),
    "jax one-hot targets": one_hot(),
    "shares given": shares(),
    "divergence of all": shares(whole=True),
    "any rows, divergence": shares(whole=True, rows=-1),
    "any classes, shares given": shares(columns=-1),
}

directory = sys.argv[1]
os.makedirs(directory, exist_ok=True)
for name, text in CASES.items():
    path = os.path.join(directory, re.sub("[^a-z0-9]+", "-", name) + ".mlir")
    with open(path, "w") as file:
        file.write(text)
    fused = subprocess.run(["coda-opt", "--coda-fuse-pipeline", path], capture_output=True,
                           text=True, check=True).stdout
    gemm = fused[fused.index("= coda.gemm"):]
    stored = re.search(r"outs\((.*) :", gemm).group(1)
    logits = any(not part.startswith(("fresh", "add", "logaddexp"))
                 for part in stored.split(", %") if "[m, n" in part)
    run = subprocess.run(
        ["coda-run", path, "--grad", "--seed=3", "--extent=24", "--integers=24", "--differences",
         "--no-unfused", "--repeat=0"], capture_output=True, text=True)
    print("%s: %d launches, %s, %s"
          % (name, len(re.findall(" = call @", fused)), "logits" if logits else "no logits",
             "gradients good" if run.returncode == 0 else "wrong\n" + run.stdout + run.stderr))
