/* parallel_outline.c: a loop over prange becomes three functions and a call.
 *
 *   piece(from, to, outer values...) -> results      iterations from .. to-1, results from their identities
 *   join(results, results) -> results                one chunk's results put to those of the chunks before it
 *   region(count, results, outer values...) -> results
 *       result = join(results, piece(0, count, ...)): what the loop does on one core.  FuncInst.piece and .join say
 *       what it is made of; code generation calls the pieces of several chunks on several cores, and joins them in
 *       order.
 *
 * Passes that know nothing of this see calls.  What is cheap and does not change (constants, shapes) is found again
 * inside the piece, so that what is known of indices is known there, too: with a constant step the piece's range is
 * held between the loop's own ends. */
#include "passes/parallel.h"

#include <string.h> /* memcpy */

typedef struct Outline {
    ParallelLoop *loop;
    ParallelSite site;
    Arena *arena;
    Func *func; /* the piece */
    Block *entry, *exit;
    Value **values; /* by the old value's number */
    Block **blocks;
    VEC(Value *) outer; /* values that come as parameters */
    bool *seen;         /* by Value.id: looked at as an outer value */
    Value *from, *to;
} Outline;

/* ---- values from outside ---- */

static bool is_found_again(const Value *value) {
    if (value->op == OP_EXTRACT) return value->args[0]->type->kind == TY_TUPLE; /* an array's items may change */
    return value->op == OP_CONST || value->op == OP_GETATTR;
}

static bool is_outer(const Outline *o, const Value *value) {
    return !loop_has(o->loop, value) && value->block != o->loop->head && value != o->loop->iter;
}

static bool is_private(const Outline *o, const Value *value) {
    for (size_t k = 0; k < o->loop->privates.len; k++)
        if (o->loop->privates.data[k].array == value) return true;
    return false;
}

static bool note_outer(Outline *o, Value *value) {
    if (!is_outer(o, value) || o->seen[value->id]) return true;
    o->seen[value->id] = true;
    if (is_found_again(value) && !is_private(o, value)) {
        for (uint32_t i = 0; i < value->nargs; i++) TRY(note_outer(o, value->args[i]));
        return true;
    }
    FAIL_IF(value->type->kind == TY_ITER, o->loop->diag, UNSUPPORTED, o->loop->func->source, o->loop->range->span,
            "an iterator made outside is used in a prange loop: its iterations run in any order");
    vec_push(o->arena, &o->outer, value);
    return true;
}

bool parallel_changes_list(const Value *value, uint32_t operand) {
    const Type *type = value->args[operand]->type;
    if (type->kind != TY_LIST && !type_is_table(type) && !type_is_shared(type)) return false;
    switch (value->op) {
    case OP_SETITEM:
    case OP_DELITEM: return operand == 0;
    case OP_CALL_INST: return value->imm.inst->writes >> (operand < 63 ? operand : 63) & 1;
    case OP_CALL_FUNC: return operand == 0 && func_effects(value->imm.func) & EFFECT_WRITE;
    default: return operand == 0 && value->flags & VF_INPLACE;
    }
}

static bool refuse_list(const Outline *o, const Value *at, const Type *type) {
    const ParallelLoop *loop = o->loop;
    if (type_is_table(type)) {
        diag_fail(loop->diag, DIAG_UNSUPPORTED, loop->func->source, at->span,
                  "a %s made outside a prange loop is changed or looked into in it, which several threads would do at "
                  "once: the first look may build its index",
                  type->kind == TY_DICT ? "dict" : "set");
        diag_hint(loop->diag, "take what the loop reads out of it before the loop, into an array with an item for each "
                              "iteration; what it finds is written to such an array, too: out[i] = ...");
    } else {
        diag_fail(loop->diag, DIAG_UNSUPPORTED, loop->func->source, at->span,
                  "%s made outside a prange loop is changed in it, and several threads would change it at once",
                  type_is_shared(type) ? "an object" : "a list");
        diag_hint(loop->diag, "write to an array with an item for each iteration, made before the loop: out = "
                              "np.empty(n), out[i] = ...");
    }
    diag_note(loop->diag, loop->func->source, loop->range->span, "this loop");
    return false;
}

