/* entry.c: the function that C calls, around the root of a compilation.
 *
 * In: the lowered root.  Out: in the module, a function named options->entry_name with the signature of options->entry
 * (codegen.h, host.h).
 *
 * ENTRY_FUNCTION  loads the arguments from the layout of tuple(params), calls, stores the result.
 * ENTRY_UFUNC     NumPy's inner loop, see entry_ufunc.
 * ENTRY_GUFUNC    that of a generalised ufunc: entry_gufunc.c.
 * ENTRY_CFUNC     a C function: entry_cfunc.c.
 * ENTRY_KERNEL    without barriers: for z, y, x over the threads of a block, or of several that are neighbours along x,
 * x innermost.  The loop is in a function of its own whose parameters include the data pointers of the arrays, so that
 * `noalias` on them holds for the whole loop; the body is inlined into it.  There is a second such function for arrays
 * of one shape: what a kernel's guard says of one array's index then holds for all, and LLVM drops the checks of the
 * accesses.  With barriers: one thread. */
#include <string.h> /* strlen */

#include "codegen_cpu/host.h"

LLVMValueRef host_entry_add(Lower *l, const char *name, LLVMTypeRef result, LLVMTypeRef *params, unsigned count) {
    LLVMValueRef function = LLVMAddFunction(l->module, name, LLVMFunctionType(result, params, count, false));
    l_attribute(l, function, -1, "nounwind", 0);
    return function;
}

static LLVMValueRef offset_by(Lower *l, LLVMValueRef pointer, size_t bytes) {
    return bytes ? l_offset(l, pointer, l_i64(l, (int64_t)bytes)) : pointer;
}

static const Type *params_tuple(Lower *l, const FuncInst *root) {
    return type_tuple(l->types, root->types, root->untyped->nparams);
}

/* The arguments, loaded from the layout of tuple(params). */
static LLVMValueRef *load_arguments(Lower *l, const FuncInst *root, LLVMValueRef from) {
    const Type *tuple = params_tuple(l, root);
    LLVMValueRef *values = ARENA_ARRAY(l->arena, LLVMValueRef, tuple->count);
    for (uint32_t i = 0; i < tuple->count; i++)
        values[i] = l_load(l, tuple->items[i], offset_by(l, from, type_item_offset(tuple, i)));
    return values;
}

/* VECTOR_WHEREVER: also where LLVM's estimate is against it.  It takes the recording of accesses outside an array, and
 * the branches around accesses, for dearer than they are in vectors, where they are masks. */
typedef enum VectorWish { VECTOR_NOT, VECTOR_MAY, VECTOR_WHEREVER } VectorWish;

/* Tells LLVM not to unroll a loop (the vectoriser interleaves on its own), and whether to vectorise it. */
static void loop_hints(Lower *l, LLVMValueRef back_edge, VectorWish wish) {
    LLVMMetadataRef self = LLVMTemporaryMDNode(l->context, NULL, 0);
    LLVMMetadataRef no_unroll = LLVMMDStringInContext2(l->context, "llvm.loop.unroll.disable", 24);
    LLVMMetadataRef vector[] = {LLVMMDStringInContext2(l->context, "llvm.loop.vectorize.enable", 26),
                                LLVMValueAsMetadata(l_i1(l, wish == VECTOR_WHEREVER))};
    LLVMMetadataRef hints[] = {self, LLVMMDNodeInContext2(l->context, &no_unroll, 1),
                               LLVMMDNodeInContext2(l->context, vector, 2)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(l->context, hints, wish == VECTOR_MAY ? 2 : 3);
    LLVMMetadataReplaceAllUsesWith(self, node); /* a loop's metadata begins with itself */
    l_set_metadata(l, back_edge, "llvm.loop", node);
}

void host_note_stack_limit(Lower *l, LLVMValueRef address, int64_t bytes) {
    if (!l->m->recursive) return;
    LLVMValueRef here = l_i32(l, 0);
    here = LLVMBuildPtrToInt(l->b, l_intrinsic(l, "llvm.frameaddress", l->ptr, &here, 1), l->i64, "");
    LLVMValueRef args[] = {here, l_i64(l, bytes)};
    LLVMValueRef limit = bytes == FIBER_RECURSION ? l_sub(l, here, args[1])
                                                  : l_call_named(l, "krait_host_stack_limit", l->i64, args, 2);
    if (limit) l_recursion_open(l, address, limit);
}

/* ---- ENTRY_FUNCTION ---- */

static bool entry_function(Lower *l, const FuncInst *root) {
    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->i32, params, 3);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = LLVMGetParam(function, 2);
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    LLVMValueRef *args = load_arguments(l, root, LLVMGetParam(function, 0));
    LLVMValueRef status = NULL;
    LLVMValueRef result = l_call_inst(l, root, args, &status);
    TRY(result);
    if (l_has_bytes(root->result)) {
        LIf fine;
        if (status) l_if(l, &fine, LLVMBuildICmp(l->b, LLVMIntEQ, status, l_i32(l, 0), ""));
        l_store(l, root->result, result, LLVMGetParam(function, 1));
        if (status) l_endif(l, &fine);
    }
    LLVMBuildRet(l->b, status ? status : l_i32(l, 0));
    l_end(l);
    return true;
}

