/* worklist.c: every specialisation that the root needs, each inferred until no result changes.
 *
 * In: the root FuncInst.  Out: all FuncInsts typed.
 *
 * Inference of a function asks for the instances that it calls (job.c, host_instance).  A new one starts with result
 * TY_BOTTOM ("never returns, as far as we know") and is queued; the caller is registered with it and leaves what
 * follows the call unreached.  When an instance's result changes, its callers are queued again.  Results only go up a
 * lattice of finite height, so this ends; recursion, self or mutual, needs nothing special.  A bound on the number of
 * instances catches functions that call themselves with ever new types. */
#include <string.h> /* memcpy */

#include "driver/job.h"

enum { MAX_INSTANCES = 4096, MAX_ROUNDS = 200, MAX_NOTES = 8 };

static bool same_request(const FuncInst *inst, ObjRef function, const Type *const *types, const Const *const *konsts,
                         size_t count) {
    if (inst->object != function) return false;
    for (size_t i = 0; i < count; i++) {
        const Const *have = inst->konsts[i], *want = konsts ? konsts[i] : NULL;
        if (inst->types[i] != types[i] || !have != !want || (have && !const_equal(have, want))) return false;
    }
    return true;
}

static void enqueue(Job *job, FuncInst *inst) {
    if (!inst->queued) {
        inst->queued = true;
        vec_push(job->arena, &job->queue, inst);
    }
}

static void add_caller(Job *job, FuncInst *inst, FuncInst *caller) {
    for (size_t i = 0; i < inst->callers.len; i++)
        if (inst->callers.data[i] == caller) return;
    vec_push(job->arena, &inst->callers, caller);
}

FuncInst *worklist_instance(Job *job, ObjRef function, const Func *untyped, const Type *const *types,
                            const Const *const *konsts, FuncInst *caller) {
    size_t count = untyped->nparams;
    FuncInst *inst = NULL;
    for (size_t i = 0; i < job->insts.len && !inst; i++)
        if (same_request(job->insts.data[i], function, types, konsts, count)) inst = job->insts.data[i];
    if (!inst) {
        FAIL_IF(job->insts.len >= MAX_INSTANCES, job->diag, UNSUPPORTED, untyped->source, untyped->span,
                "%s is called with ever new types: %d specialisations were made", untyped->name, MAX_INSTANCES);
        inst = ARENA_NEW(job->arena, FuncInst);
        inst->id = (uint32_t)job->insts.len;
        inst->object = function;
        inst->untyped = untyped;
        const Type **own_types = ARENA_ARRAY(job->arena, const Type *, count);
        const Const **own_konsts = ARENA_ARRAY(job->arena, const Const *, count);
        for (size_t i = 0; i < count; i++) {
            own_types[i] = types[i];
            own_konsts[i] = konsts ? konsts[i] : NULL;
        }
        inst->types = own_types;
        inst->konsts = own_konsts;
        inst->result = type_simple(job->session->types, TY_BOTTOM);
        inst->options = (job->options.python_errors ? OPT_PYTHON_ERRORS : 0) |
                        (job->options.boundscheck ? OPT_BOUNDSCHECK : 0) | (job->config->kernel ? OPT_DEVICE : 0);
        vec_push(job->arena, &job->insts, inst);
        enqueue(job, inst);
    }
    if (caller) add_caller(job, inst, caller);
    return inst;
}

/* A failure met in a callee is also one of the calls that led there. */
static bool note_callers(const FuncInst *inst, Diag *diag) {
    for (int depth = 0; depth < MAX_NOTES && inst->callers.len && inst->callers.data[0] != inst; depth++) {
        typeinfer_note_caller(inst->callers.data[0], inst, diag);
        inst = inst->callers.data[0];
    }
    return false;
}

/* Whether runtime/marshal/box.c can make a Python object of it. */
static bool can_leave(const Type *type) {
    switch (type->kind) {
    case TY_STR:
    case TY_FUNC:
    case TY_CLOSURE:
    case TY_CELL:
    case TY_ITER:
    case TY_FLAT:
    case TY_SLICE:
    case TY_EXC: return false;
    case TY_TUPLE:
    case TY_OPTIONAL:
        for (uint32_t i = 0; i < type->count; i++) TRY(can_leave(type->items[i]));
        return true;
    default: return true;
    }
}

/* What a function gives back to the interpreter is checked before code is made, at the place where it is returned. */
bool worklist_check_result(Job *job) {
    const FuncInst *root = job->insts.data[0];
    if (job->config->kernel ? root->result->kind == TY_NONE : can_leave(root->result)) return true;
    Span span = root->untyped->span;
    for (size_t b = 0; b < root->func->blocks.len; b++) {
        const Value *last = root->func->blocks.data[b]->last;
        if (last && last->op == OP_RETURN) span = last->span;
    }
    if (job->config->kernel) {
        diag_fail(job->diag, DIAG_TYPING, root->untyped->source, span,
                  "kernel `%s` returns %s, and a kernel returns nothing", root->untyped->name,
                  type_text(job->arena, root->result));
        diag_hint(job->diag, "write the result into an array argument, or make it a device function, "
                             "cuda.jit(device=True), that a kernel calls");
        return false;
    }
    diag_fail(job->diag, DIAG_TYPING, root->untyped->source, span, "%s cannot be returned to Python",
              root->result->kind == TY_CLOSURE ? "a function made in compiled code"
                                               : type_text(job->arena, root->result));
    diag_hint(job->diag, "return numbers, arrays, or tuples of them");
    return false;
}

bool worklist_run(Job *job) {
    InferConfig config = {job->config->promotion, job->config->kernel, &job->infer_host};
    for (size_t round = 0; job->queue.len > 0; round++) {
        FuncInst *inst = vec_pop(&job->queue); /* newest first: callees before the callers that wait for them */
        inst->queued = false;
        const Type *result = inst->result;
        const Const *konst = inst->result_konst;
        FAIL_IF(round > MAX_ROUNDS * job->insts.len, job->diag, LOWERING, inst->untyped->source, inst->untyped->span,
                "the types of %s do not settle", inst->untyped->name);
        if (!typeinfer_run(&config, job->arena, job->session->types, inst, job->diag))
            return note_callers(inst, job->diag);
        bool same_konst = (!konst && !inst->result_konst) ||
                          (konst && inst->result_konst && const_equal(konst, inst->result_konst));
        if (inst->result != result || !same_konst)
            for (size_t i = 0; i < inst->callers.len; i++) enqueue(job, inst->callers.data[i]);
    }
    return typeinfer_finish(job->session->types, job->insts.data, &job->insts.len, job->diag);
}
