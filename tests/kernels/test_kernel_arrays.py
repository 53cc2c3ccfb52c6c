"""Functions of arrays that a thread may call because they give one number: against NumPy, on the device of this
process and as PTX."""

import numpy as np
import pytest
from assembler import assemble

from krait import cuda, errors, types

RNG = np.random.default_rng(11)
HOLES = RNG.normal(size=40)
HOLES[[3, 17, 18]] = np.nan
ARRAYS = {
    "float64": RNG.normal(size=33) * 10, "float32": RNG.normal(size=33).astype(np.float32),
    "float16": RNG.normal(size=33).astype(np.float16), "int32": RNG.integers(-9, 9, 33).astype(np.int32),
    "bool": RNG.integers(0, 2, 33).astype(bool), "complex": (RNG.normal(size=9) + 1j * RNG.normal(size=9)),
    "two axes": RNG.normal(size=(5, 7)), "strided": RNG.normal(size=80)[::3],
    "Fortran": np.asfortranarray(RNG.normal(size=(4, 6))),
    "holes": HOLES, "single holes": HOLES.astype(np.float32), "one": np.ones(1),
}
CALLS = ["a.var()", "a.std()", "np.var(a)", "np.std(a, ddof=1)", "a.var(ddof=2)", "np.count_nonzero(a)", "np.nansum(a)",
         "np.nanprod(a)", "np.nanmean(a)", "np.nanvar(a)", "np.nanstd(a, ddof=1)", "a.argmin()", "a.argmax()",
         "np.argmax(a)", "np.std(a, dtype=np.float32)"]


def kernel_of(call):
    scope = {"np": np}
    exec(f"def kernel(a, out):\n    out[0] = {call}", scope)
    return scope["kernel"]


def taken(name, call):
    real_only = ("argm", "dtype=", "nan")
    return not (name == "complex" and any(word in call for word in real_only)) and not (
        name in ("bool", "Fortran") and "arg" in call)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", CALLS)
def test_numbers_of_arrays(call):
    for name, a in ARRAYS.items():
        if not taken(name, call):
            continue
        wanted = np.asarray(eval(call, {"np": np, "a": a}))
        out = np.zeros(1, wanted.dtype)
        cuda.jit(kernel_of(call))[1, 1](a, out)
        tolerance = {"f2": 4e-3, "f4": 3e-5}.get(wanted.dtype.str[1:], 1e-12)
        if a.dtype == np.float32 or "float32" in call:
            tolerance = 3e-5
        np.testing.assert_allclose(out[0], wanted, rtol=tolerance, atol=tolerance, err_msg=name)


def test_views_of_one_axis():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a.ravel()[i]

    a, out = np.arange(12.0).reshape(3, 4), np.zeros(12)
    kernel[1, 32](a, out)
    assert out.tolist() == list(range(12))


def test_memory_of_an_array_as_another():
    @cuda.jit
    def kernel(a, out):
        c, f = cuda.carray(a.ctypes, (2, 3), np.float32), cuda.farray(a.ctypes, (2, 3), np.float32)
        for i in range(2):
            for k in range(3):
                out[0, i, k], out[1, i, k] = c[i, k], f[i, k]

    a, out = np.arange(6, dtype=np.float32), np.zeros((2, 2, 3))
    kernel[1, 1](a, out)
    assert (out[0] == a.reshape(2, 3)).all() and (out[1] == a.reshape((2, 3), order="F")).all()


def test_what_is_written_where_out_says():
    @cuda.jit
    def kernel(a, out):
        np.var(a, out=out)

    out = np.zeros(())
    kernel[1, 1](np.arange(5.0), out)
    assert out == 2


def test_results_that_are_arrays_are_refused():
    with pytest.raises(errors.KraitError, match="makes an array, which kernels cannot|is not compiled in kernels"):
        cuda.jit(kernel_of("np.var(a, axis=0)[0]"))[1, 1](np.ones((2, 2)), np.zeros(1))


def test_ptxas_accepts_them():
    for call in CALLS:
        ptx, _ = cuda.compile_ptx(kernel_of(call), (types.float32[::1], types.float64[::1]), cc=(9, 0))
        assemble(ptx)
