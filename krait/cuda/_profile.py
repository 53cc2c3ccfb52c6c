"""Ranges and marks that a profiler shows, by NVIDIA's tools extension (libnvToolsExt.so.1) where it is installed;
without it they do nothing."""

import contextlib
import ctypes
import functools


@functools.cache
def _library():
    """Its functions, or None."""
    for name in ("libnvToolsExt.so.1", "libnvToolsExt.so"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for function in (library.nvtxRangePushA, library.nvtxMarkA):
            function.argtypes = [ctypes.c_char_p]
        return library
    return None


class profile_range(contextlib.ContextDecorator):
    """A block, or a function, that a profiler shows as a range of this name."""

    def __init__(self, message):
        self.message = message

    def __enter__(self):
        library = _library()
        if library:
            library.nvtxRangePushA(str(self.message).encode())
        return self

    def __exit__(self, *error):
        library = _library()
        if library:
            library.nvtxRangePop()


def profile_mark(message):
    """A mark on the profiler's line of time."""
    library = _library()
    if library:
        library.nvtxMarkA(str(message).encode())
