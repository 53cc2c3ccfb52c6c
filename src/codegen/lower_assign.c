/* lower_assign.c: element by element over whole arrays: fill, assignment and in-place operations, with NumPy's
 * broadcasting, casts and overlap.
 *
 *   to[...] = from        to[...] = to[...] op from        from: an array or a scalar
 *
 * Two loop nests: one for equal shapes without overlap, whose strides LLVM knows, and a rare one for the rest: there
 * the source's axes of length 1 get stride 0, and a source that overlaps the destination other than exactly is copied
 * first.  Two contiguous arrays of one dimension and element type are a memmove. */
#include "codegen/lower.h"

#include <string.h> /* memmove */

typedef struct Operand {         /* an array as the loops see it, aligned to the axes of the destination */
    const Type *element, *array; /* of its elements; its own, as far as elements lie in memory */
    LLVMValueRef data, shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    unsigned ndim;
} Operand;

typedef struct Update { /* what happens to each element */
    Op op;              /* OP_COUNT: plain assignment */
    Scalar compute;     /* the type op computes in */
    bool checked;       /* a power: negative exponents raise */
    LLVMValueRef
        scalar; /* the right side if it is no array, of type `compute` or, for assignment, of the element type */
} Update;

static Operand operand_of(Lower *l, const Type *type, LLVMValueRef array) {
    Operand x = {.element = type_element(type), .array = type, .data = l_array_data(l, array), .ndim = type->ndim};
    for (unsigned i = 0; i < type->ndim; i++) {
        x.shape[i] = l_array_shape(l, type, array, i);
        x.strides[i] = l_array_stride(l, type, array, i);
    }
    return x;
}

static int64_t bytes_of(const Operand *x) { return (int64_t)type_size(x->element); }

static LLVMValueRef size_of(Lower *l, const Operand *x) {
    LLVMValueRef size = l_i64(l, 1);
    for (unsigned i = 0; i < x->ndim; i++) size = l_nswmul(l, size, x->shape[i]);
    return size;
}

/* ---- the loop nest ---- */

static void update_element(Lower *l, const Update *u, const Operand *to, LLVMValueRef to_at, const Operand *from,
                           LLVMValueRef from_at) {
    if (type_is_record(to->element)) {
        l_copy_record(l, to->element, to_at, from_at);
        return;
    }
    LLVMValueRef value = from ? l_load_element(l, from->array, from_at) : u->scalar;
    if (u->op == OP_COUNT) {
        if (from) value = l_convert(l, value, from->element, to->element);
    } else {
        Scalar element = to->element->scalar;
        if (from) value = l_cast_scalar(l, value, from->element->scalar, u->compute);
        LLVMValueRef old = l_cast_scalar(l, l_load_element(l, to->array, to_at), element, u->compute);
        value = l_scalar_op(l, u->op, u->compute, old, value);
        if (!value) return;
        value = l_cast_scalar(l, value, u->compute, element);
    }
    l_store_element(l, to->array, value, to_at);
}

static LLVMValueRef advance(Lower *l, LLVMValueRef at, LLVMValueRef index, LLVMValueRef stride) {
    return l_offset(l, at, l_nswmul(l, index, stride));
}

static void update_axis(Lower *l, const Update *u, const Operand *to, LLVMValueRef to_at, const Operand *from,
                        LLVMValueRef from_at, unsigned axis) {
    if (axis == to->ndim) {
        update_element(l, u, to, to_at, from, from_at);
        return;
    }
    LFor f;
    LLVMValueRef index = l_for(l, &f, to->shape[axis]);
    LLVMValueRef next = from ? advance(l, from_at, index, from->strides[axis]) : NULL;
    update_axis(l, u, to, advance(l, to_at, index, to->strides[axis]), from, next, axis + 1);
    l_endfor(l, &f);
}

static void update_all(Lower *l, const Update *u, const Operand *to, const Operand *from) {
    update_axis(l, u, to, to->data, from, from ? from->data : NULL, 0);
}

