"""All that programs use of CUDA, by the names that numba.cuda.device_init has: those of krait.cuda."""

import sys

from .. import cuda

sys.modules[__name__] = cuda
