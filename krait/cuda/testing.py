"""What tests of programs for numba.cuda are written with: a class of tests, and who is left out where.

What Numba's simulator cannot do the host device can, so nothing is left out for being on no GPU; what runs in the
simulator alone is.
"""

import contextlib
import io
import sys
import unittest
from functools import partial

from . import get_current_device, is_available

__all__ = ["CUDATestCase", "ContextResettingTestCase", "captured_stderr", "captured_stdout", "skip_on_cudasim",
           "skip_unless_cudasim", "unittest", "xfail_unless_cudasim"]  # fmt: skip


class CUDATestCase(unittest.TestCase):
    """A class of tests with kernels."""


class ContextResettingTestCase(CUDATestCase):
    """One whose tests may leave the device in any state: each ends with what was asked of it done."""

    def tearDown(self):
        from . import close

        super().tearDown()
        close()


def _as_it_is(test):
    return test


def skip_on_cudasim(reason):
    """The test as it is: this is no simulator."""
    return _as_it_is


def skip_unless_cudasim(reason):
    """Leaves the test out: this is no simulator."""
    return unittest.skip(reason)


def xfail_unless_cudasim(test):
    """A test that is expected to fail: this is no simulator."""
    return unittest.expectedFailure(test)


def skip_if_external_memmgr(reason):
    """Leaves the test out if memory comes from another manager."""
    from ..config import CUDA_MEMORY_MANAGER

    return unittest.skipIf(CUDA_MEMORY_MANAGER != "default", reason)


skip_under_cuda_memcheck = skip_if_mvc_enabled = skip_on_cudasim


def skip_unless_conda_cudatoolkit(reason):
    """Leaves the test out: no toolkit is asked for."""
    return unittest.skip(reason)


def _skip_below(capability, test):
    reason = f"a GPU of compute capability {capability[0]}.{capability[1]} is needed"
    return unittest.skipUnless(get_current_device().compute_capability >= capability, reason)(test)


globals().update((f"skip_unless_cc_{major}{minor}", partial(_skip_below, (major, minor)))
                 for major, minor in ((5, 0), (5, 3), (6, 0), (7, 0), (7, 5), (8, 0), (8, 6), (8, 9), (9, 0)))


def skip_unless_gpu(reason):
    """Leaves the test out on the host device."""
    return unittest.skipUnless(is_available(), reason)


@contextlib.contextmanager
def _captured(name):
    before, text = getattr(sys, name), io.StringIO()
    setattr(sys, name, text)
    try:
        yield text
    finally:
        setattr(sys, name, before)


def captured_stdout():
    """with captured_stdout() as text: what is printed is text.getvalue(), of kernels as soon as they are waited for."""
    return _captured("stdout")


def captured_stderr():
    """The same of sys.stderr."""
    return _captured("stderr")
