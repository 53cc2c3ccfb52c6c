"""Code of others on a GPU: PTX or machine code that Context.create_module_ptx or create_module_image loads as it is, or
that the driver's linker makes of several pieces."""

import collections
import ctypes
from pathlib import Path

from .. import _krait
from ..errors import CudaError
from ._linking import CUSource, LinkableCode, PTXSource, _linkable
from ._memory import MemoryPointer

FunctionAttr = collections.namedtuple("FunctionAttr", "regs,shared,local,const,maxthreads")


class Module:
    """Code that the driver has loaded; it stays as long as this, its functions or its globals are kept."""

    def __init__(self, context, image):
        self.context = context
        with context.device:
            self._handle = _krait.module_load(image)

    @classmethod
    def of_kernel(cls, handle):
        """What the thread's GPU has loaded for a kernel of Krait's; it goes with the kernel."""
        from . import current_context

        self = cls.__new__(cls)
        self.context, self._handle = current_context(), handle
        return self

    @property
    def handle(self):
        """The driver's, a CUmodule."""
        return ctypes.c_void_p(_krait.module_handle(self._handle))

    def get_function(self, name):
        """A kernel of the module."""
        return Function(self, name)

    def get_global_symbol(self, name):
        """(memory, bytes) of a variable of the module."""
        address, size = _krait.module_global(self._handle, name)
        return MemoryPointer(self.context, address, size, owner=self), size

    def unload(self):
        """Gives it back to the driver; its functions are of no use then."""
        _krait.module_unload(self._handle)


class Function:
    """A kernel of a module: `handle` is the driver's, a CUfunction, which other libraries launch."""

    def __init__(self, module, name):
        self.module, self.name = module, name
        self.handle, *facts = _krait.module_function(module._handle, name)
        self.attrs = FunctionAttr(*facts)
        self.regs, self.shared, self.local, self.const, self.maxthreads = facts

    @property
    def device(self):
        return self.module.context.device

    def read_func_attr_all(self):
        """What it needs: registers, bytes of shared, local and constant memory, the most threads of a block."""
        return self.attrs

    def __repr__(self):
        return f"<krait function {self.name} of a module>"


def load_module(context, image, caller):
    """The module of PTX or machine code, given to a method of that name."""
    if isinstance(image, str):
        image = image.encode()
    elif not isinstance(image, (bytes, bytearray, memoryview)):
        raise TypeError(f"{caller}() takes code as bytes, or PTX as a str, not {type(image).__name__}")
    if not image:
        raise ValueError(f"{caller}() was given no code: it is empty")
    return Module(context, bytes(image))


class Linker:
    """Makes one piece of machine code of several, for the thread's device: add_ptx, add_file and so on, then
    complete()."""

    _PTX = 1  # CUjitInputType

    def __init__(self, max_registers=0, lineinfo=False, cc=None):
        self._registers, self._inputs = int(max_registers or 0), []

    @classmethod
    def new(cls, max_registers=0, lineinfo=False, cc=None):
        """The same as Linker(): lines and the device's compute capability are taken from the code."""
        return cls(max_registers, lineinfo, cc)

    def add(self, code):
        """A LinkableCode, PTX as text, or a file by its ending."""
        code = _linkable(code)
        if isinstance(code, CUSource):
            self.add_cu(code.data, code.name or "<cu>")
        elif isinstance(code, PTXSource):
            self.add_ptx(code.data, code.name or "<ptx>")
        else:
            self._inputs.append((code.input_type, bytes(code.data), code.name or type(code).__name__))

    def add_ptx(self, ptx, name="<cudapy-ptx>"):
        """PTX, as text or bytes."""
        ptx = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
        self._inputs.append((self._PTX, ptx.rstrip(b"\0") + b"\0", name))

    def add_cu(self, cu, name="<cudapy-cu>"):
        """CUDA C, which NVRTC compiles."""
        from . import _toolkit

        self.add_ptx(_toolkit.ptx_of_c(cu, name), name)

    def add_file(self, path, kind=None):
        """A file; `kind` is its ending, or the class of its code, where its name does not tell."""
        if kind is None:
            return self.add(Path(path))
        ending = kind if isinstance(kind, str) else None
        maker = _ENDINGS.get(ending.lstrip(".")) if ending else kind
        if not (isinstance(maker, type) and issubclass(maker, LinkableCode)):
            raise CudaError(f"a file is of kind {', '.join(_ENDINGS)}, or a class such as cuda.Cubin, not {kind!r}")
        self.add(maker(Path(path).read_bytes(), str(path)))

    add_file_guess_ext = add_cu_file = add

    def complete(self):
        """The machine code, as bytes: Context.create_module_image loads it."""
        if not self._inputs:
            raise CudaError("there is nothing to link: add_ptx(), add_file() first")
        return _krait.module_link(self._inputs, self._registers)


_ENDINGS = {"ptx": PTXSource, "cu": CUSource}
_ENDINGS.update((kind.__name__.lower(), kind) for kind in LinkableCode.__subclasses__() if kind.__name__ not in
                ("PTXSource", "CUSource", "LTOIR"))


def launch_kernel(cufunc_handle, gx, gy, gz, bx, by, bz, sharedmem, hstream, args, cooperative=False):
    """Launches a function of a module by its handle.  args: objects of ctypes, whose values the kernel is given, or
    addresses of values."""
    if cooperative:
        raise NotImplementedError("launch_kernel() makes ordinary launches: a kernel of cuda.jit that uses "
                                  "cuda.cg.this_grid() is launched cooperatively")
    kept = [arg if isinstance(arg, int) else ctypes.addressof(arg) for arg in args]
    handle = getattr(hstream, "value", hstream) if isinstance(hstream, ctypes.c_void_p) else hstream
    _krait.module_launch(int(cufunc_handle), (gx, gy, gz), (bx, by, bz), sharedmem, handle or 0, tuple(kept))
