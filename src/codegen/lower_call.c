/* lower_call.c: functions: declarations, parameters, results with status, calls; closures and cells.
 *
 * Convention (llvm.h): hidden parameters of the target, the exception buffer on targets that raise, the leaves of every
 * argument. Result: nothing, one leaf, or a struct of leaves; a function that may raise has the i32 status before them.
 * Which functions may raise is what the pass `effects` has found. */
#include "codegen/lower.h"

/* Recursive functions raise RecursionError before the stack ends; the exception buffer holds what they look at until
 * then. */
static size_t note_recursion(Lower *l) {
    size_t count = 0;
    for (size_t i = 0; i < l->m->ninsts; i++) count += l->m->insts[i]->recursive;
    l->m->recursive |= l->target->recursion && count > 0;
    if (l->m->recursive && l->m->exception_bytes < RECURSION_BYTES) l->m->exception_bytes = RECURSION_BYTES;
    return count;
}

bool lower_may_raise(const Lower *l, const FuncInst *inst) { return l->target->raises && inst->effects & EFFECT_RAISE; }

/* ---- declarations ---- */

/* PTX names are letters, digits, _ and $; the rest of a Python qualified name becomes _. */
static const char *symbol_of(Lower *l, const FuncInst *inst) {
    char *symbol = arena_printf(l->arena, "krait_%s_%u", inst->func->name ? inst->func->name : "", inst->id);
    for (char *c = symbol; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
    return symbol;
}

static void hidden_types(Lower *l, TypeList *types) {
    LLVMTypeRef hidden[MAX_HIDDEN];
    l->nhidden = l->target->hidden_params(l, hidden);
    for (unsigned i = 0; i < l->nhidden; i++) vec_push(l->arena, types, hidden[i]);
    if (l->target->raises) vec_push(l->arena, types, l->ptr);
}

static LLVMTypeRef result_type(Lower *l, const FuncInst *inst) {
    TypeList leaves = {0};
    if (lower_may_raise(l, inst)) vec_push(l->arena, &leaves, l->i32);
    if (inst->result && l_has_bytes(inst->result)) l_leaf_types(l, inst->result, &leaves);
    if (leaves.len == 0) return l->v;
    if (leaves.len == 1) return leaves.data[0];
    return LLVMStructTypeInContext(l->context, leaves.data, (unsigned)leaves.len, false);
}

/* LLVM would inline a chain of calls, each copied into the next, whatever its length: in time that grows with the
 * square of it.  So does the time for functions that call one another in a ring, which it visits again, all of them,
 * whenever a call of one has gone. */
enum { INLINED_CALLS = 32, INLINED_RECURSIVE = 256 };

static bool declare(Lower *l, const FuncInst *inst, bool keeps_recursive) {
    LoweredFunction *lowered = &l->s->functions[inst->id];
    TypeList types = {0};
    hidden_types(l, &types);
    for (uint32_t i = 0; i < inst->untyped->nparams; i++) l_leaf_types(l, inst->types[i], &types);
    LLVMTypeRef type = LLVMFunctionType(result_type(l, inst), types.data, (unsigned)types.len, false);
    lowered->type = type;
    lowered->function = LLVMAddFunction(l->module, symbol_of(l, inst), type);
    LLVMSetLinkage(lowered->function, LLVMInternalLinkage);
    l_attribute(l, lowered->function, -1, "nounwind", 0);
    bool ends_chain = inst->height && inst->height % INLINED_CALLS == 0;
    if (inst != l->m->insts[0] && (ends_chain || (keeps_recursive && inst->recursive)))
        l_attribute(l, lowered->function, -1, "noinline", 0);
    else if ((inst->options & OPT_INLINE) && !inst->recursive && !inst->untyped->generator)
        l_attribute(l, lowered->function, -1, "alwaysinline", 0);
    if (l->target->convergent) l_attribute(l, lowered->function, -1, "convergent", 0);
    if (l->target->raises) l_attribute(l, lowered->function, (int)l->nhidden + 1, "noalias", 0);
    return true;
}

bool lower_declare(Lower *l) {
    size_t most = 0;
    for (size_t i = 0; i < l->m->ninsts; i++) {
        const FuncInst *inst = l->m->insts[i];
        if (!inst->func) return l_fail(l, "function number %u has no typed form", inst->id);
        if (inst->id + 1u > most) most = inst->id + 1u;
    }
    l->s->nfunctions = most;
    l->s->functions = ARENA_ARRAY(l->arena, LoweredFunction, most);
    bool keeps_recursive = note_recursion(l) > INLINED_RECURSIVE;
    for (size_t i = 0; i < l->m->ninsts; i++) TRY(declare(l, l->m->insts[i], keeps_recursive));
    lower_measure(l);
    return true;
}

LLVMValueRef l_function_of(Lower *l, const FuncInst *inst) {
    LoweredFunction *lowered = lower_lookup(l, inst);
    return lowered ? lowered->function : NULL;
}

/* ---- bodies ---- */

void l_begin(Lower *l, LLVMValueRef function) {
    l->function = function;
    l->allocas = l_block(l, "entry");
    l_enter(l, l_block(l, "code"));
    debug_begin(l, function);
}

void l_end(Lower *l) {
    LLVMBasicBlockRef code = LLVMGetNextBasicBlock(l->allocas);
    l_enter(l, l->allocas);
    l_jump(l, code);
    debug_end(l);
    l->function = NULL;
    l->exception = NULL;
}

const bool *l_items_taken(Lower *l, const FuncInst *inst, uint32_t param) {
    enum { WIDE = 64 };
    const Type *tuple = inst->types[param];
    if (tuple->kind != TY_TUPLE || type_repr(tuple)->nleaves <= WIDE || inst->func->generator) return NULL;
    bool *taken = ARENA_ARRAY(l->arena, bool, tuple->count);
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (value->args[i]->op != OP_PARAM || value->args[i]->imm.i != param) continue;
                if (value->op != OP_EXTRACT || (uint64_t)value->imm.i >= tuple->count) return NULL;
                taken[value->imm.i] = true;
            }
    return taken;
}

