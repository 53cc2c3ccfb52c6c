/* effects.c: what a value does besides giving its result: memory it reads and writes, whether it may raise.
 *
 * In: a value; typed, its operand types and flags say more than its row.  Out: a set of EFFECT_*.  This is the one
 * place that knows when an operation may raise: the removal of dead values, inference, the passes and lowering ask
 * here, and lowering emits a check only where the answer was EFFECT_RAISE.
 *
 * Of a call of a compiled function the set is that of its whole body, calls included, which effects_summarise finds:
 * the least fixed point, by a worklist of functions whose effects grew and the callers of each. */
#include <string.h> /* strchr */

#include "ir/ir.h"

/* ---- rows ---- */

static Effects effects_of_letters(const char *letters) {
    Effects effects = 0;
    for (; *letters; letters++) switch (*letters) {
        case 'R': effects |= EFFECT_READ; break;
        case 'W': effects |= EFFECT_WRITE; break;
        case 'X': effects |= EFFECT_RAISE; break;
        case 'S': effects |= EFFECT_SYNC; break;
        case 'C': effects |= EFFECT_CONTROL; break;
        case 'N': effects |= EFFECT_NEW; break;
        case 'G': effects |= EFFECT_TAKE; break;
        default: break;
        }
    return effects;
}

Effects op_effects(Op op) { return effects_of_letters(op_info[op].effects); }

bool op_may_raise(Op op) { return !strchr(op_info[op].effects, 'T'); }

Effects func_effects(const FuncHead *func) { return effects_of_letters(func->effects); }

/* ---- typed values ---- */

enum { MEMORY = EFFECT_READ | EFFECT_WRITE };

static Effects raises_if(bool condition) { return condition ? EFFECT_RAISE : 0; }

static bool is_element_access(const Value *value) {
    const Type *of = value->args[0]->type, *index = value->args[1]->type;
    return of->kind == TY_FLAT || (of->kind == TY_ARRAY && type_takes_element(of, index));
}

/* x[i] and x[i] = v.  An element: of an array only if an index outside raises.  Views: indices, steps and shapes. */
static Effects item_effects(const Value *value, bool index_raises) {
    const Type *of = value->args[0]->type;
    bool array = of->kind == TY_ARRAY || of->kind == TY_FLAT, store = value->op == OP_SETITEM;
    TypeKind stored = store ? value->args[2]->type->kind : TY_SCALAR;
    bool scalar = stored != TY_ARRAY && stored != TY_TUPLE;
    bool raises = true;
    if (value->flags & VF_CHECKED)
        raises = true; /* an integer that its element cannot hold */
    else if (value->flags & VF_UNCHECKED)
        raises = !scalar;
    else if (scalar && is_element_access(value))
        raises = index_raises;
    Effects memory = store ? MEMORY : array && is_element_access(value) ? EFFECT_READ : 0;
    return memory | raises_if(raises);
}

static Effects call_effects(const Value *call, bool index_raises) {
    Effects row = func_effects(call->imm.func), effects = row & ~(Effects)EFFECT_RAISE;
    if (call->imm.func->checked) return effects | raises_if(call->flags & VF_CHECKED);
    bool element = (row & EFFECT_WRITE) && call->nargs && call->args[0]->type->kind == TY_ARRAY; /* atomics */
    bool unchecked = call->flags & VF_UNCHECKED;
    return effects | (row & EFFECT_RAISE && !unchecked ? EFFECT_RAISE : 0) | raises_if(element && index_raises);
}

static bool stands_before(const Value *a, const Value *b) {
    while (b && b != a) b = b->prev;
    return b != NULL;
}

/* What a view is a view on. */
static const Value *viewed(const Value *value) {
    while (value->nargs && value->args[0]->type && value->args[0]->type->kind == TY_ARRAY &&
           (value->op == OP_GETITEM || value->op == OP_VIEW || value->op == OP_FIELD || value->op == OP_CAST ||
            value->op == OP_GETATTR))
        value = value->args[0];
    return value;
}

bool array_is_apart(const Value *array, const Value *other) {
    const Value *made = viewed(array), *of = viewed(other);
    if (made->op != OP_NEW_ARRAY || of == made) return false;
    if (of->op == OP_PARAM || of->op == OP_NEW_ARRAY || of->op == OP_CONST) return true;
    return of->block == made->block && stands_before(of, made);
}

/* Destinations that other operands may overlap other than exactly are written by way of a temporary array. */
static Effects map_memory_effects(const Value *map) {
    Effects effects = MEMORY;
    for (uint32_t d = 0; d < (uint32_t)map->imm.i && !(map->flags & VF_UNCHECKED); d++)
        for (uint32_t i = (uint32_t)map->imm.i; i < map->nargs; i++)
            if (map->args[i]->type->kind == TY_ARRAY && map->args[i] != map->args[d]) effects |= EFFECT_RAISE;
    return effects;
}

static Effects map_effects(const Value *map) {
    const FuncInst *body = map->imm.inst;
    return map_memory_effects(map) | (!body ? 0 : body->summarised ? body->effects : op_effects(OP_MAP));
}

static Effects reduce_own_effects(const Value *reduce) {
    bool empty_raises = reduce->imm.i == REDUCTION_MIN || reduce->imm.i == REDUCTION_MAX;
    return EFFECT_READ | raises_if(empty_raises);
}

