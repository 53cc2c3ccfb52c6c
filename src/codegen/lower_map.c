/* lower_map.c: map: one loop nest for everything that works element by element on whole arrays.
 *
 * The domain is the shape of the destinations.  Every array has one stride for each axis, 0 where it is broadcast.
 * Axes run from the last to the first inside out, or, where the destination lies the other way around, from the first
 * to the last, so that memory is walked in order; axes that lie behind each other in every array become one.
 *
 * Two nests.  The quick one stands where, on the innermost axis, every array steps by one item: LLVM is told that its
 * rounds do not depend on each other, and makes vectors of it.  The other takes any strides.  Destinations that lie
 * over what is read are lower_overlap.c's.
 * On the host, an axis of items that are only moved needs neither: it is one memmove. */
#include "codegen/lower_map.h"

MapArray map_array_of(Lower *l, const Type *type, LLVMValueRef value) {
    MapArray x = {.type = type, .data = l_array_data(l, value)};
    for (unsigned i = 0; i < type->ndim; i++) {
        x.shape[i] = l_array_shape(l, type, value, i);
        x.strides[i] = l_array_stride(l, type, value, i);
    }
    return x;
}

void map_stretch(Lower *l, MapArray *x, unsigned ndim, LLVMValueRef const *shape) {
    unsigned drop = x->type->ndim > ndim ? x->type->ndim - ndim : 0, lead = ndim + drop - x->type->ndim;
    for (unsigned i = 0; drop && i < ndim; i++) {
        x->shape[i] = x->shape[i + drop];
        x->strides[i] = x->strides[i + drop];
    }
    for (unsigned i = ndim; i-- > 0;) {
        if (i < lead) {
            x->strides[i] = l_i64(l, 0);
            continue;
        }
        LLVMValueRef extent = x->shape[i - lead], stride = x->strides[i - lead], zero = l_i64(l, 0);
        bool same = extent == shape[i] && !l_is_constant(extent, 1);
        x->strides[i] = same ? stride : l_choose(l, l_equal(l, extent, l_i64(l, 1)), zero, stride);
    }
    for (unsigned i = 0; i < ndim; i++) x->shape[i] = shape[i];
}

const MapArray *map_array_at(const Map *m, unsigned i) {
    if (i < m->ndests) return &m->dests[i];
    return m->inputs[i - m->ndests].is_array ? &m->inputs[i - m->ndests].array : NULL;
}

/* ---- order and length of the axes ---- */

/* Calls back for each array of the map. */
typedef void Each(Lower *l, Map *m, MapArray *x, void *self);
static void each_array(Lower *l, Map *m, Each *each, void *self) {
    for (unsigned i = 0; i < m->ndests; i++) each(l, m, &m->dests[i], self);
    for (unsigned i = 0; i < m->ninputs; i++)
        if (m->inputs[i].is_array) each(l, m, &m->inputs[i].array, self);
}

static void reverse_if(Lower *l, LLVMValueRef condition, LLVMValueRef *axes, unsigned ndim) {
    for (unsigned i = 0; i < ndim / 2; i++) {
        LLVMValueRef a = axes[i], b = axes[ndim - 1 - i];
        axes[i] = l_choose(l, condition, b, a);
        axes[ndim - 1 - i] = l_choose(l, condition, a, b);
    }
}

static void reverse_strides(Lower *l, Map *m, MapArray *x, void *self) { reverse_if(l, self, x->strides, m->ndim); }

void map_reverse_axes(Lower *l, Map *m, LLVMValueRef condition) {
    each_array(l, m, reverse_strides, condition);
    reverse_if(l, condition, m->shape, m->ndim);
}

static LLVMValueRef magnitude(Lower *l, LLVMValueRef value) {
    return l_select(l, l_icmp(l, LLVMIntSLT, value, l_i64(l, 0)), LLVMBuildNeg(l->b, value, ""), value);
}

/* Whether the first axis of the destination lies closer together than the last, which is not asked where the last is
 * known to step by one item. */
