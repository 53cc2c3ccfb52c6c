/* lattice.c: the order of types, and the join where control flow meets.
 *
 *        Optional(T)              Optional(array A)          (join of items, ...)      refused
 *        /         \                      |                          |                    |
 *      None    T: scalar            array(e, n, A, ro)         (int, float32)       f | g, dtype | dtype,
 *               complex128           /            \                  |              array | int, ...
 *               /       \      array(e,n,C,ro)  array(e,n,A)    (int, int)
 *          float64  complex64        |       \    /
 *          /   |   \               ...    array(e,n,C)
 *    int64 float32  float (weak)
 *      ...    |     int (weak)
 *             ...   bool (weak)
 *        \______|______/______________ bottom: no value reaches here (yet)
 *
 * Scalars join as they promote (promote.c): weak ones below the strong ones they adapt to.  The join is commutative,
 * joining twice changes nothing, and every chain upwards is short: that is why the solver ends.  It is not associative
 * (int8 and a Python float are float64, complex64 with each of them complex64): of several types the first by
 * typeinfer_join_rank joins first.  Constants join as in
 * the flat lattice: two equal ones stay, others are forgotten (typeinfer_fact_join).  Two types without a join
 * (NULL here) are a TypingError where they meet. */
#include <string.h> /* strchr */

#include "typeinfer/rules.h"

static const Type *join_items(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    const Type *items[64];
    if (a->count != b->count || a->object != b->object || a->count > COUNT_OF(items) || !type_has_names_of(a, b))
        return NULL; /* longer ones join only if equal */
    for (uint32_t i = 0; i < a->count; i++) {
        items[i] = typeinfer_join(promotion, types, a->items[i], b->items[i]);
        if (!items[i]) return NULL;
    }
    return type_tuple_like(types, a, items);
}

/* Tuples of several lengths, whose items join, are tuples of any length; NULL: they do not.  What has a length of its
 * own already cannot have its items converted. */
static const Type *join_lengths(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    const Type *item = type_simple(types, TY_BOTTOM), *both[] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (both[k]->object || (both[k]->kind != TY_TUPLE && both[k]->kind != TY_VARTUPLE)) return NULL;
        for (uint32_t i = 0; i < both[k]->count; i++)
            TRY(item = typeinfer_join(promotion, types, item, both[k]->items[i]));
    }
    if (item->kind == TY_STR) item = type_simple(types, TY_STRING);
    for (int k = 0; k < 2; k++)
        if (both[k]->kind == TY_VARTUPLE && both[k]->items[0] != item && both[k]->items[0]->kind != TY_BOTTOM)
            return NULL;
    return type_with_items(types, TY_VARTUPLE, 0, &item, 1);
}

static const Type *join_tuples(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE && (a->count == b->count || a->object || b->object))
        return join_items(promotion, types, a, b);
    return join_lengths(promotion, types, a, b);
}

/* None or a value; the tuple in an Optional keeps its length. */
static const Type *join_optionals(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    const Type *first = infer_content(a), *second = infer_content(b);
    const Type *content = typeinfer_join(promotion, types, first, second);
    bool longer = content && content->kind == TY_VARTUPLE &&
                  ((a->kind == TY_OPTIONAL && first->kind == TY_TUPLE) ||
                   (b->kind == TY_OPTIONAL && second->kind == TY_TUPLE));
    return content && !longer ? type_optional(types, content) : NULL;
}

static const Type *join_arrays(TypeTable *types, const Type *a, const Type *b) {
    if (a->items[0] != b->items[0] || a->ndim != b->ndim || a->record != b->record) return NULL;
    ArrayLayout layout = a->layout == b->layout ? (ArrayLayout)a->layout : LAYOUT_A;
    const Type like = {
        .items = a->items, .readonly = a->readonly || b->readonly, .unaligned = a->unaligned || b->unaligned};
    return a->record ? type_record(types, a->items[0], like.readonly) : type_view(types, &like, a->ndim, layout);
}

typedef struct Joining {
    Promotion promotion;
    TypeTable *types;
} Joining;

static const Type *join_attributes(void *self, const Type *a, const Type *b) {
    const Joining *joining = self;
    return typeinfer_join(joining->promotion, joining->types, a, b);
}

/* Objects of one class are made again with attributes that hold both. */
static const Type *join_objects(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    if (a->object != b->object || a->count != b->count) return NULL;
    return type_object_of(types, a, (const Type *const *[]){a->items, b->items}, 2, join_attributes,
                          &(Joining){promotion, types});
}

const Type *typeinfer_object(Infer *in, const Type *like, const Type *const *items) {
    return type_object_of(in->types, like, &items, 1, join_attributes, &(Joining){in->config->promotion, in->types});
}

static const Type *join_contents(TypeTable *types, const Type *a, const Type *b);

