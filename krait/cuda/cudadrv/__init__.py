"""Names that Numba's programs import from numba.cuda.cudadrv."""