void lower_params(Lower *l) {
    const FuncInst *inst = l->inst;
    unsigned next = 0;
    for (; next < l->nhidden; next++) l->hidden[next] = LLVMGetParam(l->function, next);
    l->exception = l->target->raises ? LLVMGetParam(l->function, next++) : NULL;
    uint32_t nparams = inst->untyped->nparams;
    LLVMValueRef *values = ARENA_ARRAY(l->arena, LLVMValueRef, nparams);
    for (uint32_t i = 0; i < nparams; i++) {
        TypeList types = {0};
        l_leaf_types(l, inst->types[i], &types);
        LLVMValueRef *leaves = ARENA_ARRAY(l->arena, LLVMValueRef, types.len);
        for (size_t k = 0; k < types.len; k++) leaves[k] = LLVMGetParam(l->function, next++);
        LLVMValueRef const *at = leaves;
        const bool *taken = l_items_taken(l, inst, i);
        values[i] = taken ? l_some_items(l, inst->types[i], taken, leaves, NULL) : l_unflatten(l, inst->types[i], &at);
    }
    for (const Value *value = l->func->blocks.data[0]->first; value; value = value->next)
        if (value->op == OP_PARAM && value->imm.i >= 0 && (uint64_t)value->imm.i < nparams)
            l->s->values[value->id] = values[value->imm.i];
}

/* ---- results ---- */

static LLVMTypeRef returned_type(const Lower *l) { return LLVMGetReturnType(LLVMGlobalGetValueType(l->function)); }

/* What stands for a result where there is none: any number, so that vectors need not choose one; of what may be given
 * up later, nothing. */
static LLVMValueRef no_result(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool number = kind == LLVMIntegerTypeKind || kind == LLVMDoubleTypeKind || kind == LLVMFloatTypeKind;
    return number ? LLVMGetPoison(type) : LLVMConstNull(type);
}

/* To the one return of a function whose copy shall be part of vectors: where a status and a result are one value, which
 * returns in several places would join, LLVM makes none. */
static bool leave_by_exit(Lower *l, LLVMValueRef const *leaves, unsigned count) {
    struct LowerState *s = l->s;
    LLVMTypeRef type = returned_type(l);
    if (!l->m->straight || !l->may_raise || LLVMGetTypeKind(type) != LLVMStructTypeKind) return false;
    if (!s->exit) {
        unsigned all = LLVMCountStructElementTypes(type);
        s->exit = l_block(l, "exit");
        s->exit_leaves = ARENA_ARRAY(l->arena, LLVMValueRef, all);
        for (unsigned i = 0; i < all; i++)
            s->exit_leaves[i] = l_alloca(l, LLVMStructGetTypeAtIndex(type, i), i ? "leaf" : "status");
    }
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
        LLVMBuildStore(l->b, i < count ? leaves[i] : no_result(LLVMStructGetTypeAtIndex(type, i)), s->exit_leaves[i]);
    l_jump(l, s->exit);
    return true;
}

