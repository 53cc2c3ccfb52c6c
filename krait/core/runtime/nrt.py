"""The memory of compiled code, under the name that it has in Numba."""

from . import nrt_mstats, rtsys

__all__ = ["nrt_mstats", "rtsys"]
