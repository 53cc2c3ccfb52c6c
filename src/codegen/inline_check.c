/* inline_check.c: what LLVM IR that a user wrote may have.
 *
 * In: the module that was parsed of a text, verified.  Out: whether Krait takes it, or a diagnostic at the call that
 * names what it does not take.
 *
 * LLVM's verifier accepts much that a back end ends the process at: assembly, scopes, calling conventions, scalable
 * vectors.  So the text is walked once, and has only what both back ends are known to generate: a table of opcodes,
 * numbers of ordinary widths, the C calling convention.  What it defines becomes internal, for it shares its module
 * with what Krait generates and with other texts. */
#include <string.h> /* strlen */

#include <llvm-c/Comdat.h>

#include "codegen/lower.h"

enum { MOST_BITS = 4096, MOST_ATOMIC_BITS = 64 };

/* Each of these gives what is not taken, for the message, or NULL. */

/* ---- types ---- */

static const char *foreign_type(LLVMTypeRef type) {
    const char *found = NULL;
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
    case LLVMLabelTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return NULL;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) <= MOST_BITS ? NULL : "an integer that wide";
    case LLVMPointerTypeKind:
        switch (LLVMGetPointerAddressSpace(type)) {
        case 0: /* any */
        case 1: /* global */
        case 3: /* shared */
        case 4: /* constant */
        case 5: /* local */ return NULL;
        default: return "a pointer into that address space";
        }
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind: return foreign_type(LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (unsigned i = 0; !LLVMIsOpaqueStruct(type) && !found && i < LLVMCountStructElementTypes(type); i++)
            found = foreign_type(LLVMStructGetTypeAtIndex(type, i));
        return found;
    case LLVMScalableVectorTypeKind: return "a scalable vector";
    case LLVMMetadataTypeKind: return "metadata as an operand";
    default: return "a value of a type that both devices do not have";
    }
}

static const char *foreign_signature(LLVMTypeRef type, Arena *arena) {
    unsigned count = LLVMCountParamTypes(type);
    LLVMTypeRef *params = ARENA_ARRAY(arena, LLVMTypeRef, count + 1);
    LLVMGetParamTypes(type, params);
    const char *found = foreign_type(LLVMGetReturnType(type));
    for (unsigned i = 0; !found && i < count; i++) found = foreign_type(params[i]);
    return found;
}

/* ---- instructions ---- */

static bool is_known_scope(LLVMContextRef context, unsigned scope) {
    static const char *const names[] = {"", "singlethread", "block", "cluster", "device"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (LLVMGetSyncScopeID(context, names[i], strlen(names[i])) == scope) return true;
    return false;
}

static const char *foreign_atomic(Lower *l, LLVMValueRef instruction) {
    if (!is_known_scope(l->context, LLVMGetAtomicSyncScopeID(instruction))) return "that syncscope";
    for (unsigned i = 0, count = (unsigned)LLVMGetNumOperands(instruction); i < count; i++) {
        LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, i));
        if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) return "an atomic operation on a vector";
        if (LLVMSizeOfTypeInBits(l->m->layout, type) > MOST_ATOMIC_BITS) return "an atomic operation that wide";
    }
    bool loads = LLVMGetInstructionOpcode(instruction) == LLVMLoad;
    if (loads && LLVMSizeOfTypeInBits(l->m->layout, LLVMTypeOf(instruction)) > MOST_ATOMIC_BITS)
        return "an atomic operation that wide";
    return NULL;
}

static bool is_ordinary_convention(unsigned convention) {
    return convention == LLVMCCallConv || convention == LLVMFastCallConv;
}

static const char *foreign_call(Lower *l, LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee)) return "inline assembly";
    if (!is_ordinary_convention(LLVMGetInstructionCallConv(call))) return "that calling convention";
    if (LLVMGetNumOperandBundles(call)) return "operand bundles";
    if (LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail) return "musttail";
    return foreign_signature(LLVMGetCalledFunctionType(call), l->arena);
}

static const char *foreign_opcode(LLVMOpcode opcode) {
    switch (opcode) {
    case LLVMIndirectBr:
    case LLVMCallBr: return "a branch to an address";
    case LLVMInvoke:
    case LLVMResume:
    case LLVMLandingPad:
    case LLVMCleanupRet:
    case LLVMCatchRet:
    case LLVMCatchPad:
    case LLVMCleanupPad:
    case LLVMCatchSwitch: return "handling of C++ exceptions";
    case LLVMVAArg: return "va_arg";
    default: return NULL;
    }
}

