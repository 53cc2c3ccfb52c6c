/* gpu.c: a GPU as a Device (runtime/device.h).
 *
 * Memory comes from the driver's stream-ordered pool (cuMemAllocAsync, about a microsecond), which keeps what is freed;
 * on GPUs or drivers without pools from cuMemAlloc, which needs no order: cuMemFree waits for everything.  Small blocks
 * that the default stream alone has used are kept for the next array of their size on that stream (block_cache.c). */
#include <stdio.h>  /* snprintf */
#include <string.h> /* memset */

#include "runtime/cuda/cu_driver.h"
#include "runtime/cuda/graph.h"

enum { SMALL_COPY = 1 << 16 }; /* bytes */

static CudaContext *context_of(Device *device) { return (CudaContext *)device; }

static DeviceFailure gpu_explain(Device *device, int status, char *text, size_t size) {
    if (status == CUDA_NO_HOST_MEMORY) {
        snprintf(text, size, "the host has no memory left");
        return FAILED_HOST_MEMORY;
    }
    cuda_explain(context_of(device)->cuda, status, text, size);
    return status == CUDA_OUT_OF_MEMORY ? FAILED_DEVICE_MEMORY : FAILED_OTHERWISE;
}

/* ---- memory ---- */

static int free_one(CudaContext *context, uint64_t pointer, void *stream) {
    const CuApi *api = &context->cuda->api;
    return context->pools ? api->MemFreeAsync(pointer, stream) : api->MemFree(pointer);
}

/* What was freed is there when the streams have got there, and what the pool keeps is the driver's again. */
static int gather(CudaContext *context) {
    const CuApi *api = &context->cuda->api;
    void *pool = NULL;
    for (uint64_t block; (block = block_cache_drop(&context->kept)) != 0;) free_one(context, block, NULL);
    int error = gpu_wait_all(context);
    if (error == CUDA_OK && context->pools) error = api->DeviceGetDefaultMemPool(&pool, context->number);
    return error == CUDA_OK && pool ? api->MemPoolTrimTo(pool, 0) : error;
}

static int gpu_gather(Device *device) { ON_GPU(context_of(device), gather(context_of(device))); }

static int allocate(CudaContext *context, void *stream, size_t size, uint64_t *address) {
    const CuApi *api = &context->cuda->api;
    if (!stream && block_cache_holds(&context->kept, size) && (*address = block_cache_take(&context->kept, size)) != 0)
        return CUDA_OK;
    return context->pools ? api->MemAllocAsync(address, size, stream) : api->MemAlloc(address, size);
}

static int gpu_allocate(Device *device, void *stream, size_t bytes, void **memory) {
    CudaContext *context = context_of(device);
    uint64_t *address = (uint64_t *)memory; /* a device address as the ABI of arrays has it */
    ON_GPU(context, allocate(context, stream, bytes ? bytes : 1, address));
}

static int record(CudaContext *context, void *stream) {
    enum { EVENT_DISABLE_TIMING = 2 };
    const CuApi *api = &context->cuda->api;
    int error = context->event ? CUDA_OK : api->EventCreate(&context->event, EVENT_DISABLE_TIMING);
    return error == CUDA_OK ? api->EventRecord(context->event, stream) : error;
}

/* Threads without the GIL may be here at the same time: between the record and the wait the event is one's own.  Who
 * waits for the lock has no GIL that a function of the host, behind which the owner waits for room in the driver's
 * queue, needs (GIVE). */
static int put_behind(CudaContext *context, void *later, void *earlier) {
    pthread_mutex_lock(&context->turns);
    int error = record(context, earlier);
    if (error == CUDA_OK) error = context->cuda->api.StreamWaitEvent(later, context->event, 0);
    pthread_mutex_unlock(&context->turns);
    return error;
}

static int gpu_stream_order(Device *device, void *later, void *earlier) {
    CudaContext *context = context_of(device);
    ON_GPU(context, put_behind(context, later, earlier));
}

