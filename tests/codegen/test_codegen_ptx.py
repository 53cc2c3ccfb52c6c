"""PTX of many kernels: what it contains, and that ptxas accepts it for the compute capabilities Krait is built for.

PYTEST_DONT_REWRITE: kernels have assert statements of their own.
"""

import math
import re

import numpy as np
import pytest
from assembler import assemble
from oracle import make

from krait import _krait, cuda, typeof
from krait import _testing

def ptx(kernel, types, **options):
    return _testing.compile(kernel, types, **options)


def array(dtype, ndim=1, layout="C"):
    return f"array({dtype}, {ndim}, {layout})"


@pytest.mark.parametrize("capability", [50, 75, 90, 120])
def test_what_makes_the_compiler_ready_compiles(capability):
    """Nobody would hear of it otherwise: it runs in a thread that nobody waits for (driver/ready.c)."""
    assert _testing.ready(capability)


# ---- kernels ---------------------------------------------------------------------------------------------------------

KERNELS = {}


def kernel(*types):
    def add(function):
        KERNELS[function.__name__] = (function, "; ".join(types))
        return function

    return add


F1, D1, I1 = array("float32"), array("float64"), array("int32")
F2, D2 = array("float32", 2), array("float64", 2)


@kernel("float32", F1, F1)
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@kernel(F1, F1)
def grid_stride_sum(x, out):
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    cuda.atomic.add(out, 0, total)


