/* arena.c: memory of one compilation: handed out zeroed, given back all at once.
 *
 * A list of chunks, newest first; each allocation is cut from the newest, or, when it does not fit, from a new one at
 * least twice as large as the last (up to a limit).  Chunks come from calloc, so what is handed out is zero without
 * touching it.  When calloc has nothing left the arena jumps to the owner's recovery point.
 *
 * Under AddressSanitizer everything not handed out is poisoned, and a gap stays between neighbours, so overruns are
 * seen. */
#include "base/base.h"

#include <stdalign.h> /* max_align_t */
#include <stdio.h>    /* vsnprintf */
#include <stdlib.h>   /* calloc */
#include <string.h>   /* memcpy */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif
#if defined(ARENA_ASAN)
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { ARENA_GAP = 0 };
#endif

enum { ARENA_FIRST_CHUNK = 16 << 10, ARENA_LARGEST_CHUNK = 1 << 20, ARENA_ALIGN = alignof(max_align_t) };

typedef struct Chunk {
    struct Chunk *next;
    size_t size, used; /* of bytes */
    alignas(max_align_t) char bytes[];
} Chunk;

struct Arena {
    Chunk *chunks;
    jmp_buf *recovery;
    size_t handed_out;
    size_t *countdown; /* the allocation that takes it to 0 fails; NULL: off */
    size_t fail_after;
    size_t next_chunk;
};

Arena *arena_new(void) { return arena_new_sized(ARENA_FIRST_CHUNK); }

/* Tests: how many allocations of this thread, from whatever arena, succeed before one fails; 0: all. */
static _Thread_local size_t countdown;

Arena *arena_new_sized(size_t bytes) {
    if (countdown && --countdown == 0) return NULL;
    Arena *arena = calloc(1, sizeof *arena);
    if (!arena) return NULL;
    arena->next_chunk = bytes;
    if (countdown) arena->countdown = &countdown;
    return arena;
}

size_t arena_fail_thread(size_t n) {
    size_t left = countdown;
    countdown = n;
    return left;
}

void arena_free(Arena *arena) {
    if (!arena) return;
    for (Chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk->bytes, chunk->size);
        free(chunk);
    }
    free(arena);
}

jmp_buf *arena_on_exhaustion(Arena *arena, jmp_buf *recovery) {
    jmp_buf *before = arena->recovery;
    arena->recovery = recovery;
    return before;
}

void arena_fail_after(Arena *arena, size_t n) {
    arena->fail_after = n;
    arena->countdown = n ? &arena->fail_after : NULL;
}

size_t arena_bytes(const Arena *arena) { return arena->handed_out; }

static KRAIT_NORETURN void arena_exhausted(Arena *arena) {
    if (arena->recovery) longjmp(*arena->recovery, 1);
    /* An owner that sets no recovery point has said that it cannot go on without memory. */
    fputs("krait: out of memory\n", stderr);
    abort();
}

/* A chunk that has room for `bytes`. */
static Chunk *arena_add_chunk(Arena *arena, size_t bytes) {
    size_t size = bytes > arena->next_chunk ? bytes : arena->next_chunk;
    if (size > SIZE_MAX - sizeof(Chunk)) arena_exhausted(arena);
    Chunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk) arena_exhausted(arena);
    chunk->size = size;
    ASAN_POISON_MEMORY_REGION(chunk->bytes, size);
    if (arena->chunks && bytes > ARENA_LARGEST_CHUNK / 2) {
        /* A large block gets a chunk of its own behind the newest, whose rest stays in use. */
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        if (arena->next_chunk < ARENA_LARGEST_CHUNK) arena->next_chunk *= 2;
    }
    return chunk;
}

void *arena_alloc(Arena *arena, size_t bytes) {
    if (KRAIT_UNLIKELY(arena->countdown && *arena->countdown && --*arena->countdown == 0)) arena_exhausted(arena);
    if (KRAIT_UNLIKELY(bytes > SIZE_MAX / 2)) arena_exhausted(arena);
    size_t size = (bytes + ARENA_GAP + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    Chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) chunk = arena_add_chunk(arena, size);
    char *start = chunk->bytes + chunk->used;
    chunk->used += size;
    arena->handed_out += bytes;
    ASAN_UNPOISON_MEMORY_REGION(start, bytes);
    return start;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text) { return arena_strndup(arena, text, strlen(text)); }

char *arena_vprintf(Arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1);
    if (length >= 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void *vec_grow(Arena *arena, void *data, size_t item_bytes, size_t len, size_t *cap) {
    size_t grown = *cap ? *cap * 2 : 8;
    if (grown > SIZE_MAX / 2 / item_bytes) arena_exhausted(arena);
    void *fresh = arena_alloc(arena, grown * item_bytes);
    if (len) memcpy(fresh, data, len * item_bytes);
    *cap = grown;
    return fresh;
}
