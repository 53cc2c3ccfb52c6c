"""cuda.bf16, and what cuda.fp16 has beside float16's own arithmetic, against exact rational arithmetic; bfloat16 in the
rest of the language.  On the GPU if there is one, else on the host device: both give the same bits."""

import math
from fractions import Fraction

import numpy as np
import pytest
from assembler import assemble
from conftest import host_device

from krait import cuda, errors, guvectorize, njit, types, vectorize
from krait.cuda import bf16, fp16
from krait.types import bfloat16

pytestmark = pytest.mark.usefixtures("optimised")
RNG = np.random.default_rng(7)
TO_INTEGER = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


class Half:
    """A float of 16 bits: how many of mantissa, the exponent of the least normal number, bits to and from numbers."""

    def __init__(self, kept, least, largest):
        self.kept, self.least, self.largest = kept, least, Fraction(largest)

    def number(self, bits):
        if self.kept == 10:
            return float(np.uint16(bits).view(np.float16))
        return float((np.uint32(bits) << np.uint32(16)).view(np.float32))

    def nearest(self, exact, mode="rn"):
        """The float next to a fraction in a direction."""
        if exact == 0:
            return 0.0
        exponent = self.least
        while abs(exact) >= Fraction(2) ** (exponent + 1):
            exponent += 1
        unit = Fraction(2) ** (exponent - self.kept)
        rounded = TO_INTEGER[mode](exact / unit) * unit
        if abs(rounded) <= self.largest:
            return float(rounded) if rounded else math.copysign(0.0, exact)
        away = mode == "rn" or mode == ("ru" if exact > 0 else "rd")
        return math.copysign(math.inf if away else float(self.largest), exact)


HALVES = {"bf16": Half(7, -126, (2 - Fraction(1, 128)) * 2**127), "fp16": Half(10, -14, 65504)}
MODULES = {"bf16": bf16, "fp16": fp16}
TYPES = {"bf16": bfloat16, "fp16": np.float16}
BITS = RNG.integers(0, 2**16, 700).astype(np.uint16)
BITS[:12] = [0, 0x8000, 1, 0x8001, 0x3F80, 0xBF80, 0x3C00, 0x7F80, 0xFF80, 0x7C00, 0xFC00, 0x7FC1]
CLOSE = RNG.integers(-200, 200, 700).astype(np.uint16) + np.uint16(0x3F80)  # exponents that meet


