/* rules_views.c: typing rules of views on arrays that indexing does not make: other shapes, strides, orders of axes,
 * elements.
 *
 * In: an array and numbers.  Out: VIEW.  What may go wrong at run time has been looked at by the prelude
 * (krait/prelude/shaping.py), which calls the rows of krait.prelude.intrinsics; orders of axes are known when the
 * function is compiled. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h" /* lib_uniform_tuple */

static const Type *array_of(Typing *t) {
    if (typing_is_sequence(t->args[0].type)) TRY(typing_as_array(t, 0));
    const Type *type = infer_content(t->args[0].type);
    if (type->kind == TY_ARRAY) return type;
    typing_bad_operands(t);
    return NULL;
}

static Value *as_int(Typing *t, Value *value) { return typing_make_cast(t, value, infer_int(t->in)); }

static Value *binary(Typing *t, Op op, Value *a, Value *b) {
    Value *args[] = {a, b};
    return typing_make_op(t, op, infer_int(t->in), args, 2);
}

/* yes where a compares so with b, else no. */
static Value *choose(Typing *t, Op compare, Value *a, Value *b, Value *yes, Value *no) {
    Value *args[] = {a, b}, *holds = typing_make_op(t, compare, infer_bool(t->in), args, 2);
    return binary(t, OP_ADD, no, binary(t, OP_MUL, as_int(t, holds), binary(t, OP_SUB, yes, no)));
}

/* How many ints argument `arg` has, an int or a tuple; values are theirs when emitting. */
static bool read_ints(Typing *t, size_t arg, Value **values, unsigned *count) {
    const Type *type = t->args[arg].type;
    bool tuple = type->kind == TY_TUPLE;
    *count = tuple ? type->count : 1;
    if (*count > TYPE_MAX_NDIM)
        return typing_fail(t, DIAG_UNSUPPORTED, "an array of more than %d dimensions", TYPE_MAX_NDIM);
    for (uint32_t i = 0; i < *count; i++) {
        if (!type_is_integer(tuple ? type->items[i] : type)) return typing_bad_operands(t);
        if (t->emit) values[i] = as_int(t, tuple ? typing_make_extract(t, t->values[arg], i) : t->values[arg]);
    }
    return true;
}

typedef struct NewView {
    unsigned ndim;
    Value *offset; /* NULL: 0 */
    Value *shape[TYPE_MAX_NDIM], *strides[TYPE_MAX_NDIM];
} NewView;

static Value *make_view(Typing *t, Value *array, const Type *type, const NewView *view) {
    Value *args[2 + 2 * TYPE_MAX_NDIM];
    unsigned count = 2;
    args[0] = array;
    args[1] = view->offset ? view->offset : typing_make_int(t, 0);
    for (unsigned i = 0; i < type->ndim; i++) args[count++] = view->shape[i];
    for (unsigned i = 0; type->layout == LAYOUT_A && i < type->ndim; i++) args[count++] = view->strides[i];
    return typing_make_op(t, OP_VIEW, type, args, count);
}

static Value *operand_array(Typing *t) { return typing_make_cast(t, t->values[0], infer_content(t->args[0].type)); }

static bool make(Typing *t, const Type *type, const NewView *view) {
    return typing_become(t, t->emit ? make_view(t, operand_array(t), type, view) : NULL, type);
}

static void read_axes(Typing *t, Value *array, const Type *type, Value **shape, Value **strides) {
    const Type *axes = lib_uniform_tuple(t->in, infer_int(t->in), type->ndim);
    if (!t->emit) return;
    Value *extents = typing_make_getattr(t, "shape", axes, array);
    Value *steps = typing_make_getattr(t, "strides", axes, array);
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = typing_make_extract(t, extents, i);
        strides[i] = typing_make_extract(t, steps, i);
    }
}

/* ---- what the prelude asks for ---- */

/* packed(array, shape, missing, order): its elements, which lie together, with this shape; `missing` takes the place
 * of what is negative. */
