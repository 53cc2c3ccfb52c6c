/* lower_array.c: arrays: their parts, element access.
 *
 * The strides of C and F arrays are computed from the shape, so that LLVM sees products it knows; a C element address
 * is one linear index. An element access is checked as the target's policy says: trusted, raising IndexError in NumPy's
 * words, or skipped and recorded. */
#include "codegen/lower.h"

/* ---- parts ---- */

LLVMValueRef l_array_make(Lower *l, const Type *type, LLVMValueRef data, LLVMValueRef owner, LLVMValueRef const *shape,
                          LLVMValueRef const *strides) {
    LLVMValueRef leaves[2 + 2 * TYPE_MAX_NDIM] = {data, owner};
    LLVMValueRef const *at = leaves;
    for (unsigned i = 0; i < type->ndim; i++) leaves[2 + i] = shape[i];
    for (unsigned i = 0; type->layout == LAYOUT_A && i < type->ndim; i++) leaves[2 + type->ndim + i] = strides[i];
    return l_unflatten(l, type, &at);
}

static int64_t item_bytes(const Type *type) { return (int64_t)type_size(type_element(type)); }

LLVMValueRef l_array_of_shape(Lower *l, const Type *type, LLVMValueRef data, LLVMValueRef const *shape) {
    return l_array_make(l, type, data, l_null(l->ptr), shape, NULL);
}

LLVMValueRef l_array_data(Lower *l, LLVMValueRef array) { return l_extract(l, array, 0); }
LLVMValueRef l_array_owner(Lower *l, LLVMValueRef array) { return l_extract(l, array, 1); }

LLVMValueRef l_view_owner(Lower *l, LLVMValueRef array) {
    LLVMValueRef owner = l_array_owner(l, array);
    if (LLVMIsNull(owner)) return owner;
    LLVMValueRef bits = LLVMBuildPtrToInt(l->b, owner, l->i64, "");
    return LLVMBuildIntToPtr(l->b, l_or(l, bits, l_i64(l, OWNER_VIEW)), l->ptr, "");
}

LLVMValueRef l_array_shape(Lower *l, const Type *type, LLVMValueRef array, unsigned axis) {
    (void)type;
    return l_extract(l, array, 2 + axis);
}

LLVMValueRef l_array_stride(Lower *l, const Type *type, LLVMValueRef array, unsigned axis) {
    if (type->layout == LAYOUT_A) return l_extract(l, array, 2u + type->ndim + axis);
    LLVMValueRef stride = l_i64(l, item_bytes(type));
    if (type->layout == LAYOUT_C)
        for (unsigned i = type->ndim; --i > axis;) stride = l_nswmul(l, stride, l_array_shape(l, type, array, i));
    else
        for (unsigned i = 0; i < axis; i++) stride = l_nswmul(l, stride, l_array_shape(l, type, array, i));
    return stride;
}

LLVMValueRef l_array_size(Lower *l, const Type *type, LLVMValueRef array) {
    LLVMValueRef size = l_i64(l, 1);
    for (unsigned i = 0; i < type->ndim; i++)
        size = i ? l_nswmul(l, size, l_array_shape(l, type, array, i)) : l_array_shape(l, type, array, i);
    return size;
}

LLVMValueRef l_element_value(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef pointer) {
    const Type *result = type_element_value(l->types, type);
    if (result->kind != TY_ARRAY) return l_load_element(l, type, pointer);
    return l_array_make(l, result, pointer, l_view_owner(l, array), NULL, NULL);
}

/* Of 32 bits the place is inside, or the index is at no item: of an index from the end, the sum has wrapped to its
 * place; of one from the start, the sum is larger than the index.  So it is the less of both, as unsigned numbers,
 * which is outside if the index is. */
LLVMValueRef l_wrap_index(Lower *l, LLVMValueRef index, LLVMValueRef extent, bool forward) {
    if (forward) return index;
    if (LLVMIsAConstantInt(index)) return LLVMConstIntGetSExtValue(index) < 0 ? l_add(l, index, extent) : index;
    if (LLVMTypeOf(index) == l->i32) {
        LLVMValueRef both[] = {index, l_add(l, index, extent)};
        return l_intrinsic(l, "llvm.umin", l->i32, both, 2);
    }
    return l_select(l, l_icmp(l, LLVMIntSLT, index, l_null(LLVMTypeOf(index))), l_add(l, index, extent), index);
}

/* ---- indices ---- */

