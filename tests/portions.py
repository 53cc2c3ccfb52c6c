"""What of the suite is repeated on the second and third CPython.

`make test` runs everything on the first one.  On the others (KRAIT_TEST_AGAIN=1) every test runs, on every function it
has: bytecode, the texts of exceptions and what becomes of values are this version's.  Fewer are only what these cannot
depend on: examples drawn by hypothesis, random programs, and parameters that change the type, the layout or the value
of what the same function is given, or which of a library's rows it calls in the same way.  Types and rows are looked up
in C that is compiled once for all versions.
"""

import os
import sys

AGAIN = os.environ.get("KRAIT_TEST_AGAIN") == "1"
SHARE = 4


def examples(count):
    """How many examples hypothesis draws where the first version draws count."""
    return max(count // SHARE, 5) if AGAIN else count


def some(cases):
    """Parameters of which one in four is enough; not the same ones on each version."""
    cases = list(cases)
    return cases[sys.version_info.minor % SHARE % len(cases) :: SHARE] if AGAIN else cases
