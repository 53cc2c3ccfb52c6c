"""The launch that a kernel is being compiled for: functions of krait.extending, which say what is compiled, ask here.

A configuration is the launcher, kernel[grid, block]: griddim, blockdim, stream, sharedmem, its dispatcher, and
pre_launch_callbacks, functions of (kernel, launcher) that are called before each of its launches.  Code that depends
on the configuration is compiled for each one where the kernel is, for each, another kernel: kernel.specialize().
"""

import contextlib

from .. import _krait

__all__ = ["capture_compile_config", "current_launch_config", "ensure_current_launch_config"]

def current_launch_config():
    """The launcher whose launch the running compilation is for; None outside of one."""
    return _krait._launching.get()


def ensure_current_launch_config():
    """The same; outside of a launch's compilation a RuntimeError."""
    config = current_launch_config()
    if config is None:
        raise RuntimeError("no kernel is being compiled for a launch")
    return config


@contextlib.contextmanager
def capture_compile_config(dispatcher):
    """A block with a dict whose "config" is, behind it, the launcher that the kernel was last compiled for in it."""
    captured = {"config": None}
    dispatcher._compiled_for = None
    try:
        yield captured
    finally:
        captured["config"] = dispatcher._compiled_for
        del dispatcher._compiled_for
