/* heap.c: objects of compiled code: allocation, counts of references, release (heap.h says what counts mean).
 *
 * Blocks of small objects have one of a few sizes, powers of two, and go to a list of free ones of the thread that
 * releases them, of which some are kept.  Of large ones the last that was released is kept, for the next of about its
 * size: new pages cost the system more time than most loops over them take.  Lists and statistics are each thread's own
 * and need no lock; the statistics of the process are the sum of all threads'.  A thread that ends leaves its lists and
 * figures to the next that starts, so that nothing is ever taken out of the chain of threads, and a fork finds it
 * whole. */
#include "runtime/heap/cycles.h"

#include <pthread.h>
#include <stdlib.h> /* malloc, calloc */
#include <string.h> /* memset */
#include <sys/mman.h>

enum {
    SIZES = 6, /* 128 ... 4096 bytes, head included */
    SMALLEST = 128,
    KEPT = 256,          /* free blocks of a size */
    LARGE = 1 << 16,     /* bytes from which on a block is kept by itself */
    MOST_KEPT = 1 << 26, /* bytes of that block */
    HUGE = 1 << 22,      /* from here on the system may use large pages */
    HUGE_PAGE = 1 << 21,
    COUNT_LOST = HEAP_FOREVER, /* from here to COUNT_STAYS nothing is counted any more */
    COUNT_STAYS = INT32_MIN / 2
};

/* ---- threads ---- */

typedef struct FreeList {
    HeapHead *first;
    int count;
} FreeList;

typedef struct ThreadHeap {
    FreeList free[SIZES];
    HeapHead *large;    /* a free one of `bytes`; NULL: none */
    HeapHead *unclosed; /* generators that wait for others to be closed */
    int closing;        /* how many are being closed */
    Cycles cycles;
    HeapStats stats; /* of what was done here: an object may be released elsewhere */
    bool taken;      /* by a thread that lives */
    struct ThreadHeap *next;
} ThreadHeap;

static ThreadHeap *threads; /* all there ever were; only grows */
static _Thread_local ThreadHeap *own_heap;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void leave_thread_heap(void *content) {
    ThreadHeap *heap = content;
    if (heap->large) free(heap->large->block);
    heap->large = NULL;
    __atomic_store_n(&heap->taken, false, __ATOMIC_RELEASE);
}

static void make_key(void) { pthread_key_create(&key, leave_thread_heap); }

/* One that a thread has left, or a new one; NULL: no memory. */
static ThreadHeap *take_thread_heap(void) {
    ThreadHeap *heap = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    for (; heap; heap = heap->next)
        if (!__atomic_exchange_n(&heap->taken, true, __ATOMIC_ACQUIRE)) return heap;
    if (!(heap = calloc(1, sizeof *heap))) return NULL;
    heap->taken = true;
    heap->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&threads, &heap->next, heap, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
    return heap;
}

static ThreadHeap *thread_heap(void) {
    if (own_heap) return own_heap;
    pthread_once(&key_once, make_key);
    ThreadHeap *heap = take_thread_heap();
    if (heap && pthread_setspecific(key, heap) != 0) {
        leave_thread_heap(heap);
        heap = NULL;
    }
    return own_heap = heap;
}

/* Others read the figures while their thread counts. */
static void count_up(int64_t *figure, int64_t by) { __atomic_store_n(figure, *figure + by, __ATOMIC_RELAXED); }

HeapStats heap_stats(void) {
    HeapStats sum = {0};
    for (ThreadHeap *heap = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); heap; heap = heap->next) {
        sum.allocated += __atomic_load_n(&heap->stats.allocated, __ATOMIC_RELAXED);
        sum.released += __atomic_load_n(&heap->stats.released, __ATOMIC_RELAXED);
        sum.bytes += __atomic_load_n(&heap->stats.bytes, __ATOMIC_RELAXED);
        sum.reused += __atomic_load_n(&heap->stats.reused, __ATOMIC_RELAXED);
    }
    return sum;
}

/* ---- blocks ---- */

/* The list of blocks for a content of so many bytes; SIZES: too large for any. */
static int size_of(int64_t bytes) {
    int size = 0;
    while (size < SIZES && bytes > (int64_t)(SMALLEST << size) - HEAP_CONTENT) size++;
    return size;
}

static HeapHead *take_free(ThreadHeap *heap, int size) {
    HeapHead *object = heap->free[size].first;
    if (!object) return NULL;
    heap->free[size].first = object->next;
    heap->free[size].count--;
    count_up(&heap->stats.reused, 1);
    return object;
}

/* The large block, if it is large enough and not twice so.  What is to be zero and very large is better new: the system
 * gives pages that are zero when they are first touched. */
