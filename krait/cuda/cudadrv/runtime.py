"""The CUDA runtime by the names that numba.cuda.cudadrv.runtime has: krait.cuda.runtime, which asks the driver."""

from .._contexts import runtime

Runtime = type(runtime)

__all__ = ["Runtime", "get_version", "runtime"]


def get_version():
    """(major, minor), as krait.cuda.runtime.get_version()."""
    return runtime.get_version()
