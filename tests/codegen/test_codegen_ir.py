"""Generated code on the host: its results element by element against NumPy, and what LLVM IR it is."""

import itertools
import random
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krait import njit
from krait import _testing
from host_kernels import added_up
from oracle import make as made
from portions import some

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

F1, D1, I1 = "array(float32, 1, C)", "array(float64, 1, C)", "array(int64, 1, C)"


def ir(function, types, **options):
    defaults = {"target": "host", "stage": "opt", "boundscheck": True, "python_errors": True}
    return _testing.compile(function, types, **{**defaults, **options})


def lowered(text, **options):
    return _testing.lower_text(text, **{"target": "host", "stage": "llvm", "boundscheck": True, **options})


# ---- loops that look for signals -------------------------------------------------------------------------------------


def test_the_loop_around_one_that_looks_is_not_peeled():
    """Its rounds are as long as a budget: a copy of one would be code for nothing."""

    def strips(n):
        s = 0
        for i in range(n):
            s ^= i * n
        return s

    def at_header(a, n):
        i = 0
        while i < n and a * i < 9.0:
            i += 2
        return i

    def at_latch(x):
        while x != 1.0:
            x = x / 2.0 if x > 5.0 else x * 3.0
        return x

    for function, types in ((strips, ["int"]), (at_header, ["float", "int"]), (at_latch, ["float"])):
        text = _testing.stage(function, types, "llvm")
        after = text[re.search(r"call [\w ]*i32 @krait_look", text).start() :]
        node = re.search(r"^fine\w*:.*\n  br label %\w+, !llvm.loop (!\d+)", after, re.M)[1]
        (what,) = re.search(rf"^{node} = distinct !\{{{node}, (!\d+)\}}", text, re.M).groups()
        assert f'{what} = !{{!"llvm.loop.unroll.disable"}}' in text, text


# ---- ufuncs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, operands",
    [
        (lambda a, b: a * a + b * b, 2),
        (lambda a: 1.0 + a * (0.5 + a * (0.25 + a * (0.125 + a * 0.0625))), 1),
        (lambda a, b: (a + b) / (1.0 + a * b), 2),
        (lambda a: np.sin(a), 1),
        (lambda a, b: a if a > b else b, 2),
    ],
)
def test_a_ufunc_is_two_loops(function, operands):
    """Whole rounds are vectors, with nothing left over for another loop; the other takes any elements one by one."""
    text = ir(function, "; ".join(["float64"] * operands), entry="ufunc", boundscheck=False, python_errors=False)
    functions = dict(re.findall(r"^define [^@]*@(\w+)\((.*?)^}", text, re.M | re.S))
    assert functions.keys() == {"strip", "plain"}, text
    for name, code in functions.items():
        vectors = re.search(r"load <\d+ x double>", code)
        assert code.count("!llvm.loop ") == 1 and bool(vectors) == (name == "strip"), text


# ---- typed IR text to LLVM IR ----------------------------------------------------------------------------------------

ADD = """\
func add(x: int, y: int) -> int {
b0:
  %2: int = add %0, %1
  return %2
}
"""

LOOP = """\
func count(n: int) -> int {
b0:
  %1 = const 0
  %2 = const 1
  %3: range = call_func[builtins.range] %1, %0, %2
  %4: iter.range(int) = iter %3
  jump b1
b1:
  %5: int = phi b0 %1, b2 %8
  %6: bool = iter_more %4
  branch %6, b2, b3
b2:
  %7: int = iter_take %4
  %8: int = add %5, %7
  jump b1
b3:
  return %5
}
"""


def test_a_function_of_scalars():
    text = lowered(ADD)
    assert re.search(r"define internal i64 @krait_add_0\(ptr noalias %0, i64 %1, i64 %2\)", text)
    assert "add i64" in text


def test_a_loop_becomes_a_formula():
    assert "phi" in lowered(LOOP)
    optimised = lowered(LOOP, stage="opt")
    assert not re.search(r"br i1 .*!llvm.loop", optimised)  # the sum has a closed form


