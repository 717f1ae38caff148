"""The ops that are measured: their shapes, products and bytes. Needs no torch.

An op is one kind at one shape. Three modules hold a part of it each: this one
its shape, `graphs` the MLIR that a framework would export for it, `inputs` its
tensors and its reference. Everything is bf16 with f32 accumulation, but for the
factors of gemm_fp8; weights are stored (N, K).
"""
import dataclasses
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from .errors import UsageError

EPS = 1e-6
HEAD_DIM = 128
VOCAB = 32768
# Positions run from 0 to SEQ - 1; the batch is M / SEQ.
SEQ = 8192
DEFAULT_TOKENS = 16384
DEFAULT_HIDDEN = (2048, 4096, 8192)
DECODE_TOKENS = (1, 8, 16, 64)

_FFN = {2048: 5632, 4096: 11008, 8192: 22016}
EXPERTS = 8
# Mixtral's, where it has one.
_EXPERT_FFN = {4096: 14336}


def ffn(hidden: int) -> int:
    """The inner width of the feed-forward layer: Llama's where there is one."""
    return _FFN.get(hidden) or -(-(8 * hidden // 3) // 256) * 256


@dataclasses.dataclass(frozen=True)
class Product:
    """One matrix product: C (m, n) = A (m, k) B (k, n), or a batch of them.

    layout  "nt": B is stored (n, k); "nn": B is stored (k, n); "tn": A is
            stored (k, m)
    width   bytes of an element of the factors; stored: of one of the result
    batch   how many, each of its own factors
    """

    m: int
    n: int
    k: int
    layout: str = "nt"
    width: int = 2
    stored: int = 2
    batch: int = 1

    def flops(self) -> int:
        return 2 * self.batch * self.m * self.n * self.k

    def bytes(self) -> int:
        """Of both factors and the result, each touched once."""
        factors, result = self.m * self.k + self.k * self.n, self.m * self.n
        return self.batch * (self.width * factors + self.stored * result)


class Op:
    """One kind at one shape. `M` tokens, `h` hidden width, `F` = ffn(h), and the
    variant as attributes. Subclasses set `products`."""

    kind = "?"
    # The variants that are measured by default, at every hidden width.
    variants: Sequence[Dict[str, object]] = ({},)
    # Those that are measured for few tokens; None: the op is one of training, or of
    # many tokens.
    decode_variants: Optional[Sequence[Dict[str, object]]] = None

    def __init__(self, M: int, h: int, **variant):
        self.M, self.h, self.F = M, h, ffn(h)
        self.variant = variant
        for name, value in variant.items():
            setattr(self, name, value)
        self.products: List[Product] = []
        self.setup()

    def setup(self):
        raise NotImplementedError

    def tag(self) -> str:
        return ",".join("%s=%s" % pair for pair in self.variant.items()) or "-"

    @property
    def key(self) -> str:
        return "/".join((self.kind, "m%d" % self.M, "h%d" % self.h, self.tag()))

    @property
    def file_stem(self) -> str:
        return self.key.replace("/", "-").replace(",", "-").replace("=", "")

    def flops(self) -> int:
        return sum(product.flops() for product in self.products)

    def bytes(self) -> int:
        """The bytes of the products: the least that memory has to move for them."""
        return sum(product.bytes() for product in self.products)


class Gemm(Op):
    """C = A W^T."""

    kind = "gemm"
    variants = tuple({"proj": p} for p in ("wo", "gate_up", "down", "qkv", "lm_head", "square"))
    decode_variants = tuple({"proj": p} for p in ("wo", "gate_up", "down", "qkv", "lm_head"))

    def setup(self):
        h, f = self.h, self.F
        shapes = {
            "wo": (h, h), "gate_up": (2 * f, h), "down": (h, f), "qkv": (3 * h, h),
            "lm_head": (VOCAB, h), "square": (h, h),
        }
        self.N, self.K = shapes[self.proj]
        if self.proj == "square":
            self.M = h
        self.products = [Product(self.M, self.N, self.K)]


class GemmFp8(Op):
    """C = s t (A W^T), A and W in f8E4M3FN, C in bf16 or, times u, in f8E4M3FN.

    scale: tensor: s and t are numbers; row: s is one a row of A, t one a row of W.
    With out=e4m3 C is clamped to what is finite, and the largest magnitude of s t
    (A W^T) is an output too.
    """

    kind = "gemm_fp8"
    variants = decode_variants = (
        {"proj": "wo", "scale": "tensor", "out": "bf16"},
        {"proj": "gate_up", "scale": "tensor", "out": "bf16"},
        {"proj": "down", "scale": "tensor", "out": "bf16"},
        {"proj": "wo", "scale": "row", "out": "bf16"},
        {"proj": "wo", "scale": "tensor", "out": "e4m3"})

    def setup(self):
        h, f = self.h, self.F
        self.N, self.K = {"wo": (h, h), "gate_up": (2 * f, h), "down": (h, f)}[self.proj]
        self.products = [
            Product(self.M, self.N, self.K, width=1, stored=1 if self.out == "e4m3" else 2)]


class GemmRms(Op):
    """x = A W^T + res; h = rms_norm(x) * wn. wo has K = h, down K = F."""

    kind = "gemm_rms"
    variants = decode_variants = tuple({"proj": p} for p in ("wo", "down"))

    def setup(self):
        self.K = self.h if self.proj == "wo" else self.F
        self.products = [Product(self.M, self.h, self.K)]


class GemmSwiglu(Op):
    """z = A W^T, times a row vector r with scale=1; y = silu(z_gate) z_up.

    keep=1: z is an output too, for training. The rows of W are [gate; up].
    """

    kind = "gemm_swiglu"
    variants = tuple(
        {"keep": keep, "scale": scale} for keep, scale in ((1, 0), (0, 0), (1, 1), (0, 1)))
    decode_variants = ({"keep": 0, "scale": 1},)

    def setup(self):
        self.products = [Product(self.M, 2 * self.F, self.h)]


class GemmRope(Op):
    """qkv = A W^T, times a row vector r with scale=1; RoPE on the heads of q and k.

    The rows of W are [q; k; v], the pairs of a head its halves. kv: number of
    key and value heads, 0 for as many as there are query heads. pos=1: the angles
    are the product of a position a row and a frequency a pair, as a model has
    them; else their cosines and sines are tables. A provider that computes them
    takes the positions in either case.
    """

    kind = "gemm_rope"
    variants = ({"scale": 0}, {"scale": 1}, {"scale": 1, "pos": 1},
                {"scale": 1, "kv": 8}, {"scale": 1, "kv": 8, "pos": 1})
    decode_variants = ({"scale": 1},)
    kv = pos = 0

    def setup(self):
        self.Hq = self.h // HEAD_DIM
        self.Hk = self.kv or self.Hq
        self.N = (self.Hq + 2 * self.Hk) * HEAD_DIM
        self.products = [Product(self.M, self.N, self.h)]


class GemmCE(Op):
    """loss[m] = logsumexp(z[m]) - z[m, target[m]], z = A W^T, times r with scale=1."""

    kind = "gemm_ce"
    variants = ({"scale": 0}, {"scale": 1})

    def setup(self):
        self.products = [Product(self.M, VOCAB, self.h)]


class SwigluBwd(Op):
    """d = dy Wd; dz = dswiglu(d, z); y = swiglu(z) again. Wd is (h, F) as stored.

    stat=1: also zdz[m] = sum_k z dz, which the backward of a deferred norm needs.
    """

    kind = "swiglu_bwd"
    variants = ({"stat": 0}, {"stat": 1})

    def setup(self):
        self.products = [Product(self.M, self.F, self.h, "nn")]


class NormBwd(Op):
    """Backward through z = rms_norm(x) W^T, with a residual gradient dres:

    D = dz W; c = x r; dx = dres + r (D wn - c mean(D wn c)); dwn = sum_m D c.
    gate_up has K = 2F, qkv K = 3h.
    """

    kind = "norm_bwd"
    variants = tuple({"proj": p} for p in ("gate_up", "qkv"))

    def setup(self):
        self.K = 2 * self.F if self.proj == "gate_up" else 3 * self.h
        self.products = [Product(self.M, self.h, self.K, "nn")]


class Experts(Op):
    """A part of the feed-forward layer of EXPERTS experts, which have as many of the M
    tokens each; their weights are one tensor.

    gate_up: z = A W^T times a row vector r, y = silu(z_gate) z_up; down: x = A W^T +
    res. The inner width is that of a mixture of experts.
    """

    kind = "experts"
    variants = ({"proj": "gate_up"}, {"proj": "down"})

    def setup(self):
        self.T = -(-self.M // EXPERTS)  # tokens of an expert
        self.M = self.T * EXPERTS
        self.F = _EXPERT_FFN.get(self.h, self.F)
        self.N, self.K = {"gate_up": (2 * self.F, self.h), "down": (self.h, self.F)}[self.proj]
        self.products = [Product(self.T, self.N, self.K, batch=EXPERTS)]


class Block(Op):
    """A layer from attention to attention, without attention itself:

    x1 = y0 Wo^T + x0; z = rms_norm(x1) wn1 Wgu^T; x2 = swiglu(z) Wd^T + x1;
    qkv = rope(rms_norm(x2) wn2 Wqkv^T), by positions and frequencies. bwd=1: also
    all gradients, given dx2 and dqkv.
    """

    kind = "block"
    variants = ({"bwd": 0}, {"bwd": 1})
    decode_variants = ({"bwd": 0},)

    def setup(self):
        M, h, f = self.M, self.h, self.F
        self.H = h // HEAD_DIM
        self.N = 3 * h
        forward = [Product(M, h, h), Product(M, 2 * f, h), Product(M, h, f), Product(M, 3 * h, h)]
        self.products = list(forward)
        if self.bwd:
            self.products += [Product(p.m, p.k, p.n, "nn") for p in forward]
            self.products += [Product(p.n, p.k, p.m, "tn") for p in forward]


KINDS = {op.kind: op for op in (
    Gemm, GemmFp8, GemmRms, GemmSwiglu, GemmRope, GemmCE, SwigluBwd, NormBwd, Experts,
    Block)}


def known_kinds(kinds: Optional[Iterable[str]]) -> List[str]:
    """`kinds`, None meaning all. Raises UsageError."""
    kinds = list(KINDS) if kinds is None else list(kinds)
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError("unknown op '%s'; there are %s" % (kind, ", ".join(KINDS)))
    return kinds


def select(
    kinds: Optional[Iterable[str]] = None,
    hidden: Sequence[int] = DEFAULT_HIDDEN,
    tokens: Sequence[int] = (DEFAULT_TOKENS,),
    match: Optional[str] = None,
) -> List[Op]:
    """The ops of `kinds` (None: all) at the shapes; `match`: part of their keys.

    Fewer than 128 tokens are a decode step, for which the ops of training are
    left out. Raises UsageError.
    """
    kinds = known_kinds(kinds)
    for width in hidden:
        if width <= 0 or width % HEAD_DIM:
            raise UsageError("hidden width %d is no multiple of %d" % (width, HEAD_DIM))
    found = {}
    for count in tokens:
        if count <= 0 or (count > SEQ and count % SEQ):
            raise UsageError("%d tokens: give up to %d, or a multiple of it" % (count, SEQ))
        for width in hidden:
            for kind in kinds:
                cls = KINDS[kind]
                variants = cls.variants if count >= 128 else cls.decode_variants or ()
                for variant in variants:
                    op = cls(count, width, **variant)
                    if variant.get("kv", 0) >= width // HEAD_DIM:
                        continue
                    if match is None or match in op.key:
                        found.setdefault(op.key, op)
    return list(found.values())


def from_key(key: str) -> Op:
    """The op that has this key. Raises UsageError."""
    try:
        kind, tokens, hidden, tag = shape_of(key)
        variant = {}
        for pair in [] if tag == "-" else tag.split(","):
            name, value = pair.split("=")
            variant[name] = int(value) if value.isdigit() else value
        op = KINDS[kind](tokens, hidden, **variant)
    except (KeyError, ValueError):
        op = None
    if op is None or op.key != key:
        raise UsageError("'%s' is no op of this version; prepare the folder again" % key)
    return op


def shape_of(key: str) -> Tuple[str, int, int, str]:
    """(kind, M, h, tag) of an op's key."""
    kind, tokens, hidden, tag = key.split("/")
    return kind, int(tokens[1:]), int(hidden[1:]), tag
