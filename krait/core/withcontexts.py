"""What `with` takes in compiled functions, under the names that it has in Numba."""

from .. import objmode, objmode as objmode_context, parallel_chunksize

__all__ = ["objmode", "objmode_context", "parallel_chunksize"]
