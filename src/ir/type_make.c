/* type_make.c: the constructors of types with parameters, and types made of others: what an item is, what iterating
 * gives.  All go through type_intern (types.c). */
#include "ir/ir.h"

#include <string.h> /* strcmp */

/* ---- constructors ---- */

const Type *type_with_items(TypeTable *table, TypeKind kind, ObjRef object, const Type *const *items, size_t count) {
    return type_intern(table, &(Type){.kind = kind, .object = object, .count = (uint32_t)count, .items = items});
}

const Type *type_tuple(TypeTable *table, const Type *const *items, size_t count) {
    return type_with_items(table, TY_TUPLE, 0, items, count);
}

bool type_is_bytes(const Type *type) {
    return type->kind == TY_TUPLE && type->object && type->title && strcmp(type->title, TITLE_OF_BYTES) == 0;
}

const Type *type_named_tuple(TypeTable *table, ObjRef class, const char *title, const char *const *names,
                             const Type *const *items, size_t count) {
    return type_intern(table, &(Type){.kind = TY_TUPLE,
                                      .object = class,
                                      .title = title,
                                      .names = names,
                                      .count = (uint32_t)count,
                                      .items = items});
}

bool type_is_keywords(const Type *type) {
    return type->kind == TY_TUPLE && type->title && strcmp(type->title, KEYWORDS_TITLE) == 0;
}

const char *type_keyword(const Type *keywords, size_t i) { return keywords->names[i] + sizeof KEYWORD_MARK - 1; }

bool type_has_names_of(const Type *a, const Type *b) {
    if (!a->names || !b->names || a->names == b->names || a->count != b->count) return !a->names == !b->names;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0) return false;
    return true;
}

const Type *type_tuple_like(TypeTable *table, const Type *like, const Type *const *items) {
    return like->object ? type_named_tuple(table, like->object, like->title, like->names, items, like->count)
                        : type_tuple(table, items, like->count);
}

const Type *type_enum(TypeTable *table, ObjRef class, const char *title, bool flag) {
    return type_intern(
        table,
        &(Type){
            .kind = TY_SCALAR, .scalar = SCALAR_INT64, .weak = true, .object = class, .title = title, .flag = flag});
}

const Type *type_member(TypeTable *table, ObjRef class, const char *title, bool flag) {
    return type_intern(table, &(Type){.kind = TY_MEMBER, .object = class, .title = title, .flag = flag});
}

const Type *type_optional(TypeTable *table, const Type *content) {
    if (content->kind == TY_NONE || content->kind == TY_OPTIONAL) return content;
    return type_with_items(table, TY_OPTIONAL, 0, &content, 1);
}

/* ---- one of several functions ---- */

enum { MOST_CHOICES = 64 };

bool type_is_function(const Type *type) {
    bool bare = type->kind == TY_CLOSURE && type_size(type) == 0;
    return bare || type->kind == TY_FUNC || type->kind == TY_PYFUNC || type->kind == TY_CHOICE;
}

/* Before which other one a function stands among those to choose from, whatever the order they met in. */
static bool stands_before(const Type *a, const Type *b) {
    if (a->kind != b->kind) return a->kind < b->kind;
    return a->kind == TY_FUNC ? a->func->id < b->func->id : a->object < b->object;
}

static bool add_choice(const Type **items, uint32_t *count, const Type *more) {
    uint32_t place = 0;
    while (place < *count && stands_before(items[place], more)) place++;
    if (place < *count && items[place] == more) return true;
    if (*count == MOST_CHOICES || (place < *count && !stands_before(more, items[place]))) return false;
    for (uint32_t i = (*count)++; i > place; i--) items[i] = items[i - 1];
    items[place] = more;
    return true;
}

static bool add_choices(const Type **items, uint32_t *count, const Type *from) {
    if (from->kind != TY_CHOICE) return add_choice(items, count, from);
    for (uint32_t i = 0; i < from->count; i++)
        if (!add_choice(items, count, from->items[i])) return false;
    return true;
}

const Type *type_choice(TypeTable *table, const Type *a, const Type *b) {
    const Type *items[MOST_CHOICES];
    uint32_t count = 0;
    if (a == b) return a;
    if (!add_choices(items, &count, a) || !add_choices(items, &count, b)) return NULL;
    return type_with_items(table, TY_CHOICE, 0, items, count);
}

/* ---- arrays ---- */

