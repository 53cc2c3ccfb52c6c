"""What a program asks of devices, by the names that numba.cuda.api has: those of krait.cuda."""

import sys

from .. import cuda

sys.modules[__name__] = cuda