/* ---- shapes ---- */

/* The source with as many axes as the destination; the new leading ones have length 1. */
static Operand aligned(Lower *l, const Operand *from, unsigned ndim) {
    Operand x = *from;
    unsigned lead = ndim - from->ndim;
    x.ndim = ndim;
    for (unsigned i = 0; i < ndim; i++) {
        x.shape[i] = i < lead ? l_i64(l, 1) : from->shape[i - lead];
        x.strides[i] = i < lead ? l_i64(l, 0) : from->strides[i - lead];
    }
    return x;
}

static void print_shape(Buf *buf, unsigned ndim) {
    buf_putc(buf, '(');
    for (unsigned i = 0; i < ndim; i++) buf_puts(buf, i ? ",%lld" : "%lld");
    buf_puts(buf, ndim == 1 ? ",)" : ")");
}

/* NumPy words three cases; shapes are printed without spaces. */
static void check_broadcast(Lower *l, const Update *u, const Operand *to, const Operand *from, unsigned from_ndim) {
    LLVMValueRef misfit = l_i1(l, false), outside = l_i1(l, false), args[3 * TYPE_MAX_NDIM];
    unsigned n = 0, lead = to->ndim - from_ndim;
    for (unsigned i = lead; i < to->ndim; i++) {
        LLVMValueRef differs = l_icmp(l, LLVMIntNE, to->shape[i], from->shape[i]);
        LLVMValueRef bad = l_and(l, differs, l_icmp(l, LLVMIntNE, from->shape[i], l_i64(l, 1)));
        misfit = l_or(l, misfit, bad);
        outside = l_or(l, outside, l_and(l, bad, l_icmp(l, LLVMIntNE, to->shape[i], l_i64(l, 1))));
    }
    Buf text;
    buf_init(&text, l->arena);
    if (u->op == OP_COUNT) {
        buf_puts(&text, "could not broadcast input array from shape ");
        print_shape(&text, from_ndim);
        for (unsigned i = lead; i < to->ndim; i++) args[n++] = from->shape[i];
        buf_puts(&text, " into shape ");
        print_shape(&text, to->ndim);
        for (unsigned i = 0; i < to->ndim; i++) args[n++] = to->shape[i];
        l_raise_if(l, misfit, "ValueError", text.text, args, n);
        return;
    }
    buf_puts(&text, "operands could not be broadcast together with shapes ");
    const unsigned counts[] = {to->ndim, from_ndim, to->ndim};
    for (int k = 0; k < 3; k++) {
        print_shape(&text, counts[k]);
        buf_putc(&text, ' ');
        for (unsigned i = to->ndim - counts[k]; i < to->ndim; i++) args[n++] = k == 1 ? from->shape[i] : to->shape[i];
    }
    l_raise_if(l, outside, "ValueError", text.text, args, n);
    buf_init(&text, l->arena);
    buf_puts(&text, "non-broadcastable output operand with shape ");
    print_shape(&text, to->ndim);
    buf_puts(&text, " doesn't match the broadcast shape ");
    print_shape(&text, to->ndim);
    n = 0;
    for (unsigned i = 0; i < to->ndim; i++) args[n++] = to->shape[i];
    for (unsigned i = 0; i < to->ndim; i++)
        args[n++] = l_select(l, l_icmp(l, LLVMIntEQ, to->shape[i], l_i64(l, 1)), from->shape[i], to->shape[i]);
    l_raise_if(l, misfit, "ValueError", text.text, args, n);
}

static LLVMValueRef same_shape(Lower *l, const Operand *to, const Operand *from) {
    LLVMValueRef same = l_i1(l, true);
    for (unsigned i = 0; i < to->ndim; i++) same = l_and(l, same, l_icmp(l, LLVMIntEQ, to->shape[i], from->shape[i]));
    return same;
}

