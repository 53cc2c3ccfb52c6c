/* lower_iter.c: iterators, and the builtins that make them.
 *
 * An iterator that one loop sees is known by the value that made it; its mutable part is slots in the entry block,
 * which SROA turns into the induction variables that LLVM's loop passes know:
 *
 *   range, literal step 1 or -1    i;  more: i < stop (i > stop);  take: i, i += step
 *   range, other steps             next and the number of items left, from one division before the loop (no overflow
 *                                  at the end of int64)
 *   range on targets where         i < stop, stop clipped so that i + step cannot overflow
 *   division is slow, step known
 *   not to be negative
 *   range within 32 bits           i < stop (i > stop), in 32 bits (lower_narrow.c)
 *   tuple, array, flat, list,      a running number and the length
 *   reversed
 *   enumerate, zip                 their parts
 *
 * A shared one (pass iterators) is an object in memory: lower_iter_object.c. */
#include "codegen/lower.h"

struct Iterator {
    IterKind kind;
    const Type *over;      /* what is iterated over */
    LLVMValueRef slot;     /* next value of a range, else number of the next item: of the limit's type */
    LLVMValueRef left;     /* slot of i64, or i32: items left, in the counted form of a range */
    LLVMValueRef limit;    /* stop of a range, else number of items */
    LLVMValueRef step;     /* of a range */
    LLVMValueRef source;   /* array; memory of a tuple's items */
    LLVMValueRef stride;   /* between a tuple's items in memory */
    bool reversed, narrow; /* narrow: a range that counts in 32 bits */
    Iterator **parts;      /* enumerate: 1, zip: nparts */
    unsigned nparts;
};

/* ---- ranges ---- */

static bool is_constant(LLVMValueRef value, int64_t number) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == number;
}

/* Items of range(start, stop, step), step not 0, as an unsigned number: there may be more than an int64 counts. */
LLVMValueRef l_range_length(Lower *l, LLVMValueRef start, LLVMValueRef stop, LLVMValueRef step) {
    LLVMTypeRef type = LLVMTypeOf(step);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, false);
    LLVMValueRef down = l_icmp(l, LLVMIntSLT, step, zero);
    LLVMValueRef low = l_select(l, down, stop, start), high = l_select(l, down, start, stop);
    LLVMValueRef any = l_icmp(l, LLVMIntSLT, low, high), distance = l_sub(l, high, low);
    if (is_constant(step, 1) || is_constant(step, -1)) return l_select(l, any, distance, zero);
    LLVMValueRef magnitude = l_select(l, down, l_sub(l, zero, step), step);
    magnitude = l_select(l, l_icmp(l, LLVMIntEQ, magnitude, zero), one, magnitude);
    LLVMValueRef steps = l_add(l, LLVMBuildUDiv(l->b, l_sub(l, distance, one), magnitude, ""), one);
    return l_select(l, any, steps, zero);
}

LLVMValueRef lower_func_range(Lower *l, const Value *call) {
    LLVMValueRef items[3];
    for (unsigned i = 0; i < 3; i++) items[i] = l_arg(l, call, i);
    if (!(call->flags & VF_UNCHECKED))
        l_raise_if(l, l_icmp(l, LLVMIntEQ, items[2], l_i64(l, 0)), "ValueError", "range() arg 3 must not be zero", NULL,
                   0);
    return l_make_items(l, call->type, items);
}

LLVMValueRef lower_func_len(Lower *l, const Value *call) {
    const Type *type = call->args[0]->type;
    LLVMValueRef v = l_arg(l, call, 0);
    if (type_is_object(type)) return l_list_length(l, v);
    if (type_is_table(type)) return l_table_length(l, type, v);
    if (type->kind == TY_RANGE) {
        LLVMValueRef length = l_range_length(l, l_extract(l, v, 0), l_extract(l, v, 1), l_extract(l, v, 2));
        if (call->flags & VF_CHECKED)
            l_raise_if(l, l_icmp(l, LLVMIntSLT, length, l_i64(l, 0)), "OverflowError",
                       "Python int too large to convert to C ssize_t", NULL, 0);
        return length;
    }
    if (type->kind == TY_FLAT) return l_array_size(l, type->items[0], v);
    if (type->kind == TY_ARRAY && type->ndim) return l_array_shape(l, type, v, 0);
    if (type->kind == TY_TUPLE) return l_i64(l, type->count);
    return l_fail(l, "%s has no len()", l_type_text(l, type)), NULL;
}

static LLVMValueRef slot_of(Lower *l, LLVMValueRef first, const char *name) {
    LLVMValueRef slot = l_iterator_slot(l, LLVMTypeOf(first), name);
    LLVMBuildStore(l->b, first, slot);
    return slot;
}