static int open_collector(CudaContext *context) {
    enum { STREAM_NON_BLOCKING = 1 };
    pthread_mutex_lock(&context->turns);
    int error = context->collector ? CUDA_OK
                                   : context->cuda->api.StreamCreate(&context->collector, STREAM_NON_BLOCKING);
    pthread_mutex_unlock(&context->turns);
    return error;
}

/* Behind one stream: there.  Behind several: on a stream of its own, which waits for them, so that they do not wait for
 * each other. */
static int free_behind(CudaContext *context, uint64_t pointer, size_t bytes, void *const *streams, size_t count) {
    const CuApi *api = &context->cuda->api;
    if (count == 1 && !streams[0] && block_cache_holds(&context->kept, bytes)) {
        uint64_t other = block_cache_put(&context->kept, pointer, bytes);
        if (other) free_one(context, other, NULL);
        return CUDA_OK;
    }
    if (!context->pools || count <= 1) return free_one(context, pointer, count ? streams[0] : NULL);
    int error = open_collector(context);
    for (size_t i = 0; i < count && error == CUDA_OK; i++) error = put_behind(context, context->collector, streams[i]);
    return error == CUDA_OK ? api->MemFreeAsync(pointer, context->collector) : error;
}

static int gpu_release(Device *device, void *memory, size_t bytes, void *const *streams, size_t count) {
    CudaContext *context = context_of(device);
    ON_GPU(context, free_behind(context, (uint64_t)memory, bytes ? bytes : 1, streams, count));
}

static int gpu_home(Device *device, const void *memory, int *ordinal) {
    enum { POINTER_DEVICE_ORDINAL = 9 };
    *ordinal = -1; /* CUDA_INVALID_VALUE: memory that the driver does not know */
    int error = context_of(device)->cuda->api.PointerGetAttribute(ordinal, POINTER_DEVICE_ORDINAL, (uint64_t)memory);
    return error == CUDA_INVALID_VALUE ? CUDA_OK : error;
}

/* Large, and not locked: the driver knows nothing of it. */
static bool goes_by_chunks(CudaContext *context, DeviceCopy kind, const void *to, const void *from, size_t bytes) {
    int ordinal = 0;
    if (bytes < PAGEABLE_LARGE || kind == COPY_WITHIN || runtime_capture) return false;
    return gpu_home(&context->device, kind == COPY_IN ? from : to, &ordinal) == CUDA_OK && ordinal == -1;
}

/* A small copy out goes through page-locked memory: it stands in the stream at once, and the wait for it can be
 * interrupted; the memory is given up then, for the GPU may write to it still. */
static int copy_out_small(CudaContext *context, void *stream, void *landing, void *to, uint64_t from, size_t bytes) {
    int error = context->cuda->api.MemcpyDtoHAsync(landing, from, bytes, stream);
    if (error == CUDA_OK) error = gpu_wait_stream(context, stream);
    if (error == CUDA_OK) memcpy(to, landing, bytes);
    return error;
}

static void *take_landing(CudaContext *context) {
    void *landing = atomic_exchange(&context->landing, NULL);
    return landing || context->cuda->api.MemAllocHost(&landing, SMALL_COPY) == CUDA_OK ? landing : NULL;
}

static void keep_landing(CudaContext *context, void *landing) {
    void *none = NULL;
    if (!atomic_compare_exchange_strong(&context->landing, &none, landing)) context->cuda->api.MemFreeHost(landing);
}

static int copy_on(const CuApi *api, DeviceCopy kind, void *stream, void *to, const void *from, size_t bytes) {
    switch (kind) {
    case COPY_IN: return api->MemcpyHtoDAsync((uint64_t)to, from, bytes, stream);
    case COPY_OUT: return api->MemcpyDtoHAsync(to, (uint64_t)from, bytes, stream);
    case COPY_WITHIN: return api->MemcpyDtoDAsync((uint64_t)to, (uint64_t)from, bytes, stream);
    }
    return CUDA_INVALID_VALUE;
}

