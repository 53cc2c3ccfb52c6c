/* warp.c: what the lanes of a warp do together, as PTX instructions.
 *
 * In: an operation of WarpOp on 32 or 64 bits.  Out: its value.  Shuffles of 64 bits are two of 32.  Matches need
 * compute capability 7.0.  Reductions of 32 bits are an instruction from 8.0 on; else each lane of the mask in turn is
 * asked for its value. */
#include "codegen_nvptx/nvptx.h"

enum { REDUCE_CAPABILITY = 80, LAST_LANE = 31 };

static LLVMValueRef shuffle32(Lower *l, WarpOp op, LLVMValueRef mask, LLVMValueRef value, LLVMValueRef operand) {
    static const char *const names[] = {
        [WARP_SHFL] = "llvm.nvvm.shfl.sync.idx.i32",
        [WARP_SHFL_UP] = "llvm.nvvm.shfl.sync.up.i32",
        [WARP_SHFL_DOWN] = "llvm.nvvm.shfl.sync.down.i32",
        [WARP_SHFL_XOR] = "llvm.nvvm.shfl.sync.bfly.i32",
    };
    LLVMValueRef args[] = {mask, value, operand, l_i32(l, op == WARP_SHFL_UP ? 0 : LAST_LANE)};
    return l_intrinsic(l, names[op], NULL, args, 4);
}

static LLVMValueRef shuffle(Lower *l, WarpOp op, LLVMValueRef mask, LLVMValueRef value, LLVMValueRef operand) {
    if (LLVMTypeOf(value) == l->i32) return shuffle32(l, op, mask, value, operand);
    LLVMValueRef low = shuffle32(l, op, mask, LLVMBuildTrunc(l->b, value, l->i32, ""), operand);
    LLVMValueRef upper = LLVMBuildTrunc(l->b, LLVMBuildLShr(l->b, value, l_i64(l, 32), ""), l->i32, "");
    LLVMValueRef high = LLVMBuildZExt(l->b, shuffle32(l, op, mask, upper, operand), l->i64, "");
    return l_or(l, LLVMBuildZExt(l->b, low, l->i64, ""), LLVMBuildShl(l->b, high, l_i64(l, 32), ""));
}

static LLVMValueRef vote(Lower *l, WarpOp op, LLVMValueRef mask, LLVMValueRef predicate) {
    static const char *const names[] = {
        [WARP_ALL] = "llvm.nvvm.vote.all.sync",
        [WARP_ANY] = "llvm.nvvm.vote.any.sync",
        [WARP_EQ] = "llvm.nvvm.vote.uni.sync",
        [WARP_BALLOT] = "llvm.nvvm.vote.ballot.sync",
    };
    LLVMValueRef args[] = {mask, predicate};
    return l_intrinsic(l, names[op], NULL, args, 2);
}

static LLVMValueRef match(Lower *l, WarpOp op, LLVMValueRef mask, LLVMValueRef value) {
    bool wide = LLVMTypeOf(value) == l->i64;
    LLVMValueRef args[] = {mask, value};
    if (op == WARP_MATCH_ANY)
        return l_intrinsic(l, wide ? "llvm.nvvm.match.any.sync.i64" : "llvm.nvvm.match.any.sync.i32", NULL, args, 2);
    return l_extract(
        l, l_intrinsic(l, wide ? "llvm.nvvm.match.all.sync.i64p" : "llvm.nvvm.match.all.sync.i32p", NULL, args, 2), 0);
}

/* ---- reductions ---- */

static LLVMValueRef combine(Lower *l, WarpOp op, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[] = {a, b};
    switch (op) {
    case WARP_ADD: return l_add(l, a, b);
    case WARP_AND: return l_and(l, a, b);
    case WARP_OR: return l_or(l, a, b);
    case WARP_XOR: return l_xor(l, a, b);
    case WARP_MIN: return l_intrinsic(l, "llvm.smin", LLVMTypeOf(a), args, 2);
    case WARP_MAX: return l_intrinsic(l, "llvm.smax", LLVMTypeOf(a), args, 2);
    case WARP_UMIN: return l_intrinsic(l, "llvm.umin", LLVMTypeOf(a), args, 2);
    default: return l_intrinsic(l, "llvm.umax", LLVMTypeOf(a), args, 2);
    }
}

