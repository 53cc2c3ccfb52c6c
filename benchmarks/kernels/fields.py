"""Twelve kernels of other fields, which were written after the work on speed and measured as first written.

Two of them were then found to say something else in Python than in C, and are there twice now, each beside the C that
says the same.  An int times 0.5 is a float64 in Python, and a floor an int of 64 bits: `rotate`; `rotate_single` says
np.float32 and np.int32.  `min` is the second if that is less, whatever is NaN, and not fminf: `warping`, against `?:`;
`warping_fmin` calls np.fmin.
"""

import math

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void density(const float *__restrict__ x, const float *__restrict__ y,
                                   const int *__restrict__ first, float *__restrict__ rho, float h, int side, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int cx = (int)(x[i] / h), cy = (int)(y[i] / h);
    float total = 0;
    for (int ny = max(cy - 1, 0); ny < min(cy + 2, side); ny++)
        for (int nx = max(cx - 1, 0); nx < min(cx + 2, side); nx++) {
            int cell = ny * side + nx;
            for (int j = first[cell]; j < first[cell + 1]; j++) {
                float dx = x[i] - x[j], dy = y[i] - y[j], q = 1 - (dx * dx + dy * dy) / (h * h);
                if (q > 0) total += q * q * q;
            }
        }
    rho[i] = total;
}

extern "C" __global__ void haversine(const double *__restrict__ latitude, const double *__restrict__ longitude,
                                     double *__restrict__ distance, double lat0, double lon0, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = sin((latitude[i] - lat0) / 2), b = sin((longitude[i] - lon0) / 2);
    distance[i] = 2 * 6371.0 * asin(sqrt(a * a + cos(lat0) * cos(latitude[i]) * b * b));
}

extern "C" __global__ void collide(float *__restrict__ f, const float *__restrict__ weight,
                                   const int *__restrict__ ex, const int *__restrict__ ey, float omega, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    float rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        float v = f[k * cells + i];
        rho += v, ux += v * ex[k], uy += v * ey[k];
    }
    ux /= rho, uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int k = 0; k < 9; k++) {
        float eu = 3 * (ex[k] * ux + ey[k] * uy);
        float even = weight[k] * rho * (1 + eu + 0.5f * eu * eu - square);
        f[k * cells + i] += omega * (even - f[k * cells + i]);
    }
}

extern "C" __global__ void ising(signed char *__restrict__ spins, const float *__restrict__ chance, int color,
                                 unsigned seed, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n || (x + y) % 2 != color) return;
    int sum = spins[y * n + (x + 1) % n] + spins[y * n + (x + n - 1) % n] + spins[(y + 1) % n * n + x] +
              spins[(y + n - 1) % n * n + x];
    unsigned h = (y * n + x) * 2654435761u ^ seed;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    if (h * 2.3283064e-10f < chance[sum * spins[y * n + x] + 4]) spins[y * n + x] = -spins[y * n + x];
}

static __device__ float least(float a, float b) { return b < a ? b : a; }

extern "C" __global__ void warping(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out,
                                   int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    float row[17];
    for (int k = 0; k < 17; k++) row[k] = INFINITY;
    row[0] = 0;
    for (int s = 0; s < 16; s++) {
        float left = INFINITY, above = row[0], x = a[s * pairs + i];
        row[0] = INFINITY;
        for (int t = 0; t < 16; t++) {
            float d = x - b[t * pairs + i], best = least(least(above, row[t + 1]), left) + d * d;
            above = row[t + 1];
            row[t + 1] = left = best;
        }
    }
    out[i] = sqrtf(row[16]);
}

extern "C" __global__ void warping_fmin(const float *__restrict__ a, const float *__restrict__ b,
                                        float *__restrict__ out, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    float row[17];
    for (int k = 0; k < 17; k++) row[k] = INFINITY;
    row[0] = 0;
    for (int s = 0; s < 16; s++) {
        float left = INFINITY, above = row[0], x = a[s * pairs + i];
        row[0] = INFINITY;
        for (int t = 0; t < 16; t++) {
            float d = x - b[t * pairs + i], best = fminf(fminf(above, row[t + 1]), left) + d * d;
            above = row[t + 1];
            row[t + 1] = left = best;
        }
    }
    out[i] = sqrtf(row[16]);
}

