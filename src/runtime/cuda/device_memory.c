/* device_memory.c: memory of a device and copies to and from it as Python sees them, and which device is used.
 *
 * The work is done by the functions of a Device (runtime/device.h); here are their exceptions, and the GIL. */
#include "runtime/cuda/device_memory.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* getenv */
#include <string.h> /* strcmp */

#include "runtime/cuda/graph.h"

enum { SMALL_COPY = 1 << 16 }; /* bytes that take no longer than giving up the GIL */

/* ---- which device ---- */

typedef enum Choice { CHOICE_AUTO, CHOICE_GPU, CHOICE_HOST, CHOICE_UNKNOWN } Choice;

static Choice choice(void) {
    const char *text = getenv("KRAIT_CUDA_DEVICE");
    if (!text || !*text || strcmp(text, "auto") == 0) return CHOICE_AUTO;
    if (strcmp(text, "gpu") == 0) return CHOICE_GPU;
    return strcmp(text, "cpu") == 0 ? CHOICE_HOST : CHOICE_UNKNOWN;
}

/* Nobody should have to find out by the time it takes that a GPU is not used.  -1: warnings are errors. */
static int warn_of_failure(Cuda *cuda) {
    PyObject *errors = PyImport_ImportModule("krait.errors");
    PyObject *category = errors ? PyObject_GetAttrString(errors, "KraitWarning") : NULL;
    int status = category ? PyErr_WarnFormat(category, 1,
                                             "kernels run on this machine's cores, for %s (KRAIT_CUDA_DEVICE=gpu makes "
                                             "an error of this, =cpu asks for it)",
                                             cuda->why_not)
                          : -1;
    Py_XDECREF(category);
    Py_XDECREF(errors);
    return status;
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
    if (cuda->use_gpu == 0 && cuda->fails) {
        cuda->fails = false; /* it is said once */
        if (warn_of_failure(cuda) < 0) return -1;
    }
    if (cuda->use_gpu < 0) cuda_refuse("%s", cuda->reason);
    return cuda->use_gpu;
}

const char *cuda_choice_reason(Cuda *cuda) {
    decide(cuda);
    return cuda->reason;
}

Device *runtime_device(Runtime *runtime) {
    Cuda *cuda = runtime->cuda;
    int gpu = KRAIT_UNLIKELY(!cuda->decided || cuda->use_gpu < 0) ? cuda_use_gpu(cuda) : cuda->use_gpu;
    if (gpu <= 0) return gpu == 0 ? &runtime->host : NULL;
    CudaContext *context = cuda_current(cuda);
    if (!context) return NULL;
    context->device.begun = cuda;
    return &context->device;
}

/* Where they lie; on `meet`, if that reaches all, where they lie on several.  NULL: nowhere, or exception set. */
static Device *find_home(Runtime *runtime, Device *meet, PyObject *const *objects, Py_ssize_t count) {
    Device *home = NULL;
    bool several = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!objects[i] || !Py_IS_TYPE(objects[i], runtime->device_array)) continue;
        Device *device = ((DeviceArray *)objects[i])->device;
        if (((DeviceArray *)objects[i])->generation != device->generation) {
            device_array_gone();
            return NULL;
        }
        bool other = home && home != device, reached = meet && (meet == device || device_reaches(meet, device)) &&
                                                       (meet == home || !home || device_reaches(meet, home));
        if (other && !reached) {
            PyErr_Format(
                PyExc_ValueError, "the arrays of a call lie on different GPUs, %d and %d: copy them to one of them%s",
                home->ordinal, device->ordinal,
                meet ? ", or let its kernels reach the others (cuda.current_context().enable_peer_access)" : "");
            return NULL;
        }
        several |= other;
        home = device;
    }
    return several ? meet : home;
}

static Device *home_or_own(Runtime *runtime, Device *home) {
    if (!home) return PyErr_Occurred() ? NULL : runtime_device(runtime);
    return graph_check(home) < 0 ? NULL : home;
}

Device *runtime_home(Runtime *runtime, PyObject *const *objects, Py_ssize_t count) {
    return home_or_own(runtime, find_home(runtime, NULL, objects, count));
}

Device *runtime_launch_home(Runtime *runtime, PyObject *stream, PyObject *const *objects, Py_ssize_t count) {
    Device *meet = stream ? runtime_stream_device(stream) : NULL;
    if (!meet && !(meet = runtime_device(runtime))) return NULL;
    return home_or_own(runtime, find_home(runtime, meet, objects, count));
}

int runtime_device_count(Runtime *runtime) { return runtime->cuda->use_gpu > 0 ? cuda_device_count(runtime->cuda) : 1; }

