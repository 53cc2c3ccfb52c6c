/* late_unroll.c: when rounds of loops become one, on targets that have passes after LLVM's own.
 *
 * LLVM unrolls before it reduces the strength of addresses: the accesses of the rounds that become one then have an
 * address of their own each, computed from a counter.  Reduced first, each is the one before plus a stride, as it is in
 * the loop, and loads stand close to each other.  So loops of unknown length that code generation knows of
 *   wait     while LLVM's passes run (late_unroll_note): nothing unrolls them, but their length may turn out to be
 *            known
 *   end      if what they ask is an iterator: LLVM counts the rounds of a step that it does not know to be positive
 *            only then
 *   unroll   in the target's last passes, which reduce strength first (late_unroll_release); the loop that comes of it
 *            may be unrolled again by the driver's compiler, which joins more loads if it sees fit, but not where it
 *            reads enough and also writes, since loads of more rounds would stand among the writes; the one that takes
 *            the rounds that are left may not.  What is known of the count of the rounds goes on to it (turn.c)
 * A loop of the kernel itself whose step only the launch tells stays: LLVM cannot count its rounds, and need not try.
 * Loops that are laid out whole do not wait: their arrays are to become registers.  On the host, loops that hardly ever
 * run stay as they are, and loops whose rounds may pass by a division are not made vectors of (divisions.c).  What
 * vectors leave of a loop there, the last rounds and all of them where arrays overlap, stays as it is: code of eight
 * rounds would take as long to make as the vectors. */
#include <string.h> /* memcmp, strlen */

#include "codegen/lower.h"

static const char waits[] = "llvm.loop.unroll.runtime.disable", count_name[] = "llvm.loop.unroll.count",
                  unrolled[] = "llvm.loop.unroll.followup_unrolled", rounds_name[] = "krait.rounds",
                  ends[] = "llvm.loop.mustprogress", vectors[] = "llvm.loop.vectorize.enable",
                  signed_name[] = "krait.signed", once_name[] = "krait.once", stays[] = "llvm.loop.unroll.disable";

/* Elements read between the ends of a loop's rounds: measured on H200 (benchmarks/results). */
enum { ENOUGH_READS = 8 };

static LLVMMetadataRef property(LLVMContextRef context, const char *name, LLVMMetadataRef value) {
    LLVMMetadataRef items[] = {LLVMMDStringInContext2(context, name, strlen(name)), value};
    return LLVMMDNodeInContext2(context, items, value ? 2 : 1);
}

static LLVMMetadataRef number_property(LLVMContextRef context, const char *name, unsigned number) {
    return property(context, name, LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), number, false)));
}

static unsigned kind_of_loops(LLVMContextRef context) {
    static const char name[] = "llvm.loop";
    return LLVMGetMDKindIDInContext(context, name, sizeof name - 1);
}

/* A loop's node is distinct by naming itself first: made with a stand-in that is then replaced. */
static void describe(LLVMContextRef context, LLVMValueRef latch, LLVMMetadataRef *properties, unsigned count) {
    LLVMMetadataRef items[7] = {LLVMTemporaryMDNode(context, NULL, 0)};
    for (unsigned i = 0; i < count; i++) items[1 + i] = properties[i];
    LLVMMetadataRef stand_in = items[0], node = LLVMMDNodeInContext2(context, items, 1 + count);
    LLVMMetadataReplaceAllUsesWith(stand_in, node);
    LLVMSetMetadata(latch, kind_of_loops(context), LLVMMetadataAsValue(context, node));
}

/* Whether a loop whose rounds become several ends: it asks an iterator, and (pass unroll) has no loop in it. */
static bool is_finite(const Block *header) {
    return header->last->op == OP_BRANCH && header->last->args[0]->op == OP_ITER_MORE;
}

/* Whether 31 bits hold how many rounds there are: of a range of 32 bits that begins at 0 or above. */
static bool counts_signed(const Lower *l, const Block *header) {
    if (!is_finite(header)) return false;
    const Value *iterator = header->last->args[0]->args[0];
    if (iterator->op != OP_ITER || !l_counts_narrowly(l, iterator->args[0])) return false;
    for (const Value *value = header->succs.data[0]->first; value; value = value->next)
        if (value->op == OP_ITER_TAKE && value->args[0] == iterator)
            return value_is_nonnegative(value) && value_bounds(iterator->args[0]->args[2]).lo > 0;
    return false;
}

