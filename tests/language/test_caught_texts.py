"""Exceptions that were caught: str(e), f"{e!r}", type(e).__name__, isinstance(e, C), against the interpreter."""

import pytest
from oracle import agree, make

from krait import errors, njit, vectorize

HEAD = """
class Bad(Exception):
    pass
class Worse(Bad):
    def __str__(self):
        return f"worse: {self.args[0]}"
def divide(x):
    return 1 // x
def fail(k):
    raise Bad(k, "at")
"""

RAISES = {
    "a constant": "raise ValueError('bad value')",
    "no argument": "raise ValueError",
    "an empty one": "raise ValueError()",
    "an int": "raise IndexError(n)",
    "several": "raise ValueError('bad', n, 2.5)",
    "a tuple": "raise ValueError((n, 1))",
    "an f-string": "raise ValueError(f'bad {n} of {n * 2.5}')",
    "a made string": "raise ValueError('a' * n + 'b')",
    "a list": "raise ValueError([n, 1])",
    "a key": "raise KeyError('k' + str(n))",
    "a class of the user": "raise Bad('user', n)",
    "with a text of its own": "raise Worse(n)",
    "by the code itself": "x = 1 // (n - 3)",
    "an index": "x = [1, 2][n]",
    "a missing key": "x = {1: 2}[n]",
    "a conversion": "x = int('abc')",
    "in a callee": "x = divide(n - 3)",
    "raised in a callee": "fail(n)",
    "an assertion": "assert n < 2, 'too much'",
    "with a cause": "raise ValueError('a') from KeyError('b')",
    "without a cause": "raise ValueError('a') from None",
}


@pytest.mark.parametrize("name", RAISES)
@pytest.mark.parametrize("use", ["return str(e)", "return f'<{e}>'", "return len(str(e)), str(e) + '!'"])
def test_texts(name, use):
    fine = "return 0, 'fine'" if "len" in use else "return 'fine'"
    body = f"    try:\n        {RAISES[name]}\n    except Exception as e:\n        {use}\n    {fine}\n"
    agree(make(f"{HEAD}def f(n):\n{body}", "f"), 3)


def test_printed(capfd):
    body = "    try:\n        raise ValueError('bad', n)\n    except ValueError as e:\n        print('error:', e)\n"
    text = f"{HEAD}def f(n):\n{body}"
    njit(make(text, "f"))(3)
    make(text, "f")(3)
    ours, theirs = capfd.readouterr().out.splitlines()
    assert ours == theirs


