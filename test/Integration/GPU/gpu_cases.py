# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A few of the cases are compiled everywhere, and run where there is a GPU.
#
# RUN: rm -rf %t && %python %s prepare %t --bin=%coda_obj_root/bin \
# RUN:   --only='region_((ragged|tiny|no_k|no_rows|dynamic_all)_1|narrow_40_13)$|grad_softmax_8$|experts_eight_e5m2$|tall_(rows_any_1|columns_1003_few_rows)$|example_gate_up(_schedule1)?$|swap_full_17(_swapped[04])?$|graph_llama3_block_(bf16|dynT_bf16)$' | FileCheck %s
# CHECK: 17 cases prepared, 0 refused by the compiler
# RUN: %if sm90 %{ %python %s run %t --coda-run=%coda_obj_root/bin/coda-run | FileCheck %s --check-prefix=RAN %}
# RAN: 17 passed, 0 failed, 0 refused when compiled
"""Compares programs on a GPU with what the CPU target makes of them.

    gpu_cases.py list
    gpu_cases.py prepare DIR [--only REGEX] [--bin FOLDER]
    gpu_cases.py run DIR [--only REGEX] [--coda-run PATH]

`prepare` compiles each case for both targets and in f64 (`--reference`), makes
inputs, and computes the reference on the CPU; it needs coda-compile and
no GPU. `run` needs a GPU, coda-run and DIR, which may have come from
another machine: the GPU's outputs must be as close to the reference as the
error rule of coda-run allows, where the error of the CPU target stands for that
of a framework. Graphs with a golden are compared with that.

Cases: 24 random regions; some of them with left factors of their own for each
accumulator, with ragged, few, tiny, empty and dynamic extents; reductions over
numbers of rows or columns that are no multiple of a tile, or not known; programs with
the gradients that are derived for them, of tables and of softmaxes over few columns;
experts with 8-bit factors; the examples; the graphs of test/Graphs, those of f32 with
their products in parts, too. The examples, and regions with few rows, also with
the other schedules that the selector may pick; the latter, and programs of few rows
with what loads, stores and reductions there are, with swapped factors.
"""
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "Inputs"))
sys.path.insert(0, os.path.join(os.path.dirname(TEST), "python"))

import steps  # noqa: E402: found by the path above

