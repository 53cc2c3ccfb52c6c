"""Errors, by the name that numba.cuda has for them: krait.errors.  What a kernel raises comes as its own class."""

import sys

from .. import errors

sys.modules[__name__] = errors