@kernel(F2, F2, F2)
def tiled_matmul(a, b, c):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * 16 + x, cuda.blockIdx.y * 16 + y
    total = 0.0
    for tile in range(a.shape[1] // 16):
        left[y, x] = a[row, tile * 16 + x]
        right[y, x] = b[tile * 16 + y, column]
        cuda.syncthreads()
        for k in range(16):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    c[row, column] = total


@kernel(array("float64", 2, "A"), array("float64", 2, "F"))
def any_layout(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, -1 - j] + x[i % 2, j // 3]


@kernel(F1, I1)
def dynamic_shared(x, out):
    buffer = cuda.shared.array(0, np.float32)
    t = cuda.threadIdx.x
    buffer[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = int(buffer[cuda.blockDim.x - 1 - t])


@kernel(F1)
def local_memory(x):
    history = cuda.local.array(8, np.float32)
    for i in range(8):
        history[i] = x[i]
    n = int(x[0])
    x[1] = history[n % 8]


@kernel(D1, D1)
def mathematics(x, y):
    i = cuda.grid(1)
    v = x[i]
    a = math.sin(v) + math.cos(v) * math.exp(v) - math.log(v) + math.sqrt(v) + math.pow(v, 1.5) + v**3
    b = math.atan2(v, 2.0) + math.erf(v) + math.lgamma(v) + math.tanh(v) + math.floor(v)
    y[i] = a + b + math.fmod(v, 3.0) + v % 3.0 + v // 2.0


@kernel(F1, F1)
def mathematics32(x, y):
    i = cuda.grid(1)
    v = x[i]
    y[i] = math.exp(v) + math.log(v) + math.sqrt(v) + math.tanh(v) + v**2.5 + 1 / v + math.erf(v) + v % 3.0


@kernel(array("complex128"), array("complex64"))
def complex_numbers(x, y):
    i = cuda.grid(1)
    y[i] = y[i] * y[i] / x[i] + x[i] ** 2 - 1j


@kernel(array("float16"), array("float16"))
def halves(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * y[i] + x[i] / y[i]


@kernel("bool", "int8", "uint16", "int64", "float16", "complex64", "float32", array("bool_"))
def scalar_parameters(a, b, c, d, e, f, g, out):
    out[0] = a and b + c > d and e < g and f == 1j


@kernel(I1, array("int64"), array("uint32"), F1, D1)
def atomics(i4, i8, u4, f4, f8):
    i = cuda.grid(1)
    cuda.atomic.add(i4, i, 1)
    cuda.atomic.sub(i8, i, 2)
    cuda.atomic.max(f4, 0, f4[i])
    cuda.atomic.min(f8, 0, f8[i])
    cuda.atomic.max(i4, 0, i)
    cuda.atomic.min(u4, 0, u4[i])
    cuda.atomic.exch(i4, 0, 3)
    cuda.atomic.cas(i4, 0, 1, 2)
    cuda.atomic.add(f8, 1, 0.5)


@kernel(D1)
def raising(x):
    i = cuda.grid(1)
    if x[i] < 0:
        raise ValueError("negative")
    assert x[i] != 5
    x[i] = math.sqrt(x[i])


@kernel(I1)
def recursion(out):
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    out[cuda.grid(1)] = fibonacci(cuda.grid(1))


@kernel(array("int64"), "int", "int")
def integer_arithmetic(out, a, b):
    out[0] = a // b
    out[1] = a % b
    out[2] = a << b
    out[3] = a >> b
    out[4] = a**3
    out[5] = a**b
    out[6] = abs(a) + min(a, b) - max(a, 7)
    out[7] = int(a / b) + round(a / b)


@kernel(D2, D2, array("float64", 1, "A"))
def whole_arrays(x, y, z):
    x[:, 1] = y[0, :]
    x[1:, ::2] += 2.0
    x[0] = z[::-1]
    y[...] = x
    y *= x
    for row in y:
        for value in row:
            z[0] += value
    z[1] = x.T[0, 1] + x.flat[3]


@kernel("(int, (float32, int32))", F1)
def tuples(t, out):
    a, (b, c) = t
    pair = (b, c + a)
    for i, v in enumerate(pair):
        out[i] = v


TABLE = np.linspace(0, 1, 50)


@kernel(D1)
def constant_array(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 50] + TABLE[0]


# ---- ptxas -----------------------------------------------------------------------------------------------------------


@kernel(I1, D1, array("int64"), "int")
def warps(x, y, out, mask):
    i = cuda.threadIdx.x
    value = cuda.shfl_sync(mask, x[i], 3) + cuda.shfl_up_sync(mask, y[i], 1) + cuda.shfl_xor_sync(mask, i, 1)
    same, equal = cuda.match_all_sync(mask, x[i])
    out[i] = value + same + equal + cuda.match_any_sync(mask, y[i]) + cuda.activemask() + cuda.lanemask_lt()
    out[i] += cuda.all_sync(mask, i) + cuda.any_sync(mask, i) + cuda.eq_sync(mask, i) + cuda.ballot_sync(mask, i)
    out[i] += cuda.reduce_add_sync(mask, x[i]) + cuda.reduce_min_sync(-1, i) + cuda.reduce_xor_sync(mask, i)


def tree(x, out):
    values, t = cuda.shared.array(31, np.int32), cuda.threadIdx.x
    values[t] = x[t]
    cuda.syncthreads()
    apart = 16
    while apart > 0:
        if t < apart and t + apart < 31:
            values[t] += values[t + apart]
        cuda.syncthreads()
        apart //= 2
    out[t] = values[0]


@cuda.jit(device=True)
def meet():
    cuda.syncthreads()


def tree_of_calls(x, out):
    values, t = cuda.shared.array(31, np.int32), cuda.threadIdx.x
    values[t] = x[t]
    for k in range(out.size):
        if t + k < 31:
            values[t] += x[t + k]
        meet()
    out[t] = values[0]


@pytest.mark.parametrize("function, barriers", [(tree, 6), (tree_of_calls, 1)])
def test_a_checked_loop_with_barriers_exists_once(function, barriers):
    """Threads that took different copies of it would wait for each other at different barriers, without end."""
    text, _ = cuda.compile_ptx(function, "void(int32[::1], int32[::1])", debug=True, cc=(9, 0))
    assert text.count("bar.sync") == barriers, text


@kernel(array("int8"), array("float16"), D1, array("complex64"))
def small_atomics_and_hints(a, b, c, d):
    i = cuda.threadIdx.x
    cuda.atomic.add(a, i, 1)
    cuda.atomic.xor(a, i, 2)
    cuda.atomic.add(b, i, 1)
    cuda.atomic.max(b, i, 2)
    cuda.atomic.add(d, i, 1j)
    cuda.stcs(a, i, cuda.ldcg(a, i))
    cuda.stwt(b, i, cuda.ldcv(b, i))
    cuda.stcg(c, i, cuda.ldlu(c, i))


@pytest.mark.parametrize("capability", [75, 80, 90, 100])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_ptxas_accepts(name, capability):
    if not assemble(ptx(*KERNELS[name], capability=capability), capability):
        pytest.skip(f"no ptxas that knows sm_{capability}")


@pytest.mark.parametrize("capability", [50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120])
def test_every_capability(capability):
    text = ptx(*KERNELS["tiled_matmul"], capability=capability)
    assert f".target sm_{capability}" in text
    major, minor = re.search(r"\.version (\d)\.(\d)", text).groups()
    # the lowest version that has the capability and what kernels may use: 6.2 (activemask), from sm_75 on 7.0 (tanh)
    least = {50: 62, 52: 62, 60: 62, 61: 62, 70: 62, 75: 70, 80: 70, 86: 71, 89: 78, 90: 78, 100: 86, 120: 87}
    assert int(major) * 10 + int(minor) == least[capability]


# ---- what good code looks like ---------------------------------------------------------------------------------------


def turned(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        angle = x[i]
        c = math.cos(angle)
        v = y[i] * c
        out[i] = math.sin(angle) / v


def turned_by_a_pair(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        s, c = both(x[i])
        v = y[i] * c
        out[i] = s / v


@pytest.mark.parametrize(("array_type", "name"), [(F1, "sincosf"), (D1, "sincos")])
def test_the_sine_and_the_cosine_of_an_angle_are_one_call(monkeypatch, array_type, name):
    monkeypatch.setitem(globals(), "both", getattr(cuda.libdevice, name))
    lengths = [len(ptx(f, "; ".join([array_type] * 3)).splitlines()) for f in (turned, turned_by_a_pair)]
    assert abs(lengths[0] - lengths[1]) <= 2


def test_reads_go_through_the_read_only_cache():
    text = ptx(*KERNELS["saxpy"])
    assert "ld.global.nc" in text  # x is only read
    assert len(re.findall(r"ld\.global\.b32", text)) == 1  # y is read and written
    assert "fma.rn.f32" in text
    assert ".local" not in text and ".f64" not in text


def test_overlapping_arguments_are_not_cached():
    assert "ld.global.nc" not in ptx(*KERNELS["saxpy"], noalias=False)


@kernel(F2, F2, "int")
def neighbours(a, b, reach):
    x, y = cuda.grid(2)
    rows, columns = a.shape
    if y < rows and x < columns:
        total = np.float32(0)
        for k in range(-reach, reach + 1):
            total += a[(y + k) % rows, (x - 1) % columns]
        b[y, x] = total


@kernel("float32", "int", F1)
def two_conditions(c, limit, out):
    z = np.float32(0)
    n = 0
    while n < limit and z * z <= 4.0:
        z = z * z + c
        n += 1
    out[0] = n


def test_two_conditions_of_a_loop_are_one_branch():
    assert len(re.findall(r"@%p\d+ bra", ptx(*KERNELS["two_conditions"]))) <= 2


@kernel(D1, D1, "float64")
def unchanging(x, out, rate):
    i = cuda.grid(1)
    total = 0.0
    for k in range(x.size):
        total += x[k] * math.exp(-rate * 0.5)
    out[i] = total


def test_what_does_not_change_in_a_loop_is_computed_before_it():
    text = ptx(*KERNELS["unchanging"])
    log2_of_e = "0d3FF71547652B82FE"  # what exp begins with
    assert log2_of_e in text
    for label in re.findall(r"^(\$L__BB0_\d+):", text, re.M):
        body = text[text.index(f"\n{label}:") :]
        assert log2_of_e not in body[: max(body.rfind(f"bra {label};"), body.rfind(f"bra.uni {label};"), 0)], text


def test_places_in_small_arrays_are_computed_in_32_bits():
    small, general = ptx(*KERNELS["neighbours"]), ptx(*KERNELS["neighbours"], small=False)
    wide = r"(mul\.lo|rem|div|setp\.\w+|selp)\.[subf]64"
    assert re.search(wide, general) and not re.search(wide, small), small
    assert re.search(r"rem\.[su]32", small)


@pytest.mark.parametrize("name", ["mathematics32", "grid_stride_sum", "tiled_matmul"])
def test_a_float32_kernel_stays_float32(name):
    if name == "mathematics32" and "libclc" in _krait.info():
        pytest.skip("some of libclc's float functions are wrong for subnormals and computed in double there")
    assert ".f64" not in ptx(*KERNELS[name])


def loops_of(text):
    """Of every branch back: the comparison that it asks, and the lines of the loop."""
    lines = text.splitlines()
    labels = {line[:-1]: at for at, line in enumerate(lines) if line.startswith("$L")}
    for at, line in enumerate(lines):
        found = re.match(r"\t(?:@(!?%p\d+) )?bra(?:\.uni)? \t(\S+);", line)
        if found and labels[found[2]] < at:
            tests = [l.split()[0] for l in lines[:at] if found[1] and re.match(rf"\tsetp\S+ \t{found[1]},", l)]
            yield (tests or [None])[-1], lines[labels[found[2]] + 1 : at]


def test_loops_whose_loads_dominate_are_unrolled():
    text = ptx(*KERNELS["grid_stride_sum"])
    assert max(sum("ld.global.nc" in line for line in body) for _, body in loops_of(text)) == 8
    assert ".local" not in text


def test_only_loops_that_llvm_may_count_wait_to_be_unrolled():
    def strides(x):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] *= 2

    def steps(x):
        for i in range(cuda.grid(1), x.size, 3):
            x[i] *= 2

    kinds = []
    for function in (strides, steps):
        text = _testing.stage(function, [F1], "llvm", target="nvptx")
        kinds.append(set(re.findall(r"llvm.loop.unroll.(disable|runtime.disable)", text)))
    assert kinds == [{"disable"}, {"disable", "runtime.disable"}]


def test_what_rounds_access_lies_a_stride_apart():
    def columns(a, out):
        column = cuda.grid(1)
        if column < a.shape[1]:
            total = np.float32(0)
            for k in range(a.shape[0]):
                total = total * 2 + a[k, column]
                out[k, column] = total

    rest, rounds = loops_of(ptx(columns, f"{F2}; {F2}"))
    for (test, body), count, asked in ((rest, 1, "ne.b32"), (rounds, 4, "gt.s32")):
        text = "\n".join(body)
        assert text.count("ld.global.nc") == text.count("st.global") == count
        assert test == f"setp.{asked}"  # only such loops does ptxas count
        assert "mul" not in text and text.count("add.s64") == 2 * count, text
    # ptxas may unroll further what takes several rounds at once, not what takes those that are left
    assert "nounroll" in rest[1][0] and not any("nounroll" in line for line in rounds[1])


def test_what_loads_much_and_writes_is_not_unrolled_further():
    """The loads of more rounds would stand among the stores."""
    def scaled(a, scale, shift, out):
        column = cuda.grid(1)
        if column < a.shape[1]:
            for k in range(a.shape[0]):
                out[k, column] = a[k, column] * scale[k, column] + shift[k, column]

    rest, rounds = loops_of(ptx(scaled, "; ".join([F2] * 4)))
    assert "nounroll" in rest[1][0] and "nounroll" in rounds[1][0]


def test_what_only_loads_may_be_unrolled_further():
    def totals(a, out):
        column = cuda.grid(1)
        if column < a.shape[1]:
            total = np.float32(0)
            for k in range(a.shape[0]):
                total = total * 2 + a[k, column]
            out[column] = total

    rest, rounds = loops_of(ptx(totals, f"{F2}; {F1}"))
    assert "nounroll" in rest[1][0] and not any("nounroll" in line for line in rounds[1])


def places(kernel, types):
    """The loads of a kernel: of which register, how far from it."""
    return re.findall(r"ld\.global\S* \t\S+, \[(%rd\d+)\+?(-?\d*)\]", ptx(kernel, types))


def test_neighbours_are_a_distance_away():
    def around(a, out):
        x, y = cuda.grid(2)
        if 0 < x < a.shape[1] - 1 and 0 < y < a.shape[0] - 1:
            out[y, x] = (a[y - 1, x - 1] + a[y - 1, x] + a[y - 1, x + 1] + a[y, x - 1] + a[y, x + 1] + a[y + 1, x - 1]
                         + a[y + 1, x] + a[y + 1, x + 1])

    for dtype, size in ("float32", 4), ("int8", 1):
        found = places(around, f"{array(dtype, 2, 'C')}; {array(dtype, 2, 'C')}")
        rows = list(dict.fromkeys(register for register, _ in found))
        assert len(rows) == 3  # one address for each row
        offsets = [[int(offset or 0) for register, offset in found if register == row] for row in rows]
        assert sorted(map(sorted, offsets)) == [[-size, 0, size], [-size, 0, size], [-size, size]]

    text = ptx(around, f"{F2}; {F2}")
    assert len(re.findall(r"mul\.lo|mad\.lo", text)) == 4  # two of the grid, two places


@pytest.mark.parametrize("kind", [np.int32, int])
def test_neighbours_of_a_place_that_was_computed_are_a_distance_away(kind):
    """A sum with a small constant that wraps is outside: that it may wrap costs nothing."""
    def sample(a, at, out):
        y, x = kind(math.floor(at[0])), kind(math.floor(at[1]))
        if x >= 0 and y >= 0 and x + 1 < a.shape[1] and y + 1 < a.shape[0]:
            out[0] = a[y, x] + a[y, x + 1] + a[y + 1, x] + a[y + 1, x + 1]

    found = [place for place in places(sample, f"{F2}; {F1}; {F1}") if place[1]]
    assert sorted(offset for _, offset in found) == ["4", "4"]  # at[0] and at[1] are one load


def test_what_may_count_from_the_end_is_one_minimum():
    def gather(a, at, out):
        i = cuda.grid(1)
        out[i] = a[at[i]]

    text = ptx(gather, f"{F1}; {I1}; {F1}")
    assert text.count("min.u32") == 1 and "shr.s32" not in text and "selp" not in text


@pytest.mark.parametrize("kind, word", [("complex64", "v2.b32"), ("complex128", "v2.b64")])
def test_a_complex_number_is_one_access(kind, word):
    def step(z, rows, out):
        i = cuda.grid(1)
        total = z[i] * out[i]
        for k in range(rows.shape[0]):
            total += rows[k, i]
        out[i] = total

    text = ptx(step, f"{array(kind)}; {array(kind, 2)}; {array(kind)}")
    accesses = re.findall(r"(?:ld|st)\.global\S*", text)
    assert accesses and all(access.endswith(word) for access in accesses)
    assert ptx(step, f"{array(kind)}; {array(kind, 2)}; {array(kind)}", small=False).count(word) == 0


def test_neighbours_far_away_have_places_of_their_own():
    """32 bits may not hold where they would be without the distance."""
    def far(a, out):
        x, y = cuda.grid(2)
        out[y, x] = a[y + 5, x] + a[y, x]

    text = _testing.compile(far, f"{F2}; {F2}", stage="llvm")
    assert re.search(r"add nsw i32 %\d+, 5", text) and not re.search(r"mul nsw i32 %\d+, 5", text)


def test_one_branch_asks_both_tests():
    def tile(a, b):
        x, y = cuda.grid(2)
        for j in range(0, 32, 8):
            if x < a.shape[1] and y + j < a.shape[0]:
                b[y + j, x] = a[y + j, x]

    text = ptx(tile, f"{F2}; {F2}")
    assert text.count("ld.global") == 4
    assert len(re.findall(r"@!?%p\d+ bra", text)) == 4  # each around a load that ptxas makes conditional


def test_extents_and_ints_of_small_launches_are_32_bits():
    def steps(a, b, n, out):
        i = cuda.grid(1)
        if i < out.size:
            total = np.float32(0)
            for k in range(n):
                total += a[k, i] * b[k, i]
            out[i] = total

    types = f"{F2}; {F2}; int; {F1}"
    small, general = ptx(steps, types), ptx(steps, types, small=False)
    assert small.count(".b8 entry_param_") == 6 and ".b8 entry_param_" not in general
    assert re.search(r"setp\.\w+\.[bsu]64", general) and not re.search(r"setp\.\w+\.[bsu]64", small), small
    assert small.count("mul.wide.u32") >= 2 and "shl.b64 \t%rd" not in small.split("setp")[-1]


def test_arithmetic_of_libdevice_joins_that_of_the_kernel():
    if "libclc" in _krait.info():
        pytest.skip("libdevice's functions are not there")

    def exponentials(x, out):
        i = cuda.grid(1)
        out[i] = out[i] + math.exp(x[i])

    text = ptx(exponentials, f"{F1}; {F1}")
    assert ".rn.f32" in text and not re.search(r"(add|mul)\.rn\.f32", text)
    store = text[: text.index("st.global")].splitlines()
    assert "fma.rn.f32" in store[-2]  # 2**n is a factor


def test_a_product_of_libdevice_that_is_used_twice_is_rounded():
    """powf takes a product from the number that it came near to: that is what its rounding lost, and 0 without."""
    if "libclc" in _krait.info():
        pytest.skip("libdevice's functions are not there")

    def powers(x, out):
        i = cuda.grid(1)
        out[i] = math.pow(x[i], out[i])

    text = ptx(powers, f"{F1}; {F1}")
    reciprocal = re.search(r"rcp.approx.ftz.f32 (%r\d+)", text).group(1)
    product = re.search(rf"mul.rn.f32 \t(%r\d+), {reciprocal}, %r\d+;", text).group(1)
    assert re.search(rf"sub.f32 \t%r\d+, %r\d+, {product};", text), text


def test_shared_memory():
    text = ptx(*KERNELS["tiled_matmul"])
    assert text.count(".shared .align") == 2 and "[1024]" in text
    assert text.count("bar.sync") == 2
    # the inner loop is unrolled: rows of the left tile in four wide loads, the column of the right one in sixteen
    assert text.count("ld.shared.v4") == 4 and text.count("ld.shared.b32") == 16 and "st.shared" in text
    assert "cvta.shared" not in text
    dynamic = ptx(*KERNELS["dynamic_shared"])
    assert re.search(r"\.extern \.shared .*\[\]", dynamic)


def test_neighbours_in_shared_memory_are_read_together():
    def pull(position, out):
        tile = cuda.shared.array((64, 4), np.float32)
        t = cuda.threadIdx.x
        for axis in range(4):
            tile[t, axis] = position[t, axis]
        cuda.syncthreads()
        total = 0.0
        for k in range(64):
            total += tile[k, 0] * tile[k, 1] + tile[k, 2] * tile[k, 3]
        out[t] = total

    assert "ld.shared.v4" in ptx(pull, f"{F2}; {F1}")


def test_local_arrays_are_local_memory_only_where_indexed():
    assert ".local" in ptx(*KERNELS["local_memory"])


def test_constant_arrays():
    assert ".const" in ptx(*KERNELS["constant_array"])


def test_atomics_are_instructions():
    text = ptx(*KERNELS["atomics"])
    for instruction in ("add.s32", "add.s64", "add.f64", "max.s32", "min.u32", "exch.b32", "cas.b32", "cas.b64"):
        operation, kind = instruction.split(".")
        assert re.search(rf"\batom\.(?:\w+\.)*{operation}\.[sub{kind[0]}]{kind[1:]}", text), instruction


def test_warp_operations_are_instructions():
    text = ptx(*KERNELS["warps"])
    for instruction in ("shfl.sync.idx.b32", "shfl.sync.up.b32", "shfl.sync.bfly.b32", "match.all.sync.b32",
                        "match.any.sync.b64", "vote.sync.all.pred", "vote.sync.ballot.b32", "activemask.b32",
                        "redux.sync.add.s32"):
        assert instruction in text, instruction
    assert "redux" not in ptx(*KERNELS["warps"], capability=75)


def test_cache_hints_are_part_of_the_instruction():
    text = ptx(*KERNELS["small_atomics_and_hints"])
    for instruction in ("ld.cg.b8", "st.cs.b8", "ld.cv.b16", "st.wt.b16", "ld.lu.b64", "st.cg.b64"):
        assert instruction in text, instruction


def test_launch_bounds():
    text = ptx(*KERNELS["saxpy"], max_threads=256)
    assert ".maxntid 256" in text


def test_raising_ends_the_thread():
    text = ptx(*KERNELS["raising"])
    assert "exit;" in text and "trap" not in text


def test_math_is_linked_in():
    text = ptx(*KERNELS["mathematics"])
    assert "__nv_" not in text or ".extern" not in text
    assert "nvvm_reflect" not in text
    assert ".extern" not in text


def test_fast_math_flushes_and_approximates():
    def fast(x, y):
        i = cuda.grid(1)
        y[i] = math.sqrt(x[i]) / y[i]

    plain, loose = ptx(fast, f"{F1}; {F1}"), ptx(fast, f"{F1}; {F1}", fastmath=127)
    assert "div.rn.f32" in plain and "sqrt.rn.f32" in plain
    assert "ftz" not in plain
    assert "approx" in loose and "ftz" in loose


def test_a_fast_variant_is_taken_with_fastmath_alone():
    def powers(x, y):
        i = cuda.grid(1)
        y[i] = cuda.exp10(x[i])

    plain, loose = ptx(powers, f"{F1}; {F1}"), ptx(powers, f"{F1}; {F1}", fastmath=127)
    assert plain.count("fma.rn") > loose.count("fma.rn") == 0
    assert "ex2.approx.ftz.f32" in loose


def test_multiplication_and_addition_fuse_on_the_gpu_only():
    def combine(x):
        x[0] = x[1] * x[2] + x[3]

    assert "fma.rn.f64" in ptx(combine, D1)
    assert "fmuladd" not in _testing.compile(combine, D1, target="host", stage="opt")


def test_a_generator_that_is_read_each_time_is_stepped_each_time():
    def states(x, out, rounds):
        s = x[0]
        for k in range(rounds):
            s = s * np.uint32(1664525) + np.uint32(1013904223)
            out[2 * k] = s
            s = s * np.uint32(1664525) + np.uint32(1013904223)
            out[2 * k + 1] = s

    unsigned = array("uint32")
    text = ptx(states, f"{unsigned}; {unsigned}; int64")
    steps = re.findall(r"(?:mad\.lo\.s32|mul\.lo\.s32)\s.*", text)
    assert len(steps) >= 2 and all("1664525" in step for step in steps), steps
    assert "389569705" not in text  # 1664525**2 mod 2**32: two steps multiplied out


def test_the_square_of_a_complex_number_doubles_one_product():
    def step(z, c):
        z[0] = z[0] * z[0] + c[0]

    text = ptx(step, f"{array('complex128')}; {array('complex128')}")
    assert "0d4000000000000000" in text.lower()  # fma(re * im, 2, c.imag)
    assert len(re.findall(r"mul\.rn\.f64|mul\.f64", text)) == 2


def test_line_tables():
    function, types = KERNELS["saxpy"]
    text = ptx(function, types, debug=True)
    first = function.__code__.co_firstlineno + 2  # after the decorator and the def
    lines = {int(line) for line in re.findall(r"\.loc\t1 (\d+)", text)}
    assert {first, first + 1, first + 2} <= lines
    assert __file__ in text and ".loc" not in ptx(function, types)
    assemble(text)


def test_parameters_are_leaves():
    def parameters(a, b, c):
        b[0] = a
        c[0, 0] = a

    text = ptx(parameters, f"float64; {D1}; {array('float64', 2, 'A')}", small=False)
    kinds = re.findall(r"\.param \.(\w+)", text)
    # a; b: pointer, shape; c: pointer, two of shape, two strides
    assert kinds == ["f64", "u64", "u64", "u64", "u64", "u64", "u64", "u64"]


# ---- elementwise kernels ---------------------------------------------------------------------------------------------


def elementwise(a, b):
    return a * b + 1


def test_elementwise_kernel_uses_wide_accesses():
    text = ptx(elementwise, "float32; float32", entry="ufunc")
    assert "ld.global.v4" in text or "ld.global.nc.v4" in text
    assert "st.global.v4" in text


def wave(a, b):
    return np.exp(-a) * np.sqrt(b)


def test_short_functions_of_float32_leave_accesses_wide():
    assert "st.global.v4" in ptx(wave, "float32; float32", entry="ufunc")
    assert "st.global.v4" not in ptx(wave, "float64; float64", entry="ufunc")
    assert "st.global.v4" not in ptx(lambda a, b: np.sin(a) * b, "float32; float32", entry="ufunc")


def test_elementwise_kernel_with_rows_of_blocks_divides_nothing():
    """Up to two axes: the place of an element is block and thread numbers, nothing else."""
    text = ptx(elementwise, "float32; float32", entry="ufunc_rows")
    assert "mad.wide.s32" in text
    assert not re.search(r"\b(mul\.hi|div|rem)\.", text)
    assert re.search(r"\bmul\.hi\.", ptx(elementwise, "float32; float32", entry="ufunc_rows_nd"))


PAIRS = ["float32; float32", "float64; int32", "complex128; complex64", "int8; bool_", "float16; float16"]


@pytest.mark.parametrize("types", PAIRS)
@pytest.mark.parametrize("capability", [75, 90])
@pytest.mark.parametrize("entry", ["ufunc", "ufunc_rows", "ufunc_rows_nd"])
def test_ptxas_accepts_elementwise_kernels(types, capability, entry):
    if not assemble(ptx(elementwise, types, entry=entry, capability=capability), capability):
        pytest.skip(f"no ptxas that knows sm_{capability}")


@pytest.mark.parametrize("opt", [0, 3])
def test_operations_that_the_tools_behind_compute_wrongly(opt):
    def shorts(x, out):
        out[0] = -x[0] >= np.sign(x[0])
        out[1] = abs(x[1]) > x[2]

    def zeros(n, out):
        out[0] = max(-0.0, n)

    text = ptx(shorts, f"{array('int16')}; {array('bool_')}", opt_level=opt)
    assert "neg.s32" in text and "neg.s16" not in text and "abs.s16" not in text
    text = ptx(zeros, f"int; {array('float64')}", opt_level=opt)
    assert "max.f64" not in text and "selp.f64" in text

    def shifts(x, n, out):
        out[0] = (x[0] >= 3) << 0 - n

    text = ptx(shifts, f"{array('float64')}; int64; {array('int64')}", opt_level=opt, small=False)
    assert re.search(r"setp\.\w+\.u64\s+%p\d+, %rd\d+, 6[34]", text) and re.search(r"and\.b\w+.*, 63;", text)


# ---- what the threads of a warp do together --------------------------------------------------------------------------

def helper_with_barriers(s, i, n):
    for k in range(n):
        s[i % 64] = s[(i * 7 + k) % 64] + k
        cuda.syncthreads()


helper_with_barriers = cuda.jit(device=True)(helper_with_barriers)


@cuda.jit(device=True)
def helper_of_helper(s, i, n):
    helper_with_barriers(s, i, n)
    helper_with_barriers(s, i + 1, n + 1)
    if n > 3:
        helper_with_barriers(s, i, n + 7)


def barriers_in_functions(x, n):
    s = cuda.shared.array(64, np.float64)
    i = cuda.grid(1)
    helper_of_helper(s, i, n)
    helper_of_helper(s, i + 3, n)
    helper_with_barriers(s, i, n)
    for k in range(n):
        if x[(i + k) % x.size] > abs(k):
            cuda.atomic.add(x, 0, 1.0)
    x[i] = s[i % 64]


@pytest.mark.parametrize("level", range(4))
def test_barriers_stand_in_the_kernel_itself(level):
    """In a function of its own, or by a count in local memory, the driver cannot tell which branches before a
    barrier are uniform."""
    text = ptx(barriers_in_functions, f"{D1}; int", opt_level=level)
    assert ".func" not in text and "call" not in text
    assert "local" not in text and "%SP" not in text
    # none was joined with another; without optimisation the threads of a warp reach a barrier one after the other
    assert text.count("bar.sync" if level else "barrier.sync") >= 7
    assert not re.search(r"\bbarrier\." if level else r"\bbar\.(sync|red)", text)
    assert re.search(r"(red|atom)\.global\S*add", text) and "ld.shared" in text


def test_what_threads_do_together_is_convergent():
    def kernel(x):
        x[0] = cuda.syncthreads_count(x[1] > 0) + cuda.syncthreads_and(x[2] > 0) + cuda.syncthreads_or(x[3] > 0)
        cuda.syncwarp()
        cuda.syncthreads()

    text = ptx(kernel, D1, stage="llvm")
    groups = dict(re.findall(r"attributes (#\d+) = \{(.*)\}", text))
    together = re.findall(r"declare \S+ @(llvm\.nvvm\.bar\S+)\(.*\) (#\d+)", text)
    assert len(together) == 5
    for name, group in together:
        assert "convergent" in groups[group].split(), name
    for name, group in re.findall(r"define .*@(\S+)\(.*\) (#\d+)", text):
        assert "convergent" in groups[group].split(), name


def test_recursive_functions_are_called_at_level_0():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    factorial = cuda.jit(device=True)(factorial)

    def kernel(x, n):
        x[0] = factorial(n)

    assert re.search(r"call\S* .*factorial", ptx(kernel, f"{I1}; int", opt_level=0))


def test_counts_of_shifts_are_compared_whole():
    """The back end cuts them to 32 bits, in a shift that a comparison of the same count guards without that, too."""

    def shifted(out, n, count):
        out[0] = n << count
        out[1] = n >> count

    text = ptx(shifted, f"{array('uint64')}; uint64; uint64")
    assert re.search(r"setp\.\w+\.[us]64\s+%p\d+, %rd\d+, 6[34]", text)
    assert len(re.findall(r"selp\.b64", text)) == 2


@pytest.mark.parametrize("quotient", ["(x[i] & 0x7fffffff) // 3", "(x[i] & 0x7fffffff) // 5 * 5",
                                      "np.uint32(x[i]) * np.uint64(y[i] & 0xffffffff) >> np.uint64(32)"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_upper_halves_of_products_come_from_wide_ones(quotient, level):
    """Of mul.hi less y ptxas gives a difference that is wrong by 2**32 where the lower half of y is 0."""
    function = make(f"def f(x, y):\n    i = cuda.threadIdx.x\n    y[i] = {quotient} - y[i]", cuda=cuda, np=np)
    text = ptx(function, f"{array('uint32')}; {array('uint64')}", opt_level=level)
    assert re.search(r"mul\.hi\.[us]32", text) is None
    assemble(text)


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_negations_beside_extremes_are_none(function, level):
    """Of max(max(a, -b), c) ptxas makes one instruction that forgets the sign."""
    source = f"def f(x, y):\n    i = cuda.threadIdx.x\n    x[i] = {function}(x[i], np.int32(-y[i]), y[i + 1])"
    text = ptx(make(source, cuda=cuda, np=np), f"{I1}; {I1}", opt_level=level)
    assert re.search(r"m(in|ax)\.s32", text) and "neg.s32" not in text
    assemble(text)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_magnitudes_are_not_negated(kind, level):
    """ptxas takes -abs(x) for less than every number: max(-abs(x), -5) would always be -5."""
    source = "def f(x, y):\n    i = cuda.threadIdx.x\n    m = abs(x[i])\n    y[i] = max(-m, x[0])"
    text = ptx(make(source, cuda=cuda, np=np), f"{array(kind)}; {array(kind)}", opt_level=level)
    magnitudes = re.findall(r"abs\.s\d+ \t(%\w+),", text)
    assert re.search(r"abs\.s|min\.s", text)
    assert not set(magnitudes) & set(re.findall(r"(?:neg|sub)\.s\d+ \t%\w+,(?: 0,)? (%\w+);", text))
    assemble(text)


@pytest.mark.parametrize("kind", ["int16", "uint16", "int8"])
@pytest.mark.parametrize("asked", ["min(x[i], np.{0}(3)) == 3", "max(x[i], np.{0}(7)) != 7",
                                   "cuda.ffs(max(np.{0}(0), x[i]))", "int(min(x[i], np.{0}(3))) + i == i + 3"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_extremes_of_16_bits_that_are_compared_have_32(kind, asked, level):
    """Of max(a, 7) == 7 ptxas takes the answer of the other half of the register for sm_90 and later."""
    source = f"def f(x, y):\n    i = cuda.threadIdx.x\n    if {asked.format(kind)}:\n        y[i] = 1"
    text = ptx(make(source, cuda=cuda, np=np), f"{array(kind)}; {array('int32')}", opt_level=level)
    assert not re.search(r"m(in|ax)\.[us]16", text) and re.search(r"m(in|ax)\.[us]32|selp|setp", text)
    assemble(text)


WAYS_TO_A_TEST = {
    "a register": "m = min(x[i], np.int16(3))\nif m == 3:\n    y[i] = 1",
    "rounds of a loop": "m = x[i]\nfor j in range(n):\n    m = max(m, x[j])\nif m == x[n]:\n    y[i] = 1",
    "a choice": "m = max(x[i], np.int16(3))\nk = 5 if m < n else m + np.int16(n)\nif k == x[n]:\n    y[i] = 1",
    "memory": "x[i] = max(x[i + 1], np.int16(7))\nif x[n] == 7:\n    y[i] = 1",
    "shared memory": "s = cuda.shared.array(64, np.int16)\ns[i] = max(x[i], np.int16(7))\ncuda.syncthreads()\n"
                     "if s[n] == 7:\n    y[i] = 1",
    "a function": "y[i] = asked(max(x[i], np.int16(7)), n)",
    "inline PTX": "y[i] = cuda.inline_ptx('{ .reg .pred %t; .reg .b16 k; mov.b16 k, $1; setp.eq.s16 %t, k, 7; "
                  "selp.b32 $0, 1, 0, %t; }', np.int32, max(x[i], np.int16(7)))",
    "lines of inline PTX": "y[i] = cuda.inline_ptx('{\\n.reg .pred t;\\n.reg .b16 k;\\nmov.b16 k, $1;\\n"
                           "setp.eq.s16 t, k, 7;\\nselp.b32 $0, 1, 0, t;\\n}', np.int32, max(x[i], np.int16(7)))",
}


@pytest.mark.parametrize("way", WAYS_TO_A_TEST)
@pytest.mark.parametrize("level", [0, 3])
def test_extremes_of_16_bits_come_to_tests_on_any_way(way, level):
    """ptxas sees through conversions, sums, choices, and what it knows to be in memory."""
    @cuda.jit(device=True)
    def asked(m, n):
        return asked(m, n - 1) if n > 3 else m == 7

    body = "i = cuda.threadIdx.x\n" + WAYS_TO_A_TEST[way]
    source = "def f(x, y, n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    text = ptx(make(source, cuda=cuda, np=np, asked=asked), f"{array('int16')}; {I1}; int", opt_level=level)
    assert not re.search(r"m(in|ax)\.[us]16", text)
    assert re.search(r"m(in|ax)\.[us]32|selp|setp", text)
    assemble(text)


def test_extremes_of_16_bits_that_nobody_compares_keep_them():
    """Of 32 bits they are four instructions, where a kernel compares something else altogether."""
    def scores(a, b, out):
        t = cuda.grid(1)
        row = cuda.local.array(8, np.int16)
        for j in range(8):
            row[j] = 0
        for i in range(a.shape[0]):
            left = np.int16(0)
            for j in range(8):
                score = left + np.int16(2 if a[i, t] == b[j, t] else -1)
                row[j] = left = max(score, max(row[j], np.int16(0)))
        out[t] = row[7]

    text = ptx(scores, f"{array('uint8', 2)}; {array('uint8', 2)}; {array('int16')}", capability=90)
    assert re.search(r"setp\.eq\.", text) and len(re.findall(r"max\.s16", text)) >= 8
    assert not re.search(r"max\.s32|local", text)
    assemble(text)


def test_searches_are_not_unrolled():
    """Its loads wait for each other, however many rounds become one."""
    def find(text, pattern, found):
        i, k = cuda.grid(1), 0
        while k < pattern.size and text[i + k] == pattern[k]:
            k += 1
        found[i] = k == pattern.size

    text = ptx(find, f"{array('uint8')}; {array('uint8')}; {I1}", capability=90)
    assert 2 <= text.count("ld.global.nc.b8") <= 4


@pytest.mark.parametrize("rounded", ["math.floor", "math.ceil", "math.trunc", "round"])
def test_floats_become_ints_in_their_own_precision(rounded):
    """Only what is too large for 64 bits, behind a branch, is taken apart as a float64."""
    source = f"def f(x, y):\n    i = cuda.threadIdx.x\n    y[i] = {rounded}(x[i])"
    text = ptx(make(source, cuda=cuda, math=math), f"{F1}; {array('int64')}", capability=90)
    assert "f64" not in text.split("bra", 1)[0] and re.search(r"setp\.\w+\.f32", text)


def test_items_of_a_range_that_may_pass_its_end_in_32_bits_make_pointers_that_move():
    def rows(starts, values, out):
        row, lane, total = cuda.blockIdx.x, cuda.threadIdx.x, 0.0
        for k in range(starts[row] + lane, starts[row + 1], 32):
            total += values[k]
        cuda.atomic.add(out, row, total)

    text = ptx(rows, f"{I1}; {D1}; {D1}", capability=90)
    assert all(f"+{256 * k}]" in text for k in (1, 2, 3)) and "shr.s64" not in text.rsplit("nounroll", 1)[0]


LOOPS = {
    "rows of a matrix": ("a, out", f"{F2}; {F1}", "t, k = 0.0, cuda.grid(1)\n"
                         "for j in range(a.shape[0]):\n    t += a[j, k]", ["gt.s32"]),
    "lanes of a row": ("a, out", f"{F2}; {F1}", "t, k = 0.0, cuda.blockIdx.x\n"
                       "for j in range(cuda.laneid, a.shape[1], 32):\n    t += a[k, j]", ["lt.s32"]),
    "rows of a sparse matrix": ("starts, a, out", f"{I1}; {F1}; {F1}", "t, k = 0.0, cuda.grid(1)\n"
                                "for j in range(starts[k], starts[k + 1]):\n    t += a[j]", ["gt.s32"]),
    # these may begin on either side of 0, and end elsewhere
    "a loop with another end": ("a, n, out", f"{F1}; {I1}; {F1}", "t, k = 0.0, cuda.grid(1)\nm = n[k]\n"
                                "while m != 0:\n    if a[k + m] > t:\n        break\n    m -= np.int32(1)\n"
                                "    t += a[k + m]",
                                ["ne.b32"]),
    "a loop that wraps": ("a, n, out", f"{F1}; {I1}; {F1}", "t, k = 0.0, cuda.grid(1)\nm = n[k]\n"
                          "while m != 0:\n    m -= np.int32(1)\n    t += a[k + m]", ["ne.b32"]),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_counts_are_compared_as_signed_numbers(loop):
    """ptxas takes a round out first where it does not know that unrolled rounds come to the end."""
    names, types, body, ways = LOOPS[loop]
    source = f"def f({names}):\n" + "".join(f"    {line}\n" for line in [*body.split("\n"), "out[k] = t"])
    loops = loops_of(ptx(make(source, cuda=cuda, np=np), types, capability=90))
    assert [test for test, lines in loops if "nounroll" not in lines[0]] == [f"setp.{way}" for way in ways]


@pytest.mark.parametrize("power", ["x[i] ** (n[i] > 3)", "math.pow(x[i], n[i] != 0)", "np.power(x[i], not n[i])",
                                   "x[i] ** (n[i] & 1)", "x[i] ** (n[i] & 7)", "x[i] ** 3.0"])
@pytest.mark.parametrize("kind", [F1, D1])
def test_powers_by_multiplying_call_nothing(power, kind):
    """A device's pow is off by a unit in the last place: pow(3.0, 1.0) is not 3.0."""
    function = make(f"def f(x, n):\n    i = cuda.threadIdx.x\n    x[i] = {power}", cuda=cuda, math=math, np=np)
    text = ptx(function, f"{kind}; {I1}")
    assert len(re.findall(r"call|fma|ex2|lg2", text)) == 0
    assert text.count("bra") == len(re.findall(r"bra \t(\S+);(?:\n\tmul\.\S+ .*)+\n\1:", text))  # around products
    assert len(re.findall(r"mul\.(?:rn\.)?f\d\d", text)) <= 4


def test_what_a_bool_raises_to_its_power_is_chosen():
    def raised(x, n):
        i = cuda.threadIdx.x
        x[i] **= n[i] > 3

    text = ptx(raised, f"{D1}; {I1}")
    assert "mul.rn.f64" not in text and text.count("selp.f64") == 1


def test_bytes_of_floats_are_taken_out_as_bits():
    """Packed records: PTX's compiler makes an integer of a float that st.b8 or st.b16 takes as it was computed."""
    def k(r):
        i = cuda.grid(1)
        r[i].x = i + 0.5
        r[i].z = np.float32(i) * r[i].z
        r[i].y = i

    record = np.recarray(3, dtype=[("x", "f8"), ("y", "i1"), ("z", "f4")])
    text = _testing.compile(k, str(typeof(record)), capability=90)
    floats = set(re.findall(r"\.f(?:32|64)[.a-z0-9]*\s+(%\w+),", text))
    stored = set(re.findall(r"\n\s*st\.\w+\.b(?:8|16)\s+\[[^]]*\], (%\w+);", text))
    assert floats and stored and not floats & stored and text.count("prmt.b32") == 2
    assemble(text, 90)
