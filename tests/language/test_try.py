"""try, except, else, finally, raise: compiled functions against the interpreter, tracebacks included."""

import math
import traceback

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracle import agree, agree_all, make

from krait import cuda, errors, njit
from portions import examples


class Mine(ValueError):
    pass


class Sub(Mine):
    pass


class Other(Exception):
    pass


@njit
def thrower(k):
    if k == 0:
        raise Mine("m", k)
    if k == 1:
        raise Sub(k)
    if k == 2:
        raise Other("o")
    if k == 3:
        return 1 // (k - 3)
    if k == 4:
        raise KeyError(k)
    if k == 5:
        raise IndexError("five")
    return k


KINDS = range(8)


@pytest.mark.parametrize(
    "clauses",
    [
        "except Mine:\n        return -1",
        "except Sub:\n        return -1\n    except ValueError:\n        return -2",
        "except (Sub, KeyError):\n        return -1\n    except (Other, Mine):\n        return -2",
        "except ArithmeticError:\n        return -1\n    except LookupError:\n        return -2",
        "except Exception:\n        return -1",
        "except BaseException:\n        return -1",
        "except:\n        return -1",
        "except OSError:\n        return -1",
        "except OtherName:\n        return -1",
        "finally:\n        k += 1",
    ],
)
def test_what_an_exception_is(clauses):
    """Classes of the interpreter and of users, bases, tuples; what matches nothing goes on."""
    f = make(f"def f(k):\n    try:\n        return thrower(k)\n    {clauses}",
             thrower=thrower, Mine=Mine, Sub=Sub, Other=Other, OtherName=Other)  # fmt: skip
    agree_all(f, [(k,) for k in KINDS])


def test_in_order():
    def f(k):
        log = 0
        try:
            log = log * 10 + 1
            thrower(k)
            log = log * 10 + 2
        except Mine:
            log = log * 10 + 3
        except Other as e:  # noqa: F841
            log = log * 10 + 4
            k += 10
        except LookupError:
            log = log * 10 + 5
        except ZeroDivisionError:
            log = log * 10 + 6
        else:
            log = log * 10 + 7
        finally:
            log = log * 10 + 8
        return log, k

    agree_all(f, [(k,) for k in KINDS])


