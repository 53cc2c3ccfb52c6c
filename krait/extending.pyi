from collections.abc import Callable
from typing import Any, TypeVar, overload as _overload

_F = TypeVar("_F", bound=Callable[..., Any])

def overload(
    function: object,
    jit_options: dict[str, Any] | None = None,
    strict: bool = True,
    inline: str = "never",
    prefer_literal: bool = False,
    **options: Any,
) -> Callable[[_F], _F]: ...
def overload_method(type_: object, name: str, **options: Any) -> Callable[[_F], _F]: ...
def overload_attribute(type_: object, name: str, **options: Any) -> Callable[[_F], _F]: ...
@_overload
def register_jitable(function: _F, /) -> _F: ...
@_overload
def register_jitable(**options: Any) -> Callable[[_F], _F]: ...
def is_jitted(function: object) -> bool: ...
