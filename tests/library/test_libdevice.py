"""cuda.libdevice: every function of the table, on the GPU if there is one, else on the host device.

Integers, bits, conversions and what rounds in a direction are held to exact rational arithmetic; the rest to the math
module, to integrals, or to functions they are the inverse of, within a few units in the last place.
"""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from krait import _testing, cuda, errors
from krait.cuda import libdevice
from portions import some

SIGNATURES = {row["names"].rsplit(".")[-1]: row["signature"].replace("*", "").split(">")
              for row in _testing.functions() if row["names"].startswith("krait.cuda.libdevice.")}
INF, NAN = math.inf, math.nan


# ---- exact arithmetic ----


def up(x, dtype):
    return float(np.nextafter(dtype(x), dtype(INF)))


def rounded(exact, way, dtype):
    """A Fraction as the float of that type, rounded in that direction."""
    with np.errstate(over="ignore"):
        nearest = float(dtype(float_of(exact)))
    if math.isinf(nearest):
        largest = float(np.finfo(dtype).max)
        stays = way == "rz" or (way == "rd") == (nearest > 0)
        return math.copysign(largest, nearest) if stays and way != "rn" else nearest
    if dtype is np.float32:  # rounding twice may go wrong: start from a neighbour that is certainly below
        nearest = float(np.nextafter(dtype(nearest), dtype(-INF)))
        while Fraction(up(nearest, dtype)) <= exact:
            nearest = up(nearest, dtype)
    elif Fraction(nearest) > exact:
        nearest = -up(-nearest, dtype)
    below, above = nearest, nearest if Fraction(nearest) == exact else up(nearest, dtype)
    if math.isinf(above) and way == "rn":
        return below
    if way == "rn":
        low, high = exact - Fraction(below), Fraction(above) - exact
        even = int(np.array(below, dtype).view(f"i{np.dtype(dtype).itemsize}")) % 2 == 0
        return below if low < high or (low == high and even) else above
    return {"rd": below, "ru": above, "rz": below if exact > 0 else above}[way]


def float_of(exact):
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(INF, exact)


def root(x, way, dtype):
    scaled = Fraction(x) * 4**1100
    whole = math.isqrt(int(scaled * 4**60))
    exact = Fraction(whole, 2**1160)
    if exact * exact != Fraction(x):
        exact += Fraction(1, 2**1161)  # inexact: anything between two neighbours rounds alike
    return rounded(exact, way, dtype)


ARITHMETIC = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
              "div": lambda x, y: x / y, "rcp": lambda x: 1 / x}
WIDTHS = {"int": (-2**31, 2**31 - 1), "uint": (0, 2**32 - 1), "ll": (-2**63, 2**63 - 1), "ull": (0, 2**64 - 1)}


def to_integer(x, way, kind, source):
    low, high = WIDTHS[kind]
    if math.isnan(x):
        return None if source == "double" or high > 2**32 else 0
    if math.isinf(x):
        return high if x > 0 else low
    whole = {"rn": round, "rd": math.floor, "ru": math.ceil, "rz": math.trunc}[way](x)
    return min(max(whole, low), high)


def exact_reference(name):
    """The function in rational arithmetic, for the names that say how they round; NotImplemented: it is none."""
    head, _, way = name.rpartition("_")
    if way not in ("rn", "rd", "ru", "rz") or head in ("frsqrt", "float2half"):
        return NotImplemented
    source, _, target = head.partition("2")
    if target in WIDTHS:
        return lambda x: to_integer(x, way, target, source)
    dtype = np.float32 if target == "float" or (not target and head[0] == "f" and head != "fma") else np.float64
    if target:
        return lambda x: rounded(Fraction(x), way, dtype) if math.isfinite(x) and x else None
    if head.startswith("fma"):
        exact = lambda x, y, z: Fraction(x) * Fraction(y) + Fraction(z)  # noqa: E731
    elif head[1:] == "sqrt":
        return lambda x: root(x, way, dtype) if math.isfinite(x) and x > 0 else None
    else:
        exact = lambda *args: ARITHMETIC[head[1:]](*map(Fraction, args))  # noqa: E731

    def reference(*args):
        if not all(map(math.isfinite, args)) or (head[1:] in ("div", "rcp") and args[-1] == 0):
            return None
        value = exact(*args)
        return rounded(value, way, dtype) if value else None

    return reference


