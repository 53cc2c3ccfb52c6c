"""Twelve kernels of other trades, as their people write them, measured as first written: digests and checksums, an
elimination in shared memory, a masked stencil in three dimensions, co-occurrences of grey levels, a stage of an FFT,
residuals with derivatives, cosine transforms of blocks, tracking, rays, noise, chemistry by chance."""

import math

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
__constant__ unsigned round_key[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

__device__ unsigned turn(unsigned x, int n) { return (x >> n) | (x << (32 - n)); }

extern "C" __global__ void sha256(const unsigned *__restrict__ message, unsigned *__restrict__ digest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[16];
    for (int t = 0; t < 16; t++) w[t] = message[t * n + i];
    unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    unsigned e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            unsigned s0 = w[(t + 1) % 16], s1 = w[(t + 14) % 16];
            w[t % 16] += (turn(s0, 7) ^ turn(s0, 18) ^ (s0 >> 3)) + w[(t + 9) % 16] +
                         (turn(s1, 17) ^ turn(s1, 19) ^ (s1 >> 10));
        }
        unsigned t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + round_key[t] + w[t % 16];
        unsigned t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    digest[i] = a + 0x6a09e667;
    digest[n + i] = e + 0x510e527f;
}

extern "C" __global__ void crc32(const unsigned char *__restrict__ data, const unsigned *__restrict__ table,
                                 unsigned *__restrict__ out, int length, int n) {
    __shared__ unsigned shared_table[256];
    shared_table[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned crc = 0xffffffff;
    for (int k = 0; k < length; k++) crc = shared_table[(crc ^ data[k * n + i]) & 0xff] ^ (crc >> 8);
    out[i] = crc ^ 0xffffffff;
}

extern "C" __global__ void eliminate(const float *__restrict__ a, float *__restrict__ out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 1024;
    for (int r = y; r < 32; r += 8) tile[r][x] = a[base + r * 32 + x];
    __syncthreads();
    for (int k = 0; k < 31; k++) {
        if (y == 0 && x > k) tile[x][k] /= tile[k][k];
        __syncthreads();
        for (int r = k + 1 + y; r < 32; r += 8)
            if (x > k) tile[r][x] -= tile[r][k] * tile[k][x];
        __syncthreads();
    }
    for (int r = y; r < 32; r += 8) out[base + r * 32 + x] = tile[r][x];
}

extern "C" __global__ void jacobi_masked(const double *__restrict__ u, const signed char *__restrict__ mask,
                                         const double *__restrict__ f, double *__restrict__ out, double h2, int nz,
                                         int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    for (int z = 1; z < nz - 1; z++) {
        int i = (z * ny + y) * nx + x;
        if (mask[i])
            out[i] = (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny] - h2 * f[i]) / 6;
        else
            out[i] = u[i];
    }
}

extern "C" __global__ void co_occurrence(const unsigned char *__restrict__ image, int *__restrict__ matrix, int dy,
                                         int dx, int rows, int columns) {
    __shared__ int counts[256];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y + dy < rows && x + dx < columns) {
        int from = image[y * columns + x] >> 4, to = image[(y + dy) * columns + x + dx] >> 4;
        atomicAdd(&counts[from * 16 + to], 1);
    }
    __syncthreads();
    if (counts[t] > 0) atomicAdd(&matrix[t], counts[t]);
}

extern "C" __global__ void radix4(const float2 *__restrict__ in, float2 *__restrict__ out, int p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
    if (i >= quarter) return;
    int k = i & (p - 1), j = ((i - k) << 2) + k;
    float angle = -2 * 3.14159265f * k / (4 * p);
    float2 v[4];
    for (int r = 0; r < 4; r++) {
        float2 a = in[i + r * quarter];
        float s = sinf(r * angle), c = cosf(r * angle);
        v[r] = make_float2(a.x * c - a.y * s, a.x * s + a.y * c);
    }
    float2 u0 = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), u1 = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    float2 u2 = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), u3 = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    out[j] = make_float2(u0.x + u2.x, u0.y + u2.y);
    out[j + p] = make_float2(u1.x + u3.x, u1.y + u3.y);
    out[j + 2 * p] = make_float2(u0.x - u2.x, u0.y - u2.y);
    out[j + 3 * p] = make_float2(u1.x - u3.x, u1.y - u3.y);
}

