/* lower.c: the body of one typed function to LLVM IR.
 *
 * Input: a FuncInst after inference.  Output: the body of its LLVM function, declared before by lower_declare.
 * Algorithm: one LLVM block for each IR block, filled in reverse post-order, so that a value's operands are generated
 * before it; a value may split its block (checks, loops), so the first and the last LLVM block of each IR block are
 * kept.  Phis are made empty, one for each leaf of the type, and get their operands at the end.  Dispatch is one switch
 * over ir_ops.def; each group of operations has its own file. */
#include "codegen/lower.h"

/* ---- phis ---- */

static LLVMValueRef lower_phi(Lower *l, const Value *value) {
    TypeList types = {0};
    l_leaf_types(l, value->type, &types);
    if (l_is_narrow(l, value)) types.data[0] = l->i32;
    PendingPhi pending = {value, ARENA_ARRAY(l->arena, LLVMValueRef, types.len), (unsigned)types.len};
    for (size_t i = 0; i < types.len; i++)
        pending.leaves[i] = LLVMBuildPhi(l->b, types.data[i], value->name ? value->name : "");
    vec_push(l->arena, &l->s->phis, pending);
    return NULL; /* built after all phis of the block: they must stay together */
}

/* Of the block's phis, which are those from number `first` on. */
static void build_phi_values(Lower *l, size_t first) {
    VEC(PendingPhi *) caught = {0};
    for (size_t i = first; i < l->s->phis.len; i++) {
        PendingPhi *pending = &l->s->phis.data[i];
        LLVMValueRef const *leaves = pending->leaves;
        l->s->values[pending->value->id] = l_is_narrow(l, pending->value)
                                               ? l_widened(l, *leaves)
                                               : l_unflatten(l, pending->value->type, &leaves);
        if (type_is_caught(pending->value->type)) vec_push(l->arena, &caught, pending);
    }
    /* what one holds may be what another held: all are looked at before any changes */
    for (size_t i = 0; i < caught.len; i++) {
        LLVMValueRef *value = &l->s->values[caught.data[i]->value->id];
        *value = lower_caught_arrives(l, caught.data[i]->value->type, *value);
    }
    for (size_t i = 0; i < caught.len; i++) {
        LLVMValueRef *value = &l->s->values[caught.data[i]->value->id];
        *value = lower_caught_stays(l, caught.data[i]->value->type, *value);
    }
}

/* The operands of a phi are taken apart at the end of the predecessor they come from. */
static bool complete_phi(Lower *l, const PendingPhi *pending) {
    const Value *phi = pending->value;
    for (uint32_t p = 0; p < phi->nargs; p++) {
        const Block *pred = phi->block->preds.data[p];
        LLVMBasicBlockRef from = (block_unwind(pred) == phi->block ? l->s->landings : l->s->ends)[pred->id];
        if (!from) continue; /* unreachable */
        LLVMPositionBuilderBefore(l->b, LLVMGetBasicBlockTerminator(from));
        ValueList leaves = {0};
        const Value *operand = phi->args[p];
        if (operand->type != phi->type && l_has_bytes(phi->type)) {
            l_fail(l, "phi %%%u of type %s has an operand of type %s", phi->id, l_type_text(l, phi->type),
                   l_type_text(l, operand->type));
            return false;
        }
        if (l_has_bytes(phi->type)) l_flatten(l, phi->type, l_value(l, operand), &leaves);
        TRY(!l->diag->failed);
        if (l_is_narrow(l, phi)) leaves.data[0] = l_narrowed(l, leaves.data[0]);
        for (unsigned i = 0; i < pending->nleaves; i++) LLVMAddIncoming(pending->leaves[i], &leaves.data[i], &from, 1);
    }
    return true;
}

/* ---- one value ---- */

static LLVMValueRef lower_param(Lower *l, const Value *value) {
    LLVMValueRef known = l->s->values[value->id];
    if (known && value->flags & VF_OWNED) l_count(l, OP_RETAIN, value->type, known); /* a generator's own */
    return known ? known : LLVMGetUndef(l_type(l, value->type));
}

/* The list or the instance that the value is; NULL: None. */
static LLVMValueRef object_or_null(Lower *l, const Value *value) {
    const Type *type = value->type;
    if (type->kind != TY_OPTIONAL) return l_value(l, value);
    LLVMValueRef content = l_content(l, type, l_value(l, value));
    return LLVMBuildSelect(l->b, l_present(l, type, l_value(l, value)), content, l_null(l->ptr), "");
}