static LLVMValueRef read_slot(Lower *l, LLVMValueRef slot) {
    return LLVMBuildLoad2(l->b, LLVMGetAllocatedType(slot), slot, "");
}

/* Of a range of numbers of 32 bits there are at most 2**32 - 1 items, which need not be counted in 64. */
static bool has_narrow_length(const Lower *l, const Value *range) {
    if (!l->narrow || !value_calls(range, FUNC_RANGE) || range->nargs != 3) return false;
    for (uint32_t i = 0; i < range->nargs; i++)
        if (!value_fits(range->args[i], 32)) return false;
    return true;
}

static void start_range(Lower *l, Iterator *it, LLVMValueRef start, LLVMValueRef stop, LLVMValueRef step, bool upward) {
    it->kind = ITER_RANGE;
    it->step = step;
    it->limit = stop;
    it->slot = slot_of(l, start, "next");
    if (is_constant(step, 1) || is_constant(step, -1)) return;
    if (l->target->slow_division && upward && !LLVMIsAConstantInt(step)) {
        LLVMValueRef last = l_sub(l, l_i64(l, INT64_MAX), step), args[] = {stop, last};
        it->limit = l_intrinsic(l, "llvm.smin", l->i64, args, 2);
        return;
    }
    it->left = slot_of(l, l_range_length(l, start, stop, step), "left");
}

static void start_narrow_range(Lower *l, Iterator *it, const Value *range, LLVMValueRef v) {
    it->kind = ITER_RANGE;
    it->narrow = true;
    it->reversed = value_bounds(range->args[2]).hi < 0;
    it->step = l_narrowed(l, l_extract(l, v, 2));
    it->limit = l_narrowed(l, l_extract(l, v, 1));
    it->slot = slot_of(l, l_narrowed(l, l_extract(l, v, 0)), "next");
}

static LLVMValueRef range_more(Lower *l, const Iterator *it) {
    if (it->narrow) return l_icmp(l, it->reversed ? LLVMIntSGT : LLVMIntSLT, read_slot(l, it->slot), it->limit);
    if (it->left) {
        LLVMValueRef left = read_slot(l, it->left);
        return l_icmp(l, LLVMIntNE, left, LLVMConstNull(LLVMTypeOf(left)));
    }
    return l_icmp(l, is_constant(it->step, -1) ? LLVMIntSGT : LLVMIntSLT, read_slot(l, it->slot), it->limit);
}

static LLVMValueRef range_take(Lower *l, const Iterator *it) {
    LLVMValueRef value = read_slot(l, it->slot);
    bool wraps = it->left && LLVMGetAllocatedType(it->left) == l->i64; /* after the last item */
    LLVMBuildStore(l->b, wraps ? l_add(l, value, it->step) : l_nswadd(l, value, it->step), it->slot);
    if (it->narrow) return l_widened(l, value);
    if (it->left) {
        LLVMValueRef left = read_slot(l, it->left), one = LLVMConstInt(LLVMTypeOf(left), 1, false);
        LLVMBuildStore(l->b, LLVMBuildNUWSub(l->b, left, one, ""), it->left);
    }
    return value;
}

/* ---- items of arrays ---- */

/* array[index] with the index in range: an element, or the view that the type of the result says. */
LLVMValueRef l_array_item(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef index, const Type *result) {
    if (type->ndim == 1) return l_element_value(l, type, array, l_element(l, type, array, &index));
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 1; i < type->ndim; i++) {
        shape[i - 1] = l_array_shape(l, type, array, i);
        strides[i - 1] = l_array_stride(l, type, array, i);
    }
    LLVMValueRef data = l_offset(l, l_array_data(l, array), l_nswmul(l, index, l_array_stride(l, type, array, 0)));
    return l_array_make(l, result, data, l_view_owner(l, array), shape, strides);
}

LLVMValueRef l_flat_item(Lower *l, const Type *array_type, LLVMValueRef array, LLVMValueRef number) {
    LLVMValueRef index[TYPE_MAX_NDIM];
    if (array_type->layout == LAYOUT_C && array_type->ndim) {
        LLVMTypeRef item = l_item_type(l, type_element(array_type));
        return l_element_value(l, array_type, array, l_index(l, item, l_array_data(l, array), number));
    }
    l_unravel(l, array_type, array, number, index);
    return l_element_value(l, array_type, array, l_element(l, array_type, array, index));
}

/* ---- making iterators ---- */

