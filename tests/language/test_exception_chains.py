"""__cause__, __context__ and __suppress_context__ of what compiled functions raise: as the interpreter has them."""

import gc
import sys
import traceback

import numpy as np
import pytest
from oracle import make

from krait import errors, njit, vectorize

HEAD = """\
class Mine(ValueError):
    pass

class Picky(Exception):
    def __init__(self, n):
        if n == 1:
            raise KeyError(n)
        super().__init__(n)

def throw(e):
    raise e

def made(n):
    return Mine(f'made of {n}')

def inverse(n):
    return 6 // n

def wrapped(n):
    try:
        return inverse(n)
    except ZeroDivisionError:
        raise Mine('wrapped', n)

def calm(n):
    try:
        return inverse(n)
    except ZeroDivisionError:
        return [5][n]

def again(n):
    try:
        return inverse(n)
    except ZeroDivisionError as e:
        raise e

def deep(n):
    try:
        return deep(n - 1) if n else 1 // n
    except ZeroDivisionError as e:
        raise e

"""

# What f(n) does; it raises for n = 0.
BODIES = {
    "raised in a handler": """
    try:
        return 1 // n
    except ZeroDivisionError:
        raise ValueError('bad', n)
""",
    "from what was caught": """
    try:
        return 1 // n
    except ZeroDivisionError as e:
        raise ValueError('bad') from e
""",
    "from None": """
    try:
        return 1 // n
    except ZeroDivisionError:
        raise ValueError('bad') from None
""",
    "from a class": """
    raise ValueError from KeyError
""",
    "from one that is made here": """
    raise ValueError('bad') from KeyError('k', n, 2.5)
""",
    "handled ones, each from the one before": """
    before = None
    for i in range(3):
        try:
            raise ValueError(i + n)
        except ValueError as e:
            if i == 0:
                before = e
            else:
                try:
                    raise e from before
                except ValueError as again:
                    before = again
    raise KeyError(n) from before
""",
    "from one with a text made here": """
    raise ValueError('bad') from KeyError(f'k{n}')
""",
    "from one that holds a list": """
    raise ValueError('bad', [n]) from KeyError([n, 2])
""",
    "from what may be None": """
    err = None
    for i in range(2):
        try:
            inverse(n + i)
        except ZeroDivisionError as e:
            err = e
    raise ValueError('bad') from err
""",
    "from what is None": """
    err = None
    try:
        inverse(n + 1)
    except ZeroDivisionError as e:
        err = e
    raise ValueError('bad') from err
""",
    "an operation in a handler": """
    d = {1: 2}
    try:
        return d[n]
    except KeyError:
        return [1, 2][n + 2]
""",
    "a handler in a handler": """
    try:
        return 1 // n
    except ZeroDivisionError:
        try:
            return [1, 2][n + 2]
        except IndexError:
            raise ValueError('third')
""",
    "a handler in a handler, left by its own": """
    try:
        return 1 // n
    except ZeroDivisionError as e:
        try:
            return [1, 2][n + 2]
        except IndexError:
            pass
        raise ValueError('second') from e
""",
    "in a called function": """
    return wrapped(n)
""",
    "around a called function": """
    try:
        return wrapped(n)
    except ValueError:
        raise KeyError('third')
""",
    "a called function in a handler": """
    try:
        return [5][n + 1]
    except IndexError:
        return wrapped(n)
""",
    "what a called function caught is over": """
    y = calm(n)
    return 1 // n + y
""",
    "finally": """
    try:
        return 1 // n
    finally:
        n = [5][n + 1]
""",
    "finally that raises nothing": """
    try:
        return 1 // n
    finally:
        n += 1
""",
    "raise alone": """
    try:
        return 1 // n
    except ZeroDivisionError:
        raise
""",
    "raise alone, called again": """
    try:
        return inverse(n)
    except ZeroDivisionError:
        inverse(n)
        raise
""",
    "the same once more": """
    try:
        return inverse(n)
    except ZeroDivisionError as e:
        raise e
""",
    "raise alone behind a handler": """
    try:
        return 1 // n
    except ZeroDivisionError:
        try:
            [5][n + 1]
        except IndexError:
            pass
        raise
""",
    "another that was kept": """
    kept = None
    try:
        [5][n + 1]
    except IndexError as e:
        kept = e
    if kept is not None:
        try:
            return 1 // n
        except ZeroDivisionError:
            raise kept
""",
    "handled before": """
    try:
        1 // n
    except ZeroDivisionError:
        pass
    return [1][n + 1]
""",
    "of the interpreter's": """
    try:
        return int('x' * (n + 1))
    except ValueError:
        raise KeyError('no number')
""",
    "in a loop": """
    for i in range(3):
        try:
            [5][i + n]
        except IndexError:
            if i == 2:
                raise ValueError(i)
""",
    "the first one, in the handler of a second": """
    try:
        raise ValueError('first')
    except ValueError as e:
        try:
            raise KeyError('second')
        except KeyError:
            raise e
""",
    "the first one from the second, which came from it": """
    try:
        raise ValueError('first')
    except ValueError as e:
        try:
            raise KeyError('second') from e
        except KeyError as k:
            raise e from k
""",
    "the interpreter's first one, from None": """
    try:
        int('x')
    except ValueError as e:
        try:
            return {1: 2}[n]
        except KeyError:
            raise e from None
""",
    "three, in turns": """
    try:
        try:
            raise ValueError('first')
        except ValueError as e:
            try:
                1 // n
            except ZeroDivisionError as z:
                try:
                    raise e
                except ValueError:
                    raise z
    except ZeroDivisionError:
        raise RuntimeError('last')
""",
    "finally raises while it goes on": """
    try:
        raise ValueError('first')
    except ValueError as e:
        try:
            raise e
        finally:
            n = [1][n + 5]
""",
    "handled again, and a third": """
    try:
        [1, 2].index(7)
    except ValueError as e:
        try:
            raise e
        except ValueError:
            int('zz')
""",
    "one that is made, and raised in each round": """
    e = ValueError('made', n)
    for i in range(3):
        try:
            raise e
        except ValueError:
            if i == 2:
                raise
""",
    "one that is made, handled, and raised behind": """
    e = ValueError('made')
    try:
        raise KeyError('k')
    except KeyError as k:
        try:
            raise e
        except ValueError:
            try:
                raise k
            except KeyError:
                raise e
""",
    "two that are made, each from the other": """
    e, f = ValueError('e'), KeyError('f', n)
    try:
        raise e from f
    except ValueError as again:
        raise f from again
""",
    "made anew in each round": """
    kept = None
    for i in range(3):
        e = ValueError(i + n)
        try:
            raise e
        except ValueError as caught:
            if i == 1:
                kept = caught
        if i == 2:
            raise e from kept
""",
    "one that two called functions handled": """
    try:
        wrapped(n)
    except Mine as e:
        try:
            calm(n - 1)
            again(n)
        except ZeroDivisionError:
            raise e
""",
    "kept beside another": """
    try:
        inverse(n)
    except ZeroDivisionError as e:
        first = e
        try:
            int('zz')
        except ValueError as f:
            second = f
            try:
                raise first
            except ZeroDivisionError as third:
                try:
                    raise second
                except ValueError:
                    raise third
""",
    "asked for its text, and raised again": """
    try:
        inverse(n)
    except ZeroDivisionError as e:
        text = str(e) + repr(e)
        try:
            raise KeyError(text)
        except KeyError as k:
            text = str(k)
            raise e
""",
    "raised again by name on each level": """
    deep(4)
""",
    "in a handler of a loop that goes on": """
    while True:
        try:
            inverse(n)
        except ZeroDivisionError as e:
            for i in range(3):
                try:
                    wrapped(n)
                except Mine as m:
                    if i < 1:
                        continue
                    raise e from m
                finally:
                    n += 0
""",
    "made in a loop, and raised behind it": """
    for i in range(n + 3):
        e = ValueError(i)
        try:
            raise e
        except ValueError:
            pass
    raise e
""",
    "made in a loop, with a text, where there was None": """
    e = None
    for i in range(n + 3):
        e = Mine(f'number {i}')
        try:
            raise e
        except ValueError:
            pass
    if e is not None:
        raise e
""",
    "made on one of two ways": """
    if n:
        e = ValueError(n)
    else:
        e = ValueError(5)
    try:
        raise e
    except ValueError:
        raise e
""",
    "another from the third time on": """
    e = ValueError(n)
    for i in range(n + 5):
        try:
            raise e
        except ValueError:
            if i == 2:
                e = ValueError(i)
    raise e
""",
    "made by a function": """
    e = made(n)
    try:
        raise e
    except Mine:
        raise e
""",
    "given to a function that raises it": """
    e = Mine('given', n)
    try:
        throw(e)
    except Mine:
        try:
            raise e
        except Mine:
            throw(e)
""",
    "another of its class": """
    try:
        inverse(n)
    except ArithmeticError as e:
        raise type(e)(f'more: {e}', n, (2.5, 'x'), [n]) from e
""",
    "another of a class that is not told, in a handler for others": """
    try:
        try:
            wrapped(n)
        except Exception as e:
            raise e.__class__()
    except (KeyError, IndexError):
        return
""",
    "others of its class, caught and kept": """
    kept = None
    for i in range(n + 3):
        try:
            inverse(n)
        except ZeroDivisionError as e:
            kept = type(e)(i)
            try:
                raise kept
            except ArithmeticError:
                pass
    if kept is not None:
        raise kept
""",
    "a class that does not take its arguments": """
    try:
        raise Picky(n)
    except Picky as e:
        raise type(e)(n, n)
""",
    "two variables that are exchanged": """
    a, b = ValueError('a'), ValueError('b')
    for i in range(n + 4):
        try:
            raise a
        except ValueError:
            if i != 1:
                a, b = b, a
    raise b
""",
    "that of the round before": """
    e = ValueError([-1])
    for i in range(n + 3):
        last = e
        e = ValueError([i])
        try:
            raise e
        except ValueError:
            pass
    try:
        raise last
    except ValueError:
        raise e
""",
    "a cause that was raised before": """
    e = ValueError(n)
    for i in range(n + 3):
        e = ValueError(i)
        try:
            raise e
        except ValueError:
            pass
    try:
        raise KeyError(n) from e
    except KeyError:
        raise e
""",
    "a class that does not take its argument each time": """
    e = Picky(0)
    seen = 0
    for i in range(n + 3):
        try:
            e = Picky(i)
            raise e
        except KeyError:
            seen += 1
        except Picky:
            seen += 10
    raise e from Mine(seen)
""",
    "retried in a loop": """
    for i in range(3):
        try:
            inverse(n)
        except ZeroDivisionError:
            if i == 2:
                inverse(n)
""",
}