static const Type *content_type(const Value *value) {
    return value->type->kind == TY_OPTIONAL ? value->type->items[0] : value->type;
}

static LLVMValueRef lower_identity(Lower *l, const Value *value) {
    /* After inference `is` compares objects, and None-ness: of an Optional by its flag, else by its type. */
    const Value *a = value->args[0], *b = value->args[1];
    if (a->type->kind == TY_NONE) a = value->args[1], b = value->args[0];
    LLVMValueRef same;
    if (b->type->kind == TY_NONE)
        same = a->type->kind == TY_OPTIONAL ? l_not(l, l_present(l, a->type, l_value(l, a)))
                                            : l_i1(l, a->type->kind == TY_NONE);
    else if (a->type->kind == TY_SCALAR && a->type == b->type && scalar_info[a->type->scalar].kind == 'b')
        same = l_icmp(l, LLVMIntEQ, l_value(l, a), l_value(l, b));
    else if (a->type->kind == TY_ARRAY && b->type->kind == TY_ARRAY)
        same = a == b ? l_i1(l, true) : NULL;
    else if ((content_type(a)->kind == TY_LIST || type_is_shared(content_type(a))) &&
             content_type(b) == content_type(a))
        same = l_icmp(l, LLVMIntEQ, object_or_null(l, a), object_or_null(l, b));
    else if (type_is_table(a->type) && b->type == a->type)
        same = l_icmp(l, LLVMIntEQ, l_item(l, a->type, l_value(l, a), 0), l_item(l, b->type, l_value(l, b), 0));
    else if (!l_has_bytes(a->type) && !l_has_bytes(b->type))
        same = l_i1(l, a->type == b->type && (!a->konst || !b->konst || const_equal(a->konst, b->konst)));
    else
        same = NULL;
    if (!same)
        return l_fail(l, "`is` between %s and %s has no meaning in compiled code", l_type_text(l, a->type),
                      l_type_text(l, b->type)),
               NULL;
    return value->op == OP_IS ? same : l_not(l, same);
}

static LLVMValueRef lower_context(Lower *l, const Value *value) {
    return l->target->context ? l->target->context(l, value) : (l_fail(l, "a context on this target"), NULL);
}

static LLVMValueRef lower_threads(Lower *l, const Value *value) {
    return l->target->threads ? l->target->threads(l, value) : (l_fail(l, "a region on this target"), NULL);
}

static LLVMValueRef lower_value(Lower *l, const Value *value) {
    if (op_is_unary(value->op)) return lower_unary(l, value);
    if (value->op == OP_POW) return lower_power(l, value);
    if (op_is_binary(value->op)) return lower_binary(l, value);
    if (op_is_comparison(value->op)) return lower_compare(l, value);
    switch (value->op) {
    case OP_CONST: return value->konst ? l_const(l, value->konst) : LLVMGetUndef(l_type(l, value->type));
    case OP_PARAM: return lower_param(l, value);
    case OP_PHI: return lower_phi(l, value);
    case OP_UNDEF: return LLVMConstNull(l_type(l, value->type));
    case OP_NOT:
    case OP_TRUTH: return lower_unary(l, value);
    case OP_IS:
    case OP_IS_NOT: return lower_identity(l, value);
    case OP_FORMAT:
    case OP_TUPLE:
        if (value->flags & VF_OBJECT) l->s->made[value->id] = lower_made(l);
        return lower_tuple(l, value);
    case OP_SLICE: return lower_slice(l, value);
    case OP_GETATTR: return lower_getattr(l, value);
    case OP_FIELD: return lower_field(l, value);
    case OP_GETITEM: return lower_getitem(l, value);
    case OP_SETITEM: return lower_setitem(l, value);
    case OP_UNPACK: return lower_unpack(l, value);
    case OP_EXTRACT: return lower_extract(l, value);
    case OP_LIST: return lower_list(l, value);
    case OP_VIEW: return lower_view(l, value);
    case OP_NEW_ARRAY: return lower_new_array(l, value);
    case OP_RETAIN:
    case OP_RELEASE: return lower_count(l, value);
    case OP_ITER: return lower_iter(l, value);
    case OP_ITER_MORE: return lower_iter_more(l, value);
    case OP_ITER_TAKE: return lower_iter_take(l, value);
    case OP_ITER_LEFT: return lower_iter_left(l, value);
    case OP_YIELD: return lower_yield(l, value);
    case OP_FUNCTION: return lower_function_value(l, value);
    case OP_CELL: return lower_cell(l, value);
    case OP_CELL_GET: return lower_cell_get(l, value);
    case OP_CELL_SET: return lower_cell_set(l, value);
    case OP_CHECK_BOUND: return lower_check_bound(l, value);
    case OP_CAUGHT: return lower_caught(l, value);
    case OP_MATCHES: return lower_matches(l, value);
    case OP_CHAIN: return lower_chain(l, value);
    case OP_CAST: return lower_cast(l, value);
    case OP_SPEND: return lower_spend(l, value);
    case OP_SAFEPOINT: return lower_safepoint(l, value);
    case OP_MISSED: return lower_missed(l);
    case OP_STRIP_START: return lower_strip_start(l, value);
    case OP_STRIP_STOP: return lower_strip_stop(l, value);
    case OP_STRIP_LENGTH: return lower_strip_length(l, value);
    case OP_CALL: return lower_exception(l, value);
    case OP_CALL_FUNC: return lower_call_func(l, value);
    case OP_CALL_INST: return lower_call_inst(l, value);
    case OP_CONTEXT: return lower_context(l, value);
    case OP_THREADS: return lower_threads(l, value);
    case OP_BROADCAST: return lower_broadcast(l, value);
    case OP_MAP: return lower_map(l, value);
    case OP_REDUCE: return lower_reduce(l, value);
    default: /* inference has replaced or refused the rest */
        return l_fail(l, "`%s` is not compiled yet", op_info[value->op].doc), NULL;
    }
}

