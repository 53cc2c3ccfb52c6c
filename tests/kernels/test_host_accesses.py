"""Random kernels on the host device against a simulation, one thread after the other: results, the bytes around the
arrays, and the block and thread that the warning names.

Where there is a GPU, kernels run there unless told; this file then runs itself again in a process that is told.
"""

import random
import re
import warnings

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host

from krait import cuda, errors


@on_the_gpu
def test_this_file_on_the_host_device():
    run_on_the_host(__file__)


# ---- what a launch does ----


class Launch:
    """Runs a kernel's Python function for every thread, in the order of blocks and then of threads."""

    def __init__(self, grid, block):
        self.grid, self.block = grid, block
        self.first_outside = None
        self.racy = False  # a thread read or wrote what another had written or read
        self.users = {}  # address -> thread that wrote it, "atomic", or the set of those that read it

    def run(self, function, arguments):
        for place in np.ndindex(*self.grid[::-1], *self.block[::-1]):
            self.thread = (place[2::-1], place[:2:-1])
            function(*arguments)

    def reads(self, address):
        users = self.users.setdefault(address, set())
        if isinstance(users, set):
            users.add(self.thread)
        elif users != self.thread:
            self.racy = True

    def writes(self, address, who):
        users = self.users.get(address, who)
        if isinstance(users, set):
            self.racy |= bool(users - {who})
        elif users != who:
            self.racy = True
        self.users[address] = who


class Places:
    """Stands in for `cuda` in a kernel."""

    def __init__(self, launch):
        self.launch = launch
        self.atomic = self

    def grid(self, ndim):
        (blocks, threads), sizes = self.launch.thread, self.launch.block
        place = tuple(blocks[a] * sizes[a] + threads[a] for a in range(ndim))
        return place if ndim > 1 else place[0]

    def add(self, array, index, number):
        index = array.place(index)
        if index is not None:
            self.launch.writes(array.address(index), "atomic")
            array.items[index] += number


