/* lower_cuda.c: krait.cuda in kernels: places, barriers, fences, arrays of a block or a thread, atomics, and
 * instructions by name.
 *
 * In: a CALL_FUNC with typed operands.  Out: its value.  What differs between the GPU and the host is asked of the
 * Target; the rest is LLVM IR that both lower. */
#include <string.h>

#include "codegen/lowering.h" /* Lower */

static LLVMValueRef none(Lower *l) { return LLVMGetUndef(l->empty); }

static LLVMValueRef special(Lower *l, Special which) {
    return LLVMBuildZExt(l->b, l->target->special(l, which), l->i64, "");
}

/* To be multiplied: a small grid's places fit 32 bits. */
static LLVMValueRef factor(Lower *l, Special which) {
    return l->narrow ? l->target->special(l, which) : special(l, which);
}

/* ---- places and sizes ---- */

static LLVMValueRef per_axis(Lower *l, const Value *call, LLVMValueRef (*axis)(Lower *l, int axis)) {
    int64_t ndim = call->type->kind == TY_TUPLE ? call->type->count : 1;
    LLVMValueRef items[3];
    for (int i = 0; i < ndim; i++) items[i] = axis(l, i);
    return ndim == 1 ? items[0] : l_make_items(l, call->type, items);
}

/* A grid has at most 2^31 - 1 blocks on the first axis and 1024 threads a block: no overflow in 64 bits. */
static LLVMValueRef grid_place(Lower *l, int axis) {
    LLVMValueRef start = l_nswmul(l, factor(l, (Special)(SPECIAL_BLOCK_X + axis)),
                                  factor(l, (Special)(SPECIAL_BLOCK_DIM_X + axis)));
    LLVMValueRef place = l_nswadd(l, start, factor(l, (Special)(SPECIAL_THREAD_X + axis)));
    return l->narrow ? LLVMBuildZExt(l->b, place, l->i64, "") : place;
}

static LLVMValueRef grid_size(Lower *l, int axis) {
    LLVMValueRef size = l_nswmul(l, factor(l, (Special)(SPECIAL_GRID_DIM_X + axis)),
                                 factor(l, (Special)(SPECIAL_BLOCK_DIM_X + axis)));
    return l->narrow ? LLVMBuildZExt(l->b, size, l->i64, "") : size;
}

LLVMValueRef lower_func_cuda_grid(Lower *l, const Value *call) { return per_axis(l, call, grid_place); }
LLVMValueRef lower_func_cuda_gridsize(Lower *l, const Value *call) { return per_axis(l, call, grid_size); }

_Static_assert(FUNC_CUDA_WARPSIZE - FUNC_CUDA_THREADIDX_X == SPECIAL_WARP_SIZE, "rows in the order of Special");
LLVMValueRef lower_func_cuda_special(Lower *l, const Value *call) {
    return special(l, (Special)(call->imm.func->id - FUNC_CUDA_THREADIDX_X));
}

/* ---- barriers and fences ---- */

LLVMValueRef lower_func_cuda_syncthreads(Lower *l, const Value *call) {
    l->target->barrier(l, call);
    return none(l);
}

static LLVMValueRef vote(Lower *l, const Value *call, BarrierVote which) {
    return LLVMBuildZExt(l->b, l->target->barrier_vote(l, call, which, l_arg(l, call, 0)), l->i64, "");
}

LLVMValueRef lower_func_cuda_syncgrid(Lower *l, const Value *call) {
    l->target->grid_barrier(l, call);
    l->m->waits_for_grid = true;
    return none(l);
}

LLVMValueRef lower_func_cuda_syncthreads_count(Lower *l, const Value *call) { return vote(l, call, VOTE_COUNT); }
LLVMValueRef lower_func_cuda_syncthreads_and(Lower *l, const Value *call) { return vote(l, call, VOTE_ALL); }
LLVMValueRef lower_func_cuda_syncthreads_or(Lower *l, const Value *call) { return vote(l, call, VOTE_ANY); }

LLVMValueRef lower_func_cuda_threadfence(Lower *l, const Value *call) {
    l_watch(l, call, NULL, NULL, RACE_FENCE);
    l->target->fence(l, call->imm.func->id == FUNC_CUDA_THREADFENCE         ? FENCE_DEVICE
                        : call->imm.func->id == FUNC_CUDA_THREADFENCE_BLOCK ? FENCE_BLOCK
                                                                            : FENCE_SYSTEM);
    return none(l);
}

