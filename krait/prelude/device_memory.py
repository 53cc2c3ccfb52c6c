"""Memory of a block whose size the launch decides, and memory behind pointers: the views that kernels take of it."""

import numpy as np

from krait import cuda
from krait.prelude.intrinsics import packed


def count_of(shape):
    count = 1
    for n in shape:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
        count *= n
    return count


def dynamic(shape, dtype, offset=0):
    if not isinstance(shape, tuple):
        return dynamic((shape,), dtype, offset)
    size = np.dtype(dtype).itemsize
    memory = cuda.shared.array(0, np.uint8)
    end = offset + count_of(shape) * size
    if offset < 0 or offset % size != 0:
        raise ValueError(f"an array of items of {size} bytes cannot begin at byte {offset}")
    if end > memory.size:
        raise ValueError(
            f"the dynamic shared memory has {memory.size} bytes, and this array ends at byte {end}: the fourth "
            "number of kernel[grid, block, stream, bytes] says how many a block has"
        )
    return packed(memory[offset:end].view(dtype), shape, 0, "C")
