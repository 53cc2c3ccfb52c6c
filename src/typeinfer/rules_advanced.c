/* rules_advanced.c: typing rules of indices with arrays: integers and masks, alone or among ints, slices and new axes.
 *
 * In: x[i] or x[i] = v where i, or an item of the tuple i, is an array of integers or bools, or a list.  Out: a call of
 * krait/prelude/indexing.py with
 *
 *   source   a view of x: the other parts of the index applied, the axes that arrays index brought together
 *   indices  the arrays and lists
 *   lead     a tuple with an item for each axis of source before those
 *   starts   for each array the first axis of x that it indexes, for messages
 *
 * Where the axes of the arrays' common shape come in the result is NumPy's rule: in the place of the arrays and ints if
 * these follow one another in the index, else first. */
#include "typeinfer/rules_library.h" /* lib_uniform_tuple */

typedef enum IndexPartKind { PART_INT, PART_SLICE, PART_NEWAXIS, PART_ELLIPSIS, PART_ARRAY } IndexPartKind;

typedef struct IndexPart {
    IndexPartKind kind;
    Fact fact;
    Value *value;
    unsigned takes; /* axes of the array that it indexes; of the ellipsis: all that are left */
} IndexPart;

typedef struct Advanced {
    IndexPart parts[2 * TYPE_MAX_NDIM];
    size_t count, arrays;
    unsigned ndim, lead;          /* of source */
    unsigned from[TYPE_MAX_NDIM]; /* axes of the view with the other parts applied, in source's order */
    unsigned view_ndim;
    int64_t starts[TYPE_MAX_NDIM];
} Advanced;

static bool is_index_array(const Type *type) {
    return type->kind == TY_ARRAY || type->kind == TY_LIST || type->kind == TY_RANGE;
}

bool typing_index_has_array(const Typing *t) {
    const Type *index = t->args[1].type;
    if (index->kind != TY_TUPLE) return is_index_array(infer_content(index));
    for (uint32_t i = 0; i < index->count; i++)
        if (is_index_array(infer_content(index->items[i]))) return true;
    return false;
}

/* ---- the parts of the index ---- */

static const Type *innermost(const Type *type) {
    while (type->kind == TY_LIST) type = type->items[0];
    return type->kind == TY_ARRAY ? type_element(type) : type;
}

static bool add_array(Typing *t, IndexPart *part, const Type *type) {
    const Type *element = innermost(type);
    char kind = type_scalar_kind(element);
    if (kind != 'b' && kind != 'i' && kind != 'u') {
        typing_fail(t, DIAG_BAD_INDEX, "arrays used as indices must be of integer (or boolean) type, not %s",
                    typing_text(t, part->fact.type));
        return kind == 'f' ? typing_hint(t, "use astype(np.int64)") : false;
    }
    part->kind = PART_ARRAY;
    part->takes = 1;
    if (kind != 'b') return true;
    if (type->kind == TY_ARRAY && type->ndim == 0)
        return typing_fail(t, DIAG_BAD_INDEX, "an array cannot be indexed by a bool");
    part->takes = type->kind == TY_ARRAY ? type->ndim : 0;
    for (; type->kind == TY_LIST; type = type->items[0]) part->takes++;
    return true;
}

static bool add_part(Typing *t, Advanced *a, Fact fact, Value *value) {
    if (fact.type->kind == TY_RANGE) TRY(typing_make_array(t, &fact, &value));
    const Type *type = infer_content(fact.type);
    if (a->count == COUNT_OF(a->parts)) return typing_fail(t, DIAG_BAD_INDEX, "too many indices");
    IndexPart *part = &a->parts[a->count++];
    *part = (IndexPart){.fact = fact, .value = value};
    if (is_index_array(type)) {
        if (t->emit && type != fact.type) part->value = typing_make_cast(t, value, type);
        part->fact = (Fact){type, NULL};
        a->arrays++;
        return add_array(t, part, type);
    }
    switch (type->kind) {
    case TY_SLICE: part->kind = PART_SLICE, part->takes = 1; return true;
    case TY_NONE: part->kind = PART_NEWAXIS; return true;
    case TY_ELLIPSIS: part->kind = PART_ELLIPSIS; return true;
    default: part->kind = PART_INT, part->takes = 1; return true; /* anything else is refused where it is applied */
    }
}

