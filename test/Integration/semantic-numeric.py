# The semantic ops, and tile ops in other types than f64, against numpy.
#
# REQUIRES: numpy
# RUN: %python %s %t %host_cc | FileCheck %s
# CHECK: {{[0-9]+}} cases, 0 results differ
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from decomposed import NUMPY_TYPES, Case, check

numbers = np.random.default_rng(7)


def tensor(array, kind, dynamic=()):
    return "tensor<%s%s>" % ("".join(
        "%sx" % ("?" if i in dynamic else n) for i, n in enumerate(array.shape)), kind)


def random(kind, *shape):
    """Values of the type, in f64."""
    return numbers.standard_normal(shape).astype(NUMPY_TYPES[kind]).astype(np.float64)


# Computed in f32 and rounded once.
TOLERANCE = {"f64": 1e-13, "f32": 2e-6, "f16": 1e-3}


def case(name, text, inputs, outputs, tolerance):
    """`inputs`: name -> (array, type, dynamic dims); `outputs`: (array, type,
    dynamic dims). `text` may use {name} for a type and {0} for a result's."""
    types = {n: tensor(*v) for n, v in inputs.items()}
    results = [tensor(*v) for v in outputs]
    return Case(name, text.format(*results, **types),
                {n: (types[n], v[0]) for n, v in inputs.items()},
                [(t, v[0].shape) for t, v in zip(results, outputs)],
                [v[0] for v in outputs], tolerance)


def scale():
    for name, shape, dims, dynamic in [
            ("rows", (3, 4), [0], ()), ("columns", (3, 4), [1], (0,)), ("all", (3, 4), [0, 1], ()),
            ("none", (3,), [], ()), ("outer", (2, 3, 4), [0, 2], (1,)), ("empty", (0, 4), [0], ())]:
        for kind, factor in [("f64", "f64"), ("f16", "f32"), ("f32", "f64")]:
            v = random(kind, *shape)
            r = random(factor, *(shape[d] for d in dims))
            expected = v * r.reshape([n if d in dims else 1 for d, n in enumerate(shape)])
            yield case("scale_%s_%s_%s" % (name, kind, factor),
                       "%%r0 = coda.scale %%v, %%r along %s : {v}, {r} -> {0}" % dims,
                       {"v": (v, kind, dynamic),
                        "r": (r, factor, [i for i, d in enumerate(dims) if d in dynamic])},
                       [(expected, kind, dynamic)], TOLERANCE[kind])


def rms_norm():
    for name, shape, dynamic in [
            ("vector", (5,), ()), ("rows", (3, 5), (0,)), ("deep", (2, 3, 5), (0, 1)),
            ("one", (3, 1), ()), ("empty", (0, 5), (0,))]:
        for kind in ["f64", "f32", "f16"]:
            for weighted, offset in [(False, 0.0), (True, 0.0), (True, 1.0)]:
                x, w = random(kind, *shape), random(kind, shape[-1])
                expected = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-3)
                inputs = {"x": (x, kind, dynamic)}
                if weighted:
                    expected = expected * (w + offset)
                    inputs["w"] = (w, kind, ())
                yield case(
                    "rms_norm_%s_%s_%d_%d" % (name, kind, weighted, offset),
                    "%r0 = coda.rms_norm %x " + "weight(%w : {w}) " * weighted + "eps 1.0e-03 "
                    + "{{offset = 1.0 : f64}} " * bool(offset) + ": {x} -> {0}",
                    inputs, [(expected, kind, dynamic)], TOLERANCE[kind])
    # All-zero rows are 0, not NaN.
    zero = np.zeros((2, 4))
    yield case("rms_norm_zero", "%r0 = coda.rms_norm %x eps 1.0e-05 : {x} -> {0}",
               {"x": (zero, "f32", ())}, [(zero, "f32", ())], 0.0)


