/* cu_driver.h: inside the runtime: the driver's entry points, devices and contexts, and errors.
 *
 * There is no cuda.h: the little of the driver API that is used is declared here, from the CUDA Driver API manual. */
#ifndef KRAIT_RUNTIME_CUDA_CU_DRIVER_H
#define KRAIT_RUNTIME_CUDA_CU_DRIVER_H

#include "runtime/cuda/block_cache.h"
#include "runtime/cuda/cuda.h" /* Cuda */
#include "runtime/cuda/pageable.h"
#include "runtime/device.h" /* Device */

#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_load */
#include <sys/types.h> /* pid_t */

enum CudaError {                           /* CUresult, and what the driver has no number for */
                 CUDA_NO_HOST_MEMORY = -2, /* for what a call needs beside the driver */
                 CUDA_INTERRUPTED = -1,    /* the handler of a signal raised, the exception is set */
                 CUDA_OK = 0,
#define CU_ERROR(number, name, after, hint) CUDA_##name = number,
#include "runtime/cuda/cu_errors.def"
#undef CU_ERROR
};

enum CudaDeviceAttribute { /* CUdevice_attribute, those that Krait itself asks */
                           DEVICE_MAX_SHARED_PER_BLOCK = 8,
                           DEVICE_MULTIPROCESSORS = 16,
                           DEVICE_CAPABILITY_MAJOR = 75,
                           DEVICE_CAPABILITY_MINOR = 76,
                           DEVICE_MAX_SHARED_OPTIN = 97,
                           DEVICE_MEMORY_POOLS = 115,
};

typedef struct CudaAttribute { /* CUlaunchAttribute */
    int id, unused;
    union {
        int flag;
        unsigned dims[3];
        char room[64];
    };
} CudaAttribute;

typedef struct CudaLaunchConfig { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    CudaAttribute *attributes;
    unsigned count;
} CudaLaunchConfig;

typedef struct CudaKernelNode { /* CUDA_KERNEL_NODE_PARAMS */
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra;
    void *kernel, *context;
} CudaKernelNode;

typedef struct CudaPoolAccess { /* CUmemAccessDesc */
    int location, id;           /* location: 1, a device */
    int flags;                  /* 3: it may read and write */
} CudaPoolAccess;

typedef struct CudaIpcName { /* CUipcMemHandle */
    char bytes[DEVICE_NAME_BYTES];
} CudaIpcName;

typedef struct CudaConditionalNode { /* CUgraphNodeParams of a conditional node */
    int type, unused[3];
    uint64_t handle;
    int kind; /* 0: if, 1: while */
    unsigned count;
    void **bodies; /* filled */
    void *context;
    char room[200]; /* of the union; all zero */
    long long more;
} CudaConditionalNode;
_Static_assert(sizeof(CudaConditionalNode) == 256, "layout of CUgraphNodeParams");

typedef struct CuApi {
#define CU(name, symbol, parameters) int(*name) parameters;
#define CU_LATER                     CU
#include "runtime/cuda/cu_api.def"
#undef CU_LATER
#undef CU
} CuApi;

/* Of CuApi.LaunchKernel. */
typedef int CudaLaunch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **params,
                       void **extra);

struct CudaContext {
    Device device; /* first: a pointer to the one is a pointer to the other */
    Cuda *cuda;
    int number;              /* the driver's */
    void *handle;            /* the primary context; NULL until first use */
    bool pools;              /* cuMemAllocAsync works */
    bool several;            /* there are other GPUs, or there was a reset: the thread's note may be stale */
    pthread_mutex_t turns;   /* of what several calls of the driver do in one: of the event, of CudaKernel.together */
    void *event;             /* carries the place of one stream to another; NULL until first used */
    void *collector;         /* a stream that frees what several streams used; NULL until first used */
    _Atomic int streams;     /* open ones, beside the default stream */
    _Atomic int waits;       /* for all that the device was given, under way (wait.c) */
    _Atomic(void *) landing; /* page-locked memory for what is copied out; NULL: none yet, or in use */
    volatile int32_t *noted; /* locked memory: 1, a watched kernel left something (device_notes.c); NULL: no kernel */
    struct CudaKernel *watched;
    pthread_mutex_t watching; /* of that list */
    void *condition;          /* the kernel that reads the word of an if or while in a graph; NULL until first used */
    BlockCache kept;
    Bounce bounce;
};

struct Cuda {
    bool decided;          /* use_gpu and reason are set (cuda_use_gpu) */
    int use_gpu;           /* 1, 0, or -1: what was asked for is not there */
    CudaContext *contexts; /* one per device */
    CuApi api;
    void *library;
    bool opened;       /* asked for; why_not tells with what result */
    bool fails;        /* there is a driver, and something is wrong with it */
    char why_not[384]; /* empty: usable */
    int driver_version;
    int device_count;
    char reason[448];
    ByteRange *reached; /* of host memory that kernels reach where it lies: mapped and managed */
    size_t nreached;
    CudaBegins *begins; /* NULL: it was called */
    pid_t pid;          /* that initialised the driver: it does not survive fork */
};

