"""Functions that PTX text defines: declare_device."""

import inspect as _inspect
from pathlib import Path

from .. import _krait
from ..errors import UnsupportedError

_CALL = """
def {name}({parameters}):
    if _on_gpu():
        return _declared(_name, _result, _abi, _ptx{operands})
    return {fallback}
"""


class LinkableCode:
    """Code that kernels are linked with: its text, or the file that has it."""

    data = name = None

    def __init__(self, data, name=None):
        self.data, self.name = data, name


class PTXSource(LinkableCode):
    """PTX text."""


def _text_of(item):
    """The PTX text that an item of link is or names."""
    if isinstance(item, PTXSource):
        return item.data.decode() if isinstance(item.data, bytes) else item.data
    if isinstance(item, str) and ".version" in item:
        return item
    if isinstance(item, (str, Path)) and str(item).endswith(".ptx"):
        return Path(item).read_text()
    raise UnsupportedError(
        f"{item!r} cannot be linked: link takes PTX, as text, as a file *.ptx or as a PTXSource\n  hint: "
        "`nvcc -ptx file.cu` makes PTX of CUDA C, also for the functions of an archive or a cubin"
    )


# The rows of the library themselves: compiled code knows them whenever this module is imported.
declared = _krait.cuda_names["_linking"].declared
no_fallback = _krait.cuda_names["_linking"].no_fallback


def _converted(parameter, type_):
    """A number as the signature has it; an array as it is."""
    return parameter if hasattr(type_, "ndim") else f"_{parameter}({parameter})"


def declare_device(name, sig, link=None, *, fallback=None, abi="numba"):
    """A device function that PTX defines: its name there, its signature, and the PTX, as text, as a file or a list of
    either.  `fallback` is a Python function that does the same, for the host device.  abi "numba": the function gets a
    pointer for its result first and returns 0; "c": it returns its result.  An array is passed as its address."""
    from . import on_gpu

    if abi not in ("c", "numba"):
        raise ValueError(f"abi is 'c' or 'numba', not {abi!r}")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not the name of a function")
    signature = _krait._read_signature(sig)
    items = link if isinstance(link, (list, tuple)) else () if link is None else (link,)
    if not items:
        raise UnsupportedError(f"declare_device({name!r}) needs the PTX that defines it: link='file.ptx', or its text")
    parameters = [f"x{i + 1}" for i in range(len(signature.args))]
    if fallback is not None and len(_inspect.signature(fallback).parameters) != len(parameters):
        raise TypeError(f"the fallback of {name} takes other arguments than {sig}")
    result = None if signature.return_type == _krait.types["none"] else signature.return_type
    operands = [_converted(x, type_) for x, type_ in zip(parameters, signature.args)]
    call = f"_python({', '.join(operands)})"
    text = _CALL.format(
        name=name, parameters=", ".join(parameters), operands="".join(f", {x}" for x in operands),
        fallback="_no_fallback(_name)" if fallback is None else call if result is None else f"_result({call})"
    )
    space = {"_on_gpu": on_gpu, "_declared": declared, "_no_fallback": no_fallback, "_name": name, "_result": result,
             "_abi": abi, "_ptx": "\n".join(map(_text_of, items)), "_python": fallback, "__name__": __name__}
    space.update((f"_{x}", type_) for x, type_ in zip(parameters, signature.args))
    exec(compile(text, f"<declared {name}>", "exec"), space)
    return _krait.cuda_jit(device=True)(space[name])
