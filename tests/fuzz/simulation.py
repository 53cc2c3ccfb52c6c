"""A launch in plain Python: what a kernel computes, and whether that is the same in every order of its threads.

A kernel's function is turned into a generator that yields where a barrier stands; the threads of a block run one after
the other from barrier to barrier.  Arrays note who read and wrote what: where two threads touch an element in one
interval, one of them writing and not both by the same atomic operation, the kernel is `Racy`, and nothing is compared.
"""

import ast
import itertools
import types

import numpy as np


class Racy(BaseException):
    """The result depends on the order of the threads."""


BARRIERS = {"syncthreads": None, "syncthreads_count": sum, "syncthreads_and": all, "syncthreads_or": any}


SOURCES = {"shfl_sync": lambda lane, other: other % 32, "shfl_up_sync": lambda lane, other: lane - other,
           "shfl_down_sync": lambda lane, other: lane + other, "shfl_xor_sync": lambda lane, other: lane ^ other}
VOTES = {"all_sync": lambda votes: int(all(votes)), "any_sync": lambda votes: int(any(votes)),
         "ballot_sync": lambda votes: sum(vote << lane for lane, vote in enumerate(votes))}


def exchanged(asked):
    """What each thread gets of a warp operation that all threads of whole warps ask for: (name, mask, value, lane)."""
    answers = []
    for thread, (name, _, value, *other) in enumerate(asked):
        first, lane = thread - thread % 32, thread % 32
        if name in VOTES:
            answers.append(VOTES[name]([bool(vote) for _, _, vote in asked[first : first + 32]]))
        else:
            source = SOURCES[name](lane, int(other[0]))
            answers.append(asked[first + source][2] if 0 <= source < 32 else value)
    return answers


class Yields(ast.NodeTransformer):
    """Barriers and warp operations become yields: of their name and arguments."""

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if name not in BARRIERS and name not in SOURCES and name not in VOTES:
            return node
        return ast.Yield(ast.Tuple([ast.Constant(name), *node.args], ast.Load()))


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
    def atomic(array, index, number):
        place = array.place(index)
        array.note(place, operation)
        with np.errstate(all="ignore"):
            array.items[place] = operation(array.items[place], array.dtype.type(number))

    return atomic


class Launch:
    """Runs a kernel for every thread; also what the kernel calls `cuda`."""

    warpsize = 32

    def __init__(self, grid, block):
        self.sizes = grid, block
        self.gridDim, self.blockDim = (types.SimpleNamespace(**dict(zip("xyz", size))) for size in (grid, block))
        self.blockIdx, self.threadIdx = types.SimpleNamespace(), types.SimpleNamespace()
        self.shared = types.SimpleNamespace(array=self.shared_array)
        self.local = types.SimpleNamespace(array=self.local_array)
        self.atomic = types.SimpleNamespace(add=combine(np.add), sub=combine(np.subtract), max=combine(np.maximum),
                                            min=combine(np.minimum), and_=combine(np.bitwise_and),
                                            or_=combine(np.bitwise_or), xor=combine(np.bitwise_xor))
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

    def syncwarp(self):
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
            running = []
            for thread in np.ndindex(*self.sizes[1][::-1]):
                running.append((thread[::-1], kernel(*arguments), itertools.count()))
            answers = [None] * len(running)
            while running:
                running, answers = self.advance(running, answers)

    def advance(self, running, answers):
        """Every thread runs to its next barrier or warp operation; those that end are left out."""
        waiting, asked = [], []
        for (thread, steps, counter), answer in zip(running, answers):
            self.enter(thread)
            self.asked = counter
            try:
                asked.append(steps.send(answer))
                waiting.append((thread, steps, counter))
            except StopIteration:
                pass
        if not waiting:
            return [], []
        assert len(waiting) == len(running) and len({name for name, *_ in asked}) == 1, "a thread misses a barrier"
        if asked[0][0] not in BARRIERS:
            return waiting, exchanged(asked)
        self.interval += 1
        count = BARRIERS[asked[0][0]]
        answer = count and int(count(bool(predicate) for _, predicate in asked))
        return waiting, [answer] * len(waiting)
