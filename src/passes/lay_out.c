/* lay_out.c: which loops of known length are laid out whole, round after round.
 *
 * In: a typed function for a GPU.  Out: Block.unroll of the block that ends a round of such a loop.  A loop is if that
 * makes no more values than a few hundred, or some thousands where the place in a local array follows from the round:
 * such an array can then live in registers, else it lies in memory.  Loops inside count with all their rounds; inner
 * ones come first. */
#include <string.h> /* memset */

#include "passes/private.h"

enum { MOST_ROUNDS = 128, MOST_VALUES = 500, MOST_VALUES_IN_REGISTERS = 8000 };

typedef struct Counting {
    Func *func;
    Arena *arena;
    uint64_t *sizes; /* by Block.id: values of a block, of all rounds if a loop that is laid out begins there */
    uint32_t *loop;  /* by Block.id: the number of the last loop that was seen to hold it */
    bool *follows;   /* by Value.id: it follows from the round */
    uint32_t number;
    BlockList body;
} Counting;

/* Rounds of a range of constants; 0: not known, or too many. */
static uint32_t rounds_of(const Block *header) {
    const Value *more = header->last->op == OP_BRANCH ? header->last->args[0] : NULL;
    if (!more || more->op != OP_ITER_MORE || more->args[0]->op != OP_ITER) return 0;
    const Value *range = more->args[0]->args[0];
    if (!value_calls(range, FUNC_RANGE) || range->nargs != 3) return 0;
    for (uint32_t i = 0; i < 3; i++)
        if (!range->args[i]->konst || !type_is_integer(range->args[i]->konst->type)) return 0;
    int64_t start = range->args[0]->konst->i, stop = range->args[1]->konst->i, step = range->args[2]->konst->i;
    if (step < 0) {
        int64_t swap = start;
        start = stop, stop = swap;
        if (step == INT64_MIN) return 0;
        step = -step;
    }
    if (step == 0 || start >= stop || (uint64_t)stop - (uint64_t)start > (uint64_t)step * MOST_ROUNDS) return 0;
    return (uint32_t)((stop - start + step - 1) / step);
}

static void add_block(Counting *c, Block *block) {
    if (c->loop[block->id] == c->number) return;
    c->loop[block->id] = c->number;
    vec_push(c->arena, &c->body, block);
}

/* The blocks of the loop: what reaches an edge back without passing the header. */
static bool find_body(Counting *c, Block *header) {
    c->body.len = 0;
    c->number++;
    for (size_t p = 0; p < header->preds.len; p++)
        if (header->preds.data[p]->order >= header->order) {
            add_block(c, header);
            add_block(c, header->preds.data[p]);
        }
    for (size_t i = 0; i < c->body.len; i++)
        for (size_t p = 0; c->body.data[i] != header && p < c->body.data[i]->preds.len; p++)
            add_block(c, c->body.data[i]->preds.data[p]);
    return c->body.len > 0;
}

static bool is_local_array(const Value *value) {
    while (value->op == OP_CAST) value = value->args[0];
    return value_calls(value, FUNC_CUDA_LOCAL_ARRAY);
}

/* Whether the place of an access to a local array follows from what the loop's iterator gives. */
static bool indexes_local_array(Counting *c, const Value *iterator) {
    memset(c->follows, 0, c->func->next_value * sizeof *c->follows);
    for (unsigned pass = 0; pass < 2; pass++) /* phis may stand before what they join */
        for (size_t b = 0; b < c->func->blocks.len; b++) {
            const Block *block = c->func->blocks.data[b];
            if (c->loop[block->id] != c->number) continue;
            for (const Value *value = block->first; value; value = value->next) {
                bool follows = value->op == OP_ITER_TAKE && value->args[0] == iterator;
                for (uint32_t i = 0; i < value->nargs; i++) follows |= c->follows[value->args[i]->id];
                bool access = value->op == OP_GETITEM || value->op == OP_SETITEM;
                if (access && c->follows[value->args[1]->id] && is_local_array(value->args[0])) return true;
                c->follows[value->id] = follows && value->op != OP_GETITEM;
            }
        }
    return false;
}

static void weigh_loop(Counting *c, Block *header) {
    uint32_t rounds = rounds_of(header);
    if (!rounds || !find_body(c, header)) return;
    uint64_t size = 0;
    for (size_t i = 0; i < c->body.len; i++) size += c->sizes[c->body.data[i]->id];
    size *= rounds;
    bool local = indexes_local_array(c, header->last->args[0]->args[0]);
    if (size > (local ? MOST_VALUES_IN_REGISTERS : MOST_VALUES)) return;
    for (size_t i = 0; i < c->body.len; i++)
        for (size_t s = 0; s < c->body.data[i]->succs.len; s++)
            if (c->body.data[i]->succs.data[s] == header) {
                c->body.data[i]->unroll = (uint8_t)rounds;
                c->body.data[i]->unroll_whole = true;
            }
    for (size_t i = 0; i < c->body.len; i++) c->sizes[c->body.data[i]->id] = 0;
    c->sizes[header->id] = size;
}

bool pass_lay_out(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    Arena *arena = program->arena;
    func_compute_order(func);
    Counting c = {.func = func,
                  .arena = arena,
                  .sizes = ARENA_ARRAY(arena, uint64_t, func->next_block),
                  .loop = ARENA_ARRAY(arena, uint32_t, func->next_block),
                  .follows = ARENA_ARRAY(arena, bool, func->next_value)};
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            c.sizes[func->blocks.data[b]->id]++;
    for (size_t b = func->blocks.len; b-- > 0;) weigh_loop(&c, func->blocks.data[b]);
    return true;
}
