/* wider.c: containers of numbers inside others, where numbers of a wider type are put in.
 *
 * In: two types of what is one container, or goes into one: a list in a list of ints, and one of floats.  Out: the type
 * whose containers hold the numbers of both, by the rule by which the items of a flat list join.  Containers have one
 * type for all who see them: whoever joins so has those that hold less made wider where they are made (growth.c). */
#include "typeinfer/rules.h"

/* The type with other items; NULL: it has none that can change. */
const Type *typeinfer_with_items(Infer *in, const Type *like, const Type *const *items) {
    TypeTable *types = in->types;
    switch (like->kind) {
    case TY_LIST:
    case TY_VARTUPLE:
    case TY_CELL: return type_with_items(types, (TypeKind)like->kind, 0, items, 1);
    case TY_CLOSURE: return type_with_items(types, TY_CLOSURE, like->object, items, like->count);
    case TY_TUPLE: return type_tuple_like(types, like, items);
    case TY_OPTIONAL: return type_optional(types, items[0]);
    case TY_ITER: return type_iter(types, (IterKind)like->iter, items, like->count);
    case TY_STRUCT: return type_is_shared(like) ? typeinfer_object(in, like, items) : NULL;
    default: return NULL;
    }
}

/* Whether what holds `type` takes `more` by a cast: Python's numbers take those of NumPy that they hold, int int64. */
bool typeinfer_takes(Infer *in, const Type *type, const Type *more) {
    if (type == more) return true;
    if (type->kind != more->kind) return false;
    if (type->kind == TY_SCALAR) {
        const Type *strong = infer_scalar(in, (Scalar)type->scalar, false);
        return !type->object && !more->object &&
               typeinfer_join(in->config->promotion, in->types, strong, more) == strong;
    }
    bool parts = type->kind == TY_TUPLE || type_is_container(type);
    if (!parts || type->count != more->count || type->object != more->object) return false;
    if (type->kind == TY_TUPLE && !type_has_names_of(type, more)) return false;
    for (uint32_t i = 0; i < type->count; i++)
        if (type->kind != TY_TUPLE ? type->items[i] != more->items[i]
                                   : !typeinfer_takes(in, type->items[i], more->items[i]))
            return false;
    return true;
}

/* NumPy's int64 and float64 are Python's int and float but for their class; keys are found by what they equal. */
bool typeinfer_same_bits(const Type *a, const Type *b) {
    if (a->kind == TY_SCALAR) return a->scalar == b->scalar;
    if (a->kind == TY_SET || (a->kind == TY_DICT && type_dict_value(a) == type_dict_value(b))) return true;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i] != b->items[i] && !typeinfer_same_bits(a->items[i], b->items[i])) return false;
    return true;
}

static const Type *wider(void *in, const Type *a, const Type *b) { return typeinfer_wider(in, a, b); }

static const Type *of_scalars(Infer *in, const Type *a, const Type *b) {
    if (a->object || b->object || typeinfer_mixes_bool(a, b)) return NULL;
    return typeinfer_join(in->config->promotion, in->types, a, b);
}

static const Type *of_tables(Infer *in, const Type *a, const Type *b) {
    const Type *key, *value = NULL;
    TRY(key = typeinfer_wider(in, type_key(a), type_key(b)));
    if (a->kind == TY_DICT) TRY(value = typeinfer_wider(in, type_dict_value(a), type_dict_value(b)));
    return type_table_of(in->types, key, value);
}

const Type *typeinfer_wider(Infer *in, const Type *a, const Type *b) {
    if (a == b || b->kind == TY_BOTTOM) return a;
    if (a->kind == TY_BOTTOM) return b;
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) {
        const Type *content = typeinfer_wider(in, infer_content(a), infer_content(b));
        return content ? type_optional(in->types, content) : NULL;
    }
    if (a->kind != b->kind || a->count != b->count || a->object != b->object) return NULL;
    if (a->kind == TY_TUPLE && !type_has_names_of(a, b)) return NULL;
    if (a->kind == TY_SCALAR) return of_scalars(in, a, b);
    if (type_is_shared(a))
        return type_object_of(in->types, a, (const Type *const *[]){a->items, b->items}, 2, wider, in);
    if (type_is_table(a)) return of_tables(in, a, b);
    if (!a->count || a->kind == TY_ARRAY) return NULL;
    const Type **items = ARENA_ARRAY(in->arena, const Type *, a->count);
    for (uint32_t i = 0; i < a->count; i++) TRY(items[i] = typeinfer_wider(in, a->items[i], b->items[i]));
    return typeinfer_with_items(in, a, items);
}

bool typeinfer_holds_narrower(const Type *container, const Type *wide) {
    if (container->kind != wide->kind || !type_is_container(container)) return false;
    const Type *item = container->kind == TY_LIST ? container->items[0] : type_key(container);
    const Type *other = wide->kind == TY_LIST ? wide->items[0] : type_key(wide);
    if (container->kind == TY_DICT && item == other) item = type_dict_value(container), other = type_dict_value(wide);
    return item->kind == TY_SCALAR && other->kind == TY_SCALAR && item != other;
}

const Type *typing_widen(Typing *t, const Type *held, size_t arg) {
    const Type *item = arg < t->nargs ? typeinfer_general(t->in, t->args[arg].type) : infer_none(t->in), *both;
    bool open = type_is_container(item) || item->kind == TY_TUPLE;
    if (t->emit || !open || !t->values[arg] || !(both = typeinfer_wider(t->in, held, item))) return NULL;
    return both == item || !typeinfer_grow(t->in, t->values[arg], both) ? both : NULL;
}

static const Type *content_of(const Type *type) {
    return type->kind == TY_LIST ? type->items[0] : type->kind == TY_DICT ? type_dict_value(type) : type;
}

bool typing_widen_argument(Typing *t, const char *param, Value *value, const Type *from, const Type *to) {
    const Type *item = content_of(to), *have = content_of(from);
    if (!typeinfer_grow(t->in, value, to) || !typeinfer_takes(t->in, have, item)) return true;
    typing_fail(t, DIAG_NO_UNIFY, "%s is put into a %s, the argument `%s`", typing_text(t, item), typing_text(t, from),
                param);
    return typing_hint(t, "what a container was made with in the interpreter stays so: convert what is put in, %s(x)",
                       typing_text(t, have));
}
