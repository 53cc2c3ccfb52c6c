/* lower_broadcast.c: the shape that arrays have together, and what NumPy says where they do not go together.
 *
 * In: shapes, as tuples of ints.  Out: the shape, axis by axis; ValueError in NumPy's words, with the numbers. */
#include "codegen/lower.h"

static LLVMValueRef equal(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return a == b ? l_i1(l, true) : l_icmp(l, LLVMIntEQ, a, b);
}

static void print_shape(Buf *buf, unsigned ndim) {
    buf_putc(buf, '(');
    for (unsigned i = 0; i < ndim; i++) buf_puts(buf, i ? ",%lld" : "%lld");
    buf_puts(buf, ndim == 1 ? ",)" : ")");
}

typedef struct Shape {
    unsigned ndim;
    LLVMValueRef extents[TYPE_MAX_NDIM];
} Shape;

static Shape shape_of(Lower *l, const Value *value, unsigned arg) {
    const Type *type = value->args[arg]->type;
    Shape shape = {.ndim = type->count};
    for (unsigned i = 0; i < shape.ndim; i++) shape.extents[i] = l_item(l, type, l_arg(l, value, arg), i);
    return shape;
}

/* What two extents become, of which nothing is known: a call.  Chains of choices between extents, one for each operand
 * of an expression, are what LLVM's passes take longest for, and are of no use to its loops. */
static LLVMValueRef ask_for_extent(Lower *l, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *misfit) {
    LLVMValueRef extent = l_call_named(l, "krait_joined_extent", l->i64, (LLVMValueRef[]){a, b}, 2);
    LLVMValueRef function = LLVMGetCalledValue(extent);
    l_attribute(l, function, -1, "memory", 0); /* none */
    l_attribute(l, function, -1, "willreturn", 0);
    *misfit = l_or(l, *misfit, l_icmp(l, LLVMIntSLT, extent, l_i64(l, 0)));
    return extent;
}

/* Stretches `all` by one more shape; *misfit where they do not go together. */
static void join_shape(Lower *l, Shape *all, const Shape *more, LLVMValueRef *misfit) {
    LLVMValueRef one = l_i64(l, 1);
    if (all->ndim == 0) {
        *all = *more;
        return;
    }
    if (more->ndim > all->ndim) {
        unsigned lead = more->ndim - all->ndim;
        for (unsigned i = all->ndim; i-- > 0;) all->extents[i + lead] = all->extents[i];
        for (unsigned i = 0; i < lead; i++) all->extents[i] = one;
        all->ndim = more->ndim;
    }
    unsigned lead = all->ndim - more->ndim;
    for (unsigned i = 0; i < more->ndim; i++) {
        LLVMValueRef *have = &all->extents[lead + i], extent = more->extents[i];
        if (*have == extent) continue;
        if (l->target->raises && !LLVMIsAConstantInt(*have) && !LLVMIsAConstantInt(extent)) {
            *have = ask_for_extent(l, *have, extent, misfit);
            continue;
        }
        LLVMValueRef stretches = equal(l, *have, one);
        LLVMValueRef fits = l_or(l, l_or(l, stretches, equal(l, extent, one)), equal(l, *have, extent));
        *misfit = l_or(l, *misfit, l_not(l, fits));
        *have = l_select(l, stretches, extent, *have);
    }
}

static void raise_misfit(Lower *l, const Value *value, LLVMValueRef misfit) {
    LLVMValueRef args[8 * TYPE_MAX_NDIM];
    const unsigned dests = (unsigned)value->imm.i, masks = value->flags & VF_MASKED ? 1 : 0,
                   rest = value->nargs - masks;
    unsigned n = 0;
    Buf text;
    buf_init(&text, l->arena);
    buf_puts(&text, "operands could not be broadcast together with shapes ");
    for (unsigned k = 0; k < value->nargs && k < 8; k++) { /* the destinations behind the operands, then where= */
        Shape shape = shape_of(l, value, k < rest ? (k + dests) % rest : k);
        print_shape(&text, shape.ndim);
        buf_putc(&text, ' ');
        for (unsigned i = 0; i < shape.ndim; i++) args[n++] = shape.extents[i];
    }
    l_raise_if(l, misfit, "ValueError", text.text, args, n);
}

