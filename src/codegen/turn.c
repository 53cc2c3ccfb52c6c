/* turn.c: loops go on where their condition holds, which compares as signed numbers.
 *
 * In: an optimised module.  Out: a branch that ends a loop's round and compares integers goes back where the comparison
 * is true and on where it is false, not the other way round: only such loops does the driver's compiler of a GPU count,
 * and unroll to have more loads in flight.  LLVM makes tests for equality of tests for inequality.  It asks whether a
 * count, that does not wrap, is other than 0 yet, or is less as an unsigned number than one of the same sign: these
 * become < and > of signed numbers.  Of what else may pass its end that compiler takes a round out of the loop first.
 *
 * An edge goes back if a walk in depth finds it to lead to a block that it is in. */
#include "codegen/lower.h"

typedef enum State { STATE_UNSEEN, STATE_OPEN, STATE_DONE } State;

typedef struct Step { /* of the walk: a block, and which of its successors comes next */
    uint32_t block;
    unsigned next;
} Step;

typedef VEC(uint32_t) Numbers;

typedef struct Latch {
    LLVMValueRef branch;
    uint32_t block, header;
    bool if_false; /* it goes back where its condition is false */
} Latch;

typedef struct Walk {
    Arena *arena;
    VEC(LLVMBasicBlockRef) blocks;
    HashIndex index; /* of blocks, by address */
    State *states;   /* by number */
    VEC(Step) steps;
    VEC(Latch) latches;
    Numbers *before; /* by number: the blocks that lead to one */
    uint32_t *loop;  /* by number: of the last latch whose loop was seen to hold the block */
} Walk;

static uint64_t hash_of(LLVMBasicBlockRef block) { return hash_mix(0, (uint64_t)(uintptr_t)block); }

static uint32_t number_of(const Walk *walk, LLVMBasicBlockRef block) {
    uint32_t i = hash_index_first(&walk->index, hash_of(block));
    while (walk->blocks.data[i] != block) i = hash_index_next(&walk->index, i);
    return i;
}

static void open_block(Walk *walk, uint32_t block) {
    walk->states[block] = STATE_OPEN;
    vec_push(walk->arena, &walk->steps, (Step){block, 0});
}

static void walk_on(Walk *walk) {
    Step *step = &vec_last(&walk->steps);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(walk->blocks.data[step->block]);
    if (step->next == LLVMGetNumSuccessors(end)) {
        walk->states[vec_pop(&walk->steps).block] = STATE_DONE;
        return;
    }
    unsigned which = step->next++;
    uint32_t to = number_of(walk, LLVMGetSuccessor(end, which));
    vec_push(walk->arena, &walk->before[to], step->block);
    if (walk->states[to] == STATE_UNSEEN)
        open_block(walk, to);
    else if (walk->states[to] == STATE_OPEN && LLVMIsABranchInst(end) && LLVMIsConditional(end))
        vec_push(walk->arena, &walk->latches, (Latch){end, step->block, to, which == 1});
}

static LLVMIntPredicate inverse_of(LLVMIntPredicate predicate) {
    switch (predicate) {
    case LLVMIntEQ: return LLVMIntNE;
    case LLVMIntNE: return LLVMIntEQ;
    case LLVMIntUGT: return LLVMIntULE;
    case LLVMIntUGE: return LLVMIntULT;
    case LLVMIntULT: return LLVMIntUGE;
    case LLVMIntULE: return LLVMIntUGT;
    case LLVMIntSGT: return LLVMIntSLE;
    case LLVMIntSGE: return LLVMIntSLT;
    case LLVMIntSLT: return LLVMIntSGE;
    default: return LLVMIntSGT;
    }
}

/* The weights of a branch whose successors change places; the last two operands of its node are theirs. */
static void swap_weights(LLVMContextRef context, LLVMValueRef branch) {
    unsigned kind = LLVMGetMDKindIDInContext(context, "prof", 4);
    LLVMValueRef node = LLVMGetMetadata(branch, kind), old[4];
    unsigned count = node ? (unsigned)LLVMGetMDNodeNumOperands(node) : 0;
    if (count < 3 || count > COUNT_OF(old)) return;
    LLVMMetadataRef swapped[4];
    LLVMGetMDNodeOperands(node, old);
    for (unsigned i = 0; i < count; i++) {
        unsigned from = i < count - 2 ? i : 2 * count - 3 - i;
        swapped[i] = LLVMValueAsMetadata(old[from]);
    }
    LLVMMetadataRef turned = LLVMMDNodeInContext2(context, swapped, count);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(context, turned));
}

/* Goes back where the condition is true. */
static void turn(LLVMContextRef context, LLVMValueRef latch) {
    LLVMBasicBlockRef on = LLVMGetSuccessor(latch, 0), back = LLVMGetSuccessor(latch, 1);
    LLVMSetSuccessor(latch, 0, back);
    LLVMSetSuccessor(latch, 1, on);
    swap_weights(context, latch);
}