static int synchronise(CudaContext *context, void *stream) {
    int error = gpu_wait_stream(context, stream);
    return error == CUDA_OK ? context->cuda->api.StreamSynchronize(stream) : error;
}

/* The driver waits inside a large copy, and inside those to memory that is not page-locked: it is called when there is
 * nothing to wait for. */
static int copy_and_wait(CudaContext *context, DeviceCopy kind, void *stream, void *to, const void *from,
                         size_t bytes) {
    const CuApi *api = &context->cuda->api;
    bool small = bytes <= SMALL_COPY;
    void *landing = small && kind == COPY_OUT ? take_landing(context) : NULL;
    int error;
    if (landing) {
        error = copy_out_small(context, stream, landing, to, (uint64_t)from, bytes);
        if (error != CUDA_INTERRUPTED) keep_landing(context, landing);
        return error;
    }
    error = small && kind != COPY_OUT ? CUDA_OK : gpu_wait_stream(context, stream);
    if (error != CUDA_OK) return error;
    if (!stream && kind == COPY_IN) return api->MemcpyHtoD((uint64_t)to, from, bytes);
    if (!stream && kind == COPY_OUT) return api->MemcpyDtoH(to, (uint64_t)from, bytes);
    error = copy_on(api, kind, stream, to, from, bytes);
    return error == CUDA_OK ? synchronise(context, stream) : error;
}

static int copy_by_chunks(CudaContext *context, DeviceCopy kind, void *stream, bool wait, void *to, const void *from,
                          size_t bytes) {
    int error = wait || kind == COPY_OUT ? gpu_wait_stream(context, stream) : CUDA_OK;
    if (error == CUDA_OK) error = pageable_copy(context, kind, stream, to, from, bytes);
    return error == CUDA_OK && wait ? synchronise(context, stream) : error;
}

static int gpu_copy(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from,
                    size_t bytes) {
    CudaContext *context = context_of(device);
    if (bytes == 0) return CUDA_OK;
    if (goes_by_chunks(context, kind, to, from, bytes))
        ON_GPU(context, copy_by_chunks(context, kind, stream, wait, to, from, bytes));
    ON_GPU(context,
           wait ? copy_and_wait(context, kind, stream, to, from, bytes) : copy_on(api, kind, stream, to, from, bytes));
}

/* The other's primary context is retained at first use. */
static int start(Device *other) { ON_GPU(context_of(other), CUDA_OK); }

static int gpu_copy_between(Device *device, void *to, Device *other, const void *from, size_t bytes) {
    CudaContext *context = context_of(device), *source = context_of(other);
    int error = start(other);
    if (error != CUDA_OK || bytes == 0) return error;
    ON_GPU(context, api->MemcpyPeer((uint64_t)to, context->handle, (uint64_t)from, source->handle, bytes));
}

/* Memory of a pool does not follow the contexts: it has its own list of who reaches it. */
static int open_pool(CudaContext *context, CudaContext *reached) {
    enum { LOCATION_DEVICE = 1, READ_AND_WRITE = 3 };
    const CuApi *api = &context->cuda->api;
    const CudaPoolAccess access = {LOCATION_DEVICE, context->number, READ_AND_WRITE};
    void *pool = NULL;
    int error = reached->pools ? api->DeviceGetDefaultMemPool(&pool, reached->number) : CUDA_OK;
    return error == CUDA_OK && pool ? api->MemPoolSetAccess(pool, &access, 1) : error;
}

static int let_reach(CudaContext *context, CudaContext *reached) {
    ON_GPU(context, api->CtxEnablePeerAccess(reached->handle, 0));
}

