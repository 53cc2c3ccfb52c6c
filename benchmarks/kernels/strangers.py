"""Six more kernels of strangers: waves in the ground, minimizers of genomes, rays and triangles, filters of sound, a
stream cipher, an epidemic."""

import math

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void seismic(const float *__restrict__ p, const float *__restrict__ before,
                                   const float *__restrict__ speed, float *__restrict__ next, float c0, float c1,
                                   float c2, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= columns - 2 || y >= rows - 2) return;
    int i = y * columns + x;
    float lap = 2 * c0 * p[i] + c1 * (p[i - 1] + p[i + 1] + p[i - columns] + p[i + columns]) +
                c2 * (p[i - 2] + p[i + 2] + p[i - 2 * columns] + p[i + 2 * columns]);
    next[i] = 2 * p[i] - before[i] + speed[i] * lap;
}

extern "C" __global__ void minimizers(const unsigned char *__restrict__ bases, unsigned *__restrict__ out, int window,
                                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + window + 15 > n) return;
    unsigned code = 0, best = 0xffffffff;
    for (int k = 0; k < 15; k++) code = code << 2 | (bases[i + k] & 3);
    for (int w = 0; w < window; w++) {
        unsigned h = (code ^ (code >> 16)) * 0x45d9f3bu;
        h = (h ^ (h >> 16)) * 0x45d9f3bu;
        h ^= h >> 16;
        if (h < best) best = h;
        code = (code << 2 | (bases[i + 15 + w] & 3)) & 0x3fffffff;
    }
    out[i] = best;
}

extern "C" __global__ void triangles(const float *__restrict__ tri, const float *__restrict__ rays,
                                     float *__restrict__ hit, int count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ox = rays[i * 6], oy = rays[i * 6 + 1], oz = rays[i * 6 + 2], best = 1e30f;
    float dx = rays[i * 6 + 3], dy = rays[i * 6 + 4], dz = rays[i * 6 + 5];
    for (int k = 0; k < count; k++) {
        float ax = tri[k * 9], ay = tri[k * 9 + 1], az = tri[k * 9 + 2];
        float ex = tri[k * 9 + 3] - ax, ey = tri[k * 9 + 4] - ay, ez = tri[k * 9 + 5] - az;
        float fx = tri[k * 9 + 6] - ax, fy = tri[k * 9 + 7] - ay, fz = tri[k * 9 + 8] - az;
        float px = dy * fz - dz * fy, py = dz * fx - dx * fz, pz = dx * fy - dy * fx;
        float det = ex * px + ey * py + ez * pz;
        if (fabsf(det) < 1e-8f) continue;
        float inv = 1 / det, tx = ox - ax, ty = oy - ay, tz = oz - az;
        float u = (tx * px + ty * py + tz * pz) * inv;
        if (u < 0 || u > 1) continue;
        float qx = ty * ez - tz * ey, qy = tz * ex - tx * ez, qz = tx * ey - ty * ex;
        float v = (dx * qx + dy * qy + dz * qz) * inv;
        if (v < 0 || u + v > 1) continue;
        float t = (fx * qx + fy * qy + fz * qz) * inv;
        if (t > 0 && t < best) best = t;
    }
    hit[i] = best;
}

extern "C" __global__ void biquads(const float *__restrict__ in, const float *__restrict__ c,
                                   float *__restrict__ out, int samples, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels) return;
    float b0 = c[0], b1 = c[1], b2 = c[2], a1 = c[3], a2 = c[4], x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int t = 0; t < samples; t++) {
        float x = in[t * channels + i], y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
        x2 = x1, x1 = x, y2 = y1, y1 = y;
        out[t * channels + i] = y;
    }
}

__device__ unsigned rol(unsigned x, int n) { return x << n | x >> (32 - n); }

extern "C" __global__ void chacha(const unsigned *__restrict__ key, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s[16];
    for (int k = 0; k < 16; k++) s[k] = key[k];
    s[12] += i;
    for (int r = 0; r < 10; r++) {
        for (int h = 0; h < 2; h++)
            for (int c = 0; c < 4; c++) {
                int a = c, b = 4 + (c + h) % 4, d = 8 + (c + 2 * h) % 4, e = 12 + (c + 3 * h) % 4;
                s[a] += s[b]; s[e] = rol(s[e] ^ s[a], 16);
                s[d] += s[e]; s[b] = rol(s[b] ^ s[d], 12);
                s[a] += s[b]; s[e] = rol(s[e] ^ s[a], 8);
                s[d] += s[e]; s[b] = rol(s[b] ^ s[d], 7);
            }
    }
    for (int k = 0; k < 16; k++) out[k * n + i] = s[k] + key[k];
}