static void order_axes(Lower *l, Map *m) {
    const MapArray *dest = &m->dests[0];
    if (m->ndim < 2 || dest->type->layout == LAYOUT_C) return;
    if (l_is_constant(dest->strides[m->ndim - 1], map_item_bytes(dest))) return;
    LLVMValueRef reversed = l_i1(l, true);
    if (dest->type->layout == LAYOUT_A)
        reversed = l_icmp(l, LLVMIntSLT, magnitude(l, dest->strides[0]), magnitude(l, dest->strides[m->ndim - 1]));
    map_reverse_axes(l, m, reversed);
}

/* Strides that a layout implies are computed for each array anew, from extents that may be the same. */
static bool is_same_product(LLVMValueRef a, LLVMValueRef b) {
    if (a == b) return true;
    if (!LLVMIsABinaryOperator(a) || LLVMGetInstructionOpcode(a) != LLVMMul) return false;
    if (!LLVMIsABinaryOperator(b) || LLVMGetInstructionOpcode(b) != LLVMMul) return false;
    return is_same_product(LLVMGetOperand(a, 0), LLVMGetOperand(b, 0)) &&
           is_same_product(LLVMGetOperand(a, 1), LLVMGetOperand(b, 1));
}

static void lies_behind(Lower *l, Map *m, MapArray *x, void *self) {
    LLVMValueRef *all = self;
    for (unsigned i = 0; i + 1 < m->ndim; i++) {
        LLVMValueRef next = l_mul(l, x->strides[i + 1], m->shape[i + 1]);
        if (!is_same_product(x->strides[i], next)) *all = l_and(l, *all, l_equal(l, x->strides[i], next));
    }
}

/* A constant slice that leaves something out, on the last axis: x[1:, :-1]. */
static bool cuts_last_axis(const Value *view) {
    if (view->op != OP_GETITEM || !view->args[1]->konst || view->type->kind != TY_ARRAY) return false;
    const Const *index = view->args[1]->konst;
    if (index->type->kind != TY_TUPLE || index->type->count != view->args[0]->type->ndim) return false;
    const Const *last = index->items[index->type->count - 1];
    if (last->type->kind != TY_SLICE) return false;
    return last->type->items[0]->kind != TY_NONE || last->type->items[1]->kind != TY_NONE;
}

/* False: where an operand is such a view, and of all axes, its rows do not lie behind each other. */
static bool may_join_axes(const Map *m) {
    for (unsigned i = 0; m->operands && i < m->ndests + m->ninputs; i++)
        if (m->operands[i]->type->kind == TY_ARRAY && m->operands[i]->type->ndim == m->ndim &&
            cuts_last_axis(m->operands[i]))
            return false;
    return true;
}

void map_join_axes(Lower *l, Map *m) {
    if (m->ndim < 2 || !may_join_axes(m)) return;
    LLVMValueRef joined = l_i1(l, true), size = m->shape[0];
    each_array(l, m, lies_behind, &joined);
    for (unsigned i = 1; i < m->ndim; i++) size = l_nswmul(l, size, m->shape[i]);
    for (unsigned i = 0; i + 1 < m->ndim; i++) m->shape[i] = l_choose(l, joined, l_i64(l, 1), m->shape[i]);
    m->shape[m->ndim - 1] = l_choose(l, joined, size, m->shape[m->ndim - 1]);
}

static void steps_by_item(Lower *l, Map *m, MapArray *x, void *self) {
    LLVMValueRef *all = self, stride = x->strides[m->ndim - 1];
    if (!l_is_constant(stride, 0)) *all = l_and(l, *all, l_equal(l, stride, l_i64(l, map_item_bytes(x))));
}

LLVMValueRef map_steps_by_item(Lower *l, Map *m) {
    LLVMValueRef all = l_i1(l, true);
    each_array(l, m, steps_by_item, &all);
    return all;
}

/* ---- what does not overlap ----
 *
 * In the quick nest no destination overlaps another operand, and LLVM is told so: each destination is a scope of its
 * own, opened where the nest begins; its accesses lie in it, and all others do not. */

