/* reference.cu: the kernels of the examples in CUDA C++, the same algorithms line by line, and a function each that
 * launches one `repeat` times on device memory given by address and returns the milliseconds of one launch, measured
 * with events. */
#include <cstdint>
#include <ctime>

#include <dlfcn.h>

#include "reference_events.cuh"

static constexpr int TILE = 16, THREADS = 256, BODIES = 128;

static __device__ int64_t grid1() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void vector_add(const float *x, const float *y, float *out, int64_t n) {
    int64_t i = grid1();
    if (i < n) out[i] = x[i] + y[i];
}

__global__ void add_in_place(double *a, int64_t rows, int64_t columns, double value) {
    int64_t row = grid1(), column = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) a[row * columns + column] += value;
}

__global__ void saxpy(float a, const float *x, float *y, int64_t n) {
    int64_t i = grid1();
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void matmul_naive(const float *a, const float *b, float *c, int64_t n) {
    int64_t row = grid1(), column = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        float total = 0;
        for (int64_t k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
        c[row * n + column] = total;
    }
}

__global__ void matmul_shared(const float *a, const float *b, float *c, int64_t n) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int64_t column = (int64_t)blockIdx.x * TILE + x, row = (int64_t)blockIdx.y * TILE + y;
    float total = 0;
    for (int64_t tile = 0; tile < (n + TILE - 1) / TILE; tile++) {
        int64_t k = tile * TILE;
        tile_a[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0.0f;
        tile_b[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) total += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = total;
}

__global__ void block_sum(const float *x, int64_t n, float *out) {
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    float total = 0;
    for (int64_t i = grid1(); i < n; i += (int64_t)gridDim.x * blockDim.x) total += x[i];
    partial[t] = total;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step) partial[t] += partial[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, partial[0]);
}

__global__ void mandelbrot(double left, double top, double step, int64_t limit, int32_t *counts, int64_t rows,
                           int64_t columns) {
    int64_t row = grid1(), column = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        double re = left + column * step, im = top - row * step, x = 0, y = 0;
        int64_t count = 0;
        while (count < limit && x * x + y * y <= 4.0) {
            double t = x * x - y * y + re;
            y = x * y + y * x + im;
            x = t;
            count++;
        }
        counts[row * columns + column] = (int32_t)count;
    }
}

__global__ void heat_step(const double *u, double *out, int64_t rows, int64_t columns, double k) {
    int64_t column = grid1(), row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (0 < row && row < rows - 1 && 0 < column && column < columns - 1) {
        const double *p = u + row * columns + column;
        out[row * columns + column] = p[0] + k * (p[-columns] + p[columns] + p[-1] + p[1] - 4.0 * p[0]);
    }
}

static __device__ double normal_distribution(double x) { return 0.5 * erfc(-x * 0.7071067811865476); }

__global__ void black_scholes(const double *price, const double *strike, const double *years, int64_t n, double rate,
                              double volatility, double *call, double *put) {
    int64_t i = grid1();
    if (i < n) {
        double s = price[i], x = strike[i], t = years[i], root = volatility * sqrt(t);
        double d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / root, d2 = d1 - root,
               discounted = x * exp(-rate * t);
        call[i] = s * normal_distribution(d1) - discounted * normal_distribution(d2);
        put[i] = discounted * normal_distribution(-d2) - s * normal_distribution(-d1);
    }
}

