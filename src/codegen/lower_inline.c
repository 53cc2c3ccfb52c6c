/* lower_inline.c: instructions given as text: PTX and LLVM IR.
 *
 * In: a CALL_FUNC of cuda.inline_ptx or krait.extending.inline_llvm, whose operands 0 and 1 are the text and the type
 * of the result.  Out: its value.  Of an array the address of its first element is passed.
 *
 * PTX becomes inline assembly that nothing is known of: it stays where it is, and may read and write memory.  LLVM IR
 * is the body of a function of its own, which is parsed, checked (inline_check.c), linked into the module and inlined;
 * what it calls is checked with everything else (check.c). */
#include <stdlib.h> /* strtod */
#include <string.h> /* strlen */

#include "codegen/lower.h"


enum { TEXT_OPERANDS = 2, MAX_OPERANDS = 32 };

static LLVMValueRef operand(Lower *l, const Value *call, unsigned index) {
    LLVMValueRef value = l_arg(l, call, index);
    return call->args[index]->type->kind == TY_ARRAY ? l_array_data(l, value) : value;
}

/* ---- PTX ---- */

/* A float that travels as its 16 bits. */
static bool is_half(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMHalfTypeKind || LLVMGetTypeKind(type) == LLVMBFloatTypeKind;
}

/* The letter of a register that holds a value of an LLVM type, and what the value is widened to for it. */
static char register_of(Lower *l, LLVMTypeRef type, LLVMTypeRef *held) {
    *held = type;
    if (type == l->f32) return 'f';
    if (type == l->f64) return 'd';
    if (type == l->ptr) return 'l';
    unsigned bits = is_half(type) ? 16 : LLVMGetIntTypeWidth(type);
    if (bits <= 16) *held = l->i16;
    return bits <= 16 ? 'h' : bits <= 32 ? 'r' : 'l';
}

static LLVMValueRef to_register(Lower *l, LLVMValueRef value, LLVMTypeRef held, bool is_signed) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (type == held) return value;
    if (is_half(type)) return LLVMBuildBitCast(l->b, value, held, "");
    return is_signed ? LLVMBuildSExt(l->b, value, held, "") : LLVMBuildZExt(l->b, value, held, "");
}

static LLVMValueRef from_register(Lower *l, LLVMValueRef value, LLVMTypeRef type) {
    if (LLVMTypeOf(value) == type) return value;
    if (is_half(type)) return LLVMBuildBitCast(l->b, value, type, "");
    return LLVMBuildTrunc(l->b, value, type, "");
}

LLVMValueRef lower_func_inline_ptx(Lower *l, const Value *call) {
    const char *text = call->args[0]->konst->text;
    bool gives = call->type->kind != TY_NONE;
    LLVMTypeRef natural = gives ? l_type(l, call->type) : l->v;
    LLVMTypeRef result = natural, types[MAX_OPERANDS];
    LLVMValueRef args[MAX_OPERANDS];
    unsigned count = 0;
    Buf constraints;
    buf_init(&constraints, l->arena);
    if (gives) buf_printf(&constraints, "=%c,", register_of(l, natural, &result));
    if (call->nargs > MAX_OPERANDS) return l_fail(l, "too many operands of inline PTX"), NULL;
    for (unsigned i = TEXT_OPERANDS; i < call->nargs; i++, count++) {
        const Type *type = call->args[i]->type;
        LLVMValueRef value = operand(l, call, i);
        buf_printf(&constraints, "%c,", register_of(l, LLVMTypeOf(value), &types[count]));
        args[count] = to_register(l, value, types[count], type->kind == TY_SCALAR && type_scalar_kind(type) == 'i');
    }
    buf_puts(&constraints, "~{memory}");
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints.text, strlen(constraints.text), true,
                                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef value = LLVMBuildCall2(l->b, type, code, args, count, "");
    if (l->target->convergent) l_call_attribute(l, value, -1, "convergent", 0);
    if (!gives) return LLVMGetUndef(l->empty);
    return from_register(l, value, natural);
}