# name, seeds, extents of the values, dims that the types leave open.
SHAPES = [
    ("regular", range(24), dict(), ""),
    ("ragged", range(8), dict(m0=3, m1=37, n0=3, n1=53, k=77), ""),
    ("short_k", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=8), ""),
    ("one_row", range(6), dict(m0=1, m1=1, n0=2, n1=128, k=64), ""),
    # 9 blocks of k: slices of a cluster differ.
    ("few_7", range(6), dict(m0=1, m1=7, n0=3, n1=128, k=520), ""),
    ("few_63", range(4), dict(m0=1, m1=63, n0=3, n1=128, k=520), ""),
    ("few_64", range(6), dict(m0=1, m1=64, n0=24, n1=128, k=1024), ""),
    ("few_65", range(4), dict(m0=5, m1=13, n0=3, n1=128, k=520), ""),
    ("few_narrow", [*range(4), 13, 18, 21, 36], dict(m0=1, m1=20, n0=24, n1=16, k=520), ""),
    ("dynamic_few", range(4), dict(m0=1, m1=40, n0=2, n1=128, k=520), "m"),
    ("factors", range(12), dict(k1=448), ""),
    ("factors_ragged", range(6), dict(m0=3, m1=37, n0=3, n1=53, k=72, k1=8), ""),
    ("factors_few", range(6), dict(m0=1, m1=40, n0=3, n1=128, k=520, k1=1024), ""),
    ("factors_dynamic_k", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=192, k1=64), "k"),
    ("factors_dynamic_no_k", range(3), dict(m0=2, m1=128, n0=2, n1=128, k=192, k1=0), "k"),
    ("batched", range(12), dict(b=3, m0=2, m1=128, n0=2, n1=128), ""),
    ("batched_ragged", range(6), dict(b=5, m0=3, m1=37, n0=3, n1=53, k=72), ""),
    ("batched_few", range(6), dict(b=4, m0=1, m1=20, n0=3, n1=128, k=520), ""),
    ("batched_one_row", range(4), dict(b=7, m0=1, m1=1, n0=2, n1=128, k=64), ""),
    ("batched_factors", range(4), dict(b=3, m0=2, m1=100, n0=2, n1=128, k1=64), ""),
    ("batched_narrow", range(4), dict(b=2, m0=2, m1=128, n0=8, n1=32), ""),
    ("batched_dynamic", range(6), dict(b=3, m0=2, m1=128, n0=2, n1=128, k=64), "bm"),
    ("tiny", range(6), dict(m0=1, m1=2, n0=1, n1=3, k=1), ""),
    ("no_k", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=0), ""),
    ("no_rows", range(4), dict(m0=0, m1=128, n0=2, n1=128, k=64), ""),
    ("no_columns", range(4), dict(m0=2, m1=128, n0=0, n1=128, k=64), ""),
    # The latter seeds have right factors in rows of n.
    ("narrow", [*range(6), 13, 18, 21, 22, 36, 70, 133], dict(m0=2, m1=128, n0=8, n1=32, k=192), ""),
    ("narrow_16", [2, 13, 18, 22, 36, 97], dict(m0=2, m1=128, n0=8, n1=16, k=200), ""),
    ("narrow_8", [2, 13, 18, 22, 36, 97], dict(m0=2, m1=128, n0=16, n1=8, k=64), ""),
    # Chunks of 8 columns.
    ("narrow_40", [*range(6), 13, 18, 21, 22, 36, 70, 133], dict(m0=2, m1=128, n0=4, n1=40, k=192), ""),
    ("narrow_24", [2, 13, 18, 22, 36, 97], dict(m0=2, m1=128, n0=6, n1=24, k=200), ""),
    ("narrow_56_ragged", [*range(4), 13, 22, 36], dict(m0=3, m1=37, n0=3, n1=56, k=72), ""),
    ("narrow_72_few", [*range(4), 13, 22], dict(m0=1, m1=20, n0=5, n1=72, k=520), ""),
    ("narrow_ragged", [*range(4), 13, 18, 21, 36], dict(m0=3, m1=37, n0=12, n1=16, k=72), ""),
    ("dynamic_m", range(8), dict(m0=3, m1=128, n0=2, n1=128, k=64), "m"),
    ("dynamic_ragged_m", range(4), dict(m0=5, m1=37, n0=2, n1=128, k=64), "m"),
    ("dynamic_no_rows", range(4), dict(m0=0, m1=128, n0=2, n1=128, k=64), "m"),
    ("dynamic_k", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=192), "k"),
    ("dynamic_no_k", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=0), "k"),
    ("dynamic_all", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=64), "mnk"),
    # 8-bit factors.
    ("eight", range(24), dict(eight=True), ""),
    ("eight_ragged", range(8), dict(m0=3, m1=37, n0=3, n1=53, k=208, eight=True), ""),
    ("eight_one_row", range(4), dict(m0=1, m1=1, n0=2, n1=128, k=64, eight=True), ""),
    ("eight_few", range(8), dict(m0=1, m1=40, n0=3, n1=128, k=1040, eight=True), ""),
    ("eight_factors", range(6), dict(k1=448, eight=True), ""),
    ("eight_narrow", range(6), dict(m0=3, m1=37, n0=12, n1=16, k=144, eight=True), ""),
    ("eight_narrow_8", range(3), dict(m0=2, m1=128, n0=16, n1=8, k=64, eight=True), ""),
    ("eight_dynamic", range(4), dict(m0=2, m1=128, n0=2, n1=128, k=192, eight=True), "m"),
    ("eight_dynamic_all", range(3), dict(m0=2, m1=128, n0=2, n1=128, k=192, eight=True), "mnk"),
    ("eight_batched", range(12), dict(b=3, m0=2, m1=128, n0=2, n1=128, eight=True), ""),
    ("eight_batched_ragged", range(6), dict(b=5, m0=3, m1=37, n0=3, n1=53, k=208, eight=True), ""),
    ("eight_batched_few", range(6), dict(b=4, m0=1, m1=20, n0=3, n1=128, k=1040, eight=True), ""),
    ("eight_batched_factors", range(4), dict(b=3, m0=2, m1=100, n0=2, n1=128, k1=64, eight=True), ""),
    ("eight_batched_dynamic", range(4), dict(b=3, m0=2, m1=128, n0=2, n1=128, k=192, eight=True), "bm"),
]
# Schedules of a case, at most: all tiles, clusters and roles in turn.
SCHEDULES = 12
# The cases that are compiled with schedules that the selector does not pick by itself,
# and those with schedules that swap the factors.
SCHEDULED = re.compile(r"example_|region_(few|one_row)")
SWAPPED = re.compile(r"swap_|region_(few|one_row|dynamic_few|factors_few|eight_(few|one_row))")
# The cases of which the gradients are derived, and run.
DERIVED = re.compile(r"grad_")
# The graphs of which the gradients are derived, too: attention of heads that share keys.
LAYERS = ["mistral_layer_eager_bf16"]
# The graphs of f32 that are compiled with their products in parts, too, and those of
# which the gradients are derived.
SPLIT = re.compile(r"(_layer_|llama|gemma|einsum|qwen|lmhead).*_f32$")
SPLIT_LAYERS = ["llama3_layer_eager_f32"]
PARTS = ["bf16x3", "bf16x6"]
# Graphs whose weights take minutes to make.
LARGE = re.compile(r"8b|7b")


