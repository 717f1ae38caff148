# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of several experts with 8-bit factors.

`expert_programs.py NAME [RECIPE]` prints one of them, and writes what its arguments
are: gate and up as products of the factors themselves, down as one of factors that are
widened and transposed first; with scales of each expert, of its rows and columns or of the
expert as a whole; what is between is stored in 8 bits, with a scale, and its largest
magnitude in each expert is a result.
"""
import json
import sys

# name: (experts, rows of each, hidden, columns of gate and up, whether a scale is one of a
# row or column, type of the weights).
EXPERTS = {
    "experts_eight": (4, 256, 128, 384, True, "f8E4M3FN"),
    "experts_eight_whole": (4, 256, 256, 384, False, "f8E4M3FN"),
    "experts_eight_ragged": (3, 100, 144, 352, True, "f8E4M3FN"),
    "experts_eight_e5m2": (3, 200, 192, 208, False, "f8E5M2"),
    "experts_eight_few": (8, 20, 512, 256, True, "f8E4M3FN"),
    "experts_eight_one_row": (5, 1, 64, 96, True, "f8E4M3FN"),
}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


class Experts:
    def __init__(self, name):
        self.experts, self.rows, self.hidden, self.columns, self.each, self.weight = EXPERTS[name]

    def arguments(self):
        """name: (shape, type, half the range of its values, their mean)."""
        e, c, h, f = self.experts, self.rows, self.hidden, self.columns
        of = lambda extent: [e, extent] if self.each else [e]
        factor = lambda shape, element: (shape, element, 3 ** 0.5, 0.0)
        scale = lambda extent, mean: (of(extent), "f32", mean / 4, mean)
        return dict(x=factor([e, c, h], "f8E4M3FN"), xs=scale(c, 1.0),
                    gate=factor([e, f, h], self.weight), gs=scale(f, h ** -0.5),
                    up=factor([e, f, h], self.weight), us=scale(f, h ** -0.5),
                    # Some of what it scales is beyond 448.
                    q=([e], "f32", 40.0, 160.0),
                    down=factor([e, h, f], self.weight), ds=scale(h, 3 * f ** -0.5),
                    r=([e, c, h], "bf16", 3 ** 0.5, 0.0))

    def recipe(self):
        return dict(seed=7, tolerance=1.0,
                    args=[dict(shape=shape, dtype=element, kind="uniform", scale=scale, offset=mean)
                          for shape, element, scale, mean in self.arguments().values()])

    def graph(self):
        e, c, h, f = self.experts, self.rows, self.hidden, self.columns
        t = {name: tensor(shape, element) for name, (shape, element, *_) in self.arguments().items()}
        wide, narrow, out = tensor([e, c, f], "f32"), tensor([e, c, f], "f8E4M3FN"), tensor([e, c, h], "f32")
        turned, factor = (tensor([e, f, h], element) for element in (self.weight, "f32"))
        one, y = tensor([e], "f32"), t["r"]
        row, column = ("#row", "#column") if self.each else ("#expert", "#expert")
        each = 'iterator_types = ["parallel", "parallel", "parallel"]'
        arguments = ", ".join(f"%{name}: {type}" for name, type in t.items())
        return f"""#tile = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#column = affine_map<(b, i, j) -> (b, j)>
