/* device.h: what a device is: memory, copies, streams, events, kernels and their launches, facts.  A GPU (cuda/gpu.c,
 * cuda/kernel.c) and the host device (host/device.c, host/kernel.c) fill it; whoever holds one asks it, and not which
 * it is.
 *
 * Every function returns a status: 0, or a number that `explain` turns into text.  None needs Python, and each may be
 * called without the GIL; one that waits is: the device may wait for a function of the host that needs Python.  Work
 * given to a stream is in its order; a stream of NULL is the default stream. */
#ifndef KRAIT_RUNTIME_DEVICE_H
#define KRAIT_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Device Device;

/* What is put off until the device is idle (cuda/idle.c): part of what it is about. */
typedef struct DeviceLater {
    struct DeviceLater *next;
    void (*action)(struct DeviceLater *later, bool idle); /* idle: false, the device has failed */
} DeviceLater;

typedef enum DeviceCopy { COPY_IN, COPY_OUT, COPY_WITHIN } DeviceCopy; /* from the host, to the host, neither */
/* No memory for what a call needs beside the device; no memory of the device, be that the host's; anything else. */
typedef enum DeviceFailure { FAILED_HOST_MEMORY, FAILED_DEVICE_MEMORY, FAILED_OTHERWISE } DeviceFailure;

/* Page-locked; page-locked and reached by kernels; moved between host and device by the driver. */
typedef enum DevicePinned {
    PINNED_COPY,
    PINNED_COMBINED,
    PINNED_MAPPED,
    PINNED_MANAGED,
    PINNED_MANAGED_HOST
} DevicePinned;

/* ---- kernels ---- */

/* What the threads of a kernel left for the host. */
typedef struct KernelNotes {
    bool raised;
    int32_t status, block[3], thread[3]; /* of the first thread that raised */
    const char *arguments;               /* of its exception */
    size_t argument_bytes;
    const char *printed; /* PrintHeads (ir/ir_abi.def), and the values behind each */
    size_t printed_bytes;
    bool lost; /* there was no room for more */
} KernelNotes;

/* With the GIL: prints and raises it.  -1: exception set. */
typedef int KernelNotesReader(void *owner, const KernelNotes *notes);

/* Machine code as a GPU's driver makes it of PTX. */
typedef struct DeviceBinary {
    void *bytes;
    size_t size;
} DeviceBinary;

/* In the PTX of a kernel: a line with machine code that it is to be linked with (krait/cuda/_linking.py), whose kind
 * as cuLinkAddData numbers them and whose bytes in base64 follow, then a semicolon. */
#define LINKED_CODE  "//krait.link "
/* A line with the number of linked code that calls functions of Python when a GPU has loaded the kernel, and before it
 * goes. */
#define LINKED_CALLS "//krait.calls "

/* Compiled code, in the form that a device takes. */
typedef struct DeviceCode {
    const char *ptx, *entry;     /* of a GPU: its text, and the kernel's name there */
    DeviceBinary binary;         /* what was made of the text before; used if the device takes it */
    bool binary_alone;           /* the text is not for the device's own linker */
    DeviceBinary *made;          /* gets what has to be made now, as memory of malloc; NULL: nobody wants it */
    struct HostKernel *host;     /* of the host device: machine code (host.h) */
    int max_registers;           /* of a thread; 0: as many as it needs */
    bool has_carveout, barriers; /* barriers: some thread waits for others */
    bool watches_races;          /* its code tells of its accesses: krait_host_access */
    bool waits_for_grid, prints; /* blocks wait for each other: all run at once, and in no two launches; it prints */
    KernelNotesReader *reader;   /* of what threads raise and print while nobody waits; NULL: they do not */
    void *owner;
    int carveout; /* percent of a multiprocessor's cache that is shared memory; -1: as the driver has it */
    size_t params_bytes, shared_bytes, exception_bytes;
} DeviceCode;