/* ---- functions that other PTX text defines ---- */

/* The text goes with the module, so that who keeps or compares modules sees it; emission puts it into the PTX. */
static void note_linked(Lower *l, const char *text) {
    LLVMMetadataRef node = LLVMMDStringInContext2(l->context, text, strlen(text));
    unsigned count = LLVMGetNamedMetadataNumOperands(l->module, LINKED_PTX);
    LLVMValueRef *known = ARENA_ARRAY(l->arena, LLVMValueRef, count + 1);
    LLVMValueRef tuple = LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, &node, 1));
    LLVMGetNamedMetadataOperands(l->module, LINKED_PTX, known);
    for (unsigned i = 0; i < count; i++)
        if (known[i] == tuple) return;
    LLVMAddNamedMetadataOperand(l->module, LINKED_PTX, tuple);
}

/* Names in PTX are seen by all of it: the kernel's own, Krait's, and of another declaration with other operands. */
static bool is_free(Lower *l, const Value *call, const char *name, LLVMTypeRef type) {
    LLVMValueRef known = LLVMGetNamedFunction(l->module, name);
    size_t length = strlen(LINKED_PTX);
    bool is_linked = known && LLVMGetStringAttributeAtIndex(known, LLVMAttributeFunctionIndex, LINKED_PTX, length);
    bool is_taken = (known && !is_linked) || strcmp(name, l->m->options.entry_name) == 0 ||
                    strncmp(name, "__nv_", 5) == 0 || strncmp(name, "krait_", 6) == 0;
    if (!is_taken && (!known || LLVMGlobalGetValueType(known) == type)) return true;
    diag_fail(l->diag, DIAG_BAD_ARGUMENTS, l->func->source, call->span,
              is_taken ? "the declared function `%s` has a name that the kernel's own code has"
                       : "`%s` is declared with two signatures in one kernel",
              name);
    diag_hint(l->diag, "give one of them another name, in the PTX and in declare_device");
    return false;
}

int l_ptx_version(const char *text) {
    int greatest = 0;
    for (const char *at = text; (at = strstr(at, ".version")); at++) {
        const char *line = at;
        while (line > text && (line[-1] == ' ' || line[-1] == '\t')) line--;
        double version = line == text || line[-1] == '\n' ? strtod(at + strlen(".version"), NULL) : 0;
        int tenths = version > 0 && version < 1000 ? (int)(10 * version + 0.5) : 0;
        if (tenths > greatest) greatest = tenths;
    }
    return greatest;
}

/* The text that defines a declared function: its own, else the kernel's; "" where another program has it.  NULL:
 * refused. */
static const char *text_of(Lower *l, const Value *call, const char *name, const char *own) {
    const CodegenOptions *options = &l->m->options;
    const char *text = *own ? own : options->linked ? options->linked : "";
    int version = l_ptx_version(text);
    if (!version && options->exported) return "";
    if (!version) {
        diag_fail(l->diag, DIAG_BAD_ARGUMENTS, l->func->source, call->span,
                  "no code is linked that defines the declared function `%s`", name);
        diag_hint(l->diag, "say where it stands: declare_device(..., link='file.ptx') or @cuda.jit(link='file.ptx')");
        return NULL;
    }
    if (!options->ptx_version || version <= options->ptx_version) return text;
    diag_fail(l->diag, DIAG_BAD_ARGUMENTS, l->func->source, call->span,
              "the PTX that defines `%s` is of version %d.%d, this driver takes versions up to %d.%d", name,
              version / 10, version % 10, options->ptx_version / 10, options->ptx_version % 10);
    diag_hint(l->diag, "make it with an older CUDA toolkit, or install a newer driver");
    return NULL;
}

