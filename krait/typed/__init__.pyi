from typing import Any, SupportsIndex, TypeVar

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

class Dict(dict[_Key, _Value]):
    """A dict, whose keys and values have the types of Dict.empty or of the first ones; compiled functions give plain
    dicts back."""

    @staticmethod
    def empty(key_type: Any, value_type: Any, n_keys: int = 0) -> Dict[Any, Any]: ...

class List(list[_Item]):
    """A list, whose items have the type of List.empty_list or of the first one; compiled functions give plain lists
    back."""

    @staticmethod
    def empty_list(item_type: Any, allocated: int = 0) -> List[Any]: ...
    def getitem_unchecked(self, index: SupportsIndex) -> _Item:
        """The item at the index, which is in range."""
