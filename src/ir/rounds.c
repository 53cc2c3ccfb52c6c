/* rounds.c: a loop of known length over one iterator becomes its rounds, one after the other.
 *
 * In: an untyped function in reverse post-order, the `iter` of a loop, how many items it gives.  Out: `count` copies of
 * the loop's blocks in front of the loop, each of which goes on to the next where the loop went back; the loop itself
 * is left as the round that finds no item.  Each round takes its own item, which may have a type of its own.
 *
 *     entry                      entry
 *       |                          |
 *   +-> header -> exit   becomes   header 0 -> exit      iter_more is True in each round, and False in the loop that
 *   |     |                        body 0                is left: what follows from that is up to inference
 *   +-- body                       header 1 ...
 *
 * What a value of the loop is behind it depends on the round that was left: uses outside look for the definitions from
 * their block upwards, with phis where several ways meet (Braun et al., CC 2013), and trivial phis go. */
#include "ir/ir.h"

enum { MAX_COPIED_VALUES = 1 << 17 };

typedef struct Rounds {
    Func *func;
    Arena *arena;
    Block *header;
    Value *iter;
    uint32_t count, known_values, known_blocks;
    bool *inside; /* by Block.id */
    BlockList body;
    Value ***values; /* by round, by Value.id */
    Block ***blocks; /* by round, by Block.id */
} Rounds;

static bool is_inside(const Rounds *r, const Block *block) {
    return block->id < r->known_blocks && r->inside[block->id];
}

/* Neither of the loop nor of a round. */
static bool is_outside(const Rounds *r, const Block *block) {
    return block->id < r->known_blocks && !r->inside[block->id];
}

/* ---- the loop ---- */

static bool find_blocks(Rounds *r) {
    BlockList work = {0};
    r->inside[r->header->id] = true;
    for (size_t p = 0; p < r->header->preds.len; p++)
        if (r->header->preds.data[p]->order >= r->header->order) vec_push(r->arena, &work, r->header->preds.data[p]);
    while (work.len) {
        Block *block = vec_pop(&work);
        if (r->inside[block->id]) continue;
        if (block->order < r->header->order) return false;
        r->inside[block->id] = true;
        for (size_t p = 0; p < block->preds.len; p++) vec_push(r->arena, &work, block->preds.data[p]);
    }
    for (size_t b = 0; b < r->func->blocks.len; b++)
        if (r->inside[r->func->blocks.data[b]->id]) vec_push(r->arena, &r->body, r->func->blocks.data[b]);
    return !r->inside[r->iter->block->id];
}

/* The loop's header asks the iterator, its body takes from it, and nobody else knows it. */
static bool find_loop(Rounds *r) {
    size_t values = 0;
    for (size_t b = 0; b < r->func->blocks.len; b++)
        for (Value *value = r->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (value->args[i] != r->iter) continue;
                if (value->op == OP_ITER_MORE ? r->header != NULL : value->op != OP_ITER_TAKE) return false;
                if (value->op == OP_ITER_MORE) r->header = value->block;
            }
    if (!r->header || !find_blocks(r)) return false;
    for (size_t b = 0; b < r->func->blocks.len; b++) {
        const Block *block = r->func->blocks.data[b];
        for (const Value *value = block->first; value; value = value->next) {
            values += r->inside[block->id];
            if (value->op == OP_ITER_TAKE && value->args[0] == r->iter && !r->inside[block->id]) return false;
        }
    }
    return values * r->count <= MAX_COPIED_VALUES;
}

/* ---- the rounds ---- */

static Value *in_round(const Rounds *r, uint32_t round, Value *value) {
    Value *copy = value->id < r->known_values ? r->values[round][value->id] : NULL;
    return copy ? copy : value;
}

static void add_operand(Rounds *r, Value *phi, Value *operand) {
    Value **args = ARENA_ARRAY(r->arena, Value *, phi->nargs + 1);
    for (uint32_t i = 0; i < phi->nargs; i++) args[i] = phi->args[i];
    args[phi->nargs] = operand;
    phi_set_args(r->func, phi, args, phi->nargs + 1);
}

