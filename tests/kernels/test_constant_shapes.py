"""Shapes of shared and local arrays from what is known when a kernel is compiled."""

import numpy as np
import pytest

from krait import cuda

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