def cases():
    """(name, graph, recipe, golden or None) of each case; the graph is a path
    or text, the recipe a path or a dictionary."""
    import expert_programs
    import gradient_programs
    import random_regions
    import swapped_regions
    import tall_regions

    for shape, seeds, extents, dynamic in SHAPES:
        for seed in seeds:
            sizes = {name: size for name, size in extents.items() if name != "eight"}
            kernel = random_regions.Kernel(
                seed, random_regions.sizes(**sizes), "eight" in extents)
            args = []
            for i, (name, dims, element) in enumerate(kernel.inputs()):
                size = [kernel.sizes[d] for d in dims]
                # Factors so that the accumulators are O(1).
                depth = max(1, *(kernel.sizes[d] for d in dims if d[0] == "k")) if kernel.is_factor(name) else 3
                scale = (3.0 / depth) ** 0.25
                args.append(dict(shape=size, dtype=element, kind="uniform",
                                 scale=3 ** 0.25 * scale, offset=0.0))
            # Judged below: the tolerance of a recipe is one for all outputs.
            recipe = dict(seed=seed + 1, args=args, tolerance=1.0)
            yield f"region_{shape}_{seed}", kernel.graph(dynamic), recipe, None
    for name, program in tall_regions.programs():
        yield "tall_" + name, program.graph(), program.recipe(), None
    for name, program in swapped_regions.programs():
        yield "swap_" + name, program.graph(), program.recipe(), None
    for name, program in gradient_programs.programs():
        yield "grad_" + name, program.graph(), program.recipe(), None
    for name, program in expert_programs.programs():
        yield name, program.graph(), program.recipe(), None
    for file in sorted(os.listdir(os.path.join(TEST, "Examples"))):
        if file.endswith(".mlir"):
            path = os.path.join(TEST, "Examples", file)
            yield "example_" + file[:-5], path, recipe_of(open(path).read()), None
    graphs = os.path.join(TEST, "Graphs")
    for file in sorted(os.listdir(graphs)):
        stem = os.path.join(graphs, file[:-5])
        if not file.endswith(".mlir") or LARGE.search(file):
            continue
        if "result_of" in open(stem + ".json").read():
            continue  # its inputs come from another graph
        yield "graph_" + file[:-5], stem + ".mlir", stem + ".json", stem + ".npz"
        splits = ["_" + parts for parts in PARTS if SPLIT.search(file[:-5])]
        for parts in splits:
            yield "graph_" + file[:-5] + parts, stem + ".mlir", stem + ".json", stem + ".npz"
        if file[:-5] in LAYERS + SPLIT_LAYERS:
            with open(stem + ".json") as given:
                recipe = json.load(given)
            # The cotangent of the result, which is as the first argument.
            recipe["args"].append(dict(recipe["args"][0], name="cotangent"))
            for parts in splits or [""]:
                yield "grad_" + file[:-5] + parts, stem + ".mlir", recipe, None


