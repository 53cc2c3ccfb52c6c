/* cuda.h: the CUDA driver behind dlopen, memory and launches on a GPU, and the Python types of devices: arrays,
 * streams, events.
 *
 * libcuda.so.1 is opened at first use (cu_api.def lists its symbols); its absence is an answer, not an error.  CUDA
 * state hangs on a Cuda object per module state and a context object per device. */
#ifndef KRAIT_RUNTIME_CUDA_H
#define KRAIT_RUNTIME_CUDA_H

#include "runtime/marshal/marshal.h" /* Marshal, DeviceArray */

typedef struct Cuda Cuda;       /* the driver library and its devices */
typedef struct Foreign Foreign; /* how a class of another library gives its arrays (device_memory.h) */

/* Opens libcuda.so.1.  Never fails: cuda_why_not() is NULL when there is a usable GPU, else a sentence for people. */
typedef void CudaBegins(int compute_capability, int ptx_version); /* called before a GPU's first context is made */
Cuda *cuda_new(CudaBegins *begins);
void cuda_free(Cuda *cuda);
const char *cuda_why_not(Cuda *cuda);
int cuda_device_count(Cuda *cuda);
int cuda_driver_version(Cuda *cuda);  /* 13000 for 13.0 */
int cuda_max_ptx_version(Cuda *cuda); /* 90 for 9.0: the newest PTX the driver accepts */

/* Whether kernels reach this range of the host's memory where it lies (mapped and managed arrays). */
bool cuda_reaches(const Cuda *cuda, int64_t low, int64_t high);

/* Where kernels run: KRAIT_CUDA_DEVICE=auto|gpu|cpu, read once.  1: on a GPU; 0: on the host device; -1: a GPU was
 * asked for and there is none (exception set).  cuda_choice_reason is the sentence that `krait info` and cuda.detect()
 * show. */
int cuda_use_gpu(Cuda *cuda);
const char *cuda_choice_reason(Cuda *cuda);

/* ---- devices as Python sees them ----
 *
 * What their `ops` do, with exceptions, and without the GIL where it takes long. */

/* The device that the calling thread's arrays and kernels belong to: a GPU (the first unless the thread selected
 * another, whose primary context is retained at first use), or the host device.  NULL: exception set. */
Device *runtime_device(struct Runtime *runtime);
/* The same where it is a GPU that was asked for before, without a call; NULL: runtime_device tells. */
#define QUICK_TLS __attribute__((tls_model("initial-exec"))) /* read at every launch */
extern _Thread_local struct CudaContext *thread_selected QUICK_TLS;
static inline Device *runtime_device_at_hand(const Cuda *cuda) {
    Device *device = (Device *)thread_selected; /* first in the context */
    return device && device->begun == cuda ? device : NULL;
}
int runtime_device_count(struct Runtime *runtime);
/* The device on which the device arrays among the objects lie (NULL is none); the thread's if none is one.  NULL:
 * exception set, they lie on several. */
Device *runtime_home(struct Runtime *runtime, PyObject *const *objects, Py_ssize_t count);
/* The same for a launch on a stream (an object; NULL: the default one): if they lie on several, the stream's device or
 * the thread's, if its kernels have been let reach the memory of the others. */
Device *runtime_launch_home(struct Runtime *runtime, PyObject *stream, PyObject *const *objects, Py_ssize_t count);
/* The device that was the thread's, and the context that was current, are so again at the matching context_pop; -1:
 * exception set, nested too deeply. */
int context_push(Device *device);
void context_pop(void);

/* NULL, with the exception for what needs a GPU where there is none. */
void *cuda_refuse(const char *format, ...);
/* -1 with the exception for a device's failure; one that is set stays.  device_check: 0 for status 0. */
int device_raise(Device *device, int status, const char *what);
static inline int device_check(Device *device, int status, const char *what) {
    return KRAIT_UNLIKELY(status != 0) ? device_raise(device, status, what) : 0;
}
/* Lets go of the GIL when memory is short, and waits; so does device_give_back where that waits, with a status. */
int device_allocate(Device *device, void *stream, size_t bytes, void **memory);
int device_give_back(Device *device, void *memory, size_t bytes, void *const *streams, size_t count);
/* memory_manager.c, where runtime_has_manager: memory of another library.  What keeps it; NULL without an exception:
 * the manager has no such memory, or none is needed.  manager_order: the stream may use it from here on.  To give it
 * back, behind what the streams have been given, takes the reference. */