static bool refuse_shared(const Outline *o, const Value *set) {
    const ParallelLoop *loop = o->loop;
    diag_fail(loop->diag, DIAG_UNSUPPORTED, loop->func->source, set->span,
              "`%s`, which inner functions share, is assigned in a prange loop", set->imm.text);
    diag_hint(loop->diag, "pass it to the inner function as an argument; or use range in place of prange");
    diag_note(loop->diag, loop->func->source, loop->range->span, "this loop");
    return false;
}

static bool find_outer(Outline *o) {
    ParallelLoop *loop = o->loop;
    for (uint32_t i = 0; i < 3; i++) TRY(note_outer(o, loop->range->args[i]));
    for (size_t c = 0; c < loop->carried.len; c++)
        for (uint32_t i = 0; i < loop->carried.data[c].phi->nargs; i++)
            TRY(note_outer(o, loop->carried.data[c].phi->args[i]));
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (Value *value = loop->blocks.data[b]->first; value; value = value->next) {
            for (uint32_t i = 0; i < value->nargs; i++) {
                TRY(note_outer(o, value->args[i]));
                if (is_outer(o, value->args[i]) && parallel_changes_list(value, i))
                    return refuse_list(o, value, value->args[i]->type);
            }
            if (value->op == OP_CELL_SET && is_outer(o, value->args[0])) return refuse_shared(o, value);
        }
    return true;
}

/* The value inside the piece that stands for one outside. */
static Value *inside_of(Outline *o, Value *value) {
    if (o->values[value->id]) return o->values[value->id];
    Value *args[1];
    for (uint32_t i = 0; i < value->nargs; i++) args[i] = inside_of(o, value->args[i]);
    Value *copy = block_append(o->func, o->entry, value->op, value->span, args, value->nargs);
    copy->type = value->type;
    copy->konst = value->konst;
    copy->imm = value->imm;
    copy->name = value->name;
    return o->values[value->id] = copy;
}

/* ---- the piece ---- */

/* start + number * step; the number itself where that is the same. */
static Value *place_of(Outline *o, Value *start, Value *step, Value *number) {
    const Type *type = parallel_int(&o->site);
    bool from_zero = start->konst && start->konst->i == 0, by_one = step->konst && step->konst->i == 1;
    Span span = o->loop->range->span;
    if (!by_one) number = parallel_append(o->func, o->entry, OP_MUL, type, span, (Value *[]){number, step}, 2);
    if (!from_zero) number = parallel_append(o->func, o->entry, OP_ADD, type, span, (Value *[]){start, number}, 2);
    return number;
}

static Value *make_range(Outline *o) {
    ParallelLoop *loop = o->loop;
    Value *start = inside_of(o, loop->range->args[0]), *stop = inside_of(o, loop->range->args[1]),
          *step = inside_of(o, loop->range->args[2]);
    Value *from = place_of(o, start, step, o->from), *to = place_of(o, start, step, o->to);
    if (step->konst && step->konst->i != 0) { /* nothing new to the loop, but news to those who reason about indices */
        bool up = step->konst->i > 0;
        from = parallel_append_func(&o->site, o->func, o->entry, up ? FUNC_PY_MAX : FUNC_PY_MIN, parallel_int(&o->site),
                                    (Value *[]){from, start}, 2);
        to = parallel_append_func(&o->site, o->func, o->entry, up ? FUNC_PY_MIN : FUNC_PY_MAX, parallel_int(&o->site),
                                  (Value *[]){to, stop}, 2);
    }
    Value *range = parallel_append_func(&o->site, o->func, o->entry, FUNC_RANGE, loop->range->type,
                                        (Value *[]){from, to, step}, 3);
    range->flags = loop->range->flags | VF_UNCHECKED; /* the step is not zero: the caller has asked for the length */
    return range;
}