# ---- integers and bits ----


def bits(form, value, other):
    return struct.unpack(other, struct.pack(form, value))[0]


def signed(value, width):
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def byte_perm(x, y, selector):
    data, result = x | y << 32, 0
    for i in range(4):
        result |= (data >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i
    return result


def ilogb(x):
    if x == 0 or x != x:
        return -2**31
    return 2**31 - 1 if math.isinf(x) else math.frexp(x)[1] - 1


EXACT = {
    "abs": lambda x: signed(abs(x), 32), "llabs": lambda x: signed(abs(x), 64),
    "brev": lambda x: int(f"{x:032b}"[::-1], 2), "brevll": lambda x: int(f"{x:064b}"[::-1], 2),
    "clz": lambda x: 32 - (x & 2**32 - 1).bit_length(), "clzll": lambda x: 64 - (x & 2**64 - 1).bit_length(),
    "ffs": lambda x: (x & -x).bit_length(), "ffsll": lambda x: (x & -x).bit_length(),
    "popc": int.bit_count, "popcll": int.bit_count, "byte_perm": byte_perm,
    "mulhi": lambda x, y: x * y >> 32, "umulhi": lambda x, y: x * y >> 32,
    "mul64hi": lambda x, y: x * y >> 64, "umul64hi": lambda x, y: x * y >> 64,
    "mul24": lambda x, y: signed(signed(x, 24) * signed(y, 24), 32),
    "umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF) & 2**32 - 1,
    "hadd": lambda x, y: x + y >> 1, "uhadd": lambda x, y: x + y >> 1,
    "rhadd": lambda x, y: x + y + 1 >> 1, "urhadd": lambda x, y: x + y + 1 >> 1,
    "sad": lambda x, y, z: signed(abs(x - y) + z, 32), "usad": lambda x, y, z: abs(x - y) + z & 2**32 - 1,
    **{name: min for name in ("min", "umin", "llmin", "ullmin")},
    **{name: max for name in ("max", "umax", "llmax", "ullmax")},
    "double_as_longlong": lambda x: bits("d", x, "q"), "longlong_as_double": lambda x: bits("q", x, "d"),
    "float_as_int": lambda x: bits("f", x, "i"), "float_as_uint": lambda x: bits("f", x, "I"),
    "int_as_float": lambda x: bits("i", x, "f"), "uint_as_float": lambda x: bits("I", x, "f"),
    "double2hiint": lambda x: signed(bits("d", x, "Q") >> 32, 32),
    "double2loint": lambda x: signed(bits("d", x, "Q"), 32),
    "hiloint2double": lambda x, y: bits("Q", (x & 2**32 - 1) << 32 | y & 2**32 - 1, "d"),
    "float2half_rn": lambda x: int(np.float16(x).view(np.uint16)) if x == x else None,
    "half2float": lambda x: float(np.uint16(x).view(np.float16)),
    "finitef": math.isfinite, "isfinited": math.isfinite, "isinff": math.isinf, "isinfd": math.isinf,
    "isnanf": math.isnan, "isnand": math.isnan,
    "signbitf": lambda x: math.copysign(1, x) < 0, "signbitd": lambda x: math.copysign(1, x) < 0,
    "saturatef": lambda x: min(max(x, 0.0), 1.0) if x == x else 0.0,
    "ilogb": ilogb, "ilogbf": ilogb,
    "llrint": lambda x: to_integer(x, "rn", "ll", "double"), "llrintf": lambda x: to_integer(x, "rn", "ll", "double"),
}  # fmt: skip


def half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x) if abs(x) < 2**51 else x