def recipe_of(text):
    """Values for the arguments of @main: factors with a sum of squares of 1
    along their last dim, vectors near 1, integers 0 or 1."""
    signature = re.search(r"@main\((.*?)\)\s*->", text, re.S).group(1)
    args = []
    for extents, element in re.findall(r"tensor<((?:\d+x)*)(\w+)>", signature):
        shape = [int(d) for d in extents.split("x") if d]
        if element[0] == "i":
            args.append(dict(shape=shape, dtype=element, kind="randint", lo=0, hi=2))
            continue
        scale, offset = 3 ** 0.5, 0.0
        if len(shape) == 2:
            scale = (3.0 / shape[1]) ** 0.5
        elif len(shape) < 2:
            scale, offset = 0.25, 1.0
        args.append(dict(shape=shape, dtype=element, kind="uniform", scale=scale, offset=offset))
    return dict(seed=1, args=args, tolerance=1.0)


def limit(output, eight):
    """How far an output may be from the reference: the error rule of coda-run
    by the output's own type; `eight`: of products of 8-bit factors."""
    shape, _, element = output["type"].partition(":")
    size = 1
    for extent in [] if shape == "scalar" else filter(None, shape.split("x")):
        size *= int(extent)
    if element[0] == "i":
        return 0.0
    if element == "f32" or element == "f64":
        return (2.0**-7 if eight else 5e-5) * output["max_ref"] + 1e-6
    most = 2 * output["unfused_error"]
    if element.startswith("f8"):
        most = max(most, output["max_ref"] / (16 if element == "f8E4M3FN" else 8))
    floor = 2.0**-7 if eight else 1e-3 if size < 1000 else 0.0
    return max(most, floor * output["max_ref"]) + 1e-6


