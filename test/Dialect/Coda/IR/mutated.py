# Mutated ops, in generic and in pretty form, must give diagnostics, not crashes.
#
# RUN: %python %s %S %t
import glob
import os
import random
import re
import subprocess
import sys

GENERIC = [
    ("coda.gemm", ["tensor<4x8xf32>", "tensor<8x6xf32>", "tensor<4xf32>", "tensor<4x6xf32>"],
     {"acc_sizes": "array<i32: 1>", "combiners": "[unit]", "dims": "array<i32: 0, 1, 1, 0, 1, 0>",
      "fresh": "array<i1: false>", "load_combiners": "[unit]",
      "indexing_maps": "[affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,"
                       " affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>]",
      "operandSegmentSizes": "array<i32: 1, 1, 1, 1>"},
     ["tensor<4x6xf32>"], ["f32", "f32"],
     ['%g = "coda.group_reduce"(%a0) <{combiner = #coda.add, over = [#coda.dim<n0>]}> : (f32) -> f32',
      '%i = "coda.index"() <{dim = #coda.dim<m0>}> : () -> index',
      '"coda.yield"(%a0) : (f32) -> ()']),
    ("coda.map", ["tensor<2x4xf64>", "tensor<3x4xf64>", "tensor<4x2xf64>", "tensor<f64>"],
     {"acc_sizes": "array<i32>", "combiners": "[unit, #coda.logaddexp]",
      "dims": "array<i32: 0, 0, 1, 1, 0, 1>", "fresh": "array<i1: false, true>",
      "load_combiners": "[unit, #coda.max]",
      "indexing_maps": "[affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d2, d0)>,"
                       " affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> ()>]",
      "operandSegmentSizes": "array<i32: 0, 0, 2, 2>"},
     ["tensor<4x2xf64>", "tensor<f64>"], ["f64", "f64", "f64"],
     ['%q = "arith.mulf"(%a0, %a1) : (f64, f64) -> f64',
      '"coda.yield"(%q, %a1, %a2) : (f64, f64, f64) -> ()']),
    ("coda.bundle", [], {}, ["tensor<4xf32>"], [],
     ['%x = "test.value"() : () -> tensor<4xf32>', '"coda.yield"(%x) : (tensor<4xf32>) -> ()']),
    ("coda.scale", ["tensor<8x4xf32>", "tensor<8xf32>"], {"dims": "array<i64: 0>"},
     ["tensor<8x4xf32>"], None, []),
    ("coda.rms_norm", ["tensor<8x4xf32>", "tensor<4xf32>"],
     {"eps": "1.0e-5 : f64", "offset": "0.0 : f64"}, ["tensor<8x4xf32>"], None, []),
    ("coda.glu", ["tensor<8x4xf32>", "tensor<8x4xf32>"],
     {"kind": "#coda<glu_kind gelu_tanh>", "tanh_scale": "0.8 : f64"}, ["tensor<8x4xf32>"], None, []),
    ("coda.rope", ["tensor<3x4x8xf32>", "tensor<4x3x8xf32>", "tensor<4x3x8xf32>"],
     {"layout": "#coda<rope_layout half>", "table_dims": "array<i64: 1, 0>"},
     ["tensor<3x4x8xf32>"], None, []),
    ("coda.cross_entropy", ["tensor<8x4xf32>", "tensor<8xi64>"], {"ignore_index": "-100 : i64"},
     ["tensor<8xf32>", "tensor<8xf32>"], None, []),
]

TYPES = [
    "tensor<f32>", "tensor<*xf32>", "tensor<?xf32>", "tensor<?x?xf32>", "tensor<0x4xf32>",
    "tensor<4x8xi8>", "tensor<4x8xcomplex<f32>>", "tensor<4xvector<2xf32>>", "tensor<4x8xbf16>",
    "tensor<8x4xi32>", "tensor<9223372036854775807x8xf32>", "tensor<1x1x1x1x1xf64>",
    "memref<f32>", "memref<*xf32>", "memref<4x8xf32>", "memref<?xf32, strided<[?], offset: ?>>",
    "vector<4x8xf32>", "vector<[4]xf32>", "f32", "f64", "i1", "index", "none", "tuple<>", "i8",
    "tensor<4x8xindex>", "tensor<4x6xf32, \"encoding\">", "memref<4x6xf32, 3>",
]
ATTRIBUTES = [
    "unit", "[]", "[unit]", "[unit, unit]", "\"add\"", "#coda.add", "[#coda.max]", "[3 : i32]",
    "[\"x\"]", "array<i32>", "array<i32: 0>", "array<i32: 0, 1, 1, 2, 1, 1>",
    "array<i32: 16, 16, 16, 16, 16, 16>", "array<i32: -1, 2, 1, 0, 1, 0>", "array<i1>",
    "array<i1: true>", "array<i1: true, true>", "array<i64>", "array<i64: -1>", "array<i64: 1, 1>",
    "[affine_map<() -> ()>]", "[affine_map<(d0) -> (d0, d0)>]", "[affine_map<(d0)[s0] -> (s0)>]",
    "[affine_map<(d0, d1, d2) -> (d0 floordiv 2)>]", "0x7FF0000000000000 : f64", "-1 : i64",
    "[#coda.dim<n0>, #coda.dim<n0>]", "[#coda.dim<k4294967295>]", "#coda.dim<p9>",
    "array<i32: 2147483647, 2147483647>", "array<i32: -2147483648, 1, 1, 1>",
]
NUMBERS = ["-1", "0", "1", "2", "3", "7", "16", "17", "2147483647", "-2147483648", "4294967296",
           "9223372036854775807", "18446744073709551616"]


