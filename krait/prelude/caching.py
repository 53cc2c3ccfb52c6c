"""functools.lru_cache and functools.cache: what such a function stands for in compiled code.

Its results are kept as long as the call that Python made takes: then the interpreter may change what they were made of,
or clear its own cache, of which nobody tells.
"""

import inspect
from weakref import WeakKeyDictionary

_functions = WeakKeyDictionary()
_DEFAULT = 128  # which says nothing of what the user wants


class Memo(dict):
    """What is put in while compiled code runs is not put into this one (runtime/marshal/table.c).  Messages name the
    function (src/typeinfer/rules_dict.c); __krait_maxsize__: its last results alone are kept, so many."""

    __krait_forgets__ = True

    def __init__(self, cached):
        maxsize = cached.cache_parameters()["maxsize"]
        self.__krait_function__ = cached.__wrapped__.__qualname__
        self.__krait_maxsize__ = None if maxsize in (None, _DEFAULT) else str(maxsize)


def function_of(cached):
    """The Python function that such a one stands for; the same for each object."""
    function = _functions.get(cached)
    if function is None:
        function = _functions[cached] = _function_of(cached)
    return function


def _function_of(cached):
    called = cached.__wrapped__
    if cached.cache_parameters()["maxsize"] == 0 and inspect.isfunction(called):
        return called  # nothing is kept
    parameters = list(inspect.signature(called).parameters.values())
    takes, gives, keys = [], [], []
    for each in parameters:
        if each.kind is each.VAR_POSITIONAL:
            takes.append(f"*{each.name}")
            gives.append(f"*{each.name}")
        elif each.kind is each.VAR_KEYWORD:
            raise TypeError("a function with **keywords that keeps its results by functools.lru_cache is not compiled")
        else:
            if each.kind is each.KEYWORD_ONLY and not any(taken.startswith("*") for taken in takes):
                takes.append("*")
            takes.append(each.name + "=None" * (each.default is not each.empty))
            gives.append(f"{each.name}={each.name}" if each.kind is each.KEYWORD_ONLY else each.name)
        keys.append(each.name)
    lines = ["def bind(_krait_called, _krait_memo):",
             f"    def cached({', '.join(takes)}):",
             f"        _krait_key = {keys[0] if len(keys) == 1 else '(' + ', '.join(keys) + ')'}",
             "        if _krait_key in _krait_memo:",
             "            return _krait_memo[_krait_key]",
             f"        _krait_value = _krait_called({', '.join(gives)})",
             "        _krait_memo[_krait_key] = _krait_value",
             "        return _krait_value",
             "    return cached"]
    scope = {"__name__": called.__module__}
    exec(compile("\n".join(lines), "<functools.lru_cache>", "exec"), scope)
    function = scope["bind"](called, Memo(cached))
    function.__name__, function.__qualname__ = called.__name__, called.__qualname__
    function.__defaults__, function.__kwdefaults__ = called.__defaults__, called.__kwdefaults__
    return function