static void copy_block(Outline *o, const Block *old) {
    Block *block = o->blocks[old->id];
    for (const Value *value = old->first; value; value = value->next) {
        Value *copy = block_append(o->func, block, value->op, value->span, NULL, 0);
        uint32_t id = copy->id;
        Value *prev = copy->prev;
        *copy = *value;
        copy->id = id, copy->prev = prev, copy->next = NULL, copy->block = block, copy->mark = NULL;
        o->values[value->id] = copy;
    }
}

static void link_block(Outline *o, const Block *old) {
    Block *block = o->blocks[old->id];
    block->unwinds = old->unwinds;
    for (Value *value = block->first; value; value = value->next) {
        Value **args = value->nargs ? ARENA_ARRAY(o->arena, Value *, value->nargs) : NULL;
        for (uint32_t i = 0; i < value->nargs; i++) args[i] = inside_of(o, value->args[i]);
        value->args = args;
    }
    for (size_t i = 0; i < old->succs.len; i++) vec_push(o->arena, &block->succs, o->blocks[old->succs.data[i]->id]);
    for (size_t i = 0; i < old->preds.len; i++) vec_push(o->arena, &block->preds, o->blocks[old->preds.data[i]->id]);
}

/* The header of the piece: its phis begin with their identities, or with what they were before the loop. */
static void make_head(Outline *o, Block *head) {
    ParallelLoop *loop = o->loop;
    for (size_t c = 0; c < loop->carried.len; c++) {
        Value *phi = loop->carried.data[c].phi;
        Value *copy = block_add_phi(o->func, head, phi->span);
        copy->type = phi->type;
        copy->name = phi->name;
        o->values[phi->id] = copy;
    }
    Value *more = parallel_append(o->func, head, OP_ITER_MORE, loop->more->type, loop->more->span,
                                  (Value *[]){o->values[loop->iter->id]}, 1);
    o->values[loop->more->id] = more;
    block_append(o->func, head, OP_BRANCH, loop->more->span, &more, 1);
    vec_push(o->arena, &head->succs, o->blocks[loop->body->id]);
    vec_push(o->arena, &head->succs, o->exit);
    vec_push(o->arena, &o->exit->preds, head);
    for (size_t i = 0; i < loop->head->preds.len; i++) {
        Block *pred = loop->head->preds.data[i];
        vec_push(o->arena, &head->preds, pred == loop->before ? o->entry : o->blocks[pred->id]);
    }
}

static void link_head(Outline *o) {
    ParallelLoop *loop = o->loop;
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        Value *copy = o->values[carried->phi->id], **args = ARENA_ARRAY(o->arena, Value *, carried->phi->nargs);
        for (uint32_t i = 0; i < carried->phi->nargs; i++) {
            bool first = loop->head->preds.data[i] == loop->before &&
                         (carried->kind == CARRY_REDUCE || carried->kind == CARRY_PICK);
            args[i] = first ? block_append_const(o->func, o->entry, carried->phi->span, carried->identity)
                            : inside_of(o, carried->phi->args[i]);
        }
        copy->args = args;
        copy->nargs = carried->phi->nargs;
    }
}

static const Type *results_type(const ParallelLoop *loop) {
    const Type **types = ARENA_ARRAY(loop->func->arena, const Type *, loop->nresults);
    for (size_t c = 0; c < loop->carried.len; c++)
        if (loop->carried.data[c].kind != CARRY_NOTHING)
            types[loop->carried.data[c].place] = loop->carried.data[c].phi->type;
    return type_tuple(loop->program->types, types, loop->nresults);
}

/* The values of `of`, one for each result, as a tuple at the end of a block. */
static Value *results_tuple(const ParallelLoop *loop, Func *func, Block *block, Value *const *of, const Type *type) {
    return parallel_append(func, block, OP_TUPLE, type, loop->range->span, of, loop->nresults);
}

