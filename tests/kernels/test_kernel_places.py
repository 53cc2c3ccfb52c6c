"""cuda.threadIdx, blockIdx, blockDim and gridDim as values."""

import numpy as np

from krait import cuda, types


@cuda.jit(device=True)
def number_of(thread, block, size):
    return block.x * size.x + thread.x


def test_device_functions_take_them():
    @cuda.jit
    def k(out):
        out[number_of(cuda.threadIdx, cuda.blockIdx, cuda.blockDim)] = cuda.gridDim.x

    out = np.zeros(12, np.int32)
    k[3, 4](out)
    assert out.tolist() == [3] * 12


def test_they_are_tuples_of_three():
    @cuda.jit
    def k(out):
        places = (cuda.threadIdx, cuda.blockIdx)
        block, thread = cuda.blockIdx if places[0].x > 0 else cuda.threadIdx, places[0]
        i, j, _ = thread
        width, height, depth = cuda.blockDim
        across, down, _ = cuda.gridDim
        out[cuda.blockIdx.x, i, j, 0] = block[0]
        out[cuda.blockIdx.x, i, j, 1] = width + 10 * height + 100 * depth + 1000 * across + 10000 * down

    out = np.zeros((2, 3, 2, 2), np.int64)
    k[2, (3, 2)](out)
    expected = np.empty_like(out)
    for block, i, j in np.ndindex(2, 3, 2):
        expected[block, i, j] = (block if i > 0 else 0), 12123
    assert out.tolist() == expected.tolist()


def test_print_shows_three_numbers(capsys):
    @cuda.jit
    def k():
        if cuda.grid(1) == 5:
            print("at", cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim)

    k[2, 4]()
    cuda.synchronize()
    assert capsys.readouterr().out == "at (1, 0, 0) (1, 0, 0) (4, 1, 1) (2, 1, 1)\n"


def test_nothing_is_paid_for_them():
    def by_values(out):
        out[number_of(cuda.threadIdx, cuda.blockIdx, cuda.blockDim)] = 1

    def by_names(out):
        out[cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x] = 1

    texts = [cuda.compile_ptx(f, (types.int32[::1],), cc=(9, 0))[0] for f in (by_values, by_names)]
    made, read = (sorted(line.split()[0] for line in text.splitlines() if line.endswith(";")) for text in texts)
    assert made == read
