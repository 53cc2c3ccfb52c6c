/* rules_array.c: typing rules of indexing and of assignment to elements and views.
 *
 * An index is taken apart into its components (int, slice, Ellipsis, None).  As many ints as dimensions, and nothing
 * else, is an element; all else is a view, whose number of dimensions and layout follow from the components alone:
 *
 *   C stays C  if the ints come first, then at most one slice with bounds, then only full slices
 *              (x[i], x[1:], x[i, 2:5], x[..., :])
 *   F stays F  if the same holds from the last dimension to the first
 *   otherwise  the layout is A (any strides), except that a view without dimensions is C
 *
 * A slice is full without start, stop and step; a step other than a literal 1 makes A.  New axes have length 1 and
 * change no layout.  Indices with arrays or lists are rules_advanced.c's. */
#include <string.h> /* memset */

#include "typeinfer/rules.h"

typedef enum Component { INDEX_INT, INDEX_FULL, INDEX_BOUNDED, INDEX_STEPPED, INDEX_ELLIPSIS, INDEX_NEWAXIS } Component;

typedef struct Index {
    size_t ints, slices, newaxes, ellipses;
    Component components[2 * TYPE_MAX_NDIM];
    size_t count;
    const Type *cast; /* the index operand with its integers as int; NULL: it has that type */
} Index;

static bool is_one(const Const *konst) {
    int64_t i;
    return typing_konst_is_int(konst, &i) && i == 1;
}

/* A number that is no int; alone in the brackets, it has a name perhaps. */
static bool bad_index(Typing *t, Fact fact) {
    const Value *value = t->args[1].type == fact.type && t->values[1] ? value_resolve(t->values[1]) : NULL;
    const char *name = value && value->name ? value->name : NULL;
    char kind = type_scalar_kind(fact.type);
    if (name && value->op != OP_PARAM)
        typing_fail(t, DIAG_BAD_INDEX, "an array is indexed by ints, not by `%s` (%s, line %u)", name,
                    typing_text(t, fact.type), value->span.line);
    else if (name)
        typing_fail(t, DIAG_BAD_INDEX, "an array is indexed by ints, not by `%s` (%s)", name,
                    typing_text(t, fact.type));
    else
        typing_fail(t, DIAG_BAD_INDEX, "an array is indexed by ints, not by %s", typing_text(t, fact.type));
    return typing_hint(t,
                       kind == 'f' ? "write int(%s); // gives an int of ints, where / gives a float" : "write int(%s)",
                       name ? name : "...");
}

static bool add_component(Typing *t, Index *index, Fact fact, const Type **cast) {
    const Type *type = infer_content(fact.type);
    *cast = fact.type;
    if (index->count >= COUNT_OF(index->components)) return typing_fail(t, DIAG_BAD_INDEX, "too many indices");
    Component component;
    switch (type->kind) {
    case TY_SCALAR:
        if (scalar_info[type->scalar].kind != 'i' && scalar_info[type->scalar].kind != 'u') {
            return bad_index(t, fact);
        }
        component = INDEX_INT;
        *cast = infer_int(t->in);
        index->ints++;
        break;
    case TY_SLICE: {
        bool full = type->items[0]->kind == TY_NONE && type->items[1]->kind == TY_NONE;
        /* Facts alone: an operand of the slice may change without a new fact of the slice. */
        bool stepped = type->items[2]->kind != TY_NONE && !(fact.konst && is_one(fact.konst->items[2]));
        component = stepped ? INDEX_STEPPED : full ? INDEX_FULL : INDEX_BOUNDED;
        index->slices++;
        break;
    }
    case TY_ELLIPSIS:
        component = INDEX_ELLIPSIS;
        index->ellipses++;
        break;
    case TY_NONE:
        component = INDEX_NEWAXIS;
        index->newaxes++;
        break;
    default:
        typing_fail(t, DIAG_BAD_INDEX, "an array cannot be indexed by %s", typing_text(t, fact.type));
        return typing_hint_operands(t, INDEXED, "");
    }
    index->components[index->count++] = component;
    return true;
}

