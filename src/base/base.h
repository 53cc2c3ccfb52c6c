/* base.h: what every layer stands on: one arena per compilation, growable vectors, a text buffer, source spans and the
 * diagnostic.
 *
 * Memory.  An Arena hands out zeroed memory that lives until the arena dies.  It never returns NULL: when the system
 * has no memory left (or a test asked for the n-th allocation to fail) it jumps to the recovery point that the owner of
 * the compilation set with arena_on_exhaustion().  Rule that makes the jump safe: between setting that point and
 * leaving it, every resource that is not arena memory (Python references, LLVM handles) hangs on the job, which
 * releases it; no callback that LLVM or Python calls may allocate from the arena.
 *
 * Errors.  A function that can fail returns bool (true: fine) or a pointer (NULL: failed) and has described the failure
 * in the Diag, which keeps the first one.  TRY forwards a failure, FAIL_IF raises one. */
#ifndef KRAIT_BASE_H
#define KRAIT_BASE_H

#include <setjmp.h>  /* jmp_buf */
#include <stdarg.h>  /* va_list */
#include <stdbool.h> /* bool */
#include <stddef.h>  /* size_t */
#include <stdint.h>  /* int64_t */

#if defined(__GNUC__)
#define KRAIT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define KRAIT_UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define KRAIT_NORETURN          __attribute__((noreturn))
#else
#error "Krait is built with gcc or clang"
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- arena ---- */

typedef struct Arena Arena;

Arena *arena_new(void);               /* NULL only when the system has no memory at all */
Arena *arena_new_sized(size_t bytes); /* one that will hold about so much */
void arena_free(Arena *arena);
jmp_buf *arena_on_exhaustion(Arena *arena, jmp_buf *recovery); /* the point that was set before */
/* Tests only: the n-th allocation from now (1 = the next) fails; 0 switches this off. */
void arena_fail_after(Arena *arena, size_t n);
/* The same for the n-th allocation that this thread makes from now on, from any arena that is new; gives what was left
 * of the last n. */
size_t arena_fail_thread(size_t n);
size_t arena_bytes(const Arena *arena);        /* handed out so far */
void *arena_alloc(Arena *arena, size_t bytes); /* zeroed, aligned for any type */
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) KRAIT_PRINTF(2, 3);
char *arena_vprintf(Arena *arena, const char *format, va_list args);

#define ARENA_NEW(arena, T)      ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * ((n) ? (size_t)(n) : 1)))

/* ---- vectors: VEC(int) v = {0}; vec_push(arena, &v, 3); v.data[0], v.len ---- */

#define VEC(T)           \
    struct {             \
        T *data;         \
        size_t len, cap; \
    }
#define vec_push(arena, v, ...)                                                                                      \
    ((v)->len < (v)->cap ? (void)0                                                                                   \
                         : (void)((v)->data = vec_grow((arena), (v)->data, sizeof *(v)->data, (v)->len, &(v)->cap)), \
     (void)((v)->data[(v)->len++] = (__VA_ARGS__)))
#define vec_pop(v)  ((v)->data[--(v)->len])
#define vec_last(v) ((v)->data[(v)->len - 1])
void *vec_grow(Arena *arena, void *data, size_t item_bytes, size_t len, size_t *cap);

/* ---- index: the items of a list by hash ----
 *
 *   for (uint32_t i = hash_index_first(&index, hash); i != HASH_INDEX_END; i = hash_index_next(&index, i))
 *       if (is_wanted(list.data[i])) ...
 * Each push to the list goes with an hash_index_add.  hash_mix makes a hash of parts: start with 0. */

typedef struct HashLink {
    uint64_t hash;
    uint32_t next; /* item in the same chain */
} HashLink;
typedef struct HashIndex {
    uint32_t *heads;
    size_t nheads; /* a power of two */
    VEC(HashLink) links;
} HashIndex;
#define HASH_INDEX_END UINT32_MAX

void hash_index_add(HashIndex *index, Arena *arena, uint64_t hash);
uint32_t hash_index_first(const HashIndex *index, uint64_t hash); /* HASH_INDEX_END: none */
uint32_t hash_index_next(const HashIndex *index, uint32_t item);
static inline uint64_t hash_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* ---- text buffer in an arena; text is always NUL-terminated once anything was written ---- */