/* A destination is not stretched itself. */
static void check_dest(Lower *l, const Shape *dest, const Shape *all) {
    LLVMValueRef differs = l_i1(l, dest->ndim != all->ndim), args[2 * TYPE_MAX_NDIM];
    unsigned n = 0;
    for (unsigned i = 0; i < dest->ndim && dest->ndim == all->ndim; i++)
        differs = l_or(l, differs, l_not(l, equal(l, dest->extents[i], all->extents[i])));
    Buf text;
    buf_init(&text, l->arena);
    buf_puts(&text, "non-broadcastable output operand with shape ");
    print_shape(&text, dest->ndim);
    buf_puts(&text, " doesn't match the broadcast shape ");
    print_shape(&text, all->ndim);
    for (unsigned i = 0; i < dest->ndim; i++) args[n++] = dest->extents[i];
    for (unsigned i = 0; i < all->ndim; i++) args[n++] = all->extents[i];
    l_raise_if(l, differs, "ValueError", text.text, args, n);
}

/* An assignment of that shape from axis `first` on. */
static void raise_unassignable(Lower *l, LLVMValueRef condition, const Shape *to, const Shape *from, unsigned first) {
    LLVMValueRef args[2 * TYPE_MAX_NDIM];
    unsigned n = 0;
    Buf text;
    buf_init(&text, l->arena);
    buf_puts(&text, "could not broadcast input array from shape ");
    print_shape(&text, from->ndim - first);
    buf_puts(&text, " into shape ");
    print_shape(&text, to->ndim);
    for (unsigned i = first; i < from->ndim; i++) args[n++] = from->extents[i];
    for (unsigned i = 0; i < to->ndim; i++) args[n++] = to->extents[i];
    l_raise_if(l, condition, "ValueError", text.text, args, n);
}

/* Axes of length 1 are stretched; in front of the destination's they are left out one by one, as messages tell. */
static void check_assignment(Lower *l, const Shape *to, const Shape *from) {
    LLVMValueRef misfit = l_i1(l, false), one = l_i64(l, 1);
    unsigned first = 0;
    for (; from->ndim - first > to->ndim; first++)
        raise_unassignable(l, l_not(l, equal(l, from->extents[first], one)), to, from, first);
    for (unsigned i = first; i < from->ndim; i++) {
        LLVMValueRef extent = from->extents[i], into = to->extents[to->ndim + i - from->ndim];
        if (extent == into) continue;
        misfit = l_or(l, misfit, l_not(l, l_or(l, equal(l, extent, one), equal(l, extent, into))));
    }
    raise_unassignable(l, misfit, to, from, first);
}

void l_check_assignment(Lower *l, const Type *to_type, LLVMValueRef to, const Type *from_type, LLVMValueRef from) {
    Shape into = {.ndim = to_type->ndim}, shape = {.ndim = from_type->ndim};
    for (unsigned i = 0; i < into.ndim; i++) into.extents[i] = l_array_shape(l, to_type, to, i);
    for (unsigned i = 0; i < shape.ndim; i++) shape.extents[i] = l_array_shape(l, from_type, from, i);
    check_assignment(l, &into, &shape);
}

LLVMValueRef lower_broadcast(Lower *l, const Value *value) {
    Shape all = {0};
    LLVMValueRef misfit = l_i1(l, false);
    unsigned dests = (unsigned)value->imm.i;
    if (value->flags & VF_INPLACE) {
        Shape to = shape_of(l, value, 0), from = shape_of(l, value, 1);
        check_assignment(l, &to, &from);
        return l_arg(l, value, 0);
    }
    for (unsigned k = 0; k < value->nargs; k++) {
        Shape shape = shape_of(l, value, (k + dests) % value->nargs);
        join_shape(l, &all, &shape, &misfit);
    }
    raise_misfit(l, value, misfit);
    for (unsigned k = 0; k < dests; k++) {
        Shape shape = shape_of(l, value, k);
        check_dest(l, &shape, &all);
    }
    return l_make_items(l, value->type, all.extents);
}
