"""The keywords signature, dtype and casting of guvectorize: on the device as NumPy itself does it on the host, errors
included."""

import numpy as np
import pytest
from krait import cuda, guvectorize


def made(target):
    @guvectorize(["void(float32[:], float32[:])", "void(float64[:], float64[:])"], "(n)->()", target=target)
    def total(x, out):
        out[0] = 0
        for i in range(x.size):
            out[0] += x[i]

    return total


TARGETS = {target: made(target) for target in ("cpu", "parallel", "cuda")}
ASKED = [
    {"signature": "d->d"}, {"signature": "f->f"}, {"signature": (np.float32, None)}, {"signature": (None, "f8")},
    {"dtype": "f8"}, {"dtype": np.float32}, {"casting": "same_kind"}, {"casting": "no"}, {"casting": "unsafe"},
    {"signature": "i->i"}, {"signature": "dd->d"}, {"dtype": "f4", "casting": "safe"}, {"dtype": "f4", "axis": 0},
    {"dtype": "f8", "signature": "d->d"}, {"dtype": "c16"}, {"casting": "whatever"},
    {"signature": "f->f", "casting": "unsafe", "axis": 0, "keepdims": True},
]  # fmt: skip


def outcome(function, x, keywords):
    try:
        result = function(x, **keywords)
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError
    return result.dtype.name, result.tolist() if isinstance(result, np.ndarray) else np.asarray(result).tolist()


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("keywords", ASKED, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i8", "c16"])
def test_the_loop_that_is_asked_for_is_taken(keywords, dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    wanted = outcome(TARGETS["cpu"], x, keywords)
    assert outcome(TARGETS["parallel"], x, keywords) == wanted
    assert outcome(TARGETS["cuda"], x, keywords) == wanted
    assert outcome(TARGETS["cuda"], cuda.to_device(x), keywords) == wanted
