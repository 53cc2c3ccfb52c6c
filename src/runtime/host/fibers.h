/* fibers.h: the threads of a block as fibers; private to runtime/host. */
#ifndef KRAIT_RUNTIME_HOST_FIBERS_H
#define KRAIT_RUNTIME_HOST_FIBERS_H

#include "runtime/host/host.h" /* HostGrid, HostThread */

typedef int32_t (*BlockEntry)(HostGrid *grid, const void *args, void *exception);
typedef int32_t (*ThreadEntry)(HostThread *thread, const void *args, void *exception);

/* The threads of one block as fibers; used by one thread of the process at a time, reused from block to block and
 * launch to launch. */
typedef struct FiberGroup FiberGroup;

typedef struct FiberOutcome {
    int32_t status; /* of the first thread that raised, else 0; its arguments are in the exception buffer given */
    int32_t thread; /* number in the block of the raising or the stuck thread */
    bool stuck;
    uint32_t site;         /* of the barrier the stuck thread waits at */
    uint32_t mask;         /* of a barrier of lanes of a warp: which; 0: of the block */
    int32_t missing;       /* a thread it waits for in vain */
    uint32_t missing_site; /* the barrier where that one waits; UINT32_MAX: it ran to the end */
    int32_t missing_more;  /* how many others ran to the end */
} FiberOutcome;

FiberGroup *fiber_group_new(size_t threads, size_t stack_bytes); /* NULL: no memory */
bool fiber_group_fits(const FiberGroup *group, size_t threads, size_t stack_bytes);
size_t fiber_group_needs(size_t threads, size_t stack_bytes); /* bytes of a new one */
size_t fiber_group_bytes(const FiberGroup *group);            /* of address space */
void fiber_group_free(FiberGroup *group);                     /* NULL is fine */
/* Runs a block until it is over, or rests at a barrier of the grid; bad accesses go to grid->bad_access.  What is given
 * must stay as long as it rests. */
void fiber_group_run(FiberGroup *group, HostGrid *grid, ThreadEntry entry, const void *args, void *exception,
                     size_t exception_bytes, FiberOutcome *outcome);
bool fiber_group_rests(const FiberGroup *group, uint32_t *site); /* *site: of that barrier */
void fiber_group_resume(FiberGroup *group);                      /* lets it go on */
void fiber_group_abandon(FiberGroup *group);                     /* one that may rest never goes on */

#endif
