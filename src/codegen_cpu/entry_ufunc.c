/* entry_ufunc.c: ENTRY_UFUNC: the root as the inner loops of a NumPy ufunc.
 *
 * The body of the function stands in two loops, each a function of its own: the strip, over whole rounds of contiguous
 * memory, which LLVM vectorises, so that nothing is left over for a third loop; and the plain one, which takes one
 * element after the other, whatever the steps.  The entry tells the run time of both (runtime/host/strips.c), which
 * goes through the elements with the strip, buffers where operands have gaps; what is less than a round it has the
 * plain loop do, and all where a result overlaps an input (reduce, accumulate) or a light function meets gaps.  For
 * these it asks in time for a plain loop of their own (CodegenOptions.lie), which is all the entry is then.  The run
 * time looks for signals, too: only short arrays of what has no loops go without it.
 *
 * A loop that an element may leave is not made of vectors.  So the strip of a function that raises, and does nothing
 * else that could be seen, goes through all of its elements and tells at the end whether any has raised; the run time
 * then has the plain loop do them anew, up to the one that raises. */
#include "codegen_cpu/cpu.h"

enum {
    MAX_UFUNC_OPERANDS = 32,
    CACHE_LINE = 64,
    PLAIN_ROUND = 4,            /* elements of light functions where there are gaps */
    FEW_OPERANDS = 4,           /* whose addresses and steps are in registers all at once */
    OPERATIONS_OF_AN_ACCESS = 3 /* that a core does while it waits for memory: measured (benchmarks/results) */
};

typedef struct Ufunc {
    const FuncInst *root;
    unsigned nin, nout, count;             /* count = nin + nout */
    const Type *types[MAX_UFUNC_OPERANDS]; /* in memory */
    LLVMValueRef data;
    LLVMValueRef any;      /* where it is noted that an element has raised, if the loop goes on then; or NULL */
    LLVMMetadataRef group; /* of accesses in any order; NULL: in this one */
    VectorWish wish;       /* of the strip */
} Ufunc;

static const Type *result_item(const Type *result, uint32_t i) {
    return result->kind == TY_TUPLE ? result->items[i] : result;
}

/* Real numbers to others: what math.floor gives, declared as float64, and a mean of uint8 declared as one, stay within
 * the vectors. */
const Type *host_ufunc_result(const CodegenOptions *options, const Type *result, uint32_t i) {
    const Type *own = result_item(result, i), *to = options->declared;
    if (!to || (to->kind == TY_TUPLE) != (result->kind == TY_TUPLE)) return own;
    if (to->kind == TY_TUPLE && to->count != result->count) return own;
    to = result_item(to, i);
    if (!type_is_scalar(own) || !type_is_scalar(to) || scalar_is_half((Scalar)to->scalar)) return own;
    return scalar_info[own->scalar].kind != 'c' && scalar_info[to->scalar].kind != 'c' ? to : own;
}

static bool ufunc_operands(Lower *l, Ufunc *u, const FuncInst *root) {
    u->root = root;
    u->nin = root->untyped->nparams;
    bool tuple = root->result->kind == TY_TUPLE;
    u->nout = tuple ? root->result->count : 1;
    u->count = u->nin + u->nout;
    const Func *f = root->untyped;
    FAIL_IF(u->count > MAX_UFUNC_OPERANDS, l->diag, UNSUPPORTED, f->source, f->span,
            "a ufunc has at most %d arguments and results", MAX_UFUNC_OPERANDS);
    for (unsigned i = 0; i < u->count; i++) {
        const Type *type = i < u->nin ? root->types[i] : host_ufunc_result(&l->m->options, root->result, i - u->nin);
        FAIL_IF(!type_is_scalar(type), l->diag, TYPING, f->source, f->span, "%s of a ufunc must be a scalar, not %s%s",
                i < u->nin ? "an argument" : "the result", type_text(l->arena, type),
                i < u->nin
                    ? ": it gets one element at a time, float64 in place of float64[:]; whole arrays are taken by "
                      "guvectorize"
                    : ": end it with `return` and a number, or a tuple of numbers");
        u->types[i] = type;
    }
    return true;
}

