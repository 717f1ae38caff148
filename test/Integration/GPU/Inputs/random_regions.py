# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels over the primitives of a tile op.

`random_regions.py SEED` prints a kernel (one coda.gemm or coda.map on memrefs)
whose operands, layouts, dims and region follow from the seed. As a module it
also gives the same op as a program on tensors, of other extents or dynamic.
"""
import random
import sys


def sizes(m0=3, m1=128, n0=4, n1=128, k=192, k1=None, b=None):
    """Extent of each dim; m and n are m0 m1 and n0 n1. With `k1` the second
    accumulator has a left factor of its own, contracted over that dim; with `b`
    there is a batch of all but some that are one for a column."""
    others = {name: size for name, size in (("k1", k1), ("b", b)) if size is not None}
    return dict(m=m0 * m1, m0=m0, m1=m1, n=n0 * n1, n0=n0, n1=n1, u=2, k=k, **others)


class Kernel:
    """A kernel as data: operands with their dims, and the ops of the region.
    `eight`: its factors are 8-bit floats, and some of what it loads and stores."""

    def __init__(self, seed, extents=None, eight=False):
        self.sizes = extents or sizes()
        r = self.r = random.Random(seed)
        self.name = f"random{seed}"
        self.half = r.choice(["bf16", "bf16", "f16"])
        self.eight = random.Random(~seed) if eight else None
        self.has_acc = seed % 6 != 5
        own_factors = "k1" in self.sizes
        num_accs = 2 if own_factors else 1 + seed % 2
        has_u = (seed // 2) % 2 == 1
        num_tiles = seed % 4
        row_sum, column_sum = r.random() < 0.5, r.random() < 0.4
        if num_accs == 2 and has_u:
            row_sum = False  # 128 columns of four accumulators: 256 registers
        # Runs of n that are narrower than a chunk are stored apart, not added up.
        narrow = row_sum and self.sizes["n1"] in (8, 16, 32)
        self.m = ["m0", "m1"] if column_sum else ["m"]
        self.n = ["n0", "n1"] if row_sum else ["n"]
        # Of each accumulator its products: (left factor, right factor).
        self.accs, self.ins, self.outs, self.ops = [], [], [], []
        self.values = []
        lhs = ("a", self.m + ["k"] if r.random() < 0.7 else ["k"] + self.m, self.half)
        k_major = r.random() < 0.7
        if eight:
            lhs, k_major = ("a", self.m + ["k"], self.float8()), True
        for i in range(num_accs if self.has_acc else 0):
            u = ["u"] if has_u and (i == 0 or r.random() < 0.5) else []
            n = list(self.n)
            where = r.choice([0, 1, len(n) - 1]) if u else 0
            n[min(where, len(n) - 1) : min(where, len(n) - 1)] = u
            k = "k1" if own_factors and i else "k"
            dims = n + [k] if k_major else [k] + n
            left = ("a1", ["k1" if d == "k" else d for d in lhs[1]], self.half) if k == "k1" else lhs
            if eight and k == "k1":
                left = left[:2] + (self.float8(),)
            self.accs.append([(left, (f"b{i}", dims, self.float8() if eight else self.half))])
            for j in range(2 if u else 1):
                self.values.append((f"%acc{i}_{j}", "f32"))
        if self.has_acc and own_factors and seed % 3:
            # One of them takes part in the other's products, before or after.
            from_, to = (0, 1) if seed % 3 == 1 else (1, 0)
            left, right = self.accs[from_][0]
            n = [d for d in self.accs[to][0][1][1] if d[0] != "k"]
            k = next(d for d in left[1] if d[0] == "k")
            self.accs[to].append((left, ("b2", n + [k] if right[1][-1] == k else [k] + n, right[2])))
        for i in range(num_tiles if self.has_acc else max(1, num_tiles)):
            self.load(f"t{i}", self.m + self.n, self.half, has_u and r.random() < 0.3)
        for i in range(r.randrange(3)):
            self.load(f"r{i}", self.m, r.choice(["f32", self.half]))
        for i in range(r.randrange(3)):
            self.load(f"c{i}", self.n, r.choice(["f32", self.half]))
        self.region(r.randrange(4, 12))
        stores = r.randrange(1, 3)
        for i in range(stores):
            element = r.choice([self.half, self.half, "f32"])
            u = ["u"] if has_u and r.random() < 0.5 else []
            dims = self.m + self.n[:-1] + u + self.n[-1:]
            if narrow:
                dims = self.n[:-1] + self.m + u + self.n[-1:]
            self.store(f"o{i}", dims, element, None)
        if row_sum and not narrow:
            self.store("rs", ["n0"] + self.m, "f32", "add")
        if column_sum:
            self.store("cs", ["m0"] + self.n, "f32", "add")
        if "b" in self.sizes:
            self.repeat(random.Random(~seed))

    def repeat(self, r):
        """Gives all operands the dim of the batch, but some of the columns and some of
        what is reduced."""
        of_batch = lambda operand: (operand[0], ["b"] + operand[1], *operand[2:])
        self.accs = [[(of_batch(l), of_batch(w)) for l, w in products] for products in self.accs]
        self.ins = [of_batch(o) if o[1][0][0] == "m" or r.random() < 0.5 else o for o in self.ins]
        self.outs = [o if o[3] and r.random() < 0.4 else of_batch(o) for o in self.outs]

    def float8(self):
        return self.eight.choice(["f8E4M3FN", "f8E5M2"])

    def load(self, name, dims, element, u=False):
        if self.eight and self.eight.random() < 0.3:
            element = self.float8()
        if u:
            dims = dims[:-1] + ["u"] + dims[-1:]
        args = [f"%{name}_{j}" for j in range(2 if u else 1)]
        self.ins.append((name, dims, element, args))
        for arg in args:
            if element == "f32":
                self.values.append((arg, "f32"))
            else:
                wide = arg + "x"
                self.ops.append((wide, "arith.extf", [arg], f"{element} to f32"))
                self.values.append((wide, "f32"))

    def emit(self, op, args):
        name = f"%v{len(self.ops)}"
        self.ops.append((name, op, args, "f32"))
        return name

    def region(self, count):
        r = self.r
        one = self.emit("const", [1.0])
        pool = [v for v, _ in self.values]
        unused = list(pool)
        steps = 0
        while len(unused) > 1 or steps < count:
            steps += 1
            x = unused.pop(r.randrange(len(unused)))
            y = unused.pop(r.randrange(len(unused))) if unused else r.choice(pool)
            kind = r.randrange(6)
            if kind == 2 and x == y:  # A region of zeros tells nothing.
                kind = 0
            if kind < 3:
                v = self.emit(["arith.addf", "arith.mulf", "arith.subf"][kind], [x, y])
            elif kind == 3:  # 1 / (1 + exp(-x)), bounded
                e = self.emit("math.exp", [self.emit("arith.negf", [x])])
                v = self.emit("arith.divf", [one, self.emit("arith.addf", [one, e])])
            elif kind == 4:
                q = self.emit("arith.addf", [self.emit("arith.mulf", [y, y]), one])
                v = self.emit("arith.mulf", [x, self.emit("math.rsqrt", [q])])
            else:
                v = self.emit("arith.maximumf", [x, y])
            v = self.emit("math.tanh", [v]) if r.random() < 0.4 else v
            pool.append(v)
            unused.append(v)
        self.pool = pool[-3:]

    def store(self, name, dims, element, combiner):
        if self.eight and not combiner and self.eight.random() < 0.6:
            element = self.float8()
        yields = []
        for _ in range(2 if "u" in dims else 1):
            value = self.emit("math.tanh", [self.r.choice(self.pool)])
            if element != "f32":
                narrow = f"%y{len(self.ops)}"
                self.ops.append((narrow, "arith.truncf", [value], f"f32 to {element}"))
                value = narrow
            yields.append(value)
        self.outs.append((name, dims, element, combiner, yields))

    # ---- text
    def shape(self, dims, dynamic=()):
        return ["?" if d in dynamic else str(self.sizes[d]) for d in dims]

    def type(self, dims, element, kind="memref", dynamic=()):
        return f"{kind}<" + "x".join(self.shape(dims, dynamic) + [element]) + ">"

    def operands(self):
        """(name, dims, element) of each argument, in order."""
        found = {}
        for products in self.accs:
            for lhs, rhs in products:
                found[lhs[0]], found[rhs[0]] = lhs, rhs
        for o in self.ins + self.outs:
            found[o[0]] = o[:3]
        return list(found.values())

    def is_factor(self, name):
        return any(name in (l[0], w[0]) for products in self.accs for l, w in products)

    def text(self):
        args = ", ".join(f"%{n}: {self.type(d, e)}" for n, d, e in self.operands())
        lines = [f"func.func private @{self.name}({args}) attributes {{coda.kernel}} {{"]
        lines += self.op("memref") + ["  return", "}"]
        return "\n".join(lines) + "\n"

    def inputs(self):
        """(name, dims, element) of each operand that is read, in order."""
        outputs = [o[0] for o in self.outs]
        return [o for o in self.operands() if o[0] not in outputs]

    def graph(self, dynamic=""):
        """A function on tensors of the inputs; the extents of the dims whose
        names begin with a letter of `dynamic` are not in its types."""
        dynamic = [d for d in self.sizes if d[0] in dynamic]
        ty = lambda dims, element: self.type(dims, element, "tensor", dynamic)
        args = ", ".join(f"%{n}: {ty(d, e)}" for n, d, e in self.inputs())
        types = ", ".join(ty(o[1], o[2]) for o in self.outs)
        lines = [f"func.func @main({args}) -> ({types}) {{"]
        for dim in dynamic:
            if not any(dim in o[1] for o in self.inputs()):
                continue
            name, dims, element = next(o for o in self.inputs() if dim in o[1])
            lines.append(f"  %at_{dim} = arith.constant {dims.index(dim)} : index")
            lines.append(f"  %size_{dim} = tensor.dim %{name}, %at_{dim} : {ty(dims, element)}")
        for name, dims, element, _, _ in self.outs:
            sizes = ", ".join(f"%size_{d}" for d in dims if d in dynamic)
            lines.append(f"  %{name} = tensor.empty({sizes}) : {ty(dims, element)}")
        names = [f"%result{i}" for i in range(len(self.outs))]
        lines += self.op("tensor", dynamic, ", ".join(names) + " = ")
        lines += [f"  return {', '.join(names)} : {types}", "}"]
        return "\n".join(lines) + "\n"

    def op(self, kind, dynamic=(), results=""):
        ref = lambda o: f"%{o[0]}[{', '.join(o[1])}]"
        ty = lambda o: self.type(o[1], o[2], kind, dynamic)
        lines = []
        lines.append(f"  {results}coda.gemm" if self.accs else f"  {results}coda.map")
        if self.accs:
            sums = [" + ".join(f"{ref(l)} * {ref(w)}" for l, w in products) for products in self.accs]
            types = [f"{ty(l)}, {ty(w)}" for products in self.accs for l, w in products]
            lines.append("    acc(" + ", ".join(sums) + " : " + ", ".join(types) + ")")
        if self.ins:
            lines.append("    ins(" + ", ".join(map(ref, self.ins)) + " : " + ", ".join(map(ty, self.ins)) + ")")
        lines.append("    outs(" + ", ".join((f"fresh {o[3]} " if o[3] else "") + ref(o) for o in self.outs)
                     + " : " + ", ".join(map(ty, self.outs)) + ") {")
        block = [f"%acc{i}_{j}: f32" for i, p in enumerate(self.accs) for j in range(2 if "u" in p[0][1][1] else 1)]
        block += [f"{a}: {e}" for _, _, e, names in self.ins for a in names]
        lines.append(f"  ^bb0({', '.join(block)}):")
        for name, op, args, types in self.ops:
            if op == "const":
                lines.append(f"    {name} = arith.constant {args[0]:e} : f32")
            else:
                lines.append(f"    {name} = {op} {', '.join(args)} : {types}")
        ys = [y for o in self.outs for y in o[4]]
        kinds = [o[2] for o in self.outs for _ in o[4]]
        lines.append(f"    coda.yield {', '.join(ys)} : {', '.join(kinds)}")
        return lines + ["  }"]


if __name__ == "__main__":
    sys.stdout.write(Kernel(int(sys.argv[1])).text())