/* Code that a device has loaded. */
typedef struct DeviceKernel {
    Device *device;
    unsigned generation; /* of the device, when it was loaded: with another one it is gone */
    int static_shared;   /* bytes of a block */
    int dynamic_limit;   /* bytes that a launch may have beside them; more has to be asked for */
    bool in_turn;        /* its blocks wait for each other: one launch at a time, on whatever streams */
    void *called; /* of who loaded it: what linked code calls before it goes (decorators/loading.c); NULL: nothing */
} DeviceKernel;

typedef enum KernelFact { /* what a kernel needs, and what it is given */
                          KERNEL_MAX_THREADS,
                          KERNEL_SHARED_BYTES,
                          KERNEL_CONST_BYTES,
                          KERNEL_LOCAL_BYTES,
                          KERNEL_REGISTERS
} KernelFact;

typedef struct Dims { /* along x, y, z */
    unsigned x[3];
} Dims;

/* How a grid is launched, beside its size. */
typedef struct LaunchAttributes {
    bool cooperative;  /* all blocks at once: they may wait for each other */
    bool programmatic; /* may begin before the launch before it has ended */
    bool has_priority; /* of the blocks that wait; lower goes first */
    int priority;
    Dims cluster; /* blocks of a cluster; 0: no clusters */
} LaunchAttributes;

typedef struct LaunchConfig {
    Dims grid, block; /* each at least 1 */
    unsigned shared_bytes;
    void *stream;
    bool has_attributes;
    LaunchAttributes attributes;
} LaunchConfig;

/* Two accesses to the same memory that nothing puts in order, the earlier first. */
typedef struct RaceReport {
    int kinds[2]; /* RaceAccess */
    uint32_t sites[2];
    int64_t blocks[2];
    int32_t threads[2];
    bool shared; /* memory of a block */
} RaceReport;

/* What a device that sees its threads end found out.  `exception`: for the arguments of what the first thread raised,
 * DeviceCode.exception_bytes of it. */
typedef struct LaunchReport {
    size_t needed_bytes; /* of memory, as far as it is known: for a launch that there was none for */
    void *exception;
    int32_t status; /* 0, or 1 + RaiseSite of the first thread (in block and thread order) that raised */
    int64_t bad_block,
        bad_thread;         /* of the first access outside an array, or of the raising or stuck thread; -1: none */
    uint32_t bad_site;      /* access site of codegen_access_sites; UINT32_MAX: none */
    bool interrupted;       /* the check told it to stop: an exception is set already */
    bool stuck;             /* a thread missed a barrier: bad_site is the barrier's, bad_thread waits at it */
    uint32_t mask;          /* the barrier is one of these lanes of a warp; 0: of a block, or of the grid */
    int64_t missing_block;  /* of a barrier of the grid: a block that ended without it; -1: of a block */
    int64_t missing_thread; /* and waits for this one in vain, */
    uint32_t missing_site;  /* which waits at another barrier, or, if UINT32_MAX, ran to the end, */
    int64_t missing_more;   /* as so many others did */
    bool raced;
    bool unwatched; /* races were to be looked for, and the launch has too many threads or there is no memory for it */
    RaceReport race;
    char *printed; /* as in KernelNotes; the caller frees it.  NULL: nothing */
    size_t printed_bytes;
    bool lost;
} LaunchReport;

enum { DEVICE_NAME_BYTES = 64 }; /* of memory that other processes open */

/* Memory that arrays do not have: kept for the next one; of the driver's pool, in use and in all. */
typedef struct DeviceKept {
    size_t kept, pool_used, pool_bytes;
} DeviceKept;

enum { DEVICE_REPORTS = INT32_MAX }; /* of DeviceOps.launch: the report tells what happened */

/* ---- the functions ---- */

typedef void DeviceNotice(void *context, int status);

