"""Products of vectors, matrices and stacks of them, by the inner loops of NumPy's matmul, vecdot, matvec and vecmat.

NumPy's loops call the BLAS that NumPy carries, so that a product has the bits that NumPy's has."""

import numpy as np

from krait import _krait
from krait.prelude.grids import joint_shape
from krait.prelude.intrinsics import numpy_loop, shape_text
from krait.prelude.shaping import check_order, lies_together

for _name in ("matmul", "vecdot", "matvec", "vecmat"):
    if hasattr(np, _name):  # the last two since NumPy 2.2
        _krait.bind_numpy_loops(_name, getattr(np, _name))
for _name in ("vecdot", "matvec", "vecmat"):
    if hasattr(np, _name):  # vecdot since NumPy 2.0, the others since 2.2
        _krait.bind_numpy_loops(_name, getattr(np, _name))

_MISMATCH = "has a mismatch in its core dimension 0, with gufunc signature"
_TOO_FEW = "does not have enough dimensions (has "
_CORE = "gufunc core with signature"


def of_dtype(a, dtype):
    if a.dtype == dtype:
        return a
    return a.astype(dtype)


# ---- products ----


def product(a, b):
    # A vector is a matrix of one row on the left, of one column on the right.
    rows = a.shape[0] if a.ndim == 2 else 1
    inner = a.shape[a.ndim - 1]
    columns = b.shape[1] if b.ndim == 2 else 1
    if inner != b.shape[0]:
        raise ValueError(
            f"matmul: Input operand 1 {_MISMATCH} (n?,k),(k,m?)->(n?,m?) (size {b.shape[0]} is different from {inner})"
        )
    out = np.empty((rows, columns), a.dtype)
    steps = a.strides if a.ndim == 2 else (0, a.strides[0])
    steps += b.strides if b.ndim == 2 else (b.strides[0], 0)
    numpy_loop("matmul", (1, rows, inner, columns), (0, 0, 0) + steps + out.strides, 2, a, b, out)
    if a.ndim == 2 and b.ndim == 2:
        return out
    if a.ndim == 2 or b.ndim == 2:
        return out.reshape(out.size)
    return out[0, 0]


def matmul(a, b, out=None, *, casting="same_kind", order="K", dtype=None, subok=True):
    a = np.asarray(a)
    b = np.asarray(b)
    check_order(order)
    if out is None and order == "F":
        return np.asfortranarray(matmul(a, b, None, casting=casting, dtype=dtype))
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(
            f"matmul: Input operand {0 if a.ndim == 0 else 1} does not have enough dimensions "
            "(has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    if dtype is None:
        x = _matmul(of_dtype(a, np.result_type(a, b)), of_dtype(b, np.result_type(a, b)))
    else:
        x = _matmul(_input("matmul", 0, a, dtype, casting), _input("matmul", 1, b, dtype, casting))
    if out is None:
        return x
    _check_matrices(np.shape(x), (a.ndim > 1) + (b.ndim > 1), out)
    np.copyto(out, x, casting)
    return out


def _input(name, i, a, dtype, casting):
    # An operand of the type that dtype= asks for.
    if not np.can_cast(a.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc '{name}' input {i} from dtype('{a.dtype.name}') to dtype('{np.dtype(dtype).name}') "
            f"with casting rule '{casting}'"
        )
    return of_dtype(a, np.dtype(dtype))


def _inputs(name, a, b, dtype, casting):
    if dtype is None:
        return of_dtype(a, np.result_type(a, b)), of_dtype(b, np.result_type(a, b))
    return _input(name, 0, a, dtype, casting), _input(name, 1, b, dtype, casting)


def _given(x, out, casting, order):
    # The result, where it is asked for, in the order that is asked for.
    check_order(order)
    if out is None:
        if order == "F" and np.ndim(x) > 1:
            return np.asfortranarray(x)
        return x
    if np.ndim(x) > out.ndim:
        raise ValueError(
            "output operand requires a reduction along dimension -1, but the reduction is not enabled. The dimension "
            "size of 1 does not match the expected output shape."
        )
    np.copyto(out, x, casting)
    return out


def _check_vector(name, signature, m, out):
    if out is None:
        return
    if out.ndim == 0:
        raise ValueError(
            f"{name}: Output operand 0 does not have enough dimensions (has 0, gufunc core with signature {signature} "
            "requires 1)"
        )
    if out.shape[-1] != m:
        raise ValueError(
            f"{name}: Output operand 0 has a mismatch in its core dimension 0, with gufunc signature {signature} "
            f"(size {out.shape[-1]} is different from {m})"
        )


def _check_matrices(shape, core, out):
    # `out` has the product's own axes; of others that it has each place takes a product.
    own = min(core, out.ndim)
    for i in range(own):
        n, m = out.shape[out.ndim - own + i], shape[len(shape) - own + i]
        if n != m:
            raise ValueError(
                f"matmul: Output operand 0 has a mismatch in its core dimension {i}, with gufunc signature "
                f"(n?,k),(k,m?)->(n?,m?) (size {n} is different from {m})"
            )
    if own < core:
        raise ValueError(
            "output operand requires a reduction along dimension -1, but the reduction is not enabled. The dimension "
            "size of 1 does not match the expected output shape."
        )


def dotted(x, out):
    # What np.dot gives: `out` is what np.dot would have made itself.
    if out is None:
        return x
    if np.ndim(x) != out.ndim or np.result_type(x) != out.dtype or not lies_together(out, "C"):
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    if np.shape(x) != out.shape:
        raise ValueError("output array has wrong dimensions")
    np.copyto(out, x)
    return out[()] if out.ndim == 0 else out


def _matmul(a, b):
    if a.ndim < 3 and b.ndim < 3:
        return product(a, b)
    if a.ndim == 1:
        return _matmul(a[None, :], b)[..., 0, :]
    if b.ndim == 1:
        return _matmul(a, b[:, None])[..., 0]
    inner = a.shape[a.ndim - 1]
    if inner != b.shape[b.ndim - 2]:
        raise ValueError(
            f"matmul: Input operand 1 {_MISMATCH} (n?,k),(k,m?)->(n?,m?) (size {b.shape[b.ndim - 2]} is different "
            f"from {inner})"
        )
    stack = joint_shape(a.shape[:-2], b.shape[:-2])
    out = np.empty(stack + (a.shape[a.ndim - 2], b.shape[b.ndim - 1]), a.dtype)
    _products(np.broadcast_to(a, stack + a.shape[-2:]), np.broadcast_to(b, stack + b.shape[-2:]), out)
    return out


def _products(a, b, out):
    # Of stacks of matrices.
    if out.ndim == 3:
        steps = (a.strides[0], b.strides[0], out.strides[0]) + a.strides[1:] + b.strides[1:] + out.strides[1:]
        numpy_loop("matmul", (out.shape[0], a.shape[1], a.shape[2], b.shape[2]), steps, 2, a, b, out)
    else:
        for i in range(out.shape[0]):
            _products(a[i], b[i], out[i])


def matmul_in_place(a, b):
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and the second at least "
            "two dimensions."
        )
    new = matmul(a, b)
    if new.shape != a.shape:
        raise ValueError(
            "matmul: Output operand 0 has a mismatch in its core dimension 1, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {a.shape[-1]} is different from {new.shape[-1]})"
        )
    np.copyto(a, new)
    return a


