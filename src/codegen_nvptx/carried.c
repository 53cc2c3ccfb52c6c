/* carried.c: what a round of a loop has loaded for the next one (Target.before_last).
 *
 * In: an optimised kernel, before strength is reduced.  Out: the same; where a round ends with a look at x[j + 1],
 * which is x[j] of the next round, the next one takes that number instead of loading it again, as in
 *
 *   while x[j] > 32:            # the words of a text, in loops that LLVM has turned around
 *       h = (h ^ x[j]) * 31
 *       j += 1
 *
 * LLVM does it where both addresses are computed alike from j, but has made x + j + 1 of one before it looks.  Only of
 * arrays that nothing writes; the first number is loaded in front of the loop, which begins with it anyway. */
#include <string.h> /* strncmp, strlen */

#include "codegen_nvptx/nvptx.h"

enum { DEPTH = 6 };

/* base + index * scale + distance */
typedef struct Place {
    LLVMValueRef base, index;
    uint64_t scale;
    int64_t distance;
} Place;

typedef struct Loop {
    LLVMBasicBlockRef header, before, latch;
} Loop;

static LLVMOpcode op_of(LLVMValueRef value) {
    return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMRet;
}

static bool find_place(const Module *module, LLVMValueRef pointer, Place *place) {
    *place = (Place){.scale = 1};
    for (; LLVMIsAGetElementPtrInst(pointer); pointer = LLVMGetOperand(pointer, 0)) {
        if (LLVMGetNumIndices(pointer) != 1) return false;
        LLVMValueRef by = LLVMGetOperand(pointer, 1);
        uint64_t scale = LLVMABISizeOfType(module->layout, LLVMGetGEPSourceElementType(pointer));
        if (LLVMIsAConstantInt(by)) {
            place->distance += LLVMConstIntGetSExtValue(by) * (int64_t)scale;
        } else if (place->index) {
            return false;
        } else {
            place->index = by;
            place->scale = scale;
        }
    }
    place->base = pointer;
    return place->index != NULL;
}

/* A parameter that nothing writes through, or through another: what LLVM loads through the read-only cache. */
static bool is_only_read(LLVMValueRef base) {
    if (LLVMIsAAddrSpaceCastInst(base)) base = LLVMGetOperand(base, 0);
    if (!LLVMIsAArgument(base)) return false;
    LLVMValueRef function = LLVMGetParamParent(base);
    unsigned at = 1;
    while (LLVMGetParam(function, at - 1) != base) at++;
    static const char *const names[] = {"noalias", "readonly"};
    for (unsigned i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        if (!LLVMGetEnumAttributeAtIndex(function, at, kind)) return false;
    }
    return true;
}

/* The counter that an index is, or is extended from; its step from round to round; 0: it is none of this loop. */
static int64_t step_of(const Loop *loop, LLVMValueRef index, LLVMValueRef *counter) {
    while (op_of(index) == LLVMZExt || op_of(index) == LLVMSExt) { index = LLVMGetOperand(index, 0); }
    if (op_of(index) != LLVMPHI || LLVMGetInstructionParent(index) != loop->header) return 0;
    *counter = index;
    for (unsigned i = 0; i < LLVMCountIncoming(index); i++) {
        LLVMValueRef next = LLVMGetIncomingValue(index, i);
        if (LLVMGetIncomingBlock(index, i) != loop->latch) continue;
        bool adds = op_of(next) == LLVMAdd && LLVMGetOperand(next, 0) == index &&
                    LLVMIsAConstantInt(LLVMGetOperand(next, 1)) && LLVMGetNUW(next) && LLVMGetNSW(next);
        return adds ? LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) : 0;
    }
    return 0;
}

/* A loop of one way in and one way back; false: the block begins none. */
static bool find_loop(LLVMBasicBlockRef block, Loop *loop) {
    LLVMValueRef phi = LLVMGetFirstInstruction(block);
    *loop = (Loop){.header = block};
    if (op_of(phi) != LLVMPHI || LLVMCountIncoming(phi) != 2) return false;
    for (unsigned i = 0; i < 2; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef last = LLVMGetBasicBlockTerminator(from);
        if (LLVMGetNumSuccessors(last) == 1 && !loop->before)
            loop->before = from;
        else
            loop->latch = from;
    }
    return loop->before && loop->latch;
}

