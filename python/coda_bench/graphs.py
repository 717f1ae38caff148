"""The MLIR of each op: linalg on tensors, as a framework exports it.

Weights are separate arguments in the layout of the model (gate and up; q, k and
v), transposed by an op of the graph, and every value is rounded to bf16 where
torch rounds it. `inputs.separate` makes the tensors for the arguments' names,
`inputs.joined` the op's outputs from the results' names.

Two ops hand statistics to the next kernel, as the layers they stand for do: the
square sums of gemm_rms and the row sums of swiglu_bwd are results per group of
GROUP columns. norm_bwd takes its row statistic as an argument, because the
kernel before it makes it.
"""
from typing import Tuple

from .mlir import Body, Graph, Value
from .ops import EPS, EXPERTS, HEAD_DIM, VOCAB, Op

# The columns that one partial sum covers, as the compiler cuts the sums of a layer:
# 128, or with few rows as many, 16 at least, as give 128 tiles, while a row has no
# more than 128 sums.
GROUP, FEWEST, TILES = 128, 16, 128
TILE, ROW, COLUMN = (0, 1), (0,), (1,)


def _scaled(graph: Graph, z: Value, scale: int) -> Value:
    """z times the row vector `r`, if the op has one."""
    if not scale:
        return z
    r = graph.arguments_by_name("r") or graph.argument("r", z.shape[:-1], "f32")
    return graph.elementwise(
        [z, (r, tuple(range(len(r.shape))))],
        lambda body, x, s: body.narrow(body("arith.mulf", body.wide(x), s)), "bf16")


def _add(graph: Graph, a: Value, b: Value) -> Value:
    return graph.elementwise(
        [a, b], lambda body, x, y: body("arith.addf", x, y, type="bf16"), "bf16")


def _times_column(graph: Graph, x: Value, w: Value) -> Value:
    return graph.elementwise(
        [(w, COLUMN), x], lambda body, s, v: body("arith.mulf", s, v, type="bf16"), "bf16")


def _square(graph: Graph, x: Value) -> Value:
    return graph.elementwise(
        [graph.cast(x, "f32")], lambda body, v: body("arith.mulf", v, v), "f32")


def _rms_norm(graph: Graph, x: Value, w: Value) -> Value:
    total = graph.sum(_square(graph, x), 1)
    width, eps = graph.constant(float(x.shape[1])), graph.constant(EPS)
    r = graph.elementwise(
        [total], lambda body, s: body("math.rsqrt", body(
            "arith.addf", body("arith.divf", s, width), eps)), "f32")
    normal = graph.elementwise(
        [graph.cast(x, "f32"), (r, ROW)],
        lambda body, v, s: body.narrow(body("arith.mulf", v, s)), "bf16")
    return _times_column(graph, normal, w)


def _swiglu(graph: Graph, gate: Value, up: Value) -> Value:
    silu = graph.elementwise(
        [graph.cast(gate, "f32")],
        lambda body, g: body.narrow(body("arith.mulf", g, body.sigmoid(g))), "bf16")
    return graph.elementwise(
        [silu, up], lambda body, s, u: body("arith.mulf", s, u, type="bf16"), "bf16")


