/* repr.c: the representation of each type (repr.h): leaves, sizes, offsets; the list of a kernel's parameters.
 *
 * A composite is the C struct of its items: its leaves are theirs, moved to the items' offsets.  Kinds without
 * parameters and scalars have tables; the rest is computed from the items when first asked for, once, and lies in the
 * memory of the type's table (types.c: type_repr). */
#include <stddef.h> /* offsetof */

#include "ir/ir.h"

/* ---- tables ---- */

#define WHOLE(SCALAR, bytes)    {.kind = LEAF_SCALAR, .scalar = (SCALAR), .align = (bytes)}
#define HALF(SCALAR, bytes, at) {.kind = LEAF_SCALAR, .scalar = (SCALAR), .align = (bytes), .offset = (at) * (bytes)}

static const Leaf scalar_leaves[SCALAR_COUNT][2] = {
#define SCALAR(name, text, numpy_char, kind, bytes, weak_name) [SCALAR_##name] = {WHOLE(SCALAR_##name, bytes)},
#include "ir/ir_types.def"
#undef SCALAR
};
static const Leaf complex64_leaves[] = {HALF(SCALAR_FLOAT32, 4, 0), HALF(SCALAR_FLOAT32, 4, 1)};
static const Leaf complex128_leaves[] = {HALF(SCALAR_FLOAT64, 8, 0), HALF(SCALAR_FLOAT64, 8, 1)};
static const Leaf range_leaves[] = {HALF(SCALAR_INT64, 8, 0), HALF(SCALAR_INT64, 8, 1), HALF(SCALAR_INT64, 8, 2)};
static const Part range_parts[] = {{0, 1, 0}, {1, 1, 8}, {2, 1, 16}};
static const Leaf state_leaf = {.kind = LEAF_STATE, .align = sizeof(void *)};
static const Leaf present_leaf = {.kind = LEAF_PRESENT, .scalar = SCALAR_BOOL, .align = 1};

static const Repr nothing_repr = {.align = 1};
static const Repr range_repr = {24, 8, 3, 3, range_leaves, range_parts};
static const Repr state_repr = {sizeof(void *), sizeof(void *), 1, 0, &state_leaf, NULL};
static const Repr present_repr = {1, 1, 1, 0, &present_leaf, NULL};
static const Repr too_large_repr = {.align = 1, .nleaves = REPR_MAX_LEAVES + 1};

static const Repr scalar_reprs[SCALAR_COUNT] = {
#define SCALAR(name, text, numpy_char, kind, bytes, weak_name) \
    [SCALAR_##name] = {bytes, bytes, 1, 0, scalar_leaves[SCALAR_##name], NULL},
#include "ir/ir_types.def"
#undef SCALAR
};
static const Repr complex64_repr = {8, 4, 2, 0, complex64_leaves, NULL};
static const Repr complex128_repr = {16, 8, 2, 0, complex128_leaves, NULL};

static const Repr *scalar_repr(Scalar scalar) {
    if (scalar == SCALAR_COMPLEX64) return &complex64_repr;
    if (scalar == SCALAR_COMPLEX128) return &complex128_repr;
    return &scalar_reprs[scalar];
}

/* ---- what is computed ---- */

static size_t round_up(size_t offset, size_t align) { return (offset + align - 1) / align * align; }

/* The struct of these items. */
static const Repr *struct_repr(Arena *arena, const Repr *const *items, size_t count) {
    Repr sum = {.align = 1, .nparts = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        sum.nleaves += items[i]->nleaves;
        sum.size = round_up(sum.size, items[i]->align) + items[i]->size;
        if (items[i]->align > sum.align) sum.align = items[i]->align;
        if (sum.nleaves > REPR_MAX_LEAVES || sum.size > UINT32_MAX / 2) return &too_large_repr;
    }
    sum.size = round_up(sum.size, sum.align);
    Leaf *leaves = ARENA_ARRAY(arena, Leaf, sum.nleaves);
    Part *parts = ARENA_ARRAY(arena, Part, count);
    size_t offset = 0;
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        offset = round_up(offset, items[i]->align);
        parts[i] = (Part){next, items[i]->nleaves, (uint32_t)offset};
        for (uint32_t k = 0; k < items[i]->nleaves; k++) {
            leaves[next] = items[i]->leaves[k];
            leaves[next++].offset += (uint32_t)offset;
        }
        offset += items[i]->size;
    }
    sum.leaves = leaves;
    sum.parts = parts;
    Repr *repr = ARENA_NEW(arena, Repr);
    *repr = sum;
    return repr;
}

static const Repr *repr_items(Arena *arena, const Type *type) {
    const Repr **items = ARENA_ARRAY(arena, const Repr *, type->count);
    for (uint32_t i = 0; i < type->count; i++) items[i] = type_repr(type->items[i]);
    return struct_repr(arena, items, type->count);
}