static LLVMMetadataRef node_of(Lower *l, LLVMMetadataRef *items, unsigned count) {
    return LLVMMDNodeInContext2(l->context, items, count);
}

/* A node that equals no other: it names itself first. */
static LLVMMetadataRef distinct_node(Lower *l, LLVMMetadataRef second) {
    LLVMMetadataRef stand_in = LLVMTemporaryMDNode(l->context, NULL, 0), items[] = {stand_in, second};
    LLVMMetadataRef node = node_of(l, items, second ? 2 : 1);
    LLVMMetadataReplaceAllUsesWith(stand_in, node);
    return node;
}

void map_open_scopes(Lower *l, Map *m) {
    LLVMMetadataRef domain = distinct_node(l, NULL);
    m->scopes = ARENA_ARRAY(l->arena, LLVMMetadataRef, m->ndests);
    for (unsigned d = 0; d < m->ndests; d++) {
        m->scopes[d] = distinct_node(l, domain);
        LLVMValueRef list = LLVMMetadataAsValue(l->context, node_of(l, &m->scopes[d], 1));
        l_intrinsic(l, "llvm.experimental.noalias.scope.decl", NULL, &list, 1);
    }
}

/* The accesses made behind `last`: to destination `dest`, or to an operand that is none (-1). */
static void place_accesses(Lower *l, const Map *m, LLVMValueRef last, int dest) {
    if (!m->scopes) return;
    LLVMMetadataRef *others = ARENA_ARRAY(l->arena, LLVMMetadataRef, m->ndests);
    unsigned count = 0;
    for (unsigned d = 0; d < m->ndests; d++)
        if ((int)d != dest) others[count++] = m->scopes[d];
    LLVMValueRef i = last ? LLVMGetNextInstruction(last) : LLVMGetFirstInstruction(l_here(l));
    for (; i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i)) continue;
        if (dest >= 0) l_set_metadata(l, i, "alias.scope", node_of(l, &m->scopes[dest], 1));
        if (count) l_set_metadata(l, i, "noalias", node_of(l, others, count));
    }
}

/* ---- one element ---- */

static LLVMValueRef load_input(Lower *l, const Map *m, const MapInput *input, LLVMValueRef at) {
    if (!input->is_array) return input->scalar;
    LLVMValueRef last = LLVMGetLastInstruction(l_here(l)), value = l_load_element(l, input->array.type, at);
    place_accesses(l, m, last, input->dest);
    return value;
}

static void store_result(Lower *l, const Map *m, unsigned dest, LLVMValueRef value, LLVMValueRef at) {
    LLVMValueRef last = LLVMGetLastInstruction(l_here(l));
    l_store_element(l, m->dests[dest].type, value, at);
    place_accesses(l, m, last, (int)dest);
}

static void leave_raising(Lower *l, const Map *m, LLVMValueRef status) {
    if (!status) return;
    LLVMBasicBlockRef raised = l_block(l, "raised"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)), raised, fine);
    l_enter(l, raised);
    if (m->owned) l_call_named(l, "free", l->v, (LLVMValueRef[]){m->owned}, 1);
    if (l->target->raises) l_note_call(l);
    l_leave(l, status);
    l_enter(l, fine);
}

/* at: addresses, of the destinations, then of the inputs (NULL of scalars). */
static void map_element(Lower *l, const Map *m, LLVMValueRef const *at) {
    if (type_is_record(m->inputs[0].type)) {
        const MapInput *input = &m->inputs[0];
        l_copy_record(l, input->type, at[0], input->is_array ? at[1] : l_array_data(l, input->scalar));
        return;
    }
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, m->ninputs), status = NULL;
    unsigned count = m->ninputs - m->masked;
    LIf where;
    if (m->masked) {
        const MapInput *mask = &m->inputs[count];
        l_if(l, &where, l_truth(l, mask->type, load_input(l, m, mask, at[m->ndests + count])));
    }
    for (unsigned i = 0; i < count; i++) {
        args[i] = load_input(l, m, &m->inputs[i], at[m->ndests + i]);
        if (m->inst) args[i] = l_convert(l, args[i], m->inputs[i].type, m->inst->types[i]);
    }
    LLVMValueRef result = m->inst ? l_call_inst(l, m->inst, args, &status) : args[0];
    leave_raising(l, m, status);
    const Type *type = m->inst ? m->inst->result : m->inputs[0].type;
    for (unsigned i = 0; i < m->ndests; i++) {
        const Type *from = m->ndests > 1 ? type->items[i] : type, *element = type_element(m->dests[i].type);
        LLVMValueRef item = m->ndests > 1 ? l_item(l, type, result, i) : result;
        store_result(l, m, i, l_convert(l, item, from, element), at[i]);
    }
    if (m->masked) l_endif(l, &where);
}