def _rope(graph: Graph, z: Value, cos: Value, sin: Value) -> Value:
    """z (M, heads * D) rotated by half-split pairs, in f32; cos, sin (M, D/2)."""
    half = HEAD_DIM // 2
    heads = graph.expand(z, 1, (z.shape[1] // HEAD_DIM, HEAD_DIM))
    low, high = (graph.slice_last(heads, at, half) for at in (0, half))
    table = (0, 2)

    def rotated(op: str, a: Value, b: Value) -> Value:
        def build(body: Body, x: str, y: str, c: str, s: str) -> str:
            return body.narrow(body(
                op, body("arith.mulf", body.wide(x), c), body("arith.mulf", body.wide(y), s)))

        return graph.elementwise([a, b, (cos, table), (sin, table)], build, "bf16")

    return graph.collapse_last(graph.concat_last(
        [rotated("arith.subf", low, high), rotated("arith.addf", high, low)]))


def _rope_tables(graph: Graph, rows: int) -> Tuple[Value, Value]:
    """cos and sin (M, D/2) of a position a row times a frequency a pair."""
    half = HEAD_DIM // 2
    pos, freq = graph.argument("pos", (rows,), "i64"), graph.argument("freq", (half,), "f32")
    angle = graph.elementwise(
        [(pos, ROW), (freq, COLUMN)],
        lambda body, p, f: body("arith.mulf", body("arith.sitofp", p, type="i64 to f32"), f),
        "f32", (rows, half))
    cos, sin = (
        graph.elementwise([angle], lambda body, a, op=op: body(op, a), "f32")
        for op in ("math.cos", "math.sin"))
    return cos, sin


def _group_sums(graph: Graph, value: Value) -> Value:
    """(M, N) in f32 to (M, N / GROUP)."""
    rows, columns = value.shape
    group = GROUP
    while (group > FEWEST and columns <= group // 2 * TILES
           and -(-rows // max(64, group)) * columns < group * TILES):
        group //= 2
    return graph.sum(graph.expand(value, 1, (columns // group, group)), 2)


def _gemm(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (op.M, op.K))
    graph.result("out", graph.linear(a, graph.argument("W", (op.N, op.K))))


def _gemm_fp8(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (op.M, op.K), "f8E4M3FN")
    w = graph.argument("W", (op.N, op.K), "f8E4M3FN")
    rows = op.scale == "row"
    s = graph.argument("s", (op.M,) if rows else (), "f32")
    t = graph.argument("t", (op.N,) if rows else (), "f32")
    z = graph.elementwise(
        [graph.linear(a, w, "f32"), (s, ROW if rows else ()), (t, COLUMN if rows else ())],
        lambda body, x, y, z: body("arith.mulf", body("arith.mulf", x, y), z), "f32")
    if op.out == "bf16":
        graph.result("out", graph.cast(z, "bf16"))
        return
    low, high = graph.constant(-448.0), graph.constant(448.0)

    def quantize(body: Body, x: str, y: str) -> str:
        scaled = body("arith.mulf", x, y)
        clamped = body("arith.maximumf", body("arith.minimumf", scaled, high), low)
        return body("arith.truncf", clamped, type="f32 to f8E4M3FN")

    graph.result("out", graph.elementwise(
        [z, (graph.argument("u", (), "f32"), ())], quantize, "f8E4M3FN"))
    magnitude = graph.elementwise([z], lambda body, x: body("math.absf", x), "f32")
    graph.result("amax", graph.generic(
        [(magnitude, TILE)],
        graph.filled(graph.constant_text("0xFF800000", "f32"), (), "f32"), (), 2,
        lambda body, x, out: body("arith.maximumf", x, out)))


def _gemm_rms(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (op.M, op.K))
    w = graph.argument("W", (op.h, op.K))
    res = graph.argument("res", (op.M, op.h))
    wn = graph.argument("wn", (op.h,))
    x = _add(graph, graph.linear(a, w), res)
    graph.result("x", x)
    graph.result("xw", _times_column(graph, x, wn))
    graph.result("ss", _group_sums(graph, _square(graph, x)))


def _gemm_swiglu(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (op.M, op.h))
    gate, up = (
        _scaled(graph, graph.linear(a, graph.argument(name, (op.F, op.h))), op.scale)
        for name in ("Wg", "Wu"))
    graph.result("y", _swiglu(graph, gate, up))
    if op.keep:
        graph.result("g", gate)
        graph.result("u", up)


def _gemm_rope(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (op.M, op.h))
    q, k, v = (
        _scaled(graph, graph.linear(a, graph.argument(name, (heads * HEAD_DIM, op.h))), op.scale)
        for name, heads in (("Wq", op.Hq), ("Wk", op.Hk), ("Wv", op.Hk)))
    if op.pos:
        cos, sin = _rope_tables(graph, op.M)
    else:
        cos, sin = (graph.argument(name, (op.M, HEAD_DIM // 2), "f32") for name in ("cos", "sin"))
    graph.result("q", _rope(graph, q, cos, sin))
    graph.result("k", _rope(graph, k, cos, sin))
    graph.result("v", v)


def _cross_entropy(graph: Graph, logits: Value, target: Value) -> Value:
    """-log_softmax(logits)[m, target[m]], the maximum subtracted first."""
    rows = logits.shape[:1]
    smallest = graph.filled(graph.constant_text("0xFF800000", "f32"), rows, "f32")
    top = graph.generic(
        [(logits, TILE)], smallest, ROW, 2, lambda body, z, out: body("arith.maximumf", z, out))
    shifted = graph.elementwise(
        [logits, (top, ROW)], lambda body, z, m: body("arith.subf", z, m), "f32")
    total = graph.sum(graph.elementwise(
        [shifted], lambda body, z: body("math.exp", z), "f32"), 1)
    logs = graph.elementwise([total], lambda body, s: body("math.log", s), "f32")
    log_softmax = graph.elementwise(
        [shifted, (logs, ROW)], lambda body, z, s: body("arith.subf", z, s), "f32")
    return graph.elementwise(
        [target],
        lambda body, t: body("arith.negf", body.gathered(log_softmax, t)), "f32")


def _gemm_ce(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (op.M, op.h))
    w = graph.argument("W", (VOCAB, op.h))
    z = _scaled(graph, graph.linear(a, w), op.scale)
    target = graph.argument("target", (op.M,), "i64")
    graph.result("loss", _cross_entropy(graph, graph.cast(z, "f32"), target))


def _swiglu_bwd(op: Op, graph: Graph) -> None:
    dy = graph.argument("dy", (op.M, op.h))
    wd = graph.argument("Wd", (op.h, op.F))
    gate, up = (graph.argument(name, (op.M, op.F)) for name in ("g", "u"))
    d, g, u = (graph.cast(v, "f32") for v in (graph.matmul(dy, wd), gate, up))

    def gate_gradient(body: Body, d: str, g: str, u: str) -> str:
        one = graph.constant(1.0)
        s = body.sigmoid(g)
        inner = body("arith.addf", one, body("arith.mulf", g, body("arith.subf", one, s)))
        outer = body("arith.mulf", body("arith.mulf", d, u), s)
        return body("arith.mulf", outer, inner)

    def up_gradient(body: Body, d: str, g: str) -> str:
        return body("arith.mulf", body("arith.mulf", d, g), body.sigmoid(g))

    dg = graph.elementwise([d, g, u], gate_gradient, "f32")
    du = graph.elementwise([d, g], up_gradient, "f32")
    graph.result("dg", graph.cast(dg, "bf16"))
    graph.result("du", graph.cast(du, "bf16"))
    graph.result("y", graph.elementwise(
        [g, u], lambda body, g, u: body.narrow(body(
            "arith.mulf", body("arith.mulf", g, body.sigmoid(g)), u)), "bf16"))
    if op.stat:
        products = graph.elementwise(
            [dg, g, du, u], lambda body, a, b, c, d: body(
                "arith.addf", body("arith.mulf", a, b), body("arith.mulf", c, d)), "f32")
        graph.result("zdz", _group_sums(graph, products))


def _norm_bwd(op: Op, graph: Graph) -> None:
    if op.proj == "gate_up":
        parts = [("dg", "Wg", op.F), ("du", "Wu", op.F)]
    else:
        parts = [("dq", "Wq", op.h), ("dk", "Wk", op.h), ("dv", "Wv", op.h)]
    products = [
        graph.matmul(graph.argument(d, (op.M, k)), graph.argument(w, (k, op.h)))
        for d, w, k in parts]
    total = products[0]
    for product in products[1:]:
        total = _add(graph, total, product)
    total = graph.cast(total, "f32")
    x = graph.cast(graph.argument("x", (op.M, op.h)), "f32")
    wn = graph.argument("wn", (op.h,))
    dres = graph.argument("dres", (op.M, op.h))
    corr = graph.argument("corr", (op.M,), "f32")

    def gradient(body: Body, d: str, x: str, res: str, w: str, c: str) -> str:
        scaled = body("arith.mulf", d, body.wide(w))
        step = body("arith.addf", scaled, body("arith.mulf", x, c))
        return body.narrow(body("arith.addf", body.wide(res), step))

    graph.result("dx", graph.elementwise(
        [total, x, dres, (wn, COLUMN), (corr, ROW)], gradient, "bf16"))
    graph.result("dwn", graph.sum(graph.elementwise(
        [total, x], lambda body, d, x: body("arith.mulf", d, x), "f32"), 0))


def _experts(op: Op, graph: Graph) -> None:
    a = graph.argument("A", (EXPERTS, op.T, op.K))
    if op.proj == "down":
        w = graph.argument("W", (EXPERTS, op.N, op.K))
        res = graph.argument("res", (EXPERTS, op.T, op.N))
        graph.result("x", _add(graph, graph.linear(a, w), res))
        return
    gate, up = (
        _scaled(graph, graph.linear(a, graph.argument(name, (EXPERTS, op.F, op.K))), 1)
        for name in ("Wg", "Wu"))
    graph.result("y", _swiglu(graph, gate, up))


def _block(op: Op, graph: Graph) -> None:
    M, h, f = op.M, op.h, op.F
    y0, x0 = (graph.argument(name, (M, h)) for name in ("y0", "x0"))
    wo, wn1 = graph.argument("Wo", (h, h)), graph.argument("wn1", (h,))
    x1 = _add(graph, graph.linear(y0, wo), x0)
    normal = _rms_norm(graph, x1, wn1)
    gate, up = (graph.linear(normal, graph.argument(name, (f, h))) for name in ("Wg", "Wu"))
    wd = graph.argument("Wd", (h, f))
    x2 = _add(graph, graph.linear(_swiglu(graph, gate, up), wd), x1)
    normal = _rms_norm(graph, x2, graph.argument("wn2", (h,)))
    q, k, v = (graph.linear(normal, graph.argument(name, (h, h))) for name in ("Wq", "Wk", "Wv"))
    cos, sin = _rope_tables(graph, M)
    graph.result("x2", x2)
    graph.result("q", _rope(graph, q, cos, sin))
    graph.result("k", _rope(graph, k, cos, sin))
    graph.result("v", v)
    if op.bwd:
        graph.constants = ("pos", "freq")


_BUILDERS = {
    "gemm": _gemm, "gemm_fp8": _gemm_fp8, "gemm_rms": _gemm_rms, "gemm_swiglu": _gemm_swiglu, "gemm_rope": _gemm_rope,
    "gemm_ce": _gemm_ce, "swiglu_bwd": _swiglu_bwd, "norm_bwd": _norm_bwd, "experts": _experts,
    "block": _block,
}


def build(op: Op) -> Graph:
    """The graph of `op`."""
    graph = Graph()
    _BUILDERS[op.kind](op, graph)
    return graph
