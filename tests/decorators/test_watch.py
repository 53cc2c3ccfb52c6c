"""What compiled code took as constants changes: every way to change it is seen at the next call, and calls in between
cost no compilation."""

import builtins
import enum
import types

import numpy as np
import pytest

from krait import errors, njit


def module_of(source, **names):
    space = {"__builtins__": builtins, "np": np, "njit": njit, **names}
    exec(source, space)
    return space


CHANGES = {
    "assigned": lambda space: space.__setitem__("a", 7),
    "updated": lambda space: space.update(a=7),
    "merged": lambda space: space.__ior__({"a": 7}),
    "by exec": lambda space: exec("global a\na = 7", space),
    "set anew": lambda space: (space.pop("a"), space.setdefault("a", 7)),
    "by a key that is another str": lambda space: space.__setitem__("".join(["", "a"]), 7),
    "by a key of another class": lambda space: space.__setitem__(type("Name", (str,), {})("a"), 7),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_global(change):
    space = module_of("a = 2\n@njit\ndef f(x):\n    return x * a\n")
    f = space["f"]
    assert f(3) == 6
    space["unrelated"] = 1
    assert f(3) == 6 and len(f.overloads) == 1
    change(space)
    assert f(3) == 21 == f.py_func(3)
    space["a"] = 2
    assert f(3) == 6


def test_all_globals_at_once():
    space = module_of("a = 2\n@njit\ndef f(x):\n    return x * a\n")
    f, kept = space["f"], dict(space)
    assert f(3) == 6
    space.clear()
    with pytest.raises(Exception, match="'a'"):
        f(3)
    space.update(kept)
    assert f(3) == 6
    space.update({**kept, "a": 5})
    assert f(3) == 15


def test_a_builtin_that_a_global_hides():
    space = module_of("@njit\ndef f(x):\n    return abs(x)\n")
    f = space["f"]
    assert f(-3) == 3
    space["abs"] = njit(lambda x: x - 1)
    assert f(-3) == -4
    del space["abs"]
    assert f(-3) == 3


def test_a_builtin_itself(monkeypatch):
    space = module_of("@njit\ndef f(x):\n    return abs(x)\n")
    f = space["f"]
    assert f(-3) == 3
    monkeypatch.setattr(builtins, "abs", max)
    with pytest.raises(Exception):
        f(-3)
    monkeypatch.undo()
    assert f(-3) == 3


def test_an_attribute_of_a_module():
    module = types.ModuleType("constants")
    module.a = 2
    f = module_of("@njit\ndef f(x):\n    return x * constants.a\n", constants=module)["f"]
    assert f(3) == 6
    module.b = 1
    module.a = 4
    assert f(3) == 12
    vars(module)["a"] = 5
    assert f(3) == 15


def test_an_attribute_that_a_module_makes():
    module = types.ModuleType("constants")
    made = [2]
    module.__getattr__ = lambda name: made[0]
    f = module_of("@njit\ndef f(x):\n    return x * constants.a\n", constants=module)["f"]
    assert f(3) == 6
    made[0] = 3
    assert f(3) == 9
    module.a = 4
    assert f(3) == 12


class Meta(type):
    pass


@pytest.mark.parametrize("metaclass", [type, Meta])
def test_an_attribute_of_a_class(metaclass):
    base = metaclass("Base", (), {"a": 2})
    derived = metaclass("Derived", (base,), {})
    f = module_of("@njit\ndef f(x):\n    return x * Derived.a\n", Derived=derived)["f"]
    assert f(3) == 6
    derived.b = 1
    assert f(3) == 6 and len(f.overloads) == 1
    base.a = 3
    assert f(3) == 9
    derived.a = 4
    assert f(3) == 12
    del derived.a
    assert f(3) == 9
    for number in range(1500):  # a class has a limited number of versions
        derived.a = number
        if number > 1490:
            assert f(1) == number
    derived.__bases__ = (metaclass("Other", (), {"a": 8}),)
    del derived.a
    assert f(3) == 24


def test_an_attribute_that_a_metaclass_makes():
    class Counting(type):
        a = property(lambda cls: cls.made)

    kind = Counting("Kind", (), {"made": 2})
    f = module_of("@njit\ndef f(x):\n    return x * Kind.a\n", Kind=kind)["f"]
    assert f(3) == 6
    kind.made = 3
    assert f(3) == 9
    Counting.a = property(lambda cls: 10)
    assert f(3) == 30


def test_an_attribute_that_a_descriptor_makes():
    class Making:
        value = 2

        def __get__(self, instance, owner):
            return self.value

    kind = type("Kind", (), {"a": Making()})
    f = module_of("@njit\ndef f(x):\n    return x * Kind.a\n", Kind=kind)["f"]
    assert f(3) == 6
    Making.value = 5
    assert f(3) == 15


def test_a_member_of_an_enumeration():
    colour = enum.IntEnum("Colour", {"RED": 2, "BLUE": 5})
    space = module_of("@njit\ndef f(x):\n    return x * Colour.RED\n", Colour=colour)
    f = space["f"]
    assert f(3) == 6
    space["Colour"] = enum.IntEnum("Colour", {"RED": 4})
    assert f(3) == 12


def test_what_a_function_consists_of():
    space = module_of("def g(x, y=2):\n    return x * y\n@njit\ndef f(x):\n    return g(x)\n")
    f, g = space["f"], space["g"]
    assert f(3) == 6
    g.__defaults__ = (5,)
    assert f(3) == 15
    g.__code__ = (lambda x, y=2: x + y).__code__
    assert f(3) == 8
    g.__kwdefaults__ = {"z": 1}
    assert f(3) == 8


def test_keyword_defaults_that_change_in_place():
    space = module_of("def g(x, *, y=2):\n    return x * y\n@njit\ndef f(x):\n    return g(x)\n"
                      "@njit\ndef h(x, *, y=2):\n    return x * y\n")
    f, g, h = space["f"], space["g"], space["h"]
    assert f(3) == h(3) == 6
    g.__kwdefaults__["y"] = 5
    h.py_func.__kwdefaults__["y"] = 5
    assert f(3) == h(3) == 15
    g.__kwdefaults__["y"] = 0.5
    assert f(3) == 1.5
    del g.__kwdefaults__["y"]
    with pytest.raises((TypeError, errors.KraitError)):
        f(3)


def test_a_closed_over_variable():
    def make():
        a = 2

        def change(value):
            nonlocal a
            a = value

        return njit(lambda x: x * a), change

    f, change = make()
    assert f(3) == 6
    change(4)
    assert f(3) == 12


def test_functions_that_share_names_and_end():
    space = module_of("a = 1\n")
    for round_ in range(3):
        functions = []
        for k in range(100):
            exec(f"@njit\ndef f{k}(x):\n    return x + a\n", space)
            functions.append(space.pop(f"f{k}"))
        assert all(f(1) == 1 + space["a"] for f in functions[::20])
        space["a"] = round_ + 10
        assert all(f(1) == 1 + space["a"] for f in functions[::20])
        del functions[::2]
        space["a"] = round_ + 20
        assert all(f(1) == 1 + space["a"] for f in functions[::10])
