from typing import Any

from . import structref as structref

def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any: ...
