"""Exceptions that are made in one place and raised in another: their texts go with them.  Imports that fail."""

import pytest
from conftest import host_device
from oracle import agree, make

import krait
from krait import cuda

WAYS = {
    "an argument": """
        def f(n):
            def throw(e):
                raise e
            throw(ValueError("a text", n))""",
    "raised here, and passed on": """
        def f(n):
            def throw(e):
                raise e
            e = ValueError(f"{n} is too large", n)
            try:
                raise e
            except ValueError:
                throw(e)""",
    "kept where it is raised": """
        def f(n):
            raise (e := ValueError(f"{n} is too large"))""",
    "a result": """
        def f(n):
            def made(n):
                return ValueError(f"{n} is too large")
            raise made(n)""",
    "one of two": """
        def f(n):
            if n > 1:
                e = ValueError("large")
            else:
                e = ValueError("small")
            raise e""",
    "out of a list": """
        def f(n):
            made = [ValueError("first"), ValueError("second")]
            raise made[n - 2]""",
    "out of a tuple": """
        def f(n):
            made = KeyError("first", 1), ValueError("second", n)
            raise made[1]""",
    "a variable set in a loop": """
        def f(n):
            failed = None
            for i in range(n):
                if i == 1:
                    failed = ValueError("at", i)
            if failed is not None:
                raise failed
            return n""",
    "after another call": """
        def f(n):
            e = ValueError("a text")
            n = abs(n)
            raise e""",
    "caught": """
        def f(n):
            def throw(e):
                raise e
            try:
                throw(IndexError("a text"))
            except LookupError as e:
                return str(e), type(e).__name__""",
    "with a cause": """
        def f(n):
            cause = KeyError("the cause")
            e = ValueError("a text")
            raise e from cause""",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_text_goes_with_it(way):
    agree(make(WAYS[way]), 3)


@host_device
def test_kernels_say_that_the_text_is_lost():
    @cuda.jit(device=True)
    def throw(e):
        raise e

    @cuda.jit
    def k(n):
        if n > 1:
            throw(ValueError("a text"))

    with pytest.raises(krait.errors.UnsupportedError, match="the text of this exception is not known here"):
        k[1, 1](2)


def test_whether_what_was_made_here_was_caught_is_not_known():
    @krait.njit
    def f(n):
        e = ValueError("a text")
        try:
            raise e
        except ValueError as caught:
            return caught is e

    with pytest.raises(krait.errors.TypingError, match="`caught` .* and `e` .* are one object is not known"):
        f(2)


IMPORTS = {
    "a module": "import nothing_of_that_name",
    "a part of a module that is not there": "import nothing_of_that_name.part as part",
    "a name of a module that is not there": "from nothing_of_that_name import name",
    "a name that a module lacks": "from math import nothing_of_that_name",
    "the second name of a line, of a module with a file": "from os.path import join, nothing_of_that_name as name",
}


@pytest.mark.parametrize("what", IMPORTS)
def test_imports_that_fail_raise_where_they_stand(what):
    agree(make(f"""
        def f(n):
            {IMPORTS[what]}
            return n
    """), 3)
    agree(make(f"""
        def f(n):
            if n > 3:
                {IMPORTS[what]}
            return n
    """), 3)
    agree(make(f"""
        def f(n):
            try:
                {IMPORTS[what]}
                there = True
            except ImportError as e:
                there = False
                text = str(e)
            return there, text
    """), 3)


FORMATS = {
    "None": 'f"{m:>}"',
    "a number": 'f"{2.5:d}"',
    "a text": """f"{'a':d}" """,
    "a complex number": 'f"a {1j:=5} b {n}"',
    "an unknown letter": 'f"{5:zz}"',
}


@pytest.mark.parametrize("what", FORMATS)
def test_formats_of_constants_raise_where_they_stand(what):
    agree(make(f"""
        def f(n):
            m = None
            if n > 3:
                return {FORMATS[what]}
            return "fine"
    """), 3)
    agree(make(f"""
        def f(n):
            m = None
            try:
                return {FORMATS[what]}
            except (TypeError, ValueError) as e:
                return type(e).__name__ + ": " + str(e)
    """), 3)


OWN = """
class Bad(ValueError):
    pass
class Own(Exception):
    def __init__(self, a, b=2):
        super().__init__(f"own {a} {b}")
def made(n):
    return Bad("bad", n)
"""
TEXTS = {
    "of a class": "ValueError",
    "of a text": "ValueError('bad value')",
    "of several": "KeyError('k', n, 2.5)",
    "of none": "IndexError()",
    "of a number for the system": "OSError(n, 'no such thing')",
    "that another function made": "made(n)",
    "whose class has an __init__": "Own(n)",
}


@pytest.mark.parametrize("what", TEXTS)
def test_texts_of_what_is_only_made(what):
    agree(make(f"""
        {OWN.replace(chr(10), chr(10) + "        ")}
        def f(n):
            e = {TEXTS[what]}{"()" if "class" in what and "(" not in TEXTS[what] else ""}
            return str(e), repr(e), f"{{e}} {{e!r:>30}}", "%s" % e, "%r|" % e, "<{{}}>".format(e), type(e).__name__
    """, "f"), 3)


def test_texts_of_a_caught_one_in_templates():
    def f(n):
        try:
            return "%d" % n
        except ValueError as e:
            return "%s" % e

    def g(n):
        try:
            return str(10 // n)
        except ZeroDivisionError as e:
            return "%5s|" % e + "100%% %r" % e + "{} {}".format(n, e)

    agree(f, 3)
    agree(g, 0)


def test_the_last_one_if_any():
    def f(n):
        last = None
        for i in range(n):
            try:
                10 // (i - 2)
            except ZeroDivisionError as e:
                last = e
        return repr(last) if last else "none"

    agree(f, 2)
    agree(f, 3)


@pytest.mark.parametrize("given", ["ValueError(f'{n} is bad')", "ValueError([n, 1])", "made(n)"])
def test_an_exception_that_is_its_own_cause(given):
    f = make(f"""
        {OWN.replace(chr(10), chr(10) + "        ")}
        def f(n):
            e = {given}
            raise e from e
    """, "f")
    for function in (f, krait.njit(f)):
        with pytest.raises(ValueError) as caught:
            function(3)
        assert caught.value.__cause__ is caught.value


@pytest.mark.parametrize("call, what", [("super().__init__(c)", "missing a required argument: 'b'"),
                                        ("super().__init__(c, c, c)", "takes 3 positional arguments but 4 were given"),
                                        ("Base.__init__(self, c, q=2)", "unexpected keyword argument 'q'")])
def test_a_base_class_called_with_what_it_does_not_take(call, what):
    f = make(f"""
        class Base:
            def __init__(self, a, b):
                self.a = a
                self.b = b
        class Derived(Base):
            def __init__(self, c):
                {call}
        def f(n):
            return Derived(n).a
    """, "f")
    with pytest.raises(krait.errors.TypingError, match=f"__init__.. .*{what}") as caught:
        krait.njit(f)(3)
    assert call in str(caught.value)


def test_exceptions_are_not_returned():
    with pytest.raises(krait.errors.TypingError, match="an exception made in compiled code cannot be returned"):
        krait.njit(lambda: ValueError("a"))()


@pytest.mark.parametrize("number", [2, 13, 3, 999])
def test_the_number_of_an_error_of_the_system_says_its_class(number):
    def f(n):
        try:
            raise OSError(n, "no such")
        except FileNotFoundError as e:
            return "not found: " + str(e)
        except PermissionError:
            return "not allowed"
        except OSError as e:
            return "another: " + type(e).__name__

    def g(n):
        e = OSError(n, "no such")
        return isinstance(e, FileNotFoundError), isinstance(e, OSError), type(e).__name__

    agree(f, number)
    agree(g, number)
