/* barrier_regions.c: the functions of what threads do between two barriers.
 *
 * In: a kernel with its segments and with what is common to all threads.  Out: what the region of each segment needs,
 * and the region.
 *
 *   region(what it needs...) -> (what others need...)    what one thread does in a segment
 *
 * What a region needs is common to the threads, or kept for each of them in a CONTEXT; constants and what a thread
 * knows of its place it finds itself.  A phi of a segment's leader that is not common is a context to which each
 * segment that leads there writes.
 *
 * Where threads may leave by a return statement, a context says which have, and a region does nothing for these. */
#include "passes/barriers.h"

/* ---- what regions need ---- */

static bool is_leaders_phi(const Split *split, const Value *value) {
    return value->op == OP_PHI && place_of(split, value->block)->leads;
}

/* Whether the region has the value itself, among the operations that it copies. */
static bool is_own(const Split *split, const Segment *segment, const Value *value) {
    if (barriers_is_kept_array(split, value)) return false;
    return place_of(split, value->block)->segment == segment && split->varies[value->id] &&
           !is_leaders_phi(split, value) && value->op != OP_CONST;
}

static bool is_found_again(const Split *split, const Value *value) {
    return value->op == OP_CONST || (split->varies[value->id] && barriers_is_cheap(split, value));
}

/* It is a constant, whatever computes it. */
static bool is_known(const Value *value) { return value->konst && value->konst->type == value->type; }

static bool note_need(Make *make, uint32_t number, Value *value) {
    Split *split = make->split;
    Region *region = &make->regions[number];
    if (is_own(split, region->segment, value) || make->seen[value->id] == number + 1) return true;
    if (is_known(value)) return true;
    make->seen[value->id] = number + 1;
    if (is_found_again(split, value)) {
        for (uint32_t i = 0; i < value->nargs; i++) TRY(note_need(make, number, value->args[i]));
        return true;
    }
    if (!split->varies[value->id] && value->type->kind == TY_ITER) return false;
    if (split->varies[value->id] && !barriers_is_kept_array(split, value)) {
        if (!barriers_can_keep(split, value)) return false;
        split->kept[value->id] = true;
    }
    vec_push(split->arena, &region->needs, value);
    return true;
}

/* The operand of a leader's phi for the edge from a block; edges are as many as predecessors. */
static Value *phi_operand(const Value *phi, const Block *from) {
    for (size_t i = 0; i < phi->block->preds.len; i++)
        if (phi->block->preds.data[i] == from) return phi->args[i];
    return NULL;
}

static bool note_phis(Make *make, uint32_t number, const Block *from, Block *leader) {
    for (Value *phi = leader->first; phi->op == OP_PHI; phi = phi->next) {
        if (!make->split->varies[phi->id]) continue;
        if (!barriers_can_keep(make->split, phi)) return false;
        make->split->kept[phi->id] = true;
        TRY(note_need(make, number, phi_operand(phi, from)));
    }
    return true;
}

/* The value is copied into the region; the barrier, the end of the last block, and what is common are not. */
static bool is_copied(const Split *split, const Segment *segment, const Value *value) {
    const Place *place = place_of(split, value->block);
    if (op_is_terminator(value->op))
        return value->op == OP_RAISE || value->op == OP_UNREACHABLE || (value->op == OP_BRANCH && !place->parts);
    if (value_calls(value, FUNC_CUDA_SYNCTHREADS)) return false;
    return is_own(split, segment, value);
}

static bool acts(const Split *split, const Value *value) {
    return value->op == OP_RAISE || (!op_is_terminator(value->op) && !value_is_removable(value) &&
                                     value_effects(value, split->program->index_raises) & ~(Effects)EFFECT_READ);
}

static bool leaves(const Split *split, const Value *end) {
    return split->leaving && end->op == OP_RETURN && !(end->flags & VF_IMPLICIT);
}

bool regions_note_needs(Make *make, uint32_t number) {
    const Split *split = make->split;
    Region *region = &make->regions[number];
    for (size_t b = 0; b < region->segment->blocks.len; b++) {
        Block *block = region->segment->blocks.data[b];
        region->leaves |= leaves(split, block->last);
        for (const Value *value = block->first; value; value = value->next) {
            if (!is_copied(split, region->segment, value)) continue;
            region->acts |= acts(split, value);
            for (uint32_t i = 0; i < value->nargs; i++) TRY(note_need(make, number, value->args[i]));
        }
        for (size_t s = 0; s < block->succs.len; s++)
            if (place_of(split, block->succs.data[s])->leads) TRY(note_phis(make, number, block, block->succs.data[s]));
    }
    region->asks = split->leaving && number > 0; /* the entry is come to once */
    region->notes = region->leaves || (split->leaving && number == 0);
    return true;
}

