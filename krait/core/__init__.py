"""What lies below: the run time of compiled code, and names that Numba's programs import from numba.core."""

_MODULES = (
    "ccallback", "config", "decorators", "dispatcher", "errors", "extending", "registry", "sigutils", "types",
    "typing", "utils",
)  # fmt: skip


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("." + name, __name__)
    if name == "cgutils":
        from .._missing import NotYet

        return NotYet(__name__, name, "krait.extending.intrinsic takes the text of LLVM IR, inline_llvm")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