LLVMValueRef lower_func_cuda_nanosleep(Lower *l, const Value *call) {
    l->target->rest(l, LLVMBuildTrunc(l->b, l_arg(l, call, 0), l->i32, ""));
    return none(l);
}

/* ---- arrays ---- */

static void constant_shape(Lower *l, const Value *call, LLVMValueRef shape[TYPE_MAX_NDIM]) {
    const Const *konst = l_arg_const(call, 0);
    for (unsigned i = 0; i < call->type->ndim; i++)
        shape[i] = l_i64(l, konst->type->kind == TY_TUPLE ? konst->items[i]->i : konst->i);
}

LLVMValueRef lower_func_cuda_shared_array(Lower *l, const Value *call) {
    LLVMValueRef shape[TYPE_MAX_NDIM];
    ArrayRequest request = call_array_request(call);
    constant_shape(l, call, shape);
    l->m->shared_bytes = (l->m->shared_bytes + request.bytes + request.alignment - 1) / request.alignment *
                         request.alignment;
    LLVMValueRef data = l->target->shared_array(l, call, request.bytes, request.alignment);
    TRY(data);
    if (request.bytes == 0)
        shape[0] = LLVMBuildUDiv(l->b, l->target->dynamic_shared_bytes(l),
                                 l_i64(l, (int64_t)type_size(type_element(call->type))), "");
    return l_array_of_shape(l, call->type, data, shape);
}

LLVMValueRef lower_func_cuda_local_array(Lower *l, const Value *call) {
    LLVMValueRef shape[TYPE_MAX_NDIM];
    ArrayRequest request = call_array_request(call);
    constant_shape(l, call, shape);
    LLVMValueRef data = l->inst->by_regions ? l->target->context(l, call) /* of all threads */
                                            : l_alloca_bytes(l, request.bytes, request.alignment, "local");
    return l_array_of_shape(l, call->type, data, shape);
}

/* ---- atomics: relaxed, at the scope the target names ---- */

static LLVMValueRef with_scope(Lower *l, LLVMValueRef instruction) {
    unsigned scope = LLVMGetSyncScopeID(l->context, l->target->atomic_scope, strlen(l->target->atomic_scope));
    LLVMSetAtomicSyncScopeID(instruction, scope);
    return instruction;
}

/* An element that threads operate on one after the other. */
typedef struct Cell {
    LLVMValueRef pointer;
    bool plain; /* no thread of the machine but this one gets there (cell_of) */
} Cell;

/* Where a block's threads run one after the other, as on the host, its own memory needs no instructions that lock. */
static Cell cell_of(const Lower *l, const Access *access, const Value *call) {
    return (Cell){access->pointer, l->target->block_is_one_thread && call->flags & VF_OF_BLOCK};
}

/* What an operation leaves. */
static LLVMValueRef rmw_result(Lower *l, LLVMAtomicRMWBinOp op, LLVMValueRef old, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    switch (op) {
    case LLVMAtomicRMWBinOpXchg: return value;
    case LLVMAtomicRMWBinOpAdd: return l_add(l, old, value);
    case LLVMAtomicRMWBinOpSub: return l_sub(l, old, value);
    case LLVMAtomicRMWBinOpAnd: return l_and(l, old, value);
    case LLVMAtomicRMWBinOpOr: return l_or(l, old, value);
    case LLVMAtomicRMWBinOpXor: return l_xor(l, old, value);
    case LLVMAtomicRMWBinOpMax: return l_select(l, l_icmp(l, LLVMIntSGT, value, old), value, old);
    case LLVMAtomicRMWBinOpUMax: return l_select(l, l_icmp(l, LLVMIntUGT, value, old), value, old);
    case LLVMAtomicRMWBinOpMin: return l_select(l, l_icmp(l, LLVMIntSLT, value, old), value, old);
    case LLVMAtomicRMWBinOpUMin: return l_select(l, l_icmp(l, LLVMIntULT, value, old), value, old);
    case LLVMAtomicRMWBinOpUIncWrap: {
        LLVMValueRef next = l_add(l, old, LLVMConstInt(type, 1, false));
        return l_select(l, l_icmp(l, LLVMIntUGE, old, value), l_null(type), next);
    }
    case LLVMAtomicRMWBinOpUDecWrap: {
        LLVMValueRef none_left = l_icmp(l, LLVMIntEQ, old, l_null(type)), above = l_icmp(l, LLVMIntUGT, old, value);
        return l_select(l, l_or(l, none_left, above), value, l_sub(l, old, LLVMConstInt(type, 1, false)));
    }
    default: return l_fadd(l, old, value);
    }
}

