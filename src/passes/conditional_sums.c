/* conditional_sums.c: sums to which an iteration puts something under a condition put it there in any case.
 *
 * In: a typed function whose loops go back by one edge, with steps of reductions that may be put together in any
 * grouping (VF_REGROUPS).  Out: where the ways past such a step join,
 *
 *   if c: s = s + x        phi(s + x, s)        becomes        s + phi(x, -0.0)
 *
 * so that LLVM sees a reduction and makes vectors of it, which it does not of a phi of floats.  -0.0 changes no number,
 * and so do 0.0 of a difference and 1.0 of a product.  s - x is s + -x; of several steps, s + a + b, what is put is
 * a + b.  Of integers LLVM knows as much. */
#include "passes/private.h"


enum { MOST_STEPS = 8 };

typedef struct Merge {
    Func *func;
    uint32_t *uses; /* by Value.id */
    Value *phi, *running;
    Op op; /* OP_ADD, OP_MUL or OP_TRUEDIV; OP_PHI: no step was seen yet */
    uint32_t steps;
} Merge;

static bool is_step(const Value *value) {
    if (!(value->flags & VF_REGROUPS) || !type_is_scalar(value->type) || type_scalar_kind(value->type) != 'f')
        return false;
    return value->op == OP_ADD || value->op == OP_SUB || value->op == OP_MUL || value->op == OP_TRUEDIV;
}

static Op group_of(const Value *step) { return step->op == OP_SUB ? OP_ADD : step->op; }

/* Which operand of a step may be the running number. */
static bool may_run(const Value *step, uint32_t operand) {
    return operand == 0 || step->op == OP_ADD || step->op == OP_MUL;
}

/* ---- what is put to the running number ---- */

/* The operand of a step by which it goes on from the running number, by other steps that nobody else sees; 2: none. */
static uint32_t operand_on_the_way(const Merge *m, const Value *step, unsigned depth) {
    for (uint32_t i = 0; i < 2; i++) {
        const Value *before = step->args[i];
        if (!may_run(step, i) || step->args[0] == step->args[1]) continue;
        if (before == m->running) return i;
        bool chain = is_step(before) && group_of(before) == group_of(step) && group_of(step) != OP_TRUEDIV &&
                     m->uses[before->id] == 1;
        if (chain && depth < MOST_STEPS && operand_on_the_way(m, before, depth + 1) < 2) return i;
    }
    return 2;
}

static bool fits(Merge *m, const Value *operand) {
    if (operand == m->running) return true;
    if (!is_step(operand) || m->uses[operand->id] != 1 || (m->op != OP_PHI && m->op != group_of(operand))) return false;
    m->op = group_of(operand);
    m->steps++;
    return operand_on_the_way(m, operand, 0) < 2;
}

static Value *put_before(const Merge *m, Value *at, Op op, Value *const *args, size_t nargs) {
    Value *value = value_new(m->func, op, at->span, args, nargs);
    value->type = m->phi->type;
    if (nargs == 2) value->flags |= VF_REGROUPS;
    value_insert_before(at, value);
    return value;
}

/* All that the steps up to this one put, as one number in its place. */
static Value *what_is_put(const Merge *m, Value *step) {
    uint32_t way = operand_on_the_way(m, step, 0);
    Value *before = step->args[way], *more = step->args[1 - way];
    if (step->op == OP_SUB) more = put_before(m, step, OP_NEG, &more, 1);
    if (before == m->running) return more;
    return put_before(m, step, m->op, (Value *[]){what_is_put(m, before), more}, 2);
}

static Value *what_changes_nothing(const Merge *m, Block *at) {
    Const *konst = ARENA_NEW(m->func->arena, Const);
    konst->type = m->phi->type;
    konst->f = m->op == OP_ADD ? -0.0 : 1;
    Value *value = value_new(m->func, OP_CONST, m->phi->span, NULL, 0);
    value->type = konst->type;
    value->konst = konst;
    value_insert_before(at->last, value);
    return value;
}