bool rule_func_packed(Typing *t) {
    const Type *array = array_of(t);
    const char *order;
    NewView view = {0};
    TRY(array);
    TRY(typing_const_str(t, 3, &order));
    TRY(read_ints(t, 1, view.shape, &view.ndim));
    for (unsigned i = 0; t->emit && i < view.ndim; i++)
        view.shape[i] = choose(t, OP_LT, view.shape[i], typing_make_int(t, 0), as_int(t, t->values[2]), view.shape[i]);
    ArrayLayout layout = *order == 'F' ? LAYOUT_F : LAYOUT_C;
    return make(t, type_view(t->in->types, array, view.ndim, layout), &view);
}

/* strided(array, offset, shape, strides), in bytes */
bool rule_func_strided(Typing *t) {
    const Type *array = array_of(t);
    NewView view = {0};
    unsigned nstrides;
    TRY(array);
    TRY(read_ints(t, 2, view.shape, &view.ndim));
    TRY(read_ints(t, 3, view.strides, &nstrides));
    if (nstrides != view.ndim || !type_is_integer(t->args[1].type)) return typing_bad_operands(t);
    if (t->emit) view.offset = as_int(t, t->values[1]);
    return make(t, type_view(t->in->types, array, view.ndim, LAYOUT_A), &view);
}

/* reinterpreted(array, dtype, last): its bytes as elements of another type, so many along the last axis. */
bool rule_func_reinterpreted(Typing *t) {
    const Type *array = array_of(t), *dtype;
    NewView view = {0};
    TRY(array);
    TRY(dtype = typing_const_element(t, 1));
    read_axes(t, t->emit ? operand_array(t) : NULL, array, view.shape, view.strides);
    if (t->emit && array->ndim) view.shape[array->ndim - 1] = as_int(t, t->values[2]);
    if (t->emit && array->ndim && type_size(dtype) != type_size(type_element(array)))
        view.strides[array->ndim - 1] = typing_make_int(t, (int64_t)type_size(dtype));
    ArrayLayout layout = (ArrayLayout)array->layout;
    return make(t, type_array(t->in->types, dtype, array->ndim, layout, array->readonly), &view);
}

/* frozen(array): a view that cannot be written to */
bool rule_func_frozen(Typing *t) {
    const Type *array = array_of(t);
    NewView view = {0};
    TRY(array);
    read_axes(t, t->emit ? operand_array(t) : NULL, array, view.shape, view.strides);
    return make(t, type_array(t->in->types, type_element(array), array->ndim, (ArrayLayout)array->layout, true), &view);
}

bool rule_func_is_constant(Typing *t) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, t->args[0].konst != NULL));
}

bool rule_func_is_writeable(Typing *t) {
    const Type *array = array_of(t);
    TRY(array);
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, !array->readonly));
}

bool rule_func_data_address(Typing *t) {
    TRY(array_of(t));
    return typing_result(t, infer_int(t->in), NULL);
}

bool rule_func_layout_of(Typing *t) {
    static const char *const names[] = {[LAYOUT_C] = "C", [LAYOUT_F] = "F", [LAYOUT_A] = "A"};
    const Type *array = array_of(t);
    TRY(array);
    return typing_become_const(t, const_str(t->in->arena, t->in->types, names[array->layout]));
}

/* numpy_loop(name, sizes, steps, inputs, arrays...) */
bool rule_func_numpy_loop(Typing *t) {
    const char *name;
    int64_t inputs;
    TRY(typing_const_str(t, 0, &name) && typing_const_int(t, 3, &inputs));
    if (t->in->device) {
        typing_fail(t, DIAG_UNSUPPORTED_TARGET, "functions of NumPy's own libraries cannot be used in kernels");
        return typing_hint(t, "call it outside and pass the result as an argument");
    }
    for (size_t i = 1; i < 3; i++) {
        const Type *ints = t->args[i].type;
        if (ints->kind != TY_TUPLE) return typing_bad_operands(t);
        typing_cast(t, i, lib_uniform_tuple(t->in, infer_int(t->in), ints->count));
    }
    for (size_t i = 4; i < t->nargs; i++)
        if (t->args[i].type->kind != TY_ARRAY || !lib_is_numpys(t, i)) return typing_bad_operands(t);
    return typing_result(t, infer_bool(t->in), NULL);
}