static bool read_index(Typing *t, const Type *array, Index *index) {
    Fact fact = t->args[1];
    const Type *cast;
    memset(index, 0, sizeof *index);
    if (fact.type->kind == TY_TUPLE) {
        const Type **items = ARENA_ARRAY(t->in->arena, const Type *, fact.type->count);
        for (uint32_t i = 0; i < fact.type->count; i++) {
            Fact item = {fact.type->items[i], fact.konst ? fact.konst->items[i] : NULL};
            TRY(add_component(t, index, item, &items[i]));
        }
        cast = type_tuple(t->in->types, items, fact.type->count);
    } else {
        TRY(add_component(t, index, fact, &cast));
    }
    index->cast = cast == fact.type ? NULL : cast;
    if (index->ellipses > 1) return typing_fail(t, DIAG_BAD_INDEX, "an index can only have a single ellipsis (`...`)");
    if (index->ints + index->slices > array->ndim)
        return typing_too_many_indices(t, array->ndim, (unsigned)(index->ints + index->slices));
    size_t ndim = array->ndim - index->ints + index->newaxes;
    if (ndim > TYPE_MAX_NDIM)
        return typing_fail(t, DIAG_UNSUPPORTED, "an array of more than %d dimensions", TYPE_MAX_NDIM);
    return true;
}

static bool is_element(const Index *index, const Type *array) {
    return index->ints == array->ndim && index->count == index->ints;
}

/* One component per dimension, in order: Ellipsis and missing dimensions are full slices, new axes left out. */
static size_t spread(const Index *index, const Type *array, Component *dims) {
    size_t n = 0, missing = array->ndim - index->ints - index->slices;
    for (size_t i = 0; i < index->count; i++) {
        if (index->components[i] == INDEX_NEWAXIS) continue;
        if (index->components[i] != INDEX_ELLIPSIS) {
            dims[n++] = index->components[i];
            continue;
        }
        for (; missing > 0; missing--) dims[n++] = INDEX_FULL;
    }
    for (; missing > 0; missing--) dims[n++] = INDEX_FULL;
    return n;
}

/* Ints, then at most one slice with bounds, then full slices. */
static bool stays_contiguous(const Component *dims, size_t n, bool from_end) {
    bool after_slice = false;
    for (size_t k = 0; k < n; k++) {
        Component c = dims[from_end ? n - 1 - k : k];
        if (c == INDEX_STEPPED) return false;
        if (c == INDEX_INT && after_slice) return false;
        if (c == INDEX_BOUNDED && after_slice) return false;
        if (c != INDEX_INT) after_slice = true;
    }
    return true;
}

static const Type *view_type(Infer *in, const Type *array, const Index *index) {
    Component dims[TYPE_MAX_NDIM];
    size_t n = spread(index, array, dims), ndim = array->ndim - index->ints + index->newaxes;
    ArrayLayout layout = (ArrayLayout)array->layout;
    if (layout != LAYOUT_A && !stays_contiguous(dims, n, layout == LAYOUT_F)) layout = LAYOUT_A;
    return type_view(in->types, array, (unsigned)ndim, layout);
}

/* ---- x[i] ---- */

bool typing_getitem_tuple(Typing *t, const Type *tuple); /* rules_tuple.c */
bool typing_list_getitem(Typing *t);                     /* rules_list.c */
bool typing_list_setitem(Typing *t);
bool typing_list_delitem(Typing *t);

static bool getitem_array(Typing *t, const Type *array) {
    Index index;
    int field;
    TRY(typing_find_field(t, array, t->args[1], &field));
    if (field >= 0) return typing_get_field(t, array, (unsigned)field);
    if (typing_index_has_array(t)) return typing_get_advanced(t, array);
    TRY(read_index(t, array, &index));
    if (array != t->args[0].type) typing_cast(t, 0, array);
    if (index.cast) typing_cast(t, 1, index.cast);
    return typing_result(
        t, is_element(&index, array) ? type_element_value(t->in->types, array) : view_type(t->in, array, &index), NULL);
}

/* Whether an index of `flat` is an int; *several: a slice, or places, which Python of the prelude takes. */
static bool flat_index(Typing *t, bool *several) {
    const Type *index = infer_content(t->args[1].type);
    *several = index->kind == TY_SLICE || index->kind == TY_ELLIPSIS || index->kind == TY_ARRAY ||
               (index->kind == TY_LIST && index->items[0]->kind == TY_SCALAR);
    if (*several) return true;
    if (type_is_integer(index) && index->scalar != SCALAR_BOOL) {
        typing_cast(t, 1, infer_int(t->in));
        return true;
    }
    typing_fail(t, DIAG_BAD_INDEX, "`flat` is indexed by an int, a slice or places, not by %s", typing_arg_text(t, 1));
    return false;
}

