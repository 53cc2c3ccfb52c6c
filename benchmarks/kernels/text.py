"""Bytes of text: letters made small, words counted, a pattern looked for, numbers read."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void small_letters(const unsigned char *__restrict__ text, unsigned char *__restrict__ out,
                                         int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char c = text[i];
    out[i] = c >= 'A' && c <= 'Z' ? c + 32 : c;
}

extern "C" __global__ void find_pattern(const unsigned char *__restrict__ text,
                                        const unsigned char *__restrict__ pattern, int *__restrict__ found, int n,
                                        int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - length) return;
    int k = 0;
    while (k < length && text[i + k] == pattern[k]) k++;
    found[i] = k == length;
}

extern "C" __global__ void read_numbers(const unsigned char *__restrict__ text, const int *__restrict__ starts,
                                        int *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = 0;
    for (int k = starts[i]; k < starts[i + 1] - 1; k++) value = value * 10 + (text[k] - '0');
    out[i] = value;
}
"""


@cuda.jit
def small_letters(text, out):
    i = cuda.grid(1)
    if i < text.size:
        c = text[i]
        out[i] = c + 32 if c >= 65 and c <= 90 else c


@cuda.jit
def find_pattern(text, pattern, found):
    i = cuda.grid(1)
    length = pattern.size
    if i > text.size - length:
        return
    k = 0
    while k < length and text[i + k] == pattern[k]:
        k += 1
    found[i] = k == length


@cuda.jit
def read_numbers(text, starts, out):
    i = cuda.grid(1)
    if i < out.size:
        value = 0
        for k in range(starts[i], starts[i + 1] - 1):
            value = value * 10 + (int(text[k]) - 48)
        out[i] = value


def cases(rng):
    n, count = 1 << 24, 1 << 20
    text = rng.integers(65, 123, n).astype(np.uint8)
    digits = rng.integers(2, 9, count)
    starts = np.concatenate([[0], np.cumsum(digits)]).astype(np.int32)
    numbers = rng.integers(48, 58, int(starts[-1])).astype(np.uint8)
    few = rng.integers(97, 100, n).astype(np.uint8)
    return [
        Case(small_letters, blocks(n), 256, (text, np.zeros_like(text)), (n,)),
        Case(find_pattern, blocks(n), 256, (few, np.frombuffer(b"abcabca", np.uint8).copy(), np.zeros(n, np.int32)),
             (n, 7)),
        Case(read_numbers, blocks(count), 256, (numbers, starts, np.zeros(count, np.int32)), (count,)),
    ]
