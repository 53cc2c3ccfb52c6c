"""krait.carray and krait.farray: memory behind a pointer as an array."""

from krait.prelude.intrinsics import packed, reinterpreted


def carray(ptr, shape, dtype=None):
    return behind(ptr, shape, dtype, "C")


def farray(ptr, shape, dtype=None):
    return behind(ptr, shape, dtype, "F")


def behind(ptr, shape, dtype, order):
    if not isinstance(shape, tuple):
        return behind(ptr, (shape,), dtype, order)
    if dtype is None:
        return packed(ptr, shape, 0, order)
    return packed(reinterpreted(ptr, dtype, 0), shape, 0, order)
