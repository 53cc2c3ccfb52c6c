/* safepoint_twins.c: a short loop in another loop gets a twin that does not look for signals.
 *
 * How many rounds such a loop makes is known before its first.  Where the budget has room for all of them at once the
 * twin runs, which is the loop as it was; else it is time to look, and the loop runs that looks.  What is spent for all
 * rounds is one multiplication, which often does not change from one time to the next, and the budget of the loop
 * around is spent with it, where every round of that comes by.
 *
 *      entries                      entries
 *         |                            |
 *    +-> header -> exit    becomes   guard: spend all --spent--> look
 *    |    |                            |                          |
 *    |   body                    +-> header'             +-> header -> exit
 *    +----+                      |    |    \             |    |       |
 *                                |   body'  exit         |   body    |
 *                                +----+      \          +----+      |
 *                                            join <-----------------+
 */
#include "passes/safepoints.h"

enum { SHORT = 64 }; /* values of a loop that gets a twin, at most: LLVM makes both fast */

static bool is_inside(const Loops *loops, const Loop *loop, const Block *block) {
    return loops->around[block->order] == loop;
}

/* Only phis of the header are used behind the loop, which only the header leaves. */
static bool is_short(const Loops *loops, const Loop *loop) {
    uint32_t count = 0;
    for (size_t b = loop->header->order; b < loops->nblocks; b++) {
        const Block *block = loops->func->blocks.data[b];
        if (!is_inside(loops, loop, block)) continue;
        if (block->unwinds) return false;
        for (size_t s = 0; s < block->succs.len; s++)
            if (block != loop->header && !is_inside(loops, loop, block->succs.data[s])) return false;
        for (const Value *value = block->first; value; value = value->next, count++)
            if (loops->escapes[value->id] && (block != loop->header || value->op != OP_PHI)) return false;
    }
    return count <= SHORT;
}

/* ---- the copy ---- */

typedef struct Twin {
    Loops *loops;
    const Loop *loop;
    Value **values; /* by the number of the loop's value */
    Block **blocks; /* by the order of the loop's block */
    size_t known;   /* numbers of values */
} Twin;

static Value *twin_of(const Twin *twin, Value *value) {
    Value *copy = value->id < twin->known ? twin->values[value->id] : NULL;
    return copy ? copy : value;
}

static Value **twins_of(const Twin *twin, Value *const *values, size_t count) {
    Value **copies = ARENA_ARRAY(twin->loops->func->arena, Value *, count);
    for (size_t i = 0; i < count; i++) copies[i] = twin_of(twin, values[i]);
    return copies;
}

static void copy_value(Twin *twin, Value *value, Block *block) {
    Func *func = twin->loops->func;
    Value **args = value->op == OP_PHI ? NULL : twins_of(twin, value->args, value->nargs);
    twin->values[value->id] = block_append_copy(func, block, value, args);
}

/* Edges and phis, the header's apart; what leaves goes to `join`. */
static void copy_edges(Twin *twin, const Block *block, Block *join) {
    Func *func = twin->loops->func;
    Block *copy = twin->blocks[block->order];
    for (size_t s = 0; s < block->succs.len; s++) {
        Block *to = block->succs.data[s];
        vec_push(func->arena, &copy->succs,
                 is_inside(twin->loops, twin->loop, to) && to != join ? twin->blocks[to->order] : join);
    }
    if (block == twin->loop->header) return;
    for (size_t p = 0; p < block->preds.len; p++)
        vec_push(func->arena, &copy->preds, twin->blocks[block->preds.data[p]->order]);
    for (Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next)
        phi_set_args(func, twin->values[phi->id], twins_of(twin, phi->args, phi->nargs), phi->nargs);
}

/* The copy of the loop, its header entered from `guard` with `values`. */
static void copy_loop(Twin *twin, Block *guard, Value *const *values, const Edges *backs, Block *join) {
    const Loops *loops = twin->loops;
    Func *func = loops->func;
    Block *header = twin->loop->header;
    for (size_t b = header->order; b < loops->nblocks; b++) {
        Block *block = func->blocks.data[b];
        if (!is_inside(loops, twin->loop, block)) continue;
        twin->blocks[b] = loop_place_block(twin->loops, twin->loop);
        for (Value *value = block->first; value; value = value->next) copy_value(twin, value, twin->blocks[b]);
    }
    for (size_t b = header->order; b < loops->nblocks; b++)
        if (is_inside(loops, twin->loop, func->blocks.data[b])) copy_edges(twin, func->blocks.data[b], join);
    Block *copy = twin->blocks[header->order];
    block_add_edge(func, guard, copy);
    for (size_t i = 0; i < backs->len; i++)
        vec_push(func->arena, &copy->preds, twin->blocks[backs->data[i].from->order]);
    size_t number = 0;
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next, number++) {
        VEC(Value *) args = {0};
        vec_push(func->arena, &args, values[number]);
        for (size_t i = 0; i < backs->len; i++)
            vec_push(func->arena, &args, twin_of(twin, backs->data[i].args[number]));
        phi_set_args(func, twin->values[phi->id], args.data, args.len);
    }
}

