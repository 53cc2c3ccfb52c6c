/* lower_safepoint.c: where generated code looks for interrupts.
 *
 * SPEND takes from a budget in a local variable, which LLVM keeps in a register; SAFEPOINT asks the target and fills
 * the budget again.  Recursive functions spend from a budget of the whole call at their entry, which lies beside the
 * limit of the stack; there too they raise RecursionError before the stack ends. */
#include "codegen/lower.h"

enum { CALLS_BUDGET = 1 << 14 }; /* calls of recursive functions between two looks */

static LLVMValueRef budget_of(Lower *l) {
    if (!l->s->budget) l->s->budget = l_alloca_with(l, l_i64(l, SAFEPOINT_BUDGET), "budget");
    return l->s->budget;
}

LLVMValueRef lower_spend(Lower *l, const Value *value) {
    if (!l->target->safepoint) return l_i1(l, false);
    LLVMValueRef budget = budget_of(l), cost = l_i64(l, value->imm.i);
    if (value->nargs) { /* of more rounds than a budget: as of so many */
        LLVMValueRef rounds[] = {l_arg(l, value, 0), l_i64(l, SAFEPOINT_BUDGET)};
        cost = l_mul(l, l_intrinsic(l, "llvm.umin", l->i64, rounds, 2), cost);
    }
    if (value->nargs > 1) cost = l_add(l, cost, l_arg(l, value, 1));
    LLVMValueRef left = l_sub(l, l_raw_load(l, l->i64, budget, 8), cost);
    l_raw_store(l, left, budget, 8);
    return l_icmp(l, LLVMIntSLE, left, l_i64(l, 0));
}

/* The loop in a strip is to LLVM what the whole was: from a number not before the start, to one not beyond the stop. */
static bool goes_up(const Value *strip) { return strip->args[2]->konst->i > 0; }

LLVMValueRef lower_strip_start(Lower *l, const Value *value) {
    LLVMValueRef args[] = {l_arg(l, value, 0), l_arg(l, value, 1)};
    return l_intrinsic(l, goes_up(value) ? "llvm.smax" : "llvm.smin", l->i64, args, 2);
}

LLVMValueRef lower_strip_stop(Lower *l, const Value *value) {
    LLVMValueRef beyond[] = {l_arg(l, value, 0), l_i64(l, value->imm.i * value->args[2]->konst->i)};
    LLVMValueRef args[] = {l_arg(l, value, 1), l_intrinsic(l, "llvm.sadd.sat", l->i64, beyond, 2)};
    return l_intrinsic(l, goes_up(value) ? "llvm.smin" : "llvm.smax", l->i64, args, 2);
}

LLVMValueRef lower_strip_length(Lower *l, const Value *value) {
    LLVMValueRef args[] = {l_arg(l, value, 0), l_i64(l, value->imm.i)};
    return l_intrinsic(l, "llvm.umin", l->i64, args, 2);
}

static void look(Lower *l) {
    LLVMBasicBlockRef stop = l_block(l, "stop"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_icmp(l, LLVMIntNE, l->target->safepoint(l), l_i32(l, 0)), stop, fine);
    l_enter(l, stop);
    l_raise_interrupt(l);
    l_enter(l, fine);
}

LLVMValueRef lower_safepoint(Lower *l, const Value *value) {
    if (l->target->safepoint) {
        l_raw_store(l, l_i64(l, SAFEPOINT_BUDGET), budget_of(l), 8);
        look(l);
    }
    return LLVMGetUndef(l_type(l, value->type));
}

bool l_looks(Lower *l) { return l->target->safepoint && l->at && l->at->flags & VF_LOOKS; }

void l_look(Lower *l, LLVMValueRef cost, LLVMValueRef owned) {
    if (!l_looks(l)) return;
    LLVMValueRef budget = budget_of(l), left = l_sub(l, l_raw_load(l, l->i64, budget, 8), cost);
    l_raw_store(l, left, budget, 8);
    LLVMBasicBlockRef spent = l_block(l, "spent"), stop = l_block(l, "stop"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_icmp(l, LLVMIntSLE, left, l_i64(l, 0)), spent, fine);
    l_enter(l, spent);
    l_raw_store(l, l_i64(l, SAFEPOINT_BUDGET), budget, 8);
    l_branch_unlikely(l, l_icmp(l, LLVMIntNE, l->target->safepoint(l), l_i32(l, 0)), stop, fine);
    l_enter(l, stop);
    if (owned) l_call_named(l, "free", l->v, &owned, 1);
    l_raise_interrupt(l);
    l_enter(l, fine);
}

void l_recursion_open(Lower *l, LLVMValueRef state, LLVMValueRef limit) {
    l_raw_store(l, limit, state, 8);
    l_raw_store(l, l_i64(l, CALLS_BUDGET), l_offset(l, state, l_i64(l, 8)), 8);
}

/* At the entry of a recursive function.  LLVM must not make a loop of its calls, whose frames nobody would see. */
void lower_recursion(Lower *l) {
    l_attribute_text(l, l->function, -1, "disable-tail-calls", "true");
    if (l->inst->depth) return;
    LLVMValueRef state = l->target->recursion(l), here = l_i32(l, 0);
    here = LLVMBuildPtrToInt(l->b, l_intrinsic(l, "llvm.frameaddress", l->ptr, &here, 1), l->i64, "");
    l_raise_if(l, l_icmp(l, LLVMIntULT, here, l_raw_load(l, l->i64, state, 8)), "RecursionError",
               "maximum recursion depth exceeded", NULL, 0);
    if (l->m->options.uninterrupted) return;
    LLVMValueRef budget = l_offset(l, state, l_i64(l, 8));
    LLVMValueRef left = LLVMBuildNSWSub(l->b, l_raw_load(l, l->i64, budget, 8), l_i64(l, 1), "");
    l_raw_store(l, left, budget, 8);
    LLVMBasicBlockRef spent = l_block(l, "spent"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_icmp(l, LLVMIntSLE, left, l_i64(l, 0)), spent, fine);
    l_enter(l, spent);
    l_raw_store(l, l_i64(l, CALLS_BUDGET), budget, 8);
    look(l);
    l_jump(l, fine);
    l_enter(l, fine);
}
