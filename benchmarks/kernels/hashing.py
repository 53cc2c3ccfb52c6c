"""Random numbers and integer hashing: 32 and 64 bits, a Monte Carlo sum."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void murmur_finish(const unsigned *__restrict__ keys, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = keys[i];
    for (int round = 0; round < 16; round++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
    }
    out[i] = h;
}

extern "C" __global__ void xorshift(unsigned long long *__restrict__ states, float *__restrict__ out, int rounds,
                                    int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long s = states[i];
    float total = 0;
    for (int k = 0; k < rounds; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        total += (float)(s >> 40) * 5.9604644775390625e-08f;
    }
    states[i] = s;
    out[i] = total;
}

extern "C" __global__ void circle(const unsigned *__restrict__ seeds, int *__restrict__ inside, int rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seeds[i];
    int count = 0;
    for (int k = 0; k < rounds; k++) {
        s = s * 1664525u + 1013904223u;
        float x = (float)(s >> 8) * (1.0f / 16777216.0f);
        s = s * 1664525u + 1013904223u;
        float y = (float)(s >> 8) * (1.0f / 16777216.0f);
        if (x * x + y * y < 1.0f) count++;
    }
    inside[i] = count;
}

extern "C" __global__ void probe(const unsigned *__restrict__ keys, const unsigned *__restrict__ table,
                                 int *__restrict__ found, int slots, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], slot = (key * 2654435761u) % (unsigned)slots;
    int steps = 0;
    while (table[slot] != key && table[slot] != 0xffffffffu && steps < 64) {
        slot = (slot + 1) % (unsigned)slots;
        steps++;
    }
    found[i] = table[slot] == key ? (int)slot : -1;
}
"""

FIRST, SECOND = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
FACTOR, STEP, MIX, FREE = np.uint32(1664525), np.uint32(1013904223), np.uint32(2654435761), np.uint32(0xFFFFFFFF)


@cuda.jit
def murmur_finish(keys, out):
    i = cuda.grid(1)
    if i < keys.size:
        h = keys[i]
        for _ in range(16):
            h ^= h >> 16
            h *= FIRST
            h ^= h >> 13
            h *= SECOND
            h ^= h >> 16
        out[i] = h


@cuda.jit
def xorshift(states, out, rounds):
    i = cuda.grid(1)
    if i < states.size:
        s = states[i]
        total = np.float32(0)
        for _ in range(rounds):
            s ^= s << 13
            s ^= s >> 7
            s ^= s << 17
            total += np.float32(s >> 40) * np.float32(5.9604644775390625e-08)
        states[i] = s
        out[i] = total


@cuda.jit
def circle(seeds, inside, rounds):
    i = cuda.grid(1)
    if i < seeds.size:
        s = seeds[i]
        count = 0
        for _ in range(rounds):
            s = s * FACTOR + STEP
            x = np.float32(s >> 8) * (1.0 / 16777216.0)
            s = s * FACTOR + STEP
            y = np.float32(s >> 8) * (1.0 / 16777216.0)
            if x * x + y * y < 1.0:
                count += 1
        inside[i] = count


@cuda.jit
def probe(keys, table, found):
    i = cuda.grid(1)
    if i < keys.size:
        key, slots = keys[i], np.uint32(table.size)
        slot = (key * MIX) % slots
        steps = 0
        while table[slot] != key and table[slot] != FREE and steps < 64:
            slot = (slot + np.uint32(1)) % slots
            steps += 1
        found[i] = slot if table[slot] == key else -1


def cases(rng):
    n, slots = 1 << 22, 3_000_017
    keys = rng.integers(1, 1 << 32, n, np.uint32)
    table = np.full(slots, 0xFFFFFFFF, np.uint32)
    kept = keys[:1_500_000]
    table[(kept * np.uint32(2654435761)) % np.uint32(slots)] = kept
    states = rng.integers(1, 1 << 63, 1 << 20, np.uint64)
    return [
        Case(murmur_finish, blocks(n), 256, (keys, np.zeros_like(keys)), (n,)),
        Case(xorshift, blocks(1 << 20), 256, (states, np.zeros(1 << 20, np.float32), 64), (1 << 20,),
             repeatable=False),
        Case(circle, blocks(1 << 20), 256, (keys[: 1 << 20], np.zeros(1 << 20, np.int32), 128), (1 << 20,)),
        Case(probe, blocks(n), 256, (keys, table, np.zeros(n, np.int32)), (slots, n)),
    ]
