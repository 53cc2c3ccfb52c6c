/* kernel.c: kernels of a GPU (runtime/device.h): PTX into the driver, and the launch.
 *
 * In: PTX text and the entry's name; at a launch, the buffer of kernel_params().  Out: a CudaKernel bound to one
 * context.
 *
 * The driver's compiler, which machine code of an earlier load makes unnecessary, is given a log buffer, so that a
 * refusal (too many registers for the block, bad PTX) is told in its own words.  The parameters go over as one buffer
 * (CU_LAUNCH_PARAM_BUFFER_POINTER), which the caller keeps on its stack: a launch allocates nothing. */
#include "runtime/cuda/kernel.h"

#include <stdlib.h> /* calloc */
#include <string.h> /* memcpy */

#include "runtime/cuda/device_memory.h" /* device_when_not_recorded */
#include "runtime/cuda/graph.h"

enum { FUNCTION_SHARED_BYTES = 1, FUNCTION_MAX_DYNAMIC_SHARED = 8, FUNCTION_CARVEOUT = 9 }; /* CUfunction_attribute */

static CudaContext *context_of(const DeviceKernel *kernel) { return (CudaContext *)kernel->device; }

static void *function_of(const DeviceKernel *kernel) { return ((const CudaKernel *)kernel)->function; }

/* ---- loading ---- */

enum { JIT_MAX_REGISTERS = 0, JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6, JIT_OPTIONS = 3 };

typedef struct JitOptions {
    unsigned count;
    int options[JIT_OPTIONS];
    void *values[JIT_OPTIONS];
} JitOptions;

static JitOptions jit_options(const DeviceCode *code, char *log, size_t log_bytes) {
    return (JitOptions){
        .count = code->max_registers > 0 ? 3 : 2,
        .options = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_MAX_REGISTERS},
        .values = {log, (void *)(uintptr_t)log_bytes, (void *)(uintptr_t)code->max_registers},
    };
}

/* Of base64, up to the first other character; the end. */
static char *decode(const char *text, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, held = 0;
    for (const char *digit; *text && (digit = strchr(digits, *text)) != NULL; text++) {
        bits = (bits << 6) | (unsigned)(digit - digits);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        *to++ = (char)(bits >> held);
    }
    return to;
}

/* Machine code that comments of the PTX carry: LINKED_CODE, a CUjitInputType, the bytes in base64. */
static int add_linked(const CuApi *api, const char *ptx, void *link) {
    int error = CUDA_OK;
    for (const char *at = ptx; error == CUDA_OK && (at = strstr(at, LINKED_CODE)) != NULL;) {
        char *start;
        long type = strtol(at + strlen(LINKED_CODE), &start, 10);
        size_t length = strcspn(start, ";\n");
        char *bytes = malloc(length + 1);
        if (!bytes) return CUDA_NO_HOST_MEMORY;
        size_t size = (size_t)(decode(start + strspn(start, " "), bytes) - bytes);
        error = api->LinkAddData(link, (int)type, bytes, size, "linked code", 0, NULL, NULL);
        free(bytes);
        at = start + length;
    }
    return error;
}

/* The PTX to machine code, which is loaded; its bytes are the link's, and copied. */
static int link_module(const CuApi *api, const DeviceCode *code, JitOptions *jit, void **module) {
    enum { INPUT_PTX = 1 };
    void *link = NULL, *binary = NULL;
    size_t size = 0;
    int error = api->LinkCreate(jit->count, jit->options, jit->values, &link);
    if (error != CUDA_OK) return error;
    error = api->LinkAddData(link, INPUT_PTX, (void *)code->ptx, strlen(code->ptx) + 1, code->entry, 0, NULL, NULL);
    if (error == CUDA_OK) error = add_linked(api, code->ptx, link);
    if (error == CUDA_OK) error = api->LinkComplete(link, &binary, &size);
    if (error == CUDA_OK) error = api->ModuleLoadDataEx(module, binary, 0, NULL, NULL);
    if (error == CUDA_OK && code->made && (code->made->bytes = malloc(size)) != NULL) {
        memcpy(code->made->bytes, binary, size);
        code->made->size = size;
    }
    api->LinkDestroy(link);
    return error;
}

