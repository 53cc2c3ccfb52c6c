/* worklist.c: every specialisation that the root needs, each inferred until no result changes.
 *
 * In: the root FuncInst.  Out: all FuncInsts typed.
 *
 * Inference of a function asks for the instances that it calls (job.c, host_instance).  A new one starts with result
 * TY_BOTTOM ("never returns, as far as we know") and is queued; the call is registered with it and leaves what
 * follows unreached, and its function pauses until the new one was looked at.  When an instance's result changes, the
 * calls that saw the old one are woken, and their functions queued again.  Results only go up a lattice of finite
 * height, so this ends; recursion, self or mutual, needs nothing special.  A bound on the number of instances of one
 * function catches those that call themselves with ever new types, one on the changes of a result those that return
 * ever new types. */
#include "driver/units.h" /* units_take */

enum { MAX_INSTANCES = 4096, MAX_CHANGES = 200, MAX_WIDENED = 100, MAX_DEPTH = 200 };

static bool same_request(const FuncInst *inst, const Func *untyped, const InferRequest *request) {
    const Type *const *types = request->types;
    const Const *const *konsts = request->konsts;
    size_t count = untyped->nparams;
    if (inst->untyped != untyped || inst->expected != request->expected) return false;
    for (size_t i = 0; i < count; i++) {
        const Const *have = inst->konsts[i], *want = konsts ? konsts[i] : NULL;
        if (inst->types[i] != types[i] || !have != !want || (have && !const_equal(have, want))) return false;
    }
    return true;
}

static uint64_t hash_request(const Func *untyped, const InferRequest *request) {
    const Type *const *types = request->types;
    const Const *const *konsts = request->konsts;
    uint64_t hash = hash_mix(hash_mix(0, (uintptr_t)untyped), (uintptr_t)request->expected);
    for (size_t i = 0; i < untyped->nparams; i++) {
        hash = hash_mix(hash, (uintptr_t)types[i]);
        if (konsts && konsts[i] && type_is_integer(types[i])) hash = hash_mix(hash, (uint64_t)konsts[i]->i);
    }
    return hash;
}

static Specialised *specialised(Job *job, ObjRef function) {
    uint64_t hash = hash_mix(0, function);
    uint32_t i = hash_index_first(&job->functions, hash);
    while (i != HASH_INDEX_END && job->specialised.data[i].function != function)
        i = hash_index_next(&job->functions, i);
    if (i != HASH_INDEX_END) return &job->specialised.data[i];
    hash_index_add(&job->functions, job->arena, hash);
    vec_push(job->arena, &job->specialised, (Specialised){function, 0});
    return &vec_last(&job->specialised);
}

static void enqueue(Job *job, FuncInst *inst) {
    if (!inst->queued) {
        inst->queued = true;
        vec_push(job->arena, &job->queue, inst);
    }
}

static FuncInst *new_instance(Job *job, const Func *untyped, const InferRequest *request) {
    const Const *const *konsts = request->konsts;
    size_t count = untyped->nparams;
    FuncInst *inst = ARENA_NEW(job->arena, FuncInst);
    inst->id = (uint32_t)job->insts.len;
    inst->object = request->function;
    inst->untyped = untyped;
    inst->expected = request->expected;
    const Type **own_types = ARENA_ARRAY(job->arena, const Type *, count);
    const Const **own_konsts = ARENA_ARRAY(job->arena, const Const *, count);
    for (size_t i = 0; i < count; i++) {
        own_types[i] = request->types[i];
        own_konsts[i] = konsts ? konsts[i] : NULL;
    }
    inst->types = own_types;
    inst->konsts = own_konsts;
    const Type *nothing = type_simple(job->session->types, TY_BOTTOM);
    inst->result = untyped->generator ? type_generator(job->session->types, nothing, NULL, NULL) : nothing;
    inst->options = (job->options.python_errors ? OPT_PYTHON_ERRORS : 0) |
                    (job->options.boundscheck ? OPT_BOUNDSCHECK : 0) | (job->config->kernel ? OPT_DEVICE : 0) |
                    (request->function ? inline_options(job, request->function) : OPT_INLINE); /* of an element */
    return inst;
}

