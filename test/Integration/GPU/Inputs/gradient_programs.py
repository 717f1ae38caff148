# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose gradients are derived and run as well.

`gradient_programs.py NAME [RECIPE]` prints one of them, and writes what the arguments
of its `@main_grad` are: its own, then a cotangent for each result.

Rotary embeddings whose tables have gradients, sums over heads, and over sequences where
these share a table; softmaxes, with the logarithm of their sums, of as few columns as a
router has; gated units whose gate and up are alternating columns of one product.
"""

# name: (sequences, tokens, heads, columns of a half, depth, whether all sequences share
# a table, type of the tables).
TABLES = {
    "tables_64": (2, 128, 4, 64, 192, False, "f32"),
    "tables_64_shared": (3, 100, 4, 64, 192, True, "f32"),
    "tables_64_bf16": (1, 300, 3, 64, 64, False, "bf16"),
    "tables_32": (2, 130, 6, 32, 136, True, "f32"),
    "tables_16": (2, 128, 8, 16, 64, False, "f32"),
    "tables_40": (2, 128, 4, 40, 192, False, "f32"),
    "tables_40_shared": (3, 37, 3, 40, 192, True, "bf16"),
    "tables_24": (1, 200, 5, 24, 64, False, "f32"),
    "tables_few": (1, 7, 4, 64, 520, False, "f32"),
}
# name: (rows, columns, depth).
SOFTMAXES = {f"softmax_{columns}": (300, columns, 64) for columns in (4, 5, 6, 8)}
SOFTMAXES.update({"softmax_8_few": (7, 8, 520), "softmax_4_one": (1, 4, 64), "softmax_8_many": (4096, 8, 192)})
# name: (rows, columns, depth, dims that the types leave open).
GLUS = {
    "pairs": (256, 256, 192, ""),
    "pairs_ragged": (300, 200, 136, ""),
    "pairs_odd": (130, 129, 64, ""),
    "pairs_few": (20, 512, 520, ""),
    "pairs_any": (300, 256, 192, "m"),
    "pairs_many": (8192, 1024, 256, ""),
}


class Tables:
    def __init__(self, name):
        (self.sequences, self.tokens, self.heads, self.half, self.depth, self.shared,
         self.element) = TABLES[name]

    def shapes(self):
        table = ([] if self.shared else [self.sequences]) + [self.tokens, self.half]
        return dict(h=[self.sequences, self.tokens, self.depth], w=[self.heads, 2, self.half, self.depth],
                    c=table, s=table, q=[self.heads, self.sequences, self.tokens, 2, self.half])

    def types(self):
        elements = dict(h="bf16", w="bf16", c=self.element, s=self.element, q="bf16")
        return {name: f"tensor<{'x'.join(map(str, shape))}x{elements[name]}>" for name, shape in self.shapes().items()}

    def recipe(self):
        scale = 3 ** 0.5 / self.depth ** 0.25
        scales = dict(h=scale, w=scale, c=1.0, s=1.0, q=1.0)
        elements = dict(h="bf16", w="bf16", c=self.element, s=self.element, q="bf16")
        return dict(seed=3, tolerance=1.0,
                    args=[dict(shape=shape, dtype=elements[name], kind="uniform", scale=scales[name], offset=0.0)
                          for name, shape in self.shapes().items()])

    def graph(self):
        t = self.types()
        at = "m1, n1" if self.shared else "m0, m1, n1"
        widen = "arith.extf %{0} : bf16 to f32" if self.element == "bf16" else "arith.addf %{0}, %zero : f32"
        return f"""func.func @main(%h: {t["h"]}, %w: {t["w"]}, %c: {t["c"]}, %s: {t["s"]}) -> {t["q"]} {{
  %q0 = tensor.empty() : {t["q"]}
  %q = coda.gemm
    acc(%h[m0, m1, k] * %w[n0, u, n1, k] : {t["h"]}, {t["w"]})
    ins(%c[{at}], %s[{at}] : {t["c"]}, {t["s"]})
    outs(%q0[n0, m0, m1, u, n1] : {t["q"]}) {{
  ^bb0(%x: f32, %y: f32, %ct: {self.element}, %st: {self.element}):
    %zero = arith.constant 0.0 : f32
    %cf = {widen.format("ct")}
    %sf = {widen.format("st")}
    %xc = arith.mulf %x, %cf : f32
    %ys = arith.mulf %y, %sf : f32
    %yc = arith.mulf %y, %cf : f32
    %xs = arith.mulf %x, %sf : f32
    %first = arith.subf %xc, %ys : f32
    %second = arith.addf %yc, %xs : f32
    %fb = arith.truncf %first : f32 to bf16
    %sb = arith.truncf %second : f32 to bf16
    coda.yield %fb, %sb : bf16, bf16
  }}
  return %q : {t["q"]}
}}
"""


class Softmax:
    def __init__(self, name):
        self.rows, self.columns, self.depth = SOFTMAXES[name]

    def recipe(self):
        scale = 3 ** 0.5 / self.depth ** 0.25
        shapes = [([self.rows, self.depth], "bf16", scale), ([self.depth, self.columns], "bf16", scale),
                  ([self.rows, self.columns], "bf16", 1.0), ([self.rows], "f32", 1.0)]
        return dict(seed=4, tolerance=1.0,
                    args=[dict(shape=shape, dtype=element, kind="uniform", scale=scale, offset=0.0)
                          for shape, element, scale in shapes])

    def graph(self):
        m, n, k = self.rows, self.columns, self.depth
        tile, row = f"tensor<{m}x{n}xf32>", f"tensor<{m}xf32>"
        each = 'iterator_types = ["parallel", "parallel"]'
        return f"""#tile = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func @main(%x: tensor<{m}x{k}xbf16>, %w: tensor<{k}x{n}xbf16>) -> (tensor<{m}x{n}xbf16>, {row}) {{
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : {tile}
  %er = tensor.empty() : {row}
  %eb = tensor.empty() : tensor<{m}x{n}xbf16>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : {tile}) -> {tile}
  %r0 = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
  %m0 = linalg.fill ins(%least : f32) outs(%er : {row}) -> {row}
  %z = linalg.matmul ins(%x, %w : tensor<{m}x{k}xbf16>, tensor<{k}x{n}xbf16>) outs(%z0 : {tile}) -> {tile}
  %max = linalg.generic {{indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}} ins(%z : {tile}) outs(%m0 : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }} -> {row}
  %exp = linalg.generic {{indexing_maps = [#tile, #row, #tile], {each}}} ins(%z, %max : {tile}, {row}) outs(%e : {tile}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    %u = math.exp %t : f32
    linalg.yield %u : f32
  }} -> {tile}
  %sum = linalg.generic {{indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}} ins(%exp : {tile}) outs(%r0 : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  }} -> {row}
  %p = linalg.generic {{indexing_maps = [#tile, #row, #tile], {each}}} ins(%exp, %sum : {tile}, {row}) outs(%eb : tensor<{m}x{n}xbf16>) {{
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %t = arith.divf %a, %b : f32
    %u = arith.truncf %t : f32 to bf16
    linalg.yield %u : bf16
  }} -> tensor<{m}x{n}xbf16>
  %lse = linalg.generic {{indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}} ins(%max, %sum : {row}, {row}) outs(%er : {row}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = math.log %b : f32
    %u = arith.addf %a, %t : f32
    linalg.yield %u : f32
  }} -> {row}
  return %p, %lse : tensor<{m}x{n}xbf16>, {row}
}}
"""


class Glu:
    def __init__(self, name):
        self.rows, self.columns, self.depth, self.open = GLUS[name]

    def recipe(self):
        m, n, k = self.rows, self.columns, self.depth
        scale = 3 ** 0.5 / k ** 0.25
        args = [([m, k], scale), ([2 * n, k], scale), ([2 * n], 0.5), ([k, n], 3 ** 0.5 / n ** 0.5), ([m, k], 1.0)]
        return dict(seed=5, tolerance=1.0,
                    args=[dict(shape=shape, dtype="bf16", kind="uniform", scale=scale, offset=0.0)
                          for shape, scale in args])

    def graph(self):
        m, n, k = "?" if self.open else self.rows, self.columns, self.depth
        rows, size = ("%rows", "%rows") if self.open else (m, "")
        x = f"tensor<{m}x{k}xbf16>"
        both, one, wide = f"tensor<{m}x{2 * n}x", f"tensor<{m}x{n}xbf16>", f"tensor<{m}x{k}xf32>"
        each = 'iterator_types = ["parallel", "parallel"]'
        return f"""#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
