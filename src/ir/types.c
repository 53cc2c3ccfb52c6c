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
    return type->kind == TY_STRUCT && type->form != STRUCT_INSTANCE ? type->count
           : type->kind == TY_NESTED                                ? type->ndim
                                                                    : 0;
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
    arena_on_exhaustion(table->arena, NULL);
    return type;
}

static const Type *intern(TypeTable *table, const Type *wanted) {
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

void type_table_add_exception(TypeTable *table, ObjRef class, const char *builtin, const ObjRef *all, size_t count) {
    pthread_mutex_lock(&table->lock);
    ExceptionClass wanted = {class, builtin, all, count, table->exceptions};
    ExceptionClass *copy = find_exception(table, class) ? NULL : copy_exception(table, &wanted);
    if (copy)
        table->exceptions = copy;
    else if (!find_exception(table, class))
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

/* ---- constructors ---- */

const Type *type_simple(TypeTable *table, TypeKind kind) { return &table->simple[kind]; }

const Type *type_scalar(TypeTable *table, Scalar scalar, bool weak) {
    return &table->scalars[scalar][weak && scalar_info[scalar].weak_name];
}

const Type *type_with_items(TypeTable *table, TypeKind kind, ObjRef object, const Type *const *items, size_t count) {
    return intern(table, &(Type){.kind = kind, .object = object, .count = (uint32_t)count, .items = items});
}

const Type *type_tuple(TypeTable *table, const Type *const *items, size_t count) {
    return type_with_items(table, TY_TUPLE, 0, items, count);
}

const Type *type_named_tuple(TypeTable *table, ObjRef class, const char *title, const char *const *names,
                             const Type *const *items, size_t count) {
    return intern(table, &(Type){.kind = TY_TUPLE,
                                 .object = class,
                                 .title = title,
                                 .names = names,
                                 .count = (uint32_t)count,
                                 .items = items});
}

const Type *type_tuple_like(TypeTable *table, const Type *like, const Type *const *items) {
    return like->object ? type_named_tuple(table, like->object, like->title, like->names, items, like->count)
                        : type_tuple(table, items, like->count);
}

const Type *type_enum(TypeTable *table, ObjRef class, const char *title, bool flag) {
    return intern(
        table,
        &(Type){
            .kind = TY_SCALAR, .scalar = SCALAR_INT64, .weak = true, .object = class, .title = title, .flag = flag});
}

const Type *type_optional(TypeTable *table, const Type *content) {
    if (content->kind == TY_NONE || content->kind == TY_OPTIONAL) return content;
    return type_with_items(table, TY_OPTIONAL, 0, &content, 1);
}

static const Type *array_of(TypeTable *table, const Type *element, unsigned ndim, ArrayLayout layout, bool readonly,
                            bool unaligned) {
    if (element->kind == TY_SCALAR) element = type_scalar(table, (Scalar)element->scalar, false);
    if (ndim == 0 || (ndim == 1 && layout == LAYOUT_F)) layout = LAYOUT_C;
    return intern(table, &(Type){.kind = TY_ARRAY,
                                 .ndim = (uint8_t)ndim,
                                 .layout = (uint8_t)layout,
                                 .readonly = readonly,
                                 .unaligned = unaligned,
                                 .count = 1,
                                 .items = &element});
}

const Type *type_array(TypeTable *table, const Type *element, unsigned ndim, ArrayLayout layout, bool readonly) {
    return array_of(table, element, ndim, layout, readonly, false);
}

const Type *type_view(TypeTable *table, const Type *array, unsigned ndim, ArrayLayout layout) {
    return array_of(table, type_element(array), ndim, layout, array->readonly, array->unaligned);
}

/* A record in a numpy.record is one too when it is taken out. */
static const Type *field_element(TypeTable *table, const Type *of, const Type *item) {
    const Type *element = item->kind == TY_NESTED ? item->items[0] : item;
    if (of->form != STRUCT_RECORD_CLASS || !type_is_record(element)) return element;
    Type like = *element;
    like.form = STRUCT_RECORD_CLASS;
    return type_struct(table, &like);
}

const Type *type_field_view(TypeTable *table, const Type *array, unsigned field) {
    const Type *of = type_element(array), *item = of->items[field], *element = field_element(table, of, item);
    bool nested = item->kind == TY_NESTED;
    unsigned ndim = array->ndim + (nested ? item->ndim : 0u);
    if (array->record && !nested && type_is_record(element)) return type_record(table, element, array->readonly);
    bool unaligned = array->unaligned || of->align % type_align(element) || of->places[field] % type_align(element);
    return array_of(table, element, ndim, array->ndim ? LAYOUT_A : LAYOUT_C, array->readonly, unaligned);
}

const Type *type_record(TypeTable *table, const Type *structure, bool readonly) {
    return intern(table,
                  &(Type){.kind = TY_ARRAY, .record = true, .readonly = readonly, .count = 1, .items = &structure});
}

const Type *type_struct(TypeTable *table, const Type *like) {
    return intern(table, &(Type){.kind = TY_STRUCT,
                                 .form = like->form,
                                 .align = like->align,
                                 .bytes = like->bytes,
                                 .count = like->count,
                                 .items = like->items,
                                 .names = like->names,
                                 .places = like->places});
}

const Type *type_instance(TypeTable *table, ObjRef class, const char *title, bool flag, const char *const *names,
                          const Type *const *items, size_t count) {
    return intern(table, &(Type){.kind = TY_STRUCT,
                                 .form = STRUCT_INSTANCE,
                                 .object = class,
                                 .title = title,
                                 .flag = flag,
                                 .count = (uint32_t)count,
                                 .items = items,
                                 .names = names});
}

const Type *type_vector(TypeTable *table, Scalar scalar, unsigned count) {
    static const char *const names[VECTOR_MAX_COUNT] = {"x", "y", "z", "w"};
    enum { WIDEST_ACCESS = 16 };
    const Type *item = type_scalar(table, scalar, false), *items[VECTOR_MAX_COUNT] = {item, item, item, item};
    uint32_t bytes = scalar_info[scalar].bytes, places[VECTOR_MAX_COUNT] = {0, bytes, 2 * bytes, 3 * bytes};
    uint32_t align = count == 3 ? bytes : count * bytes;
    return type_struct(table, &(Type){.form = STRUCT_VECTOR,
                                      .align = (uint8_t)(align < WIDEST_ACCESS ? align : WIDEST_ACCESS),
                                      .bytes = count * bytes,
                                      .count = count,
                                      .items = items,
                                      .names = names,
                                      .places = places});
}

const Type *type_nested(TypeTable *table, const Type *element, unsigned ndim, const uint32_t *extents) {
    return intern(table,
                  &(Type){.kind = TY_NESTED, .ndim = (uint8_t)ndim, .count = 1, .items = &element, .places = extents});
}

const Type *type_time(TypeTable *table, bool delta, TimeUnit unit, uint32_t count) {
    return intern(table, &(Type){.kind = TY_TIME, .flag = delta, .form = (uint8_t)unit, .bytes = count});
}

const Type *type_chars(TypeTable *table, bool wide, uint32_t count) {
    return intern(
        table, &(Type){.kind = TY_CHARS, .scalar = wide ? SCALAR_UINT32 : SCALAR_UINT8, .flag = wide, .bytes = count});
}

bool type_can_be_element(const Type *type) {
    if (type->kind == TY_STRUCT) return type->form != STRUCT_INSTANCE;
    return type->kind == TY_TIME || type->kind == TY_CHARS || (type->kind == TY_SCALAR && !type->weak);
}

int type_field(const Type *type, const char *name) {
    for (uint32_t i = 0; type->names && i < type->count; i++)
        if (strcmp(type->names[i], name) == 0) return (int)i;
    return -1;
}

const Type *type_table_of(TypeTable *table, const Type *key, const Type *value) {
    const Type *number = type_scalar(table, SCALAR_INT64, true), *parts[3] = {number, key, value}, *lists[2];
    const Type *entry = type_tuple(table, parts, value ? 3 : 2);
    lists[0] = type_with_items(table, TY_LIST, 0, &entry, 1);
    lists[1] = type_with_items(table, TY_LIST, 0, &number, 1);
    return type_with_items(table, value ? TY_DICT : TY_SET, 0, lists, 2);
}

const Type *type_slice(TypeTable *table, const Type *start, const Type *stop, const Type *step) {
    const Type *items[3] = {start, stop, step};
    return type_with_items(table, TY_SLICE, 0, items, 3);
}

const Type *type_iter(TypeTable *table, IterKind iter, const Type *const *over, size_t count) {
    return intern(table, &(Type){.kind = TY_ITER, .iter = (uint8_t)iter, .count = (uint32_t)count, .items = over});
}

const Type *type_object(TypeTable *table, TypeKind kind, ObjRef object) {
    return intern(table, &(Type){.kind = kind, .object = object});
}

const Type *type_func(TypeTable *table, const FuncHead *func) {
    return intern(table, &(Type){.kind = TY_FUNC, .func = func});
}

void type_table_set_functions(TypeTable *table, FuncFinder *find, void *self) {
    table->find_function = find;
    table->functions = self;
}

const FuncHead *type_table_function(const TypeTable *table, const char *name, size_t length) {
    return table->find_function ? table->find_function(table->functions, name, length) : NULL;
}

bool type_takes_element(const Type *array, const Type *index) {
    if (index->kind != TY_TUPLE) return array->ndim == 1 && type_is_integer(index);
    for (uint32_t i = 0; i < index->count; i++)
        if (!type_is_integer(index->items[i])) return false;
    return index->count == array->ndim;
}

const Type *type_element_value(TypeTable *table, const Type *array) {
    const Type *element = type_element(array);
    return type_is_record(element) ? type_record(table, element, array->readonly) : element;
}

const Type *type_array_item(TypeTable *table, const Type *array) {
    if (array->ndim == 1) return type_element_value(table, array);
    ArrayLayout layout = array->layout == LAYOUT_C ? LAYOUT_C : LAYOUT_A;
    return type_view(table, array, array->ndim - 1u, layout);
}

bool type_walks_list(const Type *iter) {
    if (iter->kind == TY_LIST) return true;
    for (uint32_t i = 0; iter->kind == TY_ITER && i < iter->count; i++)
        if (type_walks_list(iter->items[i])) return true;
    return false;
}

const Type *type_iter_item(TypeTable *table, const Type *iter) {
    const Type *over = iter->count ? iter->items[0] : NULL, *items[ITER_MAX_PARTS + 1];
    uint32_t first = iter->iter == ITER_ENUMERATE;
    switch ((IterKind)iter->iter) {
    case ITER_RANGE: return over;
    case ITER_LIST: return over->items[0]->kind == TY_BOTTOM ? NULL : over->items[0];
    case ITER_FLAT: return type_element_value(table, over->items[0]);
    case ITER_TUPLE:
    case ITER_ARRAY:
    case ITER_REVERSED:
        if (over->kind == TY_RANGE) return type_scalar(table, SCALAR_INT64, true);
        if (over->kind == TY_ARRAY) return type_array_item(table, over);
        if (over->kind == TY_LIST && over->items[0]->kind == TY_BOTTOM) return NULL;
        return over->count ? over->items[0] : NULL;
    case ITER_ENUMERATE:
    case ITER_ZIP:
        if (!iter->count || iter->count > ITER_MAX_PARTS) return NULL;
        items[0] = type_scalar(table, SCALAR_INT64, true);
        for (uint32_t i = 0; i < iter->count; i++)
            if (!(items[first + i] = type_iter_item(table, iter->items[i]))) return NULL;
        return type_tuple(table, items, iter->count + first);
    }
    return NULL;
}
