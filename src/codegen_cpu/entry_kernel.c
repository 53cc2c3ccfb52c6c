/* entry_kernel.c: ENTRY_KERNEL: the threads of a block, for the host device (runtime/host/host.h).
 *
 * Without barriers: a loop over the threads of a block (threads.c).  It is in a function of its own whose parameters
 * include the data pointers of the arrays, so that `noalias` on them holds for the whole loop; the body is inlined into
 * it.  There is a second such function for arrays of one shape: what a kernel's guard says of one array's index then
 * holds for all, and LLVM drops the checks of the accesses.  With barriers: the kernel in such a function, if pass
 * barriers has made it one that runs once for a block, and a second time for blocks of the size that it is written for;
 * else one thread.  Under FACT_FITS the second copy is alone, and the launch is declined where it does not fit. */
#include "codegen_cpu/cpu.h"

/* ---- what runs in a block ---- */

/* For all launches, for arrays of one shape, for blocks of one size. */
typedef enum BlockCopy { COPY_ANY, COPY_ONE_SHAPE, COPY_ONE_SIZE } BlockCopy;

typedef struct Call {
    const FuncInst *root;
    LLVMValueRef *args;
} Call;

static bool one_thread(Lower *l, Threads *t, void *self) {
    const Call *call = self;
    LLVMValueRef status = NULL, block;
    TRY(l_call_inst(l, call->root, call->args, &status));
    if (!status) return true;
    LIf raised;
    l_if(l, &raised, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)));
    threads_merge_bad(l, t);
    host_store_field(l, t->grid, offsetof(HostGrid, raised_thread), threads_number(l, t, t->place, &block), 4);
    LLVMBuildRet(l->b, status);
    l_enter(l, raised.end);
    return true;
}

/* The kernel says itself what its threads do; what it raises without them is raised by the first. */
static bool one_block(Lower *l, const FuncInst *root, const Threads *t, LLVMValueRef *args) {
    static const size_t places[] = {offsetof(HostThread, x), offsetof(HostThread, y), offsetof(HostThread, z),
                                    offsetof(HostThread, place)};
    for (size_t i = 0; i < COUNT_OF(places); i++) host_store_field(l, t->here, places[i], l_i32(l, 0), 4);
    host_store_field(l, t->here, offsetof(HostThread, bad), l_i32(l, INT32_MAX), 4);
    host_store_field(l, t->grid, offsetof(HostGrid, raised_thread), l_i32(l, 0), 4);
    LLVMValueRef status = NULL;
    TRY(l_call_inst(l, root, args, &status));
    LLVMBuildRet(l->b, status ? status : l_i32(l, 0));
    return true;
}

/* Blocks have the size that the kernel is written for (Program.block). */
static void assume_size(Lower *l) {
    for (int axis = 0; axis < 3; axis++) {
        if (!l->m->block[axis]) continue;
        LLVMValueRef threads = l->target->special(l, (Special)(SPECIAL_BLOCK_DIM_X + axis));
        LLVMValueRef known = l_icmp(l, LLVMIntEQ, threads, l_i32(l, l->m->block[axis]));
        l_intrinsic(l, "llvm.assume", NULL, &known, 1);
    }
}