static bool is_plain_load(LLVMValueRef value) {
    return LLVMIsALoadInst(value) && !LLVMGetVolatile(value) && LLVMGetOrdering(value) == LLVMAtomicOrderingNotAtomic;
}

/* The load of the latch that is this one in the next round; NULL: there is none. */
static LLVMValueRef find_next(const Module *module, const Loop *loop, const Place *place, LLVMValueRef load,
                              int64_t step) {
    for (LLVMValueRef inst = LLVMGetFirstInstruction(loop->latch); inst; inst = LLVMGetNextInstruction(inst)) {
        Place next;
        if (inst == load || !is_plain_load(inst) || LLVMTypeOf(inst) != LLVMTypeOf(load)) continue;
        if (find_place(module, LLVMGetOperand(inst, 0), &next) && next.base == place->base &&
            next.index == place->index && next.scale == place->scale &&
            next.distance == place->distance + step * (int64_t)place->scale)
            return inst;
    }
    return NULL;
}

/* The same value in front of the loop; NULL: it is computed otherwise than an address. */
static LLVMValueRef copy_before(LLVMBuilderRef b, const Loop *loop, LLVMValueRef value, LLVMValueRef counter,
                                unsigned depth) {
    if (value == counter) return LLVMGetIncomingValue(value, LLVMGetIncomingBlock(value, 0) == loop->before ? 0 : 1);
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != loop->header) return value;
    LLVMOpcode op = op_of(value);
    if ((op != LLVMZExt && op != LLVMSExt && op != LLVMGetElementPtr) || !depth) return NULL;
    LLVMValueRef operands[2];
    int count = LLVMGetNumOperands(value);
    for (int i = 0; i < count; i++)
        if (!(operands[i] = copy_before(b, loop, LLVMGetOperand(value, (unsigned)i), counter, depth - 1))) return NULL;
    LLVMValueRef copy = LLVMInstructionClone(value);
    LLVMInsertIntoBuilder(b, copy);
    for (int i = 0; i < count; i++) LLVMSetOperand(copy, (unsigned)i, operands[i]);
    return copy;
}

/* Whether the loop, once entered, gets as far as this: no call before it may end the thread. */
static bool is_reached(LLVMValueRef load) {
    for (LLVMValueRef inst = load; (inst = LLVMGetPreviousInstruction(inst)) != NULL;)
        if (LLVMIsACallInst(inst) && !LLVMIsAIntrinsicInst(inst)) return false;
    return true;
}

/* false: it stays. */
static bool carry(Module *module, const Loop *loop, LLVMValueRef load) {
    LLVMBuilderRef b = module->builder;
    LLVMValueRef counter, next, address;
    Place place;
    if (!is_plain_load(load) || !find_place(module, LLVMGetOperand(load, 0), &place)) return false;
    int64_t step = step_of(loop, place.index, &counter);
    if (!step || !is_only_read(place.base) || !is_reached(load)) return false;
    if (!(next = find_next(module, loop, &place, load, step))) return false;
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(loop->before));
    if (!(address = copy_before(b, loop, LLVMGetOperand(load, 0), counter, DEPTH))) return false;
    LLVMValueRef first = LLVMBuildLoad2(b, LLVMTypeOf(load), address, "");
    LLVMSetAlignment(first, LLVMGetAlignment(load));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(loop->header));
    LLVMValueRef phi = LLVMBuildPhi(b, LLVMTypeOf(load), ""), values[] = {first, next};
    LLVMBasicBlockRef blocks[] = {loop->before, loop->latch};
    LLVMAddIncoming(phi, values, blocks, 2);
    LLVMReplaceAllUsesWith(load, phi);
    return true;
}

void nvptx_carry_loads(Module *module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            Loop loop;
            if (!find_loop(block, &loop)) continue;
            for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
                next = LLVMGetNextInstruction(value);
                if (carry(module, &loop, value)) LLVMInstructionEraseFromParent(value);
            }
        }
}