static unsigned bytes_of(Lower *l, LLVMTypeRef type) { return (unsigned)LLVMABISizeOfType(l->m->layout, type); }

static LLVMValueRef atomic_rmw(Lower *l, LLVMAtomicRMWBinOp op, Cell cell, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (!cell.plain)
        return with_scope(l, LLVMBuildAtomicRMW(l->b, op, cell.pointer, value, LLVMAtomicOrderingMonotonic, false));
    LLVMValueRef old = l_raw_load(l, type, cell.pointer, bytes_of(l, type));
    l_raw_store(l, rmw_result(l, op, old, value), cell.pointer, bytes_of(l, type));
    return old;
}

static LLVMTypeRef bits_of(Lower *l, LLVMTypeRef type) {
    if (type == l->f16 || type == l->bf16) return l->i16;
    return type == l->f32 ? l->i32 : type == l->f64 ? l->i64 : type;
}

/* If *pointer == expected then *pointer = desired; the old value.  Floats are compared by their bits, as the hardware
 * does. */
static LLVMValueRef atomic_cas(Lower *l, Cell cell, LLVMValueRef expected, LLVMValueRef desired) {
    LLVMTypeRef type = LLVMTypeOf(expected), bits = bits_of(l, type);
    LLVMValueRef e = LLVMBuildBitCast(l->b, expected, bits, ""), d = LLVMBuildBitCast(l->b, desired, bits, ""), old;
    if (cell.plain) {
        old = l_raw_load(l, bits, cell.pointer, bytes_of(l, bits));
        l_raw_store(l, l_select(l, l_icmp(l, LLVMIntEQ, old, e), d, old), cell.pointer, bytes_of(l, bits));
    } else {
        LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
        old = l_extract(l, with_scope(l, LLVMBuildAtomicCmpXchg(l->b, cell.pointer, e, d, relaxed, relaxed, false)), 0);
    }
    return LLVMBuildBitCast(l->b, old, type, "");
}

/* What an operation leaves in memory for a float. */
static LLVMValueRef float_result(Lower *l, FuncId func, Scalar scalar, LLVMValueRef old, LLVMValueRef value) {
    if (func == FUNC_CUDA_ATOMIC_ADD) return l_scalar_op(l, OP_ADD, scalar, old, value);
    bool largest = func == FUNC_CUDA_ATOMIC_MAX || func == FUNC_CUDA_ATOMIC_NANMAX;
    bool numbers = func == FUNC_CUDA_ATOMIC_NANMAX || func == FUNC_CUDA_ATOMIC_NANMIN;
    LLVMValueRef beyond = l_scalar_op(l, largest ? OP_GT : OP_LT, scalar, value, old);
    /* max is Python's max(old, value): beside a NaN nothing is larger, the old value stays; nanmax takes the number */
    LLVMValueRef missing = numbers ? l_scalar_op(l, OP_NE, scalar, old, old) : beyond;
    return l_select(l, l_or(l, beyond, missing), value, old);
}

/* Repeats compare-and-swap until nobody came in between. */
static LLVMValueRef float_loop(Lower *l, FuncId func, Scalar scalar, Cell cell, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value), bits = bits_of(l, type);
    LLVMBasicBlockRef before = l_here(l), again = l_block(l, "again"), done = l_block(l, "swapped");
    LLVMValueRef first = l_raw_load(l, type, cell.pointer, LLVMGetIntTypeWidth(bits) / 8);
    l_jump(l, again);
    l_enter(l, again);
    LLVMValueRef old = LLVMBuildPhi(l->b, type, "");
    LLVMValueRef found = atomic_cas(l, cell, old, float_result(l, func, scalar, old, value));
    LLVMValueRef same = l_icmp(l, LLVMIntEQ, LLVMBuildBitCast(l->b, found, bits, ""),
                               LLVMBuildBitCast(l->b, old, bits, ""));
    LLVMValueRef incoming[] = {first, found};
    LLVMBasicBlockRef from[] = {before, l_here(l)};
    LLVMAddIncoming(old, incoming, from, 2);
    l_branch(l, same, done, again);
    l_enter(l, done);
    return found;
}

