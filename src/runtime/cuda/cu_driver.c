/* cu_driver.c: libcuda.so.1, or what KRAIT_CUDA_DRIVER names, by dlopen, devices, primary contexts, errors.
 *
 * In: nothing but the library's name.  Out: a Cuda that either has devices or says in one sentence why not.
 *
 * The library is opened when somebody first asks.  Only primary contexts are used, as PyTorch, CuPy and the CUDA
 * runtime do, so memory and streams can be shared with them.  What is current in a thread stays so: a
 * call that needs another context makes it current for as long (Visit).  Where there is one GPU, each thread remembers
 * that its context is; another library in the same thread may have changed that, which shows as an error of the next
 * call, and context_recover then sets it right: so the usual call pays one compare.  Where there are several, memory
 * would come from the wrong one without an error: the driver is asked, but for launches (kernel.c). */
#include "runtime/cuda/cu_driver.h"

#include <dlfcn.h>  /* dlopen, dlsym */
#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* calloc, getenv */
#include <string.h> /* memset */
#include <unistd.h> /* getpid */

_Thread_local CudaContext *thread_context QUICK_TLS;
_Thread_local CudaContext *thread_selected QUICK_TLS;

Cuda *cuda_new(CudaBegins *begins) {
    Cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda) return (Cuda *)PyErr_NoMemory();
    cuda->begins = begins;
    return cuda;
}

void cuda_free(Cuda *cuda) {
    if (!cuda) return;
    /* Primary contexts are left alone: other libraries may use them, and at exit the driver is being torn down already.
     */
    free(cuda->contexts);
    free(cuda->reached);
    free(cuda);
}

static bool load_symbols(Cuda *cuda) {
    static const struct {
        size_t offset;
        const char *symbol;
        bool later;
    } table[] = {
#define CU(name, symbol, parameters)       {offsetof(CuApi, name), symbol, false},
#define CU_LATER(name, symbol, parameters) {offsetof(CuApi, name), symbol, true},
#include "runtime/cuda/cu_api.def"
#undef CU_LATER
#undef CU
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        void *address = dlsym(cuda->library, table[i].symbol);
        if (!address && !table[i].later) {
            snprintf(cuda->why_not, sizeof cuda->why_not,
                     "the NVIDIA driver is too old: it has no %s (R525 or newer is needed)", table[i].symbol);
            return false;
        }
        memcpy((char *)&cuda->api + table[i].offset, &address, sizeof address);
    }
    return true;
}

static bool find_devices(Cuda *cuda) {
    int error = cuda->api.Init(0);
    if (error != CUDA_OK) {
        const char *text = NULL;
        cuda->api.GetErrorString(error, &text);
        snprintf(cuda->why_not, sizeof cuda->why_not, "the NVIDIA driver does not start: %s (error %d)%s%s",
                 text ? text : "it failed", error, *cuda_hint(error) ? "; " : "", cuda_hint(error));
        cuda->fails = error != CUDA_NO_DEVICE && error != CUDA_STUB_LIBRARY;
        return false;
    }
    cuda->api.DriverGetVersion(&cuda->driver_version);
    cuda->api.DeviceGetCount(&cuda->device_count);
    if (cuda->device_count <= 0) {
        snprintf(cuda->why_not, sizeof cuda->why_not, "the NVIDIA driver sees no GPU");
        return false;
    }
    cuda->contexts = calloc((size_t)cuda->device_count, sizeof *cuda->contexts);
    if (!cuda->contexts) {
        snprintf(cuda->why_not, sizeof cuda->why_not, "out of memory");
        return false;
    }
    for (int i = 0; i < cuda->device_count; i++) {
        CudaContext *context = &cuda->contexts[i];
        int major = 0, minor = 0, pools = 0, shared = 0;
        context->cuda = cuda;
        cuda->api.DeviceGet(&context->number, i);
        cuda->api.DeviceGetAttribute(&major, DEVICE_CAPABILITY_MAJOR, context->number);
        cuda->api.DeviceGetAttribute(&minor, DEVICE_CAPABILITY_MINOR, context->number);
        cuda->api.DeviceGetAttribute(&pools, DEVICE_MEMORY_POOLS, context->number);
        cuda->api.DeviceGetAttribute(&shared, DEVICE_MAX_SHARED_OPTIN, context->number);
        context->pools = pools != 0;
        context->several = cuda->device_count > 1;
        gpu_init(context, i, 10 * major + minor, shared);
    }
    return true;
}