static const Repr *repr_array(Arena *arena, const Type *type) {
    unsigned ndim = type->ndim, next = 0;
    Leaf *leaves = ARENA_ARRAY(arena, Leaf, 2 + 2 * ndim);
    leaves[next++] = (Leaf){.kind = LEAF_DATA, .align = 8, .array = type, .offset = offsetof(ArrayHead, data)};
    leaves[next++] = (Leaf){.kind = LEAF_OWNER, .align = 8, .array = type, .offset = offsetof(ArrayHead, owner)};
    for (unsigned k = 0; k < (type->layout == LAYOUT_A ? 2 : 1) * ndim; k++)
        leaves[next++] = (Leaf){.kind = k < ndim ? LEAF_SHAPE : LEAF_STRIDE,
                                .scalar = SCALAR_INT64,
                                .axis = (uint8_t)(k % ndim),
                                .align = 8,
                                .array = type,
                                .offset = (uint32_t)(sizeof(ArrayHead) + sizeof(int64_t) * k)};
    Repr *repr = ARENA_NEW(arena, Repr);
    *repr = (Repr){
        .size = sizeof(ArrayHead) + 2 * sizeof(int64_t) * ndim, .align = 8, .nleaves = next, .leaves = leaves};
    return repr;
}

/* What every address of that offset in a thing of that alignment is a multiple of. */
static uint8_t align_at(uint32_t align, uint32_t offset) {
    while (offset % align) align /= 2;
    return (uint8_t)align;
}

static const Repr *laid_out_repr(Arena *arena, const Type *type) {
    Repr *repr = ARENA_NEW(arena, Repr);
    *repr = (Repr){.size = type->bytes, .align = type->align, .nparts = type->count};
    for (uint32_t i = 0; i < type->count; i++) repr->nleaves += type_repr(type->items[i])->nleaves;
    if (repr->nleaves > REPR_MAX_LEAVES) return &too_large_repr;
    Leaf *leaves = ARENA_ARRAY(arena, Leaf, repr->nleaves);
    Part *parts = ARENA_ARRAY(arena, Part, type->count);
    uint32_t next = 0;
    for (uint32_t i = 0; i < type->count; i++) {
        const Repr *item = type_repr(type->items[i]);
        parts[i] = (Part){next, item->nleaves, type->places[i]};
        for (uint32_t k = 0; k < item->nleaves; k++) {
            leaves[next] = item->leaves[k];
            leaves[next].offset += type->places[i];
            leaves[next].align = align_at(type->align, leaves[next].offset);
            next++;
        }
    }
    repr->leaves = leaves;
    repr->parts = parts;
    return repr;
}

static const Repr *repr_chars(Arena *arena, const Type *type) {
    uint8_t bytes = scalar_info[type->scalar].bytes;
    Leaf *leaves = ARENA_ARRAY(arena, Leaf, type->bytes);
    for (uint32_t i = 0; i < type->bytes; i++)
        leaves[i] = (Leaf){.kind = LEAF_SCALAR, .scalar = type->scalar, .align = bytes, .offset = i * bytes};
    Repr *repr = ARENA_NEW(arena, Repr);
    *repr = (Repr){.size = (size_t)bytes * type->bytes, .align = bytes, .nleaves = type->bytes, .leaves = leaves};
    return repr;
}

static const Repr *repr_nested(Arena *arena, const Type *type) {
    const Repr *item = type_repr(type->items[0]);
    Repr *repr = ARENA_NEW(arena, Repr);
    *repr = (Repr){.size = item->size, .align = item->align};
    for (unsigned i = 0; i < type->ndim; i++) repr->size *= type->places[i];
    return repr;
}

static const Repr *repr_list(Arena *arena, const Type *type) {
    Leaf *leaf = ARENA_NEW(arena, Leaf);
    Repr *repr = ARENA_NEW(arena, Repr);
    *leaf = (Leaf){.kind = LEAF_OWNER, .align = sizeof(void *), .array = type};
    *repr = (Repr){.size = sizeof(void *), .align = sizeof(void *), .nleaves = 1, .leaves = leaf};
    return repr;
}

/* The lists of a dict or a set; each leaf says what they are together. */
static const Repr *repr_table(Arena *arena, const Type *type) {
    Leaf *leaves = ARENA_ARRAY(arena, Leaf, 2);
    Part *parts = ARENA_ARRAY(arena, Part, 2);
    Repr *repr = ARENA_NEW(arena, Repr);
    for (uint8_t i = 0; i < 2; i++) {
        uint32_t offset = i * (uint32_t)sizeof(void *);
        leaves[i] = (Leaf){.kind = LEAF_OWNER, .axis = i, .align = sizeof(void *), .offset = offset, .array = type};
        parts[i] = (Part){i, 1, offset};
    }
    *repr = (Repr){2 * sizeof(void *), sizeof(void *), 2, 2, leaves, parts};
    return repr;
}

