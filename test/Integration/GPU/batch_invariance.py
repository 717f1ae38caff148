# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s prepare %t --bin=%coda_obj_root/bin --seeds=2 | FileCheck %s
# CHECK: 12 programs prepared
# RUN: %if sm90 %{ %python %s run %t --coda-run=%coda_obj_root/bin/coda-run | FileCheck %s --check-prefix=RAN %}
# RAN: 0 of {{[1-9][0-9]*}} comparisons differ
"""Whether the bits of a row depend on how many rows there are.

    batch_invariance.py list [--seeds N]
    batch_invariance.py prepare DIR [--only REGEX] [--bin FOLDER] [--seeds N]
    batch_invariance.py run DIR [--only REGEX] [--coda-run PATH] [--seeds N]

`prepare` compiles random regions with --numerics=batch-invariant for several
numbers of rows. `run` needs a GPU, coda-run and DIR: it gives each program the first
rows of the same arrays, and all outputs that have rows must agree with the first
rows of the largest in each bit.
"""
import os
import re
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))

import steps  # noqa: E402: found by the path above

ROWS = [1, 7, 16, 64, 65, 1000]


def kernels(count, only=""):
    """(seed, {rows: kernel}) of the first `count` regions with factors that are
    contiguous along k, which any number of rows keeps aligned; of those that are
    called as `only`, region_<seed>."""
    import random_regions

    for seed in range(1000):
        if count == 0:
            return
        made = {m: random_regions.Kernel(seed, random_regions.sizes(m0=1, m1=m, n0=3, k=1000))
                for m in ROWS}
        accs = made[1].accs
        if accs and accs[0][0][0][1][-1] == "k":
            count -= 1
            if re.search(only, f"region_{seed}"):
                yield seed, made


def call(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}")


def row_axis(dims):
    """Which dim of an operand is that of rows; None if it has none."""
    return next((i for i, d in enumerate(dims) if d in ("m", "m1")), None)


def inputs(seed, made):
    """(values, row axis, element type) of each input of the largest kernel."""
    random = np.random.default_rng(seed)
    largest, arrays = made[ROWS[-1]], []
    for name, dims, element in largest.inputs():
        values = random.uniform(-1, 1, [largest.sizes[d] for d in dims]).astype(np.float32)
        factor = largest.is_factor(name)
        arrays.append((values * 0.2 if factor else values, row_axis(dims), element))
    return arrays


def prepare(folder, only, tools, count):
    os.makedirs(folder, exist_ok=True)
    programs = 0
    for seed, made in kernels(count, only):
        for rows, kernel in made.items():
            stem = os.path.join(folder, f"s{seed}_m{rows}")
            with open(stem + ".mlir", "w") as file:
                file.write(kernel.graph())
            call([os.path.join(tools, "coda-compile"), stem + ".mlir", "--target=sm_90a",
                  "--numerics=batch-invariant", "-o", stem + ".so"])
            programs += 1
    print(f"{programs} programs prepared")


def outputs(folder, runner, seed, rows, arrays):
    """The outputs of a program for the first `rows` rows of the inputs."""
    stem = os.path.join(folder, f"s{seed}_m{rows}")
    taken = {}
    for i, (values, axis, element) in enumerate(arrays):
        part = values if axis is None else np.take(values, range(rows), axis)
        if element == "f16":
            part = part.astype(np.float16)
        elif element == "bf16":  # its bits
            part = (np.ascontiguousarray(part).view(np.uint32) >> 16).astype(np.uint16)
        taken[f"arg{i}"] = part
    np.savez(stem + ".npz", **taken)
    call([runner, stem + ".so", "--device=cuda", "--repeat=1", "--no-unfused",
          "--inputs=" + stem + ".npz", "--out=" + stem + ".out.npz"])
    with np.load(stem + ".out.npz") as found:
        return [found[name] for name in sorted(found.files)]


def run(folder, only, runner, count):
    total = wrong = 0
    for seed, made in kernels(count, only):
        if not os.path.exists(os.path.join(folder, f"s{seed}_m{ROWS[0]}.so")):
            continue
        axes = [row_axis(o[1]) for o in made[1].outs]
        arrays = inputs(seed, made)
        results = {rows: outputs(folder, runner, seed, rows, arrays) for rows in ROWS}
        for rows in ROWS[:-1]:
            for number, axis in enumerate(axes):
                if axis is None:
                    continue
                few = results[rows][number]
                many = np.take(results[ROWS[-1]][number], range(rows), axis)
                total += 1
                if few.tobytes() != np.ascontiguousarray(many).tobytes():
                    wrong += 1
                    print(f"region {seed}, output {number}: {rows} rows differ from "
                          f"the first of {ROWS[-1]}")
    print(f"{wrong} of {total} comparisons differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    steps.main(
        __doc__, lambda o: [f"region_{seed}" for seed, _ in kernels(o.seeds)],
        lambda o: prepare(o.folder, o.only, o.bin, o.seeds),
        lambda o: run(o.folder, o.only, o.coda_run, o.seeds),
        seeds=dict(type=int, default=6, metavar="N", help="how many regions"))