/* ---- the nest ---- */

/* Addresses a step further along an axis; by_item: where it steps at all it steps by an item. */
static void step(Lower *l, const Map *m, unsigned axis, LLVMValueRef index, bool by_item, LLVMValueRef const *at,
                 LLVMValueRef *next) {
    for (unsigned i = 0; i < m->ndests + m->ninputs; i++) {
        const MapArray *x = map_array_at(m, i);
        if (!x) continue;
        LLVMValueRef stride = x->strides[axis];
        if (l_is_constant(stride, 0))
            next[i] = at[i];
        else if (by_item)
            next[i] = l_index(l, l_item_type(l, type_element(x->type)), at[i], index);
        else
            next[i] = l_offset(l, at[i], l_nswmul(l, index, stride));
    }
}

static void walk_axis(Lower *l, const Map *m, unsigned axis, LLVMValueRef const *at, MapRow *row, void *self) {
    if (axis + 1 >= m->ndim) {
        row(l, m, at, self);
        return;
    }
    if (l_is_constant(m->shape[axis], 1)) { /* joined with the last */
        walk_axis(l, m, axis + 1, at, row, self);
        return;
    }
    LLVMValueRef *next = ARENA_ARRAY(l->arena, LLVMValueRef, m->ndests + m->ninputs);
    LFor f;
    LLVMValueRef index = l_for(l, &f, m->shape[axis]);
    step(l, m, axis, index, false, at, next);
    walk_axis(l, m, axis + 1, next, row, self);
    l_endfor(l, &f);
}

void map_rows(Lower *l, const Map *m, MapRow *row, void *self) {
    unsigned count = m->ndests + m->ninputs;
    LLVMValueRef *at = ARENA_ARRAY(l->arena, LLVMValueRef, count);
    for (unsigned i = 0; i < count; i++) at[i] = map_array_at(m, i) ? map_array_at(m, i)->data : NULL;
    walk_axis(l, m, 0, at, row, self);
}

void map_advance(Lower *l, const Map *m, LLVMValueRef index, LLVMValueRef const *at, LLVMValueRef *next) {
    step(l, m, m->ndim - 1, index, false, at, next);
}

void map_line(Lower *l, const Map *m, LLVMValueRef const *at, LLVMValueRef count, bool by_item, LoopShape shape) {
    LLVMValueRef *next = ARENA_ARRAY(l->arena, LLVMValueRef, m->ndests + m->ninputs);
    LFor f;
    LLVMValueRef index = l_for(l, &f, count);
    step(l, m, m->ndim - 1, index, by_item, at, next);
    map_element(l, m, next);
    f.shape = by_item && !l_may_pass_by_division(l, m->inst) ? shape : LOOP_SCALAR;
    l_endfor(l, &f);
}

