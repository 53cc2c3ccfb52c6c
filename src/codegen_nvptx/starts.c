/* starts.c: a pointer that goes through a loop starts where its array does, not at some element of the first round.
 *
 * In: an optimised module.  Out: the same addresses.  LLVM's reduction of strength takes one access of a round for the
 * pointer that goes on, say a[i, 2], and gives the others a distance from it, of either sign:
 *
 *     p = phi(a + 8, p + stride);  *(p - 8), *(p - 4), *p, *(p + 4)
 *
 * A distance costs nothing in an access, but a + 8 is a sum of 64 bits in front of the loop, whose halves ptxas keeps
 * apart from each other, and then moves in every round.  It becomes
 *
 *     p = phi(a, p + stride);  *p, *(p + 4), *(p + 8), *(p + 12)
 *
 * A chain is what leads to such a phi: phis, sums with what is no constant, and sums of one and the same constant, from
 * outside, which begin it.  All of it moves by that constant, and each use of it moves back. */
#include "codegen_nvptx/nvptx.h"

enum { MOST = 24 };

typedef struct Chain {
    LLVMValueRef links[MOST]; /* phis and sums with what is no constant */
    unsigned count;
    bool begins;
    int64_t distance; /* of where it begins from its base */
} Chain;

/* Whether a pointer is another one and a number of bytes. */
static bool is_sum(LLVMValueRef value) {
    LLVMContextRef context = LLVMGetValueContext(value);
    return LLVMIsAGetElementPtrInst(value) && LLVMGetNumIndices(value) == 1 &&
           LLVMGetGEPSourceElementType(value) == LLVMInt8TypeInContext(context);
}

static bool is_distance(LLVMValueRef value) { return is_sum(value) && LLVMIsAConstantInt(LLVMGetOperand(value, 1)); }

static int64_t distance_of(LLVMValueRef value) { return LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1)); }

static bool has_link(const Chain *chain, LLVMValueRef value) {
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->links[i] == value) return true;
    return false;
}

static unsigned count_before(LLVMValueRef link) { return LLVMIsAPHINode(link) ? LLVMCountIncoming(link) : 1; }

/* False: something else leads to it, or too much. */
static bool follow(Chain *chain, LLVMValueRef value) {
    if (has_link(chain, value)) return true;
    if (is_distance(value)) {
        if (chain->begins && chain->distance != distance_of(value)) return false;
        chain->begins = true;
        chain->distance = distance_of(value);
        return true;
    }
    bool phi = LLVMIsAPHINode(value) != NULL;
    if (chain->count == MOST || !(phi || is_sum(value))) return false;
    chain->links[chain->count++] = value;
    for (unsigned i = 0; i < count_before(value); i++)
        if (!follow(chain, LLVMGetOperand(value, i))) return false;
    return true;
}

/* Whether one of the sums of the constant is what a round adds, not a beginning: p = phi(a + 8, p + 8). */
static bool goes_round(const Chain *chain) {
    for (unsigned i = 0; i < chain->count; i++)
        for (unsigned k = 0; k < count_before(chain->links[i]); k++) {
            LLVMValueRef value = LLVMGetOperand(chain->links[i], k);
            if (!has_link(chain, value) && has_link(chain, LLVMGetOperand(value, 0))) return true;
        }
    return false;
}

static LLVMValueRef move(LLVMBuilderRef b, LLVMValueRef pointer, int64_t distance) {
    LLVMContextRef context = LLVMGetValueContext(pointer);
    LLVMValueRef bytes = LLVMConstInt(LLVMInt64TypeInContext(context), (uint64_t)distance, true);
    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(context), pointer, &bytes, 1, "");
}

/* Operand `i` of a user outside of the chain is what it was before. */
static void move_back(const Chain *chain, LLVMBuilderRef b, LLVMValueRef user, unsigned i) {
    LLVMValueRef link = LLVMGetOperand(user, i);
    if (is_distance(user)) {
        LLVMPositionBuilderBefore(b, user);
        LLVMReplaceAllUsesWith(user, move(b, link, distance_of(user) + chain->distance));
        LLVMInstructionEraseFromParent(user);
        return;
    }
    bool phi = LLVMIsAPHINode(user) != NULL;
    LLVMPositionBuilderBefore(b, phi ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, i)) : user);
    LLVMValueRef moved = move(b, link, chain->distance);
    LLVMBasicBlockRef from = phi ? LLVMGetIncomingBlock(user, i) : NULL;
    for (unsigned k = i, count = (unsigned)LLVMGetNumOperands(user); k < count; k++) /* one value for each edge */
        if (LLVMGetOperand(user, k) == link && (!phi || LLVMGetIncomingBlock(user, k) == from))
            LLVMSetOperand(user, k, moved);
}

static void move_uses_back(const Chain *chain, LLVMBuilderRef b, LLVMValueRef link) {
    LLVMValueRef users[MOST * 8];
    unsigned count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(link); use; use = LLVMGetNextUse(use))
        if (!has_link(chain, LLVMGetUser(use))) users[count++] = LLVMGetUser(use);
    for (unsigned u = 0; u < count; u++) {
        bool seen = false;
        for (unsigned k = 0; k < u && !seen; k++) seen = users[k] == users[u];
        for (int i = 0; !seen && i < LLVMGetNumOperands(users[u]); i++)
            if (LLVMGetOperand(users[u], (unsigned)i) == link) {
                bool erased = is_distance(users[u]);
                move_back(chain, b, users[u], (unsigned)i);
                if (erased) break;
            }
    }
}

static bool is_used_little(LLVMValueRef value) {
    unsigned count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use && count <= MOST * 8; use = LLVMGetNextUse(use)) count++;
    return count <= MOST * 8;
}

static void start_at_base(LLVMBuilderRef b, LLVMValueRef phi) {
    Chain chain = {0};
    if (!follow(&chain, phi) || !chain.begins || chain.distance == 0 || goes_round(&chain)) return;
    for (unsigned i = 0; i < chain.count; i++)
        if (!is_used_little(chain.links[i])) return;
    for (unsigned i = 0; i < chain.count; i++) move_uses_back(&chain, b, chain.links[i]);
    for (unsigned i = 0; i < chain.count; i++) {
        LLVMValueRef link = chain.links[i];
        for (unsigned k = 0; k < count_before(link); k++) {
            LLVMValueRef before = LLVMGetOperand(link, k);
            if (!has_link(&chain, before)) LLVMSetOperand(link, k, LLVMGetOperand(before, 0));
        }
        if (is_sum(link)) LLVMGEPSetNoWrapFlags(link, 0);
    }
}

void nvptx_start_at_bases(LLVMBuilderRef b, LLVMValueRef function) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef value = LLVMGetFirstInstruction(block); value && LLVMIsAPHINode(value);
             value = LLVMGetNextInstruction(value))
            if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind) start_at_base(b, value);
}