static bool flat_records(Typing *t) {
    typing_fail(t, DIAG_UNSUPPORTED, "`flat` of an array of records is not indexed in compiled code");
    return typing_hint(t, "index the array itself, or loop over `flat`");
}

/* r[i] = start + i * step */
static bool getitem_range(Typing *t) {
    const Type *index = infer_content(t->args[1].type);
    if (type_is_integer(index)) {
        typing_cast(t, 1, infer_int(t->in));
        return typing_result(t, infer_int(t->in), NULL);
    }
    if (index->kind == TY_SLICE) return typing_become_prelude(t, "builtin:part_of_range");
    return typing_fail(t, DIAG_BAD_INDEX, "a range is indexed by an int, not by %s", typing_arg_text(t, 1));
}

/* numpy.mgrid[...]: a call with the index. */
static bool getitem_function(Typing *t, const Type *type) {
    t->op = OP_CALL;
    t->args++, t->values++, t->to++;
    t->nargs = 1;
    return typing_become_prelude(t, func_row(type->func)->symbol);
}

bool rule_func_indexed(Typing *t) {
    typing_fail(t, DIAG_TYPING, "`%s` is not called", typing_func_name(t));
    return typing_hint(t, "it is indexed: %s[0:3]", typing_func_name(t));
}

static bool getitem_flat(Typing *t, const Type *array) {
    bool several;
    TRY(flat_index(t, &several));
    if (type_is_record(type_element(array))) return flat_records(t);
    if (several) return typing_become_prelude(t, "flat:items");
    return typing_result(t, type_element_value(t->in->types, array), NULL);
}

bool rule_getitem(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    switch (type->kind) {
    case TY_ARRAY: return getitem_array(t, type);
    case TY_TUPLE:
        if (type != t->args[0].type) break;
        return typing_getitem_tuple(t, type);
    case TY_FLAT: return getitem_flat(t, type->items[0]);
    case TY_LIST: return typing_list_getitem(t);
    case TY_VARTUPLE: return typing_vartuple_getitem(t);
    case TY_DICT: return typing_table_getitem(t);
    case TY_STR:
    case TY_STRING: return typing_string_getitem(t);
    case TY_BYTES: return typing_bytes_getitem(t);
    case TY_RANGE: return getitem_range(t);
    case TY_OBJECT: {
        bool is;
        if (!typing_index_enum(t, type->object, &is) || is) return !t->failed;
        break;
    }
    case TY_FUNC:
        if (func_row(type->func)->is_indexed) return getitem_function(t, type);
        break;
    default: break;
    }
    return typing_refuse_index(t, type);
}

/* ---- x[i] = v ---- */

/* NumPy stores an integer through a Python int: into signed elements any, into unsigned ones Python's only; NumPy's own
 * wrap there. */
static bool store_may_overflow(const Infer *in, const Type *from, const Type *to) {
    if (from->weak || !in->int_range || scalar_info[to->scalar].kind != 'i') return typing_may_overflow(in, from, to);
    const ScalarInfo *a = &scalar_info[from->scalar], *b = &scalar_info[to->scalar];
    return (a->kind == 'i' && a->bytes > b->bytes) || (a->kind == 'u' && a->bytes >= b->bytes);
}

static const char *value_name(const Typing *t, size_t arg, const char *otherwise) {
    const Value *value = t->values[arg] ? value_resolve(t->values[arg]) : NULL;
    return value && value->name ? value->name : otherwise;
}

static bool cannot_store(Typing *t, const Type *element, bool is_view) {
    const Type *value = infer_content(t->args[2].type);
    typing_fail_arg(t, 2, DIAG_TYPING, "%s cannot be stored into %s of %s",
                    value->kind == TY_TEXT ? "a text" : typing_arg_text(t, 2), is_view ? "a view" : "an element",
                    typing_text(t, element));
    if (value->kind == TY_ARRAY && !is_view) {
        const char *x = value_name(t, 2, "it"), *i = value_name(t, 1, "i");
        return typing_hint(t, "take an element of it, %s[%s]; or assign whole arrays, %s[:] = %s", x, i,
                           value_name(t, 0, "out"), x);
    }
    if (value->kind == TY_ARRAY) return typing_hint(t, "index both sides, or assign to a slice");
    if (value->kind == TY_NONE)
        return typing_hint(t, "it is None: does the function that it comes from lack `return value` at its end?");
    if (value->kind == TY_TEXT && t->in->device)
        return typing_hint(t, "store the number itself; print(f\"{x:.2f}\") shows it as text, and any other text is "
                              "made outside, after the launch");
    if (value->kind == TY_STR || value->kind == TY_STRING || value->kind == TY_TEXT)
        return typing_hint(t, "float(text) and int(text) make numbers of text; an array of texts is made outside, "
                              "np.array([...]), with dtype 'U'");
    return value->kind == TY_TUPLE ? typing_hint(t, "assign the items one by one") : false;
}

