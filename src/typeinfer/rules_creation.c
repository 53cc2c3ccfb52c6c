/* rules_creation.c: typing rules of the functions of NumPy that make arrays: empty, zeros and their _like forms, array
 * and asarray.
 *
 * In: a shape (an int or a tuple of ints), a dtype and an order that are known, or an array to be like.  Out:
 * NEW_ARRAY.  The functions that fill what they make are in the prelude (krait/prelude/creation.py).  There is no heap
 * in kernels. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h" /* lib_scalar */

/* What is to be made. */
typedef struct NewArray {
    const Type *type;
    Value *extents[TYPE_MAX_NDIM]; /* when emitting */
} NewArray;

static bool is_extent(const Type *type) { return type_is_integer(type) && type->scalar != SCALAR_BOOL; }

static bool is_few(const Const *extent, int64_t *count) {
    enum { MOST = 1024 }; /* elements that are advised for one thread */
    bool fits = is_extent(extent->type) && extent->i > 0 && extent->i <= MOST / *count;
    if (fits) *count *= extent->i;
    return fits;
}

/* The shape that is given, "4" or "(2, 3)", if it is a small constant; else NULL. */
static const char *constant_shape(Typing *t) {
    const Const *shape = typing_given(t, 0) ? t->args[0].konst : NULL;
    int64_t count = 1;
    Buf text;
    bool tuple = shape && shape->type->kind == TY_TUPLE && shape->type->count && !shape->type->object;
    for (uint32_t i = 0; tuple && i < shape->type->count; i++) tuple = is_few(shape->items[i], &count);
    if (!shape || !(tuple || is_few(shape, &count))) return NULL;
    buf_init(&text, t->in->arena);
    const_print(&text, shape);
    return text.text;
}

/* "np.int32", if the call says so; that of NumPy where it says none. */
static const char *dtype_name(Typing *t) {
    const Type *class = typing_given(t, 1) ? t->args[1].type : NULL;
    bool said = class && class->kind == TY_CLASS && class->items[0]->kind == TY_SCALAR;
    const char *name = scalar_info[said ? class->items[0]->scalar : SCALAR_FLOAT64].name;
    return arena_printf(t->in->arena, "np.%s%s", name, strcmp(name, "bool") == 0 ? "_" : "");
}

/* What is made in place of an array in a kernel: of a shape that is known, the thread's own. */
static bool hint_at_local(Typing *t) {
    bool of_shape = t->func == FUNC_NP_ZEROS || t->func == FUNC_NP_EMPTY;
    const char *shape = of_shape ? constant_shape(t) : NULL, *dtype = shape ? dtype_name(t) : "";
    if (!shape) return typing_hint(t, "%s", typing_advice(t, "numpy.empty"));
    return typing_hint(t,
                       "for one thread use cuda.local.array(%s, %s), for a block cuda.shared.array(%s, %s), which are "
                       "not filled%s; or pass an array with a row for each thread",
                       shape, dtype, shape, dtype, t->func == FUNC_NP_ZEROS ? ": write the zeros in a loop" : "");
}

static bool on_heap(Typing *t) {
    if (!t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "%s" NEEDS_HEAP, typing_func_name(t));
    return hint_at_local(t);
}

/* "C" or "F"; like: also "A" and "K", which keep what `like` has. */
static bool read_order(Typing *t, size_t arg, const Type *like, ArrayLayout *layout) {
    const char *order = like ? "K" : "C";
    if (typing_given(t, arg) && !typing_is_none(t, arg)) TRY(typing_const_str(t, arg, &order));
    bool keeps = like && (strcmp(order, "K") == 0 || strcmp(order, "A") == 0);
    if (!keeps && strcmp(order, "C") != 0 && strcmp(order, "F") != 0) {
        static const char of_like[] = "order must be one of 'C', 'F', 'A', or 'K' (got '%s')";
        static const char of_shape[] = "only 'C' or 'F' order is permitted, not '%s'";
        return typing_fail_arg(t, arg, DIAG_BAD_ARGUMENTS, like ? of_like : of_shape, order);
    }
    bool fortran = keeps ? like->kind == TY_ARRAY && like->layout == LAYOUT_F : *order == 'F';
    *layout = fortran ? LAYOUT_F : LAYOUT_C;
    return true;
}

static Value *extent_of(Typing *t, Value *value) { return typing_make_cast(t, value, infer_int(t->in)); }

