"""cuda.threadIdx, blockIdx, blockDim and gridDim as values: what a kernel gets that hands one to a device function,
keeps it in a tuple or prints it (src/frontend/names.c names these functions)."""

from typing import NamedTuple

from krait import cuda


class Dim3(NamedTuple):
    x: int
    y: int
    z: int

    def __repr__(self):
        return f"({self.x}, {self.y}, {self.z})"


def threadIdx():
    return Dim3(cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z)


def blockIdx():
    return Dim3(cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z)


def blockDim():
    return Dim3(cuda.blockDim.x, cuda.blockDim.y, cuda.blockDim.z)


def gridDim():
    return Dim3(cuda.gridDim.x, cuda.gridDim.y, cuda.gridDim.z)
