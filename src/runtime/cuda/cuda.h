/* cuda.h: the CUDA driver behind dlopen, memory and launches on a GPU, and the Python types of devices: arrays,
 * streams, events.
 *
 * libcuda.so.1 is opened at first use (cu_api.def lists its symbols); its absence is an answer, not an error.  CUDA
 * state hangs on a Cuda object per module state and a context object per device. */
#ifndef KRAIT_RUNTIME_CUDA_H
#define KRAIT_RUNTIME_CUDA_H

#include "runtime/marshal/marshal.h" /* Marshal, DeviceArray */

typedef struct Cuda Cuda;               /* the driver library and its devices */
typedef struct CudaContext CudaContext; /* primary context of one device: pool, streams, loaded modules */
typedef struct CudaKernel CudaKernel;   /* one loaded entry in one context */

/* Opens libcuda.so.1.  Never fails: cuda_why_not() is NULL when there is a usable GPU, else a sentence for people. */
Cuda *cuda_new(void);
void cuda_free(Cuda *cuda);
const char *cuda_why_not(Cuda *cuda);
int cuda_device_count(Cuda *cuda);
int cuda_driver_version(Cuda *cuda);  /* 13000 for 13.0 */
int cuda_max_ptx_version(Cuda *cuda); /* 90 for 9.0: the newest PTX the driver accepts */

/* The calling thread's current device (0 unless it selected another); its primary context is retained at first use.
 * NULL: exception set. */
CudaContext *cuda_current(Cuda *cuda);
int cuda_select(Cuda *cuda, int device); /* -1: exception set */
CudaContext *cuda_context(Cuda *cuda, int device);
int context_device(const CudaContext *context);
Device *context_as_device(CudaContext *context);
int context_compute_capability(const CudaContext *context); /* 90 */

/* Loads PTX (the driver's own compiler runs: its log goes into the exception) and finds the entry. */
CudaKernel *cuda_kernel_load(CudaContext *context, const char *ptx, const char *entry_name, int max_registers);
void cuda_kernel_free(CudaKernel *kernel);
bool cuda_kernel_gone(const CudaKernel *kernel); /* its device was reset */
enum CudaFunctionAttribute {                     /* CUfunction_attribute */
                             FUNCTION_MAX_THREADS = 0,
                             FUNCTION_SHARED_BYTES = 1,
                             FUNCTION_CONST_BYTES = 2,
                             FUNCTION_LOCAL_BYTES = 3,
                             FUNCTION_REGISTERS = 4,
                             FUNCTION_MAX_DYNAMIC_SHARED = 8,
                             FUNCTION_CARVEOUT = 9,
};
int cuda_kernel_attribute(CudaKernel *kernel, int attribute); /* -1: exception set */
int cuda_kernel_set_carveout(CudaKernel *kernel,
                             int percent); /* of shared memory, -1 the driver's; -1: exception set */
int cuda_kernel_best_block(CudaKernel *kernel,
                           size_t shared_bytes); /* threads a block for the best occupancy; -1: exception set */
/* How a grid is launched, beside its size. */
typedef struct LaunchAttributes {
    bool cooperative;  /* all blocks at once: they may wait for each other */
    bool programmatic; /* may begin before the launch before it has ended */
    bool has_priority; /* of the blocks that wait; lower goes first */
    int priority;
    unsigned cluster[3]; /* blocks of a cluster; 0: no clusters */
} LaunchAttributes;

typedef struct CudaLaunch {
    unsigned grid[3], block[3];
    void *stream;
    unsigned shared_bytes;
    const LaunchAttributes *attributes; /* NULL: none */
    void *params;                       /* buffer of kernel_params */
    size_t params_bytes;
} CudaLaunch;

/* No GIL games, no allocation, no context query beyond one thread-local compare. */
int cuda_kernel_launch(CudaKernel *kernel, const CudaLaunch *launch);
int cuda_kernel_blocks(CudaKernel *kernel, unsigned threads,
                       size_t shared_bytes); /* of a multiprocessor at once; -1: exception set */

/* Whether kernels reach this range of the host's memory where it lies (mapped and managed arrays). */
bool cuda_reaches(const Cuda *cuda, int64_t low, int64_t high);

/* Where kernels run: KRAIT_CUDA_DEVICE=auto|gpu|cpu, read once.  1: on a GPU; 0: on the host device; -1: a GPU was
 * asked for and there is none (exception set).  cuda_choice_reason is the sentence that `krait info` and cuda.detect()
 * show. */
int cuda_use_gpu(Cuda *cuda);
const char *cuda_choice_reason(Cuda *cuda);

int cuda_stream_synchronise(CudaContext *context, void *stream); /* -1: exception set */

/* Memory of one launch, for host arrays given as arguments: allocated and freed in stream order.  -1: exception set. */
int cuda_stage_alloc(CudaContext *context, void *stream, size_t bytes, void **device);
int cuda_stage_in(CudaContext *context, void *stream, void *device, const void *host, size_t bytes);
int cuda_stage_out(CudaContext *context, void *stream, void *host, const void *device,
                   size_t bytes); /* returns when it has arrived */
int cuda_stage_free(CudaContext *context, void *stream, void *device, size_t bytes);

/* ---- Python types of this folder: DeviceArray, Stream, Event, Device ---- */

/* What the thread gives to its device is recorded in a graph (graph.c); NULL: it is done. */
typedef struct Capture Capture;
extern _Thread_local Capture *runtime_capture __attribute__((tls_model("initial-exec")));

/* In such a block: keeps an object as long as the graph; a launch of a kernel is recorded with what was kept since the
 * mark.  -1: exception set. */
int graph_keep(PyObject *object);
Py_ssize_t graph_mark(void);
int graph_add_launch(PyObject *launcher, PyObject *const *arguments, Py_ssize_t count, Py_ssize_t mark);
int graph_add_call(PyObject *callable, PyObject *const *arguments, Py_ssize_t count); /* on the host device */

/* Notes that work on the array's memory is about to be queued on a stream; before the work is.  -1: exception set. */
int device_array_used_elsewhere(DeviceArray *owner, void *stream, PyObject *keeper);
static inline int device_array_used(DeviceArray *array, void *stream, PyObject *keeper) {
    if (KRAIT_UNLIKELY(runtime_capture != NULL)) return graph_keep((PyObject *)array);
    DeviceArray *owner = array;
    if (array->base) {
        if (Py_TYPE(array->base) != Py_TYPE(array)) return 0; /* memory of others */
        owner = (DeviceArray *)array->base;
    }
    if (KRAIT_UNLIKELY(owner->uses[0].stream != stream)) return device_array_used_elsewhere(owner, stream, keeper);
    return 0;
}

/* The handle of a stream given to a launch: None and 0 are the default stream, else a Stream, an int or an object with
 * __cuda_stream__. -1: exception set. */
int runtime_stream_handle(const Marshal *marshal, PyObject *stream, void **handle);

/* Also adds the functions behind the names of krait.cuda that this folder serves: to_device device_array
 * device_array_like pinned_array stream event synchronize select_device get_current_device list_devices current_context
 * ...; sets marshal->device_array. */
int runtime_add_types(PyObject *module, Marshal *marshal, Cuda *cuda);
void runtime_free(struct Runtime *runtime); /* NULL: nothing */

#endif
