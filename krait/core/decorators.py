"""The decorators, under the name that they have in Numba."""

from .. import cfunc, jit, jit_module, njit

__all__ = ["cfunc", "jit", "jit_module", "njit"]
