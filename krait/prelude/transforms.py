"""numpy.fft, by the inner loops of NumPy's own transforms, so that a result has the bits that NumPy's has."""

import numpy as np
from numpy.fft import _pocketfft_umath

from krait import _krait
from krait.prelude.intrinsics import numpy_loop, strided, with_item
from krait.prelude.joining import axis_of

for _name in ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft"):
    _krait.bind_numpy_loops(_name, getattr(_pocketfft_umath, _name))


def _norms():
    """NumPy's words for the norms that there are, which its versions write differently."""
    try:
        np.fft.fft(np.zeros(1), norm="?")
    except ValueError as error:
        return str(error).partition("; ")[2]


_NORMS = _norms()


def _of_dtype(a, dtype):
    if a.dtype == dtype:
        return a
    return a.astype(dtype)


def _swapped(norm):
    if norm is None or norm == "backward":
        return "forward"
    if norm == "ortho":
        return "ortho"
    if norm == "forward":
        return "backward"
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def _inner(a, norm, kind):
    # The type of real numbers to compute in.  NumPy computes in float64 what is not scaled, and what is not of the kind
    # of numbers that its loop takes.
    if norm is None or norm == "backward" or a.dtype.kind != kind:
        return np.dtype(np.float64)
    return np.result_type(a.real, 1.0)


def _factor(a, n, norm, dtype):
    factor = np.empty(1, dtype)
    real = np.result_type(a.real, 1.0)
    if norm is None or norm == "backward":
        factor[0] = 1
    elif norm == "ortho":
        factor[0] = np.reciprocal(np.sqrt(real.type(n)))
    elif norm == "forward":
        factor[0] = np.reciprocal(real.type(n))
    else:
        raise ValueError(f"Invalid norm value {norm}; {_NORMS}")
    return factor


def _to_end(a, axis):
    # A view with the axis and the last one swapped.
    last = a.ndim - 1
    shape = with_item(with_item(a.shape, axis, a.shape[last]), last, a.shape[axis])
    strides = with_item(with_item(a.strides, axis, a.strides[last]), last, a.strides[axis])
    return strided(a, 0, shape, strides)


def _transform(name, a, factor, out):
    # Each line of the last axis.
    if a.ndim == 1:
        numpy_loop(name, (1, a.shape[0], out.shape[0]), (0, 0, 0) + a.strides + out.strides, 2, a, factor, out)
    elif a.ndim == 2:
        steps = (a.strides[0], 0, out.strides[0], a.strides[1], out.strides[1])
        numpy_loop(name, (a.shape[0], a.shape[1], out.shape[1]), steps, 2, a, factor, out)
    else:
        for i in range(a.shape[0]):
            _transform(name, a[i], factor, out[i, ...])


def _new(a, axis, n, dtype):
    return np.empty_like(a, dtype, "K", True, with_item(a.shape, axis, n))


def _check(n):
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")


def _given(x, dtype, out, along):
    # The result, in the array for it if there is one.
    if out is None:
        return _of_dtype(x, dtype)
    if out.ndim != x.ndim or out.shape[along] != x.shape[along]:
        raise ValueError("output array has wrong shape.")
    np.copyto(out, x, "same_kind")
    return out


def _complex(a, n, axis, norm, out, forward):
    along = axis_of(axis, a.ndim)
    length = a.shape[along] if n is None else n
    _check(length)
    if not forward:
        return _transformed("ifft", a, length, along, _swapped(norm), out)
    return _transformed("fft", a, length, along, norm, out)


def _transformed(name, a, length, along, norm, out):
    inner = _inner(a, norm, "c")
    x = _of_dtype(a, np.result_type(inner, 1j))
    new = _new(a, along, length, x.dtype)
    _transform(name, _to_end(x, along), _factor(a, length, norm, inner), _to_end(new, along))
    return _given(new, np.result_type(a.real, 1j), out, along)