static FuncInst *make_piece(Outline *o, const Type *results) {
    ParallelLoop *loop = o->loop;
    size_t count = 2 + o->outer.len;
    const Type **types = ARENA_ARRAY(o->arena, const Type *, count);
    Value **ends = ARENA_ARRAY(o->arena, Value *, loop->nresults);
    o->func = parallel_new_func(&o->site);
    o->entry = block_new(o->func);
    Block *head = o->blocks[loop->head->id] = block_new(o->func);
    for (size_t b = 0; b < loop->blocks.len; b++) o->blocks[loop->blocks.data[b]->id] = block_new(o->func);
    o->exit = block_new(o->func);
    types[0] = types[1] = parallel_int(&o->site);
    o->from = parallel_append_param(o->func, o->entry, types[0], loop->range->span, 0);
    o->to = parallel_append_param(o->func, o->entry, types[1], loop->range->span, 1);
    for (size_t i = 0; i < o->outer.len; i++) {
        types[2 + i] = o->outer.data[i]->type;
        Value *param = parallel_append_param(o->func, o->entry, types[2 + i], loop->range->span, (uint32_t)(2 + i));
        param->name = o->outer.data[i]->name;
        o->values[o->outer.data[i]->id] = param;
    }
    Value *range = make_range(o);
    o->values[loop->iter->id] = parallel_append(o->func, o->entry, OP_ITER, loop->iter->type, loop->iter->span, &range,
                                                1);
    make_head(o, head);
    for (size_t b = 0; b < loop->blocks.len; b++) copy_block(o, loop->blocks.data[b]);
    for (size_t b = 0; b < loop->blocks.len; b++) link_block(o, loop->blocks.data[b]);
    link_head(o);
    parallel_append(o->func, o->entry, OP_JUMP, NULL, loop->range->span, NULL, 0);
    vec_push(o->arena, &o->entry->succs, head);
    for (size_t c = 0; c < loop->carried.len; c++)
        if (loop->carried.data[c].kind != CARRY_NOTHING)
            ends[loop->carried.data[c].place] = o->values[loop->carried.data[c].phi->id];
    Value *tuple = results_tuple(loop, o->func, o->exit, ends, results);
    block_append(o->func, o->exit, OP_RETURN, loop->range->span, &tuple, 1);
    return parallel_add_inst(&o->site, o->func, types, count, results);
}

/* ---- the join ---- */

/* Of two parts: a comparison of the values before and more of `carried`, on which a branch leads to the block where the
 * parts' ends are chosen, ends[place] being `more` where it is true. */
typedef struct Join {
    const ParallelLoop *loop;
    Func *func;
    Block *block;
    Value *const *before, *const *more;
    Value **ends;
} Join;

static bool is_led(const Carried *carried, const Carried *by) {
    return carried == by || (carried->kind == CARRY_PICK && carried->leader == by->phi);
}

static void join_by_comparison(Join *j, const Carried *by) {
    const ParallelLoop *loop = j->loop;
    const Type *boolean = type_scalar(loop->program->types, SCALAR_BOOL, true), *type = by->phi->type;
    Span span = by->phi->span;
    bool flag = by->kind == CARRY_FLAG;
    Value *than = flag ? block_append_const(j->func, j->block, span, by->identity) : j->before[by->place];
    Value *args[] = {j->more[by->place], than};
    const Type *said = type->weak ? boolean : type_scalar(loop->program->types, SCALAR_BOOL, false);
    Value *asked = parallel_append(j->func, j->block, flag ? OP_EQ : by->op, said, span, args, 2);
    if (said != boolean) asked = parallel_append(j->func, j->block, OP_CAST, boolean, span, &asked, 1);
    Block *ways[] = {block_new(j->func), block_new(j->func)}, *next = block_new(j->func);
    block_branch(j->func, j->block, span, asked, ways[0], ways[1]);
    for (size_t i = 0; i < COUNT_OF(ways); i++) block_jump(j->func, ways[i], span, next);
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        if (carried->kind == CARRY_NOTHING || !is_led(carried, by)) continue;
        Value *chosen[] = {j->more[carried->place], j->before[carried->place]};
        Value *phi = block_add_phi(j->func, next, span);
        phi->type = carried->phi->type;
        phi_set_args(j->func, phi, chosen, 2);
        j->ends[carried->place] = phi;
    }
    j->block = next;
}

