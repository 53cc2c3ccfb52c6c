"""Which handler takes what the interpreter raises for compiled code: the class is known when it runs."""

import sys

import pytest
from oracle import agree, make

from krait import njit

STATEMENTS = {
    "a text's method of None": "v = 'a b'.replace('x', ' ', o)",
    "a text's method by name": "v = 'a b'.split(sep=' ', maxsplit=o)",
    "a format of None": "v = f'{o:>5}'",
    "a format": "v = format(1.5, 'q')",
    "a number's text": "v = int('x')",
    "an index of a text": "v = 'a'.index('z')",
    "an encoding": "v = 'é'.encode('ascii')",
    "a template": "v = '%d' % o",
    "a width": "v = 'a'.center(2**63 - 1 + z)",
    "characters": "v = chr(z - 5)",
    "a conversion": "v = '%c' % -1",
}
CLASSES = ["ValueError", "TypeError", "ArithmeticError", "OverflowError", "MemoryError", "UnicodeError",
           "UnicodeEncodeError", "(KeyError, ValueError)", "LookupError", "Exception"]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_handler_is_that_of_the_class(statement):
    for name in CLASSES:
        f = make(f"""
            def f(z, o):
                try:
                    {STATEMENTS[statement]}
                except {name}:
                    return 1
                return 2
        """)
        agree(f, 0, None)


def test_the_nearest_class_is_told():
    f = make("""
        def f(text, o):
            try:
                v = text.replace('x', ' ', o)
                v = int(text)
            except ArithmeticError:
                return 'arithmetic'
            except TypeError as error:
                return 'type ' + str(error)
            except ValueError as error:
                return 'value ' + str(error)
            return str(v)
    """)
    for arguments in (("x", None), ("x", 1), ("12", 1)):
        agree(f, *arguments)


class Interrupted:
    """A file that a signal reaches while it is written."""

    def write(self, text):
        raise KeyboardInterrupt

    def flush(self):
        pass


def test_what_is_no_exception_is_not_handled(monkeypatch):
    @njit
    def f(x):
        try:
            print(x)
        except Exception:
            return 1
        return 2

    assert f(1) == 2
    monkeypatch.setattr(sys, "stdout", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        f(1)


class Both(KeyError, ValueError):
    pass


class Other(BaseException):
    pass


@pytest.mark.parametrize("raised", [Both("both"), Other("other"), SystemExit(3), KeyboardInterrupt("k"), OSError("o")])
def test_the_object_is_asked_for_its_class(monkeypatch, raised):
    """Of two bases, or of none that `except Exception` takes."""
    class Raising:
        def write(self, text):
            raise raised

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stdout", Raising())
    agree(make("""
        def f(x):
            try:
                try:
                    print(x)
                except (ValueError, KeyboardInterrupt):
                    return 1
            except KeyError:
                return 2
            except Exception:
                return 3
            except BaseException:
                return 4
            return 5
    """), 1)
    agree(make("""
        def f(x):
            try:
                print(x)
            except KeyError:
                return 1
            except KeyboardInterrupt:
                return 2
            except BaseException:
                return 3
            return 4
    """), 1)