static bool start_numbered(Lower *l, Iterator *it, const Type *over, LLVMValueRef value) {
    it->over = over;
    it->slot = slot_of(l, l_i64(l, 0), "number");
    it->source = value;
    switch (over->kind) {
    case TY_TUPLE:
        it->kind = ITER_TUPLE;
        it->limit = l_i64(l, over->count);
        if (over->count && l_has_bytes(over->items[0])) it->source = l_tuple_in_memory(l, over, value, &it->stride);
        return true;
    case TY_FLAT:
        it->kind = ITER_FLAT;
        it->limit = l_array_size(l, over->items[0], value);
        return true;
    case TY_ARRAY:
        it->kind = ITER_ARRAY;
        it->limit = l_array_shape(l, over, value, 0);
        return true;
    case TY_LIST:
        it->kind = ITER_LIST;
        it->limit = l_list_length(l, value);
        return true;
    default: l_fail(l, "%s cannot be iterated over", l_type_text(l, over)); return false;
    }
}

static LLVMValueRef iterator_made(Lower *l, const Value *value, Iterator *it) {
    l->s->iterators[value->id] = it;
    return l_null(l->ptr); /* its state is in slots */
}

static bool is_upward(const Value *range) {
    return value_calls(range, FUNC_RANGE) && range->nargs == 3 && value_is_nonnegative(range->args[2]);
}

LLVMValueRef lower_iter(Lower *l, const Value *value) {
    const Value *source = value->args[0];
    if (source->type->kind == TY_GENERATOR) return l_value(l, source);
    if (value->flags & VF_SHARED) return l_iter_object(l, value);
    Iterator *it = ARENA_NEW(l->arena, Iterator);
    LLVMValueRef v = l_value(l, source);
    if (l_counts_narrowly(l, source))
        start_narrow_range(l, it, source, v);
    else if (source->type->kind == TY_RANGE)
        start_range(l, it, l_extract(l, v, 0), l_extract(l, v, 1), l_extract(l, v, 2), is_upward(source));
    else
        TRY(start_numbered(l, it, source->type, v));
    if (it->left && has_narrow_length(l, source)) {
        LLVMValueRef items[3];
        for (unsigned i = 0; i < 3; i++) items[i] = l_narrowed(l, l_extract(l, v, i));
        it->left = slot_of(l, l_range_length(l, items[0], items[1], items[2]), "left");
    }
    return iterator_made(l, value, it);
}

LLVMValueRef lower_func_reversed(Lower *l, const Value *call) {
    const Value *source = call->args[0];
    if (call->flags & VF_SHARED) return l_iter_object(l, call);
    Iterator *it = ARENA_NEW(l->arena, Iterator);
    LLVMValueRef v = l_value(l, source);
    if (source->type->kind == TY_RANGE) {
        LLVMValueRef start = l_extract(l, v, 0), stop = l_extract(l, v, 1), step = l_extract(l, v, 2);
        LLVMValueRef length = l_range_length(l, start, stop, step);
        LLVMValueRef last = l_add(l, start, l_mul(l, l_sub(l, length, l_i64(l, 1)), step));
        it->kind = ITER_RANGE;
        it->step = l_sub(l, l_i64(l, 0), step);
        it->slot = slot_of(l, last, "next");
        it->left = slot_of(l, length, "left"); /* where it ends may be no int64 */
    } else {
        TRY(start_numbered(l, it, source->type, v));
        it->reversed = true;
    }
    return iterator_made(l, call, it);
}

LLVMValueRef lower_func_enumerate(Lower *l, const Value *call) {
    if (call->flags & VF_SHARED) return l_iter_object(l, call);
    Iterator *it = ARENA_NEW(l->arena, Iterator);
    it->kind = ITER_ENUMERATE;
    it->nparts = 1;
    it->parts = ARENA_ARRAY(l->arena, Iterator *, 1);
    it->parts[0] = l->s->iterators[call->args[0]->id];
    it->slot = slot_of(l, call->nargs > 1 ? l_arg(l, call, 1) : l_i64(l, 0), "count");
    return iterator_made(l, call, it);
}

LLVMValueRef lower_func_zip(Lower *l, const Value *call) {
    if (call->flags & VF_SHARED) return l_iter_object(l, call);
    Iterator *it = ARENA_NEW(l->arena, Iterator);
    it->kind = ITER_ZIP;
    it->nparts = call->nargs;
    it->parts = ARENA_ARRAY(l->arena, Iterator *, call->nargs);
    for (uint32_t i = 0; i < call->nargs; i++) it->parts[i] = l->s->iterators[call->args[i]->id];
    return iterator_made(l, call, it);
}

/* ---- using them ---- */