/* Machine code that this driver does not take is made anew. */
static int load_module(const CuApi *api, const DeviceCode *code, char *log, size_t log_bytes, void **module) {
    JitOptions jit = jit_options(code, log, log_bytes);
    int error = code->binary.bytes ? api->ModuleLoadDataEx(module, code->binary.bytes, 0, NULL, NULL)
                                   : CUDA_INVALID_PTX;
    if (error == CUDA_OK || code->binary_alone) return error;
    if (code->made || strstr(code->ptx, LINKED_CODE)) return link_module(api, code, &jit, module);
    return api->ModuleLoadDataEx(module, code->ptx, jit.count, jit.options, jit.values);
}

static int find_function(const CuApi *api, const DeviceCode *code, CudaKernel *kernel) {
    int error = api->ModuleGetFunction(&kernel->function, kernel->module, code->entry);
    if (error == CUDA_OK)
        error = api->FuncGetAttribute(&kernel->base.static_shared, FUNCTION_SHARED_BYTES, kernel->function);
    if (error == CUDA_OK)
        error = api->FuncGetAttribute(&kernel->base.dynamic_limit, FUNCTION_MAX_DYNAMIC_SHARED, kernel->function);
    if (error == CUDA_OK && code->has_carveout)
        error = api->FuncSetAttribute(kernel->function, FUNCTION_CARVEOUT, code->carveout);
    return error;
}

static int load_and_watch(const CuApi *api, const DeviceCode *code, char *log, size_t log_bytes, CudaKernel *kernel) {
    int error = load_module(api, code, log, log_bytes, &kernel->module);
    if (error != CUDA_OK) return error;
    error = find_function(api, code, kernel);
    if (error == CUDA_OK) error = kernel_watch(kernel, code);
    if (error != CUDA_OK) api->ModuleUnload(kernel->module);
    return error;
}

static int load(CudaContext *context, const DeviceCode *code, char *log, size_t log_bytes, CudaKernel *kernel) {
    ON_GPU(context, load_and_watch(api, code, log, log_bytes, kernel));
}

int gpu_kernel_load(Device *device, const DeviceCode *code, char *log, size_t log_bytes, DeviceKernel **loaded) {
    CudaKernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return CUDA_NO_HOST_MEMORY;
    kernel->base.device = device;
    kernel->base.generation = device->generation;
    kernel->params_bytes = code->params_bytes;
    kernel->context = (CudaContext *)device;
    kernel->launch = kernel->context->cuda->api.LaunchKernel;
    kernel->base.in_turn = code->waits_for_grid;
    int error = load((CudaContext *)device, code, log, log_bytes, kernel);
    if (error == CUDA_OK)
        *loaded = &kernel->base;
    else
        free(kernel);
    return error;
}

typedef struct Unloading {
    DeviceLater later; /* first */
    CudaContext *context;
    unsigned generation;
    void *module;
} Unloading;

/* The thread's current context is as before.  The driver waits for what runs; so no recording begins meanwhile
 * (wait.c). */
static void unload(CudaContext *context, void *module) {
    Visit visit;
    context->waits++;
    Py_BEGIN_ALLOW_THREADS if (context_visit(context, &visit) == CUDA_OK) context->cuda->api.ModuleUnload(module);
    context_leave(&visit);
    Py_END_ALLOW_THREADS context->waits--;
}

static void unload_later(DeviceLater *later, bool idle) {
    Unloading *unloading = (Unloading *)later;
    (void)idle;
    if (unloading->generation == unloading->context->device.generation) unload(unloading->context, unloading->module);
    free(unloading);
}

void gpu_module_unload(CudaContext *context, unsigned generation, void *module) {
    Device *device = &context->device;
    if (generation != device->generation) return;
    bool later = device->recordings > 0 || runtime_calling;
    Unloading *unloading = later ? malloc(sizeof *unloading) : NULL;
    if (!later) {
        unload(context, module);
    } else if (unloading) { /* else, out of memory, the device keeps it */
        *unloading = (Unloading){.context = context, .generation = generation, .module = module};
        device_when_not_recorded(device, &unloading->later, unload_later);
    }
}

