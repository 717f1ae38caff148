"""Loading and calling, against an artifact written by hand in C."""
import contextlib
import sys
import threading
import types

import ml_dtypes
import numpy as np
import pytest

import coda
from coda._arrays import to_tensor

BF16 = ml_dtypes.bfloat16


@pytest.fixture
def artifact(fake_artifact):
    return coda.Artifact.load(fake_artifact)


class OnlyDLPack:
    """What any other framework's array looks like."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def matrix(rows):
    return np.arange(rows * 4, dtype=np.float32).reshape(rows, 4).astype(BF16)


def test_describes_itself(artifact):
    assert artifact.target == "cpu" and artifact.cpu == "x86-64"
    assert list(artifact.entries) == ["scale", "fail"] and "scale" in dir(artifact)
    scale = artifact.scale
    assert scale.inputs[0] == coda.Argument("x", "bfloat16", (-1, 4))
    assert scale.outputs[0] == coda.Argument("y", "bfloat16", (-1, 4), alias_of=0)
    assert scale.num_launches == 1
    assert repr(scale) == (
        "<coda.Entry scale(x: ?x4xbfloat16, s: float32) -> (y: ?x4xbfloat16, n: int64)>")


def test_calls_with_dynamic_shape(artifact):
    for rows in 0, 1, 3, 200:
        x = matrix(rows)
        y, n = artifact.scale(x, np.float32(2.0))
        assert y.dtype == BF16 and y.shape == (rows, 4)
        np.testing.assert_array_equal(y, x)
        assert n.dtype == np.int64 and n.shape == () and n == 2 * rows


def test_python_scalar(artifact):
    assert artifact.scale(matrix(3), 2)[1] == 6


def test_bf16_bits(artifact):
    x = matrix(3)
    y, _ = artifact.scale(x.view(np.uint16), 1.0)
    np.testing.assert_array_equal(y, x)


def test_dlpack(artifact):
    s = OnlyDLPack(np.asarray(3.0, np.float32))
    assert artifact.scale(matrix(2), s)[1] == 6


class OldDLPack(OnlyDLPack):
    """A framework from before DLPack 1.0."""

    def __dlpack__(self):
        return self._array.__dlpack__()


class OnGPU(OnlyDLPack):
    """An array that says that it is on GPU 3 (its memory is not)."""

    streams = []

    def __dlpack__(self, stream=None, max_version=None):
        self.streams.append(stream)
        return self._array.__dlpack__(max_version=max_version)

    def __dlpack_device__(self):
        return 2, 3


@pytest.mark.parametrize("wrap", [OnlyDLPack, OldDLPack])
def test_dlpack_views(artifact, wrap):
    bits = matrix(6).view(np.uint16)
    y, n = artifact.scale(wrap(bits[2:5]), 1.0)  # An offset is fine, bits are bf16.
    np.testing.assert_array_equal(y, matrix(6)[2:5])
    with pytest.raises(coda.ArgumentError, match="argument 0 must be compact"):
        artifact.scale(wrap(bits[::2]), 1.0)
    with pytest.raises(coda.ArgumentError, match="argument 0 must be bf16"):
        artifact.scale(wrap(np.zeros((2, 4), np.float16)), 1.0)
    x, y, n = wrap(bits), np.empty((6, 4), np.uint16), np.empty((), np.int64)
    artifact.scale(x, 1.0, out=(wrap(y), wrap(n)))
    np.testing.assert_array_equal(y, bits)
    assert n == 6


def test_read_only_arrays_are_inputs_only(artifact):
    x, n = matrix(3).view(np.uint16), np.empty((), np.int64)
    x.flags.writeable = False
    for array in x, x.view(BF16), OnlyDLPack(x):
        np.testing.assert_array_equal(artifact.scale(array, 1.0)[0], matrix(3))
    with pytest.raises(coda.ArgumentError, match="output 0 of scale is read-only"):
        artifact.scale(matrix(3), 1.0, out=(OnlyDLPack(x), n))
    # Before 1.0 numpy cannot say that it is read-only, so it does not export.
    with pytest.raises(coda.ArgumentError, match=r"argument 0 \(x\) of scale cannot be exported"):
        artifact.scale(OldDLPack(x), 1.0)


def test_gpu_arrays_are_ready_on_the_stream_of_the_call():
    for stream, told in (None, 1), (0, 1), (1234, 1234):
        to_tensor(OnGPU(matrix(2).view(np.uint16)), (4, 16, 1), "x", stream)
        assert OnGPU.streams[-1] == told


def test_torch_tensors_are_exported_on_their_own_device(monkeypatch):
    """torch refuses to export a tensor of a device that is not the current one."""
    current = [0]

    @contextlib.contextmanager
    def device(index):
        before, current[0] = current[0], index
        yield
        current[0] = before

    class Strict(OnGPU):
        def __dlpack__(self, **kwargs):
            if current[0] != self.__dlpack_device__()[1]:
                raise BufferError("another device is current")
            return super().__dlpack__(**kwargs)

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        Tensor=Strict, cuda=types.SimpleNamespace(device=device)))
    tensor = to_tensor(Strict(np.zeros(2, np.float32)), (2, 32, 1), "x", stream=11)
    assert tensor.shape() == (2,) and current == [0]


def test_gpu_arrays_need_torch(artifact, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(coda.ArgumentError, match="torch is not installed: install it"):
        artifact.scale(OnGPU(matrix(2).view(np.uint16)), 1.0)


def test_bound_call_sees_new_values(artifact):
    x, s = matrix(2), np.asarray(3.0, np.float32)
    call = artifact.scale.bind(x, s)
    y, n = call()
    assert n == 6
    x[:], s[...] = 1, 5
    assert call() is call.outputs and call.outputs[0] is y
    np.testing.assert_array_equal(y, x)
    assert n == 10
    with pytest.raises(coda.ArgumentError, match="scale takes 2 arguments, got 1"):
        artifact.scale.bind(x)


def test_given_outputs(artifact):
    x, y, n = matrix(2), np.empty((2, 4), BF16), np.empty((), np.int64)
    assert artifact.scale(x, 1.0, out=(y, n))[0] is y
    np.testing.assert_array_equal(y, x)
    y.flags.writeable = False
    with pytest.raises(coda.ArgumentError, match="output 0 of scale is read-only"):
        artifact.scale(x, 1.0, out=(y, n))
    with pytest.raises(coda.ArgumentError, match="scale has 2 outputs, `out` has 1"):
        artifact.scale(x, 1.0, out=[y])


def test_errors_carry_the_artifacts_text(artifact):
    with pytest.raises(coda.ArgumentError, match="scale: argument 0 must be bf16"):
        artifact.scale(np.zeros((2, 4), np.float32), 1.0)
    with pytest.raises(coda.ArgumentError, match="scale: argument 0 must be compact"):
        artifact.scale(matrix(6)[::2], 1.0)
    with pytest.raises(coda.AssertionFailed, match="scale: s must not be negative"):
        artifact.scale(matrix(2), -1.0)
    with pytest.raises(coda.DeviceError, match="scale: no device"):
        artifact.fail()
    assert issubclass(coda.ArgumentError, ValueError)


def test_errors_before_the_call(artifact):
    with pytest.raises(coda.ArgumentError, match="scale takes 2 arguments, got 1"):
        artifact.scale(matrix(2))
    with pytest.raises(coda.ArgumentError, match=r"argument 0 \(x\) of scale is a list"):
        artifact.scale([1, 2], 1.0)
    with pytest.raises(coda.ArgumentError, match="has dtype complex64"):
        artifact.scale(np.zeros((2, 4), np.complex64), 1.0)
    with pytest.raises(coda.ArgumentError, match="native byte order"):
        artifact.scale(matrix(2), np.asarray(1, ">f4"))
    with pytest.raises(AttributeError, match="has no entry 'main'; it has scale, fail"):
        artifact.main


def test_threads(artifact):
    x, failures = matrix(50), []

    def work(value):
        for _ in range(50):
            y, n = artifact.scale(x, value)
            if n != 50 * value or not np.array_equal(y, x):
                failures.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_refuses_other_files(tmp_path, newer_artifact):
    with pytest.raises(coda.ArtifactError, match="does not exist"):
        coda.Artifact.load(tmp_path / "missing.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(coda.ArtifactError, match="cannot be loaded: .*; give a shared library"):
        coda.Artifact.load(tmp_path / "text.so")
    with pytest.raises(coda.ArtifactError, match="version 2 of the artifact table"):
        coda.Artifact.load(newer_artifact)


def test_loads_once_a_device(artifact):
    loaded = []

    class Module:
        @staticmethod
        def init(device):
            loaded.append(device)
            return 3 if device == 5 else 0

        @staticmethod
        def last_error():
            return b"no such device"

    entry = artifact.scale
    entry._module = Module()
    entry(matrix(3), 2)
    entry.bind(matrix(3), 2)()
    assert loaded == [0]
    entry._prepare(1)
    entry(matrix(3), 2)
    assert loaded == [0, 1]
    with pytest.raises(coda.DeviceError, match="no such device"):
        entry._prepare(5)
