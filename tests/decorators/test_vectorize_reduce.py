"""reduce of @vectorize functions on device arrays: identity, initial= and where=, as NumPy's ufuncs have them."""

import numpy as np
import pytest

from krait import cuda, vectorize

X = np.arange(12.0).reshape(3, 4)
MASK = X % 3 == 0


@pytest.fixture(scope="module")
def add():
    return vectorize(["float64(float64, float64)"], target="cuda", identity=0)(lambda a, b: a + b)


@pytest.fixture(scope="module")
def larger():
    return vectorize(["float64(float64, float64)"], target="cuda")(lambda a, b: max(a, b))


def on_host(result):
    return result.copy_to_host() if hasattr(result, "copy_to_host") else result


OPTIONS = [
    {},
    {"initial": 5.0},
    {"initial": None},
    {"where": MASK},
    {"where": MASK, "initial": 7.0},
    {"where": MASK[0]},
    {"where": MASK, "axis": 1},
    {"where": MASK, "axis": None, "initial": 1.0},
    {"where": MASK, "keepdims": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("mask_on_device", [False, True])
def test_options(add, larger, options, mask_on_device):
    given = dict(options)
    if mask_on_device and "where" in options:
        given["where"] = cuda.to_device(np.ascontiguousarray(options["where"]))
    array = cuda.to_device(X)
    assert np.array_equal(on_host(add.reduce(array, **given)), np.add.reduce(X, **options))
    if options.get("axis", 0) is not None and ("initial" in options or "where" not in options):
        assert np.array_equal(on_host(larger.reduce(array, **given)), np.maximum.reduce(X, **options))


def test_out_and_other_layouts(add):
    out = cuda.to_device(np.zeros(4))
    add.reduce(cuda.to_device(X), initial=2.0, out=out)
    assert np.array_equal(out.copy_to_host(), X.sum(0) + 2)
    turned = cuda.to_device(X).transpose()
    assert np.array_equal(on_host(add.reduce(turned, where=MASK.T)), np.add.reduce(X.T, where=MASK.T))


def test_without_elements(add, larger):
    empty = cuda.to_device(np.zeros((0, 3)))
    assert np.array_equal(on_host(add.reduce(empty)), np.zeros(3))
    assert add.reduce(cuda.to_device(np.zeros(0)), axis=None) == 0.0
    assert np.array_equal(on_host(larger.reduce(empty, initial=3.0)), np.full(3, 3.0))
    with pytest.raises(ValueError, match="no identity"):
        larger.reduce(empty)


def test_a_choice_needs_an_identity(larger):
    with pytest.raises(ValueError, match="does not have an identity"):
        larger.reduce(cuda.to_device(X), where=MASK)


def test_a_mask_is_of_bool(add):
    with pytest.raises(TypeError, match="where must be"):
        add.reduce(cuda.to_device(X), where=np.ones((3, 4)))
