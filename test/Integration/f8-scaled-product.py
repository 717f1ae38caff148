# A product of 8-bit factors with scales, as torch._scaled_mm is exported, its result
# in 8 bits and the largest magnitude: fused and unfused, against numpy in f64.
#
# REQUIRES: numpy
# RUN: %python %s %t %coda_src_root | FileCheck %s
# CHECK: 1 kernel of e4m3 by e4m3: good
# CHECK: 1 kernel of e4m3 by e5m2: good
# CHECK: 1 kernel of e5m2 by e4m3: good
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from float8 import decode, encode

M, N, K = 37, 53, 77
GRAPH = """
#tile = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
#one = affine_map<(m, n) -> ()>
func.func @main(%x: tensor<{M}x{K}x{left}>, %w: tensor<{N}x{K}x{right}>, %s: tensor<{M}xf32>,
    %t: tensor<{N}xf32>, %u: tensor<f32>) -> (tensor<{M}x{N}xf8E4M3FN>, tensor<f32>, tensor<{M}x{N}xbf16>) {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -448.0 : f32
  %high = arith.constant 448.0 : f32
  %e0 = tensor.empty() : tensor<{M}x{K}xf32>
  %xf = linalg.generic {{indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{M}x{K}x{left}>) outs(%e0 : tensor<{M}x{K}xf32>) {{
  ^bb0(%a: {left}, %b: f32):
    %c = arith.extf %a : {left} to f32
    linalg.yield %c : f32
  }} -> tensor<{M}x{K}xf32>
  %e1 = tensor.empty() : tensor<{N}x{K}xf32>
  %wf = linalg.generic {{indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}}
      ins(%w : tensor<{N}x{K}x{right}>) outs(%e1 : tensor<{N}x{K}xf32>) {{
  ^bb0(%a: {right}, %b: f32):
    %c = arith.extf %a : {right} to f32
    linalg.yield %c : f32
  }} -> tensor<{N}x{K}xf32>
  %e2 = tensor.empty() : tensor<{K}x{N}xf32>
  %wt = linalg.transpose ins(%wf : tensor<{N}x{K}xf32>) outs(%e2 : tensor<{K}x{N}xf32>) permutation = [1, 0]
  %e3 = tensor.empty() : tensor<{M}x{N}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %y = linalg.matmul ins(%xf, %wt : tensor<{M}x{K}xf32>, tensor<{K}x{N}xf32>)
      outs(%f : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %z = linalg.generic {{indexing_maps = [#tile, #row, #column, #tile], iterator_types = ["parallel", "parallel"]}}
      ins(%y, %s, %t : tensor<{M}x{N}xf32>, tensor<{M}xf32>, tensor<{N}xf32>) outs(%e3 : tensor<{M}x{N}xf32>) {{
  ^bb0(%a: f32, %p: f32, %q: f32, %b: f32):
    %c = arith.mulf %a, %p : f32
    %d = arith.mulf %c, %q : f32
    linalg.yield %d : f32
  }} -> tensor<{M}x{N}xf32>
  %e4 = tensor.empty() : tensor<{M}x{N}xf8E4M3FN>
  %o = linalg.generic {{indexing_maps = [#tile, #one, #tile], iterator_types = ["parallel", "parallel"]}}
      ins(%z, %u : tensor<{M}x{N}xf32>, tensor<f32>) outs(%e4 : tensor<{M}x{N}xf8E4M3FN>) {{
  ^bb0(%a: f32, %p: f32, %b: f8E4M3FN):
    %c = arith.mulf %a, %p : f32
    %l = arith.cmpf ult, %c, %low : f32
    %d = arith.select %l, %low, %c : f32
    %g = arith.cmpf ugt, %d, %high : f32
    %h = arith.select %g, %high, %d : f32
    %q = arith.truncf %h : f32 to f8E4M3FN
    linalg.yield %q : f8E4M3FN
  }} -> tensor<{M}x{N}xf8E4M3FN>
  %e5 = tensor.empty() : tensor<f32>
  %i = linalg.fill ins(%zero : f32) outs(%e5 : tensor<f32>) -> tensor<f32>
  %m = linalg.generic {{indexing_maps = [#tile, #one], iterator_types = ["reduction", "reduction"]}}
      ins(%z : tensor<{M}x{N}xf32>) outs(%i : tensor<f32>) {{
  ^bb0(%a: f32, %b: f32):
    %c = math.absf %a : f32
    %d = arith.maximumf %c, %b : f32
    linalg.yield %d : f32
  }} -> tensor<f32>
  %e6 = tensor.empty() : tensor<{M}x{N}xbf16>
  %h = linalg.generic {{indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}}
      ins(%z : tensor<{M}x{N}xf32>) outs(%e6 : tensor<{M}x{N}xbf16>) {{
  ^bb0(%a: f32, %b: bf16):
    %c = arith.truncf %a : f32 to bf16
    linalg.yield %c : bf16
  }} -> tensor<{M}x{N}xbf16>
  return %o, %m, %h : tensor<{M}x{N}xf8E4M3FN>, tensor<f32>, tensor<{M}x{N}xbf16>
}}
"""