static HeapHead *take_large(ThreadHeap *heap, int64_t bytes, bool zero) {
    HeapHead *object = heap->large;
    if (!object || (zero && bytes >= HUGE) || object->bytes < bytes || object->bytes / 2 > bytes) return NULL;
    heap->large = NULL;
    count_up(&heap->stats.reused, 1);
    return object;
}

static void keep_large(ThreadHeap *heap, HeapHead *object) {
    if (heap->large) free(heap->large->block);
    heap->large = object;
}

/* The address of a content lies in memory of its own, so that calloc may give pages that are zero by themselves. */
static HeapHead *new_block(size_t whole, bool zero) {
    char *block = zero ? calloc(1, whole + HEAP_CONTENT) : malloc(whole + HEAP_CONTENT);
    if (!block) return NULL;
    HeapHead *object = (HeapHead *)(((uintptr_t)block + HEAP_CONTENT - 1) & ~(uintptr_t)(HEAP_CONTENT - 1));
    object->block = block;
    if (whole >= HUGE) { /* a wish: nothing is wrong where the system has no such pages */
        uintptr_t from = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
        madvise((void *)from, whole - (from - (uintptr_t)block), MADV_HUGEPAGE);
    }
    return object;
}

HeapHead *heap_new(HeapKind kind, int64_t bytes, bool zero) {
    ThreadHeap *heap = thread_heap();
    if (!heap || bytes < 0 || bytes > INT64_MAX - 2 * HEAP_CONTENT) return NULL;
    int size = size_of(bytes);
    HeapHead *object = size < SIZES ? take_free(heap, size) : take_large(heap, bytes, zero);
    if (object && zero) memset(heap_content(object), 0, (size_t)bytes);
    if (!object) object = new_block(size < SIZES ? (size_t)SMALLEST << size : (size_t)bytes + HEAP_CONTENT, zero);
    if (!object) return NULL;
    *object = (HeapHead){.kind = kind, .bytes = bytes, .block = object->block};
    count_up(&heap->stats.allocated, 1);
    count_up(&heap->stats.bytes, bytes);
    return object;
}

void *krait_heap_buffer(int64_t bytes, int32_t zero) {
    HeapHead *object = heap_new(HEAP_BUFFER, bytes, zero != 0);
    return object ? heap_content(object) : NULL;
}

Cycles *heap_cycles(void) {
    ThreadHeap *heap = thread_heap();
    return heap ? &heap->cycles : NULL;
}