/* Tells that an element has raised, and leaves the loop. */
static void raise_if(Lower *l, Ufunc *u, LLVMValueRef status) {
    LIf raised;
    l_if(l, &raised, LLVMBuildICmp(l->b, LLVMIntNE, status, l_i32(l, 0), ""));
    LLVMTypeRef params[] = {l->ptr, l->i32, l->ptr};
    LLVMValueRef arguments[] = {u->data, status, l->exception};
    LLVMValueRef callee = l_raw_load(l, l->ptr, host_offset(l, u->data, offsetof(HostUfunc, raise)), 8);
    LLVMBuildCall2(l->b, LLVMFunctionType(l->v, params, 3, false), callee, arguments, 3, "");
    LLVMBuildRet(l->b, l_i32(l, 1));
    l_enter(l, raised.end); /* the taken branch does not come back */
}

static void note_raised(Lower *l, const Ufunc *u, LLVMValueRef status) {
    LLVMValueRef raised = l_icmp(l, LLVMIntNE, status, l_i32(l, 0)); /* a bit: of vectors, a mask for each */
    l_raw_store(l, l_or(l, l_raw_load(l, l->i1, u->any, 1), raised), u->any, 1);
}

/* Calls the body on one element of each operand; pointers are those of the element. */
static bool ufunc_element(Lower *l, Ufunc *u, LLVMValueRef const *at) {
    LLVMValueRef args[MAX_UFUNC_OPERANDS];
    LLVMValueRef status = NULL;
    for (unsigned i = 0; i < u->nin; i++) args[i] = l_load(l, u->types[i], at[i]);
    LLVMValueRef result = l_call_inst(l, u->root, args, &status);
    TRY(result);
    if (status && u->any)
        note_raised(l, u, status);
    else if (status) {
        u->group = NULL; /* a loop with two exits is not made of vectors */
        raise_if(l, u, status);
    }
    for (unsigned i = 0; i < u->nout; i++) {
        const Type *own = result_item(u->root->result, i), *type = u->types[u->nin + i];
        LLVMValueRef item = u->root->result->kind == TY_TUPLE ? l_item(l, u->root->result, result, i) : result;
        if (own != type) item = l_cast_scalar(l, item, (Scalar)own->scalar, (Scalar)type->scalar);
        l_store(l, type, item, at[u->nin + i]);
    }
    if (u->group) host_mark_accesses(l, u->group, false);
    return true;
}

static bool is_light_call(const Value *call) {
    const FuncInfo *row = func_row(call->imm.func);
    bool is_complex = call->nargs && type_scalar_kind(call->args[0]->type) == 'c';
    return row->how == HOW_OP || row->how == HOW_TYPED || (row->is_light && !is_complex);
}

/* Whether an element takes a few cycles: nothing is divided or called. */
static bool is_light(const FuncInst *root) {
    const Func *f = root->func;
    for (size_t b = 0; b < f->blocks.len; b++)
        for (const Value *value = f->blocks.data[b]->first; value; value = value->next) {
            Op op = value->op;
            if (value_divides(value) || op == OP_TRUEDIV || op == OP_POW || op == OP_CALL_INST) return false;
            if (value->op == OP_CALL_FUNC && !is_light_call(value)) return false;
        }
    return !root->reaches_loop;
}

/* How many vectors a round takes.  Where memory takes longer than what is computed, half a cache line at a time is read
 * and written faster; with more to compute, it is reached too late unless an instruction does a whole line, and a few
 * of them stand side by side; where elements are divided, the processor's divider is what takes long. */