def main(folder, root):
    sys.path.insert(0, os.path.join(root, "python"))
    import coda

    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(0)
    for left, right in (("f8E4M3FN", "f8E4M3FN"), ("f8E4M3FN", "f8E5M2"), ("f8E5M2", "f8E4M3FN")):
        name = "%s by %s" % (left[2:6].lower(), right[2:6].lower())
        source = os.path.join(folder, "%s_%s.mlir" % (left, right))
        with open(source, "w") as file:
            file.write(GRAPH.format(M=M, N=N, K=K, left=left, right=right))
        x = encode(rng.standard_normal((M, K)), left)
        w = encode(rng.standard_normal((N, K)), right)
        s, t = (rng.uniform(0.5, 1.5, n).astype(np.float32) for n in (M, N))
        u = np.float32(30)  # Some of the result is beyond 448.
        z = decode(left)[x] @ decode(right)[w].T * np.outer(s, t).astype(np.float64)
        expected = encode(np.clip(z * u, -448, 448), "f8E4M3FN")
        assert (np.abs(z * u) > 464).any()
        fused = subprocess.run(
            ["coda-compile", source, "--emit=fused", "-o", "-"], check=True, capture_output=True,
            text=True).stdout
        kernels = len(re.findall("coda.gemm", fused))
        factors = re.search(r"acc\(.* : tensor<%dx%dx%s>, tensor<%dx%dx%s>\)" % (
            M, K, left, N, K, right), fused)
        for flags in ([], ["--no-fuse"], ["--numerics=strict"]):
            # A path of its own: a library that is open is not read again.
            library = "%s.%s.so" % (source, "".join(flags))
            subprocess.run(["coda-compile", source, "-o", library, *flags], check=True)
            codes = np.empty((M, N), np.uint8)
            largest, half = np.empty((), np.float32), np.empty((M, N), np.uint16)
            coda.Artifact.load(library).main(x, w, s, t, u, out=[codes, largest, half])
            got, want = (decode("f8E4M3FN")[c] for c in (codes, expected))
            # At a half way f32 may fall on the other side.
            near = np.abs(got - want) <= np.maximum(np.abs(want) / 8, 2.0**-9)
            half = (half.astype(np.uint32) << 16).view(np.float32)
            if not (near.all() and (codes == expected).mean() > 0.999 and
                    abs(largest - np.abs(z).max()) <= 1e-6 * np.abs(z).max() and
                    np.abs(half - z).max() <= 2.0**-8 * np.abs(z).max()):
                print("%s %s: wrong" % (name, flags))
                break
        else:
            print("%d kernel of %s: %s" % (kernels, name, "good" if factors else "wide factors"))


main(sys.argv[1], sys.argv[2])