class Guarded:
    """Stands in for an array: what is outside reads as zero and is not written."""

    def __init__(self, launch, items):
        self.launch, self.items = launch, items
        self.shape, self.size = items.shape, items.size

    def place(self, index):
        index = [int(i) for i in (index if isinstance(index, tuple) else (index,))]
        index = tuple(i + n if i < 0 else i for i, n in zip(index, self.shape, strict=True))
        if all(0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            return index
        self.launch.first_outside = self.launch.first_outside or self.launch.thread
        return None

    def address(self, index):
        return self.items[(*map(slice, index, [i + 1 for i in index]),)].ctypes.data

    def __getitem__(self, index):
        index = self.place(index)
        if index is None:
            return self.items.dtype.type(0)
        self.launch.reads(self.address(index))
        return self.items[index]

    def __setitem__(self, index, number):
        index = self.place(index)
        if index is not None:
            self.launch.writes(self.address(index), self.launch.thread)
            self.items[index] = number


# ---- kernels ----

# Products of a small number and one of these are close to zero once they wrap.
WRAPPING = [0x5555555555555555, 0x3333333333333333, 2**63 - 1, 2**62 - 1, 0x2492492492492492]


class Writer:
    """Writes the text of a random kernel of the arrays a, b, c (data) and x (small integers)."""

    def __init__(self, chance, wraps):
        self.chance = chance
        self.wraps = wraps
        self.ndim = chance.choice([1, 2])
        self.ndims = {name: chance.choice([self.ndim, self.ndim, 1]) for name in "abc"} | {"x": 1}
        self.numbers = ["i"] if self.ndim == 1 else ["i", "j"]
        self.lines = [f"    {', '.join(self.numbers)} = cuda.grid({self.ndim})"]

    def extent(self):
        name = self.chance.choice("abc")
        return f"{name}.shape[{self.chance.randrange(self.ndims[name])}]"

    def number(self, depth=2):
        pick, one = self.chance.choice, self.chance.choice(self.numbers)
        if depth == 0 or self.chance.random() < 0.4:
            return pick([one, one, self.extent(), str(pick([0, 1, 2, 5, 9]))])
        left, right = self.number(depth - 1), self.number(depth - 1)
        return pick([f"({left} + {right})", f"({left} - {right})", f"({left} - {pick([1, 2, 3])})",
                     f"({left} * {pick([2, 3])})", f"({left} // {pick([2, -3])})", f"({left} % {pick([3, -5])})",
                     f"(-{left})", f"min({left}, {right})", f"int({self.access('x', depth - 1)})",
                     left if self.wraps else f"int(np.int32({left}))"])

    def access(self, name, depth=2):
        plain = self.chance.random() < 0.4
        index = [self.numbers[k % self.ndim] if plain else self.index(depth) for k in range(self.ndims[name])]
        return f"{name}[{', '.join(index)}]"

    def index(self, depth):
        one = self.chance.choice(self.numbers)
        return self.chance.choice([one, f"{one} + 1", f"{one} - 1", f"{one} - 2", self.number(depth)])

    def condition(self):
        one, extent = self.chance.choice(self.numbers), self.extent()
        return self.chance.choice([f"{one} < {extent}", f"0 < {one} < {extent} - 1", f"{one} != 0", f"{one} > 1",
                                   f"not {one} < 1", f"{one} - 1 < {extent}", f"{self.number(1)} < {self.number(1)}",
                                   f"{one} != 0 and {one} - 1 < {extent}"])

    def statement(self, indent, depth):
        kind, pad, to = self.chance.random(), "    " * indent, self.access(self.chance.choice("abc"))
        known = len(self.numbers)
        if kind < 0.4 and depth:
            self.lines.append(f"{pad}if {self.condition()}:")
            self.statement(indent + 1, depth - 1)
        elif kind < 0.5 and depth:
            self.numbers.append(f"n{len(self.lines)}")
            numbers = self.chance.choice(["3", "-2, 3", "4, -2, -1", self.extent()])
            self.lines.append(f"{pad}for {self.numbers[-1]} in range({numbers}):")
            self.statement(indent + 1, depth - 1)
        elif kind < 0.6:
            name, index = to[:-1].split("[", 1)
            self.lines.append(f"{pad}cuda.atomic.add({name}, ({index}), 1)")
        else:
            value = self.chance.choice([f"{self.access('a')} + 1", f"{self.access('b')} + {self.access('c')}", "7"])
            self.lines.append(f"{pad}{to} {self.chance.choice(['=', '=', '+='])} {value}")
        del self.numbers[known:]

    def text(self):
        if self.wraps:
            start = self.chance.choice([self.extent(), "(i + 1)", "x.size"])
            self.lines.append(f"    w = {start} * {self.chance.choice(WRAPPING)}")
            self.numbers += ["w"] * 4
        for _ in range(self.chance.choice([1, 2, 3])):
            self.statement(1, 2)
        return "def kernel(a, b, c, x):\n" + "\n".join(self.lines) + "\n"


def arrays_of(writer):
    """The kernel's arrays, each in the middle of a larger one; some of one shape, some strided."""
    chance, shapes, arrays = writer.chance, {}, []
    for name, ndim in writer.ndims.items():
        shape = tuple(chance.choice([0, 1, 2, 3, 5, 7, 16]) for _ in range(ndim))
        if chance.random() < 0.7:
            shape = shapes.setdefault(ndim, shape)
        steps = [chance.choice([1, 1, 1, 2, -1]) for _ in shape]
        room = [max(n, 1) * abs(step) for n, step in zip(shape, steps, strict=True)]
        dtype = np.int8 if name == "x" else chance.choice([np.float64, np.int32])
        around = np.full(int(np.prod(room)) + 128, 77, dtype)
        whole = around[64:-64].reshape(room, order=chance.choice("CF"))
        items = whole[tuple(slice(None, None, step) for step in steps)][tuple(slice(n) for n in shape)]
        items[...] = np.arange(items.size).reshape(shape) % 20 - (5 if name == "x" else 0)
        arrays.append((around, items))
    return arrays


def same_view(items, old, new):
    return np.ndarray(items.shape, items.dtype, new, items.ctypes.data - old.ctypes.data, items.strides)


GRIDS = {1: [((1, 1, 1), (32, 1, 1)), ((5, 1, 1), (7, 1, 1)), ((20, 1, 1), (1, 1, 1))],
         2: [((1, 1, 1), (8, 8, 1)), ((3, 2, 1), (4, 3, 1)), ((1, 9, 1), (2, 2, 1)), ((5, 1, 1), (2, 7, 1))]}


def named(caught):
    found = re.search(r"block \((.*?)\).*thread \((.*?)\)", str(caught.message))
    return tuple(tuple(int(number) for number in place.split(",")) for place in found.groups())


def compare(writer, text, kernel):
    arrays = arrays_of(writer)
    grid, block = writer.chance.choice(GRIDS[writer.ndim])
    copies = [(copy, same_view(items, around, copy)) for around, items in arrays for copy in [around.copy()]]
    launch, names = Launch(grid, block), {}
    exec(text, {"cuda": Places(launch), "np": np}, names)
    if not writer.wraps:
        launch.run(names["kernel"], [Guarded(launch, items) for _, items in copies])
    before = [around.copy() for around, _ in arrays]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[grid, block](*(items for _, items in arrays))
    for (around, items), old in zip(arrays, before, strict=True):
        same_view(items, around, old)[...] = items
        np.testing.assert_array_equal(around, old)  # nothing else was written
    if writer.wraps or launch.racy:
        return
    assert [named(warning) for warning in caught if warning.category is errors.OutOfBoundsWarning] == (
        [launch.first_outside] if launch.first_outside else [])
    for (around, _), (want, _) in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(around, want)


@host_device
@pytest.mark.parametrize("seed", range(50))
def test_random_kernels(seed):
    writer = Writer(random.Random(seed), wraps=seed % 3 == 0)
    text, names = writer.text(), {}
    exec(compile(text, f"<seed {seed}>", "exec"), {"cuda": cuda, "np": np}, names)
    kernel = cuda.jit(names["kernel"])
    for _ in range(2):
        try:
            compare(writer, text, kernel)
        except AssertionError:
            print(text)
            raise


def sum_of_two(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def blocks_of(kernel):
    """The functions that a kernel's code has for blocks, and those of them that note accesses outside."""
    functions = re.findall(r"^define [^@]*@(\w+)(.*?)^}", next(iter(kernel.inspect_llvm().values())), re.M | re.S)
    blocks = {name: body for name, body in functions if name.startswith("krait_block")}
    return set(blocks), {name for name, body in blocks.items() if "llvm.smin" in body}


@host_device
def test_of_one_shape_nothing_is_noted_of_accesses_outside():
    kernel, x, out = cuda.jit(sum_of_two), np.arange(70.0), np.zeros(70)
    kernel[3, 32](x, x, out)
    np.testing.assert_array_equal(out, 2 * x)
    assert blocks_of(kernel) == ({"krait_block_one_shape"}, set())


@host_device
def test_code_for_arrays_of_any_shape_is_there_once_it_is_needed():
    kernel, x = cuda.jit(sum_of_two), np.arange(70.0)
    for length in 70, 64, 70, 1:
        out = np.zeros(length)
        kernel[3, 32](x, x, out)
        np.testing.assert_array_equal(out, 2 * x[:length])
    assert blocks_of(kernel) == ({"krait_block", "krait_block_one_shape"}, {"krait_block"})
    assert len(kernel.signatures) == 1
    other = cuda.jit(sum_of_two)
    other[3, 32](x, x, np.zeros(64))  # seen before it is compiled
    assert blocks_of(other)[0] == {"krait_block", "krait_block_one_shape"}
    with pytest.warns(Warning, match="outside"):
        kernel[3, 32](x[:5], x, np.zeros(70))


@host_device
def test_code_for_blocks_of_any_size_is_there_once_it_is_needed():
    @cuda.jit
    def backwards(x, out):
        shared = cuda.shared.array(64, np.float64)
        t, n = cuda.threadIdx.x, cuda.blockDim.x
        shared[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        out[cuda.grid(1)] = shared[n - 1 - t]

    x, copies = np.arange(192.0), []
    for size in 32, 64, 32, 16, 48:
        out = np.zeros(192)
        backwards[192 // size, size](x, out)
        np.testing.assert_array_equal(out, x.reshape(-1, size)[:, ::-1].ravel())
        copies.append(blocks_of(backwards)[0])
    assert copies == [{"krait_block_one_size"}] + 4 * [{"krait_block", "krait_block_one_size"}]
