"""Signatures of vectorize are compiled at the same time: what comes of it is as if they came one after the other."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from krait import vectorize
from krait.errors import TypingError

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint32", "float32", "float64", "complex64", "complex128"]
SIGNATURES = [f"{name}({name}, {name})" for name in TYPES]


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_loops_are_in_the_order_of_the_signatures(target):
    f = vectorize(SIGNATURES, target=target)(lambda a, b: a * b + a)
    assert f.types == [f"{c}{c}->{c}" for c in (np.dtype(name).char for name in TYPES)]
    for name in TYPES:
        a = np.arange(7).astype(name)
        got = f(a, a)
        assert got.dtype == a.dtype
        np.testing.assert_array_equal(got, (a * a + a).astype(name))


def test_the_first_error_is_told():
    def of_numbers_and_bits(a, b):
        return a & b

    for signatures, name in ((SIGNATURES, "float32"), (["int8(int8, int8)", *SIGNATURES[::-1]], "complex128")):
        with pytest.raises(TypingError, match=name) as caught:
            vectorize(signatures)(of_numbers_and_bits)
        assert "a & b" in str(caught.value)


def test_a_result_that_is_not_what_is_declared():
    for signatures in (["float64(complex128)"], ["complex128(complex128)", "float64(complex128)"]):
        with pytest.raises(TypingError, match="declares the result float64, the function returns complex128"):
            vectorize(signatures)(lambda z: z * z)


def test_a_signature_twice_and_one_of_another_length():
    assert vectorize([SIGNATURES[3]] * 3)(lambda a, b: a - b)(5, 3) == 2
    with pytest.raises(TypeError, match="the signature has 1 argument type"):
        vectorize([*SIGNATURES, "int64(int64)"])(lambda a, b: a - b)


def test_many_threads_decorate():
    results, start = [], threading.Barrier(4)

    def work(number):
        start.wait()
        f = vectorize(SIGNATURES[-4:])(lambda a, b: a * number + b)
        results.append((f(2.0, 1.0), 2.0 * number + 1.0))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(ours == theirs for ours, theirs in results)


def test_on_one_core_nothing_differs():
    program = "from krait import vectorize\n"
    program += f"f = vectorize({SIGNATURES!r})(lambda a, b: a + b)\nprint(f.types, f(1, 2.5))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "KRAIT_NUM_THREADS": number}, check=True,
            capture_output=True, text=True,
        ).stdout
        for number in ("1", "3")
    }  # fmt: skip
    assert len(printed) == 1 and "3.5" in printed.pop()
