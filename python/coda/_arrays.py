"""Between arrays (numpy, DLPack) and DLTensor."""
import contextlib
import ctypes
import sys
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from . import _abi
from .errors import ArgumentError

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

Key = Tuple[int, int, int]  # code, bits and lanes of a DLDataType

_BF16: Key = (4, 16, 1)
_E4M3: Key = (10, 8, 1)  # DLPack 1.1.
_E5M2: Key = (12, 8, 1)
# What numpy has no type for, and the type that holds its bits.
_BITS = {_BF16: np.dtype(np.uint16), _E4M3: np.dtype(np.uint8), _E5M2: np.dtype(np.uint8)}
_NAMES = {
    (0, 8, 1): "int8", (0, 16, 1): "int16", (0, 32, 1): "int32", (0, 64, 1): "int64",
    (1, 8, 1): "uint8", (1, 16, 1): "uint16", (1, 32, 1): "uint32", (1, 64, 1): "uint64",
    (2, 16, 1): "float16", (2, 32, 1): "float32", (2, 64, 1): "float64",
    _BF16: "bfloat16", (6, 8, 1): "bool",
    _E4M3: "float8_e4m3fn", _E5M2: "float8_e5m2",
}
_KEYS = {name: key for key, name in _NAMES.items()}


def dtype_name(key: Key) -> str:
    """What numpy, ml_dtypes and torch all call it."""
    return _NAMES.get(key, "DLDataType%s" % (key,))


def numpy_dtype(key: Key) -> np.dtype:
    """The dtype of a numpy array for it; bf16 and 8-bit floats without ml_dtypes:
    their bits."""
    if key in _BITS:
        return np.dtype(getattr(ml_dtypes, dtype_name(key))) if ml_dtypes else _BITS[key]
    return np.dtype(dtype_name(key))


class Tensor:
    """A DLTensor together with whatever it points to."""

    def __init__(self, pointer, keep: Sequence[Any]):
        self.pointer = pointer
        self._keep = keep

    @classmethod
    def make(cls, address: Optional[int], shape, strides, key: Key, keep=()) -> "Tensor":
        extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        steps = (ctypes.c_int64 * len(strides))(*strides) if strides else None
        tensor = _abi.DLTensor(
            data=address, device=_abi.DLDevice(_abi.CPU, 0), ndim=len(shape),
            dtype=_abi.DLDataType(*key),
            shape=ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64)),
            strides=ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)) if steps else None)
        return cls(ctypes.pointer(tensor), [tensor, extents, steps, *keep])

    @classmethod
    def shape_only(cls, rank: int, key: Key) -> "Tensor":
        """What coda_F_infer writes an output's shape to."""
        return cls.make(None, [-1] * rank, None, key)

    def shape(self) -> Tuple[int, ...]:
        tensor = self.pointer.contents
        return tuple(tensor.shape[i] for i in range(tensor.ndim))


