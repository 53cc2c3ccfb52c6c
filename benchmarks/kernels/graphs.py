"""Graphs by lists of neighbours (CSR): a level of a breadth-first search, ranks of pages, shortest ways, triangles."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void search_level(const int *__restrict__ starts, const int *__restrict__ ends,
                                        int *__restrict__ distance, int level, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || distance[v] != level) return;
    for (int k = starts[v]; k < starts[v + 1]; k++)
        if (distance[ends[k]] < 0) distance[ends[k]] = level + 1;
}

extern "C" __global__ void page_rank(const int *__restrict__ starts, const int *__restrict__ sources,
                                     const int *__restrict__ degree, const float *__restrict__ rank,
                                     float *__restrict__ out, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float total = 0;
    for (int k = starts[v]; k < starts[v + 1]; k++) {
        int u = sources[k];
        total += rank[u] / degree[u];
    }
    out[v] = 0.15f + 0.85f * total;
}

extern "C" __global__ void relax(const int *__restrict__ from, const int *__restrict__ to,
                                 const int *__restrict__ length, int *__restrict__ distance, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    int reached = distance[from[e]] + length[e];
    if (reached < distance[to[e]]) atomicMin(&distance[to[e]], reached);
}

extern "C" __global__ void common_neighbours(const int *__restrict__ starts, const int *__restrict__ ends,
                                             const int *__restrict__ from, const int *__restrict__ to,
                                             int *__restrict__ out, int pairs) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    int a = starts[from[p]], a_end = starts[from[p] + 1], b = starts[to[p]], b_end = starts[to[p] + 1], count = 0;
    while (a < a_end && b < b_end) {
        int x = ends[a], y = ends[b];
        if (x == y) count++, a++, b++;
        else if (x < y) a++;
        else b++;
    }
    out[p] = count;
}
"""


@cuda.jit
def search_level(starts, ends, distance, level):
    v = cuda.grid(1)
    if v >= distance.size or distance[v] != level:
        return
    for k in range(starts[v], starts[v + 1]):
        if distance[ends[k]] < 0:
            distance[ends[k]] = level + 1


@cuda.jit
def page_rank(starts, sources, degree, rank, out):
    v = cuda.grid(1)
    if v < out.size:
        total = np.float32(0)
        for k in range(starts[v], starts[v + 1]):
            u = sources[k]
            total += rank[u] / np.float32(degree[u])
        out[v] = 0.15 + 0.85 * total


@cuda.jit
def relax(from_, to, length, distance):
    e = cuda.grid(1)
    if e < from_.size:
        reached = distance[from_[e]] + length[e]
        if reached < distance[to[e]]:
            cuda.atomic.min(distance, to[e], reached)


@cuda.jit
def common_neighbours(starts, ends, from_, to, out):
    p = cuda.grid(1)
    if p >= out.size:
        return
    a, a_end = starts[from_[p]], starts[from_[p] + 1]
    b, b_end = starts[to[p]], starts[to[p] + 1]
    count = 0
    while a < a_end and b < b_end:
        x, y = ends[a], ends[b]
        if x == y:
            count += 1
            a += 1
            b += 1
        elif x < y:
            a += 1
        else:
            b += 1
    out[p] = count


def cases(rng):
    n = 1 << 18
    degree = rng.integers(2, 30, n)
    starts = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    edges = int(starts[-1])
    owner = np.repeat(np.arange(n), degree)
    ends = ((owner + rng.integers(-5000, 5000, edges)) % n).astype(np.int32)
    ends = ends[np.lexsort((ends, owner))]
    owner = owner.astype(np.int32)
    distance = np.where(rng.random(n) < 0.3, 3, -1).astype(np.int32)
    far = rng.integers(0, 100_000, n).astype(np.int32)
    pairs = 1 << 19
    out_degree = degree.astype(np.int32)
    chosen = rng.integers(0, edges, pairs)
    return [
        Case(search_level, blocks(n), 256, (starts, ends, distance, 3), (n,), repeatable=False),
        Case(page_rank, blocks(n), 256,
             (starts, ends, out_degree, rng.random(n, np.float32), np.zeros(n, np.float32)), (n,)),
        Case(relax, blocks(edges), 256, (owner, ends, rng.integers(1, 50, edges).astype(np.int32), far), (edges,),
             repeatable=False, tolerance=1.0),
        Case(common_neighbours, blocks(pairs), 256,
             (starts, ends, owner[chosen], ends[chosen], np.zeros(pairs, np.int32)), (pairs,)),
    ]