static Operand broadcast(Lower *l, const Operand *from) {
    Operand x = *from;
    for (unsigned i = 0; i < x.ndim; i++)
        x.strides[i] = l_select(l, l_icmp(l, LLVMIntEQ, x.shape[i], l_i64(l, 1)), l_i64(l, 0), x.strides[i]);
    return x;
}

/* An axis that the destination does not have must have length 1. */
static void drop_leading_axis(Lower *l, const Operand *to, Operand *from) {
    LLVMValueRef args[2 * TYPE_MAX_NDIM];
    Buf text;
    buf_init(&text, l->arena);
    buf_puts(&text, "could not broadcast input array from shape ");
    print_shape(&text, from->ndim);
    buf_puts(&text, " into shape ");
    print_shape(&text, to->ndim);
    for (unsigned i = 0; i < from->ndim; i++) args[i] = from->shape[i];
    for (unsigned i = 0; i < to->ndim; i++) args[from->ndim + i] = to->shape[i];
    l_raise_if(l, l_icmp(l, LLVMIntNE, from->shape[0], l_i64(l, 1)), "ValueError", text.text, args,
               from->ndim + to->ndim);
    from->ndim--;
    memmove(from->shape, from->shape + 1, from->ndim * sizeof *from->shape);
    memmove(from->strides, from->strides + 1, from->ndim * sizeof *from->strides);
}

/* ---- overlap ---- */

/* First byte and the byte after the last one, as integers. */
static void byte_range(Lower *l, const Operand *x, LLVMValueRef *low, LLVMValueRef *high) {
    LLVMValueRef start = LLVMBuildPtrToInt(l->b, x->data, l->i64, ""), zero = l_i64(l, 0);
    *low = start;
    *high = l_add(l, start, l_i64(l, bytes_of(x)));
    for (unsigned i = 0; i < x->ndim; i++) {
        LLVMValueRef span = l_mul(l, l_sub(l, x->shape[i], l_i64(l, 1)), x->strides[i]);
        LLVMValueRef down = l_icmp(l, LLVMIntSLT, span, zero);
        *low = l_add(l, *low, l_select(l, down, span, zero));
        *high = l_add(l, *high, l_select(l, down, zero, span));
    }
}

/* Whether writing `to` may change what is still to be read of `from`: their bytes meet, and they do not lie exactly on
 * each other, being of one shape. */
static LLVMValueRef may_overlap(Lower *l, const Operand *to, const Operand *from, LLVMValueRef same_shape) {
    LLVMValueRef to_low, to_high, from_low, from_high;
    byte_range(l, to, &to_low, &to_high);
    byte_range(l, from, &from_low, &from_high);
    LLVMValueRef meet = l_and(l, l_icmp(l, LLVMIntULT, to_low, from_high), l_icmp(l, LLVMIntULT, from_low, to_high));
    if (bytes_of(to) != bytes_of(from)) return meet;
    LLVMValueRef exact = l_and(l, same_shape, l_icmp(l, LLVMIntEQ, to->data, from->data));
    for (unsigned i = 0; i < to->ndim; i++)
        exact = l_and(l, exact, l_icmp(l, LLVMIntEQ, to->strides[i], from->strides[i]));
    return l_and(l, meet, l_not(l, exact));
}

/* A contiguous copy in fresh memory, at most as large as the source; the caller frees it. */
static Operand copy_of(Lower *l, const Operand *from) {
    LLVMValueRef bytes = l_nswmul(l, size_of(l, from), l_i64(l, bytes_of(from)));
    Operand copy = *from;
    copy.array = type_array(l->types, from->element, from->ndim, LAYOUT_C, false);
    copy.data = l_call_named(l, "malloc", l->ptr, &bytes, 1);
    if (!copy.data) return *from;
    l_raise_if(l, l_icmp(l, LLVMIntEQ, copy.data, l_null(l->ptr)), "MemoryError", "no memory for a temporary array",
               NULL, 0);
    LLVMValueRef stride = l_i64(l, bytes_of(from));
    for (unsigned i = copy.ndim; i-- > 0;) {
        copy.strides[i] = stride;
        stride = l_nswmul(l, stride, copy.shape[i]);
    }
    const Update plain = {.op = OP_COUNT};
    update_all(l, &plain, &copy, from);
    return copy;
}

