from typing import Any, TypeVar

_Item = TypeVar("_Item")

class List(list[_Item]):
    """A list; compiled functions give plain lists back."""

    @staticmethod
    def empty_list(item_type: Any, allocated: int = 0) -> List[Any]: ...
