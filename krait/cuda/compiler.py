"""Functions compiled for other programs, by the names that numba.cuda.compiler has."""

from ._compilation import (
    compile,
    compile_all,
    compile_for_current_device,
    compile_ptx,
    compile_ptx_for_current_device,
)
from ._linking import declare_device

__all__ = ["compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device",
           "declare_device"]
