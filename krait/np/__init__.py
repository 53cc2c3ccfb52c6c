"""Names that Numba's programs import from numba.np."""
