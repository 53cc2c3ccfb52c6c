"""Ranges and marks that a profiler shows, by NVIDIA's tools extension where it is installed: libnvToolsExt.so.1 of the
toolkits before CUDA 13, or the package nvtx (NVTX 3 is a part of each program, and no library).  Without they do
nothing."""

import contextlib
import ctypes
import functools


@functools.cache
def _functions():
    """(push a range, pop it, mark), of texts."""
    library = _library()
    if library:
        return (lambda text: library.nvtxRangePushA(text.encode()), library.nvtxRangePop,
                lambda text: library.nvtxMarkA(text.encode()))
    try:
        import nvtx
    except ImportError:
        return (lambda text: None), (lambda: None), (lambda text: None)
    return nvtx.push_range, nvtx.pop_range, nvtx.mark


def _library():
    """The library, or None."""
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
        _functions()[0](str(self.message))
        return self

    def __exit__(self, *error):
        _functions()[1]()


def profile_mark(message):
    """A mark on the profiler's line of time."""
    _functions()[2](str(message))
