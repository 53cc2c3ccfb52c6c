"""The types of compiled code, under the name they have in Numba: krait.types; so are Numba's modules below it."""

import sys

from .. import types

# Each is found here when it is imported: it has what its package has.
sys.modules.update((f"{__name__}.{name}", types) for name in types._BELOW)
sys.modules[__name__] = types
