"""Functions with a meaning of their own in compiled code, under the names that they have in Numba."""

from .. import gdb, gdb_breakpoint, gdb_init, literal_unroll, literally, pndindex, prange, typeof

__all__ = ["gdb", "gdb_breakpoint", "gdb_init", "literal_unroll", "literally", "pndindex", "prange", "typeof"]