static LLVMValueRef atomic_integer(Lower *l, FuncId func, bool is_signed, Cell cell, LLVMValueRef value) {
    switch (func) {
    case FUNC_CUDA_ATOMIC_ADD: return atomic_rmw(l, LLVMAtomicRMWBinOpAdd, cell, value);
    case FUNC_CUDA_ATOMIC_SUB: return atomic_rmw(l, LLVMAtomicRMWBinOpSub, cell, value);
    case FUNC_CUDA_ATOMIC_MAX:
    case FUNC_CUDA_ATOMIC_NANMAX:
        return atomic_rmw(l, is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax, cell, value);
    case FUNC_CUDA_ATOMIC_MIN:
    case FUNC_CUDA_ATOMIC_NANMIN:
        return atomic_rmw(l, is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin, cell, value);
    case FUNC_CUDA_ATOMIC_AND: return atomic_rmw(l, LLVMAtomicRMWBinOpAnd, cell, value);
    case FUNC_CUDA_ATOMIC_OR: return atomic_rmw(l, LLVMAtomicRMWBinOpOr, cell, value);
    case FUNC_CUDA_ATOMIC_XOR: return atomic_rmw(l, LLVMAtomicRMWBinOpXor, cell, value);
    case FUNC_CUDA_ATOMIC_EXCH: return atomic_rmw(l, LLVMAtomicRMWBinOpXchg, cell, value);
    case FUNC_CUDA_ATOMIC_INC: return atomic_rmw(l, LLVMAtomicRMWBinOpUIncWrap, cell, value);
    case FUNC_CUDA_ATOMIC_DEC: return atomic_rmw(l, LLVMAtomicRMWBinOpUDecWrap, cell, value);
    default: return l_fail(l, "%s of integers is not compiled", func_info[func].head.names), NULL;
    }
}

static LLVMValueRef atomic_sum(Lower *l, Scalar scalar, Cell cell, LLVMValueRef value) {
    if (scalar == SCALAR_BFLOAT16 && !l->target->rounds_bfloat16)
        return float_loop(l, FUNC_CUDA_ATOMIC_ADD, scalar, cell, value);
    return atomic_rmw(l, LLVMAtomicRMWBinOpFAdd, cell, value);
}

static LLVMValueRef atomic_float(Lower *l, FuncId func, Scalar scalar, Cell cell, LLVMValueRef value) {
    switch (func) {
    case FUNC_CUDA_ATOMIC_ADD: return atomic_sum(l, scalar, cell, value);
    case FUNC_CUDA_ATOMIC_SUB: return atomic_sum(l, scalar, cell, l_scalar_op(l, OP_NEG, scalar, value, NULL));
    case FUNC_CUDA_ATOMIC_EXCH: return atomic_rmw(l, LLVMAtomicRMWBinOpXchg, cell, value);
    case FUNC_CUDA_ATOMIC_MAX:
    case FUNC_CUDA_ATOMIC_MIN:
    case FUNC_CUDA_ATOMIC_NANMAX:
    case FUNC_CUDA_ATOMIC_NANMIN: return float_loop(l, func, scalar, cell, value);
    default: return l_fail(l, "%s of floats is not compiled", func_info[func].head.names), NULL;
    }
}

/* Each part by itself: no thread sees a part that is half added, but perhaps one part without the other. */
static LLVMValueRef atomic_complex(Lower *l, FuncId func, const Type *element, Cell cell, LLVMValueRef value) {
    Cell second = {l_offset(l, cell.pointer, l_i64(l, (int64_t)type_size(element) / 2)), cell.plain};
    Scalar part = element->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64;
    LLVMValueRef re = atomic_float(l, func, part, cell, l_extract(l, value, 0));
    return l_complex(l, re, atomic_float(l, func, part, second, l_extract(l, value, 1)));
}

LLVMValueRef lower_func_cuda_atomic(Lower *l, const Value *call) {
    Access access;
    l_access(l, &access, call, call->args[0], call->args[1]);
    l_watch(l, call, access.pointer, access.element, RACE_ATOMIC);
    LLVMValueRef value = l_arg(l, call, 2), old;
    Cell cell = cell_of(l, &access, call);
    if (type_scalar_kind(access.element) == 'c')
        old = atomic_complex(l, call->imm.func->id, access.element, cell, value);
    else if (type_scalar_kind(access.element) == 'f')
        old = atomic_float(l, call->imm.func->id, (Scalar)access.element->scalar, cell, value);
    else
        old = atomic_integer(l, call->imm.func->id, type_scalar_kind(access.element) == 'i', cell, value);
    TRY(old);
    return l_endaccess(l, &access, old);
}