static int gpu_reach(Device *device, Device *other, bool enable, bool *can) {
    enum { ENABLED_ALREADY = 704 };
    CudaContext *context = context_of(device), *reached = context_of(other);
    int answer = 0, error = context->cuda->api.DeviceCanAccessPeer(&answer, context->number, reached->number);
    *can = answer != 0;
    if (error != CUDA_OK || !enable) return error;
    error = start(other);
    if (error == CUDA_OK) error = let_reach(context, reached);
    if (error == CUDA_OK || error == ENABLED_ALREADY) error = open_pool(context, reached);
    if (error == CUDA_OK) device->reaches |= device_bit(other);
    return error;
}

static int record_there(CudaContext *context, void *stream) { ON_GPU(context, record(context, stream)); }

static int wait_here(CudaContext *context, void *stream, void *event) {
    ON_GPU(context, api->StreamWaitEvent(stream, event, 0));
}

/* The event is of the context that it is recorded in; NULL, for a stream, names the default one of the current context,
 * so each half is done with its own. */
static int gpu_order_between(Device *device, void *later, Device *other, void *earlier) {
    CudaContext *context = context_of(device), *source = context_of(other);
    pthread_mutex_lock(&source->turns);
    int error = record_there(source, earlier);
    if (error == CUDA_OK) error = wait_here(context, later, source->event);
    pthread_mutex_unlock(&source->turns);
    return error;
}

/* With unified addressing, which all 64-bit systems have, the GPU reaches such memory by the host's address. */
static int gpu_pin(Device *device, DevicePinned kind, size_t bytes, void **memory) {
    enum { HOST_PORTABLE = 1, HOST_MAPPED = 2, HOST_COMBINED = 4, MANAGED_GLOBAL = 1, MANAGED_HOST = 2 };
    size_t size = bytes ? bytes : 1;
    switch (kind) {
    case PINNED_COPY: ON_GPU(context_of(device), api->MemAllocHost(memory, size));
    case PINNED_COMBINED: ON_GPU(context_of(device), api->MemHostAlloc(memory, size, HOST_PORTABLE | HOST_COMBINED));
    case PINNED_MAPPED: ON_GPU(context_of(device), api->MemHostAlloc(memory, size, HOST_PORTABLE | HOST_MAPPED));
    case PINNED_MANAGED: ON_GPU(context_of(device), api->MemAllocManaged((uint64_t *)memory, size, MANAGED_GLOBAL));
    case PINNED_MANAGED_HOST: ON_GPU(context_of(device), api->MemAllocManaged((uint64_t *)memory, size, MANAGED_HOST));
    }
    return CUDA_INVALID_VALUE;
}

static int gpu_unpin(Device *device, DevicePinned kind, void *memory) {
    if (kind == PINNED_MANAGED || kind == PINNED_MANAGED_HOST)
        ON_GPU(context_of(device), api->MemFree((uint64_t)memory));
    ON_GPU(context_of(device), api->MemFreeHost(memory));
}

static int gpu_lock(Device *device, void *memory, size_t bytes) {
    enum { REGISTER_PORTABLE = 1, REGISTER_MAPPED = 2 };
    ON_GPU(context_of(device), api->MemHostRegister(memory, bytes, REGISTER_PORTABLE | REGISTER_MAPPED));
}

static int gpu_unlock(Device *device, void *memory) { ON_GPU(context_of(device), api->MemHostUnregister(memory)); }

/* ---- streams and events ---- */

static int gpu_synchronise(Device *device, void *stream) {
    CudaContext *context = context_of(device);
    ON_GPU(context, synchronise(context, stream));
}

static int gpu_synchronise_all(Device *device) {
    CudaContext *context = context_of(device);
    ON_GPU(context, gpu_wait_all(context));
}

static int gpu_stream_open(Device *device, int priority, void **stream) {
    atomic_fetch_add(&context_of(device)->streams, 1);
    ON_GPU(context_of(device),
           priority ? api->StreamCreateWithPriority(stream, 0, priority) : api->StreamCreate(stream, 0));
}

static int gpu_stream_close(Device *device, void *stream) {
    atomic_fetch_sub(&context_of(device)->streams, 1);
    ON_GPU(context_of(device), api->StreamDestroy(stream));
}