/* The extents that argument `arg` says: how many. */
static bool read_shape(Typing *t, size_t arg, NewArray *array, unsigned *ndim) {
    const Type *type = infer_content(t->args[arg].type);
    if (is_extent(type)) {
        *ndim = 1;
        if (t->emit) array->extents[0] = extent_of(t, t->values[arg]);
        return true;
    }
    bool fits = type == t->args[arg].type && type->kind == TY_TUPLE && type->count <= TYPE_MAX_NDIM;
    for (uint32_t i = 0; fits && i < type->count; i++) fits = is_extent(type->items[i]);
    if (!fits) return typing_refuse_shape(t, arg);
    *ndim = type->count;
    for (uint32_t i = 0; t->emit && i < type->count; i++)
        array->extents[i] = extent_of(t, typing_make_extract(t, t->values[arg], i));
    return true;
}

static bool make(Typing *t, const NewArray *array, bool zero) {
    Value *value = NULL;
    if (t->emit) value = typing_make_op_imm(t, OP_NEW_ARRAY, array->type, array->extents, array->type->ndim, zero);
    return typing_become(t, value, array->type);
}

static bool dtype_or(Typing *t, size_t arg, const Type *otherwise, const Type **dtype) {
    *dtype = otherwise;
    return !typing_given(t, arg) || typing_is_none(t, arg) || (*dtype = typing_const_element(t, arg)) != NULL;
}

static bool is_zeros(const Typing *t) { return t->func == FUNC_NP_ZEROS || t->func == FUNC_NP_ZEROS_LIKE; }

bool rule_func_np_empty(Typing *t) {
    static const char *const params[] = {"shape", "dtype", "order"};
    NewArray array = {0};
    const Type *dtype;
    ArrayLayout layout;
    unsigned ndim;
    TRY(typing_bind_keywords(t, params, 1, COUNT_OF(params)));
    TRY(on_heap(t));
    dtype = infer_scalar(t->in, SCALAR_FLOAT64, false);
    if (typing_given(t, 1) && !typing_is_none(t, 1)) TRY(dtype = typing_const_element(t, 1));
    TRY(read_order(t, 2, NULL, &layout));
    TRY(read_shape(t, 0, &array, &ndim));
    array.type = type_array(t->in->types, dtype, ndim, layout, false);
    return make(t, &array, is_zeros(t));
}

/* The extents of the array that is the prototype. */
static void shape_of_prototype(Typing *t, const Type *prototype, NewArray *array) {
    if (!t->emit || prototype->kind != TY_ARRAY) return;
    const Type *axes = lib_uniform_tuple(t->in, infer_int(t->in), prototype->ndim);
    Value *like = typing_make_cast(t, t->values[0], prototype), *shape = typing_make_getattr(t, "shape", axes, like);
    for (unsigned i = 0; i < prototype->ndim; i++) array->extents[i] = typing_make_extract(t, shape, i);
}

/* A prototype of any strides, which NumPy would keep the order of axes of, gives C order. */
bool rule_func_np_empty_like(Typing *t) {
    static const char *const params[] = {"prototype", "dtype", "order", "subok", "shape"};
    static const char *const params_of_zeros[] = {"a", "dtype", "order", "subok", "shape"};
    NewArray array = {0};
    const Type *dtype;
    ArrayLayout layout;
    unsigned ndim;
    TRY(on_heap(t));
    TRY(typing_bind_keywords(t, is_zeros(t) ? params_of_zeros : params, 1, COUNT_OF(params)));
    if (typing_is_sequence(t->args[0].type)) TRY(typing_as_array(t, 0));
    const Type *prototype = infer_content(t->args[0].type);
    if (prototype->kind != TY_ARRAY && prototype->kind != TY_SCALAR && prototype->kind != TY_TIME)
        return typing_bad_operands(t);
    bool is_array = prototype->kind == TY_ARRAY;
    if (!is_array) typing_need_value(t, 0, NULL);
    TRY(dtype_or(t, 1, infer_strong(t->in, is_array ? type_element(prototype) : prototype), &dtype));
    TRY(read_order(t, 2, prototype, &layout));
    ndim = is_array ? prototype->ndim : 0;
    if (typing_given(t, 4) && !typing_is_none(t, 4))
        TRY(read_shape(t, 4, &array, &ndim));
    else
        shape_of_prototype(t, prototype, &array);
    array.type = type_array(t->in->types, dtype, ndim, layout, false);
    return make(t, &array, is_zeros(t));
}

