"""What a round of a loop has loaded for the next one, which does not load it again.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import re

import pytest
from assembler import assemble

from krait import _testing, cuda

B1, F1, I1 = "array(uint8, 1, C)", "array(float32, 1, C)", "array(int32, 1, C)"


def accesses_of_rounds(kernel, types, **options):
    """(loads, stores) of global memory in each loop of a kernel."""
    text = _testing.compile(kernel, types, capability=90, **options)
    assemble(text, 90)
    loops = re.findall(r"^(\$L__BB\d+_\d+):((?:(?!^\$L__BB\d+_\d+:.*\Z).)*?)bra(?:\.uni)? \t?\1;", text, re.M | re.S)
    return [(body.count("ld.global"), body.count("st.global")) for _, body in loops]


def letters(text, out):
    i = cuda.grid(1)
    if i < out.size:
        h, j = 7, i
        while j < text.size and text[j] > 32:
            h = (h ^ int(text[j])) * 31 & 0xFFFF
            j += 1
        out[i] = h


@pytest.mark.parametrize("kernel, types", [(letters, f"{B1}; {I1}"), (letters, f"{I1}; {I1}")])
def test_a_round_does_not_load_what_the_one_before_has(kernel, types, optimised):
    assert accesses_of_rounds(kernel, types) == [(1, 0)]


def changed(text, out):
    i = cuda.grid(1)
    if i < out.size:
        h, j = 7, i
        while j < text.size and text[j] > 32:
            text[text.size - j] = 1
            h = (h ^ int(text[j])) * 31 & 0xFFFF
            j += 1
        out[i] = h


def every_other(text, out):
    i = cuda.grid(1)
    if i < out.size:
        h, j = 7, i
        while j + 1 < text.size and text[j + 1] > 32:
            h = (h ^ int(text[j])) * 31 & 0xFFFF
            j += 2
        out[i] = h


def test_another_item_is_loaded(optimised):
    assert accesses_of_rounds(every_other, f"{B1}; {I1}") == [(2, 0)]


def test_what_may_have_been_written_is_loaded(optimised):
    (loads, stores), = accesses_of_rounds(changed, f"{B1}; {I1}")  # some rounds have become one
    assert loads == 2 * stores > 0