static VectorWish vectors_of(const Ufunc *u) {
    const Func *f = u->root->func;
    unsigned operations = 0;
    if (!is_light(u->root)) return VECTOR_MAY;
    for (size_t b = 0; b < f->blocks.len; b++)
        for (const Value *value = f->blocks.data[b]->first; value; value = value->next) {
            Op op = value->op;
            operations += op_is_unary(op) || op_is_binary(op) || op_is_comparison(op) || op == OP_CALL_FUNC;
        }
    return operations > OPERATIONS_OF_AN_ACCESS * u->count ? VECTOR_FOUR : VECTOR_TWO;
}

/* Elements of a round of the strip: those of the vectors that LLVM is to take at once, or more; 1 of what has loops, so
 * that an element that takes long is not part of many. */
static int64_t elements_of_round(const Ufunc *u) {
    static const unsigned bytes[] = {
        [VECTOR_MAY] = CACHE_LINE, [VECTOR_TWO] = CACHE_LINE, [VECTOR_FOUR] = 4 * CACHE_LINE};
    uint64_t widest = 1;
    for (unsigned i = 0; i < u->count; i++)
        if (type_size(u->types[i]) > widest) widest = type_size(u->types[i]);
    return u->wish == VECTOR_NOT || u->root->reaches_loop ? 1 : (int64_t)(bytes[u->wish] / widest);
}

/* for i in 0 .. count-1: element i of every operand, which lie without gaps from `base` on. */
static bool strip_loop(Lower *l, Ufunc *u, LLVMValueRef count, LLVMValueRef const *base) {
    LFor loop;
    LLVMValueRef index = l_for(l, &loop, count);
    LLVMValueRef at[MAX_UFUNC_OPERANDS] = {NULL};
    for (unsigned i = 0; i < u->count; i++)
        at[i] = l_index(l, l_memory_type(l, (Scalar)u->types[i]->scalar), base[i], index);
    TRY(ufunc_element(l, u, at));
    LLVMBasicBlockRef latch = l_here(l);
    l_endfor(l, &loop);
    host_loop_hints(l, LLVMGetBasicBlockTerminator(latch), u->wish, u->group);
    return true;
}

/* The same of elements that are `step` bytes apart, `several` a round: each address is the one before and a step, as
 * LLVM would find.  `base` is then where the next elements are. */
static bool plain_loop(Lower *l, Ufunc *u, LLVMValueRef rounds, int several, LLVMValueRef *base,
                       LLVMValueRef const *step) {
    LFor loop;
    LLVMBasicBlockRef before = l_here(l);
    l_for(l, &loop, rounds);
    LLVMValueRef at[MAX_UFUNC_OPERANDS] = {NULL}, next[MAX_UFUNC_OPERANDS] = {NULL};
    LLVMPositionBuilder(l->b, loop.head, LLVMGetFirstInstruction(loop.head));
    for (unsigned i = 0; i < u->count; i++) {
        at[i] = LLVMBuildPhi(l->b, l->ptr, "");
        LLVMAddIncoming(at[i], &base[i], &before, 1);
        base[i] = next[i] = at[i];
    }
    l_enter(l, loop.body);
    for (int k = 0; k < several; k++) {
        TRY(ufunc_element(l, u, next));
        for (unsigned i = 0; i < u->count; i++) next[i] = l_offset(l, next[i], step[i]);
    }
    LLVMBasicBlockRef latch = l_here(l);
    for (unsigned i = 0; i < u->count; i++) LLVMAddIncoming(at[i], &next[i], &latch, 1);
    l_endfor(l, &loop);
    host_loop_hints(l, LLVMGetBasicBlockTerminator(latch), VECTOR_NOT, NULL);
    return true;
}

/* ---- plain loops of operands that lie in one way ---- */

/* Counting and addressing elements takes longer than computing them. */
static bool gapped_loop(Lower *l, Ufunc *u, LLVMValueRef count, LLVMValueRef *base, LLVMValueRef const *step) {
    LLVMValueRef rounds = LLVMBuildSDiv(l->b, count, l_i64(l, PLAIN_ROUND), "");
    TRY(plain_loop(l, u, rounds, PLAIN_ROUND, base, step));
    return plain_loop(l, u, l_sub(l, count, l_mul(l, rounds, l_i64(l, PLAIN_ROUND))), 1, base, step);
}