/* A number of type `value` stored into an element: as a C conversion, save complex into real, which NumPy refuses or
 * warns of, and integers beyond the element's range, which raise unless they come out of an array without dimensions
 * (`from_array`). */
static bool store_scalar(Typing *t, const Type *element, bool from_array) {
    if (element->kind != TY_SCALAR) return cannot_store(t, element, false);
    const Type *value = infer_content(t->args[2].type);
    if (scalar_info[value->scalar].kind == 'c' && scalar_info[element->scalar].kind != 'c') {
        typing_fail_arg(t, 2, DIAG_TYPING, "%s cannot be stored into an array of %s", typing_arg_text(t, 2),
                        typing_text(t, element));
        return typing_hint(t, "store its .real or .imag");
    }
    bool known_python = t->args[2].konst && value->weak;
    if (!known_python && !from_array && store_may_overflow(t->in, value, element)) { /* checked after the index is */
        typing_cast(t, 2, value);
        t->flags |= VF_CHECKED;
        return true;
    }
    typing_cast(t, 2, element);
    return true;
}

/* A value without dimensions is stored as its element. */
static bool load_zero_dim(Typing *t, const Type *array) {
    Fact facts[2] = {t->args[2], {type_tuple(t->in->types, NULL, 0), NULL}}, element;
    Value *values[2] = {t->values[2], NULL}, *value;
    (void)array;
    if (t->emit) values[1] = typing_make_op(t, OP_TUPLE, facts[1].type, NULL, 0);
    TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, &element, &value));
    t->args[2] = element;
    t->values[2] = value;
    return true;
}

static bool same_shape(const Type *a, const Type *b) {
    if (a->kind != b->kind) return false;
    if (a->kind != TY_TUPLE) return true;
    return a->count == b->count && (a->count == 0 || same_shape(a->items[0], b->items[0]));
}

static bool too_deep(Typing *t) {
    return typing_fail_arg(t, 2, DIAG_TYPING, "%s has more dimensions than what it is stored into",
                           typing_arg_text(t, 2));
}

/* A list stored into a view is an array, of which, unlike of one that was an array before, no dimensions are dropped.
 * Python's own ints have to fit the element. */
static bool store_list(Typing *t, const Type *element, unsigned ndim) {
    unsigned depth = 0;
    for (const Type *item = infer_content(t->args[2].type); typing_is_sequence(item) && item->count; depth++)
        item = item->items[0];
    if (depth > ndim) return too_deep(t);
    bool whole = element->kind == TY_SCALAR && strchr("iu", scalar_info[element->scalar].kind);
    return whole ? typing_as_array_of(t, 2, element) : typing_as_array(t, 2);
}

/* A tuple stored into a view is an array: tuples in it have one length, as far down as there are dimensions.  Returns
 * the type it is cast to: numbers get the element's type, but those whose range is checked when they are stored keep
 * theirs.  NULL: refused. */
static const Type *store_tuple(Typing *t, Fact fact, const Type *element, unsigned ndim) {
    Infer *in = t->in;
    const Type *tuple = fact.type, **items = ARENA_ARRAY(in->arena, const Type *, tuple->count);
    if (ndim == 0) {
        too_deep(t);
        return NULL;
    }
    for (uint32_t i = 0; i < tuple->count; i++) {
        const Fact item = {tuple->items[i], fact.konst ? fact.konst->items[i] : NULL};
        if (item.type->kind == TY_TIME && element->kind == TY_TIME && item.type->flag == element->flag &&
            time_factor(item.type, element)) {
            items[i] = element;
        } else if (item.type->kind == TY_TUPLE) {
            TRY(items[i] = store_tuple(t, item, element, ndim - 1));
        } else if (item.type->kind != TY_SCALAR || element->kind != TY_SCALAR ||
                   (scalar_info[item.type->scalar].kind == 'c' && scalar_info[element->scalar].kind != 'c')) {
            typing_fail_arg(t, 2, DIAG_TYPING, "%s in a tuple cannot be stored into an array of %s",
                            typing_text(t, item.type), typing_text(t, element));
            typing_hint(t, "assign the items one by one");
            return NULL;
        } else if (item.konst && !typing_konst_fits(item.konst, element)) {
            typing_fail_arg(t, 2, DIAG_TYPING, "a Python int in the tuple is out of bounds for %s",
                            typing_text(t, element));
            return NULL;
        } else if (!(item.konst && item.type->weak) && store_may_overflow(in, item.type, element)) {
            items[i] = item.type;
            t->flags |= VF_CHECKED;
        } else {
            items[i] = element;
        }
        if (!same_shape(items[i], items[0])) {
            typing_fail_arg(t, 2, DIAG_TYPING, "the tuple has an inhomogeneous shape: %s", typing_text(t, tuple));
            return NULL;
        }
    }
    return type_tuple(in->types, items, tuple->count);
}

