"""Twelve more as people of other fields write them: triggers of earthquakes, alignments by hidden Markov models, heat
on a lattice, options over paths, a codec's predictor, likelihoods of trees, rays and boxes, ranks of a sparse graph, a
filter bank, words of a tokeniser, keyed hashes, an epidemic."""

import math

import numpy as np

from krait import cuda, float32, int32, uint8, uint32, uint64

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void triggers(const float *__restrict__ trace, int *__restrict__ counts,
                                    float *__restrict__ peaks, float fast, float slow, float on, float off, int samples,
                                    int stations) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= stations) return;
    float sta = 0, lta = 1e-6f, peak = 0;
    int found = 0;
    bool active = false;
    for (int t = 0; t < samples; t++) {
        float x = trace[t * stations + s], energy = x * x;
        sta += (energy - sta) * fast;
        if (!active) lta += (energy - lta) * slow;
        float ratio = sta / lta;
        peak = fmaxf(peak, ratio);
        if (!active && ratio > on) {
            active = true;
            found++;
        } else if (active && ratio < off)
            active = false;
    }
    counts[s] = found;
    peaks[s] = peak;
}

extern "C" __global__ void pair_hmm(const unsigned char *__restrict__ reads, const unsigned char *__restrict__ target,
                                    float *__restrict__ out, float gap, float extend, float wrong, int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[17], x[17], y[17];
    for (int k = 0; k < 17; k++) m[k] = x[k] = 0, y[k] = 1 / 16.f;
    for (int r = 0; r < length; r++) {
        int base = reads[r * n + i];
        float dm = m[0], dx = x[0], dy = y[0];
        m[0] = x[0] = y[0] = 0;
        for (int k = 1; k < 17; k++) {
            float match = target[k - 1] == base ? 1 - wrong : wrong / 3;
            float um = m[k], ux = x[k], uy = y[k];
            m[k] = match * ((1 - 2 * gap) * dm + (1 - extend) * (dx + dy));
            x[k] = gap * um + extend * ux;
            y[k] = gap * m[k - 1] + extend * y[k - 1];
            dm = um, dx = ux, dy = uy;
        }
    }
    float total = 0;
    for (int k = 1; k < 17; k++) total += m[k] + x[k];
    out[i] = logf(total);
}

extern "C" __global__ void heat_lattice(const float *__restrict__ f, const unsigned char *__restrict__ solid,
                                        float *__restrict__ out, float omega, int height, int width) {
    const int cx[5] = {0, 1, -1, 0, 0}, cy[5] = {0, 0, 0, 1, -1}, back[5] = {0, 2, 1, 4, 3};
    const float w[5] = {1 / 3.f, 1 / 6.f, 1 / 6.f, 1 / 6.f, 1 / 6.f};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    float g[5], t = 0;
    for (int k = 0; k < 5; k++) {
        int yy = y - cy[k], xx = x - cx[k];
        g[k] = solid[yy * width + xx] ? f[(back[k] * height + y) * width + x] : f[(k * height + yy) * width + xx];
        t += g[k];
    }
    for (int k = 0; k < 5; k++) out[(k * height + y) * width + x] = g[k] + omega * (w[k] * t - g[k]);
}

extern "C" __global__ void lookback(const unsigned *__restrict__ seeds, float *__restrict__ payoff, float start,
                                    float drift, float vol, float strike, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seeds[i];
    float logs = 0, low = 0, sum = 0;
    for (int k = 0; k < steps; k += 2) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float u = (s >> 8) * (1.f / 16777216) + 1e-8f;
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float v = (s >> 8) * (6.2831853f / 16777216);
        float r = sqrtf(-2 * logf(u));
        logs += drift + vol * (r * cosf(v));
        low = fminf(low, logs);
        sum += expf(logs);
        logs += drift + vol * (r * sinf(v));
        low = fminf(low, logs);
        sum += expf(logs);
    }
    payoff[i] = fmaxf(start * sum / steps - strike * expf(low), 0);
}