/* with_item(ints, index, value): the tuple with another item at a place that is known when it runs */
bool rule_func_with_item(Typing *t) {
    Value *items[TYPE_MAX_NDIM];
    unsigned count;
    TRY(read_ints(t, 0, items, &count));
    const Type *type = lib_uniform_tuple(t->in, infer_int(t->in), count);
    if (!t->emit) return typing_become(t, NULL, type);
    Value *index = as_int(t, t->values[1]), *value = as_int(t, t->values[2]);
    for (unsigned i = 0; i < count; i++) items[i] = choose(t, OP_EQ, index, typing_make_int(t, i), value, items[i]);
    return typing_become(t, typing_make_op(t, OP_TUPLE, type, items, count), type);
}

/* shape_text(shape): the text "(2,3)"; shape_text(before, after): "(2,newaxis,3)", before being () "(3)" */
bool rule_func_shape_text(Typing *t) {
    Value *args[1 + 2 * TYPE_MAX_NDIM];
    const Type *types[1 + 2 * TYPE_MAX_NDIM];
    unsigned before, after = 0;
    bool unknown = t->nargs > 1;
    Buf text;
    TRY(read_ints(t, 0, args + 1, &before));
    if (unknown) TRY(read_ints(t, 1, args + 1 + before, &after));
    const unsigned count = before + after;
    buf_init(&text, t->in->arena);
    buf_putc(&text, '(');
    for (unsigned i = 0; i < count; i++) {
        if (unknown && i && i == before) buf_puts(&text, ",newaxis");
        buf_puts(&text, i ? ",{}" : "{}");
    }
    if (unknown && before && !after) buf_puts(&text, ",newaxis");
    buf_puts(&text, !unknown && count == 1 ? ",)" : ")");
    const Const *template = const_str(t->in->arena, t->in->types, text.text);
    types[0] = template->type;
    for (unsigned i = 0; i < count; i++) types[1 + i] = infer_int(t->in);
    const Type *type = type_with_items(t->in->types, TY_TEXT, 0, types, 1 + count);
    if (!t->emit) return typing_become(t, NULL, type);
    args[0] = typing_make_const(t, template);
    return typing_become(t, typing_make_op(t, OP_FORMAT, type, args, 1 + count), type);
}

/* ---- orders of axes ---- */

static bool axis_outside(Typing *t, size_t arg, int64_t axis, unsigned ndim) {
    typing_fail_arg(t, arg, DIAG_NO_AXIS, "axis %lld is out of bounds for array of dimension %u", (long long)axis,
                    ndim);
    if (!ndim) return typing_hint(t, "the array has no axes: it is one number, x[()]");
    if (ndim == 1) return typing_hint(t, "the array has one axis: axis=0, or no axis at all");
    return typing_hint(t, "axes are counted from 0 to %u, or from -1 backwards", ndim - 1);
}

static bool read_axis(Typing *t, size_t arg, unsigned ndim, unsigned *axis) {
    int64_t value;
    TRY(typing_const_int(t, arg, &value));
    if (value < -(int64_t)ndim || value >= (int64_t)ndim) return axis_outside(t, arg, value, ndim);
    *axis = (unsigned)(value < 0 ? value + ndim : value);
    return true;
}

/* Whether an axis is an int that is known when the call is made: the result has as many axes whichever it is. */
static bool is_late_axis(const Typing *t, size_t arg) {
    int64_t value;
    return type_is_integer(t->args[arg].type) && !typing_konst_is_int(t->args[arg].konst, &value);
}

