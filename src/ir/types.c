/* types.c: the interning table: equal types are one pointer, for as long as the table lives.
 *
 * Input: the parts of a type, themselves interned.  Output: the one Type with these parts.  An open hash table over the
 * parts (items by address), guarded by a mutex; types lie in the table's own arena and never move, so they are read
 * without the lock.  The kinds without parameters and the scalars are made first and found without hashing.
 *
 * Out of memory: the constructor gives TY_BOTTOM and the table remembers (type_table_exhausted), so that no caller has
 * a NULL to check. */
#include "ir/ir.h"

#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_load_explicit */
#include <stdlib.h>    /* calloc */
#include <string.h>    /* memcmp */

enum { FIRST_SLOTS = 256 };

typedef struct ExceptionClass {
    ObjRef class;
    const char *builtin;
    const ObjRef *all;
    size_t count;
    struct ExceptionClass *next;
} ExceptionClass;

struct TypeTable {
    pthread_mutex_t lock;
    Arena *arena;
    ExceptionClass *exceptions;
    Type **slots; /* open addressing, linear probing; a power of two of them */
    size_t nslots, used;
    _Atomic bool exhausted;
    FuncFinder *find_function;
    void *functions;            /* what find_function is called with */
    Type simple[TY_OBJECT + 1]; /* by TypeKind: those without parameters */
    Type scalars[SCALAR_COUNT][2];
};

TypeTable *type_table_new(void) {
    TypeTable *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->arena = arena_new();
    table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
    table->nslots = FIRST_SLOTS;
    if (!table->arena || !table->slots || pthread_mutex_init(&table->lock, NULL) != 0) {
        arena_free(table->arena);
        free(table->slots);
        free(table);
        return NULL;
    }
    for (int kind = 0; kind <= TY_OBJECT; kind++) table->simple[kind] = (Type){.kind = (TypeKind)kind, .table = table};
    for (int scalar = 0; scalar < SCALAR_COUNT; scalar++)
        for (int weak = 0; weak < 2; weak++)
            table->scalars[scalar][weak] = (Type){
                .kind = TY_SCALAR, .scalar = (uint8_t)scalar, .weak = weak, .table = table};
    return table;
}

void type_table_free(TypeTable *table) {
    if (!table) return;
    pthread_mutex_destroy(&table->lock);
    arena_free(table->arena);
    free(table->slots);
    free(table);
}

bool type_table_exhausted(TypeTable *table) { return table->exhausted; }

void type_table_fail_after(TypeTable *table, size_t n) { arena_fail_after(table->arena, n); }

static uint32_t count_places(const Type *type) {
    return type->kind == TY_STRUCT && !type_is_instance(type) ? type->count : type->kind == TY_NESTED ? type->ndim : 0;
}

static uint64_t type_hash(const Type *type) {
    uint64_t hash = hash_mix((uint64_t)type->kind, (uint64_t)type->ndim | (uint64_t)type->layout << 8 |
                                                       (uint64_t)type->readonly << 16 | (uint64_t)type->iter << 24 |
                                                       (uint64_t)type->flag << 32 | (uint64_t)type->form << 33 |
                                                       (uint64_t)type->align << 40 | (uint64_t)type->record << 48 |
                                                       (uint64_t)type->unaligned << 49);
    hash = hash_mix(hash, (uint64_t)(type->func ? type->func->id : 0) << 32 | type->object);
    for (uint32_t i = 0; i < type->count; i++) hash = hash_mix(hash, (uint64_t)(uintptr_t)type->items[i]);
    for (uint32_t i = 0; i < count_places(type); i++) hash = hash_mix(hash, type->places[i]);
    return hash_mix(hash, type->bytes);
}

static bool names_same(const Type *a, const Type *b) {
    if (!a->names || !b->names) return a->names == b->names;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0) return false;
    return true;
}

static bool layout_same(const Type *a, const Type *b) {
    uint32_t count = count_places(a);
    return a->form == b->form && a->align == b->align && a->bytes == b->bytes && a->record == b->record &&
           a->unaligned == b->unaligned && count == count_places(b) &&
           (count == 0 || memcmp(a->places, b->places, count * sizeof *a->places) == 0);
}

static bool type_same(const Type *a, const Type *b) {
    return a->kind == b->kind && layout_same(a, b) && a->flag == b->flag && a->count == b->count && names_same(a, b) &&
           a->ndim == b->ndim && a->layout == b->layout && a->readonly == b->readonly && a->iter == b->iter &&
           a->func == b->func && a->object == b->object &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof(Type *)) == 0);
}

