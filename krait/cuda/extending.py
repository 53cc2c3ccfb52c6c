"""krait.extending, by the name that numba.cuda has for it."""

import sys

from .. import extending

sys.modules[__name__] = extending
