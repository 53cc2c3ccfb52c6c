"""Ten kernels as people of other fields write them: marched rays, a transform by butterflies, a bilateral filter,
compaction, a join, a lattice of fluids, counted words of genes, tridiagonal systems, chains of Metropolis, attention's
softmax and product."""

import math

import numpy as np

from krait import cuda, float32, int32, uint32, uint64

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void ray_march(const float *__restrict__ spheres, float *__restrict__ depth, int count, int width,
                                     int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float dx = (x + 0.5f) / width - 0.5f, dy = (y + 0.5f) / height - 0.5f, dz = 1;
    float s = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= s, dy *= s, dz *= s;
    float t = 0;
    for (int step = 0; step < 64; step++) {
        float px = dx * t, py = dy * t, pz = dz * t, nearest = 1e9f;
        for (int k = 0; k < count; k++) {
            float ax = px - spheres[k * 4], ay = py - spheres[k * 4 + 1], az = pz - spheres[k * 4 + 2];
            float d = sqrtf(ax * ax + ay * ay + az * az) - spheres[k * 4 + 3];
            nearest = fminf(nearest, d);
        }
        if (nearest < 1e-3f || t > 20) break;
        t += nearest;
    }
    depth[y * width + x] = t;
}

extern "C" __global__ void butterflies(const float *__restrict__ re, const float *__restrict__ im,
                                       float *__restrict__ outre, float *__restrict__ outim) {
    __shared__ float xr[512], xi[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int k = t; k < 512; k += 256) {
        int j = __brev(k) >> 23;
        xr[j] = re[base + k];
        xi[j] = im[base + k];
    }
    __syncthreads();
    for (int half = 1; half < 512; half *= 2) {
        int k = t & (half - 1), i = 2 * t - k, j = i + half;
        float s, c;
        sincosf(-3.14159265f * k / half, &s, &c);
        float vr = xr[j] * c - xi[j] * s, vi = xr[j] * s + xi[j] * c, ur = xr[i], ui = xi[i];
        xr[i] = ur + vr, xi[i] = ui + vi;
        xr[j] = ur - vr, xi[j] = ui - vi;
        __syncthreads();
    }
    for (int k = t; k < 512; k += 256) {
        outre[base + k] = xr[k];
        outim[base + k] = xi[k];
    }
}

extern "C" __global__ void bilateral(const float *__restrict__ image, float *__restrict__ out, float space, float range,
                                     int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float centre = image[y * width + x], total = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            int yy = min(max(y + dy, 0), height - 1), xx = min(max(x + dx, 0), width - 1);
            float v = image[yy * width + xx], d = v - centre;
            float w = expf(-(dx * dx + dy * dy) * space - d * d * range);
            total += w * v;
            weights += w;
        }
    out[y * width + x] = total / weights;
}