def _from_numpy(array: np.ndarray, want: Key, what: str, writable: bool) -> Tensor:
    if writable and not array.flags.writeable:
        raise ArgumentError("%s is read-only" % what)
    if not array.dtype.isnative:
        raise ArgumentError("%s is not in native byte order" % what)
    if want in _BITS and array.dtype == _BITS[want]:
        key = want  # Bits.
    else:
        key = _KEYS.get(array.dtype.name)
        if key is None:
            raise ArgumentError("%s has dtype %s, which no argument can have" % (
                what, array.dtype))
    size = array.dtype.itemsize
    if any(stride % size for stride in array.strides):
        raise ArgumentError("%s has strides that are no multiple of its elements" % what)
    return Tensor.make(
        array.ctypes.data, array.shape, [s // size for s in array.strides], key, [array])


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is_valid.restype = ctypes.c_int
_capsule_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _capsule(array: Any, stream: Optional[int], what: str) -> Any:
    """What `array` exports: with version and flags where it can, since an array
    that may not be written to can say so only then."""
    device, index = array.__dlpack_device__()
    arguments = {}
    current = contextlib.nullcontext()
    if device == _abi.CUDA:
        # The producer makes the values visible to this stream. 1 is the legacy
        # default stream, which is what the artifact launches on without one.
        arguments["stream"] = stream if stream else 1
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(array, torch.Tensor):
            # torch exports tensors of the current device only.
            current = torch.cuda.device(index)
    try:
        with current:
            try:
                return array.__dlpack__(max_version=(1, 0), **arguments)
            except TypeError:
                return array.__dlpack__(**arguments)
    except (BufferError, RuntimeError, ValueError) as error:
        raise ArgumentError("%s cannot be exported through DLPack: %s" % (
            what, error)) from error


def _torch_bits(array: Any) -> Tuple[Optional[Key], Any]:
    """The key of a torch tensor of 8-bit floats, and a view of its bits: most
    versions of torch do not export them; (None, `array`) for anything else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        key = _KEYS.get(str(getattr(array, "dtype", "")).replace("torch.", ""))
        if key in (_E4M3, _E5M2):
            return key, array.view(torch.uint8)
    return None, array


def _from_dlpack(
    array: Any, want: Key, what: str, stream: Optional[int], writable: bool
) -> Tensor:
    key, source = _torch_bits(array)
    capsule = _capsule(source, stream, what)
    # The capsule stays unconsumed: its destructor frees what it holds.
    if _capsule_is_valid(capsule, b"dltensor_versioned"):
        versioned = _abi.DLManagedTensorVersioned.from_address(
            _capsule_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise ArgumentError("%s speaks DLPack %d.%d, this package 1.0" % (
                what, versioned.major, versioned.minor))
        if writable and versioned.flags & _abi.READ_ONLY:
            raise ArgumentError("%s is read-only" % what)
        tensor = versioned.dl_tensor
    else:
        tensor = _abi.DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    keep = [tensor, capsule, array]
    if key is not None or (want in _BITS and tensor.dtype.key() == _KEYS[_BITS[want].name]):
        tensor = _abi.DLTensor.from_buffer_copy(tensor)
        tensor.dtype = _abi.DLDataType(*(key or want))  # Bits.
        keep.append(tensor)
    return Tensor(ctypes.pointer(tensor), keep)


def to_tensor(
    array: Any, want: Key, what: str, stream: Optional[int] = None, writable: bool = False
) -> Tensor:
    """`array` as a DLTensor over the same memory.

    want    the dtype that the entry declares; only decides what uint16 and uint8
            mean
    what    names the argument in an error
    """
    if isinstance(array, np.ndarray):
        return _from_numpy(array, want, what, writable)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _from_dlpack(array, want, what, stream, writable)
    if not writable and np.isscalar(array):
        return _from_numpy(np.asarray(array, numpy_dtype(want)), want, what, writable)
    raise ArgumentError("%s is a %s: give a numpy array or an object with __dlpack__" % (
        what, type(array).__name__))


def like_torch(arrays: Sequence[Any]) -> Optional[Any]:
    """The torch.device that outputs and workspace are allocated on: that of the
    first torch tensor in `arrays`, or of the first array on a GPU; None: numpy."""
    torch = sys.modules.get("torch")
    if torch is not None:
        for array in arrays:
            if isinstance(array, torch.Tensor):
                return array.device
    for array in arrays:
        if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__"):
            continue
        device, index = array.__dlpack_device__()
        if device != _abi.CUDA:
            continue
        try:
            import torch
        except ImportError as error:
            raise ArgumentError(
                "an argument is on a GPU, where torch allocates outputs and workspace, and "
                "torch is not installed: install it") from error
        return torch.device("cuda", index)
    return None


def empty(shape: Tuple[int, ...], key: Key, torch_device: Optional[Any]) -> Any:
    """A new compact array, aligned as an artifact wants its workspace."""
    if torch_device is not None:
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype_name(key)), device=torch_device)
    dtype = numpy_dtype(key)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    storage = np.empty(size + 64, np.uint8)
    start = -storage.ctypes.data % 64
    return storage[start:start + size].view(dtype).reshape(shape)