/* ---- ENTRY_UFUNC ----
 *
 * One copy of the function's body runs over contiguous memory and is what LLVM vectorises.  Operands that are not
 * contiguous (a step other than their size, the step 0 of a broadcast scalar included) pass through buffers on the
 * stack, CHUNK elements at a time, so that they get the vectorised body too.  That order of reads and writes is right
 * only if no output overlaps an input other than exactly; where one does (reduce, accumulate) and for very short arrays
 * a second, plain copy of the body takes one element after the other. */

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
                i < u->nin ? "" : ": return a number, or a tuple of numbers");
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
        LLVMValueRef callee = l_raw_load(l, l->ptr, offset_by(l, u->data, offsetof(HostUfunc, raise)), 8);
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
    loop_hints(l, LLVMGetBasicBlockTerminator(latch), vectorise ? VECTOR_MAY : VECTOR_NOT);
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
    ufunc_endfor(l, &loop, !step);
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

static bool entry_ufunc(Lower *l, const FuncInst *root) {
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
        u.pointer[i] = l_raw_load(l, l->ptr, offset_by(l, LLVMGetParam(function, 0), i * sizeof(char *)), 8);
        u.step[i] = l_raw_load(l, l->i64, offset_by(l, LLVMGetParam(function, 2), i * sizeof(int64_t)), 8);
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

/* ---- ENTRY_KERNEL ---- */

static void store_field(Lower *l, LLVMValueRef thread, size_t offset, LLVMValueRef value, unsigned align) {
    l_raw_store(l, value, offset_by(l, thread, offset), align);
}

/* for value in 0 .. count-1, i32, at least once; LLVM's induction variable analysis wants no more. */
typedef struct Axis {
    LLVMBasicBlockRef head;
    LLVMValueRef index, count;
} Axis;

static LLVMValueRef axis_begin(Lower *l, Axis *axis, LLVMValueRef count, const char *name) {
    LLVMBasicBlockRef before = l_here(l);
    axis->count = count;
    axis->head = l_block(l, name);
    l_jump(l, axis->head);
    l_enter(l, axis->head);
    axis->index = LLVMBuildPhi(l->b, l->i32, name);
    LLVMValueRef zero = l_i32(l, 0);
    LLVMAddIncoming(axis->index, &zero, &before, 1);
    return axis->index;
}

static void axis_end(Lower *l, Axis *axis, VectorWish wish) {
    LLVMValueRef next = LLVMBuildNUWAdd(l->b, axis->index, l_i32(l, 1), "");
    LLVMSetNSW(next, true);
    LLVMBasicBlockRef here = l_here(l), after = l_block(l, "after");
    LLVMAddIncoming(axis->index, &next, &here, 1);
    l_branch(l, l_icmp(l, LLVMIntSLT, next, axis->count), axis->head, after);
    loop_hints(l, LLVMGetBasicBlockTerminator(here), wish);
    l_enter(l, after);
}

/* The loops over threads: z, then y or x, then the other, which is the inner axis (pass thread_order).  The innermost
 * goes on through the joined blocks. */
typedef struct Threads {
    unsigned inner;          /* 0: x, 1: y */
    LLVMValueRef n[3];       /* threads of a block */
    LLVMValueRef z, outer;   /* where the loops are */
    LLVMValueRef grid, here; /* HostGrid *, HostThread * */
} Threads;

/* The number in its block of the thread whose place in the innermost loop is `place`; *block is the joined block. */
static LLVMValueRef thread_number(Lower *l, const Threads *t, LLVMValueRef place, LLVMValueRef *block) {
    LLVMValueRef inner = LLVMBuildURem(l->b, place, t->n[t->inner], "");
    *block = LLVMBuildUDiv(l->b, place, t->n[t->inner], "");
    LLVMValueRef x = t->inner == 0 ? inner : t->outer, y = t->inner == 0 ? t->outer : inner;
    return l_nswadd(l, x, l_nswmul(l, t->n[0], l_nswadd(l, y, l_nswmul(l, t->n[1], t->z))));
}

/* The innermost loop's first bad access becomes the run's, if it is the first there: of the first of the joined blocks,
 * and in that of the first thread.  The loop's own is of its lowest place, so of its lowest block. */
static void merge_bad(Lower *l, const Threads *t) {
    LLVMValueRef bad = l_raw_load(l, l->i32, offset_by(l, t->here, offsetof(HostThread, bad)), 4), block;
    LIf any;
    l_if(l, &any, l_icmp(l, LLVMIntSLT, bad, l_i32(l, NO_BAD_ACCESS)));
    LLVMValueRef site = l_and(l, bad, l_i32(l, (1u << SITE_BITS) - 1));
    LLVMValueRef thread = thread_number(l, t, LLVMBuildLShr(l->b, bad, l_i32(l, SITE_BITS), ""), &block);
    LLVMValueRef key = LLVMBuildShl(l->b, LLVMBuildZExt(l->b, block, l->i64, ""), l_i64(l, THREAD_BITS), "");
    key = l_or(l, key, LLVMBuildZExt(l->b, thread, l->i64, ""));
    key = l_or(l, LLVMBuildShl(l->b, key, l_i64(l, SITE_BITS), ""), LLVMBuildZExt(l->b, site, l->i64, ""));
    LLVMValueRef address = offset_by(l, t->grid, offsetof(HostGrid, bad_access));
    LLVMValueRef args[] = {l_raw_load(l, l->i64, address, 8), key};
    l_raw_store(l, l_intrinsic(l, "llvm.smin", l->i64, args, 2), address, 8);
    l_endif(l, &any);
}

static bool one_thread(Lower *l, const FuncInst *root, const Threads *t, LLVMValueRef place, LLVMValueRef *args) {
    LLVMValueRef status = NULL, block;
    TRY(l_call_inst(l, root, args, &status));
    if (!status) return true;
    LIf raised;
    l_if(l, &raised, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)));
    merge_bad(l, t);
    store_field(l, t->grid, offsetof(HostGrid, raised_thread), thread_number(l, t, place, &block), 4);
    LLVMBuildRet(l->b, status);
    l_enter(l, raised.end);
    return true;
}

