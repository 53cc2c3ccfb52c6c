/* lower_overlap.c: destinations of a map that lie over what it reads.
 *
 * In: the operands of a map.  Out: code that asks at run time which of them have bytes in common, by the ranges of
 * their addresses.
 *
 * Operands that lie exactly on each other do no harm: each element is read before it is written.  Others may: then the
 * map writes to temporary arrays, which are copied to the destinations behind it.  What the map reads of its own
 * destinations it reads of the temporaries, which begin as copies, so that LLVM sees one address. */
#include "codegen/lower_map.h"

typedef struct AddressRange { /* first byte and the byte after the last one, as integers */
    LLVMValueRef low, high;
} AddressRange;

/* Of an array without elements it may be any. */
static AddressRange byte_range(Lower *l, const Map *m, const MapArray *x) {
    LLVMValueRef start = LLVMBuildPtrToInt(l->b, x->data, l->i64, ""), zero = l_i64(l, 0);
    AddressRange range = {start, l_add(l, start, l_i64(l, map_item_bytes(x)))};
    for (unsigned i = 0; i < m->ndim; i++) {
        LLVMValueRef stride = x->strides[i], span = l_mul(l, l_sub(l, m->shape[i], l_i64(l, 1)), stride);
        if (LLVMIsAConstantInt(stride) && LLVMConstIntGetSExtValue(stride) >= 0) {
            range.high = l_add(l, range.high, span);
            continue;
        }
        LLVMValueRef down = l_icmp(l, LLVMIntSLT, span, zero);
        range.low = l_add(l, range.low, l_choose(l, down, span, zero));
        range.high = l_add(l, range.high, l_choose(l, down, zero, span));
    }
    return range;
}

typedef struct Overlap {
    LLVMValueRef any;     /* a destination and another operand have bytes in common */
    LLVMValueRef harmful; /* so that writing one may change what is still to be read of the other */
    LLVMValueRef found;   /* what the run time has answered, all together; NULL: it was not asked */
} Overlap;

static bool is_asked(const Lower *l, const Map *m) {
    bool unknown = false;
    for (unsigned i = 0; i < m->ndim; i++) unknown |= !LLVMIsAConstantInt(m->shape[i]);
    return l->target->raises && unknown && m->ndim <= MOST_OVERLAP_AXES;
}

/* A call: for an array of two axes it stands for some thirty operations, which LLVM's passes would look at again and
 * again, and which are of no use to its loops. */
static void ask_for_overlap(Lower *l, const Map *m, const MapArray *to, const MapArray *from, Overlap *overlap) {
    static const char *const symbols[MOST_OVERLAP_AXES] = {"krait_overlap_1", "krait_overlap_2", "krait_overlap_3"};
    LLVMValueRef args[4 + 3 * MOST_OVERLAP_AXES] = {
        LLVMBuildPtrToInt(l->b, to->data, l->i64, ""), l_i64(l, map_item_bytes(to)),
        LLVMBuildPtrToInt(l->b, from->data, l->i64, ""), l_i64(l, map_item_bytes(from))};
    unsigned count = 4;
    for (unsigned i = 0; i < m->ndim; i++) {
        args[count++] = m->shape[i];
        args[count++] = to->strides[i];
        args[count++] = from->strides[i];
    }
    LLVMValueRef found = l_call_named(l, symbols[m->ndim - 1], l->i64, args, count);
    LLVMValueRef function = LLVMGetCalledValue(found);
    l_attribute(l, function, -1, "memory", 0); /* none */
    l_attribute(l, function, -1, "willreturn", 0);
    overlap->found = overlap->found ? l_or(l, overlap->found, found) : found;
}

/* Bytes in common are harmless where the arrays lie exactly on each other: each element is read before it is written.
 */
static void add_overlap(Lower *l, const Map *m, const MapArray *to, AddressRange to_bytes, const MapArray *from,
                        Overlap *overlap) {
    AddressRange bytes = byte_range(l, m, from);
    LLVMValueRef meet = l_and(l, l_icmp(l, LLVMIntULT, to_bytes.low, bytes.high),
                              l_icmp(l, LLVMIntULT, bytes.low, to_bytes.high));
    overlap->any = l_or(l, overlap->any, meet);
    if (map_item_bytes(to) == map_item_bytes(from)) {
        LLVMValueRef exact = l_icmp(l, LLVMIntEQ, to->data, from->data);
        for (unsigned i = 0; i < m->ndim; i++) exact = l_and(l, exact, l_equal(l, to->strides[i], from->strides[i]));
        meet = l_and(l, meet, l_not(l, exact));
    }
    overlap->harmful = l_or(l, overlap->harmful, meet);
}

static bool same_index(const Value *a, const Value *b) {
    if (a == b) return true;
    if (a->konst && b->konst) return const_equal(a->konst, b->konst);
    if (a->op != b->op || a->nargs != b->nargs || (a->op != OP_TUPLE && a->op != OP_SLICE)) return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!same_index(a->args[i], b->args[i])) return false;
    return true;
}

