/* halves.c: a double of which both halves are compared with constants is compared itself (a row of rewrites.c).
 *
 * In: lower half == 0 and (upper half & 0x7fffffff) == c, or its opposite: how the math library asks for an infinity,
 * of every operand of a sine.  Out: one comparison of its magnitude with the double of these halves, which is neither
 * NaN nor zero: three operations less, and no predicate that stands for two. */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

enum { MAGNITUDE = 0x7fffffff, INFINITE = 0x7ff00000 }; /* of the upper half */

static bool calls(LLVMValueRef value, const char *name) {
    LLVMValueRef callee = LLVMIsACallInst(value) ? LLVMGetCalledValue(value) : NULL;
    return callee && LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, strlen(name));
}

static bool is_comparison(LLVMValueRef value, LLVMIntPredicate predicate) {
    return LLVMIsAICmpInst(value) && LLVMGetICmpPredicate(value) == predicate &&
           LLVMIsAConstantInt(LLVMGetOperand(value, 1));
}

/* The double whose lower half is compared with 0; NULL: none is. */
static LLVMValueRef lower_of(LLVMValueRef value, LLVMIntPredicate predicate) {
    if (!is_comparison(value, predicate) || !LLVMIsNull(LLVMGetOperand(value, 1))) return NULL;
    LLVMValueRef half = LLVMGetOperand(value, 0);
    return calls(half, "llvm.nvvm.d2i.lo") ? LLVMGetOperand(half, 0) : NULL;
}

/* The double the magnitude of whose upper half is compared with *bits, those of a finite number or of infinity. */
static LLVMValueRef upper_of(LLVMValueRef value, LLVMIntPredicate predicate, uint64_t *bits) {
    if (!is_comparison(value, predicate)) return NULL;
    LLVMValueRef masked = LLVMGetOperand(value, 0);
    *bits = LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1));
    if (!LLVMIsABinaryOperator(masked) || LLVMGetInstructionOpcode(masked) != LLVMAnd || !*bits || *bits > INFINITE)
        return NULL;
    LLVMValueRef half = LLVMGetOperand(masked, 0), mask = LLVMGetOperand(masked, 1);
    if (!LLVMIsAConstantInt(mask) || LLVMConstIntGetZExtValue(mask) != MAGNITUDE) return NULL;
    return calls(half, "llvm.nvvm.d2i.hi") ? LLVMGetOperand(half, 0) : NULL;
}

static LLVMValueRef compare(LLVMBuilderRef b, LLVMValueRef x, uint64_t upper, LLVMRealPredicate predicate) {
    LLVMTypeRef type = LLVMTypeOf(x), i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(type));
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(b)));
    unsigned id = LLVMLookupIntrinsicID("llvm.fabs", strlen("llvm.fabs"));
    LLVMValueRef fabs = LLVMGetIntrinsicDeclaration(module, id, &type, 1);
    LLVMValueRef magnitude = LLVMBuildCall2(b, LLVMGlobalGetValueType(fabs), fabs, &x, 1, "");
    LLVMValueRef constant = LLVMConstBitCast(LLVMConstInt(i64, upper << 32, false), type);
    return LLVMBuildFCmp(b, predicate, magnitude, constant, "");
}

/* The two that are joined; true: both must hold, false: one of them must.  A choice by one of them joins, too. */
static bool joins(LLVMValueRef value, LLVMValueRef joined[2]) {
    if (LLVMGetInstructionOpcode(value) != LLVMSelect) {
        joined[0] = LLVMGetOperand(value, 0), joined[1] = LLVMGetOperand(value, 1);
        return LLVMGetInstructionOpcode(value) == LLVMAnd;
    }
    bool all = LLVMIsAConstantInt(LLVMGetOperand(value, 2)) != NULL;
    joined[0] = LLVMGetOperand(value, 0), joined[1] = LLVMGetOperand(value, all ? 1 : 2);
    LLVMValueRef constant = LLVMGetOperand(value, all ? 2 : 1);
    if (!LLVMIsAConstantInt(constant) || LLVMConstIntGetZExtValue(constant) != !all) joined[1] = joined[0];
    return all;
}

LLVMValueRef nvptx_compare_whole(LLVMBuilderRef b, LLVMValueRef both) {
    LLVMValueRef joined[2];
    bool all = joins(both, joined);
    LLVMIntPredicate predicate = all ? LLVMIntEQ : LLVMIntNE;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t bits;
        LLVMValueRef x = lower_of(joined[i], predicate);
        if (x && x == upper_of(joined[1 - i], predicate, &bits))
            return compare(b, x, bits, all ? LLVMRealOEQ : LLVMRealUNE);
    }
    return NULL;
}
