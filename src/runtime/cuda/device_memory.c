/* device_memory.c: memory of a device and copies to and from it, and which device is used.
 *
 * On a GPU memory comes from the driver's stream-ordered pool (cuMemAllocAsync on the default stream, about a
 * microsecond), which keeps what is freed; on GPUs or drivers without pools from cuMemAlloc.  On the host device it is
 * memory of this process, aligned for vector loads. */
#include "runtime/cuda/device_memory.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* posix_memalign, getenv */
#include <string.h> /* memcpy */

enum { HOST_ALIGNMENT = 256, SMALL_COPY = 1 << 16 };

/* ---- which device ---- */

typedef enum Choice { CHOICE_AUTO, CHOICE_GPU, CHOICE_HOST, CHOICE_UNKNOWN } Choice;

static Choice choice(void) {
    const char *text = getenv("KRAIT_CUDA_DEVICE");
    if (!text || !*text || strcmp(text, "auto") == 0) return CHOICE_AUTO;
    if (strcmp(text, "gpu") == 0) return CHOICE_GPU;
    return strcmp(text, "cpu") == 0 ? CHOICE_HOST : CHOICE_UNKNOWN;
}

static void decide(Cuda *cuda) {
    if (cuda->decided) return;
    const char *why_not = choice() == CHOICE_HOST ? NULL : cuda_why_not(cuda);
    switch (choice()) {
    case CHOICE_HOST:
        cuda->use_gpu = 0;
        snprintf(cuda->reason, sizeof cuda->reason, "KRAIT_CUDA_DEVICE=cpu asks for the host device");
        break;
    case CHOICE_GPU:
        cuda->use_gpu = why_not ? -1 : 1;
        snprintf(cuda->reason, sizeof cuda->reason, "KRAIT_CUDA_DEVICE=gpu asks for a GPU%s%s", why_not ? ", but " : "",
                 why_not ? why_not : "");
        break;
    case CHOICE_AUTO:
        cuda->use_gpu = why_not ? 0 : 1;
        snprintf(cuda->reason, sizeof cuda->reason, "%s", why_not ? why_not : "there is a GPU and a driver");
        break;
    case CHOICE_UNKNOWN:
        cuda->use_gpu = -1;
        snprintf(cuda->reason, sizeof cuda->reason, "KRAIT_CUDA_DEVICE must be auto, gpu or cpu");
        break;
    }
    cuda->decided = true;
}

int cuda_use_gpu(Cuda *cuda) {
    decide(cuda);
    if (cuda->use_gpu < 0) PyErr_SetString(PyExc_RuntimeError, cuda->reason);
    return cuda->use_gpu;
}

const char *cuda_choice_reason(Cuda *cuda) {
    decide(cuda);
    return cuda->reason;
}

int runtime_context(const Runtime *runtime, CudaContext **context) {
    int gpu = cuda_use_gpu(runtime->cuda);
    *context = gpu == 1 ? cuda_current(runtime->cuda) : NULL;
    return gpu < 0 || (gpu == 1 && !*context) ? -1 : 0;
}

/* ---- memory ---- */

int device_allocate(CudaContext *context, void *stream, size_t bytes, void **pointer) {
    uint64_t address = 0;
    if (!context) {
        if (posix_memalign(pointer, HOST_ALIGNMENT, bytes ? bytes : 1) != 0) {
            PyErr_NoMemory();
            return -1;
        }
        return 0;
    }
    if (context_enter(context) < 0) return -1;
    const CuApi *api = &context->cuda->api;
    size_t size = bytes ? bytes : 1;
    int error = context->pools ? api->MemAllocAsync(&address, size, stream) : api->MemAlloc(&address, size);
    if (error != CUDA_OK && context_recover(context, error))
        error = context->pools ? api->MemAllocAsync(&address, size, stream) : api->MemAlloc(&address, size);
    if (error != CUDA_OK) {
        char what[80];
        snprintf(what, sizeof what, "allocating %zu bytes on the GPU", bytes);
        return cuda_raise(context->cuda, error, what);
    }
    *pointer = (void *)address; /* NOLINT: a device address as the ABI of arrays has it */
    return 0;
}

static int put_behind(CudaContext *context, void *later, void *earlier) {
    enum { EVENT_DISABLE_TIMING = 2 };
    const CuApi *api = &context->cuda->api;
    int error = context->event ? CUDA_OK : api->EventCreate(&context->event, EVENT_DISABLE_TIMING);
    if (error == CUDA_OK) error = api->EventRecord(context->event, earlier);
    return error == CUDA_OK ? api->StreamWaitEvent(later, context->event, 0) : error;
}

int device_order(CudaContext *context, void *later, void *earlier) {
    if (!context) return 0;
    if (context_enter(context) < 0) return -1;
    CU_CALL(context->cuda, "making a stream wait for another", put_behind(context, later, earlier));
    return 0;
}

/* Behind one stream: there.  Behind several: on a stream of its own, which waits for them, so that they do not wait for
 * each other. */
