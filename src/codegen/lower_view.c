/* lower_view.c: slices, and views on arrays that slices, indices, None and ... make: x[1:, None, ..., i].
 *
 * A view outside its array under the skip policy has no elements, so that what follows is skipped too.  Slices clip as
 * slice.indices does. */
#include "codegen/lower.h"

/* ---- slices ---- */

LLVMValueRef lower_slice(Lower *l, const Value *value) {
    LLVMValueRef slice = LLVMGetUndef(l_type(l, value->type));
    for (unsigned i = 0; i < 3; i++) {
        const Type *type = value->type->items[i];
        if (l_has_bytes(type))
            slice = l_set_item(l, value->type, slice, i, l_convert(l, l_arg(l, value, i), l_arg_type(value, i), type));
    }
    return slice;
}

/* Part `part` of a slice as i64; *given is whether it was not None. */
static LLVMValueRef slice_part(Lower *l, const Type *type, LLVMValueRef slice, unsigned part, LLVMValueRef *given) {
    const Type *item = type->items[part];
    *given = l_i1(l, false);
    if (!l_has_bytes(item)) return l_i64(l, 0);
    LLVMValueRef value = l_item(l, type, slice, part);
    *given = l_i1(l, true);
    if (item->kind == TY_OPTIONAL) {
        *given = l_present(l, item, value);
        value = l_content(l, item, value);
        item = item->items[0];
    }
    value = l_cast_scalar(l, value, item->scalar, SCALAR_INT64);
    if (item->scalar != SCALAR_UINT64) return value;
    return l_select(l, l_icmp(l, LLVMIntSLT, value, l_i64(l, 0)), l_i64(l, INT64_MAX), value); /* beyond every array */
}

/* Of constants it is one of them. */
static LLVMValueRef extreme_of(Lower *l, bool least, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[] = {a, b};
    if (!LLVMIsAConstantInt(a) || !LLVMIsAConstantInt(b))
        return l_intrinsic(l, least ? "llvm.smin" : "llvm.smax", l->i64, args, 2);
    return (LLVMConstIntGetSExtValue(a) < LLVMConstIntGetSExtValue(b)) == least ? a : b;
}

static LLVMValueRef min_of(Lower *l, LLVMValueRef a, LLVMValueRef b) { return extreme_of(l, true, a, b); }
static LLVMValueRef max_of(Lower *l, LLVMValueRef a, LLVMValueRef b) { return extreme_of(l, false, a, b); }

typedef struct SliceRange {
    LLVMValueRef start, step, length;
} SliceRange;

/* slice.indices(extent): negative bounds count from the end, then both are clipped to [0, n], or [-1, n - 1] when going
 * down. */
static SliceRange slice_range(Lower *l, const Type *type, LLVMValueRef slice, LLVMValueRef extent) {
    LLVMValueRef given[3], part[3], zero = l_i64(l, 0), one = l_i64(l, 1);
    for (unsigned i = 0; i < 3; i++) part[i] = slice_part(l, type, slice, i, &given[i]);
    LLVMValueRef step = l_select(l, given[2], part[2], one);
    l_raise_if(l, l_icmp(l, LLVMIntEQ, step, zero), "ValueError", "slice step cannot be zero", NULL, 0);
    LLVMValueRef down = l_icmp(l, LLVMIntSLT, step, zero);
    bool up = l_is_truth(down, false);
    LLVMValueRef least = l_select(l, down, l_i64(l, -1), zero);
    LLVMValueRef most = up ? extent : l_select(l, down, l_sub(l, extent, one), extent);
    LLVMValueRef bounds[2], fallback[2] = {l_select(l, down, most, least), l_select(l, down, least, most)};
    for (unsigned i = 0; i < 2; i++) {
        bounds[i] = fallback[i];
        if (l_is_truth(given[i], false)) continue;
        LLVMValueRef wrapped = l_wrap_index(l, part[i], extent, false);
        bool from_end = up && LLVMIsAConstantInt(part[i]) && LLVMConstIntGetSExtValue(part[i]) < 0;
        LLVMValueRef clipped = max_of(l, wrapped, least);
        if (!from_end) clipped = min_of(l, clipped, most);
        bounds[i] = l_select(l, given[i], clipped, fallback[i]);
    }
    LLVMValueRef distance = l_sub(l, bounds[1], bounds[0]), magnitude = step;
    if (!up) {
        distance = l_select(l, down, l_sub(l, bounds[0], bounds[1]), distance);
        magnitude = l_select(l, down, LLVMBuildNeg(l->b, step, ""), step);
    }
    distance = max_of(l, distance, zero);
    LLVMValueRef unit = l_icmp(l, LLVMIntEQ, magnitude, one);
    LLVMValueRef length = distance;
    if (!LLVMIsAConstantInt(unit) || !LLVMConstIntGetZExtValue(unit)) {
        LLVMValueRef divisor = l_select(l, l_icmp(l, LLVMIntEQ, magnitude, zero), one, magnitude);
        length = LLVMBuildUDiv(l->b, l_add(l, distance, l_sub(l, divisor, one)), divisor, "");
    }
    return (SliceRange){bounds[0], step, length};
}

LLVMValueRef lower_func_slice_range(Lower *l, const Value *call) {
    SliceRange range = slice_range(l, l_arg_type(call, 0), l_arg(l, call, 0), l_arg(l, call, 1));
    return l_make_items(l, call->type, (LLVMValueRef[]){range.start, range.step, range.length});
}

/* ---- views ---- */

typedef struct View { /* a view being made */
    LLVMValueRef data, owner, shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    unsigned ndim;
    LLVMValueRef inside; /* skip policy: whether every integer index was in range; NULL: not asked */
} View;

