/* heap.c: objects of compiled code: allocation, counts of references, release (heap.h says what counts mean).
 *
 * Blocks of small objects have one of a few sizes, powers of two, and go back to a list of their size, of which some
 * are kept.  The lists and the statistics are under the heap's lock; counts are not. */
#include "runtime/heap/heap.h"

#include <pthread.h>
#include <stdlib.h> /* aligned_alloc */
#include <string.h> /* memset */

enum {
    SIZES = 6, /* 128 ... 4096 bytes, head included */
    SMALLEST = 128,
    KEPT = 256,             /* free blocks of a size */
    COUNT_LOST = INT32_MIN, /* from here to COUNT_STAYS nothing is counted any more */
    COUNT_STAYS = INT32_MIN / 2
};

typedef struct FreeList {
    HeapHead *first;
    int count;
} FreeList;

struct Heap {
    pthread_mutex_t lock;
    FreeList free[SIZES];
    HeapStats stats;
};

Heap *heap_open(void) {
    Heap *heap = calloc(1, sizeof *heap);
    if (heap && pthread_mutex_init(&heap->lock, NULL) != 0) {
        free(heap);
        return NULL;
    }
    return heap;
}

int64_t heap_close(Heap *heap) {
    if (!heap) return 0;
    int64_t lost = heap->stats.objects;
    for (int size = 0; size < SIZES; size++)
        for (HeapHead *block = heap->free[size].first, *next; block; block = next) {
            next = block->next;
            free(block);
        }
    pthread_mutex_destroy(&heap->lock);
    free(heap);
    return lost;
}

HeapStats heap_stats(Heap *heap) {
    pthread_mutex_lock(&heap->lock);
    HeapStats stats = heap->stats;
    pthread_mutex_unlock(&heap->lock);
    return stats;
}

/* ---- blocks ---- */

/* The list of blocks for a content of so many bytes; SIZES: too large for any. */
static int size_of(int64_t bytes) {
    int size = 0;
    while (size < SIZES && bytes > (int64_t)(SMALLEST << size) - HEAP_CONTENT) size++;
    return size;
}

static HeapHead *take_free(Heap *heap, int size) {
    HeapHead *block = heap->free[size].first;
    if (!block) return NULL;
    heap->free[size].first = block->next;
    heap->free[size].count--;
    heap->stats.reused++;
    return block;
}

HeapHead *heap_new(Heap *heap, HeapKind kind, int64_t bytes) {
    if (bytes < 0 || bytes > INT64_MAX - 2 * HEAP_CONTENT) return NULL;
    int size = size_of(bytes);
    pthread_mutex_lock(&heap->lock);
    HeapHead *object = size < SIZES ? take_free(heap, size) : NULL;
    pthread_mutex_unlock(&heap->lock);
    size_t whole = size < SIZES ? (size_t)SMALLEST << size
                                : ((size_t)bytes + 2 * HEAP_CONTENT - 1) / HEAP_CONTENT * HEAP_CONTENT;
    if (!object) object = aligned_alloc(HEAP_CONTENT, whole);
    if (!object) return NULL;
    *object = (HeapHead){.kind = kind, .bytes = bytes, .heap = heap};
    memset(heap_content(object), 0, (size_t)bytes);
    pthread_mutex_lock(&heap->lock);
    HeapStats *stats = &heap->stats;
    stats->objects++;
    stats->bytes += bytes;
    if (stats->bytes > stats->most_bytes) stats->most_bytes = stats->bytes;
    pthread_mutex_unlock(&heap->lock);
    return object;
}

static void give_back(HeapHead *object) {
    Heap *heap = object->heap;
    int size = size_of(object->bytes);
    pthread_mutex_lock(&heap->lock);
    heap->stats.objects--;
    heap->stats.bytes -= object->bytes;
    bool keep = size < SIZES && heap->free[size].count < KEPT;
    if (keep) {
        object->next = heap->free[size].first;
        heap->free[size].first = object;
        heap->free[size].count++;
    }
    pthread_mutex_unlock(&heap->lock);
    if (!keep) free(object);
}

/* ---- counts ---- */

void heap_retain(HeapHead *object) {
    int32_t count = __atomic_load_n(&object->count, __ATOMIC_RELAXED);
    if (count == INT32_MAX)
        object->count = COUNT_LOST;
    else if (count >= 0)
        object->count = count + 1;
    else if (count > COUNT_STAYS)
        __atomic_fetch_sub(&object->count, 1, __ATOMIC_RELAXED);
}

/* True: that was the last reference. */
static bool drop(HeapHead *object) {
    int32_t count = __atomic_load_n(&object->count, __ATOMIC_RELAXED);
    if (count > 0) object->count = count - 1;
    if (count >= 0) return count == 0;
    if (count <= COUNT_STAYS) return false;
    return __atomic_fetch_add(&object->count, 1, __ATOMIC_ACQ_REL) == -1;
}

static int64_t referred(const HeapHead *object) {
    return object->kind == HEAP_REFERENCES ? object->bytes / (int64_t)sizeof(HeapHead *) : 0;
}

void heap_release(HeapHead *object) {
    if (!drop(object)) return;
    object->next = NULL;
    while (object) { /* a list of what has no reference any more */
        HeapHead *dead = object, *const *children = heap_content(dead);
        object = dead->next;
        for (int64_t i = 0; i < referred(dead); i++) {
            if (!children[i] || !drop(children[i])) continue;
            children[i]->next = object;
            object = children[i];
        }
        give_back(dead);
    }
}

static bool mark_shared(HeapHead *object) {
    if (object->count < 0) return false;
    object->count = -object->count - 1;
    return true;
}

void heap_share(HeapHead *object) {
    if (!mark_shared(object)) return;
    object->next = NULL;
    while (object) {
        HeapHead *parent = object, *const *children = heap_content(parent);
        object = parent->next;
        for (int64_t i = 0; i < referred(parent); i++) {
            if (!children[i] || !mark_shared(children[i])) continue;
            children[i]->next = object;
            object = children[i];
        }
    }
}
