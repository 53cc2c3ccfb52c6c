/* parallel_shared.c: whether iterations of a loop over prange change what others read.
 *
 * In: the blocks of an iteration.  Out: a store to an array from outside the loop, at a place that is not this
 * iteration's alone, where the loop also reads that array: h[k[i]] += 1, t += x[i].  Iterations that run at once would
 * lose what others add, so such a loop stays on one core, in order, unless the array is a reduction
 * (parallel_privates.c).
 *
 * A place is an iteration's own if an index on the way to it moves with the iteration: i, i + 1, 2 * i, (i, j), a slice
 * of such.  An index that is looked up, k[i], may be another's too. */
#include "passes/parallel.h"

typedef struct Shared {
    const ParallelLoop *loop;
    const Value *item; /* of the range: what this iteration takes */
} Shared;

static bool is_array(const Value *value) { return value->type && value->type->kind == TY_ARRAY; }

static const Value *item_of(const ParallelLoop *loop) {
    for (const Value *value = loop->body->first; value; value = value->next)
        if (value->op == OP_ITER_TAKE && value->args[0] == loop->iter) return value;
    return NULL;
}

static bool moves(const Shared *shared, const Value *index);

static bool any_moves(const Shared *shared, const Value *value) {
    for (uint32_t i = 0; i < value->nargs; i++)
        if (moves(shared, value->args[i])) return true;
    return false;
}

/* Whether an index is another one in each iteration; of a tuple or a slice, whether a part of it is. */
static bool moves(const Shared *shared, const Value *index) {
    if (index == shared->item) return true;
    if (!loop_has(shared->loop, index)) return false;
    switch (index->op) {
    case OP_CAST:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_TUPLE:
    case OP_SLICE: return any_moves(shared, index);
    default: return false;
    }
}

/* What an array is a view on; *own: an index on the way moves with the iteration. */
static const Value *root_of(const Shared *shared, const Value *array, bool *own) {
    while (loop_has(shared->loop, array) && array->nargs > 0 && is_array(array->args[0])) {
        if (array->op != OP_GETITEM && array->op != OP_VIEW && array->op != OP_CAST && array->op != OP_GETATTR) break;
        if (array->op == OP_GETITEM && moves(shared, array->args[1])) *own = true;
        array = array->args[0];
    }
    return array;
}

/* The array from outside that a store changes at places that are not this iteration's; NULL: none. */
static const Value *stored(const Shared *shared, const Value *store, const Value *array) {
    bool own = store->op == OP_SETITEM && moves(shared, store->args[1]);
    const Value *root = root_of(shared, array, &own);
    return own || loop_has(shared->loop, root) || !is_array(root) ? NULL : root;
}

static bool reads(const Shared *shared, const Value *value, const Value *root) {
    bool own = false;
    uint32_t from = value->op == OP_MAP ? (uint32_t)value->imm.i : 0;
    uint32_t to = value->op == OP_MAP ? value->nargs : value->op == OP_GETITEM ? 1 : 0;
    if (value->op == OP_GETITEM && is_array(value)) return false; /* a view: who reads it is asked */
    for (uint32_t i = from; i < to; i++)
        if (is_array(value->args[i]) && root_of(shared, value->args[i], &own) == root) return true;
    return false;
}

static bool is_read(const Shared *shared, const Value *root) {
    const ParallelLoop *loop = shared->loop;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            if (reads(shared, value, root)) return true;
    return false;
}

static bool is_private(const ParallelLoop *loop, const Value *root) {
    for (size_t i = 0; i < loop->privates.len; i++)
        if (loop->privates.data[i].array == root) return true;
    return false;
}

const Value *parallel_find_shared(ParallelLoop *loop) {
    Shared shared = {loop, item_of(loop)};
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next) {
            if (value->op != OP_SETITEM && value->op != OP_MAP) continue;
            uint32_t count = value->op == OP_MAP ? (uint32_t)value->imm.i : 1;
            for (uint32_t i = 0; i < count; i++) {
                const Value *root = stored(&shared, value, value->args[i]);
                if (!root || is_private(loop, root) || !is_read(&shared, root)) continue;
                if (!parallel_make_private(loop, root)) return value;
            }
        }
    return NULL;
}