/* ---- making a region ---- */

static Value *note_made(Region *region, const Value *of, Value *made) {
    region->made[of->id] = (Made){region, made};
    return made;
}

static Value *inside(Region *region, const Split *split, Value *value) {
    if (region->made[value->id].in == region) return region->made[value->id].value;
    Value *made;
    if (is_known(value)) {
        made = block_append_const(region->func, region->start, value->span, value->konst);
    } else {
        Value **args = value->nargs ? ARENA_ARRAY(split->arena, Value *, value->nargs) : NULL;
        for (uint32_t i = 0; i < value->nargs; i++) args[i] = inside(region, split, value->args[i]);
        made = block_append_copy(region->func, region->start, value, args);
    }
    return note_made(region, value, made);
}

/* The array of the thread among those of the block. */
static Value *own_array(Make *make, Region *region, const Value *array, Value *all) {
    static const FuncId ids[] = {FUNC_CUDA_THREADIDX_Z, FUNC_CUDA_BLOCKDIM_Y, FUNC_CUDA_THREADIDX_Y,
                                 FUNC_CUDA_BLOCKDIM_X, FUNC_CUDA_THREADIDX_X};
    const Split *split = make->split;
    const Type *type = parallel_int(&make->site);
    Func *func = region->func;
    Value *number = NULL, *args[2 + TYPE_MAX_NDIM];
    for (size_t i = 0; i < COUNT_OF(ids); i++) { /* (z * ny + y) * nx + x */
        Value *next = parallel_append_func(&make->site, func, region->start, ids[i], type, NULL, 0);
        args[0] = number, args[1] = next;
        number = i ? parallel_append(func, region->start, i % 2 ? OP_MUL : OP_ADD, type, array->span, args, 2) : next;
    }
    args[0] = number;
    args[1] = block_append_const(
        func, region->start, array->span,
        const_int(split->arena, split->program->types, (int64_t)call_array_request(array).bytes));
    args[1] = parallel_append(func, region->start, OP_MUL, type, array->span, args, 2);
    args[0] = all;
    const Const *shape = array->args[0]->konst;
    for (unsigned i = 0; i < array->type->ndim; i++) {
        int64_t extent = shape->type->kind == TY_TUPLE ? shape->items[i]->i : shape->i;
        args[2 + i] = block_append_const(func, region->start, array->span,
                                         const_int(split->arena, split->program->types, extent));
    }
    return parallel_append(func, region->start, OP_VIEW, array->type, array->span, args, 2 + array->type->ndim);
}

static void make_params(Make *make, Region *region, const Type **types) {
    for (uint32_t i = 0; i < region->needs.len; i++) {
        const Value *value = region->needs.data[i];
        bool array = barriers_is_kept_array(make->split, value);
        types[i] = array ? barriers_kept_arrays(make->split, value) : value->type;
        Value *param = parallel_append_param(region->func, region->params, types[i], value->span, i);
        param->name = value->name;
        param->bounds = value->bounds;
        note_made(region, value, array ? own_array(make, region, value, param) : param);
    }
}

static Value *left_param(Make *make, Region *region, const Type **types) {
    const Split *split = make->split;
    uint32_t number = (uint32_t)region->needs.len;
    types[number] = const_bool(split->arena, split->program->types, false)->type;
    return parallel_append_param(region->func, region->params, types[number], split->func->span, number);
}

static void copy_values(Make *make, Region *region, const Block *old) {
    Block *block = region->blocks[old->id];
    for (Value *value = old->first; value; value = value->next) {
        if (!is_copied(make->split, region->segment, value)) continue;
        Value *copy = value_new(region->func, value->op, value->span, NULL, 0);
        uint32_t id = copy->id;
        *copy = *value;
        copy->id = id;
        copy->prev = copy->next = NULL;
        copy->mark = NULL;
        block_put_last(block, copy);
        note_made(region, value, copy);
    }
    block->unroll = old->unroll, block->unroll_whole = old->unroll_whole;
}

