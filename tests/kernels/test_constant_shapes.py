"""Shapes of shared and local arrays from what is known when a kernel is compiled."""

import numpy as np
import pytest

from krait import cuda, errors

WEIGHTS = np.arange(12.0).reshape(3, 4)
TILE = 16
SMALL = np.int32(5)
SHAPE = (2, TILE)


@pytest.mark.parametrize("text, shape", [
    ("WEIGHTS.size", (12,)), ("WEIGHTS.shape", (3, 4)), ("WEIGHTS.shape[1] + 1", (5,)), ("len(WEIGHTS)", (3,)),
    ("(TILE * 2, TILE // 4)", (32, 4)), ("SMALL", (5,)), ("SHAPE", (2, 16)), ("(len(SHAPE), WEIGHTS.ndim)", (2, 2)),
])
@pytest.mark.parametrize("memory", ["shared", "local"])
def test_shapes(memory, text, shape):
    scope = {"cuda": cuda, "np": np, "WEIGHTS": WEIGHTS, "TILE": TILE, "SMALL": SMALL, "SHAPE": SHAPE}
    exec(f"def kernel(out):\n    a = cuda.{memory}.array({text}, dtype=WEIGHTS.dtype)\n    out[0] = a.ndim\n"
         "    k = 1\n    for extent in a.shape:\n        out[k] = extent\n        k += 1\n", scope)
    out = np.zeros(4, np.int64)
    cuda.jit(scope["kernel"])[1, 1](out)
    assert out[: 1 + len(shape)].tolist() == [len(shape), *shape]


@pytest.mark.parametrize("call, message", [
    ("shared.array(2**31 // 8, np.float64)", "krait.cuda.shared.array is at most 2147483647 bytes"),
    ("local.array((2**20, 2**20, 2**30), np.float64)", "krait.cuda.local.array is at most 2147483647 bytes"),
    ("shared.array(8, np.float64, alignment=8192)", "the alignment is at most 4096, not 8192"),
    ("local.array(8, np.float64, alignment=24)", "the alignment must be a power of two, not 24"),
])
def test_refused_requests(call, message):
    scope = {"cuda": cuda, "np": np}
    exec(f"def kernel(out):\n    a = cuda.{call}\n    out[0] = a.ndim\n", scope)
    with pytest.raises(errors.TypingError, match=message):
        cuda.jit(scope["kernel"])[1, 1](np.zeros(1))


@pytest.mark.parametrize("alignment", [1, 16, 256, 4096])
def test_alignments(alignment):
    @cuda.jit
    def kernel(out):
        a = cuda.shared.array(3, np.int8)
        b = cuda.shared.array(2, np.float64, alignment)
        a[0], b[0], b[1] = 1, 2, 3
        out[0] = a[0] + b[0] + b[1]

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 6
