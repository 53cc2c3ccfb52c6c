"""Calls that allocate, raise and return views, strings and lists leave nothing behind, however many they are.

KRAIT_TEST_CALLS says how many (of a sanitized build, too: its quarantine is the only memory that may grow there)."""

import os
import resource

import numpy as np

from krait import _testing, jit

CALLS = int(os.environ.get("KRAIT_TEST_CALLS", "20000"))
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


@jit
def view(n, k):
    x = np.arange(n) * 2.0
    if k % 3 == 0:
        raise ValueError("a third", k)
    y = x[1:]
    if k % 3 == 1:
        return y[::2]
    return y.reshape(1, n - 1)[0]


@jit
def several(n, k):
    parts = [np.ones(n), np.zeros(k % 5 + 1)]
    try:
        parts.append(np.full(n, 1.0 / (k % 4)))
    except ZeroDivisionError:
        parts.append(parts[0])
    text = f"{k}"
    return parts[-1], parts[0] + parts[2], text


def run(calls):
    for k in range(calls):
        try:
            view(10, k)
        except ValueError as error:
            assert error.args[1] == k
        last, both, text = several(8, k)
        assert both[0] == last[0] + 1.0 and text == str(k)


def test_memory_stays_flat():
    run(2000)
    objects = _testing.heap_objects()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(CALLS // 2)
    assert _testing.heap_objects() == objects
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4096 or SANITIZED, f"{grown} KiB"
