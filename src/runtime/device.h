/* device.h: what a device is: memory, copies, streams, events, facts.  A GPU (cuda/gpu.c) and the host device
 * (host/device.c) fill it; whoever holds one asks it, and not which it is.
 *
 * Every function returns a status: 0, or a number that `explain` turns into text.  None needs Python, and each may be
 * called without the GIL.  Work given to a stream is in its order; a stream of NULL is the default stream. */
#ifndef KRAIT_RUNTIME_DEVICE_H
#define KRAIT_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Device Device;

typedef enum DeviceCopy { COPY_IN, COPY_OUT, COPY_WITHIN } DeviceCopy; /* from the host, to the host, neither */
typedef enum DeviceFailure { FAILED_HOST_MEMORY, FAILED_DEVICE_MEMORY, FAILED_OTHERWISE } DeviceFailure;

/* Page-locked; page-locked and reached by kernels; moved between host and device by the driver. */
typedef enum DevicePinned {
    PINNED_COPY,
    PINNED_COMBINED,
    PINNED_MAPPED,
    PINNED_MANAGED,
    PINNED_MANAGED_HOST
} DevicePinned;

typedef struct DeviceOps {
    DeviceFailure (*explain)(Device *device, int status, char *text, size_t size);

    int (*allocate)(Device *device, void *stream, size_t bytes, void **memory);
    /* Behind what the streams have been given so far; as many bytes as were allocated. */
    int (*release)(Device *device, void *memory, size_t bytes, void *const *streams, size_t count);
    int (*copy)(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from, size_t bytes);
    /* From another device of this kind, behind all that both have been given. */
    int (*copy_between)(Device *device, void *to, Device *other, const void *from, size_t bytes);
    /* Whether kernels of the device reach memory of the other; with enable, from now on. */
    int (*reach)(Device *device, Device *other, bool enable, bool *can);
    /* Memory of the host that copies take fast; of the last kinds, kernels reach it where it lies. */
    int (*pin)(Device *device, DevicePinned kind, size_t bytes, void **memory);
    int (*unpin)(Device *device, DevicePinned kind, void *memory);
    int (*lock)(Device *device, void *memory, size_t bytes); /* the same for memory that is there */
    int (*unlock)(Device *device, void *memory);
    int (*home)(Device *device, const void *memory, int *ordinal); /* of which device it is; -1: of none */

    int (*synchronise)(Device *device, void *stream);
    int (*synchronise_all)(Device *device);
    int (*stream_open)(Device *device, int priority, void **stream); /* a lower number goes first */
    int (*stream_close)(Device *device, void *stream);
    int (*stream_done)(Device *device, void *stream, bool *done);
    /* What is queued on `later` from now on waits for what `earlier` has been given. */
    int (*stream_order)(Device *device, void *later, void *earlier);
    /* Calls a function of the host when the stream has got there, on a thread of the device's own. */
    int (*stream_call)(Device *device, void *stream, void (*function)(void *context), void *context);

    int (*event_open)(Device *device, bool timing, void **event);
    int (*event_close)(Device *device, void *event);
    int (*event_record)(Device *device, void *event, void *stream);
    int (*event_done)(Device *device, void *event, bool *done);
    int (*event_synchronise)(Device *device, void *event);
    int (*event_hold)(Device *device, void *event, void *stream); /* the stream goes on only after the event */
    int (*event_elapsed)(Device *device, void *first, void *second, double *milliseconds);

    /* Work that is recorded: what the stream is given until the end; its last step; the end, which makes a graph of it
     * (made NULL: drops it). */
    int (*graph_begin)(Device *device, void **stream);
    int (*graph_last)(Device *device, void *stream, void **node);
    int (*graph_end)(Device *device, void *stream, void **made);
    int (*graph_run)(Device *device, void *graph, void *stream);
    int (*graph_close)(Device *device, void *graph);

    int (*enter)(Device *device);                             /* makes it the calling thread's */
    int (*reset)(Device *device);                             /* all that lies on it is gone */
    int (*attribute)(Device *device, int number, int *value); /* CUdevice_attribute */
    int (*name)(Device *device, char *text, size_t size);
    int (*uuid)(Device *device, unsigned char bytes[16]);
    int (*memory)(Device *device, size_t *free_bytes, size_t *total);
    int (*profile)(Device *device, bool start);
} DeviceOps;

struct Device {
    const DeviceOps *ops;
    const char *what;       /* "the GPU", "the host device": for messages */
    int ordinal;            /* as select_device counts */
    int compute_capability; /* 90; of the host device, that of the features its kernels may use */
    bool shares_memory;     /* with this process: its addresses are those of the process */
    unsigned generation;    /* counts resets: what belongs to an earlier one is gone */
};

#endif
