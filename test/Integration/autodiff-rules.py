# The gradients of norms and losses as closed forms, and Euler's theorem.
#
# REQUIRES: numpy
# RUN: %python %s %t %host_cc | FileCheck %s
# CHECK-COUNT-8: ok
# CHECK-NOT: wrong
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from decomposed import build, call, function
from differentiated import Differentiable, differentiate, unwrap, wrapper

FORM = ("builtin.module(func.func(coda-normalize),canonicalize,cse,func.func(coda-commute,"
        "coda-form-tile-ops{all=true}),canonicalize,cse,func.func(coda-fuse),canonicalize,cse)")
THEN = ["func.func(coda-fuse)", "canonicalize", "cse"]
M, N, K, V = 6, 8, 10, 9
rng = np.random.default_rng(7)
failed = []


def tensor(*shape):
    return "tensor<%sf64>" % "".join("%dx" % n for n in shape)


def gradients(folder, body, inputs, results, cotangents):
    """Fused IR of the backward, results and gradients; `folder` is used once."""
    name = "f"
    source = Differentiable(name, body, inputs, results).source()
    formed = subprocess.run(["coda-opt", "--pass-pipeline=" + FORM], input=source,
                            capture_output=True, text=True, check=True).stdout
    text = differentiate(formed, [name], "", THEN)
    floats = [(t, a.shape) for t, a in inputs if t.endswith("f64>")]
    case = wrapper("g", name + "_grad", inputs + [(t, c) for (t, _), c in zip(results, cotangents)],
                   results + floats)
    head, rest = unwrap(text)
    library = build(head + rest + function(case), os.path.join(sys.argv[1], folder), sys.argv[2])
    outputs = call(library, case)
    backward = re.search(r"func\.func @%s_bwd\(.*?\n  }" % name, text, re.S).group(0)
    return backward, outputs[:len(results)], outputs[len(results):]


def check(name, pairs, condition=True):
    error = max(np.abs(a - b).max() / max(1e-30, np.abs(b).max()) for a, b in pairs)
    good = condition and error < 1e-9
    print("%s: %s (%.1e)" % (name, "ok" if good else "wrong", error))
    if not good:
        failed.append(name)


def matmul(result, left, right, m, k, n):
    return ("%%z_%s = arith.constant 0.0 : f64\n%%e_%s = tensor.empty() : %s\n"
            "%%f_%s = linalg.fill ins(%%z_%s : f64) outs(%%e_%s : %s) -> %s\n"
            "%%%s = linalg.matmul ins(%s, %s : %s, %s) outs(%%f_%s : %s) -> %s\n" % (
                result, result, tensor(m, n), result, result, result, tensor(m, n), tensor(m, n),
                result, left, right, tensor(m, k), tensor(k, n), result, tensor(m, n), tensor(m, n)))


def rms_norm():
    eps = 0.3
    x, w, W, dz = (rng.standard_normal(s) for s in ((M, N), (N,), (N, K), (M, K)))
    body = ("%%h = coda.rms_norm %%x0 weight(%%x1 : %s) eps 0.3 : %s -> %s\n" % (
        tensor(N), tensor(M, N), tensor(M, N)) + matmul("y", "%h", "%x2", M, N, K) +
        "return %%y : %s" % tensor(M, K))
    backward, (z,), (dx, dw, dW) = gradients(
        "rms", body, [(tensor(M, N), x), (tensor(N), w), (tensor(N, K), W)],
        [(tensor(M, K), (M, K))], [dz])
    r = 1 / np.sqrt((x * x).mean(1) + eps)
    c, D = x * r[:, None], dz @ W.T
    # The row sum is over the projected columns, in one map; the gemm has none.
    row_sums = re.findall(r"fresh add %\S+\[m\]", backward)
    check("closed form of the norm's backward", [
        (z, (c * w) @ W), (dw, (D * c).sum(0)), (dW, (c * w).T @ dz),
        (dx, r[:, None] * (D * w - c * ((z * dz).sum(1) / N)[:, None]))], len(row_sums) == 1)
    check("<x, dx> = eps r^2 <z, dz>", [((x * dx).sum(1), eps * r ** 2 * (z * dz).sum(1))])