void gpu_kernel_free(DeviceKernel *kernel) {
    CudaKernel *loaded = (CudaKernel *)kernel;
    const CuApi *api = &context_of(kernel)->cuda->api;
    kernel_forget(loaded);
    if (loaded->readers > 0) {
        loaded->given_up = true;
        return;
    }
    if (kernel->generation == kernel->device->generation && loaded->together && !runtime_calling)
        api->EventDestroy(loaded->together); /* which the device keeps if a callback drops the kernel */
    gpu_module_unload(context_of(kernel), kernel->generation, loaded->module);
    free(loaded);
}

/* ---- facts ---- */

int gpu_kernel_fact(DeviceKernel *kernel, KernelFact fact, int *value) {
    static const int attributes[] = {[KERNEL_MAX_THREADS] = 0,
                                     [KERNEL_SHARED_BYTES] = FUNCTION_SHARED_BYTES,
                                     [KERNEL_CONST_BYTES] = 2,
                                     [KERNEL_LOCAL_BYTES] = 3,
                                     [KERNEL_REGISTERS] = 4};
    ON_GPU(context_of(kernel), api->FuncGetAttribute(value, attributes[fact], function_of(kernel)));
}

int gpu_best_block(DeviceKernel *kernel, size_t shared_bytes, int *threads) {
    int grid = 0;
    ON_GPU(context_of(kernel),
           api->OccupancyMaxPotentialBlockSize(&grid, threads, function_of(kernel), NULL, shared_bytes, 0));
}

int gpu_blocks_at_once(DeviceKernel *kernel, int threads, size_t shared_bytes, int *blocks) {
    ON_GPU(context_of(kernel), api->OccupancyMaxActiveBlocks(blocks, function_of(kernel), threads, shared_bytes));
}

static int allow_shared(const CuApi *api, DeviceKernel *kernel, unsigned bytes) {
    int error = api->FuncSetAttribute(function_of(kernel), FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes);
    if (error == CUDA_OK) kernel->dynamic_limit = (int)bytes;
    return error;
}

/* More than 48 KiB must be asked for, once per function and size. */
int gpu_kernel_allow_shared(DeviceKernel *kernel, unsigned bytes) {
    ON_GPU(context_of(kernel), allow_shared(api, kernel, bytes));
}

/* ---- the launch ---- */

static int launch_with_attributes(const CuApi *api, void *function, const LaunchConfig *launch, void *stream,
                                  void **extra) {
    enum { COOPERATIVE = 2, CLUSTER = 4, PROGRAMMATIC = 6, PRIORITY = 8 }; /* CUlaunchAttributeID */
    const LaunchAttributes *given = &launch->attributes;
    CudaAttribute attributes[4];
    CudaLaunchConfig config = {.shared_bytes = launch->shared_bytes, .stream = stream, .attributes = attributes};
    memset(attributes, 0, sizeof attributes);
    memcpy(config.grid, launch->grid.x, sizeof config.grid);
    memcpy(config.block, launch->block.x, sizeof config.block);
    if (given->cooperative) attributes[config.count++] = (CudaAttribute){.id = COOPERATIVE, .flag = 1};
    if (given->programmatic) attributes[config.count++] = (CudaAttribute){.id = PROGRAMMATIC, .flag = 1};
    if (given->has_priority) attributes[config.count++] = (CudaAttribute){.id = PRIORITY, .flag = given->priority};
    if (given->cluster.x[0]) {
        const unsigned *blocks = given->cluster.x;
        attributes[config.count++] = (CudaAttribute){.id = CLUSTER, .dims = {blocks[0], blocks[1], blocks[2]}};
    }
    return api->LaunchKernelEx(&config, function, NULL, extra);
}

/* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END */
#define PARAMETERS(name, buffer, bytes) \
    void *name[] = {(void *)1, (void *)(uintptr_t)(buffer), (void *)2, &(bytes), NULL}

