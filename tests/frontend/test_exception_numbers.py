"""Handlers after other compilations: classes of exceptions are numbered, and numbers are given back (ir/types.c)."""

import gc

from krait import njit

SOURCE = """
def f(x, text):
    try:
        if x == 1:
            raise {raised}('one')
        return len('a,b'.split(',')) + text.index('b') + int(text[0])
    except {taken}:
        return -1
"""


def make(raised, taken, **scope):
    exec(SOURCE.format(raised=raised, taken=taken), scope)
    return scope["f"]


def test_handlers_after_other_handlers():
    """Functions of Krait's own library raise classes that they keep the numbers of, and not those of their bases."""

    class Own(ValueError):
        pass

    scope = {"Own": Own}
    for _ in range(2):
        for raised in ("ValueError", "IndexError", "Own", "UnicodeError"):
            for taken in ("ValueError", "LookupError", "Exception", "(KeyError, Own)", "BaseException"):
                function = make(raised, taken, **scope)
                compiled = njit(function)
                for args in ((0, "1b"), (0, "ab"), (0, "1"), (1, "")):
                    try:
                        expected = function(*args)
                    except Exception as error:
                        expected = repr(error)
                    try:
                        given = compiled(*args)
                    except Exception as error:
                        given = repr(error)
                    assert given == expected, (raised, taken, args)
                del compiled
                gc.collect()
