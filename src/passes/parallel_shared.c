/* parallel_shared.c: whether iterations of a loop over prange change what others read or change.
 *
 * In: the blocks of an iteration.  Out: a store to an array from outside the loop, at a place that is not this
 * iteration's alone, where the loop also reads that array: h[k[i]] += 1, t += x[i].  Iterations that run at once would
 * lose what others add, so such a loop stays on one core, in order, unless the array is a reduction
 * (parallel_privates.c).
 *
 * The same holds of lists, dicts, sets and objects within what lies outside, and of the stream of a Generator, from
 * which numbers are drawn in order.
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

static bool lies_outside(const Shared *shared, const Value *value, unsigned depth);

/* A call may give what lies in its arguments: an item of a dict. */
static bool gives_of_outside(const Shared *shared, const Value *call, unsigned depth) {
    bool outside = false;
    for (uint32_t i = 0; i < call->nargs; i++) {
        const Type *type = call->args[i]->type;
        if (moves(shared, call->args[i])) return false;
        if (type->kind == TY_LIST || type_is_table(type) || type_is_shared(type))
            outside |= lies_outside(shared, call->args[i], depth);
    }
    return outside;
}

/* Whether a list, dict, set or object lies within what is outside the loop, at a place that is not this iteration's. */
static bool lies_outside(const Shared *shared, const Value *value, unsigned depth) {
    enum { DEEP = 16 };
    if (!loop_has(shared->loop, value)) return value != shared->loop->iter;
    if (depth == DEEP) return true;
    switch (value->op) {
    case OP_GETITEM: return !moves(shared, value->args[1]) && lies_outside(shared, value->args[0], depth + 1);
    case OP_CALL_INST: return gives_of_outside(shared, value, depth + 1);
    case OP_CALL_FUNC:
        return value_calls(value, FUNC_LIST_GET) && !moves(shared, value->args[1]) &&
               lies_outside(shared, value->args[0], depth + 1);
    case OP_CAST:
    case OP_EXTRACT:
    case OP_GETATTR: return lies_outside(shared, value->args[0], depth + 1);
    case OP_PHI:
        for (uint32_t i = 0; i < value->nargs; i++)
            if (lies_outside(shared, value->args[i], depth + 1)) return true;
        return false;
    default: return false;
    }
}

static bool meets_others(const Shared *shared, const Value *value) {
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Type *type = value->args[i]->type;
        bool draws = type && type->kind == TY_RANDOM && value->op != OP_GETATTR;
        bool changes = !draws && loop_has(shared->loop, value->args[i]) && parallel_changes_list(value, i);
        if ((draws || changes) && lies_outside(shared, value->args[i], 0)) return true; /* else parallel_outline.c */
    }
    return false;
}

const Value *parallel_find_shared(ParallelLoop *loop) {
    Shared shared = {loop, item_of(loop)};
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next) {
            if (meets_others(&shared, value)) return value;
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