typedef enum ManagerMemory { /* of the device; then as DevicePinned */
                             MANAGER_DEVICE,
                             MANAGER_PINNED,
                             MANAGER_COMBINED,
                             MANAGER_MAPPED,
                             MANAGER_MANAGED,
                             MANAGER_MANAGED_HOST
} ManagerMemory;
bool runtime_has_manager(const struct Runtime *runtime);
PyObject *manager_memory(struct Runtime *runtime, Device *device, ManagerMemory kind, int64_t bytes, void **memory);
int manager_order(Device *device, void *stream);
void manager_give_back(Device *device, PyObject *keeper, void *const *streams, size_t count);
/* After a wait: as device_check; then prints and raises what kernels left. */
int device_waited(Device *device, int status, const char *what);
/* device_copy looks, too, when it has waited; device_copy_only does not. */
int device_copy_only(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from,
                     size_t bytes);
int device_copy(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from, size_t bytes);
int device_synchronise(Device *device, void *stream);
/* The code on the device; what the device says against it goes into the exception.  NULL: exception set. */
/* How many blocks run at once on all multiprocessors; of a launch whose blocks wait for each other, that they do. */
int64_t device_blocks_at_once(DeviceKernel *kernel, int64_t threads, size_t shared_bytes);
int device_check_together(DeviceKernel *kernel, const LaunchConfig *config);
DeviceKernel *device_load(Device *device, const DeviceCode *code);
static inline bool device_kernel_gone(const DeviceKernel *kernel) {
    return kernel->generation != kernel->device->generation;
}
/* modules.c: what a GPU's driver has loaded for it, as krait/cuda/_modules.py takes it; it lives as long as the kernel.
 * NULL: exception set. */
PyObject *module_of_kernel(const DeviceKernel *kernel);
/* Asks for more dynamic shared memory than dynamic_limit.  -1: exception set. */
int device_allow_shared(DeviceKernel *kernel, unsigned bytes);

/* ---- Python types of this folder: DeviceArray, Stream, Event, Device ---- */

/* What the thread gives to its device is recorded in a graph (graph.c); NULL: it is done. */
typedef struct Capture Capture;
extern _Thread_local Capture *runtime_capture __attribute__((tls_model("initial-exec")));

/* Whether the thread is in such a block: asked where a call of the user begins, as this ends a recording whose graph
 * was dropped without leaving its block. */
bool graph_still_records(void);
static inline bool graph_recording(void) { return KRAIT_UNLIKELY(runtime_capture != NULL) && graph_still_records(); }

/* In such a block: keeps an object as long as the graph; a launch of a kernel is recorded with what was kept since the
 * mark.  -1: exception set. */
int graph_keep(PyObject *object);
int graph_keep_array(DeviceArray *array);
/* Code that is recorded: its holder is let go of with the graph, or now if it is not kept.  kernel: NULL, or where
 * launches of it may have to take turns. */
int graph_keep_code(DeviceKernel *kernel, void *holder, void (*let_go)(void *holder));
/* Whether it is the device whose work the block records, if the thread is in one.  -1: exception set. */
int graph_check(const Device *device);
Py_ssize_t graph_mark(void);
int graph_add_launch(PyObject *launcher, PyObject *const *arguments, Py_ssize_t count, Py_ssize_t mark);
int graph_add_call(PyObject *callable, PyObject *const *arguments, Py_ssize_t count); /* on the host device */