/* Of one that is sent nothing yet it is known where it is made (growth.c); what they return has the same place. */
static const Type *join_generators(TypeTable *types, const Type *a, const Type *b) {
    const Type *item = join_contents(types, a->items[0], b->items[0]), *returned = type_returned(types, a);
    const Type *sent = typeinfer_join(PROMOTION_NUMPY2, types, type_sent(types, a), type_sent(types, b));
    return item && sent && returned == type_returned(types, b) ? type_generator(types, item, sent, returned) : NULL;
}

/* What can be changed has one type for all who see it: only what holds nothing yet takes the other's. */
static const Type *join_contents(TypeTable *types, const Type *a, const Type *b) {
    const Type *items[64];
    if (a == b || b->kind == TY_BOTTOM) return a;
    if (a->kind == TY_BOTTOM) return b;
    if (type_is_shared(a) && type_is_shared(b)) return join_objects(PROMOTION_NUMPY2, types, a, b);
    if (a->kind == TY_GENERATOR && b->kind == TY_GENERATOR) return join_generators(types, a, b);
    bool container = a->kind == TY_LIST || a->kind == TY_VARTUPLE || type_is_table(a) ||
                     (a->kind == TY_TUPLE && !a->object);
    if (!container || a->kind != b->kind || a->object != b->object || a->count != b->count ||
        a->count > COUNT_OF(items))
        return NULL;
    for (uint32_t i = 0; i < a->count; i++) TRY(items[i] = join_contents(types, a->items[i], b->items[i]));
    return type_with_items(types, a->kind, 0, items, a->count);
}

/* What an Optional can hold: values that can be passed around. */
static bool can_be_optional(const Type *type) {
    return type->kind != TY_ITER && type->kind != TY_CELL && type->kind != TY_BOTTOM;
}

/* A text of the program, any string, or one that is not made yet. */
static bool is_text(const Type *type) {
    return type->kind == TY_STR || type->kind == TY_STRING || type->kind == TY_TEXT;
}

const Type *typeinfer_join(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    if (a == b || b->kind == TY_BOTTOM) return a;
    if (a->kind == TY_BOTTOM) return b;
    if (a->kind == TY_NONE) return can_be_optional(b) ? type_optional(types, b) : NULL;
    if (b->kind == TY_NONE) return can_be_optional(a) ? type_optional(types, a) : NULL;
    if (is_text(a) && is_text(b)) return type_simple(types, TY_STRING);
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) return join_optionals(promotion, types, a, b);
    if (a->kind == TY_VARTUPLE || b->kind == TY_VARTUPLE) return join_lengths(promotion, types, a, b);
    if (type_is_function(a) && type_is_function(b)) return type_choice(types, a, b);
    if (a->kind != b->kind) return NULL;
    switch (a->kind) {
    case TY_SCALAR: return typeinfer_promote(promotion, types, a, b);
    case TY_CHARS: return a->flag == b->flag ? (a->bytes > b->bytes ? a : b) : NULL;
    case TY_TIME: return a->flag == b->flag ? type_time_common(types, a->flag, a, b) : NULL;
    case TY_TUPLE: return join_tuples(promotion, types, a, b);
    case TY_STRUCT: return type_is_shared(a) && type_is_shared(b) ? join_objects(promotion, types, a, b) : NULL;
    case TY_ARRAY: return join_arrays(types, a, b);
    case TY_GENERATOR:
    case TY_LIST:
    case TY_DICT:
    case TY_SET: return join_contents(types, a, b);
    case TY_FLAT: {
        const Type *array = join_arrays(types, a->items[0], b->items[0]);
        return array ? type_with_items(types, TY_FLAT, 0, &array, 1) : NULL;
    }
    default: return NULL; /* equal ones are one pointer */
    }
}

static bool is_weak_number(const Type *type) { return type->kind == TY_SCALAR && type->weak && !type->object; }

bool typeinfer_mixes_bool(const Type *a, const Type *b) {
    const Type *x = infer_content(a), *y = infer_content(b);
    return is_weak_number(x) && is_weak_number(y) && (x->scalar == SCALAR_BOOL) != (y->scalar == SCALAR_BOOL);
}

const Type *typeinfer_join_items(Infer *in, const Type *a, const Type *b) {
    bool apart = !in->device && typeinfer_mixes_bool(a, b);
    return apart ? NULL : typeinfer_join(in->config->promotion, in->types, a, b);
}

/* The type of a fact that meets `other`.  A Python int adapts to the strong integer type it meets; a constant that this
 * type cannot hold (best = -1 before uint8 values are looked at) does not: it counts as int64. */
