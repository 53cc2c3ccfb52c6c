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
