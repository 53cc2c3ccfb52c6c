"""**keywords of functions, **x of calls, functools.partial: against the interpreter."""

import functools
import operator
from functools import partial

import numpy as np
import pytest
from oracle import agree

from krait import errors, njit

OPTIONS = {"power": 3, "bias": 0.5}
CHANGED = {"power": 2}


def use(x, power=2, bias=0):
    return x**power + bias


def all_of(**keywords):
    return keywords


def with_defaults(x, **keywords):
    scale = keywords.pop("scale", 2)
    keywords.setdefault("power", 3)
    keywords["bias"] = x
    return use(x * scale, **keywords)


def updated(x, **keywords):
    keywords.update(power=x, bias=1)
    if "extra" in keywords:
        del keywords["extra"]
    return use(x, **keywords)


def plus_one(function):
    def wrapped(*args, **keywords):
        return function(*args, **keywords) + 1

    return wrapped


@plus_one
def product(x, y=2):
    return x * y


class Base:
    def __init__(self, a, **keywords):
        self.a = a
        self.b = keywords.get("b", 1.5)

    def powered(self, **keywords):
        return use(self.a, **keywords)


class Derived(Base):
    def __init__(self, *args, c=0, **keywords):
        super().__init__(*args, **keywords)
        self.c = c


def deeper(n, **keywords):
    return keywords["a"] + keywords["b"] if n == 0 else deeper(n - 1, **keywords)


def case_they_are_a_dict():
    return all_of(a=1, b=2.5, c="t"), all_of(), dict(all_of(a=1, b=2))


def case_what_a_dict_does():
    def inner(**kw):
        n = 0
        for name in kw:
            n += len(name)
        for name, value in kw.items():
            n += value
        return n + sum(kw.values()), list(kw), len(kw), bool(kw), "aa" in kw, "zz" in kw, kw.get("zz"), kw.get("aa", 7)

    return inner(aa=1, b=3), inner(aa=1)


def case_values_of_several_types_in_a_loop():
    def inner(**kw):
        parts = []
        for name, value in kw.items():
            parts.append(f"{name}={value}")
        return ", ".join(parts)

    return inner(aa=1.5, b=3, c="t")


def case_names_known_when_it_runs():
    def inner(**kw):
        total = 0
        for name in ("a", "b", "c"):
            if name in kw:
                total += kw[name]
        return total

    return inner(a=3, c=5)


def case_a_name_that_is_not_there():
    return all_of(a=1)["b"]


def case_handed_on():
    return product(3), product(3, y=5), deeper(3, a=1, b=2.5), Base(3).powered(bias=2)


def case_classes():
    b, d = Derived(3, c=2, b=4.5), Derived(3)
    return b.a, b.b, b.c, d.b, d.c


def case_changed():
    more = with_defaults(3, power=2, bias=9)
    return with_defaults(3), with_defaults(3, scale=4), more, updated(3), updated(3, extra=1)


def case_taken_out_of_nothing():
    def inner(**kw):
        return kw.pop("a")

    return inner(b=1)


def case_displays():
    local, pairs = {"power": 3, "bias": 0.25}, dict(power=2, bias=3)
    direct = use(2, **{"power": 4}), use(2, bias=1, **{"power": 3})
    return use(2, **local), use(2, **pairs), direct, local["bias"], len(pairs)


def case_displays_put_together():
    def inner(**kw):
        usual = {"power": 3, "bias": 2}
        around = use(3, **{"bias": 1, **kw}), use(3, **{**kw, "bias": 5})
        return use(3, **{**usual, **kw}), use(3, **(usual | kw)), around

    return inner(bias=9), inner()


def case_variables_from_outside():
    return use(2, **OPTIONS)


def case_constants_stay_constants():
    def total(x, **kw):
        return np.sum(x, **kw)

    x = np.arange(6.0).reshape(2, 3)
    return total(x, axis=0), total(x, axis=1, keepdims=True), total(x)


def case_a_condition_behind_two_stars():
    def inner(**kw):
        return all_of(**kw, c=1 if kw else 2), all_of(c=1 if kw else 2, **kw)

    return inner(b=3), inner()


def case_positional_only_names_are_free():
    def inner(a, /, **kw):
        return a + kw["a"]

    return inner(1, a=10)


def case_update_of_a_dict():
    d = {"a": 1}
    d.update(b=2, a=3)
    d.update({"c": 4})
    return d


def case_partial():
    shifted = partial(use, 3)
    nested = partial(partial(use, 3), 2)
    cube = functools.partial(use, power=3)
    return shifted(2), shifted(bias=1), nested(), nested(bias=1), cube(2), cube(2, power=1), list(map(cube, [1, 2]))


def case_partial_as_key_and_in_lists():
    powers = [partial(use, power=i) for i in range(3)]
    return sorted([3, 1, 2], key=partial(operator.mul, -1)), [f(4) for f in powers], partial(max, 3)(2)


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_keywords(name):
    agree(globals()[name])


def entry(x, *args, scale=1, **keywords):
    return x + len(args) + scale + keywords.get("bias", 0), keywords