/* What a function of C is passed: a bool in a byte, a complex number as its two parts. */
static unsigned pass(Lower *l, const Value *call, unsigned index, LLVMValueRef *args) {
    const Type *type = call->args[index]->type;
    LLVMValueRef value = operand(l, call, index);
    bool scalar = type->kind == TY_SCALAR, parts = scalar && type_scalar_kind(type) == 'c';
    args[0] = scalar && type_scalar_kind(type) == 'b' ? LLVMBuildZExt(l->b, value, l->i8, "") : value;
    for (unsigned i = 0; parts && i < 2; i++) args[i] = LLVMBuildExtractValue(l->b, value, i, "");
    return parts ? 2 : 1;
}

/* abi "c": it returns its result; "numba": it returns 0 and stores the result through a pointer that comes first.
 * "together ..." of a function that waits for all blocks of the grid. */
LLVMValueRef lower_func_cuda_declared(Lower *l, const Value *call) {
    enum { NAME, RESULT, ABI, TEXT, OPERANDS };
    const char *name = call->args[NAME]->konst->text, *abi = call->args[ABI]->konst->text;
    bool gives = call->type->kind != TY_NONE, stores = strstr(abi, "numba") != NULL;
    bool truth = gives && type_scalar_kind(call->type) == 'b';
    LLVMValueRef args[2 * MAX_OPERANDS + 1], result = NULL;
    unsigned count = 0;
    if (call->nargs > MAX_OPERANDS) return l_fail(l, "too many operands of a declared function"), NULL;
    l->m->waits_for_grid |= strncmp(abi, "together", strlen("together")) == 0;
    if (stores) args[count++] = result = gives ? l_alloca_value(l, call->type, "result") : l_null(l->ptr);
    for (unsigned i = OPERANDS; i < call->nargs; i++) count += pass(l, call, i, args + count);
    LLVMTypeRef natural = stores ? l->i32 : truth ? l->i8 : gives ? l_type(l, call->type) : l->v;
    LLVMTypeRef types[2 * MAX_OPERANDS + 1];
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(args[i]);
    if (!is_free(l, call, name, LLVMFunctionType(natural, types, count, false))) return NULL;
    const char *linked = text_of(l, call, name, call->args[TEXT]->konst->text);
    TRY(linked);
    if (*linked) note_linked(l, linked);
    LLVMValueRef value = l_call_named(l, name, natural, args, count);
    LLVMValueRef function = LLVMGetNamedFunction(l->module, name);
    l_attribute_text(l, function, -1, LINKED_PTX, "1");
    if (!gives) return LLVMGetUndef(l->empty);
    if (stores) return l_load(l, call->type, result);
    return truth ? LLVMBuildICmp(l->b, LLVMIntNE, value, l_null(l->i8), "") : value;
}

/* ---- LLVM IR ---- */

/* "define i32 @name(i32 %0, float %1) alwaysinline nounwind { body }" */
static const char *definition(Lower *l, const char *name, LLVMTypeRef type, const char *body) {
    Buf text;
    LLVMTypeRef params[MAX_OPERANDS];
    unsigned count = LLVMCountParamTypes(type);
    LLVMGetParamTypes(type, params);
    buf_init(&text, l->arena);
    char *result = LLVMPrintTypeToString(LLVMGetReturnType(type));
    buf_printf(&text, "define %s @%s(", result, name);
    LLVMDisposeMessage(result);
    for (unsigned i = 0; i < count; i++) {
        char *param = LLVMPrintTypeToString(params[i]);
        buf_printf(&text, "%s%s %%%u", i ? ", " : "", param, i);
        LLVMDisposeMessage(param);
    }
    /* what the body declares stands behind a line of three dashes */
    const char *more = strstr(body, "\n---");
    buf_printf(&text, ") alwaysinline nounwind { %.*s\n}\n%s", more ? (int)(more - body) : (int)strlen(body), body,
               more ? more + strlen("\n---") : "");
    return text.text;
}

