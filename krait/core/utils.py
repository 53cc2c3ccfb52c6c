"""What Numba's programs import from numba.core.utils."""

import sys
from inspect import signature as pysignature

PYVERSION = sys.version_info[:2]

__all__ = ["PYVERSION", "pysignature"]