LLVMValueRef lower_func_cuda_atomic_cas(Lower *l, const Value *call) {
    Access access;
    l_access(l, &access, call, call->args[0], call->args[1]);
    l_watch(l, call, access.pointer, access.element, RACE_ATOMIC);
    return l_endaccess(l, &access, atomic_cas(l, cell_of(l, &access, call), l_arg(l, call, 2), l_arg(l, call, 3)));
}

/* ---- loads and stores with a hint for the caches ---- */

_Static_assert(FUNC_CUDA_STWT - FUNC_CUDA_LDCA == CACHE_STORE_WT - CACHE_LOAD_CA, "rows in the order of CacheHint");
static CacheHint hint_of(const Value *call) { return (CacheHint)(call->imm.func->id - FUNC_CUDA_LDCA); }

/* The bits of an element travel as an integer of its size. */
static LLVMTypeRef bits_in_memory(Lower *l, const Type *element) {
    return LLVMIntTypeInContext(l->context, (unsigned)(8 * type_size(element)));
}

LLVMValueRef lower_func_cuda_cached_load(Lower *l, const Value *call) {
    Access access;
    l_access(l, &access, call, call->args[0], call->args[1]);
    l_watch(l, call, access.pointer, access.element, RACE_READ);
    LLVMValueRef bits = l->target->cached(l, hint_of(call), bits_in_memory(l, access.element), access.pointer, NULL);
    LLVMTypeRef type = l_type(l, access.element);
    return l_endaccess(l, &access,
                       type == l->i1 ? LLVMBuildTrunc(l->b, bits, type, "") : LLVMBuildBitCast(l->b, bits, type, ""));
}

LLVMValueRef lower_func_cuda_cached_store(Lower *l, const Value *call) {
    Access access;
    l_access(l, &access, call, call->args[0], call->args[1]);
    l_watch(l, call, access.pointer, access.element, RACE_WRITE);
    LLVMTypeRef bits = bits_in_memory(l, access.element);
    LLVMValueRef value = l_arg(l, call, 2);
    value = LLVMTypeOf(value) == l->i1 ? LLVMBuildZExt(l->b, value, bits, "") : LLVMBuildBitCast(l->b, value, bits, "");
    l->target->cached(l, hint_of(call), bits, access.pointer, value);
    l_endaccess(l, &access, NULL);
    return none(l);
}

/* ---- instructions ---- */

static LLVMValueRef bits_call(Lower *l, const char *intrinsic, LLVMValueRef x, bool zero_defined) {
    LLVMValueRef args[] = {x, l_i1(l, false)};
    return l_intrinsic(l, intrinsic, LLVMTypeOf(x), args, zero_defined ? 2 : 1);
}

static LLVMValueRef to_int(Lower *l, LLVMValueRef x) {
    return LLVMTypeOf(x) == l->i64 ? x : LLVMBuildZExt(l->b, x, l->i64, "");
}

LLVMValueRef lower_func_cuda_popc(Lower *l, const Value *call) {
    return to_int(l, bits_call(l, "llvm.ctpop", l_arg(l, call, 0), false));
}
LLVMValueRef lower_func_cuda_clz(Lower *l, const Value *call) {
    return to_int(l, bits_call(l, "llvm.ctlz", l_arg(l, call, 0), true));
}
LLVMValueRef lower_func_cuda_brev(Lower *l, const Value *call) {
    return bits_call(l, "llvm.bitreverse", l_arg(l, call, 0), false);
}

LLVMValueRef lower_func_cuda_ffs(Lower *l, const Value *call) {
    LLVMValueRef x = l_arg(l, call, 0), place = l_add(l, to_int(l, bits_call(l, "llvm.cttz", x, true)), l_i64(l, 1));
    return l_select(l, l_icmp(l, LLVMIntEQ, x, l_null(LLVMTypeOf(x))), l_i64(l, 0), place);
}

LLVMValueRef lower_func_cuda_selp(Lower *l, const Value *call) {
    return l_select(l, l_arg(l, call, 0), l_arg(l, call, 1), l_arg(l, call, 2));
}

/* ---- bits, and floats of 16 bits ---- */

LLVMValueRef lower_func_scalar_view(Lower *l, const Value *call) {
    return LLVMBuildBitCast(l->b, l_arg(l, call, 0), l_type(l, call->type), "");
}

LLVMValueRef lower_func_cuda_native_fma(Lower *l, const Value *call) {
    LLVMValueRef args[] = {l_arg(l, call, 0), l_arg(l, call, 1), l_arg(l, call, 2)};
    return l_intrinsic(l, "llvm.fma", LLVMTypeOf(args[0]), args, 3);
}
