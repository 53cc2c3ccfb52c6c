/* conversions.c: an integer made of a rounded float is made in one conversion that rounds.
 *
 * In: fptosi of floor, ceil or rint of a float32 or float64.  Out: cvt.rmi, cvt.rpi or cvt.rni of what was rounded: the
 * same number, and what does not fit is undefined in both. */
#include <stdio.h>  /* snprintf */
#include <string.h> /* strncmp, strlen */

#include "codegen_nvptx/nvptx.h"

static const struct {
    const char *rounding, *suffix;
} conversions[] = {
    {"llvm.floor.", "rm"},     {"llvm.ceil.", "rp"},      {"llvm.rint.", "rn"},
    {"llvm.nearbyint.", "rn"}, {"llvm.roundeven.", "rn"},
};

/* "rm" of a call of llvm.floor.f32; NULL: it rounds nothing. */
static const char *rounding_of(LLVMValueRef value) {
    LLVMValueRef callee = LLVMIsACallInst(value) ? LLVMGetCalledValue(value) : NULL;
    size_t length;
    const char *name = callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (strncmp(name, conversions[i].rounding, strlen(conversions[i].rounding)) == 0) return conversions[i].suffix;
    return NULL;
}

LLVMValueRef nvptx_convert_rounded(LLVMBuilderRef b, LLVMValueRef value) {
    LLVMValueRef rounded = LLVMGetOperand(value, 0);
    const char *rounding = rounding_of(rounded);
    LLVMTypeRef to = LLVMTypeOf(value), from = LLVMTypeOf(rounded);
    LLVMTypeKind kind = LLVMGetTypeKind(from);
    bool number = LLVMGetTypeKind(to) == LLVMIntegerTypeKind;
    unsigned bits = number ? LLVMGetIntTypeWidth(to) : 0;
    if (!rounding || (bits != 32 && bits != 64) || (kind != LLVMFloatTypeKind && kind != LLVMDoubleTypeKind))
        return NULL;
    char name[32];
    int length = snprintf(name, sizeof name, "llvm.nvvm.%s2%s.%s", kind == LLVMFloatTypeKind ? "f" : "d",
                          bits == 32 ? "i" : "ll", rounding);
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(value)));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(name, (size_t)length), NULL, 0);
    LLVMValueRef args[] = {LLVMGetOperand(rounded, 0)};
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, args, 1, "");
}
