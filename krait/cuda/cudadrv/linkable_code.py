"""Code that kernels are linked with, by the names that numba.cuda.cudadrv.linkable_code has: those of krait.cuda."""

from .._linking import Archive, Cubin, CUSource, Fatbin, LinkableCode, LTOIR, Object, PTXSource

__all__ = ["Archive", "CUSource", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object", "PTXSource"]