/* Whether a round of the loop writes to an array, and the rounds that become one read so much that no more needs to be
 * on its way: a loop that reads one element a round waits for it unless the driver's compiler joins more rounds. */
static bool reads_enough_and_writes(Lower *l, const Block *latch, const Block *header) {
    unsigned reads = 0, writes = 0;
    BlockList body = l_loop_body(l, latch, header);
    for (size_t b = 0; b < body.len; b++)
        for (const Value *value = body.data[b]->first; value; value = value->next)
            reads += value->op == OP_GETITEM, writes += value->op == OP_SETITEM;
    return writes > 0 && reads * latch->unroll >= ENOUGH_READS;
}

/* Whether LLVM may find out how many rounds a loop of the kernel itself has; of other functions it may learn the step
 * where they are called. */
static bool may_be_counted(const Lower *l, const Block *header) {
    if (l->inst != l->m->insts[0] || !is_finite(header)) return true;
    const Value *iterator = header->last->args[0]->args[0];
    if (iterator->op != OP_ITER || iterator->args[0]->type->kind != TY_RANGE) return true;
    return value_bounds(iterator->args[0]->args[2]).lo == value_bounds(iterator->args[0]->args[2]).hi;
}

/* A round ends with a look for signals: it is as long as a budget (pass safepoints), so none is peeled off or laid out
 * beside another. */
static bool ends_in_look(const Block *latch) { return latch->last->prev && latch->last->prev->op == OP_SAFEPOINT; }

void late_unroll_note(Lower *l, LLVMValueRef latch, const Block *block, const Block *header) {
    LLVMMetadataRef properties[6];
    unsigned count = 0;
    if (block->unroll_whole || !l->target->last_passes) { /* a count, not a wish: whatever its length costs to find */
        bool scalar = !l->target->convergent && (block->unroll == 1 || l_loop_may_pass_by_division(l, block, header));
        if (block->unroll == UNROLL_NEVER)
            properties[count++] = property(l->context, waits, NULL);
        else if (block->unroll)
            properties[count++] = number_property(l->context, count_name, block->unroll);
        if (scalar) properties[count++] = property(l->context, vectors, LLVMValueAsMetadata(l_i1(l, false)));
        bool around = header->last->op == OP_JUMP; /* of a loop in strips (pass safepoints), which has no condition */
        if (!scalar && !around && !l->target->convergent) properties[count++] = l_loop_remainder(l);
        if (around && ends_in_look(block)) properties[count++] = property(l->context, stays, NULL);
        if (!count) return;
    } else if (!block->unroll && !may_be_counted(l, header)) {
        properties[count++] = property(l->context, stays, NULL);
    } else {
        properties[count++] = property(l->context, waits, NULL);
        if (block->unroll) properties[count++] = property(l->context, stays, NULL);
        if (block->unroll && reads_enough_and_writes(l, block, header))
            properties[count++] = number_property(l->context, once_name, true);
        if (block->unroll) properties[count++] = number_property(l->context, rounds_name, block->unroll);
        if (block->unroll && is_finite(header)) properties[count++] = property(l->context, ends, NULL);
        if (block->unroll && counts_signed(l, header))
            properties[count++] = number_property(l->context, signed_name, block->unroll);
    }
    describe(l->context, latch, properties, count);
}

/* What the loop that comes of unrolling has: these, as far as there are any. */
static LLVMMetadataRef follows(LLVMContextRef context, LLVMMetadataRef one, LLVMMetadataRef other) {
    LLVMMetadataRef items[3] = {LLVMMDStringInContext2(context, unrolled, sizeof unrolled - 1)};
    unsigned count = 1;
    if (one) items[count++] = one;
    if (other) items[count++] = other;
    return LLVMMDNodeInContext2(context, items, count);
}