/* ---- array, asarray ---- */

/* The extents of nested tuples, whose items at each depth have one length; NULL: not of numbers, or ragged. */
static const Type *tuple_shape(Typing *t, Fact fact, int64_t *shape, unsigned *ndim, const Type *common) {
    const Type *type = fact.type;
    if (type->kind == TY_SCALAR || type->kind == TY_TIME) {
        const Type *number = infer_strong(t->in, type);
        return common ? lib_promoted(t, common, number) : number;
    }
    if (type->kind != TY_TUPLE || *ndim == TYPE_MAX_NDIM) return NULL;
    shape[(*ndim)++] = type->count;
    unsigned first = 0, from = *ndim;
    for (uint32_t i = 0; i < type->count; i++) {
        int64_t inner[TYPE_MAX_NDIM];
        unsigned depth = from;
        TRY(common = tuple_shape(t, typing_item_fact(fact, i), inner, &depth, common));
        if (i == 0) first = depth;
        if (depth != first) return NULL;
        for (unsigned k = from; k < depth; k++) {
            if (i > 0 && shape[k] != inner[k]) return NULL;
            shape[k] = inner[k];
        }
    }
    *ndim = type->count ? first : from;
    return common ? common : infer_scalar(t->in, SCALAR_FLOAT64, false);
}

/* array[...] = argument 0 */
static bool set_all(Typing *t, Value *array, const Type *type) {
    Infer *in = t->in;
    Fact facts[3] = {{type, NULL}, {type_simple(in->types, TY_ELLIPSIS), NULL}, t->args[0]}, done;
    Value *values[3] = {array, NULL, t->values[0]}, *value;
    facts[1].konst = const_of(in->arena, facts[1].type);
    if (t->emit) values[1] = typing_make_const(t, facts[1].konst);
    return typing_sub(t, &(SubOp){.op = OP_SETITEM, .values = values, .facts = facts, .nargs = 3}, &done, &value);
}

/* Of what no array is made: what the first and another item are. */
static bool hint_at_rows(Typing *t, const Type *type) {
    const Type *first = type->kind == TY_TUPLE && type->count ? type->items[0] : NULL;
    bool arrays = first && first->kind == TY_ARRAY;
    for (uint32_t i = 1; first && i < type->count; i++) {
        const Type *row = type->items[i];
        arrays &= row->kind == TY_ARRAY;
        if (first->kind != TY_TUPLE || row->kind != TY_TUPLE || first->count == row->count) continue;
        return typing_hint(t,
                           "its rows have several lengths, %u in row 0 and %u in row %u: fill up the shorter ones, or "
                           "keep them as a list of lists",
                           first->count, row->count, i);
    }
    if (arrays) return typing_hint(t, "it is a tuple of arrays: make one array of them, np.stack((a, b))");
    return typing_hint(t, "an array is made of an array, a number, or rows of numbers, all of one length");
}

/* A number or nested tuples of numbers. */
static bool array_of_numbers(Typing *t, size_t order) {
    int64_t shape[TYPE_MAX_NDIM];
    NewArray array = {0};
    unsigned ndim = 0;
    ArrayLayout layout;
    const Type *common = tuple_shape(t, t->args[0], shape, &ndim, NULL), *dtype;
    if (!common) {
        typing_fail_arg(t, 0, DIAG_TYPING, "%s does not make an array of %s", typing_func_name(t),
                        typing_arg_text(t, 0));
        return hint_at_rows(t, t->args[0].type);
    }
    TRY(dtype_or(t, 1, infer_strong(t->in, common), &dtype));
    TRY(read_order(t, order, t->args[0].type, &layout));
    array.type = type_array(t->in->types, dtype, ndim, layout, false);
    Value *value = NULL;
    if (t->emit) {
        for (unsigned i = 0; i < ndim; i++) array.extents[i] = typing_make_int(t, shape[i]);
        value = typing_make_op_imm(t, OP_NEW_ARRAY, array.type, array.extents, ndim, 0);
    }
    TRY(set_all(t, value, array.type));
    return typing_become(t, value, array.type);
}

