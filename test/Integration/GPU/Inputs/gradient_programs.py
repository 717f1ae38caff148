# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose gradients are derived and run as well.

`gradient_programs.py NAME [RECIPE]` prints one of them, and writes what the arguments
of its `@main_grad` are: its own, then a cotangent for each result.

Rotary embeddings whose tables have gradients, sums over heads, and over sequences where
these share a table; softmaxes, with the logarithm of their sums, of as few columns as a
router has; blocks of gate, up and down of several experts, whose weights are one tensor; causal
attention of a few heads, with the products before and after it; gated units whose gate and
up are alternating columns of one product.
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
# name: (experts, rows of each, hidden, columns of gate and up).
EXPERTS = {
    "experts": (4, 256, 128, 384),
    "experts_ragged": (3, 100, 136, 352),
    "experts_few": (8, 20, 512, 256),
    "experts_one_row": (5, 1, 64, 96),
}
# name: (tokens, heads, columns of each, hidden).
ATTENTIONS = {
    "attention": (256, 4, 64, 192),
    "attention_ragged": (100, 3, 40, 136),
    "attention_few": (16, 4, 64, 192),
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


class Experts:
    def __init__(self, name):
        self.experts, self.rows, self.hidden, self.columns = EXPERTS[name]

    def shapes(self):
        e, c, h, f = self.experts, self.rows, self.hidden, self.columns
        return dict(x=[e, c, h], gamma=[h], gate=[e, h, f], up=[e, h, f], bias=[e, f], down=[e, f, h], y=[e, c, h])

    def recipe(self):
        scales = dict(gate=self.hidden, up=self.hidden, down=self.columns)
        return dict(seed=5, tolerance=1.0,
                    args=[dict(shape=shape, dtype="bf16", kind="uniform",
                               scale=(3.0 / scales[name]) ** 0.5 if name in scales else 3.0 ** 0.5, offset=0.0)
                          for name, shape in self.shapes().items()])

    def graph(self):
        e, c, h, f = self.experts, self.rows, self.hidden, self.columns
        t = {name: f"tensor<{'x'.join(map(str, shape))}xbf16>" for name, shape in self.shapes().items()}
        row, wide, act, out = (f"tensor<{e}x{c}{x}>" for x in ("xf32", f"x{f}xf32", f"x{f}xbf16", f"x{h}xf32"))
        each = 'iterator_types = ["parallel", "parallel", "parallel"]'
        return f"""#tile = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#column = affine_map<(b, i, j) -> (b, j)>
#shared = affine_map<(b, i, j) -> (j)>
func.func @main(%x: {t["x"]}, %gamma: {t["gamma"]}, %gate: {t["gate"]}, %up: {t["up"]}, %bias: {t["bias"]}, %down: {t["down"]}) -> {t["y"]} {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant {h:e} : f32
  %eps = arith.constant 1.0e-5 : f32
  %row = tensor.empty() : {row}
  %row0 = linalg.fill ins(%zero : f32) outs(%row : {row}) -> {row}
  %xe = tensor.empty() : {t["x"]}
  %wide = tensor.empty() : {wide}
  %wide0 = linalg.fill ins(%zero : f32) outs(%wide : {wide}) -> {wide}
  %ae = tensor.empty() : {act}
  %out = tensor.empty() : {out}
  %out0 = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}
  %squares = linalg.generic {{indexing_maps = [#tile, #row], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%x : {t["x"]}) outs(%row0 : {row}) {{
  ^bb0(%v: bf16, %o: f32):
    %a = arith.extf %v : bf16 to f32
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  }} -> {row}
  %normed = linalg.generic {{indexing_maps = [#tile, #row, #shared, #tile], {each}}} ins(%x, %squares, %gamma : {t["x"]}, {row}, {t["gamma"]}) outs(%xe : {t["x"]}) {{
  ^bb0(%v: bf16, %q: f32, %g: bf16, %o: bf16):
    %m = arith.divf %q, %n : f32
    %me = arith.addf %m, %eps : f32
    %r = math.rsqrt %me : f32
    %a = arith.extf %v : bf16 to f32
    %s = arith.mulf %a, %r : f32
    %t = arith.truncf %s : f32 to bf16
    %u = arith.mulf %t, %g : bf16
    linalg.yield %u : bf16
  }} -> {t["x"]}
  %g = linalg.batch_matmul ins(%normed, %gate : {t["x"]}, {t["gate"]}) outs(%wide0 : {wide}) -> {wide}
  %u = linalg.batch_matmul ins(%normed, %up : {t["x"]}, {t["up"]}) outs(%wide0 : {wide}) -> {wide}
  %a = linalg.generic {{indexing_maps = [#tile, #tile, #column, #tile], {each}}} ins(%g, %u, %bias : {wide}, {wide}, {t["bias"]}) outs(%ae : {act}) {{
  ^bb0(%p: f32, %q: f32, %c: bf16, %o: bf16):
    %ce = arith.extf %c : bf16 to f32
    %z = arith.addf %p, %ce : f32
    %negated = arith.negf %z : f32
    %exp = math.exp %negated : f32
    %d = arith.addf %exp, %one : f32
    %s = arith.divf %z, %d : f32
    %m = arith.mulf %s, %q : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  }} -> {act}
  %d = linalg.batch_matmul ins(%a, %down : {act}, {t["down"]}) outs(%out0 : {out}) -> {out}
  %y = linalg.generic {{indexing_maps = [#tile, #tile, #tile], {each}}} ins(%d, %x : {out}, {t["x"]}) outs(%xe : {t["y"]}) {{
  ^bb0(%p: f32, %v: bf16, %o: bf16):
    %ve = arith.extf %v : bf16 to f32
    %s = arith.addf %p, %ve : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }} -> {t["y"]}
  return %y : {t["y"]}
}}
"""


class Attention:
    def __init__(self, name):
        self.tokens, self.heads, self.columns, self.hidden = ATTENTIONS[name]

    def shapes(self):
        t, h, d, c = self.tokens, self.heads, self.columns, self.hidden
        return dict(x=[t, c], q=[c, h * d], k=[c, h * d], v=[c, h * d], o=[h * d, c], y=[t, c])

    def recipe(self):
        depths = {"q": self.hidden, "k": self.hidden, "v": self.hidden, "o": self.heads * self.columns}
        return dict(seed=6, tolerance=1.0,
                    args=[dict(shape=shape, dtype="bf16", kind="uniform",
                               scale=(3.0 / depths.get(name, 1)) ** 0.5, offset=0.0)
                          for name, shape in self.shapes().items()])

    def graph(self):
        t, h, d, c = self.tokens, self.heads, self.columns, self.hidden
        types = {name: f"tensor<{'x'.join(map(str, shape))}xbf16>" for name, shape in self.shapes().items()}
        wide, flat, split = (f"tensor<{t}x{h * d}xf32>", f"tensor<{t}x{h * d}xbf16>", f"tensor<{t}x{h}x{d}xbf16>")
        head, out = (f"tensor<{h}x{t}x{d}x{e}>" for e in ("bf16", "f32"))
        keys = f"tensor<{h}x{d}x{t}xbf16>"
        scores, row, shares = f"tensor<{h}x{t}x{t}xf32>", f"tensor<{h}x{t}xf32>", f"tensor<{h}x{t}x{t}xbf16>"
        each = 'iterator_types = ["parallel", "parallel", "parallel"]'
        sum_ = 'iterator_types = ["parallel", "parallel", "reduction"]'
        text = f"""#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#flat = affine_map<(i, j) -> (i, j)>
func.func @main({", ".join(f"%{name}: {types[name]}" for name in "xqkvo")}) -> {types["y"]} {{
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %scale = arith.constant {d ** -0.5:e} : f32
  %wide = tensor.empty() : {wide}
  %wide0 = linalg.fill ins(%zero : f32) outs(%wide : {wide}) -> {wide}
  %flat = tensor.empty() : {flat}
  %head = tensor.empty() : {head}
  %keys = tensor.empty() : {keys}
"""
        for name in "qkv":
            text += f"""  %{name}0 = linalg.matmul ins(%x, %{name} : {types["x"]}, {types[name]}) outs(%wide0 : {wide}) -> {wide}
  %{name}1 = linalg.generic {{indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]}} ins(%{name}0 : {wide}) outs(%flat : {flat}) {{
  ^bb0(%a: f32, %b: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  }} -> {flat}
  %{name}2 = tensor.expand_shape %{name}1 [[0], [1, 2]] output_shape [{t}, {h}, {d}] : {flat} into {split}
"""
        text += f"""  %qh = linalg.transpose ins(%q2 : {split}) outs(%head : {head}) permutation = [1, 0, 2]
  %kh = linalg.transpose ins(%k2 : {split}) outs(%keys : {keys}) permutation = [1, 2, 0]
  %vh = linalg.transpose ins(%v2 : {split}) outs(%head : {head}) permutation = [1, 0, 2]
  %square = tensor.empty() : {scores}
  %square0 = linalg.fill ins(%zero : f32) outs(%square : {scores}) -> {scores}
  %narrow = tensor.empty() : {shares}
  %rows = tensor.empty() : {row}
  %sum0 = linalg.fill ins(%zero : f32) outs(%rows : {row}) -> {row}
  %max0 = linalg.fill ins(%least : f32) outs(%rows : {row}) -> {row}
  %products = linalg.batch_matmul ins(%qh, %kh : {head}, {keys}) outs(%square0 : {scores}) -> {scores}
  %z = linalg.generic {{indexing_maps = [#all, #all], {each}}} ins(%products : {scores}) outs(%square : {scores}) {{
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %sees = arith.cmpi ule, %j, %i : index
    %s = arith.mulf %a, %scale : f32
    %m = arith.select %sees, %s, %least : f32
    linalg.yield %m : f32
  }} -> {scores}
  %max = linalg.generic {{indexing_maps = [#all, #row], {sum_}}} ins(%z : {scores}) outs(%max0 : {row}) {{
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  }} -> {row}
  %exp = linalg.generic {{indexing_maps = [#all, #row, #all], {each}}} ins(%z, %max : {scores}, {row}) outs(%square : {scores}) {{
  ^bb0(%a: f32, %m: f32, %b: f32):
    %s = arith.subf %a, %m : f32
    %e = math.exp %s : f32
    linalg.yield %e : f32
  }} -> {scores}
  %sum = linalg.generic {{indexing_maps = [#all, #row], {sum_}}} ins(%exp : {scores}) outs(%sum0 : {row}) {{
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }} -> {row}
  %p = linalg.generic {{indexing_maps = [#all, #row, #all], {each}}} ins(%exp, %sum : {scores}, {row}) outs(%narrow : {shares}) {{
  ^bb0(%a: f32, %m: f32, %b: bf16):
    %s = arith.divf %a, %m : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }} -> {shares}
  %outs = tensor.empty() : {out}
  %outs0 = linalg.fill ins(%zero : f32) outs(%outs : {out}) -> {out}
  %w = linalg.batch_matmul ins(%p, %vh : {shares}, {head}) outs(%outs0 : {out}) -> {out}
  %w1 = linalg.generic {{indexing_maps = [#all, #all], {each}}} ins(%w : {out}) outs(%head : {head}) {{
  ^bb0(%a: f32, %b: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  }} -> {head}
  %split = tensor.empty() : {split}
  %w2 = linalg.transpose ins(%w1 : {head}) outs(%split : {split}) permutation = [1, 0, 2]
  %w3 = tensor.collapse_shape %w2 [[0], [1, 2]] : {split} into {flat}
  %y = tensor.empty() : tensor<{t}x{c}xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%y : tensor<{t}x{c}xf32>) -> tensor<{t}x{c}xf32>
  %y1 = linalg.matmul ins(%w3, %o : {flat}, {types["o"]}) outs(%y0 : tensor<{t}x{c}xf32>) -> tensor<{t}x{c}xf32>
  %ye = tensor.empty() : {types["y"]}
  %y2 = linalg.generic {{indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]}} ins(%y1 : tensor<{t}x{c}xf32>) outs(%ye : {types["y"]}) {{
  ^bb0(%a: f32, %b: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  }} -> {types["y"]}
  return %y2 : {types["y"]}
}}
"""
        return text


def programs():
    """(name, program) of each."""
    for name in TABLES:
        yield name, Tables(name)
    for name in SOFTMAXES:
        yield name, Softmax(name)
    for name in GLUS:
        yield name, Glu(name)
    for name in EXPERTS:
        yield name, Experts(name)
    for name in ATTENTIONS:
        yield name, Attention(name)


if __name__ == "__main__":
    import steps

    steps.write_program(programs())