MORE = {
    "in a loop": "r = ['']\nfor i in range(5):\n    try:\n        r.append(str(10 // (i - n)))\n"
        "    except ZeroDivisionError as e:\n"
                 "        r.append(str(e))\nreturn r",
    "raised again":
        "try:\n    try:\n        raise ValueError('x', n)\n    except ValueError as e:\n"
        "        s = str(e)\n        raise\n"
                    "except ValueError as e:\n    return s + str(e)\nreturn ''",
    "raised anew":
        "try:\n    try:\n        raise ValueError('x' * n)\n    except ValueError as e:\n"
        "        raise IndexError(f'from {e}') from e\n"
                   "except IndexError as e:\n    return str(e)\nreturn ''",
    "leaves": "try:\n    return divide(n - 3)\nexcept ZeroDivisionError as e:\n    raise ValueError(f'no: {e}') from e",
    "of two": "r = ['']\nfor i in range(2):\n    try:\n        if i:\n"
        "            raise ValueError('v')\n        raise KeyError('k')\n"
              "    except (ValueError, KeyError) as e:\n        r.append(str(e))\nreturn r",
    "in a generator": "def g(k):\n    for i in range(4):\n        try:\n"
        "            yield str(6 // (i - k))\n        except ZeroDivisionError as e:\n"
                      "            yield str(e)\nreturn list(g(n))",
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_more(name):
    lines = MORE[name].replace("\n", "\n    ")
    agree(make(f"{HEAD}def f(n):\n    {lines}\n", "f"), 3)


def test_in_a_generator_that_python_walks():
    text = ("def g(k):\n    for i in range(4):\n        try:\n            yield str(6 // (i - k))\n"
            "        except ZeroDivisionError as e:\n            yield str(e)\n")  # fmt: skip
    assert list(njit(make(text, "g"))(2)) == list(make(text, "g")(2))


def test_not_in_ufuncs():
    def f(x):
        try:
            if x == 0:
                raise ValueError("zero")
            return x
        except ValueError as e:
            return len(str(e))

    with pytest.raises(errors.UnsupportedError, match="ufuncs"):
        vectorize(["int64(int64)"])(f)(0)


USES = {
    "repr": "repr(e)",
    "in an f-string": "f'{e!r} {e!s:>20} {e!r:>40}|{n}'",
    "of an Optional": "repr(e) + str(e)",
    "classes": "isinstance(e, Bad), isinstance(e, (KeyError, ValueError)), isinstance(e, Exception)",
    "names": "type(e).__name__, e.__class__.__name__, type(e).__qualname__",
    "beside a number": "'%d: %60s%% %-60s|' % (n, e, e)",
    "format": "format(e)",
    "in a message": "type(e).__name__ + ': ' + str(e)",
}


@pytest.mark.parametrize("name", ["several", "a key", "with a text of its own", "by the code itself", "in a callee"])
@pytest.mark.parametrize("use", USES)
def test_other_texts_and_classes(name, use):
    body = f"    try:\n        {RAISES[name]}\n    except Exception as e:\n        return {USES[use]}\n"
    f = make(f"{HEAD}def f(n):\n{body}    raise TypeError('nothing was raised')\n", "f")
    agree(f, 3)


@pytest.mark.parametrize("text", ["'%d %r' % (n, e)", "'%*s' % (n, e)", "'%d %s' % pair, pair"])
def test_a_tuple_that_is_no_text(text):
    """An exception in a tuple is its text only where `%s`, and nothing else, takes it out."""
    body = f"    try:\n        1 // 0\n    except Exception as e:\n        pair = n, e\n        return {text}\n"
    with pytest.raises(errors.UnsupportedError, match="it cannot be used otherwise"):
        njit(make(f"def f(n):\n{body}", "f"))(3)


def test_of_which_class_in_a_loop():
    def f():
        out = []
        for i in range(4):
            try:
                if i == 0:
                    raise ValueError("v")
                elif i == 1:
                    raise KeyError("k")
                out.append("fine" if i == 2 else str([1][i]))
            except Exception as e:
                kind = "value" if isinstance(e, ValueError) else "lookup" if isinstance(e, LookupError) else "other"
                out.append(f"{kind} {type(e).__name__}: {e!r}")
        return out

    agree(f)


def test_other_uses_are_refused():
    uses = {
        "e.args": "the type of `args`",
        "e.winerror": "the type of `winerror`",
        "[e]": "cannot be used otherwise",
        "hash(e)": "cannot be used otherwise",
        "type(e) == OSError": "issubclass.type.e., C. are known",
    }
    for use, message in uses.items():
        text = f"def f(n):\n    try:\n        raise OSError(n)\n    except OSError as e:\n        return {use}\n"
        with pytest.raises(errors.UnsupportedError, match=message):
            njit(make(text, "f"))(3)


CAUSES = ("None", "KeyError", "KeyError('k', n)", "KeyError([n])", "Bad", "Worse(n)")


@pytest.mark.parametrize("cause", CAUSES)
def test_causes(cause):
    agree(make(f"{HEAD}def f(n):\n    raise ValueError('a', n) from {cause}\n", "f"), 3)


@pytest.mark.parametrize("cause", ["5", "n", "'text'", "[n]", "(ValueError, n)", "int"])
def test_no_causes(cause):
    f = make(f"{HEAD}def f(n):\n    raise ValueError('a') from {cause}\n", "f")
    with pytest.raises(TypeError, match="exception causes must derive from BaseException"):
        f(3)
    with pytest.raises(errors.TypingError, match="what comes after `from` must be an exception or None"):
        njit(f)(3)