def lines_of(exception):
    here = "raised", "handling"
    return [(entry.name, entry.lineno) for entry in traceback.extract_tb(exception.__traceback__)
            if entry.name not in here]


def chain(exception, seen=None):
    """What an exception tells of itself, and of those that it comes from."""
    seen = {} if seen is None else seen
    if exception is None or id(exception) in seen:
        return seen.get(id(exception))
    seen[id(exception)] = len(seen)
    return (type(exception).__name__, exception.args, lines_of(exception), exception.__suppress_context__,
            chain(exception.__cause__, seen), chain(exception.__context__, seen))


def raised(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return caught.value


@pytest.mark.parametrize("what", BODIES)
def test_as_the_interpreter(what):
    f = make(f"{HEAD}def f(n):{BODIES[what]}", "f")
    wanted, got = raised(f, 0), raised(njit(f), 0)
    assert chain(got) == chain(wanted)


def test_the_one_that_was_handled_is_one_object():
    f = make(f"{HEAD}def f(n):{BODIES['from what was caught']}", "f")
    for function in (f, njit(f)):
        exception = raised(function, 0)
        assert exception.__cause__ is exception.__context__


def test_the_text_of_a_traceback():
    f = make(f"{HEAD}def f(n):{BODIES['around a called function']}", "f")
    texts = [traceback.format_exception_only(raised(function, 0)) for function in (f, njit(f))]
    assert texts[0] == texts[1]
    whole = "".join(traceback.format_exception(raised(njit(f), 0)))
    assert whole.count("During handling of the above exception, another exception occurred") == 2
    assert whole.index("ZeroDivisionError") < whole.index("Mine") < whole.index("KeyError")


def test_no_circles():
    f = make("""\
def f(n):
    kept = None
    try:
        1 // n
    except ZeroDivisionError as e:
        kept = e
    try:
        try:
            [5][n + 1]
        except IndexError:
            if kept is not None:
                raise kept
    except ZeroDivisionError:
        raise ValueError('last')
""", "f")
    assert chain(raised(njit(f), 0)) == chain(raised(f, 0))


@pytest.mark.parametrize("what", BODIES)
def test_beside_what_the_caller_handles(what):
    f = make(f"{HEAD}def f(n):{BODIES[what]}", "f")

    def handling(function):
        try:
            raise OSError("outer")
        except OSError:
            function(0)

    assert chain(raised(handling, njit(f))) == chain(raised(handling, f))


def test_in_a_generator():
    text = "def g(n):\n    yield 1\n    try:\n        yield 1 // n\n"
    text += "    except ZeroDivisionError:\n        raise KeyError(n)\n"
    assert chain(raised(list, njit(make(text, "g"))(0))) == chain(raised(list, make(text, "g")(0)))


def test_made_again_and_again_in_a_generator():
    text = "def g(n):\n    e = ValueError(0)\n    for i in range(n):\n        e = ValueError(i)\n        try:\n"
    text += "            raise e\n        except ValueError:\n            yield i\n    raise e\n"
    assert chain(raised(list, njit(make(text, "g"))(3))) == chain(raised(list, make(text, "g")(3)))


def test_no_other_of_its_class_in_a_ufunc():
    text = "def f(n):\n    try:\n        return 1 // n\n    except ZeroDivisionError as e:\n        raise type(e)(n)\n"
    f = make(text, "f")
    with pytest.raises(errors.UnsupportedError, match="are not there in ufuncs"):
        vectorize(["int64(int64)"], error_model="python")(f)


def test_handlers_of_compiled_callers_see_the_class():
    f = make(f"""{HEAD}def f(n):
    total = 0
    for i in range(n):
        try:
            total += wrapped(i % 3)
        except Mine:
            total -= 1
    return total
""", "f")
    assert njit(f)(100) == f(100)


@pytest.mark.parametrize("what", ["raised in a handler", "from what was caught", "from one that holds a list",
                                  "a handler in a handler, left by its own", "raise alone behind a handler",
                                  "that of the round before", "another of its class"])
def test_nothing_stays(what):
    f = njit(make(f"{HEAD}def f(n):{BODIES[what]}", "f"))

    def run(times):
        for _ in range(times):
            try:
                f(0)
            except Exception:
                pass
        gc.collect()
        return len(gc.get_objects()), sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else 0

    run(10)
    before = run(100)
    assert run(1000)[0] <= before[0] + 5


def test_references_of_arguments():
    values = np.arange(3.0)
    text = "def f(x, n):\n    try:\n        1 // n\n    except ZeroDivisionError:\n        raise ValueError(x)\n"
    f = njit(make(text, "f"))
    for _ in range(5):
        exception = raised(f, values, 0)
    assert isinstance(exception.__context__, ZeroDivisionError)
    del exception
    gc.collect()
    assert sys.getrefcount(values) <= 3


class Circle:
    """A file whose write() raises an exception that leads to itself."""

    def write(self, text):
        first, second = ValueError("first"), KeyError("second")
        first.__context__, second.__context__ = second, first
        raise first

    def flush(self):
        pass


def test_contexts_that_lead_in_a_circle(monkeypatch):
    def f():
        try:
            raise TypeError("t")
        except TypeError:
            print("x")

    compiled = njit(f)
    monkeypatch.setattr(sys, "stdout", Circle())
    with pytest.raises(ValueError, match="first"):
        compiled()
