"""Compares Krait's own figures before and after a change: each row's factor, the worst first.

    python benchmarks/compare.py BEFORE.json AFTER.json          what two runs of run.py --json left
    python benchmarks/compare.py --pythons BEFORE AFTER [--rounds N] [--quick] [GROUP ...]

The second form makes the figures itself: it runs run.py under both interpreters in turn, N times, and takes the median
of each row, so that a machine that changes speed changes it for both.  A factor above 1 is worse, whether the figure
is a time or a rate.  The exit status is 1 where one is worse by more than `--limit` (3 %), or has gone.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def figures(path):
    """(group, name) -> (figure, whether more is better)."""
    with open(path) as file:
        return {(row["group"], row["name"]): (row["krait"], row["rate"]) for row in json.load(file)["rows"]}


def factors(before, after):
    """(group, name) -> how many times as bad it is after."""
    both = before.keys() & after.keys()
    return {key: before[key][0] / after[key][0] if before[key][1] else after[key][0] / before[key][0] for key in both}


def report(before, after, limit):
    found = factors(before, after)
    for key, factor in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{factor:7.3f}  {before[key][0]:>11.4g} -> {after[key][0]:<11.4g} {key[0]}: {key[1]}")
    gone = sorted(before.keys() - after.keys())
    for group, name in gone:
        print(f"   gone  {group}: {name}")
    worse = [key for key, factor in found.items() if factor > 1 + limit]
    worst = max(found.values(), default=1.0)
    print(f"{len(found) - len(worse)} of {len(found)} hold within {limit:.0%}; the worst is {worst:.3f}")
    return 1 if worse or gone else 0


def measured(pythons, rounds, arguments):
    """Of each interpreter: the median figure of each row over the rounds."""
    runs = [[] for _ in pythons]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for which, python in enumerate(pythons):
                path = Path(folder) / f"{which}-{number}.json"
                command = [python, HERE / "run.py", "--json", path, *arguments]
                subprocess.run(command, stdout=subprocess.DEVNULL)
                if path.exists():
                    runs[which].append(figures(path))
    return [
        {key: (statistics.median(run[key][0] for run in of if key in run), rate)
         for one in of for key, (_, rate) in one.items()}
        for of in runs
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="FILE or GROUP")
    parser.add_argument("--pythons", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=float, default=0.03)
    options = parser.parse_args()
    if options.pythons:
        before, after = measured(options.pythons, options.rounds, ["--quick"] * options.quick + options.what)
    elif len(options.what) == 2:
        before, after = map(figures, options.what)
    else:
        parser.error("two files, or --pythons")
    return report(before, after, options.limit)


if __name__ == "__main__":
    sys.exit(main())
