"""Remainders and quotients to the bits of NumPy's: of floats, wherever a quotient by an instruction stands for the C
library's fmod, and of integers, which ufuncs divide as floats where these hold them: any sizes, quotients at and
beside whole numbers, numbers beyond every range; one by one and in vectors; and no flag that is not NumPy's."""

import itertools
import math

import numpy as np
import pytest

from krait import njit, vectorize

SPECIAL = [0.0, 1.0, 3.0, 0.1, math.pi, math.inf, math.nan, 5e-324, 1e-310, 2.2250738585072014e-308, 1.7e308]
SPECIAL += [2.0**e for e in (-501, -500, -499, -61, -60, -59, 24, 53, 59, 60, 61, 499, 500, 501)] + [2.0**53 + 2]
OPERATIONS = {
    "fmod": (lambda x, y: np.fmod(x, y), np.fmod),
    "remainder": (lambda x, y: x % y, np.remainder),
    "quotient": (lambda x, y: x // y, np.floor_divide),
}


def dtype_of(letter):
    return np.dtype(letter).type


def same_bits(got, want):
    unsigned = np.dtype(f"u{want.itemsize}")
    return (got.view(unsigned) == want.view(unsigned)) | (np.isnan(got) & np.isnan(want))


def pairs(dtype, count=4000):
    rng = np.random.default_rng(7)

    def numbers():
        exponents = rng.choice([0, 1, 3, 23, 24, 25, 52, 53, 54, 60, 300, 500, 1000], count)
        return np.ldexp(rng.standard_normal(count), exponents * rng.choice([-1, 1], count)).astype(dtype)

    with np.errstate(all="ignore"):
        special = np.array(SPECIAL + [-value for value in SPECIAL]).astype(dtype)
        x, y = map(np.array, zip(*itertools.product(special, special)))
        b = numbers()
        whole = (b * np.floor(np.ldexp(rng.random(count), rng.integers(0, 55, count)))).astype(dtype)
        beside = [np.nextafter(whole, dtype(side)) for side in (-np.inf, np.inf)]
        return np.concatenate([x, numbers(), whole, *beside]), np.concatenate([y, b, b, b, b])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_bit_is_that_of_NumPy(name, dtype):
    function, reference = OPERATIONS[name]
    x, y = pairs(dtype)
    made = vectorize([f"{np.dtype(dtype)}({np.dtype(dtype)}, {np.dtype(dtype)})"])(function)
    with np.errstate(all="ignore"):
        want, got = reference(x, y), made(x, y)
        alone = np.array([made(*pair) for pair in zip(x[:1500], y[:1500])])
    bad = np.flatnonzero(~same_bits(got, want))
    assert not bad.size, [(x[i], y[i], got[i], want[i]) for i in bad[:5]]
    assert same_bits(alone, want[:1500]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quotient_and_remainder_at_once(dtype):
    x, y = pairs(dtype)
    name = str(np.dtype(dtype))

    def told(call, *pair):
        kinds = []
        with np.errstate(all="call", call=lambda kind, flag: kinds.append(kind)):
            results = call(*pair)
        return results, kinds

    for function in (lambda x, y: divmod(x, y), lambda x, y: np.divmod(x, y)):
        made = vectorize([f"Tuple(({name}, {name}))({name}, {name})"])(function)
        with np.errstate(all="ignore"):
            wants, gots = np.divmod(x, y), made(x, y)
        for want, got in zip(wants, gots):
            bad = np.flatnonzero(~same_bits(got, want))
            assert not bad.size, [(x[i], y[i], got[i], want[i]) for i in bad[:5]]
        for pair in ((1.5, 2.5), (-1.5, 0.0), (np.nan, 2.0), (np.inf, 2.0), (2.0, np.inf)):
            for length in (1, 40):
                operands = [np.full(length, dtype(item)) for item in pair]
                assert told(made, *operands)[1] == told(np.divmod, *operands)[1], (pair, length)


@pytest.mark.parametrize("name", OPERATIONS)
def test_loops_and_array_expressions_have_the_same_bits(name):
    function, reference = OPERATIONS[name]
    x, y = pairs(np.float64, 1000)
    with np.errstate(all="ignore"):
        x, y = x[y != 0], y[y != 0]
        want = reference(x, y)
        inner = njit(function)

        @njit
        def loop(x, y):
            out = np.empty(x.size)
            for i in range(x.size):
                out[i] = inner(x[i], y[i])
            return out

        for got in (njit(function)(x, y), loop(x, y)):
            assert same_bits(got, want).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("divisor", [0.5, 1.0, -1.0, 2.0, -8.0, 1024.0, 3.0, 2.0**120])
def test_divisors_that_are_constants(divisor, dtype):
    x = pairs(dtype, 500)[0]
    for function, reference in OPERATIONS.values():
        made = vectorize([f"{np.dtype(dtype)}({np.dtype(dtype)})"])(lambda x: function(x, dtype(divisor)))
        with np.errstate(all="ignore"):
            got, want = made(x), reference(x, dtype(divisor))
        assert same_bits(got, want).all(), [(x[i], got[i], want[i]) for i in np.flatnonzero(~same_bits(got, want))[:5]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("length", [1, 40])
def test_no_flag_is_set_that_is_not_NumPys(name, dtype, length):
    function, reference = OPERATIONS[name]
    made = vectorize([f"{np.dtype(dtype)}({np.dtype(dtype)}, {np.dtype(dtype)})"])(function)
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL).astype(dtype)

    def told(call):
        kinds = []
        with np.errstate(all="call", call=lambda kind, flag: kinds.append(kind)):
            call()
        return kinds

    for x, y in itertools.product(special, special):
        a, b = np.full(length, dtype(1.5)), np.full(length, dtype(2.5))
        a[-1], b[-1] = x, y
        assert told(lambda: made(a, b)) == told(lambda: reference(a, b)), (x, y)


@pytest.mark.parametrize("dtype", "bBhHiIlL")
def test_integers_of_every_size(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(3)
    ends = {end + by for end in (info.min, info.max, info.min // 2, info.max // 2, 0) for by in range(-4, 5)}
    ends = np.array(sorted(end for end in ends if info.min <= end <= info.max), dtype)
    x, y = (ends[at.ravel()] for at in np.indices((ends.size, ends.size)))
    some = [rng.integers(info.min, info.max, 3000, dtype, endpoint=True) for _ in range(2)]
    y_some = some[1] >> rng.integers(0, info.bits, 3000).astype(dtype)
    whole = y_some * (some[0] % dtype_of(dtype)(11))
    x, y = np.concatenate([x, *some[:1], whole, whole - 1]), np.concatenate([y, y_some, y_some, y_some])
    with np.errstate(all="ignore"):
        for name in ("remainder", "quotient"):
            function, reference = OPERATIONS[name]
            made = vectorize([f"{np.dtype(dtype)}({np.dtype(dtype)}, {np.dtype(dtype)})"])(function)
            np.testing.assert_array_equal(made(x, y), reference(x, y))


@pytest.mark.parametrize("dtype", "BHILbhil")
def test_integers_that_a_condition_keeps_from_a_division_set_no_flag(dtype):
    name = np.dtype(dtype)
    functions = (lambda x, y: x // y if y != 0 else x, lambda x, y: x // y if y > 0 else x)
    x, y = np.arange(300).astype(dtype), (np.arange(300) % 4).astype(dtype)
    for function in functions:
        made = vectorize([f"{name}({name}, {name})"])(function)
        for length in (3, 300):
            with np.errstate(all="raise"):
                got = made(x[:length], y[:length])
            np.testing.assert_array_equal(got, [function(*pair) for pair in zip(x[:length], y[:length])])