/* Refuses what LLVM does not accept, in the first line of its words. */
static void not_valid(Lower *l, const Value *call, char *message) {
    const char *says = message ? message : "?";
    diag_fail(l->diag, DIAG_BAD_ARGUMENTS, l->func->source, call->span, "the LLVM IR is not valid: %.*s",
              (int)strcspn(says, "\n"), says);
    LLVMDisposeMessage(message);
    diag_hint(l->diag, "the text is a function's body: operands are %%0, %%1, ..., it ends in ret; declarations "
                       "stand behind a line ---");
}

/* The module shares its names with what Krait generates and with other texts: only `name` is seen outside it. */
static void keep_inside(LLVMModuleRef parsed, const char *name) {
    size_t length;
    for (LLVMValueRef f = LLVMGetFirstFunction(parsed); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && strcmp(LLVMGetValueName2(f, &length), name) != 0)
            LLVMSetLinkage(f, LLVMInternalLinkage);
    for (LLVMValueRef g = LLVMGetFirstGlobal(parsed); g; g = LLVMGetNextGlobal(g))
        LLVMSetLinkage(g, LLVMInternalLinkage);
}

/* What the text declares carries the place of the call, for check.c, which finds what nothing defines. */
static void note_callees(Lower *l, const Value *call, LLVMModuleRef parsed) {
    vec_push(l->arena, &l->m->inline_calls, ((InlineCall){l->func->source, call->span}));
    const char *place = arena_printf(l->arena, "%zu", l->m->inline_calls.len - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(parsed); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f)) l_attribute_text(l, f, -1, DECLARED_INLINE, place);
}

static LLVMModuleRef parse_text(Lower *l, const Value *call, const char *text) {
    LLVMModuleRef parsed = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "inline_llvm");
    if (LLVMParseIRInContext(l->context, buffer, &parsed, &message)) return not_valid(l, call, message), NULL;
    LLVMSetTarget(parsed, LLVMGetTarget(l->module));
    LLVMSetModuleDataLayout(parsed, l->m->layout);
    if (LLVMVerifyModule(parsed, LLVMReturnStatusAction, &message))
        not_valid(l, call, message);
    else {
        LLVMDisposeMessage(message);
        if (inline_check(l, call, parsed)) return note_callees(l, call, parsed), parsed;
    }
    LLVMDisposeModule(parsed);
    return NULL;
}

static LLVMValueRef link_text(Lower *l, const Value *call, const char *name, const char *text) {
    LLVMModuleRef parsed = parse_text(l, call, text);
    if (!parsed) return NULL;
    keep_inside(parsed, name);
    if (LLVMLinkModules2(l->module, parsed)) return l_fail(l, "inline LLVM IR could not be linked"), NULL;
    return LLVMGetNamedFunction(l->module, name);
}

LLVMValueRef lower_func_inline_llvm(Lower *l, const Value *call) {
    LLVMTypeRef types[MAX_OPERANDS], result = call->type->kind == TY_NONE ? l->v : l_type(l, call->type);
    LLVMValueRef args[MAX_OPERANDS];
    unsigned count = 0;
    if (call->nargs > MAX_OPERANDS) return l_fail(l, "too many operands of inline LLVM IR"), NULL;
    for (unsigned i = TEXT_OPERANDS; i < call->nargs; i++, count++) {
        args[count] = operand(l, call, i);
        types[count] = LLVMTypeOf(args[count]);
    }
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    const char *name = arena_printf(l->arena, "krait_inline_%u_%u", l->inst->id, call->id);
    LLVMValueRef function = link_text(l, call, name, definition(l, name, type, call->args[0]->konst->text));
    if (!function) return NULL;
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMValueRef value = LLVMBuildCall2(l->b, type, function, args, count, "");
    return call->type->kind == TY_NONE ? LLVMGetUndef(l->empty) : value;
}
