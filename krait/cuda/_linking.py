"""Functions that other compilers define: declare_device, and what its link, and that of a kernel, may be."""

import base64
import contextlib as _contextlib
import inspect as _inspect
import re as _re
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
    """Code that kernels are linked with: its text or bytes, or a file that has them and is open for reading.  When a
    GPU has loaded a kernel that calls it, `setup_callback` is called with the module, before the first launch;
    `teardown_callback`, before the module goes.  The host device loads no module.  Of Numba's option nrt only False is
    taken: there is no such runtime."""

    data = name = None
    input_type = None  # of machine code, as the driver's linker numbers them

    def __init__(self, data, name=None, setup_callback=None, teardown_callback=None, nrt=False):
        for what, function in (("setup_callback", setup_callback), ("teardown_callback", teardown_callback)):
            if function is not None and not callable(function):
                raise TypeError(f"{what} is a function of the module, not {function!r}")
        if nrt:
            raise TypeError("linked code has no Numba runtime here: leave nrt out")
        self.data = data.read() if hasattr(data, "read") else data
        self.name = name
        self.setup_callback, self.teardown_callback = setup_callback, teardown_callback


class PTXSource(LinkableCode):
    """PTX text."""


class CUSource(LinkableCode):
    """CUDA C, which NVRTC compiles."""


class LTOIR(LinkableCode):
    """What `nvcc -dlto` makes, which nvJitLink links."""

    input_type = 5


class Cubin(LinkableCode):
    """Machine code of one GPU."""

    input_type = 0


class Fatbin(LinkableCode):
    """Code for several GPUs."""

    input_type = 2


class Archive(LinkableCode):
    """A library of objects."""

    input_type = 4


class Object(LinkableCode):
    """An object file of nvcc's."""

    input_type = 3


_BY_ENDING = {".ptx": PTXSource, ".cu": CUSource, ".ltoir": LTOIR, ".cubin": Cubin, ".fatbin": Fatbin, ".a": Archive,
              ".lib": Archive, ".o": Object}


def _linkable(item):
    """An item of link as a LinkableCode."""
    if isinstance(item, LinkableCode):
        return item
    if isinstance(item, str) and ".version" in item:
        return PTXSource(item)
    if isinstance(item, (str, Path)) and Path(item).suffix in _BY_ENDING:
        return _BY_ENDING[Path(item).suffix](Path(item).read_bytes(), str(item))
    raise UnsupportedError(
        f"{item!r} cannot be linked: link takes PTX as text, files {', '.join('*' + e for e in _BY_ENDING)}, "
        "and objects such as cuda.PTXSource(text)"
    )


def _carried(code):
    """PTX text whose comment carries machine code, which the driver links when a GPU loads the kernel."""
    kind = type(code).__name__
    if not isinstance(code.data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{kind} takes the bytes of machine code, not {type(code.data).__name__}")
    if not code.data:
        raise ValueError(f"{code.name or kind}: there is no code in it, it is empty")
    return f".version 6.0\n//krait.link {code.input_type} {base64.b64encode(code.data).decode()};\n"


# By the numbers that stand in the texts: as long as the program, as kernels with these texts may be made at any time.
_calling = []


def _calls_of(code):
    """The line that says so of code that calls functions when it is loaded or unloaded, which is the same for it in
    every text."""
    if code.setup_callback is None and code.teardown_callback is None:
        return ""
    if code not in _calling:
        _calling.append(code)
    return f"//krait.calls {_calling.index(code)};\n"


def loaded(ptx, handle):
    """Called when a GPU has loaded a kernel: what `unloading` gets before that goes."""
    from ._modules import Module

    module, numbers = Module.of_kernel(handle), dict.fromkeys(_re.findall(r"^//krait\.calls (\d+);", ptx, _re.M))
    called = [_calling[int(number)] for number in numbers]
    for code in called:
        if code.setup_callback is not None:
            code.setup_callback(module)
    return module, [code.teardown_callback for code in called if code.teardown_callback is not None]


def unloading(called):
    module, functions = called
    with _contextlib.ExitStack() as stack:
        stack.callback(module.unload)
        for function in reversed(functions):
            stack.callback(function, module)


def _text_of(item):
    """The PTX text that an item of link is, names or becomes."""
    code = _linkable(item)
    text, calls = _ptx_of(code), _calls_of(code)
    return f"{text}\n{calls}" if calls else text


def _ptx_of(code):
    if isinstance(code, LTOIR) and not _on_host_device():
        from . import _toolkit

        _toolkit.find_linker()
    if code.input_type is not None:
        return _carried(code)
    if isinstance(code, PTXSource):
        return code.data.decode() if isinstance(code.data, bytes) else code.data
    if isinstance(code, CUSource):
        from . import _toolkit

        return _toolkit.ptx_of_c(code.data, code.name)
    raise UnsupportedError(f"{type(code).__name__} is no kind of code that can be linked")


def _items(link):
    return link if isinstance(link, (list, tuple, set, frozenset)) else () if link is None else (link,)


def _on_host_device():
    from . import get_current_device

    return get_current_device().is_host


def _text_for(link, fallback):
    """The PTX texts of an item or of a list of items, one after another.  Where a declared function has a fallback,
    the host device does without the toolkit."""
    try:
        return "\n".join(map(_text_of, _items(link)))
    except UnsupportedError:
        if fallback is None or not _on_host_device():
            raise
        return ""


def kept_of_kernel(link):
    """What a kernel keeps of its link: the text, if there is any, then what the host device, which has fallbacks for
    it, does without because there is no toolkit.  It is as good a link as the one that is given."""
    texts, missing = [], []
    for item in map(_linkable, _items(link)):
        try:
            texts.append(_text_of(item))
        except UnsupportedError:
            if not isinstance(item, CUSource) or not _on_host_device():
                raise
            missing.append(item)
    return (("\n".join(texts),) if texts else ()) + tuple(missing)


# The rows of the library themselves: compiled code knows them whenever this module is imported.
declared = _krait.cuda_names()["_linking"].declared
no_fallback = _krait.cuda_names()["_linking"].no_fallback


def _converted(parameter, type_):
    """A number as the signature has it; an array as it is."""
    return parameter if hasattr(type_, "ndim") else f"_{parameter}({parameter})"


def declare_device(name, sig, link=None, use_cooperative=False, abi="numba", *, fallback=None):
    """A device function that other code defines: its name there, its signature, and the code: PTX or CUDA C, as
    text, as a file or a list or set of these; without it the kernels that call the function have the option link.
    `fallback` is a Python function that does the same, for the host device.  abi "numba": the function gets a
    pointer for its result first and returns 0; "c": it returns its result.  An array is passed as its address.
    use_cooperative: the function waits for all blocks of a grid, so that a launch has them all run at once."""
    from . import on_gpu

    if abi not in ("c", "numba"):
        raise ValueError(f"abi is 'c' or 'numba', not {abi!r}")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not the name of a function")
    signature = _krait._read_signature(sig)
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
    abi = f"together {abi}" if use_cooperative else abi
    space = {"_on_gpu": on_gpu, "_declared": declared, "_no_fallback": no_fallback, "_name": name, "_result": result,
             "_abi": abi, "_ptx": _text_for(link, fallback), "_python": fallback, "__name__": __name__}
    space.update((f"_{x}", type_) for x, type_ in zip(parameters, signature.args))
    exec(compile(text, f"<declared {name}>", "exec"), space)
    return _krait.cuda_jit(device=True)(space[name])
