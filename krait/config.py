"""Settings by the names that Numba's programs read and set (krait/_config.py)."""

import sys

from ._config import config

sys.modules[__name__] = config