typedef struct DeviceOps {
    DeviceFailure (*explain)(Device *device, int status, char *text, size_t size);

    int (*allocate)(Device *device, void *stream, size_t bytes, void **memory); /* what there is at once */
    int (*gather)(Device *device); /* waits until what was given back can be allocated, whatever its size */
    /* Behind what the streams have been given so far; as many bytes as were allocated. */
    int (*release)(Device *device, void *memory, size_t bytes, void *const *streams, size_t count);
    int (*copy)(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from, size_t bytes);
    /* From another device of this kind, behind all that both have been given. */
    int (*copy_between)(Device *device, void *to, Device *other, const void *from, size_t bytes);
    /* Whether kernels of the device reach memory of the other; with enable, from now on. */
    int (*reach)(Device *device, Device *other, bool enable, bool *can);
    /* What `later` of the device is given from now on waits for what `earlier` of the other has been given. */
    int (*order_between)(Device *device, void *later, Device *other, void *earlier);
    /* Memory of the host that copies take fast; of the last kinds, kernels reach it where it lies. */
    int (*pin)(Device *device, DevicePinned kind, size_t bytes, void **memory);
    int (*unpin)(Device *device, DevicePinned kind, void *memory);
    int (*lock)(Device *device, void *memory, size_t bytes); /* the same for memory that is there */
    int (*unlock)(Device *device, void *memory);
    int (*home)(Device *device, const void *memory, int *ordinal); /* of which device it is; -1: of none */
    /* Memory that other processes open by a name; its owner releases it, they close it.  The name is of the allocation
     * that the memory is part of, from whose beginning it is `offset` bytes away; share_open tells how many
     * bytes there are. */
    int (*share_allocate)(Device *device, size_t bytes, void **memory);
    int (*share_release)(Device *device, void *memory);
    int (*share_name)(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset);
    int (*share_open)(Device *device, const unsigned char name[DEVICE_NAME_BYTES], void **memory, size_t *bytes);
    int (*share_close)(Device *device, void *memory);

    int (*synchronise)(Device *device, void *stream);
    int (*synchronise_all)(Device *device); /* beside recordings: for the default stream, which waits for others */
    int (*stream_open)(Device *device, int priority, void **stream); /* a lower number goes first */
    int (*stream_close)(Device *device, void *stream);
    int (*stream_done)(Device *device, void *stream, bool *done);
    /* What is queued on `later` from now on waits for what `earlier` has been given. */
    int (*stream_order)(Device *device, void *later, void *earlier);
    /* Calls a function of the host when the stream has got there, on a thread of the device's own. */
    int (*stream_call)(Device *device, void *stream, void (*function)(void *context), void *context);
    /* The same, once, also where the work before it has failed: the status says so.  Not in a graph. */
    int (*stream_notify)(Device *device, void *stream, DeviceNotice *notice, void *context);

    int (*event_open)(Device *device, bool timing, void **event);
    int (*event_close)(Device *device, void *event);
    int (*event_record)(Device *device, void *event, void *stream);
    int (*event_done)(Device *device, void *event, bool *done);
    int (*event_synchronise)(Device *device, void *event);
    int (*event_hold)(Device *device, void *event, void *stream); /* the stream goes on only after the event */
    int (*event_elapsed)(Device *device, void *first, void *second, double *milliseconds);

    /* Work that is recorded: what the stream is given until the end; its last step; the end, which makes a graph of it
     * (made NULL: drops it). */
    int (*graph_begin)(Device *device, void **stream); /* counted among `recordings` already; may wait */
    int (*graph_last)(Device *device, void *stream, void **node);
    int (*graph_end)(Device *device, void *stream, void **made);
    /* A part that is done if a word is not zero when the graph gets there; with `loops`, again as long as it is not.
     * What `inner` is given until the end is that part.  At the end the same word is named. */
    int (*graph_block)(Device *device, void *stream, bool loops, const void *word, size_t bytes, void **inner);
    int (*graph_block_end)(Device *device, void *inner, bool loops, const void *word, size_t bytes);
    int (*graph_run)(Device *device, void *graph, void *stream, DeviceKernel *const *in_turn, size_t count);
    int (*graph_close)(Device *device, void *graph);

    /* With the GIL or without.  The log is text of what takes the code, or empty. */
    int (*kernel_load)(Device *device, const DeviceCode *code, char *log, size_t log_bytes, DeviceKernel **kernel);
    void (*kernel_free)(DeviceKernel *kernel);
    int (*kernel_fact)(DeviceKernel *kernel, KernelFact fact, int *value);
    int (*kernel_allow_shared)(DeviceKernel *kernel, unsigned bytes); /* dynamic_limit; below max_block_shared in all */
    int (*best_block)(DeviceKernel *kernel, size_t shared_bytes, int *threads);
    /* Of a multiprocessor. */
    int (*blocks_at_once)(DeviceKernel *kernel, int threads, size_t shared_bytes, int *blocks);
    /* The parameters are of the layout that the code was compiled for (ir/repr.h), and the caller's.  DEVICE_REPORTS,
     * and the report is filled; of it the caller sets `exception`.  NULL will do where launches do not finish. */
    int (*launch)(DeviceKernel *kernel, const LaunchConfig *config, const void *params, LaunchReport *report);

    /* With the GIL, after a wait: hands what kernels left to their readers.  -1: exception set. */
    int (*look)(Device *device);

    int (*enter)(Device *device);                             /* makes it the calling thread's */
    int (*reset)(Device *device);                             /* all that lies on it is gone */
    int (*attribute)(Device *device, int number, int *value); /* CUdevice_attribute */
    int (*name)(Device *device, char *text, size_t size);
    int (*uuid)(Device *device, unsigned char bytes[16]);
    int (*memory)(Device *device, size_t *free_bytes, size_t *total);
    int (*memory_kept)(Device *device, DeviceKept *kept);
    int (*profile)(Device *device, bool start);
} DeviceOps;

