/* barrier_values.c: which values are the same for all threads of a block, and which are found again where they are
 * needed.
 *
 * In: a kernel with the places where its threads are together.  Out: Split.varies and local; what regions need.
 *
 * A value is common to the threads unless something makes it vary: the place of a thread, what memory holds, what is
 * computed where threads are apart, a phi of ways that may not be theirs all.  All values begin as common, and what
 * varies spreads to who uses it, until nothing changes.  Common is also an iterator over a common range that moves on
 * where all threads are together only: the block has one of them. */
#include "passes/barriers.h"

enum { CHEAP_STEPS = 12 }; /* operations that a value found again may take */

/* What a thread knows of its place. */
static const FuncId thread_places[] = {FUNC_CUDA_GRID,        FUNC_CUDA_THREADIDX_X, FUNC_CUDA_THREADIDX_Y,
                                       FUNC_CUDA_THREADIDX_Z, FUNC_CUDA_LANEID,      FUNC_CUDA_LANEMASK_LT};
/* What a block knows, though they do not only compute. */
static const FuncId block_facts[] = {
    FUNC_CUDA_GRIDSIZE,   FUNC_CUDA_BLOCKIDX_X, FUNC_CUDA_BLOCKIDX_Y, FUNC_CUDA_BLOCKIDX_Z,
    FUNC_CUDA_BLOCKDIM_X, FUNC_CUDA_BLOCKDIM_Y, FUNC_CUDA_BLOCKDIM_Z, FUNC_CUDA_GRIDDIM_X,
    FUNC_CUDA_GRIDDIM_Y,  FUNC_CUDA_GRIDDIM_Z,  FUNC_CUDA_WARPSIZE,   FUNC_CUDA_SHARED_ARRAY,
};

static bool calls_one_of(const Value *value, const FuncId *ids, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (value_calls(value, ids[i])) return true;
    return false;
}

static bool is_together(const Split *split, const Value *value) {
    const Place *place = place_of(split, value->block);
    return place->together && !place->between;
}

/* Its operands and nothing else say what it is: no memory, nothing raised. */
static bool only_computes(const Split *split, const Value *value) {
    switch (value->op) {
    case OP_PHI: return false;
    case OP_GETATTR:
    case OP_CAST: break;
    case OP_CALL_INST:
        if (value->imm.inst->effects) return false;
        break;
    case OP_EXTRACT:
        if (value->args[0]->type->kind != TY_TUPLE) return false;
        break;
    case OP_GETITEM:
        if (value->args[0]->type->kind != TY_TUPLE && value->type->kind != TY_ARRAY) return false;
        break;
    case OP_CALL_FUNC:
        if (value->type->kind == TY_RANGE) break;
        if (func_effects(value->imm.func) & ~(Effects)EFFECT_RAISE) return false;
        break;
    default:
        if (op_effects(value->op) && !op_is_binary(value->op)) return false;
    }
    if (value->type->kind == TY_EXC || value->type->kind == TY_CELL) return false;
    return !(value_effects(value, split->program->index_raises) & ~(Effects)EFFECT_READ);
}

/* ---- what varies ---- */

/* By Value.id: iterators that something other than all threads together moves on, or looks at. */
static bool *find_own_iterators(const Split *split) {
    bool *own = ARENA_ARRAY(split->arena, bool, split->func->next_value);
    for (size_t b = 0; b < split->nblocks; b++)
        for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next) {
            bool asks = value->op == OP_ITER_MORE || value->op == OP_ITER_TAKE;
            for (uint32_t i = 0; i < value->nargs; i++) own[value->args[i]->id] |= !asks || !is_together(split, value);
        }
    return own;
}

/* Every way to the leader is one that all threads go. */
static bool is_common_phi(const Split *split, const Value *phi) {
    if (!place_of(split, phi->block)->leads) return false;
    for (size_t i = 0; i < phi->block->preds.len; i++) {
        const Block *pred = phi->block->preds.data[i];
        if (!place_of(split, pred)->together || place_of(split, pred)->between) return false;
        if (pred->last->op == OP_BRANCH && !place_of(split, pred)->parts) return false;
    }
    return true;
}

static bool varies_by_itself(const Split *split, const bool *own_iterators, const Value *value) {
    if (!is_together(split, value) || !op_has_result(value->op)) return true;
    if (calls_one_of(value, block_facts, COUNT_OF(block_facts))) return false;
    switch (value->op) {
    case OP_PHI: return !is_common_phi(split, value);
    case OP_ITER: return value->args[0]->type->kind != TY_RANGE || value->flags & VF_SHARED || own_iterators[value->id];
    case OP_ITER_MORE:
    case OP_ITER_TAKE: return value->args[0]->op != OP_ITER;
    default: return !only_computes(split, value);
    }
}

static bool is_frame_memory(const Value *value) {
    return value_calls(value, FUNC_CUDA_LOCAL_ARRAY) || value->op == OP_CELL;
}

static bool spread(Split *split, const bool *own_iterators, const Value *value) {
    bool varies = split->varies[value->id], local = split->local[value->id];
    if (!varies) varies = value->op != OP_CONST && varies_by_itself(split, own_iterators, value);
    local |= is_frame_memory(value);
    for (uint32_t i = 0; i < value->nargs; i++) {
        varies |= split->varies[value->args[i]->id];
        local |= split->local[value->args[i]->id] && value->type && type_may_refer(value->type);
    }
    bool changed = varies != split->varies[value->id] || local != split->local[value->id];
    split->varies[value->id] = varies;
    split->local[value->id] = local;
    return changed;
}

