# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a gemm with N reductions of its rows, none of the same values."""
import sys

count = int(sys.argv[1])
vector, rights = "tensor<16384xf32>", "tensor<256x128xbf16>"
types = ", ".join([vector] * count)
print(f"func.func @main(%a: tensor<16384x128xbf16>, %b: {rights}) -> ({types}) {{")
for i in range(count):
    print(f"  %o{i} = tensor.empty() : {vector}")
print(f"  %y:{count} = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<16384x128xbf16>, {rights})")
print("      outs(" + ", ".join(f"fresh logaddexp %o{i}[m]" for i in range(count)) + f" : {types}) {{")
print("  ^bb0(%v: f32):")
for i in range(count):
    print(f"    %c{i} = arith.constant {i + 1}.0 : f32")
    print(f"    %p{i} = arith.mulf %v, %c{i} : f32")
print("    coda.yield " + ", ".join(f"%p{i}" for i in range(count)) + " : "
      + ", ".join(["f32"] * count) + "\n  }")
print("  return " + ", ".join(f"%y#{i}" for i in range(count)) + f" : {types}\n}}")
