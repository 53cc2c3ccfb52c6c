"""guvectorize on three targets: operands of every layout and byte order, results of other dtypes, overlapping ones."""

import numpy as np
import pytest

from krait import errors, guvectorize


def of_three_targets(*given):
    return [guvectorize(*given, target=target) for target in ("cpu", "parallel", "cuda")]


def test_results_are_not_cast_to_another_kind():
    for decorate in of_three_targets(["void(float64[:], float64[:])"], "(n)->(n)"):

        @decorate
        def halves(x, out):
            for i in range(x.size):
                out[i] = x[i] / 2

        for dtype in ("int64", "bool", "uint8"):
            out = np.full(3, 1, dtype)
            with pytest.raises(TypeError):
                halves(np.arange(3.0), out=out)
            assert (out == 1).all()
        narrow = np.zeros(3, np.float32)
        assert halves(np.arange(3.0), out=narrow) is narrow and narrow.tolist() == [0, 0.5, 1]


LAYOUTS = {
    "(n)->(n)": (["void(float64[:], float64[:])"], lambda x: np.cumsum(x, axis=-1)),
    "(n)->(),()": (["void(float64[:], float64[:], float64[:])"], lambda x: (x.min(-1), x.max(-1))),
    "(m,n),(n,p)->(m,p)": (["void(float64[:, :], float64[:, :], float64[:, :])"], np.matmul),
}


def running(x, out):
    total = 0.0
    for i in range(x.size):
        total += x[i]
        out[i] = total


def extremes(x, low, high):
    low[0] = high[0] = x[0]
    for i in range(1, x.size):
        low[0], high[0] = min(low[0], x[i]), max(high[0], x[i])


def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("layout, function", list(zip(LAYOUTS, (running, extremes, product))))
def test_operands_of_any_kind_on_three_targets(layout, function):
    rng, (signatures, expected) = np.random.default_rng(5), LAYOUTS[layout]
    shapes = [((5,),), ((3, 4),), ((2, 3, 4),), ((0, 4),)]
    if layout.startswith("(m"):
        shapes = [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((4, 1, 2, 3), (5, 3, 2)), ((2, 0), (0, 3)), ((0, 2), (2, 3))]
    for decorate in of_three_targets(signatures, layout):
        compiled = decorate(function)
        for given in shapes:
            plain = [rng.integers(0, 9, shape) * 1.0 for shape in given]
            kinds = [plain, [x.astype("i4") for x in plain], [np.asfortranarray(x) for x in plain],
                     [x.astype(">f8") for x in plain], [np.repeat(x, 2, -1)[..., ::2] for x in plain],
                     [x[..., ::-1].copy()[..., ::-1] for x in plain], [unaligned(x) for x in plain]]  # fmt: skip
            for operands in kinds:
                ours, theirs = compiled(*operands), expected(*plain)
                for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (ours, theirs))):
                    assert np.shape(one) == np.shape(other)
                    np.testing.assert_array_equal(one, other)


def unaligned(x):
    bytes_of = np.zeros(x.nbytes + 1, np.uint8)[1:]
    moved = bytes_of.view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


def test_a_result_may_be_the_operand_or_overlap_it():
    for decorate in of_three_targets(["void(float64[:], float64[:])"], "(n)->(n)"):
        compiled, x = decorate(running), np.arange(12.0)
        assert (compiled(x[:-1], out=x[1:]) == np.cumsum(np.arange(11.0))).all()
        x = np.arange(12.0).reshape(3, 4)
        assert (compiled(x, out=x) == np.cumsum(np.arange(12.0).reshape(3, 4), -1)).all()


def test_functions_of_numpys_libraries_only_read_what_they_are_given():
    def times(a, b, out):
        out[:] = a @ b

    def inverse(a, out):
        out[:] = np.linalg.inv(a)

    def length(a, out):
        out[0] = np.linalg.norm(np.linalg.solve(a, a[0]))

    square = np.random.default_rng(2).random((2, 3, 3)) + np.eye(3)
    matrix, before = "float64[:, :]", square.copy()
    for target in ("cpu", "parallel"):
        product = guvectorize([f"void({matrix}, {matrix}, {matrix})"], "(m,n),(n,p)->(m,p)", target=target)(times)
        np.testing.assert_array_equal(product(square, square), square @ square)
        inverted = guvectorize([f"void({matrix}, {matrix})"], "(m,m)->(m,m)", target=target)(inverse)
        np.testing.assert_array_equal(inverted(square), np.linalg.inv(square))
        lengths = guvectorize([f"void({matrix}, float64[:])"], "(m,m)->()", target=target)(length)
        np.testing.assert_allclose(lengths(square), [np.linalg.norm(np.linalg.solve(a, a[0])) for a in square])
        np.testing.assert_array_equal(square, before)

    def result_into_input(a, out):
        np.dot(out, out, a)

    with pytest.raises(errors.TypingError, match="writes to its parameter 'a'"):
        guvectorize([f"void({matrix}, {matrix})"], "(m,m)->(m,m)")(result_into_input)


class Own:
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.signature, method, len(inputs), sorted(keywords)


class Marked(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return "marked"


class Refuses:
    __array_ufunc__ = None


@pytest.mark.parametrize("signatures", [["void(float64[:], float64[:])"], None])
def test_operands_decide_for_themselves(signatures):
    given = (signatures, "(n)->(n)") if signatures else ("(n)->(n)",)
    for decorate in of_three_targets(*given):
        function, x = decorate(running), np.arange(3.0)
        assert function(Own()) == ("(n)->(n)", "__call__", 1, [])
        assert function(x, out=Own()) == function(x, out=(Own(),)) == ("(n)->(n)", "__call__", 1, ["out"])
        assert function(Own(), axis=0) == ("(n)->(n)", "__call__", 1, ["axis"])
        assert function(x.view(Marked)) == "marked"
        with pytest.raises(TypeError):
            function(Refuses(), out=x)
        assert function(x, x.copy()).tolist() == [0, 1, 3]