extern "C" __global__ void nearest(const float *__restrict__ points, const float *__restrict__ centres,
                                   int *__restrict__ label, int n) {
    __shared__ float c[32][4];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t < 128) c[t / 4][t % 4] = centres[t];
    __syncthreads();
    if (i >= n) return;
    float best = INFINITY;
    int at = 0;
    for (int k = 0; k < 32; k++) {
        float d = 0;
        for (int j = 0; j < 4; j++) {
            float e = points[i * 4 + j] - c[k][j];
            d += e * e;
        }
        if (d < best) best = d, at = k;
    }
    label[i] = at;
}

extern "C" __global__ void tanimoto(const unsigned long long *__restrict__ prints,
                                    const unsigned long long *__restrict__ asked, float *__restrict__ like, int n,
                                    int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int both = 0, any = 0;
    for (int w = 0; w < words; w++) {
        both += __popcll(prints[w * n + i] & asked[w]);
        any += __popcll(prints[w * n + i] | asked[w]);
    }
    like[i] = (float)both / any;
}

extern "C" __global__ void to_hsv(const float *__restrict__ rgb, float *__restrict__ hsv, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = rgb[i * 3], g = rgb[i * 3 + 1], b = rgb[i * 3 + 2];
    float high = fmaxf(r, fmaxf(g, b)), low = fminf(r, fminf(g, b)), range = high - low, hue = 0;
    if (range > 0) {
        if (high == r) hue = (g - b) / range;
        else if (high == g) hue = (b - r) / range + 2;
        else hue = (r - g) / range + 4;
        hue *= 60;
        if (hue < 0) hue += 360;
    }
    hsv[i * 3] = hue, hsv[i * 3 + 1] = high > 0 ? range / high : 0, hsv[i * 3 + 2] = high;
}

extern "C" __global__ void rotate(const float *__restrict__ in, float *__restrict__ out, float cosine, float sine,
                                  int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float cx = x - columns * 0.5, cy = y - rows * 0.5;
    float sx = cosine * cx - sine * cy + (float)(columns * 0.5), v = 0;
    float sy = sine * cx + cosine * cy + (float)(rows * 0.5);
    long long x0 = (long long)floorf(sx), y0 = (long long)floorf(sy);
    if (x0 >= 0 && y0 >= 0 && x0 + 1 < columns && y0 + 1 < rows) {
        float fx = sx - x0, fy = sy - y0;
        v = (in[y0 * columns + x0] * (1 - fx) + in[y0 * columns + x0 + 1] * fx) * (1 - fy) +
            (in[(y0 + 1) * columns + x0] * (1 - fx) + in[(y0 + 1) * columns + x0 + 1] * fx) * fy;
    }
    out[y * columns + x] = v;
}

extern "C" __global__ void rotate_single(const float *__restrict__ in, float *__restrict__ out, float cosine,
                                         float sine, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float cx = x - columns * 0.5f, cy = y - rows * 0.5f;
    float sx = cosine * cx - sine * cy + columns * 0.5f, sy = sine * cx + cosine * cy + rows * 0.5f, v = 0;
    int x0 = (int)floorf(sx), y0 = (int)floorf(sy);
    if (x0 >= 0 && y0 >= 0 && x0 + 1 < columns && y0 + 1 < rows) {
        float fx = sx - x0, fy = sy - y0;
        v = (in[y0 * columns + x0] * (1 - fx) + in[y0 * columns + x0 + 1] * fx) * (1 - fy) +
            (in[(y0 + 1) * columns + x0] * (1 - fx) + in[(y0 + 1) * columns + x0 + 1] * fx) * fy;
    }
    out[y * columns + x] = v;
}

extern "C" __global__ void kmers(const unsigned char *__restrict__ genome, int *__restrict__ counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 8 > n) return;
    int code = 0;
    for (int k = 0; k < 8; k++) code = code * 4 + (genome[i + k] >> 1 & 3);
    atomicAdd(&counts[code], 1);
}