/* What is the next element's operand stays in a register: to come back from memory would take longer than most
 * functions do.  `stores`: each of them is a result, too.  `contiguous`: second operands lie without gaps. */
static bool running_loop(Lower *l, Ufunc *u, LLVMValueRef count, LLVMValueRef const *base, LLVMValueRef const *step,
                         bool stores, bool contiguous) {
    LFor loop;
    const Type *type = u->types[0];
    LLVMTypeRef memory = l_memory_type(l, (Scalar)type->scalar);
    LLVMValueRef last = l_alloca(l, memory, "last");
    l_store(l, type, l_load(l, type, base[0]), last);
    LLVMValueRef index = l_for(l, &loop, count);
    LLVMTypeRef second = l_memory_type(l, (Scalar)u->types[1]->scalar);
    LLVMValueRef at[] = {
        last, contiguous ? l_index(l, second, base[1], index) : l_offset(l, base[1], l_nswmul(l, index, step[1])),
        last};
    TRY(ufunc_element(l, u, at));
    if (stores) l_store(l, type, l_load(l, type, last), l_offset(l, base[2], l_nswmul(l, index, step[2])));
    LLVMBasicBlockRef latch = l_here(l);
    l_endfor(l, &loop);
    host_loop_hints(l, LLVMGetBasicBlockTerminator(latch), stores ? VECTOR_NOT : VECTOR_MAY, NULL);
    if (!stores) l_store(l, type, l_load(l, type, last), base[2]);
    return true;
}

/* Without gaps apart: there integers are added in vectors. */
static bool reduced_loop(Lower *l, Ufunc *u, LLVMValueRef count, LLVMValueRef const *base, LLVMValueRef const *step) {
    LIf dense;
    l_if(l, &dense, l_icmp(l, LLVMIntEQ, step[1], l_i64(l, type_size(u->types[1]))));
    TRY(running_loop(l, u, count, base, step, false, true));
    l_else(l, &dense);
    TRY(running_loop(l, u, count, base, step, false, false));
    l_endif(l, &dense);
    return true;
}

static bool loop_of(Lower *l, Ufunc *u, LLVMValueRef count, LLVMValueRef *base, LLVMValueRef const *step) {
    switch ((HostLie)l->m->options.lie) {
    case LIE_GAPPED: return gapped_loop(l, u, count, base, step);
    case LIE_REDUCED: return reduced_loop(l, u, count, base, step);
    case LIE_ACCUMULATED: return running_loop(l, u, count, base, step, true, false);
    default: return plain_loop(l, u, count, 1, base, step);
    }
}

/* Bits of HostLie: those that gain. */
static int32_t lies_of(const Ufunc *u) {
    if (!is_light(u->root) || u->root->effects & EFFECT_RAISE) return 0;
    bool follows = u->nin == 2 && u->nout == 1 && u->types[0] == u->types[2];
    return (u->count <= FEW_OPERANDS ? 1 << LIE_GAPPED : 0) | (follows ? 1 << LIE_REDUCED | 1 << LIE_ACCUMULATED : 0);
}

/* Begins one of the two functions, whose first parameter is the operands' addresses. */
static void begin(Lower *l, Ufunc *u, LLVMValueRef function, LLVMValueRef *base) {
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = l_alloca_bytes(l, l->m->exception_bytes ? l->m->exception_bytes : 8, 16, "exception");
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    for (unsigned i = 0; i < u->count; i++)
        base[i] = l_raw_load(l, l->ptr, host_offset(l, LLVMGetParam(function, 0), i * sizeof(char *)), 8);
}

/* Effects that somebody else may see: not the steps of a range, and not what is called, which is looked at itself. */
static Effects seen_effects(const Lower *l, const Value *value) {
    bool steps = value->op == OP_ITER_MORE || value->op == OP_ITER_TAKE;
    if (value->op == OP_CALL_INST || (steps && value->args[0]->type->iter == ITER_RANGE)) return 0;
    return value_effects(value, codegen_index_raises(l->target, &l->m->options));
}

