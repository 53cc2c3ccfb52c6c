/* pageable.c: large copies between ordinary memory of the host and a GPU.
 *
 * The driver copies such memory by way of a small buffer, on one core.  Here the way leads over a larger one of locked
 * chunks: the cores move a chunk between it and the host's memory while the GPU moves others, in the order of the
 * stream. */
#include "runtime/cuda/pageable.h"

#include <string.h> /* memcpy */

#include "runtime/cuda/cu_driver.h"
#include "runtime/host/host.h" /* host_loop_run */

enum { PIECE_BYTES = 1 << 18 };

/* ---- host to host, on the cores ---- */

typedef struct Move {
    HostLoop loop; /* first */
    char *to;
    const char *from;
    size_t bytes;
} Move;

static bool move_pieces(HostLoop *loop, int64_t from, int64_t to, int64_t chunk) {
    Move *move = (Move *)loop;
    size_t low = (size_t)from * PIECE_BYTES, high = (size_t)to * PIECE_BYTES;
    (void)chunk;
    if (high > move->bytes) high = move->bytes;
    memcpy(move->to + low, move->from + low, high - low);
    return true;
}

static void move(char *to, const char *from, size_t bytes) {
    int64_t count = (int64_t)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    Move what = {.loop = {.run = move_pieces, .count = count, .chunk = 1}, .to = to, .from = from, .bytes = bytes};
    host_loop_run(&what.loop);
}

/* ---- the chunks ---- */

void bounce_init(Bounce *bounce) { pthread_mutex_init(&bounce->lock, NULL); }

void bounce_forget(Bounce *bounce) {
    bounce->memory = NULL;
    memset(bounce->events, 0, sizeof bounce->events);
}

static int open_chunks(const CuApi *api, Bounce *bounce) {
    enum { HOST_PORTABLE = 1, EVENT_DISABLE_TIMING = 2 };
    int error = CUDA_OK;
    if (!bounce->memory)
        error = api->MemHostAlloc((void **)&bounce->memory, (size_t)BOUNCE_CHUNKS * BOUNCE_BYTES, HOST_PORTABLE);
    for (size_t i = 0; i < BOUNCE_CHUNKS && error == CUDA_OK; i++)
        if (!bounce->events[i]) error = api->EventCreate(&bounce->events[i], EVENT_DISABLE_TIMING);
    return error;
}

static size_t part(size_t number, size_t bytes) {
    size_t rest = bytes - number * BOUNCE_BYTES;
    return rest < BOUNCE_BYTES ? rest : BOUNCE_BYTES;
}

static char *chunk_at(const Bounce *bounce, size_t number) {
    return bounce->memory + number % BOUNCE_CHUNKS * BOUNCE_BYTES;
}

/* An event that was never recorded has happened. */
static int copy_in(const CuApi *api, Bounce *bounce, void *stream, uint64_t to, const char *from, size_t bytes) {
    int error = CUDA_OK;
    for (size_t i = 0; i * BOUNCE_BYTES < bytes && error == CUDA_OK; i++) {
        void *event = bounce->events[i % BOUNCE_CHUNKS];
        error = api->EventSynchronize(event);
        if (error != CUDA_OK) break;
        move(chunk_at(bounce, i), from + i * BOUNCE_BYTES, part(i, bytes));
        error = api->MemcpyHtoDAsync(to + i * BOUNCE_BYTES, chunk_at(bounce, i), part(i, bytes), stream);
        if (error == CUDA_OK) error = api->EventRecord(event, stream);
    }
    return error;
}

static int fetch(const CuApi *api, Bounce *bounce, void *stream, size_t number, uint64_t from, size_t bytes) {
    int error = api->MemcpyDtoHAsync(chunk_at(bounce, number), from + number * BOUNCE_BYTES, part(number, bytes),
                                     stream);
    return error == CUDA_OK ? api->EventRecord(bounce->events[number % BOUNCE_CHUNKS], stream) : error;
}

static int copy_out(const CuApi *api, Bounce *bounce, void *stream, char *to, uint64_t from, size_t bytes) {
    size_t count = (bytes + BOUNCE_BYTES - 1) / BOUNCE_BYTES;
    int error = CUDA_OK;
    for (size_t i = 0; i < BOUNCE_CHUNKS && error == CUDA_OK; i++) error = api->EventSynchronize(bounce->events[i]);
    for (size_t i = 0; i < count && i < BOUNCE_CHUNKS && error == CUDA_OK; i++)
        error = fetch(api, bounce, stream, i, from, bytes);
    for (size_t i = 0; i < count && error == CUDA_OK; i++) {
        error = api->EventSynchronize(bounce->events[i % BOUNCE_CHUNKS]);
        if (error != CUDA_OK) break;
        move(to + i * BOUNCE_BYTES, chunk_at(bounce, i), part(i, bytes));
        if (i + BOUNCE_CHUNKS < count) error = fetch(api, bounce, stream, i + BOUNCE_CHUNKS, from, bytes);
    }
    return error;
}

int pageable_copy(CudaContext *context, DeviceCopy kind, void *stream, void *to, const void *from, size_t bytes) {
    const CuApi *api = &context->cuda->api;
    Bounce *bounce = &context->bounce;
    pthread_mutex_lock(&bounce->lock);
    int error = open_chunks(api, bounce);
    if (error == CUDA_OK)
        error = kind == COPY_IN ? copy_in(api, bounce, stream, (uint64_t)to, from, bytes)
                                : copy_out(api, bounce, stream, to, (uint64_t)from, bytes);
    pthread_mutex_unlock(&bounce->lock);
    return error;
}
