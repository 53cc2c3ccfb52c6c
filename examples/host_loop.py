"""A plain Python loop on the host, compiled by @jit: the sieve-like counting that NumPy has no words for."""

import harness

from krait import jit


@jit
def collatz_longest(limit):
    best, best_length = 1, 1
    for start in range(1, limit):
        n, length = start, 1
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            length += 1
        if length > best_length:
            best, best_length = start, length
    return best, best_length


def run(limit=30_000):
    return harness.measure(
        "host loop, @jit",
        lambda: collatz_longest(limit),
        lambda: collatz_longest.py_func(limit),
        lambda got, want: got == want,
        reference_name="interpreter",
        device="host",
    )


if __name__ == "__main__":
    harness.main(run)
