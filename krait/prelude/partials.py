"""functools.partial: made in compiled code it is a function of the rest of the arguments; one that comes from outside
stands for such a function, which has its arguments as constants."""

from weakref import WeakKeyDictionary

from krait.prelude.intrinsics import joined_keywords

_functions = WeakKeyDictionary()


def partial(func, /, *args, **keywords):
    def applied(*more, **given):
        return func(*args, *more, **joined_keywords(keywords, given))

    return applied


def function_of(made):
    """The Python function that a functools.partial stands for; the same for each object."""
    function = _functions.get(made)
    if function is None:
        function = _functions[made] = _function_of(made)
    return function


def _function_of(made):
    names = [name for name in made.keywords if name.isidentifier()]
    if len(names) < len(made.keywords):
        raise TypeError("the names of the keyword arguments of a functools.partial are no names")
    takes = "".join(f"{name}=None, " for name in names)
    gives = "".join(f"{name}={name}, " for name in names)
    lines = ["def bind(_krait_func, _krait_args):",
             f"    def applied(*_krait_more, {takes}**_krait_given):",
             f"        return _krait_func(*_krait_args, *_krait_more, {gives}**_krait_given)",
             "    return applied"]
    scope = {"__name__": made.__module__ if isinstance(getattr(made, "__module__", None), str) else "functools"}
    exec("\n".join(lines), scope)
    function = scope["bind"](made.func, made.args)
    function.__name__ = function.__qualname__ = getattr(made.func, "__name__", "partial")
    function.__kwdefaults__ = dict(made.keywords)
    return function
