/* vector_math.c: libmvec, the vector variants of the C library's math functions.
 *
 * In: a linked module before the passes.  Out: the same, with calls of math functions marked so that LLVM's loop
 * vectoriser may replace a row of them by one call of a vector variant: the attribute "vector-function-abi-variant" on
 * the call, and the variants declared and kept.
 *
 * Which calls.  A vector variant may be off by 4 units in the last place where the scalar function is off by less than
 * 1, so what the interpreter computes with the C library itself stays scalar: `math.sin` in a host function gives the
 * interpreter's bits.  Variants are for kernels and ufuncs, whose counterparts (device math, NumPy's own vector code)
 * round in their own way too, and for functions compiled with the fast-math flag afn.
 *
 * Which variants: those the processor can run and this process's libmvec has.  A library older than the one Krait was
 * built with lacks some; a system without libmvec has none, and loops call the scalar functions. */
#include <stdio.h>  /* snprintf */
#include <string.h> /* strstr */

#include "codegen_cpu/host.h"

typedef struct MathName {
    const char *scalar, *vector; /* vector: libmvec's stem with the type's letter */
    unsigned operands;
    bool is_double;
} MathName;

static const MathName math_names[] = {
#define MATH(name, operands, host64, host32, vector, ...) \
    {host64, vector, operands, true}, {host32, vector, operands, false},
#include "codegen/math_symbols.def"
#undef MATH
};

typedef struct VectorIsa {
    const char *feature; /* in the processor's feature string; "" always there */
    char letter;         /* in the vector function ABI */
    unsigned bits;
} VectorIsa;

static const VectorIsa isas[] = {
#if defined(__x86_64__)
    {"", 'b', 128},
    {"+avx2", 'd', 256},
    {"+avx512f", 'e', 512},
#elif defined(__aarch64__)
    {"", 'n', 128},
#endif
};

enum { MAX_CALLEES = 128, MAX_NAME = 64 };

static bool wanted(const Module *module) {
    const CodegenOptions *options = &module->options;
    return options->opt_level >= 2 && (options->entry != ENTRY_FUNCTION || options->fastmath & FASTMATH_AFN);
}

static const MathName *name_find(const char *symbol) {
    for (size_t i = 0; i < COUNT_OF(math_names); i++)
        if (math_names[i].vector[0] && !strcmp(math_names[i].scalar, symbol)) return &math_names[i];
    return NULL;
}

/* Declares one variant and gives its function; NULL if this process does not have it. */
static LLVMValueRef declare_variant(Module *module, const MathName *name, const VectorIsa *isa, char symbol[MAX_NAME]) {
    unsigned lanes = isa->bits / (name->is_double ? 64 : 32);
    snprintf(symbol, MAX_NAME, "_ZGV%cN%u%s_%s%s", isa->letter, lanes, name->operands == 2 ? "vv" : "v", name->vector,
             name->is_double ? "" : "f");
    if (!host_symbol(symbol)) return NULL;
    LLVMValueRef known = LLVMGetNamedFunction(module->module, symbol);
    if (known) return known;
    LLVMTypeRef element = name->is_double ? LLVMDoubleTypeInContext(module->context)
                                          : LLVMFloatTypeInContext(module->context);
    LLVMTypeRef vector = LLVMVectorType(element, lanes), params[2] = {vector, vector};
    return LLVMAddFunction(module->module, symbol, LLVMFunctionType(vector, params, name->operands, false));
}

/* The text of the attribute for all variants of one function; "" if there are none.  Variants are appended to `kept`.
 */
static void variants_text(Module *module, const MathName *name, char *text, size_t bytes, LLVMValueRef *kept,
                          unsigned *nkept) {
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < COUNT_OF(isas); i++) {
        char symbol[MAX_NAME];
        if (!strstr(codegen_cpu_features(), isas[i].feature)) continue;
        LLVMValueRef variant = declare_variant(module, name, &isas[i], symbol);
        if (!variant) continue;
        kept[(*nkept)++] = variant;
        unsigned lanes = isas[i].bits / (name->is_double ? 64 : 32);
        length += (size_t)snprintf(text + length, bytes - length, "%s_ZGV_LLVM_N%u%s_%s(%s)", length ? "," : "", lanes,
                                   name->operands == 2 ? "vv" : "v", name->scalar, symbol);
    }
}

static void mark_calls(Module *module, LLVMValueRef function, const char *text) {
    const char *key = "vector-function-abi-variant";
    LLVMAttributeRef variants = LLVMCreateStringAttribute(module->context, key, (unsigned)strlen(key), text,
                                                          (unsigned)strlen(text));
    static const char *const facts[] = {"memory", "nounwind", "willreturn"}; /* memory(none): errno is not looked at */
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function) continue;
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, variants);
        for (size_t i = 0; i < COUNT_OF(facts); i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(facts[i], strlen(facts[i]));
            LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                                     LLVMCreateEnumAttribute(module->context, kind, 0));
        }
    }
}

/* What only an attribute's text names must survive until the vectoriser reads it. */
static void keep(Module *module, LLVMValueRef *functions, unsigned count) {
    if (!count || LLVMGetNamedGlobal(module->module, "llvm.compiler.used")) return;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(module->context, 0);
    LLVMValueRef used = LLVMAddGlobal(module->module, LLVMArrayType2(pointer, count), "llvm.compiler.used");
    LLVMSetInitializer(used, LLVMConstArray2(pointer, functions, count));
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}

void host_vector_math(Module *module) {
    if (!wanted(module)) return;
    LLVMValueRef callees[MAX_CALLEES], kept[MAX_CALLEES * COUNT_OF(isas)];
    unsigned ncallees = 0, nkept = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f && ncallees < MAX_CALLEES; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f)) callees[ncallees++] = f;
    for (unsigned i = 0; i < ncallees; i++) {
        size_t length;
        char text[COUNT_OF(isas) * 2 * MAX_NAME];
        const MathName *name = name_find(LLVMGetValueName2(callees[i], &length));
        if (!name) continue;
        variants_text(module, name, text, sizeof text, kept, &nkept);
        if (text[0]) mark_calls(module, callees[i], text);
    }
    keep(module, kept, nkept);
}
