"""What is chosen in PTX, of two numbers, and how: by a branch, by an instruction, or not at all.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import math
import re

import numpy as np
from assembler import assemble

from krait import _testing, cuda


def text_of(kernel, types, flags=0):
    text = _testing.compile(kernel, types, capability=90, fastmath=flags)
    assemble(text, 90)
    return text


PLACES_IN_32_BITS = 16
D1, F1, I1 = (f"array({dtype}, 1, C)" for dtype in ("float64", "float32", "int32"))
F2 = "array(float32, 2, C)"


def chosen(x, y, flags, out):
    i = cuda.grid(1)
    if i < out.size:
        a, b = x[i], y[i]
        out[i] = a * b + b if flags[i] & 1 else a


def test_of_two_doubles_one_is_computed_behind_a_branch():
    text = text_of(chosen, f"{D1}; {D1}; {I1}; {D1}")
    assert "selp.f64" not in text and "selp.b64" not in text
    assert text.count("fma.rn.f64") == 1 and text.count("bra") == 2


def test_of_two_floats_a_select_chooses():
    text = text_of(chosen, f"{F1}; {F1}; {I1}; {F1}")
    assert text.count("selp") == 1 and text.count("bra") == 1


def waves(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i])


def test_the_polynomials_of_a_sine_have_one_select():
    text = text_of(waves, f"{D1}; {D1}")
    assert text.count("selp.f64") == 1  # of their first coefficient


def test_a_sine_compares_its_operand_with_infinity_as_a_double(optimised):
    text = text_of(waves, f"{D1}; {D1}")
    assert str(0x7FF00000) not in text and text.count("0d7FF0000000000000") == 1


def two_ways(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        v = x[i]
        if v > 0:
            r = ((((((((((v * 3.25 + 1) * v + 2) * v + 3) * v + 4) * v + 5) * v + 6) * v + 7) * v + 8) * v + 9) * v)
        else:
            r = (v * 1.5 - 7) * (v * v - 2.5) + (v + 0.375) * v
        out[i] = r / y[i]


def test_of_two_ways_the_short_one_stands_first(optimised):
    lines = text_of(two_ways, f"{D1}; {D1}; {D1}").splitlines()
    short, long = (next(i for i, line in enumerate(lines) if number in line)
                   for number in ("0dC01C000000000000", "0d400A000000000000"))  # -7, 3.25
    assert short < long


def items_of_rows(a, out):
    i, total = cuda.grid(1), np.float32(0)
    for k in range(a.shape[0]):
        total = a[k, 2] * a[k, 0] + a[k, 1] * total + a[k, 3] - a[k, 4]
    out[i] = total


def test_pointers_through_a_loop_start_where_the_array_does(optimised):
    text = text_of(items_of_rows, f"{F2}; {F1}")
    assert "+-" not in text and all(re.search(rf"ld\.global\.nc\.b32.*\+{item}\]", text) for item in (4, 8, 12, 16))


def running(x, out):
    for i in range(1, out.size):
        out[i] = out[i - 1] + x[i]


def test_a_pointer_whose_step_is_where_it_starts_goes_on(optimised):
    """Both begin one element behind their array, and a round adds one element: that is no beginning."""
    lines = [line.strip() for line in text_of(running, f"{D1}; {D1}").splitlines()]
    labels = {line[:-1]: at for at, line in enumerate(lines) if line.startswith("$L")}
    rounds = [lines[labels[line.split()[-1][:-1]]:at] for at, line in enumerate(lines) if line.startswith("@")
              and labels[line.split()[-1][:-1]] < at]
    assert rounds
    for body in rounds:
        loads = sum("ld.global" in line for line in body)
        assert sum(line.startswith("add.s64") and line.endswith(f", {8 * loads};") for line in body) == 2


def around(x, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(out.size):
        total = total * x[0] + 1 if k != i else total
    out[i] = total


def test_a_loop_goes_on_from_a_block_that_was_split():
    text = text_of(around, f"{D1}; {D1}")
    assert "selp.f64" not in text and "selp.b64" not in text


def several_ways(x, y, flags, out):
    i = cuda.grid(1)
    t, u, flag = x[i], y[i], flags[i]
    if flag != 1 and flag != 2 and flag != 7:  # a switch, of which several ways lead to the same
        if flag == 9:
            u = y[i + 1]
        else:
            u = y[i + 2]
            cuda.syncthreads()
    out[i] = (u * u + t if t > u else t) - u


def test_all_ways_lead_to_the_first_half_of_a_block_that_was_split():
    """Those of a switch, too, which are uses of the block by one and the same instruction."""
    lines = [line.strip() for line in text_of(several_ways, f"{D1}; {D1}; {I1}; {D1}").splitlines()]
    split = next(i for i, line in enumerate(lines) if line.startswith("setp") and "f64" in line)
    label = next(line for line in reversed(lines[:split]) if line.startswith("$L"))
    assert sum(line.endswith(f"\t{label[:-1]};") for line in lines) == 3 and lines[split + 2].startswith("fma")


def extremes(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = np.fmin(x[i], y[i]) - np.fmax(x[i], y[i])


def test_fmin_and_fmax_are_instructions():
    for types, suffix in (f"{F1}; {F1}; {F1}", "f32"), (f"{D1}; {D1}; {D1}", "f64"):
        text = text_of(extremes, types)
        assert text.count(f"min.{suffix}") == text.count(f"max.{suffix}") == 1
        assert "setp.nan" not in text and "selp" not in text


def looked_up(x, table, out):
    i = cuda.grid(1)
    if i < out.size:
        place = math.floor(x[i])
        if place >= 0 and place + 1 < table.size:
            out[i] = table[place] + table[place + 1]


def test_a_floor_that_is_not_negative_does_not_count_from_the_end():
    text = text_of(looked_up, f"{F1}; {F1}; {F1}", PLACES_IN_32_BITS)
    assert "shr.s32" not in text and text.count("fma.rm.f32") == 1


def between(x, table, out):
    i = cuda.grid(1)
    if i < out.size:
        row, column = math.floor(x[i]), math.floor(x[i + 1])
        value = np.float32(0)
        if row >= 0 and column >= 0 and row + 1 < table.shape[0] and column + 1 < table.shape[1]:
            value = table[row, column] * table[row + 1, column + 1]
        out[i] = value


def test_what_one_of_several_tests_says_of_an_index_holds_behind_them():
    text = text_of(between, f"{F1}; array(float32, 2, C); {F1}", PLACES_IN_32_BITS)
    assert "shr.s32" not in text


def steps(x, h, n):
    i = cuda.grid(1)
    if i < x.size:
        position, speed = x[i], 0.0
        for _ in range(n):
            speed -= h * position
            position += h * speed
        x[i] = position


def test_loops_that_only_compute_run_four_rounds_at_a_time():
    assert text_of(steps, f"{D1}; float64; int64").count("fma.rn.f64") == 2 * (4 + 1)


def corners(x, low, high, near):
    i = cuda.grid(1)
    if i < low.size:
        low[i], high[i], near[i] = math.floor(x[i]), math.ceil(x[i]), round(x[i])


def test_an_int_of_a_rounded_float_is_one_conversion(optimised):
    """The multiple of 2**64 that a float beyond 64 bits has too much is made whole by sums: conversions take longer."""
    I8 = "array(int64, 1, C)"
    for kind in ("float32", "float64"):
        short = "f32" if kind == "float32" else "f64"
        text = text_of(corners, f"array({kind}, 1, C); {I8}; {I8}; {I8}")
        for direction in ("rmi", "rpi", "rni"):
            assert text.count(f"cvt.{direction}.s64.{short}") == 1
            assert f"cvt.{direction}.{short}.{short}" not in text


def codes(letters, out):
    i = cuda.grid(1)
    code, total = np.uint32(0), np.uint32(0)
    for k in range(letters.shape[0]):
        code = (code << np.uint32(2) | (letters[k, i] & np.uint32(3))) & np.uint32(0x3FFFFFFF)
        total += code >> np.uint32(16)
    out[i] = total


def test_a_shift_of_a_code_that_is_masked_is_no_extraction(optimised):
    text = text_of(codes, "array(uint8, 2, C); array(uint32, 1, C)")
    assert text.count("and.b32") > 1 and text.count("shr.u32") > 1
    assert "bfe.u32" not in text


def late_rows(q, k, v, out):
    i = cuda.grid(1)
    mine, total = cuda.local.array(8, np.float32), cuda.local.array(8, np.float32)
    for d in range(8):
        mine[d] = q[i, d]
        total[d] = 0
    for j in range(k.shape[0]):
        s = np.float32(0)
        for d in range(8):
            s += mine[d] * k[j, d]
        w = math.exp(math.exp(math.exp(s)))
        for d in range(8):
            total[d] = total[d] * w + v[j, d]
    for d in range(8):
        out[i, d] = total[d]


def loop_of(text):
    """From the label to which the last branch of a backward edge leads to that branch."""
    label, body = re.search(r"^(\$L__BB\w+):\n((?:(?!^\$L__BB).*\n)*?.*bra \t\1;)", text, re.MULTILINE).groups()
    return body


def test_rows_that_a_long_round_reads_late_have_a_pointer_too(optimised):
    """Their address would be found from their number in each round, behind all that is computed before it."""
    body = loop_of(text_of(late_rows, "; ".join([F2] * 4)))
    assert body.count("ld.global") == 4  # of four numbers each
    assert re.search(r"mul\.(wide|lo)\.[su]\d+", body) is None


def hashed(out):
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        p = np.uint64(0xD2511F53) * np.uint32(i)
        out[i] = np.uint32(p >> np.uint64(32)) ^ np.uint32(p)


def test_a_counter_that_is_hashed_is_multiplied_in_each_round(optimised):
    """A sum of 64 bits that goes through the loop instead takes more than the product."""
    text = text_of(hashed, "array(uint32, 1, C)")
    assert len(re.findall(r"mul\.wide\.u32 \t?%rd\d+, %r\d+, -766435501;", loop_of(text))) == 1
    assert text.count("-766435501") == 1 and "3528531795" not in text