# ---- what is within a few units in the last place ----


def integral(integrand):
    """The mean over half a period by the trapezoidal rule, which converges faster than any power."""
    n = 200
    return (integrand(0) + integrand(math.pi)) / (2 * n) + sum(integrand(math.pi * k / n) for k in range(1, n)) / n


def bessel_j(n, x):
    return integral(lambda t: math.cos(n * t - x * math.sin(t)))


def bessel_i(n, x):
    return integral(lambda t: math.exp(x * math.cos(t)) * math.cos(n * t))


def bessel_y(n, x):
    """By its series at small x, where it meets J (Abramowitz and Stegun 9.1.13, 9.1.16, upward recurrence)."""
    if x <= 0 or x > 8 or n < 0:
        return None
    euler, h0, total, term = 0.5772156649015329, 0.0, 0.0, 1.0
    for k in range(1, 40):
        term *= -x * x / 4 / (k * k)
        h0 += 1 / k
        total -= h0 * term
    y0 = 2 / math.pi * ((math.log(x / 2) + euler) * bessel_j(0, x) + total)
    if n == 0:
        return y0
    j0, j1 = bessel_j(0, x), bessel_j(1, x)
    y1 = (j1 * y0 - 2 / (math.pi * x)) / j0 if abs(j0) > 1e-3 else None
    for k in range(1, n):
        y0, y1 = y1, None if y1 is None else 2 * k / x * y1 - y0
    return y1


def erfcx(x):
    if abs(x) < 5:
        return float(Fraction(math.erfc(x)) * Fraction(math.exp(x * x)))
    if x < 0:
        return None
    tail = 0.0
    for k in range(60, 0, -1):
        tail = k / 2 / (x + tail)
    return 1 / ((x + tail) * math.sqrt(math.pi))


def bisect(function, low, high):
    for _ in range(2000):
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


def inside(low, high, function):
    return lambda *args: function(*args) if low <= args[0] <= high else None


def with_f(table):
    return {name + suffix: function for name, function in table.items() for suffix in ("", "f")}