static const char *foreign_instruction(Lower *l, LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    const char *found = foreign_opcode(opcode);
    if (!found) found = foreign_type(LLVMTypeOf(instruction));
    if (!found && opcode == LLVMCall) found = foreign_call(l, instruction);
    if (!found && opcode == LLVMAlloca) found = foreign_type(LLVMGetAllocatedType(instruction));
    if (!found && opcode == LLVMGetElementPtr) found = foreign_type(LLVMGetGEPSourceElementType(instruction));
    bool is_atomic = opcode == LLVMFence || opcode == LLVMAtomicCmpXchg || opcode == LLVMAtomicRMW ||
                     ((opcode == LLVMLoad || opcode == LLVMStore) && LLVMIsAtomic(instruction));
    if (!found && is_atomic) found = foreign_atomic(l, instruction);
    for (unsigned i = 0, count = (unsigned)LLVMGetNumOperands(instruction); !found && i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, i);
        found = LLVMIsABlockAddress(operand) ? "the address of a block" : foreign_type(LLVMTypeOf(operand));
    }
    return found;
}

/* ---- functions and globals ---- */

static const char *foreign_global(LLVMValueRef global) {
    size_t length;
    const char *name = LLVMGetValueName2(global, &length), *section = LLVMGetSection(global);
    if (LLVMIsAGlobalVariable(global) && !strncmp(name, "llvm.", 5)) return "a global that LLVM itself reads";
    if (section && *section) return "a section";
    if (LLVMGetComdat(global)) return "a comdat";
    return foreign_type(LLVMTypeOf(global));
}

/* Attributes as text say how compilers generate code for a processor: here the whole module is for one. */
static void drop_text_attributes(LLVMValueRef function, Arena *arena) {
    unsigned count = LLVMGetAttributeCountAtIndex(function, LLVMAttributeFunctionIndex), length;
    LLVMAttributeRef *attributes = ARENA_ARRAY(arena, LLVMAttributeRef, count + 1);
    LLVMGetAttributesAtIndex(function, LLVMAttributeFunctionIndex, attributes);
    for (unsigned i = 0; i < count; i++) {
        if (!LLVMIsStringAttribute(attributes[i])) continue;
        const char *kind = LLVMGetStringAttributeKind(attributes[i], &length);
        LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind, length);
    }
}

static bool has_attribute(LLVMValueRef function, LLVMAttributeIndex index, const char *name) {
    return LLVMGetEnumAttributeAtIndex(function, index, LLVMGetEnumAttributeKindForName(name, strlen(name))) != NULL;
}

static const char *foreign_attribute(LLVMValueRef function) {
    static const char *const of_params[] = {"inalloca", "preallocated", "swifterror", "swiftasync", "swiftself"};
    if (has_attribute(function, LLVMAttributeFunctionIndex, "naked")) return "the attribute naked";
    for (unsigned i = 1; i <= LLVMCountParams(function); i++)
        for (size_t k = 0; k < COUNT_OF(of_params); k++)
            if (has_attribute(function, i, of_params[k])) return of_params[k];
    return NULL;
}

static const char *foreign_function(Lower *l, LLVMValueRef function) {
    const char *found = foreign_global(function);
    drop_text_attributes(function, l->arena);
    if (!found) found = foreign_attribute(function);
    if (!found) found = foreign_signature(LLVMGlobalGetValueType(function), l->arena);
    if (found) return found;
    if (!is_ordinary_convention(LLVMGetFunctionCallConv(function))) return "that calling convention";
    if (LLVMGetGC(function)) return "a garbage collector";
    if (LLVMHasPersonalityFn(function)) return "handling of C++ exceptions";
    if (LLVMHasPrefixData(function) || LLVMHasPrologueData(function)) return "data before a function";
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); !found && b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); !found && i; i = LLVMGetNextInstruction(i))
            found = foreign_instruction(l, i);
    return found;
}

static const char *foreign_part(Lower *l, LLVMModuleRef parsed) {
    size_t length;
    const char *found = NULL;
    LLVMGetModuleInlineAsm(parsed, &length);
    if (length) return "inline assembly";
    if (LLVMGetFirstGlobalAlias(parsed)) return "an alias";
    if (LLVMGetFirstGlobalIFunc(parsed)) return "an ifunc";
    for (LLVMValueRef g = LLVMGetFirstGlobal(parsed); !found && g; g = LLVMGetNextGlobal(g)) {
        found = LLVMIsThreadLocal(g) ? "a thread_local global" : foreign_global(g);
        if (!found) found = foreign_type(LLVMGlobalGetValueType(g));
        if (!found && LLVMIsDeclaration(g)) found = "a global without a value";
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(parsed); !found && f; f = LLVMGetNextFunction(f))
        found = foreign_function(l, f);
    return found;
}

bool inline_check(Lower *l, const Value *call, LLVMModuleRef parsed) {
    const char *found = foreign_part(l, parsed);
    if (!found) return true;
    diag_fail(l->diag, DIAG_BAD_ARGUMENTS, l->func->source, call->span, "the LLVM IR has %s, which Krait does not take",
              found);
    diag_hint(l->diag, "%s",
              strcmp(found, "inline assembly") == 0
                  ? "give PTX as intrinsic(ptx=...) or cuda.inline_ptx"
                  : "write functions, instructions and globals that every target of LLVM has");
    return false;
}
