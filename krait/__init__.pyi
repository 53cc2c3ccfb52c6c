import builtins
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Generic, Literal, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from . import cuda as cuda
from . import experimental as experimental
from . import extending as extending
from . import errors as errors
from . import pycc as pycc
from . import typed as typed
from . import types as types
from .types import Signature, Type
from .types import (
    b1 as b1,
    bool_ as bool_,
    boolean as boolean,
    byte as byte,
    c8 as c8,
    c16 as c16,
    char as char,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    f2 as f2,
    f4 as f4,
    f8 as f8,
    float16 as float16,
    bfloat16 as bfloat16,
    float32 as float32,
    float64 as float64,
    float_ as float_,
    i1 as i1,
    i2 as i2,
    i4 as i4,
    i8 as i8,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int_ as int_,
    intc as intc,
    intp as intp,
    long_ as long_,
    longlong as longlong,
    none as none,
    short as short,
    size_t as size_t,
    ssize_t as ssize_t,
    u1 as u1,
    u2 as u2,
    u4 as u4,
    u8 as u8,
    uchar as uchar,
    uint as uint,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uintc as uintc,
    uintp as uintp,
    ulong as ulong,
    ulonglong as ulonglong,
    ushort as ushort,
    void as void,
    voidptr as voidptr,
)

__version__: str

class _Version(NamedTuple):
    major: int
    minor: int
    patch: int
    short: builtins.tuple[int, int]
    full: builtins.tuple[int, int, int]
    string: str
    tuple: builtins.tuple[int, int, int]
    git_revision: str | None

version_info: _Version

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")
_TypeLike = Type | type | np.dtype[Any] | None
_OneSignature = str | Signature | tuple[_TypeLike, ...]
_Signatures = _OneSignature | list[_OneSignature]
_FastMath = bool | set[str] | list[str] | tuple[str, ...]

class Overload:
    @property
    def signature(self) -> Signature: ...
    @property
    def metadata(self) -> dict[str, Any]: ...
    @property
    def argument_types(self) -> tuple[Any, ...]: ...
    @property
    def cooperative(self) -> bool: ...
    @property
    def objectmode(self) -> bool: ...
    @property
    def kernel(self) -> Any: ...
    @property
    def entry_name(self) -> str: ...
    @property
    def library(self) -> Any: ...
    @property
    def bind(self) -> Callable[[], None]: ...
    @property
    def launch(self) -> Callable[..., None]: ...
    @property
    def inspect_types(self) -> Callable[..., None]: ...
    @property
    def inspect_lto_ptx(self) -> Callable[..., Any]: ...
    @property
    def regs_per_thread(self) -> int: ...
    @property
    def shared_mem_per_block(self) -> int: ...
    @property
    def const_mem_size(self) -> int: ...
    @property
    def local_mem_per_thread(self) -> int: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def inspect_llvm(self) -> Callable[..., Any]: ...
    @property
    def inspect_asm(self) -> Callable[..., Any]: ...
    @property
    def inspect_ptx(self) -> Callable[..., Any]: ...
    @property
    def inspect_sass(self) -> Callable[..., Any]: ...
    @property
    def inspect_sass_cfg(self) -> Callable[..., Any]: ...
    @property
    def get_active_blocks_per_multiprocessor(self) -> Callable[..., int]: ...
    @property
    def get_max_threads_per_block(self) -> Callable[..., int]: ...
    def max_cooperative_grid_blocks(
        self, blockdim: int | tuple[int, ...], dynsmemsize: int = 0, dynsmem: int = 0
    ) -> int: ...

class Stats(NamedTuple):
    cache_path: str | None
    cache_hits: int
    cache_misses: int

class Dispatcher(Generic[_P, _R]):
    """A function compiled for the types of its arguments; jit makes it."""

    py_func: Callable[_P, _R]
    targetoptions: dict[str, Any]
    __name__: str
    __qualname__: str
    __wrapped__: Callable[_P, _R]
    @property
    def __code__(self) -> CodeType: ...
    @property
    def __defaults__(self) -> tuple[Any, ...] | None: ...
    @property
    def __kwdefaults__(self) -> dict[str, Any] | None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., _R]: ...
    @property
    def signatures(self) -> list[tuple[Type, ...]]: ...
    @property
    def nopython_signatures(self) -> list[Signature]: ...
    @property
    def overloads(self) -> dict[tuple[Type, ...], Overload]: ...
    @property
    def stats(self) -> Stats: ...
    @overload
    def inspect_llvm(self, signature: None = None) -> dict[tuple[Type, ...], str]: ...
    @overload
    def inspect_llvm(self, signature: _OneSignature) -> str: ...
    @overload
    def inspect_asm(self, signature: None = None) -> dict[tuple[Type, ...], str]: ...
    @overload
    def inspect_asm(self, signature: _OneSignature) -> str: ...
    def inspect_types(self, file: Any = None, signature: Any = None, pretty: bool = False) -> None: ...
    def get_metadata(self, signature: _OneSignature | None = None) -> dict[Any, Any]: ...
    def parallel_diagnostics(self, signature: _OneSignature | None = None, level: int = 1) -> None: ...
    def compile(self, signature: _OneSignature) -> Overload: ...
    def get_compile_result(self, signature: _OneSignature) -> Overload: ...
    def get_overload(self, signature: _OneSignature) -> Overload: ...
    def typeof_pyval(self, value: Any) -> Type: ...
    def recompile(self) -> None: ...
    def enable_caching(self) -> None: ...
    def disable_compile(self, val: bool = True) -> None: ...

