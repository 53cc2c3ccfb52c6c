"""Names that Numba's programs import from numba.cuda.cudadrv; its modules are imported when they are first used."""

__all__ = ["devicearray", "devices", "driver", "enums", "error", "libs", "linkable_code", "nvvm", "runtime"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("." + name, __name__)
