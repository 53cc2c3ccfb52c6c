/* cycles.h: what heap.c and cycles.c share. */
#ifndef KRAIT_RUNTIME_HEAP_CYCLES_H
#define KRAIT_RUNTIME_HEAP_CYCLES_H

#include "runtime/heap/heap.h"

typedef struct Cycles { /* of a thread */
    HeapHead ring;      /* no object, but between the last and the first that may lie in a cycle; zero at first */
    int64_t count;      /* of them */
    int64_t limit;      /* more than these, and a search begins; 0: none was made yet */
    bool busy;          /* a search gives up what it found */
} Cycles;

Cycles *heap_cycles(void);           /* the thread's own; NULL: no memory */
void cycles_leave(HeapHead *object); /* it is released, or other threads may see it */

/* heap.c */
int64_t heap_references_of(const HeapHead *object);
HeapHead *heap_reference(HeapHead *object, int64_t index); /* NULL: none, or a Python object */

#endif
