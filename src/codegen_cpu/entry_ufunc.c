/* entry_ufunc.c: ENTRY_UFUNC: the root as the inner loop of a NumPy ufunc.
 *
 * One copy of the function's body runs over contiguous memory and is what LLVM vectorises.  Operands that are not
 * contiguous (a step other than their size, the step 0 of a broadcast scalar included) pass through buffers on the
 * stack, CHUNK elements at a time, so that they get the vectorised body too.  That order of reads and writes is right
 * only if no output overlaps an input other than exactly; where one does (reduce, accumulate) and for very short arrays
 * a second, plain copy of the body takes one element after the other. */
#include "codegen_cpu/cpu.h"

enum { CHUNK = 256, STRIP = 1 << 16, SHORT_ARRAY = 8, MAX_UFUNC_OPERANDS = 32 };

typedef struct Ufunc {
    const FuncInst *root;
    unsigned nin, nout, count; /* count = nin + nout */
    const Type *types[MAX_UFUNC_OPERANDS];
    LLVMValueRef pointer[MAX_UFUNC_OPERANDS], step[MAX_UFUNC_OPERANDS];
    LLVMValueRef contiguous[MAX_UFUNC_OPERANDS]; /* i1 */
    LLVMValueRef buffer[MAX_UFUNC_OPERANDS];
    LLVMValueRef n, data, data_raise;
    LLVMBasicBlockRef leave;
} Ufunc;

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
        const Type *type = i < u->nin ? root->types[i] : tuple ? root->result->items[i - u->nin] : root->result;
        FAIL_IF(!type_is_scalar(type), l->diag, TYPING, f->source, f->span, "%s of a ufunc must be a scalar, not %s%s",
                i < u->nin ? "an argument" : "the result", type_text(l->arena, type),
                i < u->nin ? "" : ": end it with `return` and a number, or a tuple of numbers");
        u->types[i] = type;
    }
    return true;
}

/* Calls the body on one element of each operand; pointers are those of the element. */
static bool ufunc_element(Lower *l, Ufunc *u, LLVMValueRef const *at) {
    LLVMValueRef args[MAX_UFUNC_OPERANDS];
    for (unsigned i = 0; i < u->nin; i++) args[i] = l_load(l, u->types[i], at[i]);
    LLVMValueRef status = NULL;
    LLVMValueRef result = l_call_inst(l, u->root, args, &status);
    TRY(result);
    if (status) {
        LIf raised;
        l_if(l, &raised, LLVMBuildICmp(l->b, LLVMIntNE, status, l_i32(l, 0), ""));
        LLVMTypeRef params[] = {l->ptr, l->i32, l->ptr};
        LLVMValueRef arguments[] = {u->data, status, l->exception};
        LLVMValueRef callee = l_raw_load(l, l->ptr, host_offset(l, u->data, offsetof(HostUfunc, raise)), 8);
        LLVMBuildCall2(l->b, LLVMFunctionType(l->v, params, 3, false), callee, arguments, 3, "");
        l_jump(l, u->leave);
        l_enter(l, raised.end); /* the taken branch does not come back */
    }
    for (unsigned i = 0; i < u->nout; i++)
        l_store(l, u->types[u->nin + i],
                u->root->result->kind == TY_TUPLE ? l_item(l, u->root->result, result, i) : result, at[u->nin + i]);
    return true;
}

static LLVMValueRef type_bytes(Lower *l, const Type *type) { return l_i64(l, (int64_t)type_size(type)); }

static void ufunc_endfor(Lower *l, LFor *loop, bool vectorise) {
    LLVMBasicBlockRef latch = l_here(l);
    l_endfor(l, loop);
    host_loop_hints(l, LLVMGetBasicBlockTerminator(latch), vectorise ? VECTOR_MAY : VECTOR_NOT, NULL);
}