Indices l_indices(Lower *l, const Type *const *type, LLVMValueRef value, const Value *operand) {
    bool tuple = (*type)->kind == TY_TUPLE;
    Indices x = {.types = tuple ? (*type)->items : type, .count = tuple ? (*type)->count : 1};
    x.values = ARENA_ARRAY(l->arena, LLVMValueRef, x.count);
    x.forward = ARENA_ARRAY(l->arena, bool, x.count);
    x.certain = ARENA_ARRAY(l->arena, bool, x.count);
    x.sources = ARENA_ARRAY(l->arena, const Value *, x.count);
    while (tuple && operand && operand->op == OP_CAST) operand = operand->args[0];
    for (unsigned i = 0; i < x.count; i++) {
        if (l_has_bytes(x.types[i])) x.values[i] = tuple ? l_item(l, *type, value, i) : value;
        const Value *source = !tuple                                                     ? operand
                              : operand && operand->op == OP_TUPLE && i < operand->nargs ? operand->args[i]
                                                                                         : NULL;
        x.sources[i] = source;
        x.forward[i] = source && type_is_integer(source->type) && value_counts_forward(source);
        x.certain[i] = source && type_is_integer(source->type) && value_fits(source, 64) &&
                       value_is_nonnegative(source);
        if (type_is_scalar(x.types[i])) x.values[i] = l_cast_scalar(l, x.values[i], x.types[i]->scalar, SCALAR_INT64);
    }
    return x;
}

AccessPolicy l_access_policy(const Lower *l, const Value *at) {
    if (at->flags & VF_PUT_OFF) return ACCESS_NOTE;
    return at->flags & VF_UNCHECKED ? ACCESS_TRUST : l->access;
}

void l_raise_out_of_bounds(Lower *l, LLVMValueRef inside, LLVMValueRef index, unsigned axis, LLVMValueRef extent) {
    LLVMValueRef args[] = {index, l_i64(l, axis), extent};
    l_raise_if(l, l_not(l, inside), "IndexError", "index %lld is out of bounds for axis %lld with size %lld", args, 3);
}

/* Whether an access has missed: in a register once SROA has seen it. */
static LLVMValueRef missed_slot(Lower *l) {
    if (!l->s->missed) l->s->missed = l_alloca_with(l, l_i1(l, false), "missed");
    return l->s->missed;
}

/* The place, or, noting that, the first of all, which there is where accesses are put off. */
static LLVMValueRef note_missed(Lower *l, LLVMValueRef place, LLVMValueRef extent) {
    LLVMValueRef slot = missed_slot(l), before = l_raw_load(l, l->i1, slot, 1);
    l_raw_store(l, l_or(l, before, l_icmp(l, LLVMIntUGE, place, extent)), slot, 1);
    LLVMValueRef both[] = {place, l_sub(l, extent, l_int(LLVMTypeOf(extent), 1))};
    return l_intrinsic(l, "llvm.umin", LLVMTypeOf(place), both, 2);
}

LLVMValueRef lower_missed(Lower *l) {
    LLVMValueRef slot = missed_slot(l), missed = l_raw_load(l, l->i1, slot, 1);
    l_raw_store(l, l_i1(l, false), slot, 1);
    return missed;
}

/* Records the access unless `all` axes are inside.  The site is that of the first axis that is outside. */
static void record_bad(Lower *l, const Value *at, LLVMValueRef all, LLVMValueRef const *inside, unsigned count) {
    uint32_t sites[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < count; i++) sites[i] = l_access_site(l, at, i);
    LLVMValueRef site = l_i32(l, sites[count - 1]);
    for (unsigned i = count - 1; i-- > 0;) site = l_select(l, inside[i], site, l_i32(l, sites[i]));
    l->target->bad_access(l, all, site);
}

/* ---- one element ---- */

/* No shape can say that a view without axes is empty. */
LLVMValueRef l_nowhere(Lower *l) {
    enum { LARGEST_ITEM = 16 };
    LLVMValueRef global = LLVMGetNamedGlobal(l->module, "krait_nowhere");
    if (global) return global;
    LLVMTypeRef type = LLVMArrayType2(l->i8, LARGEST_ITEM);
    global = LLVMAddGlobal(l->module, type, "krait_nowhere");
    LLVMSetInitializer(global, l_null(type));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, LARGEST_ITEM);
    return global;
}

