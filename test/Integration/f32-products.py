# Products of f32 factors as sums of products of bf16 parts, against numpy in f64: how
# far they are, and what they make of values that are not finite, that bf16 would
# round to infinity, and that are nearly nothing; and the gradients of such products.
#
# REQUIRES: numpy
# RUN: %python %s %t %coda_src_root | FileCheck %s
# CHECK: f32: good
# CHECK: bf16x3: good
# CHECK: bf16x6: good
import os
import subprocess
import sys

import numpy as np

M, N, K = 37, 53, 77
GRAPH = f"""
#tile = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<{M}x{K}xf32>, %w: tensor<{N}x{K}xf32>, %v: tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<{K}x{N}xf32>
  %t = linalg.transpose ins(%w : tensor<{N}x{K}xf32>) outs(%e0 : tensor<{K}x{N}xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<{M}x{N}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %y = linalg.matmul ins(%x, %t : tensor<{M}x{K}xf32>, tensor<{K}x{N}xf32>) outs(%f : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %z = linalg.generic {{indexing_maps = [#tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}}
      ins(%y, %v : tensor<{M}x{N}xf32>, tensor<{M}x{N}xf32>) outs(%e1 : tensor<{M}x{N}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.addf %a, %b : f32
    linalg.yield %d : f32
  }} -> tensor<{M}x{N}xf32>
  return %z : tensor<{M}x{N}xf32>
}}
"""
# Of the sum of the products' magnitudes: what is left of two factors of 17 bits each,
# one less where the leading part is cut off, and of 24 and a sum in f32.
LIMITS = {"f32": 2.0**-20, "bf16x3": 2.0**-16, "bf16x6": 2.0**-20}
CUT = [3, 5]


def run(folder, products, arrays, *flags):
    np.savez(os.path.join(folder, "in.npz"), **{f"arg{i}": a for i, a in enumerate(arrays)})
    out = os.path.join(folder, "out.npz")
    subprocess.run(["coda-run", os.path.join(folder, "graph.mlir"), "--inputs=" + os.path.join(folder, "in.npz"),
                    "--f32-products=" + products, "--no-unfused", "--no-plain-gemms", "--repeat=0", "--out=" + out,
                    *flags], check=True, stdout=subprocess.DEVNULL)
    with np.load(out) as file:
        return [file[f"out{i}"] for i in range(len(file.files))]


def wrong(out, ref, magnitude, limit):
    """What of `out` is further from `ref` than `limit` of `magnitude`, or no such number."""
    special = ~np.isfinite(ref)
    if not np.array_equal(out[special], ref[special].astype(np.float32), equal_nan=True):
        return "values that are not finite"
    far = np.abs(out[~special] - ref[~special]) > limit * magnitude[~special] + 1e-37
    return f"{far.sum()} values that are too far" if far.any() else ""


def check(folder, products):
    rng = np.random.default_rng(7)
    x, w = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((M, K), (N, K)))
    v = rng.uniform(-1, 1, (M, N)).astype(np.float32)
    largest = np.float32(3.4028234e38)
    # Each of its own row, beside zeros and rounded values of the other factor, whose
    # later parts are zero.
    x[0, 3], x[1, 4], x[2, 5] = np.inf, -np.inf, np.nan
    x[3, 6], x[4], x[5, 7] = largest, 1e-30, -largest
    x[6, 8] = np.inf
    w[0, 9], w[1, 3], w[2, 3], w[3, 8] = np.inf, 0.0, 0.5, -2.0
    w[:, 6:8] *= np.float32(1e-3)
    with np.errstate(all="ignore"):
        f64 = [a.astype(np.float64) for a in (x, w, v)]
        ref = f64[0] @ f64[1].T + f64[2]
        magnitude = np.abs(f64[0]) @ np.abs(f64[1]).T + np.abs(f64[2])
        magnitude[CUT] *= 2
    text = wrong(run(folder, products, [x, w, v])[0], ref, magnitude, LIMITS[products])
    if text:
        return text
    x, w = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((M, K), (N, K)))
    g = rng.uniform(-1, 1, (M, N)).astype(np.float32)
    results = run(folder, products, [x, w, v, g], "--grad")
    x, w, g = (a.astype(np.float64) for a in (x, w, g))
    for out, ref, magnitude in ((results[1], g @ w, np.abs(g) @ np.abs(w)),
                                (results[2], g.T @ x, np.abs(g).T @ np.abs(x))):
        text = wrong(out, ref, magnitude, LIMITS[products])
        if text:
            return "gradients: " + text
    return ""


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "graph.mlir"), "w") as file:
        file.write(GRAPH)
    for products in LIMITS:
        text = check(folder, products)
        print(f"{products}: {text or 'good'}")


main(sys.argv[1])
