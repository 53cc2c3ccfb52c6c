"""Fourteen more kernels of other trades: genes, voxels, fluids, random numbers, automata, implicit schemes, sorting,
ranking, rotations, options, spectra, descriptors, attention."""

import math

import numpy as np

from krait import cuda, float32, int32, uint32

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void smith_waterman(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b,
                                          int *__restrict__ best, int columns, int pairs, int rows) {
    __shared__ int h[3][128];
    __shared__ int top[128];
    int t = threadIdx.x, p = blockIdx.x, found = 0;
    h[0][t] = h[1][t] = h[2][t] = 0;
    __syncthreads();
    int mine = a[p * rows + t];
    for (int d = 0; d < rows + columns - 1; d++) {
        int j = d - t;
        int now = d % 3, one = (d + 2) % 3, two = (d + 1) % 3;
        int score = 0;
        if (j >= 0 && j < columns) {
            int up = t > 0 ? h[one][t - 1] : 0, diagonal = t > 0 && j > 0 ? h[two][t - 1] : 0;
            int left = j > 0 ? h[one][t] : 0;
            score = max(0, max(diagonal + (mine == b[p * columns + j] ? 2 : -1), max(up, left) - 2));
            found = max(found, score);
        }
        h[now][t] = score;
        __syncthreads();
    }
    top[t] = found;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < rows; k++) found = max(found, top[k]);
        best[p] = found;
    }
}

extern "C" __global__ void voxels(const unsigned char *__restrict__ solid, const float *__restrict__ rays,
                                  float *__restrict__ depth, int side, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ox = rays[i * 6], oy = rays[i * 6 + 1], oz = rays[i * 6 + 2];
    float dx = rays[i * 6 + 3], dy = rays[i * 6 + 4], dz = rays[i * 6 + 5];
    int x = (int)floorf(ox), y = (int)floorf(oy), z = (int)floorf(oz);
    int sx = dx > 0 ? 1 : -1, sy = dy > 0 ? 1 : -1, sz = dz > 0 ? 1 : -1;
    float ix = fabsf(1 / dx), iy = fabsf(1 / dy), iz = fabsf(1 / dz);
    float tx = (dx > 0 ? x + 1 - ox : ox - x) * ix, ty = (dy > 0 ? y + 1 - oy : oy - y) * iy;
    float tz = (dz > 0 ? z + 1 - oz : oz - z) * iz, t = 0;
    while (x >= 0 && x < side && y >= 0 && y < side && z >= 0 && z < side && solid[(z * side + y) * side + x] == 0) {
        if (tx < ty && tx < tz) {
            t = tx;
            tx += ix;
            x += sx;
        } else if (ty < tz) {
            t = ty;
            ty += iy;
            y += sy;
        } else {
            t = tz;
            tz += iz;
            z += sz;
        }
    }
    depth[i] = t;
}

extern "C" __global__ void red_black(double *u, const double *__restrict__ f, double h2, double omega, int colour,
                                     int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1 && (i + j) % 2 == colour) {
        int k = i * columns + j;
        double gs = 0.25 * (u[k - columns] + u[k + columns] + u[k - 1] + u[k + 1] - h2 * f[k]);
        u[k] = (1 - omega) * u[k] + omega * gs;
    }
}

extern "C" __global__ void philox(float *__restrict__ out, unsigned seed, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned c0 = i, c1 = 0, c2 = 7, c3 = 0, k0 = seed, k1 = 0x5eed;
        for (int r = 0; r < 10; r++) {
            unsigned long long p = 0xD2511F53ull * c0, q = 0xCD9E8D57ull * c2;
            unsigned n0 = (unsigned)(q >> 32) ^ c1 ^ k0, n2 = (unsigned)(p >> 32) ^ c3 ^ k1;
            c1 = (unsigned)q, c3 = (unsigned)p, c0 = n0, c2 = n2;
            k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
        }
        float s = 1 / 4294967296.0f;
        out[i * 4] = c0 * s, out[i * 4 + 1] = c1 * s, out[i * 4 + 2] = c2 * s, out[i * 4 + 3] = c3 * s;
    }
}

