# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that reduce over more rows, or columns, than a tile has.

`tall_regions.py NAME [RECIPE]` prints one of them, and writes what its arguments are.

Their numbers are no multiples of a tile, or are known in a call only. What a region
makes of zeros, which is what a kernel loads beyond the last row, is NaN here, so
that a row that is none shows in every reduction that takes it.
"""

COMBINERS = ["add", "max", "logaddexp"]
# name: (rows, columns, depth, dims that the types leave open, outputs). Outputs:
# y, the tile; columns, a reduction over the rows by each combiner; rows, one over
# the columns by each; inner, one over the outer of two dims of rows; all, the largest magnitude.
SHAPES = {
    "rows_1000": (1000, 256, 192, "", "y columns"),
    "rows_1024": (1024, 256, 192, "", "columns"),
    "rows_129": (129, 192, 64, "", "y columns rows"),
    "rows_300_few_columns": (300, 40, 64, "", "columns"),
    "rows_any_1000": (1000, 256, 192, "m", "y columns all"),
    "rows_any_40": (40, 256, 520, "m", "y columns all"),
    "rows_any_1": (1, 256, 64, "m", "y columns"),
    "row_1": (1, 256, 64, "", "y columns rows all"),
    "column_1": (300, 1, 64, "", "columns rows all"),
    "rows_any_0": (0, 256, 64, "m", "y columns all"),
    "rows_any_30000": (30000, 64, 64, "m", "columns all"),
    "all_1000": (1000, 384, 64, "", "all"),
    "columns_1000": (200, 1000, 192, "", "columns rows"),
    "columns_1003": (200, 1003, 192, "", "columns rows"),
    "columns_1003_few_rows": (8, 1003, 520, "", "rows"),
    "columns_4": (300, 4, 64, "", "y columns rows"),
    "columns_6": (300, 6, 64, "", "rows all"),
    "columns_8": (300, 8, 192, "", "y rows"),
    "columns_8_any": (300, 8, 64, "m", "y rows all"),
    "columns_any": (200, 1000, 192, "n", "columns rows"),
    "both_any": (300, 520, 64, "mn", "y columns rows all"),
    # Rows of factors that are not whole 16 bytes.
    "padded_1000": (1000, 200, 63, "", "y columns rows all"),
    "padded_any": (1000, 300, 63, "mn", "columns rows all"),
    # Several dims of rows: those of the inner are the groups, or the groups of it.
    "split_rows_4x16": ((4, 16), 64, 64, "", "y columns"),
    "split_rows_2x64": ((2, 64), 64, 64, "", "y columns"),
    "split_rows_40x32": ((40, 32), 64, 64, "", "y columns"),
    # The same row of each of several sequences, as the gradient of positions has.
    "sequences_130x16": ((130, 16), 64, 64, "", "y inner"),
    "sequences_3x100": ((3, 100), 64, 64, "", "inner columns"),
    "split_rows_10x100": ((10, 100), 64, 64, "", "y columns"),
    "split_rows_3x300": ((3, 300), 64, 64, "", "y columns"),
    "split_rows_3x300_any": ((3, 300), 64, 64, "m", "y columns"),
}


class Program:
    def __init__(self, name):
        rows, self.columns, self.depth, dynamic, kinds = SHAPES[name]
        self.rows = rows if isinstance(rows, tuple) else (rows,)
        self.kinds = kinds.split()
        self.open = dynamic
        count = len(self.rows)
        self.m = ["m"] if count == 1 else [f"m{i}" for i in range(count)]
        self.extent = dict(zip(self.m, self.rows), n=self.columns, k=self.depth)

    def type(self, dims, element):
        sizes = ["?" if d[0] in self.open else str(self.extent[d]) for d in dims]
        return f"tensor<{'x'.join(sizes + [element])}>"

    def inputs(self):
        """(name, dims, element) of each argument."""
        return [("a", self.m + ["k"], "bf16"), ("b", ["n", "k"], "bf16"), ("r", self.m, "f32"), ("c", ["n"], "f32")]

    def recipe(self):
        """Values for the arguments: accumulators and factors of rows of O(1)."""
        scale = 3 ** 0.5 / self.depth ** 0.25
        kinds = dict(a=(scale, 0.0), b=(scale, 0.0), r=(0.5, 1.0), c=(0.5, 0.0))
        args = [dict(shape=[self.extent[d] for d in dims], dtype=element, kind="uniform",
                     scale=kinds[name][0], offset=kinds[name][1])
                for name, dims, element in self.inputs()]
        # The error rule of gpu_cases.py judges, not that of the recipe.
        return dict(seed=2, args=args, tolerance=1.0)

    def outputs(self):
        """(dims, element, combiner, yielded value) of each result."""
        found = []
        if "y" in self.kinds:
            found.append((self.m + ["n"], "bf16", None, "%y"))
        for combiner in COMBINERS if "columns" in self.kinds else []:
            found.append((["n"], "f32", combiner, "%sum" if combiner == "add" else "%v"))
        for combiner in COMBINERS if "inner" in self.kinds else []:
            found.append((self.m[1:] + ["n"], "f32", combiner, "%sum" if combiner == "add" else "%v"))
        for combiner in COMBINERS if "rows" in self.kinds else []:
            found.append((self.m, "f32", combiner, "%sum" if combiner == "add" else "%v"))
        if "all" in self.kinds:
            found.append(([], "f32", "max", "%size"))
        return found

    def graph(self):
        ref = lambda name, dims: f"%{name}[{', '.join(dims)}]"
        inputs, outputs = self.inputs(), self.outputs()
        args = ", ".join(f"%{n}: {self.type(d, e)}" for n, d, e in inputs)
        types = ", ".join(self.type(o[0], o[1]) for o in outputs)
        lines = [f"func.func @main({args}) -> ({types}) {{"]
        for dim in [d for d in self.extent if d[0] in self.open]:
            name, dims, element = next(i for i in inputs if dim in i[1])
            lines.append(f"  %at_{dim} = arith.constant {dims.index(dim)} : index")
            lines.append(f"  %size_{dim} = tensor.dim %{name}, %at_{dim} : {self.type(dims, element)}")
        for i, (dims, element, _, _) in enumerate(outputs):
            sizes = ", ".join(f"%size_{d}" for d in dims if d[0] in self.open)
            lines.append(f"  %o{i} = tensor.empty({sizes}) : {self.type(dims, element)}")
        results = ", ".join(f"%result{i}" for i in range(len(outputs)))
        (a, b, r, c) = inputs
        outs = ", ".join((f"fresh {o[2]} " if o[2] else "") + ref(f"o{i}", o[0]) for i, o in enumerate(outputs))
        last = self.m[-1]
        lines += [
            f"  {results} = coda.gemm",
            f"    acc({ref(*a[:2])} * {ref(*b[:2])} : {self.type(*a[1:])}, {self.type(*b[1:])})",
            f"    ins({ref(*r[:2])}, {ref(*c[:2])} : {self.type(*r[1:])}, {self.type(*c[1:])})",
            f"    outs({outs} : {types}) {{",
            "  ^bb0(%acc: f32, %rv: f32, %cv: f32):",
            # acc / |acc| is NaN where acc is 0.
            "    %size = math.absf %acc : f32",
            "    %sign = arith.divf %acc, %size : f32",
            "    %scaled = arith.mulf %acc, %rv : f32",
            "    %shifted = arith.addf %scaled, %cv : f32",
            "    %tame = arith.addf %shifted, %sign : f32",
            # Two values of the first row are no numbers. Where no sum is taken all is
            # -inf from row 256 on, but for a column of 5s: whole groups of it.
            f"    %i = coda.index {last}",
            "    %j = coda.index n",
            "    %many = arith.constant 256 : index",
            "    %zero = arith.constant 0 : index",
            "    %three = arith.constant 3 : index",
            "    %seven = arith.constant 7 : index",
            "    %nine = arith.constant 9 : index",
            "    %five = arith.constant 5.0 : f32",
            "    %least = arith.constant 0xFF800000 : f32",
            "    %most = arith.constant 0x7F800000 : f32",
            "    %nan = arith.constant 0x7FC00000 : f32",
            "    %below = arith.cmpi uge, %i, %many : index",
            "    %first = arith.cmpi eq, %i, %zero : index",
            "    %in3 = arith.cmpi eq, %j, %three : index",
            "    %in7 = arith.cmpi eq, %j, %seven : index",
            "    %in9 = arith.cmpi eq, %j, %nine : index",
            "    %at3 = arith.andi %first, %in3 : i1",
            "    %at7 = arith.andi %first, %in7 : i1",
            "    %low = arith.select %in9, %five, %least : f32",
            "    %some = arith.select %at3, %nan, %tame : f32",
            "    %sum = arith.select %at7, %most, %some : f32",
            "    %v = arith.select %below, %low, %sum : f32",
            "    %y = arith.truncf %shifted : f32 to bf16",
            f"    coda.yield {', '.join(o[3] for o in outputs)} : {', '.join(o[1] for o in outputs)}",
            "  }",
            f"  return {results} : {types}",
            "}",
        ]
        return "\n".join(lines) + "\n"


def programs():
    """(name, program) of each shape."""
    for name in SHAPES:
        yield name, Program(name)


if __name__ == "__main__":
    import steps

    steps.write_program(programs())
