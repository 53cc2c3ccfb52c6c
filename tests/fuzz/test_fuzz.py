"""A fixed number of random programs each time the suite runs.  Their seeds are drawn from the content of the sources:
every change of Krait meets programs that none met before, and whoever runs the suite on this content, anywhere, meets
the same ones.  `run.py` prints the first seed; `run.py SUBJECT --seed N --programs 1` repeats one program, and without
`--seed` it draws fresh ones.  What differs as the manual says (docs/manual/types.md) agrees; any other difference
fails."""

import functools
import hashlib
import os
import pathlib
import subprocess
import sys

import pytest

from portions import AGAIN, SHARE

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = [ROOT / "src", ROOT / "rtlib", ROOT / "krait", HERE]
SUFFIXES = {".c", ".h", ".def", ".py"}
# As many as take a minute of one core together.
PROGRAMS = {"functions": 140, "objects": 60, "classes": 60, "kernels": 120, "arrays": 70}


@functools.cache
def first_seed(subject):
    """A number below 2**40 that any change of a source file changes.  Each subject and each CPython has its own."""
    content = hashlib.sha256(f"{subject} {sys.version_info.minor}".encode())
    for folder in SOURCES:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES:
                content.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return int.from_bytes(content.digest()[:5], "little")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("subject", PROGRAMS)
def test_random_programs(subject):
    programs = PROGRAMS[subject] // (SHARE if AGAIN else 1)
    command = [sys.executable, HERE / "run.py", subject, "--jobs", min(2, os.cpu_count()), "--minimise", 1,
               "--seed", first_seed(subject), "--programs", programs]
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_seeds_are_their_own():
    """Of each subject, and repeatable."""
    seeds = {subject: first_seed(subject) for subject in PROGRAMS}
    assert len(set(seeds.values())) == len(PROGRAMS)
    first_seed.cache_clear()
    assert seeds == {subject: first_seed(subject) for subject in PROGRAMS}