/* `all`: whether the access takes place; of no axes it was recorded when the view was made. */
static void guard_access(Lower *l, Access *a, const Value *at, LLVMValueRef all, LLVMValueRef const *inside,
                         unsigned count) {
    for (unsigned i = 0; i < count; i++) all = all ? l_and(l, all, inside[i]) : inside[i];
    a->guarded = true;
    a->guard = (LIf){.yes = l_block(l, "inside"), .no = l_block(l, "outside"), .end = l_block(l, "accessed")};
    /* A loop over threads vectorises if its body is straight-line code, recording included: a minimum, which LLVM knows
     * as a reduction.  A body with loops does not vectorise, and is better off with the recording out of the way. */
    bool aside = l->inst->has_loop;
    if (count && !aside) record_bad(l, at, all, inside, count);
    l_branch_unlikely(l, l_not(l, all), a->guard.no, a->guard.yes);
    l_enter(l, a->guard.no);
    if (count && aside) record_bad(l, at, l_i1(l, false), inside, count);
    a->guard.from_no = l_here(l);
    l_jump(l, a->guard.end);
    l_enter(l, a->guard.yes);
}

/* The place of an index on an axis, in 32 bits.  One that does not fit them is looked at in 64. */
static LLVMValueRef narrow_place(Lower *l, const Indices *x, unsigned axis, LLVMValueRef extent, AccessPolicy policy) {
    const Value *source = x->sources[axis];
    LLVMValueRef index = x->values[axis], narrow = l_narrowed(l, extent);
    bool fits = policy == ACCESS_TRUST || (source && type_is_integer(source->type) && value_fits(source, 32));
    LLVMValueRef place = fits ? l_wrap_index(l, l_narrowed(l, index), narrow, x->forward[axis])
                              : l_wrap_index(l, index, extent, x->forward[axis]);
    LLVMValueRef end = fits ? narrow : extent;
    if (policy == ACCESS_RAISE) l_raise_out_of_bounds(l, l_icmp(l, LLVMIntULT, place, end), index, axis, extent);
    return l_narrowed(l, policy == ACCESS_NOTE ? note_missed(l, place, end) : place);
}

/* In 32 bits. */
static LLVMValueRef narrow_access(Lower *l, const Type *type, LLVMValueRef array, const Indices *x,
                                  AccessPolicy policy) {
    Place places[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) {
        LLVMValueRef place = narrow_place(l, x, i, l_array_shape(l, type, array, i), policy);
        places[i] = x->forward[i] && policy != ACCESS_NOTE ? l_place(l, place, x->sources[i]) : (Place){place, 0};
    }
    for (unsigned i = 0; !l_places_are_near(type, places); i++)
        if (places[i].offset) places[i] = (Place){l_narrowed(l, x->values[i]), 0};
    return l_element_at(l, type, array, places);
}

/* The place of an element on an axis; IndexError where there is none.  What counts from the end is looked at only where
 * the index itself is not inside. */
static LLVMValueRef checked_place(Lower *l, LLVMValueRef index, LLVMValueRef extent, unsigned axis) {
    LLVMBasicBlockRef here = l_here(l), outside = l_block(l, "outside"), inside = l_block(l, "inside");
    l_branch_unlikely(l, l_icmp(l, LLVMIntUGE, index, extent), outside, inside);
    l_enter(l, outside);
    LLVMValueRef wrapped = l_add(l, index, extent);
    l_raise_out_of_bounds(l, l_icmp(l, LLVMIntULT, wrapped, extent), index, axis, extent);
    LLVMBasicBlockRef from = l_here(l);
    l_jump(l, inside);
    LLVMMoveBasicBlockAfter(inside, from);
    l_enter(l, inside);
    LLVMValueRef place = LLVMBuildPhi(l->b, l->i64, "");
    LLVMAddIncoming(place, &index, &here, 1);
    LLVMAddIncoming(place, &wrapped, &from, 1);
    return place;
}

