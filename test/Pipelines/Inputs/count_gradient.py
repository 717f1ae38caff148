"""Counts the launches of a forward and its backward in outlined IR on stdin:

    count_gradient.py FORWARD DATA WEIGHT MAPS FINISHERS GEMMS

launches of @main_fwd; of @main_bwd those with a product of a cotangent and a
weight, those with gradients of weights, maps, and maps, or bundles of them, that
only add partial sums up or round a sum; gemm ops of the backward in all. Fails on
any linalg op.
"""
import re
import sys

text = sys.stdin.read()
kernels = {m.group(1): m.group(0) for m in re.finditer(
    r"func\.func private @(\S+?)\(.*?\n  }", text, re.S)}


def calls(name):
    body = re.search(r"func\.func @%s\(.*?\n  }" % name, text, re.S).group(0)
    assert "linalg." not in body, body
    return re.findall(r"call @(\S+?)\(", body)


def is_rounding(kernel):
    """Maps that round sums of the columns of a single granule."""
    ops = set(re.findall(r"(?:arith|math|coda)\.(?!kernel)\w+", kernel))
    return (ops - {"coda.bundle"} == {"coda.map", "arith.truncf", "coda.yield"}
            and "[m, n" not in kernel)


forward, backward = calls("main_fwd"), calls("main_bwd")
data = weight = maps = finishers = gemms = 0
for name in backward:
    kernel = kernels[name]
    gemms += kernel.count("coda.gemm")
    if "coda.gemm" in kernel:
        # The left factor of a gradient of a weight has the tokens as k.
        weights = re.findall(r"acc\(%\S+\[k[^,\]]*", kernel)
        data, weight = data + (not weights), weight + bool(weights)
    elif re.search(r"ins\(add %\S+\[p, [mn\d, ]+\] : \S+\)\n", kernel) or is_rounding(kernel):
        finishers += 1
    else:
        maps += 1
got = [len(forward), data, weight, maps, finishers, gemms]
want = [int(a) for a in sys.argv[1:]]
print("forward %d; backward: data %d, weights %d, maps %d, finishers %d; gemm ops %d" % tuple(got))
sys.exit(got != want)
