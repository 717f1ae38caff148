# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of few rows, for schedules that swap the factors.

`swapped_regions.py NAME [RECIPE]` prints one of them, and writes what its arguments
are. `schedules(NAME, candidates)` are the schedules that it is compiled with.

All that a region loads, stores and reduces over rows, in each form: tiles of 16 and
of 32 bits, vectors of rows and of columns, sums of parts of a row, a single value;
reductions over the 16 columns of a warp, over some warps' of a fragment, over
several fragments'; factors in each layout; one accumulator and two; rows that are
no multiple of 8, columns that are none of a tile, some that only a call shows.
"""
import re

COMBINERS = ["add", "max", "logaddexp"]
PARTS = 5


def shape(kind, m, n, k, left="mk", right="nk", half="bf16", open="", group=64, batch=0, inner=0):
    return dict(kind=kind, m=m, n=n, k=k, left=left, right=right, half=half, open=open, group=group, batch=batch,
                inner=inner)


SHAPES = {f"plain_{m}": shape("plain", m, 256, 520) for m in (1, 3, 8, 16, 17, 33, 64)}
SHAPES.update({f"full_{m}": shape("full", m, 256, 520) for m in (1, 8, 17, 24, 64)})
SHAPES.update({f"rows{g}_{m}": shape("rows", m, 384, 264, group=g)
               for g, m in ((16, 7), (32, 16), (48, 24), (64, 33), (128, 64), (192, 8))})
SHAPES.update({f"swiglu_{m}": shape("swiglu", m, 192, 328) for m in (1, 16, 40, 64)})
SHAPES.update({f"plain_{left}_{right}_{m}": shape("plain", m, 256, 200, left, right)
               for m, left, right in ((8, "km", "nk"), (16, "km", "kn"), (24, "mk", "kn"), (40, "km", "kn"),
                                      (48, "km", "nk"), (64, "km", "kn"))})
SHAPES.update({
    "swiglu_kn_32": shape("swiglu", 32, 256, 264, "mk", "kn", "f16"),
    "full_ragged_13": shape("full", 13, 200, 264),
    "full_narrow_16": shape("full", 16, 24, 64),
    "full_unaligned_16": shape("full", 16, 211, 264),
    "rows_ragged_20": shape("rows", 20, 200, 264),
    "rows16_ragged_20": shape("rows", 20, 210, 264, group=16),
    "swiglu_ragged_9": shape("swiglu", 9, 1000, 264),
    "full_any_21": shape("full", 21, 256, 264, open="m"),
    "swiglu_any_5": shape("swiglu", 5, 320, 264, open="m"),
    "rows_any_50": shape("rows", 50, 320, 264, open="m"),
    "batch_10": shape("full", 10, 192, 136, batch=3),
    "batch_swiglu_17": shape("swiglu", 17, 128, 136, batch=2),
    "heads32_16": shape("heads", 16, 256, 264, inner=32),
    "heads32_40": shape("heads", 40, 256, 264, right="kn", inner=32),
    "heads16_8": shape("heads", 8, 384, 264, inner=16),
    "heads16_17": shape("heads", 17, 192, 264, right="kn", inner=16),
    "heads64_16": shape("heads", 16, 256, 264, inner=64),
    "heads128_33": shape("heads", 33, 384, 264, inner=128),
    "heads32_ragged_16": shape("heads", 16, 224, 264, inner=32),
    # Weights enough for every block of the device.
    "swiglu_wide_16": shape("swiglu", 16, 11008, 520),
    "full_wide_64": shape("full", 64, 14336, 264),
})

# Schedules that are no candidates by themselves, as changes of one that is.
VARIANTS = {
    "plain_16": [("stages = \\d+", "stages = 4"), (">$", ", cluster = [1, 2]>")],
    "plain_64": [("stages = \\d+", "stages = 4"), (">$", ", cluster = [1, 4]>")],
    "swiglu_wide_16": [("stages = \\d+", "stages = 4"), (">$", ", cluster = [1, 2]>")],
    "full_64": [("stages = \\d+", "stages = 4"), ("prefetch = \\d+", "prefetch = 2"), ("swap", "inplace = true, swap")],
    "full_17": [("stages = \\d+", "stages = 8"), ("prefetch = \\d+", "prefetch = 2"), ("swap", "ordered = true, swap")],
    "full_8": [("stages = \\d+", "stages = 8"), ("prefetch = \\d+", "prefetch = 2"), ("swap", "inplace = true, swap")],
}
# Candidates of a program that are taken, at most.
MOST = 6


def schedules(name, candidates):
    """Of a kernel's candidates those that swap, as many as are tried, of each tile and
    split in turn; with them what is no candidate."""
    swapped = [s for s in candidates if "swap = true" in s]
    shapes = {}
    for schedule in swapped:
        shape = re.findall(r"tile = \[[^]]*\]|split = \d+", schedule)
        shapes.setdefault(" ".join(shape), []).append(schedule)
    # Of each shape another way to load and store.
    groups = list(shapes.values())
    turns = max(map(len, groups), default=0)
    found = []
    for turn in range(turns):
        found += [group[(turn + i) % turns] for i, group in enumerate(groups) if (turn + i) % turns < len(group)]
    found = found[:MOST]
    whole = [s for s in swapped if "split" not in s]
    if name in VARIANTS and whole:
        # The last of a tile has buffers for all that it loads and stores.
        tile = re.search(r"tile = \[[^]]*\]", whole[0]).group(0)
        changed = [s for s in whole if tile in s][-1]
        for pattern, text in VARIANTS[name]:
            changed = re.sub(pattern, text, changed)
        found.append(changed)
    return found


class Program:
    def __init__(self, name):
        for key, value in SHAPES[name].items():
            setattr(self, key, value)
        self.extent = dict(b=self.batch, m=self.m, n=self.n, k=self.k, p=PARTS)
        self.outer = ["b"] if self.batch else []
        # Heads, which a result has before its rows: columns are no one dim then.
        self.columns = ["n"]
        if self.inner:
            self.columns = ["n0", "n1"]
            self.extent.update(n0=self.n // self.inner, n1=self.inner)

    def type(self, dims, element):
        def size(dim):
            name, _, group = dim.partition(" floordiv ")
            return "?" if name in self.open else str(-(-self.extent[name] // int(group or 1)))
        return f"tensor<{'x'.join([size(d) for d in dims] + [element])}>"

    def inputs(self):
        """(name, dims, element) of each argument: factors, then what is loaded."""
        half, tile = self.half, self.outer + ["m", "n"]
        right = [d for dim in self.right for d in (self.columns if dim == "n" else [dim])]
        found = [("a", self.outer + list(self.left), half), ("w", self.outer + right, half)]
        if self.kind == "heads":
            found += [("r", ["m"], "f32"), ("c", ["n0", "n1"], "f32"), ("d", ["n1"], half), ("q", ["m", "n1"], "f32"),
                      ("res", ["n0", "m", "n1"], half), ("big", ["m", "n0", "n1"], "f32")]
        if self.kind == "swiglu":
            found += [("w2", self.outer + list(self.right), half), ("r", self.outer + ["m", "p"], "f32")]
        if self.kind == "full":
            found += [("res", tile, half), ("big", tile, "f32"), ("r", self.outer + ["m", "p"], "f32"),
                      ("row", self.outer + ["m"], half), ("c", ["n"], half), ("d", ["n"], "f32"), ("s", [], "f32")]
        if self.kind == "rows":
            found += [("c", ["n"], "f32")]
        return found

    def outputs(self):
        """(dims, element, combiner, yielded value) of each result."""
        half, tile = self.half, self.outer + ["m", "n"]
        if self.kind == "plain":
            return [(tile, half, None, "%y")]
        if self.kind == "swiglu":
            return [(tile, half, None, "%y"), (tile, half, None, "%g"), (tile, "f32", None, "%acc2")]
        if self.kind == "full":
            return [(tile, half, None, "%y"), (tile, "f32", None, "%v")]
        if self.kind == "heads":
            return [(["n0", "m", "n1"], half, None, "%y"), (["m", "n0", "n1"], "f32", None, "%v"),
                    (["n0", "m"], "f32", "add", "%v"), (["n0", "m"], "f32", "max", "%v")]
        groups = [f"n floordiv {self.group}", "m"]
        return [(groups, "f32", combiner, "%v") for combiner in COMBINERS] + [(tile, half, None, "%y")]

    def region(self):
        half = self.half
        if self.kind == "plain":
            return [f"%y = arith.truncf %acc : f32 to {half}"]
        if self.kind == "heads":
            return [f"%df = arith.extf %dv : {half} to f32", f"%resf = arith.extf %resv : {half} to f32",
                    "%t0 = arith.mulf %acc, %rv : f32", "%t1 = arith.addf %t0, %cv : f32",
                    "%t2 = arith.addf %t1, %df : f32", "%t3 = arith.addf %t2, %resf : f32",
                    "%t4 = arith.addf %t3, %bigv : f32", "%v = arith.mulf %t4, %qv : f32",
                    f"%y = arith.truncf %v : f32 to {half}"]
        if self.kind == "rows":
            return ["%v = arith.addf %acc, %cv : f32", f"%y = arith.truncf %v : f32 to {half}"]
        if self.kind == "swiglu":
            return ["%x = arith.mulf %acc, %rv : f32", "%one = arith.constant 1.0 : f32",
                    "%neg = arith.negf %x : f32", "%e = math.exp %neg : f32",
                    "%under = arith.addf %one, %e : f32", "%silu = arith.divf %x, %under : f32",
                    "%yf = arith.mulf %silu, %acc2 : f32", f"%y = arith.truncf %yf : f32 to {half}",
                    f"%g = arith.truncf %acc : f32 to {half}"]
        return [f"%resf = arith.extf %resv : {half} to f32", f"%cf = arith.extf %cv : {half} to f32",
                f"%rowf = arith.extf %rowv : {half} to f32",
                "%i = coda.index m", "%j = coda.index n", "%ij = arith.addi %i, %j : index",
                "%seven = arith.constant 7 : index", "%rest = arith.remui %ij, %seven : index",
                "%few = arith.index_castui %rest : index to i32", "%fewf = arith.uitofp %few : i32 to f32",
                "%t0 = arith.mulf %acc, %rv : f32", "%t1 = arith.addf %t0, %resf : f32",
                "%t2 = arith.mulf %t1, %dv : f32", "%t3 = arith.addf %t2, %bigv : f32",
                "%t4 = arith.addf %t3, %cf : f32", "%t5 = arith.addf %t4, %rowf : f32",
                "%t6 = arith.mulf %t5, %sv : f32", "%v = arith.addf %t6, %fewf : f32",
                f"%y = arith.truncf %v : f32 to {half}"]

    def recipe(self):
        """Values for the arguments: accumulators of O(1)."""
        args = []
        for name, dims, element in self.inputs():
            scale, offset = 1.0, 0.0
            if name in ("a", "w", "w2"):
                scale = 3 ** 0.5 / self.k ** 0.25
            elif name in ("r", "d", "s", "q"):
                scale, offset = 0.25, 1.0 / (PARTS if name == "r" else 1)
            args.append(dict(shape=[self.extent[d] for d in dims], dtype=element, kind="uniform",
                             scale=scale, offset=offset))
        # The error rule of gpu_cases.py judges, not that of the recipe.
        return dict(seed=3, args=args, tolerance=1.0)

    def graph(self):
        ref = lambda name, dims: f"%{name}[{', '.join(dims)}]"
        inputs, outputs = self.inputs(), self.outputs()
        args = ", ".join(f"%{n}: {self.type(d, e)}" for n, d, e in inputs)
        types = ", ".join(self.type(o[0], o[1]) for o in outputs)
        lines = [f"func.func @main({args}) -> ({types}) {{"]
        for dim in self.open:
            name, dims, element = next(i for i in inputs if dim in i[1])
            lines.append(f"  %at_{dim} = arith.constant {dims.index(dim)} : index")
            lines.append(f"  %size_{dim} = tensor.dim %{name}, %at_{dim} : {self.type(dims, element)}")
        for i, (dims, element, _, _) in enumerate(outputs):
            sizes = ", ".join(f"%size_{d}" for d in dims if d in self.open)
            lines.append(f"  %o{i} = tensor.empty({sizes}) : {self.type(dims, element)}")
        results = ", ".join(f"%result{i}" for i in range(len(outputs)))
        factors = [i for i in inputs if i[0] in ("a", "w", "w2")]
        loaded = [i for i in inputs if i not in factors]
        pairs = [(factors[0], right) for right in factors[1:]]
        lines.append(f"  {results} = coda.gemm acc(" + ", ".join(f"{ref(*a[:2])} * {ref(*w[:2])}" for a, w in pairs)
                     + " : " + ", ".join(f"{self.type(*a[1:])}, {self.type(*w[1:])}" for a, w in pairs) + ")")
        if loaded:
            # Parts of a row are added as they are loaded.
            lines.append("    ins(" + ", ".join(("add " if "p" in d else "") + ref(n, d) for n, d, _ in loaded)
                         + " : " + ", ".join(self.type(d, e) for _, d, e in loaded) + ")")
        outs = ", ".join((f"fresh {o[2]} " if o[2] else "") + ref(f"o{i}", o[0]) for i, o in enumerate(outputs))
        lines.append(f"    outs({outs} : {types}) {{")
        block = ["%acc: f32"] + ["%acc2: f32"] * (len(pairs) - 1) + [f"%{n}v: {e}" for n, _, e in loaded]
        lines += [f"  ^bb0({', '.join(block)}):", *("    " + line for line in self.region())]
        lines += [f"    coda.yield {', '.join(o[3] for o in outputs)} : {', '.join(o[1] for o in outputs)}",
                  "  }", f"  return {results} : {types}", "}"]
        return "\n".join(lines) + "\n"


def programs():
    """(name, program) of each shape."""
    for name in SHAPES:
        yield name, Program(name)


if __name__ == "__main__":
    import steps

    steps.write_program(programs())
