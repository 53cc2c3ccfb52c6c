/* barrier_regions.c: the functions that a kernel becomes.
 *
 * In: a kernel with its segments and with what is common to all threads.  Out: the kernel's function runs once for a
 * block: a basic block for each segment, which computes what is common, lets the threads run the segment's region,
 * and goes on as the segment does.
 *
 *   region(what it needs...) -> (what others need...)    what one thread does in a segment
 *
 * What a region needs is common to the threads, or kept for each of them in a CONTEXT; constants and what a thread
 * knows of its place it finds itself.  A phi of a segment's leader that is not common is a context to which each
 * segment that leads there writes. */
#include "passes/barriers.h"

enum { MAX_KEPT_BYTES = 1 << 18, MAX_THREADS = 1024 }; /* of the contexts of a block, which lie on a stack */

typedef VEC(Value *) ValueList;

typedef struct Region {
    Segment *segment;
    ValueList needs, gives;
    const Value **gives_for; /* the values whose contexts get them: themselves, or phis */
    bool acts;               /* it does more than to compute what nobody keeps */
    FuncInst *inst;          /* NULL: there is nothing to do */
    /* while it is made */
    Func *func;
    Block *params, *start, *end;
    Value **values; /* by the kernel's Value.id */
    Block **blocks; /* by the kernel's Block.id */
} Region;

typedef struct Make {
    Split *split;
    ParallelSite site;
    Func *func; /* of the block */
    Region *regions;
    Value **values;   /* by the kernel's Value.id: in the function of the block */
    Value **contexts; /* the same */
    uint32_t *seen;   /* the same: the last region that needed it, its number + 1 */
} Make;

/* ---- what regions need ---- */

static bool is_leaders_phi(const Split *split, const Value *value) {
    return value->op == OP_PHI && place_of(split, value->block)->leads;
}

