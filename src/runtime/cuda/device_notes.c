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

/* Empty notes, which know the word.  Blocks that waited for one that raised have left their count. */
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
    if (!found->memory) return CUDA_NO_HOST_MEMORY;
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

/* What the kernel has left, if anything: found->memory.  Its notes are empty then. */
static int read_notes(const CuApi *api, CudaKernel *kernel, Found *found) {
    DeviceNotes head;
    int error = api->MemcpyDtoH(&head, kernel->notes, sizeof head);
    return error == CUDA_OK && (head.raised || head.printed) ? fetch(kernel, &head, found) : error;
}

static int read_here(CudaContext *context, CudaKernel *kernel, Found *found) {
    ON_GPU(context, read_notes(api, kernel, found));
}

/* The driver may wait, also for functions of the host that want the GIL: without it.  No recording begins meanwhile
 * (wait.c).  Of a kernel that is given up meanwhile nobody wants to know. */
static int look_at(CudaContext *context, CudaKernel *kernel, Found *found) {
    int error;
    context->waits++;
    Py_BEGIN_ALLOW_THREADS error = read_here(context, kernel, found);
    Py_END_ALLOW_THREADS context->waits--;
    bool gone = kernel->given_up || kernel->base.generation != context->device.generation;
    if (gone || error != CUDA_OK) {
        free(found->memory);
        found->memory = NULL;
    }
    return gone ? CUDA_OK : error;
}

/* With the GIL: the next one that is watched, the first of all after none or after one that is no longer; it stays
 * until it is let go. */
static CudaKernel *next_of(CudaContext *context, const CudaKernel *after) {
    pthread_mutex_lock(&context->watching);
    CudaKernel *kernel = after && !after->given_up ? after->next : context->watched;
    while (kernel && kernel->base.generation != context->device.generation) kernel = kernel->next;
    pthread_mutex_unlock(&context->watching);
    if (kernel) kernel->readers++;
    return kernel;
}

static void let_go(CudaKernel *kernel) {
    if (kernel && --kernel->readers == 0 && kernel->given_up) gpu_kernel_free(&kernel->base);
}

/* Printing runs code of the user, which may do anything with kernels: each look begins anew. */
int gpu_look(Device *device) {
    CudaContext *context = (CudaContext *)device;
    int error, result = 0;
    if (!context->noted || !*context->noted || runtime_capture) return 0;
    *context->noted = 0;
    Py_BEGIN_ALLOW_THREADS error = device->ops->synchronise_all(device);
    Py_END_ALLOW_THREADS CudaKernel *kernel = error == CUDA_OK ? next_of(context, NULL) : NULL;
    while (kernel && error == CUDA_OK && result >= 0) {
        Found found = {0};
        error = look_at(context, kernel, &found);
        if (found.memory) result = kernel->reader(kernel->owner, &found.notes);
        CudaKernel *next = result >= 0 ? next_of(context, found.memory ? NULL : kernel) : NULL;
        let_go(kernel);
        free(found.memory);
        kernel = next;
    }
    let_go(kernel);
    if (error != CUDA_OK) return device_raise(device, error, "reading what kernels raised or printed");
    if (result < 0) *context->noted = 1; /* others may have left something, too */
    return result;
}