void lower_exit(Lower *l) {
    if (!l->s->exit) return;
    l_enter(l, l->s->exit);
    LLVMTypeRef type = returned_type(l);
    LLVMValueRef result = LLVMGetUndef(type);
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
        result = l_insert(l, result, LLVMBuildLoad2(l->b, LLVMStructGetTypeAtIndex(type, i), l->s->exit_leaves[i], ""),
                          i);
    LLVMBuildRet(l->b, result);
}

void lower_status(Lower *l, LLVMValueRef status) {
    LLVMTypeRef type = returned_type(l);
    if (leave_by_exit(l, &status, 1)) return;
    LLVMBuildRet(l->b, type == l->i32 ? status : l_insert(l, LLVMConstNull(type), status, 0));
}

void lower_result(Lower *l, const FuncInst *inst, LLVMValueRef value) {
    ValueList leaves = {0};
    if (l->may_raise) vec_push(l->arena, &leaves, l_i32(l, 0));
    if (value) l_flatten(l, inst->result, value, &leaves);
    if (leaves.len == 0) {
        LLVMBuildRetVoid(l->b);
    } else if (leaves.len == 1) {
        LLVMBuildRet(l->b, leaves.data[0]);
    } else if (!leave_by_exit(l, leaves.data, (unsigned)leaves.len)) {
        LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(l->function));
        LLVMBuildRet(l->b, l_make(l, type, leaves.data, (unsigned)leaves.len));
    }
}

/* ---- calls ---- */

static LLVMValueRef call_of(Lower *l, const FuncInst *inst, LLVMValueRef const *args) {
    LoweredFunction *lowered;
    TRY(lowered = lower_lookup(l, inst));
    ValueList leaves = {0};
    for (unsigned i = 0; i < l->nhidden; i++) vec_push(l->arena, &leaves, l->hidden[i]);
    if (l->target->raises) vec_push(l->arena, &leaves, l->exception);
    for (uint32_t i = 0; i < inst->untyped->nparams; i++)
        if (l_has_bytes(inst->types[i])) l_flatten(l, inst->types[i], args[i], &leaves);
    return l_call(l, lowered->function, leaves.data, (unsigned)leaves.len);
}

static LLVMValueRef result_of(Lower *l, const FuncInst *inst, LLVMValueRef call, LLVMValueRef *status) {
    LLVMTypeRef type = LLVMTypeOf(call);
    *status = NULL;
    TypeList results = {0};
    if (inst->result && l_has_bytes(inst->result)) l_leaf_types(l, inst->result, &results);
    LLVMValueRef *values = ARENA_ARRAY(l->arena, LLVMValueRef, results.len);
    unsigned first = lower_may_raise(l, inst) ? 1 : 0;
    bool alone = results.len + first == 1;
    if (first) *status = alone ? call : l_extract(l, call, 0);
    for (size_t i = 0; i < results.len; i++) values[i] = alone ? call : l_extract(l, call, (unsigned)i + first);
    LLVMValueRef const *at = values;
    if (type == l->v || results.len == 0) return LLVMGetUndef(inst->result ? l_type(l, inst->result) : l->empty);
    return l_unflatten(l, inst->result, &at);
}

LLVMValueRef l_call_inst(Lower *l, const FuncInst *inst, LLVMValueRef const *args, LLVMValueRef *status) {
    LLVMValueRef call;
    TRY(call = call_of(l, inst, args));
    return result_of(l, inst, call, status);
}

LLVMValueRef lower_call_inst(Lower *l, const Value *call) {
    const FuncInst *inst = call->imm.inst;
    if (call->nargs != inst->untyped->nparams) {
        l_fail(l, "a call of %s has %u operands for %u parameters", inst->untyped->name, call->nargs,
               inst->untyped->nparams);
        return NULL;
    }
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, call->nargs);
    for (uint32_t i = 0; i < call->nargs; i++) args[i] = l_has_bytes(inst->types[i]) ? l_arg(l, call, i) : NULL;
    LLVMValueRef made, status, result;
    TRY(made = call_of(l, inst, args));
    if ((call->flags & VF_INLINE) && !inst->recursive && !inst->untyped->generator)
        l_call_attribute(l, made, -1, "alwaysinline", 0);
    else if (!(inst->options & OPT_INLINE) && !inst->untyped->generator)
        lower_call_if_no_room(l, inst, made);
    TRY(result = result_of(l, inst, made, &status));
    if (status) {
        LLVMBasicBlockRef raised = l_block(l, "raised"), fine = l_block(l, "fine");
        l_branch_unlikely(l, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)), raised, fine);
        l_enter(l, raised);
        if (l->target->raises && !inst->outlined) l_note_call(l);
        l_leave(l, status);
        TRY(!l->diag->failed);
        l_enter(l, fine);
    }
    return result;
}

