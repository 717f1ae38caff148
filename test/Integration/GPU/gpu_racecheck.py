# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s prepare %t --bin=%coda_obj_root/bin --only='gate_up|residual' | FileCheck %s
# CHECK: {{[1-9][0-9]*}} programs prepared
"""Races in shared memory, by compute-sanitizer's racecheck.

    gpu_racecheck.py list
    gpu_racecheck.py prepare DIR [--only REGEX] [--bin FOLDER]
    gpu_racecheck.py run DIR [--only REGEX] [--coda-run PATH] [--sanitizer PATH]

`prepare` compiles the examples for a GPU, each with one schedule of each form: in
turn or not, loaded tiles through the ring, ahead or neither, stored in place, k
split, factors shared by a cluster. Where nvcc is on PATH it compiles
Inputs/cluster_barrier.cu, too. `run` needs a GPU, compute-sanitizer and coda-run.

No kernel may have a hazard, but for those whose k is split: racecheck does not carry
what a block's barrier orders into an arrival at another block's barrier. That is shown
by cluster_barrier.cu: an arrival of one thread for its block is reported, that of
each thread for itself is not. The second has to be clean; the first is printed.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))

import steps  # noqa: E402: found by the path above

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Examples")
# The forms of a schedule; of each example the first schedule of each.
FLAGS = ("pingpong = true", "ring = true", "inplace = true", "split = ", "cluster = ")


def call(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def form(schedule):
    ahead = not re.search(r"prefetch = 0\b", schedule)
    return tuple(flag in schedule for flag in FLAGS) + (ahead,)


def variants(command):
    """Schedules by kernel for each form: the selector's first."""
    done = subprocess.run(command + ["--emit=schedules", "-o", "-"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    kernels = json.loads(done.stdout)["kernels"]
    chosen = {}
    for kernel in kernels:
        for schedule in kernel["schedules"]:
            chosen.setdefault(form(schedule), {}).setdefault(kernel["key"], schedule)
    return list(chosen.values())


def examples():
    """(name, path) of each."""
    paths = sorted(glob.glob(os.path.join(EXAMPLES, "*.mlir")))
    return [(os.path.splitext(os.path.basename(path))[0], path) for path in paths]


def prepare(folder, only, tools):
    os.makedirs(folder, exist_ok=True)
    count = 0
    compiler, database = os.path.join(tools, "coda-compile"), os.path.join(folder, "forced.json")
    for name, source in examples():
        if not re.search(only, name):
            continue
        command = [compiler, source, "--target=sm_90a"]
        for i, schedules in enumerate(variants(command)):
            forced = {key: dict(schedule=schedule) for key, schedule in schedules.items()}
            with open(database, "w") as file:
                json.dump(dict(version=1, gpus=dict(forced=forced)), file)
            code, text = call(command + ["--schedule-db=" + database, "-o", os.path.join(folder, f"{name}_{i}.so")])
            if code:
                sys.exit(text)
            count += 1
    os.remove(database)
    if shutil.which("nvcc"):
        code, text = call(["nvcc", "-arch=sm_90a", "-std=c++17", os.path.join(HERE, "Inputs", "cluster_barrier.cu"),
                           "-o", os.path.join(folder, "cluster_barrier")])
        if code:
            sys.exit(text)
    print(f"{count} programs prepared")


def hazards(sanitizer, command):
    """Kernels with hazards, by name. None: it did not run."""
    # A report of what was done is the last line.
    code, text = call([sanitizer, "--tool", "racecheck", "--racecheck-report", "analysis"] + command)
    if code or not re.search(r"RACECHECK SUMMARY: \d+ hazards", text):
        return None
    found = re.findall(r" access at (?:void )?(\w+)", text)
    if not found and "RACECHECK SUMMARY: 0 hazards" not in text:
        return None
    return sorted(set(found))


def run(folder, only, runner, sanitizer):
    failed = exchanges = clean = 0
    # A program is called as its example, and _ and a number.
    paths = [path for path in sorted(glob.glob(os.path.join(folder, "*.so")))
             if re.search(only, os.path.basename(path).rpartition("_")[0])]
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda path: hazards(sanitizer, [runner, path, "--device=cuda", "--seed=1", "--repeat=0",
                                                            "--no-unfused"]), paths)
    for path, found in zip(paths, results):
        name = os.path.basename(path)
        if found is None:
            print(f"FAIL {name}: did not run", flush=True)
            failed += 1
            continue
        others = [kernel for kernel in found if "_split" not in kernel]
        if others:
            print(f"FAIL {name}: {', '.join(others)}", flush=True)
            failed += 1
        elif found:
            exchanges += 1
        else:
            clean += 1
    print(f"{clean} programs without hazards, {exchanges} with those of an exchange, {failed} failed")
    barrier = os.path.join(folder, "cluster_barrier")
    if os.path.exists(barrier):
        one, each = (hazards(sanitizer, [barrier, what]) for what in ("one", "each"))
        print(f"an arrival for a block: {'hazards' if one else 'none'}; "
              f"of each thread: {'hazards' if each else 'none'}")
        failed += one is None or each != []
    return 1 if failed else 0


if __name__ == "__main__":
    steps.main(
        __doc__, lambda o: [name for name, _ in examples()], lambda o: prepare(o.folder, o.only, o.bin),
        lambda o: run(o.folder, o.only, o.coda_run, o.sanitizer),
        sanitizer=dict(default="compute-sanitizer", metavar="PATH", help="of run"))