def dot(a, b, out=None):
    a = np.asarray(a)
    b = np.asarray(b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        if out is not None and not _is_scaled_by_blas(a, b):
            return np.multiply(a, b, out)
        return dotted(_scaled(a, b), out)
    dtype = np.result_type(a, b)
    return dotted(_dot(of_dtype(a, dtype), of_dtype(b, dtype)), out)


def _is_scaled_by_blas(a, b):
    dtype = np.dtype(np.result_type(a, b))
    return a.ndim < 3 and b.ndim < 3 and (dtype.kind == "c" or dtype.kind == "f" and dtype.itemsize > 2)


def _scaled(a, b):
    # BLAS adds multiples of lines and matrices to zeros: -0.0 is none of the results.
    x = np.multiply(a, b)
    if np.ndim(x) > 0 and _is_scaled_by_blas(a, b):
        if x.size > 1:
            x += x.dtype.type(0)
    return x


def _dot(a, b):
    if a.ndim < 3 and b.ndim < 3:
        if a.shape[a.ndim - 1] != b.shape[0]:
            _not_aligned(a.shape, b.shape)
        return product(a, b)
    # The last axis of a with the last but one of b; each as a matrix.
    inner = a.shape[a.ndim - 1]
    if b.ndim == 1:
        if inner != len(b):
            _not_aligned(a.shape, b.shape)
        return product(a.reshape((a.size // max(inner, 1), inner)), b).reshape(a.shape[:-1])
    y = np.moveaxis(b, -2, 0)
    if inner != y.shape[0]:
        _not_aligned(a.shape, b.shape)
    rows = a.reshape((a.size // max(inner, 1), inner))
    columns = y.reshape((inner, b.size // max(inner, 1)))
    return product(rows, columns).reshape(a.shape[:-1] + y.shape[1:])


def _not_aligned(a, b):
    n, m, at = a[len(a) - 1], b[max(len(b) - 2, 0)], max(len(b) - 2, 0)
    raise ValueError(
        f"shapes {shape_text(a)} and {shape_text(b)} not aligned: {n} (dim {len(a) - 1}) != {m} (dim {at})"
    )


def vdot(a, b):
    dtype = np.result_type(a, b)
    x = of_dtype(np.ravel(np.asarray(a)), dtype)
    y = of_dtype(np.ravel(np.asarray(b)), dtype)
    if x.size != y.size:
        raise ValueError(f"cannot reshape array of size {y.size} into shape ({x.size},)")
    if x.dtype.kind == "c":
        return product(np.conjugate(x), y)
    return product(x, y)


def inner(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _scaled(a, b)
    if b.ndim < 3:
        return dot(a, b.T)
    return dot(a, np.moveaxis(b, -1, -2))


def outer(a, b, out=None):
    x = np.ravel(np.asarray(a))
    y = np.ravel(np.asarray(b))
    if out is None:
        return np.multiply(x[:, None], y)
    return np.multiply(x[:, None], y[None, :], out)


# ---- products of each two of a stack ----


def _check_core(name, signature, has, wants):
    if has != wants:
        raise ValueError(
            f"{name}: Input operand 1 {_MISMATCH} {signature} (size {has} is "
            f"different from {wants})"
        )


def _each(name, x, y, out, sizes):
    # The last axis of out is the product's; it is of length 1 where the product is a number.
    if out.ndim == 1:
        numpy_loop(name, (1,) + sizes, (0, 0, 0) + x.strides + y.strides + out.strides, 2, x, y, out)
    else:
        for i in range(len(out)):
            _each(name, x[i], y[i], out[i], sizes)


def vecdot(a, b, out=None, *, axis=-1, keepdims=False, casting="same_kind", order="K", dtype=None, subok=True):
    a = np.asarray(a)
    b = np.asarray(b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        operand = 0 if np.ndim(a) == 0 else 1
        raise ValueError(f"vecdot: Input operand {operand} {_TOO_FEW}0, {_CORE} (n),(n)->() requires 1)")
    if axis != -1:
        x = _dot_of_lines(np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1), dtype, casting)
    else:
        x = _dot_of_lines(a, b, dtype, casting)
    if keepdims:
        return _given(np.moveaxis(x, -1, axis), out, casting, order)
    return _given(x[..., 0] if x.ndim > 1 else x[0], out, casting, order)


def _dot_of_lines(a, b, dtype, casting):
    # The last axis is one of length 1.
    n = a.shape[a.ndim - 1]
    _check_core("vecdot", "(n),(n)->()", b.shape[b.ndim - 1], n)
    stack = joint_shape(a.shape[:-1], b.shape[:-1])
    x, y = _inputs("vecdot", a, b, dtype, casting)
    new = np.empty(stack + (1,), x.dtype)
    _each("vecdot", np.broadcast_to(x, stack + (n,)), np.broadcast_to(y, stack + (n,)), new, (n,))
    return new


def matvec(a, b, out=None, *, casting="same_kind", order="K", dtype=None, subok=True):
    a = np.asarray(a)
    b = np.asarray(b)
    if np.ndim(a) < 2:
        raise ValueError(f"matvec: Input operand 0 {_TOO_FEW}{np.ndim(a)}, {_CORE} (m,n),(n)->(m) requires 2)")
    if np.ndim(b) == 0:
        raise ValueError(f"matvec: Input operand 1 {_TOO_FEW}0, {_CORE} (m,n),(n)->(m) requires 1)")
    m, n = a.shape[-2:]
    _check_core("matvec", "(m,n),(n)->(m)", b.shape[b.ndim - 1], n)
    _check_vector("matvec", "(m,n),(n)->(m)", m, out)
    stack = joint_shape(a.shape[:-2], b.shape[:-1])
    x, y = _inputs("matvec", a, b, dtype, casting)
    new = np.empty(stack + (m,), x.dtype)
    _each("matvec", np.broadcast_to(x, stack + (m, n)), np.broadcast_to(y, stack + (n,)), new, (m, n))
    return _given(new, out, casting, order)


def vecmat(a, b, out=None, *, casting="same_kind", order="K", dtype=None, subok=True):
    a = np.asarray(a)
    b = np.asarray(b)
    if np.ndim(a) == 0:
        raise ValueError(f"vecmat: Input operand 0 {_TOO_FEW}0, {_CORE} (n),(n,m)->(m) requires 1)")
    if np.ndim(b) < 2:
        raise ValueError(f"vecmat: Input operand 1 {_TOO_FEW}{np.ndim(b)}, {_CORE} (n),(n,m)->(m) requires 2)")
    n, m = b.shape[-2:]
    _check_core("vecmat", "(n),(n,m)->(m)", n, a.shape[a.ndim - 1])
    _check_vector("vecmat", "(n),(n,m)->(m)", m, out)
    stack = joint_shape(a.shape[:-1], b.shape[:-2])
    x, y = _inputs("vecmat", a, b, dtype, casting)
    new = np.empty(stack + (m,), x.dtype)
    _each("vecmat", np.broadcast_to(x, stack + (n,)), np.broadcast_to(y, stack + (n, m)), new, (n, m))
    return _given(new, out, casting, order)
