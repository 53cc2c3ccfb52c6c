"""Runs the benchmarks side by side and prints ratios.

    python benchmarks/run.py [--quick] [--parts PART,...] [--json FILE] [GROUP...]

Groups: start call compile host arrays vectorize interrupts gpu device runtime kernels.  --parts: some parts of a
group that has parts (runtime).

Rivals are measured when they are installed (Numba, numba-cuda) or can be compiled (C, nvcc); each ratio is Krait's
figure over the other's, from the
same run.  Below 1 is better for times, above 1 for rates (per second).
"""

import argparse
import datetime
import json
import os
import platform
import sys

import common
import numpy as np

import krait


def environment():
    facts = {
        "date": datetime.date.today().isoformat(),
        "krait": krait.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cores": len(os.sched_getaffinity(0)),
        "machine": platform.machine(),
    }
    try:
        with open("/proc/cpuinfo") as file:
            facts["cpu"] = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    from krait import cuda

    facts["device"] = cuda.get_current_device().name
    if cuda.is_available():
        facts["compute capability"] = "%d.%d" % cuda.get_current_device().compute_capability
    for module in ("numba", "numba_cuda"):
        if common.have(module):
            facts[module] = getattr(__import__(module), "__version__", "?")
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help="some of the groups; all if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--parts", metavar="PART,...", help="some parts of the group, of a group that has parts")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    known = ("start", "call", "compile", "host", "arrays", "vectorize", "interrupts", "gpu", "device", "runtime",
             "kernels")
    for group in options.groups:
        if group not in known:
            parser.error(f"no group is named {group}: there are {', '.join(known)}")
    facts = environment()
    print("  ".join(f"{name} {value}" for name, value in facts.items()))
    rows, failed = [], []
    for group in options.groups or known:
        try:
            given = {"parts": options.parts.split(",")} if options.parts else {}
            found = __import__("bench_" + group).rows(options.quick, **given)
        except Exception as error:  # the other groups are still worth having
            failed.append(f"{group}: {type(error).__name__}: {error}")
            import traceback

            traceback.print_exc()
            continue
        common.print_rows(found)
        rows += found
        if options.json:
            with open(options.json, "w") as file:
                json.dump({"environment": facts, "rows": common.rows_as_json(rows), "failed": failed}, file, indent=1)
    for line in failed:
        print(f"FAILED {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