/* The slot where a type equal to `wanted` stands or belongs. */
static Type **find_slot(Type **slots, size_t nslots, const Type *wanted) {
    size_t at = type_hash(wanted) & (nslots - 1);
    while (slots[at] && !type_same(slots[at], wanted)) at = (at + 1) & (nslots - 1);
    return &slots[at];
}

static bool grow_slots(TypeTable *table) {
    size_t nslots = table->nslots * 2;
    Type **slots = calloc(nslots, sizeof(Type *));
    if (!slots) return false;
    for (size_t i = 0; i < table->nslots; i++)
        if (table->slots[i]) *find_slot(slots, nslots, table->slots[i]) = table->slots[i];
    free(table->slots);
    table->slots = slots;
    table->nslots = nslots;
    return true;
}

static const char *const *copy_names(Arena *arena, const Type *type) {
    const char **names = ARENA_ARRAY(arena, const char *, type->count);
    for (uint32_t i = 0; i < type->count; i++) names[i] = arena_strdup(arena, type->names[i]);
    return names;
}

static const uint32_t *copy_places(Arena *arena, const Type *type) {
    uint32_t count = count_places(type), *places = count ? ARENA_ARRAY(arena, uint32_t, count) : NULL;
    if (places) memcpy(places, type->places, count * sizeof *places);
    return places;
}

static void measure(Type *type) {
    type->depth = 0, type->within = 1;
    for (uint32_t i = 0; i < type->count; i++) {
        const Type *item = type->items[i];
        if (type->depth <= item->depth) type->depth = item->depth + 1;
        type->within = type->within + item->within < TYPE_MAX_WITHIN ? type->within + item->within : TYPE_MAX_WITHIN;
    }
}

/* A copy of `wanted` that lives as long as the table; NULL: no memory.  The jump ends in this frame, which holds
 * nothing else. */
static Type *copy_type(TypeTable *table, const Type *wanted) {
    jmp_buf recovery;
    if (setjmp(recovery)) {
        arena_on_exhaustion(table->arena, NULL);
        return NULL;
    }
    arena_on_exhaustion(table->arena, &recovery);
    const Type **items = wanted->count ? ARENA_ARRAY(table->arena, const Type *, wanted->count) : NULL;
    if (items) memcpy(items, wanted->items, wanted->count * sizeof *items);
    Type *type = ARENA_NEW(table->arena, Type);
    *type = *wanted;
    type->items = items;
    type->names = wanted->names ? copy_names(table->arena, wanted) : NULL;
    type->places = copy_places(table->arena, wanted);
    type->title = wanted->title ? arena_strdup(table->arena, wanted->title) : NULL;
    type->table = table;
    measure(type);
    arena_on_exhaustion(table->arena, NULL);
    return type;
}

const Type *type_intern(TypeTable *table, const Type *wanted) {
    pthread_mutex_lock(&table->lock);
    Type *type = *find_slot(table->slots, table->nslots, wanted);
    if (!type && (table->used * 2 < table->nslots || grow_slots(table))) {
        type = copy_type(table, wanted);
        if (type) {
            *find_slot(table->slots, table->nslots, wanted) = type;
            table->used++;
        }
    }
    pthread_mutex_unlock(&table->lock);
    if (type) return type;
    table->exhausted = true;
    return &table->simple[TY_BOTTOM];
}

/* ---- exception classes ---- */

static const struct {
    const char *name, *base;
} builtin_exceptions[] = {
#define EXCEPTION(name, base) {#name, #base},
#include "ir/ir_exceptions.def"
#undef EXCEPTION
};

static bool builtin_is(const char *name, const char *base) {
    while (name && strcmp(name, base) != 0) {
        size_t i = 0;
        while (i < COUNT_OF(builtin_exceptions) && strcmp(builtin_exceptions[i].name, name) != 0) i++;
        name = i < COUNT_OF(builtin_exceptions) ? builtin_exceptions[i].base : NULL;
    }
    return name != NULL;
}

static const ExceptionClass *find_exception(const TypeTable *table, ObjRef class) {
    const ExceptionClass *found = table->exceptions;
    while (found && found->class != class) found = found->next;
    return found;
}