static FuncInst *make_join(Outline *o, const Type *results) {
    const ParallelLoop *loop = o->loop;
    Func *func = parallel_new_func(&o->site);
    Block *block = block_new(func);
    const Type *types[] = {results, results};
    Value *params[2], **parts[2], **ends = ARENA_ARRAY(func->arena, Value *, loop->nresults);
    for (uint32_t i = 0; i < 2; i++) {
        params[i] = parallel_append_param(func, block, results, loop->range->span, i);
        parts[i] = ARENA_ARRAY(func->arena, Value *, loop->nresults);
    }
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        if (carried->kind == CARRY_NOTHING) continue;
        for (uint32_t i = 2; i-- > (carried->kind == CARRY_LAST);)
            parts[i][carried->place] = parallel_append_extract(func, block, params[i], carried->place,
                                                               carried->phi->span);
        ends[carried->place] = parts[1][carried->place];
        if (carried->kind != CARRY_REDUCE) continue;
        Value *args[] = {parts[0][carried->place], parts[1][carried->place]};
        Value *both = parallel_append(func, block, carried->op, args[0]->type, carried->phi->span, args, 2);
        both->imm.func = carried->func;
        ends[carried->place] = both;
    }
    Join join = {loop, func, block, parts[0], parts[1], ends};
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        if (carried->kind == CARRY_FLAG || (carried->kind == CARRY_PICK && carried->leader == carried->phi))
            join_by_comparison(&join, carried);
    }
    Value *tuple = results_tuple(loop, func, join.block, ends, results);
    block_append(func, join.block, OP_RETURN, loop->range->span, &tuple, 1);
    return parallel_add_inst(&o->site, func, types, 2, results);
}

/* ---- in place of the loop ---- */

static Value *before_loop(const ParallelLoop *loop, const Value *phi) {
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (loop->head->preds.data[i] == loop->before) return phi->args[i];
    return NULL;
}

static Value *call_region(Outline *o, FuncInst *piece, FuncInst *join, Value *length, Value *first) {
    ParallelLoop *loop = o->loop;
    uint32_t count = (uint32_t)o->outer.len;
    if (loop->privates.len) return parallel_call_in_blocks(loop, piece, join, length, first, o->outer.data, count);
    Value **args = ARENA_ARRAY(o->arena, Value *, 2 + count);
    args[0] = length;
    args[1] = first;
    for (uint32_t i = 0; i < count; i++) args[2 + i] = o->outer.data[i];
    return parallel_append_call(loop->func, loop->head, parallel_make_region(&o->site, piece, join), loop->range->span,
                                args);
}

static void put_call(Outline *o, FuncInst *piece, FuncInst *join, const Type *results) {
    ParallelLoop *loop = o->loop;
    Func *func = loop->func;
    Block *head = loop->head;
    Span span = loop->range->span;
    Value **first = ARENA_ARRAY(o->arena, Value *, loop->nresults);
    for (size_t c = 0; c < loop->carried.len; c++)
        if (loop->carried.data[c].kind != CARRY_NOTHING)
            first[loop->carried.data[c].place] = before_loop(loop, loop->carried.data[c].phi);
    value_remove(head->last);
    Value *length = parallel_append_func(&o->site, func, head, FUNC_LEN, parallel_int(&o->site), &loop->range, 1);
    Value *call = call_region(o, piece, join, length, results_tuple(loop, func, head, first, results));
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        if (carried->kind == CARRY_NOTHING) continue;
        Value *result = parallel_append_extract(func, head, call, carried->place, span);
        result->name = carried->phi->name;
        value_replace(func, carried->phi, result);
    }
    block_append(func, head, OP_BRANCH, span, &loop->more, 1);
    block_remove_edge(func, head, loop->body); /* now a jump to the exit */
    while (head->first->op == OP_PHI) value_remove(head->first);
    value_remove(loop->more);
    value_remove(loop->iter);
    func_compute_order(func); /* drops the blocks of the loop */
    func_compute_dominators(func);
}