CLOSE = with_f({
    **{name: getattr(math, name) for name in (
        "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp expm1 fabs floor fmod hypot lgamma"
        " log log10 log1p log2 nextafter pow remainder sin sinh sqrt tan tanh trunc").split()},
    "tgamma": math.gamma, "exp2": lambda x: 2.0**x, "exp10": lambda x: float(10.0**x), "cbrt": np.cbrt,
    "fdim": lambda x, y: max(x - y, 0.0), "fmax": np.fmax, "fmin": np.fmin,
    "fma": lambda x, y, z: float(Fraction(x) * Fraction(y) + Fraction(z)),
    "rint": np.rint, "nearbyint": np.rint, "round": half_away,
    "llround": lambda x: int(half_away(x)) if abs(x) < 2**62 else None,
    "logb": lambda x: (math.frexp(x)[1] - 1 if x else -INF) if math.isfinite(x) else abs(x),
    "ldexp": math.ldexp, "scalbn": math.ldexp, "powi": math.pow,
    "rsqrt": lambda x: 1 / math.sqrt(x), "rcbrt": lambda x: float(1 / np.cbrt(x)),
    "rhypot": lambda x, y: 1 / math.hypot(x, y),
    "norm3d": math.hypot, "norm4d": math.hypot,
    "rnorm3d": lambda *v: 1 / math.hypot(*v), "rnorm4d": lambda *v: 1 / math.hypot(*v),
    "sinpi": lambda x: math.sin(math.pi * math.remainder(x, 2)) if x * 2 != round(x * 2) else None,
    "cospi": lambda x: math.cos(math.pi * math.remainder(x, 2)) if x * 2 != round(x * 2) else None,
    "sincos": lambda x: (math.sin(x), math.cos(x)),
    "sincospi": lambda x: (math.sin(math.pi * x), math.cos(math.pi * x)) if abs(x) < 1 and x * 2 != round(x * 2)
    else None,
    "frexp": math.frexp, "modf": math.modf,
    "remquo": lambda x, y: (math.remainder(x, y), round((x - math.remainder(x, y)) / y) if abs(x / y) < 7 else None),
    "erfcx": erfcx,
    "erfinv": inside(-1, 1, lambda y: bisect(lambda x: math.erf(x) - y, -7.0, 7.0) if abs(y) < 0.9 else None),
    "erfcinv": inside(0, 2, lambda y: bisect(lambda x: y - math.erfc(x), -7.0, 28.0) if 0 < y < 1 else None),
    "normcdf": lambda x: math.erfc(-x / math.sqrt(2)) / 2 if x > -2 else None,
    "normcdfinv": inside(0, 1, lambda p: -math.sqrt(2) * bisect(lambda x: 2 * p - math.erfc(x), 0.0, 27.0)
                         if 0 < p < 0.4 else None),
    "cyl_bessel_i0": inside(-600, 600, lambda x: bessel_i(0, x)),
    "cyl_bessel_i1": inside(-600, 600, lambda x: bessel_i(1, x)),
    "j0": inside(-20, 20, lambda x: bessel_j(0, x)), "j1": inside(-20, 20, lambda x: bessel_j(1, x)),
    "jn": lambda n, x: bessel_j(n, x) if 0 <= n < 6 and 1e-3 < abs(x) < 20 else None,  # at zero the GPU's has NaN
    "y0": lambda x: bessel_y(0, x), "y1": lambda x: bessel_y(1, x),
    "yn": lambda n, x: bessel_y(n, x) if 0 <= n < 4 else None,
})  # fmt: skip
CLOSE["nextafterf"] = lambda x, y: np.nextafter(np.float32(x), np.float32(y))
CLOSE["rcp64h"] = lambda x: 1 / x
CLOSE["frsqrt_rn"] = lambda x: 1 / math.sqrt(x)
FAST = {f"fast_{name}f": inside(-3, 3, CLOSE[name]) for name in
        "sin cos tan tanh exp exp10 log log2 log10 pow sincos".split()}
CLOSE["hypot"] = lambda x, y: math.hypot(x, y) if max(abs(x), abs(y)) < 1e308 else None  # the GPU's overflows early
FAST["fast_powf"] = lambda x, y: math.pow(x, y) if 0 < x < 3 and abs(y) < 3 else None  # exp2(y * log2(x))
FAST["fast_fdividef"] = lambda x, y: x / y
LOOSE = {"rcp64h": 1e-6, "j": 1e-12, "y": 1e-11, "cyl": 1e-13, "lgamma": 1e-13, "tgamma": 1e-13, "erfinv": 1e-14,
         "erfc": 1e-14, "norm": 1e-14, "pow": 1e-14, "tan": 1e-14, "sin": 1e-14, "cos": 1e-14}


def tolerance(name):
    single = SIGNATURES[name][1][0] == "f"
    if name.startswith("fast_"):
        return 2e-3
    loose = max((bound for prefix, bound in LOOSE.items() if name.startswith(prefix)), default=4e-15)
    return max(loose, 2e-6) if single else loose


# ---- the test ----


def values_of(letter):
    rng = np.random.default_rng(ord(letter))
    if letter in "fd":
        dtype = {"f": np.float32, "d": np.float64}[letter]
        plain = [0.0, -0.0, 0.3, -0.7, 1.0, 1.5, 2.5, -2.5, 3.75, 0.05, 17.25, 1e10, -3e9, 5e18, -7e19, INF, -INF, NAN]
        return np.concatenate([plain, rng.normal(size=30), rng.normal(size=10) * 1e5, [np.finfo(dtype).tiny / 8,
                               np.finfo(dtype).max, np.finfo(dtype).eps]]).astype(dtype)
    dtype = np.dtype(letter)
    info = np.iinfo(dtype)
    return np.concatenate([np.array([0, 1, 2, 3, 5, info.max, info.min, info.max - 1], dtype),
                           rng.integers(info.min, info.max, 40, dtype=dtype, endpoint=True)])