extern "C" __global__ void residuals(const double *__restrict__ t, const double *__restrict__ y,
                                     const double *__restrict__ parameters, double *__restrict__ gradient, int samples,
                                     int fits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fits) return;
    double a = parameters[i * 3], b = parameters[i * 3 + 1], c = parameters[i * 3 + 2], ga = 0, gb = 0, gc = 0, sum = 0;
    for (int k = 0; k < samples; k++) {
        double e = exp(-b * t[k]), r = a * e + c - y[k * fits + i];
        ga += r * e;
        gb -= r * a * t[k] * e;
        gc += r;
        sum += r * r;
    }
    gradient[i * 4] = ga, gradient[i * 4 + 1] = gb, gradient[i * 4 + 2] = gc, gradient[i * 4 + 3] = sum;
}

extern "C" __global__ void dct8x8(const float *__restrict__ in, const float *__restrict__ basis,
                                  float *__restrict__ out, int columns) {
    __shared__ float block[8][8], half[8][8], table[8][8];
    int x = threadIdx.x, y = threadIdx.y, place = (blockIdx.y * 8 + y) * columns + blockIdx.x * 8 + x;
    block[y][x] = in[place] - 128;
    table[y][x] = basis[y * 8 + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += table[y][k] * block[k][x];
    half[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) sum += half[y][k] * table[x][k];
    out[place] = sum;
}

extern "C" __global__ void track(const float *__restrict__ measured, float *__restrict__ smooth, float alpha,
                                 float beta, float dt, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = measured[i], v = 0;
    for (int k = 0; k < steps; k++) {
        float predicted = x + v * dt, r = measured[k * n + i] - predicted;
        x = predicted + alpha * r;
        v += beta * r / dt;
        smooth[k * n + i] = x;
    }
}

extern "C" __global__ void spheres(const float *__restrict__ sphere, float *__restrict__ image, int count, int width,
                                   int height) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float dx = (px + 0.5f) / width * 2 - 1, dy = (py + 0.5f) / height * 2 - 1, dz = 1;
    float length = sqrtf(dx * dx + dy * dy + dz * dz), nearest = 1e30f, shade = 0;
    dx /= length, dy /= length, dz /= length;
    for (int k = 0; k < count; k++) {
        float cx = sphere[k * 4], cy = sphere[k * 4 + 1], cz = sphere[k * 4 + 2], radius = sphere[k * 4 + 3];
        float b = dx * cx + dy * cy + dz * cz, c = cx * cx + cy * cy + cz * cz - radius * radius, d = b * b - c;
        if (d > 0) {
            float t = b - sqrtf(d);
            if (t > 0 && t < nearest) {
                nearest = t;
                float nx = (dx * t - cx) / radius, ny = (dy * t - cy) / radius, nz = (dz * t - cz) / radius;
                shade = fmaxf(0.0f, -(nx * 0.5f + ny * 0.7f + nz * 0.5f));
            }
        }
    }
    image[py * width + px] = shade;
}

__device__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
__device__ float blend(float t, float a, float b) { return a + t * (b - a); }
__device__ float slope(int hash, float x, float y) {
    int h = hash & 7;
    float u = h < 4 ? x : y, v = h < 4 ? y : x;
    return ((h & 1) ? -u : u) + ((h & 2) ? -2 * v : 2 * v);
}

extern "C" __global__ void perlin(const int *__restrict__ table, float *__restrict__ out, float scale, int octaves,
                                  int width, int height) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float total = 0, amplitude = 1, frequency = scale;
    for (int o = 0; o < octaves; o++) {
        float x = px * frequency, y = py * frequency;
        int xi = (int)x, yi = (int)y;
        float fx = x - xi, fy = y - yi, u = fade(fx), v = fade(fy);
        xi &= 255, yi &= 255;
        int a = table[xi] + yi, b = table[xi + 1] + yi;
        total += amplitude * blend(v, blend(u, slope(table[a], fx, fy), slope(table[b], fx - 1, fy)),
                                   blend(u, slope(table[a + 1], fx, fy - 1), slope(table[b + 1], fx - 1, fy - 1)));
        amplitude *= 0.5f;
        frequency *= 2;
    }
    out[py * width + px] = total;
}