/* Whether elements may be computed again, or when they need not be: nobody sees it, and, where an element has loops,
 * all are computed in any case, and no signal ends one of them. */
static bool repeats(const Lower *l, const FuncInst *root) {
    const Effects seen = EFFECT_WRITE | EFFECT_SYNC | EFFECT_NEW | (root->reaches_loop ? EFFECT_RAISE : 0);
    if (!root->summarised) return false;
    for (size_t i = 0; i < l->m->ninsts; i++) {
        const Func *f = l->m->insts[i]->func;
        if (l->m->insts[i]->recursive) return false;
        for (size_t b = 0; b < f->blocks.len; b++)
            for (const Value *value = f->blocks.data[b]->first; value; value = value->next)
                if (seen_effects(l, value) & seen || value->op == OP_SAFEPOINT || value->flags & VF_LOOKS) return false;
    }
    return true;
}

/* Whether elements that come after one that raises may be computed all the same. */
static bool goes_on(const Lower *l, const FuncInst *root) { return root->effects & EFFECT_RAISE && repeats(l, root); }

static bool is_real(const Type *type) {
    char kind = type ? type_scalar_kind(type) : 0;
    return kind == 'f' || kind == 'c';
}

/* Whether anything takes or gives floats, comparisons apart, which set no flags. */
static bool computes_floats(const Func *f) {
    for (size_t b = 0; b < f->blocks.len; b++)
        for (const Value *value = f->blocks.data[b]->first; value; value = value->next) {
            bool moves = value->op == OP_PARAM || value->op == OP_CONST || value->op == OP_PHI;
            if (moves || op_is_comparison(value->op)) continue;
            if (is_real(value->type) || (value->op == OP_CAST && is_real(value->args[0]->type))) return true;
            if (value->op == OP_CALL_FUNC && value->nargs && is_real(value->args[0]->type)) return true;
        }
    return false;
}

/* Whether a condition may keep an element from something of floats, which vectors do for it, too. */
static bool has_conditions(const Lower *l) {
    bool branches = false, floats = false;
    for (size_t i = 0; i < l->m->ninsts; i++) {
        branches |= l->m->insts[i]->func->blocks.len > 1;
        floats |= computes_floats(l->m->insts[i]->func);
    }
    return branches && floats;
}

static bool calls_vectors(const Lower *l, const FuncInst *inst) {
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next)
            if (l_calls_inexact_vectors(l, value)) return true;
    return false;
}

/* Whether vectors may set floating-point flags that an element alone does not: those of the other side of a condition,
 * and those of libmvec, which computes what it then replaces. */
static bool sets_other_flags(const Lower *l) {
    for (size_t i = 0; i < l->m->ninsts; i++)
        if (calls_vectors(l, l->m->insts[i])) return true;
    return has_conditions(l);
}

/* A HostStrip. */
static LLVMValueRef strip(Lower *l, Ufunc u) {
    LLVMTypeRef params[] = {l->ptr, l->i64, l->ptr};
    LLVMValueRef base[MAX_UFUNC_OPERANDS], function = host_entry_add(l, "strip", l->i32, params, COUNT_OF(params));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    begin(l, &u, function, base);
    u.data = LLVMGetParam(function, 2);
    u.group = host_access_group(l);
    if (u.wish == VECTOR_TWO) l_attribute_text(l, function, -1, "prefer-vector-width", "256");
    if (goes_on(l, u.root)) {
        u.any = l_alloca(l, l->i1, "any");
        l_raw_store(l, LLVMConstNull(l->i1), u.any, 1);
    }
    LLVMValueRef count = l_nswmul(l, LLVMGetParam(function, 1), l_i64(l, elements_of_round(&u)));
    TRY(strip_loop(l, &u, count, base));
    LLVMBuildRet(l->b, u.any ? LLVMBuildZExt(l->b, l_raw_load(l, l->i1, u.any, 1), l->i32, "") : l_i32(l, 0));
    l_end(l);
    return function;
}

