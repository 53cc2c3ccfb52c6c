"""Names that Numba's programs import from numba.core.typing."""
