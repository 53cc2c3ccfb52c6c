"""Functions compiled to PTX for other programs to use; no GPU is needed."""

import re
from typing import Any, NamedTuple

from .._krait import cuda_jit, get_current_device
from ..errors import UnsupportedError

_DEFAULT_CAPABILITY = (7, 5)


def _symbol(text):
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def compile(
    pyfunc,
    sig,
    debug=None,
    lineinfo=False,
    device=True,
    fastmath=False,
    cc=None,
    opt=None,
    abi="c",
    abi_info=None,
    output="ptx",
    forceinline=False,
    launch_bounds=None,
):
    """PTX of a function for a signature, and the type of its result.

    A device function is visible under its name, or abi_info["abi_name"], and takes the parts of its arguments (an
    array: pointer, shape, and the strides its layout does not tell).  abi "c": it returns its result; "numba": it
    returns 0 and stores the result through a pointer that comes first.  A kernel is an entry of the same name.
    """
    if abi not in ("c", "numba"):
        raise NotImplementedError(f"abi is 'c' or 'numba', not {abi!r}")
    if abi == "c" and not device:
        raise NotImplementedError("abi 'c' is for device functions: a kernel gives nothing back, pass abi='numba'")
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"output is 'ptx', not {output!r}")
    if output == "ltoir":
        raise UnsupportedError(
            "LTO-IR is a format of NVIDIA's compiler alone, whose LLVM is not Krait's\n  hint: link the PTX "
            "(output='ptx'), which nvJitLink, nvlink and the driver take beside LTO-IR"
        )
    options = {"debug": bool(debug), "opt": True if opt is None else opt, "fastmath": fastmath, "device": device}
    options.update(lineinfo=lineinfo, forceinline=forceinline)
    if launch_bounds is not None:
        options["launch_bounds"] = launch_bounds
    function = getattr(pyfunc, "py_func", pyfunc)
    major, minor = cc or _DEFAULT_CAPABILITY
    name = (abi_info or {}).get("abi_name") or _symbol(function.__name__)
    kernel = cuda_jit(**options)(function)
    return kernel._export(sig, 10 * major + minor, name, abi == "numba" and device)


def compile_for_current_device(pyfunc, sig, **options):
    """compile for the compute capability of the device that kernels run on."""
    return compile(pyfunc, sig, cc=get_current_device().compute_capability, **options)


def compile_ptx(pyfunc, sig, debug=None, lineinfo=False, device=False, fastmath=False, cc=None, opt=None, abi="numba",
                abi_info=None, forceinline=False, launch_bounds=None):
    """compile, with a kernel as what is made unless told."""
    return compile(pyfunc, sig, debug=debug, lineinfo=lineinfo, device=device, fastmath=fastmath, cc=cc, opt=opt,
                   abi=abi, abi_info=abi_info, forceinline=forceinline, launch_bounds=launch_bounds)


def compile_ptx_for_current_device(pyfunc, sig, **options):
    """compile_ptx for the compute capability of the device that kernels run on."""
    return compile_ptx(pyfunc, sig, cc=get_current_device().compute_capability, **options)


def compile_all(pyfunc, sig, debug=None, lineinfo=False, device=True, fastmath=False, cc=None, opt=None, abi="c",
                abi_info=None, output="ptx", forceinline=False, launch_bounds=None):
    """A list of the codes that together are the function, and the type of its result."""
    code, result = compile(pyfunc, sig, debug=debug, lineinfo=lineinfo, device=device, fastmath=fastmath, cc=cc,
                           opt=opt, abi=abi, abi_info=abi_info, output=output, forceinline=forceinline,
                           launch_bounds=launch_bounds)
    return [code], result


class CompiledDevice(NamedTuple):
    """A device function for types of arguments: what other code calls it by, and its PTX, whose abi is Numba's."""

    signature: Any
    name: str
    ptx: str

    @property
    def entry_point(self):
        return self.name


def compile_device(function, args, return_type=None):
    """function.compile_device(args): the same object each time."""
    made = getattr(function, "_compiled_devices", None)
    if made is None:
        made = function._compiled_devices = {}
    types = tuple(args)
    key = types, return_type, get_current_device().compute_capability
    if key not in made:
        sig = types if return_type is None else return_type(*types)
        name = _symbol(function.py_func.__qualname__) + (f"_{len(made)}" if made else "")
        ptx, result = compile_for_current_device(function, sig, abi="numba", abi_info={"abi_name": name})
        made[key] = CompiledDevice(result(*types), name, ptx)
    return made[key]
