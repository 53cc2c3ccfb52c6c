/* llvm_calls.c: the emit helpers of llvm.h for calls, declarations, attributes and metadata. */
#include <string.h> /* strlen */

#include "codegen/llvm.h"

LLVMValueRef l_call(Lower *l, LLVMValueRef function, LLVMValueRef const *args, unsigned count) {
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    LLVMValueRef call = LLVMBuildCall2(l->b, type, function, (LLVMValueRef *)args, count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
    return l_fast(l, call);
}

static LLVMValueRef call_intrinsic(Lower *l, const char *name, LLVMTypeRef *overloads, unsigned noverloads,
                                   LLVMValueRef const *args, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) {
        l_fail(l, "LLVM has no intrinsic %s", name);
        return NULL;
    }
    return l_call(l, LLVMGetIntrinsicDeclaration(l->module, id, overloads, noverloads), args, count);
}

LLVMValueRef l_intrinsic(Lower *l, const char *name, LLVMTypeRef overload, LLVMValueRef const *args, unsigned count) {
    return call_intrinsic(l, name, &overload, overload ? 1 : 0, args, count);
}

LLVMValueRef l_intrinsic2(Lower *l, const char *name, LLVMTypeRef a, LLVMTypeRef b, LLVMValueRef const *args,
                          unsigned count) {
    LLVMTypeRef overloads[] = {a, b};
    return call_intrinsic(l, name, overloads, 2, args, count);
}

LLVMValueRef l_declare(Lower *l, const char *symbol, LLVMTypeRef function_type) {
    LLVMValueRef function = LLVMGetNamedFunction(l->module, symbol);
    if (!function) {
        function = LLVMAddFunction(l->module, symbol, function_type);
        l_attribute(l, function, -1, "nounwind", 0);
    }
    return function;
}

LLVMValueRef l_call_named(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef const *args, unsigned count) {
    LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef function = l_declare(l, symbol, type);
    if (LLVMGlobalGetValueType(function) != type) {
        l_fail(l, "%s is used with two different types", symbol);
        return NULL;
    }
    return l_call(l, function, args, count);
}

LLVMValueRef l_rtlib(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef const *args, unsigned count) {
    return l_call_named(l, symbol, result, args, count);
}

static LLVMAttributeRef attribute_of(Lower *l, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return kind ? LLVMCreateEnumAttribute(l->context, kind, value)
                : LLVMCreateStringAttribute(l->context, name, (unsigned)strlen(name), "", 0);
}

void l_attribute(Lower *l, LLVMValueRef function, int index, const char *name, uint64_t value) {
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)index, attribute_of(l, name, value));
}

void l_attribute_text(Lower *l, LLVMValueRef function, int index, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)index,
        LLVMCreateStringAttribute(l->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

void l_call_attribute(Lower *l, LLVMValueRef call, int index, const char *name, uint64_t value) {
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)index, attribute_of(l, name, value));
}

void l_set_metadata(Lower *l, LLVMValueRef instruction, const char *kind, LLVMMetadataRef node) {
    unsigned id = LLVMGetMDKindIDInContext(l->context, kind, (unsigned)strlen(kind));
    LLVMSetMetadata(instruction, id, LLVMMetadataAsValue(l->context, node));
}

void l_metadata_range(Lower *l, LLVMValueRef load_or_call, int64_t least, int64_t beyond) {
    if (!LLVMIsAInstruction(load_or_call)) return;
    LLVMTypeRef type = LLVMTypeOf(load_or_call);
    LLVMMetadataRef ends[] = {LLVMValueAsMetadata(l_int(type, least)), LLVMValueAsMetadata(l_int(type, beyond))};
    l_set_metadata(l, load_or_call, "range", LLVMMDNodeInContext2(l->context, ends, 2));
}