/* ---- behind the loop ---- */

static void use_instead(const Loops *loops, const Loop *loop, const Value *value, Value *instead) {
    for (size_t b = 0; b < loops->func->blocks.len; b++) {
        const Block *block = loops->func->blocks.data[b];
        if (is_inside(loops, loop, block)) continue;
        for (Value *user = block->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == value) user->args[i] = instead;
    }
}

/* Where the two meet: what is used behind them is of the one that ran. */
static Block *add_join(Twin *twin, uint32_t exit) {
    Loops *loops = twin->loops;
    const Loop *loop = twin->loop;
    Func *func = loops->func;
    Block *left = loop->header->succs.data[exit], *join = loop_place_block(loops, loop);
    loop_leave_through(loops, loop, left, join);
    for (Value *phi = loop->header->first; phi->op == OP_PHI; phi = phi->next) {
        if (!loops->escapes[phi->id]) continue;
        Value *either = block_add_phi(func, join, phi->span);
        either->type = phi->type;
        either->name = phi->name;
        use_instead(loops, loop, phi, either);
        phi_set_args(func, either, &phi, 1); /* the twin's, once there is one */
    }
    loop_append(loops, join, OP_JUMP, loop->header->last->span, type_simple(func->types, TY_NONE));
    vec_push(func->arena, &join->succs, left);
    return join;
}

static void complete_join(Twin *twin, Block *join) {
    vec_push(twin->loops->func->arena, &join->preds, twin->blocks[twin->loop->header->order]);
    for (Value *phi = join->first; phi->op == OP_PHI; phi = phi->next)
        phi_set_args(twin->loops->func, phi, (Value *[]){phi->args[0], twin_of(twin, phi->args[0])}, 2);
}

/* ---- all ---- */

/* Whether every round of the loop around comes to this one: its header dominates the ways back. */
static bool always_comes(const Loop *loop, const Loop *around) {
    for (size_t i = 0; i < around->latches.len; i++) {
        const Block *block = around->latches.data[i];
        while (block && block->order > loop->header->order) block = block->idom;
        if (block != loop->header) return false;
    }
    return true;
}

void loop_add_twin(Loops *loops, Loop *loop, Edges *entries, const Edges *backs) {
    if (!loop->parent || !loop->is_natural || loop->inner || loops->count > MOST_LOOPS) return;
    if (loop->latches.data[0]->unroll == 1) return; /* it hardly ever runs: pass versions */
    Value *iterator = loop_own_iterator(loops, loop);
    uint32_t exit = loop_exit_side(loops, loop);
    if (!iterator || exit > 1 || !is_short(loops, loop)) return;

    Func *func = loops->func;
    Twin twin = {.loops = loops,
                 .loop = loop,
                 .known = func->next_value,
                 .values = ARENA_ARRAY(func->arena, Value *, func->next_value),
                 .blocks = ARENA_ARRAY(func->arena, Block *, loops->nblocks)};
    Span span = loop->header->last->span;
    Block *join = add_join(&twin, exit), *guard = loop_lead_to_block(loops, loop, entries);
    Block *look = loop_new_look(loops, loop);
    Value **values = loop_merge_values(loops, loop, guard, entries);
    Value *more = block_append_const(func, guard, span, const_int(func->arena, func->types, 0));
    Value *spent = loop_append_spend_all(loops, loop, guard, iterator, more);
    block_append(func, guard, OP_BRANCH, span, &spent, 1)->type = type_simple(func->types, TY_NONE);
    block_add_edge(func, guard, look);
    copy_loop(&twin, guard, values, backs, join);
    complete_join(&twin, join);

    vec_push(func->arena, &look->succs, loop->header);
    entries->len = 0;
    vec_push(func->arena, entries, (Edge){look, values});
    if (loop->parent->is_natural && !loop->parent->payer && always_comes(loop, loop->parent))
        loop->parent->payer = more;
}
