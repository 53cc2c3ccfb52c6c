/* barrier_driver.c: the function of the block that a kernel becomes.
 *
 * In: a kernel with its segments and with what is common to all threads.  Out: its function runs once for a block: a
 * basic block for each segment, which computes what is common, lets the threads run the segment's region, and goes on
 * as the segment does.  A thread's own array that is used in several segments is a part of an array for all threads. */
#include "passes/barriers.h"

enum {
    MAX_KEPT_BYTES = 1 << 18, /* of what the threads of a block keep: caches hold it */
    MAX_SEGMENTS = 64         /* of a kernel: LLVM's time for one function grows with the square */
};

static Value *common(const Make *make, const Value *value) {
    return make->split->varies[value->id] ? make->contexts[value->id] : make->values[value->id];
}

/* An array of the thread's own, MAX_BLOCK_THREADS times. */
static Value *make_arrays(Make *make, Block *entry, const Value *array) {
    const Split *split = make->split;
    int64_t items = (int64_t)(call_array_request(array).bytes / type_size(type_element(array->type)));
    const Const *length = const_int(split->arena, split->program->types, items * MAX_BLOCK_THREADS);
    Value *args[3] = {block_append_const(make->func, entry, array->span, length)};
    for (uint32_t i = 1; i < array->nargs; i++) args[i] = block_append_copy(make->func, entry, array->args[i], NULL);
    Value *all = block_append_copy(make->func, entry, array, args);
    all->type = barriers_kept_arrays(split, array);
    return all;
}

static void make_contexts(Make *make, Block *entry) {
    const Split *split = make->split;
    const Type *truth = const_bool(split->arena, split->program->types, false)->type;
    if (split->leaving) make->left = parallel_append(make->func, entry, OP_CONTEXT, truth, split->func->span, NULL, 0);
    for (size_t b = 0; b < split->nblocks; b++)
        for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next) {
            if (!split->kept[value->id]) continue;
            if (barriers_is_kept_array(split, value)) {
                make->contexts[value->id] = make_arrays(make, entry, value);
                continue;
            }
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
    size_t results = region->gives.len, kept = results - region->notes, count = results + region->needs.len;
    Value **args = ARENA_ARRAY(arena, Value *, count + region->asks);
    for (size_t i = 0; i < kept; i++) args[i] = make->contexts[region->gives_for[i]->id];
    if (region->notes) args[kept] = make->left;
    for (size_t i = 0; i < region->needs.len; i++) args[results + i] = common(make, region->needs.data[i]);
    if (region->asks) args[count++] = make->left;
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
            if (barriers_is_kept_array(split, value))
                bytes += call_array_request(value).bytes * MAX_BLOCK_THREADS;
            else if (split->kept[value->id])
                bytes += type_size(value->type) * MAX_BLOCK_THREADS;
    return bytes <= MAX_KEPT_BYTES;
}

bool barriers_make_regions(Split *split) {
    size_t count = split->segments.len, nvalues = split->func->next_value;
    if (count > MAX_SEGMENTS) return false;
    Make make = {.split = split,
                 .site = {split->program, split->inst, split->func->span},
                 .regions = ARENA_ARRAY(split->arena, Region, count),
                 .values = ARENA_ARRAY(split->arena, Value *, nvalues),
                 .contexts = ARENA_ARRAY(split->arena, Value *, nvalues),
                 .seen = ARENA_ARRAY(split->arena, uint32_t, nvalues)};
    Block **blocks = ARENA_ARRAY(split->arena, Block *, split->nblocks);
    Made *made = ARENA_ARRAY(split->arena, Made, nvalues);
    barriers_keep_arrays(split);
    for (uint32_t s = 0; s < count; s++) {
        make.regions[s].segment = split->segments.data[s];
        make.regions[s].blocks = blocks;
        TRY(regions_note_needs(&make, s));
    }
    TRY(contexts_fit(split));
    for (uint32_t s = 0; s < count; s++) {
        make.regions[s].made = made;
        regions_make(&make, &make.regions[s]);
    }
    make_driver(&make);
    return true;
}