extern "C" __global__ void rings(const float *__restrict__ image, float *__restrict__ sums, int *__restrict__ counts,
                                 float cx, float cy, int rows, int columns, int bins) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float dx = x - cx, dy = y - cy;
    int bin = (int)sqrtf(dx * dx + dy * dy);
    if (bin < bins) {
        atomicAdd(&sums[bin], image[y * columns + x]);
        atomicAdd(&counts[bin], 1);
    }
}

extern "C" __global__ void runge_kutta(const double *__restrict__ start, double *__restrict__ end, double step,
                                       int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = start[i * 2], v = start[i * 2 + 1];
    for (int s = 0; s < steps; s++) {
        double k1 = v, l1 = (1 - x * x) * v - x;
        double x2 = x + step / 2 * k1, v2 = v + step / 2 * l1, k2 = v2, l2 = (1 - x2 * x2) * v2 - x2;
        double x3 = x + step / 2 * k2, v3 = v + step / 2 * l2, k3 = v3, l3 = (1 - x3 * x3) * v3 - x3;
        double x4 = x + step * k3, v4 = v + step * l3, k4 = v4, l4 = (1 - x4 * x4) * v4 - x4;
        x += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        v += step / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    end[i * 2] = x, end[i * 2 + 1] = v;
}
"""


@cuda.jit
def density(x, y, first, rho, h, side):
    i = cuda.grid(1)
    if i < x.size:
        cx, cy = int(x[i] / h), int(y[i] / h)
        total = np.float32(0)
        for ny in range(max(cy - 1, 0), min(cy + 2, side)):
            for nx in range(max(cx - 1, 0), min(cx + 2, side)):
                cell = ny * side + nx
                for j in range(first[cell], first[cell + 1]):
                    dx, dy = x[i] - x[j], y[i] - y[j]
                    q = 1 - (dx * dx + dy * dy) / (h * h)
                    if q > 0:
                        total += q * q * q
        rho[i] = total


@cuda.jit
def haversine(latitude, longitude, distance, lat0, lon0):
    i = cuda.grid(1)
    if i < latitude.size:
        a, b = math.sin((latitude[i] - lat0) / 2), math.sin((longitude[i] - lon0) / 2)
        distance[i] = 2 * 6371.0 * math.asin(math.sqrt(a * a + math.cos(lat0) * math.cos(latitude[i]) * b * b))


@cuda.jit
def collide(f, weight, ex, ey, omega):
    i = cuda.grid(1)
    if i < f.shape[1]:
        rho = ux = uy = np.float32(0)
        for k in range(9):
            v = f[k, i]
            rho += v
            ux += v * np.float32(ex[k])
            uy += v * np.float32(ey[k])
        ux /= rho
        uy /= rho
        square = 1.5 * (ux * ux + uy * uy)
        for k in range(9):
            eu = 3 * (np.float32(ex[k]) * ux + np.float32(ey[k]) * uy)
            even = weight[k] * rho * (1 + eu + 0.5 * eu * eu - square)
            f[k, i] += omega * (even - f[k, i])


@cuda.jit
def ising(spins, chance, color, seed):
    x, y = cuda.grid(2)
    n = spins.shape[0]
    if x >= n or y >= n or (x + y) % 2 != color:
        return
    total = spins[y, (x + 1) % n] + spins[y, (x - 1) % n] + spins[(y + 1) % n, x] + spins[(y - 1) % n, x]
    h = np.uint32(y * n + x) * np.uint32(2654435761) ^ seed
    h ^= h >> np.uint32(15)
    h *= np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    if np.float32(h) * np.float32(2.3283064e-10) < chance[total * spins[y, x] + 4]:
        spins[y, x] = -spins[y, x]


@cuda.jit
def warping(a, b, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    row = cuda.local.array(17, np.float32)
    for k in range(17):
        row[k] = np.inf
    row[0] = 0
    for s in range(16):
        left, above, x = np.float32(np.inf), row[0], a[s, i]
        row[0] = np.inf
        for t in range(16):
            d = x - b[t, i]
            best = min(min(above, row[t + 1]), left) + d * d
            above = row[t + 1]
            row[t + 1] = left = best
    out[i] = math.sqrt(row[16])


@cuda.jit
def warping_fmin(a, b, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    row = cuda.local.array(17, np.float32)
    for k in range(17):
        row[k] = np.inf
    row[0] = 0
    for s in range(16):
        left, above, x = np.float32(np.inf), row[0], a[s, i]
        row[0] = np.inf
        for t in range(16):
            d = x - b[t, i]
            best = np.fmin(np.fmin(above, row[t + 1]), left) + d * d
            above = row[t + 1]
            row[t + 1] = left = best
    out[i] = math.sqrt(row[16])


@cuda.jit
def nearest(points, centres, label):
    c = cuda.shared.array((32, 4), np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < 128:
        c[t // 4, t % 4] = centres[t // 4, t % 4]
    cuda.syncthreads()
    if i < points.shape[0]:
        best, at = np.float32(np.inf), 0
        for k in range(32):
            d = np.float32(0)
            for j in range(4):
                e = points[i, j] - c[k, j]
                d += e * e
            if d < best:
                best, at = d, k
        label[i] = at


@cuda.jit
def tanimoto(prints, asked, like):
    i = cuda.grid(1)
    if i < like.size:
        both = total = 0
        for w in range(asked.size):
            both += cuda.popc(prints[w, i] & asked[w])
            total += cuda.popc(prints[w, i] | asked[w])
        like[i] = np.float32(both) / np.float32(total)


@cuda.jit
def to_hsv(rgb, hsv):
    i = cuda.grid(1)
    if i < rgb.shape[0]:
        r, g, b = rgb[i, 0], rgb[i, 1], rgb[i, 2]
        high, low = max(r, g, b), min(r, g, b)
        span, hue = high - low, np.float32(0)
        if span > 0:
            if high == r:
                hue = (g - b) / span
            elif high == g:
                hue = (b - r) / span + 2
            else:
                hue = (r - g) / span + 4
            hue *= 60
            if hue < 0:
                hue += 360
        hsv[i, 0], hsv[i, 1], hsv[i, 2] = hue, span / high if high > 0 else np.float32(0), high


@cuda.jit
def rotate(image, out, cosine, sine):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if y < rows and x < columns:
        cx, cy = np.float32(x - columns * 0.5), np.float32(y - rows * 0.5)
        sx = cosine * cx - sine * cy + np.float32(columns * 0.5)
        sy = sine * cx + cosine * cy + np.float32(rows * 0.5)
        x0, y0 = math.floor(sx), math.floor(sy)
        v = np.float32(0)
        if x0 >= 0 and y0 >= 0 and x0 + 1 < columns and y0 + 1 < rows:
            fx, fy = sx - np.float32(x0), sy - np.float32(y0)
            v = ((image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx) * (1 - fy)
                 + (image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx) * fy)
        out[y, x] = v


@cuda.jit
def rotate_single(image, out, cosine, sine):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if y < rows and x < columns:
        half_x, half_y = np.float32(columns) * np.float32(0.5), np.float32(rows) * np.float32(0.5)
        cx, cy = np.float32(x) - half_x, np.float32(y) - half_y
        sx = cosine * cx - sine * cy + half_x
        sy = sine * cx + cosine * cy + half_y
        x0, y0 = np.int32(math.floor(sx)), np.int32(math.floor(sy))
        v = np.float32(0)
        if x0 >= 0 and y0 >= 0 and x0 + 1 < columns and y0 + 1 < rows:
            fx, fy = sx - np.float32(x0), sy - np.float32(y0)
            v = ((image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx) * (1 - fy)
                 + (image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx) * fy)
        out[y, x] = v


@cuda.jit
def kmers(genome, counts):
    i = cuda.grid(1)
    if i + 8 <= genome.size:
        code = 0
        for k in range(8):
            code = code * 4 + int(genome[i + k] >> 1 & 3)
        cuda.atomic.add(counts, code, 1)


@cuda.jit
def rings(image, sums, counts, cx, cy):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        dx, dy = np.float32(x) - cx, np.float32(y) - cy
        place = int(math.sqrt(dx * dx + dy * dy))
        if place < sums.size:
            cuda.atomic.add(sums, place, image[y, x])
            cuda.atomic.add(counts, place, 1)


@cuda.jit
def runge_kutta(start, end, step, steps):
    i = cuda.grid(1)
    if i < start.shape[0]:
        x, v = start[i, 0], start[i, 1]
        for _ in range(steps):
            k1, l1 = v, (1 - x * x) * v - x
            x2, v2 = x + step / 2 * k1, v + step / 2 * l1
            k2, l2 = v2, (1 - x2 * x2) * v2 - x2
            x3, v3 = x + step / 2 * k2, v + step / 2 * l2
            k3, l3 = v3, (1 - x3 * x3) * v3 - x3
            x4, v4 = x + step * k3, v + step * l3
            k4, l4 = v4, (1 - x4 * x4) * v4 - x4
            x += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            v += step / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        end[i, 0], end[i, 1] = x, v


def cases(rng):
    n, side, many = 1 << 16, 96, 1 << 20
    place = rng.random((n, 2), np.float32) * np.float32(side - 1)
    cell = place[:, 1].astype(int) * side + place[:, 0].astype(int)
    place = np.ascontiguousarray(place[np.argsort(cell, kind="stable")].T)
    first = np.searchsorted(np.sort(cell), np.arange(side * side + 1)).astype(np.int32)
    angles = rng.random((2, many)) * 3 - 1.5
    populations = rng.random((9, many), np.float32) + np.float32(1)
    weight = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)
    ex = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1], np.int32)
    ey = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1], np.int32)
    spins = np.where(rng.random((2048, 2048)) < 0.5, -1, 1).astype(np.int8)
    chance = np.exp(-0.9 * np.arange(-4, 5)).astype(np.float32)
    series = rng.random((2, 16, 1 << 17), np.float32)
    points, centres = rng.random((1 << 19, 4), np.float32), rng.random((32, 4), np.float32)
    prints = rng.integers(0, 1 << 63, (16, 1 << 18), np.uint64)
    image = rng.random((2048, 2048), np.float32)
    tile, square = (2048 // 32, 2048 // 8), (32, 8)
    genome = rng.choice(np.frombuffer(b"ACGT", np.uint8), 1 << 22)
    sums, counts = np.zeros(1024, np.float32), np.zeros(1024, np.int32)
    f = np.float32
    return [
        Case(density, blocks(n, 128), 128, (place[0], place[1], first, np.zeros(n, f), f(1), side), (n,),
             tolerance=1e-4),
        Case(haversine, blocks(many), 256, (angles[0], angles[1], np.zeros(many), 0.3, 0.2), (many,)),
        Case(collide, blocks(many), 256, (populations, weight, ex, ey, f(0.6)), (many,), repeatable=False,
             tolerance=1e-4),
        Case(ising, tile, square, (spins, chance, 0, np.uint32(77)), (2048,), repeatable=False),
        Case(warping, blocks(1 << 17, 128), 128, (series[0], series[1], np.zeros(1 << 17, f)), (1 << 17,)),
        Case(warping_fmin, blocks(1 << 17, 128), 128, (series[0], series[1], np.zeros(1 << 17, f)), (1 << 17,)),
        Case(nearest, blocks(1 << 19), 256, (points, centres, np.zeros(1 << 19, np.int32)), (1 << 19,)),
        Case(tanimoto, blocks(1 << 18), 256, (prints, prints[:, 5].copy(), np.zeros(1 << 18, f)), (1 << 18, 16)),
        Case(to_hsv, blocks(many), 256, (rng.random((many, 3), np.float32), np.zeros((many, 3), f)), (many,)),
        Case(rotate, tile, square, (image, np.zeros_like(image), f(math.cos(0.3)), f(math.sin(0.3))), (2048, 2048),
             tolerance=1e-4),
        Case(rotate_single, tile, square, (image, np.zeros_like(image), f(math.cos(0.3)), f(math.sin(0.3))),
             (2048, 2048), tolerance=1e-4),
        Case(kmers, blocks(1 << 22), 256, (genome, np.zeros(1 << 16, np.int32)), (1 << 22,), repeatable=False),
        Case(rings, tile, square, (image, sums, counts, f(1000), f(1040)), (2048, 2048, 1024), repeatable=False,
             tolerance=1e-3),
        Case(runge_kutta, blocks(1 << 16, 128), 128, (rng.random((1 << 16, 2)), np.zeros((1 << 16, 2)), 0.01, 64),
             (1 << 16,), tolerance=1e-4),
    ]
