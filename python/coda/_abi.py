"""coda_runtime.h in ctypes. test/unittests/Runtime/ABITest.cpp pins it."""
import ctypes

MODULE_VERSION = 1

# DLDeviceType
CPU = 1
CUDA = 2


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]

    def key(self):
        return (self.code, self.bits, self.lanes)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensorVersioned(ctypes.Structure):
    """What a capsule named "dltensor_versioned" points to (DLPack 1.0)."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


# The flag of a tensor that may not be written to.
READ_ONLY = 1


class Context(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("device", ctypes.c_int32),
        ("stream", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_size_t),
    ]


class ArgInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", DLDataType),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("alias_of", ctypes.c_int32),
    ]


TensorList = ctypes.POINTER(ctypes.POINTER(DLTensor))
CallFn = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(Context), TensorList, ctypes.c_int32)
WorkspaceFn = ctypes.CFUNCTYPE(
    ctypes.c_int32, TensorList, ctypes.c_int32, ctypes.POINTER(ctypes.c_size_t))
InferFn = ctypes.CFUNCTYPE(ctypes.c_int32, TensorList, ctypes.c_int32)


class EntryInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("num_inputs", ctypes.c_int32),
        ("num_outputs", ctypes.c_int32),
        ("args", ctypes.POINTER(ArgInfo)),
        ("num_launches", ctypes.c_int32),
        ("call", CallFn),
        ("workspace", WorkspaceFn),
        ("infer", InferFn),
    ]


InitFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
LastErrorFn = ctypes.CFUNCTYPE(ctypes.c_char_p)


class Module(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32),
        ("target", ctypes.c_char_p),
        ("cpu", ctypes.c_char_p),
        ("num_entries", ctypes.c_int32),
        ("entries", ctypes.POINTER(EntryInfo)),
        ("init", InitFn),
        ("last_error", LastErrorFn),
    ]
