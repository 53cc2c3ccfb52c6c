/* turn.c: loops go on where their condition holds.
 *
 * In: an optimised module.  Out: a branch that ends a loop's round and compares integers goes back where the comparison
 * is true and on where it is false, not the other way round: only such loops does the driver's compiler of a GPU count,
 * and unroll to have more loads in flight.  LLVM makes tests for equality of tests for inequality.
 *
 * An edge goes back if a walk in depth finds it to lead to a block that it is in. */
#include "codegen/lower.h"

typedef enum State { STATE_UNSEEN, STATE_OPEN, STATE_DONE } State;

typedef struct Step { /* of the walk: a block, and which of its successors comes next */
    uint32_t block;
    unsigned next;
} Step;

typedef struct Walk {
    Arena *arena;
    VEC(LLVMBasicBlockRef) blocks;
    HashIndex index; /* of blocks, by address */
    State *states;   /* by number */
    VEC(Step) steps;
    VEC(LLVMValueRef) latches; /* that go back where their condition is false */
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
    if (walk->states[to] == STATE_UNSEEN)
        open_block(walk, to);
    else if (walk->states[to] == STATE_OPEN && which == 1 && LLVMIsABranchInst(end))
        vec_push(walk->arena, &walk->latches, end);
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

static void turn(LLVMContextRef context, LLVMBuilderRef builder, LLVMValueRef latch) {
    LLVMValueRef test = LLVMGetCondition(latch);
    LLVMUseRef use = LLVMGetFirstUse(test);
    LLVMBasicBlockRef on = LLVMGetSuccessor(latch, 0), back = LLVMGetSuccessor(latch, 1);
    if (!LLVMIsAICmpInst(test) || LLVMGetNextUse(use)) return;
    LLVMPositionBuilderBefore(builder, test);
    LLVMSetCondition(latch, LLVMBuildICmp(builder, inverse_of(LLVMGetICmpPredicate(test)), LLVMGetOperand(test, 0),
                                          LLVMGetOperand(test, 1), ""));
    LLVMSetSuccessor(latch, 0, back);
    LLVMSetSuccessor(latch, 1, on);
    swap_weights(context, latch);
    LLVMInstructionEraseFromParent(test);
}

static void turn_loops_of(Module *module, LLVMValueRef function) {
    Walk walk = {.arena = module->arena};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        vec_push(walk.arena, &walk.blocks, block);
        hash_index_add(&walk.index, walk.arena, hash_of(block));
    }
    walk.states = ARENA_ARRAY(walk.arena, State, walk.blocks.len);
    open_block(&walk, 0);
    while (walk.steps.len) walk_on(&walk);
    for (size_t i = 0; i < walk.latches.len; i++) turn(module->context, module->builder, walk.latches.data[i]);
}

void turn_loops(Module *module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) turn_loops_of(module, f);
}