FuncInst *worklist_add(Job *job, const Func *untyped, const InferRequest *request, FuncInst *caller) {
    FuncInst *inst = new_instance(job, untyped, request);
    inst->caller = caller;
    hash_index_add(&job->requests, job->arena, hash_request(untyped, request));
    vec_push(job->arena, &job->insts, inst);
    return inst;
}

static FuncInst *add_instance(Job *job, const Func *untyped, const InferRequest *request, FuncInst *caller) {
    FuncInst *inst = worklist_add(job, untyped, request, caller);
    if (!units_take(job, inst)) enqueue(job, inst);
    return inst;
}

/* What calls itself with types that hold what they were before soon has larger ones than anything can walk through;
 * `again`: it was called with others before. */
static bool check_size(Job *job, const Func *untyped, size_t param, const Type *type, bool again) {
    if (type->depth <= MAX_DEPTH && type->within < TYPE_MAX_WITHIN) return true;
    bool deep = type->depth > MAX_DEPTH;
    const char *how = again ? "ever new types: one" : "a value that";
    diag_fail(job->diag, DIAG_UNSUPPORTED, untyped->source, untyped->span,
              deep ? "%s is called with %s holds others more than %d deep, its argument '%s'"
                   : "%s is called with %s holds %d others or more, its argument '%s'",
              untyped->name, how, deep ? MAX_DEPTH : TYPE_MAX_WITHIN, untyped->params[param].name);
    diag_hint(job->diag, again ? "keep what grows in a list of numbers or of tuples"
                               : "what is nested that deep fits a list of tuples, with the number of the one that each "
                                 "lies in, or an array");
    return false;
}

FuncInst *worklist_find(Job *job, const Func *untyped, const InferRequest *request) {
    uint32_t i = hash_index_first(&job->requests, hash_request(untyped, request));
    while (i != HASH_INDEX_END && !same_request(job->insts.data[i], untyped, request))
        i = hash_index_next(&job->requests, i);
    return i == HASH_INDEX_END ? NULL : job->insts.data[i];
}

FuncInst *worklist_instance(Job *job, const Func *untyped, const InferRequest *request, CallSite site) {
    FuncInst *inst = worklist_find(job, untyped, request);
    if (!inst) {
        bool again = specialised(job, request->function)->count > 1;
        for (size_t p = 0; p < untyped->nparams; p++) TRY(check_size(job, untyped, p, request->types[p], again));
        FAIL_IF(specialised(job, request->function)->count++ >= MAX_INSTANCES, job->diag, UNSUPPORTED, untyped->source,
                untyped->span, "%s is called with ever new types: %d specialisations were made", untyped->name,
                MAX_INSTANCES);
        inst = add_instance(job, untyped, request, site.caller);
        if (site.call && site.call->op == OP_CALL) inst->named = site.call->args[0]->type;
        if (inst->queued && site.caller && site.caller->inference) site.caller->pauses = true;
    }
    if (site.call && site.caller->inference) vec_push(job->arena, &inst->waiting, site);
    return inst;
}

/* ---- functions of elements ---- */

static const Func *make_row_function(Job *job, const Type *callee, size_t count) {
    const char *name = callee->kind == TY_FUNC ? func_name(job->arena, callee->func)
                                               : frontend_translate(&job->frontend, callee->object)->name;
    Func *func = func_new(job->arena, job->session->types, name, NULL);
    Block *block = block_new(func);
    Value **args = ARENA_ARRAY(job->arena, Value *, count + 1);
    func->params = ARENA_ARRAY(job->arena, Param, count);
    func->nparams = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        func->params[i] = (Param){.name = arena_printf(job->arena, "x%zu", i + 1), .kind = PARAM_POSITIONAL_ONLY};
        args[1 + i] = block_append(func, block, OP_PARAM, (Span){0}, NULL, 0);
        args[1 + i]->imm.i = (int64_t)i;
    }
    args[0] = block_append_const(func, block, (Span){0}, const_of(job->arena, callee));
    Value *result = block_append(func, block, OP_CALL, (Span){0}, args, count + 1);
    block_append(func, block, OP_RETURN, (Span){0}, &result, 1);
    return func;
}