/* Notes that work on the array's memory is about to be queued on a stream; before the work is.  -1: exception set. */
int device_array_used_elsewhere(DeviceArray *owner, void *stream, PyObject *keeper);
int device_array_gone(void); /* -1: exception set */
/* The array itself, or the one it is a view of. */
static inline DeviceArray *device_array_owner(const DeviceArray *self) {
    bool view = self->base && Py_TYPE(self->base) == Py_TYPE(self);
    return view ? (DeviceArray *)self->base : (DeviceArray *)self;
}
static inline int device_array_check_there(const DeviceArray *self) {
    return KRAIT_UNLIKELY(self->generation != self->device->generation) ? device_array_gone() : 0;
}
/* From one to the other the memory stays where it is, whatever other threads do without the GIL. */
static inline void device_array_hold(DeviceArray *array) {
    device_array_owner(array)->busy++;
    array->device->busy++;
}
static inline void device_array_let_go(DeviceArray *array) {
    device_array_owner(array)->busy--;
    array->device->busy--;
}
/* The same where it is known that the memory is there, and that the thread records no graph. */
static inline int device_array_used_now(DeviceArray *array, void *stream, PyObject *keeper) {
    DeviceArray *owner = array;
    if (array->base) {
        if (Py_TYPE(array->base) != Py_TYPE(array)) return 0; /* memory of others */
        owner = (DeviceArray *)array->base;
    }
    if (KRAIT_UNLIKELY(owner->uses[0].stream != stream)) return device_array_used_elsewhere(owner, stream, keeper);
    return 0;
}
static inline int device_array_used(DeviceArray *array, void *stream, PyObject *keeper) {
    if (KRAIT_UNLIKELY(array->generation != array->device->generation)) return device_array_gone();
    if (KRAIT_UNLIKELY(runtime_capture != NULL)) return graph_keep_array(array);
    return device_array_used_now(array, stream, keeper);
}

/* Before a launch on another device that reaches the array's memory its stream is put behind the array's, after it the
 * array's behind that.  -1: exception set. */
int device_array_visited(DeviceArray *array, Device *device, void *stream, bool after);

/* A device array on the memory of an array of another library, whose work the stream is put behind; Py_None: it is
 * none.  NULL: exception set. */
PyObject *runtime_adopt(struct Runtime *runtime, PyObject *object, void *stream);
/* The same for a launch, which keeps the object, and lets nobody see the device array.  `known`: what is known of its
 * class, or NULL; `current`: the thread's device; `argument`: its number. */
PyObject *runtime_lend(struct Runtime *runtime, const Foreign *known, PyObject *object, Device *current, void *stream,
                       unsigned argument);
/* What is needed of an array of another library. */
typedef struct ArrayFields {
    Device *device;
    const Type *element;
    void *data;
    unsigned ndim;
    bool readonly;
    int64_t dims[2 * (TYPE_MAX_NDIM + 1)]; /* extents, then strides in bytes */
} ArrayFields;

typedef struct Producer { /* whose stream on which device a launch's stream has been put behind; NULL: nobody's yet */
    const void *producer;
    const Device *device;
} Producer;

/* The fields of those among the objects that are arrays of other libraries, in order, as long as nobody changes them;
 * the stream is put behind the producers'.  How many; -1: more than `most`, or one is not read so, or an exception is
 * set. */
int runtime_read_all(struct Runtime *runtime, PyObject *const *objects, Py_ssize_t count, Device *current, void *stream,
                     ArrayFields *fields, int most);
/* Of a class whose objects have been arrays, none of NumPy's; NULL: of none. */
const Foreign *runtime_known(const struct Runtime *runtime, const PyTypeObject *type);

/* The handle of a stream given to work of a device (NULL: of any, or not known yet): None and 0 are the default stream,
 * else a Stream, an int or an object with __cuda_stream__.  -1: exception set. */
int runtime_stream_handle(PyObject *stream, const Device *device, void **handle);
/* The device of a Stream that was made; NULL: it is that of another library, or of any device. */
Device *runtime_stream_device(PyObject *stream);
/* Whether a Stream is of this device, and made since its last reset; of the streams of others nothing is known.  -1:
 * exception set. */
int runtime_stream_check(PyObject *stream, const Device *device);

/* Also adds the functions behind the names of krait.cuda that this folder serves: to_device device_array
 * device_array_like pinned_array stream event synchronize select_device get_current_device list_devices current_context
 * ...; sets marshal->device_array. */
int runtime_add_types(PyObject *module, Marshal *marshal, Cuda *cuda);
void runtime_free(struct Runtime *runtime); /* NULL: nothing */

#endif