static LLVMValueRef more(Lower *l, const Iterator *it) {
    if (it->kind == ITER_RANGE) return range_more(l, it);
    if (it->kind == ITER_ENUMERATE) return more(l, it->parts[0]);
    if (it->kind == ITER_ZIP) {
        LLVMValueRef all = l_i1(l, it->nparts > 0);
        for (unsigned i = 0; i < it->nparts; i++)
            all = i ? l_and(l, all, more(l, it->parts[i])) : more(l, it->parts[i]);
        return all;
    }
    bool grows = it->kind == ITER_LIST && !it->reversed; /* the list may change while it is walked */
    return l_icmp(l, LLVMIntSLT, read_slot(l, it->slot), grows ? l_list_length(l, it->source) : it->limit);
}

/* As an unsigned number, as l_range_length. */
static LLVMValueRef items_left(Lower *l, const Iterator *it) {
    if (it->left) return LLVMBuildZExtOrBitCast(l->b, read_slot(l, it->left), l->i64, "");
    if (it->kind == ITER_RANGE)
        return l_range_length(l, l_widened(l, read_slot(l, it->slot)), l_widened(l, it->limit), l_widened(l, it->step));
    if (it->kind == ITER_ENUMERATE) return items_left(l, it->parts[0]);
    if (it->kind != ITER_ZIP) return l_sub(l, it->limit, read_slot(l, it->slot));
    LLVMValueRef least = l_i64(l, 0);
    for (unsigned i = 0; i < it->nparts; i++) {
        LLVMValueRef both[] = {least, items_left(l, it->parts[i])};
        least = i ? l_intrinsic(l, "llvm.umin", l->i64, both, 2) : both[1];
    }
    return least;
}

static LLVMValueRef take(Lower *l, const Iterator *it, const Type *type);

static LLVMValueRef take_parts(Lower *l, const Iterator *it, const Type *type) {
    LLVMValueRef tuple = LLVMGetUndef(l_type(l, type));
    unsigned first = it->kind == ITER_ENUMERATE ? 1 : 0;
    if (type->kind != TY_TUPLE || type->count != it->nparts + first)
        return l_fail(l, "an iterator's item was typed %s", l_type_text(l, type)), NULL;
    if (first) {
        LLVMValueRef number = read_slot(l, it->slot);
        LLVMBuildStore(l->b, l_add(l, number, l_i64(l, 1)), it->slot);
        tuple = l_set_item(l, type, tuple, 0, number);
    }
    for (unsigned i = 0; i < it->nparts; i++) {
        LLVMValueRef item;
        TRY(item = take(l, it->parts[i], type->items[i + first]));
        if (l_has_bytes(type->items[i + first])) tuple = l_set_item(l, type, tuple, i + first, item);
    }
    return tuple;
}

static LLVMValueRef take(Lower *l, const Iterator *it, const Type *type) {
    if (it->kind == ITER_RANGE) return range_take(l, it);
    if (it->kind == ITER_ENUMERATE || it->kind == ITER_ZIP) return take_parts(l, it, type);
    LLVMValueRef number = read_slot(l, it->slot);
    LLVMBuildStore(l->b, LLVMBuildNSWAdd(l->b, number, l_i64(l, 1), ""), it->slot);
    if (it->reversed) number = l_nswsub(l, l_nswsub(l, it->limit, l_i64(l, 1)), number);
    switch (it->kind) {
    case ITER_TUPLE: {
        if (!l_has_bytes(type)) return LLVMGetUndef(l_type(l, type));
        LLVMValueRef item = l_load(l, it->over->items[0], l_offset(l, it->source, l_nswmul(l, number, it->stride)));
        return l_convert(l, item, it->over->items[0], type);
    }
    case ITER_FLAT: return l_flat_item(l, it->over->items[0], it->source, number);
    case ITER_LIST: return l_list_item(l, it->over, it->source, number);
    default: return l_array_item(l, it->over, it->source, number, type);
    }
}

LLVMValueRef lower_iter_more(Lower *l, const Value *value) {
    const Value *iterator = value->args[0];
    const Iterator *it = l->s->iterators[iterator->id];
    if (it) return more(l, it);
    return l_iter_object_more(l, iterator->type, l_value(l, iterator), type_walks_list(iterator->type));
}

LLVMValueRef lower_iter_take(Lower *l, const Value *value) {
    const Value *iterator = value->args[0];
    const Iterator *it = l->s->iterators[iterator->id];
    bool counted = type_walks_list(iterator->type);
    if (!it) return l_iter_object_take(l, iterator->type, l_value(l, iterator), counted);
    LLVMValueRef item = take(l, it, value->type);
    if (item && counted) l_count(l, OP_RETAIN, value->type, item);
    return item;
}

LLVMValueRef lower_iter_left(Lower *l, const Value *value) {
    const Iterator *it = l->s->iterators[value->args[0]->id];
    return it ? items_left(l, it) : (l_fail(l, "the items left of a shared iterator"), NULL);
}
