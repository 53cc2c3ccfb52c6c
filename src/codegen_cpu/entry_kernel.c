/* entry_kernel.c: ENTRY_KERNEL: the threads of a block, for the host device (runtime/host/host.h).
 *
 * Without barriers: for z, y, x over the threads of a block, or of several that are neighbours along x, x innermost.
 * The loop is in a function of its own whose parameters include the data pointers of the arrays, so that `noalias` on
 * them holds for the whole loop; the body is inlined into it.  There is a second such function for arrays of one shape:
 * what a kernel's guard says of one array's index then holds for all, and LLVM drops the checks of the accesses.  With
 * barriers: one thread. */
#include "codegen_cpu/cpu.h"

static void store_field(Lower *l, LLVMValueRef thread, size_t offset, LLVMValueRef value, unsigned align) {
    l_raw_store(l, value, host_offset(l, thread, offset), align);
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
    host_loop_hints(l, LLVMGetBasicBlockTerminator(here), wish);
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
    LLVMValueRef bad = l_raw_load(l, l->i32, host_offset(l, t->here, offsetof(HostThread, bad)), 4), block;
    LIf any;
    l_if(l, &any, l_icmp(l, LLVMIntSLT, bad, l_i32(l, NO_BAD_ACCESS)));
    LLVMValueRef site = l_and(l, bad, l_i32(l, (1u << SITE_BITS) - 1));
    LLVMValueRef thread = thread_number(l, t, LLVMBuildLShr(l->b, bad, l_i32(l, SITE_BITS), ""), &block);
    LLVMValueRef key = LLVMBuildShl(l->b, LLVMBuildZExt(l->b, block, l->i64, ""), l_i64(l, THREAD_BITS), "");
    key = l_or(l, key, LLVMBuildZExt(l->b, thread, l->i64, ""));
    key = l_or(l, LLVMBuildShl(l->b, key, l_i64(l, SITE_BITS), ""), LLVMBuildZExt(l->b, site, l->i64, ""));
    LLVMValueRef address = host_offset(l, t->grid, offsetof(HostGrid, bad_access));
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
    host_note_stack_limit(l, host_offset(l, t.here, offsetof(HostThread, stack_limit)), THREAD_RECURSION);
    for (int axis = 0; axis < 3; axis++) t.n[axis] = l->target->special(l, (Special)(SPECIAL_BLOCK_DIM_X + axis));
    LLVMValueRef length = t.n[t.inner];
    if (l->m->joins_blocks)
        length = l_nswmul(l, length, l_raw_load(l, l->i32, host_offset(l, t.grid, offsetof(HostGrid, joined)), 4));
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
    const Type *tuple = host_params_tuple(l, root);
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
    LLVMValueRef *args = host_load_arguments(l, root, LLVMGetParam(block, 1));
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
static bool blocks(Lower *l, const FuncInst *root) {
    const Type *tuple = host_params_tuple(l, root);
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
    LLVMValueRef *args = host_load_arguments(l, root, pass[1]);
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

static bool fiber_thread(Lower *l, const FuncInst *root) {
    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->i32, params, 3);
    l_begin(l, function);
    l->nhidden = 1;
    l->hidden[0] = LLVMGetParam(function, 0);
    l->exception = LLVMGetParam(function, 2);
    host_note_stack_limit(l, host_offset(l, l->hidden[0], offsetof(HostThread, stack_limit)), FIBER_RECURSION);
    LLVMValueRef *args = host_load_arguments(l, root, LLVMGetParam(function, 1));
    LLVMValueRef status = NULL;
    TRY(l_call_inst(l, root, args, &status));
    LLVMBuildRet(l->b, status ? status : l_i32(l, 0));
    l_end(l);
    return true;
}

bool host_entry_kernel(Lower *l, const FuncInst *root) {
    return l->m->has_barriers ? fiber_thread(l, root) : blocks(l, root);
}