/* The call becomes one of a prelude function: of the array, of a dtype if given, and of an order. */
static bool become_prelude(Typing *t, const char *name, const Type *dtype, const char *order) {
    Infer *in = t->in;
    size_t count = dtype ? 3 : 2;
    Fact *args = ARENA_ARRAY(in->arena, Fact, 3);
    Value **values = ARENA_ARRAY(in->arena, Value *, 3);
    args[0] = t->args[0];
    values[0] = t->values[0];
    if (dtype) args[1].konst = const_of(in->arena, type_with_items(in->types, TY_DTYPE, 0, &dtype, 1));
    args[count - 1].konst = const_str(in->arena, in->types, order);
    for (size_t i = 1; i < count; i++) {
        args[i].type = args[i].konst->type;
        if (t->emit) values[i] = typing_make_const(t, args[i].konst);
    }
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, 3);
    t->nargs = count;
    return typing_become_prelude(t, name);
}

/* ---- of lists ---- */

static bool is_display(const Value *value) { return value && value->op == OP_LIST && !value->name && !value->imm.i; }

/* A display that nothing else sees is as good as the tuple of its items, if these are numbers and such displays. */
static bool is_display_of_numbers(const Value *value) {
    if (!is_display(value)) return false;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (value->args[i]->type->kind != TY_SCALAR && !is_display_of_numbers(value_resolve(value->args[i])))
            return false;
    return true;
}

static Fact fact_of_display(Typing *t, const Value *solved, Value **value) {
    Infer *in = t->in;
    const Value *display = value_resolve((Value *)solved);
    if (!is_display(display)) {
        if (t->emit) *value = (Value *)display;
        return (Fact){solved->type, solved->konst};
    }
    const Type **items = ARENA_ARRAY(in->arena, const Type *, display->nargs);
    Value **values = ARENA_ARRAY(in->arena, Value *, display->nargs);
    for (uint32_t i = 0; i < display->nargs; i++) items[i] = fact_of_display(t, display->args[i], &values[i]).type;
    const Type *type = type_tuple(in->types, items, display->nargs);
    if (t->emit) *value = typing_make_op(t, OP_TUPLE, type, values, display->nargs);
    return (Fact){type, NULL};
}

static bool array_of_list(Typing *t) {
    const Type *list = t->args[0].type, *number = lib_number_in(t, list), *dtype;
    if (list->items[0]->kind == TY_BOTTOM && t->in->quiet) return typing_result(t, infer_bottom(t->in), NULL);
    if (!number) return typing_bad_operands(t);
    TRY(dtype_or(t, 1, number, &dtype));
    TypeKind kind = list->items[0]->kind;
    bool numbers = kind == TY_SCALAR || kind == TY_TIME;
    return become_prelude(t, numbers ? "lists:array_of_numbers" : "lists:array_of_rows", dtype, "C");
}

/* A tuple of arrays or lists, or one of any length, is as good as the list of its items. */
static bool take_rows(Typing *t) {
    const Type *type = t->args[0].type, *rows = type->kind == TY_TUPLE ? typing_vartuple_of(t, type) : NULL;
    TypeKind kind = rows ? rows->items[0]->kind : TY_NONE;
    if (kind == TY_LIST || (kind == TY_ARRAY && !rows->items[0]->record)) TRY(typing_as(t, 0, rows));
    return typing_as_list(t, 0);
}

static bool array_of_range(Typing *t) {
    const Type *dtype;
    TRY(dtype_or(t, 1, infer_scalar(t->in, SCALAR_INT64, false), &dtype));
    return become_prelude(t, "creation:of_range", dtype, "C");
}

/* How many axes ndmin= asks for beyond those that are there anyway. */
static bool read_ndmin(Typing *t, size_t arg, int64_t *ndim) {
    *ndim = 0;
    if (!typing_given(t, arg) || typing_is_none(t, arg)) return true;
    TRY(typing_const_int(t, arg, ndim));
    if (*ndim > TYPE_MAX_NDIM)
        return typing_fail(t, DIAG_UNSUPPORTED, "an array of more than %d dimensions", TYPE_MAX_NDIM);
    return true;
}

/* The call of another row with arguments of this one, from[i] of its parameter i; ABSENT and what is not given: None.
 * YES: True. */
enum { ABSENT = -1, YES = -2 };

