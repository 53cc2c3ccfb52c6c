/* kernel.h: a kernel that a GPU has loaded, for the files of this folder that deal with it. */
#ifndef KRAIT_RUNTIME_CUDA_KERNEL_H
#define KRAIT_RUNTIME_CUDA_KERNEL_H

#include "runtime/cuda/cu_driver.h"

typedef struct CudaKernel CudaKernel;
struct CudaKernel {
    DeviceKernel base; /* first */
    void *module, *function;
    size_t params_bytes;
    CudaContext *context; /* the device's */
    CudaLaunch *launch;   /* the driver's, at hand */
    void *together;       /* event: its last launch whose blocks waited for each other; NULL: none */
    /* device_notes.c */
    uint64_t notes, prints; /* addresses on the GPU; 0: none */
    size_t notes_bytes;
    KernelNotesReader *reader;
    void *owner;
    CudaKernel *next; /* of those that the context watches */
    unsigned readers; /* looks that read its notes just now, without the GIL */
    bool given_up;    /* meanwhile: the last of them frees it */
};

/* With the GIL: now, or once no thread records a graph; what an earlier generation of the device had is gone. */
void gpu_module_unload(CudaContext *context, unsigned generation, void *module);

/* device_notes.c: what the kernel leaves is looked for from now on, if it can leave anything; no longer. */
int kernel_watch(CudaKernel *kernel, const DeviceCode *code);
void kernel_forget(CudaKernel *kernel);

#endif