/* NULL: no memory. */
static ExceptionClass *copy_exception(TypeTable *table, const ExceptionClass *wanted) {
    jmp_buf recovery;
    if (setjmp(recovery)) {
        arena_on_exhaustion(table->arena, NULL);
        return NULL;
    }
    arena_on_exhaustion(table->arena, &recovery);
    ExceptionClass *copy = ARENA_NEW(table->arena, ExceptionClass);
    ObjRef *all = ARENA_ARRAY(table->arena, ObjRef, wanted->count);
    memcpy(all, wanted->all, wanted->count * sizeof *all);
    *copy = *wanted;
    copy->all = all;
    copy->builtin = wanted->builtin ? arena_strdup(table->arena, wanted->builtin) : NULL;
    arena_on_exhaustion(table->arena, NULL);
    return copy;
}

/* A class may be known from before, with numbers of its bases that they have given back since: what is said last is
 * found first. */
void type_table_add_exception(TypeTable *table, ObjRef class, const char *builtin, const ObjRef *all, size_t count) {
    pthread_mutex_lock(&table->lock);
    ExceptionClass wanted = {class, builtin, all, count, table->exceptions};
    const ExceptionClass *known = find_exception(table, class);
    bool same = known && known->count == count && memcmp(known->all, all, count * sizeof *all) == 0;
    ExceptionClass *copy = same ? NULL : copy_exception(table, &wanted);
    if (copy)
        table->exceptions = copy;
    else if (!same)
        table->exhausted = true;
    pthread_mutex_unlock(&table->lock);
}

bool type_table_exception_is(TypeTable *table, ObjRef class, const char *builtin, ObjRef base) {
    pthread_mutex_lock(&table->lock);
    const ExceptionClass *known = builtin ? find_exception(table, base) : find_exception(table, class);
    bool is = builtin && known && known->builtin && builtin_is(builtin, known->builtin);
    for (size_t i = 0; !builtin && known && i < known->count; i++) is |= known->all[i] == base;
    pthread_mutex_unlock(&table->lock);
    return is;
}

bool type_table_exception_named(TypeTable *table, ObjRef class, const char *builtin, const char *base) {
    if (builtin) return builtin_is(builtin, base);
    pthread_mutex_lock(&table->lock);
    const ExceptionClass *known = find_exception(table, class);
    bool is = false;
    for (size_t i = 0; known && i < known->count; i++) {
        const ExceptionClass *each = find_exception(table, known->all[i]);
        is |= each && each->builtin && builtin_is(each->builtin, base);
    }
    pthread_mutex_unlock(&table->lock);
    return is;
}

/* ---- representations ---- */

/* NULL: no memory. */
static const Repr *make_repr(TypeTable *table, const Type *type) {
    jmp_buf recovery;
    if (setjmp(recovery)) {
        arena_on_exhaustion(table->arena, NULL);
        return NULL;
    }
    arena_on_exhaustion(table->arena, &recovery);
    const Repr *repr = repr_make(table->arena, type);
    arena_on_exhaustion(table->arena, NULL);
    return repr;
}

const Repr *type_repr(const Type *type) {
    const Repr *repr = atomic_load_explicit(&type->repr, memory_order_acquire);
    if (repr) return repr;
    TypeTable *table = type->table;
    for (uint32_t i = 0; i < type->count; i++) { /* before the lock is taken: repr_make asks for them */
        type_repr(type->items[i]);
        if (!atomic_load_explicit(&type->items[i]->repr, memory_order_relaxed))
            return type_repr(&table->simple[TY_BOTTOM]);
    }
    pthread_mutex_lock(&table->lock);
    repr = atomic_load_explicit(&type->repr, memory_order_relaxed);
    if (!repr) {
        repr = make_repr(table, type);
        atomic_store_explicit(&((Type *)type)->repr, repr, memory_order_release);
    }
    pthread_mutex_unlock(&table->lock);
    if (repr) return repr;
    table->exhausted = true;
    return type_repr(&table->simple[TY_BOTTOM]);
}

/* ---- without hashing ---- */

const Type *type_simple(TypeTable *table, TypeKind kind) { return &table->simple[kind]; }

const Type *type_scalar(TypeTable *table, Scalar scalar, bool weak) {
    return &table->scalars[scalar][weak && scalar_info[scalar].weak_name];
}

/* ---- library functions by name ---- */

void type_table_set_functions(TypeTable *table, FuncFinder *find, void *self) {
    table->find_function = find;
    table->functions = self;
}

const FuncHead *type_table_function(const TypeTable *table, const char *name, size_t length) {
    return table->find_function ? table->find_function(table->functions, name, length) : NULL;
}