const Func *worklist_row_function(Job *job, const Type *callee, size_t count) {
    for (size_t i = 0; i < job->row_functions.len; i++) {
        const RowFunction *known = &job->row_functions.data[i];
        if (known->callee == callee && known->count == count) return known->untyped;
    }
    const Func *untyped = make_row_function(job, callee, count);
    vec_push(job->arena, &job->row_functions, (RowFunction){callee, count, untyped});
    return untyped;
}

/* A generator becomes an iterator of Python's. */
static bool can_be_returned(const Type *type) {
    for (uint32_t i = 0; type->kind == TY_GENERATOR && i < type->count; i++)
        if (!type_can_leave(type->items[i])) return false;
    return type->kind == TY_GENERATOR || type_can_leave(type);
}

/* Where it is returned: the first place that gives something, else the last one. */
static Span returned_at(const FuncInst *inst) {
    Span span = inst->untyped->span;
    for (size_t b = 0; b < inst->func->blocks.len; b++) {
        const Value *last = inst->func->blocks.data[b]->last;
        if (!last || last->op != OP_RETURN) continue;
        const Value *given = last->args[0];
        if (given->op == OP_CAST) given = given->args[0];
        span = last->span;
        if (given->type && given->type->kind != TY_NONE) break;
    }
    return span;
}

/* In the words of a message. */
static const char *result_text(Job *job, const Type *type) {
    switch (type->kind) {
    case TY_CLOSURE: return "a function made in compiled code";
    case TY_EXC: return "an exception made in compiled code";
    case TY_CAUGHT: return "an exception that was caught";
    default: return type_text(job->arena, type);
    }
}

/* What a function gives back to the interpreter is checked before code is made, at the place where it is returned. */
bool worklist_check_result(Job *job) {
    const FuncInst *root = job->insts.data[0];
    EntryKind entry = job->config->codegen.entry;
    bool launched = entry == ENTRY_KERNEL || entry == ENTRY_GUFUNC;
    if (launched ? root->result->kind == TY_NONE : job->config->kernel || can_be_returned(root->result)) return true;
    Span span = returned_at(root);
    if (launched) {
        const Type *given = root->result->kind == TY_OPTIONAL ? root->result->items[0] : root->result;
        diag_fail(job->diag, DIAG_TYPING, root->untyped->source, span,
                  entry == ENTRY_KERNEL ? "kernel `%s` returns %s, and a kernel returns nothing"
                                        : "`%s` returns %s, and the function of a generalised ufunc returns nothing",
                  root->untyped->name, type_text(job->arena, given));
        diag_hint(job->diag, entry == ENTRY_KERNEL
                                 ? "write the result into an array argument (`return` alone ends a "
                                   "thread), or make it a device function, cuda.jit(device=True), that "
                                   "a kernel calls"
                                 : "write the results into its last parameters: out[...] = ...");
        return false;
    }
    diag_fail(job->diag, DIAG_TYPING, root->untyped->source, span, "%s cannot be returned to Python",
              result_text(job, root->result));
    bool exception = root->result->kind == TY_EXC || root->result->kind == TY_CAUGHT;
    diag_hint(job->diag, exception ? "raise it, or return what tells of it: str(e), a number"
                                   : "return numbers, arrays, or tuples of them");
    return false;
}

/* The calls that saw an older result; each says again that it waits when it is typed again. */
static void wake_callers(Job *job, FuncInst *inst) {
    while (inst->waiting.len) {
        CallSite site = vec_pop(&inst->waiting);
        typeinfer_wake(&site);
        enqueue(job, site.caller);
    }
}

/* The first function, which the interpreter calls, is to take arguments that hold more than those at hand do: what it
 * puts into an empty list, or into an attribute that is None.  An instance of such types takes the place of the root,
 * and these arguments fit it, too. */
static bool widen_root(Job *job) {
    FuncInst *root = job->insts.data[0], *wide;
    size_t count = root->untyped->nparams;
    if (!root->wanted || job->widened == MAX_WIDENED) return false;
    const Type **types = ARENA_ARRAY(job->arena, const Type *, count);
    const Const **konsts = ARENA_ARRAY(job->arena, const Const *, count);
    bool more = false;
    for (size_t i = 0; i < count; i++) {
        types[i] = root->wanted[i] ? root->wanted[i] : root->types[i];
        konsts[i] = types[i] == root->types[i] ? root->konsts[i] : NULL;
        more |= types[i] != root->types[i];
    }
    const InferRequest request = {root->object, types, konsts, NULL};
    if (!more) return false;
    wide = add_instance(job, root->untyped, &request, NULL);
    job->widened++;
    root->id = wide->id;
    job->insts.data[root->id] = root;
    job->insts.data[wide->id = 0] = wide;
    return true;
}

