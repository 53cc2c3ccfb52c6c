/* config.c: what a compilation is told, compared and hashed.
 *
 * In: Configs.  Out: whether a call for one may take code made for the other; all that decides about machine code, as
 * bytes of a digest; for tests what each field does to the two.  The rows of config.def and codegen/codegen_options.def
 * are the fields of the structs and all there is to say about them: a field without columns cannot be added. */
#include <string.h> /* memcpy, memset, strcmp */

#include "driver/cache.h"

/* ---- the same ---- */

enum { LOOSE, APART, FACTS };

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_form(UfuncForm a, UfuncForm b) {
    return a.rows == b.rows && a.two_axes == b.two_axes && a.immediate == b.immediate;
}

/* What a call takes for granted does not matter: what declines one is replaced. */
static bool same_facts(uint32_t a, uint32_t b) { return ((a ^ b) & ~(uint32_t)FACTS_OF_CALLS) == 0; }

#define SAME_NUMBERS(x, y)      (memcmp(&(x), &(y), sizeof(x)) == 0)
#define SAME_TYPE(x, y)         ((x) == (y))
#define SAME_ADDRESS(x, y)      ((x) == (y))
#define SAME_TEXT(x, y)         same_text(x, y)
#define SAME_UFUNC_FORM(x, y)   same_form(x, y)
#define CALLS_LOOSE(form, x, y) true
#define CALLS_APART(form, x, y) SAME_##form(x, y)
#define CALLS_FACTS(form, x, y) same_facts(x, y)

bool config_fits(const Config *made, const Config *wanted) {
    bool fits = true;
#define OPTION(name, type, dimensions, form, key, calls, doc) \
    fits = fits && CALLS_##calls(form, made->name, wanted->name);
#include "driver/config.def"
#undef OPTION
#define OPTION(name, type, dimensions, form, key, calls, doc) \
    fits = fits && CALLS_##calls(form, made->codegen.name, wanted->codegen.name);
#include "codegen/codegen_options.def"
#undef OPTION
    return fits;
}

/* ---- the digest ---- */

typedef struct Digest {
    Sha256 *hash;
    Arena *arena;
} Digest;

static void add_text(Digest d, const char *text) {
    char there = text != NULL;
    sha256_add(d.hash, &there, 1);
    if (text) sha256_add(d.hash, text, strlen(text) + 1);
}

static void add_form(Digest d, UfuncForm form) {
    const uint32_t numbers[] = {form.rows, form.two_axes, form.immediate};
    sha256_add(d.hash, numbers, sizeof numbers);
}

#define ADD_NUMBERS(d, x)       sha256_add((d).hash, &(x), sizeof(x))
#define ADD_ADDRESS(d, x)       ADD_NUMBERS(d, x)
#define ADD_TEXT(d, x)          add_text(d, x)
#define ADD_TYPE(d, x)          add_text(d, (x) ? type_text((d).arena, x) : NULL)
#define ADD_UFUNC_FORM(d, x)    add_form(d, x)
#define KEY_KEYED(form, d, x)   ADD_##form(d, x)
#define KEY_LOWERED(form, d, x) (void)0
#define KEY_ASIDE(form, d, x)   (void)0

void config_digest(Sha256 *hash, Arena *arena, const Config *config) {
    const Digest d = {hash, arena};
    const CodegenOptions *codegen = &config->codegen;
#define OPTION(name, type, dimensions, form, key, calls, doc) KEY_##key(form, d, config->name);
#include "driver/config.def"
#undef OPTION
#define OPTION(name, type, dimensions, form, key, calls, doc) KEY_##key(form, d, codegen->name);
#include "codegen/codegen_options.def"
#undef OPTION
    const size_t pointer = sizeof(void *);
    sha256_add(hash, &pointer, sizeof pointer);
}

/* ---- for tests ---- */

/* Another value than zero. */
#define OTHER_NUMBERS(x, type)    memset(&(x), 1, sizeof(x))
#define OTHER_ADDRESS(x, type)    ((x) = &rows)
#define OTHER_TEXT(x, type)       ((x) = "x")
#define OTHER_TYPE(x, type)       ((x) = type)
#define OTHER_UFUNC_FORM(x, type) ((x).immediate = 2)

static const struct {
    const char *name, *key, *calls;
} rows[] = {
#define OPTION(name, type, dimensions, form, key, calls, doc) {#name, #key, #calls},
#include "driver/config.def"
#include "codegen/codegen_options.def"
#undef OPTION
};

static void change(Config *config, size_t row, const Type *any) {
    size_t at = 0;
#define OPTION(name, t, dimensions, form, key, calls, doc) \
    if (at++ == row) OTHER_##form(config->name, any);
#include "driver/config.def"
#undef OPTION
#define OPTION(name, t, dimensions, form, key, calls, doc) \
    if (at++ == row) OTHER_##form(config->codegen.name, any);
#include "codegen/codegen_options.def"
#undef OPTION
}

bool config_row(size_t row, Arena *arena, const Type *any, ConfigRow *out) {
    if (row >= COUNT_OF(rows)) return false;
    Config plain = {0}, changed = {0};
    unsigned char digests[2][SHA256_BYTES];
    change(&changed, row, any);
    for (int i = 0; i < 2; i++) {
        Sha256 hash;
        sha256_init(&hash);
        config_digest(&hash, arena, i ? &changed : &plain);
        sha256_end(&hash, digests[i]);
    }
    *out = (ConfigRow){rows[row].name, rows[row].key, rows[row].calls,
                       memcmp(digests[0], digests[1], SHA256_BYTES) != 0, config_fits(&plain, &changed)};
    return true;
}