/* for i in 0 .. count-1: element i of every operand, `base` and `step` apart (step NULL: contiguous). */
static bool ufunc_loop(Lower *l, Ufunc *u, LLVMValueRef count, LLVMValueRef const *base, LLVMValueRef const *step) {
    LFor loop;
    LLVMValueRef index = l_for(l, &loop, count);
    LLVMValueRef at[MAX_UFUNC_OPERANDS] = {NULL};
    for (unsigned i = 0; i < u->count; i++)
        at[i] = step ? l_offset(l, base[i], l_nswmul(l, index, step[i]))
                     : l_index(l, l_memory_type(l, (Scalar)u->types[i]->scalar), base[i], index);
    TRY(ufunc_element(l, u, at));
    ufunc_endfor(l, &loop, !step && !l_may_pass_by_division(l, u->root));
    return true;
}

/* Copies `count` elements of operand i: strided memory at `from` into contiguous `to`, or the other way round. */
static void ufunc_copy(Lower *l, const Type *type, LLVMValueRef strided, LLVMValueRef step, LLVMValueRef packed,
                       LLVMValueRef count, bool gather) {
    LFor loop;
    LLVMValueRef index = l_for(l, &loop, count);
    LLVMValueRef far = l_offset(l, strided, l_nswmul(l, index, step));
    LLVMValueRef near = l_offset(l, packed, l_nswmul(l, index, type_bytes(l, type)));
    l_store(l, type, l_load(l, type, gather ? far : near), gather ? near : far);
    ufunc_endfor(l, &loop, false); /* not worth the code */
}

/* i1: whether every output is apart from every input, or lies exactly on it. */
static LLVMValueRef ufunc_apart(Lower *l, Ufunc *u) {
    LLVMValueRef low[MAX_UFUNC_OPERANDS], high[MAX_UFUNC_OPERANDS], result = l_i1(l, true), zero = l_i64(l, 0);
    LLVMValueRef last = l_sub(l, u->n, l_i64(l, 1));
    for (unsigned i = 0; i < u->count; i++) {
        LLVMValueRef start = LLVMBuildPtrToInt(l->b, u->pointer[i], l->i64, "");
        LLVMValueRef end = l_add(l, start, l_mul(l, u->step[i], last));
        LLVMValueRef backwards = l_icmp(l, LLVMIntSLT, u->step[i], zero);
        low[i] = l_select(l, backwards, end, start);
        high[i] = l_add(l, l_select(l, backwards, start, end), type_bytes(l, u->types[i]));
    }
    for (unsigned o = u->nin; o < u->count; o++) {
        result = l_and(l, result, l_icmp(l, LLVMIntNE, u->step[o], zero));
        for (unsigned i = 0; i < u->nin; i++) {
            LLVMValueRef disjoint = l_or(l, l_icmp(l, LLVMIntULE, high[i], low[o]),
                                         l_icmp(l, LLVMIntULE, high[o], low[i]));
            LLVMValueRef same = l_and(l, l_icmp(l, LLVMIntEQ, u->pointer[i], u->pointer[o]),
                                      l_icmp(l, LLVMIntEQ, u->step[i], u->step[o]));
            result = l_and(l, result, l_or(l, disjoint, same));
        }
    }
    return result;
}

/* The chunks: done = 0; while done < n: gather, body, scatter.  With `all` every operand is contiguous, and they are
 * as long as may pass between two looks for interrupts. */