extern "C" __global__ void compact(const float *__restrict__ x, float *__restrict__ out, int *__restrict__ counts,
                                   float limit, int n) {
    __shared__ int sums[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t & 31, warp = t >> 5;
    float v = i < n ? x[i] : 0;
    bool keep = i < n && v > limit;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    int before = __popc(votes & ((1u << lane) - 1));
    if (lane == 0) sums[warp] = __popc(votes);
    __syncthreads();
    int first = 0, all = 0;
    for (int w = 0; w < 8; w++) {
        if (w < warp) first += sums[w];
        all += sums[w];
    }
    if (keep) out[blockIdx.x * 256 + first + before] = v;
    if (t == 0) counts[blockIdx.x] = all;
}

extern "C" __global__ void hash_join(const int *__restrict__ keys, const int *__restrict__ slots,
                                     const int *__restrict__ payload, int *__restrict__ found, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = keys[i], mask = size - 1, result = -1;
    unsigned h = (unsigned)key * 2654435769u;
    h ^= h >> 16;
    int at = h & mask;
    while (slots[at] != -1) {
        if (slots[at] == key) {
            result = payload[at];
            break;
        }
        at = (at + 1) & mask;
    }
    found[i] = result;
}

extern "C" __global__ void d2q9(const float *__restrict__ f, float *__restrict__ out, float omega, int height,
                                int width) {
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float w[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float local[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        int xx = (x - cx[k] + width) % width, yy = (y - cy[k] + height) % height;
        local[k] = f[(k * height + yy) * width + xx];
        rho += local[k];
        ux += local[k] * cx[k];
        uy += local[k] * cy[k];
    }
    ux /= rho, uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int k = 0; k < 9; k++) {
        float cu = 3 * (cx[k] * ux + cy[k] * uy);
        float equal = w[k] * rho * (1 + cu + 0.5f * cu * cu - square);
        out[(k * height + y) * width + x] = local[k] + omega * (equal - local[k]);
    }
}

extern "C" __global__ void kmers(const unsigned char *__restrict__ genome, int *__restrict__ counts, int k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - k) return;
    unsigned forward = 0, backward = 0;
    for (int j = 0; j < k; j++) {
        unsigned base = genome[i + j];
        if (base > 3) return;
        forward = forward << 2 | base;
        backward = backward | (3 - base) << 2 * j;
    }
    atomicAdd(&counts[min(forward, backward)], 1);
}