static void access_elements(Lower *l, Access *a, const Value *at, const Type *type, LLVMValueRef array,
                            const Indices *x) {
    AccessPolicy policy = l_access_policy(l, at);
    LLVMValueRef index[TYPE_MAX_NDIM], inside[TYPE_MAX_NDIM];
    a->element = type_element(type);
    a->array = type;
    a->guarded = false;
    for (unsigned i = 0; i < x->count; i++) x->forward[i] |= (at->flags & VF_FORWARD) != 0;
    /* LLVM makes pointers that move of places in 32 bits only where each round of a loop computes them. */
    if (l->narrow && !(at->flags & VF_SKIPPED)) {
        a->pointer = narrow_access(l, type, array, x, policy);
        return;
    }
    for (unsigned i = 0; i < type->ndim; i++) {
        LLVMValueRef extent = l_array_shape(l, type, array, i);
        if (policy == ACCESS_RAISE && !x->forward[i] && !LLVMIsAConstantInt(x->values[i])) {
            index[i] = checked_place(l, x->values[i], extent, i);
            continue;
        }
        index[i] = l_wrap_index(l, x->values[i], extent, x->forward[i]);
        if (policy == ACCESS_TRUST) continue;
        if (policy == ACCESS_NOTE) {
            index[i] = note_missed(l, index[i], extent);
            continue;
        }
        inside[i] = l_icmp(l, LLVMIntULT, index[i], extent);
        if (x->certain[i] && LLVMIsAICmpInst(inside[i])) LLVMSetICmpSameSign(inside[i], true);
        if (policy == ACCESS_RAISE) l_raise_out_of_bounds(l, inside[i], x->values[i], i, extent);
    }
    LLVMValueRef somewhere = policy == ACCESS_SKIP && type->ndim == 0
                                 ? l_icmp(l, LLVMIntNE, l_array_data(l, array), l_nowhere(l))
                                 : NULL;
    if (policy == ACCESS_SKIP) guard_access(l, a, at, somewhere, inside, type->ndim);
    a->pointer = l_element_wide(l, type, array, index);
}

void l_access(Lower *l, Access *a, const Value *at, const Value *array, const Value *index) {
    Indices x = l_indices(l, &index->type, l_value(l, index), index);
    if (array->type->kind != TY_ARRAY || !type_takes_element(array->type, index->type)) {
        l_fail(l, "an element is needed here, not %s[%s]", l_type_text(l, array->type), l_type_text(l, index->type));
        *a = (Access){.pointer = LLVMGetUndef(l->ptr),
                      .element = type_scalar(l->types, SCALAR_INT64, false),
                      .array = array->type};
        return;
    }
    access_elements(l, a, at, array->type, l_value(l, array), &x);
}

LLVMValueRef l_endaccess(Lower *l, Access *a, LLVMValueRef value) {
    if (!a->guarded) return value;
    a->guard.from_yes = l_here(l);
    l_jump(l, a->guard.end);
    LLVMMoveBasicBlockAfter(a->guard.end, a->guard.from_yes);
    l_enter(l, a->guard.end);
    if (!value || LLVMTypeOf(value) == l->empty) return value;
    return l_if_phi(l, &a->guard, value, l_null(LLVMTypeOf(value)));
}

/* ---- a.flat[i] ---- */

/* Indices of element `linear` in C order. */
void l_unravel(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef linear, LLVMValueRef *index) {
    for (unsigned i = type->ndim; i-- > 0;) {
        if (i == 0) {
            index[0] = linear;
            return;
        }
        LLVMValueRef extent = l_array_shape(l, type, array, i);
        LLVMValueRef rest = LLVMBuildUDiv(l->b, linear, extent, "");
        index[i] = l_sub(l, linear, l_mul(l, rest, extent));
        linear = rest;
    }
}

static LLVMValueRef flat_access(Lower *l, Access *a, const Value *at, const Type *type, LLVMValueRef array,
                                const Indices *x) {
    LLVMValueRef size = l_array_size(l, type, array), index[TYPE_MAX_NDIM];
    LLVMValueRef linear = l_wrap_index(l, x->values[0], size, x->forward[0]);
    AccessPolicy policy = l_access_policy(l, at);
    *a = (Access){.element = type_element(type), .array = type};
    LLVMValueRef inside = l_icmp(l, LLVMIntULT, linear, size), args[] = {x->values[0], size};
    if (policy == ACCESS_RAISE)
        l_raise_if(l, l_not(l, inside), "IndexError", "index %lld is out of bounds for size %lld", args, 2);
    if (policy == ACCESS_SKIP) guard_access(l, a, at, NULL, &inside, 1);
    l_unravel(l, type, array, linear, index);
    return a->pointer = l_element(l, type, array, index);
}

/* ---- x[i] and x[i] = v ---- */

static LLVMValueRef range_item(Lower *l, const Value *value, const Indices *x) {
    LLVMValueRef range = l_arg(l, value, 0), start = l_extract(l, range, 0), step = l_extract(l, range, 2);
    LLVMValueRef length = l_range_length(l, start, l_extract(l, range, 1), step);
    LLVMValueRef index = l_wrap_index(l, x->values[0], length, x->forward[0]);
    if (!(value->flags & VF_UNCHECKED))
        l_raise_if(l, l_icmp(l, LLVMIntUGE, index, length), "IndexError", "range object index out of range", NULL, 0);
    return l_add(l, start, l_mul(l, index, step));
}

