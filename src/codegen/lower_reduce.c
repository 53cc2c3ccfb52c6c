/* lower_reduce.c: reduce: one number of the elements of an expression, which is never in memory as a whole.
 *
 * The nest is that of a map (lower_map.c) whose destination is a block of REDUCE_BLOCK elements; a full block is taken
 * together, lane by lane, and begun anew.  Blocks go on across the ends of rows, since NumPy would have the elements
 * one behind the other.  An array that steps by one item is taken together where it lies.
 *
 * Sums of floats are bit for bit NumPy's: a block is a piece of a sum in pairs (lower_pairs.c), and its terms are added
 * in eight lanes from -0.0, the lanes in pairs, then what is left over.  Products run one after the other.  The other
 * reductions may be made in any order. */
#include <math.h> /* INFINITY */

#include "codegen/lower_map.h"
#include "codegen/lower_reduce.h"

typedef struct Reduce {
    Reduction kind;
    const Type *type; /* of the result and of what is taken together */
    LLVMTypeRef item; /* in memory */
    unsigned lanes;
    bool floats, sign; /* sign: of integers */
    Pairs pairs;
    LLVMValueRef state;                /* of a sum in pairs that the target adds up itself (PairsState); NULL: not so */
    LLVMValueRef block, filled, total; /* memory: elements, how many there are (i64), what the blocks before gave */
    LLVMValueRef by_item;              /* i1 */
    LLVMBasicBlockRef known;           /* where to go once the result cannot change; NULL: never */
} Reduce;

static unsigned item_bytes(const Reduce *r) { return (unsigned)type_size(r->type); }

static bool is_paired(const Reduce *r) { return r->floats && r->kind == REDUCTION_SUM; }

/* ---- two values, or two vectors ---- */

static LLVMValueRef combine(Lower *l, const Reduce *r, LLVMValueRef a, LLVMValueRef b) {
    switch (r->kind) {
    case REDUCTION_SUM: return r->floats ? l_fadd(l, a, b) : l_add(l, a, b);
    case REDUCTION_PROD: return r->floats ? l_fmul(l, a, b) : l_mul(l, a, b);
    case REDUCTION_ANY: return l_or(l, a, b);
    case REDUCTION_ALL: return l_and(l, a, b);
    default: break;
    }
    bool least = r->kind == REDUCTION_MIN;
    if (!r->floats) {
        LLVMIntPredicate signed_ = least ? LLVMIntSLT : LLVMIntSGT, unsigned_ = least ? LLVMIntULT : LLVMIntUGT;
        return l_select(l, l_icmp(l, r->sign ? signed_ : unsigned_, b, a), b, a);
    }
    LLVMValueRef beyond = LLVMBuildFCmp(l->b, least ? LLVMRealOLT : LLVMRealOGT, b, a, "");
    return l_select(l, l_or(l, beyond, l_isnan(l, b)), b, a); /* nothing is beyond NaN */
}

/* What does not change anything it is combined with; NULL: there is none. */
static LLVMValueRef identity(const Reduce *r) {
    switch (r->kind) {
    case REDUCTION_SUM: return r->floats ? l_float(r->item, -0.0) : l_int(r->item, 0);
    case REDUCTION_PROD: return r->floats ? l_float(r->item, 1.0) : l_int(r->item, 1);
    case REDUCTION_ANY: return l_int(r->item, 0);
    case REDUCTION_ALL: return l_int(r->item, 1);
    default: return NULL;
    }
}

static LLVMValueRef load_total(Lower *l, const Reduce *r) { return l_raw_load(l, r->item, r->total, item_bytes(r)); }
static void store_total(Lower *l, const Reduce *r, LLVMValueRef value) {
    l_raw_store(l, value, r->total, item_bytes(r));
}

/* ---- a block ---- */

static LLVMValueRef halves(Lower *l, LLVMValueRef vector, unsigned count, unsigned first, unsigned step) {
    LLVMValueRef lanes[64];
    for (unsigned i = 0; i < count; i++) lanes[i] = l_i32(l, first + i * step);
    return LLVMBuildShuffleVector(l->b, vector, LLVMGetUndef(LLVMTypeOf(vector)), LLVMConstVector(lanes, count), "");
}

/* Neighbours with each other, until one is left. */
static LLVMValueRef fold_lanes(Lower *l, const Reduce *r, LLVMValueRef lanes) {
    for (unsigned count = r->lanes / 2; count; count /= 2)
        lanes = combine(l, r, halves(l, lanes, count, 0, 2), halves(l, lanes, count, 1, 2));
    return LLVMBuildExtractElement(l->b, lanes, l_i32(l, 0), "");
}

