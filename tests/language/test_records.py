"""Records: structured dtypes as elements, scalars, arguments and results, against NumPy on the same function.

A record of plain structured dtype has no attributes in the interpreter; those are compared with access by name.
"""

import pickle

import numpy as np
import pytest
from conftest import host_device
from hypothesis import given, settings
from hypothesis import strategies as st

import krait
from krait import cuda, njit, typeof, types
from krait.errors import KraitError, TypingError
from oracle import make
from portions import examples

POINT = [("x", "f4"), ("n", [("u", "i2"), ("v", "f8")]), ("y", "i8"), ("m", "i4", (2, 3)), ("b", "?")]


def points(count=5, align=False, dtype=POINT):
    dtype = np.dtype(dtype, align=align) if isinstance(dtype, list) else dtype
    array = np.zeros(count, dtype)
    raw = np.random.default_rng(7)
    for name in ("x", "y"):
        array[name] = raw.integers(-50, 50, count)
    array["n"]["u"], array["n"]["v"] = raw.integers(-9, 9, count), raw.random(count)
    array["m"] = raw.integers(0, 99, (count, 2, 3))
    array["b"] = raw.integers(0, 2, count)
    return array


def offset_by_one(array):
    """The same elements at an address that is no multiple of anything."""
    raw = np.zeros(array.nbytes + 1, np.uint8)
    moved = raw[1:].view(array.dtype)
    moved[:] = array
    return moved


def twin(array):
    """A copy with the strides and the alignment of the original."""
    if array.ctypes.data % 8:
        return offset_by_one(array)
    copy = np.zeros(array.size * 2, array.dtype)[:: 2 if array.ndim and array.strides[0] > array.itemsize else 1]
    copy = copy[: array.size].reshape(array.shape)
    copy = copy[::-1] if array.ndim and array.strides[0] < 0 else copy
    copy[...] = array
    return copy


LAYOUTS = {
    "packed": points(),
    "aligned": points(align=True),
    "padded": points(dtype=np.dtype({"names": ["x", "n", "y", "m", "b"], "offsets": [40, 0, 16, 44, 70],
                                     "formats": ["f4", [("u", "i2"), ("v", "f8")], "i8", ("i4", (2, 3)), "?"],
                                     "itemsize": 96})),
    "strided": points(10, True)[::2],
    "backward": points()[::-1],
    "misaligned": offset_by_one(points(align=True)),
}


def same(ours, theirs):
    if isinstance(theirs, tuple):
        assert type(ours) is tuple and len(ours) == len(theirs)
        for pair in zip(ours, theirs):
            same(*pair)
        return
    assert type(ours) is type(theirs)
    if isinstance(theirs, (np.ndarray, np.void)):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        assert repr(ours.tolist()) == repr(theirs.tolist())  # what lies between fields is not looked at
    else:
        assert ours == theirs


def agree(function, array, *args):
    """Compiled and interpreted on equal arrays: the results, and what the arrays hold afterwards."""
    twins = twin(array), twin(array)
    ours, theirs = njit(function)(twins[0], *args), function(twins[1], *args)
    same(ours, theirs)
    np.testing.assert_array_equal(*twins)


# ---- reading ----


def fields(a, i):
    r = a[i]
    n = r["n"]
    return (r["x"], r["y"], n["u"], n["v"], r["b"], a["x"][i], a["n"]["v"][i], a[i]["m"][1, 2], a["m"][i, 1, 1],
            r["m"][0][1], r[0], r[-1], len(r))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("i", [0, 3, -1])
def test_fields(layout, i):
    agree(fields, LAYOUTS[layout], i)


def results(a):
    r = a[1]
    return r, a[2]["n"], a["x"], a["n"], a["m"], a[1:3], a[1]["m"], a["n"]["u"][1:]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_results(layout):
    array = LAYOUTS[layout]
    ours, theirs = njit(results)(array), results(array)
    same(ours, theirs)
    for mine, other in zip(ours, theirs):
        assert np.shares_memory(np.asarray(mine), array)
        assert mine.flags.writeable == other.flags.writeable
        assert isinstance(mine, np.void) or mine.strides == other.strides


