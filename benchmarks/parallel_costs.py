"""What a parallel loop costs beside its iterations, against Numba:

    python benchmarks/parallel_costs.py [krait|numba|both] [--threads 1,2,4]

Each figure is taken three ways: `hot`, one call right after another; `cold`, after the threads have slept for a while;
`turns`, right after a call of the other contestant, whose threads may still look out for work on the same cores.
The loops: of next to nothing (what starting and ending costs), a sum, a copy (what memory gives), a heat step.
"""

import argparse
import statistics
import time

import numpy as np

TURNS, PAUSE = 15, 0.02


def contestants(which):
    found = {}
    if which in ("krait", "both"):
        import krait

        found["krait"] = krait
    if which in ("numba", "both"):
        import numba

        found["Numba"] = numba
    return found


def loops(module):
    each = module.prange

    def start(x):
        for i in each(x.size):
            x[i] = i

    def total(x):
        s = 0.0
        for i in each(x.size):
            s += x[i]
        return s

    def copy(x, y):
        for i in each(x.size):
            y[i] = x[i]

    def heat(u, new):
        for i in each(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    return {function.__name__: module.njit(parallel=True)(function) for function in (start, total, copy, heat)}


def programs():
    rng = np.random.default_rng(1)
    big, grid = rng.random(20_000_000), rng.random((2000, 2000))
    return {
        "start, 100,000 stores": ("start", (np.zeros(100_000),)),
        "sum of 1 million": ("total", (big[:1_000_000],)),
        "sum of 20 million": ("total", (big,)),
        "copy of 20 million": ("copy", (big, np.empty_like(big))),
        "heat step, 2000 x 2000": ("heat", (grid, np.zeros_like(grid))),
    }


def once(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def hot(calls):
    got = {}
    for name, call in calls.items():
        time.sleep(PAUSE)
        for _ in range(5):
            call()
        got[name] = statistics.median(once(call) for _ in range(TURNS))
    return got


def cold(calls):
    got = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            time.sleep(PAUSE)
            got[name].append(once(call))
    return {name: statistics.median(figures) for name, figures in got.items()}


def turns(calls):
    got = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            got[name].append(once(call))
    return {name: statistics.median(figures) for name, figures in got.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="?", default="both", choices=("krait", "numba", "both"))
    parser.add_argument("--threads", default="", help="numbers of threads; all of them, unless told")
    options = parser.parse_args()
    modules = contestants(options.which)
    made = {name: loops(module) for name, module in modules.items()}
    for threads in [int(number) for number in options.threads.split(",") if number] or [0]:
        for module in modules.values():
            module.set_num_threads(threads or module.get_num_threads())
        print(f"\nmicroseconds, {threads or 'all'} threads")
        for title, (function, arguments) in programs().items():
            calls = {name: lambda f=functions[function]: f(*arguments) for name, functions in made.items()}
            for call in calls.values():
                call()
            for way in (hot, cold, turns):
                figures = "  ".join(f"{name} {figure:9.1f}" for name, figure in way(calls).items())
                print(f"  {title:<24} {way.__name__:<6} {figures}", flush=True)


if __name__ == "__main__":
    main()
