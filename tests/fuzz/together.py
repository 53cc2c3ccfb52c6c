"""Parts of random kernels in which threads meet: shared memory, barriers, warps."""

import kinds
import numpy as np
from kinds import Array

# masks of lanes, the condition under which a lane is one of them, and what lane numbers may be xored with
MASKS = ((0xFFFFFFFF, None, 31), (0x0000FFFF, "cuda.laneid < 16", 15), (0xAAAAAAAA, "cuda.laneid & 1", 30),
         (0x000000F0, "cuda.laneid // 4 == 1", 3))
VOTES = ("all_sync", "any_sync", "eq_sync", "ballot_sync")
REDUCTIONS = ("reduce_add_sync", "reduce_max_sync", "reduce_min_sync", "reduce_and_sync", "reduce_or_sync",
              "reduce_xor_sync")
EXCHANGED = (*kinds.INTS, *kinds.FLOATS, np.float64, np.int64)


def shared(chance, writer, threads, item):
    """A shared array in which each thread has an element of its own: the text of thread `t`'s, its own thread's `t`."""
    name, t = writer.fresh("s"), writer.fresh("t")
    rows = chance.choice([rows for rows in (1, 1, 2, 3, 4) if threads % rows == 0])
    shape = f"({rows}, {threads // rows})" if rows > 1 else f"{threads}"
    writer.put(f"{name} = cuda.shared.array({shape}, np.{np.dtype(item).name})")
    writer.put(f"{t} = cuda.threadIdx.x")
    writer.variables[t] = int
    writer.frozen.add(t)
    width = threads // rows

    def of(place):
        return f"{name}[({place}) // {width}, ({place}) % {width}]" if rows > 1 else f"{name}[{place}]"

    return of, t


def write_exchange(chance, writer, threads):
    """Threads of a block exchange numbers through shared memory."""
    item = chance.choice(kinds.OF_KERNELS)
    of, t = shared(chance, writer, threads, item)
    writer.put(f"{of(t)} = {writer.of_kind(item)}")
    writer.put("cuda.syncthreads()")
    taken = writer.fresh()
    if chance.random() < 0.5:
        write_rounds(chance, writer, threads, item, of, t, taken)
    writer.put(f"{taken} = {of(chance.choice([f'{threads} - 1 - {t}', f'({t} * 3) % {threads}', '0', t]))}")
    writer.variables[taken] = item
    if chance.random() < 0.4:
        voted = writer.fresh()
        writer.put(f"{voted} = cuda.{chance.choice(['syncthreads_count', 'syncthreads_or', 'syncthreads_and'])}"
                   f"({writer.condition(1)})")
        writer.put(f"{voted} = int({voted})")
        writer.variables[voted] = int
    if chance.random() < 0.5:
        writer.put("cuda.syncthreads()")


def write_rounds(chance, writer, threads, item, of, t, taken):
    k = writer.fresh("i")
    writer.put(f"for {k} in range({chance.choice([1, 2, 3])}):")
    writer.depth += 1
    writer.put(f"{taken} = {of(f'({t} + {k} + 1) % {threads}')}")
    writer.put("cuda.syncthreads()")
    held = dict(writer.variables)
    writer.variables |= {k: int, taken: item}
    if chance.random() < 0.3:  # some threads write
        writer.put(f"if {writer.condition(1)}:")
        writer.put("    " + f"{of(t)} = {writer.of_kind(item)}")
    else:
        writer.put(f"{of(t)} = {writer.of_kind(item)}")
    writer.variables = held
    writer.put("cuda.syncthreads()")
    writer.depth -= 1


