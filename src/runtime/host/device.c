/* device.c: the host device as a Device (runtime/device.h): memory of this process.
 *
 * Every launch and copy has finished when it returns: streams order nothing, and an event is a time stamp. */
#include <stdint.h> /* int64_t */
#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* posix_memalign, free */
#include <string.h> /* memmove */
#include <unistd.h> /* sysconf */

#include "base/base.h" /* clock_nanoseconds */
#include "runtime/host/host.h"

enum { HOST_ALIGNMENT = 256, CAPABILITY = 80 };

static DeviceFailure host_explain(Device *device, int status, char *text, size_t size) {
    (void)device;
    switch (status & ((1 << HOST_ERRNO_SHIFT) - 1)) {
    case HOST_NO_MEMORY: snprintf(text, size, "out of memory"); return FAILED_DEVICE_MEMORY;
    case HOST_NOT_THERE: snprintf(text, size, "there is no such memory (any more)"); return FAILED_OTHERWISE;
    case HOST_LOCKED_ALREADY: snprintf(text, size, "memory of the array is locked already"); return FAILED_OTHERWISE;
    case HOST_SYSTEM: return snprintf(text, size, "%s", strerror(status >> HOST_ERRNO_SHIFT)), FAILED_OTHERWISE;
    default: snprintf(text, size, "an argument is outside its range"); return FAILED_OTHERWISE;
    }
}

/* ---- memory ---- */

static int host_allocate(Device *device, void *stream, size_t bytes, void **memory) {
    (void)device, (void)stream;
    return posix_memalign(memory, HOST_ALIGNMENT, bytes ? bytes : 1) == 0 ? 0 : HOST_NO_MEMORY;
}

static int host_release(Device *device, void *memory, size_t bytes, void *const *streams, size_t count) {
    (void)device, (void)bytes, (void)streams, (void)count;
    free(memory);
    return 0;
}

static int host_copy(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from,
                     size_t bytes) {
    (void)device, (void)kind, (void)stream, (void)wait;
    if (bytes) memmove(to, from, bytes);
    return 0;
}

static int host_copy_between(Device *device, void *to, Device *other, const void *from, size_t bytes) {
    (void)other;
    return host_copy(device, COPY_WITHIN, NULL, true, to, from, bytes);
}

static int host_reach(Device *device, Device *other, bool enable, bool *can) {
    (void)device, (void)other, (void)enable;
    *can = true;
    return 0;
}

static int host_order_between(Device *device, void *later, Device *other, void *earlier) {
    (void)device, (void)later, (void)other, (void)earlier; /* what was given is done */
    return 0;
}

static int host_pin(Device *device, DevicePinned kind, size_t bytes, void **memory) {
    (void)kind;
    return host_allocate(device, NULL, bytes, memory);
}

static int host_unpin(Device *device, DevicePinned kind, void *memory) {
    (void)kind;
    return host_release(device, memory, 0, NULL, 0);
}

static int host_lock(Device *device, void *memory, size_t bytes) {
    (void)device, (void)memory, (void)bytes;
    return 0;
}

static int host_unlock(Device *device, void *memory) {
    (void)device, (void)memory;
    return 0;
}

static int host_home(Device *device, const void *memory, int *ordinal) {
    (void)memory;
    *ordinal = device->ordinal;
    return 0;
}

/* ---- streams and events ---- */

/* Nothing is in the way of using what was there before, and a program learns here what it would meet on a GPU. */
static int host_reset(Device *device) {
    device->generation++;
    device->arrays = device->array_bytes = 0;
    return 0;
}

static int nothing(Device *device) {
    (void)device;
    return 0;
}

static int nothing_on(Device *device, void *stream) {
    (void)device, (void)stream;
    return 0;
}

static int nothing_between(Device *device, void *one, void *other) {
    (void)device, (void)one, (void)other;
    return 0;
}

static int host_stream_open(Device *device, int priority, void **stream) {
    (void)device, (void)priority;
    *stream = NULL;
    return 0;
}

static int host_stream_call(Device *device, void *stream, void (*function)(void *context), void *context) {
    (void)device, (void)stream;
    function(context);
    return 0;
}

static int host_stream_notify(Device *device, void *stream, DeviceNotice *notice, void *context) {
    (void)device, (void)stream;
    notice(context, 0);
    return 0;
}

static int host_graph_begin(Device *device, void **stream) {
    (void)device;
    *stream = NULL;
    return 0;
}

static int host_graph_run(Device *device, void *graph, void *stream, DeviceKernel *const *in_turn, size_t count) {
    (void)device, (void)graph, (void)stream, (void)in_turn, (void)count;
    return 0;
}

static int host_graph_end(Device *device, void *stream, void **made) {
    (void)device, (void)stream;
    if (made) *made = NULL; /* the steps are kept by who recorded them */
    return 0;
}

/* The steps are kept, with their conditions, by who recorded them. */
static int host_graph_block(Device *device, void *stream, bool loops, const void *word, size_t bytes, void **inner) {
    (void)device, (void)stream, (void)loops, (void)word, (void)bytes;
    *inner = NULL;
    return 0;
}

static int host_graph_block_end(Device *device, void *inner, bool loops, const void *word, size_t bytes) {
    (void)device, (void)inner, (void)loops, (void)word, (void)bytes;
    return 0;
}

