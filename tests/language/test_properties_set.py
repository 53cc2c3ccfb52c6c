"""Properties to which compiled functions would assign: refused; classes whose instances end with code of their own."""

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


def test_init_does_not_pass_by_the_property():
    with pytest.raises(Exception, match=REFUSED):
        njit(lambda: Doubles(4).value)()


def test_nor_does_an_assignment():
    def assign(object):
        object.value = 5
        return object.value

    given = Doubles(1)
    with pytest.raises(Exception, match=REFUSED):
        njit(assign)(given)
    assert assign(given) == 10


def test_a_property_that_comes_later_takes_the_attribute_s_place():
    def read():
        return Late(1).value

    compiled = njit(read)
    assert compiled() == read() == 1
    Late.value = property(lambda self: 77, lambda self, value: None)
    with pytest.raises(Exception, match=REFUSED):
        compiled()


def test_without_a_setter_nothing_is_assigned():
    def assign():
        object = Fixed()
        object.value = 1
        return object.base

    with pytest.raises(Exception, match=REFUSED):
        njit(assign)()


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