def glu():
    erf = np.vectorize(math.erf, otypes=[np.float64])
    tanh = lambda g, c: g / 2 * (1 + np.tanh(c * (g + 0.044715 * g ** 3)))
    kinds = {
        "silu": lambda g: g / (1 + np.exp(-g)),
        "gelu_tanh": lambda g: tanh(g, math.sqrt(2 / math.pi)),
        "gelu_erf": lambda g: g / 2 * (1 + erf(g / math.sqrt(2))),
        "relu": lambda g: np.maximum(g, 0),
        "sigmoid": lambda g: 1 / (1 + np.exp(-g)),
    }
    for kind, activation in kinds.items():
        for name, shape, dynamic in [("vector", (7,), ()), ("deep", (2, 3, 4), (0, 2)),
                                     ("scalar", (), ()), ("empty", (3, 0), ())]:
            for dtype in ["f64", "f32", "f16"]:
                g, u = 2 * random(dtype, *shape), random(dtype, *shape)
                yield case("glu_%s_%s_%s" % (kind, name, dtype),
                           "%%r0 = coda.glu %s %%g, %%u : {g}, {u} -> {0}" % kind,
                           {"g": (g, dtype, dynamic), "u": (u, dtype, dynamic)},
                           [(activation(g) * u, dtype, dynamic)], TOLERANCE[dtype])
    # Far out: exp(-g) overflows to inf, and the quotient is 0.
    far = np.array([-1e4, -100.0, 100.0, 1e4])
    yield case("glu_far", "%r0 = coda.glu silu %g, %u : {g}, {u} -> {0}",
               {"g": (far, "f32", ()), "u": (np.ones(4), "f32", ())},
               [(np.maximum(far, 0), "f32", ())], 1e-6)
    g, u = random("f64", 5), random("f64", 5)
    yield case("glu_own_scale",
               "%r0 = coda.glu gelu_tanh %g, %u {{tanh_scale = 0.75 : f64}} : {g}, {u} -> {0}",
               {"g": (g, "f64", ()), "u": (u, "f64", ())}, [(tanh(g, 0.75) * u, "f64", ())], 1e-13)


def rope():
    for layout in ["half", "interleaved"]:
        for width in ["elements", "pairs"]:
            for name, shape, dims, dynamic in [
                    ("vector", (6,), [], ()), ("tokens", (3, 4), [0], (0,)),
                    ("heads", (2, 3, 4, 6), [0, 2], (2,)), ("swapped", (2, 3, 4), [1, 0], ()),
                    ("one_pair", (3, 2), [0], ()), ("empty", (0, 4), [0], (0,))]:
                for kind, table in [("f64", "f64"), ("f16", "f32")]:
                    pairs = shape[-1] // 2
                    x = random(kind, *shape)
                    rows = [shape[d] for d in dims]
                    c, s = (random(table, *rows, pairs * (1 + (width == "elements")))
                            for _ in range(2))

                    def pair(a, shared):
                        """The two elements of each pair."""
                        if shared:
                            return a, a
                        a = a.reshape(*a.shape[:-1], *((2, pairs) if layout == "half" else (pairs, 2)))
                        axis = -2 if layout == "half" else -1
                        return np.take(a, 0, axis), np.take(a, 1, axis)

                    def spread(a):
                        """A table over the dims of x; the last is the pair."""
                        order = np.argsort(dims).tolist() + [len(dims)]
                        return np.transpose(a, order).reshape(
                            [n if d in dims else 1 for d, n in enumerate(shape[:-1])] + [pairs])

                    x0, x1 = pair(x, False)
                    c0, c1 = map(spread, pair(c, width == "pairs"))
                    s0, s1 = map(spread, pair(s, width == "pairs"))
                    forward = x0 * c0 - x1 * s0, x1 * c1 + x0 * s1
                    back = x0 * c0 + x1 * s1, x1 * c1 - x0 * s0
                    rows_dynamic = [i for i, d in enumerate(dims) if d in dynamic]
                    for word, parts in [("", forward), ("transposed ", back)]:
                        both = np.stack(parts, axis=-2 if layout == "half" else -1)
                        yield case(
                            "rope_%s_%s%s_%s_%s" % (layout, word.strip(), width, name, kind),
                            "%%r0 = coda.rope %s %s%%x, %%c, %%s table_dims %s : {x}, {c} -> {0}" % (
                                layout, word, dims),
                            {"x": (x, kind, dynamic), "c": (c, table, rows_dynamic),
                             "s": (s, table, rows_dynamic)},
                            [(both.reshape(shape), kind, dynamic)], TOLERANCE[kind])


