"""The rows of the library (src/library/*.def): names that exist, columns that are true, and rows added at run time."""

import importlib
import sys
import zlib

import numpy as np
import pytest

from krait import _testing, cuda, errors, njit, typed

ROWS = _testing.functions()
PREFIXES = dict((title, prefix) for prefix, title in _testing.libraries())
CHARACTERS = {row[1] for row in _testing.table("scalars")}
NAMES = [name for row in ROWS if row["library"] != "Added functions" for name in row["names"].split()]


# Every integer type of NumPy has methods that their abstract class, under whose name they stand, lacks; a typed list
# has one more than a list.
METHODS_OF_ALL = {np.integer: np.int64, list: typed.List}


def resolve(name):
    """The object a full Python name stands for, or None where this interpreter or this NumPy does not have it."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = METHODS_OF_ALL.get(found, found)
            found = getattr(found, part, None)
        return found
    return None


NEWER = {"math.cbrt": (3, 11), "math.exp2": (3, 11), "math.sumprod": (3, 12), "math.fma": (3, 13),
         "itertools.batched": (3, 12)}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_an_object(name):
    if NEWER.get(name, (3, 11)) > sys.version_info:
        pytest.skip("newer than this interpreter")
    assert resolve(name) is not None


def test_names_and_keys_are_found():
    for row in ROWS:
        assert _testing.find_function(row["key"]) == row["key"]
        for name in row["names"].split():
            assert _testing.find_function(name) == row["key"], "two rows have one name"
    for name in ("", "sin", "math", "math.si", "math.sinn", "numpy.sin numpy.cos"):
        assert _testing.find_function(name) is None


def test_names_belong_to_their_library():
    for row in ROWS:
        for name in row["names"].split():
            assert name.startswith(PREFIXES[row["library"]])


def test_columns_agree_with_each_other():
    for row in ROWS:
        assert row["least"] <= row["most"], row
        assert row["effects"] and set(row["effects"]) <= set("PRWXCSNG"), row
        assert row["doc"] and not row["doc"].endswith("."), row
        assert (row["check"] in ("CALL", "FIRST")) == (row["checker"] is not None), row
        # What rtlib's powers of floats come to is the platform's pow (codegen/lower_math.c).
        powers = row["key"] in ("NP_POWER", "NP_FLOAT_POWER")
        assert not row["vectors"] or row["how"] == "EXTERN" or powers, row
        assert not row["is_value"] or row["most"] == 0, row
        if row["range"]:
            assert row["range"][0] <= row["range"][1], row
        if row["loops"]:
            types, result, integers = row["loops"]
            assert set(types) <= CHARACTERS and len(set(types)) == len(types), row
            assert result in {"=", "?", "r", "B", "==", "=i"} and set(integers) <= set("w=01!<>"), row


def ufuncs():
    return [row for row in ROWS if row["loops"]]


@pytest.mark.parametrize("row", ufuncs(), ids=lambda row: row["key"])
def test_the_loops_of_a_ufunc_are_numpys(row):
    ufunc = resolve(row["names"].split()[0])
    assert isinstance(ufunc, np.ufunc)
    assert row["least"] == row["most"] == ufunc.nin
    types, result, _ = row["loops"]
    loops = [loop.split("->") for loop in ufunc.types]
    theirs = {operands[0]: results for operands, results in loops if not set(operands + results) & set("mMO")}
    for character in types:
        own = np.dtype(character)
        # NumPy writes a type by any C type of that width: q is l, Q is L.
        dtypes = next([np.dtype(c) for c in results] for c, results in theirs.items() if np.dtype(c) == own)
        expected = {
            "=": [own],
            "?": [np.dtype(bool)],
            "r": [np.empty(0, own).real.dtype],
            "B": [np.dtype(np.uint8)],
            "==": [own, own],
            "=i": [own, np.dtype(np.int32)],
        }[result]
        assert dtypes == expected, (character, dtypes)


# ---- ranges: a result lies in the interval of its row ----------------------------------------------------------------


@cuda.jit
def places(out):
    i = cuda.grid(1)
    values = (
        cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z, cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z,
        cuda.blockDim.x, cuda.blockDim.y, cuda.blockDim.z, cuda.gridDim.x, cuda.gridDim.y, cuda.gridDim.z, cuda.laneid,
        cuda.warpsize,
    )  # fmt: skip
    j = 0
    for value in values:
        out[i, j] = value
        j += 1
    out[i, j] = cuda.grid(1)
    out[i, j + 1] = cuda.gridsize(1)


def test_intervals_of_places_hold():
    rows = {row["key"]: row["range"] for row in ROWS}
    keys = [
        f"CUDA_{which}_{axis}" for which in ("THREADIDX", "BLOCKIDX", "BLOCKDIM", "GRIDDIM") for axis in "XYZ"
    ] + ["CUDA_LANEID", "CUDA_WARPSIZE", "CUDA_GRID", "CUDA_GRIDSIZE"]
    out = np.full((3 * 64, len(keys)), -1, np.int64)
    places[3, 64](out)
    for column, key in enumerate(keys):
        low, high = rows[key]
        assert low <= out[:, column].min() and out[:, column].max() <= high, key


# ---- rows added at run time ------------------------------------------------------------------------------------------


def _adler(x):
    return x % 65521 + 1


def test_an_added_row_is_called_like_any_other():
    _testing.add_function("zlib.adler32", zlib.adler32, _adler, "a checksum of an int")

    @njit
    def twice(x):
        return zlib.adler32(x) + zlib.adler32(x + 1)

    assert twice(70000) == _adler(70000) + _adler(70001)
    assert twice(np.int32(5)) == _adler(5) + _adler(6)
    assert _testing.find_function("zlib.adler32") == "zlib.adler32"
    assert _testing.functions()[-1]["how"] == "PYTHON"
    assert twice.inspect_llvm()  # the name of an added row prints in dumps, too
    with pytest.raises(ValueError, match="there is a library function called zlib.adler32"):
        _testing.add_function("zlib.adler32", zlib.crc32, _adler, "again")
    with pytest.raises(ValueError, match="is a library function already"):
        _testing.add_function("zlib.other", zlib.adler32, _adler, "again")
    with pytest.raises(ValueError, match="there is a library function called math.sin"):
        _testing.add_function("math.sin", zlib.crc32, _adler, "taken")


def test_refusals_of_an_added_row_name_its_call():
    _testing.add_function("zlib.compressobj", zlib.compressobj, _adler, "refuses tuples")

    @njit
    def wrong(x):
        return zlib.compressobj((x, x))

    with pytest.raises(errors.TypingError, match="in the call of _adler"):
        wrong(1)


def test_many_added_rows_are_all_found():
    class Target:
        pass

    targets = [Target() for _ in range(3000)]
    for number, target in enumerate(targets):
        _testing.add_function(f"many.f{number}", target, _adler, "one of many")
    for number in range(3000):
        assert _testing.find_function(f"many.f{number}") == f"many.f{number}"
    assert _testing.find_function("math.sin") == "MATH_SIN"
