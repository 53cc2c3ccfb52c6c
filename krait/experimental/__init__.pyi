from typing import Any

def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any: ...

structref: Any