static bool block_loop(Lower *l, const FuncInst *root, LLVMValueRef function, LLVMValueRef *args) {
    static const size_t fields[] = {offsetof(HostThread, x), offsetof(HostThread, y)};
    static const char *const names[] = {"x", "y"};
    Threads t = {.inner = l->m->inner_axis, .grid = LLVMGetParam(function, 0)};
    t.here = l_alloca_bytes(l, sizeof(HostThread), _Alignof(HostThread), "thread");
    l->nhidden = 1;
    l->hidden[0] = t.here;
    l->exception = LLVMGetParam(function, 2);
    store_field(l, t.here, offsetof(HostThread, grid), t.grid, 8);
    host_note_stack_limit(l, offset_by(l, t.here, offsetof(HostThread, stack_limit)), THREAD_RECURSION);
    for (int axis = 0; axis < 3; axis++) t.n[axis] = l->target->special(l, (Special)(SPECIAL_BLOCK_DIM_X + axis));
    LLVMValueRef length = t.n[t.inner];
    if (l->m->joins_blocks)
        length = l_nswmul(l, length, l_raw_load(l, l->i32, offset_by(l, t.grid, offsetof(HostGrid, joined)), 4));
    Axis z, outer, inner;
    t.z = axis_begin(l, &z, t.n[2], "z");
    store_field(l, t.here, offsetof(HostThread, z), t.z, 4);
    t.outer = axis_begin(l, &outer, t.n[1 - t.inner], names[1 - t.inner]);
    store_field(l, t.here, fields[1 - t.inner], t.outer, 4);
    store_field(l, t.here, offsetof(HostThread, bad), l_i32(l, INT32_MAX), 4);
    LLVMValueRef place = axis_begin(l, &inner, length, names[t.inner]);
    store_field(l, t.here, fields[t.inner], place, 4);
    store_field(l, t.here, offsetof(HostThread, place), place, 4);
    TRY(one_thread(l, root, &t, place, args));
    axis_end(l, &inner, VECTOR_WHEREVER);
    merge_bad(l, &t);
    axis_end(l, &outer, VECTOR_MAY);
    axis_end(l, &z, VECTOR_MAY);
    LLVMBuildRet(l->b, l_i32(l, 0));
    return true;
}

