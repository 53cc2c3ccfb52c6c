/* layout.c: where the bytes of a value lie, as C lays out a struct, and the list of a kernel's parameters (rules in
 * ir.h).
 *
 * Every composite is described once, as a list of fields (struct_fields); size, alignment, offsets and leaves follow
 * from that list. */
#include "ir/ir.h"

#include <string.h> /* memset */

/* One member of a struct: another type, or `bytes` of integers or pointers. */
typedef struct Field {
    const Type *type; /* NULL: plain bytes */
    uint32_t bytes;
} Field;

static size_t scalar_align(Scalar scalar) {
    return scalar_info[scalar].kind == 'c' ? scalar_info[scalar].bytes / 2 : scalar_info[scalar].bytes;
}

static size_t field_count(const Type *type) {
    switch (type->kind) {
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC: return type->count;
    case TY_OPTIONAL: return 2;
    case TY_RANGE: return 3;
    case TY_ARRAY: return 2 + 2 * (size_t)type->ndim;
    default: return 0;
    }
}

static Field field_at(const Type *type, size_t index) {
    switch (type->kind) {
    case TY_OPTIONAL: return index == 0 ? (Field){.type = type->items[0]} : (Field){.bytes = 1};
    case TY_RANGE: return (Field){.bytes = sizeof(int64_t)};
    case TY_ARRAY: return (Field){.bytes = index < 2 ? sizeof(void *) : sizeof(int64_t)};
    default: return (Field){.type = type->items[index]};
    }
}

static size_t field_size(Field field) { return field.type ? type_size(field.type) : field.bytes; }
static size_t field_align(Field field) { return field.type ? type_align(field.type) : field.bytes; }

static size_t round_up(size_t offset, size_t align) { return (offset + align - 1) / align * align; }

size_t type_align(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR: return scalar_align((Scalar)type->scalar);
    case TY_FLAT: return type_align(type->items[0]);
    case TY_CELL:
    case TY_ITER: return sizeof(void *);
    default: break;
    }
    size_t align = 1, count = field_count(type);
    for (size_t i = 0; i < count; i++) {
        size_t wanted = field_align(field_at(type, i));
        if (wanted > align) align = wanted;
    }
    return align;
}

/* Offset of field `index`; of the end of the last field if there is none. */
static size_t field_offset(const Type *type, size_t index) {
    size_t offset = 0, count = field_count(type);
    for (size_t i = 0; i < count; i++) {
        Field field = field_at(type, i);
        offset = round_up(offset, field_align(field));
        if (i == index) return offset;
        offset += field_size(field);
    }
    return offset;
}

size_t type_size(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR: return scalar_info[type->scalar].bytes;
    case TY_FLAT: return type_size(type->items[0]);
    case TY_CELL:
    case TY_ITER: return sizeof(void *);
    default: break;
    }
    return round_up(field_offset(type, field_count(type)), type_align(type));
}

size_t type_item_offset(const Type *type, size_t index) { return field_offset(type, index); }

/* ---- kernel parameters ---- */

typedef struct LeafList {
    Arena *arena;
    VEC(KernelLeaf) leaves;
    uint32_t argument;
    size_t end; /* of the parameter buffer so far */
} LeafList;

static void add_leaf(LeafList *list, KernelLeaf leaf) {
    leaf.argument = list->argument;
    list->end = round_up(list->end, leaf.align);
    leaf.to = (uint32_t)list->end;
    list->end += leaf.bytes;
    vec_push(list->arena, &list->leaves, leaf);
}

static void add_scalar(LeafList *list, Scalar scalar, size_t from) {
    add_leaf(list, (KernelLeaf){.kind = LEAF_SCALAR,
                                .scalar = scalar,
                                .bytes = scalar_info[scalar].bytes,
                                .align = (uint32_t)scalar_align(scalar),
                                .from = (uint32_t)from});
}

static void add_array(LeafList *list, const Type *array, size_t from) {
    KernelLeaf leaf = {.kind = LEAF_POINTER, .array = array, .bytes = 8, .align = 8, .from = (uint32_t)from};
    add_leaf(list, leaf);
    leaf.kind = LEAF_SHAPE;
    for (leaf.axis = 0; leaf.axis < array->ndim; leaf.axis++) {
        leaf.from = (uint32_t)(from + sizeof(ArrayHead) + 8 * leaf.axis);
        add_leaf(list, leaf);
    }
    if (array->layout != LAYOUT_A) return;
    leaf.kind = LEAF_STRIDE;
    for (leaf.axis = 0; leaf.axis < array->ndim; leaf.axis++) {
        leaf.from = (uint32_t)(from + sizeof(ArrayHead) + 8 * (array->ndim + leaf.axis));
        add_leaf(list, leaf);
    }
}

static void add_type(LeafList *list, const Type *type, size_t from) {
    if (type->kind == TY_SCALAR) {
        add_scalar(list, (Scalar)type->scalar, from);
    } else if (type->kind == TY_ARRAY) {
        add_array(list, type, from);
    } else if (type->kind == TY_FLAT) {
        add_array(list, type->items[0], from);
    } else {
        size_t count = field_count(type);
        for (size_t i = 0; i < count; i++) {
            Field field = field_at(type, i);
            size_t at = from + field_offset(type, i);
            if (field.type)
                add_type(list, field.type, at);
            else
                add_scalar(list, field.bytes == 1 ? SCALAR_BOOL : SCALAR_INT64, at);
        }
    }
}

size_t kernel_leaves(Arena *arena, const Type *const *types, size_t count, KernelLeaf **leaves, size_t *bytes) {
    LeafList list = {.arena = arena};
    for (size_t i = 0; i < count; i++) {
        list.argument = (uint32_t)i;
        add_type(&list, types[i], 0);
    }
    *leaves = list.leaves.data;
    *bytes = list.end;
    return list.leaves.len;
}