static int host_done(Device *device, void *what, bool *done) {
    (void)device, (void)what;
    *done = true;
    return 0;
}

static int host_event_open(Device *device, bool timing, void **event) {
    (void)device, (void)timing;
    *event = calloc(1, sizeof(int64_t));
    return *event ? 0 : HOST_NO_MEMORY;
}

static int host_event_close(Device *device, void *event) {
    (void)device;
    free(event);
    return 0;
}

static int host_event_record(Device *device, void *event, void *stream) {
    (void)device, (void)stream;
    *(int64_t *)event = clock_nanoseconds();
    return 0;
}

static int host_event_elapsed(Device *device, void *first, void *second, double *milliseconds) {
    (void)device;
    *milliseconds = (double)(*(int64_t *)second - *(int64_t *)first) * 1e-6;
    return 0;
}

/* ---- facts ---- */

/* Launches are over when they return: they have told everything. */
static int host_look(Device *device) { return (void)device, 0; }

static int host_attribute(Device *device, int number, int *value) {
    static const struct {
        int number, value;
    } table[] = {
        {1, MAX_BLOCK_THREADS},
        {2, MAX_BLOCK_THREADS},
        {3, MAX_BLOCK_THREADS},
        {4, MAX_BLOCK_Z},
        {5, INT32_MAX},
        {6, MAX_GRID_YZ},
        {7, MAX_GRID_YZ},
        {8, 49152},
        {9, 65536},
        {10, WARP_SIZE},
        {12, 65536},
        {18, 1},
        {19, 1},
        {31, 1},
        {39, 1024},
        {41, 1},
        {75, CAPABILITY / 10},
        {76, CAPABILITY % 10},
        {81, MAX_BLOCK_SHARED + 1024},
        {82, 65536},
        {83, 1},
        {89, 1},
        {97, MAX_BLOCK_SHARED},
    }; /* any other is 0 */
    enum { MULTIPROCESSORS = 16 };
    (void)device;
    *value = number == MULTIPROCESSORS ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 0;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].number == number) *value = table[i].value;
    return 0;
}

static int host_name(Device *device, char *text, size_t size) {
    (void)device;
    snprintf(text, size, "host device (%ld cores)", sysconf(_SC_NPROCESSORS_ONLN));
    return 0;
}

static int host_uuid(Device *device, unsigned char bytes[16]) {
    (void)device;
    memset(bytes, 0, 16);
    return 0;
}

static int host_memory(Device *device, size_t *free_bytes, size_t *total) {
    (void)device;
    size_t page = (size_t)sysconf(_SC_PAGE_SIZE);
    *free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * page;
    *total = (size_t)sysconf(_SC_PHYS_PAGES) * page;
    return 0;
}

/* The allocator of the process keeps what it keeps. */
static int host_memory_kept(Device *device, DeviceKept *kept) {
    (void)device;
    *kept = (DeviceKept){0};
    return 0;
}

static int host_profile(Device *device, bool start) {
    (void)device, (void)start;
    return 0;
}

Device host_device_new(void) {
    static const DeviceOps ops = {
        .explain = host_explain,
        .allocate = host_allocate,
        .gather = nothing,
        .release = host_release,
        .copy = host_copy,
        .copy_between = host_copy_between,
        .reach = host_reach,
        .order_between = host_order_between,
        .pin = host_pin,
        .unpin = host_unpin,
        .lock = host_lock,
        .unlock = host_unlock,
        .home = host_home,
        .share_allocate = host_share_allocate,
        .share_release = host_share_release,
        .share_name = host_share_name,
        .share_open = host_share_open,
        .share_close = host_share_close,
        .synchronise = nothing_on,
        .synchronise_all = nothing,
        .stream_open = host_stream_open,
        .stream_close = nothing_on,
        .stream_done = host_done,
        .stream_order = nothing_between,
        .stream_call = host_stream_call,
        .stream_notify = host_stream_notify,
        .event_open = host_event_open,
        .event_close = host_event_close,
        .event_record = host_event_record,
        .event_done = host_done,
        .event_synchronise = nothing_on,
        .event_hold = nothing_between,
        .event_elapsed = host_event_elapsed,
        .graph_begin = host_graph_begin,
        .graph_end = host_graph_end,
        .graph_block = host_graph_block,
        .graph_block_end = host_graph_block_end,
        .graph_run = host_graph_run,
        .graph_close = nothing_on,
        .kernel_load = host_kernel_load,
        .kernel_free = host_kernel_free,
        .kernel_fact = host_kernel_fact,
        .kernel_allow_shared = host_kernel_allow_shared,
        .best_block = host_best_block,
        .blocks_at_once = host_blocks_at_once,
        .launch = host_launch,
        .enter = nothing,
        .reset = host_reset,
        .look = host_look,
        .attribute = host_attribute,
        .name = host_name,
        .uuid = host_uuid,
        .memory = host_memory,
        .memory_kept = host_memory_kept,
        .profile = host_profile,
    };
    return (Device){.ops = &ops,
                    .what = "the host device",
                    .compute_capability = CAPABILITY,
                    .max_block_shared = MAX_BLOCK_SHARED,
                    .shares_memory = true,
                    .finishes = true};
}