/* Blocks are lowered in reverse post-order: what begins before a block's end, or with it, it goes back to. */
static void note_round(Lower *l, const Block *block) {
    for (size_t i = 0; i < block->succs.len; i++)
        if (block->succs.data[i] == block || l->s->ends[block->succs.data[i]->id])
            late_unroll_note(l, LLVMGetBasicBlockTerminator(l_here(l)), block, block->succs.data[i]);
}

static bool leaves_early(const Lower *l, const Value *value) {
    return l->target->leave && l->m->options.entry == ENTRY_KERNEL && l->inst == l->m->insts[0] &&
           l->inst->effects & EFFECT_SYNC && !(value->flags & VF_IMPLICIT);
}

static bool lower_terminator(Lower *l, const Value *value) {
    const Block *block = value->block;
    switch (value->op) {
    case OP_JUMP:
        l_jump(l, l->s->starts[block->succs.data[0]->id]);
        note_round(l, block);
        return true;
    case OP_BRANCH:
        if (value->args[0]->op == OP_SPEND && value->args[0]->nargs) { /* all rounds of a short loop */
            l_branch_unlikely(l, l_value(l, value->args[0]), l->s->starts[block->succs.data[0]->id],
                              l->s->starts[block->succs.data[1]->id]);
            return true;
        }
        l_branch(l, l_value(l, value->args[0]), l->s->starts[block->succs.data[0]->id],
                 l->s->starts[block->succs.data[1]->id]);
        note_round(l, block);
        return true;
    case OP_RETURN:
        if (leaves_early(l, value)) l->target->leave(l);
        if (l->s->coroutine) return lower_generator_return(l, value), true;
        lower_result(l, l->inst, l_has_bytes(l->inst->result) ? l_value(l, value->args[0]) : NULL);
        return true;
    case OP_RERAISE:
    case OP_RAISE: return lower_raise(l, value);
    case OP_RESUME: lower_resume(l); return true;
    case OP_DECLINE: l_leave(l, l_i32(l, STATUS_DECLINED)); return true;
    default: LLVMBuildUnreachable(l->b); return true;
    }
}

/* ---- one function ---- */

static bool lower_block(Lower *l, const Block *block) {
    l_enter(l, l->s->starts[block->id]);
    l->s->after_raise = l->s->raised[block->id];
    l->s->landing = l->s->landings[block->id] = block->unwinds ? l_block(l, "unwind") : NULL;
    const Value *value = block->first;
    size_t first_phi = l->s->phis.len;
    for (; value && value->op == OP_PHI; value = value->next) lower_phi(l, value);
    build_phi_values(l, first_phi);
    for (; value; value = value->next) {
        l->at = value;
        debug_locate(l, value);
        if (op_is_terminator(value->op)) {
            TRY(lower_terminator(l, value));
        } else {
            LLVMValueRef result = lower_value(l, value);
            TRY(result && !l->diag->failed);
            l->s->values[value->id] = result;
        }
        TRY(!l->diag->failed);
    }
    l->s->ends[block->id] = l_here(l);
    lower_landing(l, block);
    return true;
}

