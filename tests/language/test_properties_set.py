"""Properties to which compiled functions assign: their setters are called; classes whose instances end with code of
their own."""

from enum import IntEnum

import pytest

from krait import njit


class Doubles:
    def __init__(self, value):
        self.value = value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, given):
        if given < 0:
            raise ValueError("negative")
        self._value = given * 2


class Late:
    def __init__(self, value):
        self.value = value


class Ends:
    ended = []

    def __init__(self):
        self.value = 1

    def __del__(self):
        Ends.ended.append(1)


class Fixed:
    def __init__(self):
        self.base = 3

    @property
    def value(self):
        return self.base


REFUSED = "no attribute `value` that can be assigned"


def test_init_passes_by_the_property():
    def make(x):
        return Doubles(x).value

    compiled = njit(make)
    assert compiled(4) == make(4) == 8
    with pytest.raises(ValueError, match="negative"):
        compiled(-1)


def test_so_does_an_assignment_to_what_came_in():
    def assign(object, x):
        object.value = x
        return object.value

    compiled, given, other = njit(assign), Doubles(1), Doubles(1)
    assert compiled(given, 5) == assign(other, 5) == 10
    assert given.__dict__ == other.__dict__ == {"_value": 10}
    with pytest.raises(ValueError, match="negative"):
        compiled(given, -1)


def test_in_place_operators_ask_and_assign():
    def change(x):
        object = Doubles(x)
        object.value += 3
        object.value *= 2
        return object.value, object._value

    assert njit(change)(1) == change(1)


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    @property
    def fahrenheit(self):
        return self.degrees * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self.degrees = (value - 32) * 5 / 9


class Warm(Celsius):
    @Celsius.fahrenheit.setter
    def fahrenheit(self, value):
        self.degrees = max(0.0, (value - 32) * 5 / 9)


def test_a_setter_changes_the_types_of_attributes_and_derived_classes_have_their_own():
    def run(x):
        a, b = Celsius(0), Warm(1)
        for part in (a, b):
            part.fahrenheit = x
        return a.degrees, b.degrees, a.fahrenheit, b.fahrenheit

    assert njit(run)(212.0) == run(212.0)
    assert njit(run)(0.0) == run(0.0)


def test_a_property_that_comes_later_takes_the_attribute_s_place():
    def read():
        return Late(1).value

    compiled = njit(read)
    assert compiled() == read() == 1
    Late.value = property(lambda self: 77, lambda self, value: None)
    assert compiled() == read() == 77
    Late.value = property(lambda self: 78)
    with pytest.raises(Exception, match=REFUSED):
        compiled()


def test_without_a_setter_nothing_is_assigned():
    def assign():
        object = Fixed()
        object.value = 1
        return object.base

    with pytest.raises(Exception, match=REFUSED):
        njit(assign)()


def test_what_a_dictionary_hides_behind_a_property_is_no_attribute():
    """It is neither read nor written back, by which the setter would be called."""
    def changed(given):
        given._value += 1
        return given.value, given._value

    for function in (changed, njit(changed)):
        given = Doubles(1)
        vars(given)["value"] = 5
        assert function(given) == (3, 3)
        assert vars(given) == {"_value": 3, "value": 5}


def test_what_ends_with_code_of_its_own_is_not_made():
    def make():
        return Ends().value

    with pytest.raises(Exception, match="not compiled yet"):
        njit(make)()
    assert not Ends.ended
    assert make() == 1 and Ends.ended == [1]


class Named(IntEnum):
    FIRST = 1

    def __str__(self):
        return "mine"


def test_a_known_member_in_an_f_string_has_the_words_of_its_class():
    def told():
        return f"{Named.FIRST} {Named.FIRST!s}"

    assert njit(told)() == told() == "mine mine"
