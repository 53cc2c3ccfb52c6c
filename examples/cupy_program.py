"""A CuPy program with kernels in Krait: histogram equalisation.  CuPy makes the cumulative sums, Krait counts and maps;
arrays go both ways without copies.  Without CuPy, or without a GPU, the same kernels run on NumPy's arrays.

    python examples/cupy_program.py
"""

import numpy as np

from krait import cuda

try:
    import cupy
except ImportError:
    cupy = None

BINS, THREADS, BLOCKS = 256, 256, 512


@cuda.jit
def count(image, bins):
    """Each block counts in shared memory, and adds up at its end."""
    own = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), image.size, cuda.gridsize(1)):
        cuda.atomic.add(own, image[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, own[t])


@cuda.jit
def map_through(image, table, out):
    for i in range(cuda.grid(1), image.size, cuda.gridsize(1)):
        out[i] = table[image[i]]


def library():
    """CuPy where there is a GPU for both, else NumPy."""
    return cupy if cupy and cuda.is_available() and cupy.cuda.is_available() else np


def equalised(xp, image):
    bins = xp.zeros(BINS, xp.int32)
    count[BLOCKS, THREADS](image, bins)
    shares = xp.cumsum(bins) / image.size
    table = xp.rint(255 * shares).astype(xp.uint8)
    out = xp.empty_like(image)
    map_through[BLOCKS, THREADS](image, table, out)
    return out


def expected(image):
    shares = np.cumsum(np.bincount(image, minlength=BINS)) / image.size
    return np.rint(255 * shares).astype(np.uint8)[image]


def main(pixels=1 << 22):
    xp = library()
    image = (np.random.default_rng(0).beta(2, 8, pixels) * 255).astype(np.uint8)
    result = equalised(xp, xp.asarray(image))
    got = result if xp is np else cupy.asnumpy(result)
    assert (got == expected(image)).all()
    print(f"{pixels} pixels with {xp.__name__}: equalised as NumPy does it")


if __name__ == "__main__":
    main()