LLVMValueRef lower_call_func(Lower *l, const Value *call) {
    const FuncInfo *info = func_row(call->imm.func);
    switch (info->how) {
    case HOW_EXTERN:
    case HOW_HOSTED:
    case HOW_RTLIB: return lower_library(l, call);
    case HOW_EMIT: {
        Emitter emitter = lower_func_emitter(info->head.id);
        if (emitter) return emitter(l, call);
        l_fail(l, "nothing emits %s", info->head.key);
        return NULL;
    }
    case HOW_OP:
    case HOW_PRELUDE:
    case HOW_TYPED:
    case HOW_PYTHON:
    default: l_fail(l, "inference left a call of %s", info->head.key); return NULL;
    }
}

/* ---- closures and cells ---- */

/* A function made here is the struct of what it carries: its defaults, keyword defaults and cells. */
LLVMValueRef lower_function_value(Lower *l, const Value *value) {
    LLVMTypeRef type = l_type(l, value->type);
    LLVMValueRef closure = LLVMGetUndef(type);
    for (uint32_t i = 0; i < value->nargs && i < value->type->count; i++)
        if (l_has_bytes(value->type->items[i])) closure = l_set_item(l, value->type, closure, i, l_arg(l, value, i));
    return closure;
}

/* A cell is memory of the function that makes it: closures never outlive it (returning one is refused by inference).
 * Behind the content stands a byte that tells whether it was ever assigned. */
static LLVMValueRef cell_flag(Lower *l, const Type *content, LLVMValueRef cell) {
    size_t bytes = l_has_bytes(content) ? type_size(content) : 0;
    return bytes ? l_offset(l, cell, l_i64(l, (int64_t)bytes)) : cell;
}

LLVMValueRef lower_cell(Lower *l, const Value *value) {
    const Type *content = value->type->items[0];
    bool has_bytes = l_has_bytes(content);
    size_t bytes = has_bytes ? type_size(content) : 0;
    LLVMValueRef cell = l_alloca_bytes(l, bytes + 1, has_bytes ? (unsigned)type_align(content) : 1, "cell");
    if (value->nargs && has_bytes) l_store(l, content, l_arg(l, value, 0), cell);
    l_raw_store(l, l_i8(l, value->nargs > 0), cell_flag(l, content, cell), 1);
    return cell;
}

/* Gives up what a cell holds, if it was ever assigned. */
void l_release_cell(Lower *l, const Type *content, LLVMValueRef cell) {
    LIf assigned;
    l_if(l, &assigned, l_icmp(l, LLVMIntNE, l_raw_load(l, l->i8, cell_flag(l, content, cell), 1), l_i8(l, 0)));
    l_count(l, OP_RELEASE, content, l_load(l, content, cell));
    l_endif(l, &assigned);
}

/* A cell that came as a parameter belongs to a function around this one: CPython's words differ. */
LLVMValueRef lower_cell_get(Lower *l, const Value *value) {
    const Type *content = value->args[0]->type->items[0];
    LLVMValueRef cell = l_arg(l, value, 0);
    bool is_free = value->args[0]->op == OP_PARAM;
    const char *format = "cannot access %s variable '%s' where it is not associated with a value%s";
    const char *text = arena_printf(l->arena, format, is_free ? "free" : "local",
                                    value->imm.text ? value->imm.text : "?", is_free ? " in enclosing scope" : "");
    LLVMValueRef assigned = l_raw_load(l, l->i8, cell_flag(l, content, cell), 1);
    LLVMValueRef missing = l_icmp(l, LLVMIntEQ, assigned, l_i8(l, 0));
    l_raise_if(l, missing, is_free ? "NameError" : "UnboundLocalError", text, NULL, 0);
    LLVMValueRef got = l_load(l, content, cell);
    if (value->flags & VF_OWNED) l_count(l, OP_RETAIN, content, got);
    return l_convert(l, got, content, value->type);
}

LLVMValueRef lower_cell_set(Lower *l, const Value *value) {
    const Type *content = value->args[0]->type->items[0];
    LLVMValueRef cell = l_arg(l, value, 0);
    if (value->flags & VF_OWNED) l_release_cell(l, content, cell);
    if (l_has_bytes(content))
        l_store(l, content, l_convert(l, l_arg(l, value, 1), value->args[1]->type, content), cell);
    l_raw_store(l, l_i8(l, 1), cell_flag(l, content, cell), 1);
    return LLVMGetUndef(l->empty);
}