/* Whether the region has the value itself, among the operations that it copies. */
static bool is_own(const Split *split, const Segment *segment, const Value *value) {
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
    if (split->varies[value->id]) {
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

static bool note_needs(Make *make, uint32_t number) {
    const Split *split = make->split;
    Region *region = &make->regions[number];
    for (size_t b = 0; b < region->segment->blocks.len; b++) {
        Block *block = region->segment->blocks.data[b];
        for (const Value *value = block->first; value; value = value->next) {
            if (!is_copied(split, region->segment, value)) continue;
            region->acts |= acts(split, value);
            for (uint32_t i = 0; i < value->nargs; i++) TRY(note_need(make, number, value->args[i]));
        }
        for (size_t s = 0; s < block->succs.len; s++)
            if (place_of(split, block->succs.data[s])->leads) TRY(note_phis(make, number, block, block->succs.data[s]));
    }
    return true;
}

/* ---- making a region ---- */

static Value *inside(Region *region, const Split *split, Value *value) {
    if (region->values[value->id]) return region->values[value->id];
    Value *made;
    if (is_known(value)) {
        made = block_append_const(region->func, region->start, value->span, value->konst);
    } else {
        Value **args = value->nargs ? ARENA_ARRAY(split->arena, Value *, value->nargs) : NULL;
        for (uint32_t i = 0; i < value->nargs; i++) args[i] = inside(region, split, value->args[i]);
        made = block_append_copy(region->func, region->start, value, args);
    }
    return region->values[value->id] = made;
}

static void make_params(Region *region, const Type **types) {
    for (uint32_t i = 0; i < region->needs.len; i++) {
        const Value *value = region->needs.data[i];
        types[i] = value->type;
        Value *param = parallel_append_param(region->func, region->params, value->type, value->span, i);
        param->name = value->name;
        param->bounds = value->bounds;
        region->values[value->id] = param;
    }
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
        region->values[value->id] = copy;
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
        Block *to = old->last->op == OP_JUMP ? target_of(make, region, old->succs.data[0]) : region->end;
        block_append(region->func, block, OP_JUMP, old->last->span, NULL, 0);
        vec_push(arena, &block->succs, to);
        if (to == region->end) vec_push(arena, &to->preds, block);
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
                give(make, region, value, region->values[value->id], &most);
}

static void finish_region(Make *make, Region *region, const Type **types) {
    Split *split = make->split;
    Span span = region->segment->leader->first->span;
    const Type **results = ARENA_ARRAY(split->arena, const Type *, region->gives.len);
    for (size_t i = 0; i < region->gives.len; i++) results[i] = region->gives.data[i]->type;
    Value *result;
    if (region->gives.len)
        result = parallel_append(region->func, region->end, OP_TUPLE,
                                 type_tuple(split->program->types, results, (uint32_t)region->gives.len), span,
                                 region->gives.data, region->gives.len);
    else
        result = block_append_const(region->func, region->end, span, const_none(split->arena, split->program->types));
    block_append(region->func, region->end, OP_RETURN, span, &result, 1)->flags |= VF_IMPLICIT;
    block_jump(region->func, region->params, span, region->start);
    block_append(region->func, region->start, OP_JUMP, span, NULL, 0);
    vec_push(split->arena, &region->start->succs, region->blocks[region->segment->leader->id]);
    region->inst = parallel_add_inst(&make->site, region->func, types, region->needs.len, result->type);
    region->inst->called_freely = true;
    func_remove_dead(region->func);
    func_renumber(region->func);
    region->inst->frameless = barriers_is_frameless(region->func);
}

static void make_region(Make *make, Region *region) {
    Split *split = make->split;
    const Segment *segment = region->segment;
    const Type **types = ARENA_ARRAY(split->arena, const Type *, region->needs.len);
    region->func = parallel_new_func(&make->site);
    region->params = block_new(region->func);
    region->start = block_new(region->func);
    for (size_t b = 0; b < segment->blocks.len; b++)
        region->blocks[segment->blocks.data[b]->id] = block_new(region->func);
    region->end = block_new(region->func);
    make_params(region, types);
    for (size_t b = 0; b < segment->blocks.len; b++) copy_values(make, region, segment->blocks.data[b]);
    for (size_t b = 0; b < segment->blocks.len; b++) link_values(make, region, segment->blocks.data[b]);
    for (size_t b = 0; b < segment->blocks.len; b++) link_preds(make, region, segment->blocks.data[b]);
    find_gives(make, region);
    if (region->gives.len || region->acts) finish_region(make, region, types);
    for (size_t b = 0; b < segment->blocks.len; b++) /* the tables are for all regions */
        region->blocks[segment->blocks.data[b]->id] = NULL;
}

/* ---- the function of the block ---- */

static Value *common(const Make *make, const Value *value) {
    return make->split->varies[value->id] ? make->contexts[value->id] : make->values[value->id];
}

static void make_contexts(Make *make, Block *entry) {
    const Split *split = make->split;
    for (size_t b = 0; b < split->nblocks; b++)
        for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next) {
            if (!split->kept[value->id]) continue;
            Value *context = parallel_append(make->func, entry, OP_CONTEXT, value->type, value->span, NULL, 0);
            context->name = value->name;
            make->contexts[value->id] = context;
        }
}

/* What is common in a segment, but for phis, whose operands come later. */
static void copy_common(Make *make, const Segment *segment) {
    const Split *split = make->split;
    for (size_t b = 0; b < segment->blocks.len; b++)
        for (const Value *value = segment->blocks.data[b]->first; value; value = value->next) {
            bool phi = value->op == OP_PHI;
            if (op_is_terminator(value->op) || split->varies[value->id] || value->op == OP_PARAM) continue;
            Value **args = value->nargs ? ARENA_ARRAY(split->arena, Value *, value->nargs) : NULL;
            for (uint32_t i = 0; !phi && i < value->nargs; i++) args[i] = make->values[value->args[i]->id];
            make->values[value->id] = block_append_copy(make->func, segment->driver, value, args);
        }
}

static void append_threads(Make *make, const Region *region) {
    if (!region->inst) return;
    Arena *arena = make->split->arena;
    size_t count = region->gives.len + region->needs.len;
    Value **args = ARENA_ARRAY(arena, Value *, count);
    for (size_t i = 0; i < region->gives.len; i++) args[i] = make->contexts[region->gives_for[i]->id];
    for (size_t i = 0; i < region->needs.len; i++) args[region->gives.len + i] = common(make, region->needs.data[i]);
    Value *threads = block_append(make->func, region->segment->driver, OP_THREADS, region->segment->leader->first->span,
                                  args, count);
    threads->imm.i = (int64_t)region->gives.len;
    threads->imm.inst = region->inst;
}

static void end_segment(Make *make, const Segment *segment) {
    const Split *split = make->split;
    const Value *last = segment->last->last;
    Block *driver = segment->driver;
    if (segment->next) {
        block_jump(make->func, driver, last->span, place_of(split, segment->next)->segment->driver);
    } else if (place_of(split, segment->last)->parts) {
        block_branch(make->func, driver, last->span, make->values[last->args[0]->id],
                     place_of(split, segment->last->succs.data[0])->segment->driver,
                     place_of(split, segment->last->succs.data[1])->segment->driver);
    } else {
        Value *none = block_append_const(make->func, driver, last->span,
                                         const_none(split->arena, split->program->types));
        block_append(make->func, driver, OP_RETURN, last->span, &none, 1)->flags |= VF_IMPLICIT;
    }
    driver->unroll = segment->last->unroll, driver->unroll_whole = segment->last->unroll_whole;
}

static void complete_phis(Make *make, const Segment *segment) {
    const Split *split = make->split;
    for (const Value *phi = segment->leader->first; phi->op == OP_PHI; phi = phi->next) {
        if (split->varies[phi->id]) continue;
        size_t count = segment->driver->preds.len;
        Value **args = ARENA_ARRAY(split->arena, Value *, count);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < phi->nargs; k++)
                if (place_of(split, phi->block->preds.data[k])->segment->driver == segment->driver->preds.data[i])
                    args[i] = make->values[phi->args[k]->id];
        phi_set_args(make->func, make->values[phi->id], args, count);
    }
}