def test_every_allocation_may_fail():
    """Whichever allocation fails, the compilation ends in a MemoryError and gives everything back."""
    kernel = LOOP.replace("-> int", "-> None").replace("  return %5", "  %9 = const None\n  return %9")
    for text, target, entry in ((ADD, "host", "function"), (LOOP, "host", "function"), (kernel, "nvptx", "kernel")):
        for n in itertools.count(1):
            try:
                result = lowered(text, target=target, entry=entry, fail_after=n)
            except MemoryError:
                continue
            break
        assert n > 10 and "define" in result


REFUSED = {
    "an unknown representation": "func f(x: str) -> int {\nb0:\n  %1: int = cast %0\n  return %1\n}\n",
    "what bool has not": "func f(x: bool, y: bool) -> bool {\nb0:\n  %2: bool = floordiv %0, %1\n  return %2\n}\n",
    "an order of tuples": "func f(x: (int,), y: (int,)) -> bool {\nb0:\n  %2: bool = lt %0, %1\n  return %2\n}\n",
    "not in place": f"func f(x: {D1}) -> {D1} {{\nb0:\n  %1: {D1} = add %0, %0\n  return %1\n}}\n",
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("target", ["host", "nvptx"])
def test_what_cannot_be_generated_is_refused(name, target):
    with pytest.raises(ValueError):
        lowered(REFUSED[name], target=target, entry="function" if target == "host" else "kernel")


# ---- what good code looks like ---------------------------------------------------------------------------------------


def total(x):
    s = 0
    for i in range(x.size):
        s += x[i]
    return s


def saxpy(a, x, y):
    for i in range(x.size):
        y[i] = a * x[i] + y[i]


def test_checked_loops_are_vectorised():
    assert re.search(r"load <\d+ x i64>", ir(total, I1))
    text = ir(saxpy, f"float32; {F1}; {F1}")
    assert re.search(r"fmul <\d+ x float>", text) and re.search(r"store <\d+ x float>", text)


def test_no_check_is_left_where_the_loop_is_the_proof():
    """At most four loops: over two widths of vectors, over items, and the one around them that looks for signals."""
    assert "IndexError" not in ir(total, I1)
    assert len(_loops(ir(total, I1))) <= 4


def _loops(text):
    return re.findall(r"br i1 .*!llvm\.loop", text)


def test_floating_point_sums_keep_their_order_unless_told():
    assert not re.search(r"fadd[^\n]*<\d+ x double>", ir(added_up, D1))
    assert re.search(r"fadd[^\n]*<\d+ x double>", ir(added_up, D1, fastmath=127))


def test_division_by_constants():
    def halves(n):
        return n // 8, n % 8, n // 7

    text = ir(halves, "int")
    assert "ashr i64" in text and "and i64" in text


def test_nothing_divides_by_zero_or_overflows():
    """LLVM calls x / 0 and the least number / -1 undefined; the code must not contain either."""

    def quotient(a, b):
        return a // b

    text = ir(quotient, "int64; int64", python_errors=False, stage="llvm")
    divided = re.search(r"sdiv i64 %\w+, (%\w+)", text).group(1)
    assert re.search(rf"{divided} = select i1", text)


def test_float_to_int_is_frozen():
    def store(a, x):
        a[0] = x

    assert "freeze i64" in ir(store, f"{I1}; float32", stage="llvm", python_errors=False)


def test_slices_of_one_type_are_moved_as_memory():
    def move(a):
        a[1:] = a[:-1]

    assert "llvm.memmove" in ir(move, D1)


def test_math_has_vector_variants():
    import math

    def sines(x):
        for i in range(x.size):
            x[i] = math.sin(x[i])

    assert re.search(r"@_ZGV\w+_sin", ir(sines, D1, python_errors=False, fastmath=127))


# ---- scalars: every operation on every pair of types, against the interpreter ----------------------------------------

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
OPERATIONS = ["+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]


def values_of(kind):
    if kind is bool or kind is np.bool_:
        return [kind(False), kind(True)]
    if kind is int:
        return [0, 1, -1, 3, -7, 64, 2**31, -(2**63), 2**63 - 1]
    if kind in INTEGERS:
        info = np.iinfo(kind)
        values = {0, 1, 3, 7, info.max, info.min, info.max // 2} | ({-1, -3} if info.min else set())
        return [kind(v) for v in sorted(values)]
    if kind is float or kind in FLOATS:
        return [kind(v) for v in (0.0, -0.0, 1.0, -0.5, 2.5, -3.7, 6e4, 1e-7, float("inf"), float("nan"))]
    return [kind(v) for v in (0j, 1j, 1 + 2j, -3.5 + 0.25j, 1e30 + 1e30j)]


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001
        return error


def same_number(x, y):
    if isinstance(x, (complex, np.complexfloating)):
        return same_number(x.real, y.real) and same_number(x.imag, y.imag)
    if x != x:
        return y != y
    return x == y and (not isinstance(x, (float, np.floating)) or np.signbit(x) == np.signbit(y))


def agree(expected, got):
    if isinstance(expected, Exception) or isinstance(got, Exception):
        return type(expected).__name__ == type(got).__name__ and str(expected) == str(got)
    return type(expected) is type(got) and same_number(expected, got)


def outside_the_agreement(operation, a, b, expected):
    """Python ints wrap at 64 bits, and complex with float64 is NumPy's business (float64 is a float for CPython)."""
    if isinstance(expected, OverflowError) and "out of bounds" in str(expected):
        return True  # a Python int that does not fit the other operand's type wraps, too
    if isinstance(expected, int) and not isinstance(expected, bool) and not -(2**63) <= expected < 2**63:
        return True
    if isinstance(expected, (MemoryError, TypeError)):
        return True
    return {type(a), type(b)} == {complex, np.float64}


KINDS = [bool, int, float, complex, np.bool_, *INTEGERS, *FLOATS, *COMPLEX]
RAISING = {"/", "//", "%", "**", "<<", ">>"}


def operation_outside(operation, interpreted):
    """Of operands: whether their result is nothing that the compiled function has to agree with."""
    return lambda a, b: outside_the_agreement(operation, a, b, outcome(interpreted, a, b))


@pytest.mark.parametrize("operation", sorted(RAISING & set(OPERATIONS)))
def test_scalar_operations_that_raise(operation):
    interpreted = made(f"def f(a, b): return a {operation} b")
    compiled, outside, wrong = njit(interpreted), operation_outside(operation, interpreted), []
    for kind_a, kind_b in itertools.product(KINDS, some(KINDS)):
        few = operation == "<<" and kind_a in (int, bool) and kind_b is int
        for a, b in itertools.product(values_of(kind_a), (0, 1, 5, 63, -1) if few else values_of(kind_b)):
            if not outside(a, b) and not agree(outcome(interpreted, a, b), outcome(compiled, a, b)):
                wrong.append((a, b, outcome(interpreted, a, b), outcome(compiled, a, b)))
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if operation not in RAISING])
def test_scalar_operations(operation):
    """One function has all kinds of second operands, so that it is compiled once for each kind of first ones."""
    interpreted = made(f"def f(a, b): return a {operation} b")
    alone, outside, wrong = njit(interpreted), operation_outside(operation, interpreted), []
    for kind in KINDS:
        firsts, columns = values_of(kind), [values_of(second) for second in some(KINDS)]
        columns = [column for column in columns if not all(outside(a, b) for a in firsts for b in column)]
        results = "".join(f"a {operation} b[{i}], " for i in range(len(columns)))
        together = njit(made(f"def f(a, b): return ({results})"))
        for a, row in itertools.product(firsts, range(max(map(len, columns), default=0))):
            operands = tuple(column[row % len(column)] for column in columns)
            found = outcome(together, a, operands)
            if isinstance(found, Exception):  # one of them raises
                found = [outcome(alone, a, b) for b in operands]
            for b, got in zip(operands, found):
                if not outside(a, b) and not agree(outcome(interpreted, a, b), got):
                    wrong.append((a, b, outcome(interpreted, a, b), got))
    assert not wrong, wrong[:5]


def test_division_of_large_ints_rounds_once():
    divide = njit(lambda a, b: a / b)
    draw = random.Random(1)
    for _ in range(5000):
        a, b = (draw.randint(-(2**63), 2**63 - 1) >> draw.randint(0, 62) for _ in range(2))
        if b:
            assert divide(a, b) == a / b


def all_conversions(targets):
    """A function that converts `values[k]` to targets[k], element by element into one array and whole into another."""
    lines = ["def f(values, elements, wholes):"]
    for k, target in enumerate(targets):
        lines += [f"    for i in range(values[{k}].size):",
                  f"        elements[{k}][i] = np.{target.__name__}(values[{k}][i])",
                  f"    wholes[{k}][:] = values[{k}]"]
    return njit(made("\n".join(lines)))


def test_conversions_between_all_types():
    """One function has all targets of a source."""
    kinds = [np.bool_, *INTEGERS, *FLOATS, *COMPLEX]
    reals = [0, 1, -1, 127, 128, 255, 256, -129, 65535, 65536, 2**31, 2**32, -(2**31) - 1, 2**62, -(2**63), 0.5, -1.5]
    reals += [2.5, 1e10, -1e10, 1e19, -1e19, 2049.0, 0.1, -0.0, np.inf, -np.inf, np.nan]
    reals += [65504.0, 65519.9, 65520.0, 6e-8, 3e-8, 1e-320, 1.00048828125 + 1e-12]  # where float16 rounds
    for source in kinds:
        targets = [target for target in some(kinds) if source not in COMPLEX or target in COMPLEX]
        if source in INTEGERS:
            info = np.iinfo(source)
            values = np.array([int(v) for v in reals if np.isfinite(v) and info.min <= v <= info.max], source)
        else:
            values = np.array(reals).astype(source)
        given = []
        for target in targets:
            fitting = values
            if source in FLOATS and target in INTEGERS:  # beyond the range NumPy gives what the processor gives
                info = np.iinfo(target)
                inside = np.isfinite(values) & (values > info.min - 1.0) & (values < float(info.max))
                fitting = values[inside]
            given.append(fitting)
        elements, wholes = (tuple(np.zeros(v.size, t) for v, t in zip(given, targets)) for _ in range(2))
        if targets:
            all_conversions(targets)(tuple(given), elements, wholes)
        for target, fitting, *got in zip(targets, given, elements, wholes):
            for one in got:
                np.testing.assert_array_equal(one, fitting.astype(target), err_msg=f"{source} to {target}")


# ---- arrays: slices, broadcasting, overlap ---------------------------------------------------------------------------

bounds = st.one_of(st.none(), st.integers(-9, 9))
steps = st.one_of(st.none(), st.integers(-4, 4))


@njit
def _slice_bounds(a, start, stop, step):
    return a[start:stop:step]


@given(st.integers(-9, 9), st.integers(-9, 9), steps.filter(lambda s: s is not None))
def test_slices_clip_as_python_does(start, stop, step):
    a = np.arange(7.0)
    expected, got = outcome(lambda: a[start:stop:step]), outcome(_slice_bounds, a, start, stop, step)
    if isinstance(expected, Exception):
        assert agree(expected, got)
    else:
        np.testing.assert_array_equal(got, expected)


@njit
def _assign(to, values):
    to[...] = values


@njit
def _add(to, values):
    to += values


@njit
def _multiply(to, values):
    to *= values


def plain_assign(to, values):
    to[...] = values


def plain_add(to, values):
    to += values


def plain_multiply(to, values):
    to *= values


axes = st.tuples(bounds, bounds, steps.filter(lambda s: s != 0)).map(lambda t: slice(*t))


updates = st.sampled_from([(_assign, plain_assign), (_add, plain_add), (_multiply, plain_multiply)])


@given(updates, st.tuples(axes, axes), st.tuples(axes, axes), st.booleans(), st.booleans())
def test_overlapping_views_update_as_if_the_source_were_copied(functions, left, right, transpose, same_type):
    compiled, interpreted = functions

    def views():
        memory = np.arange(1, 37, dtype=np.float64).reshape(6, 6)
        source = memory[right] if same_type else memory.view(np.int64)[right]
        return memory, memory[left], source.T if transpose else source

    ours, theirs = views(), views()
    got, expected = outcome(compiled, *ours[1:]), outcome(interpreted, *theirs[1:])
    assert agree(expected, got) if isinstance(expected, Exception) else got is None
    np.testing.assert_array_equal(ours[0], theirs[0])


SHAPES = [(), (1,), (3,), (4,), (3, 4), (1, 4), (3, 1), (1, 1), (2, 3, 4), (2, 1, 4), (1, 3, 1), (0,), (0, 4)]


@pytest.mark.parametrize("functions", [(_assign, plain_assign), (_add, plain_add)], ids=["assign", "add"])
def test_broadcasting(functions):
    compiled, interpreted = functions
    for to_shape, from_shape in itertools.product(SHAPES[1:], SHAPES[1:]):
        if len(from_shape) > len(to_shape):
            continue  # refused when compiled
        ours, theirs = np.ones(to_shape), np.ones(to_shape)
        values = np.arange(np.prod(from_shape)).reshape(from_shape)
        got, expected = outcome(compiled, ours, values), outcome(interpreted, theirs, values)
        if isinstance(expected, Exception):
            assert agree(expected, got), (to_shape, from_shape)
        else:
            assert got is None, got
            np.testing.assert_array_equal(ours, theirs)


def test_parts_of_a_new_array_lie_apart_from_arguments():
    """Nothing asks where they lie, and there is no temporary array."""

    def f(u):
        new = np.empty(u.shape)
        new[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1]
        return new

    text = ir(f, "array(float64, 2, C)", stage="llvm")
    assert "@malloc" not in text and "ptrtoint ptr" not in text.split("krait_joined_extent")[-1], text

    def in_place(u):
        u[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1]

    assert "@malloc" in ir(in_place, "array(float64, 2, C)", stage="llvm")


def test_extents_that_are_not_known_to_be_equal_are_asked_for():
    def f(x, y, z):
        return x * y + z

    text = ir(f, "; ".join(["array(float64, 1, C)"] * 3))
    assert len(re.findall(r"call .*@krait_joined_extent\(", text)) == 2, text
    assert "krait_joined_extent" not in ir(lambda x: x * x + x, "array(float64, 1, C)")


def test_arrays_in_one_piece_are_copied_as_memory():
    for layout in "CF":
        text = ir(lambda x: x.copy(), f"array(float64, 2, {layout})", stage="llvm")
        assert "llvm.memmove" in text or layout == "F", text
        assert layout == "F" or "load double" not in text, text


def test_the_tree_of_a_sum_in_pairs_is_not_written_out():
    text = ir(lambda x, y: (x * y).sum(), "; ".join([D1] * 2), stage="llvm")
    assert "call void @krait_pairs_add_f64" in text and "ascend" not in text
    assert "krait_pairs_add_f32" in ir(lambda x: x.sum(), F1, stage="llvm")


def test_rows_that_lie_behind_each_other_need_no_loop():
    """Whose strides are the same product, of one extent: known without asking LLVM."""
    one = ir(lambda x: x * 2.0, "array(float64, 1, C)", stage="llvm")
    for ndim in (2, 3):
        assert ir(lambda x: x * 2.0, f"array(float64, {ndim}, C)", stage="llvm").count("\nbody") == one.count("\nbody")


def test_new_array_asks_once():
    """However many axes and mistakes there are, one branch raises; numbers of which nothing is known."""
    text = ir(lambda n, m, k: np.empty((n, m, k)), "int64; int64; int64", stage="llvm")
    assert text.count("\nraise") == 1 and text.count("select i1") >= 5


def test_on_the_way_of_what_is_raised_the_heap_gives_up():
    def f(n, i):
        x = np.ones(n)
        return x[i] + 1.0

    text = ir(f, "int64; int64", stage="llvm")
    assert text.count("@krait_heap_give_up(") == 2, "once beside its declaration"


def test_slices_of_arrays_in_c_order_are_walked_as_they_lie():
    text = ir(lambda u: u[1:, 1:] + u[:-1, :-1], "array(float64, 2, C)", stage="llvm")
    assert "llvm.smin.i64(i64 %" in text and "mul nsw i64 %" in text
    in_place = ir(assign_inner, "array(float64, 2, C)", stage="llvm")
    assert "sub i64 0, %" not in in_place, in_place  # no stride is asked for its size


def assign_inner(u):
    u[1:-1, 1:-1] = u[1:-1, 1:-1] * 2.0