extern "C" __global__ void paeth(const unsigned char *__restrict__ image, unsigned char *__restrict__ out,
                                 unsigned *__restrict__ cost, int height, int width) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    unsigned total = 0;
    int a = 0, c = 0;
    for (int x = 0; x < width; x++) {
        int v = image[y * width + x], b = y > 0 ? image[(y - 1) * width + x] : 0;
        int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
        int guess = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
        unsigned char d = v - guess;
        out[y * width + x] = d;
        total += d < 128 ? d : 256 - d;
        a = v, c = b;
    }
    cost[y] = total;
}

extern "C" __global__ void pruning(const float *__restrict__ left, const float *__restrict__ right,
                                   const float *__restrict__ p, const float *__restrict__ q, float *__restrict__ out,
                                   float *__restrict__ scale, int sites) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sites) return;
    float v[4], top = 0;
    for (int s = 0; s < 4; s++) {
        float a = 0, b = 0;
        for (int t = 0; t < 4; t++) {
            a += p[s * 4 + t] * left[i * 4 + t];
            b += q[s * 4 + t] * right[i * 4 + t];
        }
        v[s] = a * b;
        top = fmaxf(top, v[s]);
    }
    for (int s = 0; s < 4; s++) out[i * 4 + s] = v[s] / top;
    scale[i] += logf(top);
}

extern "C" __global__ void boxes(const float *__restrict__ rays, const float *__restrict__ low,
                                 const float *__restrict__ high, int *__restrict__ hit, float *__restrict__ at,
                                 int count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ox = rays[i * 6], oy = rays[i * 6 + 1], oz = rays[i * 6 + 2];
    float ix = 1 / rays[i * 6 + 3], iy = 1 / rays[i * 6 + 4], iz = 1 / rays[i * 6 + 5], best = 1e30f;
    int who = -1;
    for (int k = 0; k < count; k++) {
        float x0 = (low[k * 3] - ox) * ix, x1 = (high[k * 3] - ox) * ix;
        float y0 = (low[k * 3 + 1] - oy) * iy, y1 = (high[k * 3 + 1] - oy) * iy;
        float z0 = (low[k * 3 + 2] - oz) * iz, z1 = (high[k * 3 + 2] - oz) * iz;
        float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fminf(z0, z1));
        float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
        if (enter <= leave && leave > 0 && enter < best) {
            best = enter;
            who = k;
        }
    }
    hit[i] = who;
    at[i] = best;
}

extern "C" __global__ void ranks(const int *__restrict__ starts, const int *__restrict__ from,
                                 const float *__restrict__ rank, const int *__restrict__ degree,
                                 float *__restrict__ next, float *__restrict__ change, float damping, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int e = starts[i]; e < starts[i + 1]; e++) {
        int j = from[e];
        sum += rank[j] / degree[j];
    }
    float now = (1 - damping) / n + damping * sum;
    next[i] = now;
    change[i] = fabsf(now - rank[i]);
}

extern "C" __global__ void filter_bank(const float *__restrict__ x, const float *__restrict__ taps,
                                       float *__restrict__ out, int step, int ntaps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < ntaps; k++) sum += taps[b * ntaps + k] * x[i * step + k];
    out[b * n + i] = sum;
}

extern "C" __global__ void words(const unsigned char *__restrict__ text, unsigned *__restrict__ hashes,
                                 int *__restrict__ table, int mask, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool letter = text[i] > 32, before = i > 0 && text[i - 1] > 32;
    unsigned h = 2166136261u;
    if (letter && !before) {
        int j = i;
        while (j < n && text[j] > 32) {
            unsigned char c = text[j];
            if (c >= 65 && c <= 90) c += 32;
            h = (h ^ c) * 16777619u;
            j++;
        }
        atomicAdd(&table[h & mask], 1);
        hashes[i] = h;
    } else
        hashes[i] = 0;
}