bool map_is_same(const Value *a, const Value *b) {
    if (a == b) return true;
    return a->op == OP_GETITEM && b->op == OP_GETITEM && a->args[0] == b->args[0] && a->type == b->type &&
           same_index(a->args[1], b->args[1]);
}

static Overlap find_overlap(Lower *l, const Map *m) {
    Overlap overlap = {l_i1(l, false), l_i1(l, false), NULL};
    Value *const *args = m->operands;
    bool asked = is_asked(l, m);
    for (unsigned d = 0; d < m->ndests && !m->apart; d++) {
        AddressRange bytes = {0};
        for (unsigned i = 0; i < m->ndests + m->ninputs; i++) {
            if (!map_array_at(m, i) || i == d || (i < m->ndests && i < d)) continue;
            if (i >= m->ndests && m->inputs[i - m->ndests].dest == (int)d) continue;
            if (args && (array_is_apart(args[d], args[i]) || array_is_apart(args[i], args[d]))) continue;
            if (asked) {
                ask_for_overlap(l, m, &m->dests[d], map_array_at(m, i), &overlap);
                continue;
            }
            if (!bytes.low) bytes = byte_range(l, m, &m->dests[d]);
            add_overlap(l, m, &m->dests[d], bytes, map_array_at(m, i), &overlap);
        }
    }
    if (!overlap.found) return overlap;
    overlap.any = l_icmp(l, LLVMIntNE, overlap.found, l_i64(l, 0));
    overlap.harmful = l_icmp(l, LLVMIntUGE, overlap.found, l_i64(l, OVERLAP_HARMFUL));
    return overlap;
}

/* ---- temporaries ---- */

/* One row; where both lie together it is one copy of memory. */
static void copy_row(Lower *l, const Map *m, LLVMValueRef const *at, void *self) {
    (void)self;
    const MapArray *to = &m->dests[0], *from = &m->inputs[0].array;
    LLVMTypeRef item = l_item_type(l, type_element(to->type));
    LLVMValueRef size = l_i64(l, map_item_bytes(to)), count = m->ndim ? m->shape[m->ndim - 1] : l_i64(l, 1),
                 to_stride = m->ndim ? to->strides[m->ndim - 1] : size,
                 from_stride = m->ndim ? from->strides[m->ndim - 1] : size;
    LIf f;
    if (l->target->shares_memory) {
        l_if_likely(l, &f, l_and(l, l_equal(l, to_stride, size), l_equal(l, from_stride, size)));
        LLVMBuildMemCpy(l->b, at[0], 1, at[1], 1, l_nswmul(l, count, size));
        l_else(l, &f);
    }
    LFor each;
    LLVMValueRef i = l_for(l, &each, count);
    LLVMValueRef value = l_raw_load(l, item, l_offset(l, at[1], l_nswmul(l, i, from_stride)), 1);
    l_raw_store(l, value, l_offset(l, at[0], l_nswmul(l, i, to_stride)), 1);
    l_endfor(l, &each);
    if (l->target->shares_memory) l_endif(l, &f);
}

/* Arrays of one type with the same elements, which lie apart. */
static void copy_array(Lower *l, const Map *m, const MapArray *to, const MapArray *from) {
    MapInput input = {.is_array = true, .type = type_element(from->type), .array = *from, .dest = -1};
    MapArray dest = *to;
    Map copy = {.ndim = m->ndim, .ndests = 1, .ninputs = 1, .dests = &dest, .inputs = &input};
    for (unsigned i = 0; i < m->ndim; i++) copy.shape[i] = m->shape[i];
    map_rows(l, &copy, copy_row, NULL);
}

/* Memory for all destinations, and the destinations that lie in it, one behind the other. */
static LLVMValueRef make_temporaries(Lower *l, const Map *m, MapArray *made) {
    LLVMValueRef size = l_i64(l, 1), bytes = l_i64(l, 0);
    for (unsigned i = 0; i < m->ndim; i++) size = l_nswmul(l, size, m->shape[i]);
    for (unsigned d = 0; d < m->ndests; d++)
        bytes = l_nswadd(l, bytes, l_nswmul(l, size, l_i64(l, map_item_bytes(&m->dests[d]))));
    LLVMValueRef memory = l_call_named(l, "malloc", l->ptr, &bytes, 1);
    l_raise_if(l, l_icmp(l, LLVMIntEQ, memory, l_null(l->ptr)), "MemoryError", "no memory for a temporary array", NULL,
               0);
    LLVMValueRef data = memory;
    for (unsigned d = 0; d < m->ndests; d++) {
        bool read = m->masked;
        for (unsigned i = 0; i < m->ninputs; i++) read |= m->inputs[i].dest == (int)d;
        made[d] = m->dests[d];
        made[d].data = data;
        LLVMValueRef stride = l_i64(l, map_item_bytes(&m->dests[d]));
        for (unsigned i = m->ndim; i-- > 0;) {
            made[d].strides[i] = stride;
            stride = l_nswmul(l, stride, m->shape[i]);
        }
        data = l_offset(l, data, stride);
        if (read) copy_array(l, m, &made[d], &m->dests[d]);
    }
    return memory;
}

