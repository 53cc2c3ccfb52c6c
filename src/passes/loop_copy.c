/* loop_copy.c: makes a loop exist twice, behind a guard that chooses, or puts the guard alone before it (loop_copy.h).
 *
 *     entries                 entries
 *        |                       |
 *   +-> header -> exit         guard
 *   |    |             becomes   |  \
 *   +-- body                   enter copy
 *                                |    |
 *                        header -+    +- header'
 *                           ...  \   /  ...
 *                                 join
 *                                  |
 *                                 exit
 *
 * Every block outside that the loop goes to gets a block before it, where both loops meet; a value of the loop that is
 * used behind it is used there as a phi.  Iterators that the loop alone asks are made anew for each of the two. */
#include "passes/loop_copy.h"

typedef struct Exit {
    Block *to, *join;
    bool alone; /* nothing else leads there */
} Exit;

typedef struct Copying {
    Func *func;
    Arena *arena;
    Block *header, *latch;
    Block *entry;   /* the block before the loop */
    BlockList body; /* the loop's blocks */
    Block **copies; /* by Block.id */
    Value **values; /* by Value.id */
    uint32_t known_blocks, known_values;
    VEC(Exit) exits;
    VEC(Value *) iterators; /* made in the block before the loop, for it alone, and what they are made of */
    Value **stand_ins;
    uint32_t known_stand_ins;
} Copying;

static bool is_inside(const Copying *c, const Block *block) { return loop_has(c->header, block); }

/* ---- what can be copied ---- */

static void find_exits(Copying *c) {
    for (size_t b = 0; b < c->body.len; b++) {
        const Block *block = c->body.data[b];
        for (size_t s = 0; s < block->succs.len; s++) {
            Block *to = block->succs.data[s];
            bool seen = is_inside(c, to);
            for (size_t e = 0; e < c->exits.len; e++) seen |= c->exits.data[e].to == to;
            if (seen) continue;
            Exit exit = {.to = to, .alone = true};
            for (size_t p = 0; p < to->preds.len; p++) exit.alone &= is_inside(c, to->preds.data[p]);
            vec_push(c->arena, &c->exits, exit);
        }
    }
}

/* The exit behind which the value is used at a block; NULL: there is none of which that is sure. */
static Exit *exit_before(const Copying *c, const Value *value, const Block *at) {
    for (size_t e = 0; e < c->exits.len; e++) {
        Exit *exit = &c->exits.data[e];
        bool fits = exit->alone && block_dominates(exit->to, at);
        for (size_t p = 0; fits && p < exit->to->preds.len; p++) {
            const Block *from = exit->to->preds.data[p];
            fits = !is_inside(c, from) || block_dominates(value->block, from);
        }
        if (fits) return exit;
    }
    return NULL;
}

static const Block *use_block(const Value *user, uint32_t index) {
    return user->op == OP_PHI ? user->block->preds.data[index] : user->block;
}

static bool uses_can_be_led(const Copying *c) {
    for (size_t b = 0; b < c->func->blocks.len; b++) {
        const Block *block = c->func->blocks.data[b];
        if (is_inside(c, block)) continue;
        for (const Value *user = block->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                const Value *used = user->args[i];
                if (!is_inside(c, used->block)) continue;
                if (used->type->kind == TY_ITER) return false;
                const Block *at = use_block(user, i);
                if (!is_inside(c, at) && !exit_before(c, used, at)) return false;
            }
    }
    return true;
}

/* Uses of a value, and how many of them stand outside of the loop. */
static size_t count_uses(const Copying *c, const Value *value, size_t *outside) {
    size_t count = 0;
    for (size_t b = 0; b < c->func->blocks.len; b++)
        for (const Value *user = c->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                if (user->args[i] != value) continue;
                count++;
                *outside += !is_inside(c, user->block);
            }
    return count;
}