/* What a driver is given of an earlier life of its device, or of another device, it may do anything with. */
int device_check_life(const Device *home, unsigned generation, const char *what) {
    if (generation == home->generation) return 0;
    PyErr_Format(PyExc_RuntimeError, "the %s is gone: its device was reset since it was made", what);
    return -1;
}

/* ---- exceptions ---- */

/* NULL: exception set. */
static PyObject *error_class(const char *name) {
    PyObject *module = PyImport_ImportModule("krait.errors");
    PyObject *class = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return class;
}

void *cuda_refuse(const char *format, ...) {
    va_list arguments;
    PyObject *class = error_class("CudaSupportError");
    if (!class) return NULL;
    va_start(arguments, format);
    PyErr_FormatV(class, format, arguments);
    va_end(arguments);
    Py_DECREF(class);
    return NULL;
}

/* Who has the memory, as far as it is known. */
static void tell_memory(Device *device, char *text, size_t size) {
    size_t free_bytes, total;
    int used = 0;
    if (device->ops->memory(device, &free_bytes, &total) == 0)
        used = snprintf(text, size, "; %zu of its %zu bytes are free", free_bytes, total);
    if (device->arrays > 0)
        snprintf(text + used, size - (size_t)used, "%s device arrays of this program have %lld", used ? "," : ";",
                 (long long)device->array_bytes);
}

int device_raise(Device *device, int status, const char *what) {
    enum { ERRNO = 16 };
    char text[256], memory[160] = "", advice[512];
    if (PyErr_Occurred()) return -1; /* the first error is what led to the others */
    DeviceFailure failure = device->ops->explain(device, status, text, sizeof text);
    if (failure == FAILED_HOST_MEMORY) {
        PyErr_Format(PyExc_MemoryError, "%s: %s", what, text);
        return -1;
    }
    int code = device->shares_memory ? status & ((1 << ERRNO) - 1) : status; /* host.h */
    if (failure == FAILED_DEVICE_MEMORY) tell_memory(device, memory, sizeof memory);
    cuda_advise(device->shares_memory ? NULL : ((CudaContext *)device)->cuda, code, advice, sizeof advice);
    PyObject *class = error_class(failure == FAILED_DEVICE_MEMORY ? "CudaMemoryError" : "CudaAPIError");
    PyObject *args = class ? Py_BuildValue("(iN)", code, PyUnicode_FromFormat("%s: %s%s%s", what, text, memory, advice))
                           : NULL;
    if (args) PyErr_SetObject(class, args);
    Py_XDECREF(args);
    Py_XDECREF(class);
    return -1;
}

int device_waited(Device *device, int status, const char *what) {
    return device_check(device, status, what) < 0 ? -1 : device->ops->look(device);
}

/* ---- memory ---- */

static bool is_short(Device *device, int status) {
    char text[8];
    return status != 0 && device->ops->explain(device, status, text, sizeof text) == FAILED_DEVICE_MEMORY;
}

static int allocate(Device *device, void *stream, size_t bytes, void **memory) {
    int status;
    GIVE(device, status, device->ops->allocate(device, stream, bytes, memory));
    return status;
}

static int allocate_again(Device *device, void *stream, size_t bytes, void **memory) {
    Py_BEGIN_ALLOW_THREADS device->ops->gather(device); /* what fails there fails the allocation, too */
    Py_END_ALLOW_THREADS return allocate(device, stream, bytes, memory);
}

/* Arrays that only the garbage collector can free may be what takes the room. */
int device_allocate(Device *device, void *stream, size_t bytes, void **memory) {
    int status = allocate(device, stream, bytes, memory);
    if (KRAIT_UNLIKELY(is_short(device, status))) {
        device_now(device);
        status = allocate_again(device, stream, bytes, memory);
        if (is_short(device, status) && PyGC_Collect() > 0) status = allocate_again(device, stream, bytes, memory);
    }
    if (status == 0) return 0;
    char what[80];
    snprintf(what, sizeof what, "allocating %zu bytes on %s", bytes, device->what);
    return device_raise(device, status, what);
}

int device_give_back(Device *device, void *memory, size_t bytes, void *const *streams, size_t count) {
    int status;
    if (!device->frees_late && device->callbacks == 0)
        return device->ops->release(device, memory, bytes, streams, count);
    Py_BEGIN_ALLOW_THREADS status = device->ops->release(device, memory, bytes, streams, count);
    Py_END_ALLOW_THREADS return status;
}

/* At interpreter exit too, when a driver may be shutting down.  A stream that is no longer there has nothing to wait
 * for but what all wait for. */
void device_release(Device *device, void *memory, size_t bytes, void *const *streams, size_t count) {
    if (device_give_back(device, memory, bytes, streams, count) == 0) return;
    Py_BEGIN_ALLOW_THREADS if (device->ops->synchronise_all(device) == 0)
        device->ops->release(device, memory, bytes, NULL, 0);
    Py_END_ALLOW_THREADS
}