static void update_overlapping(Lower *l, const Update *u, const Operand *to, const Operand *from,
                               LLVMValueRef overlap) {
    LIf f;
    l_if(l, &f, overlap);
    Operand copy = copy_of(l, from);
    Operand wide = broadcast(l, &copy);
    update_all(l, u, to, &wide);
    l_call_named(l, "free", l->v, &copy.data, 1);
    l_else(l, &f);
    wide = broadcast(l, from);
    update_all(l, u, to, &wide);
    l_endif(l, &f);
}

/* ---- powers ---- */

static void check_exponent(Lower *l, LLVMValueRef exponent) {
    l_raise_if(l, l_icmp(l, LLVMIntSLT, exponent, l_null(LLVMTypeOf(exponent))), "ValueError",
               "Integers to negative integer powers are not allowed.", NULL, 0);
}

static void check_axis(Lower *l, const Operand *from, LLVMValueRef at, unsigned axis) {
    if (axis == from->ndim) {
        check_exponent(l, l_load_element(l, from->array, at));
        return;
    }
    LFor f;
    LLVMValueRef index = l_for(l, &f, from->shape[axis]);
    check_axis(l, from, advance(l, at, index, from->strides[axis]), axis + 1);
    l_endfor(l, &f);
}

/* Before anything is written, so that an array is changed as a whole or not at all. */
static void check_exponents(Lower *l, const Update *u, const Operand *to, const Operand *from) {
    LIf f;
    l_if(l, &f, l_icmp(l, LLVMIntNE, size_of(l, to), l_i64(l, 0)));
    if (from)
        check_axis(l, from, from->data, 0);
    else
        check_exponent(l, u->scalar);
    l_endif(l, &f);
}

/* ---- the three uses ---- */

static bool is_unit_stride(const Operand *x) {
    return x->ndim == 1 && LLVMIsAConstantInt(x->strides[0]) && LLVMConstIntGetSExtValue(x->strides[0]) == bytes_of(x);
}

static void update_from_array(Lower *l, const Update *u, const Type *to_type, LLVMValueRef to_array,
                              const Type *from_type, LLVMValueRef from_array) {
    Operand to = operand_of(l, to_type, to_array), plain = operand_of(l, from_type, from_array);
    while (plain.ndim > to.ndim) drop_leading_axis(l, &to, &plain);
    Operand from = aligned(l, &plain, to.ndim);
    check_broadcast(l, u, &to, &from, plain.ndim);
    if (u->checked) check_exponents(l, u, &to, &from);
    LLVMValueRef same = same_shape(l, &to, &from);
    LIf f;
    if (u->op == OP_COUNT && to.element == from.element && is_unit_stride(&to) && is_unit_stride(&from)) {
        l_if(l, &f, same);
        LLVMValueRef bytes = l_nswmul(l, to.shape[0], l_i64(l, bytes_of(&to)));
        unsigned align = to.array->unaligned || from.array->unaligned ? 1 : (unsigned)type_align(to.element);
        LLVMBuildMemMove(l->b, to.data, align, from.data, align, bytes);
        l_else(l, &f);
        Operand wide = broadcast(l, &from);
        update_all(l, u, &to,
                   &wide); /* one element to many: read before each store, it stays right when it is one of them */
        l_endif(l, &f);
        return;
    }
    LLVMValueRef overlap = may_overlap(l, &to, &from, same);
    l_if(l, &f, l_and(l, same, l_not(l, overlap)));
    update_all(l, u, &to, &from);
    l_else(l, &f);
    update_overlapping(l, u, &to, &from, overlap);
    l_endif(l, &f);
}

void l_fill(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef value) {
    Operand to = operand_of(l, type, array);
    const Update u = {.op = OP_COUNT, .scalar = value};
    update_all(l, &u, &to, NULL);
}

