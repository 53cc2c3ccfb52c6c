"""What the files of tests with whole programs of kernels share: comparisons in few words, and the smallest kernel."""

import numpy as np
import pytest

from krait import cuda


def eq(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def close(a, b, **tolerances):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), **tolerances)


def raises(exception, function, *args):
    with pytest.raises(exception) as caught:
        function(*args)
    return caught.value


@cuda.jit
def inc(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1
