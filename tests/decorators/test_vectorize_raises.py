"""Functions that raise, as ufuncs: their loops are made of vectors all the same, and what is left of a call is what an
element after the other leaves: the results before the one that raises, and its exception."""

import inspect
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from krait import cuda, float64, vectorize

ELEMENTS = (1, 7, 8, 9, 255, 256, 257, 1000, 70_000)


def whole(x):
    return math.floor(x * 100.0)


def root(x):
    if x < 0.0:
        raise ValueError("negative", x)
    return math.sqrt(x) + 1.0


def checked(x):
    if x != x:
        raise AssertionError
    return 2.0 * x + 1.0


def inner(x):
    if x > 1e300:
        raise OverflowError("too large")
    return x * 2.0


def called(x):
    return inner(x) + 1.0


def either(x):
    if x != x:
        raise ArithmeticError("nan")
    if x < 0.0:
        raise KeyError("below")
    return 1.0 / (1.0 + x)


FUNCTIONS = {whole: np.nan, root: -4.0, checked: np.nan, called: 1e301, either: -1.0}


def run_program(program, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | variables, check=True
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module", params=["cpu", "parallel"])
def ufuncs(request):
    return {f: vectorize([float64(float64)], target=request.param)(f) for f in FUNCTIONS}


def expected(function, x):
    """The results before the exception, and the exception."""
    results = []
    for value in x.tolist():
        try:
            results.append(function(value))
        except Exception as error:
            return results, error
    return results, None


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("elements", ELEMENTS)
def test_what_is_left(ufuncs, function, elements):
    rng, ufunc = np.random.default_rng(elements), ufuncs[function]
    for at in {None, 0, elements // 2, elements - 1}:
        x = rng.random(elements)
        if at is not None:
            x[at] = FUNCTIONS[function]
        out = np.full(elements, 7.0)
        results, error = expected(function, x)
        if error is None:
            assert (ufunc(x, out) == results).all()
            continue
        with pytest.raises(type(error)) as raised:
            ufunc(x, out)
        assert raised.value.args == error.args
        if elements < 20_000:  # of more, another core may have begun at another place
            assert (out[:at] == results).all()


@pytest.mark.parametrize("elements", ELEMENTS)
@pytest.mark.parametrize("way", ["in place", "gaps", "backwards", "broadcast", "overlap"])
def test_other_ways_to_lie(ufuncs, elements, way):
    ufunc, rng = ufuncs[root], np.random.default_rng(1)
    for at in (None, elements // 2):
        base = rng.random(2 * elements + 1)
        x = base[: 2 * elements : 2] if way == "gaps" else base[:elements]
        if way == "backwards":
            x = x[::-1]
        if way == "broadcast":
            x = np.broadcast_to(base[:1], (elements,))
        if at is not None and way != "broadcast":
            x[at] = -1.0
        out = x if way == "in place" else base[1 : elements + 1] if way == "overlap" else np.zeros(elements)
        results, error = expected(root, x.copy())
        if error is None:
            assert (ufunc(x, out) == results).all()
        else:
            with pytest.raises(ValueError, match="negative"):
                ufunc(x, out)
            if way != "overlap" and elements < 20_000:  # an overlap is NumPy's copy
                assert (out[:at] == results).all()


def test_the_first_of_several(ufuncs):
    x = np.ones(5000)
    x[[300, 301, 4000]] = np.nan, -1.0, -1.0
    with pytest.raises(ArithmeticError, match="nan"):
        ufuncs[either](x)
    x[299] = -1.0
    with pytest.raises(KeyError, match="below"):
        ufuncs[either](x)


def test_reductions_raise():
    @vectorize([float64(float64, float64)])
    def sum_of_positive(a, b):
        if b < 0.0:
            raise ValueError("negative")
        return a + b

    x = np.ones(1000)
    assert sum_of_positive.reduce(x) == 1000.0
    x[500] = -1.0
    with pytest.raises(ValueError, match="negative"):
        sum_of_positive.reduce(x)
    out = np.zeros(1000)
    with pytest.raises(ValueError, match="negative"):
        sum_of_positive.accumulate(x, out=out)


def test_several_results():
    @vectorize(["UniTuple(float64, 2)(float64)"])
    def parts(x):
        if x < 0.0:
            raise ValueError("negative")
        return x * 2.0, x + 1.0

    x = np.arange(1000.0)
    a, b = parts(x)
    assert (a == 2 * x).all() and (b == x + 1).all()
    x[999] = -1.0
    with pytest.raises(ValueError, match="negative"):
        parts(x, a, b)
    assert (a[:999] == 2 * x[:999]).all() and (b[:999] == x[:999] + 1).all()


def test_loops_are_made_of_vectors(optimised):
    program = "import math, krait\n" + "\n".join(
        [inspect.getsource(inner)]
        + [f"{inspect.getsource(f)}\nkrait.vectorize(['float64(float64)'])({f.__name__})" for f in FUNCTIONS]
    )
    dumped = run_program(program, KRAIT_DUMP="opt")
    for function in FUNCTIONS.keys() - {called}:  # a callee's exception notes the call, in memory
        own = dumped.split(f"---- krait_{function.__name__}: opt")[1].split("---- krait_")[0]
        assert "vector.body" in own, function.__name__


def test_no_flags_of_what_did_not_raise():
    @vectorize([float64(float64)])
    def careful(x):
        if x == 0.0:
            raise ZeroDivisionError("nothing")
        return 1.0 / x

    with np.errstate(all="raise"):
        assert careful(np.ones(1000)).sum() == 1000.0
        with pytest.raises(ZeroDivisionError, match="nothing"):
            careful(np.zeros(1000))


def logarithm(x):
    return math.log(x) if x > 0.0 else -1.0


def reciprocal(x):
    if x == 0.0:
        return 0.0
    return 1.0 / x


def exponential(x):
    return math.exp(x) if x < 700.0 else 1.0


def square(x):
    if x > 1e200:
        return 0.0
    return x * x


def real_root(x):
    return math.sqrt(x) if x >= 0.0 else -1.0


@pytest.mark.parametrize("function", [logarithm, reciprocal, exponential, square, real_root], ids=lambda f: f.__name__)
@pytest.mark.parametrize("elements", [20, 1000, 5000])
def test_no_flags_of_what_a_condition_keeps_away(function, elements):
    ufunc = vectorize([float64(float64)])(function)
    x = np.resize([4.0, 0.0, 800.0, 0.5, 1e250, -3.0][: 4 if function is exponential else 6], elements)
    with np.errstate(all="raise"):
        assert np.allclose(ufunc(x), [function(value) for value in x.tolist()], rtol=1e-14, atol=0)
        in_place = x.copy()
        assert (ufunc(in_place, in_place) == ufunc(x)).all()


def test_flags_that_are_an_element_s_own():
    @vectorize([float64(float64)])
    def own(x):
        return 1.0 / x if x < 100.0 else 0.0

    x = np.full(3000, 2.0)
    with np.errstate(all="raise"):
        own(x)
    x[1500] = 0.0
    with pytest.raises(FloatingPointError, match="divide by zero"), np.errstate(divide="raise"):
        own(x)
    with np.errstate(divide="ignore"):
        assert own(x)[1500] == np.inf


def smallest(x):
    best = None
    for k in range(int(x)):
        if best is None or x * k < best:
            best = x * k
    return best


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
@pytest.mark.parametrize("signatures", [["float64(float64)"], []], ids=["declared", "found"])
def test_none_where_a_number_has_to_be(target, signatures):
    decorate = vectorize(signatures, target=target) if signatures else vectorize(target=target)
    ufunc, x = decorate(smallest), np.arange(1.0, 20.0)
    assert (ufunc(x) == [smallest(value) for value in x.tolist()]).all()
    x[10] = 0.0
    assert smallest(x[10]) is None
    if not (target == "cuda" and cuda.detect() and not cuda.get_current_device().is_host):
        with pytest.raises(TypeError, match="a number, not None"):
            ufunc(x)


@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_handlers(target):
    @vectorize([float64(float64)], target=target)
    def guarded(x):
        try:
            return float(math.floor(x))
        except ValueError:
            return -1.0
        except OverflowError:
            return -2.0

    x = np.resize([4.5, np.nan, np.inf, -0.5], 1000)
    assert (guarded(x) == np.resize([4.0, -1.0, -2.0, -1.0], 1000)).all()


# ---- reductions of functions that raise start where those of others do ----

ADD, MULTIPLY = (lambda a, b: a + b), (lambda a, b: a * b)
GRID = np.arange(24).reshape(2, 3, 4)[:, ::-1]
REDUCED = [np.zeros(0), np.zeros((0, 3), int), np.zeros((3, 0)), np.arange(6.0).reshape(2, 3), GRID, np.array(5)]
SAYS = [{}, {"axis": None}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}, {"initial": 5, "axis": None},
        {"initial": None}, {"where": False}, {"where": "mask"}, {"where": "mask", "axis": None, "initial": 3},
        {"where": "mask", "initial": None}]  # fmt: skip


def raising(operation, identity, **options):
    def combined(a, b):
        if a == 12345:
            raise ValueError("twelve")
        return operation(a, b)

    return vectorize(["int64(int64, int64)", "float64(float64, float64)"], identity=identity, **options)(combined)


def outcome_of_reduce(ufunc, x, says):
    mask = np.zeros(x.shape, bool)
    mask.flat[::2] = True
    says = {name: mask if isinstance(value, str) else value for name, value in says.items()}
    try:
        result = ufunc.reduce(x, **says)
    except (ValueError, TypeError) as error:
        return type(error), str(error).replace(ufunc.__name__, "U")
    return type(result), result.dtype, result.tolist()


@pytest.mark.parametrize("target", ["cpu", "parallel"])
@pytest.mark.parametrize("operation, identity, numpys",
                         [(ADD, 0, np.add), (MULTIPLY, 1, np.multiply), (max, "reorderable", np.maximum)],
                         ids=["add", "multiply", "maximum"])  # fmt: skip
def test_identity_of_functions_that_raise(operation, identity, numpys, target):
    ufunc = raising(operation, identity, target=target)
    assert ufunc.identity == numpys.identity
    for x in REDUCED:
        for says in SAYS:
            assert outcome_of_reduce(ufunc, x, says) == outcome_of_reduce(numpys, x, says), (x.shape, says)
    with pytest.raises(ValueError, match="twelve"):
        ufunc.reduce(np.array([12345, 1]), initial=12345)


def test_without_identity_one_axis_is_reduced_at_a_time():
    ufunc, plain = raising(ADD, None), vectorize(["int64(int64, int64)"], identity=None)(ADD)
    for says in SAYS:
        ours, theirs = outcome_of_reduce(ufunc, GRID, says), outcome_of_reduce(plain, GRID, says)
        assert ours == theirs, says


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_negative_powers_of_integers_raise_by_either_name(target):
    by_name = vectorize(target=target)(lambda a, b: np.power(a, b))
    by_operator = vectorize(target=target)(lambda a, b: a**b)
    silent = target == "cuda" and cuda.detect() and not cuda.get_current_device().is_host
    for base in (np.array([2, 3]), np.array([2, 3], "i1"), np.array([True, False])):
        for power in ([2, 0], [1, -1]):
            exponent = np.array(power, "i1")
            for function in (np.power,) if silent and min(power) < 0 else (by_name, by_operator, np.power):
                if min(power) < 0:
                    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
                        function(base, exponent)
                else:
                    np.testing.assert_array_equal(function(base, exponent), np.power(base, exponent))


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("place", [0, 1, 19, 299])
def test_a_loop_that_raises_leaves_what_it_has_computed(step, place):
    """A function with a loop is not computed anew: its results, and what lies behind them, are there."""

    def summed(n, divisor):
        if divisor == 0:
            raise ValueError("no divisor")
        total = 0
        for i in range(n):
            total += i
        return total // divisor

    numbers, divisors = np.arange(300) % 7, np.where(np.arange(300) == place, 0, 1)
    memory = np.full(300 * abs(step), -7)
    with pytest.raises(ValueError, match="no divisor"):
        vectorize(["int64(int64, int64)"])(summed)(numbers, divisors, out=memory[::step][:300])
    expected = np.full(300 * abs(step), -7)
    expected[::step][:place] = [summed(n, 1) for n in numbers.tolist()[:place]]
    assert (memory == expected).all()
