"""functools.partial: made in compiled code it is a function of the rest of the arguments; one that comes from outside
stands for such a function, which has its arguments as constants."""

from keyword import iskeyword
from typing import NamedTuple
from weakref import WeakKeyDictionary

from krait.prelude.intrinsics import joined_keywords

_functions = WeakKeyDictionary()


def partial(func, /, *args, **keywords):
    def applied(*more, **given):
        return func(*args, *more, **joined_keywords(keywords, given))

    return applied


class Method(NamedTuple):
    """x.method that is kept: what it is called with comes behind x."""

    function: object
    instance: object

    def __call__(self, *args, **keywords):
        return self.function(self.instance, *args, **keywords)

    def __eq__(self, other):
        return isinstance(other, Method) and self.instance is other.instance and self.function == other.function

    def __ne__(self, other):
        return not self == other

    @property
    def __self__(self):
        return self.instance

    @property
    def __func__(self):
        return self.function


def bound(function, instance):
    return Method(function, instance)


def function_of(made):
    """The Python function that a functools.partial stands for; the same for each object."""
    function = _functions.get(made)
    if function is None:
        function = _functions[made] = _function_of(made)
    return function


def _function_of(made):
    names = list(made.keywords)
    if all(name.isidentifier() and not iskeyword(name) for name in names):
        takes = [f"{name}=None" for name in names]
        gives = [f"{name}={name}" for name in names] + ["**_krait_given"]
        defaults = dict(made.keywords)
    else:  # f(**{"class": 1}) alone can say such names
        takes = [f"_krait_{i}=None" for i in range(len(names))]
        pairs = ", ".join(f"{name!r}: _krait_{i}" for i, name in enumerate(names))
        gives = [f"**{{{pairs}, **_krait_given}}"]
        defaults = {f"_krait_{i}": value for i, value in enumerate(made.keywords.values())}
    lines = ["def bind(_krait_func, _krait_args):",
             f"    def applied({', '.join(['*_krait_more', *takes, '**_krait_given'])}):",
             f"        return _krait_func({', '.join(['*_krait_args', '*_krait_more', *gives])})",
             "    return applied"]
    scope = {"__name__": "krait.partials"}  # not a place that messages name
    exec(compile("\n".join(lines), "<functools.partial>", "exec"), scope)
    function = scope["bind"](made.func, made.args)
    function.__name__ = function.__qualname__ = getattr(made.func, "__name__", "partial")
    function.__kwdefaults__ = defaults
    return function
