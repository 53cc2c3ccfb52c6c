/* lower_warp.c: what the lanes of a warp do together: barrier, shuffles, votes, matches, reductions.
 *
 * In: a CALL_FUNC with typed operands.  Out: its value.  The target does one operation on 32 or 64 bits (Target.warp);
 * here values of any scalar type are taken to such bits and back. */
#include "codegen/lowering.h" /* Lower */

static LLVMValueRef mask_of(Lower *l, const Value *call) { return LLVMBuildTrunc(l->b, l_arg(l, call, 0), l->i32, ""); }

static LLVMTypeRef bits_type(Lower *l, LLVMTypeRef type) {
    if (type == l->f16 || type == l->bf16) return l->i16;
    if (type == l->f32) return l->i32;
    return type == l->f64 ? l->i64 : type;
}

/* A number as 32 or 64 bits. */
static LLVMValueRef to_bits(Lower *l, LLVMValueRef x, bool is_signed) {
    LLVMValueRef bits = LLVMBuildBitCast(l->b, x, bits_type(l, LLVMTypeOf(x)), "");
    if (LLVMGetIntTypeWidth(LLVMTypeOf(bits)) >= 32) return bits;
    return is_signed ? LLVMBuildSExt(l->b, bits, l->i32, "") : LLVMBuildZExt(l->b, bits, l->i32, "");
}

static LLVMValueRef from_bits(Lower *l, LLVMValueRef bits, LLVMTypeRef type) {
    LLVMTypeRef narrow = bits_type(l, type);
    if (LLVMTypeOf(bits) != narrow) bits = LLVMBuildTrunc(l->b, bits, narrow, "");
    return LLVMBuildBitCast(l->b, bits, type, "");
}

LLVMValueRef lower_func_cuda_syncwarp(Lower *l, const Value *call) {
    l->target->warp(l, call, WARP_MEET, call->nargs ? mask_of(l, call) : l_i32(l, -1), NULL, NULL);
    return LLVMGetUndef(l->empty);
}

/* ---- shuffles ---- */

static LLVMValueRef shuffle(Lower *l, const Value *call, LLVMValueRef x) {
    WarpOp op = (WarpOp)(WARP_SHFL + (call->imm.func->id - FUNC_CUDA_SHFL_SYNC));
    LLVMValueRef lane = l_and(l, LLVMBuildTrunc(l->b, l_arg(l, call, 2), l->i32, ""), l_i32(l, 31));
    return from_bits(l, l->target->warp(l, call, op, mask_of(l, call), to_bits(l, x, false), lane), LLVMTypeOf(x));
}

LLVMValueRef lower_func_cuda_shfl(Lower *l, const Value *call) {
    LLVMValueRef x = l_arg(l, call, 1);
    if (type_scalar_kind(call->type) != 'c') return shuffle(l, call, x);
    LLVMValueRef re = shuffle(l, call, l_extract(l, x, 0));
    return l_complex(l, re, shuffle(l, call, l_extract(l, x, 1)));
}

/* ---- votes and matches ---- */

LLVMValueRef lower_func_cuda_vote(Lower *l, const Value *call) {
    WarpOp op = (WarpOp)(WARP_ALL + (call->imm.func->id - FUNC_CUDA_ALL_SYNC));
    return l->target->warp(l, call, op, mask_of(l, call), l_arg(l, call, 1), NULL);
}

LLVMValueRef lower_func_cuda_match(Lower *l, const Value *call) {
    WarpOp op = (WarpOp)(WARP_MATCH_ANY + (call->imm.func->id - FUNC_CUDA_MATCH_ANY_SYNC));
    LLVMValueRef lanes = l->target->warp(l, call, op, mask_of(l, call), to_bits(l, l_arg(l, call, 1), false), NULL);
    TRY(lanes);
    if (op == WARP_MATCH_ANY) return lanes;
    LLVMValueRef items[] = {lanes, l_icmp(l, LLVMIntNE, lanes, l_i32(l, 0))};
    return l_make_items(l, call->type, items);
}

LLVMValueRef lower_func_cuda_activemask(Lower *l, const Value *call) {
    return l->target->warp(l, call, WARP_ACTIVE, NULL, NULL, NULL);
}

LLVMValueRef lower_func_cuda_lanemask_lt(Lower *l, const Value *call) {
    (void)call;
    LLVMValueRef bit = LLVMBuildShl(l->b, l_i32(l, 1), l->target->special(l, SPECIAL_LANE), "");
    return l_sub(l, bit, l_i32(l, 1));
}

/* ---- reductions ---- */

_Static_assert(FUNC_CUDA_REDUCE_MAX_SYNC - FUNC_CUDA_SHFL_SYNC == WARP_MAX - WARP_SHFL, "rows in the order of WarpOp");

LLVMValueRef lower_func_cuda_warp_reduce(Lower *l, const Value *call) {
    WarpOp op = (WarpOp)(WARP_ADD + (call->imm.func->id - FUNC_CUDA_REDUCE_ADD_SYNC));
    bool is_signed = type_scalar_kind(call->type) == 'i';
    if (!is_signed && op == WARP_MIN) op = WARP_UMIN;
    if (!is_signed && op == WARP_MAX) op = WARP_UMAX;
    LLVMValueRef x = l_arg(l, call, 1);
    return from_bits(l, l->target->warp(l, call, op, mask_of(l, call), to_bits(l, x, is_signed), NULL), LLVMTypeOf(x));
}
