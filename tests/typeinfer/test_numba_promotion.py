"""promotion='numba': the types of arithmetic, of NumPy's functions of scalars and of joined variables, over the whole
table that Numba itself gave (numba_promotion.json, written by make_numba_promotion.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from krait import _testing, cuda, jit, njit, vectorize

TABLE = json.loads(Path(__file__).with_name("numba_promotion.json").read_text())
OPERATIONS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "<<": "lshift",
    ">>": "rshift", "&": "and", "|": "or", "^": "xor", "<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt",
    ">=": "ge",
}  # fmt: skip
UNARY = {"-": "neg", "+": "pos", "~": "invert"}
# What NumPy refuses stays refused: it has no such loop.  What it orders, complex numbers, is ordered.
REFUSED = {("subtract", "bool bool"), ("negative", "bool"), ("sign", "bool")}


def krait_name(name):
    return "bool_" if name == "bool" else name


def inferred(types, *lines):
    """The result type of a function of these lines of IR, or None if it is refused."""
    params = ", ".join(f"p{i}: {krait_name(name)}" for i, name in enumerate(types))
    body = "".join(f"  {line}\n" for line in lines)
    try:
        text = _testing.run("infer_numba", f"func f({params}) {{\nb0:\n{body}}}\n")
    except ValueError:
        return None
    name = text.split("{")[0].rsplit("->", 1)[1].strip()
    return "bool" if name == "bool_" else name


def differences(wanted, result):
    found = {types: result(types.split()) for types in wanted}
    return {types: (found[types], wanted[types]) for types in wanted if found[types] != wanted[types]}


@pytest.mark.parametrize("symbol", OPERATIONS)
def test_operators(symbol):
    operation, wanted = OPERATIONS[symbol], TABLE["binary"][symbol]
    if symbol in ("<", "<=", ">", ">="):
        wanted = {types: kind or "bool" for types, kind in wanted.items()}
    assert not differences(wanted, lambda types: inferred(types, f"%2 = {operation} %0, %1", "return %2"))


@pytest.mark.parametrize("symbol", UNARY)
def test_unary_operators(symbol):
    assert not differences(
        TABLE["unary"][symbol], lambda types: inferred(types, f"%1 = {UNARY[symbol]} %0", "return %1")
    )


@pytest.mark.parametrize("name", TABLE["ufunc"])
def test_ufuncs(name):
    def result(types):
        count = len(types)
        operands = ", ".join(f"%{i}" for i in range(count))
        return inferred(
            types,
            f"%{count} = const func(numpy.{name})",
            f"%{count + 1} = call %{count}, {operands}",
            f"return %{count + 1}",
        )

    wanted = {types: None if (name, types) in REFUSED else kind for types, kind in TABLE["ufunc"][name].items()}
    assert not differences(wanted, result)


def test_joins():
    def result(types):
        a, b = map(krait_name, types)
        joined = _testing.run("promote_numba", f"({a}, {b})")
        return "bool" if joined == "bool_" else joined

    assert not differences(TABLE["join"], result)


def test_literals_are_as_wide_as_pythons_numbers():
    for a, symbol, b, wanted in [
        ("float32", "mul", "float", "float64"), ("float32", "mul", "int", "float64"), ("int8", "add", "int", "int64"),
        ("uint64", "add", "int", "int64"), ("complex64", "add", "complex", "complex128"),
    ]:  # fmt: skip
        assert inferred([a, b], f"%2 = {symbol} %0, %1", "return %2") == wanted, (a, symbol, b)


# ---- the option, on every decorator ----------------------------------------------------------------------------------


def total(a):
    r = 0
    for x in a:
        r += x
    return r


PIXELS = np.full(300, 200, np.uint8)


@pytest.mark.parametrize("decorator", [jit, njit])
def test_narrow_integers_are_summed_wide(decorator):
    wide = decorator(promotion="numba")(total)
    narrow = decorator(total)
    assert wide(PIXELS) == 60000
    assert narrow(PIXELS) == 60000 % 256
    assert decorator("(uint8[:],)", promotion="numba")(total)(PIXELS) == 60000
    assert wide.targetoptions["promotion"] == "numba"


def test_integers_divide_and_wrap_as_in_numba():
    assert type(njit(promotion="numba")(lambda x: x * 2.0)(np.float32(1))) is np.float64
    assert type(njit(promotion="numpy")(lambda x: x * 2.0)(np.float32(1))) is np.float32

    @njit(promotion="numba")
    def store(a, n):
        a[0] = n
        return a[0]

    assert store(np.zeros(1, np.int8), 300) == 44  # the low bits, as in Numba


def test_callees_follow_their_caller():
    @njit
    def add(a, b):
        return a + b

    @njit(promotion="numba")
    def through(a, b):
        return add(a, b)

    assert through(np.int8(100), np.int8(100)) == 200
    assert type(through(np.int8(1), np.int8(1))) is np.int64


def test_ufuncs_and_kernels_take_the_option():
    @vectorize(promotion="numba")
    def add(a, b):
        return a + b

    assert add(np.int8([100]), np.int8([100])).tolist() == [200]

    @cuda.jit(promotion="numba")
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] + a[i]

    out = np.zeros(3, np.int64)
    kernel[1, 32](np.full(3, 200, np.uint8), out)
    assert out.tolist() == [400] * 3

    @cuda.jit(device=True)
    def twice(x):
        return x + x

    @cuda.jit(promotion="numba")
    def calls(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = twice(a[i])

    calls[1, 32](np.full(3, 200, np.uint8), out)
    assert out.tolist() == [400] * 3


def test_a_wrong_name_is_refused():
    for decorator in (jit, cuda.jit, vectorize):
        with pytest.raises(TypeError, match="option promotion is 'numpy' or 'numba', not 'python'"):
            decorator(promotion="python")


PROGRAM = """
import numpy as np
from krait import njit
print(njit(lambda a, b: a + b)(np.int8(100), np.int8(100)),
      njit(promotion="numpy", error_model="numpy")(lambda a, b: a + b)(np.int8(100), np.int8(100)))
"""


def run_program(promotion):
    env = {**os.environ, "KRAIT_PROMOTION": promotion}
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, timeout=120)


def test_the_choice_of_a_program():
    assert run_program("numba").stdout.split() == ["200", "-56"]
    assert run_program("numpy").stdout.split() == ["-56", "-56"]
    assert run_program("").stdout.split() == ["-56", "-56"]
    assert "KRAIT_PROMOTION is numpy or numba, not 'java'" in run_program("java").stderr
