/* gpu_share.c: memory of a GPU that other processes open (CUDA's interprocess handles).
 *
 * The driver shares allocations of cuMemAlloc alone, not those of the stream-ordered pool. */
#include <string.h> /* memcpy */

#include "runtime/cuda/cu_driver.h"

_Static_assert(sizeof(CudaIpcName) == DEVICE_NAME_BYTES, "CU_IPC_HANDLE_SIZE");

int gpu_share_allocate(Device *device, size_t bytes, void **memory) {
    ON_GPU((CudaContext *)device, api->MemAlloc((uint64_t *)memory, bytes ? bytes : 1));
}

/* cuMemFree waits for all that uses it here. */
int gpu_share_release(Device *device, void *memory) { ON_GPU((CudaContext *)device, api->MemFree((uint64_t)memory)); }

static int name_of(const CuApi *api, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset) {
    uint64_t start = 0;
    size_t bytes = 0;
    CudaIpcName made;
    int error = api->MemGetAddressRange(&start, &bytes, (uint64_t)memory);
    if (error == CUDA_OK) error = api->IpcGetMemHandle(&made, start);
    if (error != CUDA_OK) return error;
    memcpy(name, made.bytes, sizeof made.bytes);
    *offset = (size_t)((uint64_t)memory - start);
    return CUDA_OK;
}

int gpu_share_name(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset) {
    ON_GPU((CudaContext *)device, name_of(api, memory, name, offset));
}

static int open_named(const CuApi *api, const unsigned char name[DEVICE_NAME_BYTES], void **memory, size_t *bytes) {
    enum { LAZY_PEER_ACCESS = 1 };
    CudaIpcName given;
    memcpy(given.bytes, name, sizeof given.bytes);
    uint64_t start = 0;
    int error = api->IpcOpenMemHandle((uint64_t *)memory, given, LAZY_PEER_ACCESS);
    if (error != CUDA_OK) return error;
    bool known = api->MemGetAddressRange(&start, bytes, (uint64_t)*memory) == CUDA_OK;
    *bytes = known ? (size_t)(start + *bytes - (uint64_t)*memory) : SIZE_MAX;
    return CUDA_OK;
}

int gpu_share_open(Device *device, const unsigned char name[DEVICE_NAME_BYTES], void **memory, size_t *bytes) {
    ON_GPU((CudaContext *)device, open_named(api, name, memory, bytes));
}

int gpu_share_close(Device *device, void *memory) {
    ON_GPU((CudaContext *)device, api->IpcCloseMemHandle((uint64_t)memory));
}