typedef struct Buf {
    Arena *arena;
    char *text;
    size_t len, cap;
} Buf;

void buf_init(Buf *buf, Arena *arena);
void buf_printf(Buf *buf, const char *format, ...) KRAIT_PRINTF(2, 3);
void buf_vprintf(Buf *buf, const char *format, va_list args);
void buf_puts(Buf *buf, const char *text);
void buf_write(Buf *buf, const char *bytes, size_t length);
void buf_putc(Buf *buf, char c);

/* ---- source ---- */

/* A range of source text; lines count from 1, columns from 0 in UTF-8 bytes as co_positions gives them; line 0:
 * unknown. */
typedef struct Span {
    uint32_t line, end_line;
    uint32_t col, end_col;
} Span;

/* Where code comes from; lives in the arena of the compilation. */
typedef struct Source {
    const char *file;     /* co_filename */
    const char *function; /* co_qualname */
    const char *text;     /* the function's source lines, as they stand in the file (with indentation), when they can be
                             had, else NULL */
    uint32_t first_line;  /* line number of the first line of text */
    bool internal;        /* Krait's own: a user is shown the call of it in their code */
} Source;

/* ---- diagnostics ---- */

typedef enum DiagCode {
#define DIAG(name, exception, text, hint) DIAG_##name,
#include "base/diag_codes.def"
#undef DIAG
    DIAG_COUNT
} DiagCode;

/* "while typing the call of `f`, called from ...": innermost first, rendered only on failure. */
typedef struct DiagNote {
    struct DiagNote *next;
    const Source *source;
    Span span;
    const char *text;
} DiagNote;

typedef struct Diag {
    Arena *arena;
    bool failed;
    bool ignored; /* the last diag_fail came after the first failure: its hint is not wanted either */
    DiagCode code;
    const Source *source; /* may be NULL */
    Span span;
    const char *message;  /* what was found, with types; no trailing newline */
    const char *hint;     /* what to do; NULL: the code's own hint, if it has one */
    const char *headline; /* of a failure in Krait's own functions, else NULL */
    DiagNote *notes;
} Diag;

void diag_init(Diag *diag, Arena *arena);
/* Records a failure unless one is recorded already.  Always returns false, so that it can be returned. */
bool diag_fail(Diag *diag, DiagCode code, const Source *source, Span span, const char *format, ...) KRAIT_PRINTF(5, 6);
/* What is said first, should the failure prove to be in one of Krait's own functions: what the user called. */
void diag_headline(Diag *diag, const char *format, ...) KRAIT_PRINTF(2, 3);
void diag_hint(Diag *diag, const char *format, ...) KRAIT_PRINTF(2, 3); /* for the failure just recorded */
/* Adds to a failure on the way out, innermost first: how one came to the place (calls, inlining).  Nothing without a
 * failure. */
void diag_note(Diag *diag, const Source *source, Span span, const char *format, ...) KRAIT_PRINTF(4, 5);
/* The whole text a user sees: message, file and line, source line, caret, hint, notes. */
const char *diag_render(const Diag *diag);
const char *diag_exception_name(DiagCode code); /* "TypingError", "UnsupportedError", ... */
const char *diag_code_name(DiagCode code);
const char *diag_code_text(DiagCode code); /* the general text of the code */

#define TRY(expression)                                                  \
    do {                                                                 \
        if (KRAIT_UNLIKELY(!(expression))) return 0; /* false or NULL */ \
    } while (0)

#define FAIL_IF(condition, diag, code, source, span, ...)                  \
    do {                                                                   \
        if (KRAIT_UNLIKELY(condition)) {                                   \
            diag_fail((diag), DIAG_##code, (source), (span), __VA_ARGS__); \
            return 0;                                                      \
        }                                                                  \
    } while (0)

/* ---- digests ---- */

enum { SHA256_BYTES = 32 };
typedef struct Sha256 {
    uint64_t length; /* bytes so far */
    uint32_t state[8];
    unsigned char block[64];
} Sha256;

void sha256_init(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *data, size_t size);
void sha256_end(Sha256 *hash, unsigned char digest[SHA256_BYTES]);

/* ---- time ---- */

int64_t clock_nanoseconds(void); /* monotonic */

#endif
