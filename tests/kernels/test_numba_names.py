"""Every name of numba.cuda in tests/numba_names.txt: on the device of this process, and as PTX of a GPU.

PYTEST_DONT_REWRITE: kernels have assert statements of their own.
"""

import numba_names as names
import pytest
from assembler import assemble

from krait import cuda
from krait.errors import KraitError

SECTIONS = names.sections()
CODE = {heading: rows for heading, kind, rows in SECTIONS if kind == "code"}


def rows_of(*kinds, there=True):
    return [(name, code) for _, kind, rows in SECTIONS if kind in kinds for name, code, found in rows if found is there]


def test_the_list_is_whole():
    assert len(CODE) > 10 and sum(len(rows) for _, _, rows in SECTIONS) > 900


@pytest.mark.parametrize("heading", CODE)
def test_lines_of_kernels(heading, capfd):
    lines = [code for _, code, there in CODE[heading] if there]
    cuda.jit(names.kernel(lines))[1, 32](*names.arguments())
    cuda.synchronize()
    assemble(names.ptx(lines))


@pytest.mark.parametrize("name, code", rows_of("="))
def test_options(name, code, recwarn):
    names.with_option(code)


def test_attributes():
    assert not [name for name, _ in rows_of("|") if not names.is_there(name)]


@pytest.mark.parametrize("name, code", rows_of("code", there=False))
def test_what_is_said_not_to_be_there_is_not(name, code):
    """What comes loses its mark."""
    with pytest.raises(KraitError):
        names.ptx([code])


@pytest.mark.parametrize("name, code", rows_of("=", "|", there=False))
def test_what_else_is_not(name, code):
    if name.startswith("cuda."):
        assert not names.is_there(name)
    else:
        with pytest.raises((TypeError, KraitError)):
            names.with_option(code)