/* x[i] = y of two arrays: y is mapped to the view that x[i] is. */
static bool store_array(Typing *t, const Type *value, const Type *element) {
    Infer *in = t->in;
    bool numbers = element->kind == TY_SCALAR && value->items[0]->kind == TY_SCALAR;
    const Type *item = value->items[0];
    bool times = item->kind == TY_TIME && element->kind == TY_TIME && item->flag == element->flag;
    if (!numbers && item != element && !(times && time_factor(item, element))) return cannot_store(t, element, true);
    if (numbers && scalar_info[value->items[0]->scalar].kind == 'c' && scalar_info[element->scalar].kind != 'c') {
        typing_fail_arg(t, 2, DIAG_TYPING, "elements of %s cannot be stored into an array of %s", typing_arg_text(t, 2),
                        typing_text(t, element));
        return typing_hint(t, "store its .real or .imag");
    }
    Fact view;
    Value *to;
    TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = t->values, .facts = t->args, .nargs = 2}, &view, &to));
    if (t->emit) {
        Value *from = typing_make_cast(t, t->values[2], value);
        Value *shapes[] = {typing_make_shape(t, to), typing_make_shape(t, from)}, *args[] = {to, from};
        typing_make_op_imm(t, OP_BROADCAST, shapes[0]->type, shapes, 2, 1)->flags |= VF_INPLACE;
        typing_make_op_imm(t, OP_MAP, infer_none(in), args, 2, 1);
    }
    return typing_become_const(t, const_none(in->arena, in->types));
}

static bool store(Typing *t, const Type *element, unsigned ndim, bool is_view) {
    if (type_is_record(element)) return typing_store_record(t, element, is_view);
    const Type *value = infer_content(t->args[2].type);
    bool zero_dim = value->kind == TY_ARRAY && value->ndim == 0;
    if (zero_dim) {
        TRY(load_zero_dim(t, value));
        value = t->args[2].type;
    }
    if (value->kind == TY_SCALAR) return store_scalar(t, element, zero_dim);
    if (element->kind == TY_CHARS && (value->kind == TY_CHARS || value->kind == TY_STR))
        return typing_cast_chars(t, 2, element) || cannot_store(t, element, is_view);
    if (element->kind == TY_CHARS && !t->in->device && typing_store_plain(t, 2, element)) return true;
    if (value->kind == TY_TIME && element->kind == TY_TIME && value->flag == element->flag &&
        time_factor(value, element)) {
        typing_cast(t, 2, element);
        return true;
    }
    if (value == element) return true;
    if (is_view && value->kind == TY_LIST) {
        TRY(store_list(t, element, ndim));
        value = t->args[2].type;
    }
    if (is_view && value->kind == TY_ARRAY) return store_array(t, value, element);
    bool numbers = element->kind == TY_SCALAR || element->kind == TY_TIME;
    if (is_view && numbers && t->args[2].type->kind == TY_TUPLE) {
        const Type *tuple;
        TRY(tuple = store_tuple(t, t->args[2], element, ndim));
        typing_cast(t, 2, tuple);
        return true;
    }
    return cannot_store(t, element, is_view);
}

static bool same_operand(const Value *a, const Value *b) {
    if (a == b) return true;
    if (!a || !b || a->op != b->op || a->nargs != b->nargs) return false;
    if (a->konst && b->konst) return const_equal(a->konst, b->konst);
    if (a->op != OP_TUPLE && a->op != OP_SLICE) return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!same_operand(value_resolve(a->args[i]), value_resolve(b->args[i]))) return false;
    return true;
}