/* Launched, or in a graph: recorded, or put in the place of what was recorded. */
static int give(const DeviceKernel *kernel, const LaunchConfig *config, void **extra) {
    const CuApi *api = &context_of(kernel)->cuda->api;
    const unsigned *grid = config->grid.x, *block = config->block.x;
    void *stream = capture_stream(config->stream), *function = function_of(kernel);
    if (KRAIT_UNLIKELY(runtime_capture && runtime_capture->updating)) {
        if (!runtime_capture->node) return CUDA_INVALID_VALUE;
        CudaKernelNode node = {.function = function, .shared_bytes = config->shared_bytes, .extra = extra};
        memcpy(node.grid, grid, sizeof node.grid);
        memcpy(node.block, block, sizeof node.block);
        return gpu_graph_update(context_of(kernel), runtime_capture->graph, runtime_capture->node, &node);
    }
    if (config->has_attributes) return launch_with_attributes(api, function, config, stream, extra);
    return api->LaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], config->shared_bytes,
                             stream, NULL, extra);
}

static int launch(DeviceKernel *kernel, const LaunchConfig *config, const void *params) {
    size_t bytes = ((const CudaKernel *)kernel)->params_bytes;
    PARAMETERS(extra, params, bytes);
    ON_GPU(context_of(kernel), give(kernel, config, extra));
}

int gpu_turn_begin(const CuApi *api, DeviceKernel *kernel, void *stream) {
    enum { EVENT_DISABLE_TIMING = 2 };
    CudaKernel *loaded = (CudaKernel *)kernel;
    return loaded->together ? api->StreamWaitEvent(stream, loaded->together, 0)
                            : api->EventCreate(&loaded->together, EVENT_DISABLE_TIMING);
}

int gpu_turn_end(const CuApi *api, DeviceKernel *kernel, void *stream) {
    return api->EventRecord(((CudaKernel *)kernel)->together, stream);
}

/* Threads without the GIL may launch it at the same time. */
static int launch_after(const CuApi *api, CudaKernel *kernel, const LaunchConfig *config, const void *params) {
    pthread_mutex_lock(&kernel->context->turns);
    int error = gpu_turn_begin(api, &kernel->base, config->stream);
    if (error == CUDA_OK) error = launch(&kernel->base, config, params);
    if (error == CUDA_OK) error = gpu_turn_end(api, &kernel->base, config->stream);
    pthread_mutex_unlock(&kernel->context->turns);
    return error;
}

/* All blocks at once, and one launch after the other, on whatever streams: they share the word that their blocks count
 * in. */
static int launch_together(CudaKernel *kernel, const LaunchConfig *given, const void *params) {
    LaunchConfig config = *given;
    if (!config.has_attributes) config.attributes = (LaunchAttributes){0};
    config.has_attributes = config.attributes.cooperative = true;
    if (runtime_capture) return launch(&kernel->base, &config, params); /* its turn is the graph's: gpu_graph_run */
    ON_GPU(context_of(&kernel->base), launch_after(api, kernel, &config, params));
}

/* A kernel belongs to one context, so the driver refuses one that is launched while another is current: what the thread
 * remembers is not asked for, even where there are several GPUs. */
static int launch_at_once(CudaKernel *kernel, const LaunchConfig *config, const void *params) {
    const unsigned *grid = config->grid.x, *block = config->block.x;
    PARAMETERS(extra, params, kernel->params_bytes);
    int error = kernel->launch(kernel->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                               config->shared_bytes, config->stream, NULL, extra);
    if (KRAIT_UNLIKELY(error != CUDA_OK)) {
        Visit visit = {NULL, NULL};
        if (context_recover(kernel->context, error, &visit)) error = give(&kernel->base, config, extra);
        context_leave(&visit);
    }
    return error;
}

int gpu_launch(DeviceKernel *kernel, const LaunchConfig *config, const void *params, LaunchReport *report) {
    CudaKernel *loaded = (CudaKernel *)kernel;
    (void)report; /* the threads have not run yet */
    if (!runtime_capture && !config->has_attributes && !kernel->in_turn && context_is_noted(loaded->context))
        return launch_at_once(loaded, config, params);
    return kernel->in_turn ? launch_together(loaded, config, params) : launch(kernel, config, params);
}
