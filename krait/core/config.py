"""krait.config, by the name that numba.core has for it."""

import sys

from .._config import config

sys.modules[__name__] = config