static LLVMValueRef splat(Lower *l, const Reduce *r, LLVMValueRef value) {
    LLVMTypeRef vector = LLVMVectorType(r->item, r->lanes);
    LLVMValueRef one = LLVMBuildInsertElement(l->b, LLVMGetUndef(vector), value, l_i32(l, 0), "");
    return halves(l, one, r->lanes, 0, 0);
}

/* A loop over values or vectors of type `item` at an address, `count` of them, that carries what they give so far. */
static LLVMValueRef fold(Lower *l, const Reduce *r, LLVMTypeRef item, LLVMValueRef at, LLVMValueRef count,
                         LLVMValueRef first) {
    LFor f;
    LLVMBasicBlockRef before = l_here(l);
    LLVMValueRef i = l_for(l, &f, count);
    LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(f.head));
    LLVMValueRef so_far = LLVMBuildPhi(l->b, item, "");
    l_enter(l, f.body);
    LLVMValueRef more = combine(l, r, so_far, l_raw_load(l, item, l_index(l, item, at, i), item_bytes(r)));
    LLVMAddIncoming(so_far, &first, &before, 1);
    LLVMAddIncoming(so_far, &more, &f.body, 1);
    f.shape = LOOP_SCALAR; /* it is made of vectors already */
    l_endfor(l, &f);
    return so_far;
}

/* What the values of a block, one at least, give together. */
static LLVMValueRef fold_block(Lower *l, const Reduce *r, LLVMValueRef at, LLVMValueRef count) {
    LLVMValueRef first = identity(r), lanes = l_i64(l, r->lanes);
    if (!first) first = l_raw_load(l, r->item, at, item_bytes(r));
    LLVMValueRef vectors = LLVMBuildUDiv(l->b, count, lanes, ""), whole = l_nswmul(l, vectors, lanes);
    LLVMValueRef folded = fold(l, r, LLVMVectorType(r->item, r->lanes), at, vectors, splat(l, r, first));
    return fold(l, r, r->item, l_index(l, r->item, at, whole), l_nswsub(l, count, whole), fold_lanes(l, r, folded));
}

/* The block is full, or the last one. */
static void take_block(Lower *l, const Reduce *r, LLVMValueRef at, LLVMValueRef count) {
    if (r->state) {
        const char *symbol = item_bytes(r) == 4 ? "krait_pairs_add_f32" : "krait_pairs_add_f64";
        l_call_named(l, symbol, l->v, (LLVMValueRef[]){r->state, fold_block(l, r, at, count)}, 2);
        return;
    }
    if (is_paired(r)) {
        pairs_add(l, &r->pairs, fold_block(l, r, at, count), r->total);
        return;
    }
    LLVMValueRef before = load_total(l, r), total;
    if (r->kind == REDUCTION_PROD)
        total = fold(l, r, r->item, at, count, before);
    else
        total = combine(l, r, before, fold_block(l, r, at, count));
    store_total(l, r, total);
    if (!r->known) return;
    LLVMBasicBlockRef on = l_block(l, "on");
    l_branch_unlikely(l, l_icmp(l, LLVMIntEQ, total, l_int(r->item, r->kind == REDUCTION_ANY)), r->known, on);
    l_enter(l, on);
}

/* ---- a row ---- */

static LLVMValueRef wanted(Lower *l, const Reduce *r) {
    if (r->state) return l_raw_load(l, l->i64, r->state, 8);
    return is_paired(r) ? l_raw_load(l, l->i64, r->pairs.need, 8) : l_i64(l, REDUCE_BLOCK);
}

/* Whether the elements can be taken where they lie: an array of them, and nothing done to them. */
static bool is_plain(const Map *m, const Reduce *r) {
    return m->ninputs == 1 && !m->inst && m->inputs[0].is_array && m->inputs[0].type == r->type &&
           !m->inputs[0].array.type->unaligned;
}

static void fill_by_item(Lower *l, const Map *m, LLVMValueRef const *at, LLVMValueRef count) {
    Map apart = *m;
    map_open_scopes(l, &apart);
    map_line(l, &apart, at, count, true, LOOP_VECTOR);
}

static void fill(Lower *l, const Map *m, const Reduce *r, LLVMValueRef const *at, LLVMValueRef count) {
    if (is_plain(m, r) || l_is_constant(r->by_item, 0)) {
        map_line(l, m, at, count, false, LOOP_SCALAR);
    } else if (LLVMIsAConstantInt(r->by_item)) {
        fill_by_item(l, m, at, count);
    } else {
        LIf f;
        l_if_likely(l, &f, r->by_item);
        fill_by_item(l, m, at, count);
        l_else(l, &f);
        map_line(l, m, at, count, false, LOOP_SCALAR);
        l_endif(l, &f);
    }
}