/* Where an edge of the kernel leads in the region: to its end if it leaves the segment. */
static Block *target_of(const Make *make, const Region *region, const Block *succ) {
    const Place *place = place_of(make->split, succ);
    return place->segment != region->segment || place->leads ? region->end : region->blocks[succ->id];
}

static void link_values(Make *make, Region *region, const Block *old) {
    Block *block = region->blocks[old->id];
    Arena *arena = make->split->arena;
    for (Value *value = block->first; value; value = value->next) {
        Value **args = value->nargs ? ARENA_ARRAY(arena, Value *, value->nargs) : NULL;
        for (uint32_t i = 0; i < value->nargs; i++) args[i] = inside(region, make->split, value->args[i]);
        value->args = args;
    }
    bool ends = !block->last || !op_is_terminator(block->last->op);
    if (ends) { /* a jump, or the end of the segment */
        Block *to = old->last->op == OP_JUMP         ? target_of(make, region, old->succs.data[0])
                    : leaves(make->split, old->last) ? region->out
                                                     : region->end;
        block_append(region->func, block, OP_JUMP, old->last->span, NULL, 0);
        vec_push(arena, &block->succs, to);
        if (to == region->end || to == region->out) vec_push(arena, &to->preds, block);
        return;
    }
    for (size_t s = 0; s < old->succs.len && !ends; s++) {
        Block *to = target_of(make, region, old->succs.data[s]);
        vec_push(arena, &block->succs, to);
        if (to == region->end) vec_push(arena, &to->preds, block);
    }
}

/* Predecessors in the order of the kernel's, whose phis count on it. */
static void link_preds(Make *make, Region *region, const Block *old) {
    Block *block = region->blocks[old->id];
    if (old == region->segment->leader) {
        vec_push(make->split->arena, &block->preds, region->start);
        return;
    }
    for (size_t i = 0; i < old->preds.len; i++)
        vec_push(make->split->arena, &block->preds, region->blocks[old->preds.data[i]->id]);
}

/* The value of a leader's phi at the region's end. */
static Value *phi_at_end(Make *make, Region *region, const Value *phi) {
    Arena *arena = make->split->arena;
    Block *end = region->end;
    if (!region->segment->next) { /* of a branch, each of whose ways has one predecessor */
        return inside(region, make->split, phi_operand(phi, region->segment->last));
    }
    Value **args = ARENA_ARRAY(arena, Value *, end->preds.len);
    for (size_t i = 0; i < end->preds.len; i++)
        for (size_t b = 0; b < region->segment->blocks.len; b++) {
            const Block *old = region->segment->blocks.data[b];
            if (region->blocks[old->id] == end->preds.data[i])
                args[i] = inside(region, make->split, phi_operand(phi, old));
        }
    if (end->preds.len == 1) return args[0];
    Value *made = block_add_phi(region->func, end, phi->span);
    made->type = phi->type;
    made->name = phi->name;
    phi_set_args(region->func, made, args, end->preds.len);
    return made;
}

static void give(Make *make, Region *region, const Value *of, Value *value, size_t *most) {
    if (region->gives.len == *most) {
        const Value **grown = ARENA_ARRAY(make->split->arena, const Value *, *most * 2 + 8);
        for (size_t i = 0; i < *most; i++) grown[i] = region->gives_for[i];
        region->gives_for = grown;
        *most = *most * 2 + 8;
    }
    region->gives_for[region->gives.len] = of;
    vec_push(make->split->arena, &region->gives, value);
}

static void give_phis(Make *make, Region *region, const Block *leader, size_t *most) {
    for (const Value *phi = leader->first; phi->op == OP_PHI; phi = phi->next)
        if (make->split->kept[phi->id]) give(make, region, phi, phi_at_end(make, region, phi), most);
}

static void find_gives(Make *make, Region *region) {
    const Split *split = make->split;
    const Segment *segment = region->segment;
    size_t most = 0;
    if (segment->next) give_phis(make, region, segment->next, &most);
    for (size_t s = 0; !segment->next && s < segment->last->succs.len; s++)
        if (place_of(split, segment->last)->parts) give_phis(make, region, segment->last->succs.data[s], &most);
    for (size_t b = 0; b < segment->blocks.len; b++)
        for (const Value *value = segment->blocks.data[b]->first; value; value = value->next)
            if (split->kept[value->id] && is_own(split, segment, value))
                give(make, region, value, region->made[value->id].value, &most);
}