__device__ unsigned long long left_of(const unsigned long long *row, int w, int width) {
    return row[w] << 1 | row[(w + width - 1) % width] >> 63;
}
__device__ unsigned long long right_of(const unsigned long long *row, int w, int width) {
    return row[w] >> 1 | row[(w + 1) % width] << 63;
}

extern "C" __global__ void life_bits(const unsigned long long *__restrict__ now, unsigned long long *__restrict__ next,
                                     int height, int width) {
    int w = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (w >= width || y >= height) return;
    const unsigned long long *above = now + (y + height - 1) % height * width, *here = now + y * width;
    const unsigned long long *below = now + (y + 1) % height * width;
    unsigned long long n[8] = {left_of(above, w, width), above[w], right_of(above, w, width), left_of(here, w, width),
                               right_of(here, w, width), left_of(below, w, width), below[w],
                               right_of(below, w, width)};
    unsigned long long ones = 0, twos = 0, fours = 0;
    for (int k = 0; k < 8; k++) {
        unsigned long long carry = ones & n[k];
        ones ^= n[k];
        unsigned long long more = twos & carry;
        twos ^= carry;
        fours |= more;
    }
    next[y * width + w] = twos & ~fours & (ones | here[w]);
}

extern "C" __global__ void thomas(const double *__restrict__ a, const double *__restrict__ b,
                                  const double *__restrict__ c, const double *__restrict__ d, double *__restrict__ x,
                                  int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double cp[32], dp[32];
    cp[0] = c[i] / b[i];
    dp[0] = d[i] / b[i];
    for (int k = 1; k < 32; k++) {
        double m = 1 / (b[k * n + i] - a[k * n + i] * cp[k - 1]);
        cp[k] = c[k * n + i] * m;
        dp[k] = (d[k * n + i] - a[k * n + i] * dp[k - 1]) * m;
    }
    x[31 * n + i] = dp[31];
    for (int k = 30; k >= 0; k--) {
        dp[k] -= cp[k] * dp[k + 1];
        x[k * n + i] = dp[k];
    }
}

