"""Devices by the names that numba.cuda.cudadrv.devices has."""

from .._contexts import close as reset
from .._contexts import current_context as get_context
from .._contexts import gpus, require_context

__all__ = ["get_context", "gpus", "require_context", "reset"]
