"""Exceptions and warnings, under the name they have in Numba: krait.errors."""

import sys

from .. import errors

sys.modules[__name__] = errors