/* ---- the phi ---- */

static Value *first_behind_phis(const Block *block) {
    Value *value = block->first;
    while (value->op == OP_PHI) value = value->next;
    return value;
}

static void remove_unused(Merge *m, Value *step) {
    Value *args[] = {step->args[0], step->args[1]};
    uint32_t way = operand_on_the_way(m, step, 0);
    value_remove(step);
    if (args[way] != m->running) remove_unused(m, args[way]);
}

static void rewrite(Merge *m) {
    Value **puts = ARENA_ARRAY(m->func->arena, Value *, m->phi->nargs);
    Block *block = m->phi->block;
    for (uint32_t i = 0; i < m->phi->nargs; i++)
        puts[i] = m->phi->args[i] == m->running ? what_changes_nothing(m, block->preds.data[i])
                                                : what_is_put(m, m->phi->args[i]);
    Value *put = block_add_phi(m->func, block, m->phi->span);
    put->type = m->phi->type;
    phi_set_args(m->func, put, puts, m->phi->nargs);
    Value *at = first_behind_phis(block);
    Value *sum = value_new(m->func, m->op, m->phi->span, (Value *[]){m->running, put}, 2);
    sum->type = m->phi->type;
    sum->name = m->phi->name;
    sum->flags |= VF_REGROUPS;
    value_insert_before(at, sum);
    for (uint32_t i = 0; i < m->phi->nargs; i++)
        if (m->phi->args[i] != m->running) remove_unused(m, m->phi->args[i]);
    value_replace(m->func, m->phi, sum);
    value_remove(m->phi);
}

/* The running number of a phi: an operand that is no step, or what all its steps go on from. */
static bool find_running(Merge *m, Value *running) {
    m->running = running;
    m->op = OP_PHI;
    m->steps = 0;
    for (uint32_t i = 0; i < m->phi->nargs; i++)
        if (!fits(m, m->phi->args[i])) return false;
    return m->steps > 0;
}

static bool is_loop_header(const Block *block) {
    for (size_t p = 0; p < block->preds.len; p++)
        if (block->preds.data[p]->order >= block->order) return true;
    return false;
}

static bool merges_steps(Merge *m, Value *phi) {
    m->phi = phi;
    if (!type_is_scalar(phi->type) || type_scalar_kind(phi->type) != 'f' || phi->nargs < 2) return false;
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (!is_step(phi->args[i])) return find_running(m, phi->args[i]);
    for (uint32_t i = 0; i < 2; i++)
        if (may_run(phi->args[0], i) && find_running(m, phi->args[0]->args[i])) return true;
    return false;
}

/* ---- the function ---- */

/* Counts uses; false: no step is among the values. */
static bool count_uses(Merge *m) {
    bool any = false;
    m->uses = ARENA_ARRAY(m->func->arena, uint32_t, m->func->next_value);
    for (size_t b = 0; b < m->func->blocks.len; b++)
        for (const Value *value = m->func->blocks.data[b]->first; value; value = value->next) {
            any = any || (value->flags & VF_REGROUPS && is_step(value));
            for (uint32_t i = 0; i < value->nargs; i++) m->uses[value->args[i]->id]++;
        }
    return any;
}

static bool rewrite_one(Merge *m) {
    for (size_t b = 0; b < m->func->blocks.len; b++) {
        Block *block = m->func->blocks.data[b];
        if (block->first->op != OP_PHI || is_loop_header(block)) continue;
        for (Value *phi = block->first; phi->op == OP_PHI; phi = phi->next)
            if (merges_steps(m, phi)) return rewrite(m), true;
    }
    return false;
}

bool pass_conditional_sums(Program *program, FuncInst *inst) {
    (void)program;
    Merge m = {.func = inst->func};
    bool any = count_uses(&m);
    if (any) func_compute_order(inst->func);
    while (any && rewrite_one(&m)) any = count_uses(&m);
    return true;
}
