# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s prepare %t --bin=%coda_obj_root/bin --only='^llama3_block_bf16$' | FileCheck %s
# CHECK: llama3_block_bf16: compiled
# RUN: %if sm90 && torch %{ env PYTHONPATH=%coda_src_root/python %python %s run %t | FileCheck %s --check-prefix=RAN %}
# RAN-NOT: FAILED
# RAN: 0 failed
"""Forward and backward of Llama blocks in one call, on a GPU, beside torch.

    gpu_gradients.py list
    gpu_gradients.py prepare DIR [--only REGEX] [--bin FOLDER]
    gpu_gradients.py run DIR [--only REGEX]

`prepare` compiles `coda-compile --grad` of graphs of test/Graphs, with and without
gradients of the rotary tables; `run` needs a GPU, torch and python/coda. The
reference is torch's own in f64 (f32 for the large blocks), and an output may be
off by twice what torch's bf16 is (f16 likewise): the error rule of coda-run.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))

import steps  # noqa: E402: found by the path above

GRAPHS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Graphs")
# The arguments cos and sin.
ROTARY = (2, 3)
BLOCKS = ["llama3_block_bf16", "llama3_block_f16", "llama3_8b_block_bf16"]


def prepare(folder, only, tools):
    os.makedirs(folder, exist_ok=True)
    for block in BLOCKS:
        if not re.search(only, block):
            continue
        for constants in ((), ROTARY):
            path = os.path.join(folder, block + (".so" if constants else ".all.so"))
            flags = ["--allow-f16-range"] if block.endswith("_f16") else []
            if constants:
                flags.append("--grad-constants=" + ",".join(map(str, constants)))
            done = subprocess.run(
                [os.path.join(tools, "coda-compile"), os.path.join(GRAPHS, block + ".mlir"),
                 "--target=sm_90a", "--grad", "-o", path, *flags],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit(f"{block}: {done.stdout}")
        with open(os.path.join(GRAPHS, block + ".json")) as file, \
                open(os.path.join(folder, block + ".json"), "w") as copy:
            copy.write(file.read())
        print(f"{block}: compiled", flush=True)


def inputs(torch, recipe, half):
    generator = torch.Generator("cuda").manual_seed(recipe["seed"])
    values = []
    for arg in recipe["args"]:
        shape = arg["shape"]
        if arg["kind"] == "uniform":
            value = torch.rand(shape, generator=generator, device="cuda") * 2 - 1
            value = value * arg["scale"] + arg["offset"]
        else:
            width = shape[-1]
            turns = torch.arange(width // 2, device="cuda").double() * 2 / width
            angle = torch.arange(shape[-2], device="cuda").double()[:, None] * arg["theta"] ** -turns
            table = torch.cos(angle) if arg["kind"] == "rope_cos" else torch.sin(angle)
            value = torch.cat([table, table], -1).expand(shape)
        values.append(value.to(half))
    return values


def block(torch, y, x, cos, sin, wo, n1, wg, wu, wd, n2, wq, wk, wv):
    """From attention to attention, as the graph is written; computed in x's type,
    norms in f32 or more."""
    wide = torch.promote_types(x.dtype, torch.float32)

    def norm(v, w):
        v32 = v.to(wide)
        return w * (v32 * (v32.square().mean(-1, keepdim=True) + 1e-5).rsqrt()).to(v.dtype)

    def heads(v):
        return v.view(*v.shape[:-1], -1, cos.shape[-1]).transpose(1, 2)

    def turn(v):
        a, b = v.chunk(2, -1)
        return v * cos[:, None] + torch.cat([-b, a], -1) * sin[:, None]

    x1 = x + y @ wo.t()
    h = norm(x1, n1)
    x2 = x1 + (torch.nn.functional.silu(h @ wg.t()) * (h @ wu.t())) @ wd.t()
    h = norm(x2, n2)
    return x2, turn(heads(h @ wq.t())), turn(heads(h @ wk.t())), heads(h @ wv.t())


def gradients(torch, arguments, cotangents, dtype):
    arguments = [a.detach().to(dtype).requires_grad_() for a in arguments]
    outputs = block(torch, *arguments)
    grads = torch.autograd.grad(outputs, arguments, [c.to(dtype) for c in cotangents])
    return [o.detach() for o in outputs], list(grads)


def run(folder, only):
    import torch

    import coda
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    failed = passed = 0
    for name in BLOCKS:
        if not re.search(only, name) or not os.path.exists(os.path.join(folder, name + ".json")):
            continue
        half = torch.float16 if name.endswith("_f16") else torch.bfloat16
        with open(os.path.join(folder, name + ".json")) as file:
            arguments = inputs(torch, json.load(file), half)
        generator = torch.Generator("cuda").manual_seed(7)
        cotangents = [torch.randn(o.shape, generator=generator, device="cuda").to(half)
                      for o in block(torch, *arguments)]
        exact = torch.float32 if "8b" in name else torch.float64
        reference = gradients(torch, arguments, cotangents, exact)
        eager = gradients(torch, arguments, cotangents, half)
        for kind in (".all.so", ".so"):
            if not os.path.exists(os.path.join(folder, name + kind)):
                continue
            entry = coda.Artifact.load(os.path.join(folder, name + kind)).main_grad
            got = entry(*arguments, *cotangents)
            torch.cuda.synchronize()
            again = entry(*arguments, *cotangents)
            kept = [i for i in range(len(arguments)) if kind == ".all.so" or i not in ROTARY]
            expected, rough = ([*both[0], *(both[1][i] for i in kept)] for both in (reference, eager))
            labels = [f"result {i}" for i in range(4)] + [f"gradient {i}" for i in kept]
            wrong = []
            for label, out, second, ref, near in zip(labels, got, again, expected, rough):
                error = float((out.to(exact) - ref).abs().max())
                limit = 2 * float((near.to(exact) - ref).abs().max()) + 1e-6
                if ref.numel() < 1000:
                    limit = max(limit, 1e-3 * float(ref.abs().max()) + 1e-6)
                print(f"{name}{kind} {label}: error {error:.3g}, of torch {limit / 2:.3g}")
                if not error <= limit or out.shape != ref.shape:
                    wrong.append(f"{label}: off by {error:.3g}, at most {limit:.3g}")
                if not torch.equal(out.view(torch.int16), second.view(torch.int16)):
                    wrong.append(f"{label}: other bits when it runs again")
            passed += not wrong
            failed += bool(wrong)
            print(f"{name}{kind}: {entry.num_launches} launches", "FAILED " + "; ".join(wrong) if wrong else "good",
                  flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    steps.main(__doc__, lambda o: BLOCKS, lambda o: prepare(o.folder, o.only, o.bin), lambda o: run(o.folder, o.only))
