/* kernel.c: PTX into the driver, and the launch.
 *
 * In: PTX text and the entry's name; at a launch, the buffer of kernel_params().  Out: a CudaKernel bound to one
 * context.
 *
 * The driver's compiler is given log buffers, so that a refusal (too many registers for the block, bad PTX) is told in
 * its own words.  The parameters go over as one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER), which the caller keeps on its
 * stack: a launch allocates nothing. */
#include "runtime/cuda/driver.h"

#include <stdlib.h> /* calloc */
#include <string.h> /* memcpy */

#include "runtime/cuda/graph.h"

struct CudaKernel {
    CudaContext *context;
    unsigned generation; /* of the device, when it was loaded */
    void *module, *function;
    int dynamic_limit; /* bytes of dynamic shared memory the function may have so far */
    int static_shared;
};

enum { LOG_BYTES = 8192 };

static void *load_module(CudaContext *context, const char *ptx, int max_registers) {
    enum { JIT_MAX_REGISTERS = 0, JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 };
    Cuda *cuda = context->cuda;
    char log[LOG_BYTES];
    log[0] = 0;
    int options[3] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_MAX_REGISTERS};
    void *values[3] = {log, (void *)(uintptr_t)LOG_BYTES, (void *)(uintptr_t)max_registers};
    void *module = NULL;
    int error;
    Py_BEGIN_ALLOW_THREADS error = cuda->api.ModuleLoadDataEx(&module, ptx, max_registers > 0 ? 3 : 2, options, values);
    Py_END_ALLOW_THREADS if (error == CUDA_OK) return module;
    char what[LOG_BYTES + 64];
    log[LOG_BYTES - 1] = 0;
    snprintf(what, sizeof what, "the driver did not accept the kernel%s%s", log[0] ? ": " : "", log);
    cuda_raise(cuda, error, what);
    return NULL;
}

CudaKernel *cuda_kernel_load(CudaContext *context, const char *ptx, const char *entry_name, int max_registers) {
    if (context_enter(context) < 0) return NULL;
    CudaKernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return (CudaKernel *)PyErr_NoMemory();
    kernel->context = context;
    kernel->generation = context->device.generation;
    kernel->module = load_module(context, ptx, max_registers);
    if (!kernel->module) {
        free(kernel);
        return NULL;
    }
    const CuApi *api = &context->cuda->api;
    int error = api->ModuleGetFunction(&kernel->function, kernel->module, entry_name);
    if (error == CUDA_OK)
        error = api->FuncGetAttribute(&kernel->static_shared, FUNCTION_SHARED_BYTES, kernel->function);
    if (error == CUDA_OK)
        error = api->FuncGetAttribute(&kernel->dynamic_limit, FUNCTION_MAX_DYNAMIC_SHARED, kernel->function);
    if (error != CUDA_OK) {
        cuda_raise(context->cuda, error, "finding the kernel in its module");
        cuda_kernel_free(kernel);
        return NULL;
    }
    return kernel;
}

bool cuda_kernel_gone(const CudaKernel *kernel) { return kernel->generation != kernel->context->device.generation; }

void cuda_kernel_free(CudaKernel *kernel) {
    if (!kernel) return;
    if (!cuda_kernel_gone(kernel)) kernel->context->cuda->api.ModuleUnload(kernel->module);
    free(kernel);
}

int cuda_kernel_attribute(CudaKernel *kernel, int attribute) {
    int value = 0;
    CU_CALL(kernel->context->cuda, "asking about a kernel",
            kernel->context->cuda->api.FuncGetAttribute(&value, attribute, kernel->function));
    return value;
}

int cuda_kernel_set_carveout(CudaKernel *kernel, int percent) {
    CU_CALL(kernel->context->cuda, "dividing the cache of the multiprocessors",
            kernel->context->cuda->api.FuncSetAttribute(kernel->function, FUNCTION_CARVEOUT, percent));
    return 0;
}

int cuda_kernel_best_block(CudaKernel *kernel, size_t shared_bytes) {
    int grid = 0, block = 0;
    CU_CALL(kernel->context->cuda, "choosing a block size",
            kernel->context->cuda->api.OccupancyMaxPotentialBlockSize(&grid, &block, kernel->function, NULL,
                                                                      shared_bytes, 0));
    return block;
}

