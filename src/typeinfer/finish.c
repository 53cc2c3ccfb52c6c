/* finish.c: what can be said only when every function of a compilation is solved.
 *
 * In: all FuncInsts, number 0 the root.  Out: those that typed code calls, completed and numbered; who calls whom; a
 * function that calls itself without end refused.  Each step is a worklist over calls: none looks at all functions
 * again and again. */
#include <string.h> /* memcpy */

#include "typeinfer/infer.h"

typedef VEC(FuncInst *) Work;

/* Queues the callees of a typed function that are met for the first time, the first to be called on top. */
static void follow_calls(Arena *arena, const FuncInst *inst, Work *work) {
    size_t before = work->len;
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            FuncInst *callee = value_callee(value);
            if (!callee || callee->called) continue;
            callee->called = true;
            vec_push(arena, work, callee);
        }
    for (size_t low = before, high = work->len; low + 1 < high; low++) {
        FuncInst *swapped = work->data[--high];
        work->data[high] = work->data[low];
        work->data[low] = swapped;
    }
}

/* An attribute that nothing is known of is a consequence, where the function that assigns it failed: the one to report.
 * Nobody knows what that one gives. */
static FuncInst *find_cause(FuncInst *failed, FuncInst **insts, size_t count, Diag *diag) {
    Diag first = *diag;
    for (size_t i = 0; i < count && first.code == DIAG_NO_ATTRIBUTE; i++) {
        FuncInst *inst = insts[i];
        if (inst == failed || inst->called || !inst->inference || inst->result->kind != TY_BOTTOM) continue;
        diag_init(diag, first.arena);
        if (!typeinfer_complete(inst)) return inst;
    }
    *diag = first;
    return failed;
}

/* Those that are called take the first places, each before what it calls, in the order of the calls: it does not matter
 * which of them an earlier compilation has left. */
static bool complete_called(const InferConfig *config, Arena *arena, FuncInst **insts, size_t *count, Diag *diag) {
    Work work = {0}, called = {0};
    insts[0]->called = true;
    vec_push(arena, &work, insts[0]);
    while (work.len) {
        FuncInst *inst = vec_pop(&work);
        if (!typeinfer_complete(inst))
            return typeinfer_note_callers(find_cause(inst, insts, *count, diag), config, diag);
        vec_push(arena, &called, inst);
        follow_calls(arena, inst, &work);
    }
    memcpy(insts, called.data, called.len * sizeof *insts);
    *count = called.len;
    return true;
}

/* ---- functions without a result ---- */

/* The last value before `unreachable` is a call that does not return; NULL: the block ends another way. */
static const FuncInst *ends_in_call(const Block *block) {
    const Value *before = block->last->op == OP_UNREACHABLE ? block->last->prev : NULL;
    return before ? value_callee(before) : NULL;
}

/* One step towards the least set of functions that may end: some block raises, or ends in a call of one that may end.
 */
static bool may_end(const FuncInst *inst) {
    bool calls_on = false;
    for (size_t b = 0; b < inst->func->blocks.len; b++) {
        const Block *block = inst->func->blocks.data[b];
        const FuncInst *callee = ends_in_call(block);
        if (callee && callee->never_returns) return true;
        calls_on |= callee != NULL;
        Op end = block->last->op;
        if (!callee && (end == OP_RAISE || end == OP_RERAISE || end == OP_RESUME || end == OP_UNREACHABLE)) return true;
    }
    return !calls_on; /* a loop without end, as the program says */
}

/* A walk over a collection of the prelude of which nothing says what it holds: it calls no code of the program's, which
 * would be left out with the walk. */
static bool walks_nothing(const FuncInst *inst) {
    const Func *func = inst->untyped;
    return func->prelude && func->nparams == 1 && type_is_instance(inst->types[0]);
}

static bool find_endless(Arena *arena, FuncInst *const *insts, size_t count, bool device, Diag *diag) {
    Work work = {0};
    for (size_t i = 0; i < count; i++)
        if (insts[i]->result->kind == TY_BOTTOM) vec_push(arena, &work, insts[i]);
    while (work.len) {
        FuncInst *inst = vec_pop(&work);
        if (inst->result->kind != TY_BOTTOM || inst->never_returns || !may_end(inst)) continue;
        inst->never_returns = true;
        for (size_t i = 0; i < inst->callers.len; i++) vec_push(arena, &work, inst->callers.data[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const Func *func = insts[i]->untyped;
        FAIL_IF(func->generator && insts[i]->result->items[0]->kind == TY_BOTTOM && !walks_nothing(insts[i]), diag,
                NO_RETURN, func->source, func->span, "the generator %s never yields anything", func->name);
        if (insts[i]->result->kind != TY_BOTTOM || insts[i]->never_returns) continue;
        diag_fail(diag, DIAG_NO_RETURN, func->source, func->span, "%s never returns: every path calls on", func->name);
        diag_hint(diag, "%s",
                  device && i == 0 ? "a kernel is launched from Python, once: let a loop repeat its work, or a "
                                     "device function, @cuda.jit(device=True), of which one path returns "
                                     "without a call: if n <= 0: return"
                                   : "one path returns without a call: if n <= 0: return 0");
        return false;
    }
    return true;
}

/* A function that may give a number or None gives the number, or raises; one that only raises has no type of
 * results. */
static bool give_numbers(FuncInst *root, Diag *diag) {
    Func *func = root->func;
    FAIL_IF(root->never_returns, diag, TYPING, func->source, func->span,
            "every path of `%s` raises, so it never gives a number: let a path end with `return` and one", func->name);
    if (root->result->kind != TY_OPTIONAL || root->callers.len) return true;
    const Type *number = root->result->items[0];
    for (size_t b = 0; b < func->blocks.len; b++) {
        Value *end = func->blocks.data[b]->last;
        if (end->op != OP_RETURN) continue;
        Value *cast = value_new(func, OP_CAST, end->span, end->args, 1);
        cast->type = number;
        cast->imm.text =
            "TypeError: an elementwise function has to give a number, not None: end every path with `return` "
            "and a number";
        value_insert_before(end, cast);
        end->args[0] = cast;
    }
    func->result = root->result = number;
    return true;
}

bool typeinfer_finish(const InferConfig *config, Arena *arena, TypeTable *types, FuncInst **insts, size_t *count,
                      Diag *diag) {
    if (!*count) return true;
    TRY(complete_called(config, arena, insts, count, diag));
    size_t kept = *count;
    for (size_t i = 0; i < kept; i++) insts[i]->id = (uint32_t)i;
    insts_find_calls(arena, insts, kept);
    TRY(find_endless(arena, insts, kept, config->device, diag));
    if (config->elementwise) TRY(give_numbers(insts[0], diag));
    for (size_t i = 0; i < kept; i++)
        if (insts[i]->never_returns) insts[i]->result = type_simple(types, TY_NONE);
    return true;
}
