"""A launch in plain Python: what a kernel computes, and whether that is the same in every order of its threads.

A kernel's function is turned into a generator that yields where a barrier stands; the threads of a block run one after
the other from barrier to barrier.  Arrays note who read and wrote what: where two threads touch an element in one
interval, one of them writing and not both by the same atomic operation, the kernel is `Racy`, and nothing is compared.
A thread may end with an exception: what it would have done is unknown, and nobody may wait for it.
"""

import ast
import functools
import itertools
import types

import numpy as np


class Racy(BaseException):
    """The result depends on the order of the threads."""


class Missed(BaseException):
    """A thread misses a barrier, or a lane what its warp does together."""


BARRIERS = {"syncthreads": None, "syncthreads_count": sum, "syncthreads_and": all, "syncthreads_or": any}
SOURCES = {"shfl_sync": lambda lane, other: other % 32, "shfl_up_sync": lambda lane, other: lane - other,
           "shfl_down_sync": lambda lane, other: lane + other, "shfl_xor_sync": lambda lane, other: lane ^ other}
VOTES = {"all_sync": lambda votes: all(votes.values()), "any_sync": lambda votes: any(votes.values()),
         "eq_sync": lambda votes: len(set(votes.values())) == 1,
         "ballot_sync": lambda votes: sum(1 << lane for lane, vote in votes.items() if vote)}
REDUCTIONS = {"reduce_add_sync": np.add, "reduce_max_sync": np.maximum, "reduce_min_sync": np.minimum,
              "reduce_and_sync": np.bitwise_and, "reduce_or_sync": np.bitwise_or, "reduce_xor_sync": np.bitwise_xor}
MATCHES = ("match_any_sync", "match_all_sync")


def exchanged(name, given):
    """What each lane gets of an operation: `given` has the arguments that each lane of the mask brings after it."""
    values = {lane: value for lane, (value, *_) in given.items()}
    if name in SOURCES:
        source = {lane: SOURCES[name](lane, int(other)) for lane, (_, other) in given.items()}
        return {lane: values.get(source[lane], value) for lane, value in values.items()}
    if name in REDUCTIONS:
        with np.errstate(all="ignore"):
            total = functools.reduce(REDUCTIONS[name], values.values())
        return dict.fromkeys(values, total)
    if name in VOTES:
        return dict.fromkeys(values, VOTES[name]({lane: bool(value) for lane, value in values.items()}))
    if name == "match_any_sync":
        return {lane: sum(1 << other for other in values if values[other] == value) for lane, value in values.items()}
    same = len(set(values.values())) == 1
    return dict.fromkeys(values, (sum(1 << lane for lane in values) if same else 0, same))


class Yields(ast.NodeTransformer):
    """Barriers and warp operations of a kernel become yields of their place, name and arguments; its return says so."""

    def __init__(self, kernel):
        self.kernel = kernel

    def visit_FunctionDef(self, node):
        return self.generic_visit(node) if node is self.kernel else node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if name not in (*BARRIERS, *SOURCES, *VOTES, *REDUCTIONS, *MATCHES, "syncwarp"):
            return node
        place = ast.Constant(f"{node.lineno}:{node.col_offset}")
        return ast.Yield(ast.Tuple([place, ast.Constant(name), *node.args], ast.Load()))

    def visit_Return(self, node):
        return ast.Return(ast.Constant("left"))


# ---- functions of bits ----


def bits_of(number):
    """The bits of an integer, as one without sign, and how many they are."""
    width = 64 if isinstance(number, int) else number.dtype.itemsize * 8
    return int(number) % 2**width, width


def clz(number):
    bits, width = bits_of(number)
    return width - bits.bit_length()


def ffs(number):
    bits, _ = bits_of(number)
    return (bits & -bits).bit_length()


def brev(number):
    bits, width = bits_of(number)
    turned = np.array([int(f"{bits:0{width}b}"[::-1], 2)], np.dtype(f"u{width // 8}"))
    return int(turned.view(np.int64)[0]) if isinstance(number, int) else turned.view(number.dtype)[0]


BITS = types.SimpleNamespace(popc=lambda number: bits_of(number)[0].bit_count(), clz=clz, ffs=ffs, brev=brev)


class Elements:
    """An array as a kernel sees it."""

    def __init__(self, launch, items, shared=True):
        self.launch, self.items, self.shared = launch, items, shared
        self.shape, self.size, self.ndim, self.dtype = items.shape, items.size, items.ndim, items.dtype

    def __len__(self):
        return self.shape[0]

    def place(self, index):
        index = index if isinstance(index, tuple) else (index,)
        place = tuple(int(i) + n if i < 0 else int(i) for i, n in zip(index, self.shape, strict=True))
        if not all(0 <= i < n for i, n in zip(place, self.shape)):
            raise IndexError(f"{place} of {self.shape}")
        return place

    def note(self, place, way):
        if self.shared:
            self.launch.note((id(self.items), place), way)

    def __getitem__(self, index):
        place = self.place(index)
        self.note(place, "read")
        return self.items[place]

    def __setitem__(self, index, number):
        place = self.place(index)
        self.note(place, "write")
        self.items[place] = number


def combine(operation):
    def atomic(array, index, *numbers):
        place = array.place(index)
        array.note(place, operation)
        old = array.items[place]
        with np.errstate(all="ignore"):
            array.items[place] = operation(old, *map(array.dtype.type, numbers))
        return old

    return atomic


ATOMICS = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum, "and_": np.bitwise_and,
           "or_": np.bitwise_or, "xor": np.bitwise_xor, "exch": lambda old, new: new,
           "cas": lambda old, wanted, new: new if old == wanted else old}


