/* heap.h: memory of compiled code on the host: objects with one header (HeapHead, ir_abi.def) that count references.
 *
 * The count, as in Koka's kklib: 0 one reference, n > 0 n + 1 of them, all in one thread; n < 0 -n references, which
 * several threads may hold: those are counted atomically.  One test of the sign tells the two apart.  An object is
 * marked as shared, with all it refers to, before a second thread sees it.  Counts that leave the range stay where they
 * are: such an object is never released.
 *
 * An object is released with its last reference, and what it refers to loses one: without recursion, at any depth.
 * Small objects come from lists of free blocks, which are the thread's own; any thread may release any object.
 * Contents are aligned to 64 bytes. */
#ifndef KRAIT_RUNTIME_HEAP_H
#define KRAIT_RUNTIME_HEAP_H

#include "ir/ir.h" /* HeapHead */

typedef enum HeapKind {
    HEAP_BUFFER,     /* bytes: the data of an array */
    HEAP_REFERENCES, /* pointers to objects, or NULL; it owns one reference of each */
    HEAP_LIST,       /* ListBody; it owns the buffer of its items and a reference for each owner in them */
    HEAP_GENERATOR,  /* GeneratorBody; what it owns it gives up when it is closed */
    HEAP_OUTSIDE,    /* OutsideBody: it stands for something that is not on this heap */
} HeapKind;

/* Content of a HEAP_OUTSIDE, as what an array of the interpreter's is owned by: the object, and how the reference to it
 * is given up, by whichever thread releases the last one. */
typedef struct OutsideBody {
    void *object;
    void (*drop)(void *object);
} OutsideBody;

typedef struct HeapStats {       /* of this process */
    int64_t allocated, released; /* objects so far */
    int64_t bytes;               /* of the contents of those in use */
    int64_t reused;              /* objects that came from a list of free blocks */
} HeapStats;
HeapStats heap_stats(void);

/* An object with one reference; NULL: no memory.  Its content is zero if asked for, else anything. */
HeapHead *heap_new(HeapKind kind, int64_t bytes, bool zero);
/* What generated code calls for an array's buffer: its content; NULL: no memory. */
void *krait_heap_buffer(int64_t bytes, int32_t zero);
/* A list without items, with room for some; offsets: of the owners in each item.  NULL: no memory. */
HeapHead *krait_heap_list(int64_t capacity, int32_t item_bytes, const int32_t *offsets, int32_t nowners);
int32_t krait_heap_list_grow(HeapHead *list); /* room for one more at least; 1: no memory */
int32_t krait_heap_list_reserve(HeapHead *list, int64_t capacity);
/* All items of a list of the same type without owners, which may be the list itself.  1: no memory. */
int32_t krait_heap_list_append_all(HeapHead *list, HeapHead *other);
void krait_heap_list_truncate(HeapHead *list, int64_t length); /* gives up what lies behind */
/* A generator that waits to be asked for its first item (its frame is not there yet), for contents of so many bytes and
 * exception buffers of so many; NULL: no memory.  The next item: a GeneratorNext.  (generators.c) */
HeapHead *krait_heap_generator(int64_t bytes, int64_t exception_bytes);
int32_t krait_heap_generator_next(HeapHead *generator, void *exception);
/* Ends it: what it finds is NEXT_RAISED, also of the GeneratorExit that comes out of it, NEXT_NONE, or NEXT_ITEM if it
 * goes on nevertheless. */
int32_t krait_heap_generator_close(HeapHead *generator, void *exception);
void heap_generator_drop(HeapHead *generator); /* the same, of one that nobody refers to */
enum { GENERATOR_BUFFER_BYTES = 128 };         /* an exception buffer has as many more than is asked for */
/* A string of one character, which may be one that is always there, and a list of a string's characters, each a string.
 * NULL: no memory. */
HeapHead *krait_heap_character(uint32_t code);
HeapHead *krait_heap_characters(const HeapHead *string);
/* Two strings, or bytes, one behind the other: a reference of one's own; NULL: no memory.  The second takes that of
 * the first operand over unless it is NULL: what nobody else refers to grows where it lies. */
HeapHead *krait_heap_joined(HeapHead *first, HeapHead *second);
HeapHead *krait_heap_grown(HeapHead *first, HeapHead *second);
/* Of two strings, or bytes: whether the second lies in the first from an item on, which may be outside; and whether the
 * first is less (negative), the same (0) or greater. */
int32_t krait_heap_lies_at(const HeapHead *string, const HeapHead *part, int64_t at);
int64_t krait_heap_order(const HeapHead *first, const HeapHead *second);
/* The object, whole as it is, may come to refer to itself, by way of others: now and then this thread releases such
 * objects that nobody else refers to.  (cycles.c) */
void krait_heap_may_cycle(HeapHead *object);
void heap_collect_cycles(void); /* now */
/* Now, and what is left never: this thread goes on without the interpreter's lock, and generators keep what others may
 * change meanwhile. */
void heap_forget_cycles(void);
/* A count that nobody changes: the object is never released. */
enum { HEAP_FOREVER = INT32_MIN };
static inline void *heap_content(HeapHead *object) { return (char *)object + HEAP_CONTENT; }
static inline HeapHead *heap_of_content(void *content) { return (HeapHead *)((char *)content - HEAP_CONTENT); }
void heap_retain(HeapHead *object);
void heap_release(HeapHead *object);
void krait_heap_give_up(void *owner); /* the same, of what an owner's word says: where code is to be short */
void heap_share(HeapHead *object);    /* from now on other threads may see it and all that it refers to */
/* Whether nobody else can see it: it may be changed or used again in place. */
static inline bool heap_is_unique(const HeapHead *object) { return object->count == 0; }

#endif