def write_tree(chance, writer, threads):
    """A reduction in shared memory: fewer threads every round; or atomics in it."""
    item = chance.choice(kinds.INTS)
    of, t = shared(chance, writer, threads, item)
    writer.put(f"{of(t)} = {writer.of_kind(item)}")
    writer.put("cuda.syncthreads()")
    step, taken = writer.fresh("n"), writer.fresh()
    if chance.random() < 0.7:
        operator = chance.choice(["+", "-", "^", "|", "&"])
        half = 1 << (threads - 1).bit_length() >> 1
        writer.put(f"{step} = {half}")
        writer.put(f"while {step} > 0:")
        writer.put(f"    if {t} < {step} and {t} + {step} < {threads}:")
        writer.put(f"        {of(t)} = {of(t)} {operator} {of(f'{t} + {step}')}")
        writer.put("    cuda.syncthreads()")
        writer.put(f"    {step} //= 2")
        writer.variables[step] = int
    else:
        total = writer.fresh("s")
        writer.put(f"{total} = cuda.shared.array(2, np.{np.dtype(item).name})")
        writer.put(f"if {t} < 2:")
        writer.put(f"    {total}[{t}] = 0" if threads > 1 else f"    {total}[0] = {total}[1] = 0")
        writer.put("cuda.syncthreads()")
        operation = chance.choice(["add", "sub", "max", "min", "and_", "or_", "xor"])
        writer.put(f"cuda.atomic.{operation}({total}, {t} & 1, {of(t)})")
        writer.put("cuda.syncthreads()")
        writer.put(f"{taken} = {total}[{chance.choice([0, 1])}]")
        writer.variables[taken] = item
        return
    writer.put(f"{taken} = {of('0')}")
    writer.variables[taken] = item
    if chance.random() < 0.5:
        writer.put("cuda.syncthreads()")


def write_warp(chance, writer, threads):
    """The lanes of a mask exchange numbers, vote, compare or reduce; the others go round it."""
    mask, among, reach = chance.choice((MASKS[0], *MASKS))
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    text, item = chance.choice((vote, match, reduction, shuffle, shuffle))(chance, writer, mask, lanes, reach)
    taken = writer.fresh()
    if among:
        writer.put(f"{taken} = {kinds.name_of(item)}({kinds.literal(chance, int)})")
        writer.put(f"if {among}:")
        writer.put(f"    {taken} = {text}")
        if chance.random() < 0.3:
            writer.put(f"    cuda.syncwarp({mask})")
    else:
        writer.put(f"{taken} = {text}")
    writer.variables[taken] = item


def vote(chance, writer, mask, lanes, reach):
    return f"int(cuda.{chance.choice(VOTES)}({mask}, {writer.condition(1)}))", int


def match(chance, writer, mask, lanes, reach):
    item = chance.choice((np.int32, np.int64, np.uint32))
    value = f"{writer.of_kind(item)} & {kinds.name_of(item)}(1)"
    if chance.random() < 0.5:
        return f"int(cuda.match_any_sync({mask}, {value}))", int
    return f"int(cuda.match_all_sync({mask}, {value})[{chance.choice([0, 1])}])", int


def reduction(chance, writer, mask, lanes, reach):
    item = chance.choice(kinds.INTS)
    return f"cuda.{chance.choice(REDUCTIONS)}({mask}, {kinds.name_of(item)}({writer.of_kind(item)}))", item


def shuffle(chance, writer, mask, lanes, reach):
    item = chance.choice(EXCHANGED)
    value = f"{kinds.name_of(item)}({writer.of_kind(item)})"
    turns = [k for k in range(32) if not k & ~reach]
    ways = [("shfl_sync", chance.choice(lanes)), ("shfl_xor_sync", chance.choice(turns))]
    if len(lanes) == 32:
        ways += [("shfl_up_sync", chance.randint(0, 16)), ("shfl_down_sync", chance.randint(0, 16))]
    name, other = chance.choice(ways)
    return f"cuda.{name}({mask}, {value}, {other})", item


def write_divergent(chance, writer):
    """A barrier that some threads may miss: an error, unless none or all of them do."""
    writer.put(f"if {chance.choice([writer.condition(1), 'cuda.threadIdx.x < 16', 'cuda.blockIdx.x == 1'])}:")
    writer.put("    cuda.syncthreads()")


def write_local(chance, writer):
    item, name, k = chance.choice(kinds.OF_KERNELS), writer.fresh("l"), writer.fresh("i")
    size, ndim = chance.choice([1, 3, 8]), chance.choice([1, 1, 2])
    shape = f"({size}, 2)" if ndim == 2 else str(size)
    writer.put(f"{name} = cuda.local.array({shape}, np.{np.dtype(item).name})")
    writer.put(f"for {k} in range({size}):")
    for place in ([k] if ndim == 1 else [f"{k}, 0", f"{k}, 1"]):
        writer.put(f"    {name}[{place}] = {writer.of_kind(item)}")
    writer.variables[name] = Array(item, ndim)