static void copy_values(Rounds *r, uint32_t round) {
    r->values[round] = ARENA_ARRAY(r->arena, Value *, r->known_values);
    r->blocks[round] = ARENA_ARRAY(r->arena, Block *, r->known_blocks);
    for (size_t b = 0; b < r->body.len; b++) {
        const Block *block = r->body.data[b];
        Block *copy = r->blocks[round][block->id] = block_new(r->func);
        copy->unwinds = block->unwinds;
        for (const Value *value = block->first; value; value = value->next)
            r->values[round][value->id] = block_append_copy(r->func, copy, value, value->args);
    }
}

/* A predecessor more, a copy of `like`, which is one that often already before `nth`. */
static void add_pred(Rounds *r, uint32_t round, Block *to, Block *like, size_t nth, Block *copy) {
    size_t at = 0;
    while (to->preds.data[at] != like || nth--) at++;
    for (Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
        add_operand(r, phi, in_round(r, round, phi->args[at]));
    vec_push(r->arena, &to->preds, copy);
}

/* The edge from a block of the loop to its header, as the copy has it: to the next round. */
static void link_next(Rounds *r, uint32_t round, Block *block, size_t nth) {
    Block *header = r->header, *copy = r->blocks[round][block->id];
    if (round + 1 == r->count) {
        add_pred(r, round, header, block, nth, copy);
        vec_push(r->arena, &copy->succs, header);
        return;
    }
    Block *next = r->blocks[round + 1][header->id];
    size_t at = 0;
    while (header->preds.data[at] != block || nth--) at++;
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next)
        add_operand(r, r->values[round + 1][phi->id], in_round(r, round, phi->args[at]));
    vec_push(r->arena, &next->preds, copy);
    vec_push(r->arena, &copy->succs, next);
}

static void link_successors(Rounds *r, uint32_t round, Block *block) {
    Block *copy = r->blocks[round][block->id];
    for (size_t s = 0; s < block->succs.len; s++) {
        Block *to = block->succs.data[s];
        size_t nth = 0;
        for (size_t before = 0; before < s; before++) nth += block->succs.data[before] == to;
        if (to == r->header) {
            link_next(r, round, block, nth);
        } else if (is_inside(r, to)) {
            vec_push(r->arena, &copy->succs, r->blocks[round][to->id]);
        } else {
            add_pred(r, round, to, block, nth, copy);
            vec_push(r->arena, &copy->succs, to);
        }
    }
}

static void link_round(Rounds *r, uint32_t round) {
    for (size_t b = 0; b < r->body.len; b++) {
        Block *block = r->body.data[b], *copy = r->blocks[round][block->id];
        for (Value *value = copy->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs && value->op != OP_PHI; i++)
                value->args[i] = in_round(r, round, value->args[i]);
        if (block != r->header) {
            for (size_t p = 0; p < block->preds.len; p++)
                vec_push(r->arena, &copy->preds, r->blocks[round][block->preds.data[p]->id]);
            for (Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next)
                for (uint32_t i = 0; i < phi->nargs; i++)
                    add_operand(r, r->values[round][phi->id], in_round(r, round, phi->args[i]));
        }
        link_successors(r, round, block);
    }
}

/* The ways into the loop lead to its first round; what the loop is left with are its own ways back and the last
 * round's. */
static void move_entries(Rounds *r) {
    Block *header = r->header, *first = r->blocks[0][header->id];
    BlockList stay = {0};
    for (size_t p = 0; p < header->preds.len; p++) {
        Block *from = header->preds.data[p];
        if (!is_outside(r, from)) {
            vec_push(r->arena, &stay, from);
            continue;
        }
        vec_push(r->arena, &first->preds, from);
        for (size_t s = 0; s < from->succs.len; s++)
            if (from->succs.data[s] == header) from->succs.data[s] = first;
    }
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next) {
        VEC(Value *) own = {0};
        for (uint32_t i = 0; i < phi->nargs; i++) {
            if (!is_outside(r, header->preds.data[i]))
                vec_push(r->arena, &own, phi->args[i]);
            else
                add_operand(r, r->values[0][phi->id], phi->args[i]);
        }
        phi_set_args(r->func, phi, own.data, own.len);
    }
    header->preds = stay;
}

/* ---- uses behind the loop ---- */