static Effects reduce_effects(const Value *reduce) {
    const FuncInst *body = reduce->imm.inst;
    return reduce_own_effects(reduce) | (!body ? 0 : body->summarised ? body->effects : op_effects(OP_REDUCE));
}

static bool is_typed(const Value *value) {
    if (!value->type && op_has_result(value->op)) return false;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (!value->args[i]->type) return false;
    return true;
}

static Effects row_effects(const Value *value) {
    Effects row = op_effects(value->op);
    if (value->flags & VF_INPLACE && !value->type) return EFFECT_ALL & ~(Effects)EFFECT_CONTROL; /* on what? */
    return value->flags & VF_UNCHECKED ? row & ~(Effects)EFFECT_RAISE : row;
}

static Effects look_effects(const Value *value) { return raises_if(value->flags & VF_LOOKS); }

static Effects typed_effects(const Value *value, bool index_raises) {
    if (op_is_binary(value->op)) return raises_if(value->flags & VF_CHECKED && !(value->flags & VF_UNCHECKED));
    switch (value->op) {
    case OP_CAST: {
        bool content = value->args[0]->type->kind == TY_OPTIONAL && value->type->kind != TY_OPTIONAL;
        return raises_if(value->flags & VF_CHECKED || (content && !(value->flags & VF_UNCHECKED)));
    }
    case OP_GETITEM:
    case OP_SETITEM: return item_effects(value, index_raises);
    case OP_ITER_MORE:
        return row_effects(value) & (type_walks_generator(value->args[0]->type) ? ~(Effects)0 : ~(Effects)EFFECT_RAISE);
    case OP_YIELD: return row_effects(value) | (type_is_counted(value->type) ? EFFECT_NEW : 0); /* what is sent */
    case OP_ITER_TAKE: return row_effects(value) | (type_walks_list(value->args[0]->type) ? EFFECT_NEW : 0);
    case OP_GETATTR: return 0; /* attributes of values never change */
    case OP_CALL_FUNC: return call_effects(value, index_raises);
    case OP_MAP: return map_effects(value);
    case OP_REDUCE: return reduce_effects(value);
    case OP_THREADS: return MEMORY | (value->imm.inst->summarised ? value->imm.inst->effects : row_effects(value));
    case OP_CALL_INST: return value->imm.inst->summarised ? value->imm.inst->effects : row_effects(value);
    default: return row_effects(value);
    }
}

Effects value_effects(const Value *value, bool index_raises) {
    if (!is_typed(value)) return row_effects(value);
    return typed_effects(value, index_raises) | look_effects(value);
}

/* ---- functions ---- */

typedef struct Call {
    FuncInst *caller;
    Effects leave; /* those that the caller has too: what is caught stays in it */
} Call;

typedef struct Summary {
    FuncInst *inst;
    VEC(Call) calls;
} Summary;

/* The effects of a body, calls of functions that are not summarised left out, and the body as a caller of each. */
static Effects body_effects(Arena *arena, FuncInst *inst, Summary *summaries, bool index_raises) {
    Effects effects = raises_if(inst->recursive);
    if (inst->func->generator) effects |= EFFECT_NEW | EFFECT_RAISE;
    for (size_t b = 0; b < inst->func->blocks.len; b++) {
        const Block *block = inst->func->blocks.data[b];
        Effects leave = block->unwinds ? ~(Effects)EFFECT_RAISE : ~(Effects)0;
        for (const Value *value = block->first; value; value = value->next) {
            if (value_callee(value)) vec_push(arena, &summaries[value_callee(value)->id].calls, ((Call){inst, leave}));
            if (value->op == OP_MAP)
                effects |= (map_memory_effects(value) | look_effects(value)) & leave;
            else if (value->op == OP_REDUCE)
                effects |= (reduce_own_effects(value) | look_effects(value)) & leave;
            else if (value->op == OP_THREADS)
                effects |= MEMORY & leave; /* its contexts */
            else if (value->op != OP_CALL_INST)
                effects |= value_effects(value, index_raises) & leave;
        }
    }
    return effects & ~(Effects)EFFECT_CONTROL;
}

void effects_summarise(Arena *arena, FuncInst *const *insts, size_t count, bool index_raises) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++) most = insts[i]->id >= most ? insts[i]->id + 1 : most;
    Summary *summaries = ARENA_ARRAY(arena, Summary, most); /* by FuncInst.id */
    VEC(FuncInst *) work = {0};
    for (size_t i = 0; i < count; i++) {
        insts[i]->effects = body_effects(arena, insts[i], summaries, index_raises);
        insts[i]->summarised = true;
        vec_push(arena, &work, insts[i]);
    }
    while (work.len) {
        const FuncInst *callee = vec_pop(&work);
        Summary *summary = &summaries[callee->id];
        for (size_t i = 0; i < summary->calls.len; i++) {
            FuncInst *caller = summary->calls.data[i].caller;
            Effects effects = callee->effects & summary->calls.data[i].leave;
            if ((caller->effects | effects) == caller->effects) continue;
            caller->effects |= effects;
            vec_push(arena, &work, caller);
        }
    }
}