/* Whether a node is a property of that name; *number is what it says, if anything. */
static bool is_property(LLVMValueRef node, const char *name, unsigned *number) {
    LLVMValueRef items[2];
    unsigned length = 0;
    if (!node || !LLVMIsAMDNode(node) || LLVMGetMDNodeNumOperands(node) > 2 || !LLVMGetMDNodeNumOperands(node))
        return false;
    LLVMGetMDNodeOperands(node, items);
    const char *text = items[0] && LLVMIsAMDString(items[0]) ? LLVMGetMDString(items[0], &length) : NULL;
    if (!text || length != strlen(name) || memcmp(text, name, length) != 0) return false;
    if (LLVMGetMDNodeNumOperands(node) == 2 && LLVMIsAConstantInt(items[1]))
        *number = (unsigned)LLVMConstIntGetZExtValue(items[1]);
    return true;
}

/* How many rounds become one; 0: as LLVM sees fit. */
static unsigned release(Module *module, LLVMValueRef latch, LLVMValueRef loop) {
    unsigned count = LLVMGetMDNodeNumOperands(loop), rounds = 0, counted = 0, once = 0, nproperties = 0;
    LLVMValueRef *items = ARENA_ARRAY(module->arena, LLVMValueRef, count);
    bool waited = false, finite = false;
    LLVMGetMDNodeOperands(loop, items);
    for (unsigned i = 1; i < count; i++) {
        waited |= is_property(items[i], waits, &rounds);
        finite |= is_property(items[i], ends, &rounds);
        is_property(items[i], rounds_name, &rounds);
        is_property(items[i], signed_name, &counted);
        is_property(items[i], once_name, &once);
    }
    if (!waited) return 0;
    LLVMMetadataRef properties[3], known = counted ? number_property(module->context, signed_name, counted) : NULL;
    LLVMMetadataRef no_more = once ? property(module->context, stays, NULL) : NULL;
    properties[nproperties++] = follows(module->context, known, no_more);
    if (rounds) properties[nproperties++] = number_property(module->context, count_name, rounds);
    if (finite) properties[nproperties++] = property(module->context, ends, NULL);
    describe(module->context, latch, properties, nproperties);
    return rounds;
}

unsigned late_unroll_signed(Module *module, LLVMValueRef latch) {
    LLVMValueRef loop = LLVMGetMetadata(latch, kind_of_loops(module->context));
    unsigned count = loop ? (unsigned)LLVMGetMDNodeNumOperands(loop) : 0, rounds = 0;
    LLVMValueRef *items = ARENA_ARRAY(module->arena, LLVMValueRef, count);
    if (loop) LLVMGetMDNodeOperands(loop, items);
    for (unsigned i = 1; i < count; i++) is_property(items[i], signed_name, &rounds);
    return rounds;
}

/* Nothing is to be unrolled, and it has not waited. */
static bool stays_so(LLVMValueRef loop) {
    LLVMValueRef items[2];
    unsigned number = 0;
    if (LLVMGetMDNodeNumOperands(loop) != 2) return false;
    LLVMGetMDNodeOperands(loop, items);
    return is_property(items[1], stays, &number);
}

static bool is_short_round(LLVMBasicBlockRef block, LLVMValueRef latch) {
    enum { SHORT = 24 }; /* instructions */
    unsigned length = 0, back = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && length <= SHORT; i = LLVMGetNextInstruction(i)) length++;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(latch); i++) back += LLVMGetSuccessor(latch, i) == block;
    return back == 1 && length <= SHORT;
}

LoopsLeft late_unroll_release(Module *module) {
    enum { FEW_BLOCKS = 4 };
    unsigned kind = kind_of_loops(module->context), nblocks = 0, nloops = 0, nshort = 0, nstay = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef latch = LLVMGetBasicBlockTerminator(block);
            LLVMValueRef loop = latch ? LLVMGetMetadata(latch, kind) : NULL;
            nblocks++;
            if (!loop) continue;
            nloops++;
            nstay += stays_so(loop);
            nshort += release(module, latch, loop) == 0 && is_short_round(block, latch);
        }
    if (nloops && (nblocks > FEW_BLOCKS || nloops > 1 || !nshort)) return LOOPS_ANY;
    return nstay == nloops ? LOOPS_NONE : LOOPS_SHORT;
}