bool cuda_open(Cuda *cuda) {
    if (cuda->opened) return cuda->why_not[0] == 0;
    cuda->opened = true;
    cuda->pid = getpid();
    const char *named = getenv("KRAIT_CUDA_DRIVER");
    if (named && !*named) named = NULL;
    cuda->library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda->library && named)
        snprintf(cuda->why_not, sizeof cuda->why_not, "KRAIT_CUDA_DRIVER names no driver: %s", dlerror());
    else if (!cuda->library)
        snprintf(cuda->why_not, sizeof cuda->why_not, "no NVIDIA driver is installed (libcuda.so.1 was not found)");
    if (!cuda->library) return false;
    return load_symbols(cuda) && find_devices(cuda);
}

const char *cuda_why_not(Cuda *cuda) { return cuda_open(cuda) ? NULL : cuda->why_not; }

int cuda_device_count(Cuda *cuda) { return cuda_open(cuda) ? cuda->device_count : 0; }

int cuda_driver_version(Cuda *cuda) { return cuda_open(cuda) ? cuda->driver_version : 0; }

/* "PTX ISA release notes" of the PTX manual: which CUDA release brought which PTX version. */
int cuda_max_ptx_version(Cuda *cuda) {
    int version = cuda_driver_version(cuda);
    int major = version / 1000, minor = version % 1000 / 10;
    if (major >= 13) return 90 + (major - 13) * 10 + minor;
    if (major == 12) return 80 + (minor > 5 ? minor - 1 : minor); /* 12.5 and 12.6 share 8.5 */
    return 70;
}

bool cuda_was_forked(const Cuda *cuda) { return cuda->pid != getpid(); }

/* ---- contexts ---- */

static int retain(CudaContext *context) {
    Cuda *cuda = context->cuda;
    if (context->handle) return CUDA_OK;
    if (cuda->begins) cuda->begins(context->device.ptx_target, context->device.ptx_version);
    cuda->begins = NULL;
    int error = cuda->api.DevicePrimaryCtxRetain(&context->handle, context->number);
    if (error != CUDA_OK) {
        context->handle = NULL;
        return error;
    }
    if (context->pools) { /* keep freed memory for the next allocation instead of giving it back at every
                             synchronisation */
        enum { POOL_RELEASE_THRESHOLD = 4 };
        void *pool = NULL;
        uint64_t keep = UINT64_MAX;
        if (cuda->api.DeviceGetDefaultMemPool(&pool, context->number) == CUDA_OK)
            cuda->api.MemPoolSetAttribute(pool, POOL_RELEASE_THRESHOLD, &keep);
    }
    return CUDA_OK;
}

static int make_current(CudaContext *context) {
    int error = retain(context);
    if (error == CUDA_OK) error = context->cuda->api.CtxSetCurrent(context->handle);
    if (error == CUDA_OK) thread_context = context;
    return error;
}

int context_select(Device *device) {
    CudaContext *context = (CudaContext *)device;
    int error = thread_context == context && !context->several ? CUDA_OK : make_current(context);
    if (error == CUDA_OK) thread_selected = context;
    return error;
}

static CudaContext *own_context(Cuda *cuda) {
    return thread_selected && thread_selected->cuda == cuda ? thread_selected : cuda->contexts;
}

static int visit_from(CudaContext *context, Visit *visit) {
    void *current = NULL;
    int error = context->cuda->api.CtxGetCurrent(&current);
    if (error == CUDA_OK && current && current == context->handle) {
        thread_context = context;
        return CUDA_OK;
    }
    if (error == CUDA_OK) error = make_current(context);
    if (error == CUDA_OK && (current || context != own_context(context->cuda))) *visit = (Visit){context, current};
    return error;
}

int context_visit(CudaContext *context, Visit *visit) {
    visit->context = NULL;
    return KRAIT_UNLIKELY(thread_context != context || context->several) ? visit_from(context, visit) : CUDA_OK;
}

