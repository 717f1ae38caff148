"""Loads a compiled artifact and calls its entries."""
import ctypes
import dataclasses
import os
import sys
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _abi
from ._arrays import Tensor, dtype_name, empty, like_torch, to_tensor
from .errors import BY_STATUS, ArgumentError, ArtifactError, DeviceError, Error


@dataclasses.dataclass(frozen=True)
class Argument:
    """One input or output of an entry. An extent of -1 is dynamic."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    # Outputs: the input whose storage it may share, or None.
    alias_of: Optional[int] = None


class Entry:
    """A function of an artifact: call it with one array for each input."""

    def __init__(self, library: ctypes.CDLL, module: _abi.Module, info: _abi.EntryInfo):
        self._library = library  # Keeps it loaded.
        self._module = module
        self._info = info
        self.name: str = info.name.decode()
        count = info.num_inputs + info.num_outputs
        raw = [info.args[i] for i in range(count)]
        self._dtypes = [arg.dtype.key() for arg in raw]
        described = [
            Argument(
                (arg.name or b"").decode() or "arg%d" % i, dtype_name(arg.dtype.key()),
                tuple(arg.shape[d] for d in range(arg.ndim)),
                arg.alias_of if arg.alias_of >= 0 else None)
            for i, arg in enumerate(raw)
        ]
        self.inputs: List[Argument] = described[: info.num_inputs]
        self.outputs: List[Argument] = described[info.num_inputs:]
        self.num_launches: int = info.num_launches
        self._workspaces = threading.local()
        self._ready = set()  # Ordinals of the devices that hold the code.

    def __repr__(self):
        def show(args):
            return ", ".join(
                "%s: %s" % (a.name, "x".join(
                    ["?" if n < 0 else str(n) for n in a.shape] + [a.dtype])) for a in args)
        return "<coda.Entry %s(%s) -> (%s)>" % (
            self.name, show(self.inputs), show(self.outputs))

    def __call__(
        self, *arrays: Any, out: Optional[Sequence[Any]] = None, stream: Optional[int] = None
    ) -> Union[Any, Tuple[Any, ...]]:
        """Runs the entry and returns its output, or a tuple of several.

        arrays  numpy arrays, or objects with __dlpack__ such as torch tensors;
                bf16 as ml_dtypes.bfloat16 or as uint16 bits, 8-bit floats
                likewise (uint8). No array is copied.
        out     arrays to write to instead of new ones
        stream  GPU only: the CUstream to launch on, torch's current one by default;
                returns without waiting

        New outputs are torch tensors if an input is one, else numpy arrays.
        Raises ArgumentError, DeviceError or AssertionFailed with the artifact's
        own text.
        """
        tensors, results, torch_device, stream = self._arguments(arrays, out, stream)
        self._run(tensors, torch_device, stream)
        values = tuple(array for array, _ in results)
        return values[0] if len(values) == 1 else values

    def bind(self, *arrays: Any, out: Optional[Sequence[Any]] = None) -> "Call":
        """Converts and checks once what many calls have in common.

        Takes what a call takes. The result launches on the same memory each time
        it is called, with little work on the host; it has a workspace of its own.
        """
        return Call(self, *self._arguments(arrays, out, None))

    def _arguments(self, arrays, out, stream):
        """(input tensors and outputs', [(output, its tensor)], torch device, stream)"""
        if len(arrays) != len(self.inputs):
            raise ArgumentError("%s takes %d arguments, got %d" % (
                self.name, len(self.inputs), len(arrays)))
        torch_device = like_torch(arrays)
        if torch_device is not None and torch_device.type == "cuda" and stream is None:
            stream = sys.modules["torch"].cuda.current_stream(torch_device).cuda_stream
        tensors = [
            to_tensor(array, dtype, "argument %d (%s) of %s" % (i, arg.name, self.name), stream)
            for i, (array, dtype, arg) in enumerate(zip(arrays, self._dtypes, self.inputs))
        ]
        results = self._outputs(tensors, out, torch_device, stream)
        tensors += [tensor for _, tensor in results]
        return tensors, results, torch_device, stream

    def _outputs(self, inputs, out, torch_device, stream) -> List[Tuple[Any, Tensor]]:
        dtypes = self._dtypes[len(inputs):]
        if out is not None:
            out = list(out) if isinstance(out, (tuple, list)) else [out]
            if len(out) != len(self.outputs):
                raise ArgumentError("%s has %d outputs, `out` has %d" % (
                    self.name, len(self.outputs), len(out)))
            return [
                (array, to_tensor(
                    array, dtype, "output %d of %s" % (i, self.name), stream, writable=True))
                for i, (array, dtype) in enumerate(zip(out, dtypes))
            ]
        shapes = self._infer(inputs)
        results = []
        for shape, dtype in zip(shapes, dtypes):
            array = empty(shape, dtype, torch_device)
            results.append((array, to_tensor(array, dtype, "", stream, writable=True)))
        return results

    def _infer(self, inputs: List[Tensor]) -> List[Tuple[int, ...]]:
        """The shapes of the outputs for these inputs."""
        tensors = list(inputs)
        for arg, dtype in zip(self.outputs, self._dtypes[len(inputs):]):
            tensors.append(Tensor.shape_only(len(arg.shape), dtype))
        pointers, count = _pointers(tensors)
        self._check(self._info.infer(pointers, count))
        return [tensor.shape() for tensor in tensors[len(inputs):]]

    def _run(self, tensors: List[Tensor], torch_device, stream) -> None:
        pointers, count = _pointers(tensors)
        context = _context(torch_device, stream)
        self._prepare(context.device)
        workspace = self._workspace(self._workspace_bytes(pointers, count), torch_device)
        if workspace is not None:
            context.workspace, context.workspace_bytes = workspace
        self._check(self._info.call(ctypes.byref(context), pointers, count))

    def _workspace_bytes(self, pointers, count) -> int:
        size = ctypes.c_size_t()
        self._check(self._info.workspace(pointers, count, ctypes.byref(size)))
        return size.value

    def _workspace(self, size: int, torch_device) -> Optional[Tuple[int, int]]:
        """(address, bytes) of this thread's own buffer, kept between calls."""
        if size == 0:
            return None
        buffers: Dict[Any, Any] = self._workspaces.__dict__
        key = str(torch_device)
        if key not in buffers or buffers[key][2] < size:
            buffers[key] = _buffer(size, torch_device)
        return buffers[key][1:]

    def _prepare(self, device: int) -> None:
        """Loads the code on `device`: at the first call for it, or by bind."""
        if self._module.init and device not in self._ready:
            self._check(self._module.init(device))
            self._ready.add(device)

    def _check(self, status: int) -> None:
        if status != 0:
            text = (self._module.last_error() or b"").decode(errors="replace")
            raise BY_STATUS.get(status, Error)(
                text or "%s failed with status %d" % (self.name, status))


class Call:
    """An entry with its arguments, converted and checked: `Entry.bind` makes it."""

    def __init__(self, entry: Entry, tensors: List[Tensor], results, torch_device, stream):
        self._entry = entry
        self._tensors = tensors  # Keeps the memory.
        self.outputs: Tuple[Any, ...] = tuple(array for array, _ in results)
        self._pointers, self._count = _pointers(tensors)
        self._context = _context(torch_device, stream)
        entry._prepare(self._context.device)
        size = entry._workspace_bytes(self._pointers, self._count)
        if size:
            self._buffer, self._context.workspace, self._context.workspace_bytes = _buffer(
                size, torch_device)

    def __call__(self, stream: Optional[int] = None) -> Tuple[Any, ...]:
        """Runs it, on `stream` if given, else on the one that was current for
        `bind`; returns `outputs`. GPU: returns without waiting."""
        if stream is not None:
            self._context.stream = stream
        self._entry._check(self._entry._info.call(
            ctypes.byref(self._context), self._pointers, self._count))
        return self.outputs


def _context(torch_device, stream) -> _abi.Context:
    context = _abi.Context(size=ctypes.sizeof(_abi.Context), stream=stream)
    if torch_device is not None and torch_device.index is not None:
        context.device = torch_device.index
    return context


def _current_device() -> int:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.current_device()
    return 0


def _buffer(size: int, torch_device) -> Tuple[Any, int, int]:
    """(array, address, bytes) of new memory for a workspace."""
    array = empty((size,), (1, 8, 1), torch_device)
    return array, array.data_ptr() if torch_device is not None else array.ctypes.data, size


def _pointers(tensors: List[Tensor]):
    pointers = (ctypes.POINTER(_abi.DLTensor) * len(tensors))(
        *(tensor.pointer for tensor in tensors))
    return pointers, len(tensors)


class Artifact:
    """A shared library that coda-compile wrote. Each entry is an attribute."""

    def __init__(self, path: str, library: ctypes.CDLL, module: _abi.Module):
        self.path = path
        self.target: str = module.target.decode()
        self.cpu: str = (module.cpu or b"").decode()
        self.entries: Dict[str, Entry] = {}
        for i in range(module.num_entries):
            entry = Entry(library, module, module.entries[i])
            self.entries[entry.name] = entry

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Artifact":
        """Loads the artifact at `path`. Raises ArtifactError or DeviceError."""
        path = os.path.abspath(os.fspath(path))
        if not os.path.exists(path):
            raise ArtifactError("%s does not exist; coda-compile writes artifacts" % path)
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            why = str(error)[len(path) + 2:] if str(error).startswith(path + ": ") else error
            raise ArtifactError(
                "%s cannot be loaded: %s; give a shared library that coda-compile wrote for this "
                "kind of machine" % (path, why)) from None
        try:
            table = library.coda_module_v1
        except AttributeError:
            raise ArtifactError(
                "%s is no coda artifact: it exports no coda_module_v1" % path) from None
        table.restype = ctypes.POINTER(_abi.Module)
        table.argtypes = []
        module = table().contents
        if module.version != _abi.MODULE_VERSION:
            raise ArtifactError("%s has version %d of the artifact table, this package reads %d" % (
                path, module.version, _abi.MODULE_VERSION))
        artifact = cls(path, library, module)
        if module.init:
            # The device that torch would take; others when they are first used.
            device = _current_device()
            for entry in artifact.entries.values():
                entry._prepare(device)
        return artifact

    def __getattr__(self, name: str) -> Entry:
        entries = self.__dict__.get("entries", {})
        if name in entries:
            return entries[name]
        raise AttributeError("%s has no entry '%s'; it has %s" % (
            self.__dict__.get("path", "the artifact"), name, ", ".join(entries) or "none"))

    def __dir__(self):
        return [*super().__dir__(), *self.entries]

    def __repr__(self):
        return "<coda.Artifact %s for %s: %s>" % (
            self.path, self.target, ", ".join(self.entries))