static const Type *array_of(TypeTable *table, const Type *element, unsigned ndim, ArrayLayout layout, bool readonly,
                            bool unaligned) {
    if (element->kind == TY_SCALAR) element = type_scalar(table, (Scalar)element->scalar, false);
    if (ndim == 0 || (ndim == 1 && layout == LAYOUT_F)) layout = LAYOUT_C;
    return type_intern(table, &(Type){.kind = TY_ARRAY,
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
    return type_intern(
        table, &(Type){.kind = TY_ARRAY, .record = true, .readonly = readonly, .count = 1, .items = &structure});
}

const Type *type_struct(TypeTable *table, const Type *like) {
    return type_intern(table, &(Type){.kind = TY_STRUCT,
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
    return type_intern(table, &(Type){.kind = TY_STRUCT,
                                      .form = STRUCT_INSTANCE,
                                      .object = class,
                                      .title = title,
                                      .flag = flag,
                                      .count = (uint32_t)count,
                                      .items = items,
                                      .names = names});
}

const Type *type_shared_instance(TypeTable *table, ObjRef class, const char *title, const char *const *names,
                                 const Type *const *items, size_t count) {
    return type_intern(table, &(Type){.kind = TY_STRUCT,
                                      .form = STRUCT_OBJECT,
                                      .object = class,
                                      .title = title,
                                      .count = (uint32_t)count,
                                      .items = items,
                                      .names = names});
}

const Type *type_object_like(TypeTable *table, const Type *like, const Type *const *items) {
    return type_shared_instance(table, like->object, like->title, like->names, items, like->count);
}

const Type *type_object_body(const Type *object) { return type_tuple(object->table, object->items, object->count); }

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
    return type_intern(
        table, &(Type){.kind = TY_NESTED, .ndim = (uint8_t)ndim, .count = 1, .items = &element, .places = extents});
}

const Type *type_time(TypeTable *table, bool delta, TimeUnit unit, uint32_t count) {
    return type_intern(table, &(Type){.kind = TY_TIME, .flag = delta, .form = (uint8_t)unit, .bytes = count});
}

const Type *type_chars(TypeTable *table, bool wide, uint32_t count) {
    return type_intern(
        table, &(Type){.kind = TY_CHARS, .scalar = wide ? SCALAR_UINT32 : SCALAR_UINT8, .flag = wide, .bytes = count});
}

bool type_can_be_element(const Type *type) {
    if (type->kind == TY_STRUCT) return !type_is_instance(type);
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

const Type *type_as_item(TypeTable *table, const Type *type) {
    if (type->kind == TY_TUPLE && type->count && !type->object) {
        const Type *items[TYPE_ITEM_TUPLE_MOST];
        if (type->count > TYPE_ITEM_TUPLE_MOST) return type;
        for (uint32_t i = 0; i < type->count; i++) items[i] = type_as_item(table, type->items[i]);
        return type_tuple(table, items, type->count);
    }
    bool python = type_is_scalar(type) && (type->scalar == SCALAR_BOOL || type->scalar == SCALAR_INT64 ||
                                           type->scalar == SCALAR_FLOAT64 || type->scalar == SCALAR_COMPLEX128);
    return python ? type_scalar(table, (Scalar)type->scalar, true) : type;
}

const Type *type_slice(TypeTable *table, const Type *start, const Type *stop, const Type *step) {
    const Type *items[3] = {start, stop, step};
    return type_with_items(table, TY_SLICE, 0, items, 3);
}

const Type *type_iter(TypeTable *table, IterKind iter, const Type *const *over, size_t count) {
    return type_intern(table, &(Type){.kind = TY_ITER, .iter = (uint8_t)iter, .count = (uint32_t)count, .items = over});
}

const Type *type_object(TypeTable *table, TypeKind kind, ObjRef object) {
    return type_intern(table, &(Type){.kind = kind, .object = object});
}

const Type *type_func(TypeTable *table, const FuncHead *func) {
    return type_intern(table, &(Type){.kind = TY_FUNC, .func = func});
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

const Type *type_generator(TypeTable *table, const Type *item, const Type *sent, const Type *returned) {
    const Type *none = type_simple(table, TY_NONE), *items[] = {item, sent ? sent : none, returned ? returned : none};
    return type_with_items(table, TY_GENERATOR, 0, items, items[1] == none && items[2] == none ? 1 : 3);
}

static const Type *part_of_generator(TypeTable *table, const Type *of, uint32_t part) {
    const Type *generator = of->kind == TY_ITER ? of->items[0] : of;
    return generator->count > part ? generator->items[part] : type_simple(table, TY_NONE);
}

size_t type_generator_offset(const Type *generator, uint32_t part) {
    enum { ALIGNMENT = 16 };
    size_t bytes = sizeof(GeneratorBody);
    for (uint32_t i = 0; i < part && i < generator->count; i++)
        bytes += (type_size(generator->items[i]) + ALIGNMENT - 1) & -(size_t)ALIGNMENT;
    return bytes;
}

const Type *type_sent(TypeTable *table, const Type *generator) {
    return part_of_generator(table, generator, GENERATOR_SENT);
}

const Type *type_returned(TypeTable *table, const Type *generator) {
    return part_of_generator(table, generator, GENERATOR_GIVEN);
}

bool type_walks_generator(const Type *iter) {
    if (iter->kind == TY_GENERATOR) return true;
    for (uint32_t i = 0; iter->kind == TY_ITER && i < iter->count; i++)
        if (type_walks_generator(iter->items[i])) return true;
    return false;
}

bool type_is_caught(const Type *type) {
    return type->kind == TY_CAUGHT || (type->kind == TY_OPTIONAL && type->items[0]->kind == TY_CAUGHT);
}

bool type_walks_list(const Type *iter) {
    if (iter->kind == TY_LIST || iter->kind == TY_GENERATOR) return true;
    for (uint32_t i = 0; iter->kind == TY_ITER && i < iter->count; i++)
        if (type_walks_list(iter->items[i])) return true;
    return false;
}

const Type *type_iter_item(TypeTable *table, const Type *iter) {
    const Type *over = iter->count ? iter->items[0] : NULL, *items[ITER_MAX_PARTS + 1];
    uint32_t first = iter->iter == ITER_ENUMERATE;
    switch ((IterKind)iter->iter) {
    case ITER_RANGE: return over;
    case ITER_GENERATOR:
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
