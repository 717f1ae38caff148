# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Some of the programs are compiled everywhere; the cases run where there are a
# GPU and torch.
#
# RUN: rm -rf %t && %python %s prepare %t --bin=%coda_obj_root/bin \
# RUN:   --only='^(gemm_mk_nk_bf16_any|residual_bf16_200x4096|loss_bf16_466x16)$' | FileCheck %s
# CHECK: 3 programs compiled
# What runs as loops has no schedule to be forced.
# RUN: %python %s prepare %t/forced --bin=%coda_obj_root/bin --schedule='256, 192' \
# RUN:   --only='^(wgrad_bf16_136x0|residual_bf16_200x4096)$' | FileCheck %s --check-prefix=FORCED
# FORCED: 2 programs compiled
# RUN: %if sm90 && torch %{ env PYTHONPATH=%coda_src_root/python %python %s run %t | FileCheck %s --check-prefix=RAN %}
# RAN-NOT: FAILED
# RAN: 0 failed
"""The shapes, layouts, addresses and values that break such kernels, on a GPU.

    gpu_matrix.py list
    gpu_matrix.py prepare DIR [--only REGEX] [--bin FOLDER] [--schedule REGEX] [--cluster MxN]
    gpu_matrix.py run DIR [--only REGEX] [--group NAME] [--seconds S]

`prepare` compiles the programs and needs no GPU; `run` needs one, torch,
python/coda on PYTHONPATH, and DIR, which may have come from another machine.
`--schedule='ordered = true'` or `'chunk = 32'` forces the first of a product's candidates
that matches, where there is one; `--cluster=2x1` has products in clusters of two blocks along m that
share factors, with loaded tiles in the ring unless --schedule says otherwise.

Five programs (a plain product in each layout of its factors; residual, weighted
copy and row statistic; SwiGLU; cross-entropy behind a row scale; an accumulating
weight gradient), each with all extents open and with fixed N and K. The
reference is computed by torch in f64. An output may be off by its rounding and by
the error of a sum in f32, which is bounded by the sum of the absolute products;
NaN and infinities must be where the reference has them; runs must give the same
bits.

Groups: `shapes` (every M with every program, values and targets included),
`arguments` (addresses and strides that need a copy in the workspace), `streams` (graph capture, two streams), `large` (more than 2^31
elements), `devices`.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))

import steps  # noqa: E402: found by the path above

MS = [0, 1, 7, 63, 64, 65, 127, 129, 8192]
# Fixed extents of programs: every N and every K with it at least once.
PAIRS = [(8, 4096), (16, 72), (24, 136), (72, 16), (136, 8), (200, 4096), (466, 16),
         (5632, 136), (32000, 72), (128256, 16), (136, 0), (256, 256)]
# Extents (M, N, K) of calls of the programs without fixed ones, pairwise.
CALLS = [(0, 8, 16), (1, 128256, 4096), (1, 8, 0), (7, 16, 8), (7, 466, 72), (63, 24, 136),
         (63, 5632, 0), (64, 72, 4096), (64, 32000, 16), (65, 136, 16), (65, 8, 72), (127, 200, 8),
         (127, 128256, 72), (129, 466, 4096), (129, 5632, 8), (129, 32000, 136), (1, 24, 8),
         (0, 200, 0), (63, 466, 16), (129, 136, 0), (8192, 200, 136), (8192, 5632, 72), (8192, 8, 4096)]
IGNORED = -100


class Program:
    """A function of one gemm. Operands are (name, dims, element); dims are letters
    of m, n and k."""

    def __init__(self, op, half="bf16", left="mk", right="nk", n=None, k=None):
        self.op, self.half, self.left, self.right = op, half, left, right
        self.sizes = dict(m=None, n=n, k=k)
        layout = f"_{left}_{right}" if op == "gemm" else ""
        self.name = f"{op}{layout}_{half}_" + ("any" if n is None else f"{n}x{k}")
        # A weight gradient is contracted over tokens: its k is the open extent.
        if op == "wgrad":
            self.left, self.right = "km", "kn"
            self.sizes = dict(m=n, n=k, k=None)

    def inputs(self):
        half = self.half
        factors = [("a", self.left, half), ("b", self.right, half)]
        return factors + {
            "gemm": [],
            "residual": [("res", "mn", half), ("w", "n", half)],
            "swiglu": [("b2", self.right, half)],
            "loss": [("ss", "m", "f32"), ("eps", "", "f32"), ("t", "m", "i64")],
            "wgrad": [("c", "mn", "f32")],
        }[self.op]

    def type(self, dims, element):
        extents = ["?" if self.sizes[d] is None else str(self.sizes[d]) for d in dims]
        return "tensor<" + "x".join(extents + [element]) + ">"

    def text(self):
        half, inputs = self.half, self.inputs()
        ins = [i for i in inputs if i[0] not in ("a", "b", "b2", "t")]
        outs, body = {
            "gemm": ([("o", "mn", half)], [f"%o = arith.truncf %acc : f32 to {half}"]),
            "residual": ([("x", "mn", half), ("h", "mn", half), ("s", "m", "f32")], [
                f"%rf = arith.extf %resv : {half} to f32", f"%wf = arith.extf %wv : {half} to f32",
                "%xf = arith.addf %acc, %rf : f32", "%hf = arith.mulf %xf, %wf : f32",
                "%s = arith.mulf %xf, %xf : f32", f"%x = arith.truncf %xf : f32 to {half}",
                f"%h = arith.truncf %hf : f32 to {half}"]),
            "swiglu": ([("y", "mn", half), ("g", "mn", half), ("u", "mn", half)], [
                "%one = arith.constant 1.0 : f32", "%neg = arith.negf %acc : f32",
                "%e = math.exp %neg : f32", "%d = arith.addf %one, %e : f32",
                "%silu = arith.divf %acc, %d : f32", "%yf = arith.mulf %silu, %acc2 : f32",
                f"%y = arith.truncf %yf : f32 to {half}", f"%g = arith.truncf %acc : f32 to {half}",
                f"%u = arith.truncf %acc2 : f32 to {half}"]),
            "loss": ([("z", "mn", "f32")], [
                "%q = arith.addf %ssv, %epsv : f32", "%r = math.rsqrt %q : f32",
                "%z = arith.mulf %r, %acc : f32"]),
            "wgrad": ([("o", "mn", "f32")], ["%o = arith.addf %cv, %acc : f32"]),
        }[self.op]
        results = [self.type(o[1], o[2]) for o in outs]
        if self.op == "loss":
            results = [self.type("m", "f32")] * 2
        lines = ["func.func @main(" + ", ".join(f"%{n}: {self.type(d, e)}" for n, d, e in inputs)
                 + ") -> (" + ", ".join(results) + ") {"]
        for dim in "mnk":
            if self.sizes[dim] is None:
                name, dims, element = next(i for i in inputs if dim in i[1])
                lines += [f"  %at_{dim} = arith.constant {dims.index(dim)} : index",
                          f"  %size_{dim} = tensor.dim %{name}, %at_{dim} : {self.type(dims, element)}"]
        for name, dims, element in outs:
            sizes = ", ".join(f"%size_{d}" for d in dims if self.sizes[d] is None)
            lines.append(f"  %{name}0 = tensor.empty({sizes}) : {self.type(dims, element)}")
        ref = lambda name, dims: f"%{name}[{', '.join(dims)}]"
        rights = ["b", "b2"] if self.op == "swiglu" else ["b"]
        pairs = ", ".join(f"{ref('a', self.left)} * {ref(r, self.right)}" for r in rights)
        types = ", ".join(f"{self.type(self.left, half)}, {self.type(self.right, half)}" for _ in rights)
        lines.append("  " + ", ".join(f"%{o[0]}r" for o in outs) + f" = coda.gemm acc({pairs} : {types})")
        if ins:
            lines.append("    ins(" + ", ".join(ref(n, d) for n, d, _ in ins) + " : "
                         + ", ".join(self.type(d, e) for _, d, e in ins) + ")")
        kinds = ["fresh add " if self.op == "residual" and o[0] == "s" else "" for o in outs]
        lines.append("    outs(" + ", ".join(c + ref(o[0] + "0", o[1]) for c, o in zip(kinds, outs))
                     + " : " + ", ".join(self.type(o[1], o[2]) for o in outs) + ") {")
        arguments = ["%acc: f32"] + ["%acc2: f32"] * (len(rights) - 1)
        arguments += [f"%{n}v: {e}" for n, _, e in ins]
        lines.append(f"  ^bb0({', '.join(arguments)}):")
        lines += ["    " + line for line in body]
        lines += ["    coda.yield " + ", ".join(f"%{o[0]}" for o in outs) + " : "
                  + ", ".join(o[2] for o in outs), "  }"]
        if self.op == "loss":
            lines += [f"  %loss, %lse = coda.cross_entropy %zr, %t ignore_index {IGNORED} : "
                      f"{self.type('mn', 'f32')}, {self.type('m', 'i64')} -> {self.type('m', 'f32')}",
                      f"  return %loss, %lse : {results[0]}, {results[1]}", "}"]
        else:
            lines += ["  return " + ", ".join(f"%{o[0]}r" for o in outs) + " : " + ", ".join(results), "}"]
        return "\n".join(lines) + "\n"


def programs():
    for left in ("mk", "km"):
        for right in ("nk", "kn"):
            yield Program("gemm", "bf16", left, right)
            yield Program("gemm", "f16", left, right, 200, 136)
            yield Program("gemm", "bf16", left, right, 466, 72)
    for n, k in PAIRS:
        yield Program("gemm", "bf16", n=n, k=k)
    yield Program("gemm", "f16")
    for op in ("residual", "swiglu", "loss", "wgrad"):
        yield Program(op)
        for n, k in PAIRS:
            yield Program(op, n=n, k=k)
        yield Program(op, "f16", n=136, k=72)


# ---- Preparing

def forced_schedules(command, wanted, cluster):
    """A database with a schedule of each product of a program: the first candidate
    that the expression `wanted` matches, else the selector's, in clusters of `cluster`
    blocks if that is given."""
    done = subprocess.run(command + ["--emit=schedules", "-o", "-"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return {}
    forced = {}
    for kernel in json.loads(done.stdout)["kernels"]:
        # What runs as loops has no key.
        if kernel["schedules"] and kernel["key"].startswith(("gemm", "bundle")):
            schedule = next((s for s in kernel["schedules"] if re.search(wanted, s)), kernel["schedules"][0])
            if cluster:
                m, n = cluster.split("x")
                schedule = re.sub(", (split = \\d+|cluster = \\[[^]]*\\])", "", schedule)
                schedule = schedule[:-1] + f", cluster = [{m}, {n}]>"
            forced[kernel["key"]] = dict(schedule=schedule)
    return forced


def prepare(folder, only, tools, wanted=None, cluster=None):
    os.makedirs(folder, exist_ok=True)
    from concurrent.futures import ThreadPoolExecutor

    def compile(program):
        path = lambda suffix: os.path.join(folder, program.name + suffix)
        with open(path(".mlir"), "w") as file:
            file.write(program.text())
        report = path(".report.json")
        command = [os.path.join(tools, "coda-compile"), path(".mlir"), "--target=sm_90a"]
        flags = ["-o", path(".so"), "--report=" + report]
        if wanted or cluster:
            forced = forced_schedules(command, wanted or "ring = true", cluster)
            with open(path(".forced.json"), "w") as file:
                json.dump(dict(version=1, gpus=dict(forced=forced)), file)
            flags.append("--schedule-db=" + path(".forced.json"))
        done = subprocess.run(command + flags, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return program, done.stdout
        if wanted or cluster:
            os.remove(path(".forced.json"))
        if cluster:
            with open(path(".so"), "rb") as file:
                if f"_c{cluster}\0".encode() not in file.read():
                    return program, f"no kernel has clusters of {cluster} blocks"
        os.remove(path(".mlir"))
        with open(report) as file:
            program.slow = "unfused-on-device" in file.read()
        os.remove(report)
        return program, ""

    chosen = [p for p in programs() if re.search(only, p.name)]
    made = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, error in pool.map(compile, chosen):
            if error:
                sys.exit(f"{program.name}: {error}")
            made.append(dict(name=program.name, slow=program.slow))
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        json.dump(made, file, indent=1)
    print(f"{len(made)} programs compiled")


# ---- Running

class Case:
    """A call of a program: values, and how good its results are."""

    def __init__(self, torch, program, m, n, k, values="normal", seed=1):
        self.torch, self.program, self.values = torch, program, values
        self.sizes = dict(m=m, n=n, k=k)
        self.name = f"{program.name} M={m} N={n} K={k}" + ("" if values == "normal" else " " + values)
        generator = torch.Generator("cuda").manual_seed(seed)
        self.half = torch.bfloat16 if program.half == "bf16" else torch.float16

        def normal(dims, scale=1.0):
            shape = [self.sizes[d] for d in dims]
            return torch.randn(shape, generator=generator, device="cuda") * scale

        inputs = {}
        for name, dims, element in program.inputs():
            if name == "t":
                inputs[name] = torch.randint(0, max(n, 1), (m,), generator=generator, device="cuda")
                for at, target in enumerate((0, n - 1, IGNORED, n, n + 7, -1)):
                    inputs[name][at::17] = target
            elif name == "eps":
                inputs[name] = torch.tensor(0.0 if seed % 2 else 1e-6, device="cuda")
            elif name == "ss":
                inputs[name] = normal(dims).square() + 0.1
            else:
                scale = max(k, 1) ** -0.5 if name in ("b", "b2") else 1.0
                inputs[name] = normal(dims, scale).to(self.half if element == program.half else torch.float32)
        self.inputs = inputs
        if values != "normal":
            self.put_special_values()

    def put_special_values(self):
        special = [0.0, float("inf"), float("-inf"), float("nan"), 1e-30, 6e4]
        a = self.inputs["a"]
        rows = a if self.program.left == "mk" else a.t()
        m, k = self.sizes["m"], self.sizes["k"]
        for i, value in enumerate(special):
            if i < m and k:
                rows[i, i % k] = value
            if i + 8 < m:
                rows[i + 8, :] = value
        if "ss" in self.inputs and m > 20:
            self.inputs["ss"][20] = 0.0
            self.inputs["ss"][21] = float("inf")
        if "res" in self.inputs and m > 30:
            for i, value in enumerate(special):
                self.inputs["res"][24 + i] = value

    def references(self):
        """[(name, value in f64, bound of the absolute error)] of the outputs."""
        torch, x = self.torch, {n: v.double() if v.is_floating_point() else v for n, v in self.inputs.items()}
        a = x["a"] if self.program.left == "mk" else x["a"].t()
        right = lambda b: b.t() if self.program.right == "nk" else b
        acc, size = a @ right(x["b"]), a.abs() @ right(x["b"]).abs()
        # What a sum in f32 may be off by.
        error = 2e-5 * torch.nan_to_num(size, 0, 1e300, 0) + 1e-30
        # Of products below the least number of f32 nothing is left.
        op = self.program.op
        if op == "gemm":
            return [("o", acc, error)]
        if op == "wgrad":
            return [("o", x["c"] + acc, error + 1e-6 * x["c"].abs())]
        if op == "residual":
            v = acc + x["res"]
            bound = error + 1e-6 * torch.nan_to_num(v.abs(), 0, 0, 0)
            n = max(1, v.shape[1])
            return [("x", v, bound), ("h", v * x["w"], bound * x["w"].abs()),
                    ("s", v.square().sum(1), ((2 * v.abs() * bound).nan_to_num(0, 0, 0).sum(1)
                                              + 1e-6 * n ** 0.5 * v.square().sum(1).nan_to_num(0, 0, 0)))]
        if op == "swiglu":
            u = a @ right(x["b2"])
            error_u = 2e-5 * torch.nan_to_num(a.abs() @ right(x["b2"]).abs(), 0, 1e300, 0) + 1e-30
            y = acc / (1 + (-acc).exp()) * u
            finite = lambda t: torch.nan_to_num(t.abs(), 0, 0, 0)
            return [("y", y, 2 * (error * finite(u) + error_u * finite(acc)) + 1e-5 * finite(y)),
                    ("g", acc, error), ("u", u, error_u)]
        z = acc * (x["ss"] + x["eps"]).rsqrt()[:, None]
        r = torch.nan_to_num((x["ss"] + x["eps"]).rsqrt(), 0, 0, 0)
        lse = torch.logsumexp(z, 1) if z.shape[1] else torch.full_like(x["ss"], float("-inf"))
        t = x["t"]
        inside = (t >= 0) & (t < z.shape[1])
        picked = torch.zeros_like(lse)
        if z.shape[1]:
            picked = torch.where(inside, z.gather(1, t.clamp(0, z.shape[1] - 1)[:, None])[:, 0], picked)
        loss = torch.where(t == IGNORED, torch.zeros_like(lse), lse - picked)
        bound = (error.amax(1) if z.shape[1] else 0) * r + 2e-5 * (1 + lse.nan_to_num(0, 0, 0).abs())
        return [("loss", loss, 2 * bound + 1e-6 * picked.nan_to_num(0, 0, 0).abs()), ("lse", lse, bound)]

    def check(self, outputs):
        """What is wrong; "" if nothing."""
        torch = self.torch
        for (name, ref, bound), out in zip(self.references(), outputs):
            if tuple(out.shape) != tuple(ref.shape):
                return f"{name} has shape {tuple(out.shape)}, expected {tuple(ref.shape)}"
            if out.numel() == 0:
                continue
            info = torch.finfo(out.dtype)
            got = out.double()
            # A value at the edge of the type's range may be finite or not.
            edge = (ref.abs() + bound > info.max * (1 - info.eps)) & ref.isfinite()
            expected = torch.where(ref.abs() >= info.max * (1 + info.eps / 2), ref * float("inf"), ref)
            wrong = (got.isnan() != expected.isnan()) & ~edge
            wrong |= (got.isinf() != expected.isinf()) & ~edge & ~got.isnan()
            wrong |= got.isinf() & expected.isinf() & (got.sign() != expected.sign())
            both = got.isfinite() & expected.isfinite()
            off = torch.where(both, (got - expected).abs(), torch.zeros_like(got))
            limit = info.eps / 2 * 1.01 * expected.abs() + bound + info.tiny
            wrong |= both & (off > torch.nan_to_num(limit, 0, float("inf"), 0))
            if wrong.any():
                at = tuple(int(i) for i in wrong.nonzero()[0])
                return (f"{name}{list(at)} is {float(got[at])}, expected {float(expected[at])} "
                        f"({int(wrong.sum())} of {wrong.numel()} are wrong)")
        return ""


def poisoned(torch, program, sizes):
    """Outputs that hold what no program may leave."""
    shapes = {"gemm": ["mn"], "residual": ["mn", "mn", "m"], "swiglu": ["mn"] * 3,
              "loss": ["m", "m"], "wgrad": ["mn"]}[program.op]
    half = torch.bfloat16 if program.half == "bf16" else torch.float16
    result = []
    for dims in shapes:
        f32 = dims == "m" or program.op == "wgrad"
        result.append(torch.full([sizes[d] for d in dims], -123.0, device="cuda",
                                 dtype=torch.float32 if f32 else half))
    return result


def bits(torch, tensor):
    return tensor.view(torch.int32 if tensor.element_size() == 4 else torch.int16)


class Runner:
    def __init__(self, folder, only, seconds):
        import torch

        import coda
        self.torch, self.coda, self.folder = torch, coda, folder
        torch.backends.cuda.matmul.allow_tf32 = False
        with open(os.path.join(folder, "manifest.json")) as file:
            made = {entry["name"]: entry["slow"] for entry in json.load(file)}
        self.programs = []
        for program in programs():
            if program.name in made and re.search(only, program.name):
                program.slow = made[program.name]
                self.programs.append(program)
        self.end = time.monotonic() + seconds
        self.passed, self.failed, self.skipped = 0, 0, 0

    def load(self, program):
        return self.coda.Artifact.load(os.path.join(self.folder, program.name + ".so")).main

    def report(self, name, wrong):
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"FAILED {name}: {wrong}", flush=True)

    def out_of_time(self):
        if time.monotonic() < self.end:
            return False
        self.skipped += 1
        return True

    def run_case(self, entry, case, runs):
        torch = self.torch
        arguments = [case.inputs[n] for n, _, _ in case.program.inputs()]
        out = poisoned(torch, case.program, case.sizes)
        try:
            call = entry.bind(*arguments, out=out)
            call()
            torch.cuda.synchronize()
            wrong = case.check(out)
            for i in range(runs - 1 if not wrong else 0):
                first = [o.clone() for o in out]
                for o in out:
                    o.fill_(-321.0)
                call()
                if not all(torch.equal(bits(torch, x), bits(torch, y)) for x, y in zip(first, out)):
                    wrong = f"run {i + 2} gives other bits"
                    break
        except (self.coda.Error, RuntimeError) as error:
            if "CUDA error" in str(error):
                print(f"FAILED {case.name}: {error}", flush=True)
                raise SystemExit(1)
            wrong = f"{type(error).__name__}: {error}"
        self.report(case.name, wrong)

    def extents(self, program, m):
        """Extents of a call of a program with fixed N and K: M is the open one."""
        if program.op == "wgrad":
            return program.sizes["m"], program.sizes["n"], m
        return m, program.sizes["n"], program.sizes["k"]

    def shapes(self):
        for program in self.programs:
            entry = self.load(program)
            if program.sizes["n"] is None:
                calls = CALLS
            else:
                calls = [self.extents(program, m) for m in MS]
            for i, (m, n, k) in enumerate(calls):
                large = m * n * 8 + m * k * 8
                # The reference is in f64; slow programs take a thread an element.
                if large > 3 << 30 or (program.slow and m * n * max(k, 1) > 1 << 34):
                    continue
                if self.out_of_time():
                    continue
                self.run_case(entry, Case(self.torch, program, m, n, k, seed=i + 1),
                              10 if m * n * k < 1 << 28 else 2)
            if self.out_of_time():
                continue
            if program.sizes["n"] is None:
                m, n, k = 129, 136, 72
            else:
                m, n, k = self.extents(program, 129)
            if k:
                self.run_case(entry, Case(self.torch, program, m, n, k, "special values", seed=99), 2)

    def arguments(self):
        """Addresses off by an element, rows apart, rows that are one row, columns
        for rows: results are the same, in whatever form they are asked for."""
        torch = self.torch

        def shifted(x):
            store = torch.empty(x.numel() + 1, dtype=x.dtype, device="cuda")
            view = store[1:].view(x.shape)
            view.copy_(x)
            return view

        def apart(x):
            if x.dim() < 2:
                return None
            store = torch.empty((x.shape[0], x.shape[1] + 8), dtype=x.dtype, device="cuda")
            view = store[:, :x.shape[1]]
            view.copy_(x)
            return view

        def expanded(x):
            return x[:1].expand(x.shape) if x.dim() and x.shape[0] else None

        def turned(x):
            return x.t().contiguous().t() if x.dim() == 2 else None

        for program, sizes in self.moderate():
            entry = self.load(program)
            names = [n for n, _, _ in program.inputs()]
            for how in (shifted, apart, expanded, turned):
                for at in range(len(names) + 3):
                    case = Case(torch, program, *sizes)
                    out = poisoned(torch, program, case.sizes)
                    given = list(out)
                    if at < len(names):
                        changed = how(case.inputs[names[at]])
                        if changed is None:
                            continue
                        case.inputs[names[at]] = changed
                        what = names[at]
                    else:
                        if at - len(names) >= len(out) or how is expanded:
                            continue
                        changed = how(out[at - len(names)])
                        if changed is None:
                            continue
                        given[at - len(names)] = changed
                        what = f"output {at - len(names)}"
                    name = f"{program.name} {what} {how.__name__}"
                    try:
                        entry(*[case.inputs[n] for n in names], out=given)
                        torch.cuda.synchronize()
                    except (self.coda.Error, RuntimeError) as error:
                        self.report(name, f"{type(error).__name__}: {error}")
                        if "CUDA error" in str(error):
                            raise SystemExit(1)
                        continue
                    self.report(name, case.check(given))

    def moderate(self):
        """The programs of moderate, nonempty extents, with their extents."""
        for program in self.programs:
            sizes = (129, 136, 72)
            if program.sizes["n"] is not None:
                if program.sizes["n"] > 5632:
                    continue
                sizes = self.extents(program, 129)
            if all(sizes):
                yield program, sizes

    def streams(self):
        torch = self.torch
        for program, sizes in self.moderate():
            entry = self.load(program)
            names = [n for n, _, _ in program.inputs()]
            case, other = (Case(torch, program, *sizes, seed=s) for s in (1, 3))
            out, expected, second = (poisoned(torch, program, case.sizes) for _ in range(3))
            entry(*[other.inputs[n] for n in names], out=expected)
            torch.cuda.synchronize()
            # A graph made from the values of one case, replayed with another's.
            call = entry.bind(*[case.inputs[n] for n in names], out=out)
            graph = torch.cuda.CUDAGraph()
            try:
                with torch.cuda.graph(graph):
                    call(stream=torch.cuda.current_stream().cuda_stream)
            except (self.coda.Error, RuntimeError) as error:
                self.report(program.name + " graph capture", str(error))
                continue
            for n in names:
                case.inputs[n].copy_(other.inputs[n])
            for _ in range(3):
                for o in out:
                    o.fill_(-321.0)
                graph.replay()
            torch.cuda.synchronize()
            same = all(torch.equal(bits(torch, x), bits(torch, y)) for x, y in zip(out, expected))
            kind = "slow" if program.slow else "fast"
            self.report(f"{program.name} graph capture ({kind})", "" if same else "other bits than a call")
            # Two streams at once, each with its own workspace.
            lanes = [torch.cuda.Stream(), torch.cuda.Stream()]
            calls = [entry.bind(*[other.inputs[n] for n in names], out=o) for o in (out, second)]
            for o in out + second:
                o.fill_(-321.0)
            torch.cuda.synchronize()
            for _ in range(20):
                for lane, bound in zip(lanes, calls):
                    bound(stream=lane.cuda_stream)
            torch.cuda.synchronize()
            same = all(torch.equal(bits(torch, x), bits(torch, y))
                       for x, y in zip(out + second, expected + expected))
            self.report(f"{program.name} two streams ({kind})", "" if same else "other bits than a call")

    def large(self):
        """More than 2^31 elements: of a result, of a factor, in both kinds of kernels."""
        torch = self.torch
        for name, m, n, k in [("gemm_mk_nk_bf16_any", 16400, 131072, 8), ("gemm_mk_nk_bf16_any", 530000, 8, 4096),
                              ("gemm_mk_nk_bf16_any", 16400, 131074, 8), ("residual_bf16_128256x16", 16800, 128256, 16),
                              ("gemm_km_nk_bf16_any", 530000, 8, 4096)]:
            program = next((p for p in self.programs if p.name == name), None)
            if program is None or self.out_of_time():
                continue
            entry = self.load(program)
            case = Case(torch, program, m, n, k)
            out = poisoned(torch, program, case.sizes)
            entry(*[case.inputs[i] for i, _, _ in program.inputs()], out=out)
            torch.cuda.synchronize()
            wrong = ""
            for row in list(range(0, m, max(1, m // 24))) + [m - 1]:
                part = Case.__new__(Case)
                part.torch, part.program, part.sizes = torch, program, dict(m=1, n=n, k=k)
                part.inputs = {}
                for i, dims, _ in program.inputs():
                    value = case.inputs[i]
                    part.inputs[i] = value.narrow(dims.index("m"), row, 1) if "m" in dims else value
                wrong = wrong or part.check([o[row:row + 1] for o in out])
                if wrong:
                    wrong = f"row {row}: {wrong}"
            self.report(f"{name} M={m} N={n} K={k}", wrong)
            del out, case
            torch.cuda.empty_cache()

    def devices(self):
        """Each device runs the same artifact and gives the same bits: called with
        any device current, and by a thread for each device at once. Tensors of two
        devices are refused."""
        torch = self.torch
        count = torch.cuda.device_count()
        for program, sizes in self.moderate():
            entry = self.load(program)
            names = [n for n, _, _ in program.inputs()]
            case = Case(torch, program, *sizes)
            moved = [[case.inputs[n].to(f"cuda:{d}") for n in names] for d in range(count)]
            outs = [[o.to(f"cuda:{d}") for o in poisoned(torch, program, case.sizes)] for d in range(count)]
            expected = [bits(torch, o).cpu() for o in self.called(entry, moved[0], outs[0])]

            def same(found):
                return all(torch.equal(bits(torch, o).cpu(), e) for o, e in zip(found, expected))

            for device in range(count):
                for current in range(count):
                    with torch.cuda.device(current):
                        good = same(self.called(entry, moved[device], outs[device]))
                    self.report(f"{program.name} on device {device}, {current} is current",
                                "" if good else "other bits")
            if count == 1:
                continue

            def repeat(device):
                for _ in range(20):
                    self.called(entry, moved[device], outs[device])

            threads = [threading.Thread(target=repeat, args=[d]) for d in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.report(f"{program.name} by {count} threads",
                        "" if all(same(out) for out in outs) else "other bits")
            for wrong in range(len(names)):
                mixed = [moved[int(i == wrong)][i] for i in range(len(names))]
                before = [o.fill_(-321.0).clone() for o in outs[0]]
                try:
                    entry(*mixed, out=outs[0])
                    why = "not refused"
                except self.coda.Error as error:
                    torch.cuda.synchronize(0)
                    # The first tensor's device is that of the call.
                    named = f"(arg{wrong or 1}) is on CUDA device {wrong and 1}, expected {int(not wrong)}"
                    why = "" if named in str(error) else f"not '{named}': {error}"
                    example = str(error)
                    if not all(torch.equal(o, b) for o, b in zip(outs[0], before)):
                        why = "something was written"
                self.report(f"{program.name} with {names[wrong]} on another device", why)
        if count > 1:
            print("tensors of two devices:", example)

    def called(self, entry, inputs, out):
        entry(*inputs, out=out)
        self.torch.cuda.synchronize(inputs[0].device)
        return out


def run(folder, only, groups, seconds):
    runner = Runner(folder, only, seconds)
    for group in groups:
        start = time.monotonic()
        getattr(runner, group)()
        print(f"{group}: {time.monotonic() - start:.1f} s", flush=True)
    print(f"{runner.passed} passed, {runner.failed} failed, {runner.skipped} left out for lack of time")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    groups = ["shapes", "arguments", "streams", "devices"]
    steps.main(
        __doc__, lambda o: [program.name for program in programs()],
        lambda o: prepare(o.folder, o.only, o.bin, o.schedule, o.cluster),
        lambda o: run(o.folder, o.only, o.group or groups, o.seconds),
        schedule=dict(metavar="REGEX", help="of prepare: what a candidate's text has to match"),
        cluster=dict(metavar="MxN", help="of prepare: blocks that share factors, along m and n"),
        group=dict(action="append", metavar="NAME", choices=[*groups, "large"],
                   help="of run: %s (default: all but large)" % ", ".join([*groups, "large"])),
        seconds=dict(type=float, default=600, metavar="S", help="of run: begins no case after these"))