extern "C" __global__ void gillespie(const unsigned *__restrict__ seeds, int *__restrict__ molecules, double birth,
                                     double death, double end, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seeds[i];
    int count = 10;
    double time = 0;
    while (true) {
        double rate = birth + death * count;
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        time -= log((s + 0.5) / 4294967296.0) / rate;
        if (time > end) break;
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        if (s / 4294967296.0 * rate < birth) count++;
        else count--;
    }
    molecules[i] = count;
}
"""

ROUND_KEY = np.array([int(math.modf(p ** (1 / 3))[0] * 2**32) for p in range(2, 312)
                      if all(p % q for q in range(2, p))], np.uint32)


@cuda.jit(device=True)
def turn(x, n):
    return (x >> n) | (x << (32 - n))


@cuda.jit
def sha256(message, digest):
    i = cuda.grid(1)
    if i >= message.shape[1]:
        return
    w = cuda.local.array(16, np.uint32)
    for t in range(16):
        w[t] = message[t, i]
    a, b, c, d = np.uint32(0x6A09E667), np.uint32(0xBB67AE85), np.uint32(0x3C6EF372), np.uint32(0xA54FF53A)
    e, f, g, h = np.uint32(0x510E527F), np.uint32(0x9B05688C), np.uint32(0x1F83D9AB), np.uint32(0x5BE0CD19)
    for t in range(64):
        if t >= 16:
            s0, s1 = w[(t + 1) % 16], w[(t + 14) % 16]
            w[t % 16] += ((turn(s0, 7) ^ turn(s0, 18) ^ (s0 >> 3)) + w[(t + 9) % 16]
                          + (turn(s1, 17) ^ turn(s1, 19) ^ (s1 >> 10)))
        t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUND_KEY[t] + w[t % 16]
        t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e, d, c, b, a = g, f, e, d + t1, c, b, a, t1 + t2
    digest[0, i] = a + np.uint32(0x6A09E667)
    digest[1, i] = e + np.uint32(0x510E527F)


@cuda.jit
def crc32(data, table, out):
    shared_table = cuda.shared.array(256, np.uint32)
    shared_table[cuda.threadIdx.x] = table[cuda.threadIdx.x]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        crc = np.uint32(0xFFFFFFFF)
        for k in range(data.shape[0]):
            crc = shared_table[(crc ^ data[k, i]) & 0xFF] ^ (crc >> 8)
        out[i] = crc ^ np.uint32(0xFFFFFFFF)


@cuda.jit
def eliminate(a, out):
    tile = cuda.shared.array((32, 33), np.float32)
    x, y, m = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    for r in range(y, 32, 8):
        tile[r, x] = a[m, r, x]
    cuda.syncthreads()
    for k in range(31):
        if y == 0 and x > k:
            tile[x, k] /= tile[k, k]
        cuda.syncthreads()
        for r in range(k + 1 + y, 32, 8):
            if x > k:
                tile[r, x] -= tile[r, k] * tile[k, x]
        cuda.syncthreads()
    for r in range(y, 32, 8):
        out[m, r, x] = tile[r, x]


@cuda.jit
def jacobi_masked(u, mask, f, out, h2):
    x, y = cuda.grid(2)
    nz, ny, nx = u.shape
    if 1 <= x < nx - 1 and 1 <= y < ny - 1:
        for z in range(1, nz - 1):
            if mask[z, y, x]:
                out[z, y, x] = (u[z, y, x - 1] + u[z, y, x + 1] + u[z, y - 1, x] + u[z, y + 1, x]
                                + u[z - 1, y, x] + u[z + 1, y, x] - h2 * f[z, y, x]) / 6
            else:
                out[z, y, x] = u[z, y, x]


@cuda.jit
def co_occurrence(image, matrix, dy, dx):
    counts = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    counts[t] = 0
    cuda.syncthreads()
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if y + dy < rows and x + dx < columns:
        start, to = image[y, x] >> 4, image[y + dy, x + dx] >> 4
        cuda.atomic.add(counts, start * 16 + to, 1)
    cuda.syncthreads()
    if counts[t] > 0:
        cuda.atomic.add(matrix, t, counts[t])


@cuda.jit
def radix4(x, out, p):
    i = cuda.grid(1)
    quarter = x.size // 4
    if i >= quarter:
        return
    k = i & (p - 1)
    j = ((i - k) << 2) + k
    angle = np.float32(-2 * math.pi) * np.float32(k) / np.float32(4 * p)
    v = cuda.local.array(4, np.complex64)
    for r in range(4):
        turned = np.float32(r) * angle
        v[r] = x[i + r * quarter] * complex(math.cos(turned), math.sin(turned))
    u0, u1 = v[0] + v[2], v[0] - v[2]
    u2, d = v[1] + v[3], v[1] - v[3]
    u3 = np.complex64(complex(d.imag, -d.real))
    out[j] = u0 + u2
    out[j + p] = u1 + u3
    out[j + 2 * p] = u0 - u2
    out[j + 3 * p] = u1 - u3


@cuda.jit
def residuals(t, y, parameters, gradient):
    i = cuda.grid(1)
    if i < parameters.shape[0]:
        a, b, c = parameters[i, 0], parameters[i, 1], parameters[i, 2]
        ga = gb = gc = total = 0.0
        for k in range(t.size):
            e = math.exp(-b * t[k])
            r = a * e + c - y[k, i]
            ga += r * e
            gb -= r * a * t[k] * e
            gc += r
            total += r * r
        gradient[i, 0], gradient[i, 1], gradient[i, 2], gradient[i, 3] = ga, gb, gc, total


@cuda.jit
def dct8x8(image, basis, out):
    block = cuda.shared.array((8, 8), np.float32)
    half = cuda.shared.array((8, 8), np.float32)
    table = cuda.shared.array((8, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    block[y, x] = image[row, column] - 128
    table[y, x] = basis[y, x]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(8):
        total += table[y, k] * block[k, x]
    half[y, x] = total
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(8):
        total += half[y, k] * table[x, k]
    out[row, column] = total


@cuda.jit
def track(measured, smooth, alpha, beta, dt):
    i = cuda.grid(1)
    if i < measured.shape[1]:
        x, v = measured[0, i], np.float32(0)
        for k in range(measured.shape[0]):
            predicted = x + v * dt
            r = measured[k, i] - predicted
            x = predicted + alpha * r
            v += beta * r / dt
            smooth[k, i] = x


@cuda.jit
def spheres(sphere, image):
    px, py = cuda.grid(2)
    height, width = image.shape
    if px >= width or py >= height:
        return
    dx = (px + np.float32(0.5)) / np.float32(width) * np.float32(2) - np.float32(1)
    dy = (py + np.float32(0.5)) / np.float32(height) * np.float32(2) - np.float32(1)
    dz = np.float32(1)
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx / length, dy / length, dz / length
    nearest, shade = np.float32(1e30), np.float32(0)
    for k in range(sphere.shape[0]):
        cx, cy, cz, radius = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3]
        b = dx * cx + dy * cy + dz * cz
        d = b * b - (cx * cx + cy * cy + cz * cz - radius * radius)
        if d > 0:
            t = b - math.sqrt(d)
            if t > 0 and t < nearest:
                nearest = t
                nx, ny, nz = (dx * t - cx) / radius, (dy * t - cy) / radius, (dz * t - cz) / radius
                shade = max(np.float32(0), -(nx * np.float32(0.5) + ny * np.float32(0.7) + nz * np.float32(0.5)))
    image[py, px] = shade


@cuda.jit(device=True)
def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


@cuda.jit(device=True)
def blend(t, a, b):
    return a + t * (b - a)


@cuda.jit(device=True)
def slope(hashed, x, y):
    h = hashed & 7
    u, v = (x, y) if h < 4 else (y, x)
    return (-u if h & 1 else u) + (-2 * v if h & 2 else 2 * v)


@cuda.jit
def perlin(table, out, scale, octaves):
    px, py = cuda.grid(2)
    height, width = out.shape
    if px >= width or py >= height:
        return
    total, amplitude, frequency = np.float32(0), np.float32(1), scale
    for _ in range(octaves):
        x, y = np.float32(px) * frequency, np.float32(py) * frequency
        xi, yi = np.int32(x), np.int32(y)
        fx, fy = x - np.float32(xi), y - np.float32(yi)
        u, v = fade(fx), fade(fy)
        xi, yi = xi & 255, yi & 255
        a, b = table[xi] + yi, table[xi + 1] + yi
        total += amplitude * blend(v, blend(u, slope(table[a], fx, fy), slope(table[b], fx - 1, fy)),
                                   blend(u, slope(table[a + 1], fx, fy - 1), slope(table[b + 1], fx - 1, fy - 1)))
        amplitude *= np.float32(0.5)
        frequency *= np.float32(2)
    out[py, px] = total


@cuda.jit
def gillespie(seeds, molecules, birth, death, end):
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    s = seeds[i]
    count, time = 10, 0.0
    while True:
        rate = birth + death * count
        s ^= s << 13
        s ^= s >> 17
        s ^= s << 5
        time -= math.log((s + 0.5) / 4294967296.0) / rate
        if time > end:
            break
        s ^= s << 13
        s ^= s >> 17
        s ^= s << 5
        if s / 4294967296.0 * rate < birth:
            count += 1
        else:
            count -= 1
    molecules[i] = count


def cases(rng):
    n, many, f = 1 << 18, 1 << 16, np.float32
    words = rng.integers(0, 1 << 32, (16, n), np.uint32)
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, np.uint32(0xEDB88320) ^ (table >> 1), table >> 1).astype(np.uint32)
    matrices = rng.random((4096, 32, 32), f) + 32 * np.eye(32, dtype=f)
    grid = rng.random((96, 256, 256))
    mask = (rng.random(grid.shape) < 0.9).astype(np.int8)
    grey = rng.integers(0, 256, (2048, 2048), np.uint8)
    signal = (rng.random((1 << 20, 2), f) - f(0.5)).view(np.complex64).ravel()
    t = np.linspace(0, 2, 64)
    parameters = rng.random((many, 3)) + 0.5
    samples = np.exp(-t)[:, None] + rng.random((64, many)) * 0.1
    basis = np.array([[(0.5 if u else 0.5 / math.sqrt(2)) * math.cos((2 * x + 1) * u * math.pi / 16) for x in range(8)]
                      for u in range(8)], f)
    balls = np.concatenate([rng.random((32, 3)) * [8, 8, 4] + [-4, -4, 4], rng.random((32, 1)) + 0.2], 1).astype(f)
    permutation = np.tile(rng.permutation(256), 3).astype(np.int32)
    picture, tile, square = np.zeros((1024, 1024), f), (32, 64), (32, 16)
    return [
        Case(sha256, blocks(n, 128), 128, (words, np.zeros((2, n), np.uint32)), (n,)),
        Case(crc32, blocks(n), 256, (rng.integers(0, 256, (64, n), np.uint8), table, np.zeros(n, np.uint32)), (64, n)),
        Case(eliminate, 4096, (32, 8), (matrices, np.zeros_like(matrices)), tolerance=1e-4),
        Case(jacobi_masked, (8, 32), (32, 8), (grid, mask, grid, np.zeros_like(grid), 0.01), grid.shape),
        Case(co_occurrence, (128, 128), (16, 16), (grey, np.zeros((256,), np.int32), 1, 2), grey.shape,
             repeatable=False),
        Case(radix4, blocks(1 << 18), 256, (signal, np.zeros_like(signal), 64), (1 << 20,), tolerance=1e-4),
        Case(residuals, blocks(many, 128), 128, (t, samples, parameters, np.zeros((many, 4))), (64, many)),
        Case(dct8x8, (256, 256), (8, 8), (grey.astype(f), basis, np.zeros(grey.shape, f)), (2048,), tolerance=1e-4),
        Case(track, blocks(many), 256, (rng.random((64, many), f), np.zeros((64, many), f), f(0.5), f(0.1), f(0.04)),
             (64, many)),
        Case(spheres, tile, square, (balls, picture), (32, 1024, 1024), tolerance=1e-4),
        Case(perlin, tile, square, (permutation, picture.copy(), f(0.01), 4), (1024, 1024), tolerance=1e-4),
        Case(gillespie, blocks(many, 128), 128, (rng.integers(1, 1 << 32, many, np.uint32), np.zeros(many, np.int32),
                                                 20.0, 0.5, 4.0), (many,)),
    ]
