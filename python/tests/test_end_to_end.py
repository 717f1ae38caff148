"""The real compiler: what coda.compile gives computes the right numbers."""
import ml_dtypes
import numpy as np
import pytest

import coda

# relu(x w + b) with a dynamic number of rows.
LAYER = """
#rows = affine_map<(m, n) -> (m, n)>
#bias = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<?x48x{dtype}>, %w: tensor<48x32x{dtype}>, %b: tensor<32xf32>)
    -> tensor<?x32x{dtype}> {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x48x{dtype}>
  %e = tensor.empty(%m) : tensor<?x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x48x{dtype}>, tensor<48x32x{dtype}>)
      outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
  %o = tensor.empty(%m) : tensor<?x32x{dtype}>
  %r = linalg.generic {{indexing_maps = [#rows, #bias, #rows],
      iterator_types = ["parallel", "parallel"]}}
      ins(%a, %b : tensor<?x32xf32>, tensor<32xf32>) outs(%o : tensor<?x32x{dtype}>) {{
  ^bb0(%acc: f32, %bias: f32, %out: {dtype}):
    %s = arith.addf %acc, %bias : f32
    %p = arith.maximumf %s, %zero : f32
    {round}
    linalg.yield %y : {dtype}
  }} -> tensor<?x32x{dtype}>
  return %r : tensor<?x32x{dtype}>
}}
"""
ROUND = {
    "f32": "%y = arith.addf %p, %zero : f32",
    "bf16": "%y = arith.truncf %p : f32 to bf16",
    "f8E4M3FN": "%y = arith.truncf %p : f32 to f8E4M3FN",
    "f8E5M2": "%y = arith.truncf %p : f32 to f8E5M2",
}
NUMPY = {"f32": np.dtype(np.float32), "bf16": np.dtype(ml_dtypes.bfloat16),
         "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
         "f8E5M2": np.dtype(ml_dtypes.float8_e5m2)}
TOLERANCE = {"f32": 5e-5, "bf16": 8e-3, "f8E4M3FN": 2**-4, "f8E5M2": 2**-3}


@pytest.fixture(scope="module", params=list(ROUND))
def layer(request):
    dtype = request.param
    artifact = coda.compile(LAYER.format(dtype=dtype, round=ROUND[dtype]))
    return artifact, NUMPY[dtype], TOLERANCE[dtype]


def inputs(rows, dtype):
    random = np.random.default_rng(rows)
    return (
        random.standard_normal((rows, 48)).astype(dtype),
        (random.standard_normal((48, 32)) / 7).astype(dtype),
        random.standard_normal(32).astype(np.float32),
    )


def expected(x, w, b):
    x, w, b = (np.asarray(a).astype(np.float64) for a in (x, w, b))
    return np.maximum(x @ w + b, 0)


def check(got, want, tolerance):
    assert got.shape == want.shape
    if want.size:
        error = np.abs(got.astype(np.float64) - want).max()
        assert error <= tolerance * np.abs(want).max()


@pytest.mark.parametrize("rows", [1, 3, 64, 129, 0])
def test_numbers(layer, rows):
    artifact, dtype, tolerance = layer
    arguments = inputs(rows, dtype)
    got = artifact.main(*arguments)
    assert got.dtype == dtype
    check(got, expected(*arguments), tolerance)


def test_describes_itself(layer):
    artifact, dtype, _ = layer
    assert artifact.target == "cpu"
    assert [a.shape for a in artifact.main.inputs] == [(-1, 48), (48, 32), (32,)]
    assert [a.dtype for a in artifact.main.outputs] == [dtype.name]


@pytest.mark.parametrize("dtype", ["f8E4M3FN", "f8E5M2"])
def test_eight_bits_as_bits_and_from_torch(dtype):
    artifact = coda.compile(LAYER.format(dtype=dtype, round=ROUND[dtype]))
    x, w, b = inputs(5, NUMPY[dtype])
    want = artifact.main(x, w, b)
    bits = np.empty((5, 32), np.uint8)
    artifact.main(x.view(np.uint8), w.view(np.uint8), b, out=[bits])
    np.testing.assert_array_equal(bits, want.view(np.uint8))
    with pytest.raises(coda.ArgumentError, match="argument 0.*expected %s" % dtype):
        artifact.main(x.astype(np.float16), w, b)
    torch = pytest.importorskip("torch")
    kind = getattr(torch, NUMPY[dtype].name)
    got = artifact.main(*(torch.from_numpy(a.view(np.uint8)).view(kind) for a in (x, w)),
                        torch.from_numpy(b))
    assert got.dtype == kind
    np.testing.assert_array_equal(got.view(torch.uint8).numpy(), bits)


def test_refuses_wrong_arguments(layer):
    artifact, dtype, _ = layer
    x, w, b = inputs(4, dtype)
    with pytest.raises(coda.ArgumentError, match="argument 1.*expected 32"):
        artifact.main(x, w[:, :16].copy(), b)
    with pytest.raises(coda.ArgumentError, match="argument 2"):
        artifact.main(x, w, b.astype(np.float64))
    with pytest.raises(coda.ArgumentError, match="argument 0"):
        artifact.main(x[0], w, b)


def test_strided_arguments_are_right_or_refused(layer):
    artifact, dtype, tolerance = layer
    x, w, b = inputs(6, dtype)
    wide = np.zeros((6, 96), dtype)
    wide[:, :48] = x
    for view in wide[:, :48], np.asfortranarray(x):
        try:
            got = artifact.main(view, w, b)
        except coda.ArgumentError as error:
            assert "stride" in str(error)
        else:
            check(got, expected(x, w, b), tolerance)


def test_the_compilers_refusal_is_an_exception():
    with pytest.raises(coda.CompileError, match=r"error: .*") as caught:
        coda.compile("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %y }")
    assert caught.value.returncode == 2
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(coda.CompileError, match="no-such-flag"):
        coda.compile(LAYER.format(dtype="f32", round=ROUND["f32"]), no_such_flag=True)
