/* early_loads.c: what a function loads does not wait for what stands before it by chance.
 *
 * In: an optimised module.  Out: the same values, with loads, and what their addresses are computed from, moved up:
 *   in a block    before its first division or square root.  Such an operation has a way for rare operands, behind a
 *                 branch that ptxas makes, and behind which it leaves what follows: three quotients of loaded numbers
 *                 would wait for memory three times.
 *   over an if    from the block after it to the one before it, where the condition is asked, so that in the rounds of
 *                 a loop that have become one the loads of the next round do not wait for what this one does with its
 *                 own, whatever ifs there are in the if.  These are numbers that lead on to others, but not the others:
 *                 a load whose address takes what was moved itself would wait for it before the branch.  An if around a
 *                 few operations stays as it is: ptxas makes predicates of it, and joins more rounds of such a loop, if
 *                 no loads stand in between.
 * A load is moved over nothing that may write, unless it is of memory that the kernel does not write, and only to where
 * it is made in any case.  A few are moved at most, since each needs a register meanwhile. */
#include <string.h> /* strlen, strncmp */

#include "codegen_nvptx/nvptx.h"

enum { MOST_LOADS = 8, MOST_OVER_AN_IF = 4, REACH = 128, MOST_DEPTH = 12, LONG_ARM = 10, MOST_BLOCKS = 8 };

typedef struct {
    LLVMValueRef after[REACH]; /* the instructions that loads are looked for among; NULL: moved */
    unsigned count, quiet;     /* the first so many write nothing */
    unsigned no_chains;        /* addresses are not loaded among these instructions, nor by loads that have metadata of
                                * this kind, which those that are moved get; 0: they may be */
} Early;

/* ---- what may be moved ---- */

static bool touches_no_memory(LLVMValueRef call) {
    LLVMValueRef function = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(function)) return false;
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
    LLVMAttributeRef memory = LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
    return memory && LLVMGetEnumAttributeValue(memory) == 0;
}

/* Or say what others wrote: a load that is volatile or ordered stands in front of those behind it. */
static bool may_write(LLVMValueRef value) {
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMLoad: return LLVMGetVolatile(value) || LLVMGetOrdering(value) != LLVMAtomicOrderingNotAtomic;
    case LLVMCall: return !touches_no_memory(value);
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence: return true;
    default: return false;
    }
}

/* Up to a call that may do anything, as not to come back. */
static void look_from(Early *early, LLVMValueRef value) {
    early->count = early->quiet = 0;
    for (; value && early->count < REACH; value = LLVMGetNextInstruction(value)) {
        if (LLVMGetInstructionOpcode(value) == LLVMCall && may_write(value)) break;
        if (early->quiet == early->count && !may_write(value)) early->quiet++;
        early->after[early->count++] = value;
    }
}

/* Where it stands among them; `count`: it does not. */
static unsigned place_of(const Early *early, LLVMValueRef value) {
    unsigned i = 0;
    while (i < early->count && early->after[i] != value) i++;
    return i;
}

static bool has_attribute(LLVMValueRef argument, const char *name) {
    LLVMValueRef function = LLVMGetParamParent(argument);
    unsigned place = 0, kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    while (LLVMGetParam(function, place) != argument) place++;
    return LLVMGetEnumAttributeAtIndex(function, place + 1, kind) != NULL;
}

/* Whether what it loads is memory that the kernel does not write: what LLVM makes ld.global.nc of. */
static bool is_read_only(LLVMValueRef load) {
    LLVMValueRef base = LLVMGetOperand(load, 0);
    while (LLVMIsAGetElementPtrInst(base) || LLVMIsAAddrSpaceCastInst(base)) base = LLVMGetOperand(base, 0);
    return LLVMIsAArgument(base) && has_attribute(base, "readonly") && has_attribute(base, "noalias");
}

static bool is_early_load(const Early *early, LLVMValueRef value) {
    if (!LLVMIsALoadInst(value) || LLVMGetVolatile(value)) return false;
    if (LLVMGetOrdering(value) != LLVMAtomicOrderingNotAtomic) return false;
    return place_of(early, value) < early->quiet || is_read_only(value);
}

static bool only_computes(LLVMValueRef value) {
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMGetElementPtr:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMAShr:
    case LLVMLShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc: return true;
    default: return false;
    }
}

static bool was_moved(const Early *early, LLVMValueRef value) {
    return early->no_chains && LLVMIsALoadInst(value) && LLVMGetMetadata(value, early->no_chains);
}

/* Whether the value is there before these instructions, or can be. */
static bool can_be_early(const Early *early, LLVMValueRef value, LLVMValueRef never, unsigned depth) {
    if ((never && value == never) || depth > MOST_DEPTH || (depth > 0 && was_moved(early, value))) return false;
    if (!LLVMIsAInstruction(value) || place_of(early, value) == early->count) return true;
    bool loads = is_early_load(early, value) && (depth == 0 || !early->no_chains);
    if (!only_computes(value) && !loads) return false;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++)
        if (!can_be_early(early, LLVMGetOperand(value, i), never, depth + 1)) return false;
    return true;
}

static void make_early(Early *early, LLVMBuilderRef b, LLVMValueRef value) {
    unsigned place = LLVMIsAInstruction(value) ? place_of(early, value) : early->count;
    if (place == early->count) return;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++) make_early(early, b, LLVMGetOperand(value, i));
    early->after[place] = NULL;
    LLVMInstructionRemoveFromParent(value);
    LLVMInsertIntoBuilder(b, value);
}