@njit
def by_attribute(a, i):
    r = a[i]
    return r.x, a[i].y, r.n.u, a.n.v[i], a.x[i], r.m[1, 0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fields_by_attribute(layout):
    a = LAYOUTS[layout]
    same(by_attribute(a, 2), (a["x"][2], a["y"][2], a["n"]["u"][2], a["n"]["v"][2], a["x"][2], a["m"][2, 1, 0]))


def iterated(a):
    total = 0.0
    for i, r in enumerate(a):
        total += r["x"] * i + r["n"]["v"]
    for r in a.flat:
        x, n, y, m, b = r
        total += y + n["u"] + m[1, 1] + b
    return total


@pytest.mark.parametrize("layout", LAYOUTS)
def test_loops_and_unpacking(layout):
    agree(iterated, LAYOUTS[layout])


NAME = "y"


def test_names_are_constants_of_the_program():
    local = "x"
    agree(lambda a: (a[0][NAME], a[local][1], a["n"][0]["v"]), points())


# ---- writing ----


def written(a, i):
    r = a[i]
    r["x"] = 7
    a[i + 1]["y"] = r["x"] + 1.0
    r["n"]["u"] = -3
    a["b"][i] = True
    a["n"]["v"][i:] = 2.5
    a["m"][i, 1] = (4, 5, 6)
    r["m"][0] = r["m"][1]
    a["x"] += 1
    return r["x"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fields_are_written(layout):
    agree(written, LAYOUTS[layout], 2)


def whole(a, b):
    a[0] = a[1]
    a[1] = (1, (2, 3.5), 4, 5, True)
    a[2:4] = b[0:2]
    a[4] = b[0]
    a["n"][0] = (8, 9)
    b[1]["n"] = b[0]["n"]
    a[3]["m"] = 6
    return a[0]


def converted(a, b):
    a[0] = a[1]
    a[4] = b[0]
    a["n"][0] = b["n"][1]
    return a[0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("other", ["packed", "aligned"])
def test_whole_records(layout, other):
    ours, theirs = [(twin(LAYOUTS[layout]), twin(LAYOUTS[other])) for _ in range(2)]
    function = whole if ours[0].dtype == ours[1].dtype else converted
    same(njit(function)(*ours), function(*theirs))
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


def test_one_record_to_many():
    def spread(a):
        a[1:] = a[0]
        return a[4]["y"]

    agree(spread, points())


def test_an_integer_that_does_not_fit_raises():
    def put(a, n):
        a[0]["n"]["u"] = n

    for array in (points(), points(align=True)):
        for function in (put, njit(put)):
            with pytest.raises(OverflowError, match="Python integer 40000 out of bounds for int16"):
                function(array, 40000)


# ---- records as scalars ----


def scalar(r):
    r["x"] = r["x"] + 1
    return r, r["n"], r["n"]["v"]


def test_a_record_is_an_argument_and_itself_the_result():
    array = points()
    record = array[1]
    before = record["x"]
    result = njit(scalar)(record)
    assert result[0] is record and type(result[1]) is np.void and array["x"][1] == before + 1
    same(njit(scalar)(array[2].copy()), scalar(array[2].copy()))


def test_records_in_tuples_and_across_calls():
    @njit
    def larger(p, q):
        return p if p["y"] > q["y"] else q

    @njit
    def both(pair):
        first, second = pair
        best = larger(first, second)
        best["x"] = 99
        return best, pair

    array = points()
    best, pair = both((array[0], array[3]))
    assert best["y"] == max(array["y"][0], array["y"][3]) and best["x"] == 99 and 99 in array["x"]
    assert pair == (array[0], array[3])


def test_recarrays():
    array = np.rec.array([(1, 2.5, (3,)), (4, 5.5, (6,))], dtype=[("p", "i4"), ("q", "f8"), ("s", [("z", "i1")])])

    def function(a):
        r = a[1]
        r.p = 8
        return r, a.p, a, a[0:1], r.q, a.s, r.s, a["s"]

    ours, theirs = njit(function)(array), function(array)
    same(ours, theirs)
    assert ours[2] is array and type(ours[0]) is np.record and type(ours[3]) is np.recarray


def test_copies_and_parts_of_recarrays_are_recarrays():
    array = np.rec.array([(1, 2.5), (4, 5.5), (7, 8.5)], dtype=[("p", "i4"), ("q", "f8")])

    def function(a):
        return a.copy(), a[a.p > 2], a[[0, 2]], np.take(a, [0, 1]), np.zeros_like(a), np.repeat(a, 2), a.flatten()

    ours, theirs = njit(function)(array), function(array)
    same(ours, theirs)
    assert [type(one) for one in ours] == [np.recarray] * 7 == [type(one) for one in theirs]
    ours[0].p = 3
    assert array.p[0] == 1 and ours[0].p[0] == 3


@pytest.mark.parametrize("as_recarray", [False, True])
def test_a_copy_of_a_record_is_a_record(as_recarray):
    def function(a):
        first, second = a[0].copy(), a[-1].copy()
        first["x"] = 77
        a[-1], a[0] = a[0].copy(), second
        kinds = [isinstance(first, np.void), isinstance(first, np.record), isinstance(first, np.ndarray)]
        return first, first["x"], kinds, isinstance(a[:1].reshape(()).copy(), np.void)

    array = points().view(np.recarray) if as_recarray else points()
    agree(function, array)


def test_readonly_records():
    array = points()
    array.flags.writeable = False
    assert not njit(lambda a: a[0])(array).flags.writeable

    def named(a):
        a[0]["x"] = 1

    def attribute(a):
        a.x = 1

    for function in (named, attribute):
        with pytest.raises(TypingError, match="read-only"):
            njit(function)(array)


def test_global_arrays_of_records():
    table = points(align=True)
    agree(lambda a, i: table[i]["x"] + table["n"]["v"][i] + a[i]["y"], points(), 3)


def test_two_dimensions_and_none():
    grid = points(6).reshape(2, 3)
    agree(lambda a: (a[1, 2]["x"], a[1]["y"], a["m"][1, 2, 0, 1], a.T[2]["b"]), grid)
    agree(lambda a: (a["x"], a["n"]), points(1).reshape(()))


# ---- properties ----


SCALARS = "? b h i l B H I L e f d F D".split()
names = st.lists(st.text("abcxyz_ .:é", min_size=1, max_size=4), min_size=1, max_size=5, unique=True)


@st.composite
def dtypes(draw, depth=2):
    parts = []
    for name in draw(names):
        kind = draw(st.integers(0, 5 if depth else 4))
        item = draw(dtypes(depth - 1)) if kind == 5 else np.dtype(draw(st.sampled_from(SCALARS)))
        parts.append((name, item, draw(st.sampled_from([(2,), (1, 3)]))) if kind == 0 else (name, item))
    return np.dtype(parts, align=draw(st.booleans()))


@given(dtypes(), st.integers(0, 2**32))
@settings(max_examples=examples(40), deadline=None)
def test_any_dtype(dtype, seed):
    array = np.random.default_rng(seed).integers(0, 2, 3 * dtype.itemsize, np.uint8).view(dtype)
    names = dtype.names
    source = "def f(a):\n    r = a[1]\n    a[0] = a[2]\n    return (r, " + "".join(
        f"r[{name!r}], a[{name!r}], " for name in names) + ")"
    space = {}
    exec(source, space)
    ours, theirs = array.copy(), array.copy()
    same(njit(space["f"])(ours), space["f"](theirs))
    same(ours, theirs)
    assert str(typeof(array)).startswith("array(record(")


# ---- kernels ----


def update(a, out, r):
    i = cuda.grid(1)
    if i < out.size:
        e = a[i]
        out[i] = e.x + e.n.v + r.y + e.m[1, 0]
        e.y = i
        a[i].m[0, 2] = 5
        if i == 0:
            a[0] = a[4]
            a[1] = (1, (2, 3), 4, 5, True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_kernels(layout):
    array, out = LAYOUTS[layout].copy(), np.zeros(5)
    record, before = array[1].copy(), array.copy()
    cuda.jit(update)[5, 1](array, out, record)
    np.testing.assert_allclose(out[2:], before["x"][2:] + before["n"]["v"][2:] + record["y"] + before["m"][2:, 1, 0])
    assert list(array["y"][[2, 3]]) == [2, 3] and list(array["m"][2:, 0, 2]) == [5, 5, 5]


@host_device
def test_an_index_outside_is_left_out():
    @cuda.jit
    def outside(a, out):
        r = a[7]
        out[0] = r.x
        out[1] = r.m[1, 1]
        r.y = 3
        r.n.u = 4
        a[0] = r

    array, out = points(), np.ones(2)
    expected = array.copy()
    expected[0] = np.zeros(1, array.dtype)[0]
    with pytest.warns(match="outside the array"):
        outside[1, 1](array, out)
    assert list(out) == [0, 0]
    np.testing.assert_array_equal(array, expected)


# ---- refusals ----


@pytest.mark.parametrize("expression, text, hint", [
    ("a[0]['z']", "has no field 'z'", "the fields are 'x', 'n', 'y', 'm', 'b'"),
    ("a[0].z", "has no attribute `z`", "the fields are 'x', 'n', 'y', 'm', 'b'"),
    ("a[0][i]", "a record is indexed by a field known when the function is compiled", "r['name'] or r.name"),
    ("a[0][5]", "index 5 is out of range for a record of 5 fields", ""),
    ("a[0] + 1", "unsupported operand types for +", ""),
    ("a.flat[0]", "`flat` of an array of records", "index the array itself"),
])
def test_refusals(expression, text, hint):
    with pytest.raises(KraitError) as caught:
        njit(eval("lambda a, i: " + expression))(points(), 0)
    assert text in str(caught.value) and hint in str(caught.value)


@pytest.mark.parametrize("value, text", [
    ("5", "cannot be stored into a record"),
    ("(1, 2)", "a record of 5 fields cannot be made of 2 items"),
    ("(1j, (2, 3), 3, 4, 5)", "complex"),
])
def test_refused_assignments(value, text):
    space = {}
    exec(f"def f(a):\n    a[0] = {value}\n", space)
    with pytest.raises(TypingError, match=None) as caught:
        njit(space["f"])(points())
    assert text in str(caught.value)


# ---- types ----


@pytest.mark.parametrize("asked", ["bool(p)", "bool(p[()])", "not p", "p and 1", "1 if p else 2", "np.equal(p, p)",
                                   "np.add(p, 1, dtype=np.int8)", "np.sqrt(p)", "abs(p)", "np.where(p, 1, 2)",
                                   "np.count_nonzero(p)", "np.any(p)", "np.divmod(p, p)", "np.array_equal(p, p)"])
def test_a_record_in_an_array_without_axes_is_no_number(asked):
    with pytest.raises(TypingError, match="does not take|neither true nor false"):
        njit(make(f"def f(p):\n    return {asked}", np=np))(points()[0].reshape(()))


def test_type_objects():
    dtype = np.dtype([("x", "f4"), ("n", [("u", "i2")]), ("m", "i4", (2, 3))], align=True)
    record = krait.from_dtype(dtype)
    assert isinstance(record, types.Record) and record.dtype == dtype and record.aligned
    assert record.size == dtype.itemsize
    assert record.typeof("x") is krait.float32 and record.offset("m") == dtype.fields["m"][1]
    assert record.typeof("m") is types.NestedArray(krait.int32, (2, 3)) and record.typeof("m").shape == (2, 3)
    assert record.members[1] == ("n", krait.from_dtype(np.dtype([("u", "i2")], align=True)))
    assert typeof(np.zeros(2, dtype)) is record[::1] and typeof(np.zeros(2, dtype)).dtype is record
    assert typeof(np.zeros(2, dtype)[0]).dtype == dtype
    assert pickle.loads(pickle.dumps(record)) is record
    assert types.Record([("x", krait.float32), ("n", types.Record([("u", krait.int16)])),
                         ("m", types.NestedArray(krait.int32, (2, 3)))]) is record
    fields = [("a", {"type": krait.int8, "offset": 0}), ("b", {"type": krait.float64, "offset": 1})]
    packed = types.Record(fields, 9, False)
    assert not packed.aligned and packed.size == 9 and packed.dtype == np.dtype([("a", "i1"), ("b", "f8")])
    assert krait.from_dtype("f4") is krait.float32 and krait.from_dtype(np.int8) is krait.int8


@pytest.mark.parametrize("make", [
    lambda: krait.from_dtype(object),
    lambda: types.Record([("x", krait.float32[:])]),
    lambda: types.Record(["x"]),
    lambda: types.NestedArray(krait.float32, ()),
    lambda: types.NestedArray(krait.float32, (2**20, 2**20)),
])
def test_what_is_no_record_type(make):
    with pytest.raises(TypeError):
        make()


def test_explicit_signatures():
    dtype = points().dtype
    record = krait.from_dtype(dtype)

    @njit((record[:], krait.int64))
    def total(a, i):
        return a[i]["x"] + a["n"]["v"][i]

    @njit((record,))
    def first(r):
        r["x"] = 1
        return r

    array = points()
    for given in (array, array[::2], array[::-1]):
        assert total(given, 1) == given[1]["x"] + given["n"]["v"][1]
    assert first(array[0]) is not None and array["x"][0] == 1
    with pytest.raises(TypeError):
        total(np.zeros(3, "f4,f8"), 1)


def test_vectors_are_records_of_four():
    four = np.dtype({"names": ["x", "y", "z", "w"], "formats": ["f4"] * 4}, align=True)

    @njit((types.float32x4[::1],))
    def swap(a):
        v = a[0]
        a[1] = types.float32x4(v.w, v.z, v.y, v.x)
        return v

    memory = np.zeros(64, "u1")
    start = -memory.ctypes.data % 16
    array = memory[start:start + 32].view(four)
    array[0] = (1, 2, 3, 4)
    result = swap(array)
    assert result.dtype == four and result.item() == (1, 2, 3, 4) and array[1].item() == (4, 3, 2, 1)


# ---- device arrays ----


def test_device_arrays():
    host = points(align=True)
    device = cuda.to_device(host)
    assert device.dtype == host.dtype and device.nbytes == host.nbytes and "'x'" in repr(device)
    np.testing.assert_array_equal(device.copy_to_host(), host)
    np.testing.assert_array_equal(device["x"].copy_to_host(), host["x"])
    np.testing.assert_array_equal(device[1:3].copy_to_host(), host[1:3])
    same(device[2], host[2].copy())
    device["x"] = 7
    device[0] = host[3]
    host["x"] = 7
    host[0] = points(align=True)[3]
    np.testing.assert_array_equal(device.copy_to_host(), host)

    @cuda.jit
    def move(a, b):
        i = cuda.grid(1)
        if i < a.size:
            b[i] = a[a.size - 1 - i]
            b[i].y += 1

    other = cuda.device_array_like(device)
    move[1, 8](device, other)
    expected = host[::-1].copy()
    expected["y"] += 1
    np.testing.assert_array_equal(other.copy_to_host(), expected)
    packed = cuda.to_device(points())
    np.testing.assert_array_equal(packed["n"]["v"].copy_to_host(), points()["n"]["v"])
    with pytest.raises(TypeError):
        cuda.to_device(np.array([None, 1]))


# ---- new arrays ----


BODY = np.dtype([("mass", "f8"), ("name", "U4"), ("at", "f4", 3), ("when", "M8[s]")], align=True)


def test_new_arrays_of_records():
    def make(n):
        bodies = np.zeros(n, dtype=BODY)
        for i in range(n):
            bodies[i]["mass"] = i + 0.5
            bodies["name"][i] = "abc"
            bodies[i]["at"][1] = i
        like = np.zeros_like(bodies)
        like[1] = bodies[2]
        return bodies, like, bodies["at"], np.empty((2, 3), BODY).shape

    ours, theirs = njit(make)(4), make(4)
    assert ours[3] == theirs[3]
    for mine, other in zip(ours[:3], theirs[:3]):
        assert mine.dtype == other.dtype and mine.tolist().__repr__() == other.tolist().__repr__()
    record = njit(lambda n: np.zeros(n, BODY)[1])(3)
    assert type(record) is np.void and record["mass"] == 0


# ---- records and arrays of one ----


@pytest.mark.parametrize(
    "text", ["p[1].T", "p[1].transpose()", "np.transpose(p[1])", "p[1].view()", "p[1].view(p.dtype)",
             "p[1].astype(p.dtype)", "np.asarray(p[1])", "np.asarray(p[1])[()]", "np.asarray(p[1], p.dtype)",
             "np.atleast_1d(p[1])", "np.asarray(p)[0]"])  # fmt: skip
def test_what_is_an_array_of_a_record_and_what_the_record(text):
    space = {"np": np}
    exec(f"def made(p): return {text}\ndef changed(p):\n    q = {text}\n    q['x'] = 9\n    return p['x'][1]", space)
    points = np.array([(1, 2), (3, 4)], [("x", "f8"), ("y", "i4")])
    ours, theirs = njit(space["made"])(points), space["made"](points)
    assert type(ours) is type(theirs) and ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist()
    assert njit(space["changed"])(points.copy()) == space["changed"](points.copy())
