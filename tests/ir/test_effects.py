"""What a value does besides giving its result (src/ir/effects.c): letters R W X S C as in ir_ops.def, P for nothing;
first where an index outside an array raises, then where it does not (kernels)."""

import numpy as np
import pytest
from krait import _testing

import krait


def effects(params, line):
    """Of the last operation of one line of text over these parameters."""
    text = _testing.run("effects", f"func f({params}) {{\nb0:\n{line}\n  unreachable\n}}\n")
    *_, last, end = text.splitlines()
    assert end == "unreachable C C"
    return last.split()[1:]


A = "a: array(float64, 2, C), i: int, t: (int, int), s: slice(int, None, None), x: float64"
V = "a: array(float64, 1, C), x: float64"
TYPED = {
    "python division": ("x: float, y: float", "%2: float = truediv.checked %0, %1", "X X"),
    "division by what is not zero": ("x: float, y: float", "%2: float = truediv.checked.unchecked %0, %1", "P P"),
    "NumPy's division": ("x: float64, y: float64", "%2: float64 = truediv %0, %1", "P P"),
    "addition": ("x: int, y: int", "%2: int = add %0, %1", "P P"),
    "map of what it writes": (V, "map[1] %0, %0", "RW RW"),
    "map of what may overlap": ("a: array(float64, 1, C), b: array(float64, 1, C)", "map[1] %0, %1", "RWX RWX"),
    "map before its function is summarised": (V, "map[1, f#1] %0, %0", "RWXS RWXS"),
    "shapes together": ("s: (int,), t: (int,)", "%2: (int,) = broadcast[0] %0, %1", "X X"),
    "in place on a number": ("x: int, y: int", "%2: int = add.inplace %0, %1", "P P"),
    "element": (A, "%5: float64 = getitem %0, %2", "RX R"),
    "element in bounds": (A, "%5: float64 = getitem.unchecked %0, %2", "R R"),
    "view by an integer": (A, "%5: array(float64, 1, C) = getitem %0, %1", "X X"),
    "view by a slice": (A, "%5: array(float64, 2, C) = getitem %0, %3", "X X"),
    "item of a tuple": (A, "%5: int = getitem %2, %1", "X X"),
    "item of a tuple in bounds": (A, "%5: int = getitem.unchecked %2, %1", "P P"),
    "item of a range": ("r: range, i: int", "%2: int = getitem %0, %1", "X X"),
    "item of a.flat": ("f: flat(array(float64, 2, C)), i: int", "%2: float64 = getitem %0, %1", "RX R"),
    "store of an element": (A, "setitem %0, %2, %4", "RWX RW"),
    "store of an element in bounds": (A, "setitem.unchecked %0, %2, %4", "RW RW"),
    "store that may not fit": ("a: array(int8, 1, C), i: int", "setitem.checked.unchecked %0, %1, %1", "RWX RWX"),
    "store of an array": (A + ", b: array(float64, 1, C)", "setitem.unchecked %0, %1, %5", "RWX RWX"),
    "shape": (A, "%5: (int, int) = getattr[shape] %0", "P P"),
    "cast of numbers": ("x: int", "%1: float = cast %0", "P P"),
    "cast that must fit": ("x: int", "%1: int8 = cast.checked %0", "X X"),
    "content of an Optional": ("x: int?", "%1: int = cast %0", "X X"),
    "content that is there": ("x: int?", "%1: int = cast.unchecked %0", "P P"),
    "Optional": ("x: int", "%1: int? = cast %0", "P P"),
    "sine": ("x: float", "%1: float = call_func[math.sin] %0", "P P"),
    "checked sine": ("x: float", "%1: float = call_func.checked[math.sin] %0", "X X"),
    "range": ("x: int", "%1: range = call_func[builtins.range] %0, %0, %0", "X X"),
    "range with a step": ("x: int", "%1: range = call_func.unchecked[builtins.range] %0, %0, %0", "P P"),
    "atomic": (V + ", i: int", "%3: float64 = call_func[krait.cuda.atomic.add] %0, %2, %1", "RWX RW"),
    "barrier": ("x: int", "%1: None = call_func[krait.cuda.syncthreads]", "RWS RWS"),
    "unbound variable": ("x: bool", "check_bound[y] %0", "X X"),
    "call before it is summarised": ("x: int", "%1: int = call_inst[f#1] %0", "RWXS RWXS"),
}


@pytest.mark.parametrize("name", TYPED)
def test_effects_of_typed_values(name):
    params, line, expected = TYPED[name]
    assert effects(params, line) == expected.split()


@pytest.mark.parametrize(
    "line, expected",
    [
        ("%2 = add %0, %1", "P"),
        ("%2 = truediv %0, %1", "X"),
        ("%2 = add.inplace %0, %1", "RWXS"),  # x may be an array
        ("%2 = getitem %0, %1", "RX"),
        ("%2 = call %0, %1", "RWXS"),
        ("setattr[y] %0, %1", "W"),
    ],
)
def test_effects_before_inference_are_the_rows(line, expected):
    assert effects("x, y", line) == [expected, expected]


def test_a_callee_that_cannot_raise_returns_no_status():
    @krait.njit
    def inner_(x, n):
        total = x
        for _ in range(50):  # so few rounds look for no signal, and a step that is known raises nothing
            total += abs(x)
        return total

    @krait.njit
    def inner_checked(x, n):
        return x / n

    def plain(x, n):
        return inner_(x, n)

    def raising(x, n):
        return inner_checked(x, n)

    for function in (plain, raising):
        compiled = krait.njit(function)
        assert compiled(2.0, 3) == function(2.0, 3)
        llvm = next(iter(compiled.inspect_llvm().values()))
        assert ("{ i32, double }" in llvm) == (function is raising), llvm


def test_raising_is_found_through_calls():
    """Through a chain, and through functions that call each other."""

    @krait.njit
    def last(a, i):
        return a[i]

    @krait.njit
    def middle(a, i):
        return last(a, i) + 1

    @krait.njit
    def even(a, i):
        return a[i] if i < 2 else odd(a, i - 1)

    @krait.njit
    def odd(a, i):
        return even(a, i - 1) if i > 0 else a[0] * 0

    a = np.arange(4.0)
    assert krait.njit(lambda a, i: middle(a, i))(a, 3) == 4.0
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        krait.njit(lambda a, i: middle(a, i))(a, 9)
    with pytest.raises(IndexError):
        krait.njit(lambda a, i: even(a, i))(a[:1], 1)