#define ROTATE(x, k) ((x) << (k) | (x) >> (64 - (k)))
#define ROUND                                                                                     \
    v0 += v1, v1 = ROTATE(v1, 13) ^ v0, v0 = ROTATE(v0, 32), v2 += v3, v3 = ROTATE(v3, 16) ^ v2; \
    v0 += v3, v3 = ROTATE(v3, 21) ^ v0, v2 += v1, v1 = ROTATE(v1, 17) ^ v2, v2 = ROTATE(v2, 32);
typedef unsigned long long u64;
extern "C" __global__ void siphash(const u64 *__restrict__ messages, const u64 *__restrict__ key, u64 *__restrict__ out,
                                   int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 v0 = key[0] ^ 0x736f6d6570736575ull, v1 = key[1] ^ 0x646f72616e646f6dull;
    u64 v2 = key[0] ^ 0x6c7967656e657261ull, v3 = key[1] ^ 0x7465646279746573ull;
    for (int k = 0; k < length; k++) {
        u64 m = messages[k * n + i];
        v3 ^= m;
        ROUND ROUND
        v0 ^= m;
    }
    u64 last = (u64)(length * 8) << 56;
    v3 ^= last;
    ROUND ROUND
    v0 ^= last;
    v2 ^= 0xff;
    ROUND ROUND ROUND ROUND
    out[i] = v0 ^ v1 ^ v2 ^ v3;
}

