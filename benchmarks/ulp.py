"""The error of every elementary function of kernels, in units of the last place, against what the CUDA C++ Programming
Guide gives as its maximum; for the device math library of the build.

    python benchmarks/ulp.py [--samples N] [function ...]

float32: every float there is, against the function of float64 on the same GPU.  Two operands: 2**28 pairs of random
bits, half of them of ordinary size.  float64: random numbers of every size against long doubles of the C library.
Specials (infinities, NaN, zeros, subnormals) are among both.  The last column counts results that are NaN, or infinite,
where the exact one is not, or the other way round.  Exit status 1: a function is less exact than its maximum.
"""

import argparse
import ctypes
import ctypes.util
import math
import sys

import numpy as np

from krait import cuda
from krait.cuda import libdevice

# name: (maximum of float32, of float64) in the guide; names of cuda.libdevice have an f behind them for float32
GUIDE = {
    "math.sqrt": (0, 0), "math.cbrt": (1, 1), "math.exp": (2, 1), "math.exp2": (2, 1), "math.expm1": (1, 1),
    "math.log": (1, 1), "math.log2": (1, 1), "math.log10": (2, 1), "math.log1p": (1, 1), "math.sin": (2, 2),
    "math.cos": (2, 2), "math.tan": (4, 2), "math.asin": (2, 2), "math.acos": (2, 2), "math.atan": (2, 2),
    "math.sinh": (3, 2), "math.cosh": (2, 1), "math.tanh": (2, 1), "math.asinh": (3, 3), "math.acosh": (4, 3),
    "math.atanh": (3, 2), "math.erf": (2, 2), "math.erfc": (4, 5), "math.gamma": (5, 10), "math.lgamma": (6, 4),
    "math.pow": (4, 2), "math.atan2": (3, 2), "math.hypot": (3, 2), "math.fmod": (0, 0), "math.remainder": (0, 0),
    "libdevice.rsqrt": (2, 1), "libdevice.rcbrt": (1, 1), "libdevice.exp10": (2, 1), "libdevice.sinpi": (1, 2),
    "libdevice.cospi": (1, 2), "libdevice.erfinv": (2, 5), "libdevice.erfcinv": (4, 6), "libdevice.erfcx": (4, 4),
    "libdevice.normcdf": (5, 5), "libdevice.normcdfinv": (5, 8),
}  # fmt: skip
PAIRS = ("math.pow", "math.atan2", "math.hypot", "math.fmod", "math.remainder")
# lgamma has no bound near its zeros between these; only what is left of the range counts
ZEROS_OF_LGAMMA = {4: (-10.001, -2.264), 8: (-11.0001, -2.2637)}

C_LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
BLOCKS, THREADS = 1024, 256


@cuda.jit(device=True)
def ulps(got, exact):
    """Of float32, by the exact result; -1: one is special and the other is not."""
    if math.isnan(exact) or math.isnan(got):
        return 0.0 if math.isnan(exact) and math.isnan(got) else -1.0
    limit = 340282356779733661637539395458142568448.0  # from where on the nearest float is infinite
    if abs(exact) >= limit or math.isinf(got):
        return 0.0 if abs(exact) >= limit * (1 - 2.0**-21) and got * exact > 0 else -1.0
    _, exponent = math.frexp(exact)
    return abs(np.float64(got) - exact) / math.ldexp(1.0, max(exponent - 1, -126) - 23)


@cuda.jit(device=True)
def note(error, x, most, bad, where):
    if error < 0:
        return most, bad + 1, where
    if error > most:
        return error, bad, x
    return most, bad, where


def kernel_around(loop):
    """A kernel with this loop, which notes errors.  worst[0]: the largest; where[0]: of which number; wrong[0]: how
    many specials are none."""
    source = f"""
def kernel(worst, where, wrong):
    most, bad, at = 0.0, 0, np.float32(0)
{loop}
    if most > 0 and cuda.atomic.max(worst, 0, most) < most:
        where[0] = at
    if bad:
        cuda.atomic.add(wrong, 0, bad)
"""
    space = {"cuda": cuda, "math": math, "np": np, "libdevice": libdevice, "ulps": ulps, "note": note}
    exec(source, space)
    return cuda.jit(space["kernel"])


def float_kernel(name, low, high):
    module, _, function = name.rpartition(".")
    single = f"{name}(x)" if module == "math" else f"{name}f(x)"
    double = f"{name}(np.float64(x))"
    return kernel_around(f"""\
    for bits in range(cuda.grid(1), 1 << 32, cuda.gridsize(1)):
        x = libdevice.int_as_float(np.int32(bits))
        if {low} < x < {high}:
            continue
        most, bad, at = note(ulps({single}, {double}), x, most, bad, at)
""")


def pair_kernel(name):
    return kernel_around(f"""\
    for k in range(cuda.grid(1), 1 << 28, cuda.gridsize(1)):
        s = np.uint64(k) * np.uint64(0x9E3779B97F4A7C15)
        s = (s ^ (s >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        s = (s ^ (s >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        s ^= s >> np.uint64(31)
        a, b = np.uint32(s), np.uint32(s >> np.uint64(32))
        if k & 1:
            a = a & np.uint32(0x83FFFFFF) | np.uint32(0x3C000000)
            b = b & np.uint32(0x83FFFFFF) | np.uint32(0x3E000000)
        x, y = libdevice.int_as_float(np.int32(a)), libdevice.int_as_float(np.int32(b))
        error = ulps({name}(x, y), {name}(np.float64(x), np.float64(y)))
        most, bad, at = note(error, x, most, bad, at)
""")