/* Made in the block before the loop for the loop alone, and so is what it is made of: ITER, or enumerate, zip ... */
static bool find_iterator(Copying *c, Value *value, const Block *entry, bool part) {
    for (size_t i = 0; i < c->iterators.len; i++)
        if (c->iterators.data[i] == value) return !part;
    size_t outside = 0, uses = count_uses(c, value, &outside);
    if (value->block != entry || value->flags & VF_SHARED || (part ? uses != 1 : outside != 0)) return false;
    if (value->op != OP_ITER && value->op != OP_CALL_FUNC) return false;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (value->args[i]->type->kind == TY_ITER && !find_iterator(c, value->args[i], entry, true)) return false;
    vec_push(c->arena, &c->iterators, value);
    return true;
}

static bool find_iterators(Copying *c, const Block *entry) {
    for (size_t b = 0; b < c->body.len; b++)
        for (const Value *value = c->body.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                Value *arg = value->args[i];
                if (arg->type->kind == TY_ITER && !is_inside(c, arg->block) && !find_iterator(c, arg, entry, false))
                    return false;
            }
    return true;
}

/* The one way in, which nothing unwinds from; the loop's blocks and iterators besides. */
static bool can_guard(Copying *c) {
    Block *entry = NULL;
    for (size_t p = 0; p < c->header->preds.len; p++) {
        Block *from = c->header->preds.data[p];
        if (is_inside(c, from) ? from != c->latch : entry != NULL) return false;
        if (!is_inside(c, from)) entry = from;
    }
    c->entry = entry;
    if (!entry || entry->unwinds) return false;
    for (size_t b = 0; b < c->func->blocks.len; b++)
        if (is_inside(c, c->func->blocks.data[b])) vec_push(c->arena, &c->body, c->func->blocks.data[b]);
    return find_iterators(c, entry);
}

static bool can_copy(Copying *c) {
    TRY(can_guard(c));
    for (size_t b = 0; b < c->body.len; b++)
        if (c->body.data[b]->unwinds) return false;
    find_exits(c);
    return uses_can_be_led(c);
}

/* ---- where both meet ---- */

static Value *add_phi_like(Copying *c, Block *block, const Value *like) {
    Value *phi = block_add_phi(c->func, block, like->span);
    phi->type = like->type;
    phi->name = like->name;
    return phi;
}

/* The edges from the loop to exit->to lead through exit->join from now on, which takes the place of the first of them:
 * the operands of phis stay in their order. */
static void add_join(Copying *c, Exit *exit) {
    Block *to = exit->to, *join = exit->join = block_new(c->func);
    BlockList preds = {0};
    for (size_t p = 0; p < to->preds.len; p++) {
        Block *from = to->preds.data[p];
        if (!is_inside(c, from) || !join->preds.len) vec_push(c->arena, &preds, is_inside(c, from) ? join : from);
        if (is_inside(c, from)) vec_push(c->arena, &join->preds, from);
    }
    for (Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) {
        VEC(Value *) own = {0}, all = {0};
        Value *met = add_phi_like(c, join, phi);
        for (size_t p = 0; p < to->preds.len; p++) {
            bool inside = is_inside(c, to->preds.data[p]);
            if (!inside || !own.len) vec_push(c->arena, &all, inside ? met : phi->args[p]);
            if (inside) vec_push(c->arena, &own, phi->args[p]);
        }
        phi_set_args(c->func, met, own.data, own.len);
        phi_set_args(c->func, phi, all.data, all.len);
    }
    for (size_t p = 0; p < join->preds.len; p++) {
        BlockList *succs = &join->preds.data[p]->succs;
        for (size_t s = 0; s < succs->len; s++)
            if (succs->data[s] == to) succs->data[s] = join;
    }
    to->preds = preds;
    block_append(c->func, join, OP_JUMP, c->header->last->span, NULL, 0)->type = type_simple(c->func->types, TY_NONE);
    vec_push(c->arena, &join->succs, to);
}

