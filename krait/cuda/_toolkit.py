"""What libraries of the CUDA toolkit do for linked code, where they are installed: NVRTC compiles CUDA C, nvJitLink
links LTO-IR.  They are not needed otherwise, and are looked for when they are first used."""

import base64
import ctypes
import importlib.util
import os
import re
from pathlib import Path

from ..errors import CudaError, UnsupportedError

_VERSIONS = ("", ".13", ".12", ".11.2")


def _folders():
    """Where toolkits and NVIDIA's packages for Python keep their libraries."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield from (Path(os.environ[variable]) / name for name in ("lib64", "lib"))
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations if spec else ():
        yield from sorted(Path(root).glob("*/lib"))
    for name in ("lib64", "lib"):
        yield from sorted(Path("/usr/local").glob(f"cuda*/{name}"), reverse=True)


_PACKAGES = {"nvrtc": ("nvidia-cuda-nvrtc-cu12", "PTX: `nvcc -ptx` makes it"),
             "nvJitLink": ("nvidia-nvjitlink-cu12",
                           "the CUDA C that it was made of, or what `nvcc -rdc=true -cubin` makes of that")}


def _load(name, needs):
    names = [f"lib{name}.so{version}" for version in _VERSIONS]
    for path in [*names, *(str(folder / n) for folder in _folders() for n in names if (folder / n).exists())]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    package, instead = _PACKAGES[name]
    raise UnsupportedError(
        f"{needs} needs lib{name}, which is not found: it is a part of the CUDA toolkit\n  hint: install that, or "
        f"`pip install {package}`, set CUDA_HOME, or link {instead}"
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
    folders = os.environ.get("KRAIT_CUDA_INCLUDE_PATH", "").split(os.pathsep)
    options += [b"-I" + os.fsencode(folder) for folder in folders if folder]
    try:
        failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if failed:
            raise ValueError(f"NVRTC: {_read(nvrtc, 'nvrtc', program, 'ProgramLog').strip()}")
        return _read(nvrtc, "nvrtc", program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def find_linker():
    """nvJitLink, or an UnsupportedError that says where it comes from."""
    return _load("nvJitLink", "linking LTO-IR")


def linker_version():
    """What tells apart the nvJitLinks whose code is kept on disk.  Called by src/decorators/loading.c."""
    library, major, minor = find_linker(), ctypes.c_uint(), ctypes.c_uint()
    if not hasattr(library, "nvJitLinkVersion"):  # before CUDA 12.3
        return f"nvJitLink {library._name}"
    library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"nvJitLink {major.value}.{minor.value}"


# The kinds of code, as the driver's linker numbers them (_linking.py), by nvJitLink's numbers; 5 is LTO-IR, which the
# driver does not link.
_KINDS = {0: 1, 1: 2, 2: 4, 3: 5, 4: 6, 5: 3}


def _inputs(ptx):
    """The kinds and the bytes of a kernel's PTX and of the code that its comments carry."""
    yield 1, ptx.encode() + b"\0"
    for kind, code in re.findall(r"//krait\.link (\d+) ([A-Za-z0-9+/=]*);", ptx):
        yield int(kind), base64.b64decode(code)


def _link(library, handle, ptx):
    for kind, code in _inputs(ptx):
        if library.nvJitLinkAddData(handle, _KINDS[kind], code, ctypes.c_size_t(len(code)), b"linked code") != 0:
            return None
    if library.nvJitLinkComplete(handle) != 0:
        return None
    size = ctypes.c_size_t()
    if library.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)) != 0:
        return None
    image = ctypes.create_string_buffer(size.value)
    return image.raw if library.nvJitLinkGetLinkedCubin(handle, image) == 0 else None


def link_with_lto(ptx, capability, max_registers):
    """Machine code of a kernel whose PTX carries LTO-IR, optimised together with what else is linked.  Called by
    src/decorators/loading.c."""
    library, handle = find_linker(), ctypes.c_void_p()
    architecture = re.search(r"^\.target (\w+)", ptx, re.M)
    options = [f"-arch={architecture[1] if architecture else f'sm_{capability}'}", "-lto"]
    if max_registers:
        options.append(f"-maxrregcount={max_registers}")
    texts = (ctypes.c_char_p * len(options))(*map(str.encode, options))
    if library.nvJitLinkCreate(ctypes.byref(handle), len(options), texts) != 0:
        raise CudaError(f"nvJitLink does not take {' '.join(options)}: is it of an older toolkit than the GPU?")
    try:
        image = _link(library, handle, ptx)
        if image is None:
            raise CudaError(f"nvJitLink: {_read(library, 'nvJitLink', handle, 'ErrorLog').strip() or 'it failed'}")
        return image
    finally:
        library.nvJitLinkDestroy(ctypes.byref(handle))