static void make_driver(Make *make) {
    Split *split = make->split;
    Func *old = split->func, *func = parallel_new_func(&make->site);
    make->func = func;
    func->span = old->span;
    Block *entry = block_new(func);
    for (const Value *value = old->blocks.data[0]->first; value && value->op == OP_PARAM; value = value->next)
        make->values[value->id] = block_append_copy(func, entry, value, NULL);
    make_contexts(make, entry);
    for (size_t s = 0; s < split->segments.len; s++) split->segments.data[s]->driver = block_new(func);
    block_jump(func, entry, old->span, split->segments.data[0]->driver);
    for (size_t s = 0; s < split->segments.len; s++) {
        copy_common(make, split->segments.data[s]);
        append_threads(make, &make->regions[s]);
        end_segment(make, split->segments.data[s]);
    }
    for (size_t s = 0; s < split->segments.len; s++) complete_phis(make, split->segments.data[s]);
    func->nparams = old->nparams;
    func->params = old->params;
    func->result = old->result;
    func_compute_order(func);
    func_remove_dead(func);
    func_renumber(func);
    func_compute_dominators(func);
    split->inst->func = func;
    split->inst->by_regions = true;
}

/* ---- all of it ---- */

static bool contexts_fit(const Split *split) {
    size_t bytes = 0;
    for (size_t b = 0; b < split->nblocks; b++)
        for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next)
            if (split->kept[value->id]) bytes += type_size(value->type) * MAX_THREADS;
    return bytes <= MAX_KEPT_BYTES;
}

bool barriers_make_regions(Split *split) {
    size_t count = split->segments.len, nvalues = split->func->next_value;
    Make make = {.split = split,
                 .site = {split->program, split->inst, split->func->span},
                 .regions = ARENA_ARRAY(split->arena, Region, count),
                 .values = ARENA_ARRAY(split->arena, Value *, nvalues),
                 .contexts = ARENA_ARRAY(split->arena, Value *, nvalues),
                 .seen = ARENA_ARRAY(split->arena, uint32_t, nvalues)};
    Block **blocks = ARENA_ARRAY(split->arena, Block *, split->nblocks);
    for (uint32_t s = 0; s < count; s++) {
        make.regions[s].segment = split->segments.data[s];
        make.regions[s].blocks = blocks;
        TRY(note_needs(&make, s));
    }
    TRY(contexts_fit(split));
    for (uint32_t s = 0; s < count; s++) {
        make.regions[s].values = ARENA_ARRAY(split->arena, Value *, nvalues);
        make_region(&make, &make.regions[s]);
    }
    make_driver(&make);
    return true;
}