/* ---- the two copies of the loop ---- */

/* The array at the address `data`, and with the shape of `shape_of` unless that is NULL. */
static LLVMValueRef array_at(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef data, LLVMValueRef shape_of) {
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_array_shape(l, type, shape_of ? shape_of : array, i);
        strides[i] = type->layout == LAYOUT_A ? l_array_stride(l, type, array, i) : NULL;
    }
    return l_array_make(l, type, data, l_array_owner(l, array), shape, strides);
}

/* The first array with as many axes as array i. */
static uint32_t like(const Type *tuple, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (tuple->items[k]->kind == TY_ARRAY && tuple->items[k]->ndim == tuple->items[i]->ndim) return k;
    return i;
}

/* i1: whether all arrays with the same number of axes have the same shape; NULL: no two have the same number. */
static LLVMValueRef same_shapes(Lower *l, const Type *tuple, LLVMValueRef const *args) {
    LLVMValueRef same = NULL;
    for (uint32_t i = 0; i < tuple->count; i++) {
        const Type *type = tuple->items[i];
        if (type->kind != TY_ARRAY || like(tuple, i) == i) continue;
        for (unsigned axis = 0; axis < type->ndim; axis++) {
            LLVMValueRef equal = l_icmp(l, LLVMIntEQ, l_array_shape(l, type, args[i], axis),
                                        l_array_shape(l, type, args[like(tuple, i)], axis));
            same = same ? l_and(l, same, equal) : equal;
        }
    }
    return same;
}

/* int32_t block(grid, args, exception, data of every array...): the loop. */
static LLVMValueRef add_block(Lower *l, const FuncInst *root, const char *name, bool one_shape) {
    const Type *tuple = params_tuple(l, root);
    LLVMTypeRef *params = ARENA_ARRAY(l->arena, LLVMTypeRef, 3 + tuple->count);
    unsigned count = 3;
    for (uint32_t i = 0; i < tuple->count; i++) count += tuple->items[i]->kind == TY_ARRAY;
    for (unsigned i = 0; i < count; i++) params[i] = l->ptr;
    LLVMValueRef block = host_entry_add(l, name, l->i32, params, count);
    LLVMSetLinkage(block, LLVMInternalLinkage);
    l_attribute(l, block, -1, "noinline", 0);
    for (unsigned i = 3; l->m->options.facts & FACT_NOALIAS && i < count; i++)
        l_attribute(l, block, (int)i + 1, "noalias", 0);

    l_begin(l, block);
    LLVMValueRef *args = load_arguments(l, root, LLVMGetParam(block, 1));
    for (uint32_t i = 0, array = 0; i < tuple->count; i++) {
        if (tuple->items[i]->kind != TY_ARRAY) continue;
        args[i] = array_at(l, tuple->items[i], args[i], LLVMGetParam(block, 3 + array++),
                           one_shape ? args[like(tuple, i)] : NULL);
    }
    TRY(block_loop(l, root, block, args));
    l_end(l);
    return block;
}

