"""What the benchmarks share: interleaved timing, rows with ratios, children in fresh processes, compiled references
in C and CUDA.

A figure is the median of several repetitions, and the contestants take turns (A B C A B C ...), so that a machine
that changes speed changes it
for all.  What counts is the ratio within one run.
"""

import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples"))  # the kernels measured are those of the examples


@dataclass
class Row:
    """One measured thing: Krait's figure, the figures of rivals and of a floor, in `unit`; less is better unless
    `rate`."""

    group: str
    name: str
    unit: str
    krait: float
    others: dict  # name -> figure
    rate: bool = False
    limit: str = ""  # what is promised, as text

    def ratio(self, other):
        """How Krait stands to another: below 1 is better for times, above 1 for rates."""
        return self.krait / self.others[other]


def print_rows(rows):
    group = None
    for row in rows:
        if row.group != group:
            group = row.group
            print(f"\n{group}")
        others = "  ".join(f"{name} {value:.4g} (ratio {row.ratio(name):.3g})" for name, value in row.others.items())
        print(
            f"  {row.name:<44} {row.krait:>10.4g} {row.unit:<12} {others}" + (f"  [{row.limit}]" if row.limit else "")
        )
    sys.stdout.flush()


def rows_as_json(rows):
    return [dict(asdict(row), ratios={name: row.ratio(name) for name in row.others}) for row in rows]


def median_of_turns(contestants, turns=9):
    """Calls each contestant (name -> callable returning a figure) in turn; the median of each."""
    figures = {name: [] for name in contestants}
    for _ in range(turns):
        for name, measure in contestants.items():
            figures[name].append(measure())
    return {name: statistics.median(values) for name, values in figures.items()}


def per_call(call, number):
    """Nanoseconds of one call, the loop's own cost not subtracted."""
    iterations = range(number)
    start = time.perf_counter_ns()
    for _ in iterations:
        call()
    return (time.perf_counter_ns() - start) / number


def milliseconds(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def child(code, timeout=None):
    """Runs Python code in a fresh process; its last printed line is JSON and is returned."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"a benchmark process failed:\n{code}\n{done.stderr.rstrip() or done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def have(module):
    import importlib.util

    return importlib.util.find_spec(module) is not None


def compiled_reference(source, compiler, flags):
    """A shared library made from benchmarks/<source>, or None where the compiler is missing."""
    path = shutil.which(compiler)
    if not path:
        return None
    folder = Path(tempfile.mkdtemp(prefix="krait-bench-"))
    library = folder / (Path(source).stem + ".so")
    done = subprocess.run([path, *flags, "-o", str(library), str(HERE / source)], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"the reference {source} was not compiled by {compiler}:\n{done.stderr}", file=sys.stderr)
        return None
    return ctypes.CDLL(str(library))


def c_reference():
    for compiler in ("gcc", "cc", "clang"):
        library = compiled_reference(
            "reference.c", compiler, ["-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-shared", "-fPIC"]
        )
        if library:
            return library
    return None


def nvcc_reference(source="reference.cu", *flags):
    return compiled_reference(source, "nvcc", ["-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", *flags])
