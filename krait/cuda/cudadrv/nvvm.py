"""Names that Numba's programs import from numba.cuda.cudadrv.nvvm.  Krait needs no libNVVM: PTX is its own."""

from ..._missing import NotYet
from .error import NvvmError, NvvmSupportError, NvvmWarning

__all__ = ["LibDevice", "NVVM", "NvvmError", "NvvmSupportError", "NvvmWarning", "get_arch_option", "is_available"]

_OWN = "Krait makes PTX itself: krait.cuda.compile_ptx(function, signature) gives it"
NVVM = NotYet(__name__, "NVVM", _OWN)
LibDevice = NotYet(__name__, "LibDevice", "krait.cuda.libdevice has its functions")


def is_available():
    """Whether kernels can be compiled: always."""
    return True


def get_arch_option(major, minor):
    """The name of a compute capability, as compilers have it."""
    return f"compute_{major}{minor}"
