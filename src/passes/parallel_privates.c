/* parallel_privates.c: arrays from outside that iterations of a loop over prange only put numbers to, as reductions:
 * h[k[i]] += 1, total += rows[i], best = np.maximum(best, rows[i]).
 *
 * In: a loop, and a store by which its iterations change what others read.  Out: the array in loop->privates, if all
 * that the loop does with it puts something to items of it by one kind of operation. */
#include "passes/parallel.h"

#include <string.h> /* strchr */

static bool is_array(const Value *value) { return value->type && value->type->kind == TY_ARRAY; }

/* ---- what the loop does with an array ---- */

typedef struct Uses {
    const ParallelLoop *loop;
    const Value *root;
    Private *private;
    bool *part; /* by Value.id: a load, and what is made of it, of a step */
} Uses;

static bool is_view(const Value *value) {
    return value->nargs > 0 && is_array(value) && is_array(value->args[0]) &&
           (value->op == OP_GETITEM || value->op == OP_VIEW || value->op == OP_CAST || value->op == OP_GETATTR);
}

static const Value *root_of(const ParallelLoop *loop, const Value *array) {
    while (loop_has(loop, array) && is_view(array)) array = array->args[0];
    return array;
}

/* Two values that are the same number, or the same part of an array, because they are found in the same way.  An item
 * that both load is the same if the loop stores to no such array. */
static bool is_same(const ParallelLoop *loop, const Value *a, const Value *b);

static bool is_never_stored(const ParallelLoop *loop, const Value *array) {
    const Value *root = root_of(loop, array);
    for (size_t i = 0; i < loop->blocks.len; i++)
        for (const Value *value = loop->blocks.data[i]->first; value; value = value->next) {
            uint32_t count = value->op == OP_SETITEM ? 1 : value->op == OP_MAP ? (uint32_t)value->imm.i : 0;
            for (uint32_t k = 0; k < count; k++)
                if (root_of(loop, value->args[k]) == root) return false;
        }
    return true;
}

static bool is_same(const ParallelLoop *loop, const Value *a, const Value *b) {
    if (a == b) return true;
    if (a->op != b->op || a->nargs != b->nargs || a->type != b->type) return false;
    switch (a->op) {
    case OP_CONST: return a->konst && b->konst && type_is_integer(a->type) && a->konst->i == b->konst->i;
    case OP_GETITEM:
        if (!is_array(a) && !is_never_stored(loop, a->args[0])) return false;
        break;
    case OP_EXTRACT:
        if (a->imm.i != b->imm.i) return false;
        break;
    case OP_CAST:
    case OP_TUPLE:
    case OP_SLICE:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FLOORDIV:
    case OP_MOD: break;
    default: return false;
    }
    for (uint32_t i = 0; i < a->nargs; i++) TRY(is_same(loop, a->args[i], b->args[i]));
    return true;
}

static unsigned count_uses(const ParallelLoop *loop, const Value *of) {
    unsigned count = 0;
    for (size_t b = 0; b < loop->func->blocks.len; b++)
        for (const Value *value = loop->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) count += value->args[i] == of;
    return count;
}

/* The step puts something to `running`: as the other steps of this array do. */
static bool agrees(Uses *uses, const Value *step, const Value *running) {
    Private *steps = uses->private;
    Putting putting = parallel_putting(step);
    bool first = step->nargs > 0 && step->args[0] == running;
    unsigned times = 0;
    for (uint32_t i = 0; i < step->nargs; i++) times += step->args[i] == running;
    const FuncHead *func = putting == PUT_CALL ? step->imm.func : NULL;
    if (putting == PUT_NONE || times != 1 || (!first && parallel_is_ordered(step))) return false;
    if (steps->putting != PUT_NONE && (steps->putting != putting || steps->func != func)) return false;
    steps->putting = putting;
    steps->func = func;
    return true;
}

/* A number in a wider type of its kind: what is lost when the sum is stored is lost wherever it is put. */
static bool is_of_kind(const Type *a, const Type *b) {
    return type_is_scalar(a) && type_is_scalar(b) && type_scalar_kind(a) == type_scalar_kind(b);
}

static const Value *without_cast(const Value *value, const Type *element) {
    return value->op == OP_CAST && is_of_kind(value->args[0]->type, element) ? value->args[0] : value;
}

static const Value *sole_user(const ParallelLoop *loop, const Value *of) {
    const Value *user = NULL;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i] == of) user = value;
    return user && count_uses(loop, of) == 1 ? user : NULL;
}

