# Projections to heads with a norm of each head and a rotation, as front ends give
# them: a norm of x, products with the weights, heads, their norms in f32, heads
# before tokens, the rotation. Each graph is two launches, the norm's map and the
# projections; its results and gradients are right; on sm_90a each launch is a kernel.
#
# RUN: %python %s %t | FileCheck %s
# CHECK:      bf16 head=128 half nk norm: 2 launches, good, kernels
# CHECK-NEXT: bf16 head=64 half nk norm: 2 launches, good, kernels
# CHECK-NEXT: bf16 head=96 half nk norm: 2 launches, good, kernels
# CHECK-NEXT: bf16 head=128 pair kn norm: 2 launches, good, kernels
# CHECK-NEXT: bf16 head=96 pair kn none: 2 launches, good, kernels
# CHECK-NEXT: bf16 head=80 half nk none: 2 launches, good, kernels
# CHECK-NEXT: f32 head=128 half nk norm: 2 launches, good, gradients good, 1 map
# CHECK-NEXT: f32 head=64 pair kn late-norm: 2 launches, good, gradients good, 1 map
# CHECK-NEXT: f32 head=96 half nk norm: 2 launches, good, gradients good, 1 map
#
# `rotary-heads.py DIR write` writes the graphs to DIR and does nothing else: for a
# machine with a GPU, `coda-run X.mlir --seed=1 --against-reference --device=cuda`.
import json
import os
import re
import subprocess
import sys


def tensor(shape, type):
    return "tensor<%s%s>" % ("".join("%dx" % n for n in shape), type)


def identity(rank, results=None):
    dims = ["d%d" % i for i in range(rank)]
    return "affine_map<(%s) -> (%s)>" % (", ".join(dims), ", ".join(results or dims))