void context_leave_now(const Visit *visit) {
    visit->context->cuda->api.CtxSetCurrent(visit->current);
    thread_context = NULL;
}

enum { MOST_NESTED = 32 };
static _Thread_local struct {
    struct {
        CudaContext *selected; /* NULL: none was */
        Visit visit;
    } before[MOST_NESTED];
    int depth;
} nested;

int context_push(Device *device) {
    if (nested.depth == MOST_NESTED) {
        PyErr_SetString(PyExc_RuntimeError, "devices are nested too deeply");
        return -1;
    }
    CudaContext *context = device->shares_memory ? NULL : (CudaContext *)device;
    Visit visit = {0};
    if (context && device_check(device, context_visit(context, &visit), "starting the GPU") < 0) return -1;
    nested.before[nested.depth].selected = thread_selected;
    nested.before[nested.depth++].visit = visit;
    if (context) thread_selected = context;
    return 0;
}

void context_pop(void) {
    if (nested.depth == 0) return;
    thread_selected = nested.before[--nested.depth].selected;
    context_leave(&nested.before[nested.depth].visit);
}

int context_reset(Device *device) {
    CudaContext *context = (CudaContext *)device;
    const CuApi *api = &context->cuda->api;
    int error = api->DevicePrimaryCtxReset(context->number);
    if (error != CUDA_OK) return error;
    if (context->handle) api->DevicePrimaryCtxRelease(context->number);
    context->handle = context->event = context->collector = context->condition = NULL;
    context->noted = NULL;
    bounce_forget(&context->bounce);
    while (block_cache_drop(&context->kept)) continue; /* their memory is gone with the context */
    atomic_store(&context->landing, NULL);
    atomic_store(&context->streams, 0);
    context->several = true; /* the notes of other threads that it is current say nothing now */
    device->begun = NULL;
    device->reaches = 0;
    for (int i = 0; i < context->cuda->device_count; i++) /* nor do others reach what is new there */
        context->cuda->contexts[i].device.reaches &= ~device_bit(device);
    device->generation++;
    device->arrays = device->array_bytes = 0;
    if (thread_context == context) thread_context = NULL;
    return CUDA_OK;
}

bool context_recover(CudaContext *context, int error, Visit *visit) {
    void *current = NULL;
    bool destroyed = error == CUDA_CONTEXT_IS_DESTROYED; /* by a reset in another thread; the handle may be the same */
    if (!destroyed && error != CUDA_INVALID_CONTEXT && error != CUDA_INVALID_HANDLE) return false;
    if (context->cuda->api.CtxGetCurrent(&current) != CUDA_OK) return false;
    if (current == context->handle && current && !destroyed) return false;
    if (make_current(context) != CUDA_OK) return false;
    if (destroyed) current = NULL;
    if (current) *visit = (Visit){context, current};
    return true;
}

/* Starts the thread's device; what another library made current stays so. */
static int begin(CudaContext *context) {
    Visit visit;
    int error = context_visit(context, &visit);
    if (error != CUDA_OK) return error;
    thread_selected = context;
    context_leave(&visit);
    return CUDA_OK;
}

CudaContext *cuda_current(Cuda *cuda) {
    if (thread_selected && thread_selected->cuda == cuda && thread_selected->handle) return thread_selected;
    if (!cuda_open(cuda)) {
        cuda_refuse("%s", cuda->why_not);
        return NULL;
    }
    CudaContext *context = own_context(cuda);
    return device_check(&context->device, begin(context), "starting the GPU") < 0 ? NULL : context;
}

int cuda_select(Cuda *cuda, int device) {
    if (!cuda_open(cuda)) {
        cuda_refuse("%s", cuda->why_not);
        return -1;
    }
    if (device < 0 || device >= cuda->device_count) {
        PyErr_Format(PyExc_ValueError, "there is no device %d: this machine has %d", device, cuda->device_count);
        return -1;
    }
    Device *selected = &cuda->contexts[device].device;
    return device_check(selected, context_select(selected), "starting the GPU");
}

Device *cuda_device(Cuda *cuda, int ordinal) { return &cuda->contexts[ordinal].device; }
