"""Names that Numba's programs import from numba.cuda.cudadrv.libs.  Krait needs no library of a toolkit."""

from ..._missing import NotYet

__all__ = ["get_cudalib", "get_libdevice", "open_cudalib", "open_libdevice", "test"]

_NONE = "no library of a toolkit is needed but NVRTC, where CUDA C is linked; python -m krait info says what there is"
get_cudalib, get_libdevice, open_cudalib, open_libdevice = (
    NotYet(__name__, name, _NONE) for name in ("get_cudalib", "get_libdevice", "open_cudalib", "open_libdevice"))


def test():
    """Prints what is there to run kernels; True: they can be run."""
    from .. import detect

    detect()
    return True
