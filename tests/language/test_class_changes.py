"""Classes that change after functions which use them were compiled: what is added counts as what is replaced."""

import pytest

from krait import njit


def plain(**members):
    class Plain:
        def __init__(self, x):
            self.x = x

    for name, value in members.items():
        setattr(Plain, name, value)
    return Plain


def inherited():
    class Base:
        def __init__(self, x):
            self.x = x

        @classmethod
        def made(cls):
            return 1

        @staticmethod
        def counted(*given):
            return len(given)

        def told(self):
            return 1

    class Middle(Base):
        def told(self):
            return super().told() + 10

    class Last(Middle):
        pass

    return Last


def count(*given):
    return len(given)


CHANGES = {
    "== of what had none": (plain(), "C(1) == C(1)", "__eq__", lambda self, other: self.x == other.x),
    "!= of what had == alone": (plain(__eq__=lambda a, b: a.x == b.x), "C(1) != C(1)", "__ne__", lambda a, b: True),
    "the left operand's turn": (plain(__gt__=lambda a, b: True), "C(1) < C(2)", "__lt__", lambda a, b: False),
    "truth": (plain(), "1 if C(0) else 2", "__bool__", lambda self: self.x != 0),
    "a length is a truth": (plain(), "1 if C(0) else 2", "__len__", lambda self: self.x),
    "truth before length": (plain(__len__=lambda self: 0), "1 if C(0) else 2", "__bool__", lambda self: True),
    "str before repr": (plain(__repr__=lambda self: "r"), "str(C(1))", "__str__", lambda self: "s"),
    "a function made static": (plain(m=count), "C(1).m()", "m", staticmethod(count)),
    "a class method of a nearer class": (inherited(), "C.made()", "made", classmethod(lambda cls: 2)),
    "a class method of an instance": (inherited(), "C(1).made()", "made", classmethod(lambda cls: 2)),
    "a static method": (inherited(), "C(1).counted()", "counted", staticmethod(lambda: 2)),
}


@pytest.mark.parametrize("case", CHANGES)
def test_added_members_count(case):
    cls, expression, name, value = CHANGES[case]
    function = eval(f"lambda: {expression}", {"C": cls})
    compiled = njit(function)
    before = compiled()
    assert before == function()
    setattr(cls, name, value)
    assert compiled() == function() != before
    delattr(cls, name)
    if name in ("made", "counted", "__eq__", "__bool__"):
        assert compiled() == function() == before


def test_super_finds_what_a_class_between_got():
    cls = inherited()
    function = eval("lambda: C(1).told()", {"C": cls})
    compiled = njit(function)
    assert compiled() == function() == 11
    cls.__mro__[1].__bases__ = (type("Nearer", (cls.__mro__[2],), {"told": lambda self: 7}),)
    assert compiled() == function() == 17


@pytest.mark.parametrize("name", ["__setattr__", "__getattribute__", "__new__"])
def test_ways_of_its_own_are_refused_when_they_come(name):
    cls = plain()
    compiled = njit(eval("lambda: C(1).x", {"C": cls}))
    assert compiled() == 1
    setattr(cls, name, lambda *given: 42)
    with pytest.raises(Exception, match="is not compiled yet"):
        compiled()