static int free_behind(CudaContext *context, uint64_t pointer, void *const *streams, size_t count) {
    enum { STREAM_NON_BLOCKING = 1 };
    const CuApi *api = &context->cuda->api;
    if (count <= 1) return api->MemFreeAsync(pointer, count ? streams[0] : NULL);
    int error = context->collector ? CUDA_OK : api->StreamCreate(&context->collector, STREAM_NON_BLOCKING);
    for (size_t i = 0; i < count && error == CUDA_OK; i++) error = put_behind(context, context->collector, streams[i]);
    return error == CUDA_OK ? api->MemFreeAsync(pointer, context->collector) : error;
}

/* Called when objects die, at interpreter exit too: errors (a driver that is shutting down) have nowhere to go.  A
 * stream that is no longer there has nothing to wait for but what the whole context waits for. */
void device_release(CudaContext *context, void *pointer, void *const *streams, size_t count) {
    if (!context) {
        free(pointer);
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (context_enter(context) == 0) {
        const CuApi *api = &context->cuda->api;
        uint64_t address = (uint64_t)pointer;
        int error = context->pools ? free_behind(context, address, streams, count) : api->MemFree(address);
        if (error != CUDA_OK && context_recover(context, error))
            error = context->pools ? free_behind(context, address, streams, count) : api->MemFree(address);
        if (error != CUDA_OK && context->pools && api->CtxSynchronize() == CUDA_OK) api->MemFreeAsync(address, NULL);
    }
    PyErr_Restore(type, value, traceback);
}

/* Runs `call` with the GIL released where the copy is long enough for others to care. */
#define COPY(context, bytes, what, call)                                           \
    do {                                                                           \
        const CuApi *api = &(context)->cuda->api;                                  \
        int error;                                                                 \
        if (context_enter(context) < 0) return -1;                                 \
        if ((bytes) <= SMALL_COPY) {                                               \
            error = (call);                                                        \
        } else {                                                                   \
            Py_BEGIN_ALLOW_THREADS error = (call);                                 \
            Py_END_ALLOW_THREADS                                                   \
        }                                                                          \
        if (error != CUDA_OK && context_recover((context), error)) error = (call); \
        if (error != CUDA_OK) return cuda_raise((context)->cuda, error, (what));   \
    } while (0)

int device_copy_in(CudaContext *context, void *stream, bool wait, void *device, const void *host, size_t bytes) {
    if (bytes == 0) return 0;
    if (!context) {
        memcpy(device, host, bytes);
        return 0;
    }
    if (wait && !stream)
        COPY(context, bytes, "copying to the GPU", api->MemcpyHtoD((uint64_t)device, host, bytes));
    else
        COPY(context, bytes, "copying to the GPU", api->MemcpyHtoDAsync((uint64_t)device, host, bytes, stream));
    return wait && stream ? device_synchronise(context, stream, false) : 0;
}

int device_copy_out(CudaContext *context, void *stream, bool wait, void *host, const void *device, size_t bytes) {
    if (bytes == 0) return 0;
    if (!context) {
        memcpy(host, device, bytes);
        return 0;
    }
    if (wait && !stream)
        COPY(context, bytes, "copying from the GPU", api->MemcpyDtoH(host, (uint64_t)device, bytes));
    else
        COPY(context, bytes, "copying from the GPU", api->MemcpyDtoHAsync(host, (uint64_t)device, bytes, stream));
    return wait && stream ? device_synchronise(context, stream, false) : 0;
}

int device_copy_within(CudaContext *context, void *stream, void *to, const void *from, size_t bytes) {
    if (bytes == 0) return 0;
    if (!context) {
        memmove(to, from, bytes);
        return 0;
    }
    COPY(context, (size_t)0, "copying on the GPU", api->MemcpyDtoDAsync((uint64_t)to, (uint64_t)from, bytes, stream));
    return 0;
}

int device_clear(CudaContext *context, void *stream, void *device, int byte, size_t bytes) {
    if (bytes == 0) return 0;
    if (!context) {
        memset(device, byte, bytes);
        return 0;
    }
    COPY(context, (size_t)0, "filling GPU memory",
         api->MemsetD8Async((uint64_t)device, (unsigned char)byte, bytes, stream));
    return 0;
}

int device_synchronise(CudaContext *context, void *stream, bool whole_context) {
    if (!context) return 0; /* the host device has finished a launch when it returns */
    COPY(context, (size_t)SMALL_COPY + 1, "waiting for the GPU",
         whole_context ? api->CtxSynchronize() : api->StreamSynchronize(stream));
    return 0;
}

int cuda_stream_synchronise(CudaContext *context, void *stream) { return device_synchronise(context, stream, false); }

/* ---- staging of host arrays around a launch ---- */

int cuda_stage_alloc(CudaContext *context, void *stream, size_t bytes, void **device) {
    return device_allocate(context, stream, bytes, device);
}

int cuda_stage_in(CudaContext *context, void *stream, void *device, const void *host, size_t bytes) {
    return device_copy_in(context, stream, false, device, host, bytes);
}

int cuda_stage_out(CudaContext *context, void *stream, void *host, const void *device, size_t bytes) {
    return device_copy_out(context, stream, true, host, device, bytes);
}

int cuda_stage_free(CudaContext *context, void *stream, void *device) {
    COPY(context, (size_t)0, "freeing GPU memory",
         context->pools ? api->MemFreeAsync((uint64_t)device, stream) : api->MemFree((uint64_t)device));
    return 0;
}
