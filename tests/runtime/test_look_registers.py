"""A look for signals changes no register: what loops hold in them survives handlers that compute, too."""

import signal
import threading

import numpy as np
import pytest

from krait import njit

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="handlers run in the main thread"
)
ROUNDS = 4_000_000


@njit
def floats(n, a, b, c, d, e, f, g, h, i, j, k, m):
    """Sums of integers that floats hold exactly."""
    s = t = u = v = w = x = y = z = p = q = r = o = 0.0
    rounds = 0
    while rounds < n and s >= 0.0:
        s, t, u, v, w, x = s + a, t + b, u + c, v + d, w + e, x + f
        y, z, p, q, r, o = y + g, z + h, p + i, q + j, r + k, o + m
        rounds += 1
    return s, t, u, v, w, x, y, z, p, q, r, o


@njit
def integers(n, a, b, c, d, e, f, g, h):
    s = t = u = v = w = x = y = z = 0
    rounds = 0
    while rounds < n and s >= 0:
        s, t, u, v = s + a, t + b, u + c, v + d
        w, x, y, z = w + e, x + f, y + g, z + h
        rounds += 1
    return s, t, u, v, w, x, y, z


@njit(boundscheck=False)
def vectors(n, x, y, a, b):
    """Of each strip the vectors of a and b are in registers from before."""
    for k in range(n):
        y[k & 1023] = x[k & 1023] * a + b
    for k in range(n):
        y[k] = x[k] * a + b


@pytest.fixture
def handled():
    """How often a handler ran that computes with floats and integers of its own."""
    ran = []

    def handler(number, frame):
        ran.append(sum(value * 1.5 + value // 3 for value in range(50)) + np.arange(64.0).sum())

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    yield ran
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def until_handled(handled, call, *args):
    floor = len(handled)
    got = call(*args)
    while len(handled) < floor + 3:
        got = call(*args)
    return got


def test_floats(handled):
    steps = [float(k) for k in range(1, 13)]
    assert until_handled(handled, floats, ROUNDS, *steps) == tuple(step * ROUNDS for step in steps)


def test_integers(handled):
    steps = list(range(1, 9))
    assert until_handled(handled, integers, ROUNDS, *steps) == tuple(step * ROUNDS for step in steps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors(handled, dtype):
    x, y = np.arange(ROUNDS, dtype=dtype) % 8, np.zeros(ROUNDS, dtype)
    until_handled(handled, vectors, ROUNDS, x, y, dtype(3), dtype(5))
    assert (y == x * 3 + 5).all()
