/* device_notes.c: what kernels left for the host: exceptions, and what they printed.
 *
 * In: kernels whose module has the global krait_device_notes (ir_abi.def: DeviceNotes).  Out: after a wait for the
 * device, the notes of each, handed to whoever loaded it; then they are empty again.
 *
 * All kernels of a context share one word of locked memory, which a thread that notes something sets: as long as it is
 * 0, a look costs a load. */
#include <stdlib.h> /* malloc */
#include <string.h> /* memset */

#include "codegen/codegen.h" /* NOTES_SYMBOL, PRINT_BYTES */
#include "runtime/cuda/kernel.h"

static CudaContext *context_of(const CudaKernel *kernel) { return (CudaContext *)kernel->base.device; }

static int open_flag(CudaContext *context) {
    enum { HOST_PORTABLE = 1, HOST_MAPPED = 2 };
    void *flag = NULL;
    if (context->noted) return CUDA_OK;
    int error = context->cuda->api.MemHostAlloc(&flag, sizeof *context->noted, HOST_PORTABLE | HOST_MAPPED);
    if (error != CUDA_OK) return error;
    memset(flag, 0, sizeof *context->noted);
    pthread_mutex_lock(&context->watching);
    bool first = !context->noted;
    if (first) context->noted = flag;
    pthread_mutex_unlock(&context->watching);
    return first ? CUDA_OK : context->cuda->api.MemFreeHost(flag);
}

/* Without the lock of the list while the driver may wait: for a function of the host that gives up a kernel.
 * Empty notes, which know the word.  Blocks that waited for one that raised have left their count. */
static int clear(CudaKernel *kernel) {
    const DeviceNotes empty = {.flag = (int64_t)(uintptr_t)context_of(kernel)->noted};
    const CuApi *api = &context_of(kernel)->cuda->api;
    const uint32_t nobody = 0;
    uint64_t grid;
    size_t bytes;
    int error = api->MemcpyHtoD(kernel->notes, &empty, sizeof empty);
    if (error == CUDA_OK && api->ModuleGetGlobal(&grid, &bytes, kernel->module, GRID_SYMBOL) == CUDA_OK)
        error = api->MemcpyHtoD(grid, &nobody, sizeof nobody);
    return error;
}

int kernel_watch(CudaKernel *kernel, const DeviceCode *code) {
    CudaContext *context = context_of(kernel);
    const CuApi *api = &context->cuda->api;
    size_t bytes;
    if (!code->reader) return CUDA_OK;
    int error = api->ModuleGetGlobal(&kernel->notes, &kernel->notes_bytes, kernel->module, NOTES_SYMBOL);
    if (error == CUDA_NOT_FOUND) return CUDA_OK; /* LLVM has found that nothing raises */
    if (error == CUDA_OK && api->ModuleGetGlobal(&kernel->prints, &bytes, kernel->module, PRINTS_SYMBOL) != CUDA_OK)
        kernel->prints = 0;
    if (error == CUDA_OK) error = open_flag(context);
    if (error == CUDA_OK) error = clear(kernel);
    if (error != CUDA_OK) return error;
    pthread_mutex_lock(&context->watching);
    kernel->reader = code->reader;
    kernel->owner = code->owner;
    kernel->next = context->watched;
    context->watched = kernel;
    pthread_mutex_unlock(&context->watching);
    return CUDA_OK;
}

void kernel_forget(CudaKernel *kernel) {
    CudaContext *context = context_of(kernel);
    if (!kernel->reader) return;
    pthread_mutex_lock(&context->watching);
    for (CudaKernel **at = &context->watched; *at; at = &(*at)->next)
        if (*at == kernel) {
            *at = kernel->next;
            break;
        }
    pthread_mutex_unlock(&context->watching);
}

/* ---- looking ---- */

typedef struct Found {
    KernelNotes notes;
    char *memory;
} Found;

static int fetch(CudaKernel *kernel, DeviceNotes *head, Found *found) {
    const CuApi *api = &context_of(kernel)->cuda->api;
    size_t arguments = kernel->notes_bytes - sizeof *head;
    size_t printed = head->printed < PRINT_BYTES ? (size_t)head->printed : PRINT_BYTES;
    found->memory = malloc(arguments + printed + 1);
    if (!found->memory) return CUDA_OUT_OF_MEMORY;
    found->notes = (KernelNotes){.raised = head->raised != 0,
                                 .status = head->status,
                                 .block = {head->block_x, head->block_y, head->block_z},
                                 .thread = {head->thread_x, head->thread_y, head->thread_z},
                                 .arguments = found->memory,
                                 .argument_bytes = arguments,
                                 .printed = found->memory + arguments,
                                 .printed_bytes = printed,
                                 .lost = head->printed > PRINT_BYTES};
    int error = arguments ? api->MemcpyDtoH(found->memory, kernel->notes + sizeof *head, arguments) : CUDA_OK;
    if (error == CUDA_OK && printed) error = api->MemcpyDtoH(found->memory + arguments, kernel->prints, printed);
    return error == CUDA_OK ? clear(kernel) : error;
}

/* The first kernel that left something, whose notes are empty then. */
static int find(CudaContext *context, CudaKernel **kernel, Found *found) {
    int error = CUDA_OK;
    pthread_mutex_lock(&context->watching);
    for (*kernel = context->watched; *kernel; *kernel = (*kernel)->next) {
        DeviceNotes head;
        if ((*kernel)->base.generation != context->device.generation) continue;
        error = context->cuda->api.MemcpyDtoH(&head, (*kernel)->notes, sizeof head);
        if (error == CUDA_OK && !head.raised && !head.printed) continue;
        if (error == CUDA_OK) error = fetch(*kernel, &head, found);
        break;
    }
    pthread_mutex_unlock(&context->watching);
    return error;
}

static int take(CudaContext *context, CudaKernel **kernel, Found *found) {
    ON_GPU(context, find(context, kernel, found));
}

/* Printing runs code of the user, which may do anything with kernels: each look begins anew. */
int gpu_look(Device *device) {
    CudaContext *context = (CudaContext *)device;
    int error;
    if (!context->noted || !*context->noted || runtime_capture) return 0;
    *context->noted = 0;
    Py_BEGIN_ALLOW_THREADS error = device->ops->synchronise_all(device);
    Py_END_ALLOW_THREADS for (int result = 0;;) {
        CudaKernel *kernel = NULL;
        Found found = {0};
        if (error == CUDA_OK) error = take(context, &kernel, &found);
        if (error == CUDA_OK && kernel) result = kernel->reader(kernel->owner, &found.notes);
        free(found.memory);
        if (error != CUDA_OK) return device_raise(device, error, "reading what kernels raised or printed");
        if (result < 0) *context->noted = 1; /* others may have left something, too */
        if (result < 0 || !kernel) return result;
    }
}