def fft(a, n=None, axis=-1, norm=None, out=None):
    return _complex(np.asarray(a), n, axis, norm, out, True)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    return _complex(np.asarray(a), n, axis, norm, out, False)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    a = np.asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("rfft takes real numbers; use fft")
    along = axis_of(axis, a.ndim)
    length = a.shape[along] if n is None else n
    _check(length)
    inner = _inner(a, norm, "f")
    factor = _factor(a, length, norm, inner)
    x = _of_dtype(a, inner)
    new = _new(a, along, length // 2 + 1, np.result_type(inner, 1j))
    if length % 2 == 0:
        _transform("rfft_n_even", _to_end(x, along), factor, _to_end(new, along))
    else:
        _transform("rfft_n_odd", _to_end(x, along), factor, _to_end(new, along))
    return _given(new, np.result_type(a, 1j), out, along)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    a = np.asarray(a)
    along = axis_of(axis, a.ndim)
    length = (a.shape[along] - 1) * 2 if n is None else n
    _check(length)
    swapped = _swapped(norm)
    inner = _inner(a, swapped, "c")
    x = _of_dtype(a, np.result_type(inner, 1j))
    new = _new(a, along, length, inner)
    _transform("irfft", _to_end(x, along), _factor(a, length, swapped, inner), _to_end(new, along))
    return _given(new, np.result_type(a.real, 1.0), out, along)


def hfft(a, n=None, axis=-1, norm=None, out=None):
    a = np.asarray(a)
    length = (a.shape[axis] - 1) * 2 if n is None else n
    return irfft(np.conjugate(a), length, axis, _swapped(norm))  # NumPy leaves out= as it is


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    x = rfft(a, n, axis, _swapped(norm), out)
    return np.conjugate(x, out)


# ---- along several axes ----


def _lengths(a, s, axes):
    # The lengths and the axes as tuples of one length.
    if axes is not None:
        if s is not None:
            if len(s) != len(axes):
                raise ValueError("Shape and axes have different lengths.")
            return s, axes
        return _extents(a.shape, axes), axes
    if s is not None:
        return s, _last(a.shape, s)
    return a.shape, _last(a.shape, a.shape)


def _extents(shape, axes):
    lengths = axes
    for i in range(len(axes)):
        lengths = with_item(lengths, i, shape[axis_of(axes[i], len(shape))])
    return lengths


def _last(shape, s):
    # The last axes, as many as s has.
    axes = s
    for i in range(len(s)):
        axes = with_item(axes, i, len(shape) - len(s) + i)
    return axes


def _length(a, n, axis):
    return a.shape[axis_of(axis, a.ndim)] if n == -1 else n


def _complex_many(a, s, axes, norm, out, forward):
    lengths, places = _lengths(a, s, axes)
    if len(lengths) == 0:
        return _of_dtype(a, np.result_type(a.real, 1j))
    last = len(lengths) - 1
    x = _complex(a, _length(a, lengths[last], places[last]), places[last], norm, out, forward)
    for i in range(last - 1, -1, -1):
        x = _complex(x, _length(x, lengths[i], places[i]), places[i], norm, out, forward)
    return x


def fftn(a, s=None, axes=None, norm=None, out=None):
    return _complex_many(np.asarray(a), s, axes, norm, out, True)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    return _complex_many(np.asarray(a), s, axes, norm, out, False)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _complex_many(np.asarray(a), s, axes, norm, out, True)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _complex_many(np.asarray(a), s, axes, norm, out, False)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    a = np.asarray(a)
    lengths, places = _lengths(a, s, axes)
    last = len(lengths) - 1
    x = rfft(a, _length(a, lengths[last], places[last]), places[last], norm, out)
    for i in range(last - 1, -1, -1):
        x = fft(x, _length(x, lengths[i], places[i]), places[i], norm, out)
    return x


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn(a, s, axes, norm, out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    a = np.asarray(a)
    lengths, places = _lengths(a, s, axes)
    last = len(lengths) - 1
    n = lengths[last]
    if s is None:
        n = (a.shape[axis_of(places[last], a.ndim)] - 1) * 2
    x = _of_dtype(a, np.result_type(a.real, 1j))
    for i in range(last):
        x = ifft(x, _length(x, lengths[i], places[i]), places[i], norm)
    return irfft(x, n, places[last], norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn(a, s, axes, norm)  # NumPy leaves out= as it is


# ---- frequencies ----


def fftfreq(n, d=1.0):
    step = 1.0 / (n * d)
    frequencies = np.empty(n)
    for i in range(n):
        frequencies[i] = (i if i < (n - 1) // 2 + 1 else i - n) * step
    return frequencies


def rfftfreq(n, d=1.0):
    step = 1.0 / (n * d)
    frequencies = np.empty(n // 2 + 1)
    for i in range(n // 2 + 1):
        frequencies[i] = i * step
    return frequencies


def _shifted(x, axes, back):
    if axes is None:
        return _shifted(x, _last(x.shape, x.shape), back)
    if not isinstance(axes, tuple):
        return _shifted(x, (axes,), back)
    new = np.array(x)
    for axis in axes:
        half = x.shape[axis_of(axis, x.ndim)] // 2
        new = np.roll(new, -half if back else half, axis)
    return new


def fftshift(x, axes=None):
    return _shifted(np.asarray(x), axes, False)


def ifftshift(x, axes=None):
    return _shifted(np.asarray(x), axes, True)