class Launch:
    """Runs a kernel for every thread; also what the kernel calls `cuda`."""

    warpsize = 32

    def __init__(self, grid, block, lost=()):
        self.sizes, self.lost = (grid, block), lost
        self.faults = []  # (place in the grid, exception) of the threads that ended with one of those
        self.gridDim, self.blockDim = (types.SimpleNamespace(**dict(zip("xyz", size))) for size in (grid, block))
        self.blockIdx, self.threadIdx = types.SimpleNamespace(), types.SimpleNamespace()
        self.shared = types.SimpleNamespace(array=self.shared_array)
        self.local = types.SimpleNamespace(array=self.local_array)
        self.atomic = types.SimpleNamespace(**{name: combine(operation) for name, operation in ATOMICS.items()})
        self.__dict__.update(vars(BITS))
        self.users, self.kept = {}, []

    def elements(self, items):
        return Elements(self, items)

    # ---- what a kernel asks ----

    def grid(self, ndim):
        place = tuple(self.block[a] * self.sizes[1][a] + self.thread[a] for a in range(ndim))
        return place if ndim > 1 else place[0]

    def gridsize(self, ndim):
        size = tuple(self.sizes[0][a] * self.sizes[1][a] for a in range(ndim))
        return size if ndim > 1 else size[0]

    @property
    def laneid(self):
        x, y, z = self.thread
        return (x + self.sizes[1][0] * (y + self.sizes[1][1] * z)) % 32

    def shared_array(self, shape, dtype):
        number = next(self.asked)
        if number not in self.of_block:
            self.of_block[number] = np.zeros(shape, dtype)
            self.kept.append(self.of_block[number])  # the next block's is another
        return Elements(self, self.of_block[number])

    def local_array(self, shape, dtype):
        return Elements(self, np.zeros(shape, dtype), shared=False)

    def threadfence(self):
        pass

    # ---- threads ----

    def note(self, address, way):
        me = self.block, self.thread, self.interval
        for (block, thread, interval), other in self.users.setdefault(address, {}).items():
            if thread == me[1] and block == me[0]:
                continue
            apart = block == me[0] and interval != me[2]
            if not apart and not way == other != "write":
                raise Racy
        ways = self.users[address]
        ways[me] = way if ways.get(me, way) == way else "write"

    def enter(self, thread):
        self.thread = thread
        for axis, place, block in zip("xyz", thread, self.block):
            setattr(self.threadIdx, axis, place)
            setattr(self.blockIdx, axis, block)

    def run(self, kernel, arguments):
        for place in np.ndindex(*self.sizes[0][::-1]):
            self.block, self.of_block, self.interval = place[::-1], {}, 0
            places = [thread[::-1] for thread in np.ndindex(*self.sizes[1][::-1])]
            threads = [Thread(number, place, kernel(*arguments), self.lost) for number, place in enumerate(places)]
            while any(thread.steps for thread in threads):
                self.advance(threads)

    def advance(self, threads):
        """Every thread runs to its next barrier or warp operation; what can go on gets its answer."""
        for thread in threads:
            if thread.steps and thread.asked is None:
                self.enter(thread.place)
                self.asked = thread.counter
                thread.run()
                if thread.fault:
                    self.faults.append((self.grid(3), thread.fault))
        waiting = [thread for thread in threads if thread.steps]
        if waiting and any(thread.fault for thread in threads):
            raise next(thread.fault for thread in threads if thread.fault)
        answered = [self.warp(thread, threads) for thread in waiting if thread.asked and not is_barrier(thread)]
        if waiting and not any(answered):
            self.barrier(threads, waiting)

    def warp(self, thread, threads):
        """Whether all lanes that a warp operation names have come to it; they get their answers."""
        if not thread.asked:
            return True
        site, name, mask, *_ = thread.asked if len(thread.asked) > 2 else (*thread.asked, 0xFFFFFFFF)
        first = thread.number - thread.number % 32
        lanes = {lane: threads[first + lane] for lane in range(32) if mask >> lane & 1 and first + lane < len(threads)}
        if any(other.asked is None or (other.asked[:2], *other.asked[2:3]) != ((site, name), *thread.asked[2:3])
               for other in lanes.values()):
            return False
        if name == "syncwarp":
            answers = dict.fromkeys(lanes)
        else:
            answers = exchanged(name, {lane: other.asked[3:] for lane, other in lanes.items()})
        for lane, other in lanes.items():
            other.answer, other.asked = answers[lane], None
        return True

    def barrier(self, threads, waiting):
        if len({thread.asked[:2] for thread in waiting}) > 1 or not is_barrier(waiting[0]):
            raise Missed
        if any(thread.ended for thread in threads):
            raise Missed
        self.interval += 1
        count = BARRIERS[waiting[0].asked[1]]
        answer = count and int(count(bool(thread.asked[2]) for thread in waiting))
        for thread in waiting:
            thread.answer, thread.asked = answer, None


class Thread:
    """A thread on its way: what it asked for, what it will be told, and how it ended."""

    def __init__(self, number, place, steps, lost):
        self.number, self.place, self.steps, self.counter = number, place, steps, itertools.count()
        self.asked, self.answer, self.ended = None, None, False
        self.lost, self.fault = lost, None

    def run(self):
        try:
            self.asked = self.steps.send(self.answer)
        except StopIteration as end:
            self.steps, self.ended = None, end.value != "left"
        except self.lost as fault:
            self.steps, self.fault = None, fault


def is_barrier(thread):
    return thread.asked[1] in BARRIERS