static LLVMIntPredicate as_signed(LLVMIntPredicate predicate) {
    switch (predicate) {
    case LLVMIntUGT: return LLVMIntSGT;
    case LLVMIntUGE: return LLVMIntSGE;
    case LLVMIntULT: return LLVMIntSLT;
    case LLVMIntULE: return LLVMIntSLE;
    default: return predicate;
    }
}

/* Whether a block may be left otherwise than by its end. */
static bool calls(LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i) && LLVMGetIntrinsicID(LLVMGetCalledValue(i)) == 0) return true;
    return false;
}

/* Whether the latch is all that ends its loop, which is the blocks that come to it without passing the header.
 * number: of the latch, from 1 on. */
static bool ends_alone(Walk *walk, const Latch *latch, uint32_t number) {
    Numbers body = {0};
    walk->loop[latch->header] = walk->loop[latch->block] = number;
    vec_push(walk->arena, &body, latch->header);
    if (latch->block != latch->header) vec_push(walk->arena, &body, latch->block);
    for (size_t i = 0; i < body.len; i++)
        for (size_t k = 0; body.data[i] != latch->header && k < walk->before[body.data[i]].len; k++) {
            uint32_t block = walk->before[body.data[i]].data[k];
            if (walk->loop[block] == number) continue;
            walk->loop[block] = number;
            vec_push(walk->arena, &body, block);
        }
    for (size_t i = 0; i < body.len; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(walk->blocks.data[body.data[i]]);
        if (calls(walk->blocks.data[body.data[i]])) return false;
        for (unsigned k = 0; body.data[i] != latch->block && k < LLVMGetNumSuccessors(end); k++)
            if (walk->loop[number_of(walk, LLVMGetSuccessor(end, k))] != number) return false;
    }
    return true;
}

/* Whether 0 is what ends a count that does not wrap: it begins on the side of 0 that its step leads from, or it would
 * never come there.  A count of rounds that 31 bits hold goes down by those that have become one. */
static bool counts_to_0(Module *module, const Latch *latch, LLVMValueRef test, int64_t *step) {
    LLVMValueRef count = LLVMGetOperand(test, 0), end = LLVMGetOperand(test, 1);
    if (!LLVMIsAConstantInt(end) || !LLVMIsNull(end) || !LLVMIsABinaryOperator(count)) return false;
    LLVMValueRef by = LLVMGetOperand(count, 1);
    bool sums = LLVMGetInstructionOpcode(count) == LLVMAdd && LLVMIsAPHINode(LLVMGetOperand(count, 0));
    if (!sums || !LLVMIsAConstantInt(by) || LLVMIsNull(by)) return false;
    *step = LLVMConstIntGetSExtValue(by);
    return LLVMGetNSW(count) || -*step == late_unroll_signed(module, latch->branch);
}

static void test_in_order(Walk *walk, Module *module, uint32_t number) {
    const Latch *latch = &walk->latches.data[number - 1];
    LLVMValueRef test = LLVMGetCondition(latch->branch);
    int64_t step;
    if (!LLVMIsAICmpInst(test) || LLVMGetNextUse(LLVMGetFirstUse(test))) return;
    LLVMIntPredicate old = LLVMGetICmpPredicate(test), predicate = latch->if_false ? inverse_of(old) : old;
    if (LLVMGetICmpSameSign(test)) predicate = as_signed(predicate);
    if (predicate == LLVMIntNE && counts_to_0(module, latch, test, &step) && ends_alone(walk, latch, number))
        predicate = step < 0 ? LLVMIntSGT : LLVMIntSLT;
    if (latch->if_false) turn(module->context, latch->branch);
    if (predicate == old) return;
    LLVMPositionBuilderBefore(module->builder, test);
    LLVMSetCondition(latch->branch,
                     LLVMBuildICmp(module->builder, predicate, LLVMGetOperand(test, 0), LLVMGetOperand(test, 1), ""));
    LLVMInstructionEraseFromParent(test);
}

static void turn_loops_of(Module *module, LLVMValueRef function) {
    Walk walk = {.arena = module->arena};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        vec_push(walk.arena, &walk.blocks, block);
        hash_index_add(&walk.index, walk.arena, hash_of(block));
    }
    walk.states = ARENA_ARRAY(walk.arena, State, walk.blocks.len);
    walk.before = ARENA_ARRAY(walk.arena, Numbers, walk.blocks.len);
    walk.loop = ARENA_ARRAY(walk.arena, uint32_t, walk.blocks.len);
    open_block(&walk, 0);
    while (walk.steps.len) walk_on(&walk);
    for (uint32_t i = 0; i < walk.latches.len; i++) test_in_order(&walk, module, i + 1);
}

void turn_loops(Module *module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) turn_loops_of(module, f);
}