static int answer(int error, bool *done) {
    *done = error == CUDA_OK;
    return error == CUDA_NOT_READY ? CUDA_OK : error;
}

static int gpu_stream_done(Device *device, void *stream, bool *done) {
    ON_GPU(context_of(device), answer(api->StreamQuery(stream), done));
}

static int gpu_stream_call(Device *device, void *stream, void (*function)(void *context), void *argument) {
    ON_GPU(context_of(device), api->LaunchHostFunc(capture_stream(stream), function, argument));
}

/* The driver hands a callback the stream, too. */
typedef struct Notified {
    DeviceNotice *notice;
    void *context;
} Notified;

static void notify(void *stream, int status, void *context) {
    Notified notified = *(Notified *)context;
    (void)stream;
    free(context);
    notified.notice(notified.context, status);
}

static int add_callback(CudaContext *context, void *stream, Notified *notified) {
    ON_GPU(context, api->StreamAddCallback(stream, notify, notified, 0));
}

static int gpu_stream_notify(Device *device, void *stream, DeviceNotice *notice, void *context) {
    Notified *notified = malloc(sizeof *notified);
    if (!notified) return CUDA_NO_HOST_MEMORY;
    *notified = (Notified){notice, context};
    int error = add_callback(context_of(device), stream, notified);
    if (error != CUDA_OK) free(notified);
    return error;
}

static int gpu_event_open(Device *device, bool timing, void **event) {
    enum { EVENT_DISABLE_TIMING = 2 };
    ON_GPU(context_of(device), api->EventCreate(event, timing ? 0 : EVENT_DISABLE_TIMING));
}

static int gpu_event_close(Device *device, void *event) { ON_GPU(context_of(device), api->EventDestroy(event)); }

static int gpu_event_record(Device *device, void *event, void *stream) {
    ON_GPU(context_of(device), api->EventRecord(event, capture_stream(stream)));
}

static int gpu_event_done(Device *device, void *event, bool *done) {
    ON_GPU(context_of(device), answer(api->EventQuery(event), done));
}

static int wait_for_event(CudaContext *context, void *event) {
    int error = gpu_wait_event(context, event);
    return error == CUDA_OK ? context->cuda->api.EventSynchronize(event) : error;
}

static int gpu_event_synchronise(Device *device, void *event) {
    CudaContext *context = context_of(device);
    ON_GPU(context, wait_for_event(context, event));
}

static int gpu_event_hold(Device *device, void *event, void *stream) {
    ON_GPU(context_of(device), api->StreamWaitEvent(capture_stream(stream), event, 0));
}

static int elapsed(const CuApi *api, void *first, void *second, double *milliseconds) {
    float single = 0;
    int error = api->EventElapsedTime(&single, first, second);
    *milliseconds = (double)single;
    return error;
}

static int gpu_event_elapsed(Device *device, void *first, void *second, double *milliseconds) {
    ON_GPU(context_of(device), elapsed(api, first, second, milliseconds));
}

/* ---- facts ---- */

static int gpu_attribute(Device *device, int number, int *value) {
    return context_of(device)->cuda->api.DeviceGetAttribute(value, number, context_of(device)->number);
}

static int gpu_name(Device *device, char *text, size_t size) {
    return context_of(device)->cuda->api.DeviceGetName(text, (int)size, context_of(device)->number);
}

static int gpu_uuid(Device *device, unsigned char bytes[16]) {
    memset(bytes, 0, 16);
    return context_of(device)->cuda->api.DeviceGetUuid(bytes, context_of(device)->number);
}

static int gpu_memory(Device *device, size_t *free_bytes, size_t *total) {
    ON_GPU(context_of(device), api->MemGetInfo(free_bytes, total));
}

