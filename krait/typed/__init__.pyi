from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

class Dict(dict[_Key, _Value]):
    """A dict; compiled functions give plain dicts back."""

    @staticmethod
    def empty(key_type: Any, value_type: Any, n_keys: int = 0) -> Dict[Any, Any]: ...

class List(list[_Item]):
    """A list; compiled functions give plain lists back."""

    @staticmethod
    def empty_list(item_type: Any, allocated: int = 0) -> List[Any]: ...