static bool block_body(Lower *l, const FuncInst *root, LLVMValueRef function, LLVMValueRef *args, BlockCopy copy) {
    Threads t = {.grid = LLVMGetParam(function, 0)};
    t.here = l_alloca_bytes(l, sizeof(HostThread), _Alignof(HostThread), "thread");
    l->nhidden = 1;
    l->hidden[0] = t.here;
    l->exception = LLVMGetParam(function, 2);
    host_store_field(l, t.here, offsetof(HostThread, grid), t.grid, 8);
    host_note_stack_limit(l, host_offset(l, t.here, offsetof(HostThread, stack_limit)), THREAD_RECURSION);
    if (copy == COPY_ONE_SIZE) assume_size(l);
    if (root->by_regions) return one_block(l, root, &t, args);
    TRY(threads_each(l, &t, one_thread, &(Call){root, args}));
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

static bool has_size(const Lower *l) { return l->m->block[0] || l->m->block[1] || l->m->block[2]; }

/* int32_t block(grid, args, exception, data of every array...): the loop. */
static LLVMValueRef add_block(Lower *l, const FuncInst *root, const char *name, BlockCopy copy) {
    const Type *tuple = host_params_tuple(l, root);
    LLVMTypeRef *params = ARENA_ARRAY(l->arena, LLVMTypeRef, 3 + tuple->count);
    unsigned count = 3;
    for (uint32_t i = 0; i < tuple->count; i++) count += tuple->items[i]->kind == TY_ARRAY;
    for (unsigned i = 0; i < count; i++) params[i] = l->ptr;
    LLVMValueRef block = host_entry_add(l, name, l->i32, params, count);
    LLVMSetLinkage(block, LLVMInternalLinkage);
    l_attribute(l, block, -1, "noinline", 0);
    /* no loop is made vectors of: this copy is for blocks of sizes that are hardly used, and LLVM's time is long */
    if (copy == COPY_ANY && has_size(l)) l_attribute(l, block, -1, "noimplicitfloat", 0);
    bool apart = l->m->options.facts & FACT_NOALIAS && !l->m->captures_memory;
    for (unsigned i = 3; apart && i < count; i++) l_attribute(l, block, (int)i + 1, "noalias", 0);

    l_begin(l, block);
    LLVMValueRef *args = host_load_arguments(l, root, LLVMGetParam(block, 1));
    for (uint32_t i = 0, array = 0; i < tuple->count; i++) {
        if (tuple->items[i]->kind != TY_ARRAY) continue;
        args[i] = array_at(l, tuple->items[i], args[i], LLVMGetParam(block, 3 + array++),
                           copy == COPY_ONE_SHAPE ? args[like(tuple, i)] : NULL);
    }
    TRY(block_body(l, root, block, args, copy));
    l_end(l);
    return block;
}

/* i1: whether the blocks of a grid have the size that the kernel is written for. */
static LLVMValueRef same_size(Lower *l, LLVMValueRef grid) {
    static const size_t sizes[] = {offsetof(HostGrid, block_x), offsetof(HostGrid, block_y),
                                   offsetof(HostGrid, block_z)};
    LLVMValueRef same = l_i1(l, true);
    for (int axis = 0; axis < 3; axis++) {
        if (!l->m->block[axis]) continue;
        LLVMValueRef threads = l_raw_load(l, l->i32, host_offset(l, grid, sizes[axis]), 4);
        same = l_and(l, same, l_icmp(l, LLVMIntEQ, threads, l_i32(l, l->m->block[axis])));
    }
    return same;
}

/* The entry loads the data pointers and calls the copy that fits; under FACT_FITS there is that copy alone. */
static bool blocks(Lower *l, const FuncInst *root) {
    const Type *tuple = host_params_tuple(l, root);
    bool may_share = false;
    for (uint32_t i = 0; i < tuple->count && !root->by_regions; i++)
        may_share |= tuple->items[i]->kind == TY_ARRAY && tuple->items[i]->ndim > 0 && like(tuple, i) != i;
    bool fits = l->m->options.facts & FACT_FITS && (may_share || has_size(l));
    LLVMValueRef any = NULL, one = NULL;
    if (!fits) TRY(any = add_block(l, root, "krait_block", COPY_ANY));
    if (may_share) TRY(one = add_block(l, root, "krait_block_one_shape", COPY_ONE_SHAPE));
    if (has_size(l)) TRY(one = add_block(l, root, "krait_block_one_size", COPY_ONE_SIZE));

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
        LIf is_for_one;
        l_if(l, &is_for_one, may_share ? same_shapes(l, tuple, args) : same_size(l, pass[0]));
        LLVMBuildRet(l->b, l_call(l, one, pass, count));
        l_enter(l, is_for_one.end);
    }
    LLVMBuildRet(l->b, any ? l_call(l, any, pass, count) : l_i32(l, STATUS_DECLINED));
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
