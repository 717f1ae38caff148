"""Derived gradients of functions of tile ops, against central differences.

A function is text on tensors in f64; `check` differentiates a batch of them in one
run of coda-opt, runs functions and gradients as what coda-decompose makes of
them, and compares, argument by argument, <gradient, v> with the difference of
<cotangents, results> along v. That is <J v, u> = <v, J^T u>.
"""
import dataclasses
import functools
import multiprocessing
import os
import re
import subprocess
import zlib

import numpy as np

from decomposed import Case, build, call, function

STEP = 1e-5


@dataclasses.dataclass
class Differentiable:
    name: str
    text: str  # body; uses `%x0`, ... and ends in `return`
    inputs: list  # (tensor type, array)
    results: list  # (tensor type, shape)

    def source(self):
        return "func.func @%s(%s) -> (%s) {\n%s\n}\n" % (
            self.name, ", ".join("%%x%d: %s" % (i, t) for i, (t, _) in enumerate(self.inputs)),
            ", ".join(t for t, _ in self.results), self.text)


def is_float(tensor):
    return re.search(r"[x<]f(64|32)>$", tensor) is not None


def wrapper(name, callee, inputs, results):
    """The call of `callee`, a function on tensors, as a case."""
    ins = {"a%d" % i: (t, a) for i, (t, a) in enumerate(inputs)}
    text = "%%c:%d = func.call @%s(%s) : (%s) -> (%s)\n" % (
        len(results), callee, ", ".join("%" + n for n in ins),
        ", ".join(t for t, _ in inputs), ", ".join(t for t, _ in results))
    for i, (t, shape) in enumerate(results):
        dims = [d for d, n in enumerate(re.findall(r"([0-9?]+)x", t)) if n == "?"]
        assert not dims, "results are static here"
        text += "%%e%d = tensor.empty() : %s\n%%r%d = linalg.copy ins(%%c#%d : %s) outs(%%e%d : %s) -> %s\n" % (
            i, t, i, i, t, i, t, t)
    return Case(name, text, ins, results, [])


def differentiate(text, names, options, then):
    """`text` with a gradient of each of the functions; `then`: passes."""
    passes = ["coda-autodiff{func=%s %s}" % (n, options) for n in names]
    pipeline = "builtin.module(%s)" % ",".join(
        passes + ["canonicalize", "cse"] + then + ["coda-join-gradient"])
    done = subprocess.run(["coda-opt", "--pass-pipeline=" + pipeline], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("coda-opt failed:\n" + done.stderr[:4000])
    return done.stdout


def unwrap(module):
    """Functions of a printed module, and what stands before it."""
    head, _, rest = module.partition("module {\n")
    return head, rest.rstrip().removesuffix("}")


# Functions that are compiled together: each has a pass of its own over all.
BATCH = 60


def check(functions, folder, compiler, jobs=1, **options):
    """Prints what differs and a summary; the number of functions that do. Batches
    are compiled and run by `jobs` processes. Options are those of check_batch."""
    batches = [(functions[i:i + BATCH], os.path.join(folder, str(i)))
               for i in range(0, len(functions), BATCH)]
    one = functools.partial(check_batch, compiler=compiler, **options)
    # Processes of their own: what a batch loads goes with it.
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        found = pool.starmap(one, batches, chunksize=1)
    for _, _, bad in found:
        for text in bad:
            print(text)
    wrong = sum(len(bad) for _, _, bad in found)
    print("%d functions, %d products, %d functions wrong" % (
        sum(count for count, _, _ in found), sum(products for _, products, _ in found), wrong))
    return wrong


def check_batch(functions, folder, compiler, options="", then=(), again=False, tolerance=2e-6):
    """The functions that were checked, the products that were compared, and what to
    say of each function that is wrong. `again`: also of the gradients' own
    gradients."""
    numbers = {f.name: np.random.default_rng(zlib.crc32(f.name.encode())) for f in functions}
    text = "\n".join(f.source() for f in functions)
    text = differentiate(text, [f.name for f in functions], options, list(then))
    checked = [(f, f.name) for f in functions]
    if again:
        seconds = []
        for f in functions:
            cotangents = [(t, numbers[f.name].standard_normal(s)) for t, s in f.results if is_float(t)]
            gradients = [(t, a.shape) for t, a in f.inputs if is_float(t)]
            seconds.append(Differentiable(f.name + "_grad", "", f.inputs + cotangents,
                                          f.results + gradients))
        # The first backwards are joined already.
        text = re.sub(r" attributes \{coda\.gradient = \{.*?\}\}", "", text)
        text = differentiate(text, [f.name for f in seconds], options, list(then))
        checked += [(f, f.name) for f in seconds]
    cases, plans = [], []
    for f, name in checked:
        rng = numbers[name.split("_grad")[0]]
        cotangents = [(t, rng.standard_normal(s)) for t, s in f.results if is_float(t)]
        gradients = [(t, a.shape) for t, a in f.inputs if is_float(t)]
        plain = wrapper("w_" + name, name, f.inputs, f.results)
        grad = wrapper("g_" + name, name + "_grad", f.inputs + cotangents, f.results + gradients)
        cases += [plain, grad]
        plans.append((f, plain, grad, cotangents))
    head, body = unwrap(text)
    library = build(head + body + "\n".join(map(function, cases)), folder, compiler)
    wrong, products = [], 0
    for f, plain, grad, cotangents in plans:
        rng = numbers[f.name.split("_grad")[0]]
        floats = [i for i, (t, _) in enumerate(f.results) if is_float(t)]
        outputs = call(library, grad)
        bad = []
        for k, i in enumerate(i for i, (t, _) in enumerate(f.inputs) if is_float(t)):
            gradient = outputs[len(f.results) + k]
            array = f.inputs[i][1]
            v = rng.standard_normal(array.shape)
            sums = []
            for s in (STEP, -STEP):
                moved = dict(plain.inputs)
                moved["a%d" % i] = (f.inputs[i][0], array + s * v)
                got = call(library, dataclasses.replace(plain, inputs=moved))
                sums.append(sum((u * got[r]).sum() for (_, u), r in zip(cotangents, floats)))
            difference = (sums[0] - sums[1]) / (2 * STEP)
            product = (gradient * v).sum()
            scale = 1 + abs(difference) + np.linalg.norm(gradient) * np.linalg.norm(v)
            scale += max(map(abs, sums)) * 1e-4
            products += 1
            if not abs(product - difference) <= tolerance * scale:
                bad.append("argument %d: %.9g, differences %.9g" % (i, product, difference))
        if bad:
            wrong.append("%s: %s\n%s" % (f.name, "; ".join(bad), f.source() if f.text else ""))
    return len(plans), products, wrong