def of_floats(name):
    low, high = ZEROS_OF_LGAMMA[4] if name == "math.lgamma" else ("1", "-1")
    kernel = pair_kernel(name) if name in PAIRS else float_kernel(name, low, high)
    worst, where, wrong = np.zeros(1), np.zeros(1, np.float32), np.zeros(1, np.int64)
    kernel[BLOCKS, THREADS](worst, where, wrong)
    return worst[0], float(where[0]), int(wrong[0])


# ---- float64 ---------------------------------------------------------------------------------------------------------


def by_c(name):
    """The long double of the C library, of each number; ctypes rounds it to float64, which is what the guide counts
    from."""
    function = getattr(C_LIBRARY, name)
    function.restype = ctypes.c_longdouble

    def each(*operands):
        columns = [operand.astype(np.float64).tolist() for operand in operands]
        function.argtypes = [ctypes.c_longdouble] * len(columns)
        return np.array([function(*values) for values in zip(*columns, strict=True)]).astype(np.longdouble)

    return each


EXACT = {
    "math.sqrt": np.sqrt, "math.cbrt": np.cbrt, "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1,
    "math.log": np.log, "math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p, "math.sin": np.sin,
    "math.cos": np.cos, "math.tan": np.tan, "math.asin": np.arcsin, "math.acos": np.arccos, "math.atan": np.arctan,
    "math.sinh": np.sinh, "math.cosh": np.cosh, "math.tanh": np.tanh, "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh, "math.atanh": np.arctanh, "math.pow": np.power, "math.atan2": np.arctan2,
    "math.hypot": np.hypot, "math.fmod": np.fmod, "libdevice.rsqrt": lambda x: 1 / np.sqrt(x),
    "libdevice.rcbrt": lambda x: 1 / np.cbrt(x), "libdevice.exp10": lambda x: np.power(np.longdouble(10), x),
    "math.gamma": by_c("tgammal"), "math.lgamma": by_c("lgammal"), "math.erf": by_c("erfl"),
    "math.erfc": by_c("erfcl"), "math.remainder": by_c("remainderl"),
}  # fmt: skip


def numbers(rng, count):
    """Of every size, of ordinary size, near 1, whole and half ones, and specials."""
    parts = [
        rng.integers(0, 1 << 64, count, np.uint64).view(np.float64),
        rng.uniform(-40, 40, count),
        rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(-30, 12, count),
        1 + rng.uniform(-1, 1, count) * 2.0 ** rng.uniform(-40, 0, count),
        np.arange(-200, 200) / 2,
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7976931348623157e308, 1e22, -1e22]),
    ]
    return np.concatenate(parts)


def of_doubles(name, count):
    exact_of = EXACT.get(name)
    if exact_of is None:
        return None
    rng = np.random.default_rng(7)
    x = numbers(rng, count)
    y = numbers(rng, count)[rng.permutation(x.size)] if name in PAIRS else x
    source = f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = {name}"
    source += "(x[i], y[i])\n" if name in PAIRS else "(x[i])\n"
    space = {"cuda": cuda, "math": math, "libdevice": libdevice}
    exec(source, space)
    got = np.zeros(x.size)
    cuda.jit(space["kernel"])[(x.size + 255) // 256, 256](x, y, got)
    with np.errstate(all="ignore"):
        wide = np.longdouble(x)
        exact = exact_of(wide, np.longdouble(y)) if name in PAIRS else exact_of(wide)
        nearest = exact.astype(np.float64)
        special = ~np.isfinite(nearest) | ~np.isfinite(got)
        same = (got == nearest) | (np.isnan(got) & np.isnan(nearest))
        near = np.abs(exact) >= np.longdouble(np.finfo(np.float64).max) * (1 - 2.0**-50)  # within the error of infinity
        wrong = int((special & ~same & ~near).sum())
        apart = np.abs(got.astype(np.longdouble) - exact) / np.spacing(np.abs(nearest))
        apart[special] = 0
    if name == "math.lgamma":
        apart[(x > ZEROS_OF_LGAMMA[8][0]) & (x < ZEROS_OF_LGAMMA[8][1])] = 0
    at = int(np.argmax(apart))
    return float(apart[at]), float(x[at]), wrong


# ---- the table -------------------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions; all if none is named")
    parser.add_argument("--samples", type=int, default=1 << 18, help="float64: numbers of each kind")
    options = parser.parse_args()
    if not cuda.is_available():
        sys.exit("there is no GPU")
    print("| function | type | ULP | at | guide | specials |\n| --- | --- | --- | --- | --- | --- |")
    failed = []
    for name, limits in GUIDE.items():
        if options.names and name not in options.names:
            continue
        for kind, limit in zip(("float32", "float64"), limits, strict=True):
            # half a unit is what rounding the exact result costs: the guide counts from the nearest float
            found = of_floats(name) if kind == "float32" else of_doubles(name, options.samples)
            if found is None:
                print(f"| `{name}` | {kind} | not measured | | {limit} | |", flush=True)
                continue
            most, at, wrong = found
            if most > limit + 0.5001 or wrong:
                failed.append(f"{name} of {kind}: {most:.3f} of {limit}, {wrong} specials")
            print(f"| `{name}` | {kind} | {most:.3f} | {at!r} | {limit} | {wrong} |", flush=True)
    print(*(["less exact than the guide says:", *failed] if failed else ["all are as exact as the guide says"]),
          sep="\n", file=sys.stderr)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
