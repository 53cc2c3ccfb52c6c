"""Every construct that is not compiled gives one KraitError with file, line, caret and hint, and no crash."""

import re

import numpy as np
import pytest
from oracle import make

from krait import cuda, errors, njit

# name: body of a function of (a: an array of float64, x: an int).  Each has one refused construct, marked by its line.
CONSTRUCTS = {
    "exception group": "try:\n    x = 1 // x\nexcept* ZeroDivisionError:\n    x = 0\nreturn x",
    "with": "with open('f') as f:\n    return x",
    "list": "b = [x, x]\nb.append((1, 2))\nreturn b",
    "returned list": "return [x, (x,)]",
    "dict": "return {1: x, 2: a}",
    "set": "return {x, a}",
    "class": "class C:\n    pass\nreturn x",
    "global assignment": "global G\nG = x\nreturn x",
    "global deletion": "global G\ndel G\nreturn x",
    "attribute assignment": "np.thing = x\nreturn x",
    "attribute deletion": "del a.thing\nreturn x",
    "item deletion": "del a[0]\nreturn x",
    "star star call": "return f(**{'a': a})",
    "input": "return input()",
    "eval": "return eval('x')",
    "string and number": "return 'a' + x",
    "number and None": "return x + None",
    "number and tuple": "return x + (1, 2)",
    "tuple and number": "return (1, 2) < x",
    "array and text": "return a + 'b'",
    "matrix product": "return a @ x",
    "array method": "return a.dumps()",
    "array reshape": "return a.reshape(1.5)",
    "matrix of an array": "return np.asmatrix(a)",
    "fancy index": "return a[a]",
    "attribute of a number": "return x.thing",
    "attribute of an array": "return a.thing",
    "method of an int": "return x.as_integer_ratio()",
    "call of a number": "return x(1)",
    "call of an array": "return a(1)",
    "index of a number": "return x[0]",
    "item of a tuple": "t = (1, 2)\nt[0] = x\nreturn t",
    "tuple index": "return (1, 2)[5]",
    "unpacking a number": "p, q = x\nreturn p",
    "unpacking too many": "p, q, r = (x, x)\nreturn p",
    "iteration over a number": "for v in x:\n    pass\nreturn x",
    "types that do not join": "y = x\nif x > 1:\n    y = (1, 2)\nreturn y",
    "returns that do not join": "if x > 1:\n    return (1, 2)\nreturn x",
    "array and number": "y = a\nif x > 1:\n    y = x\nreturn y",
    "too many arguments": "return abs(x, x)",
    "unknown keyword": "return min(x, x, keyy=1)",
    "unknown name": "return x + nowhere",
    "unknown attribute of a module": "return np.nowhere(x)",
    "large int": "return x + 2 ** 70",
    "complex order": "return 1j < 2j",
    "shift of a float": "return 1.5 << x",
    "bits of a float": "return x & 1.5",
    "invert of a float": "return ~1.5",
    "modulo of complex": "return 1j % x",
    "is between numbers": "return x is 1000",
    "lambda returned": "return lambda: x",
    "raise a number": "raise x",
    "super": "return super().f()",
    "len of a number": "return len(x)",
    "import star": None,
    "isinstance": "return isinstance(x, x)",
    "open": "open('f')\nreturn x",
    "sorted": "return sorted(x)",
    "locals": "return locals()",
    "async": None,
    "kernel function": "return cuda.grid(1) + x",
    "barrier": "cuda.syncthreads()\nreturn x",
    "complex into a real array": "a[0] = 1j\nreturn x",
    "tuple into an array": "a[0] = (1, 2)\nreturn x",
    "string into an array": "a[0] = 'x'\nreturn x",
    "array into an element": "a[0] = a\nreturn x",
    "nested class use": "return object()",
    "double star parameter": None,
}

BODIES = {name: body for name, body in CONSTRUCTS.items() if body}


def check(error):
    """One refusal: a sentence, then file and line, the source line, a caret under the place."""
    text = str(error)
    assert not isinstance(error, errors.LoweringError), text
    first, *rest = text.splitlines()
    assert first and not first.startswith(" "), text
    assert re.search(r'^  File "<text \d+>", line \d+, in \w+', text, re.M), text
    assert re.search(r"^ *\^+ *$", text, re.M), text
    assert "defect" not in text and "0x" not in text, text