typedef struct Search {
    Rounds *rounds;
    Value *value;      /* of the loop */
    Value **at_end;    /* by Block.id: what it is at the block's end, where that is known */
    VEC(Value *) work; /* phis without operands */
} Search;

static Value *find_value(Search *s, Block *block) {
    Block *at = block;
    while (!s->at_end[at->id] && at->preds.len == 1) at = at->preds.data[0];
    if (!s->at_end[at->id]) {
        Value *phi = s->at_end[at->id] = block_add_phi(s->rounds->func, at, s->value->span);
        phi->name = s->value->name;
        vec_push(s->rounds->arena, &s->work, phi);
    }
    return s->at_end[block->id] = s->at_end[at->id];
}

/* The block at whose end a user wants its operand, if that is outside; NULL: the operand is right as it is. */
static Block *use_outside(const Rounds *r, const Value *user, uint32_t operand) {
    Block *block = user->block, *at = user->op == OP_PHI ? block->preds.data[operand] : block;
    return is_outside(r, block) && is_outside(r, at) ? at : NULL;
}

static void lead_uses(Search *s) {
    Rounds *r = s->rounds;
    for (size_t b = 0; b < r->func->blocks.len; b++)
        for (Value *user = r->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                Block *at = user->args[i] == s->value ? use_outside(r, user, i) : NULL;
                if (at) user->args[i] = find_value(s, at);
            }
    while (s->work.len) {
        Value *phi = vec_pop(&s->work);
        for (size_t p = 0; p < phi->block->preds.len; p++)
            add_operand(r, phi, find_value(s, phi->block->preds.data[p]));
    }
}

static void lead_all_uses(Rounds *r) {
    bool *outside = ARENA_ARRAY(r->arena, bool, r->func->next_value);
    for (size_t b = 0; b < r->func->blocks.len; b++)
        for (Value *user = r->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) outside[user->args[i]->id] |= use_outside(r, user, i) != NULL;
    for (size_t b = 0; b < r->body.len; b++)
        for (Value *value = r->body.data[b]->first; value; value = value->next) {
            if (value->id >= r->known_values || !outside[value->id]) continue;
            Search search = {r, value, ARENA_ARRAY(r->arena, Value *, r->func->next_block), {0}};
            search.at_end[value->block->id] = value;
            for (uint32_t i = 0; i < r->count; i++)
                search.at_end[r->blocks[i][value->block->id]->id] = r->values[i][value->id];
            lead_uses(&search);
        }
}

/* ---- items ---- */

static void answer(Rounds *r, Value *asks, bool more) {
    asks->op = OP_CONST;
    asks->nargs = 0;
    asks->konst = const_bool(r->arena, r->func->types, more);
    asks->type = asks->konst->type;
}

static void give_items(Rounds *r, RoundItem *item) {
    for (size_t b = 0; b < r->body.len; b++)
        for (Value *value = r->body.data[b]->first; value; value = value->next) {
            if (!value->nargs || value->args[0] != r->iter) continue;
            bool asks = value->op == OP_ITER_MORE;
            for (uint32_t i = 0; i <= r->count; i++) {
                Value *copy = i < r->count ? r->values[i][value->id] : value;
                if (asks)
                    answer(r, copy, i < r->count);
                else
                    item(r->func, copy, r->iter->args[0], i);
            }
        }
    value_remove(r->iter);
}

bool func_make_rounds(Func *func, Value *iter, uint32_t count, RoundItem *item) {
    Rounds rounds = {.func = func, .arena = func->arena, .iter = iter, .count = count};
    rounds.known_values = func->next_value;
    rounds.known_blocks = func->next_block;
    rounds.inside = ARENA_ARRAY(func->arena, bool, func->next_block);
    TRY(find_loop(&rounds));
    rounds.values = ARENA_ARRAY(func->arena, Value **, count);
    rounds.blocks = ARENA_ARRAY(func->arena, Block **, count);
    for (uint32_t i = 0; i < count; i++) copy_values(&rounds, i);
    for (uint32_t i = 0; i < count; i++) link_round(&rounds, i);
    if (count) move_entries(&rounds);
    lead_all_uses(&rounds);
    give_items(&rounds, item);
    func_remove_trivial_phis(func);
    return true;
}
