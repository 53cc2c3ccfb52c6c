"""What lies below: the run time of compiled code, and names that Numba's programs import from numba.core."""

_MODULES = (
    "ccallback", "cgutils", "config", "datamodel", "decorators", "dispatcher", "errors", "extending", "imputils",
    "registry", "sigutils", "types", "typing", "utils",
)  # fmt: skip


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
