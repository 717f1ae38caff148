# The error of one output on one input may be larger than that of the program as
# it is written, by chance; over many inputs it is not.
#
# REQUIRES: numpy
# RUN: %python %s %graphs/lmhead_ce_joint_bf16.mlir 2 | FileCheck %s
# CHECK: loss{{ +}}fused {{[0-9.e+-]+}}, unfused {{[0-9.e+-]+}}, ratio {{[0-9.]+}}; fused is larger in {{[012]}} of 2
# CHECK: grad of lm_head.weight
"""error-over-seeds.py GRAPH.mlir COUNT

Runs a graph that has a recipe beside it on COUNT inputs, fused and unfused, against
f64, and prints the root of the mean squared error of each output. Unfused is the
graph as the framework gave it, with its roundings.
"""
import json
import math
import os
import subprocess
import sys
import tempfile


def main():
    graph, count = sys.argv[1], int(sys.argv[2])
    with open(os.path.splitext(graph)[0] + ".json") as file:
        recipe = json.load(file)
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        inputs, report = os.path.join(folder, "inputs.json"), os.path.join(folder, "report.json")
        for seed in range(1000, 1000 + count):
            with open(inputs, "w") as file:
                json.dump(dict(recipe, seed=seed), file)
            done = subprocess.run(
                ["coda-run", graph, "--repeat=0", "--inputs=" + inputs, "--against-reference",
                 "--json=" + report], capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit("seed %d: %s%s" % (seed, done.stdout, done.stderr[-500:]))
            with open(report) as file:
                for output in json.load(file)["outputs"]:
                    errors.setdefault(output["name"], []).append(
                        (output["error"], output["unfused_error"]))
    for name, pairs in errors.items():
        fused, unfused = (math.sqrt(sum(p[i] ** 2 for p in pairs) / len(pairs)) for i in (0, 1))
        print("%-24s fused %.3e, unfused %.3e, ratio %.3f; fused is larger in %d of %d" % (
            name, fused, unfused, fused / unfused, sum(f > u for f, u in pairs), len(pairs)))


if __name__ == "__main__":
    main()