/* The last axis, of which a strip at a time is walked by a loop that does not look. */
static void map_strips(Lower *l, const Map *m, LLVMValueRef const *at, bool by_item) {
    enum { STRIP = SAFEPOINT_BUDGET / 8, COST = 4, ROW_COST = 8 };
    LLVMValueRef *from = ARENA_ARRAY(l->arena, LLVMValueRef, m->ndests + m->ninputs);
    LLVMValueRef count = m->shape[m->ndim - 1], zero = l_i64(l, 0), row_cost = l_i64(l, ROW_COST);
    if (LLVMIsAConstantInt(count)) { /* short */
        map_line(l, m, at, count, by_item, LOOP_FREE);
        if (m->ndim > 1) l_look(l, l_nswadd(l, l_nswmul(l, count, l_i64(l, COST)), row_cost), m->owned);
        return;
    }
    LLVMBasicBlockRef before = l_here(l), strip = l_block(l, "strip"), end = l_block(l, "end");
    l_jump(l, strip);
    l_enter(l, strip);
    LLVMValueRef done = LLVMBuildPhi(l->b, l->i64, "");
    LLVMValueRef args[] = {l_nswsub(l, count, done), l_i64(l, STRIP)},
                 some = l_intrinsic(l, "llvm.smin", l->i64, args, 2);
    step(l, m, m->ndim - 1, done, by_item, at, from);
    map_line(l, m, from, some, by_item, LOOP_FREE);
    l_look(l, l_nswadd(l, l_nswmul(l, some, l_i64(l, COST)), row_cost), m->owned);
    LLVMValueRef after = l_nswadd(l, done, some);
    LLVMBasicBlockRef latch = l_here(l);
    l_branch(l, l_icmp(l, LLVMIntSLT, after, count), strip, end);
    LLVMAddIncoming(done, &zero, &before, 1);
    LLVMAddIncoming(done, &after, &latch, 1);
    l_enter(l, end);
}


static void map_row(Lower *l, const Map *m, LLVMValueRef const *at, void *by_item) {
    if (m->ndim == 0)
        map_element(l, m, at);
    else if (l_looks(l))
        map_strips(l, m, at, by_item != NULL);
    else
        map_line(l, m, at, m->shape[m->ndim - 1], by_item != NULL, LOOP_FREE);
}

static void map_all(Lower *l, Map *m, bool by_item) {
    m->scopes = NULL;
    if (by_item) map_open_scopes(l, m);
    map_rows(l, m, map_row, by_item ? m : NULL);
}

/* ---- map ---- */

void map_open_input(Lower *l, Map *m, unsigned i, const Value *operand) {
    const Type *type = operand->type;
    MapInput *input = &m->inputs[i];
    *input = (MapInput){.is_array = type->kind == TY_ARRAY, .type = type, .scalar = l_value(l, operand), .dest = -1};
    if (!input->is_array) return;
    input->type = type_element(type);
    for (unsigned d = 0; d < m->ndests && input->dest < 0; d++)
        if (map_is_same(operand, m->operands[d])) input->dest = (int)d;
    input->array = input->dest < 0 ? map_array_of(l, type, input->scalar) : m->dests[input->dest];
    map_stretch(l, &input->array, m->ndim, m->shape);
}

static void open_map(Lower *l, Map *m, const Value *value) {
    unsigned ndests = (unsigned)value->imm.i, count = value->nargs - ndests;
    *m = (Map){.operands = value->args, .inst = value->imm.inst, .ndests = ndests, .ninputs = count};
    m->masked = map_is_masked(value);
    m->apart = value->flags & VF_UNCHECKED;
    m->ndim = value->args[0]->type->ndim;
    m->dests = ARENA_ARRAY(l->arena, MapArray, ndests);
    m->inputs = ARENA_ARRAY(l->arena, MapInput, count);
    for (unsigned d = 0; d < ndests; d++) m->dests[d] = map_array_of(l, value->args[d]->type, l_arg(l, value, d));
    for (unsigned i = 0; i < m->ndim; i++) m->shape[i] = m->dests[0].shape[i];
    for (unsigned i = 0; i < count; i++) map_open_input(l, m, i, value->args[ndests + i]);
}

/* The quick nest or the other one. */
static void run_nests(Lower *l, Map *m) {
    Detour detour;
    LLVMValueRef quick = l_not(l, map_detour_open(l, m, &detour));
    order_axes(l, m);
    map_join_axes(l, m);
    quick = l_and(l, quick, map_steps_by_item(l, m));
    if (LLVMIsAConstantInt(quick)) {
        map_all(l, m, !l_is_constant(quick, 0));
    } else {
        LIf f;
        l_if_likely(l, &f, quick);
        map_all(l, m, true);
        l_else(l, &f);
        map_all(l, m, false);
        l_endif(l, &f);
    }
    map_detour_close(l, m, &detour);
}