bool barriers_find_varying(Split *split) {
    const bool *own_iterators = find_own_iterators(split);
    bool changed = true;
    for (uint32_t i = 0; i < split->func->next_value; i++) split->varies[i] = split->local[i] = false;
    while (changed) {
        changed = false;
        for (size_t b = 0; b < split->nblocks; b++)
            for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next)
                changed |= spread(split, own_iterators, value);
    }
    for (size_t b = 0; b < split->nblocks; b++) {
        const Block *block = split->func->blocks.data[b];
        if (split->places[b].parts && split->varies[block->last->args[0]->id]) return false;
    }
    return true;
}

/* ---- what is found again ---- */

static bool is_cheap(const Split *split, const Value *value, unsigned *steps) {
    if (value->op == OP_CONST || !split->varies[value->id]) return true;
    if (*steps == 0) return false;
    --*steps;
    if (calls_one_of(value, thread_places, COUNT_OF(thread_places))) return true;
    switch (value->op) {
    case OP_MUL:
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
    case OP_INVERT:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_LSHIFT:
    case OP_RSHIFT:
    case OP_FLOORDIV:
    case OP_MOD:
    case OP_NOT:
    case OP_TRUTH:
    case OP_CAST:
    case OP_TUPLE:
    case OP_EXTRACT: break;
    default:
        if (!op_is_comparison(value->op)) return false;
    }
    if (!only_computes(split, value)) return false;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (!is_cheap(split, value->args[i], steps)) return false;
    return true;
}

bool barriers_is_cheap(const Split *split, const Value *value) {
    unsigned steps = CHEAP_STEPS;
    return is_cheap(split, value, &steps);
}

bool barriers_can_keep(const Split *split, const Value *value) {
    if (split->local[value->id] || !type_size(value->type)) return false;
    return value->type->kind == TY_SCALAR || value->type->kind == TY_TUPLE || value->type->kind == TY_ARRAY ||
           value->type->kind == TY_OPTIONAL;
}

/* ---- arrays of a thread's own ---- */

void barriers_keep_arrays(Split *split) {
    for (size_t b = 0; b < split->nblocks; b++)
        for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *array = value->args[i];
                if (!value_calls(array, FUNC_CUDA_LOCAL_ARRAY) || array->nargs > 3) continue;
                if (place_of(split, array->block)->segment == place_of(split, value->block)->segment) continue;
                bool constants = true;
                for (uint32_t k = 0; k < array->nargs; k++) constants &= array->args[k]->op == OP_CONST;
                split->kept[array->id] = constants && array->args[0]->konst && array->type->layout == LAYOUT_C;
            }
}

bool barriers_is_kept_array(const Split *split, const Value *value) {
    return split->kept[value->id] && value_calls(value, FUNC_CUDA_LOCAL_ARRAY);
}

const Type *barriers_kept_arrays(const Split *split, const Value *array) {
    return type_array(split->program->types, type_element(array->type), 1, LAYOUT_C, false);
}

/* ---- loops without barriers ---- */

/* A loop that only its header leaves. */
static bool is_simple_loop(const Split *split, const Block *header) {
    uint32_t after = place_of(split, header)->after, *seen = ARENA_ARRAY(split->arena, uint32_t, split->nblocks);
    BlockList loop = {0};
    if (after == NO_BLOCK) return false;
    barriers_between(split, header, seen, &loop);
    for (size_t i = 0; i < loop.len; i++) {
        const Block *block = loop.data[i];
        if (!block->succs.len) return false;
        for (size_t s = 0; s < block->succs.len; s++)
            if (block->succs.data[s]->id == after && block != header) return false;
    }
    return true;
}

bool barriers_force_loops(Split *split) {
    bool any = false;
    for (size_t b = 0; b < split->nblocks; b++) {
        const Block *header = split->func->blocks.data[b];
        Place *place = &split->places[b];
        if (!place->together || !place->between || place->forced || header->last->op != OP_BRANCH) continue;
        const Value *more = header->last->args[0];
        if (more->op != OP_ITER_MORE || more->args[0]->op != OP_ITER || !is_together(split, more->args[0])) continue;
        const Value *over = more->args[0]->args[0];
        if (over->type->kind != TY_RANGE || split->varies[over->id]) continue;
        if (!is_simple_loop(split, header)) continue;
        place->forced = any = true;
    }
    return any;
}

/* ---- regions for vectors ---- */


/* Only what surely computes in registers. */
static bool needs_no_frame(const Value *value) {
    switch (value->op) {
    case OP_CONST:
    case OP_PARAM:
    case OP_UNDEF:
    case OP_PHI:
    case OP_NOT:
    case OP_TRUTH:
    case OP_TUPLE:
    case OP_EXTRACT:
    case OP_GETATTR:
    case OP_VIEW:
    case OP_CAST: return true;
    case OP_GETITEM:
    case OP_SETITEM:
        return value->args[0]->type->kind == TY_ARRAY && type_takes_element(value->args[0]->type, value->args[1]->type);
    case OP_CALL_FUNC:
        return value->type->kind == TY_SCALAR && func_row(value->imm.func)->how != HOW_RTLIB &&
               !(value->flags & VF_OF_BLOCK); /* one thread's load and store after another's */
    default:
        return op_is_terminator(value->op) || op_is_unary(value->op) || op_is_binary(value->op) ||
               op_is_comparison(value->op);
    }
}

bool barriers_is_frameless(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (!needs_no_frame(value)) return false;
    return true;
}