LLVMValueRef lower_getitem(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type, *index_type = value->args[1]->type;
    if (type->kind == TY_TUPLE) return lower_tuple_getitem(l, value);
    Indices x = l_indices(l, &value->args[1]->type, l_arg(l, value, 1), value->args[1]);
    if (type->kind == TY_RANGE && type_is_integer(index_type)) return range_item(l, value, &x);
    LLVMValueRef array = l_arg(l, value, 0);
    Access a;
    if (type->kind == TY_FLAT && type_is_integer(index_type))
        flat_access(l, &a, value, type->items[0], array, &x);
    else if (type->kind == TY_ARRAY && type_takes_element(type, index_type) && value->type->kind != TY_ARRAY)
        access_elements(l, &a, value, type, array, &x);
    else if (type->kind == TY_ARRAY) { /* also one record, which is a view without axes */
        const Type *result = value->type;
        return l_view_of(l, value, type, array, &x, &result);
    } else
        return l_fail(l, "%s cannot be indexed by %s", l_type_text(l, type), l_type_text(l, index_type)), NULL;
    l_watch(l, value, a.pointer, a.element, RACE_READ);
    LLVMValueRef element = l_load_element(l, a.array, a.pointer);
    element = l_endaccess(l, &a, element);
    return l_convert(l, element, a.element, value->type);
}

static LLVMValueRef set_view(Lower *l, const Value *value, const Type *type, LLVMValueRef array, const Indices *x) {
    const Type *view_type = NULL, *from = value->args[2]->type;
    LLVMValueRef view, source = l_arg(l, value, 2);
    TRY(view = l_view_of(l, value, type, array, x, &view_type));
    if (type->layout == LAYOUT_C && view_type->ndim == 1 && x->count <= type->ndim &&
        LLVMIsAConstantInt(l_array_stride(l, view_type, view, 0)) &&
        LLVMConstIntGetSExtValue(l_array_stride(l, view_type, view, 0)) == item_bytes(type))
        view_type = type_view(l->types, type, 1, LAYOUT_C);
    if (type_is_scalar(from) || from == type_element(type)) {
        if (value->flags & VF_CHECKED) l_check_int_range(l, source, from, type_element(type), value->args[2]);
        l_fill(l, view_type, view, l_cast(l, source, from, type_element(type)));
    } else if (from->kind == TY_ARRAY) { /* of records */
        l_assign(l, view_type, view, from, source);
    } else if (from->kind == TY_TUPLE) {
        l_assign_tuple(l, view_type, view, from, source, value->flags & VF_CHECKED);
    } else {
        return l_fail(l, "%s cannot be assigned to a part of an array", l_type_text(l, from)), NULL;
    }
    return LLVMGetUndef(l->empty);
}

LLVMValueRef lower_setitem(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type, *index_type = value->args[1]->type;
    Indices x = l_indices(l, &value->args[1]->type, l_arg(l, value, 1), value->args[1]);
    LLVMValueRef array = l_arg(l, value, 0);
    Access a;
    if (type->kind == TY_FLAT && type_is_integer(index_type))
        flat_access(l, &a, value, type->items[0], array, &x);
    else if (type->kind == TY_ARRAY && type_takes_element(type, index_type) &&
             (type_is_scalar(value->args[2]->type) || value->args[2]->type == type_element(type) ||
              type_is_record(type_element(type))))
        access_elements(l, &a, value, type, array, &x);
    else if (type->kind == TY_ARRAY)
        return set_view(l, value, type, array, &x);
    else
        return l_fail(l, "items of %s cannot be assigned", l_type_text(l, type)), NULL;
    LLVMValueRef stored = l_arg(l, value, 2);
    const Type *from = value->args[2]->type;
    if (value->flags & VF_CHECKED && type->kind == TY_FLAT)
        l_raise_if(l, l_int_outside(l, stored, from, a.element), "ValueError", "Error setting single item of array.",
                   NULL, 0);
    else if (value->flags & VF_CHECKED)
        l_check_int_range(l, stored, from, a.element, value->args[2]);
    l_watch(l, value, a.pointer, a.element, RACE_WRITE);
    if (type_is_record(a.element))
        l_copy_record(l, a.element, a.pointer, l_array_data(l, stored));
    else
        l_store_element(l, a.array, l_cast(l, stored, from, a.element), a.pointer);
    l_endaccess(l, &a, NULL);
    return LLVMGetUndef(l->empty);
}