def layer_norm():
    """As front ends write it: mean, variance, both in the normalised value."""
    eps = 1e-2
    x, w, b, W, dz = (rng.standard_normal(s) for s in ((M, N), (N,), (N,), (N, K), (M, K)))
    x = x + 1
    body = """
%%e = tensor.empty() : %(v)s
%%t = tensor.empty() : %(t)s
%%s = coda.map ins(%%x0[m, n] : %(t)s) outs(fresh add %%e[m] : %(v)s) {
^bb0(%%a: f64):
  coda.yield %%a : f64
}
%%q = coda.map ins(%%x0[m, n], %%s[m] : %(t)s, %(v)s) outs(fresh add %%e[m] : %(v)s) {
^bb0(%%a: f64, %%sum: f64):
  %%n = arith.constant 8.0 : f64
  %%mean = arith.divf %%sum, %%n : f64
  %%d = arith.subf %%a, %%mean : f64
  %%dd = arith.mulf %%d, %%d : f64
  coda.yield %%dd : f64
}
%%h = coda.map ins(%%x0[m, n], %%s[m], %%q[m], %%x1[n], %%x2[n] : %(t)s, %(v)s, %(v)s, %(n)s, %(n)s)
    outs(%%t[m, n] : %(t)s) {
^bb0(%%a: f64, %%sum: f64, %%sq: f64, %%wn: f64, %%bn: f64):
  %%n = arith.constant 8.0 : f64
  %%eps = arith.constant 0.01 : f64
  %%mean = arith.divf %%sum, %%n : f64
  %%var = arith.divf %%sq, %%n : f64
  %%ve = arith.addf %%var, %%eps : f64
  %%r = math.rsqrt %%ve : f64
  %%d = arith.subf %%a, %%mean : f64
  %%c = arith.mulf %%d, %%r : f64
  %%cw = arith.mulf %%c, %%wn : f64
  %%y = arith.addf %%cw, %%bn : f64
  coda.yield %%y : f64
}
""" % {"t": tensor(M, N), "v": tensor(M), "n": tensor(N)}
    body += matmul("y", "%h", "%x3", M, N, K) + "return %%y : %s" % tensor(M, K)
    _, (z,), (dx, dw, db, dW) = gradients(
        "ln", body, [(tensor(M, N), x), (tensor(N), w), (tensor(N), b), (tensor(N, K), W)],
        [(tensor(M, K), (M, K))], [dz])
    mu = x.mean(1, keepdims=True)
    r = 1 / np.sqrt(x.var(1, keepdims=True) + eps)
    c = (x - mu) * r
    D = dz @ W.T
    g = D * w
    check("closed form of the layer norm's backward", [
        (z, (c * w + b) @ W), (dw, (D * c).sum(0)), (db, D.sum(0)), (dW, (c * w + b).T @ dz),
        (dx, r * (g - g.mean(1, keepdims=True) - c * (g * c).mean(1, keepdims=True)))])