/* A value of the loop as it is behind an exit. */
static Value *behind(Copying *c, Exit *exit, Value *value) {
    for (Value *phi = exit->join->first; phi && phi->op == OP_PHI; phi = phi->next) {
        bool same = true;
        for (uint32_t i = 0; i < phi->nargs; i++) same &= phi->args[i] == value;
        if (same) return phi;
    }
    Value *phi = add_phi_like(c, exit->join, value);
    VEC(Value *) args = {0};
    for (size_t p = 0; p < exit->join->preds.len; p++) vec_push(c->arena, &args, value);
    phi_set_args(c->func, phi, args.data, args.len);
    return phi;
}

typedef struct Led { /* operands that are a phi behind the loop */
    Value *user, *value;
    const Block *at; /* where it is used: of a phi, the block that it comes from */
    Exit *exit;
} Led;

/* Phis of exits have lost operands since the uses were found. */
static void lead(Copying *c, const Led *use) {
    Value *instead = behind(c, use->exit, use->value);
    for (uint32_t i = 0; i < use->user->nargs; i++)
        if (use->user->args[i] == use->value && use_block(use->user, i) == use->at) use->user->args[i] = instead;
    if (use->value->id < c->known_stand_ins) c->stand_ins[use->value->id] = instead;
}

/* The uses behind the loop, before anything changes. */
static void lead_uses(Copying *c) {
    VEC(Led) led = {0};
    for (size_t b = 0; b < c->func->blocks.len; b++) {
        const Block *block = c->func->blocks.data[b];
        if (is_inside(c, block)) continue;
        for (Value *user = block->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                const Block *at = use_block(user, i);
                if (is_inside(c, user->args[i]->block) && !is_inside(c, at))
                    vec_push(c->arena, &led, (Led){user, user->args[i], at, exit_before(c, user->args[i], at)});
            }
    }
    for (size_t e = 0; e < c->exits.len; e++) add_join(c, &c->exits.data[e]);
    for (size_t i = 0; i < led.len; i++) lead(c, &led.data[i]);
}

/* ---- the copy ---- */

static Value *copy_of(const Copying *c, Value *value) {
    Value *copy = value->id < c->known_values ? c->values[value->id] : NULL;
    return copy ? copy : value;
}

static Value **copies_of(const Copying *c, const Value *value) {
    Value **copies = ARENA_ARRAY(c->arena, Value *, value->nargs);
    for (uint32_t i = 0; i < value->nargs; i++) copies[i] = copy_of(c, value->args[i]);
    return copies;
}

static void copy_value(Copying *c, Value *value, Block *block) {
    Value **args = value->op == OP_PHI ? NULL : copies_of(c, value);
    c->values[value->id] = block_append_copy(c->func, block, value, args);
}

static Block *to_copy(const Copying *c, Block *block) {
    return block->id < c->known_blocks && c->copies[block->id] ? c->copies[block->id] : block;
}

static void copy_edges(Copying *c, const Block *block) {
    Block *copy = c->copies[block->id];
    for (size_t s = 0; s < block->succs.len; s++) {
        if (block->succs.data[s]->order <= block->order) copy->unroll = 1;
        vec_push(c->arena, &copy->succs, to_copy(c, block->succs.data[s]));
    }
    for (size_t p = 0; p < block->preds.len; p++) vec_push(c->arena, &copy->preds, to_copy(c, block->preds.data[p]));
    for (Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next)
        phi_set_args(c->func, c->values[phi->id], copies_of(c, phi), phi->nargs);
}

static void copy_body(Copying *c) {
    for (size_t b = 0; b < c->body.len; b++) {
        Block *block = c->body.data[b];
        c->copies[block->id] = block_new(c->func);
        for (Value *value = block->first; value; value = value->next) copy_value(c, value, c->copies[block->id]);
    }
    for (size_t b = 0; b < c->body.len; b++) copy_edges(c, c->body.data[b]);
    for (size_t e = 0; e < c->exits.len; e++) {
        Block *join = c->exits.data[e].join;
        size_t count = join->preds.len;
        for (size_t p = 0; p < count; p++) vec_push(c->arena, &join->preds, c->copies[join->preds.data[p]->id]);
        for (Value *phi = join->first; phi && phi->op == OP_PHI; phi = phi->next) {
            VEC(Value *) args = {0};
            for (size_t p = 0; p < count; p++) vec_push(c->arena, &args, phi->args[p]);
            for (size_t p = 0; p < count; p++) vec_push(c->arena, &args, copy_of(c, phi->args[p]));
            phi_set_args(c->func, phi, args.data, args.len);
        }
    }
}