extern "C" __global__ void epidemic(const double *__restrict__ beta, const double *__restrict__ gamma,
                                    double *__restrict__ peak, double dt, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s = 0.99, e = 0, f = 0.01, r = 0, best = 0;
    for (int k = 0; k < steps; k++) {
        double season = 1 + 0.2 * cos(0.0172 * k * dt), in = beta[i] * season * s * f;
        double on = 0.2 * e, off = gamma[i] * f;
        s += dt * -in, e += dt * (in - on), f += dt * (on - off), r += dt * off;
        best = fmax(best, f);
    }
    peak[i] = best + 0 * r;
}
"""


@cuda.jit
def seismic(p, before, speed, after, c0, c1, c2):
    x, y = cuda.grid(2)
    rows, columns = p.shape
    if 2 <= x < columns - 2 and 2 <= y < rows - 2:
        lap = (2 * c0 * p[y, x] + c1 * (p[y, x - 1] + p[y, x + 1] + p[y - 1, x] + p[y + 1, x])
               + c2 * (p[y, x - 2] + p[y, x + 2] + p[y - 2, x] + p[y + 2, x]))
        after[y, x] = 2 * p[y, x] - before[y, x] + speed[y, x] * lap


@cuda.jit
def minimizers(bases, out, window):
    i = cuda.grid(1)
    if i + window + 15 > bases.size:
        return
    code, best = np.uint32(0), np.uint32(0xFFFFFFFF)
    for k in range(15):
        code = code << np.uint32(2) | (bases[i + k] & np.uint32(3))
    for w in range(window):
        h = (code ^ (code >> np.uint32(16))) * np.uint32(0x45D9F3B)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x45D9F3B)
        h ^= h >> np.uint32(16)
        if h < best:
            best = h
        code = (code << np.uint32(2) | (bases[i + 15 + w] & np.uint32(3))) & np.uint32(0x3FFFFFFF)
    out[i] = best


@cuda.jit
def triangles(tri, rays, hit):
    i = cuda.grid(1)
    if i >= rays.shape[0]:
        return
    ox, oy, oz = rays[i, 0], rays[i, 1], rays[i, 2]
    dx, dy, dz = rays[i, 3], rays[i, 4], rays[i, 5]
    best = np.float32(1e30)
    for k in range(tri.shape[0]):
        ax, ay, az = tri[k, 0], tri[k, 1], tri[k, 2]
        ex, ey, ez = tri[k, 3] - ax, tri[k, 4] - ay, tri[k, 5] - az
        fx, fy, fz = tri[k, 6] - ax, tri[k, 7] - ay, tri[k, 8] - az
        px, py, pz = dy * fz - dz * fy, dz * fx - dx * fz, dx * fy - dy * fx
        det = ex * px + ey * py + ez * pz
        if abs(det) < np.float32(1e-8):
            continue
        inv = np.float32(1) / det
        tx, ty, tz = ox - ax, oy - ay, oz - az
        u = (tx * px + ty * py + tz * pz) * inv
        if u < 0 or u > 1:
            continue
        qx, qy, qz = ty * ez - tz * ey, tz * ex - tx * ez, tx * ey - ty * ex
        v = (dx * qx + dy * qy + dz * qz) * inv
        if v < 0 or u + v > 1:
            continue
        t = (fx * qx + fy * qy + fz * qz) * inv
        if 0 < t < best:
            best = t
    hit[i] = best


@cuda.jit
def biquads(x, c, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        b0, b1, b2, a1, a2 = c[0], c[1], c[2], c[3], c[4]
        x1 = x2 = y1 = y2 = np.float32(0)
        for t in range(x.shape[0]):
            now = x[t, i]
            y = b0 * now + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
            x2, x1, y2, y1 = x1, now, y1, y
            out[t, i] = y


@cuda.jit(device=True)
def rol(x, n):
    return x << np.uint32(n) | x >> np.uint32(32 - n)


@cuda.jit
def chacha(key, out):
    i = cuda.grid(1)
    if i < out.shape[1]:
        s = cuda.local.array(16, np.uint32)
        for k in range(16):
            s[k] = key[k]
        s[12] += np.uint32(i)
        for _ in range(10):
            for h in range(2):
                for c in range(4):
                    a, b, d, e = c, 4 + (c + h) % 4, 8 + (c + 2 * h) % 4, 12 + (c + 3 * h) % 4
                    s[a] += s[b]
                    s[e] = rol(s[e] ^ s[a], 16)
                    s[d] += s[e]
                    s[b] = rol(s[b] ^ s[d], 12)
                    s[a] += s[b]
                    s[e] = rol(s[e] ^ s[a], 8)
                    s[d] += s[e]
                    s[b] = rol(s[b] ^ s[d], 7)
        for k in range(16):
            out[k, i] = s[k] + key[k]


@cuda.jit
def epidemic(beta, gamma, peak, dt, steps):
    i = cuda.grid(1)
    if i < peak.size:
        s, e, f, r, best = 0.99, 0.0, 0.01, 0.0, 0.0
        for k in range(steps):
            season = 1 + 0.2 * math.cos(0.0172 * k * dt)
            new, on, off = beta[i] * season * s * f, 0.2 * e, gamma[i] * f
            s += dt * -new
            e += dt * (new - on)
            f += dt * (on - off)
            r += dt * off
            best = max(best, f)
        peak[i] = best + 0 * r


def cases(rng):
    n, many, f = 1 << 20, 1 << 16, np.float32
    g = rng.random((2048, 2048), f)
    return [
        Case(seismic, (64, 256), (32, 8), (g, g, g * f(0.1), np.zeros_like(g), f(-2.5), f(4 / 3), f(-1 / 12)), g.shape,
             tolerance=1e-4),
        Case(minimizers, blocks(n), 256, (rng.integers(0, 256, n, np.uint8), np.zeros(n, np.uint32), 32), (n,)),
        Case(triangles, blocks(many), 256, (rng.random((256, 9), f), rng.random((many, 6), f), np.zeros(many, f)),
             (256, many), tolerance=1e-3),
        Case(biquads, blocks(many, 128), 128,
             (rng.random((256, many), f), np.array([0.2, 0.4, 0.2, -0.5, 0.3], f), np.zeros((256, many), f)),
             (256, many)),
        Case(chacha, blocks(n), 256, (rng.integers(0, 1 << 32, 16, np.uint32), np.zeros((16, n), np.uint32)), (n,)),
        Case(epidemic, blocks(many, 128), 128, (rng.random(many), rng.random(many), np.zeros(many), 0.1, 300), (many,)),
    ]