@overload
def jit(signature_or_function: Callable[_P, _R], /, **options: Any) -> Dispatcher[_P, _R]: ...
@overload
def jit(
    signature_or_function: _Signatures | None = None,
    /,
    *,
    nopython: bool = True,
    nogil: bool = False,
    fastmath: _FastMath = False,
    error_model: Literal["python", "numpy"] = "python",
    boundscheck: bool | None = True,
    promotion: Literal["numpy", "numba"] = "numpy",
    debug: bool = False,
    inline: bool | Literal["never", "always"] = "never",
    cache: bool = False,
    locals: dict[str, Any] = ...,
    parallel: bool | dict[str, bool] = False,
    forceobj: Literal[False] = False,
    looplift: bool = True,
    no_cpython_wrapper: bool = False,
    no_cfunc_wrapper: bool = False,
    forceinline: bool = False,
) -> Callable[[Callable[_P, _R]], Dispatcher[_P, _R]]: ...

njit = jit

def literal_unroll(container: _T, /) -> _T: ...
def jit_module(**options: Any) -> None:
    """Decorates every function that the calling module has defined so far."""

class _Objmode:
    """`with objmode(y="float64[:]")`, `with objmode`: the interpreter runs the block."""

    def __init__(self, **types: Any) -> None: ...
    def __call__(self, **types: Any) -> _Objmode: ...
    def __enter__(self) -> _Objmode: ...
    def __exit__(self, *error: object) -> bool: ...

objmode: _Objmode

def literally(obj: _T, /) -> _T: ...
def prange(start: int, stop: int = ..., step: int = ..., /) -> range: ...

pndindex = np.ndindex

def get_num_threads() -> int: ...
def set_num_threads(n: int, /) -> None: ...
def get_thread_id() -> int: ...
def get_parallel_chunksize() -> int: ...
def set_parallel_chunksize(n: int, /) -> int: ...
def threading_layer() -> Literal["pool"]: ...

class _Config:
    KRAIT_NUM_THREADS: int
    NUMBA_NUM_THREADS: int
    NUMBA_DEFAULT_NUM_THREADS: int
    THREADING_LAYER: Literal["pool", "default", "safe", "threadsafe", "forksafe", "workqueue", "omp", "tbb"]
    CUDA_LOW_OCCUPANCY_WARNINGS: int
    CUDA_WARN_ON_IMPLICIT_COPY: int
    DISABLE_CUDA: int
    CACHE_DIR: str
    def reload_config(self) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

config: _Config

