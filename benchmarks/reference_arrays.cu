/* reference_arrays.cu: what elementwise functions and reductions of device arrays are measured against: kernels written
 * by hand, a thread for four neighbours that it reads and writes with accesses of 128 bits, and CUB's reductions.  Each
 * function does its work `repeat` times and returns the milliseconds of one, measured with events; -1: it failed. */
#include <cstdint>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "reference_events.cuh"

template <class Function>
__global__ void map_one(const float4 *x, float4 *out, int64_t quads, Function f) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 a = x[i];
    out[i] = make_float4(f(a.x), f(a.y), f(a.z), f(a.w));
}

template <class Function>
__global__ void map_two(const float4 *x, const float4 *y, float4 *out, int64_t quads, Function f) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 a = x[i], b = y[i];
    out[i] = make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
}

static unsigned blocks_of(int64_t quads) { return (unsigned)((quads + 255) / 256); }

/* CUB is asked for the room it needs first, which is not measured. */
template <class Algorithm> static float with_room(int repeat, Algorithm algorithm) {
    void *room = nullptr;
    size_t bytes = 0;
    if (algorithm(room, bytes) != cudaSuccess || cudaMalloc(&room, bytes) != cudaSuccess) return -1.0f;
    float milliseconds = measure(repeat, [&] { algorithm(room, bytes); });
    cudaFree(room);
    return milliseconds;
}

template <class Number> static float time_sum_of(const Number *x, Number *out, int64_t n, int repeat) {
    return with_room(repeat, [&](void *room, size_t &bytes) { return cub::DeviceReduce::Sum(room, bytes, x, out, n); });
}

extern "C" {
/* n is a multiple of 4 */
float time_add(const float *x, const float *y, float *out, int64_t n, int repeat) {
    return measure(repeat, [&] {
        map_two<<<blocks_of(n / 4), 256>>>((const float4 *)x, (const float4 *)y, (float4 *)out, n / 4,
                                           [] __device__(float a, float b) { return a + b; });
    });
}
float time_polynomial(const float *x, float *out, int64_t n, int repeat) {
    return measure(repeat, [&] {
        map_one<<<blocks_of(n / 4), 256>>>((const float4 *)x, (float4 *)out, n / 4, [] __device__(float a) {
            return 1.0f + a * (0.5f + a * (0.25f + a * 0.125f));
        });
    });
}
float time_length(const float *x, const float *y, float *out, int64_t n, int repeat) {
    return measure(repeat, [&] {
        map_two<<<blocks_of(n / 4), 256>>>((const float4 *)x, (const float4 *)y, (float4 *)out, n / 4,
                                           [] __device__(float a, float b) { return sqrtf(a * a + b * b); });
    });
}
float time_wave(const float *x, float *out, int64_t n, int repeat) {
    return measure(repeat, [&] {
        map_one<<<blocks_of(n / 4), 256>>>((const float4 *)x, (float4 *)out, n / 4,
                                           [] __device__(float a) { return expf(-a) * 0.5f; });
    });
}

float time_sum(const float *x, float *out, int64_t n, int repeat) { return time_sum_of(x, out, n, repeat); }
float time_sum_double(const double *x, double *out, int64_t n, int repeat) { return time_sum_of(x, out, n, repeat); }
float time_largest(const float *x, float *out, int64_t n, int repeat) {
    return with_room(repeat, [&](void *room, size_t &bytes) { return cub::DeviceReduce::Max(room, bytes, x, out, n); });
}
float time_running_sum(const float *x, float *out, int64_t n, int repeat) {
    return with_room(repeat,
                     [&](void *room, size_t &bytes) { return cub::DeviceScan::InclusiveSum(room, bytes, x, out, n); });
}
}