static const Type *type_meeting(Infer *in, Fact fact, Fact other) {
    const Type *strong = infer_content(other.type);
    bool meets = fact.konst && fact.type->kind == TY_SCALAR && fact.type->weak && strong->kind == TY_SCALAR &&
                 !strong->weak && (type_scalar_kind(strong) == 'i' || type_scalar_kind(strong) == 'u');
    return meets && !typing_konst_fits(fact.konst, strong) ? infer_scalar(in, SCALAR_INT64, false) : fact.type;
}

/* The fact of a value that holds `a` on one path and `b` on another; false: no common type. */
bool typeinfer_fact_join(Infer *in, Fact a, Fact b, Fact *out) {
    if (a.type->kind == TY_BOTTOM || b.type->kind == TY_BOTTOM) {
        *out = a.type->kind == TY_BOTTOM ? b : a;
        if (!in->device && out->type->kind == TY_TEXT) *out = (Fact){typeinfer_general(in, out->type), NULL};
        return true;
    }
    const Type *type = typeinfer_join(in->config->promotion, in->types, type_meeting(in, a, b), type_meeting(in, b, a));
    if (!type || (type->kind == TY_VARTUPLE && in->device)) return false;
    bool same = a.konst && b.konst && a.type == b.type && const_equal(a.konst, b.konst);
    if (!same && !in->device) type = typeinfer_general(in, type);
    *out = (Fact){type, same ? a.konst : NULL};
    return true;
}

int typeinfer_join_rank(const Type *type) {
    static const char order[] = "cfib";
    const Type *content = infer_content(type);
    if (content->kind != TY_SCALAR) return TYPEINFER_RANKS - 1;
    char kind = type_scalar_kind(content);
    return (int)(strchr(order, kind == 'u' ? 'i' : kind) - order);
}

/* ---- conversion of arguments to declared types ---- */

/* As C converts numbers; what loses least is cheapest.  Complex to real is refused. */
static int scalar_cost(const Type *from, const Type *to) {
    static const char order[] = "buifc";
    enum { SAME_BITS = 2, LOSSLESS = 4, INEXACT = 40, NARROWING = 80, TRUNCATING = 160 };
    const ScalarInfo *f = &scalar_info[from->scalar], *t = &scalar_info[to->scalar];
    if (from->scalar == to->scalar) return SAME_BITS;
    if (f->kind == 'c' && t->kind != 'c') return 0;
    int steps = (int)(strchr(order, t->kind) - strchr(order, f->kind));
    int widths = __builtin_ctz(t->bytes) - __builtin_ctz(f->bytes); /* doublings */
    int distance = (steps < 0 ? -steps : 3 * steps) + (widths < 0 ? -widths : widths);
    if (t->kind == 'b') return TRUNCATING + 20 + distance;
    if (f->kind == 'f' && t->kind != 'f' && t->kind != 'c') return TRUNCATING + distance;
    if (f->kind == 'i' && t->kind == 'u') return NARROWING + distance;
    int f_part = f->kind == 'c' ? f->bytes / 2 : f->bytes, t_part = t->kind == 'c' ? t->bytes / 2 : t->bytes;
    if (f->kind == 'b' || (f->kind == t->kind && t_part > f_part)) return LOSSLESS + distance;
    if (f->kind == t->kind) return NARROWING + distance;
    if (f->kind == 'f' && t->kind == 'c') return (t_part >= f_part ? LOSSLESS : NARROWING) + distance;
    return (t_part > f_part ? LOSSLESS : INEXACT) + distance; /* integer to wider integer or to float */
}

int typeinfer_conversion_cost(const Type *from, const Type *to) {
    if (from == to) return 1;
    if (to->kind == TY_OPTIONAL) {
        int inner = from->kind == TY_NONE ? 1 : typeinfer_conversion_cost(infer_content(from), to->items[0]);
        return inner ? inner + 1 : 0;
    }
    if (from->kind != to->kind) return 0;
    switch (to->kind) {
    case TY_SCALAR: return scalar_cost(from, to);
    case TY_TUPLE: {
        int sum = 1;
        if (from->count != to->count) return 0;
        for (uint32_t i = 0; i < to->count; i++) {
            int cost = typeinfer_conversion_cost(from->items[i], to->items[i]);
            if (!cost) return 0;
            sum += cost - 1;
        }
        return sum;
    }
    case TY_ARRAY:
        if (from->items[0] != to->items[0] || from->ndim != to->ndim || (from->readonly && !to->readonly)) return 0;
        if (from->layout != to->layout && to->layout != LAYOUT_A) return 0;
        if (from->record != to->record || (from->unaligned && !to->unaligned)) return 0;
        return 1 + 2 * (from->layout != to->layout) + (from->readonly != to->readonly);
    default: return 0;
    }
}

int64_t typeinfer_signature_cost(const Type *const *from, const Type *const *to, size_t count) {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (from[i] == to[i]) continue;
        int cost = typeinfer_conversion_cost(from[i], to[i]);
        if (!cost) return -1;
        sum += cost;
    }
    return sum;
}
