"""What a person reads after one of the mistakes that people make: the full text, kept in tests/golden/mistakes.

Each golden file has the program and, below a line, the exception or the warning as a terminal shows it.  Whether it
tells what to change is for people to read: a new text is read before it is committed.
"""

import calendar
import collections
import copy
import dataclasses
import json
import linecache
import math
import os
import re
import statistics
import sys
import textwrap
import threading
import traceback
import warnings

import numpy as np
import pytest
from conftest import host_device
from further_mistakes import FURTHER, FURTHER_MENDED
from mistakes import MENDED, MISTAKES
from mistakes_from_elsewhere import FROM_ELSEWHERE
from mistakes_of_every_day import EVERY_DAY

import krait
from krait import cuda

MISTAKES = {**MISTAKES, **FURTHER, **FROM_ELSEWHERE, **EVERY_DAY}
MENDED = {**MENDED, **FURTHER_MENDED}


def told(name, source):
    """The exception with its frames in the program, or the warnings."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    values = np.arange(16.0)
    scope = {"np": np, "math": math, "jit": krait.jit, "njit": krait.njit, "vectorize": krait.vectorize, "cuda": cuda,
             "X": values, "A": values.reshape(4, 4), "__name__": "mistakes"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(source, file, "exec"), scope)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
            lines = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n    {frame.line}\n'
                     for frame in frames]
            return "".join(lines) + f"{type(error).__name__}: {error}\n"
    return "".join(f"{warning.category.__name__}: {warning.message}\n" for warning in caught)


@host_device
@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_told(name, golden):
    source = textwrap.dedent(MISTAKES[name]).strip() + "\n"
    text = told(name, source)
    assert text, "nothing was told"
    assert "defect" not in text and "#" not in text.replace(source, "") and "0x" not in text
    text = text.replace(".<locals>.<listcomp>", "")  # 3.12 makes no function of a comprehension
    text = re.sub(r"line \d+ of Krait", "line N of Krait", text)  # it moves with the lines above
    golden(f"{source}----\n{text}", f"mistakes/{name.replace(' ', '_')}.txt")


def test_there_are_seventy():
    assert len(MISTAKES) >= 70


@host_device
@pytest.mark.parametrize("name", MENDED)
def test_what_is_advised_works(name):
    assert told(name, textwrap.dedent(MENDED[name]).strip() + "\n") == ""


@host_device
@pytest.mark.parametrize("attribute, advice", [("iterrows", r"table\['name'\].to_numpy\(\)"),
                                               ("__array__", r"np.asarray\(")])
def test_objects_of_other_libraries_are_told_by_what_they_have(attribute, advice):
    """As tables of pandas are, and tensors: no instances whose attributes compiled code could read."""
    class Foreign(collections.deque):
        pass

    setattr(Foreign, attribute, lambda self: None)

    def f(t):
        return t

    with pytest.raises(TypeError, match=r"f\(\), argument 't'.*" + advice):
        krait.njit(f)(Foreign())


def test_the_argument_with_the_int_that_does_not_fit_is_named():
    def f(n, m):
        return n + m

    compiled = krait.njit(f)
    for _ in range(2):
        with pytest.raises(OverflowError, match=r"f\(\), argument 'm': Python int too large"):
            compiled(1, 2 ** 70)


LIBRARY = {  # a call of a function of Python's library that is not compiled -> what to do instead
    "statistics.mean(x)": "of an array, np.mean",
    "statistics.NormalDist(x)": "np.median, np.var and np.std",
    "re.findall('a', 'banana')": "the methods of texts",
    "json.dumps(x)": "json.dumps, of Python's library, does what is not compiled: call it outside",
    "os.path.exists('a')": "genericpath.exists, of Python's library, does what is not compiled: call it outside",
    "copy.deepcopy(slice(1))": "of an array it is x.copy()",
    "threading.Thread(target=print)": "in a function with @njit(parallel=True) run on all cores",
}


@host_device
@pytest.mark.parametrize("call", LIBRARY)
def test_functions_of_the_library_are_told_by_what_is_compiled(call):
    Pair = collections.namedtuple("Pair", "a b")
    scope = {"statistics": statistics, "re": re, "json": json, "copy": copy, "os": os, "threading": threading}
    exec(f"def f(x, p):\n    return {call}\n", scope)
    with pytest.raises((krait.errors.TypingError, krait.errors.UnsupportedError), match=re.escape(LIBRARY[call])):
        krait.njit(scope["f"])(np.arange(3.0), Pair(1, 2))


@pytest.mark.parametrize("call", ["re.findall('a', 'banana')", "dataclasses.make_dataclass('P', ['a'])",
                                  "calendar.monthrange(2020, 1)"])
def test_the_library_is_told_of_at_the_users_call(call):
    """Whose lines and names are not those of the program."""
    file = f"<{call}>"
    text = f"def f(p):\n    return {call}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    Pair = dataclasses.make_dataclass("Pair", ["a", "b"])
    scope = {"re": re, "calendar": calendar, "dataclasses": dataclasses}
    exec(compile(text, file, "exec"), scope)
    with pytest.raises((krait.errors.TypingError, krait.errors.UnsupportedError)) as caught:
        krait.njit(scope["f"])(Pair(1, 2))
    message = str(caught.value)
    name = call.split("(")[0]
    assert message.startswith(f"{name}, of Python's library, needs what is not compiled: ")
    assert f'File "{file}", line 2, in f\n    return {call}\n' in message and ".py" not in message


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="comprehensions are no functions of their own")
def test_functions_that_share_the_variable_of_a_comprehension():
    def f(n):
        return [lambda x: x + i for i in range(3)][0](n)

    with pytest.raises(krait.errors.UnsupportedError) as caught:
        krait.njit(f)(1)
    assert str(caught.value).startswith(
        "functions that are made in a comprehension and use its variable cannot be its items: all of them would share "
        "that one variable, as it is after the last round\n")
    assert str(caught.value).endswith(
        "\n  hint: give each function the value of its own round: a default, lambda x, i=i: ..., or make it in another "
        "function that takes the value")


def test_the_sum_of_arrays():
    def f(x, n):
        return sum([x * i for i in range(n)]), sum([x, x], 1)

    got, wanted = krait.njit(f)(np.arange(3.0), 4), f(np.arange(3.0), 4)
    assert [g.tolist() for g in got] == [w.tolist() for w in wanted]
    with pytest.raises(ValueError, match="the sum of no arrays"):
        krait.njit(f)(np.arange(3.0), 0)


@host_device
def test_what_an_access_outside_is_told_by():
    @cuda.jit
    def k(x, rows):
        here = cuda.grid(1)
        x[here] = rows[0, here]

    with pytest.warns(krait.errors.OutOfBoundsWarning, match=r"outside the array (x|rows) .*if here < (x|rows)\.shape"):
        k[1, 32](np.zeros(40), np.zeros((2, 9)))
        cuda.synchronize()


def test_a_lock_is_taken_outside():
    """CPython 3.13 marks another part of a with statement than those before, so its carets are not compared."""
    text = told("lock", textwrap.dedent("""
        import threading
        lock = threading.Lock()
        @njit
        def f(x):
            with lock:
                return x
        f(1)"""))
    assert "method '__enter__' of an object of type _thread.lock is not compiled" in text
    assert "hint: enter it outside: with x: f(...)" in text