extern "C" __global__ void reduction_of_systems(const float *__restrict__ a, const float *__restrict__ b,
                                                const float *__restrict__ c, const float *__restrict__ d,
                                                float *__restrict__ x) {
    __shared__ float sa[256], sb[256], sc[256], sd[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sa[t] = a[i], sb[t] = b[i], sc[t] = c[i], sd[t] = d[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        float na = 0, nb = sb[t], nc = 0, nd = sd[t];
        if (t >= step) {
            float k = sa[t] / sb[t - step];
            na = -sa[t - step] * k;
            nb -= sc[t - step] * k;
            nd -= sd[t - step] * k;
        }
        if (t + step < 256) {
            float k = sc[t] / sb[t + step];
            nc = -sc[t + step] * k;
            nb -= sa[t + step] * k;
            nd -= sd[t + step] * k;
        }
        __syncthreads();
        sa[t] = na, sb[t] = nb, sc[t] = nc, sd[t] = nd;
        __syncthreads();
    }
    x[i] = sd[t] / sb[t];
}

extern "C" __global__ void metropolis(const unsigned long long *__restrict__ seeds, double *__restrict__ mean,
                                      double *__restrict__ accepted, double width, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long s0 = seeds[i * 2], s1 = seeds[i * 2 + 1];
    double x = 0, energy = 0, total = 0;
    int taken = 0;
    for (int k = 0; k < steps; k++) {
        double u[2];
        for (int m = 0; m < 2; m++) {
            unsigned long long r = s0 + s1;
            s1 ^= s0;
            s0 = (s0 << 24 | s0 >> 40) ^ s1 ^ s1 << 16;
            s1 = s1 << 37 | s1 >> 27;
            u[m] = (r >> 11) * (1.0 / 9007199254740992.0);
        }
        double next = x + width * (u[0] - 0.5), changed = next * next * (next * next - 2);
        if (changed <= energy || u[1] < exp(energy - changed)) {
            x = next;
            energy = changed;
            taken++;
        }
        total += x;
    }
    mean[i] = total / steps;
    accepted[i] = (double)taken / steps;
}

extern "C" __global__ void softmax_product(const float *__restrict__ scores, const float *__restrict__ values,
                                           float *__restrict__ out, int columns, int width) {
    __shared__ float row[1024], parts[128];
    int t = threadIdx.x, r = blockIdx.x;
    float top = -1e30f, sum = 0;
    for (int j = t; j < columns; j += 128) {
        row[j] = scores[r * columns + j];
        top = fmaxf(top, row[j]);
    }
    parts[t] = top;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) parts[t] = fmaxf(parts[t], parts[t + half]);
        __syncthreads();
    }
    top = parts[0];
    __syncthreads();
    for (int j = t; j < columns; j += 128) {
        row[j] = expf(row[j] - top);
        sum += row[j];
    }
    parts[t] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) parts[t] += parts[t + half];
        __syncthreads();
    }
    float scale = 1 / parts[0];
    for (int d = t; d < width; d += 128) {
        float total = 0;
        for (int j = 0; j < columns; j++) total += row[j] * values[j * width + d];
        out[r * width + d] = total * scale;
    }
}
"""


@cuda.jit
def ray_march(spheres, depth):
    x, y = cuda.grid(2)
    height, width = depth.shape
    if x >= width or y >= height:
        return
    dx = (float32(x) + float32(0.5)) / float32(width) - float32(0.5)
    dy = (float32(y) + float32(0.5)) / float32(height) - float32(0.5)
    dz = float32(1)
    s = cuda.libdevice.rsqrtf(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx * s, dy * s, dz * s
    t = float32(0)
    for _ in range(64):
        px, py, pz, nearest = dx * t, dy * t, dz * t, float32(1e9)
        for k in range(spheres.shape[0]):
            ax, ay, az = px - spheres[k, 0], py - spheres[k, 1], pz - spheres[k, 2]
            nearest = min(nearest, math.sqrt(ax * ax + ay * ay + az * az) - spheres[k, 3])
        if nearest < float32(1e-3) or t > 20:
            break
        t += nearest
    depth[y, x] = t


@cuda.jit
def butterflies(re, im, outre, outim):
    xr = cuda.shared.array(512, float32)
    xi = cuda.shared.array(512, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    for k in range(t, 512, 256):
        j = cuda.brev(uint32(k)) >> uint32(23)
        xr[j] = re[row, k]
        xi[j] = im[row, k]
    cuda.syncthreads()
    half = 1
    while half < 512:
        k = t & (half - 1)
        i = 2 * t - k
        j = i + half
        angle = float32(-3.14159265) * float32(k) / float32(half)
        c, s = math.cos(angle), math.sin(angle)
        vr, vi, ur, ui = xr[j] * c - xi[j] * s, xr[j] * s + xi[j] * c, xr[i], xi[i]
        xr[i], xi[i] = ur + vr, ui + vi
        xr[j], xi[j] = ur - vr, ui - vi
        cuda.syncthreads()
        half *= 2
    for k in range(t, 512, 256):
        outre[row, k] = xr[k]
        outim[row, k] = xi[k]


@cuda.jit
def bilateral(image, out, space, spread):
    x, y = cuda.grid(2)
    height, width = image.shape
    if x >= width or y >= height:
        return
    centre, total, weights = image[y, x], float32(0), float32(0)
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            v = image[min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)]
            d = v - centre
            w = math.exp(-float32(dx * dx + dy * dy) * space - d * d * spread)
            total += w * v
            weights += w
    out[y, x] = total / weights


@cuda.jit
def compact(x, out, counts, limit):
    sums = cuda.shared.array(8, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    lane, warp = t & 31, t >> 5
    v = x[i] if i < x.size else float32(0)
    keep = i < x.size and v > limit
    votes = cuda.ballot_sync(0xFFFFFFFF, keep)
    before = cuda.popc(votes & ((1 << lane) - 1))
    if lane == 0:
        sums[warp] = cuda.popc(votes)
    cuda.syncthreads()
    first = total = 0
    for w in range(8):
        if w < warp:
            first += sums[w]
        total += sums[w]
    if keep:
        out[cuda.blockIdx.x, first + before] = v
    if t == 0:
        counts[cuda.blockIdx.x] = total


@cuda.jit
def hash_join(keys, slots, payload, found):
    i = cuda.grid(1)
    if i >= keys.size:
        return
    key, mask = keys[i], slots.size - 1
    h = uint32(key) * uint32(2654435769)
    h ^= h >> uint32(16)
    at = h & mask
    result = -1
    while slots[at] != -1:
        if slots[at] == key:
            result = payload[at]
            break
        at = (at + 1) & mask
    found[i] = result


CX, CY = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)


@cuda.jit
def d2q9(f, out, omega):
    x, y = cuda.grid(2)
    height, width = f.shape[1:]
    if x >= width or y >= height:
        return
    local = cuda.local.array(9, float32)
    rho, ux, uy = float32(0), float32(0), float32(0)
    for k in range(9):
        local[k] = f[k, (y - CY[k]) % height, (x - CX[k]) % width]
        rho += local[k]
        ux += local[k] * float32(CX[k])
        uy += local[k] * float32(CY[k])
    ux /= rho
    uy /= rho
    square = float32(1.5) * (ux * ux + uy * uy)
    for k in range(9):
        cu = float32(3) * (float32(CX[k]) * ux + float32(CY[k]) * uy)
        equal = W[k] * rho * (float32(1) + cu + float32(0.5) * cu * cu - square)
        out[k, y, x] = local[k] + omega * (equal - local[k])


@cuda.jit
def kmers(genome, counts, k):
    i = cuda.grid(1)
    if i > genome.size - k:
        return
    forward = backward = uint32(0)
    for j in range(k):
        base = uint32(genome[i + j])
        if base > 3:
            return
        forward = forward << uint32(2) | base
        backward |= (uint32(3) - base) << uint32(2 * j)
    cuda.atomic.add(counts, min(forward, backward), 1)


@cuda.jit
def reduction_of_systems(a, b, c, d, x):
    sa = cuda.shared.array(256, float32)
    sb = cuda.shared.array(256, float32)
    sc = cuda.shared.array(256, float32)
    sd = cuda.shared.array(256, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    sa[t], sb[t], sc[t], sd[t] = a[row, t], b[row, t], c[row, t], d[row, t]
    cuda.syncthreads()
    step = 1
    while step < 256:
        na, nb, nc, nd = float32(0), sb[t], float32(0), sd[t]
        if t >= step:
            k = sa[t] / sb[t - step]
            na = -sa[t - step] * k
            nb -= sc[t - step] * k
            nd -= sd[t - step] * k
        if t + step < 256:
            k = sc[t] / sb[t + step]
            nc = -sc[t + step] * k
            nb -= sa[t + step] * k
            nd -= sd[t + step] * k
        cuda.syncthreads()
        sa[t], sb[t], sc[t], sd[t] = na, nb, nc, nd
        cuda.syncthreads()
        step *= 2
    x[row, t] = sd[t] / sb[t]


@cuda.jit
def metropolis(seeds, mean, accepted, width, steps):
    i = cuda.grid(1)
    if i >= mean.size:
        return
    s0, s1 = seeds[i, 0], seeds[i, 1]
    x = energy = total = 0.0
    taken = 0
    u = cuda.local.array(2, np.float64)
    for _ in range(steps):
        for m in range(2):
            r = s0 + s1
            s1 ^= s0
            s0 = (s0 << uint64(24) | s0 >> uint64(40)) ^ s1 ^ s1 << uint64(16)
            s1 = s1 << uint64(37) | s1 >> uint64(27)
            u[m] = (r >> uint64(11)) * (1.0 / 9007199254740992.0)
        after = x + width * (u[0] - 0.5)
        changed = after * after * (after * after - 2)
        if changed <= energy or u[1] < math.exp(energy - changed):
            x, energy = after, changed
            taken += 1
        total += x
    mean[i] = total / steps
    accepted[i] = taken / steps


@cuda.jit
def softmax_product(scores, values, out):
    row = cuda.shared.array(1024, float32)
    parts = cuda.shared.array(128, float32)
    t, r = cuda.threadIdx.x, cuda.blockIdx.x
    columns, width = values.shape
    top, total = float32(-1e30), float32(0)
    for j in range(t, columns, 128):
        row[j] = scores[r, j]
        top = max(top, row[j])
    parts[t] = top
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            parts[t] = max(parts[t], parts[t + half])
        cuda.syncthreads()
        half //= 2
    top = parts[0]
    cuda.syncthreads()
    for j in range(t, columns, 128):
        row[j] = math.exp(row[j] - top)
        total += row[j]
    parts[t] = total
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    scale = 1 / parts[0]
    for d in range(t, width, 128):
        total = float32(0)
        for j in range(columns):
            total += row[j] * values[j, d]
        out[r, d] = total * scale


def hashed(keys, size):
    """A table of open addressing: (slots, payload)."""
    slots, payload = np.full(size, -1, np.int32), np.zeros(size, np.int32)
    for number, key in enumerate(keys.tolist()):
        h = key * 2654435769 & 0xFFFFFFFF
        at = (h ^ h >> 16) & (size - 1)
        while slots[at] != -1:
            at = (at + 1) & (size - 1)
        slots[at], payload[at] = key, number
    return slots, payload


def cases(rng):
    n, f = 1 << 20, np.float32
    spheres = np.concatenate([rng.random((24, 2)) * 4 - 2, rng.random((24, 1)) * 4 + 3, rng.random((24, 1)) * 0.5], 1)
    waves = [rng.random((4096, 512), f) for _ in range(2)]
    known = rng.choice(1 << 24, 1 << 16, replace=False).astype(np.int32)
    slots, payload = hashed(known, 1 << 17)
    asked = np.where(rng.random(n) < 0.5, rng.choice(known, n), rng.integers(0, 1 << 24, n)).astype(np.int32)
    genome = rng.integers(0, 4, 1 << 22).astype(np.uint8)
    genome[rng.integers(0, genome.size, 1000)] = 4
    bands = [rng.random((8192, 256), f) for _ in range(4)]
    bands[1] += f(3)
    seeds = rng.integers(1, 1 << 63, (1 << 16, 2), np.uint64)
    fluid = (W[:, None, None] * (1 + 0.01 * rng.random((9, 1024, 1024)))).astype(f)
    image, square = rng.random((1024, 1024), f), (blocks(1024, 32), blocks(1024, 8))
    return [
        Case(ray_march, square, (32, 8), (spheres.astype(f), np.zeros((1024, 1024), f)), (24, 1024, 1024), 1e-3),
        Case(butterflies, 4096, 256, (*waves, np.zeros((4096, 512), f), np.zeros((4096, 512), f)), (), 1e-4),
        Case(bilateral, square, (32, 8), (image, np.zeros((1024, 1024), f), f(0.1), f(20)), (1024, 1024), 1e-4),
        Case(compact, blocks(n), 256, (rng.random(n, f), np.zeros((blocks(n), 256), f), np.zeros(blocks(n), np.int32),
                                       f(0.6)), (n,)),
        Case(hash_join, blocks(n), 256, (asked, slots, payload, np.zeros(n, np.int32)), (n, slots.size)),
        Case(d2q9, square, (32, 8), (fluid, np.zeros_like(fluid), f(1.2)), (1024, 1024), 1e-4),
        Case(kmers, blocks(genome.size), 256, (genome, np.zeros(1 << 20, np.int32), 10), (genome.size,),
             repeatable=False),
        Case(reduction_of_systems, 8192, 256, (*bands, np.zeros((8192, 256), f)), (), 1e-3),
        Case(metropolis, blocks(1 << 16), 256, (seeds, np.zeros(1 << 16), np.zeros(1 << 16), 1.5, 200), (1 << 16,),
             1e-2),
        Case(softmax_product, 2048, 128, (rng.random((2048, 512), f) * f(8), rng.random((512, 128), f),
                                          np.zeros((2048, 128), f)), (512, 128), 1e-4),
    ]
