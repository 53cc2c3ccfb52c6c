/* check.c: the last look before LLVM generates code: everything that is called must be known to the target.
 *
 * An unknown symbol would be an unresolved reference on the host, and on a GPU an intrinsic that the back end cannot
 * select ends the process.  So whatever is left without a body is looked up in the target's table, and refused by name
 * if it is not there. */
#include <stdlib.h> /* strtoul */
#include <string.h> /* strlen, strncmp */

#include "codegen/lower.h"

/* ---- intrinsics ---- */

typedef enum Selects { NO, YES, APPROXIMATE } Selects;
typedef enum IntrinsicTypes { INTEGERS, WIDE, FLOATS, FLOAT32, ANY } IntrinsicTypes;

static const struct {
    const char *name;
    IntrinsicTypes types;
    Selects nvptx, host;
} intrinsics[] = {
#define INTRINSIC(name, types, nvptx, host) {name, types, nvptx, host},
#include "codegen/llvm_intrinsics.def"
#undef INTRINSIC
};

/* Whether the first type of ".v2f32.i1" is one of those. */
static bool types_fit(const char *suffix, IntrinsicTypes types) {
    if (types == ANY) return true;
    if (*suffix++ != '.') return false;
    char *end = (char *)suffix;
    if (*suffix == 'v' && strtoul(suffix + 1, &end, 10) == 0) return false; /* nxv4f32 has no fixed length */
    if (*end == 'b' && end[1] == 'f') end++;                                /* bfloat */
    char kind = *end;
    unsigned long bits = kind == 'f' || kind == 'i' ? strtoul(end + 1, &end, 10) : 0;
    if (*end && *end != '.') return false;
    switch (types) {
    case INTEGERS: return kind == 'i' && bits >= 1 && bits <= 64;
    case WIDE: return kind == 'i' && bits >= 1 && bits <= 128;
    case FLOATS: return kind == 'f' && bits >= 16 && bits <= 64;
    default: return kind == 'f' && bits == 32;
    }
}

/* Whether every call of the function may be approximated. */
static bool is_approximate(LLVMValueRef function) {
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!LLVMIsACallInst(call) || !(LLVMGetFastMathFlags(call) & LLVMFastMathApproxFunc)) return false;
    }
    return true;
}

bool codegen_selects(const Module *module, const char *symbol, bool gpu, bool has_approximate) {
    const char *name = symbol + strlen("llvm.");
    for (size_t i = 0; i < COUNT_OF(intrinsics); i++) {
        size_t length = strlen(intrinsics[i].name);
        Selects selects = gpu ? intrinsics[i].nvptx : intrinsics[i].host;
        if (selects == NO || strncmp(name, intrinsics[i].name, length) != 0) continue;
        if ((name[length] && name[length] != '.') || !types_fit(name + length, intrinsics[i].types)) continue;
        if (selects == YES) return true;
        LLVMValueRef function = LLVMGetNamedFunction(module->module, symbol);
        if (has_approximate && function && is_approximate(function)) return true;
    }
    return false;
}

/* ---- every callee ---- */

static bool unknown(const Module *module, LLVMValueRef function, const char *name, Diag *diag) {
    LLVMAttributeRef declared = LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, DECLARED_INLINE,
                                                              strlen(DECLARED_INLINE));
    unsigned length;
    if (!declared)
        return diag_fail(diag, DIAG_LOWERING, NULL, (Span){0}, "generated code calls %s, which %s does not have", name,
                         module->target->what);
    const InlineCall *call =
        &module->inline_calls.data[strtoul(LLVMGetStringAttributeValue(declared, &length), NULL, 10)];
    diag_fail(diag, DIAG_BAD_ARGUMENTS, call->source, call->span, "the LLVM IR calls %s, which %s does not have", name,
              module->target->what);
    diag_hint(diag, "define it in the text, behind the line ---");
    return false;
}

bool codegen_check_callees(Module *module, bool optimised, Diag *diag) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (!LLVMIsDeclaration(f) || !LLVMGetFirstUse(f)) continue;
        const char *name = LLVMGetValueName2(f, &length);
        if (LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, LINKED_PTX, strlen(LINKED_PTX))) continue;
        if (!optimised && strncmp(name, "llvm.", 5) == 0) continue; /* in branches that the passes remove */
        if (!module->target->knows(module, name)) return unknown(module, f, name, diag);
    }
    return true;
}