/* ---- loops in the loop ---- */

/* Whether the loop has a loop over prange in it, and who runs its iterations decides no result: with numbers drawn from
 * the chunk's stream it would. */
static bool has_loop_to_spread(const ParallelLoop *loop) {
    bool any = false;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            any |= value_calls(value, FUNC_PRANGE);
    for (size_t i = 0; any && i < loop->program->count; i++) {
        const Func *func = loop->program->insts[i]->func;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
                if (value->op == OP_CALL_FUNC && func_row(value->imm.func)->drawn_from) return false;
    }
    return any;
}

static void return_call(Outline *o, Func *func, Block *block, FuncInst *inst, Value *const *args) {
    Value *call = parallel_append_call(func, block, inst, o->site.span, args);
    block_append(func, block, OP_RETURN, o->site.span, &call, 1);
}

/* A piece that asks which of the two it is to be. */
static FuncInst *make_choice(Outline *o, FuncInst *yes, FuncInst *no) {
    Func *func = parallel_new_func(&o->site);
    Block *entry = block_new(func), *blocks[] = {block_new(func), block_new(func)};
    uint32_t count = yes->untyped->nparams;
    Value **params = ARENA_ARRAY(o->arena, Value *, count);
    for (uint32_t i = 0; i < count; i++) params[i] = parallel_append_param(func, entry, yes->types[i], o->site.span, i);
    const Type *boolean = type_scalar(o->loop->program->types, SCALAR_BOOL, true);
    Value *spreads = parallel_append_func(&o->site, func, entry, FUNC_CHUNK_SPREADS, boolean, NULL, 0);
    block_append(func, entry, OP_BRANCH, o->site.span, &spreads, 1);
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        vec_push(o->arena, &entry->succs, blocks[i]);
        vec_push(o->arena, &blocks[i]->preds, entry);
        return_call(o, func, blocks[i], i ? no : yes, params);
    }
    return parallel_add_inst(&o->site, func, yes->types, count, yes->result);
}

static void forget_copies(Outline *o) {
    memset(o->values, 0, o->loop->func->next_value * sizeof *o->values);
    memset(o->blocks, 0, o->loop->func->next_block * sizeof *o->blocks);
}

static FuncInst *make_pieces(Outline *o, const Type *results) {
    FuncInst *piece = make_piece(o, results), *nesting;
    if (!has_loop_to_spread(o->loop)) return piece;
    forget_copies(o);
    nesting = make_piece(o, results);
    piece->nesting = NESTING_RANGE;
    nesting->nesting = NESTING_SPREAD;
    return make_choice(o, nesting, piece);
}

bool parallel_outline(ParallelLoop *loop) {
    Arena *arena = loop->func->arena;
    Scratches *scratch = loop->scratch;
    size_t values = loop->func->next_value, blocks = loop->func->next_block;
    Outline o = {.loop = loop,
                 .site = {loop->program, loop->inst, loop->range->span},
                 .arena = arena,
                 .values = parallel_scratch(arena, &scratch->values, values * sizeof(Value *)),
                 .blocks = parallel_scratch(arena, &scratch->blocks, blocks * sizeof(Block *)),
                 .seen = parallel_scratch(arena, &scratch->seen, values * sizeof(bool))};
    TRY(find_outer(&o));
    for (size_t i = 0; i < loop->steps.len; i++) loop->steps.data[i]->flags |= VF_REGROUPS;
    const Type *results = results_type(loop);
    FuncInst *piece = make_pieces(&o, results);
    FuncInst *join = loop->nresults ? make_join(&o, results) : NULL;
    put_call(&o, piece, join, results);
    return true;
}