class Graph:
    """Two sequences, q and k with `heads` and two heads, v with two."""

    def __init__(self, type, head, pairs, kn, norm, tokens, hidden, heads):
        self.type, self.head, self.pairs, self.kn, self.norm = type, head, pairs, kn, norm
        self.tokens, self.hidden, self.lines, self.count = tokens, hidden, [], 0
        self.write(heads)

    def op(self, text):
        """Appends an op with one result, which it returns."""
        self.count += 1
        self.lines.append("%%v%d = %s" % (self.count, text))
        return "%%v%d" % self.count

    def empty(self, shape, type):
        return self.op("tensor.empty() : %s" % tensor(shape, type))

    def generic(self, ins, maps, shape, type, body, out=None, reduces=False):
        """ins: (value, shape, type); body: ops on %a0, ... that give %y."""
        rank = len(maps[0][1:].split("->")[0].split(","))
        kinds = ["parallel"] * (rank - reduces) + ["reduction"] * reduces
        out = out or self.empty(shape, type)
        return self.op(
            "linalg.generic {indexing_maps = [%s], iterator_types = [%s]} ins(%s : %s) outs(%s : %s) {\n"
            "^bb0(%s, %%o: %s):\n%s\nlinalg.yield %%y : %s\n} -> %s"
            % (", ".join(maps), ", ".join('"%s"' % k for k in kinds),
               ", ".join(v for v, _, _ in ins), ", ".join(tensor(s, t) for _, s, t in ins),
               out, tensor(shape, type),
               ", ".join("%%a%d: %s" % (i, t) for i, (_, _, t) in enumerate(ins)), type,
               "\n".join(body), type, tensor(shape, type)))

    def map(self, ins, shape, type, body, maps=None):
        rank = len(shape)
        maps = (maps or [identity(rank)] * len(ins)) + [identity(rank)]
        return self.generic(ins, maps, shape, type, body)

    def cast(self, x, shape, source, target):
        if source == target:
            return x
        name = "extf" if target == "f32" else "truncf"
        return self.map([(x, shape, source)], shape, target,
                        ["%%y = arith.%s %%a0 : %s to %s" % (name, source, target)])

    def rms_norm(self, x, shape, weight):
        rank, t = len(shape), self.type
        row = identity(rank, ["d%d" % i for i in range(rank - 1)] + ["0"])
        rows = shape[:-1] + [1]
        wide = self.cast(x, shape, t, "f32")
        square = self.map([(wide, shape, "f32")], shape, "f32",
                          ["%y = math.fpowi %a0, %two : f32, i64"])
        zero = self.op("linalg.fill ins(%%zero : f32) outs(%s : %s) -> %s"
                       % (self.empty(rows, "f32"), tensor(rows, "f32"), tensor(rows, "f32")))
        total = self.generic([(square, shape, "f32")], [identity(rank), row], rows, "f32",
                             ["%y = arith.addf %a0, %o : f32"], zero, reduces=True)
        root = self.map([(total, rows, "f32")], rows, "f32",
                        ["%%n = arith.constant %d.0 : f32" % shape[-1],
                         "%m = arith.divf %a0, %n : f32", "%e = arith.addf %m, %eps : f32",
                         "%y = math.rsqrt %e : f32"])
        normed = self.map([(wide, shape, "f32"), (root, rows, "f32")], shape, "f32",
                          ["%y = arith.mulf %a0, %a1 : f32"], [identity(rank), row])
        normed = self.cast(normed, shape, "f32", t)
        return self.map([(weight, shape[-1:], t), (normed, shape, t)], shape, t,
                        ["%%y = arith.mulf %%a0, %%a1 : %s" % t],
                        [identity(rank, ["d%d" % (rank - 1)]), identity(rank)])

    def project(self, x, weight, heads):
        rows, n, k, t = 2 * self.tokens, heads * self.head, self.hidden, self.type
        if not self.kn:
            weight = self.op(
                "linalg.transpose ins(%s : %s) outs(%s : %s) permutation = [1, 0]"
                % (weight, tensor([n, k], t), self.empty([k, n], t), tensor([k, n], t)))
        zero = self.op("linalg.fill ins(%%zero : f32) outs(%s : %s) -> %s"
                       % (self.empty([rows, n], "f32"), tensor([rows, n], "f32"),
                          tensor([rows, n], "f32")))
        y = self.op("linalg.matmul ins(%s, %s : %s, %s) outs(%s : %s) -> %s"
                    % (x, weight, tensor([rows, k], t), tensor([k, n], t), zero,
                       tensor([rows, n], "f32"), tensor([rows, n], "f32")))
        y = self.cast(y, [rows, n], "f32", t)
        shape = [2, self.tokens, heads, self.head]
        return self.op("tensor.expand_shape %s [[0, 1], [2, 3]] output_shape %s : %s into %s"
                       % (y, shape, tensor([rows, n], t), tensor(shape, t)))

    def heads_first(self, x, heads):
        shape, t = [2, heads, self.tokens, self.head], self.type
        return self.op(
            "linalg.transpose ins(%s : %s) outs(%s : %s) permutation = [0, 2, 1, 3]"
            % (x, tensor([2, self.tokens, heads, self.head], t), self.empty(shape, t),
               tensor(shape, t)))

    def slice(self, x, shape, offsets, sizes):
        return self.op("tensor.extract_slice %s%s %s %s : %s to %s"
                       % (x, offsets, sizes, [1] * len(shape), tensor(shape, self.type),
                          tensor(sizes, self.type)))

    def rotate_halves(self, x, heads):
        t, half = self.type, self.head // 2
        shape, part = [2, heads, self.tokens, self.head], [2, heads, self.tokens, half]
        table, row = [2, 1, self.tokens, self.head], identity(4, ["d0", "0", "d2", "d3"])

        def times(y, other):
            return self.map([(y, shape, t), (other, table, t)], shape, t,
                            ["%%y = arith.mulf %%a0, %%a1 : %s" % t], [identity(4), row])
        low = self.slice(x, shape, [0, 0, 0, 0], part)
        high = self.slice(x, shape, [0, 0, 0, half], part)
        minus = self.map([(high, part, t)], part, t, ["%%y = arith.negf %%a0 : %s" % t])
        turned = self.op("tensor.concat dim(3) %s, %s : (%s, %s) -> %s"
                         % (minus, low, tensor(part, t), tensor(part, t), tensor(shape, t)))
        a, b = times(x, self.cos), times(turned, self.sin)
        return self.map([(a, shape, t), (b, shape, t)], shape, t,
                        ["%%y = arith.addf %%a0, %%a1 : %s" % t])

    def rotate_pairs(self, x, heads):
        t, half = self.type, self.head // 2
        shape, part = [2, heads, self.tokens, self.head], [2, heads, self.tokens, half]
        table, row = [2, 1, self.tokens, half], identity(4, ["d0", "0", "d2", "d3"])
        groups = "[[0], [1], [2], [3, 4]]"
        pairs = self.op("tensor.expand_shape %s %s output_shape %s : %s into %s"
                        % (x, groups, part + [2], tensor(shape, t), tensor(part + [2], t)))
        both = [self.op("tensor.collapse_shape %s %s : %s into %s"
                        % (self.slice(pairs, part + [2], [0, 0, 0, 0, i], part + [1]), groups,
                           tensor(part + [1], t), tensor(part, t))) for i in range(2)]
        turned = []
        for i in range(2):
            y = self.map([(both[0], part, t), (both[1], part, t), (self.cos, table, t),
                          (self.sin, table, t)], part, t,
                         ["%%p = arith.mulf %%a%d, %%a2 : %s" % (i, t),
                          "%%q = arith.mulf %%a%d, %%a3 : %s" % (1 - i, t),
                          "%%y = arith.%s %%p, %%q : %s" % ("addf" if i else "subf", t)],
                         [identity(4), identity(4), row, row])
            turned.append(self.op("tensor.expand_shape %s %s output_shape %s : %s into %s"
                                  % (y, groups, part + [1], tensor(part, t),
                                     tensor(part + [1], t))))
        joined = self.op("tensor.concat dim(4) %s, %s : (%s, %s) -> %s"
                         % (*turned, *[tensor(part + [1], t)] * 2, tensor(part + [2], t)))
        return self.op("tensor.collapse_shape %s %s : %s into %s"
                       % (joined, groups, tensor(part + [2], t), tensor(shape, t)))

    def write(self, heads):
        t, k, n = self.type, self.hidden, self.tokens
        width = self.head // 2 if self.pairs else self.head
        weight = lambda count: [k, count * self.head] if self.kn else [count * self.head, k]
        arguments = [("x", [2, n, k]), ("cos", [2, n, width]), ("sin", [2, n, width]), ("w", [k]),
                     ("wq", weight(heads)), ("wk", weight(2)), ("wv", weight(2))]
        if self.norm != "none":
            arguments += [("nq", [self.head]), ("nk", [self.head])]
        self.cos, self.sin = [
            self.op("tensor.expand_shape %%%s [[0], [1, 2], [3]] output_shape %s : %s into %s"
                    % (name, [2, 1, n, width], tensor([2, n, width], t),
                       tensor([2, 1, n, width], t))) for name in ("cos", "sin")]
        x = self.rms_norm("%x", [2, n, k], "%w")
        x = self.op("tensor.collapse_shape %s [[0, 1], [2]] : %s into %s"
                    % (x, tensor([2, n, k], t), tensor([2 * n, k], t)))
        results, types = [], []
        for name, count in (("q", heads), ("k", 2), ("v", 2)):
            y = self.project(x, "%w" + name, count)
            if name != "v" and self.norm == "norm":
                y = self.rms_norm(y, [2, n, count, self.head], "%n" + name)
            y = self.heads_first(y, count)
            if name != "v":
                if self.norm == "late-norm":
                    y = self.rms_norm(y, [2, count, n, self.head], "%n" + name)
                y = (self.rotate_pairs if self.pairs else self.rotate_halves)(y, count)
            results.append(y)
            types.append(tensor([2, count, n, self.head], t))
        self.text = "func.func @main(%s) -> (%s) {\n%%two = arith.constant 2 : i64\n%%zero = " \
            "arith.constant 0.0 : f32\n%%eps = arith.constant 1.0e-06 : f32\n%s\nreturn %s : %s\n}\n" \
            % (", ".join("%%%s: %s" % (name, tensor(s, t)) for name, s in arguments),
               ", ".join(types), "\n".join(self.lines), ", ".join(results), ", ".join(types))


