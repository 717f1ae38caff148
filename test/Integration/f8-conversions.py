# Conversions of 8-bit floats, compiled for the CPU, against a table: every value
# widened; every f16 and bf16, and f32 and f64 around each half way, rounded.
#
# REQUIRES: numpy
# RUN: %python %s %t %coda_src_root %host_cc | FileCheck %s
# CHECK: 16 conversions, 0 results differ
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from float8 import FORMATS, decode, encode

WIDE = {"f16": np.float16, "bf16": None, "f32": np.float32, "f64": np.float64}


def to_bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def halves(name, dtype):
    """Values at and next to each half way, and beyond, of one float type."""
    table = decode(name)[:FORMATS[name][2]]
    ends = np.append(table, 2 * table[-1] - table[-2])
    middle = ((ends[:-1] + ends[1:]) / 2).astype(dtype)
    values = [ends.astype(dtype), middle, np.nextafter(middle, dtype(0)),
              np.nextafter(middle, dtype(np.inf))]
    for factor in (1e-3, 1e-12, 1e3, 1e12):
        values.append((middle.astype(np.float64) * factor).astype(dtype))
    values.append(np.array([0, np.inf, np.nan, np.finfo(dtype).tiny, np.finfo(dtype).max],
                           dtype))
    values = np.concatenate(values)
    values = np.concatenate([values, -values])
    # No multiple of a vector's elements.
    return np.concatenate([values, values[:3 + len(values) % 2]])


def function(name, source, target, count):
    op = "extf" if source.startswith("f8") else "truncf"
    return """
func.func @{name}(%x: tensor<{count}x{source}>) -> tensor<{count}x{target}> {{
  %o = tensor.empty() : tensor<{count}x{target}>
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}}
      ins(%x : tensor<{count}x{source}>) outs(%o : tensor<{count}x{target}>) {{
  ^bb0(%a: {source}, %b: {target}):
    %c = arith.{op} %a : {source} to {target}
    linalg.yield %c : {target}
  }} -> tensor<{count}x{target}>
  return %y : tensor<{count}x{target}>
}}
""".format(name=name, source=source, target=target, count=count, op=op)


def cases():
    """(name, source, target, argument, expected)"""
    rng = np.random.default_rng(0)
    for narrow in FORMATS:
        codes = np.arange(256, dtype=np.uint8)
        for wide, dtype in WIDE.items():
            yield "widen_%s_%s" % (narrow, wide), narrow, wide, codes, decode(narrow)
            if wide in ("f16", "bf16"):
                bits = np.arange(65536).astype(np.uint16)
                argument = bits.view(dtype) if dtype else bits
                values = argument if dtype else to_bf16_values(bits)
            else:
                argument = halves(narrow, dtype)
                if dtype == np.float32:
                    argument = np.concatenate(
                        [argument, rng.integers(0, 2**32, 100000, np.uint32).view(np.float32)])
                values = argument
            with np.errstate(all="ignore"):
                expected = encode(values.astype(np.float64), narrow)
            yield "round_%s_%s" % (wide, narrow), wide, narrow, argument, expected


def main(folder, root):
    sys.path.insert(0, os.path.join(root, "python"))
    import coda

    os.makedirs(folder, exist_ok=True)
    all_cases = list(cases())
    source = os.path.join(folder, "conversions.mlir")
    with open(source, "w") as file:
        for name, from_type, to_type, argument, _ in all_cases:
            file.write(function(name, from_type, to_type, len(argument)))
    library = os.path.join(folder, "conversions.so")
    subprocess.run(["coda-compile", source, "-o", library], check=True)
    artifact = coda.Artifact.load(library)
    wrong = 0
    for name, _, to_type, argument, expected in all_cases:
        out = np.empty(len(argument), np.uint8 if to_type.startswith("f8") else
                       WIDE[to_type] or np.uint16)
        getattr(artifact, name)(argument, out=[out])
        if to_type == "bf16":
            out = to_bf16_values(out)
        with np.errstate(invalid="ignore"):
            same = (out == expected.astype(out.dtype)) | ((out != out) & (expected != expected))
        # Zeros keep their sign.
        if out.dtype != np.uint8:
            same &= (np.signbit(out) == np.signbit(expected)) | np.isnan(expected)
        if not same.all():
            wrong += 1
            at = int(np.argmin(same))
            print("%s: %s gives %s, expected %s (%d differ)" % (
                name, argument[at], out[at], expected[at], (~same).sum()))
    print("%d conversions, %d results differ" % (len(all_cases), wrong))


main(sys.argv[1], sys.argv[2])