/* a[k] = a[k] + x: the store at the end; the load and what is made of it are noted as parts. */
static bool is_scalar_step(Uses *uses, const Value *store) {
    const ParallelLoop *loop = uses->loop;
    const Type *element = type_element(store->args[0]->type);
    const Value *sum = without_cast(store->args[2], element);
    if (!type_is_scalar(element) || !is_of_kind(sum->type, element) || count_uses(loop, sum) != 1) return false;
    for (uint32_t i = 0; i < sum->nargs; i++) {
        const Value *running = sum->args[i], *load = without_cast(running, element);
        if (load->op != OP_GETITEM || !is_array(load->args[0]) || root_of(loop, load->args[0]) != uses->root) continue;
        if (sole_user(loop, running) != sum || (load != running && sole_user(loop, load) != running)) return false;
        if (!is_same(loop, load->args[0], store->args[0]) || !is_same(loop, load->args[1], store->args[1]))
            return false;
        if (load->block != store->block || !agrees(uses, sum, running)) return false;
        uses->part[load->id] = true;
        return true;
    }
    return false;
}

const Value *parallel_step_of(const Func *func, uint32_t which, const Value **running) {
    const Value *step = func->blocks.len == 1 ? func->blocks.data[0]->last->args[0] : NULL;
    unsigned times = 0;
    *running = NULL;
    if (!step || func->blocks.data[0]->last->op != OP_RETURN) return NULL;
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next) {
        if (value->op == OP_PARAM && value->imm.i == which) *running = value;
        for (uint32_t i = 0; i < value->nargs; i++) times += *running && value->args[i] == *running;
    }
    return times == 1 ? step : NULL;
}

/* map a, a, x: a = a + x for every element of a part of the array.  a[k] += x also stores the part where it lies. */
static bool is_map_step(Uses *uses, const Value *map) {
    const Value *dest = map->args[0], *running;
    uint32_t which = UINT32_MAX;
    if (map->imm.i != 1 || map_is_masked(map)) return false;
    if (!map->imm.inst) return is_same(uses->loop, map->args[1], dest);
    for (uint32_t i = 1; i < map->nargs; i++) {
        if (!is_array(map->args[i]) || root_of(uses->loop, map->args[i]) != uses->root) continue;
        if (which != UINT32_MAX || !is_same(uses->loop, map->args[i], dest)) return false;
        which = i - 1;
    }
    const Value *step = which == UINT32_MAX ? NULL : parallel_step_of(map->imm.inst->func, which, &running);
    const Type *element = type_element(dest->type);
    if (!step || !type_is_scalar(element) || step->type->scalar != element->scalar ||
        running->type->scalar != element->scalar)
        return false;
    uses->private->heavy = true;
    return agrees(uses, step, running);
}

/* Whether a value that uses the array, or a part of it, does nothing with its items but that. */
static bool is_step_or_view(Uses *uses, const Value *value, const Value *array) {
    switch (value->op) {
    case OP_GETATTR: return !is_array(value) || is_view(value);
    case OP_GETITEM: return is_view(value) ? value->args[0] == array : uses->part[value->id];
    case OP_VIEW:
    case OP_CAST: return is_view(value);
    case OP_SETITEM: return value->args[0] == array && value->args[2] != array && is_scalar_step(uses, value);
    case OP_MAP: return value->args[0] == array && is_map_step(uses, value);
    case OP_CALL_FUNC: return value_calls(value, FUNC_LEN);
    default: return false;
    }
}

/* A map reads its destination at another of its operands, which may be another value for the same part. */
static bool is_source_of_step(Uses *uses, const Value *value, uint32_t operand) {
    return value->op == OP_MAP && operand > 0 && is_array(value->args[0]) &&
           root_of(uses->loop, value->args[0]) == uses->root;
}

static bool is_reduction(Uses *uses, bool stores_first) {
    const ParallelLoop *loop = uses->loop;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *array = value->args[i];
                if (!is_array(array) || root_of(loop, array) != uses->root) continue;
                if (stores_first != (value->op == OP_SETITEM)) continue;
                if (!is_source_of_step(uses, value, i) && !is_step_or_view(uses, value, array)) return false;
            }
    return true;
}

/* Whether the loop sees the array's memory under another name, too. */
static bool has_another_name(const ParallelLoop *loop, const Value *root) {
    const Value *base = root;
    while (is_view(base)) base = base->args[0];
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *other = value->args[i];
                if (loop_has(loop, other) || other == root || !is_array(other)) continue;
                while (is_view(other)) other = other->args[0];
                if (other == base) return true;
            }
    return false;
}

static bool has_inner_loop(const ParallelLoop *loop) {
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_ITER_MORE) return true;
    return false;
}

bool parallel_make_private(ParallelLoop *loop, const Value *array) {
    Private private = {.array = array, .heavy = has_inner_loop(loop)};
    Uses uses = {loop, array, &private, ARENA_ARRAY(loop->func->arena, bool, loop->func->next_value)};
    const Type *element = type_element(array->type);
    if (array->op == OP_CONST || !type_is_scalar(element) || !strchr("buifc", type_scalar_kind(element))) return false;
    if (!is_reduction(&uses, true) || !is_reduction(&uses, false) || private.putting == PUT_NONE) return false;
    if (has_another_name(loop, array)) return false;
    vec_push(loop->func->arena, &loop->privates, private);
    return true;
}