/* Marks the blocks to which only raise edges lead, or what begins with one. */
static bool *blocks_after_raise(Lower *l, const Func *func) {
    bool *raised = ARENA_ARRAY(l->arena, bool, func->next_block);
    VEC(const Block *) usual = {0};
    for (uint32_t i = 0; i < func->next_block; i++) raised[i] = true;
    raised[func->blocks.data[0]->id] = false;
    vec_push(l->arena, &usual, func->blocks.data[0]);
    while (usual.len) {
        const Block *block = vec_pop(&usual);
        for (size_t i = 0; i < block_normal_succs(block); i++) {
            const Block *succ = block->succs.data[i];
            if (!raised[succ->id]) continue;
            raised[succ->id] = false;
            vec_push(l->arena, &usual, succ);
        }
    }
    return raised;
}

/* Blocks in reverse post-order; func_compute_order would write into the function, which others may still read. */
static void post_order(Lower *l, Block *block, bool *seen, Block **out, size_t *count) {
    /* An explicit stack: functions may be long, C stacks are not. */
    typedef struct Frame {
        Block *block;
        uint32_t next;
    } Frame;
    VEC(Frame) stack = {0};
    vec_push(l->arena, &stack, (Frame){block, 0});
    seen[block->id] = true;
    while (stack.len) {
        Frame *top = &vec_last(&stack);
        if (top->next < top->block->succs.len) {
            Block *succ = top->block->succs.data[top->next++];
            if (!seen[succ->id]) {
                seen[succ->id] = true;
                vec_push(l->arena, &stack, (Frame){succ, 0});
            }
        } else {
            out[(*count)++] = vec_pop(&stack).block;
        }
    }
}

bool lower_function(Lower *l, const FuncInst *inst) {
    if (inst->piece) return lower_parallel(l, inst);
    struct LowerState *s = l->s;
    const Func *func = inst->func;
    LoweredFunction *lowered;
    TRY(lowered = lower_lookup(l, inst));
    l->inst = inst;
    l->func = func;
    l->may_raise = lower_may_raise(l, inst);
    l->at = NULL;
    s->values = ARENA_ARRAY(l->arena, LLVMValueRef, func->next_value);
    s->made = ARENA_ARRAY(l->arena, LLVMValueRef, func->next_value);
    s->iterators = ARENA_ARRAY(l->arena, Iterator *, func->next_value);
    s->starts = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, func->next_block);
    s->ends = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, func->next_block);
    s->landings = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, func->next_block);
    s->raised = blocks_after_raise(l, func);
    s->phis.len = s->caught.len = 0;
    s->budget = s->pending = s->missed = NULL;
    s->exit = NULL;
    lower_make_room(l);
    s->landing = NULL;
    l_begin(l, lowered->function);
    lower_params(l);
    if (func->generator) lower_generator_open(l);

    if (inst->recursive && l->target->recursion && !func->generator) {
        l->at = func->blocks.data[0]->first;
        lower_recursion(l);
        l->at = NULL;
    }
    Block **order = ARENA_ARRAY(l->arena, Block *, func->next_block);
    bool *seen = ARENA_ARRAY(l->arena, bool, func->next_block);
    size_t count = 0;
    post_order(l, func->blocks.data[0], seen, order, &count);
    for (size_t i = count; i-- > 0;) s->starts[order[i]->id] = l_block(l, "b");
    l_jump(l, s->starts[func->blocks.data[0]->id]);
    for (size_t i = count; i-- > 0;) TRY(lower_block(l, order[i]));
    for (size_t i = 0; i < s->phis.len; i++) {
        l->at = s->phis.data[i].value;
        TRY(complete_phi(l, &s->phis.data[i]));
    }
    s->after_raise = false;
    if (func->generator)
        lower_generator_close(l);
    else
        lower_drop_caught(l);
    lower_exit(l);
    l_end(l);
    l->inst = NULL;
    l->func = NULL;
    l->at = NULL;
    return !l->diag->failed;
}
