"""Prices of options: a formula in float32 with fast math, in float64, a binomial tree, paths with random steps."""

import math

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void black_scholes(const float *__restrict__ spot, const float *__restrict__ strike,
                                         const float *__restrict__ years, float *__restrict__ call,
                                         float *__restrict__ put, float rate, float sigma, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float root = sqrtf(years[i]), d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * sigma * sigma) * years[i]) /
                                       (sigma * root), d2 = d1 - sigma * root;
    float n1 = 0.5f * (1 + erff(d1 * 0.70710678f)), n2 = 0.5f * (1 + erff(d2 * 0.70710678f));
    float discount = expf(-rate * years[i]);
    call[i] = spot[i] * n1 - strike[i] * discount * n2;
    put[i] = strike[i] * discount * (1 - n2) - spot[i] * (1 - n1);
}

extern "C" __global__ void implied(const double *__restrict__ price, double *__restrict__ sigma, double spot,
                                   double strike, double rate, double years, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double low = 0.01, high = 2.0;
    for (int k = 0; k < 20; k++) {
        double s = 0.5 * (low + high), root = s * sqrt(years);
        double d1 = (log(spot / strike) + (rate + 0.5 * s * s) * years) / root, d2 = d1 - root;
        double value = spot * 0.5 * erfc(-d1 * 0.7071067811865476) -
                       strike * exp(-rate * years) * 0.5 * erfc(-d2 * 0.7071067811865476);
        if (value < price[i]) low = s; else high = s;
    }
    sigma[i] = 0.5 * (low + high);
}

extern "C" __global__ void binomial(const float *__restrict__ spot, float *__restrict__ out, float strike, float up,
                                    float chance, float discount, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    float values[33], down = 1 / up, price = spot[t];
    for (int i = 0; i < 32; i++) price *= down;
    for (int i = 0; i <= 32; i++) {
        values[i] = fmaxf(price - strike, 0);
        price *= up * up;
    }
    for (int step = 32; step > 0; step--)
        for (int i = 0; i < step; i++)
            values[i] = discount * (chance * values[i + 1] + (1 - chance) * values[i]);
    out[t] = values[0];
}

extern "C" __global__ void paths(const unsigned *__restrict__ seeds, float *__restrict__ out, float drift, float width,
                                 int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seeds[i];
    float level = 1, total = 0;
    for (int k = 0; k < steps; k++) {
        s = s * 1664525u + 1013904223u;
        float u = ((float)(s >> 8) + 0.5f) * (1.0f / 16777216.0f);
        s = s * 1664525u + 1013904223u;
        float v = (float)(s >> 8) * (6.2831853f / 16777216.0f);
        level *= expf(drift + width * sqrtf(-2 * logf(u)) * cosf(v));
        total += level;
    }
    out[i] = total / steps;
}
"""


@cuda.jit(fastmath=True)
def black_scholes(spot, strike, years, call, put, rate, sigma):
    i = cuda.grid(1)
    if i < spot.size:
        root = math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * sigma * sigma) * years[i]) / (sigma * root)
        d2 = d1 - sigma * root
        n1, n2 = 0.5 * (1 + math.erf(d1 * 0.70710678)), 0.5 * (1 + math.erf(d2 * 0.70710678))
        discount = math.exp(-rate * years[i])
        call[i] = spot[i] * n1 - strike[i] * discount * n2
        put[i] = strike[i] * discount * (1 - n2) - spot[i] * (1 - n1)


@cuda.jit
def implied(price, sigma, spot, strike, rate, years):
    i = cuda.grid(1)
    if i < price.size:
        low, high = 0.01, 2.0
        for _ in range(20):
            s = 0.5 * (low + high)
            root = s * math.sqrt(years)
            d1 = (math.log(spot / strike) + (rate + 0.5 * s * s) * years) / root
            d2 = d1 - root
            value = spot * 0.5 * math.erfc(-d1 * 0.7071067811865476) - strike * math.exp(
                -rate * years
            ) * 0.5 * math.erfc(-d2 * 0.7071067811865476)
            if value < price[i]:
                low = s
            else:
                high = s
        sigma[i] = 0.5 * (low + high)


@cuda.jit
def binomial(spot, out, strike, up, chance, discount):
    t = cuda.grid(1)
    if t < spot.size:
        values = cuda.local.array(33, np.float32)
        down, price = 1 / up, spot[t]
        for _ in range(32):
            price *= down
        for i in range(33):
            values[i] = max(price - strike, 0)
            price *= up * up
        for step in range(32, 0, -1):
            for i in range(step):
                values[i] = discount * (chance * values[i + 1] + (1 - chance) * values[i])
        out[t] = values[0]


@cuda.jit(fastmath=True)
def paths(seeds, out, drift, width, steps):
    i = cuda.grid(1)
    if i < seeds.size:
        s = seeds[i]
        level, total = np.float32(1), np.float32(0)
        for _ in range(steps):
            s = s * np.uint32(1664525) + np.uint32(1013904223)
            u = (np.float32(s >> 8) + 0.5) * (1.0 / 16777216.0)
            s = s * np.uint32(1664525) + np.uint32(1013904223)
            v = np.float32(s >> 8) * (6.2831853 / 16777216.0)
            level *= math.exp(drift + width * math.sqrt(-2 * math.log(u)) * math.cos(v))
            total += level
        out[i] = total / np.float32(steps)


def cases(rng):
    n, f = 1 << 22, np.float32
    spot, strike = rng.uniform(10, 50, n).astype(f), rng.uniform(10, 50, n).astype(f)
    few = 1 << 17
    return [
        Case(black_scholes, blocks(n), 256,
             (spot, strike, rng.uniform(0.2, 3, n).astype(f), np.zeros(n, f), np.zeros(n, f), f(0.02), f(0.3)), (n,),
             tolerance=1e-4),
        Case(implied, blocks(few), 256, (rng.uniform(5, 30, few), np.zeros(few), 50.0, 45.0, 0.02, 1.5), (few,),
             tolerance=1e-4),
        Case(binomial, blocks(few, 128), 128, (spot[:few], np.zeros(few, f), f(30), f(1.02), f(0.5), f(0.999)), (few,),
             tolerance=1e-4),
        Case(paths, blocks(1 << 19), 256,
             (rng.integers(1, 1 << 32, 1 << 19, np.uint32), np.zeros(1 << 19, f), f(1e-4), f(0.02), 64), (1 << 19,),
             tolerance=1e-3),
    ]