/* x[i] += y on a view updates the view in place; storing it back into x[i] changes nothing. */
static bool stores_back(const Typing *t) {
    const Value *view = t->values[2]; /* the operation, or what became of it: its first operand */
    if (!view || t->args[2].type->kind != TY_ARRAY) return false;
    if (view->flags & VF_INPLACE && view->nargs == 2) view = value_resolve(view->args[0]);
    return view->op == OP_GETITEM && value_resolve(view->args[0]) == t->values[0] &&
           same_operand(value_resolve(view->args[1]), t->values[1]);
}

/* A global array is a constant of the code; an argument is what the caller made it. */
bool typing_read_only(Typing *t) {
    bool global = t->values[0] && value_resolve(t->values[0])->op == OP_CONST;
    typing_fail(t, DIAG_READONLY, "the %sarray %s is read-only", global ? "global " : "", typing_arg_text(t, 0));
    const char *name = t->values[0] ? t->values[0]->name : NULL;
    if (global && t->in->device)
        return typing_hint(t,
                           "a global array is a constant in a kernel: make `%s` a parameter, and pass the array in "
                           "the launch",
                           name ? name : "it");
    return typing_hint(t, "pass a copy that can be written: %s.copy()", name ? name : "x");
}

/* out = result[0]; out[0] = v */
static bool hint_at_taken(Typing *t) {
    const Value *taken = t->values[0] ? value_resolve(t->values[0]) : NULL;
    const char *name = taken && taken->op == OP_GETITEM ? taken->args[0]->name : NULL;
    return typing_hint(t, "a number taken out of an array is a copy: assign to the array itself, %s[i] = v",
                       name ? name : "a");
}

static bool setitem_flat(Typing *t, const Type *array) {
    bool several;
    if (array->readonly)
        return typing_fail(t, DIAG_READONLY, "the array behind %s is read-only", typing_arg_text(t, 0));
    TRY(flat_index(t, &several));
    if (type_is_record(type_element(array))) return flat_records(t);
    if (several) return typing_become_prelude(t, "flat:set_items");
    return store(t, array->items[0], 0, false);
}

bool rule_setitem(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    if (type->kind == TY_LIST) return typing_list_setitem(t);
    if (type->kind == TY_DICT) return typing_table_setitem(t);
    if (type_is_keywords(type) && t->flags & VF_OPERAND)
        return typing_become_const(t, const_none(t->in->arena, t->in->types));
    typing_result(t, infer_none(t->in), NULL);
    if (type->kind == TY_FLAT) return setitem_flat(t, type->items[0]);
    if (type->kind != TY_ARRAY) {
        typing_fail(t, DIAG_BAD_INDEX, "items of %s cannot be assigned", typing_arg_text(t, 0));
        if (type_is_keywords(type))
            return typing_hint(t,
                               "a dict whose values have several types, or that ** made, does not change in compiled "
                               "code: use a class or a dict for each type, or make another one, {'a': x, 'b': y}");
        if (type->kind == TY_TUPLE || type->kind == TY_VARTUPLE)
            return typing_hint(t, "tuples do not change: make a new one, t = (value,) + t[1:], or use an array");
        if (typing_is_text(type))
            return typing_hint(t, "texts do not change: make a new one, text[:i] + \"x\" + text[i + 1:]");
        return type->kind == TY_SCALAR ? hint_at_taken(t) : typing_hint_operands(t, INDEXED, "");
    }
    if (type->readonly) return typing_read_only(t);
    Index index;
    int field;
    TRY(typing_find_field(t, type, t->args[1], &field));
    if (field >= 0) return typing_set_field(t, type, (unsigned)field, 2);
    if (typing_index_has_array(t)) return typing_set_advanced(t, type);
    TRY(read_index(t, type, &index));
    if (type != t->args[0].type) typing_cast(t, 0, type);
    if (stores_back(t)) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    if (index.cast) typing_cast(t, 1, index.cast);
    bool element = is_element(&index, type);
    return store(t, type->items[0], element ? 0 : view_type(t->in, type, &index)->ndim, !element);
}

bool rule_delitem(Typing *t) {
    if (t->args[0].type->kind == TY_LIST) return typing_list_delitem(t);
    if (t->args[0].type->kind == TY_DICT) return typing_table_delitem(t);
    typing_fail(t, DIAG_UNSUPPORTED, "items of %s cannot be deleted", typing_arg_text(t, 0));
    return typing_hint_operands(t, DELETED, "");
}