def head_norm():
    """A row scale, a norm per head by group_reduce, a rotation: one gemm."""
    H, J, eps, n = 3, 4, 1e-3, 7.0
    A, B, s, gamma, cs, sn = (rng.standard_normal(t) for t in (
        (M, N), (N, H, 2, J), (M,), (2, J), (M, 2, J), (M, 2, J)))
    s = s ** 2 + 0.5
    dY, dS = rng.standard_normal((M, H, 2, J)), rng.standard_normal((M, H))
    body = """
%%o = tensor.empty() : %(y)s
%%p = tensor.empty() : %(h)s
%%y, %%ss = coda.gemm acc(%%x0[m, k] * %%x1[k, n0, u, n1] : %(a)s, %(b)s)
    ins(%%x2[m], %%x3[u, n1], %%x4[m, u, n1], %%x5[m, u, n1] : %(m)s, %(g)s, %(t)s, %(t)s)
    outs(%%o[m, n0, u, n1], fresh add %%p[m, n0] : %(y)s, %(h)s) {
^bb0(%%a0: f64, %%a1: f64, %%s: f64, %%g0: f64, %%g1: f64, %%c0: f64, %%c1: f64, %%s0: f64, %%s1: f64):
  %%n = arith.constant 7.0 : f64
  %%eps = arith.constant 0.001 : f64
  %%width = arith.constant 8.0 : f64
  %%sn = arith.divf %%s, %%n : f64
  %%se = arith.addf %%sn, %%eps : f64
  %%r = math.rsqrt %%se : f64
  %%z0 = arith.mulf %%a0, %%r : f64
  %%z1 = arith.mulf %%a1, %%r : f64
  %%q0 = arith.mulf %%z0, %%z0 : f64
  %%q1 = arith.mulf %%z1, %%z1 : f64
  %%q = arith.addf %%q0, %%q1 : f64
  %%qs = coda.group_reduce add %%q over [n1] : f64
  %%qm = arith.divf %%qs, %%width : f64
  %%qe = arith.addf %%qm, %%eps : f64
  %%qr = math.rsqrt %%qe : f64
  %%u0 = arith.mulf %%z0, %%qr : f64
  %%u1 = arith.mulf %%z1, %%qr : f64
  %%v0 = arith.mulf %%u0, %%g0 : f64
  %%v1 = arith.mulf %%u1, %%g1 : f64
  %%a = arith.mulf %%v0, %%c0 : f64
  %%b = arith.mulf %%v1, %%s0 : f64
  %%y0 = arith.subf %%a, %%b : f64
  %%c = arith.mulf %%v1, %%c1 : f64
  %%d = arith.mulf %%v0, %%s1 : f64
  %%y1 = arith.addf %%c, %%d : f64
  coda.yield %%y0, %%y1, %%q : f64, f64, f64
}
return %%y, %%ss : %(y)s, %(h)s""" % {
        "y": tensor(M, H, 2, J), "h": tensor(M, H), "a": tensor(M, N), "b": tensor(N, H, 2, J),
        "m": tensor(M), "g": tensor(2, J), "t": tensor(M, 2, J)}
    inputs = [(tensor(M, N), A), (tensor(N, H, 2, J), B), (tensor(M), s), (tensor(2, J), gamma),
              (tensor(M, 2, J), cs), (tensor(M, 2, J), sn)]
    _, (y, ss), (dA, dB, ds, dg, _, _) = gradients(
        "heads", body, inputs, [(tensor(M, H, 2, J), (M, H, 2, J)), (tensor(M, H), (M, H))], [dY, dS])
    acc = np.einsum("mk,khuj->mhuj", A, B)
    r = 1 / np.sqrt(s / n + eps)
    R, G, C, S = r[:, None, None, None], gamma[None, None], cs[:, None], sn[:, None]
    z = R * acc
    group = lambda t: np.broadcast_to(t.sum((2, 3), keepdims=True), t.shape)
    q = 1 / np.sqrt(group(z * z) / (2 * J) + eps)
    dzn = np.stack([dY[:, :, 0] * C[:, :, 0] + dY[:, :, 1] * S[:, :, 1],
                    dY[:, :, 1] * C[:, :, 1] - dY[:, :, 0] * S[:, :, 0]], 2)
    dz = dzn * q * G + 2 * z * group(-.5 * q ** 3 / (2 * J) * dzn * z * G) + 2 * z * dS[:, :, None, None]
    dacc = R * dz
    check("norm per head and rotation in the epilogue", [
        (ss, (z * z).sum((2, 3))), (dA, np.einsum("mhuj,khuj->mk", dacc, B)),
        (dB, np.einsum("mk,mhuj->khuj", A, dacc)), (dg, (dzn * z * q).sum((0, 1))),
        (ds, (-.5 * R ** 3 / n * dz * acc).sum((1, 2, 3)))])


