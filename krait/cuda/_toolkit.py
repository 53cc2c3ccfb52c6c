"""What a library of the CUDA toolkit does for linked code, where it is installed: NVRTC compiles CUDA C.  It is not
needed otherwise, and is looked for when it is first used."""

import ctypes
import importlib.util
import os
from pathlib import Path

from ..errors import UnsupportedError

_VERSIONS = ("", ".13", ".12", ".11.2")


def _folders():
    """Where toolkits and NVIDIA's packages for Python keep their libraries."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield from (Path(os.environ[variable]) / name for name in ("lib64", "lib"))
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations if spec else ():
        yield from sorted(Path(root).glob("*/lib"))
    yield from sorted(Path("/usr/local").glob("cuda*/lib64"), reverse=True)


def _load(name, needs):
    names = [f"lib{name}.so{version}" for version in _VERSIONS]
    for path in [*names, *(str(folder / n) for folder in _folders() for n in names if (folder / n).exists())]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise UnsupportedError(
        f"{needs} needs lib{name}, which is not found: it is a part of the CUDA toolkit\n  hint: install that, or "
        "`pip install nvidia-cuda-nvrtc-cu12`, set CUDA_HOME, or link PTX: `nvcc -ptx` makes it"
    )


def _architecture(known):
    """The compute capability that the text is for: the current device's, or the next older one that is known."""
    from . import get_current_device

    major, minor = get_current_device().compute_capability
    return max((a for a in known if a <= 10 * major + minor), default=min(known))


def _read(library, prefix, handle, what):
    """The text that a library has of a program: its log, its PTX."""
    size = ctypes.c_size_t()
    if getattr(library, f"{prefix}Get{what}Size")(handle, ctypes.byref(size)) != 0:
        return ""
    text = ctypes.create_string_buffer(size.value or 1)
    getattr(library, f"{prefix}Get{what}")(handle, text)
    return text.value.decode(errors="replace")


def ptx_of_c(source, name=None):
    """The PTX of CUDA C."""
    nvrtc = _load("nvrtc", "linking CUDA C")
    count, program = ctypes.c_int(), ctypes.c_void_p()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(known)
    source = source if isinstance(source, bytes) else source.encode()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, (name or "linked.cu").encode(), 0, None, None) != 0:
        raise RuntimeError("NVRTC makes no program of the text")
    options = [b"--relocatable-device-code=true", f"--gpu-architecture=compute_{_architecture(list(known))}".encode()]
    try:
        failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if failed:
            raise ValueError(f"NVRTC: {_read(nvrtc, 'nvrtc', program, 'ProgramLog').strip()}")
        return _read(nvrtc, "nvrtc", program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
