/* driver_floor.c: the CUDA driver called in loops from C: the floors of what Krait does with a call of each.  No
 * toolkit is needed: libcuda.so.1 is opened at run time, and the kernel is a handle that the caller has.  Each function
 * gives nanoseconds a round, or -1. */
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void *symbol(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, name) : 0;
}

typedef int Launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
typedef int Wait(void);

double launch_floor(void *function, void **params, unsigned threads, int64_t number) {
    Launch *launch = (Launch *)symbol("cuLaunchKernel");
    Wait *wait = (Wait *)symbol("cuCtxSynchronize");
    if (!launch || !wait || wait()) return -1;
    double start = now();
    for (int64_t i = 0; i < number; i++)
        if (launch(function, 1, 1, 1, threads, 1, 1, 0, 0, params, 0)) return -1;
    double end = now();
    wait();
    return (end - start) / (double)number;
}

/* The same, its parameters as one buffer. */
double launch_buffer_floor(void *function, void *buffer, size_t bytes, unsigned threads, int64_t number) {
    Launch *launch = (Launch *)symbol("cuLaunchKernel");
    Wait *wait = (Wait *)symbol("cuCtxSynchronize");
    void *extra[] = {(void *)1, buffer, (void *)2, &bytes, 0}; /* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END */
    if (!launch || !wait || wait()) return -1;
    double start = now();
    for (int64_t i = 0; i < number; i++)
        if (launch(function, 1, 1, 1, threads, 1, 1, 0, 0, 0, extra)) return -1;
    double end = now();
    wait();
    return (end - start) / (double)number;
}

/* What to_device (0), copy_to_host (1), device_array and its release (2) need. */
double memory_floor(int what, void *host, int64_t bytes, int64_t number) {
    int (*allocate)(uint64_t *, size_t, void *) = (int (*)(uint64_t *, size_t, void *))symbol("cuMemAllocAsync");
    int (*release)(uint64_t, void *) = (int (*)(uint64_t, void *))symbol("cuMemFreeAsync");
    int (*in)(uint64_t, const void *, size_t) = (int (*)(uint64_t, const void *, size_t))symbol("cuMemcpyHtoD_v2");
    int (*out)(void *, uint64_t, size_t) = (int (*)(void *, uint64_t, size_t))symbol("cuMemcpyDtoH_v2");
    Wait *wait = (Wait *)symbol("cuCtxSynchronize");
    uint64_t device = 0;
    if (!allocate || !release || !in || !out || !wait || allocate(&device, (size_t)bytes, 0) || wait()) return -1;
    int error = 0;
    double start = now();
    for (int64_t i = 0; i < number && !error; i++) {
        uint64_t block = 0;
        if (what != 1) error |= allocate(&block, (size_t)bytes, 0);
        if (what == 0) error |= in(block, host, (size_t)bytes);
        if (what == 1) error |= out(host, device, (size_t)bytes);
        if (what != 1) error |= release(block, 0);
    }
    double end = now();
    wait();
    error |= release(device, 0);
    return error ? -1 : (end - start) / (double)number;
}

/* A copy of so many bytes as the driver makes it; host to device if `in`. */
double copy_floor(int in, void *host, int64_t bytes, int64_t number) {
    int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))symbol("cuMemAlloc_v2");
    int (*release)(uint64_t) = (int (*)(uint64_t))symbol("cuMemFree_v2");
    int (*to)(uint64_t, const void *, size_t) = (int (*)(uint64_t, const void *, size_t))symbol("cuMemcpyHtoD_v2");
    int (*from)(void *, uint64_t, size_t) = (int (*)(void *, uint64_t, size_t))symbol("cuMemcpyDtoH_v2");
    Wait *wait = (Wait *)symbol("cuCtxSynchronize");
    uint64_t device = 0;
    int error = 0;
    if (!allocate || !release || !to || !from || !wait || allocate(&device, (size_t)bytes)) return -1;
    for (int64_t i = -1; i < number; i++) { /* the first is not counted */
        static double start;
        if (i == 0) start = now();
        error |= in ? to(device, host, (size_t)bytes) : from(host, device, (size_t)bytes);
        error |= wait();
        if (i == number - 1) {
            double each = (now() - start) / (double)number;
            error |= release(device);
            return error ? -1 : each;
        }
    }
    return -1;
}