/* All lanes of a warp: five exchanges with the lane at a power of two. */
static LLVMValueRef reduce_all(Lower *l, WarpOp op, LLVMValueRef value) {
    for (int distance = 16; distance; distance /= 2)
        value = combine(l, op, value, shuffle(l, WARP_SHFL_XOR, l_i32(l, -1), value, l_i32(l, distance)));
    return value;
}

static LLVMValueRef first_lane(Lower *l, LLVMValueRef lanes) {
    LLVMValueRef args[] = {lanes, l_i1(l, true)};
    return l_intrinsic(l, "llvm.cttz", l->i32, args, 2);
}

static LLVMValueRef drop_first(Lower *l, LLVMValueRef lanes) { return l_and(l, lanes, l_sub(l, lanes, l_i32(l, 1))); }

/* The lanes of the mask in turn, from the lowest; the mask is the same in all of them, and so is the loop's count. */
static LLVMValueRef reduce_lanes(Lower *l, WarpOp op, LLVMValueRef mask, LLVMValueRef value) {
    LLVMValueRef first = shuffle(l, WARP_SHFL, mask, value, first_lane(l, mask)), others = drop_first(l, mask);
    LLVMBasicBlockRef before = l_here(l), head = l_block(l, "lane"), body = l_block(l, "take"),
                      done = l_block(l, "reduced");
    l_jump(l, head);
    l_enter(l, head);
    LLVMValueRef rest = LLVMBuildPhi(l->b, l->i32, ""), total = LLVMBuildPhi(l->b, LLVMTypeOf(value), "");
    l_branch(l, l_icmp(l, LLVMIntNE, rest, l_i32(l, 0)), body, done);
    l_enter(l, body);
    LLVMValueRef next = combine(l, op, total, shuffle(l, WARP_SHFL, mask, value, first_lane(l, rest)));
    LLVMValueRef rests[] = {others, drop_first(l, rest)}, totals[] = {first, next};
    LLVMBasicBlockRef from[] = {before, l_here(l)};
    LLVMAddIncoming(rest, rests, from, 2);
    LLVMAddIncoming(total, totals, from, 2);
    l_jump(l, head);
    l_enter(l, done);
    return total;
}

static LLVMValueRef reduce(Lower *l, WarpOp op, LLVMValueRef mask, LLVMValueRef value) {
    static const char *const names[] = {
        [WARP_ADD] = "llvm.nvvm.redux.sync.add",   [WARP_AND] = "llvm.nvvm.redux.sync.and",
        [WARP_OR] = "llvm.nvvm.redux.sync.or",     [WARP_XOR] = "llvm.nvvm.redux.sync.xor",
        [WARP_MIN] = "llvm.nvvm.redux.sync.min",   [WARP_MAX] = "llvm.nvvm.redux.sync.max",
        [WARP_UMIN] = "llvm.nvvm.redux.sync.umin", [WARP_UMAX] = "llvm.nvvm.redux.sync.umax",
    };
    LLVMValueRef args[] = {value, mask};
    if (LLVMTypeOf(value) == l->i32 && l->m->options.compute_capability >= REDUCE_CAPABILITY)
        return l_intrinsic(l, names[op], NULL, args, 2);
    bool whole = LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) == UINT32_MAX;
    return whole ? reduce_all(l, op, value) : reduce_lanes(l, op, mask, value);
}

LLVMValueRef nvptx_warp(Lower *l, const Value *at, WarpOp op, LLVMValueRef mask, LLVMValueRef value,
                        LLVMValueRef operand) {
    (void)at;
    switch (op) {
    case WARP_MEET: return l_intrinsic(l, "llvm.nvvm.bar.warp.sync", NULL, &mask, 1);
    case WARP_ACTIVE: return l_intrinsic(l, "llvm.nvvm.activemask", NULL, NULL, 0);
    case WARP_SHFL:
    case WARP_SHFL_UP:
    case WARP_SHFL_DOWN:
    case WARP_SHFL_XOR: return shuffle(l, op, mask, value, operand);
    case WARP_ALL:
    case WARP_ANY:
    case WARP_EQ:
    case WARP_BALLOT: return vote(l, op, mask, value);
    case WARP_MATCH_ANY:
    case WARP_MATCH_ALL: return match(l, op, mask, value);
    default: return reduce(l, op, mask, value);
    }
}