static bool read_parts(Typing *t, const Type *array, Advanced *a) {
    const Type *index = t->args[1].type;
    unsigned taken = 0, ellipses = 0;
    if (index->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < index->count; i++)
            TRY(add_part(t, a, typing_item_fact(t->args[1], i),
                         t->emit ? typing_make_extract(t, t->values[1], i) : NULL));
    } else {
        TRY(add_part(t, a, t->args[1], t->values[1]));
    }
    for (size_t i = 0; i < a->count; i++) {
        taken += a->parts[i].takes;
        ellipses += a->parts[i].kind == PART_ELLIPSIS;
    }
    if (ellipses > 1) return typing_fail(t, DIAG_BAD_INDEX, "an index can only have a single ellipsis (`...`)");
    if (taken > array->ndim) return typing_too_many_indices(t, array->ndim, taken);
    if (!ellipses) { /* one stands at the end */
        if (a->count == COUNT_OF(a->parts)) return typing_fail(t, DIAG_BAD_INDEX, "too many indices");
        a->parts[a->count++] = (IndexPart){.kind = PART_ELLIPSIS};
    }
    for (size_t i = 0; i < a->count; i++)
        if (a->parts[i].kind == PART_ELLIPSIS) a->parts[i].takes = array->ndim - taken;
    return true;
}

/* ---- where the axes come ---- */

/* How many axes of the view come before the arrays and ints; 0 where these do not follow one another. */
static unsigned axes_before(const Advanced *a) {
    unsigned before = 0, here = 0;
    enum { NONE_YET, INSIDE, BEHIND } state = NONE_YET;
    for (size_t i = 0; i < a->count; i++) {
        const IndexPart *part = &a->parts[i];
        bool last = i + 1 == a->count && part->kind == PART_ELLIPSIS;
        if (part->kind == PART_ARRAY || part->kind == PART_INT) {
            if (state == BEHIND) return 0;
            if (state == NONE_YET) before = here;
            state = INSIDE;
        } else {
            here += part->kind == PART_NEWAXIS ? 1 : part->takes;
            if (state == INSIDE && !last) state = BEHIND;
        }
    }
    return before;
}

static bool order_axes(Typing *t, Advanced *a) {
    unsigned axis = 0, indexed[TYPE_MAX_NDIM], rest[2 * TYPE_MAX_NDIM], nindexed = 0, nrest = 0, n = 0, arrays = 0;
    for (size_t i = 0; i < a->count; i++) {
        const IndexPart *part = &a->parts[i];
        unsigned axes = part->kind == PART_INT ? 0 : part->kind == PART_NEWAXIS ? 1 : part->takes;
        if (a->view_ndim + axes > TYPE_MAX_NDIM)
            return typing_fail(t, DIAG_UNSUPPORTED, "an array of more than %d dimensions", TYPE_MAX_NDIM);
        if (part->kind == PART_ARRAY) a->starts[arrays++] = axis;
        for (unsigned k = 0; k < axes; k++, a->view_ndim++) {
            if (part->kind == PART_ARRAY)
                indexed[nindexed++] = a->view_ndim;
            else
                rest[nrest++] = a->view_ndim;
        }
        axis += part->takes;
    }
    a->lead = axes_before(a);
    a->ndim = a->view_ndim;
    for (unsigned i = 0; i < a->lead; i++) a->from[n++] = rest[i];
    for (unsigned i = 0; i < nindexed; i++) a->from[n++] = indexed[i];
    for (unsigned i = a->lead; i < nrest; i++) a->from[n++] = rest[i];
    return true;
}

/* ---- source ---- */

static Fact full_slice(Typing *t) {
    Infer *in = t->in;
    const Const *none = const_none(in->arena, in->types), *items[] = {none, none, none};
    const Type *type = type_slice(in->types, none->type, none->type, none->type);
    return (Fact){type, const_typed_tuple(in->arena, type, items)};
}

/* x[the other parts], with all of each axis that an array indexes. */
static bool apply_others(Typing *t, const Advanced *a, Fact *view, Value **value) {
    Infer *in = t->in;
    Fact facts[2] = {t->args[0], {0}};
    Value *values[2] = {t->values[0], NULL}, *items[3 * TYPE_MAX_NDIM];
    const Type *types[3 * TYPE_MAX_NDIM];
    const Const *konsts[3 * TYPE_MAX_NDIM];
    size_t n = 0;
    bool known = true, only_arrays = true;
    for (size_t i = 0; i < a->count; i++) {
        const IndexPart *part = &a->parts[i];
        bool is_array = part->kind == PART_ARRAY, all = is_array || part->kind == PART_ELLIPSIS;
        only_arrays = only_arrays && all;
        for (unsigned k = 0; k < (all ? part->takes : 1); k++, n++) {
            Fact fact = all ? full_slice(t) : part->fact;
            types[n] = fact.type, konsts[n] = fact.konst;
            known = known && fact.konst;
            if (t->emit) items[n] = all ? typing_make_const(t, fact.konst) : part->value;
        }
    }
    if (only_arrays) {
        *view = t->args[0];
        *value = t->emit ? typing_make_cast(t, t->values[0], infer_content(t->args[0].type)) : NULL;
        view->type = infer_content(view->type);
        return true;
    }
    facts[1].type = type_tuple(in->types, types, n);
    if (known) facts[1].konst = const_tuple(in->arena, in->types, konsts, n);
    if (t->emit) values[1] = typing_make_op(t, OP_TUPLE, facts[1].type, items, n);
    return typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, view, value);
}

