"""What of the suite is repeated on the second and third CPython.

`make test` runs everything on the first one.  On the others (KRAIT_TEST_AGAIN=1) every test runs, on every function it
has: bytecode, the texts of exceptions and what becomes of values are this version's.  Fewer are only what these cannot
depend on: examples drawn by hypothesis, random programs, and parameters that change the type, the layout or the value
of what the same function is given, or which of a library's rows it calls in the same way.  Types and rows are looked up
in C that is compiled once for all versions.  In the folders of rooms that see no object of the interpreter, and of the
library's functions, one parameter in four is enough, other ones on each version.

LLVM's passes and code generator are compiled once for all versions, too, and take most of a test's time.  The first
version runs the suite with the optimisation that users have, but of the parameters of tests in these folders, in
`decorators` and in `language` three in four without it (KRAIT_OPT=0), which finds what level 0 alone does wrong.  Which
ones is drawn from the content of the sources: other ones after each change, the same ones whatever is run.  The other
versions run all without it: they miss what a version's bytecode makes of the optimiser.  A test that is about
optimised code asks for the fixture `optimised`.  `make wheel` and the tests on a GPU run everything optimised: they
set KRAIT_OPT=3.
"""

import functools
import hashlib
import os
import pathlib
import sys
import zlib

AGAIN = os.environ.get("KRAIT_TEST_AGAIN") == "1"
SHARE = 4
ROOMS = ("codegen", "ir", "kernels", "library", "passes")
ALIKE = (*ROOMS, "decorators", "language")
HERE = pathlib.Path(__file__).resolve().parent
SOURCES = [HERE.parent / "src", HERE.parent / "rtlib", HERE.parent / "krait", HERE / "fuzz"]
SUFFIXES = {".c", ".h", ".def", ".py"}


@functools.cache
def drawn(subject):
    """A number below 2**40 that any change of a source file changes."""
    content = hashlib.sha256(subject.encode())
    for folder in SOURCES:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES:
                content.update(path.relative_to(HERE.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return int.from_bytes(content.digest()[:5], "little")


def examples(count):
    """How many examples hypothesis draws where the first version draws count."""
    return max(count // SHARE, 5) if AGAIN else count


def some(cases):
    """Parameters of which one in four is enough; not the same ones on each version."""
    cases = list(cases)
    return cases[sys.version_info.minor % SHARE % len(cases) :: SHARE] if AGAIN else cases


def place(item):
    """One of the quarters of all tests, the same whatever else is run."""
    return zlib.crc32(item.name.encode()) % SHARE


def repeated(item, first):
    """Whether the test is run again on a later version; first: no other parameter of its function was met before."""
    room = item.path.parent.name
    parametrised = hasattr(item, "callspec")
    return first or not parametrised or room not in ROOMS or place(item) == sys.version_info.minor % SHARE


def as_users_run_it(item):
    """Whether the test is run with optimisation where nothing else is asked for."""
    alike = hasattr(item, "callspec") and item.path.parent.name in ALIKE
    return not alike or place(item) == drawn("optimised") % SHARE