def cross_entropy(smoothing, z_loss, cap):
    """lm_head and the loss of each row, row 2 ignored; sum of logits for the
    smoothing, square of lse for the z-loss, a soft cap of the logits."""
    h, W, dl = rng.standard_normal((M, N)), rng.standard_normal((V, N)), rng.standard_normal(M)
    target = np.array([1, 0, -100, 8, 3, 3], np.int64)
    body = """
%%e = tensor.empty() : %(m)s
%%l, %%p, %%s = coda.gemm acc(%%x0[m, k] * %%x1[n, k] : %(h)s, %(w)s) ins(%%x2[m] : tensor<%(M)dxi64>)
    outs(fresh logaddexp %%e[m], fresh add %%e[m], fresh add %%e[m] : %(m)s, %(m)s, %(m)s) {
^bb0(%%a: f64, %%t: i64):
  %%cap = arith.constant %(cap)r : f64
  %%zero = arith.constant 0.0 : f64
  %%ac = arith.divf %%a, %%cap : f64
  %%th = math.tanh %%ac : f64
  %%z = arith.mulf %%th, %%cap : f64
  %%i = coda.index n
  %%ti = arith.index_cast %%t : i64 to index
  %%hit = arith.cmpi eq, %%i, %%ti : index
  %%zt = arith.select %%hit, %%z, %%zero : f64
  coda.yield %%z, %%zt, %%z : f64, f64, f64
}
%%loss = coda.map ins(%%l[m], %%p[m], %%s[m], %%x2[m] : %(m)s, %(m)s, %(m)s, tensor<%(M)dxi64>)
    outs(%%e[m] : %(m)s) {
^bb0(%%lse: f64, %%zt: f64, %%sum: f64, %%t: i64):
  %%c0 = arith.constant %(keep)r : f64
  %%c1 = arith.constant %(mean)r : f64
  %%c2 = arith.constant %(zl)r : f64
  %%zero = arith.constant 0.0 : f64
  %%ignore = arith.constant -100 : i64
  %%a = arith.mulf %%zt, %%c0 : f64
  %%b = arith.mulf %%sum, %%c1 : f64
  %%c = arith.addf %%a, %%b : f64
  %%d = arith.subf %%lse, %%c : f64
  %%sq = arith.mulf %%lse, %%lse : f64
  %%zq = arith.mulf %%sq, %%c2 : f64
  %%y = arith.addf %%d, %%zq : f64
  %%skip = arith.cmpi eq, %%t, %%ignore : i64
  %%out = arith.select %%skip, %%zero, %%y : f64
  coda.yield %%out : f64
}
return %%loss : %(m)s""" % {"m": tensor(M), "h": tensor(M, N), "w": tensor(V, N), "M": M,
                            "keep": 1 - smoothing, "mean": smoothing / V, "zl": float(z_loss),
                            "cap": float(cap)}
    _, (loss,), (dh, dW) = gradients(
        "ce%g-%g-%g" % (smoothing, z_loss, cap), body, [(tensor(M, N), h), (tensor(V, N), W), ("tensor<%dxi64>" % M, target)],
        [(tensor(M), (M,))], [dl])
    a = h @ W.T
    z = cap * np.tanh(a / cap)
    lse = np.log(np.exp(z).sum(1))
    onehot = (np.arange(V) == target[:, None]) * 1.0
    valid = (target != -100) * 1.0
    want = valid * (lse - (1 - smoothing) * (z * onehot).sum(1) - smoothing * z.mean(1) + z_loss * lse ** 2)
    dz = (valid * dl)[:, None] * (np.exp(z - lse[:, None]) * (1 + 2 * z_loss * lse)[:, None]
                                  - (1 - smoothing) * onehot - smoothing / V)
    da = dz * (1 - (z / cap) ** 2)
    check("cross entropy, smoothing %g, z-loss %g, cap %g" % (smoothing, z_loss, cap),
          [(loss, want), (dh, da @ W), (dW, da.T @ h)])


def row_by_column():
    """A matmul whose result is one value is a sum."""
    x, w, dy = rng.standard_normal((1, K)), rng.standard_normal((K, 1)), rng.standard_normal((1, 1))
    body = matmul("y", "%x0", "%x1", 1, K, 1) + "return %%y : %s" % tensor(1, 1)
    _, (y,), (dx, dw) = gradients("dot", body, [(tensor(1, K), x), (tensor(K, 1), w)],
                                  [(tensor(1, 1), (1, 1))], [dy])
    check("a row by a column", [(y, x @ w), (dx, dy @ w.T), (dw, x.T @ dy)])


rms_norm()
layer_norm()
row_by_column()
head_norm()
cross_entropy(0.0, 0.0, 1e6)
cross_entropy(0.1, 0.0, 30.0)
cross_entropy(0.1, 1e-2, 3.0)
sys.exit(bool(failed))
