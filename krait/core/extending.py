"""Under the name they have in Numba: krait.extending."""

import sys

from .. import extending

sys.modules[__name__] = extending