struct Device {
    const DeviceOps *ops;
    const char *what;       /* "the GPU", "the host device": for messages */
    int ordinal;            /* as select_device counts */
    int compute_capability; /* 90; of the host device, that of the features its kernels may use */
    int ptx_target;         /* compute capability that its code is compiled for; 0: it runs machine code of the host */
    int ptx_version;        /* 90 for 9.0: the newest it takes */
    int max_block_shared;   /* bytes */
    bool shares_memory;     /* with this process: its addresses are those of the process */
    bool finishes;          /* a launch is over when it returns, which may take long */
    bool frees_late;        /* memory is given back when all that the device was given is done */
    const void *begun;      /* the Cuda whose kernels run on it, once they do; NULL: it was not begun since its reset */
    uint64_t reaches;       /* a bit for each device whose memory its kernels have been let reach, by ordinal */
    unsigned generation;    /* counts resets: what belongs to an earlier one is gone */
    unsigned locked;        /* arrays of the host that lie in memory of its context, or whose pages it has locked */
    unsigned busy;          /* calls that use memory of its arrays and may run without the GIL */
    _Atomic int callbacks;  /* streams have been given so many that want the GIL and are not over */
    _Atomic int recordings; /* threads that record a graph of its work */
    int64_t arrays, array_bytes, most_bytes; /* device arrays that own their memory: now, now, ever (with the GIL) */
    int deferring;                           /* blocks whose frees must not wait: cuda.defer_cleanup() (with the GIL) */
    int dropped;                             /* of these, whose graph nobody has any more (with the GIL) */
    DeviceLater *later, **later_end;         /* until none does; NULL: nothing (with the GIL) */
};

static inline uint64_t device_bit(const Device *device) {
    return device->ordinal < 64 ? UINT64_C(1) << device->ordinal : 0;
}
/* Whether its kernels have been let reach memory of the other. */
static inline bool device_reaches(const Device *device, const Device *other) {
    return (device->reaches & device_bit(other)) != 0;
}

/* Whether what it is given may take long: on a device that finishes it at once, or behind a callback that needs the
 * GIL, once the driver's queue is full.  The GIL is let go of then. */
static inline bool device_lingers(const Device *device) { return device->finishes || device->callbacks > 0; }

#endif
