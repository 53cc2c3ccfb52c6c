"""NumPy's window functions: weights of so many samples."""

import math

import numpy as np

from krait.prelude.elementwise import i0_of


def _samples(M):
    # -(M - 1), -(M - 3), ..., M - 1
    n = max(math.ceil(M - 0.5), 0)
    samples = np.empty(n)
    for i in range(n):
        samples[i] = 1 - M + 2 * i
    return samples


def _cosines(M, a0, a1, a2):
    w = _samples(M)
    if M == 1:
        w[0] = 1.0
        return w
    for i in range(len(w)):
        x = math.pi * w[i] / (M - 1)
        w[i] = a0 + a1 * np.cos(x)
        if a2 != 0.0:
            w[i] += a2 * np.cos(2.0 * x)
    return w


def hanning(M):
    return _cosines(float(M), 0.5, 0.5, 0.0)


def hamming(M):
    return _cosines(float(M), 0.54, 0.46, 0.0)


def blackman(M):
    return _cosines(float(M), 0.42, 0.5, 0.08)


def bartlett(M):
    M = float(M)
    w = _samples(M)
    if M == 1:
        w[0] = 1.0
        return w
    for i in range(len(w)):
        w[i] = 1 + w[i] / (M - 1) if w[i] <= 0 else 1 - w[i] / (M - 1)
    return w


def kaiser(M, beta):
    M = float(M)
    beta = float(beta)
    w = np.empty(max(math.ceil(M), 0))
    if M == 1:
        w[0] = 1.0
        return w
    half = (M - 1) / 2.0
    whole = i0_of(abs(beta))
    for i in range(len(w)):
        w[i] = i0_of(abs(beta * np.sqrt(1 - ((i - half) / half) ** 2.0))) / whole
    return w
