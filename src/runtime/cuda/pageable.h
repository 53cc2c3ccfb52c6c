/* pageable.h: locked memory that large copies of ordinary memory go through (pageable.c). */
#ifndef KRAIT_RUNTIME_CUDA_PAGEABLE_H
#define KRAIT_RUNTIME_CUDA_PAGEABLE_H

#include "runtime/cuda/cuda.h"
#include "runtime/device.h"

#include <pthread.h> /* pthread_mutex_t */

/* A chunk is some hundred microseconds of copying: far more than it takes the cores to begin one. */
enum { BOUNCE_CHUNKS = 4, BOUNCE_BYTES = 8 << 20, PAGEABLE_LARGE = 16 << 20 };

typedef struct CudaContext CudaContext; /* primary context of one device (cu_driver.h) */

typedef struct Bounce {
    pthread_mutex_t lock; /* one copy at a time */
    char *memory;         /* NULL until first used */
    void *events[BOUNCE_CHUNKS];
} Bounce;

void bounce_init(Bounce *bounce);
void bounce_forget(Bounce *bounce); /* the context it was in is gone */
/* In the order of the stream; when it returns, the host's memory has been read or is written.  Without the GIL. */
int pageable_copy(CudaContext *context, DeviceCopy kind, void *stream, void *to, const void *from, size_t bytes);

#endif