extern "C" __global__ void seir(const double *__restrict__ rates, double *__restrict__ state, double *__restrict__ peak,
                                double dt, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double beta = rates[i * 3], sigma = rates[i * 3 + 1], gamma = rates[i * 3 + 2];
    double s = state[i * 4], e = state[i * 4 + 1], f = state[i * 4 + 2], r = state[i * 4 + 3], top = 0;
    for (int k = 0; k < steps; k++) {
        double ds = 0, de = 0, df = 0, ks = 0, ke = 0, kf = 0;
        for (int stage = 0; stage < 4; stage++) {
            double h = stage == 0 ? 0 : stage == 3 ? dt : dt / 2, w = stage == 0 || stage == 3 ? 1 : 2;
            double a = s + h * ks, b = e + h * ke, c = f + h * kf;
            double caught = beta * a * c;
            ks = -caught, ke = caught - sigma * b, kf = sigma * b - gamma * c;
            ds += w * ks, de += w * ke, df += w * kf;
        }
        s += dt / 6 * ds, e += dt / 6 * de, f += dt / 6 * df;
        r = 1 - s - e - f;
        top = fmax(top, f);
    }
    state[i * 4] = s, state[i * 4 + 1] = e, state[i * 4 + 2] = f, state[i * 4 + 3] = r;
    peak[i] = top;
}
"""


@cuda.jit
def triggers(trace, counts, peaks, fast, slow, on, off):
    s = cuda.grid(1)
    if s >= trace.shape[1]:
        return
    sta, lta, peak = float32(0), float32(1e-6), float32(0)
    found, active = 0, False
    for t in range(trace.shape[0]):
        energy = trace[t, s] * trace[t, s]
        sta += (energy - sta) * fast
        if not active:
            lta += (energy - lta) * slow
        ratio = sta / lta
        peak = max(peak, ratio)
        if not active and ratio > on:
            active = True
            found += 1
        elif active and ratio < off:
            active = False
    counts[s] = found
    peaks[s] = peak


@cuda.jit
def pair_hmm(reads, target, out, gap, extend, wrong):
    i = cuda.grid(1)
    if i >= out.size:
        return
    m, x, y = cuda.local.array(17, float32), cuda.local.array(17, float32), cuda.local.array(17, float32)
    for k in range(17):
        m[k], x[k], y[k] = 0, 0, 1 / 16
    one, two = float32(1), float32(2)
    for r in range(reads.shape[0]):
        base = reads[r, i]
        dm, dx, dy = m[0], x[0], y[0]
        m[0] = x[0] = y[0] = 0
        for k in range(1, 17):
            match = one - wrong if target[k - 1] == base else wrong / float32(3)
            um, ux, uy = m[k], x[k], y[k]
            m[k] = match * ((one - two * gap) * dm + (one - extend) * (dx + dy))
            x[k] = gap * um + extend * ux
            y[k] = gap * m[k - 1] + extend * y[k - 1]
            dm, dx, dy = um, ux, uy
    total = float32(0)
    for k in range(1, 17):
        total += m[k] + x[k]
    out[i] = math.log(total)


STEPS_X, STEPS_Y, BACK = (0, 1, -1, 0, 0), (0, 0, 0, 1, -1), (0, 2, 1, 4, 3)
WEIGHTS = np.array([1 / 3] + [1 / 6] * 4, np.float32)


@cuda.jit
def heat_lattice(f, solid, out, omega):
    x, y = cuda.grid(2)
    height, width = solid.shape
    if x < 1 or y < 1 or x >= width - 1 or y >= height - 1:
        return
    g = cuda.local.array(5, float32)
    t = float32(0)
    for k in range(5):
        yy, xx = y - STEPS_Y[k], x - STEPS_X[k]
        g[k] = f[BACK[k], y, x] if solid[yy, xx] else f[k, yy, xx]
        t += g[k]
    for k in range(5):
        out[k, y, x] = g[k] + omega * (WEIGHTS[k] * t - g[k])


@cuda.jit(device=True)
def xorshift(s):
    s ^= s << uint32(13)
    s ^= s >> uint32(17)
    return s ^ s << uint32(5)


@cuda.jit(fastmath=True)
def lookback(seeds, payoff, start, drift, vol, strike, steps):
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    s = seeds[i]
    logs = low = total = float32(0)
    for _ in range(0, steps, 2):
        s = xorshift(s)
        u = float32(s >> uint32(8)) * float32(1 / 16777216) + float32(1e-8)
        s = xorshift(s)
        v = float32(s >> uint32(8)) * float32(6.2831853 / 16777216)
        r = math.sqrt(float32(-2) * math.log(u))
        logs += drift + vol * (r * math.cos(v))
        low = min(low, logs)
        total += math.exp(logs)
        logs += drift + vol * (r * math.sin(v))
        low = min(low, logs)
        total += math.exp(logs)
    payoff[i] = max(start * total / float32(steps) - strike * math.exp(low), float32(0))


@cuda.jit
def paeth(image, out, cost):
    y = cuda.grid(1)
    if y >= image.shape[0]:
        return
    total = a = c = 0
    for x in range(image.shape[1]):
        v = int32(image[y, x])
        b = int32(image[y - 1, x]) if y > 0 else 0
        p = a + b - c
        pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
        guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
        d = (v - guess) & 255
        out[y, x] = d
        total += d if d < 128 else 256 - d
        a, c = v, b
    cost[y] = total


@cuda.jit
def pruning(left, right, p, q, out, scale):
    i = cuda.grid(1)
    if i >= scale.size:
        return
    v = cuda.local.array(4, float32)
    top = float32(0)
    for s in range(4):
        a = b = float32(0)
        for t in range(4):
            a += p[s, t] * left[i, t]
            b += q[s, t] * right[i, t]
        v[s] = a * b
        top = max(top, v[s])
    for s in range(4):
        out[i, s] = v[s] / top
    scale[i] += math.log(top)


@cuda.jit
def boxes(rays, low, high, hit, at):
    i = cuda.grid(1)
    if i >= hit.size:
        return
    ox, oy, oz = rays[i, 0], rays[i, 1], rays[i, 2]
    ix, iy, iz = float32(1) / rays[i, 3], float32(1) / rays[i, 4], float32(1) / rays[i, 5]
    best, who = float32(1e30), -1
    for k in range(low.shape[0]):
        x0, x1 = (low[k, 0] - ox) * ix, (high[k, 0] - ox) * ix
        y0, y1 = (low[k, 1] - oy) * iy, (high[k, 1] - oy) * iy
        z0, z1 = (low[k, 2] - oz) * iz, (high[k, 2] - oz) * iz
        enter = max(max(min(x0, x1), min(y0, y1)), min(z0, z1))
        leave = min(min(max(x0, x1), max(y0, y1)), max(z0, z1))
        if enter <= leave and leave > 0 and enter < best:
            best, who = enter, k
    hit[i] = who
    at[i] = best


@cuda.jit
def ranks(starts, origin, rank, degree, following, change, damping):
    i = cuda.grid(1)
    if i >= rank.size:
        return
    total = float32(0)
    for e in range(starts[i], starts[i + 1]):
        j = origin[e]
        total += rank[j] / float32(degree[j])
    now = (float32(1) - damping) / float32(rank.size) + damping * total
    following[i] = now
    change[i] = abs(now - rank[i])


@cuda.jit
def filter_bank(x, taps, out, step):
    i, b = cuda.grid(1), cuda.blockIdx.y
    if i >= out.shape[1]:
        return
    total = float32(0)
    for k in range(taps.shape[1]):
        total += taps[b, k] * x[i * step + k]
    out[b, i] = total


@cuda.jit
def words(text, hashes, table):
    i = cuda.grid(1)
    if i >= text.size:
        return
    h = uint32(2166136261)
    if text[i] > 32 and not (i > 0 and text[i - 1] > 32):
        j = i
        while j < text.size and text[j] > 32:
            c = text[j]
            if 65 <= c <= 90:
                c += uint8(32)
            h = (h ^ uint32(c)) * uint32(16777619)
            j += 1
        cuda.atomic.add(table, h & (table.size - 1), 1)
        hashes[i] = h
    else:
        hashes[i] = 0


@cuda.jit(device=True)
def rotate(x, k):
    return x << uint64(k) | x >> uint64(64 - k)


@cuda.jit(device=True)
def sip_round(a, b, c, d):
    a, c = a + b, c + d
    b, d = rotate(b, 13) ^ a, rotate(d, 16) ^ c
    a, c = rotate(a, 32) + d, c + b
    return a, rotate(b, 17) ^ c, rotate(c, 32), rotate(d, 21) ^ a


@cuda.jit
def siphash(messages, key, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    a, b = key[0] ^ uint64(0x736F6D6570736575), key[1] ^ uint64(0x646F72616E646F6D)
    c, d = key[0] ^ uint64(0x6C7967656E657261), key[1] ^ uint64(0x7465646279746573)
    for k in range(messages.shape[0]):
        m = messages[k, i]
        d ^= m
        for _ in range(2):
            a, b, c, d = sip_round(a, b, c, d)
        a ^= m
    last = uint64(messages.shape[0] * 8) << uint64(56)
    d ^= last
    for _ in range(2):
        a, b, c, d = sip_round(a, b, c, d)
    a ^= last
    c ^= uint64(0xFF)
    for _ in range(4):
        a, b, c, d = sip_round(a, b, c, d)
    out[i] = a ^ b ^ c ^ d


@cuda.jit
def seir(rates, state, peak, dt, steps):
    i = cuda.grid(1)
    if i >= peak.size:
        return
    beta, sigma, gamma = rates[i, 0], rates[i, 1], rates[i, 2]
    s, e, f, r = state[i, 0], state[i, 1], state[i, 2], state[i, 3]
    top = 0.0
    for _ in range(steps):
        ds = de = df = ks = ke = kf = 0.0
        for stage in range(4):
            h = 0.0 if stage == 0 else dt if stage == 3 else dt / 2
            w = 1.0 if stage == 0 or stage == 3 else 2.0
            a, b, c = s + h * ks, e + h * ke, f + h * kf
            caught = beta * a * c
            ks, ke, kf = -caught, caught - sigma * b, sigma * b - gamma * c
            ds, de, df = ds + w * ks, de + w * ke, df + w * kf
        s, e, f = s + dt / 6 * ds, e + dt / 6 * de, f + dt / 6 * df
        r = 1 - s - e - f
        top = max(top, f)
    state[i, 0], state[i, 1], state[i, 2], state[i, 3] = s, e, f, r
    peak[i] = top


def _tables(rng):
    n, f = 1 << 18, np.float32
    degree = rng.integers(1, 24, n).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    letters = np.where(rng.random(1 << 22) < 0.17, 32, rng.integers(65, 123, 1 << 22)).astype(np.uint8)
    low = rng.random((512, 3), f) * 4 - 2
    pointing = rng.random((1 << 17, 6), f) - f(0.5)
    transition = rng.random((2, 4, 4), f)
    return starts, rng.integers(0, n, starts[-1], np.int32), degree, letters, low, pointing, transition


def cases(rng):
    f = np.float32
    starts, origin, degree, letters, low, pointing, transition = _tables(rng)
    n, many = degree.size, 1 << 16
    floats, ints = (lambda *shape: np.zeros(shape, f)), (lambda *shape: np.zeros(shape, np.int32))
    seeds = rng.integers(1, 1 << 32, 1 << 18, np.uint32)
    lattice, solid = rng.random((5, 1024, 1024), f), (rng.random((1024, 1024)) < 0.1).astype(np.uint8)
    image = rng.integers(0, 256, (16384, 256), np.uint8)
    epidemic = rng.random((many, 3)), np.tile([0.99, 0, 0.01, 0], (many, 1))
    return [
        Case(triggers, blocks(many), 256, (rng.standard_normal((512, many), f), ints(many), floats(many), f(0.1),
                                           f(0.005), f(3), f(1.5)), (512, many), tolerance=1e-4),
        Case(pair_hmm, blocks(many), 256, (rng.integers(0, 4, (24, many), np.uint8), rng.integers(0, 4, 16, np.uint8),
                                           floats(many), f(0.05), f(0.3), f(0.3)), (24, many), tolerance=1e-4),
        Case(heat_lattice, (32, 128), (32, 8), (lattice, solid, np.zeros_like(lattice), f(1.1)), (1024, 1024)),
        Case(lookback, blocks(seeds.size), 256, (seeds, floats(seeds.size), f(100), f(-1e-4), f(0.01), f(95), 128),
             (seeds.size,), tolerance=1e-3),
        Case(paeth, blocks(16384, 64), 64, (image, np.zeros_like(image), np.zeros(16384, np.uint32)), (16384, 256)),
        Case(pruning, blocks(n), 256, (rng.random((n, 4), f), rng.random((n, 4), f), *transition, floats(n, 4),
                                       floats(n)), (n,), repeatable=False),
        Case(boxes, blocks(pointing.shape[0]), 256, (pointing, low, low + f(0.2), ints(1 << 17), floats(1 << 17)),
             (512, 1 << 17)),
        Case(ranks, blocks(n), 256, (starts, origin, rng.random(n, f), degree, floats(n), floats(n), f(0.85)), (n,)),
        Case(filter_bank, (blocks(1 << 17), 16), 256, (rng.random((1 << 17) * 4 + 64, f), rng.random((16, 64), f),
                                                       floats(16, 1 << 17), 4), (64, 1 << 17), tolerance=1e-4),
        Case(words, blocks(letters.size), 256, (letters, np.zeros(letters.size, np.uint32), ints(1 << 16)),
             ((1 << 16) - 1, letters.size)),
        Case(siphash, blocks(n), 256, (rng.integers(0, 1 << 63, (32, n), np.uint64),
                                       rng.integers(0, 1 << 63, 2, np.uint64), np.zeros(n, np.uint64)), (32, n)),
        Case(seir, blocks(many), 256, (*epidemic, np.zeros(many), 0.05, 400), (many,), repeatable=False),
    ]