void l_assign(Lower *l, const Type *to_type, LLVMValueRef to, const Type *from_type, LLVMValueRef from) {
    const Update u = {.op = OP_COUNT};
    update_from_array(l, &u, to_type, to, from_type, from);
}

/* ---- tuples ---- */

/* Stores the numbers of a tuple, in order, to the elements of `to` from axis `axis` on. */
static void store_items(Lower *l, const Operand *to, LLVMValueRef at, unsigned axis, const Type *type,
                        LLVMValueRef value, bool checked) {
    if (type_is_scalar(type)) {
        if (checked && type != to->element) l_check_int_range(l, value, type, to->element, NULL);
        l_store_element(l, to->array, l_cast(l, value, type, to->element), at);
        return;
    }
    for (uint32_t i = 0; i < type->count; i++)
        store_items(l, to, advance(l, at, l_i64(l, i), to->strides[axis]), axis + 1, type->items[i],
                    l_item(l, type, value, i), checked);
}

/* As NumPy does: straight into the destination if it has the tuple's shape; else an array is made, and assigned. */
void l_assign_tuple(Lower *l, const Type *to_type, LLVMValueRef to_array, const Type *tuple, LLVMValueRef value,
                    bool checked) {
    Operand to = operand_of(l, to_type, to_array);
    LLVMValueRef shape[TYPE_MAX_NDIM], same = l_i1(l, true);
    uint64_t bytes = (uint64_t)bytes_of(&to);
    unsigned ndim = 0;
    for (const Type *at = tuple; at && at->kind == TY_TUPLE; at = at->count ? at->items[0] : NULL) {
        if (ndim < to.ndim) same = l_and(l, same, l_icmp(l, LLVMIntEQ, to.shape[ndim], l_i64(l, at->count)));
        shape[ndim++] = l_i64(l, at->count);
        bytes *= at->count;
    }
    LIf f;
    if (ndim == to.ndim) {
        l_if(l, &f, same);
        store_items(l, &to, to.data, 0, tuple, value, checked);
        l_else(l, &f);
    }
    const Type *type = type_array(l->types, to.element, ndim, LAYOUT_C, false);
    LLVMValueRef memory = l_alloca_bytes(l, bytes ? bytes : 1, (unsigned)type_align(to.element), "items");
    LLVMValueRef array = l_array_of_shape(l, type, memory, shape);
    Operand copy = operand_of(l, type, array);
    store_items(l, &copy, memory, 0, tuple, value, checked);
    l_assign(l, to_type, to_array, type, array);
    if (ndim == to.ndim) l_endif(l, &f);
}

/* ---- in place ---- */

/* x += y and friends on an array: the result is the array. imm.i is the scalar type to compute in. */
LLVMValueRef lower_array_inplace(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type, *other = value->args[1]->type;
    if (!(value->flags & VF_INPLACE) || type->kind != TY_ARRAY || value->imm.i < 0 || value->imm.i >= SCALAR_COUNT)
        return l_unsupported(l, "`%s` on arrays is compiled only in place", op_info[value->op].doc);
    LLVMValueRef array = l_arg(l, value, 0), right = l_arg(l, value, 1);
    Update u = {.op = value->op, .compute = (Scalar)value->imm.i, .checked = (value->flags & VF_CHECKED) != 0};
    if (type_is_scalar(other)) {
        u.scalar = l_cast_scalar(l, right, other->scalar, u.compute);
        Operand to = operand_of(l, type, array);
        if (u.checked) check_exponents(l, &u, &to, NULL);
        update_all(l, &u, &to, NULL);
    } else if (other->kind == TY_ARRAY) {
        update_from_array(l, &u, type, array, other, right);
    } else {
        return l_unsupported(l, "`%s` of %s and %s", op_info[value->op].doc, l_type_text(l, type),
                             l_type_text(l, other));
    }
    return l_convert(l, array, type, value->type);
}