def carray(ptr: Any, shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray[Any, Any]: ...
def farray(ptr: Any, shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray[Any, Any]: ...

class parallel_chunksize:
    """With it, parallel loops hand out so many iterations at a time."""

    def __init__(self, size: int) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...


class Vectorized:
    """A function of scalars that works on arrays element by element; vectorize makes it."""

    py_func: Callable[..., Any]
    ufunc: np.ufunc
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: None
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def reduce(self, *args: Any, **kwargs: Any) -> Any: ...
    def accumulate(self, *args: Any, **kwargs: Any) -> Any: ...
    def reduceat(self, *args: Any, **kwargs: Any) -> Any: ...
    def outer(self, *args: Any, **kwargs: Any) -> Any: ...
    def at(self, *args: Any, **kwargs: Any) -> None: ...
    def resolve_dtypes(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]: ...
    def add(self, signature: _OneSignature) -> None: ...
    def disable_compile(self, val: bool = True) -> None: ...
    def build_ufunc(self) -> Vectorized: ...
    def match_signature(self, types: Sequence[Any], signature: _OneSignature) -> bool: ...
    max_blocksize: int
    targetoptions: dict[str, Any]

@overload
def vectorize(signatures_or_function: Callable[..., Any], /) -> Vectorized: ...
@overload
def vectorize(
    signatures_or_function: _Signatures,
    /,
    *,
    target: Literal["cpu", "parallel"] = "cpu",
    identity: Literal[0, 1, -1, "reorderable"] | None = None,
    nopython: bool = True,
    forceobj: Literal[False] = False,
    fastmath: _FastMath = False,
    error_model: Literal["python", "numpy"] = "numpy",
    boundscheck: bool | None = True,
    locals: dict[str, Any] = ...,
    promotion: Literal["numpy", "numba"] = "numpy",
    cache: bool = False,
) -> Callable[[Callable[..., Any]], np.ufunc]: ...
@overload
def vectorize(
    signatures_or_function: _Signatures,
    /,
    *,
    target: Literal["cuda"],
    identity: Literal[0, 1, -1, "reorderable"] | None = None,
    nopython: bool = True,
    forceobj: Literal[False] = False,
    fastmath: _FastMath = False,
    error_model: Literal["numpy"] = "numpy",
    boundscheck: bool | None = True,
    locals: dict[str, Any] = ...,
    promotion: Literal["numpy", "numba"] = "numpy",
    cache: bool = False,
) -> Callable[[Callable[..., Any]], Vectorized]: ...
@overload
def vectorize(
    signatures_or_function: None = None,
    /,
    *,
    target: Literal["cpu", "parallel", "cuda"] = "cpu",
    identity: Literal[0, 1, -1, "reorderable"] | None = None,
    nopython: bool = True,
    forceobj: Literal[False] = False,
    fastmath: _FastMath = False,
    error_model: Literal["python", "numpy"] = "numpy",
    boundscheck: bool | None = True,
    locals: dict[str, Any] = ...,
    promotion: Literal["numpy", "numba"] = "numpy",
    cache: bool = False,
) -> Callable[[Callable[..., Any]], Vectorized]: ...

class Gufunc:
    """A function of arrays that is called over the other dimensions of its operands; guvectorize makes it."""

    py_func: Callable[..., Any]
    targetoptions: dict[str, Any]
    ufunc: np.ufunc
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: str
    is_dynamic: bool
    reduce: Callable[..., Any]
    accumulate: Callable[..., Any]
    reduceat: Callable[..., Any]
    outer: Callable[..., Any]
    at: Callable[..., Any]
    max_blocksize: int
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def add(self, signature: _OneSignature) -> None: ...
    def disable_compile(self, val: bool = True) -> None: ...
    def build_ufunc(self) -> Gufunc: ...
    def match_signature(self, types: Sequence[Any], signature: _OneSignature) -> bool: ...

def guvectorize(
    signatures: _Signatures | None = None,
    layout_text: str | None = None,
    /,
    *,
    layout: str = ...,
    target: Literal["cpu", "parallel", "cuda"] = "cpu",
    writable_args: tuple[int | str, ...] = (),
    identity: Literal[0, 1, -1, "reorderable"] | None = None,
    nopython: bool = True,
    forceobj: Literal[False] = False,
    fastmath: _FastMath = False,
    error_model: Literal["python", "numpy"] = "numpy",
    boundscheck: bool = True,
    locals: dict[str, Any] = ...,
    promotion: Literal["numpy", "numba"] = "numpy",
    cache: bool = False,
) -> Callable[[Callable[..., None]], Gufunc]: ...
class CFunc(Generic[_P, _R]):
    """A function that C code can call by its address; cfunc makes it."""

    py_func: Callable[_P, _R]
    address: int
    ctypes: Any
    cffi: Any
    native_name: str
    def inspect_llvm(self) -> str: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

def cfunc(signature: _OneSignature, /, **options: Any) -> Callable[[Callable[_P, _R]], CFunc[_P, _R]]: ...

class Stencil:
    """A function of an item's neighbours, called with whole arrays; stencil makes it."""

    kernel: Callable[..., Any]
    mode: str
    neighborhood: tuple[tuple[int, int], ...] | None
    py_func: Callable[..., Any]
    def __call__(self, *args: Any, out: Any = None, stream: Any = None) -> Any: ...

@overload
def stencil(func_or_mode: Callable[..., Any]) -> Stencil: ...
@overload
def stencil(
    func_or_mode: Literal["constant", "nearest", "reflect", "wrap"] = "constant",
    *,
    cval: Any = None,
    neighborhood: Any = None,
    standard_indexing: str | tuple[str, ...] | list[str] = (),
    **options: Any,
) -> Callable[[Callable[..., Any]], Stencil]: ...
def typeof(value: Any, /) -> Type: ...
def from_dtype(dtype: Any, /) -> Type: ...