/* Elements of one type, moved as they are. */
static bool is_move(const Map *m) {
    if (m->ndests != 1 || m->ninputs != 1 || m->inst || !m->inputs[0].is_array) return false;
    return type_element(m->dests[0].type) == m->inputs[0].type;
}

/* Several axes of two arrays in one piece, which both have the same order and the same extents. */
static bool is_packed(Lower *l, const Map *m) {
    const Type *to = m->dests[0].type, *from = m->inputs[0].array.type;
    bool same = m->operands && m->ndim > 1 && from->ndim == m->ndim && to->layout != LAYOUT_A;
    same &= to->layout == from->layout;
    for (unsigned i = 0; same && i < m->ndim; i++) same = l_array_shape(l, from, m->inputs[0].scalar, i) == m->shape[i];
    return same;
}

static unsigned move_align(const Map *m) {
    bool unaligned = m->dests[0].type->unaligned || m->inputs[0].array.type->unaligned;
    return unaligned ? 1 : (unsigned)type_align(m->inputs[0].type);
}

static void move_memory(Lower *l, const Map *m) {
    const MapArray *to = &m->dests[0], *from = &m->inputs[0].array;
    LLVMValueRef size = m->shape[0], item = l_i64(l, map_item_bytes(to));
    for (unsigned i = 1; i < m->ndim; i++) size = l_nswmul(l, size, m->shape[i]);
    unsigned align = move_align(m);
    LLVMBuildMemMove(l->b, to->data, align, from->data, align, l_nswmul(l, size, item));
    l_look(l, size, m->owned);
}

/* Where both arrays step by one item, the host moves them as memory, which may overlap. */
static void run_move(Lower *l, Map *m) {
    const MapArray *to = &m->dests[0], *from = &m->inputs[0].array;
    LLVMValueRef bytes = l_i64(l, map_item_bytes(to));
    LLVMValueRef packed = l_and(l, l_equal(l, to->strides[0], bytes), l_equal(l, from->strides[0], bytes));
    if (l_is_constant(packed, 0)) {
        run_nests(l, m);
        return;
    }
    LIf f;
    l_if_likely(l, &f, packed);
    move_memory(l, m);
    l_else(l, &f);
    run_nests(l, m);
    l_endif(l, &f);
}

static void run_map(Lower *l, Map *m) {
    if (m->ndim == 0)
        map_all(l, m, false);
    else if (is_move(m) && l->target->shares_memory && is_packed(l, m))
        move_memory(l, m);
    else if (m->ndim == 1 && is_move(m) && l->target->shares_memory)
        run_move(l, m);
    else
        run_nests(l, m);
}

LLVMValueRef lower_map(Lower *l, const Value *value) {
    Map m;
    open_map(l, &m, value);
    run_map(l, &m);
    return LLVMGetUndef(l->empty);
}

/* ---- assignments that are no maps of the program ---- */

static void assign(Lower *l, const Type *to_type, LLVMValueRef to, MapInput *input) {
    MapArray dest = map_array_of(l, to_type, to);
    Map m = {.ndim = to_type->ndim, .ndests = 1, .ninputs = 1, .dests = &dest, .inputs = input};
    for (unsigned i = 0; i < m.ndim; i++) m.shape[i] = dest.shape[i];
    if (input->is_array) map_stretch(l, &input->array, m.ndim, m.shape);
    run_map(l, &m);
}

void l_fill(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef value) {
    assign(l, type, array, &(MapInput){.type = type_element(type), .scalar = value, .dest = -1});
}

void l_assign(Lower *l, const Type *to_type, LLVMValueRef to, const Type *from_type, LLVMValueRef from) {
    l_check_assignment(l, to_type, to, from_type, from);
    MapArray array = map_array_of(l, from_type, from);
    assign(l, to_type, to, &(MapInput){.is_array = true, .type = type_element(from_type), .array = array, .dest = -1});
}