static void give_back(HeapHead *object) {
    if (object->after) cycles_leave(object);
    ThreadHeap *heap = thread_heap();
    int size = size_of(object->bytes);
    bool keep = heap && size < SIZES && heap->free[size].count < KEPT;
    if (heap) {
        count_up(&heap->stats.released, 1);
        count_up(&heap->stats.bytes, -object->bytes);
    }
    if (heap && object->bytes >= LARGE && object->bytes <= MOST_KEPT) {
        keep_large(heap, object);
        return;
    }
    if (!keep) {
        free(object->block);
        return;
    }
    object->next = heap->free[size].first;
    heap->free[size].first = object;
    heap->free[size].count++;
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

/* ---- what an object refers to ---- */

int64_t heap_references_of(const HeapHead *object) {
    const ListBody *list = (const ListBody *)((const char *)object + HEAP_CONTENT);
    switch ((HeapKind)object->kind) {
    case HEAP_REFERENCES: return object->bytes / (int64_t)sizeof(HeapHead *);
    case HEAP_LIST: return list->length * list->nowners + 1;
    case HEAP_GENERATOR:
    case HEAP_OUTSIDE:
    case HEAP_BUFFER: break;
    }
    return 0;
}

/* An owner's word, as in the items of a list. */
static HeapHead *of_owner(uintptr_t owner) {
    return owner & OWNER_HEAP ? (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS) : NULL;
}

/* Number `index` of heap_references_of; NULL: none, or a Python object. */
HeapHead *heap_reference(HeapHead *object, int64_t index) {
    if (object->kind == HEAP_REFERENCES) return ((HeapHead **)heap_content(object))[index];
    const ListBody *list = heap_content(object);
    if (index == list->length * list->nowners) return list->items ? heap_of_content(list->items) : NULL;
    const int32_t *offsets = (const int32_t *)(list + 1);
    uintptr_t owner;
    memcpy(&owner, (char *)list->items + index / list->nowners * list->item_bytes + offsets[index % list->nowners],
           sizeof owner);
    return of_owner(owner);
}

/* A generator that is closed gives up what it holds, which may be another one, and so on: from some depth on they wait
 * until the first has ended. */
static void end_generator(HeapHead *object) {
    enum { DEEP = 32 };
    ThreadHeap *heap = thread_heap();
    if (heap && heap->closing == DEEP) {
        object->next = heap->unclosed;
        heap->unclosed = object;
        return;
    }
    for (HeapHead *dead = object; dead;) {
        if (heap) heap->closing++;
        heap_generator_drop(dead);
        if (heap) heap->closing--;
        give_back(dead);
        dead = heap && !heap->closing ? heap->unclosed : NULL;
        if (dead) heap->unclosed = dead->next;
    }
}

/* Objects without references are released, with what only they referred to. */
static void release_all(HeapHead *first) {
    while (first) {
        HeapHead *dead = first;
        first = dead->next;
        for (int64_t i = 0, count = heap_references_of(dead); i < count; i++) {
            HeapHead *child = heap_reference(dead, i);
            if (!child || !drop(child)) continue;
            child->next = first;
            first = child;
        }
        if (dead->kind == HEAP_GENERATOR) {
            end_generator(dead);
            continue;
        }
        const OutsideBody *outside = dead->kind == HEAP_OUTSIDE ? heap_content(dead) : NULL;
        if (outside) outside->drop(outside->object);
        give_back(dead);
    }
}

void heap_release(HeapHead *object) {
    if (!drop(object)) return;
    object->next = NULL;
    release_all(object);
}

void krait_heap_give_up(void *owner) {
    HeapHead *object = of_owner((uintptr_t)owner);
    if (object) heap_release(object);
}

static bool mark_shared(HeapHead *object) {
    if (object->count < 0) return false;
    if (object->after) cycles_leave(object);
    object->count = -object->count - 1;
    return true;
}

void heap_share(HeapHead *object) {
    if (!mark_shared(object)) return;
    object->next = NULL;
    while (object) {
        HeapHead *parent = object;
        object = parent->next;
        for (int64_t i = 0, count = heap_references_of(parent); i < count; i++) {
            HeapHead *child = heap_reference(parent, i);
            if (!child || !mark_shared(child)) continue;
            child->next = object;
            object = child;
        }
    }
}

/* ---- lists ---- */

HeapHead *krait_heap_list(int64_t capacity, int32_t item_bytes, const int32_t *offsets, int32_t nowners) {
    HeapHead *object = heap_new(HEAP_LIST, (int64_t)(sizeof(ListBody) + (size_t)nowners * sizeof *offsets), false);
    if (!object) return NULL;
    ListBody *list = heap_content(object);
    *list = (ListBody){.item_bytes = item_bytes, .nowners = nowners};
    if (nowners) memcpy(list + 1, offsets, (size_t)nowners * sizeof *offsets);
    if (capacity && !(list->items = krait_heap_buffer(capacity * item_bytes, 0))) {
        heap_release(object);
        return NULL;
    }
    list->capacity = capacity;
    return object;
}

int32_t krait_heap_list_grow(HeapHead *object) {
    const ListBody *list = heap_content(object);
    return krait_heap_list_reserve(object, list->capacity + list->capacity / 2 + 8);
}

int32_t krait_heap_list_reserve(HeapHead *object, int64_t capacity) {
    ListBody *list = heap_content(object);
    int64_t bytes;
    if (capacity <= list->capacity) return 0;
    if (__builtin_mul_overflow(capacity, list->item_bytes, &bytes)) return 1;
    void *items = krait_heap_buffer(bytes, 0);
    if (!items) return 1;
    if (list->items) {
        memcpy(items, list->items, (size_t)(list->length * list->item_bytes));
        heap_release(heap_of_content(list->items));
    }
    list->items = items;
    list->capacity = capacity;
    return 0;
}

int32_t krait_heap_list_append_all(HeapHead *object, HeapHead *other) {
    ListBody *list = heap_content(object);
    const ListBody *more = heap_content(other);
    int64_t count = more->length, length;
    if (!count) return 0;
    if (__builtin_add_overflow(list->length, count, &length)) return 1;
    if (length > list->capacity) {
        int64_t usual = list->capacity + list->capacity / 2; /* that of krait_heap_list_grow */
        if (krait_heap_list_reserve(object, length > usual ? length : usual)) return 1;
    }
    char *end = (char *)list->items + list->length * list->item_bytes;
    memcpy(end, more->items, (size_t)(count * list->item_bytes));
    list->length = length;
    return 0;
}

void krait_heap_list_truncate(HeapHead *object, int64_t length) {
    ListBody *list = heap_content(object);
    HeapHead *dead = NULL;
    for (int64_t i = length * list->nowners, end = list->length * list->nowners; i < end; i++) {
        HeapHead *child = heap_reference(object, i);
        if (!child || !drop(child)) continue;
        child->next = dead;
        dead = child;
    }
    if (length < list->length) list->length = length;
    release_all(dead);
}
