"""Runs coda ops as what `coda-decompose` makes of them, on numpy arrays.

A program is a list of `Case`s. Each becomes a function on memrefs; all are
lowered by coda-opt and upstream passes, linked into one shared library and
called. Needs coda-opt, mlir-translate and llc on PATH.
"""
import ctypes
import dataclasses
import os
import shutil
import subprocess

import numpy as np

NUMPY_TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8,
    "i32": np.int32, "i64": np.int64,
}

PIPELINE = [
    "--coda-decompose",
    "--one-shot-bufferize=bufferize-function-boundaries",
    "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine",
    "--canonicalize", "--cse", "--convert-scf-to-cf", "--llvm-request-c-wrappers", "--convert-math-to-llvm",
    "--convert-math-to-libm", "--convert-arith-to-llvm", "--convert-index-to-llvm",
    "--finalize-memref-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]


@dataclasses.dataclass
class Case:
    """One op. `text` uses `%name` for each array of `inputs` and defines
    `%r0`, `%r1`, ...; results go to arrays of the `shapes` and element types
    `types`. Types are strings such as "tensor<?x4xf64>"."""
    name: str
    text: str
    inputs: dict  # name -> (tensor type, array)
    results: list  # (tensor type, shape)
    expected: list  # of arrays, in the order of the results
    tolerance: float = 1e-12


def element_type(tensor):
    return tensor[:-1].split("<")[1].split("x")[-1]


def function(case):
    """The case as a function of memrefs: the inputs, then the results."""
    arguments, body = [], []
    for name, (tensor, _) in case.inputs.items():
        memref = "memref" + tensor[len("tensor"):]
        arguments.append("%%m_%s: %s" % (name, memref))
        body.append("%%%s = bufferization.to_tensor %%m_%s restrict : %s to %s" % (
            name, name, memref, tensor))
    body.append(case.text)
    for i, (tensor, _) in enumerate(case.results):
        memref = "memref" + tensor[len("tensor"):]
        arguments.append("%%out%d: %s" % (i, memref))
        body.append(
            "bufferization.materialize_in_destination %%r%d in restrict writable %%out%d"
            " : (%s, %s) -> ()" % (i, i, tensor, memref))
    return "func.func @%s(%s) {\n%s\nreturn\n}\n" % (
        case.name, ", ".join(arguments), "\n".join(body))


def build(text, folder, compiler):
    """Writes the library of the functions in `text` into `folder`; loads it."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "cases")
    # memrefCopy
    runner = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("llc")))), "lib")
    with open(path + ".mlir", "w", encoding="utf-8") as f:
        f.write(text)
    for command in [
            ["coda-opt", path + ".mlir", *PIPELINE, "--emit-bytecode", "-o", path + ".mlirbc"],
            ["mlir-translate", "--mlir-to-llvmir", path + ".mlirbc", "-o", path + ".ll"],
            ["llc", "-O0", "-relocation-model=pic", "-filetype=obj", path + ".ll",
             "-o", path + ".o"],
            [compiler, "-shared", path + ".o", "-lm", "-L" + runner, "-Wl,-rpath," + runner,
             "-lmlir_c_runner_utils", "-o", path + ".so"]]:
        subprocess.run(command, check=True)
    return ctypes.CDLL(path + ".so")


def descriptor(array):
    """The C form of a memref that is `array`."""
    rank = array.ndim
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
              ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    kind = type("MemRef%d" % rank, (ctypes.Structure,), {"_fields_": fields})
    result = kind(array.ctypes.data, array.ctypes.data, 0)
    if rank:
        result.sizes = (ctypes.c_int64 * rank)(*array.shape)
        result.strides = (ctypes.c_int64 * rank)(
            *(s // array.itemsize for s in np.empty(array.shape, array.dtype).strides))
    return result


def call(library, case):
    """The results of the case, as arrays."""
    arrays = [np.ascontiguousarray(a, NUMPY_TYPES[element_type(t)]).reshape(np.shape(a))
              for t, a in case.inputs.values()]
    # What a result starts from must not matter.
    outputs = [np.full(shape, 77, NUMPY_TYPES[element_type(t)]) for t, shape in case.results]
    descriptors = [descriptor(a) for a in arrays + outputs]
    getattr(library, "_mlir_ciface_" + case.name)(*map(ctypes.byref, descriptors))
    return outputs


def check(cases, folder, compiler):
    """Runs all cases; prints each that differs. The process's exit code."""
    return compare(build("\n".join(map(function, cases)), folder, compiler), cases)


def compare(library, cases):
    """Calls all cases of the library; prints each that differs from what it
    expects. The process's exit code."""
    failed = 0
    for case in cases:
        for i, (out, expected) in enumerate(zip(call(library, case), case.expected, strict=True)):
            expected = np.asarray(expected)
            assert out.shape == expected.shape, (case.name, i, out.shape, expected.shape)
            wide = out.astype(np.float64)
            if not np.allclose(wide, expected, rtol=case.tolerance, atol=case.tolerance,
                               equal_nan=True):
                failed += 1
                error = np.abs(wide - expected).max() if np.isfinite(expected).all() else np.nan
                print("%s: result %d differs by %.1e:\n%s" % (case.name, i, error, function(case)))
    print("%d cases, %d results differ" % (len(cases), failed))
    return 1 if failed else 0