__global__ void accelerations(const float *position, const float *mass, int64_t n, float *out) {
    __shared__ float tile[BODIES][4];
    int t = threadIdx.x;
    int64_t i = grid1();
    bool inside = i < n;
    float x = inside ? position[3 * i] : 0, y = inside ? position[3 * i + 1] : 0, z = inside ? position[3 * i + 2] : 0,
          ax = 0, ay = 0, az = 0;
    for (int64_t first = 0; first < n; first += BODIES) {
        int64_t j = first + t;
        if (j < n) {
            tile[t][0] = position[3 * j];
            tile[t][1] = position[3 * j + 1];
            tile[t][2] = position[3 * j + 2];
            tile[t][3] = mass[j];
        }
        __syncthreads();
        int64_t count = n - first < BODIES ? n - first : BODIES;
        for (int64_t k = 0; k < count; k++) {
            float dx = tile[k][0] - x, dy = tile[k][1] - y, dz = tile[k][2] - z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float pull = tile[k][3] * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    if (inside) {
        out[3 * i] = ax;
        out[3 * i + 1] = ay;
        out[3 * i + 2] = az;
    }
}

/* One thread an element, as a plain kernel would do it; the broadcast array has a column of `rows` values. */
__global__ void smooth_step(const double *low, double high, const double *x, double *out, int64_t rows,
                            int64_t columns) {
    int64_t i = grid1();
    if (i < rows * columns) {
        double l = low[i / columns], v = x[i], r;
        if (v <= l) {
            r = 0.0 * v;
        } else if (v >= high) {
            r = 0.0 * v + 1.0;
        } else {
            double t = (v - l) / (high - l);
            r = t * t * (3.0 - 2.0 * t);
        }
        out[i] = r;
    }
}

#define BLOCKS(n) (unsigned)(((n) + 255) / 256), 256
static dim3 grid2(int64_t x, int64_t y, int bx, int by) {
    return dim3((unsigned)((x + bx - 1) / bx), (unsigned)((y + by - 1) / by));
}

extern "C" {
float time_vector_add(const float *x, const float *y, float *out, int64_t n, int repeat) {
    return measure(repeat, [&] { vector_add<<<BLOCKS(n)>>>(x, y, out, n); });
}
float time_add_in_place(double *a, int64_t rows, int64_t columns, int repeat) {
    return measure(repeat,
                   [&] { add_in_place<<<grid2(rows, columns, 16, 16), dim3(16, 16)>>>(a, rows, columns, 2.5); });
}
float time_saxpy(const float *x, float *y, int64_t n, int repeat) {
    return measure(repeat, [&] { saxpy<<<BLOCKS(n)>>>(0.5f, x, y, n); });
}
float time_matmul_naive(const float *a, const float *b, float *c, int64_t n, int repeat) {
    return measure(repeat, [&] { matmul_naive<<<grid2(n, n, 16, 16), dim3(16, 16)>>>(a, b, c, n); });
}
float time_matmul_shared(const float *a, const float *b, float *c, int64_t n, int repeat) {
    return measure(repeat, [&] { matmul_shared<<<grid2(n, n, 16, 16), dim3(16, 16)>>>(a, b, c, n); });
}
float time_block_sum(const float *x, float *out, int64_t n, int repeat) {
    return measure(repeat, [&] { block_sum<<<1024, THREADS>>>(x, n, out); });
}
float time_mandelbrot(int32_t *counts, int64_t rows, int64_t columns, int64_t limit, int repeat) {
    return measure(repeat, [&] {
        mandelbrot<<<grid2(rows, columns, 16, 16), dim3(16, 16)>>>(-2.2, 1.2, 2.4 / rows, limit, counts, rows, columns);
    });
}
float time_heat_step(const double *u, double *out, int64_t n, int repeat) {
    return measure(repeat, [&] { heat_step<<<grid2(n, n, 32, 8), dim3(32, 8)>>>(u, out, n, n, 0.2); });
}
float time_black_scholes(const double *price, const double *strike, const double *years, double *call, double *put,
                         int64_t n, int repeat) {
    return measure(repeat, [&] { black_scholes<<<BLOCKS(n)>>>(price, strike, years, n, 0.02, 0.3, call, put); });
}
float time_n_body(const float *position, const float *mass, float *out, int64_t n, int repeat) {
    return measure(repeat,
                   [&] { accelerations<<<(unsigned)((n + BODIES - 1) / BODIES), BODIES>>>(position, mass, n, out); });
}
float time_smooth_step(const double *low, const double *x, double *out, int64_t rows, int64_t columns, int repeat) {
    return measure(repeat, [&] { smooth_step<<<BLOCKS(rows * columns)>>>(low, 1.5, x, out, rows, columns); });
}

/* Nanoseconds of one launch of saxpy by the driver API, called in a loop from C: the floor of launch overhead. */
double launch_floor(const float *x, float *y, int64_t n, int64_t number) {
    using Launch = int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                           void **, void **);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    Launch launch = library ? (Launch)dlsym(library, "cuLaunchKernel") : nullptr;
    cudaFunction_t function;
    if (!launch || cudaGetFuncBySymbol(&function, (const void *)saxpy) != cudaSuccess) return -1;
    float a = 0.5f;
    void *params[] = {&a, &x, &y, &n};
    timespec start, end;
    cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t i = 0; i < number; i++)
        if (launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr) != 0) return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    cudaDeviceSynchronize();
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (double)number;
}

/* Nanoseconds of what the driver API does for to_device (0), copy_to_host (1), device_array and its release (2), in a
 * loop from C: the floors of small transfers. */
double memory_floor(int what, void *host, int64_t bytes, int64_t number) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return -1;
    auto allocate = (int (*)(uint64_t *, size_t, void *))dlsym(library, "cuMemAllocAsync");
    auto release = (int (*)(uint64_t, void *))dlsym(library, "cuMemFreeAsync");
    auto copy_in = (int (*)(uint64_t, const void *, size_t))dlsym(library, "cuMemcpyHtoD_v2");
    auto copy_out = (int (*)(void *, uint64_t, size_t))dlsym(library, "cuMemcpyDtoH_v2");
    uint64_t device = 0;
    int error = allocate(&device, (size_t)bytes, nullptr);
    timespec start, end;
    cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t i = 0; i < number && !error; i++) {
        uint64_t block = 0;
        if (what != 1) error |= allocate(&block, (size_t)bytes, nullptr);
        if (what == 0) error |= copy_in(block, host, (size_t)bytes);
        if (what == 1) error |= copy_out(host, device, (size_t)bytes);
        if (what != 1) error |= release(block, nullptr);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    cudaDeviceSynchronize();
    error |= release(device, nullptr);
    if (error) return -1;
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (double)number;
}
}