def each(module, call, *columns, result=np.uint16, **names):
    """What a call gives for each row: its operands are x, y, z of a type, its result is kept as bits of that type."""
    T = TYPES[module]
    scope = {"cuda": cuda, "h": MODULES[module], "T": T, "np": np, "math": math, **names}
    parameters = ", ".join("xyz"[: len(columns)])
    reads = "".join(f"\n        {v}_i = {v}.view(T)[i]" if c.dtype == np.uint16 else f"\n        {v}_i = {v}[i]"
                    for v, c in zip("xyz", columns))
    to = "out.view(T)[i]" if result is np.uint16 else "out[i]"
    exec(f"def kernel({parameters}, out):\n    i = cuda.grid(1)\n    if i < out.size:{reads}\n        {to} = {call}",
         scope)
    out = np.zeros(len(columns[0]), result)
    cuda.jit(scope["kernel"])[(len(out) + 63) // 64, 64](*columns, out)
    return out


def numbers(module, bits):
    return [HALVES[module].number(b) for b in bits]


def assert_numbers(module, bits, wanted, rows):
    for got, want, row in zip(numbers(module, bits), wanted, rows):
        same = got == want and math.copysign(1, got) == math.copysign(1, want)
        assert same or (got != got and want != want), (row, got, want)


def exactly(module, operation, *columns):
    """An operation on fractions, rounded to nearest; None where an operand is not finite or there is no value."""
    for row in zip(*columns):
        if not all(map(math.isfinite, row)):
            yield None
            continue
        try:
            value = operation(*map(Fraction, row))
        except ZeroDivisionError:
            yield None
            continue
        yield HALVES[module].nearest(value) if value else None


OPERATIONS = {
    "hadd": lambda a, b: a + b, "hsub": lambda a, b: a - b, "hmul": lambda a, b: a * b, "hdiv": lambda a, b: a / b,
    "hadd_rn": lambda a, b: a + b, "hsub_rn": lambda a, b: a - b, "hmul_rn": lambda a, b: a * b,
    "hfma": lambda a, b, c: a * b + c, "hneg": lambda a: -a, "habs": abs,
    "hadd_sat": lambda a, b: min(max(a + b, 0), 1), "hsub_sat": lambda a, b: min(max(a - b, 0), 1),
    "hmul_sat": lambda a, b: min(max(a * b, 0), 1), "hfma_sat": lambda a, b, c: min(max(a * b + c, 0), 1),
    "hfma_relu": lambda a, b, c: max(a * b + c, 0),
}


@pytest.mark.parametrize("module", HALVES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_rounds_once(module, name):
    count = OPERATIONS[name].__code__.co_argcount if name != "habs" else 1
    call = f"h.{name}({', '.join(f'{v}_i' for v in 'xyz'[:count])})"
    for columns in ((BITS, np.roll(BITS, 5), np.roll(BITS, 11)), (CLOSE, np.roll(CLOSE, 5), np.roll(CLOSE, 11))):
        columns = columns[:count]
        values = [numbers(module, c) for c in columns]
        got = numbers(module, each(module, call, *columns))
        for want, have, row in zip(exactly(module, OPERATIONS[name], *values), got, zip(*values)):
            assert want is None or want == have, (row, have, want)


def test_a_fused_product_is_not_rounded_on_its_way():
    half = HALVES["bf16"]
    rows = [(0x3F81, 0x3F81, 0x0080), (0x3F81, 0x3F81, 0x8080), (0x3F84, 0x3F90, 0x0001)]
    columns = [np.array(c, np.uint16) for c in zip(*rows)]
    got = numbers("bf16", each("bf16", "h.hfma(x_i, y_i, z_i)", *columns))
    exact = [half.nearest(Fraction(half.number(a)) * Fraction(half.number(b)) + Fraction(half.number(c)))
             for a, b, c in rows]
    assert got == exact


@pytest.mark.parametrize("module", HALVES)
def test_specials(module):
    one = {"bf16": 0x3F80, "fp16": 0x3C00}[module]
    inf, nan = {"bf16": (0x7F80, 0x7FC0), "fp16": (0x7C00, 0x7E00)}[module]
    x, y = (v.ravel().astype(np.uint16) for v in np.meshgrid([0, 0x8000, one, inf, inf | 0x8000, nan], [0, 0x8000, one,
                                                                                             inf, inf | 0x8000, nan]))
    a, b = numbers(module, x), numbers(module, y)

    def most(p, q, largest):
        if p != p or q != q:
            return q if p != p else p
        order = sorted([p, q], key=lambda v: (v, math.copysign(1, v)))
        return order[largest]

    wanted = {
        "hmax": [most(p, q, True) for p, q in zip(a, b)], "hmin": [most(p, q, False) for p, q in zip(a, b)],
        "hmax_nan": [math.nan if p != p or q != q else most(p, q, True) for p, q in zip(a, b)],
        "hmin_nan": [math.nan if p != p or q != q else most(p, q, False) for p, q in zip(a, b)],
    }
    for name, want in wanted.items():
        assert_numbers(module, each(module, f"h.{name}(x_i, y_i)", x, y), want, zip(a, b))
    ordered = {"heq": "==", "hne": "!=", "hlt": "<", "hle": "<=", "hgt": ">", "hge": ">="}
    for name, sign in ordered.items():
        for unordered in (False, True):
            got = each(module, f"h.{name}{'u' * unordered}(x_i, y_i)", x, y, result=np.bool_)
            want = [unordered if p != p or q != q else eval(f"p {sign} q") for p, q in zip(a, b)]
            assert got.tolist() == want, name
    assert each(module, "h.hisnan(x_i)", x, result=np.bool_).tolist() == [p != p for p in a]
    want = [0 if not math.isinf(p) else 1 if p > 0 else -1 for p in a]
    assert each(module, "h.hisinf(x_i)", x, result=np.int32).tolist() == want


FUNCTIONS = {
    "hsin": math.sin, "hcos": math.cos, "htanh": math.tanh, "htanh_approx": math.tanh, "hexp": math.exp,
    "hexp2": lambda x: 2.0**x, "hexp10": lambda x: 10.0**x, "hlog": math.log, "hlog2": math.log2, "hlog10": math.log10,
    "hsqrt": math.sqrt, "hrsqrt": lambda x: 1 / math.sqrt(x), "hrcp": lambda x: 1 / x, "hfloor": math.floor,
    "hceil": math.ceil, "hrint": round, "htrunc": math.trunc,
}


@pytest.mark.parametrize("module", HALVES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_a_unit(module, name):
    half = HALVES[module]
    bits = np.array([b for b in CLOSE if 0.01 < half.number(b) < 4], np.uint16)
    got = numbers(module, each(module, f"h.{name}(x_i)", bits))
    for x, value in zip(numbers(module, bits), got):
        exact = FUNCTIONS[name](x)
        unit = 2.0 ** (max(math.frexp(exact)[1] - 1, half.least) - half.kept)
        assert abs(value - exact) <= 0.51 * unit + (name == "htanh_approx") * unit, (x, value, exact)


INTEGERS = {"int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint", "int64": "ll", "uint64": "ull"}


def conversion(module, integer, mode, to_half):
    if module == "bf16":
        return f"{integer}_to_bfloat16_{mode}" if to_half else f"bfloat16_to_{integer}_{mode}"
    c_name = {**INTEGERS, "int8": "char", "uint8": "uchar"}[integer]
    return f"__{c_name}2half_{mode}" if to_half else f"__half2{c_name}_{mode}"


@pytest.mark.parametrize("mode", TO_INTEGER)
@pytest.mark.parametrize("module", HALVES)
def test_conversions_of_integers(module, mode):
    half = HALVES[module]
    for integer in INTEGERS:
        limits = np.iinfo(integer)
        some = [limits.min, limits.max, limits.max - 1, 0, 1, 257, 2**15 - 1, 2049]
        some += [int(v) for v in RNG.integers(limits.min, limits.max, 60, dtype=integer, endpoint=True)]
        if limits.bits >= 32:
            some += [2**24 + 2**16, 2**24 + 2**16 + 1, 2**30 + 2**22]
        if limits.bits == 64:  # what a float64 between would round away
            some += [2**62 + 2**54, 2**62 + 2**54 + 1, 2**62 + 2**54 - 1, 2**62 + 3 * 2**54 - 1]
        values = np.array(some, integer)
        name = conversion(module, integer, mode, True)
        # a uint16 of the tests holds bits of a float: numbers go in as int64 here, names take any integer
        operand = values.astype(np.int64) if integer == "uint16" else values
        got = numbers(module, each(module, f"h.{name}(x_i)", operand))
        assert got == [half.nearest(Fraction(v), mode) for v in some], (integer, mode)
        bits = np.concatenate([BITS, CLOSE])
        wanted = []
        for x in numbers(module, bits):
            if x != x:
                wanted.append({"int64": -(2**63), "uint64": 2**63}.get(integer, 0))
            elif math.isinf(x):
                wanted.append(int(limits.max if x > 0 else limits.min))
            else:
                wanted.append(min(max(TO_INTEGER[mode](Fraction(x)), int(limits.min)), int(limits.max)))
        got = each(module, f"h.{conversion(module, integer, mode, False)}(x_i)", bits, result=np.dtype(integer).type
                   if integer != "uint16" else np.int64)
        assert got.tolist() == wanted, (integer, mode)


@pytest.mark.parametrize("module", HALVES)
def test_bytes_are_cut_to_their_range(module):
    for integer in ("int8", "uint8"):
        limits = np.iinfo(integer)
        name = conversion(module, integer, "rz", False)
        got = each(module, f"h.{name}(x_i)", BITS, result=np.dtype(integer).type).tolist()
        for x, value in zip(numbers(module, BITS), got):
            whole = 0 if x != x else limits.max if x > 300 else limits.min if x < -300 else math.trunc(x)
            assert value == min(max(whole, limits.min), limits.max)


@pytest.mark.parametrize("module", HALVES)
def test_conversions_of_floats(module):
    half = HALVES[module]
    wide = RNG.integers(0, 2**32, 500, dtype=np.uint32).view(np.float32)
    wide = np.concatenate([wide[np.isfinite(wide)], (RNG.normal(size=200) * 100).astype(np.float32),
                           np.float32([1e-45, -1e-45, 1e-39, 65519.99, 65520, 3.4e38, -3.4e38])])
    prefix = "float32_to_bfloat16" if module == "bf16" else "__float2half"
    for mode in TO_INTEGER:
        got = numbers(module, each(module, f"h.{prefix}_{mode}(x_i)", wide))
        assert got == [half.nearest(Fraction(float(v)), mode) for v in wide], mode
    twice = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, 1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-8])
    from64 = "float64_to_bfloat16" if module == "bf16" else "__double2half"
    got = numbers(module, each(module, f"h.{from64}(x_i)", twice))
    assert got == [half.nearest(Fraction(v)) for v in twice]
    to_single = "bfloat16_to_float32" if module == "bf16" else "__half2float"
    back = each(module, f"h.{to_single}(x_i)", BITS, result=np.float32)
    np.testing.assert_array_equal(back, np.float32(numbers(module, BITS)))


@host_device
def test_bits_without_optimisation(monkeypatch):
    monkeypatch.setenv("KRAIT_OPT", "0")
    assert each("bf16", "h.bfloat16_as_int16(x_i)", BITS, result=np.int16).tolist() == BITS.view(np.int16).tolist()


def test_bits():
    signed, unsigned = each("bf16", "h.bfloat16_as_int16(x_i)", BITS, result=np.int16), BITS.view(np.int16)
    assert signed.tolist() == unsigned.tolist()
    assert each("bf16", "h.int16_as_bfloat16(x_i)", unsigned.copy()).tolist() == BITS.tolist()
    wide = each("fp16", "h.__half_as_ushort(x_i)", BITS, result=np.int32)
    assert wide.tolist() == BITS.tolist()
    assert each("fp16", "h.__short_as_half(x_i)", unsigned.copy()).tolist() == BITS.tolist()


def test_pairs():
    half2 = fp16.half2

    @cuda.jit((half2[:], half2[:], half2[:], types.float64[:, :]))
    def kernel(a, b, out, flags):
        i = cuda.grid(1)
        if i < out.size:
            x, y = a[i], b[i]
            s = fp16.hadd2(x, y)
            f = fp16.hfma2(x, y, s)
            r = fp16.h2sqrt(fp16.habs2(f))
            out[i] = fp16.__halves2half2(r.x, fp16.__low2half(fp16.__lowhigh2highlow(fp16.hmax2(x, y))))
            flags[i, 0] = fp16.hbge2(x, y)
            flags[i, 1] = fp16.hgt2(x, y).y

    pairs = np.dtype([("x", np.float16), ("y", np.float16)])
    a, b = (np.round(RNG.normal(size=(50, 2)), 2).astype(np.float16) for _ in range(2))
    out, flags = np.zeros(50, pairs), np.zeros((50, 2))
    kernel[1, 64](a.view(pairs).ravel(), b.view(pairs).ravel(), out, flags)
    exact = HALVES["fp16"]
    for i in range(50):
        p, q = float(a[i, 0]), float(b[i, 0])
        s = exact.nearest(Fraction(p) + Fraction(q))
        f = exact.nearest(Fraction(p) * Fraction(q) + Fraction(s))
        assert out["x"][i] == np.sqrt(np.float16(abs(f)))
        assert out["y"][i] == max(a[i, 1], b[i, 1])
        assert flags[i].tolist() == [bool((a[i] >= b[i]).all()), a[i, 1] > b[i, 1]]


# ---- bfloat16 in the language ----


def test_arithmetic_promotes_as_that_of_float16():
    @cuda.jit
    def kernel(x, f, n, h, s, out):
        b = x.view(bfloat16)[0]
        for value in (b + b, b * 2, b + 1.5, -b, math.sqrt(b), np.exp(b), abs(b), max(b, b)):
            out[0] += value.itemsize
        out[1] = (b + f[0]).itemsize
        out[2] = (b + n[0]).itemsize
        out[3] = (b + h[0]).itemsize
        out[4] = (b + s[0]).itemsize

    out = np.zeros(5)
    kernel[1, 1](np.array([0x3FC0], np.uint16), np.ones(1, np.float32), np.ones(1, np.int32), np.ones(1, np.float16),
                 np.ones(1, np.int8), out)
    assert out.tolist() == [16, 4, 8, 4, 2]


def test_operators():
    got = {sign: each("bf16", f"x_i {sign} y_i", BITS, CLOSE) for sign in ("+", "-", "*", "/")}
    exact = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
    x, y = numbers("bf16", BITS), numbers("bf16", CLOSE)
    for sign, bits in got.items():
        for want, have, row in zip(exactly("bf16", exact[sign], x, y), numbers("bf16", bits), zip(x, y)):
            assert want is None or want == have, (sign, row)
    assert each("bf16", "x_i < y_i", BITS, CLOSE, result=np.bool_).tolist() == [a < b for a, b in zip(x, y)]
    assert each("bf16", "bool(x_i)", BITS, result=np.bool_).tolist() == [bool(a) for a in x]
    finite = np.array([b for b, v in zip(BITS, x) if abs(v) < 2**40], np.uint16)
    assert each("bf16", "int(x_i)", finite, result=np.int64).tolist() == [int(v) for v in numbers("bf16", finite)]
    assert each("bf16", "x_i // y_i", CLOSE, np.roll(CLOSE, 3)).tolist() == each(
        "bf16", "T(np.float32(x_i) // np.float32(y_i))", CLOSE, np.roll(CLOSE, 3)).tolist()


def test_memory_and_warps():
    @cuda.jit
    def kernel(x, out, total):
        shared = cuda.shared.array(32, bfloat16)
        local = cuda.local.array(2, bfloat16)
        i = cuda.threadIdx.x
        shared[i] = x[i]
        local[0] = i
        local[1] = cuda.ldcg(x, i)
        cuda.syncthreads()
        out[i] = shared[31 - i] + local[0] + cuda.shfl_sync(0xFFFFFFFF, local[1], 0)
        cuda.atomic.add(total, 0, bfloat16(1))
        cuda.atomic.max(total, 1, x[i])
        cuda.atomic.sub(total, 2, x[0])

    x = (np.arange(32) % 8).astype(np.float32)
    bits = (x.view(np.uint32) >> 16).astype(np.uint16)

    @cuda.jit
    def outer(bits, out, total):
        kernel_body(bits.view(bfloat16), out, total.view(bfloat16))

    kernel_body = cuda.jit(device=True)(kernel.py_func)
    out, total = np.zeros(32, np.float32), np.zeros(3, np.uint16)
    outer[1, 32](bits, out, total)
    assert out.tolist() == (x[::-1] + np.arange(32) + x[0]).tolist()
    assert numbers("bf16", total) == [32.0, 7.0, 0.0]


def test_a_number_as_bits_of_another():
    pairs = [(np.float32, np.uint32), (np.float64, np.int64), (np.float16, np.int16), (np.int32, np.uint32)]
    for number, bits in pairs:
        values = (RNG.normal(size=20) * 100).astype(number)
        to = njit(lambda x, to=bits: x.view(to))
        back = njit(lambda x, to=number: x.view(to))
        for value in values:
            assert to(value) == value.view(bits) and type(to(value)) is bits
            assert back(value.view(bits)) == value
    with pytest.raises(Exception, match="a float32 cannot be viewed as a int64: both need as many bytes"):
        njit(lambda x: x.view(np.int64))(np.float32(1))


def every_function(module):
    T, h = TYPES[module], MODULES[module]
    one = ["hneg", "habs", *FUNCTIONS]
    two = ["hadd", "hsub", "hmul", "hdiv", "hadd_sat", "hmax", "hmin", "hmax_nan"]
    scope = {"T": T, "h": h, "cuda": cuda, "math": math, "np": np}
    lines = [f"    out[i] += h.{name}(x)" for name in one] + [f"    out[i] += h.{name}(x, y)" for name in two]
    lines += ["    out[i] += h.hfma(x, y, x)", "    out[i] = x * y + x", "    cuda.atomic.add(out, 0, x)",
              "    out[i] = np.float64(a[i]) * f[i]", "    b[i] = int(x)", "    out[i] += b[i]", "    f[i] = x / y",
              "    cuda.stcs(out, i, cuda.shfl_xor_sync(-1, cuda.ldca(a, i), 1))", "    a[i] = T(f[i])"]
    exec("def kernel(a, out, f, b):\n    i = cuda.grid(1)\n    x, y = a[i], a[i + 1]\n" + "\n".join(lines), scope)
    return scope["kernel"]


@pytest.mark.parametrize("capability", [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0)])
@pytest.mark.parametrize("module", HALVES)
def test_ptxas_accepts_it(module, capability):
    T = types.bfloat16 if module == "bf16" else types.float16
    ptx, _ = cuda.compile_ptx(every_function(module), (T[:], T[:], types.float64[:], types.int64[:]), cc=capability)
    if capability >= (8, 0):
        assert ("fma.rn.bf16" if module == "bf16" else "fma.rn.f16") in ptx
    assemble(ptx, 10 * capability[0] + capability[1])