static bool call_on_arguments(Typing *t, FuncId func, const int *from, size_t count, Fact *fact, Value **value) {
    enum { MOST = 5 };
    Infer *in = t->in;
    const Const *callee = const_of(in->arena, type_func(in->types, &func_info[func].head));
    const Const *none = const_of(in->arena, type_simple(in->types, TY_NONE)),
                *yes = const_bool(in->arena, in->types, true);
    Fact facts[1 + MOST] = {{callee->type, callee}};
    Value *values[1 + MOST] = {t->emit ? typing_make_const(t, callee) : NULL};
    for (size_t i = 0; i < count; i++) {
        bool given = from[i] >= 0 && typing_given(t, (size_t)from[i]);
        const Const *other = from[i] == YES ? yes : none;
        facts[1 + i] = given ? t->args[from[i]] : (Fact){other->type, other};
        if (t->emit) values[1 + i] = given ? t->values[from[i]] : typing_make_const(t, other);
    }
    return typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 1 + count}, fact, value);
}

/* numpy.array(object, dtype, ndmin=): the array without ndmin=, with axes of length one before its own. */
static bool array_of_axes(Typing *t, unsigned ndim) {
    static const int parameters[] = {0, 1, YES, 3}; /* object, dtype, copy, order */
    Fact fact;
    Value *value = NULL;
    unsigned from[TYPE_MAX_NDIM];
    TRY(call_on_arguments(t, FUNC_NP_ARRAY, parameters, COUNT_OF(parameters), &fact, &value));
    if (fact.type->kind != TY_ARRAY || ndim <= fact.type->ndim) return typing_become(t, value, fact.type);
    unsigned more = ndim - fact.type->ndim;
    for (unsigned i = 0; i < ndim; i++) from[i] = i < more ? TYPE_MAX_NDIM : i - more;
    const Type *type = typing_permuted(t, fact.type, &value, from, ndim);
    return typing_become(t, value, type);
}

/* numpy.array(..., copy=None) and copy=False give the array itself where they can: numpy.asarray. */
static bool array_without_copy(Typing *t) {
    static const int parameters[] = {0, 1, 3, 2}; /* a, dtype, order, copy */
    Fact fact;
    Value *value = NULL;
    TRY(call_on_arguments(t, FUNC_NP_ASARRAY, parameters, COUNT_OF(parameters), &fact, &value));
    return typing_become(t, value, fact.type);
}

bool rule_func_np_array(Typing *t) {
    static const char *const params[] = {"object", "dtype", "copy", "order", "subok", "ndmin"};
    const char *order = "K";
    const Type *dtype;
    int64_t ndim;
    bool copy = true;
    TRY(on_heap(t));
    TRY(typing_bind_keywords(t, params, 1, COUNT_OF(params)));
    TRY(read_ndmin(t, 5, &ndim));
    if (typing_given(t, 2) && !typing_is_none(t, 2)) TRY(typing_const_bool(t, 2, &copy));
    if (typing_given(t, 2) && (typing_is_none(t, 2) || !copy)) {
        if (ndim > 0) return typing_fail(t, DIAG_UNSUPPORTED, "numpy.array with ndmin= and without a copy");
        return array_without_copy(t);
    }
    if (ndim > 0) return array_of_axes(t, (unsigned)ndim);
    if (is_display_of_numbers(t->values[0])) t->args[0] = fact_of_display(t, t->values[0], &t->values[0]);
    TRY(take_rows(t));
    if (t->args[0].type->kind == TY_LIST) return array_of_list(t);
    if (t->args[0].type->kind == TY_RANGE) return array_of_range(t);
    if (infer_content(t->args[0].type)->kind != TY_ARRAY) return array_of_numbers(t, 3);
    if (typing_given(t, 3) && !typing_is_none(t, 3)) TRY(typing_const_str(t, 3, &order));
    TRY(dtype_or(t, 1, type_element(infer_content(t->args[0].type)), &dtype));
    return become_prelude(t, "shaping:astype", dtype, order);
}

bool typing_is_sequence(const Type *type) { return type->kind == TY_LIST || type->kind == TY_TUPLE; }

/* numpy.asarray of it, with elements of that type, or, NULL, of their own. */
static bool make_array_of(Typing *t, Fact *fact, Value **value, const Type *element) {
    Infer *in = t->in;
    const Const *callee = const_of(in->arena, type_func(in->types, &func_info[FUNC_NP_ASARRAY].head)), *dtype = callee;
    if (element) dtype = const_of(in->arena, type_with_items(in->types, TY_DTYPE, 0, &element, 1));
    Fact facts[3] = {{callee->type, callee}, *fact, {dtype->type, dtype}};
    Value *values[3] = {NULL, *value, NULL};
    if (t->emit) values[0] = typing_make_const(t, callee);
    if (t->emit && element) values[2] = typing_make_const(t, dtype);
    const size_t nargs = element ? 3 : 2;
    return typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = nargs}, fact, value);
}