#tile = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%x: {x}, %w: tensor<{2 * n}x{k}xbf16>, %b: tensor<{2 * n}xbf16>, %d: tensor<{k}x{n}xbf16>) -> {x} {{
  %i0 = arith.constant 0 : index
  %rows = tensor.dim %x, %i0 : {x}
  %zero = arith.constant 0.0 : f32
  %unit = arith.constant 1.0 : f32
  %alpha = arith.constant 1.702 : f32
  %e = tensor.empty({size}) : {both}f32>
  %eb = tensor.empty({size}) : {both}bf16>
  %e1 = tensor.empty({size}) : {one}
  %ey = tensor.empty({size}) : {wide}
  %eo = tensor.empty({size}) : {x}
  %f = linalg.fill ins(%zero : f32) outs(%e : {both}f32>) -> {both}f32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : {wide}) -> {wide}
  %h = linalg.matmul indexing_maps = [#left, #right, #result] ins(%x, %w : {x}, tensor<{2 * n}x{k}xbf16>) outs(%f : {both}f32>) -> {both}f32>
  %hb = linalg.generic {{indexing_maps = [#tile, #column, #tile], {each}}} ins(%h, %b : {both}f32>, tensor<{2 * n}xbf16>) outs(%eb : {both}bf16>) {{
  ^bb0(%a: f32, %c: bf16, %o: bf16):
    %t = arith.extf %c : bf16 to f32
    %u = arith.addf %a, %t : f32
    %r = arith.truncf %u : f32 to bf16
    linalg.yield %r : bf16
  }} -> {both}bf16>
  %gate = tensor.extract_slice %hb[0, 0] [{rows}, {n}] [1, 2] : {both}bf16> to {one}
  %up = tensor.extract_slice %hb[0, 1] [{rows}, {n}] [1, 2] : {both}bf16> to {one}
  %unit_of = linalg.generic {{indexing_maps = [#tile, #tile, #tile], {each}}} ins(%gate, %up : {one}, {one}) outs(%e1 : {one}) {{
  ^bb0(%a: bf16, %c: bf16, %o: bf16):
    %g = arith.extf %a : bf16 to f32
    %u = arith.extf %c : bf16 to f32
    %s = arith.mulf %g, %alpha : f32
    %n = arith.negf %s : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %unit : f32
    %v = arith.divf %g, %q : f32
    %l = arith.addf %u, %unit : f32
    %t = arith.mulf %l, %v : f32
    %r = arith.truncf %t : f32 to bf16
    linalg.yield %r : bf16
  }} -> {one}
  %y = linalg.matmul indexing_maps = [#left, #right, #result] ins(%unit_of, %d : {one}, tensor<{k}x{n}xbf16>) outs(%fy : {wide}) -> {wide}
  %out = linalg.generic {{indexing_maps = [#tile, #tile], {each}}} ins(%y : {wide}) outs(%eo : {x}) {{
  ^bb0(%a: f32, %o: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  }} -> {x}
  return %out : {x}
}}
"""


def programs():
    """(name, program) of each."""
    for name in TABLES:
        yield name, Tables(name)
    for name in SOFTMAXES:
        yield name, Softmax(name)
    for name in GLUS:
        yield name, Glu(name)


if __name__ == "__main__":
    import steps

    steps.write_program(programs())