static LLVMValueRef either(Lower *l, const LIf *f, LLVMValueRef yes, LLVMValueRef no) {
    return yes == no ? yes : l_if_phi(l, f, yes, no);
}

static void take_detour(Lower *l, Map *m, Detour *detour) {
    MapArray *made = ARENA_ARRAY(l->arena, MapArray, m->ndests);
    LIf f;
    detour->asked = m->dests;
    for (unsigned i = 0; i < m->ndim; i++) detour->shape[i] = m->shape[i];
    l_if(l, &f, detour->taken);
    LLVMValueRef memory = make_temporaries(l, m, made);
    l_endif(l, &f);
    m->owned = detour->memory = l_if_phi(l, &f, memory, l_null(l->ptr));
    for (unsigned d = 0; d < m->ndests; d++) {
        made[d].data = either(l, &f, made[d].data, m->dests[d].data);
        for (unsigned i = 0; i < m->ndim; i++)
            made[d].strides[i] = either(l, &f, made[d].strides[i], m->dests[d].strides[i]);
    }
    m->dests = ARENA_ARRAY(l->arena, MapArray, m->ndests);
    for (unsigned d = 0; d < m->ndests; d++) m->dests[d] = made[d];
    for (unsigned i = 0; i < m->ninputs; i++)
        if (m->inputs[i].dest >= 0) m->inputs[i].array = made[m->inputs[i].dest];
}

LLVMValueRef map_detour_open(Lower *l, Map *m, Detour *detour) {
    Overlap overlap = find_overlap(l, m);
    *detour = (Detour){.taken = overlap.harmful};
    if (l_is_constant(overlap.harmful, 0)) return overlap.any;
    take_detour(l, m, detour);
    return l_and(l, overlap.any, l_not(l, overlap.harmful));
}

void map_detour_close(Lower *l, Map *m, const Detour *detour) {
    if (l_is_constant(detour->taken, 0)) return;
    LIf f;
    Map whole = {.ndim = m->ndim};
    for (unsigned i = 0; i < m->ndim; i++) whole.shape[i] = detour->shape[i];
    l_if(l, &f, detour->taken);
    for (unsigned d = 0; d < m->ndests; d++) {
        MapArray made = detour->asked[d];
        made.data = m->dests[d].data;
        LLVMValueRef stride = l_i64(l, map_item_bytes(&made));
        for (unsigned i = m->ndim; i-- > 0;) {
            made.strides[i] = stride;
            stride = l_nswmul(l, stride, detour->shape[i]);
        }
        copy_array(l, &whole, &detour->asked[d], &made);
    }
    l_call_named(l, "free", l->v, (LLVMValueRef[]){detour->memory}, 1);
    l_endif(l, &f);
}

/* ---- pass spread asks ---- */

static AddressRange bytes_of(Lower *l, const Type *type, LLVMValueRef array) {
    LLVMValueRef start = LLVMBuildPtrToInt(l->b, l_array_data(l, array), l->i64, ""), zero = l_i64(l, 0);
    AddressRange range = {start, l_add(l, start, l_i64(l, (int64_t)type_size(type_element(type))))};
    for (unsigned i = 0; i < type->ndim; i++) {
        LLVMValueRef last = l_sub(l, l_array_shape(l, type, array, i), l_i64(l, 1));
        LLVMValueRef span = l_mul(l, last, l_array_stride(l, type, array, i));
        LLVMValueRef down = l_icmp(l, LLVMIntSLT, span, zero);
        range.low = l_add(l, range.low, l_choose(l, down, span, zero));
        range.high = l_add(l, range.high, l_choose(l, down, zero, span));
    }
    return range;
}

LLVMValueRef lower_func_arrays_apart(Lower *l, const Value *call) {
    const Type *a = call->args[0]->type, *b = call->args[1]->type;
    LLVMValueRef first = l_arg(l, call, 0), second = l_arg(l, call, 1);
    AddressRange x = bytes_of(l, a, first), y = bytes_of(l, b, second);
    LLVMValueRef apart = l_or(l, l_icmp(l, LLVMIntULE, x.high, y.low), l_icmp(l, LLVMIntULE, y.high, x.low));
    if (a->ndim != b->ndim || type_size(type_element(a)) != type_size(type_element(b))) return apart;
    LLVMValueRef exact = l_icmp(l, LLVMIntEQ, l_array_data(l, first), l_array_data(l, second));
    for (unsigned i = 0; i < a->ndim; i++) {
        exact = l_and(l, exact, l_equal(l, l_array_stride(l, a, first, i), l_array_stride(l, b, second, i)));
        exact = l_and(l, exact, l_equal(l, l_array_shape(l, a, first, i), l_array_shape(l, b, second, i)));
    }
    return l_or(l, apart, exact);
}