bool typing_make_array(Typing *t, Fact *fact, Value **value) { return make_array_of(t, fact, value, NULL); }

bool typing_as_array_of(Typing *t, size_t arg, const Type *element) {
    return make_array_of(t, &t->args[arg], &t->values[arg], element);
}

bool typing_as_array(Typing *t, size_t arg) { return typing_make_array(t, &t->args[arg], &t->values[arg]); }

/* Whether the type tells that the elements lie in that order. */
static bool lies(const Type *array, const char *order) {
    if (*order == 'K' || *order == 'A') return true;
    return array->layout == (*order == 'F' ? LAYOUT_F : LAYOUT_C) || (array->ndim < 2 && array->layout != LAYOUT_A);
}

static bool no_array_as_it_is(Typing *t, const char *why) {
    return typing_fail(t, DIAG_TYPING, "copy=False, and an array cannot be had without a copy: %s", why);
}

/* Whether it is one number, or an array without axes. */
static bool has_no_axes(const Type *type) {
    return type->kind == TY_ARRAY ? !type->ndim : type->kind != TY_TUPLE && type->kind != TY_LIST;
}

/* numpy.ascontiguousarray and numpy.asfortranarray give one number an axis of its own. */
static bool array_of_one_axis(Typing *t, const char *order) {
    const Type *dtype = NULL;
    TRY(dtype_or(t, 1, NULL, &dtype));
    TRY(typing_as_array_of(t, 0, dtype));
    return become_prelude(t, "shaping:contiguous", NULL, order);
}

/* The array without axes that shares the record's memory; NumPy's is a copy if a dtype is named. */
static const Type *array_of_record(Typing *t) {
    typing_as(t, 0, infer_content(t->args[0].type));
    const Type *type = typing_permuted(t, t->args[0].type, &t->values[0], NULL, 0);
    t->args[0] = (Fact){type, NULL};
    return type;
}

bool rule_func_np_asarray(Typing *t) {
    static const char *const params[] = {"a", "dtype", "order", "copy"};
    const char *order = t->func == FUNC_NP_ASFORTRANARRAY ? "F" : t->func == FUNC_NP_ASCONTIGUOUSARRAY ? "C" : "K";
    const Type *array = infer_content(t->args[0].type), *dtype;
    bool copy = false, plain = t->func != FUNC_NP_ASARRAY;
    TRY(typing_bind_keywords(t, params, 1, plain ? 2 : COUNT_OF(params)));
    bool asked = typing_given(t, 3) && !typing_is_none(t, 3);
    if (asked) TRY(typing_const_bool(t, 3, &copy));
    if (asked && !copy && array->kind != TY_ARRAY) return no_array_as_it_is(t, "this is none");
    if (is_display_of_numbers(t->values[0])) t->args[0] = fact_of_display(t, t->values[0], &t->values[0]);
    TRY(take_rows(t));
    if (t->args[0].type->kind == TY_LIST) return on_heap(t) && array_of_list(t);
    if (t->args[0].type->kind == TY_RANGE) return on_heap(t) && array_of_range(t);
    if (plain && has_no_axes(array)) return array_of_one_axis(t, order);
    if (array->kind != TY_ARRAY) return on_heap(t) && array_of_numbers(t, 2);
    if (typing_given(t, 2) && !typing_is_none(t, 2)) TRY(typing_const_str(t, 2, &order));
    TRY(dtype_or(t, 1, type_element(array), &dtype));
    if (array->record) {
        array = array_of_record(t);
        copy |= !asked && typing_given(t, 1) && !typing_is_none(t, 1);
    }
    bool same = dtype == type_element(array);
    if (same && lies(array, order) && !copy) {
        typing_cast(t, 0, array);
        return typing_become_arg(t, 0);
    }
    if (asked && !copy)
        return no_array_as_it_is(t,
                                 same ? "whether it lies in that order is known when it runs" : "it has another dtype");
    TRY(on_heap(t));
    return same && !copy ? become_prelude(t, "shaping:contiguous", NULL, order)
                         : become_prelude(t, "shaping:astype", dtype, order);
}