/* The different axes that an int or a tuple of ints means. */
static bool read_several(Typing *t, size_t arg, unsigned ndim, unsigned *axes, unsigned *count) {
    const Type *type = t->args[arg].type;
    uint32_t seen = 0;
    *count = 1;
    if (type->kind != TY_TUPLE) return read_axis(t, arg, ndim, axes);
    *count = type->count;
    if (type->count > ndim) return typing_fail(t, DIAG_BAD_ARGUMENTS, "there are more axes than dimensions");
    for (uint32_t i = 0; i < type->count; i++) {
        int64_t axis;
        if (!t->args[arg].konst || !typing_konst_is_int(t->args[arg].konst->items[i], &axis)) {
            typing_fail_arg(t, arg, DIAG_NEEDS_CONSTANT, "the axes must be known when the function is compiled");
            return typing_hint(t, "write the axes as literals");
        }
        if (axis < -(int64_t)ndim || axis >= (int64_t)ndim) return axis_outside(t, arg, axis, ndim);
        axes[i] = (unsigned)(axis < 0 ? axis + ndim : axis);
        if (seen & 1u << axes[i]) return typing_fail_arg(t, arg, DIAG_BAD_ARGUMENTS, "repeated axis");
        seen |= 1u << axes[i];
    }
    return true;
}

const Type *typing_permuted(Typing *t, const Type *array, Value **value, const unsigned *from, unsigned ndim) {
    Value *shape[TYPE_MAX_NDIM], *strides[TYPE_MAX_NDIM];
    NewView view = {.ndim = ndim};
    unsigned rises = 0, falls = 0, last = TYPE_MAX_NDIM;
    read_axes(t, *value, array, shape, strides);
    for (unsigned i = 0; i < ndim; i++) {
        bool is_new = from[i] == TYPE_MAX_NDIM;
        if (!is_new) {
            rises += last != TYPE_MAX_NDIM && from[i] > last;
            falls += last != TYPE_MAX_NDIM && from[i] < last;
            last = from[i];
        }
        if (!t->emit) continue;
        view.shape[i] = is_new ? typing_make_int(t, 1) : shape[from[i]];
        view.strides[i] = is_new ? typing_make_int(t, 0) : strides[from[i]];
    }
    ArrayLayout layout = (ArrayLayout)array->layout;
    if (layout != LAYOUT_A && rises && falls)
        layout = LAYOUT_A;
    else if (layout != LAYOUT_A && falls)
        layout = layout == LAYOUT_C ? LAYOUT_F : LAYOUT_C;
    const Type *type = type_view(t->in->types, array, ndim, layout);
    if (t->emit) *value = make_view(t, *value, type, &view);
    return type;
}

static bool make_permuted(Typing *t, const Type *array, const unsigned *from, unsigned ndim) {
    Value *value = t->emit ? operand_array(t) : NULL;
    const Type *type = typing_permuted(t, array, &value, from, ndim);
    return typing_become(t, value, type);
}

/* The axes as one tuple, several ints or None; false: refused, or (*reverse) there are none. */
static bool read_order_of_axes(Typing *t, unsigned ndim, unsigned *from) {
    const Type *type = t->args[1].type;
    bool tuple = type->kind == TY_TUPLE;
    uint32_t count = tuple ? type->count : (uint32_t)t->nargs - 1, seen = 0;
    if (count != ndim) return typing_fail(t, DIAG_BAD_ARGUMENTS, "axes don't match array");
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis;
        if (!tuple) {
            TRY(read_axis(t, 1 + i, ndim, &from[i]));
        } else if (!t->args[1].konst || !typing_konst_is_int(t->args[1].konst->items[i], &axis)) {
            typing_fail_arg(t, 1, DIAG_NEEDS_CONSTANT, "the order of axes must be known when the function is compiled");
            return typing_hint(t, "write the axes as literals");
        } else if (axis < -(int64_t)ndim || axis >= (int64_t)ndim) {
            return axis_outside(t, 1, axis, ndim);
        } else {
            from[i] = (unsigned)(axis < 0 ? axis + ndim : axis);
        }
        if (seen & 1u << from[i]) return typing_fail(t, DIAG_BAD_ARGUMENTS, "repeated axis in transpose");
        seen |= 1u << from[i];
    }
    return true;
}

bool rule_func_transpose(Typing *t) {
    static const char *const params[] = {"a", "axes"};
    unsigned from[TYPE_MAX_NDIM];
    if (t->nnames) TRY(typing_bind_keywords(t, params, 1, 2));
    const Type *array = array_of(t);
    TRY(array);
    if (!typing_given(t, 1) || typing_is_none(t, 1))
        for (unsigned i = 0; i < array->ndim; i++) from[i] = array->ndim - 1 - i;
    else
        TRY(read_order_of_axes(t, array->ndim, from));
    if (array->record) return typing_become_arg(t, 0);
    return make_permuted(t, array, from, array->ndim);
}

