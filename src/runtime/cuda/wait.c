/* wait.c: waiting for a GPU, where a signal ends the wait.
 *
 * In: a stream or an event.  Out: it has got there, or the handler of a signal raised.  A call of the driver that waits
 * comes back when the GPU does, which for an endless kernel is never; so it is asked again and again, as its own calls
 * do inside: without a pause at first, then every 50 us.  Signals are looked for by the safepoint of compiled code
 * (runtime/host/interrupt.c), with the GIL or without. */
#include <time.h> /* nanosleep */

#include "base/base.h" /* clock_nanoseconds */
#include "runtime/cuda/cu_driver.h"
#include "runtime/host/host.h" /* krait_host_safepoint */

static int wait_until(int (*query)(void *), void *handle) {
    enum { POLLS_A_LOOK = 64, AT_ONCE = 20000000, PAUSE = 50000 };
    int64_t start = 0;
    for (unsigned polls = 1;; polls++) {
        int error = query(handle);
        if (error != CUDA_NOT_READY) return error;
        bool pausing = start && clock_nanoseconds() - start > AT_ONCE;
        if (!pausing && polls % POLLS_A_LOOK) continue;
        if (!start) start = clock_nanoseconds();
        if (krait_host_safepoint()) return CUDA_INTERRUPTED;
        if (pausing) nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
}

/* The default stream waits for the others, of which a query of it says nothing: an event in it does. */
static int wait_for_streams(const CuApi *api) {
    enum { EVENT_DISABLE_TIMING = 2 };
    void *event = NULL;
    int error = api->EventCreate(&event, EVENT_DISABLE_TIMING);
    if (error != CUDA_OK) return error;
    error = api->EventRecord(event, NULL);
    if (error == CUDA_OK) error = wait_until(api->EventQuery, event);
    api->EventDestroy(event);
    return error;
}

int gpu_wait_stream(CudaContext *context, void *stream) {
    const CuApi *api = &context->cuda->api;
    int error = wait_until(api->StreamQuery, stream);
    return error == CUDA_OK && !stream && atomic_load(&context->streams) > 0 ? wait_for_streams(api) : error;
}

/* A wait for the context ends every recording of a graph in it, whoever's.  A wait is counted before it looks whether
 * there is one, a recording (device_records) before it looks for waits: so either the wait is for the default stream
 * alone, or the recording begins behind it. */
int gpu_wait_all(CudaContext *context) {
    const CuApi *api = &context->cuda->api;
    context->waits++;
    bool alone = context->device.recordings == 0;
    int error = alone ? api->CtxSynchronize() : CUDA_OK;
    context->waits--;
    return alone ? error : api->StreamSynchronize(NULL);
}

static int query_waits(void *context) { return ((CudaContext *)context)->waits > 0 ? CUDA_NOT_READY : CUDA_OK; }

int gpu_wait_for_waits(CudaContext *context) { return wait_until(query_waits, context); }

int gpu_wait_event(CudaContext *context, void *event) { return wait_until(context->cuda->api.EventQuery, event); }