static int gpu_memory_kept(Device *device, DeviceKept *kept) {
    enum { POOL_RESERVED_NOW = 5, POOL_USED_NOW = 7 };
    CudaContext *context = context_of(device);
    const CuApi *api = &context->cuda->api;
    uint64_t reserved = 0, used = 0;
    void *pool = NULL;
    *kept = (DeviceKept){.kept = block_cache_bytes(&context->kept)};
    if (!context->pools) return CUDA_OK;
    int error = start(device);
    if (error == CUDA_OK) error = api->DeviceGetDefaultMemPool(&pool, context->number);
    if (error == CUDA_OK) error = api->MemPoolGetAttribute(pool, POOL_RESERVED_NOW, &reserved);
    if (error == CUDA_OK) error = api->MemPoolGetAttribute(pool, POOL_USED_NOW, &used);
    kept->pool_bytes = (size_t)reserved;
    kept->pool_used = (size_t)used;
    return error;
}

static int gpu_profile(Device *device, bool start) {
    ON_GPU(context_of(device), start ? api->ProfilerStart() : api->ProfilerStop());
}

static const DeviceOps gpu_ops = {
    .explain = gpu_explain,
    .allocate = gpu_allocate,
    .gather = gpu_gather,
    .release = gpu_release,
    .copy = gpu_copy,
    .copy_between = gpu_copy_between,
    .reach = gpu_reach,
    .order_between = gpu_order_between,
    .pin = gpu_pin,
    .unpin = gpu_unpin,
    .lock = gpu_lock,
    .unlock = gpu_unlock,
    .home = gpu_home,
    .share_allocate = gpu_share_allocate,
    .share_release = gpu_share_release,
    .share_name = gpu_share_name,
    .share_open = gpu_share_open,
    .share_close = gpu_share_close,
    .synchronise = gpu_synchronise,
    .synchronise_all = gpu_synchronise_all,
    .stream_open = gpu_stream_open,
    .stream_close = gpu_stream_close,
    .stream_done = gpu_stream_done,
    .stream_order = gpu_stream_order,
    .stream_call = gpu_stream_call,
    .stream_notify = gpu_stream_notify,
    .event_open = gpu_event_open,
    .event_close = gpu_event_close,
    .event_record = gpu_event_record,
    .event_done = gpu_event_done,
    .event_synchronise = gpu_event_synchronise,
    .event_hold = gpu_event_hold,
    .event_elapsed = gpu_event_elapsed,
    .graph_begin = gpu_graph_begin,
    .graph_last = gpu_graph_last,
    .graph_end = gpu_graph_end,
    .graph_block = gpu_graph_block,
    .graph_block_end = gpu_graph_block_end,
    .graph_run = gpu_graph_run,
    .graph_close = gpu_graph_close,
    .kernel_load = gpu_kernel_load,
    .kernel_free = gpu_kernel_free,
    .kernel_fact = gpu_kernel_fact,
    .kernel_allow_shared = gpu_kernel_allow_shared,
    .best_block = gpu_best_block,
    .blocks_at_once = gpu_blocks_at_once,
    .launch = gpu_launch,
    .look = gpu_look,
    .enter = context_select,
    .reset = context_reset,
    .attribute = gpu_attribute,
    .name = gpu_name,
    .uuid = gpu_uuid,
    .memory = gpu_memory,
    .memory_kept = gpu_memory_kept,
    .profile = gpu_profile,
};

void gpu_init(CudaContext *context, int ordinal, int compute_capability, int max_block_shared) {
    context->device = (Device){.ops = &gpu_ops,
                               .what = "the GPU",
                               .ordinal = ordinal,
                               .compute_capability = compute_capability,
                               .ptx_target = compute_capability,
                               .ptx_version = cuda_max_ptx_version(context->cuda),
                               .max_block_shared = max_block_shared,
                               .frees_late = !context->pools};
    pthread_mutex_init(&context->watching, NULL);
    pthread_mutex_init(&context->turns, NULL);
    block_cache_init(&context->kept);
    bounce_init(&context->bounce);
}