/* As many elements of the row as the block still wants, from `done` on; how many. */
static LLVMValueRef take_some(Lower *l, const Map *m, const Reduce *r, LLVMValueRef const *at, LLVMValueRef done) {
    LLVMValueRef *next = ARENA_ARRAY(l->arena, LLVMValueRef, 1 + m->ninputs), zero = l_i64(l, 0);
    LLVMValueRef left = l_nswsub(l, m->shape[m->ndim - 1], done), filled = l_raw_load(l, l->i64, r->filled, 8);
    LLVMValueRef want = wanted(l, r), room = l_nswsub(l, want, filled);
    LLVMValueRef some = l_select(l, l_icmp(l, LLVMIntSLT, left, room), left, room), block = r->block;
    map_advance(l, m, done, at, next);
    next[0] = l_index(l, r->item, r->block, filled);
    if (is_plain(m, r)) {
        LLVMValueRef whole = l_and(l, l_icmp(l, LLVMIntEQ, some, want), r->by_item);
        LIf f;
        block = l_select(l, whole, next[1], r->block);
        l_if(l, &f, l_not(l, whole));
        fill(l, m, r, next, some);
        l_endif(l, &f);
    } else {
        fill(l, m, r, next, some);
    }
    filled = l_nswadd(l, filled, some);
    l_raw_store(l, filled, r->filled, 8);
    LIf full;
    l_if(l, &full, l_icmp(l, LLVMIntEQ, filled, want));
    take_block(l, r, block, want);
    l_raw_store(l, zero, r->filled, 8);
    l_look(l, l_i64(l, REDUCE_BLOCK * 4), NULL);
    l_endif(l, &full);
    return some;
}

static void take_row(Lower *l, const Map *m, LLVMValueRef const *at, void *self) {
    const Reduce *r = self;
    LLVMBasicBlockRef before = l_here(l), head = l_block(l, "row"), body = l_block(l, "some"), end = l_block(l, "next");
    LLVMValueRef zero = l_i64(l, 0);
    l_jump(l, head);
    l_enter(l, head);
    LLVMValueRef done = LLVMBuildPhi(l->b, l->i64, "");
    LLVMAddIncoming(done, &zero, &before, 1);
    l_branch(l, l_icmp(l, LLVMIntSLT, done, m->shape[m->ndim - 1]), body, end);
    l_enter(l, body);
    LLVMValueRef after = l_nswadd(l, done, take_some(l, m, r, at, done));
    LLVMBasicBlockRef from = l_here(l);
    l_jump(l, head);
    LLVMAddIncoming(done, &after, &from, 1);
    LLVMMoveBasicBlockAfter(end, from);
    l_enter(l, end);
}

/* ---- all of it ---- */

static void open_map(Lower *l, Map *m, const Value *value) {
    const Type *shape = value->args[0]->type;
    *m = (Map){.operands = value->args + 1, .inst = value->imm.inst, .ndim = shape->count, .ninputs = value->nargs - 1};
    m->inputs = ARENA_ARRAY(l->arena, MapInput, m->ninputs);
    for (unsigned i = 0; i < m->ndim; i++) m->shape[i] = l_item(l, shape, l_arg(l, value, 0), i);
    for (unsigned i = 0; i < m->ninputs; i++) map_open_input(l, m, i, value->args[1 + i]);
}

/* The block as the destination of the map, which goes along it on the last axis. */
static void open_block(Lower *l, Map *m, Reduce *r) {
    MapArray *block = ARENA_NEW(l->arena, MapArray);
    block->type = type_array(l->types, r->type, 1, LAYOUT_C, false);
    block->data = r->block = l_take_scratch(l, NULL, (uint64_t)REDUCE_BLOCK * item_bytes(r), "block");
    for (unsigned i = 0; i < m->ndim; i++) block->strides[i] = l_i64(l, i + 1 == m->ndim ? (int64_t)item_bytes(r) : 0);
    m->dests = block;
    m->ndests = 1;
}

/* What is combined: bfloat16, which is its bits in values (llvm.h), in float32. */
static const Type *computed_in(Lower *l, const Type *type) {
    bool bits = type->scalar == SCALAR_BFLOAT16 && l->bf16 == l->i16;
    return bits ? type_scalar(l->types, SCALAR_FLOAT32, false) : type;
}

