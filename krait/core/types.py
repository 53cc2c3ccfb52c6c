"""The types of compiled code, under the name they have in Numba: krait.types."""

import sys

from .. import types

sys.modules[__name__] = types