/* More than 48 KiB of shared memory must be asked for, once per function and size. */
static int raise_dynamic_limit(CudaKernel *kernel, unsigned shared_bytes) {
    CudaContext *context = kernel->context;
    if ((int)shared_bytes + kernel->static_shared > context->max_shared_optin) {
        PyErr_Format(PyExc_ValueError,
                     "a block of this kernel would need %u bytes of dynamic and %d of static shared memory: this GPU "
                     "has %d a block",
                     shared_bytes, kernel->static_shared, context->max_shared_optin);
        return -1;
    }
    CU_CALL(context->cuda, "asking for more shared memory",
            context->cuda->api.FuncSetAttribute(kernel->function, FUNCTION_MAX_DYNAMIC_SHARED, (int)shared_bytes));
    kernel->dynamic_limit = (int)shared_bytes;
    return 0;
}

static int launch_with_attributes(const CuApi *api, void *function, const CudaLaunch *launch, void *stream,
                                  void **extra) {
    enum { COOPERATIVE = 2, CLUSTER = 4, PROGRAMMATIC = 6, PRIORITY = 8 }; /* CUlaunchAttributeID */
    const LaunchAttributes *given = launch->attributes;
    CudaAttribute attributes[4];
    CudaLaunchConfig config = {.shared_bytes = launch->shared_bytes, .stream = stream, .attributes = attributes};
    memset(attributes, 0, sizeof attributes);
    memcpy(config.grid, launch->grid, sizeof config.grid);
    memcpy(config.block, launch->block, sizeof config.block);
    if (given->cooperative) attributes[config.count++] = (CudaAttribute){.id = COOPERATIVE, .flag = 1};
    if (given->programmatic) attributes[config.count++] = (CudaAttribute){.id = PROGRAMMATIC, .flag = 1};
    if (given->has_priority) attributes[config.count++] = (CudaAttribute){.id = PRIORITY, .flag = given->priority};
    if (given->cluster[0])
        attributes[config.count++] = (CudaAttribute){.id = CLUSTER,
                                                     .dims = {given->cluster[0], given->cluster[1], given->cluster[2]}};
    return api->LaunchKernelEx(&config, function, NULL, extra);
}

/* Launched, or in a graph: recorded, or put in the place of what was recorded. */
static int give(CudaKernel *kernel, const CudaLaunch *launch, void **extra) {
    const CuApi *api = &kernel->context->cuda->api;
    const unsigned *grid = launch->grid, *block = launch->block;
    void *stream = capture_stream(launch->stream);
    if (KRAIT_UNLIKELY(runtime_capture && runtime_capture->node)) {
        CudaKernelNode node = {.function = kernel->function, .shared_bytes = launch->shared_bytes, .extra = extra};
        memcpy(node.grid, grid, sizeof node.grid);
        memcpy(node.block, block, sizeof node.block);
        return gpu_graph_update(kernel->context, runtime_capture->graph, runtime_capture->node, &node);
    }
    if (launch->attributes) return launch_with_attributes(api, kernel->function, launch, stream, extra);
    return api->LaunchKernel(kernel->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                             launch->shared_bytes, stream, NULL, extra);
}

int cuda_kernel_launch(CudaKernel *kernel, const CudaLaunch *launch) {
    CudaContext *context = kernel->context;
    size_t bytes = launch->params_bytes;
    void *extra[] = {(void *)1, launch->params, (void *)2, &bytes,
                     NULL}; /* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END */
    if (KRAIT_UNLIKELY(context_enter(context) < 0)) return -1;
    if (KRAIT_UNLIKELY((int)launch->shared_bytes > kernel->dynamic_limit) &&
        raise_dynamic_limit(kernel, launch->shared_bytes) < 0)
        return -1;
    int error = give(kernel, launch, extra);
    if (KRAIT_UNLIKELY(error != CUDA_OK) && context_recover(context, error)) error = give(kernel, launch, extra);
    if (KRAIT_UNLIKELY(error != CUDA_OK)) {
        char what[160];
        const unsigned *grid = launch->grid, *block = launch->block;
        snprintf(what, sizeof what, "launching a grid of (%u, %u, %u) blocks of (%u, %u, %u) threads", grid[0], grid[1],
                 grid[2], block[0], block[1], block[2]);
        return cuda_raise(context->cuda, error, what);
    }
    return 0;
}

int cuda_kernel_blocks(CudaKernel *kernel, unsigned threads, size_t shared_bytes) {
    int blocks = 0;
    CU_CALL(kernel->context->cuda, "asking how many blocks run at once",
            kernel->context->cuda->api.OccupancyMaxActiveBlocks(&blocks, kernel->function, (int)threads, shared_bytes));
    return blocks;
}