# ---- bfloat16 of the package ml_dtypes ----


def test_arrays_and_scalars_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")

    @cuda.jit
    def kernel(a, s, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] * s

    a = RNG.normal(size=100).astype(ml_dtypes.bfloat16)
    out = np.zeros_like(a)
    kernel[2, 64](a, ml_dtypes.bfloat16(1.5), out)
    assert (out == a * ml_dtypes.bfloat16(1.5)).all()
    device = cuda.to_device(a)
    assert device.dtype == a.dtype and (device.copy_to_host() == a).all()
    assert cuda.device_array(3, ml_dtypes.bfloat16).dtype == a.dtype
    back = njit(lambda x: x + x)(ml_dtypes.bfloat16(2.5))
    assert back == 5 and type(back) is ml_dtypes.bfloat16
    assert types.bfloat16(1.5) == 1.5


def test_without_the_package_a_result_says_what_is_missing():
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(ImportError, match="by the package ml_dtypes, which is not installed"):
            njit(lambda x: bfloat16(x))(1.0)
    else:
        assert ml_dtypes.bfloat16 is type(njit(lambda x: bfloat16(x))(1.0))


def test_what_bfloat16_is_not_taken_for():
    x = np.array([0x3FC0], np.uint16)
    with pytest.raises(TypeError, match="a ufunc cannot take or give bfloat16"):
        vectorize([bfloat16(bfloat16)])(lambda v: v + 1)
    with pytest.raises(TypeError, match="a ufunc cannot take or give bfloat16"):
        guvectorize([(bfloat16[:], bfloat16[:])], "(n)->(n)")(lambda v, w: None)
    with pytest.raises(errors.TypingError, match="NumPy has no function of its own for elements of type bfloat16"):
        njit(lambda v: np.sort(v.view(bfloat16))[0] > 1)(x)
    with pytest.raises(ValueError, match="not inexact"):
        njit(lambda v: np.finfo(bfloat16).eps)(x)


def test_printed_as_a_number(capfd):
    @cuda.jit
    def kernel(x):
        print("half", x.view(bfloat16)[0])

    kernel[1, 1](np.array([0x3FC0], np.uint16))
    cuda.synchronize()
    assert capfd.readouterr().out == "half 1.5\n"
