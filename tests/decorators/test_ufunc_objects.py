"""What the objects that vectorize and guvectorize make tell of themselves, and what they have beside NumPy's methods:
the same on every target, with signatures and without."""

import gc
import weakref

import numpy as np
import pytest
from krait import float64, guvectorize, int64, vectorize

TARGETS = ["cpu", "parallel", "cuda"]
ROOMY = hasattr(np.add, "__dict__")  # NumPy 2.2: what is noted in a ufunc has a place there
SIGNATURES = {"elementwise": ["float64(float64, float64)"], "rows": ["void(float64[:], float64, float64[:])"]}


def add(a, b):
    return a + b


def add_to_row(row, number, out):
    for i in range(len(row)):
        out[i] = row[i] + number


def made(kind, target="cpu", signatures=True):
    given = [SIGNATURES[kind]] if signatures else []
    if kind == "elementwise":
        return vectorize(*given, target=target)(add)
    return guvectorize(*given, "(n),()->(n)", target=target)(add_to_row)


def called(function, kind, dtype, number=2):
    row, number = np.arange(5).astype(dtype), np.dtype(dtype).type(number)
    return function(row, number) if kind == "elementwise" else function(row, number, np.zeros(5, dtype))


@pytest.mark.skipif(not ROOMY, reason="ufuncs have no dict")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", SIGNATURES)
def test_attributes(kind, target):
    f = made(kind, target)
    assert (f.nin, f.nout, f.nargs, f.ntypes, f.types) == (2, 1, 3, 1, ["dd->d"])
    assert f.signature == (None if kind == "elementwise" else "(n),()->(n)") and f.identity is None
    assert isinstance(f.ufunc, np.ufunc) and f.ufunc.types == f.types
    assert f.targetoptions.get("target", "cpu") == target
    function = add if kind == "elementwise" else add_to_row
    assert f.py_func is function and f.__wrapped__ is function
    assert (f.__name__, f.__qualname__, f.__module__) == (function.__name__, function.__qualname__, __name__)
    assert f.build_ufunc() is f and f.disable_compile() is None
    np.testing.assert_array_equal(called(f, kind, "f8"), np.arange(5) + 2.0)


@pytest.mark.skipif(not ROOMY, reason="ufuncs have no dict")
@pytest.mark.parametrize("kind", SIGNATURES)
@pytest.mark.parametrize("signatures", [True, False])
def test_whether_a_signature_fits(kind, signatures):
    f = made(kind, signatures=signatures)
    assert f.match_signature((float64, float64), float64(float64, float64))
    assert f.match_signature([float64, float64], "float64(float64, float64)")
    assert not f.match_signature((float64, int64), float64(float64, float64))
    assert not f.match_signature((float64,), float64(float64, float64))
    with pytest.raises(TypeError, match="is not a signature"):
        f.match_signature((float64,), 3)


@pytest.mark.skipif(not ROOMY, reason="ufuncs have no dict")
def test_a_ufunc_with_signatures_gets_no_other_loops():
    f = made("elementwise")
    with pytest.raises(TypeError, match="leave the signatures out"):
        f.add("float32(float32, float32)")
    g = made("elementwise", signatures=False)  # as the words say
    g.add("float32(float32, float32)")
    assert g.types == ["ff->f"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("close", ["build_ufunc", "disable_compile"])
def test_rows_for_no_more_types(target, close):
    f = made("rows", target, signatures=False)
    called(f, "rows", np.float64)
    getattr(f, close)()
    np.testing.assert_array_equal(called(f, "rows", np.float64, 3), np.arange(5) + 3.0)
    with pytest.raises(TypeError):
        called(f, "rows", np.complex128, 2j)
    assert f.types == ["dd->d"]
    f.disable_compile(False)
    np.testing.assert_array_equal(called(f, "rows", np.complex128, 2j), np.arange(5) + 2j)
    assert f.types == ["dd->d", "DD->D"]


def test_reductions_of_rows_are_refused_as_numpy_does():
    f = made("rows")
    for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
        arguments = [np.arange(3.0), [0], 1.0][: {"reduce": 1, "accumulate": 1, "at": 3}.get(method, 2)]
        with pytest.raises(Exception) as ours:
            getattr(f, method)(*arguments)
        with pytest.raises(Exception) as theirs:
            getattr(np.matmul, method)(*arguments)
        assert type(ours.value) is type(theirs.value)


@pytest.mark.parametrize("kind", SIGNATURES)
@pytest.mark.parametrize("signatures", [True, False])
def test_it_ends_with_its_last_name(kind, signatures):
    class Witness:
        pass

    def function():
        witness = Witness()
        if kind == "elementwise":
            inner = lambda a, b: a + b  # noqa: E731
        else:
            def inner(row, number, out):
                out[0] = row[0] + number
        inner.witness = witness
        return inner, weakref.ref(witness)

    inner, witness = function()
    given = [SIGNATURES[kind]] if signatures else []
    f = vectorize(*given)(inner) if kind == "elementwise" else guvectorize(*given, "(n),()->(n)")(inner)
    called(f, kind, "f8")
    del f, inner
    gc.collect()
    assert witness() is None


# ---- boundscheck -----------------------------------------------------------------------------------------------------

TABLE = np.arange(4.0)


@pytest.mark.parametrize("target", ["cpu", "parallel"])
@pytest.mark.parametrize("options", [{}, {"boundscheck": True}, {"boundscheck": None}])
def test_an_index_outside_an_array_raises(target, options):
    look_up = vectorize(["float64(int64)"], target=target, **options)(lambda i: TABLE[i])
    np.testing.assert_array_equal(look_up(np.array([0, 3, -1, -4])), [0, 3, 3, 0])
    for bad in (4, -5, 10**9):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 4"):
            look_up(np.array([0, bad, 1]))


def test_boundscheck_is_an_option_of_every_target():
    for target in TARGETS:
        f = vectorize(["float64(int64)"], target=target, boundscheck=False)(lambda i: TABLE[i])
        np.testing.assert_array_equal(f(np.arange(4)), TABLE)
        with pytest.raises(TypeError):
            vectorize(boundscheck="yes", target=target)(add)


@pytest.mark.parametrize("target", TARGETS)
def test_dtypes_are_resolved_as_numpy_resolves_them(target):
    made = vectorize(["float32(float32, float32)", "float64(float64, float64)"], target=target)(add)
    single, double, whole = np.dtype("f4"), np.dtype("f8"), np.dtype("i8")
    for operands in (single, single), (single, whole), (single, int), (double, single):
        assert made.resolve_dtypes((*operands, None)) == np.add.resolve_dtypes((*operands, None))
    assert made.resolve_dtypes((None, single, None), reduction=True) == (single, single, single)
    assert made.resolve_dtypes((single, single, None), signature=(double,) * 3) == (double,) * 3
    with pytest.raises(TypeError, match="safe"):
        made.resolve_dtypes((double, double, single), casting="safe")
