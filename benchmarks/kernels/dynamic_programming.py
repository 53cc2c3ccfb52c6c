"""Dynamic programming, a thread a problem, its row in a local array."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void edit_distance(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b,
                                         int *__restrict__ out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int row[33];
    for (int j = 0; j <= 32; j++) row[j] = j;
    for (int i = 1; i <= 32; i++) {
        int diagonal = row[0];
        row[0] = i;
        unsigned char letter = a[(i - 1) * n + t];
        for (int j = 1; j <= 32; j++) {
            int above = row[j], best = diagonal + (letter != b[(j - 1) * n + t]);
            best = min(best, min(above, row[j - 1]) + 1);
            diagonal = above;
            row[j] = best;
        }
    }
    out[t] = row[32];
}

extern "C" __global__ void alignment(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b,
                                     short *__restrict__ out, int length, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    short row[16];
    for (int j = 0; j < 16; j++) row[j] = 0;
    short best = 0;
    for (int i = 0; i < length; i++) {
        short diagonal = 0, left = 0;
        unsigned char letter = a[i * n + t];
        for (int j = 0; j < 16; j++) {
            short score = diagonal + (letter == b[j * n + t] ? 2 : -1);
            score = max(score, max((short)(row[j] - 1), (short)(left - 1)));
            score = max(score, (short)0);
            diagonal = row[j];
            row[j] = left = score;
            best = max(best, score);
        }
    }
    out[t] = best;
}

extern "C" __global__ void change(const int *__restrict__ amounts, int *__restrict__ ways, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int count[101];
    int amount = amounts[t], coins[5] = {1, 2, 5, 10, 25};
    for (int i = 0; i <= 100; i++) count[i] = i == 0;
    for (int c = 0; c < 5; c++)
        for (int value = coins[c]; value <= amount; value++) count[value] += count[value - coins[c]];
    ways[t] = count[amount];
}
"""

COINS = (1, 2, 5, 10, 25)


@cuda.jit
def edit_distance(a, b, out):
    t = cuda.grid(1)
    if t >= out.size:
        return
    row = cuda.local.array(33, np.int32)
    for j in range(33):
        row[j] = j
    for i in range(1, 33):
        diagonal = row[0]
        row[0] = i
        letter = a[i - 1, t]
        for j in range(1, 33):
            above = row[j]
            best = diagonal + (letter != b[j - 1, t])
            best = min(best, min(above, row[j - 1]) + 1)
            diagonal = above
            row[j] = best
    out[t] = row[32]


@cuda.jit
def alignment(a, b, out):
    t = cuda.grid(1)
    if t >= out.size:
        return
    row = cuda.local.array(16, np.int16)
    for j in range(16):
        row[j] = 0
    best = np.int16(0)
    for i in range(a.shape[0]):
        diagonal = left = np.int16(0)
        letter = a[i, t]
        for j in range(16):
            score = diagonal + np.int16(2 if letter == b[j, t] else -1)
            score = max(score, max(row[j] - np.int16(1), left - np.int16(1)))
            score = max(score, np.int16(0))
            diagonal = row[j]
            row[j] = left = score
            best = max(best, score)
    out[t] = best


@cuda.jit
def change(amounts, ways):
    t = cuda.grid(1)
    if t >= ways.size:
        return
    count = cuda.local.array(101, np.int32)
    amount = amounts[t]
    for i in range(101):
        count[i] = i == 0
    for coin in COINS:
        for value in range(coin, amount + 1):
            count[value] += count[value - coin]
    ways[t] = count[amount]


def cases(rng):
    n = 1 << 18
    a, b = rng.integers(0, 4, (32, n), np.uint8), rng.integers(0, 4, (32, n), np.uint8)
    return [
        Case(edit_distance, blocks(n, 128), 128, (a, b, np.zeros(n, np.int32)), (n,)),
        Case(alignment, blocks(n, 128), 128, (a, b[:16].copy(), np.zeros(n, np.int16)), (32, n)),
        Case(change, blocks(n, 128), 128, (rng.integers(40, 101, n).astype(np.int32), np.zeros(n, np.int32)), (n,)),
    ]