CASES = [("bf16", 128, "half", "nk", "norm"), ("bf16", 64, "half", "nk", "norm"),
         ("bf16", 96, "half", "nk", "norm"), ("bf16", 128, "pair", "kn", "norm"),
         ("bf16", 96, "pair", "kn", "none"), ("bf16", 80, "half", "nk", "none"),
         ("f32", 128, "half", "nk", "norm"), ("f32", 64, "pair", "kn", "late-norm"),
         ("f32", 96, "half", "nk", "norm")]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def on_device(file, stem):
    """What becomes of the projections on sm_90a."""
    run("coda-compile", file, "--target=sm_90a", "--emit=scheduled", "-o", stem + ".scheduled.mlir",
        "--report=" + stem + ".json")
    with open(stem + ".json") as f:
        report = json.load(f)
    if all(kernel["schedule"] for kernel in report["kernels"]):
        return "kernels"
    why = [kernel["unscheduled"] for kernel in report["kernels"] if kernel["unscheduled"]]
    return "products" if all("its products are kernels" in reason for reason in why) else "loops"


def gradients(file, stem):
    checked = run("coda-run", file, "--grad", "--grad-constants=1,2", "--differences", "--no-unfused",
                  "--repeat=0", "--seed=5")
    run("coda-compile", file, "--grad", "--grad-constants=1,2", "--emit=fused", "-o",
        stem + ".grad.mlir", "--report=" + stem + ".json")
    with open(stem + ".json") as f:
        report = json.load(f)
    members = {kernel["name"]: kernel["members"] for kernel in report["kernels"]}
    (backward,) = [f for f in report["functions"] if f["name"] == "main_bwd"]
    # Launches that store all of the heads' columns and multiply nothing.
    maps = sum(1 for name in backward["launches"]
               if not any(m["accumulators"] for m in members[name]) and
               len(members[name]) == 3)
    return "%s, %d map" % ("gradients good" if checked.returncode == 0 else checked.stdout, maps)


def main(directory, only_write=False):
    os.makedirs(directory, exist_ok=True)
    for type, head, style, layout, norm in CASES:
        tokens, hidden, heads = (128, 256, 4) if type == "bf16" else (16, 64, 3)
        graph = Graph(type, head, style == "pair", layout == "kn", norm, tokens, hidden, heads)
        stem = os.path.join(directory, "_".join([type, str(head), style, layout, norm]))
        file = stem + ".mlir"
        with open(file, "w") as f:
            f.write(graph.text)
        if only_write:
            continue
        result = run("coda-run", file, "--seed=1", "--against-reference", "--repeat=0")
        launches = re.search(r"(\d+) kernel launches", result.stdout)
        print("%s head=%d %s %s %s: %s launches, %s, %s"
              % (type, head, style, layout, norm, launches.group(1) if launches else "no",
                 "good" if result.returncode == 0 else result.stdout,
                 on_device(file, stem) if type == "bf16" else gradients(file, stem)), flush=True)


main(sys.argv[1], "write" in sys.argv[2:])