/* The number of dimensions is part of a type, the lengths are not. */
bool rule_func_squeeze(Typing *t) {
    if (t->nargs >= 2) return typing_become_prelude(t, func_info[t->func].symbol);
    if (t->args[0].type->kind == TY_ARRAY && t->args[0].type->ndim == 0) return typing_become_arg(t, 0);
    typing_fail(t, DIAG_UNSUPPORTED,
                "`squeeze` without an axis is not compiled: which axes have length one is not "
                "known before the call");
    return typing_hint(t, "name the axis, as in np.squeeze(a, 0), or index it: a[0]; reshape gives any shape");
}

bool rule_func_swapaxes(Typing *t) {
    static const char *const params[] = {"a", "axis1", "axis2"};
    unsigned from[TYPE_MAX_NDIM], first, second;
    TRY(typing_bind_keywords(t, params, 3, 3));
    const Type *array = array_of(t);
    TRY(array);
    if (is_late_axis(t, 1) || is_late_axis(t, 2)) return typing_become_prelude(t, "axes:swapped");
    TRY(read_axis(t, 1, array->ndim, &first));
    TRY(read_axis(t, 2, array->ndim, &second));
    for (unsigned i = 0; i < array->ndim; i++) from[i] = i;
    from[first] = second;
    from[second] = first;
    return make_permuted(t, array, from, array->ndim);
}

bool rule_func_moveaxis(Typing *t) {
    static const char *const params[] = {"a", "source", "destination"};
    unsigned from[TYPE_MAX_NDIM], source[TYPE_MAX_NDIM], destination[TYPE_MAX_NDIM], count, others, next = 0;
    uint32_t moved = 0;
    TRY(typing_bind_keywords(t, params, 3, 3));
    const Type *array = array_of(t);
    TRY(array);
    if (is_late_axis(t, 1) || is_late_axis(t, 2)) return typing_become_prelude(t, "axes:moved");
    TRY(read_several(t, 1, array->ndim, source, &count));
    TRY(read_several(t, 2, array->ndim, destination, &others));
    if (count != others) return typing_fail(t, DIAG_BAD_ARGUMENTS, "there are not as many source as destination axes");
    for (unsigned i = 0; i < array->ndim; i++) from[i] = TYPE_MAX_NDIM;
    for (unsigned i = 0; i < count; i++) {
        from[destination[i]] = source[i];
        moved |= 1u << source[i];
    }
    for (unsigned i = 0; i < array->ndim; i++) {
        if (from[i] != TYPE_MAX_NDIM) continue;
        while (moved & 1u << next) next++;
        from[i] = next++;
    }
    return make_permuted(t, array, from, array->ndim);
}

bool rule_func_expand_dims(Typing *t) {
    static const char *const params[] = {"a", "axis"};
    unsigned from[TYPE_MAX_NDIM], axes[TYPE_MAX_NDIM], count, next = 0;
    uint32_t made = 0;
    TRY(typing_bind_keywords(t, params, 2, 2));
    const Type *array = array_of(t);
    TRY(array);
    if (is_late_axis(t, 1)) return typing_become_prelude(t, "axes:expanded");
    unsigned ndim = array->ndim + (t->args[1].type->kind == TY_TUPLE ? t->args[1].type->count : 1u);
    if (ndim > TYPE_MAX_NDIM)
        return typing_fail(t, DIAG_UNSUPPORTED, "an array of more than %d dimensions", TYPE_MAX_NDIM);
    TRY(read_several(t, 1, ndim, axes, &count));
    for (unsigned i = 0; i < count; i++) made |= 1u << axes[i];
    for (unsigned i = 0; i < ndim; i++) from[i] = made & 1u << i ? TYPE_MAX_NDIM : next++;
    return make_permuted(t, array, from, ndim);
}

