"""python -m krait info: versions, devices, and where kernels run."""

import sys

from . import _krait

if sys.argv[1:] not in ([], ["info"]):
    sys.exit("usage: python -m krait info")
print(_krait.info(), end="")