/* The entry loads the data pointers and calls the copy that fits. */
static bool entry_blocks(Lower *l, const FuncInst *root) {
    const Type *tuple = params_tuple(l, root);
    bool may_share = false;
    for (uint32_t i = 0; i < tuple->count; i++)
        may_share |= tuple->items[i]->kind == TY_ARRAY && tuple->items[i]->ndim > 0 && like(tuple, i) != i;
    LLVMValueRef any = add_block(l, root, "krait_block", false), one = NULL;
    TRY(any);
    if (may_share) TRY(one = add_block(l, root, "krait_block_one_shape", true));

    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->i32, params, 3);
    l_begin(l, function);
    l->nhidden = 0;
    LLVMValueRef *pass = ARENA_ARRAY(l->arena, LLVMValueRef, 3 + tuple->count);
    unsigned count = 3;
    for (unsigned i = 0; i < count; i++) pass[i] = LLVMGetParam(function, i);
    LLVMValueRef *args = load_arguments(l, root, pass[1]);
    for (uint32_t i = 0; i < tuple->count; i++)
        if (tuple->items[i]->kind == TY_ARRAY) pass[count++] = l_array_data(l, args[i]);
    if (one) {
        LIf fits;
        l_if(l, &fits, same_shapes(l, tuple, args));
        LLVMBuildRet(l->b, l_call(l, one, pass, count));
        l_enter(l, fits.end);
    }
    LLVMBuildRet(l->b, l_call(l, any, pass, count));
    l_end(l);
    return true;
}

static bool entry_thread(Lower *l, const FuncInst *root) {
    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->i32, params, 3);
    l_begin(l, function);
    l->nhidden = 1;
    l->hidden[0] = LLVMGetParam(function, 0);
    l->exception = LLVMGetParam(function, 2);
    host_note_stack_limit(l, offset_by(l, l->hidden[0], offsetof(HostThread, stack_limit)), FIBER_RECURSION);
    LLVMValueRef *args = load_arguments(l, root, LLVMGetParam(function, 1));
    LLVMValueRef status = NULL;
    TRY(l_call_inst(l, root, args, &status));
    LLVMBuildRet(l->b, status ? status : l_i32(l, 0));
    l_end(l);
    return true;
}

/* A loop is vectorised only if nothing is called in it: the root goes into the loop, what it calls mostly too. */
static void ask_for_inlining(Lower *l, const FuncInst *root) {
    for (size_t i = 0; i < l->m->ninsts; i++) {
        LLVMValueRef function = l_function_of(l, l->m->insts[i]);
        if (l->m->insts[i] == root)
            l_attribute(l, function, -1, "alwaysinline", 0);
        else
            l_attribute_text(l, function, -1, "function-inline-threshold", "2000");
    }
}

bool host_entry(Lower *l, const FuncInst *root) {
    if (l->m->options.entry != ENTRY_FUNCTION) ask_for_inlining(l, root);
    switch (l->m->options.entry) {
    case ENTRY_FUNCTION: return entry_function(l, root);
    case ENTRY_UFUNC: return entry_ufunc(l, root);
    case ENTRY_GUFUNC: return host_entry_gufunc(l, root);
    case ENTRY_CFUNC: return host_entry_cfunc(l, root);
    case ENTRY_KERNEL: return l->m->has_barriers ? entry_thread(l, root) : entry_blocks(l, root);
    }
    return false;
}