/* Opens the library at first use; false: not usable (no exception set). */
bool cuda_open(Cuda *cuda);
/* cu_errors.c: "text (NAME)"; "; what can be done", or nothing: of a GPU's driver, or (cuda NULL) of the host
 * device. */
void cuda_explain(Cuda *cuda, int error, char *text, size_t size);
void cuda_advise(const Cuda *cuda, int error, char *text, size_t size);
const char *cuda_hint(int error);       /* its row's; "": none */
bool cuda_was_forked(const Cuda *cuda); /* by the process that initialised the driver: it is of no use here */
/* wait.c: until the stream, or the event, has got there; CUDA_INTERRUPTED. */
int gpu_wait_stream(CudaContext *context, void *stream);
int gpu_wait_event(CudaContext *context, void *event);
/* For all streams.  That would end what is recorded meanwhile: then for those that wait for the default stream. */
int gpu_wait_all(CudaContext *context);
/* Until nobody waits so. */
int gpu_wait_for_waits(CudaContext *context);
/* gpu.c: fills context->device, when the rest is known. */
void gpu_init(CudaContext *context, int ordinal, int compute_capability, int max_block_shared);
/* kernel.c: DeviceOps.kernel_... and launch of a GPU. */
int gpu_kernel_load(Device *device, const DeviceCode *code, char *log, size_t log_bytes, DeviceKernel **loaded);
void gpu_kernel_free(DeviceKernel *kernel);
int gpu_kernel_fact(DeviceKernel *kernel, KernelFact fact, int *value);
int gpu_kernel_allow_shared(DeviceKernel *kernel, unsigned bytes);
int gpu_best_block(DeviceKernel *kernel, size_t shared_bytes, int *threads);
int gpu_blocks_at_once(DeviceKernel *kernel, int threads, size_t shared_bytes, int *blocks);
int gpu_launch(DeviceKernel *kernel, const LaunchConfig *config, const void *params, LaunchReport *report);
/* A launch whose blocks wait for each other, with CudaContext.turns: the stream goes on behind the one before; what it
 * was given is the last. */
int gpu_turn_begin(const CuApi *api, DeviceKernel *kernel, void *stream);
int gpu_turn_end(const CuApi *api, DeviceKernel *kernel, void *stream);
/* gpu_share.c: DeviceOps.share_... of a GPU. */
int gpu_share_allocate(Device *device, size_t bytes, void **memory);
int gpu_share_release(Device *device, void *memory);
int gpu_share_name(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset);
int gpu_share_open(Device *device, const unsigned char name[DEVICE_NAME_BYTES], void **memory, size_t *bytes);
int gpu_share_close(Device *device, void *memory);
/* The calling thread's current device (0 unless it selected another); its primary context is retained at first use.
 * NULL: exception set. */
CudaContext *cuda_current(Cuda *cuda);
int cuda_select(Cuda *cuda, int device); /* -1: exception set */
/* The context that is current as far as Krait knows, and the device that the thread selected.  A thread's own state,
 * like errno. */
extern _Thread_local CudaContext *thread_context QUICK_TLS; /* and thread_selected (cuda.h) */
static inline bool context_is_noted(const CudaContext *context) { return thread_context == context; }
/* Makes it the calling thread's, of which the primary context is retained at first use. */
int context_select(Device *device);
/* Makes the context current until context_leave, after which is current what was; a thread that has none keeps its own.
 * A thread-local note makes the usual case one compare. */
typedef struct Visit {
    CudaContext *context; /* NULL: it was current, and stays so */
    void *current;
} Visit;
int context_visit(CudaContext *context, Visit *visit);
void context_leave_now(const Visit *visit);
static inline void context_leave(const Visit *visit) {
    if (KRAIT_UNLIKELY(visit->context != NULL)) context_leave_now(visit);
}
/* Everything on it is gone, for other libraries of the process too; at next use it is there anew. */
int context_reset(Device *device);
Device *cuda_device(Cuda *cuda, int ordinal);
int gpu_look(Device *device); /* device_notes.c: DeviceOps.look */
/* gpu_graph.c: gives a recorded launch other arguments. */
int gpu_graph_update(CudaContext *context, void *graph, void *node, const CudaKernelNode *launch);
/* What to do about an error that a stale thread-local note can explain: true if the context was made current anew and
 * the call may be tried again. */
bool context_recover(CudaContext *context, int error, Visit *visit);

/* Returns what the call gives, made with the context current; once more if the note of that was stale. */
#define ON_GPU(context, call)                                                                                \
    do {                                                                                                     \
        const CuApi *api = &(context)->cuda->api;                                                            \
        Visit visit_;                                                                                        \
        int error_ = context_visit(context, &visit_);                                                        \
        (void)api;                                                                                           \
        if (error_ == CUDA_OK) error_ = (call);                                                              \
        if (KRAIT_UNLIKELY(error_ != CUDA_OK) && context_recover(context, error_, &visit_)) error_ = (call); \
        context_leave(&visit_);                                                                              \
        return error_;                                                                                       \
    } while (0)

#endif