#expert = affine_map<(b, i, j) -> (b)>
#left = affine_map<(b, i, j, k) -> (b, i, k)>
#right = affine_map<(b, i, j, k) -> (b, j, k)>
#product = affine_map<(b, i, j, k) -> (b, i, j)>
func.func @main({arguments}) -> ({y}, {narrow}, {one}) {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %low = arith.constant -448.0 : f32
  %high = arith.constant 448.0 : f32
  %we = tensor.empty() : {wide}
  %w0 = linalg.fill ins(%zero : f32) outs(%we : {wide}) -> {wide}
  %oe = tensor.empty() : {out}
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : {out}) -> {out}
  %me = tensor.empty() : {one}
  %m0 = linalg.fill ins(%least : f32) outs(%me : {one}) -> {one}
  %ne = tensor.empty() : {narrow}
  %ye = tensor.empty() : {y}
  %g = linalg.batch_matmul indexing_maps = [#left, #right, #product] ins(%x, %gate : {t["x"]}, {t["gate"]}) outs(%w0 : {wide}) -> {wide}
  %u = linalg.batch_matmul indexing_maps = [#left, #right, #product] ins(%x, %up : {t["x"]}, {t["up"]}) outs(%w0 : {wide}) -> {wide}
  %a = linalg.generic {{indexing_maps = [#tile, #tile, {row}, {column}, {column}, #tile], {each}}} ins(%g, %u, %xs, %gs, %us : {wide}, {wide}, {t["xs"]}, {t["gs"]}, {t["us"]}) outs(%we : {wide}) {{
  ^bb0(%p: f32, %v: f32, %s: f32, %s0: f32, %s1: f32, %o: f32):
    %ps = arith.mulf %p, %s : f32
    %z = arith.mulf %ps, %s0 : f32
    %vs = arith.mulf %v, %s : f32
    %w = arith.mulf %vs, %s1 : f32
    %negated = arith.negf %z : f32
    %exp = math.exp %negated : f32
    %d = arith.addf %exp, %one : f32
    %silu = arith.divf %z, %d : f32
    %m = arith.mulf %silu, %w : f32
    linalg.yield %m : f32
  }} -> {wide}
  %largest = linalg.generic {{indexing_maps = [#tile, #expert], iterator_types = ["parallel", "reduction", "reduction"]}} ins(%a : {wide}) outs(%m0 : {one}) {{
  ^bb0(%v: f32, %o: f32):
    %magnitude = math.absf %v : f32
    %m = arith.maximumf %magnitude, %o : f32
    linalg.yield %m : f32
  }} -> {one}
  %n = linalg.generic {{indexing_maps = [#tile, #expert, #tile], {each}}} ins(%a, %q : {wide}, {one}) outs(%ne : {narrow}) {{
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %p = arith.mulf %v, %s : f32
    %l = arith.maximumf %p, %low : f32
    %h = arith.minimumf %l, %high : f32
    %c = arith.truncf %h : f32 to f8E4M3FN
    linalg.yield %c : f8E4M3FN
  }} -> {narrow}
  %nw = linalg.generic {{indexing_maps = [#tile, #tile], {each}}} ins(%n : {narrow}) outs(%we : {wide}) {{
  ^bb0(%v: f8E4M3FN, %o: f32):
    %w = arith.extf %v : f8E4M3FN to f32
    linalg.yield %w : f32
  }} -> {wide}
  %te = tensor.empty() : {turned}
  %dt = linalg.transpose ins(%down : {t["down"]}) outs(%te : {turned}) permutation = [0, 2, 1]
  %fe = tensor.empty() : {factor}
  %dw = linalg.generic {{indexing_maps = [#tile, #tile], {each}}} ins(%dt : {turned}) outs(%fe : {factor}) {{
  ^bb0(%v: {self.weight}, %o: f32):
    %w = arith.extf %v : {self.weight} to f32
    linalg.yield %w : f32
  }} -> {factor}
  %d = linalg.batch_matmul ins(%nw, %dw : {wide}, {factor}) outs(%o0 : {out}) -> {out}
  %y = linalg.generic {{indexing_maps = [#tile, #expert, {column}, #tile, #tile], {each}}} ins(%d, %q, %ds, %r : {out}, {one}, {t["ds"]}, {y}) outs(%ye : {y}) {{
  ^bb0(%v: f32, %s: f32, %s0: f32, %b: bf16, %o: bf16):
    %p = arith.divf %v, %s : f32
    %m = arith.mulf %p, %s0 : f32
    %w = arith.extf %b : bf16 to f32
    %sum = arith.addf %m, %w : f32
    %c = arith.truncf %sum : f32 to bf16
    linalg.yield %c : bf16
  }} -> {y}
  return %y, %n, %largest : {y}, {narrow}, {one}
}}
"""


def programs():
    for name in EXPERTS:
        yield name, Experts(name)


if __name__ == "__main__":
    program = Experts(sys.argv[1])
    print(program.graph())
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as file:
            # What is stored in between has an error of 1/32.
            json.dump(dict(program.recipe(), tolerance=0.04), file)