@pytest.mark.parametrize("name", BODIES)
def test_refusal(name):
    body = "\n".join("    " + line for line in BODIES[name].split("\n"))
    function = make(f"def f(a, x):\n{body}", name="f", cuda=cuda)
    with pytest.raises(errors.KraitError) as caught:
        njit(function)(np.ones(3), 5)
    check(caught.value)


@pytest.mark.parametrize(
    "name",
    ["exception group", "with", "list", "dict", "matrix of an array", "types that do not join",
     "global assignment"],  # fmt: skip
)
def test_refusals_give_advice(name):
    body = "\n".join("    " + line for line in BODIES[name].split("\n"))
    with pytest.raises(errors.KraitError) as caught:
        njit(make(f"def f(a, x):\n{body}", name="f"))(np.ones(3), 5)
    assert "\n  hint: " in str(caught.value)


def test_refused_functions():
    def coroutine():
        async def f(a, x):
            return x

        return f

    with pytest.raises(errors.KraitError):
        njit(coroutine())(np.ones(3), 5)


@pytest.mark.parametrize(
    "value",
    [
        [1, 2.5],
        {1: 2, 2: 'x'},
        {1, 'x'},
        object(),
        np.zeros(1, "V3"),
        np.array([None]),
        np.zeros(3, "i4,O"),
        memoryview(np.zeros(2, "D")),
        np.void(b"abc"),
        np.longdouble(1),
    ],
    ids=lambda v: type(v).__name__,
)
def test_arguments_that_have_no_type(value):
    """TypeError or KraitError, which names the type."""
    with pytest.raises((TypeError, errors.KraitError)):
        njit(lambda x: 1)(value)


def test_the_refusal_of_a_callee_tells_of_the_call():
    inner = make("def inner(x): return x.nothing")
    outer = make("def outer(x): return inner(x) + 1", name="outer", inner=inner)
    with pytest.raises(errors.TypingError) as caught:
        njit(outer)(1)
    text = str(caught.value)
    assert "x.nothing" in text and "inner(x)" in text and text.index("x.nothing") < text.index("inner(x) + 1")


def test_a_refused_function_can_be_called_with_other_types():
    f = njit(lambda x: x[0])
    with pytest.raises(errors.TypingError):
        f(1)
    assert f((5, 6)) == 5
    with pytest.raises(errors.TypingError):
        f(1)


@pytest.mark.parametrize("name", ["exception group", "list", "array and text", "attribute of a number", "unknown name"])
def test_kernels_refuse_alike(name):
    body = "\n".join("    " + line.replace("return ", "y = ") for line in BODIES[name].split("\n"))
    kernel = cuda.jit(make(f"def f(a, x):\n{body}", name="f", cuda=cuda))
    with pytest.raises(errors.KraitError) as caught:
        kernel[1, 1](np.ones(3), 5)
    check(caught.value)


def test_exception_classes_are_told_by_name():
    @njit
    def chosen(x):
        kind = ValueError if x > 1 else KeyError
        raise kind("a")

    @njit
    def returned(x):
        return ValueError if x > 1 else KeyError

    for function in (chosen, returned):
        with pytest.raises(errors.TypingError) as error:
            function(1)
        text = str(error.value)
        assert "`ValueError`" in text and "`KeyError`" in text and "exc_class" not in text, text


def test_a_value_of_too_many_numbers():
    array = np.lib.stride_tricks.as_strided(np.zeros(1), (2,) * 32, (0,) * 32)
    arrays = (array,) * 1200

    @njit
    def f(arrays):
        return len(arrays)

    with pytest.raises(errors.UnsupportedError, match="a value that consists of more than 65536 numbers"):
        f(arrays)


def test_a_handler_on_one_line_is_told_at_its_line():
    @cuda.jit
    def k(x):
        try: x[0] = 1
        finally: x[1] = 2

    with pytest.raises(errors.UnsupportedError, match=r"exception handlers .*\n.*\n *try: x\[0\] = 1\n"):
        k[1, 1](np.zeros(2))