/* without_axis(array, axis): the prelude has seen that its length is one */
bool rule_func_without_axis(Typing *t) {
    unsigned from[TYPE_MAX_NDIM], axis, next = 0;
    const Type *array = array_of(t);
    TRY(array);
    TRY(read_axis(t, 1, array->ndim, &axis));
    for (unsigned i = 0; i < array->ndim; i++)
        if (i != axis) from[next++] = i;
    return make_permuted(t, array, from, next);
}

static bool become_tuple_of(Typing *t, const int64_t *values, unsigned count) {
    const Const *items[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < count; i++) items[i] = const_int(t->in->arena, t->in->types, values[i]);
    return typing_become_const(t, const_tuple(t->in->arena, t->in->types, items, count));
}

/* axes_of(axes, ndim): a tuple of the axes that None (all), an int or a tuple of ints means, as they are counted from
 * the first.  The prelude has seen that there are such axes. */
bool rule_func_axes_of(Typing *t) {
    int64_t axes[TYPE_MAX_NDIM], ndim;
    bool tuple = t->args[0].type->kind == TY_TUPLE, all = typing_is_none(t, 0);
    TRY(typing_const_int(t, 1, &ndim));
    uint32_t count = all ? (uint32_t)ndim : tuple ? t->args[0].type->count : 1;
    if (count > TYPE_MAX_NDIM) return typing_fail(t, DIAG_BAD_ARGUMENTS, "there are more axes than dimensions");
    for (uint32_t i = 0; i < count; i++) {
        if (all) {
            axes[i] = i;
        } else if (!tuple) {
            TRY(typing_const_int(t, 0, &axes[i]));
        } else if (!t->args[0].konst || !typing_konst_is_int(t->args[0].konst->items[i], &axes[i])) {
            typing_fail_arg(t, 0, DIAG_NEEDS_CONSTANT, "the axes must be known when the function is compiled");
            return typing_hint(t, "write the axes as literals");
        }
        axes[i] = ndim ? (axes[i] % ndim + ndim) % ndim : 0; /* one outside is told when it runs */
    }
    return become_tuple_of(t, axes, count);
}

/* other_axes(axes, ndim): those that are not in a tuple of axes. */
bool rule_func_other_axes(Typing *t) {
    int64_t axes[TYPE_MAX_NDIM], ndim;
    unsigned count = 0;
    const Const *given = t->args[0].konst;
    TRY(typing_const_int(t, 1, &ndim));
    if (!given || t->args[0].type->kind != TY_TUPLE || ndim > TYPE_MAX_NDIM) return typing_bad_operands(t);
    for (int64_t axis = 0; axis < ndim; axis++) {
        bool found = false;
        for (uint32_t i = 0; i < t->args[0].type->count; i++) {
            int64_t value;
            found |= typing_konst_is_int(given->items[i], &value) && value == axis;
        }
        if (!found) axes[count++] = axis;
    }
    return become_tuple_of(t, axes, count);
}

/* counted(start, stop): the tuple of the ints from start on. */
bool rule_func_counted(Typing *t) {
    int64_t values[TYPE_MAX_NDIM], start, stop;
    unsigned count = 0;
    TRY(typing_const_int(t, 0, &start));
    TRY(typing_const_int(t, 1, &stop));
    if (stop - start > TYPE_MAX_NDIM) return typing_fail(t, DIAG_BAD_ARGUMENTS, "there are more axes than dimensions");
    for (int64_t i = start; i < stop; i++) values[count++] = i;
    return become_tuple_of(t, values, count);
}

/* ---- numbers out of arrays ---- */

/* python_number(x): a NumPy scalar as the Python number that a.item() gives */
bool rule_func_python_number(Typing *t) {
    const Type *scalar = lib_scalar(t, 0);
    Infer *in = t->in;
    if (!scalar) return typing_bad_operands(t);
    switch (type_scalar_kind(scalar)) {
    case 'b': typing_cast(t, 0, infer_bool(in)); break;
    case 'f': typing_cast(t, 0, infer_float(in)); break;
    case 'c': typing_cast(t, 0, infer_complex(in)); break;
    default: typing_cast(t, 0, infer_int(in));
    }
    return typing_become_arg(t, 0);
}