static Reduce reduce_of(Lower *l, const Value *value) {
    enum { VECTOR_BYTES = 64, MAX_LANES = 32 };
    char kind = scalar_info[value->type->scalar].kind;
    const Type *type = computed_in(l, value->type);
    Reduce r = {.kind = (Reduction)value->imm.i,
                .type = type,
                .item = l_memory_type(l, (Scalar)type->scalar),
                .floats = kind == 'f',
                .sign = kind == 'i'};
    unsigned lanes = l->target->convergent ? 1 : VECTOR_BYTES / item_bytes(&r); /* a thread of many has no vectors */
    r.lanes = is_paired(&r) ? 8 : r.kind == REDUCTION_PROD ? 1 : lanes < MAX_LANES ? lanes : MAX_LANES;
    return r;
}

static void refuse_nothing(Lower *l, const Reduce *r, LLVMValueRef size) {
    const char *name = r->kind == REDUCTION_MIN ? "minimum" : "maximum";
    const char *text = arena_printf(l->arena, "zero-size array to reduction operation %s which has no identity", name);
    l_raise_if(l, l_icmp(l, LLVMIntEQ, size, l_i64(l, 0)), "ValueError", text, NULL, 0);
}

/* What is combined with the first block: for the least and the greatest nothing is, so that any number would do that
 * stays behind all others. */
static LLVMValueRef first_total(const Reduce *r) {
    LLVMValueRef first = identity(r);
    bool least = r->kind == REDUCTION_MIN;
    if (first) return first;
    if (r->floats) return l_float(r->item, least ? (double)INFINITY : -(double)INFINITY);
    unsigned bits = LLVMGetIntTypeWidth(r->item);
    uint64_t all = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1, top = r->sign ? all >> 1 : all;
    return LLVMConstInt(r->item, least ? top : ~top & all, false);
}

/* ---- sums in pairs ---- */

/* Of arrays whose length is known the loops are short; nothing but f32 and f64 is added up in pairs. */
static void open_pairs(Lower *l, Reduce *r, LLVMValueRef size) {
    if (!l->target->raises || LLVMIsAConstantInt(size)) {
        pairs_open(l, &r->pairs, r->item, size);
        return;
    }
    r->state = l_take_scratch(l, NULL, sizeof(PairsState), "pairs");
    l_call_named(l, "krait_pairs_open", l->v, (LLVMValueRef[]){r->state, size}, 2);
}

static LLVMValueRef close_pairs(Lower *l, Reduce *r) {
    if (!r->state) {
        pairs_close(l, &r->pairs);
        return l_load(l, r->type, r->total);
    }
    LLVMValueRef at = l_offset(l, r->state, l_i64(l, offsetof(PairsState, total)));
    LLVMValueRef total = l_raw_load(l, l->f64, at, 8);
    l_give_scratch(l, r->state);
    return item_bytes(r) == 4 ? LLVMBuildFPTrunc(l->b, total, l->f32, "") : total;
}

LLVMValueRef lower_reduce(Lower *l, const Value *value) {
    Map m;
    Reduce r = reduce_of(l, value);
    LLVMValueRef size = l_i64(l, 1);
    open_map(l, &m, value);
    for (unsigned i = 0; i < m.ndim; i++) size = l_nswmul(l, size, m.shape[i]);
    bool any_order = !is_paired(&r) && r.kind != REDUCTION_PROD;
    if (!identity(&r)) refuse_nothing(l, &r, size);
    if (any_order && m.ndim > 1 && m.inputs[0].is_array && m.inputs[0].array.type->layout == LAYOUT_F)
        map_reverse_axes(l, &m, l_i1(l, true));
    map_join_axes(l, &m);
    r.by_item = map_steps_by_item(l, &m);
    r.filled = l_take_scratch(l, l->i64, 0, "filled");
    r.total = l_take_scratch(l, r.item, 0, "total");
    l_raw_store(l, l_i64(l, 0), r.filled, 8);
    store_total(l, &r, first_total(&r));
    if (is_paired(&r)) open_pairs(l, &r, size);
    if (r.kind == REDUCTION_ANY || r.kind == REDUCTION_ALL) r.known = l_block(l, "known");
    open_block(l, &m, &r);
    map_rows(l, &m, take_row, &r);
    if (!is_paired(&r)) {
        LLVMValueRef filled = l_raw_load(l, l->i64, r.filled, 8);
        LIf rest;
        l_if(l, &rest, l_icmp(l, LLVMIntNE, filled, l_i64(l, 0)));
        take_block(l, &r, r.block, filled);
        l_endif(l, &rest);
    }
    if (r.known) {
        l_jump(l, r.known);
        LLVMMoveBasicBlockAfter(r.known, l_here(l));
        l_enter(l, r.known);
    }
    LLVMValueRef total = is_paired(&r) ? close_pairs(l, &r) : l_load(l, r.type, r.total);
    l_give_scratch(l, r.block);
    l_give_scratch(l, r.filled);
    l_give_scratch(l, r.total);
    return l_cast(l, total, r.type, value->type);
}