def arguments_of(letters):
    """Every value alone; of more arguments, some values of each together."""
    columns = [values_of(letter) for letter in letters]
    if len(columns) == 1:
        return columns
    rng = np.random.default_rng(5)
    return [column[rng.integers(0, len(column), 300)] for column in columns]


def run(name, columns):
    letters = SIGNATURES[name][1]
    outs = [np.zeros(len(columns[0]), letter) for letter in letters]
    parameters = [f"x{i}" for i in range(len(columns))]
    call = f"libdevice.{name}({', '.join(p + '[i]' for p in parameters)})"
    targets = ", ".join(f"out{i}[i]" for i in range(len(outs)))
    source = f"def kernel({', '.join(parameters)}, {', '.join(f'out{i}' for i in range(len(outs)))}):\n" \
             f"    i = cuda.grid(1)\n    if i < x0.size:\n        {targets} = {call}\n"
    scope = {"cuda": cuda, "libdevice": libdevice}
    exec(source, scope)
    cuda.jit(scope["kernel"])[(len(columns[0]) + 127) // 128, 128](*columns, *outs)
    return outs


def reference_of(name):
    exact = exact_reference(name)
    if exact is not NotImplemented:
        return exact, True
    if name in EXACT:
        return EXACT[name], True
    return CLOSE.get(name) or FAST[name], False


def expected_of(reference, args):
    try:
        with np.errstate(all="ignore"):
            return reference(*args)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def same(got, wanted, exact, bound, scale):
    if wanted is None:
        return True
    if exact or isinstance(wanted, int):
        return got == wanted or (got != got and wanted != wanted)
    wanted = float(wanted)
    with np.errstate(over="ignore"):
        narrow = float(np.asarray(wanted, scale.dtype))
    if math.isnan(wanted) or math.isinf(narrow):
        return got != got if math.isnan(wanted) else got == narrow
    return abs(got - wanted) <= bound * abs(wanted) + float(np.finfo(scale.dtype).smallest_normal) + (
        bound / 10 if abs(wanted) < 1 else 0)


@pytest.mark.parametrize("name", some(sorted(SIGNATURES)))
def test_libdevice(name):
    reference, exact = reference_of(name)
    columns = arguments_of(SIGNATURES[name][0])
    if name in ("jn", "jnf", "yn", "ynf"):
        columns[0] %= 7  # the recurrence takes as many steps
    outs = run(name, columns)
    checked, wrong = 0, []
    for i, args in enumerate(zip(*(column.tolist() for column in columns))):
        wanted = expected_of(reference, args)
        got = tuple(out[i].item() for out in outs)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,) * len(got)
        checked += wanted[0] is not None
        if not all(same(g, w, exact, tolerance(name), out) for g, w, out in zip(got, wanted, outs)):
            wrong.append((args, got, wanted))
    assert not wrong, wrong[:5]
    assert checked >= 5


def test_results_are_strong():
    @cuda.jit
    def kernel(out):
        out[0] = libdevice.sinf(0.5) * 2.0
        out[1] = libdevice.umulhi(0xFFFFFFFF, 16)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out[0] == np.float32(out[0]) and out[1] == 15


def test_names_can_be_imported_from_the_module():
    from krait.cuda.libdevice import fast_sinf

    @cuda.jit
    def kernel(out):
        out[0] = fast_sinf(0.5)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert abs(out[0] - math.sin(0.5)) < 1e-5


def test_a_float_is_no_integer():
    @cuda.jit
    def kernel(out):
        out[0] = libdevice.popc(1.5)

    with pytest.raises(errors.TypingError, match="popc"):
        kernel[1, 1](np.zeros(1))