static LLVMValueRef view_offset(Lower *l, LLVMValueRef data, LLVMValueRef count, LLVMValueRef stride) {
    if (LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) == 0) return data;
    LLVMValueRef bytes = l_nswmul(l, count, stride);
    return LLVMBuildGEP2(l->b, l->i8, data, &bytes, 1, ""); /* of an empty view it may point anywhere: not inbounds */
}

static void view_index(Lower *l, View *view, const Value *at, LLVMValueRef index, bool forward, LLVMValueRef extent,
                       LLVMValueRef stride, unsigned axis) {
    AccessPolicy policy = l_access_policy(l, at);
    LLVMValueRef wrapped = l_wrap_index(l, index, extent, forward);
    if (policy != ACCESS_TRUST) {
        LLVMValueRef inside = l_icmp(l, LLVMIntULT, wrapped, extent);
        if (policy == ACCESS_RAISE) {
            l_raise_out_of_bounds(l, inside, index, axis, extent);
        } else {
            l->target->bad_access(l, inside, l_i32(l, l_access_site(l, at, axis)));
            view->inside = view->inside ? l_and(l, view->inside, inside) : inside;
        }
    }
    view->data = view_offset(l, view->data, wrapped, stride);
}

static void view_axis(View *view, LLVMValueRef length, LLVMValueRef stride) {
    view->shape[view->ndim] = length;
    view->strides[view->ndim++] = stride;
}

static bool view_item(Lower *l, View *view, const Value *at, const Type *item, LLVMValueRef index, bool forward,
                      LLVMValueRef extent, LLVMValueRef stride, unsigned axis) {
    if (type_is_integer(item)) {
        view_index(l, view, at, index, forward, extent, stride, axis);
    } else if (item->kind == TY_SLICE) {
        SliceRange range = slice_range(l, item, index, extent);
        view->data = view_offset(l, view->data, range.start, stride);
        bool each = LLVMIsAConstantInt(range.step) && LLVMConstIntGetSExtValue(range.step) == 1;
        view_axis(view, range.length,
                  each ? stride : l_mul(l, stride, range.step)); /* of one item or none it may wrap */
    } else {
        l_fail(l, "an array cannot be indexed by %s", l_type_text(l, item));
        return false;
    }
    return true;
}

static bool view_build(Lower *l, View *view, const Value *at, const Type *type, LLVMValueRef array, const Indices *x) {
    unsigned used = 0, axis = 0;
    bool dots = false;
    for (unsigned i = 0; i < x->count; i++) used += x->types[i]->kind != TY_NONE && x->types[i]->kind != TY_ELLIPSIS;
    *view = (View){.data = l_array_data(l, array), .owner = l_view_owner(l, array)};
    if (used > type->ndim) return l_fail(l, "too many indices");
    for (unsigned i = 0; i <= x->count; i++) {
        const Type *item = i < x->count ? x->types[i] : NULL;
        unsigned whole = item ? (item->kind == TY_ELLIPSIS && !dots ? type->ndim - used : 0) : type->ndim - axis;
        if (item && item->kind == TY_ELLIPSIS) dots = true;
        for (; whole; whole--, axis++)
            view_axis(view, l_array_shape(l, type, array, axis), l_array_stride(l, type, array, axis));
        if (!item || item->kind == TY_ELLIPSIS) continue;
        if (item->kind == TY_NONE) {
            view_axis(view, l_i64(l, 1), l_i64(l, 0));
            continue;
        }
        LLVMValueRef extent = l_array_shape(l, type, array, axis), stride = l_array_stride(l, type, array, axis);
        TRY(view_item(l, view, at, item, x->values[i], x->forward[i], extent, stride, axis));
        axis++;
    }
    for (unsigned i = 0; view->inside && i < view->ndim; i++)
        view->shape[i] = l_select(l, view->inside, view->shape[i], l_i64(l, 0));
    if (view->inside && view->ndim == 0) view->data = l_select(l, view->inside, view->data, l_nowhere(l));
    return true;
}

LLVMValueRef l_view_of(Lower *l, const Value *at, const Type *type, LLVMValueRef array, const Indices *x,
                       const Type **result) {
    View view;
    TRY(view_build(l, &view, at, type, array, x));
    if (!*result) *result = type_view(l->types, type, view.ndim, LAYOUT_A);
    if ((*result)->ndim != view.ndim) {
        l_fail(l, "a view of %u dimensions was typed %s", view.ndim, l_type_text(l, *result));
        return NULL;
    }
    return l_array_make(l, *result, view.data, view.owner, view.shape, view.strides);
}

LLVMValueRef l_view(Lower *l, const Value *at, const Type *type, LLVMValueRef array, const Type *index_type,
                    LLVMValueRef index, const Type *result) {
    Indices x = l_indices(l, &index_type, index, NULL);
    return l_view_of(l, at, type, array, &x, &result);
}

LLVMValueRef lower_view(Lower *l, const Value *value) {
    LLVMValueRef array = l_arg(l, value, 0), shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    unsigned ndim = value->type->ndim;
    for (unsigned i = 0; i < ndim; i++) {
        shape[i] = l_arg(l, value, 2 + i);
        if (value->type->layout == LAYOUT_A) strides[i] = l_arg(l, value, 2 + ndim + i);
    }
    LLVMValueRef data = view_offset(l, l_array_data(l, array), l_i64(l, 1), l_arg(l, value, 1));
    return l_array_make(l, value->type, data, l_view_owner(l, array), shape, strides);
}

LLVMValueRef lower_func_data_address(Lower *l, const Value *call) {
    return LLVMBuildPtrToInt(l->b, l_array_data(l, l_arg(l, call, 0)), l->i64, "");
}
