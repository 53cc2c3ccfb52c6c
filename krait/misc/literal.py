"""literally, under the name that it has in Numba."""

from .. import literally

__all__ = ["literally"]