def call(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def forced_schedules(name, kernels):
    """(suffix, {key: schedule}) of each variant of a case that is compiled with other
    schedules than the selector's."""
    from coda_bench.candidates import positions
    from swapped_regions import schedules

    if SCHEDULED.match(name):
        selected = {kernel.key: kernel.schedules[0] for kernel in kernels}
        for i, forced in enumerate(positions(kernels, SCHEDULES)):
            if forced != selected:
                yield f"_schedule{i}", forced
    if SWAPPED.match(name):
        swapped = {kernel.key: schedules(name[len("swap_"):], kernel.schedules) for kernel in kernels}
        for i in range(max(map(len, swapped.values()), default=0)):
            yield f"_swapped{i}", {key: found[i] for key, found in swapped.items() if i < len(found)}


def add_schedules(name, source, path, compiler, only):
    """Compiles `source` with schedules that the selector does not pick by itself;
    gives the cases, whose inputs and references are those of `name`."""
    from coda_bench.candidates import kernels_of, write_positions

    found, forced = [], path(".forced.json")
    for suffix, schedules in forced_schedules(name, kernels_of(compiler, source, "sm_90a", [])):
        case = name + suffix
        if not re.search(only, case):
            continue
        write_positions(forced, schedules)
        report = path(".forced-report.json")
        code, text = call([compiler, source, "--target=sm_90a", "--schedule-db=" + forced,
                           "-o", path(suffix + ".gpu.so"), "--report=" + report])
        if code or "unfit-schedule" in text:
            sys.exit(f"{case}: coda-compile ended with {code}: {text}")
        # No product waits for the one before it. A schedule that spills is not taken by
        # the compiler itself, and right all the same.
        with open(report) as file:
            changed = re.search(r"the assembler changed the kernel: [^\"]*serial[^\"]*", file.read())
        os.remove(report)
        if changed and name.startswith("swap_"):
            sys.exit(f"{case}: {changed.group(0)}")
        found.append(dict(name=case, base=name, golden=False, schedules=sorted(schedules.values())))
    if os.path.exists(forced):
        os.remove(forced)
    return found


def prepare(folder, only, tools):
    os.makedirs(folder, exist_ok=True)
    manifest, refused = [], []
    compiler, runner = (os.path.join(tools, t) for t in ("coda-compile", "coda-run"))
    for name, graph, recipe, golden in cases():
        # Those with other schedules need the inputs and the reference.
        variants = [suffix for suffix, kind in (("_schedule", SCHEDULED), ("_swapped", SWAPPED))
                    if kind.match(name) and suffix in only]
        if not re.search(only, name) and not any(
                re.search(only, f"{name}{suffix}{i}") for suffix in variants for i in range(SCHEDULES)):
            continue
        start = time.time()
        path = lambda suffix: os.path.join(folder, name + suffix)
        source = graph
        if "\n" in graph:
            source = path(".mlir")
            with open(source, "w") as file:
                file.write(graph)
        derives, entry = (["--grad"], ["--entry=main_grad"]) if DERIVED.match(name) else ([], [])
        splits = ["--f32-products=" + parts for parts in PARTS if name.endswith("_" + parts)]
        code, text = call([compiler, source, "--target=sm_90a", "-o", path(".gpu.so"),
                           "--report=" + path(".report.json")] + derives + splits)
        if code == 2 and text.startswith("error: ") and text.count("\n") == 1:
            refused.append((name, text.strip()))
            print(f"{name}: refused: {text.strip()}", flush=True)
            continue
        if code:
            sys.exit(f"{name}: coda-compile ended with {code}: {text}")
        case = dict(name=name, entry=entry)
        if isinstance(recipe, dict):
            with open(path(".json"), "w") as file:
                json.dump(recipe, file)
        else:
            with open(path(".json"), "w") as file, open(recipe) as given:
                file.write(given.read())
        inputs = ["--inputs=" + path(".json")]
        if golden:
            with open(path(".ref.npz"), "wb") as file, open(golden, "rb") as given:
                file.write(given.read())
        else:
            for target in ("cpu", "reference"):
                flags = ["--reference"] if target == "reference" else []
                code, text = call([compiler, source, "-o", path(f".{target}.so")] + flags + derives)
                if code:
                    sys.exit(f"{name}: coda-compile for {target} ended with {code}: {text}")
            code, text = call([runner, path(".reference.so"), "--repeat=0", "--out=" + path(".ref.npz")] + inputs + entry)
            if code:
                sys.exit(f"{name}: coda-run on the CPU ended with {code}: {text}")
            os.remove(path(".reference.so"))
        case["golden"] = bool(golden)
        manifest.append(case)
        if SCHEDULED.match(name) or SWAPPED.match(name):
            manifest += add_schedules(name, source, path, compiler, only)
        print(f"{name}: {time.time() - start:.1f} s", flush=True)
        with open(os.path.join(folder, "manifest.json"), "w") as file:
            json.dump(dict(cases=manifest, refused=refused), file, indent=1)
    print(f"{len(manifest)} cases prepared, {len(refused)} refused by the compiler")


def run(folder, only, runner):
    with open(os.path.join(folder, "manifest.json")) as file:
        manifest = json.load(file)
    passed, failed = 0, []
    for case in manifest["cases"]:
        name = case["name"]
        if not re.search(only, name):
            continue
        path = lambda suffix: os.path.join(folder, case.get("base", name) + suffix)
        results = path(".result.json")
        command = [runner, os.path.join(folder, name + ".gpu.so"), "--device=cuda", "--repeat=1", "--inputs=" + path(".json"),
                   "--check=" + path(".ref.npz"), "--json=" + results, *case.get("entry", [])]
        if not case["golden"]:
            command.append("--unfused=" + path(".cpu.so"))
        if os.path.exists(results):
            os.remove(results)
        code, text = call(command)
        wrong = []
        if code == 0 and not case["golden"]:
            with open(results) as file:
                outputs = json.load(file)["outputs"]
            wrong = [o for o in outputs if o["error"] is None or
                     not o["error"] <= limit(o, "_eight" in name)]
        passed += code == 0 and not wrong
        if code or wrong:
            failed.append(name)
            print(f"{name}: FAILED with {code}\n{text}", flush=True)
    for name, why in manifest["refused"]:
        print(f"{name}: refused: {why}")
    print(f"{passed} passed, {len(failed)} failed, {len(manifest['refused'])} refused when compiled")
    for name in failed:
        print("failed:", name)
    return 1 if failed else 0


if __name__ == "__main__":
    steps.main(__doc__, lambda o: [name for name, *_ in cases()],
               lambda o: prepare(o.folder, o.only, o.bin), lambda o: run(o.folder, o.only, o.coda_run))
