"""Code of others on a GPU: PTX or machine code that Context.create_module_ptx or create_module_image loads as it is."""

from .. import _krait
from ._memory import MemoryPointer


class Module:
    """Code that the driver has loaded; it stays as long as this, its functions or its globals are kept."""

    def __init__(self, context, image):
        self.context = context
        with context.device:
            self._handle = _krait.module_load(image)

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
        facts = _krait.module_function(module._handle, name)
        self.handle, self.regs, self.shared, self.local, self.const, self.maxthreads = facts

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