static bool is_in_order(const Advanced *a) {
    for (unsigned i = 0; i < a->ndim; i++)
        if (a->from[i] != i) return false;
    return true;
}

static Fact make_ints(Typing *t, const int64_t *ints, size_t count, Value **value) {
    Value *items[TYPE_MAX_NDIM];
    const Type *type = lib_uniform_tuple(t->in, infer_int(t->in), count);
    for (size_t i = 0; t->emit && i < count; i++) items[i] = typing_make_int(t, ints ? ints[i] : 0);
    *value = t->emit ? typing_make_op(t, OP_TUPLE, type, items, count) : NULL;
    return (Fact){type, NULL};
}

static Fact make_indices(Typing *t, const Advanced *a, Value **value) {
    const Type *types[2 * TYPE_MAX_NDIM];
    Value *items[2 * TYPE_MAX_NDIM];
    size_t n = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->parts[i].kind != PART_ARRAY) continue;
        types[n] = a->parts[i].fact.type;
        items[n++] = a->parts[i].value;
    }
    const Type *type = type_tuple(t->in->types, types, n);
    *value = t->emit ? typing_make_op(t, OP_TUPLE, type, items, n) : NULL;
    return (Fact){type, NULL};
}

/* A number that is outside raises where it is applied, and what a mask says comes before that. */
static bool check_masks(Typing *t, const Advanced *a) {
    bool numbers = false, masks = false;
    for (size_t i = 0; i < a->count; i++) {
        numbers |= a->parts[i].kind == PART_INT;
        masks |= a->parts[i].kind == PART_ARRAY && type_scalar_kind(innermost(a->parts[i].fact.type)) == 'b';
    }
    if (!numbers || !masks) return true;
    Fact facts[4] = {{0}, {infer_content(t->args[0].type), NULL}}, done;
    Value *values[4] = {NULL, t->emit ? typing_make_cast(t, t->values[0], facts[1].type) : NULL}, *value;
    facts[2] = make_indices(t, a, &values[2]);
    facts[3] = make_ints(t, a->starts, a->arrays, &values[3]);
    return typing_call_prelude(t, "indexing:check_masks", facts, values, 4, &done, &value);
}

/* The operation becomes a call of that function of the prelude; x[i] = v hands v over. */
static bool become_call(Typing *t, const Type *array, const char *name, bool stores) {
    Advanced a = {0};
    Infer *in = t->in;
    Fact *args = ARENA_ARRAY(in->arena, Fact, 5);
    Value **values = ARENA_ARRAY(in->arena, Value *, 5);
    if (in->device) {
        typing_fail(t, DIAG_UNSUPPORTED_TARGET, "an array is indexed by an array, %s", typing_arg_text(t, 1));
        return typing_hint(t, "loop over the indices");
    }
    TRY(read_parts(t, array, &a));
    TRY(order_axes(t, &a));
    TRY(check_masks(t, &a));
    TRY(apply_others(t, &a, &args[0], &values[0]));
    if (!is_in_order(&a)) args[0].type = typing_permuted(t, args[0].type, &values[0], a.from, a.ndim);
    args[0].konst = NULL;
    args[1] = make_indices(t, &a, &values[1]);
    args[2] = make_ints(t, NULL, a.lead, &values[2]);
    args[3] = make_ints(t, a.starts, a.arrays, &values[3]);
    args[4] = stores ? t->args[2] : (Fact){0};
    values[4] = stores ? t->values[2] : NULL;
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, 5);
    t->nargs = stores ? 5 : 4;
    t->op = OP_CALL;
    return typing_become_prelude(t, name);
}

bool typing_get_advanced(Typing *t, const Type *array) { return become_call(t, array, "indexing:get", false); }

bool typing_set_advanced(Typing *t, const Type *array) { return become_call(t, array, "indexing:put", true); }
