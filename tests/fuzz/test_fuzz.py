"""A fixed budget of fresh random programs each time the suite runs; `run.py --seed N --programs 1` repeats one.  What
differs as the manual says (docs/manual/types.md) agrees; any other difference fails."""

import os
import pathlib
import subprocess
import sys

import pytest

from portions import AGAIN

RUN = pathlib.Path(__file__).with_name("run.py")
BUDGET = {"programs": 100, "seconds": 5} if AGAIN else {"programs": 400, "seconds": 15}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("subject", ["functions", "objects", "classes", "kernels", "arrays"])
def test_random_programs(subject):
    command = [sys.executable, RUN, subject, "--jobs", str(min(2, os.cpu_count())), "--minimise", "1"]
    command += [item for name, value in BUDGET.items() for item in (f"--{name}", str(value))]
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