/* A value of the region at its end; nobody reads what a thread that leaves, or has left, gives. */
static Value *at_out(Make *make, Region *region, Value *value, Value *else_value) {
    Block *out = region->out;
    if (out->preds.len == 1) return value;
    Value **args = ARENA_ARRAY(make->split->arena, Value *, out->preds.len);
    for (size_t i = 0; i < out->preds.len; i++) args[i] = out->preds.data[i] == region->end ? value : else_value;
    Value *phi = block_add_phi(region->func, out, value->span);
    phi->type = value->type;
    phi_set_args(region->func, phi, args, out->preds.len);
    return phi;
}

static void give_out(Make *make, Region *region) {
    for (size_t i = 0; i < region->gives.len; i++) {
        Value *value = region->gives.data[i], *undefined = NULL;
        if (region->out->preds.len > 1)
            undefined = parallel_append(region->func, region->start, OP_UNDEF, value->type, value->span, NULL, 0);
        region->gives.data[i] = at_out(make, region, value, undefined);
    }
    if (!region->notes) return;
    Arena *arena = make->split->arena;
    TypeTable *types = make->split->program->types;
    Span span = region->segment->leader->first->span;
    Value *no = block_append_const(region->func, region->start, span, const_bool(arena, types, false));
    Value *yes = block_append_const(region->func, region->start, span, const_bool(arena, types, true));
    vec_push(arena, &region->gives, at_out(make, region, no, yes));
}

/* The entry: what is found again, and then, unless the thread has left, the segment. */
static void enter_segment(Make *make, Region *region, Value *left) {
    Block *leader = region->blocks[region->segment->leader->id];
    Span span = region->segment->leader->first->span;
    block_append(region->func, region->start, left ? OP_BRANCH : OP_JUMP, span, &left, left != NULL);
    if (left) vec_push(make->split->arena, &region->start->succs, region->out);
    vec_push(make->split->arena, &region->start->succs, leader);
}

static void finish_region(Make *make, Region *region, const Type **types, Value *left) {
    Split *split = make->split;
    Span span = region->segment->leader->first->span;
    block_jump(region->func, region->end, span, region->out);
    if (left) vec_push(split->arena, &region->out->preds, region->start);
    give_out(make, region);
    const Type **results = ARENA_ARRAY(split->arena, const Type *, region->gives.len);
    for (size_t i = 0; i < region->gives.len; i++) results[i] = region->gives.data[i]->type;
    Value *result;
    if (region->gives.len)
        result = parallel_append(region->func, region->out, OP_TUPLE,
                                 type_tuple(split->program->types, results, (uint32_t)region->gives.len), span,
                                 region->gives.data, region->gives.len);
    else
        result = block_append_const(region->func, region->out, span, const_none(split->arena, split->program->types));
    block_append(region->func, region->out, OP_RETURN, span, &result, 1)->flags |= VF_IMPLICIT;
    block_jump(region->func, region->params, span, region->start);
    enter_segment(make, region, left);
    region->inst = parallel_add_inst(&make->site, region->func, types, region->needs.len + region->asks, result->type);
    region->inst->called_freely = true;
    func_remove_dead(region->func);
    func_renumber(region->func);
    region->inst->frameless = barriers_is_frameless(region->func);
}

void regions_make(Make *make, Region *region) {
    Split *split = make->split;
    const Segment *segment = region->segment;
    const Type **types = ARENA_ARRAY(split->arena, const Type *, region->needs.len + 1);
    region->func = parallel_new_func(&make->site);
    region->params = block_new(region->func);
    region->start = block_new(region->func);
    for (size_t b = 0; b < segment->blocks.len; b++)
        region->blocks[segment->blocks.data[b]->id] = block_new(region->func);
    region->end = block_new(region->func);
    region->out = block_new(region->func);
    make_params(make, region, types);
    Value *left = region->asks ? left_param(make, region, types) : NULL;
    for (size_t b = 0; b < segment->blocks.len; b++) copy_values(make, region, segment->blocks.data[b]);
    for (size_t b = 0; b < segment->blocks.len; b++) link_values(make, region, segment->blocks.data[b]);
    for (size_t b = 0; b < segment->blocks.len; b++) link_preds(make, region, segment->blocks.data[b]);
    find_gives(make, region);
    if (region->gives.len || region->acts || region->notes) finish_region(make, region, types, left);
    for (size_t b = 0; b < segment->blocks.len; b++) /* the tables are for all regions */
        region->blocks[segment->blocks.data[b]->id] = NULL;
}