static void mark(LLVMValueRef value, unsigned kind) {
    LLVMContextRef context = LLVMGetValueContext(value);
    LLVMSetMetadata(value, kind, LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
}

/* Moves loads among the instructions to before `at`, up to `most` of them; none that takes what `never` gives, if that
 * is not NULL. */
static void move_loads(Early *early, LLVMBuilderRef b, LLVMValueRef at, LLVMValueRef never, unsigned most) {
    LLVMPositionBuilderBefore(b, at);
    for (unsigned i = 0, loads = 0; i < early->count && loads < most; i++) {
        LLVMValueRef value = early->after[i];
        if (!value || !LLVMIsALoadInst(value) || !can_be_early(early, value, never, 0)) continue;
        make_early(early, b, value);
        if (early->no_chains) mark(value, early->no_chains);
        loads++;
    }
}

/* ---- in a block ---- */

static bool is_slow(LLVMValueRef value) {
    bool approximate = LLVMCanValueUseFastMathFlags(value) && LLVMGetFastMathFlags(value) & LLVMFastMathApproxFunc;
    size_t length;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFDiv: return !approximate;
    case LLVMFRem: return true;
    case LLVMSDiv:
    case LLVMUDiv:
    case LLVMSRem:
    case LLVMURem: return LLVMTypeOf(value) == LLVMInt64TypeInContext(LLVMGetValueContext(value));
    case LLVMCall: {
        LLVMValueRef function = LLVMGetCalledValue(value);
        const char *name = LLVMIsAFunction(function) ? LLVMGetValueName2(function, &length) : "";
        return !strncmp(name, "llvm.sqrt.", strlen("llvm.sqrt.")) && !approximate;
    }
    default: return false;
    }
}

static void load_before_slow(LLVMBuilderRef b, LLVMBasicBlockRef block) {
    LLVMValueRef slow = LLVMGetFirstInstruction(block);
    while (slow && !is_slow(slow)) slow = LLVMGetNextInstruction(slow);
    if (!slow) return;
    Early early = {0};
    look_from(&early, LLVMGetNextInstruction(slow));
    move_loads(&early, b, slow, slow, MOST_LOADS);
}

/* ---- over an if ---- */

/* How many branches lead to a block. */
static unsigned count_branches(LLVMBasicBlockRef block) {
    unsigned count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use))
        count += !LLVMIsAPHINode(LLVMGetUser(use));
    return count;
}

/* What lies between the condition and the block after the if. */
typedef struct {
    LLVMBasicBlockRef next; /* the block after it */
    unsigned blocks, exits; /* so many; branches from them to the block after it */
    unsigned length;
    bool slow;
} Arm;

/* Whether a branch leads around it, not predicates.  Several blocks without a slow operation are how the math library
 * asks for rare operands: most rounds pass them by, and would hold registers for nothing. */
static bool is_long(const Arm *arm) { return arm->slow || (arm->blocks == 1 && arm->length >= LONG_ARM); }

/* Whether a block is come to from one place, writes nothing, and goes on to the block after the if, or to such blocks
 * that do. */
static bool walk_arm(Arm *arm, LLVMBasicBlockRef block) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (++arm->blocks > MOST_BLOCKS || LLVMGetInstructionOpcode(end) != LLVMBr || count_branches(block) != 1)
        return false;
    for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value)) {
        if (may_write(value)) return false;
        arm->slow |= is_slow(value);
        arm->length++;
    }
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
        arm->exits += to == arm->next;
        if (to != arm->next && !walk_arm(arm, to)) return false;
    }
    return true;
}

/* The block after an if without else that begins at the end of this one; NULL: there is none. */
static LLVMBasicBlockRef after_if(LLVMBasicBlockRef block) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (!end || LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end)) return NULL;
    for (unsigned i = 0; i < 2; i++) {
        Arm arm = {.next = LLVMGetSuccessor(end, 1 - i)};
        LLVMBasicBlockRef first = LLVMGetSuccessor(end, i);
        if (first == arm.next || arm.next == block || !walk_arm(&arm, first)) continue;
        if (is_long(&arm) && count_branches(arm.next) == arm.exits + 1) return arm.next;
    }
    return NULL;
}

static void load_over_if(LLVMBuilderRef b, LLVMBasicBlockRef block, unsigned moved) {
    LLVMBasicBlockRef next = after_if(block);
    if (!next) return;
    Early early = {.no_chains = moved};
    look_from(&early, LLVMGetFirstInstruction(next));
    move_loads(&early, b, LLVMGetBasicBlockTerminator(block), NULL, MOST_OVER_AN_IF);
}

/* The last blocks first: what has come up to one goes on from there. */
void nvptx_load_early(LLVMBuilderRef b, LLVMValueRef function) {
    static const char name[] = "krait.early";
    unsigned moved = LLVMGetMDKindIDInContext(LLVMGetValueContext(function), name, sizeof name - 1);
    for (LLVMBasicBlockRef at = LLVMGetLastBasicBlock(function); at; at = LLVMGetPreviousBasicBlock(at))
        load_over_if(b, at, moved);
    for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(function); at; at = LLVMGetNextBasicBlock(at))
        load_before_slow(b, at);
}
