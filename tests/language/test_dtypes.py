"""Dtypes and classes of numbers as values: what a.dtype is, compared with, made and called."""

import numpy as np
import pytest
from oracle import STRONG, agree

import krait
from krait import cuda, errors, njit

TEXTS = ["'f4'", "'<f8'", "'>f8'", "'=i8'", "'|i4'", "'float32'", "'single'", "'d'", "'<q'", "'?'", "'b1'", "'intp'",
         "'nonsense'", "''", "'i4,f4'", "'u'"]  # fmt: skip
OTHERS = [*TEXTS, "float", "int", "complex", "bool", "np.float64", "np.float32", "np.dtype('f8')", "None", "3", "2.5"]


@pytest.mark.parametrize("scalar", STRONG, ids=lambda scalar: scalar.__name__)
@pytest.mark.parametrize("other", OTHERS)
def test_a_dtype_compares_as_numpy_compares_it(scalar, other):
    function = eval(f"lambda a: (a.dtype == {other}, {other} == a.dtype, a.dtype != {other})", {"np": np})
    agree(function, np.zeros(2, scalar))


def test_order_of_dtypes_is_refused():
    with pytest.raises(errors.TypingError, match="unsupported operand types for <"):
        njit(lambda a, b: a.dtype < b.dtype)(np.zeros(1), np.zeros(1))


@pytest.mark.parametrize("scalar", STRONG, ids=lambda scalar: scalar.__name__)
def test_attributes_of_a_dtype(scalar):
    def numbers(a):
        return a.dtype.itemsize, a.dtype.alignment, a.dtype.ndim, a.dtype.shape, a[0].dtype.itemsize

    def texts(a, name, kind, char, code, class_name):
        d = a.dtype
        return d.name == name, d.kind == kind, d.char == char, d.str == code, d.type.__name__ == class_name

    array = np.zeros(2, scalar)
    agree(numbers, array)
    d = array.dtype
    assert njit(texts)(array, d.name, d.kind, d.char, d.str, d.type.__name__) == (True,) * 5
    assert njit(texts)(array, "x", "x", "x", "x", "x") == (False,) * 5


@pytest.mark.parametrize("text", ["a.dtype", "a.dtype.base", "a[0].dtype", "np.dtype(a.dtype)", "np.dtype(float)",
                                  "np.dtype('f4')", "np.dtype(None)", "np.dtype(np.int8)", "a.dtype.type", "np.float32",
                                  "float", "krait.float32", "(a.dtype, a.dtype.type)[0]"])  # fmt: skip
def test_dtypes_and_classes_come_back_as_the_objects_they_are(text):
    function = eval(f"lambda a: {text}", {"np": np, "krait": krait})
    for array in (np.zeros(3, np.float32), np.zeros(3, np.int64)):
        assert njit(function)(array) is function(array)


def test_a_dtype_in_use():
    def sums(a):
        zero = a.dtype.type(0)
        for x in a:
            zero += x
        return zero

    def through(d, kind):
        return d, kind, kind(3), d.type(2)

    for scalar in STRONG[1:]:
        agree(sums, np.ones(3, scalar))
    agree(through, np.dtype("f4"), np.int16)
    agree(through, np.dtype("f4"), float)
    with pytest.raises(errors.TypingError, match="cannot be called"):
        njit(lambda a: a.dtype(1))(np.zeros(1))


@pytest.mark.parametrize("device", [False, True])
def test_a_dtype_in_a_kernel(device):
    def body(a, out):
        if a.dtype == np.float32 and a.dtype.kind == "f":
            out[0] = a.dtype.type(1) / a.dtype.itemsize

    if device:
        kernel = cuda.jit(body)
        assert "st.global" in kernel.inspect_ptx("void(f4[:], f8[:])", compute_capability=(7, 5))
        assert "st.global" not in kernel.inspect_ptx("void(f8[:], f8[:])", compute_capability=(7, 5))
        return
    out = np.zeros(1)
    cuda.jit(body)[1, 1](np.zeros(2, np.float32), out)
    assert out[0] == 0.25


@pytest.mark.parametrize("scalar", [*STRONG, int, float, complex, bool], ids=lambda scalar: scalar.__name__)
def test_names_of_classes(scalar):
    def names(name):
        return scalar.__name__ == name, scalar.__qualname__ == name, scalar.__qualname__ != "x"

    assert njit(names)(scalar.__name__) == names(scalar.__name__) == (True, True, True)