/* ---- the ways in ---- */

static void put_instead(Block *block, const Block *before, Block *instead) {
    for (size_t p = 0; p < block->preds.len; p++)
        if (block->preds.data[p] == before) block->preds.data[p] = instead;
}

/* An iterator of its own for each loop, and the range that it counts, so that what the guard has checked is known of
 * them.  twice: for the copy, too. */
static void make_iterators(Copying *c, const TwoLoops *loops, bool twice) {
    for (size_t i = 0; i < c->iterators.len; i++) {
        Value *iterator = c->iterators.data[i], *over = iterator->args[0];
        bool makes_range = iterator->op == OP_ITER && over->op == OP_CALL_FUNC && over->type->kind == TY_RANGE &&
                           over->block == iterator->block;
        if (makes_range && twice) copy_value(c, over, loops->copy);
        if (twice) copy_value(c, iterator, loops->copy);
        if (makes_range) {
            Value *again = block_append(c->func, loops->enter, over->op, over->span, over->args, over->nargs);
            again->type = over->type;
            again->flags = over->flags;
            again->imm = over->imm;
            iterator->args[0] = again;
        }
        value_remove(iterator);
        iterator->block = loops->enter;
        block_put_last(loops->enter, iterator);
    }
}

static void append_jump(Copying *c, Block *from, Block *to) {
    Value *jump = block_append(c->func, from, OP_JUMP, c->header->last->span, NULL, 0);
    jump->type = type_simple(c->func->types, TY_NONE);
    vec_push(c->arena, &from->succs, to);
}

static void add_guard(Copying *c, TwoLoops *loops, bool twice) {
    *loops = (TwoLoops){block_new(c->func), block_new(c->func), block_new(c->func)};
    for (size_t s = 0; s < c->entry->succs.len; s++)
        if (c->entry->succs.data[s] == c->header) c->entry->succs.data[s] = loops->guard;
    vec_push(c->arena, &loops->guard->preds, c->entry);
    make_iterators(c, loops, twice);
    if (twice) copy_body(c);
    put_instead(c->header, c->entry, loops->enter);
    append_jump(c, loops->enter, c->header);
    if (!twice) return;
    put_instead(c->copies[c->header->id], c->entry, loops->copy);
    append_jump(c, loops->copy, c->copies[c->header->id]);
}

bool loop_copy(Func *func, BackEdge edge, Value **stand_ins, uint32_t known, TwoLoops *loops) {
    Copying c = {.func = func,
                 .arena = func->arena,
                 .header = edge.header,
                 .latch = edge.latch,
                 .known_blocks = func->next_block,
                 .known_values = func->next_value,
                 .copies = ARENA_ARRAY(func->arena, Block *, func->next_block),
                 .values = ARENA_ARRAY(func->arena, Value *, func->next_value),
                 .stand_ins = stand_ins,
                 .known_stand_ins = known};
    if (!can_copy(&c)) return false;
    lead_uses(&c);
    c.known_values = func->next_value;
    c.values = ARENA_ARRAY(func->arena, Value *, func->next_value);
    c.known_blocks = func->next_block;
    c.copies = ARENA_ARRAY(func->arena, Block *, func->next_block);
    add_guard(&c, loops, true);
    return true;
}

bool loop_guard(Func *func, BackEdge edge, TwoLoops *loops) {
    Copying c = {.func = func, .arena = func->arena, .header = edge.header, .latch = edge.latch};
    TRY(can_guard(&c));
    add_guard(&c, loops, false);
    return true;
}
