from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, overload as _overload

_F = TypeVar("_F", bound=Callable[..., Any])

class InlineCall(NamedTuple):
    func: str
    args: tuple[Any, ...]
    line: int

class InlineFunction(NamedTuple):
    name: str
    filename: str
    line: int
    args: tuple[Any, ...]
    blocks: dict[int, tuple[str, ...]]

def overload(
    function: object,
    jit_options: dict[str, Any] | None = None,
    strict: bool = True,
    inline: str | Callable[[InlineCall, InlineFunction, InlineFunction], bool] = "never",
    prefer_literal: bool = False,
    **options: Any,
) -> Callable[[_F], _F]: ...
def overload_method(
    type_: object, name: str, inline: object = "never", prefer_literal: bool = False, **options: Any
) -> Callable[[_F], _F]: ...
def overload_attribute(type_: object, name: str, inline: object = "never", **options: Any) -> Callable[[_F], _F]: ...
@_overload
def register_jitable(function: _F, /) -> _F: ...
@_overload
def register_jitable(**options: Any) -> Callable[[_F], _F]: ...
def inline_llvm(text: str, result: Any, /, *operands: Any) -> Any: ...
def intrinsic(
    signature: Any = None, /, *, ptx: str | None = None, llvm: str | None = None
) -> Callable[[_F], _F]: ...
def is_jitted(function: object) -> bool: ...
def get_cython_function_address(module_name: str, function_name: str) -> int: ...
