# REQUIRES: numpy
# RUN: %python %s %t 64 512 512 3 | FileCheck %s
# CHECK: error of ds
# CHECK: error of dx
# CHECK: instructions
"""Where the sum of a norm's gradient takes its cotangents from.

    rounded-cotangents.py DIR M K N SEEDS

y = r x W with r = rsqrt(s / K + eps), s = sum of x^2. The backward stores
dacc = r dy in 16 bits for two products, and sums ds = -(r^2 / 2K) sum of y dy: of
the cotangents as they are ("derived"), or of the stored ones, as
-(r / 2K) sum of y dacc ("rounded"). Both maps run on the CPU with roundings kept;
dx = dacc W^T + 2 ds x is taken in f64, so that nothing but the two is told apart.
Printed: the largest error of ds and dx relative to the largest value in f64, what
is left of <x, dx> = eps r^2 <y, dy> per row relative to |x| |dx|, means over seeds,
and instructions of the kernel on the GPU target.
"""
import os
import subprocess
import sys

import numpy as np

EPS = 1e-5


def bf16(a):
    """Rounds to bf16, ties to even; as f32."""
    bits = np.asarray(a, np.float32).view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32)


def program(m, k, n, rounded):
    sums = """
    %h = arith.extf %d : bf16 to f32
    %f = arith.mulf %r, %c : f32
    %p = arith.mulf %yf, %h : f32""" if rounded else """
    %rr = arith.mulf %r, %r : f32
    %f = arith.mulf %rr, %c : f32
    %p = arith.mulf %yf, %gf : f32"""
    full, row = f"tensor<{m}x{n}xbf16>", f"tensor<{m}xf32>"
    return f"""func.func @main(%s: {row}, %y: {full}, %g: {full}) -> ({full}, {row}) {{
  %o = tensor.empty() : {full}
  %t = tensor.empty() : {row}
  %v:2 = coda.map ins(%s[m], %y[m, n], %g[m, n] : {row}, {full}, {full}) outs(%o[m, n], fresh add %t[m] : {full}, {row}) {{
  ^bb0(%q: f32, %yb: bf16, %gb: bf16):
    %k = arith.constant {1 / k:.9e} : f32
    %e = arith.constant {EPS:.9e} : f32
    %c = arith.constant {-0.5 / k:.9e} : f32
    %a = arith.mulf %q, %k : f32
    %b = arith.addf %a, %e : f32
    %r = math.rsqrt %b : f32
    %yf = arith.extf %yb : bf16 to f32
    %gf = arith.extf %gb : bf16 to f32
    %z = arith.mulf %gf, %r : f32
    %d = arith.truncf %z : f32 to bf16{sums}
    %u = arith.mulf %f, %p : f32
    coda.yield %d, %u : bf16, f32
  }}
  return %v#0, %v#1 : {full}, {row}
}}
"""


def main():
    folder, m, k, n, seeds = sys.argv[1], *map(int, sys.argv[2:6])
    os.makedirs(folder, exist_ok=True)
    names = ["derived", "rounded"]
    counts = {}
    for name in names:
        path = f"{folder}/{name}.mlir"
        with open(path, "w") as f:
            f.write(program(m, k, n, name == "rounded"))
        ptx = subprocess.run(
            ["coda-compile", path, "--target=sm_90a", "--emit=ptx", "-o", "-"],
            check=True, capture_output=True, text=True).stdout
        counts[name] = sum(line.startswith("\t") and line.strip().endswith(";") and
                           not line.strip().startswith(".") for line in ptx.splitlines())
        subprocess.run(["coda-compile", path, "--numerics=strict", "-o", f"{folder}/{name}.so"],
                       check=True)
    total = {name: np.zeros(3) for name in names}
    for seed in range(seeds):
        g = np.random.default_rng(seed)
        x = bf16(g.standard_normal((m, k)))
        w = bf16(g.standard_normal((n, k)) / np.sqrt(k))
        x64, w64 = x.astype(np.float64), w.astype(np.float64)
        s = (x64 ** 2).sum(1).astype(np.float32)
        r = 1 / np.sqrt((x64 ** 2).sum(1) / k + EPS)
        y = r[:, None] * (x64 @ w64.T)
        dy = bf16(g.standard_normal((m, n)))
        ds = -(r ** 2 / (2 * k)) * (y * dy).sum(1)
        dx = (r[:, None] * dy) @ w64 + 2 * ds[:, None] * x64
        rest = EPS * r ** 2 * (y * dy).sum(1)
        bits = lambda a: (bf16(a).view(np.uint32) >> 16).astype(np.uint16)
        np.savez(f"{folder}/in.npz", arg0=s, arg1=bits(y), arg2=bits(dy))
        for name in names:
            subprocess.run(["coda-run", f"{folder}/{name}.so", f"--inputs={folder}/in.npz", f"--out={folder}/out.npz", "--repeat=0"],
                           check=True, capture_output=True)
            out = np.load(f"{folder}/out.npz")
            dacc = (out["out0"].astype(np.uint32) << 16).view(np.float32).astype(np.float64)
            got = out["out1"].astype(np.float64)
            gx = dacc @ w64 + 2 * got[:, None] * x64
            norm = np.sqrt((x64 ** 2).sum(1) * (gx ** 2).sum(1))
            total[name] += [abs(got - ds).max() / abs(ds).max(), abs(gx - dx).max() / abs(dx).max(),
                            (abs((x64 * gx).sum(1) - rest) / norm).max()]
    for i, what in enumerate(["error of ds", "error of dx", "rest of <x, dx>"]):
        print(f"{what:16}" + "".join(f"  {name} {total[name][i] / seeds:.3e}" for name in names))
    print(f"{'instructions':16}" + "".join(f"  {name} {counts[name]}" for name in names))


main()