static void reverse(FuncInst **insts, size_t count) {
    for (size_t low = 0, high = count; low + 1 < high; low++) {
        FuncInst *swapped = insts[--high];
        insts[high] = insts[low];
        insts[low] = swapped;
    }
}

/* What was put on the queue from `callees` on, and the callers from `callers` on, change places: callees come first, or
 * a caller would see of the function between them no more than what does not depend on these. */
static void queue_behind(Job *job, size_t callees, size_t callers) {
    FuncInst **from = job->queue.data + callees;
    reverse(from, callers - callees);
    reverse(job->queue.data + callers, job->queue.len - callers);
    reverse(from, job->queue.len - callees);
}

/* A function that waits for what was put on the queue from `callees` on comes after that. */
static void queue_below(Job *job, size_t callees, FuncInst *inst) {
    inst->pauses = false;
    enqueue(job, inst);
    reverse(job->queue.data + callees, job->queue.len - 1 - callees);
    reverse(job->queue.data + callees, job->queue.len - callees);
}

static bool settle(Job *job) {
    while (job->queue.len > 0) {
        TRY(job_goes_on(job));
        FuncInst *inst = vec_pop(&job->queue); /* newest first: callees before the callers that wait for them */
        size_t callees = job->queue.len;
        inst->queued = false;
        const Type *result = inst->result;
        const Const *konst = inst->result_konst;
        if (!typeinfer_run(&job->infer_config, job->arena, job->session->types, inst, job->diag))
            return typeinfer_note_callers(inst, &job->infer_config, job->diag);
        if (inst->pauses) {
            queue_below(job, callees, inst);
            continue;
        }
        bool same_konst = (!konst && !inst->result_konst) ||
                          (konst && inst->result_konst && const_equal(konst, inst->result_konst));
        bool wants = inst->wants;
        inst->wants = false;
        if (inst->result == result && same_konst && !wants) continue;
        if (inst->changes++ > MAX_CHANGES) {
            const Func *untyped = inst->untyped;
            const char *what = arena_printf(job->arena, "what %s gives", untyped->name);
            return typeinfer_refuse_endless(job->diag, untyped->source, untyped->span, what);
        }
        size_t callers = job->queue.len;
        wake_callers(job, inst);
        queue_behind(job, callees, callers);
    }
    return true;
}

/* What global variables hold is to hold more: all that was inferred is forgotten. */
static bool widen_captures(Job *job) {
    bool more = false;
    for (size_t i = 0; i < job->captures.len; i++) {
        Captured *capture = &job->captures.data[i];
        if (!capture->wanted || capture->wanted == capture->type) continue;
        capture->type = capture->wanted;
        more = true;
    }
    if (!more || job->widened++ >= MAX_WIDENED) return false;
    const FuncInst *root = job->insts.data[0];
    const InferRequest request = {root->object, root->types, root->konsts, NULL};
    job->insts.len = job->specialised.len = 0;
    job->requests = job->functions = (HashIndex){0};
    return add_instance(job, root->untyped, &request, NULL);
}

/* What waited for the items of a generator takes it as one without any. */
static bool close_generators(Job *job) {
    OpenCalls *open = &job->open;
    bool any = open->closed < open->sites.len;
    for (; open->closed < open->sites.len; open->closed++) {
        typeinfer_wake(&open->sites.data[open->closed]);
        enqueue(job, open->sites.data[open->closed].caller);
    }
    return any;
}

bool worklist_run(Job *job) {
    do {
        job->open = (OpenCalls){0};
        do TRY(settle(job));
        while (close_generators(job));
    } while (widen_captures(job) || widen_root(job));
    TRY(!job->diag->failed);
    return typeinfer_finish(&job->infer_config, job->arena, job->session->types, job->insts.data, &job->insts.len,
                            job->diag);
}