/* A HostPlain. */
static LLVMValueRef plain(Lower *l, Ufunc u, const char *name) {
    LLVMTypeRef params[] = {l->ptr, l->i64, l->ptr, l->ptr};
    LLVMValueRef base[MAX_UFUNC_OPERANDS], step[MAX_UFUNC_OPERANDS];
    LLVMValueRef function = host_entry_add(l, name, l->i32, params, COUNT_OF(params));
    begin(l, &u, function, base);
    u.data = LLVMGetParam(function, 3);
    for (unsigned i = 0; i < u.count; i++)
        step[i] = l_raw_load(l, l->i64, host_offset(l, LLVMGetParam(function, 2), i * sizeof(int64_t)), 8);
    TRY(loop_of(l, &u, LLVMGetParam(function, 1), base, step));
    LLVMBuildRet(l->b, l_i32(l, 0));
    l_end(l);
    return function;
}

/* What an element alone does says which floating-point flags are its own: of the two sides of a condition it computes
 * one.  LLVM would compute both where that is quicker, but not in functions that are made to be watched by fuzzers.
 * `free`: the strip, if it may be done anew; NULL: it may not, and has to set the right flags itself. */
static void keep_conditions(Lower *l, LLVMValueRef free) {
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f; f = LLVMGetNextFunction(f))
        if (f != free && LLVMGetIntrinsicID(f) == 0) l_attribute(l, f, -1, "optforfuzzing", 0);
}

/* The entry is data, a HostLoops. */
static void add_loops(Lower *l, const Ufunc *u, LLVMValueRef strip, LLVMValueRef plain) {
    char bytes[MAX_UFUNC_OPERANDS + 1] = "";
    bool flags = sets_other_flags(l), again = repeats(l, u->root) && (flags || u->root->effects & EFFECT_RAISE);
    int32_t traits = (is_light(u->root) ? STRIP_LIGHT : 0) | (flags ? STRIP_FLAGS : 0) |
                     (u->root->reaches_loop ? STRIP_LONG : 0) | (again ? STRIP_AGAIN : 0) |
                     (u->root->effects & EFFECT_RAISE || u->root->reaches_loop ? STRIP_STOPS : 0);
    for (unsigned i = 0; i < u->count; i++) bytes[i] = (char)type_size(u->types[i]);
    LLVMValueRef fields[] = {strip,
                             plain,
                             l_cstring(l, bytes),
                             l_i32(l, u->nin),
                             l_i32(l, u->count),
                             l_i32(l, __builtin_ctzll((uint64_t)elements_of_round(u))),
                             l_i32(l, traits),
                             l_i32(l, lies_of(u))};
    LLVMValueRef constant = LLVMConstStructInContext(l->context, fields, COUNT_OF(fields), false);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(constant), l->m->options.entry_name);
    LLVMSetInitializer(global, constant);
    LLVMSetGlobalConstant(global, true);
}

bool host_entry_ufunc(Lower *l, const FuncInst *root) {
    Ufunc u = {0};
    LLVMValueRef contiguous, any;
    TRY(ufunc_operands(l, &u, root));
    bool kept = has_conditions(l) && !repeats(l, root); /* both sides of a condition are not to be computed */
    u.wish = kept || l_may_pass_by_division(l, root) ? VECTOR_NOT : vectors_of(&u);
    if (l->m->options.lie) {
        TRY(plain(l, u, l->m->options.entry_name));
        if (has_conditions(l)) keep_conditions(l, NULL);
        return true;
    }
    TRY((contiguous = strip(l, u)) && (any = plain(l, u, "plain")));
    LLVMSetLinkage(any, LLVMInternalLinkage);
    add_loops(l, &u, contiguous, any);
    if (has_conditions(l)) keep_conditions(l, kept ? NULL : contiguous);
    return true;
}
