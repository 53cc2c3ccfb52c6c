"""Names that Numba's programs import from numba.cpython."""


def __getattr__(name):
    if name in ("unsafe",):
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