def cross_entropy():
    for kind in ["f64", "f32", "f16"]:
        for index in ["i64", "i32"]:
            for dynamic in [(), (0, 1)]:
                z = 4 * random(kind, 6, 5)
                z[4, 2] = -np.inf  # A masked logit.
                # The last class, one ignored, two outside.
                t = np.array([0, 4, -100, 5, 1, -7])
                lse = np.log(np.sum(np.exp(z), axis=1))
                picked = np.array([z[0, 0], z[1, 4], 0, 0, z[4, 1], 0])
                loss = np.where(t == -100, 0, lse - picked)
                result = "f64" if kind == "f64" else "f32"
                yield case(
                    "cross_entropy_%s_%s_%d" % (kind, index, len(dynamic)),
                    "%r0, %r1 = coda.cross_entropy %z, %t ignore_index -100 : {z}, {t} -> {0}",
                    {"z": (z, kind, dynamic), "t": (t, index, dynamic[:1])},
                    [(loss, result, dynamic[:1]), (lse, result, dynamic[:1])],
                    1e-13 if kind == "f64" else 2e-6)
    # Far apart logits: no overflow.
    z = np.array([[1000.0, 0.0], [-1000.0, -1001.0]])
    lse = np.array([1000.0, -1000 + math.log1p(math.exp(-1))])
    yield case("cross_entropy_far",
               "%r0, %r1 = coda.cross_entropy %z, %t ignore_index -1 : {z}, {t} -> {0}",
               {"z": (z, "f32", ()), "t": (np.array([0, 1]), "i32", ())},
               [(lse - np.array([1000.0, -1001.0]), "f32", ()), (lse, "f32", ())], 1e-4)
    yield case("cross_entropy_no_class",
               "%r0, %r1 = coda.cross_entropy %z, %t ignore_index -1 : {z}, {t} -> {0}",
               {"z": (np.zeros((2, 0)), "f64", ()), "t": (np.array([0, -1]), "i64", ())},
               [(np.array([-np.inf, 0.0]), "f64", ()), (np.full(2, -np.inf), "f64", ())], 0.0)


def other_types():
    """Small integers, so that every product and sum is exact."""
    for kind, accumulator in [("f16", "f32"), ("f32", "f32"), ("i8", "i32")]:
        a, b = numbers.integers(-9, 9, (3, 17)), numbers.integers(-9, 9, (4, 17))
        yield case("factors_" + kind, """%%r0 = coda.gemm acc(%%a[m, k] * %%b[n, k] : {a}, {b})
            outs(%%o[m, n] : {o}) {{
          ^bb0(%%x: %s):
            coda.yield %%x : %s
          }}""" % (accumulator, accumulator),
                   {"a": (a, kind, ()), "b": (b, kind, ()),
                    "o": (np.zeros((3, 4)), accumulator, ())},
                   [(a @ b.T, accumulator, ())], 0.0)
    # -0.0 and NaN go through max; NaN through all sums.
    x = np.array([[1.0, np.nan, 2.0], [-np.inf, -np.inf, -np.inf], [np.inf, 0.0, 1.0]])
    with np.errstate(invalid="ignore"):
        expected = [np.max(x, axis=1), np.sum(x, axis=1), np.array([np.nan, -np.inf, np.inf])]
    yield case("not_finite", """%r0, %r1, %r2 = coda.map ins(%x[m, n] : {x})
          outs(fresh max %o[m], fresh add %o[m], fresh logaddexp %o[m] : {o}, {o}, {o}) {{
        ^bb0(%v: f64):
          coda.yield %v, %v, %v : f64, f64, f64
        }}""", {"x": (x, "f64", ()), "o": (np.zeros(3), "f64", ())},
               [(e, "f64", ()) for e in expected], 0.0)
    # Members of a bundle, results in another order.
    x, y = random("f64", 3, 4), random("f64", 4)
    yield case("bundle", """%r0, %r1 = coda.bundle -> {0}, {1} {{
          %s = coda.map ins(%x[m, n] : {x}) outs(fresh add %s0[m] : {1}) {{
          ^bb0(%v: f64):
            coda.yield %v : f64
          }}
          %p = coda.map ins(%x[m, n], %y[n] : {x}, {y}) outs(%x[m, n] : {x}) {{
          ^bb0(%v: f64, %w: f64):
            %q = arith.mulf %v, %w : f64
            coda.yield %q : f64
          }}
          coda.yield %p, %s : {0}, {1}
        }}""", {"x": (x, "f64", ()), "y": (y, "f64", ()), "s0": (np.zeros(3), "f64", ())},
               [(x * y, "f64", ()), (x.sum(1), "f64", ())], 1e-13)


def main(folder, compiler):
    cases = [c for make in (scale, rms_norm, glu, rope, cross_entropy, other_types) for c in make()]
    return check(cases, folder, compiler)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