extern "C" __global__ void radix_split(const unsigned *__restrict__ keys, unsigned *__restrict__ out, int n) {
    __shared__ unsigned held[256];
    __shared__ int sums[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    held[t] = i < n ? keys[i] : 0xffffffff;
    for (int bit = 0; bit < 8; bit++) {
        __syncthreads();
        unsigned key = held[t];
        int zero = 1 - (key >> bit & 1);
        sums[t] = zero;
        __syncthreads();
        for (int step = 1; step < 256; step *= 2) {
            int add = t >= step ? sums[t - step] : 0;
            __syncthreads();
            sums[t] += add;
            __syncthreads();
        }
        int before = sums[t] - zero, zeros = sums[255];
        held[zero ? before : zeros + t - before] = key;
    }
    __syncthreads();
    if (i < n) out[i] = held[t];
}

extern "C" __global__ void myers(const unsigned long long *__restrict__ masks, const unsigned char *__restrict__ texts,
                                 int *__restrict__ out, int m, int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long pv = ~0ull, mv = 0, high = 1ull << (m - 1);
    int score = m;
    for (int j = 0; j < length; j++) {
        unsigned long long eq = masks[texts[j * n + i]], xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq;
        unsigned long long ph = mv | ~(xh | pv), mh = pv & xh;
        if (ph & high) score++;
        else if (mh & high) score--;
        ph = ph << 1 | 1;
        mh <<= 1;
        pv = mh | ~(xv | ph);
        mv = ph & xv;
    }
    out[i] = score;
}

extern "C" __global__ void push(const int *__restrict__ starts, const int *__restrict__ targets,
                                const float *__restrict__ rank, float *__restrict__ next, float damping, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int from = starts[v], to = starts[v + 1];
    if (from == to) return;
    float share = damping * rank[v] / (to - from);
    for (int k = from; k < to; k++) atomicAdd(&next[targets[k]], share);
}

extern "C" __global__ void quaternions(const float *__restrict__ q, const float *__restrict__ p,
                                       float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float w = q[i * 4], x = q[i * 4 + 1], y = q[i * 4 + 2], z = q[i * 4 + 3];
    float s = rsqrtf(w * w + x * x + y * y + z * z);
    w *= s, x *= s, y *= s, z *= s;
    float a = p[i * 3], b = p[i * 3 + 1], c = p[i * 3 + 2];
    float tx = 2 * (y * c - z * b), ty = 2 * (z * a - x * c), tz = 2 * (x * b - y * a);
    out[i * 3] = a + w * tx + (y * tz - z * ty);
    out[i * 3 + 1] = b + w * ty + (z * tx - x * tz);
    out[i * 3 + 2] = c + w * tz + (x * ty - y * tx);
}

extern "C" __global__ void knock_out(float *__restrict__ out, float s0, float strike, float level, float drift,
                                     float vol, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = i * 747796405u + 2891336453u;
    float s = s0;
    bool alive = true;
    for (int k = 0; k < steps && alive; k++) {
        state = state * 1664525u + 1013904223u;
        float u = ((state >> 8) + 0.5f) * (1 / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        float v = (state >> 8) * (1 / 16777216.0f);
        float z = sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
        s *= expf(drift + vol * z);
        alive = s < level;
    }
    out[i] = alive ? fmaxf(s - strike, 0.0f) : 0.0f;
}

extern "C" __global__ void fft256(const float *__restrict__ re, const float *__restrict__ im,
                                  float *__restrict__ outre, float *__restrict__ outim, int n) {
    __shared__ float xr[256], xi[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int k = 0; k < 4; k++) {
        int at = t + 64 * k, to = (at & 3) << 6 | (at & 12) << 2 | (at & 48) >> 2 | at >> 6;
        xr[to] = re[base + at];
        xi[to] = im[base + at];
    }
    for (int span = 1; span < 256; span *= 4) {
        __syncthreads();
        int k = t % span, first = t / span * span * 4 + k;
        float angle = -6.2831853f * k / (span * 4);
        float ar[4], ai[4];
        for (int m = 0; m < 4; m++) {
            float c = cosf(angle * m), s = sinf(angle * m), r = xr[first + m * span], i = xi[first + m * span];
            ar[m] = r * c - i * s;
            ai[m] = r * s + i * c;
        }
        float pr = ar[0] + ar[2], pi = ai[0] + ai[2], mr = ar[0] - ar[2], mi = ai[0] - ai[2];
        float qr = ar[1] + ar[3], qi = ai[1] + ai[3], nr = ar[1] - ar[3], ni = ai[1] - ai[3];
        xr[first] = pr + qr, xi[first] = pi + qi;
        xr[first + span] = mr + ni, xi[first + span] = mi - nr;
        xr[first + 2 * span] = pr - qr, xi[first + 2 * span] = pi - qi;
        xr[first + 3 * span] = mr - ni, xi[first + 3 * span] = mi + nr;
    }
    __syncthreads();
    for (int k = t; k < 256; k += 64) {
        outre[base + k] = xr[k];
        outim[base + k] = xi[k];
    }
}

extern "C" __global__ void descriptors(const unsigned *__restrict__ queries, const unsigned *__restrict__ known,
                                       int *__restrict__ nearest, int *__restrict__ distance, int n, int many) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 257, second = 257, who = -1;
    for (int j = 0; j < many; j++) {
        int d = 0;
        for (int w = 0; w < 8; w++) d += __popc(queries[i * 8 + w] ^ known[j * 8 + w]);
        if (d < best) {
            second = best;
            best = d;
            who = j;
        } else if (d < second)
            second = d;
    }
    nearest[i] = best * 10 < second * 8 ? who : -1;
    distance[i] = best;
}

extern "C" __global__ void attention(const float *__restrict__ q, const float *__restrict__ k,
                                     const float *__restrict__ v, float *__restrict__ out, float scale, int keys,
                                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mine[16], total[16], largest = -1e30f, sum = 0;
    for (int d = 0; d < 16; d++) mine[d] = q[i * 16 + d] * scale, total[d] = 0;
    for (int j = 0; j < keys; j++) {
        float s = 0;
        for (int d = 0; d < 16; d++) s += mine[d] * k[j * 16 + d];
        float top = fmaxf(largest, s), keep = expf(largest - top), w = expf(s - top);
        sum = sum * keep + w;
        for (int d = 0; d < 16; d++) total[d] = total[d] * keep + w * v[j * 16 + d];
        largest = top;
    }
    for (int d = 0; d < 16; d++) out[i * 16 + d] = total[d] / sum;
}
"""


@cuda.jit
def smith_waterman(a, b, best):
    rows, columns = a.shape[1], b.shape[1]
    h = cuda.shared.array((3, 128), int32)
    top = cuda.shared.array(128, int32)
    t, p = cuda.threadIdx.x, cuda.blockIdx.x
    h[0, t] = h[1, t] = h[2, t] = 0
    cuda.syncthreads()
    mine = a[p, t]
    found = 0
    for d in range(rows + columns - 1):
        j = d - t
        now, one, two = d % 3, (d + 2) % 3, (d + 1) % 3
        score = 0
        if 0 <= j < columns:
            up = h[one, t - 1] if t > 0 else 0
            diagonal = h[two, t - 1] if t > 0 and j > 0 else 0
            left = h[one, t] if j > 0 else 0
            score = max(0, diagonal + (2 if mine == b[p, j] else -1), max(up, left) - 2)
            found = max(found, score)
        h[now, t] = score
        cuda.syncthreads()
    top[t] = found
    cuda.syncthreads()
    if t == 0:
        for k in range(1, rows):
            found = max(found, top[k])
        best[p] = found


@cuda.jit
def voxels(solid, rays, depth):
    i = cuda.grid(1)
    if i >= rays.shape[0]:
        return
    ox, oy, oz = rays[i, 0], rays[i, 1], rays[i, 2]
    dx, dy, dz = rays[i, 3], rays[i, 4], rays[i, 5]
    side = solid.shape[0]
    x, y, z = int(math.floor(ox)), int(math.floor(oy)), int(math.floor(oz))
    sx, sy, sz = 1 if dx > 0 else -1, 1 if dy > 0 else -1, 1 if dz > 0 else -1
    ix, iy, iz = abs(1 / dx), abs(1 / dy), abs(1 / dz)
    tx = (float32(x + 1) - ox if dx > 0 else ox - float32(x)) * ix
    ty = (float32(y + 1) - oy if dy > 0 else oy - float32(y)) * iy
    tz = (float32(z + 1) - oz if dz > 0 else oz - float32(z)) * iz
    t = float32(0)
    while 0 <= x < side and 0 <= y < side and 0 <= z < side and solid[z, y, x] == 0:
        if tx < ty and tx < tz:
            t = tx
            tx += ix
            x += sx
        elif ty < tz:
            t = ty
            ty += iy
            y += sy
        else:
            t = tz
            tz += iz
            z += sz
    depth[i] = t


@cuda.jit
def red_black(u, f, h2, omega, colour):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and (i + j) % 2 == colour:
        gs = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h2 * f[i, j])
        u[i, j] = (1 - omega) * u[i, j] + omega * gs


@cuda.jit
def philox(out, seed):
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        c0, c1, c2, c3 = uint32(i), uint32(0), uint32(7), uint32(0)
        k0, k1 = seed, uint32(0x5EED)
        for _ in range(10):
            p, q = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
            c0, c1, c2, c3 = (uint32(q >> np.uint64(32)) ^ c1 ^ k0, uint32(q),
                              uint32(p >> np.uint64(32)) ^ c3 ^ k1, uint32(p))
            k0 += uint32(0x9E3779B9)
            k1 += uint32(0xBB67AE85)
        s = float32(1 / 4294967296)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = float32(c0) * s, float32(c1) * s, float32(c2) * s, float32(c3) * s


ONE, TOP = np.uint64(1), np.uint64(63)


@cuda.jit(device=True)
def left_of(row, w):
    return row[w] << ONE | row[(w - 1) % row.size] >> TOP


@cuda.jit(device=True)
def right_of(row, w):
    return row[w] >> ONE | row[(w + 1) % row.size] << TOP


@cuda.jit
def life_bits(now, after):
    w, y = cuda.grid(2)
    height, width = now.shape
    if w < width and y < height:
        above, here, below = now[(y - 1) % height], now[y], now[(y + 1) % height]
        ones = twos = fours = np.uint64(0)
        for n in (left_of(above, w), above[w], right_of(above, w), left_of(here, w), right_of(here, w),
                  left_of(below, w), below[w], right_of(below, w)):
            carry = ones & n
            ones ^= n
            more = twos & carry
            twos ^= carry
            fours |= more
        after[y, w] = twos & ~fours & (ones | here[w])


@cuda.jit
def thomas(a, b, c, d, x):
    i = cuda.grid(1)
    if i < x.shape[1]:
        cp = cuda.local.array(32, np.float64)
        dp = cuda.local.array(32, np.float64)
        cp[0] = c[0, i] / b[0, i]
        dp[0] = d[0, i] / b[0, i]
        for k in range(1, 32):
            m = 1 / (b[k, i] - a[k, i] * cp[k - 1])
            cp[k] = c[k, i] * m
            dp[k] = (d[k, i] - a[k, i] * dp[k - 1]) * m
        x[31, i] = dp[31]
        for k in range(30, -1, -1):
            dp[k] -= cp[k] * dp[k + 1]
            x[k, i] = dp[k]


@cuda.jit
def radix_split(keys, out):
    held = cuda.shared.array(256, uint32)
    sums = cuda.shared.array(256, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    held[t] = keys[i] if i < keys.size else 0xFFFFFFFF
    for bit in range(8):
        cuda.syncthreads()
        key = held[t]
        zero = 1 - ((key >> bit) & 1)
        sums[t] = zero
        cuda.syncthreads()
        step = 1
        while step < 256:
            add = sums[t - step] if t >= step else 0
            cuda.syncthreads()
            sums[t] += add
            cuda.syncthreads()
            step *= 2
        before, zeros = sums[t] - zero, sums[255]
        held[before if zero else zeros + t - before] = key
    cuda.syncthreads()
    if i < keys.size:
        out[i] = held[t]


@cuda.jit
def myers(masks, texts, out, m):
    i = cuda.grid(1)
    if i >= out.size:
        return
    pv, mv, high, one = ~np.uint64(0), np.uint64(0), np.uint64(1) << np.uint64(m - 1), np.uint64(1)
    score = m
    for j in range(texts.shape[0]):
        eq = masks[texts[j, i]]
        xv, xh = eq | mv, (((eq & pv) + pv) ^ pv) | eq
        ph, mh = mv | ~(xh | pv), pv & xh
        if ph & high:
            score += 1
        elif mh & high:
            score -= 1
        ph = ph << one | one
        mh <<= one
        pv = mh | ~(xv | ph)
        mv = ph & xv
    out[i] = score


@cuda.jit
def push(starts, targets, rank, after, damping):
    v = cuda.grid(1)
    if v < rank.size:
        first, last = starts[v], starts[v + 1]
        if first < last:
            share = damping * rank[v] / float32(last - first)
            for k in range(first, last):
                cuda.atomic.add(after, targets[k], share)


@cuda.jit
def quaternions(q, p, out):
    i = cuda.grid(1)
    if i < q.shape[0]:
        w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        s = cuda.libdevice.rsqrtf(w * w + x * x + y * y + z * z)
        w, x, y, z = w * s, x * s, y * s, z * s
        a, b, c = p[i]
        tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
        out[i, 0] = a + w * tx + (y * tz - z * ty)
        out[i, 1] = b + w * ty + (z * tx - x * tz)
        out[i, 2] = c + w * tz + (x * ty - y * tx)


@cuda.jit(device=True)
def uniform(state):
    return state * uint32(1664525) + uint32(1013904223)


@cuda.jit
def knock_out(out, s0, strike, level, drift, vol, steps):
    i = cuda.grid(1)
    if i >= out.size:
        return
    state = uint32(i) * uint32(747796405) + uint32(2891336453)
    s, alive, k = s0, True, 0
    while k < steps and alive:
        state = uniform(state)
        u = (float32(state >> uint32(8)) + float32(0.5)) * float32(1 / 16777216)
        state = uniform(state)
        v = float32(state >> uint32(8)) * float32(1 / 16777216)
        z = math.sqrt(-2 * math.log(u)) * math.cos(float32(6.2831853) * v)
        s *= math.exp(drift + vol * z)
        alive = s < level
        k += 1
    out[i] = max(s - strike, float32(0)) if alive else float32(0)


@cuda.jit
def fft256(re, im, outre, outim):
    xr = cuda.shared.array(256, float32)
    xi = cuda.shared.array(256, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    for k in range(4):
        at = t + 64 * k
        to = (at & 3) << 6 | (at & 12) << 2 | (at & 48) >> 2 | at >> 6
        xr[to] = re[row, at]
        xi[to] = im[row, at]
    ar = cuda.local.array(4, float32)
    ai = cuda.local.array(4, float32)
    span = 1
    while span < 256:
        cuda.syncthreads()
        k = t % span
        first = t // span * span * 4 + k
        angle = float32(-6.2831853) * float32(k) / float32(span * 4)
        for m in range(4):
            c, s = math.cos(angle * float32(m)), math.sin(angle * float32(m))
            r, i = xr[first + m * span], xi[first + m * span]
            ar[m] = r * c - i * s
            ai[m] = r * s + i * c
        pr, pi, mr, mi = ar[0] + ar[2], ai[0] + ai[2], ar[0] - ar[2], ai[0] - ai[2]
        qr, qi, nr, ni = ar[1] + ar[3], ai[1] + ai[3], ar[1] - ar[3], ai[1] - ai[3]
        xr[first], xi[first] = pr + qr, pi + qi
        xr[first + span], xi[first + span] = mr + ni, mi - nr
        xr[first + 2 * span], xi[first + 2 * span] = pr - qr, pi - qi
        xr[first + 3 * span], xi[first + 3 * span] = mr - ni, mi + nr
        span *= 4
    cuda.syncthreads()
    for k in range(t, 256, 64):
        outre[row, k] = xr[k]
        outim[row, k] = xi[k]


@cuda.jit
def descriptors(queries, known, nearest, distance):
    i = cuda.grid(1)
    if i >= queries.shape[0]:
        return
    best, second, who = 257, 257, -1
    for j in range(known.shape[0]):
        d = 0
        for w in range(8):
            d += cuda.popc(queries[i, w] ^ known[j, w])
        if d < best:
            best, second, who = d, best, j
        elif d < second:
            second = d
    nearest[i] = who if best * 10 < second * 8 else -1
    distance[i] = best


@cuda.jit
def attention(q, k, v, out, scale):
    i = cuda.grid(1)
    if i >= q.shape[0]:
        return
    mine = cuda.local.array(16, float32)
    total = cuda.local.array(16, float32)
    largest, norm = float32(-1e30), float32(0)
    for d in range(16):
        mine[d] = q[i, d] * scale
        total[d] = 0
    for j in range(k.shape[0]):
        s = float32(0)
        for d in range(16):
            s += mine[d] * k[j, d]
        top = max(largest, s)
        keep, w = math.exp(largest - top), math.exp(s - top)
        norm = norm * keep + w
        for d in range(16):
            total[d] = total[d] * keep + w * v[j, d]
        largest = top
    for d in range(16):
        out[i, d] = total[d] / norm


def cases(rng):
    n, many, f, u = 1 << 20, 1 << 16, np.float32, np.uint32
    pairs = rng.integers(0, 4, (4096, 128), np.uint8), rng.integers(0, 4, (4096, 200), np.uint8)
    solid = (rng.random((128, 128, 128)) < 0.01).astype(np.uint8)
    rays = rng.random((n, 6), f) * f(128)
    rays[:, 3:] = rng.standard_normal((n, 3), f)
    grid = rng.random((2048, 2048))
    words = rng.integers(0, 1 << 63, (2048, 512), np.uint64)
    bands = [rng.random((32, many)) for _ in range(4)]
    bands[1] += 4
    degrees = np.concatenate([[0], np.cumsum(rng.integers(0, 17, many))]).astype(np.int32)
    wave = rng.random((8192, 256), f)
    rows = rng.integers(0, 1 << 32, (many, 8), u)
    queries, keys = rng.standard_normal((many, 16), f), rng.standard_normal((512, 16), f)
    return [
        Case(smith_waterman, 4096, 128, (*pairs, np.zeros(4096, np.int32)), (200, 4096, 128)),
        Case(voxels, blocks(n), 256, (solid, rays, np.zeros(n, f)), (128, n)),
        Case(red_black, (64, 256), (32, 8), (grid, np.zeros_like(grid), 1e-3, 1.5, 1), grid.shape, tolerance=1e-9),
        Case(philox, 1024, 256, (np.zeros((n, 4), f), u(42)), (n,)),
        Case(life_bits, (8, 512), (64, 4), (words, np.zeros_like(words)), words.shape),
        Case(thomas, blocks(many, 128), 128, (*bands, np.zeros((32, many))), (32, many), tolerance=1e-9),
        Case(radix_split, blocks(n), 256, (rng.integers(0, 1 << 32, n, u), np.zeros(n, u)), (n,)),
        Case(myers, blocks(n), 256,
             (rng.integers(0, 1 << 63, 256, np.uint64), rng.integers(0, 256, (64, n), np.uint8), np.zeros(n, np.int32),
              60), (64, n)),
        Case(push, blocks(many), 256,
             (degrees, rng.integers(0, many, degrees[-1], np.int32), rng.random(many, f), np.zeros(many, f), f(0.85)),
             (many,), tolerance=1e-3, repeatable=False),
        Case(quaternions, blocks(n), 256, (rng.random((n, 4), f), rng.random((n, 3), f), np.zeros((n, 3), f)), (n,)),
        Case(knock_out, blocks(n), 256, (np.zeros(n, f), f(100), f(95), f(130), f(1e-4), f(0.02), 64), (n,),
             tolerance=1e-3),
        Case(fft256, 8192, 64, (wave, wave[::-1].copy(), np.zeros_like(wave), np.zeros_like(wave)), (8192,),
             tolerance=1e-4),
        Case(descriptors, blocks(many), 256,
             (rows, rows[rng.permutation(many)[:512]], np.zeros(many, np.int32), np.zeros(many, np.int32)),
             (many, 512)),
        Case(attention, blocks(many), 256,
             (queries, keys, rng.standard_normal((512, 16), f), np.zeros((many, 16), f), f(0.25)), (512, many),
             tolerance=1e-4),
    ]
