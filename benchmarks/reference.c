/* reference.c: the loops that the host benchmarks measure, as a C programmer writes them; floors, not rivals. */
#include <math.h>
#include <stdint.h>

double sum_loop(const double *x, int64_t n) {
    double total = 0;
    for (int64_t i = 0; i < n; i++) total += x[i];
    return total;
}

void saxpy_loop(float a, const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void sin_loop(const double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = sin(x[i]);
}

int64_t collatz_longest(int64_t limit) {
    int64_t best = 1, best_length = 1;
    for (int64_t start = 1; start < limit; start++) {
        int64_t n = start, length = 1;
        while (n != 1) {
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            length++;
        }
        if (length > best_length) best = start, best_length = length;
    }
    return best;
}

void matmul_loop(const double *a, const double *b, double *c, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double total = 0;
            for (int64_t k = 0; k < n; k++) total += a[i * n + k] * b[k * n + j];
            c[i * n + j] = total;
        }
}

/* The same loops over all cores: what a kernel without barriers is on the host device. */
void saxpy_parallel(float a, const float *x, float *y, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void vector_add_parallel(const float *x, const float *y, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) out[i] = x[i] + y[i];
}

void heat_parallel(const double *u, double *out, double k, int64_t rows, int64_t columns) {
#pragma omp parallel for
    for (int64_t r = 1; r < rows - 1; r++)
        for (int64_t c = 1; c < columns - 1; c++) {
            const double *p = u + r * columns + c;
            out[r * columns + c] = p[0] + k * (p[-columns] + p[columns] + p[-1] + p[1] - 4.0 * p[0]);
        }
}

void matrix_add_parallel(double *a, double value, int64_t rows, int64_t columns) {
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) a[r * columns + c] += value;
}

/* As the kernel: one element of c after the other. */
void matmul_parallel(const float *a, const float *b, float *c, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float total = 0;
            for (int64_t k = 0; k < n; k++) total += a[i * n + k] * b[k * n + j];
            c[i * n + j] = total;
        }
}

void mandelbrot_parallel(double left, double top, double step, int64_t limit, int32_t *counts, int64_t rows,
                         int64_t columns) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double re = left + (double)c * step, im = top - (double)r * step, x = 0, y = 0;
            int64_t count = 0;
            while (count < limit && x * x + y * y <= 4.0) {
                double t = x * x - y * y + re;
                y = x * y + y * x + im;
                x = t;
                count++;
            }
            counts[r * columns + c] = (int32_t)count;
        }
}

/* Kernels with barriers, as loops over the threads of each block that are split at the barriers by hand. */
enum { SUM_THREADS = 256, TILE = 16 };

void block_sums_split(const float *x, float *sums, int64_t n) {
#pragma omp parallel for
    for (int64_t block = 0; block < n / SUM_THREADS; block++) {
        float shared[SUM_THREADS];
        for (int t = 0; t < SUM_THREADS; t++) shared[t] = x[block * SUM_THREADS + t];
        for (int step = SUM_THREADS / 2; step > 0; step /= 2)
            for (int t = 0; t < SUM_THREADS; t++)
                if (t < step) shared[t] += shared[t + step];
        sums[block] = shared[0];
    }
}

void matmul_tiles_split(const float *a, const float *b, float *c, int64_t n) {
#pragma omp parallel for collapse(2)
    for (int64_t by = 0; by < n / TILE; by++)
        for (int64_t bx = 0; bx < n / TILE; bx++) {
            float tile_a[TILE][TILE], tile_b[TILE][TILE], total[TILE][TILE];
            for (int y = 0; y < TILE; y++)
                for (int x = 0; x < TILE; x++) total[y][x] = 0;
            for (int64_t k = 0; k < n; k += TILE) {
                for (int y = 0; y < TILE; y++)
                    for (int x = 0; x < TILE; x++) {
                        tile_a[y][x] = a[(by * TILE + y) * n + k + x];
                        tile_b[y][x] = b[(k + y) * n + bx * TILE + x];
                    }
                for (int y = 0; y < TILE; y++)
                    for (int x = 0; x < TILE; x++)
                        for (int i = 0; i < TILE; i++) total[y][x] += tile_a[y][i] * tile_b[i][x];
            }
            for (int y = 0; y < TILE; y++)
                for (int x = 0; x < TILE; x++) c[(by * TILE + y) * n + bx * TILE + x] = total[y][x];
        }
}

void rounds_split(const float *x, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t block = 0; block < n / SUM_THREADS; block++) {
        float shared[SUM_THREADS], kept[SUM_THREADS], next[SUM_THREADS];
        for (int t = 0; t < SUM_THREADS; t++) shared[t] = kept[t] = x[block * SUM_THREADS + t];
        for (int round = 0; round < 4; round++) {
            for (int t = 0; t < SUM_THREADS; t++) next[t] = shared[(t + round + 1) % SUM_THREADS];
            for (int t = 0; t < SUM_THREADS; t++) shared[t] = kept[t] = kept[t] * 0.5f + next[t];
        }
        for (int t = 0; t < SUM_THREADS; t++) out[block * SUM_THREADS + t] = shared[SUM_THREADS - 1 - t];
    }
}
