"""What a GPU tells of itself while a kernel runs, and the nearest that the host device has."""

import numpy as np

from krait import cuda
from krait.extending import inline_llvm


def clock64():
    return inline_llvm(
        "%now = call i64 @llvm.readcyclecounter()\nret i64 %now\n---\ndeclare i64 @llvm.readcyclecounter()", np.int64
    )


def clock():
    return np.uint32(clock64() & 0xFFFFFFFF)


def globaltimer():
    if cuda.on_gpu():
        return cuda.inline_ptx("mov.u64 $0, %globaltimer;", np.int64)
    return clock64()


def smid():
    if cuda.on_gpu():
        return cuda.inline_ptx("mov.u32 $0, %smid;", np.uint32)
    return np.uint32(0)


def breakpoint():
    if cuda.on_gpu():
        cuda.inline_ptx("brkpt;", None)