def mutate_list(r, items, pool):
    items = list(items)
    choice = r.randrange(4)
    if choice == 0 and items:
        items.pop(r.randrange(len(items)))
    elif choice == 1 and items:
        items.insert(r.randrange(len(items)), r.choice(items))
    elif choice == 2 or not items:
        items.insert(r.randint(0, len(items)), r.choice(pool))
    else:
        items[r.randrange(len(items))] = r.choice(pool)
    return items


def mutate_number(r, text):
    numbers = list(re.finditer(r"(?<![\w.])-?\d+(?![\w.])", text))
    if not numbers:
        return text
    found = r.choice(numbers)
    return text[:found.start()] + r.choice(NUMBERS) + text[found.end():]


def generic(r):
    name, operands, properties, results, arguments, body = r.choice(GENERIC)
    properties, body = dict(properties), list(body)
    blocks = 1
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        kind = r.randrange(9)
        if kind == 0:
            operands = mutate_list(r, operands, TYPES)
        elif kind == 1:
            results = mutate_list(r, results, TYPES)
        elif kind == 2 and arguments is not None:
            arguments = mutate_list(r, arguments, TYPES)
        elif kind == 3 and body:
            body.pop(r.randrange(len(body)))
        elif kind == 4 and body:
            at = r.randrange(len(body))
            body[at] = mutate_number(r, body[at])
        elif kind == 5:
            blocks = r.choice([0, 2])
        elif kind == 6 and properties:
            del properties[r.choice(list(properties))]
        elif kind == 7 and properties:
            key = r.choice(list(properties))
            properties[key] = mutate_number(r, properties[key])
        elif properties:
            properties[r.choice(list(properties))] = r.choice(ATTRIBUTES)
    lines = ['%%o%d = "test.value"() : () -> %s' % (i, t) for i, t in enumerate(operands)]
    region = ""
    if arguments is not None and (blocks or r.random() < 0.7):
        block = "^bb0(%s):\n%s\n" % (
            ", ".join("%%a%d: %s" % (i, t) for i, t in enumerate(arguments)), "\n".join(body))
        region = " ({%s})" % (block if blocks == 1 else "" if not blocks else block +
                              "^bb1:\n\"coda.yield\"() : () -> ()\n")
    lines.append('%s"%s"(%s)%s%s : (%s) -> (%s)' % (
        "%%r:%d = " % len(results) if results else "", name,
        ", ".join("%%o%d" % i for i in range(len(operands))),
        " <{%s}>" % ", ".join("%s = %s" % p for p in properties.items()) if properties else "",
        region, ", ".join(operands), ", ".join(results)))
    return "\n".join(lines)


def pretty(r, functions):
    text = r.choice(functions)
    tokens = re.findall(r"%[\w#]+|[\w.]+|\s+|->|[^\w\s]", text)
    words = [i for i, t in enumerate(tokens) if t.strip()]
    for _ in range(r.choice([1, 1, 2, 3])):
        at = r.choice(words)
        kind = r.randrange(5)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] += " " + tokens[at]
        elif kind == 2:
            tokens[at] = tokens[r.choice(words)]
        elif kind == 3:
            tokens[at] = r.choice(["m", "n1", "u", "k0", "p", "add", "fresh", "max", "*", "+", "?",
                                   "tensor<*xf32>", "memref<f32>", "vector<2xf32>", "bf16", "(", ")"])
        else:
            tokens[at] = mutate_number(r, tokens[at])
    return "".join(tokens)


def main(tests, output):
    functions = []
    for path in sorted(glob.glob(os.path.join(tests, "*.mlir"))):
        if not path.endswith("_invalid.mlir"):
            with open(path, encoding="utf-8") as f:
                text = re.sub(r"//.*", "", f.read())
            functions += re.findall(r"^func\.func .*?^\}", text, re.M | re.S)
    r = random.Random(1)
    cases = [generic(r) if i % 2 else pretty(r, functions) for i in range(2000)]
    with open(output, "w", encoding="utf-8") as f:
        f.write("\n// -----\n".join(cases))

    def run(path, *options):
        done = subprocess.run(
            ["coda-opt", path, "-split-input-file", "-allow-unregistered-dialect", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1) or "PLEASE submit a bug report" in done.stderr:
            sys.exit("coda-opt %s exits with %d:\n%s" % (
                " ".join(options), done.returncode, done.stderr[-5000:]))
        return done

    # What verifies can be read again, canonicalised and, on tensors, decomposed.
    valid = output + ".valid.mlir"
    with open(valid, "w", encoding="utf-8") as f:
        f.write("\n// -----\n".join(
            case for case in run(output).stdout.split("// -----\n") if case.strip()))
    for options in ["--verify-roundtrip"], ["-canonicalize"], ["-cse"], ["-coda-decompose"]:
        errors = [line for line in run(valid, *options).stderr.splitlines()
                  if ": error:" in line and "it works on memrefs" not in line]
        if errors:
            print("\n".join(options + errors))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