/* ---- one function a kind: column `repr` of ir_kinds.def ---- */

static const Repr *repr_nothing(Arena *arena, const Type *type) { return (void)arena, (void)type, &nothing_repr; }
static const Repr *repr_scalar(Arena *arena, const Type *type) {
    return (void)arena, scalar_repr((Scalar)type->scalar);
}
static const Repr *repr_ticks(Arena *arena, const Type *type) {
    return (void)arena, (void)type, scalar_repr(SCALAR_INT64);
}
static const Repr *repr_range(Arena *arena, const Type *type) { return (void)arena, (void)type, &range_repr; }
static const Repr *repr_state(Arena *arena, const Type *type) { return (void)arena, (void)type, &state_repr; }
static const Repr *repr_flat(Arena *arena, const Type *type) { return (void)arena, type_repr(type->items[0]); }
static const Repr *repr_struct(Arena *arena, const Type *type) {
    if (type->form == STRUCT_OBJECT) return repr_list(arena, type);
    return type->form == STRUCT_INSTANCE ? repr_items(arena, type) : laid_out_repr(arena, type);
}
static const Repr *repr_optional(Arena *arena, const Type *type) {
    return struct_repr(arena, (const Repr *[]){type_repr(type->items[0]), &present_repr}, 2);
}

const Repr *repr_make(Arena *arena, const Type *type) {
    static const Repr *(*const makers[TY_COUNT])(Arena *arena, const Type *type) = {
#define KIND(name, text, form, repr, leaves, values, truth, fields) [TY_##name] = repr_##repr,
#include "ir/ir_kinds.def"
#undef KIND
    };
    return makers[type->kind](arena, type);
}

/* ---- questions ---- */

size_t type_size(const Type *type) { return type_repr(type)->size; }
size_t type_align(const Type *type) { return type_repr(type)->align; }
size_t type_whole_align(const Type *element) {
    return type_scalar_kind(element) == 'c' ? type_size(element) : type_align(element);
}
size_t type_item_offset(const Type *type, size_t index) { return type_repr(type)->parts[index].offset; }

bool type_same_bytes(const Type *a, const Type *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->count != b->count || a->kind == TY_SCALAR || a->kind == TY_TIME || a->kind == TY_CHARS)
        return false;
    if (a->kind == TY_STRUCT && a->bytes != b->bytes) return false;
    if (a->kind == TY_NESTED && a->ndim != b->ndim) return false;
    uint32_t places = a->kind == TY_STRUCT ? a->count : a->kind == TY_NESTED ? a->ndim : 0;
    for (uint32_t i = 0; i < places; i++)
        if (a->places[i] != b->places[i]) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!type_same_bytes(a->items[i], b->items[i])) return false;
    return true;
}

bool leaf_is_pointer(const Leaf *leaf) {
    return leaf->kind == LEAF_DATA || leaf->kind == LEAF_OWNER || leaf->kind == LEAF_STATE;
}

bool type_can_leave(const Type *type) {
    if (type->kind == TY_STRUCT && type->form == STRUCT_INSTANCE && !type->flag)
        return false; /* the one that came in is another one */
    for (uint32_t i = 0; kind_leaves[type->kind] == LEAVES_ITEMS && i < type->count; i++)
        TRY(type_can_leave(type->items[i]));
    return kind_leaves[type->kind] != LEAVES_NEVER;
}

bool type_is_object(const Type *type) {
    const Repr *repr = type_repr(type);
    return repr->nleaves == 1 && repr->leaves[0].kind == LEAF_OWNER && repr->leaves[0].array == type;
}

bool type_is_counted(const Type *type) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++)
        if (repr->leaves[i].kind == LEAF_OWNER) return true;
    return false;
}

size_t leaf_bytes(const Leaf *leaf) { return leaf_is_pointer(leaf) ? sizeof(void *) : scalar_info[leaf->scalar].bytes; }

size_t kernel_params(Arena *arena, const Type *const *types, size_t count, KernelParam **params, size_t *bytes) {
    VEC(KernelParam) list = {0};
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const Repr *repr = type_repr(types[i]);
        for (uint32_t k = 0; k < repr->nleaves; k++) {
            const Leaf *leaf = &repr->leaves[k];
            if (leaf->kind == LEAF_OWNER) continue;
            size_t size = leaf_bytes(leaf), to = round_up(end, size); /* natural alignment is the size */
            vec_push(arena, &list, (KernelParam){leaf, (uint32_t)i, (uint32_t)to});
            end = to + size;
        }
    }
    *params = list.data;
    *bytes = end;
    return list.len;
}