static bool ufunc_chunks(Lower *l, Ufunc *u, LLVMValueRef all) {
    LLVMValueRef limit = l_select(l, all, l_i64(l, STRIP), l_i64(l, CHUNK));
    LLVMBasicBlockRef before = l_here(l), head = l_block(l, "chunk");
    l_jump(l, head);
    l_enter(l, head);
    LLVMValueRef done = LLVMBuildPhi(l->b, l->i64, "done");
    LLVMValueRef zero = l_i64(l, 0);
    LLVMValueRef smaller[] = {limit, l_sub(l, u->n, done)};
    LLVMValueRef count = l_intrinsic(l, "llvm.smin", l->i64, smaller, 2);
    LLVMValueRef base[MAX_UFUNC_OPERANDS], from[MAX_UFUNC_OPERANDS];
    for (unsigned i = 0; i < u->count; i++) {
        from[i] = l_offset(l, u->pointer[i], l_nswmul(l, done, u->step[i]));
        base[i] = l_select(l, u->contiguous[i], from[i], u->buffer[i]);
    }
    for (unsigned i = 0; i < u->nin; i++) {
        LIf strided; /* a broadcast scalar fills its buffer once */
        LLVMValueRef moves = l_or(l, l_icmp(l, LLVMIntNE, u->step[i], zero), l_icmp(l, LLVMIntEQ, done, zero));
        l_if(l, &strided, l_and(l, l_not(l, u->contiguous[i]), moves));
        ufunc_copy(l, u->types[i], from[i], u->step[i], u->buffer[i], count, true);
        l_endif(l, &strided);
    }
    TRY(ufunc_loop(l, u, count, base, NULL));
    for (unsigned o = u->nin; o < u->count; o++) {
        LIf strided;
        l_if(l, &strided, l_not(l, u->contiguous[o]));
        ufunc_copy(l, u->types[o], from[o], u->step[o], u->buffer[o], count, false);
        l_endif(l, &strided);
    }
    LLVMValueRef next = l_add(l, done, count);
    LLVMBasicBlockRef more = l_block(l, "more"), look = l_block(l, "look");
    l_branch(l, l_icmp(l, LLVMIntSLT, next, u->n), more, u->leave);
    l_enter(l, more);
    l_branch(l, l_icmp(l, LLVMIntEQ, l_and(l, next, l_i64(l, STRIP - 1)), zero), look, head);
    l_enter(l, look); /* the handler of a signal that raised has set the exception: NumPy will see it */
    l_branch(l, l_icmp(l, LLVMIntEQ, l->target->safepoint(l), l_i32(l, 0)), head, u->leave);
    LLVMBasicBlockRef blocks[] = {before, more, look};
    LLVMValueRef values[] = {zero, next, next};
    LLVMAddIncoming(done, values, blocks, 3);
    return true;
}

bool host_entry_ufunc(Lower *l, const FuncInst *root) {
    Ufunc u = {0};
    TRY(ufunc_operands(l, &u, root));
    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->v, params, 4);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = l_alloca_bytes(l, l->m->exception_bytes ? l->m->exception_bytes : 8, 16, "exception");
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    u.data = LLVMGetParam(function, 3);
    u.n = l_raw_load(l, l->i64, LLVMGetParam(function, 1), 8);
    u.leave = l_block(l, "leave");
    LLVMValueRef all = l_i1(l, true);
    for (unsigned i = 0; i < u.count; i++) {
        size_t bytes = type_size(u.types[i]);
        u.pointer[i] = l_raw_load(l, l->ptr, host_offset(l, LLVMGetParam(function, 0), i * sizeof(char *)), 8);
        u.step[i] = l_raw_load(l, l->i64, host_offset(l, LLVMGetParam(function, 2), i * sizeof(int64_t)), 8);
        u.contiguous[i] = l_icmp(l, LLVMIntEQ, u.step[i], l_i64(l, (int64_t)bytes));
        u.buffer[i] = l_alloca_bytes(l, CHUNK * bytes, 64, "buffer");
        all = l_and(l, all, u.contiguous[i]);
    }
    LLVMBasicBlockRef work = l_block(l, "work"), chunks = l_block(l, "chunks"), plain = l_block(l, "plain");
    l_branch(l, l_icmp(l, LLVMIntSGT, u.n, l_i64(l, 0)), work, u.leave);
    l_enter(l, work);
    LLVMValueRef apart = l_and(l, l_icmp(l, LLVMIntSGE, u.n, l_i64(l, SHORT_ARRAY)), ufunc_apart(l, &u));
    l_branch(l, l_or(l, all, apart), chunks, plain);
    l_enter(l, chunks);
    TRY(ufunc_chunks(l, &u, all));
    l_enter(l, plain);
    TRY(ufunc_loop(l, &u, u.n, u.pointer, u.step));
    l_jump(l, u.leave);
    l_enter(l, u.leave);
    LLVMBuildRetVoid(l->b);
    l_end(l);
    return true;
}