@pytest.mark.parametrize("args, keywords", [
    ((1,), {}), ((1, 2, 3), {"bias": 2.5}), ((1,), {"bias": 2}), ((1,), {"bias": 3, "z": "text"}),
    ((1,), {"z": "text", "bias": 3}), ((1,), {"scale": 4, "other": np.int8(3)}), ((), {"x": 4, "scale": 3}),
    ((1,), {"x": 2}), ((), {"bias": 1}),
])
def test_a_call_from_python_gives_them(args, keywords):
    agree(entry, *args, **keywords)


def test_another_name_is_another_specialisation():
    f = njit(lambda **kw: kw)
    assert [f(a=1), f(b=1), f(a=2), f(a=1.0)] == [{"a": 1}, {"b": 1}, {"a": 2}, {"a": 1.0}]
    assert len(f.signatures) == 3


CUBE = partial(use, power=3)


def test_partials_from_outside():
    agree(lambda x: (CUBE(x), CUBE(x, bias=1), CUBE.func(x), CUBE.keywords["power"], CUBE.args), 2)
    agree(lambda f, x: (f(x), f(x, bias=1), f(x, power=1)), partial(use, power=4), 3)
    agree(lambda f: f(), partial(np.add, np.arange(3), 2))


def test_changes_of_a_dict_outside_are_seen():
    f = njit(lambda x: use(x, **CHANGED))
    assert f(3) == 9
    CHANGED["bias"] = 1
    assert f(3) == 10
    CHANGED["power"] = 1
    assert f(3) == 4
    del CHANGED["power"]
    assert f(3) == 10
    CHANGED.clear()
    CHANGED["power"] = 2


def given_twice(x):
    options = {"power": 3}
    return use(x, power=2, **options)


def not_a_parameter(x):
    return use(x, **{"pwer": 3})


def two_holders(**kw):
    other = kw
    kw["a"] = 1
    return other


def held_elsewhere(**kw):
    kept = [kw]
    kw.pop("a")
    return kept[0]


@pytest.mark.parametrize("function, args, keywords, message", [
    (given_twice, (3,), {}, "several values for the keyword argument 'power'"),
    (not_a_parameter, (3,), {}, "unexpected keyword argument 'pwer'(?s:.*)did you mean 'power'"),
    (lambda d: use(1, **d), ({"power": 3},), {}, "only known when the code runs(?s:.*)write them out"),
    (lambda d: use(1, **d), ([1],), {}, r"\*\* needs a mapping"),
    (two_holders, (), {"a": 3}, "something else than `kw` holds them(?s:.*)dict"),
    (held_elsewhere, (), {"a": 3}, "something else than `kw` holds them(?s:.*)dict"),
])
def test_refusals(function, args, keywords, message):
    with pytest.raises(errors.KraitError, match=message):
        njit(function)(*args, **keywords)


ODD_NAMES = partial(all_of, **{"class": 1, "b": 2.5, "no name": 3})


@pytest.mark.parametrize("function", [
    lambda x: ODD_NAMES(),
    lambda x: ODD_NAMES(b=x, c=4),
    lambda x: ODD_NAMES(**{"class": x, "no name": 1.5}),
])
def test_partials_of_names_that_only_texts_have(function):
    agree(function, 7)


def three(x, y, z):
    return x + y + z


BOUND = partial(three, 1, z=5)
MANY = partial(three, 1, 2, 3, 4)


@pytest.mark.parametrize("function", [
    lambda x: BOUND(x, 2),
    lambda x: three(1, x, 2, 3, z=5),
    lambda x: BOUND(x, w=1),
    lambda x: MANY(),
])
def test_partials_that_do_not_fit(function):
    """The words are the interpreter's, the place is the user's."""
    with pytest.raises(TypeError) as ours:
        function(1)
    with pytest.raises(errors.TypingError) as theirs:
        njit(function)(1)
    text = str(theirs.value)
    assert str(ours.value) in text and __file__ in text and "applied" not in text, text


PARAMETERS = ", ".join(f"a{i}" for i in range(20))
TOTAL = f"def g({PARAMETERS}):\n    return " + " + ".join(f"{i + 1} * a{i}" for i in range(20)) + "\n"


def arguments(text, first=0):
    return ", ".join(f"a{i}=" + text.format(i) for i in range(first, 20))


@pytest.mark.parametrize("body", [
    f"return g({arguments('x + {0}')})",
    f"return g({arguments('x if x > {0} else {0}')})",
    f"return g(*(1, 2), {arguments('x and g(' + arguments('{0}').replace('{', '{{').replace('}', '}}') + ')', 2)})"
    .replace("{0}", "7"),
    f"o = {{'a0': 5, 'a1': 7.5}}\n    return g({arguments('x or {0}', 2)}, **o)",
    f"try:\n        return g({arguments('x // (x - {0})')})\n    except ZeroDivisionError:\n        return -1",
])
def test_many_keyword_arguments_with_conditions_among_them(body):
    """CPython puts more than fifteen into a dict in turn, and what stands on the stack at a condition is one value."""
    plain, compiled = {}, {}
    source = TOTAL + f"def f(x):\n    {body}\n"
    exec(source, plain)
    exec(source, compiled)
    compiled["g"] = njit(compiled["g"])
    for x in (0, 3, 30):
        assert njit(compiled["f"])(x) == plain["f"](x)