int device_pin(Device *device, DevicePinned kind, size_t bytes, void **memory) {
    int status;
    Py_BEGIN_ALLOW_THREADS status = device->ops->pin(device, kind, bytes, memory);
    Py_END_ALLOW_THREADS if (status == 0) return 0;
    char what[80];
    snprintf(what, sizeof what, "allocating %zu bytes of page-locked memory", bytes);
    return device_raise(device, status, what);
}

int device_copy_only(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from,
                     size_t bytes) {
    static const char *const verbs[] = {
        [COPY_IN] = "copying to", [COPY_OUT] = "copying from", [COPY_WITHIN] = "copying on"};
    int status;
    if (KRAIT_UNLIKELY(runtime_capture != NULL)) return graph_copy(device, kind, wait, to, from, bytes);
    bool waits = wait && (stream || kind != COPY_OUT); /* a small copy out looks for others while it waits (wait.c) */
    if (bytes <= SMALL_COPY && !waits && device->callbacks == 0) {
        status = device->ops->copy(device, kind, stream, wait, to, from, bytes);
    } else {
        Py_BEGIN_ALLOW_THREADS status = device->ops->copy(device, kind, stream, wait, to, from, bytes);
        Py_END_ALLOW_THREADS
    }
    if (status == 0) return 0;
    char what[64];
    snprintf(what, sizeof what, "%s %s", verbs[kind], device->what);
    return device_raise(device, status, what);
}

int device_copy(Device *device, DeviceCopy kind, void *stream, bool wait, void *to, const void *from, size_t bytes) {
    if (device_copy_only(device, kind, stream, wait, to, from, bytes) < 0) return -1;
    return wait && kind == COPY_OUT ? device_waited(device, 0, "") : 0;
}

int device_synchronise(Device *device, void *stream) {
    int status;
    Py_BEGIN_ALLOW_THREADS status = device->ops->synchronise(device, stream);
    Py_END_ALLOW_THREADS return device_waited(device, status, "waiting for the GPU");
}

/* ---- kernels ---- */

DeviceKernel *device_load(Device *device, const DeviceCode *code) {
    enum { LOG_BYTES = 8192 };
    char log[LOG_BYTES], what[LOG_BYTES + 64];
    DeviceKernel *kernel = NULL;
    int status;
    log[0] = 0;
    Py_BEGIN_ALLOW_THREADS status = device->ops->kernel_load(device, code, log, sizeof log, &kernel);
    Py_END_ALLOW_THREADS if (status == 0) return kernel;
    log[LOG_BYTES - 1] = 0;
    snprintf(what, sizeof what, "%s did not accept the kernel%s%s", device->what, log[0] ? ": " : "", log);
    device_raise(device, status, what);
    return NULL;
}

int device_allow_shared(DeviceKernel *kernel, unsigned bytes) {
    Device *device = kernel->device;
    if ((int64_t)bytes + kernel->static_shared <= device->max_block_shared)
        return device_check(device, device->ops->kernel_allow_shared(kernel, bytes), "asking for more shared memory");
    PyErr_Format(PyExc_ValueError,
                 "a block of this kernel would need %u bytes of dynamic and %d of static shared memory: %s has %d a "
                 "block",
                 bytes, kernel->static_shared, device->what, device->max_block_shared);
    return -1;
}

int64_t device_blocks_at_once(DeviceKernel *kernel, int64_t threads, size_t shared_bytes) {
    enum { MULTIPROCESSORS = 16 }; /* CUdevice_attribute */
    Device *device = kernel->device;
    int each = 0, multiprocessors = 0;
    int status = device->ops->blocks_at_once(kernel, (int)threads, shared_bytes, &each);
    if (status == 0) status = device->ops->attribute(device, MULTIPROCESSORS, &multiprocessors);
    if (device_check(device, status, "asking how many blocks run at once") < 0) return -1;
    return (int64_t)each * multiprocessors;
}

int device_check_together(DeviceKernel *kernel, const LaunchConfig *config) {
    const unsigned *grid = config->grid.x, *block = config->block.x;
    int64_t threads = (int64_t)block[0] * block[1] * block[2], blocks = (int64_t)grid[0] * grid[1] * grid[2];
    int64_t most = device_blocks_at_once(kernel, threads, config->shared_bytes);
    if (most < 0 || blocks <= most) return most < 0 ? -1 : 0;
    PyErr_Format(
        PyExc_ValueError,
        "the blocks of this kernel wait for each other, and of the %lld blocks of %lld threads %s runs %lld at "
        "once: max_cooperative_grid_blocks tells how many",
        (long long)blocks, (long long)threads, kernel->device->what, (long long)most);
    return -1;
}