def test_checks_raise_what_is_caught():
    def division(x, y):
        try:
            return x // y
        except ZeroDivisionError:
            return -1

    def index(a, i, j):
        s = np.float64(0)
        try:
            s += a[i]
            s += a[j]
        except IndexError:
            s -= 100
        return s

    def domain(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return -1.0

    def large(x):
        try:
            return math.exp(x)
        except OverflowError:
            return -1.0

    def stored(a, x):
        try:
            a[0] = x
        except OverflowError:
            a[0] = 1
        return a[0]

    def unbound(k):
        try:
            if k:
                y = 1
            return y
        except UnboundLocalError:
            return 7

    def unpacked(a):
        try:
            x, y = a
        except ValueError:
            return np.float64(-1)
        return x + y

    def none(k):
        x = None
        if k:
            x = 3
        try:
            return x + 1
        except TypeError:
            return 0

    agree_all(division, [(7, 2), (7, 0), (-7, 2)])
    agree_all(index, [(np.arange(3.0), i, j) for i in (-4, 0, 2, 3) for j in (-1, 5)])
    agree_all(domain, [(4.0,), (-1.0,)])
    agree_all(large, [(1.0,), (1000.0,)])
    agree_all(stored, [(np.zeros(1, np.int8), x) for x in (5, 127, 128, -200)])
    agree_all(unbound, [(0,), (1,)])
    agree_all(unpacked, [(np.ones(n),) for n in range(4)])
    agree_all(none, [(0,), (1,)])


def test_variables_are_as_before_the_raise():
    def f(a, i):
        x = 1
        try:
            x = 2
            y = a[i]
            x = 3
            y += a[i + 1]
            x = 4
        except IndexError:
            return x
        return x + int(y)

    def shadowed(k):
        r = k
        try:
            r = thrower(k)
        except Exception as r:  # noqa: F841
            pass
        return k

    def deleted(k):
        try:
            thrower(k)
        except Exception as e:
            pass
        return e

    def taken(n):
        x = 5
        try:
            made = [[10 // y for y in range(x - 1, n)] for x in range(n)]
        except ZeroDivisionError:
            return x, n
        return x, len(made)

    def taken_unassigned(n):
        if n == 2:
            x = 7
        try:
            made = [10 // (x - 1) for x in range(n)]
        except ZeroDivisionError:
            return x
        return len(made)

    agree_all(taken, [(n,) for n in range(4)])
    agree_all(taken_unassigned, [(n,) for n in range(4)])
    agree_all(f, [(np.arange(3.0), i) for i in range(-5, 5)])
    agree_all(shadowed, [(k,) for k in KINDS])
    agree(deleted, 0)


def test_before_the_statement_nothing_is_caught():
    def f(x, y):
        z = x // y
        try:
            return z // (y - 1)
        except ZeroDivisionError:
            return -1

    def behind(x, y):
        try:
            z = x // (y - 1)
        except ZeroDivisionError:
            z = -1
        return z // y

    for function in (f, behind):
        agree_all(function, [(7, y) for y in (-1, 0, 1, 2)])


def test_loops():
    def mixed(n):
        s = 0
        for i in range(n):
            try:
                if i == 2:
                    continue
                if i == 7:
                    break
                s += thrower(i)
            except ValueError:
                s += 100
                continue
            except (LookupError, ZeroDivisionError) as e:  # noqa: F841
                s += 1000
            finally:
                s += 1
        return s

    def retried(n):
        tries = 0
        while True:
            tries += 1
            try:
                return thrower(tries), tries
            except Exception:
                if tries > n:
                    raise

    def around(a, n):
        s = np.float64(0)
        try:
            for i in range(n):
                for j in range(i):
                    s += a[i - j]
        except IndexError:
            return s, n
        return s, -n

    agree_all(mixed, [(n,) for n in range(10)])
    agree_all(retried, [(n,) for n in range(8)])
    agree_all(around, [(np.arange(3.0), n) for n in range(6)])


def test_ways_out_of_finally():
    def returned(k):
        try:
            return thrower(k)
        finally:
            if k == 6:
                return 99

    def swallowed(k):
        for _ in range(3):
            try:
                thrower(k)
            finally:
                if k < 3:
                    break
        return k

    def raised(k):
        try:
            return thrower(k)
        finally:
            thrower(k - 3)

    for f in (returned, swallowed, raised):
        agree_all(f, [(k,) for k in KINDS])


def test_nested():
    def f(k, j):
        r = 0
        try:
            try:
                r = thrower(k)
            except Mine:
                r = thrower(j)
            finally:
                r += 1
                try:
                    r += thrower(j)
                except Exception:
                    r += 50
        except ValueError:
            r += 1000
        return r

    agree_all(f, [(k, j) for k in KINDS for j in KINDS])


def nested_with_objects(ends):
    """A handler in a handler, both of exceptions that hold objects; what the inner one does, what follows it."""
    inner, after = ends
    return make(
        "def f(k):\n"
        "    try:\n"
        "        raise ValueError([k])\n"
        "    except ValueError as e:\n"
        "        saved = e\n"
        "        try:\n"
        "            raise KeyError([k + 1], str(k))\n"
        "        except KeyError as g:\n"
        f"            {inner}\n"
        f"        {after}\n"
        "    return k\n", "f")


@pytest.mark.parametrize("ends", [("pass", "raise"), ("pass", "raise e"), ("raise e", "pass"), ("raise", "pass"),
                                  ("raise saved", "pass"), ("saved = g", "raise saved"), ("saved = g", "raise e"),
                                  ("raise IndexError(str(k), [k])", "pass"), ("pass", "return 3")])
def test_nested_exceptions_with_objects(ends):
    agree(nested_with_objects(ends), 5)


def test_exceptions_with_objects_outlive_others():
    def callee(k):
        try:
            raise ValueError([k, k])
        except ValueError:
            return k

    caller = njit(callee)

    def over_a_call(k):
        try:
            raise KeyError([k])
        except KeyError:
            caller(k)
            raise

    def in_turn(k):
        for i in range(k):
            try:
                if i == k - 1:
                    raise ValueError([i])
                raise KeyError([i])
            except KeyError:
                try:
                    raise IndexError([i + 10])
                except IndexError:
                    continue
            except ValueError as e:
                try:
                    raise IndexError([i + 10])
                except IndexError:
                    raise e
        return 0

    def swapped(k):
        try:
            raise ValueError([1])
        except ValueError as e:
            first = e
        try:
            raise ValueError([2])
        except ValueError as e:
            second = e
        for _ in range(k):
            first, second = second, first
        raise first

    for f in (over_a_call, in_turn, swapped):
        agree_all(f, [(1,), (2,), (5,)])


def test_exceptions_with_objects_are_given_up():
    class Counted(Exception):
        alive = 0

        def __init__(self, *args):
            super().__init__(*args)
            Counted.alive += 1

        def __del__(self):
            Counted.alive -= 1

    @njit
    def f(k, raised):
        count = 0
        for i in range(k):
            try:
                raise Counted([i])
            except Counted as e:
                count += 1
                if raised:
                    raise e
        return count

    assert f(1000, False) == 1000 and Counted.alive == 0
    for _ in range(10):
        with pytest.raises(Counted):
            f(3, True)
    assert Counted.alive == 0


def test_raised_again():
    def f(k):
        try:
            return thrower(k)
        except Mine:
            raise
        except Other as e:
            raise e
        except ZeroDivisionError:
            raise RuntimeError("other", k)
        except KeyError as e:
            try:
                thrower(5)
            except IndexError:
                raise e

    def later(k):
        last = None
        for i in range(k):
            try:
                thrower(i % 3)
            except Mine as e:
                last = e
            except Other:
                pass
        if last is not None:
            raise last
        return k

    def outer(k):
        try:
            thrower(k)
        except Exception:
            try:
                thrower(k + 1)
            except Exception:
                pass
            raise

    def nothing():
        raise

    agree_all(f, [(k,) for k in KINDS])
    agree_all(later, [(k,) for k in range(5)])
    agree_all(outer, [(k,) for k in range(6)])
    agree(nothing)


def test_callees():
    @njit
    def inner(k):
        try:
            return thrower(k)
        except Mine:
            return -1

    @njit
    def middle(k):
        try:
            return inner(k)
        finally:
            k += 1

    def f(k):
        try:
            return middle(k)
        except (Other, KeyError):
            return -2

    @njit
    def down(n):
        try:
            return 1 // n if n == 0 else down(n - 1) + 1
        except ZeroDivisionError:
            if n > 2:
                return -100
            raise

    agree_all(f, [(k,) for k in KINDS])
    agree_all(down, [(n,) for n in range(6)])


def test_recursion_goes_on_after_a_catch():
    """What recursive functions look at outlives exceptions."""

    @njit
    def deep(n):
        return 0 if n == 0 else 1 + deep(n - 1)

    def f(n):
        caught = 0
        for i in range(3):
            try:
                thrower(i)
            except Exception:
                caught += 1
            caught += deep(n)
        try:
            deep(10**9)
        except RecursionError:
            return caught, deep(n)
        return caught, -1

    assert njit(f)(10) == (33, 10)


def test_arrays_made_on_the_way():
    def f(n, k):
        try:
            x = np.zeros(n)
            y = np.ones(n)
            x[k] = y[0]
            return x
        except IndexError:
            return y
        finally:
            z = np.zeros(2)
            z[0] = 1

    def loop(n, k):
        x = np.zeros(1)
        for i in range(n):
            try:
                y = np.ones(i)
                y[k] = x[0] + 1
                x = y
            except IndexError:
                x = np.full(2, 5.0)
                continue
        return x

    agree_all(f, [(n, k) for n in (-1, 0, 3) for k in (0, 1, 4)])
    agree_all(loop, [(n, k) for n in (0, 1, 4) for k in (0, 1, 4)])


# ---- tracebacks ------------------------------------------------------------------------------------------------------


def lines(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(caught.tb)][1:]


def test_tracebacks():
    @njit
    def inner(k):
        return 1 // k

    def bare(k):
        try:
            return inner(k)
        except ZeroDivisionError:
            if k == 0:
                raise

    def named(k):
        try:
            return inner(k)
        except ZeroDivisionError as e:
            raise e

    def through(k):
        try:
            return inner(k)
        except ValueError:
            return 0
        finally:
            k += 1

    def another(k):
        try:
            return inner(k)
        except ZeroDivisionError:
            raise ValueError(k)

    def second(k):
        try:
            inner(k)
        except ZeroDivisionError:
            k += 0
        return inner(k)

    for f in (bare, named, through, another, second):
        assert lines(njit(f), 0) == lines(f, 0), f.__name__


# ---- programs --------------------------------------------------------------------------------------------------------

CLASSES = ["Mine", "Sub", "Other", "ArithmeticError", "LookupError", "(Sub, KeyError)", "Exception"]
SIMPLE = [
    "s += thrower(k)",
    "s += thrower(s % 8)",
    "s += 10 // (s % 3)",
    "k += 1",
    "s = s * 2 + 1",
    "a[s % 4] += s",
    "raise Sub(s)",
    "raise",
    "return s",
    "if s % 2: raise Other(k)",
    "if s > 50: return s",
]
IN_LOOPS = ["break", "continue", "if s % 3 == 1: break", "if s % 3: continue"]


def indented(body):
    return ["    " + line for line in body]


@st.composite
def bodies(draw, depth=0, looping=False):
    body = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 6 if depth < 3 else 3))
        if kind < 4:
            body.append(draw(st.sampled_from(SIMPLE + (IN_LOOPS if looping else []))))
        elif kind == 4:
            body += [f"for i{depth} in range({draw(st.integers(0, 3))}):", *indented(draw(bodies(depth + 1, True)))]
        else:
            body += ["try:", *indented(draw(bodies(depth + 1, looping)))]
            handlers = draw(st.lists(st.sampled_from(CLASSES), max_size=2, unique=True))
            last = draw(st.booleans()) or not handlers
            for name in handlers:
                named = draw(st.sampled_from(["", " as e"]))
                body += [f"except {name}{named}:", *indented(draw(bodies(depth + 1, looping)))]
                if named and draw(st.booleans()):
                    body.append("    raise e")
            if handlers and draw(st.booleans()):
                body += ["else:", *indented(draw(bodies(depth + 1, looping)))]
            if last:
                body += ["finally:", *indented(draw(bodies(depth + 1, False)))]
    return body


@given(bodies(), st.integers(0, 7))
@settings(max_examples=examples(100), deadline=None)
def test_programs(body, k):
    text = "def f(k, a):\n    s = k\n" + "".join(f"    {line}\n" for line in body) + "    return s\n"
    f = njit(make(text, thrower=thrower, Mine=Mine, Sub=Sub, Other=Other))
    agree_all(f, [(k, np.zeros(4, np.int64)), ((k + 3) % 8, np.zeros(4, np.int64))])


# ---- refusals --------------------------------------------------------------------------------------------------------


USED = "cannot be used otherwise"


@pytest.mark.parametrize(
    "text, message",
    [
        ("try:\n        thrower(k)\n    except k:\n        return 0", r"only exceptions are caught, not `k` \(int\)"),
        ("try:\n        thrower(k)\n    except (ValueError, (KeyError,)):\n        pass", "only exceptions are caught"),
        ("try:\n        thrower(k)\n    except* ValueError:\n        k = 0", "exception groups"),
        ("try:\n        thrower(k)\n    except ValueError as e:\n        return e", USED),
        ("try:\n        thrower(k)\n    except ValueError as e:\n        return (e, 1)[k]", USED),
        ("try:\n        thrower(k)\n    except ValueError as e:\n        thrower(e)", USED),
        ("try:\n        thrower(k)\n    except ValueError as e:\n        return e.args", "the type of `args`"),
        ("try:\n        thrower(k)\n    except ValueError as e:\n        if e == 3:\n            k = 0", USED),
    ],
)
def test_refusals(text, message):
    f = make(f"def f(k):\n    {text}", thrower=thrower)
    with pytest.raises(errors.KraitError, match=message):
        njit(f)(3)


def test_kernels_have_no_handlers():
    def k(x):
        try:
            x[0] = 1
        finally:
            x[1] = 2

    with pytest.raises(errors.UnsupportedError, match=r"exception handlers .* are not compiled in kernels(?s:.*)try:"):
        cuda.jit(k)[1, 1](np.zeros(2))


def test_a_display_is_made_before_its_variable_is_written():
    def one(n):
        try:
            v = [n, n + 1]
        except LookupError:
            pass
        return v

    def other(n):
        try:
            v = {n: str(n)}
            v = {n: v[n + 1]}
        except LookupError:
            v[0] = "?"
        return v

    def merged(n):
        try:
            v = {n, 2}
            w = [v, {10 // n}]
        except ZeroDivisionError:
            w = [v]
        return w

    for function in (one, other, merged):
        agree_all(function, [(0,), (3,)])


def test_the_last_exception_is_raised_in_the_end():
    def tries(n, words):
        last = None
        for i in range(n):
            try:
                return int(words[i])
            except ValueError as error:
                last = error
        raise last

    for words in (["x", "7"], ["x", "y"]):
        agree(tries, 2, words)
    agree(tries, 0, ["x"])


def test_a_text_that_a_handler_may_still_need():
    """It is put together once, where the program does so, and is there on every way to a handler."""
    source = """
    def f(p, q, n):
        v = f"{p}!"
        try:
            try:
                for i in range(n):
                    if q[i] > 2:
                        raise OverflowError("much")
            except OverflowError as e:
                v = max([x for x in v])
                if p == 3:
                    v = max(v[:0])
            except Exception:
                pass
            if n > 4:
                raise RuntimeError(v)
        except RuntimeError:
            v += "r"
        except OverflowError:
            pass
        return v
    """
    cases = [(p, q, n) for p in (1, 3) for q in ((0, 1, 2, 1, 2), (1, 2, 3, 1, 2)) for n in (0, 2, 5)]
    agree_all(make(source), [(p, np.array(q), n) for p, q, n in cases])
