"""What of the suite is repeated on the second and third CPython.

`make test` runs everything on the first one.  On the others (KRAIT_TEST_AGAIN=1) every test runs, on every function it
has: bytecode, the texts of exceptions and what becomes of values are this version's.  Fewer are only what these cannot
depend on: examples drawn by hypothesis, random programs, and parameters that change the type, the layout or the value
of what the same function is given, or which of a library's rows it calls in the same way.  Types and rows are looked up
in C that is compiled once for all versions.  In the folders of rooms that see no object of the interpreter, and of the
library's functions, one parameter in four of each test is enough, other ones on each version.

LLVM's passes and code generator are compiled once for all versions, too, and take most of a test's time.  The first
version runs the suite with the optimisation that users have, but of the parameters of a test in these folders, in
`decorators` and in `language` three in four without it (KRAIT_OPT=0), which finds what level 0 alone does wrong.  The
other versions run all without it: they miss what a version's bytecode makes of the optimiser.  A test that is about
optimised code asks for the fixture `optimised`.  `make wheel` and the tests on a GPU run everything optimised: they
set KRAIT_OPT=3.
"""

import os
import sys

AGAIN = os.environ.get("KRAIT_TEST_AGAIN") == "1"
SHARE = 4
ROOMS = ("codegen", "ir", "kernels", "library", "passes")
ALIKE = (*ROOMS, "decorators", "language")


def examples(count):
    """How many examples hypothesis draws where the first version draws count."""
    return max(count // SHARE, 5) if AGAIN else count


def some(cases):
    """Parameters of which one in four is enough; not the same ones on each version."""
    cases = list(cases)
    return cases[sys.version_info.minor % SHARE % len(cases) :: SHARE] if AGAIN else cases


def repeated(item, number):
    """Whether the test is run again on a later version; number: which of its function's parameters it has."""
    room = item.path.parent.name
    parametrised = hasattr(item, "callspec")
    return not parametrised or room not in ROOMS or number % SHARE == sys.version_info.minor % SHARE or number == 0


def as_users_run_it(item, number):
    """Whether the test is run with optimisation where nothing else is asked for."""
    return not hasattr(item, "callspec") or item.path.parent.name not in ALIKE or number % SHARE == 0
