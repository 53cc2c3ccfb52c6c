/* entry_cfunc.c: ENTRY_CFUNC: the root as a C function.
 *
 * In: the lowered root, whose parameters are numbers and arrays of one axis and layout C, which stand for pointers.
 * Out: a function with the parameters and the result that C would give it.  A pointer says nothing of a length, so the
 * array is as long as memory.  What the root raises goes to options->cfunc, and the result is zero then. */
#include "codegen_cpu/cpu.h"

static bool is_pointer(const Type *type) {
    return type->kind == TY_ARRAY && type->ndim == 1 && type->layout == LAYOUT_C;
}

static bool is_number(const Type *type) { return type_is_scalar(type) && scalar_info[type->scalar].kind != 'c'; }

/* The result as the signature declares it, or as it is. */
static const Type *result_type(const Lower *l, const FuncInst *root) {
    const HostCfunc *cfunc = l->m->options.cfunc;
    return cfunc && cfunc->result ? cfunc->result : root->result;
}

static bool check_types(Lower *l, const FuncInst *root) {
    const Func *f = root->untyped;
    for (uint32_t i = 0; i < f->nparams; i++)
        FAIL_IF(!is_number(root->types[i]) && !is_pointer(root->types[i]), l->diag, TYPING, f->source, f->span,
                "parameter %s of a C function is a real number or a CPointer, not %s", f->params[i].name,
                type_text(l->arena, root->types[i]));
    const Type *declared = result_type(l, root);
    bool number = is_number(root->result), none = root->result->kind == TY_NONE;
    bool known = declared->kind == TY_NONE || (number && is_number(declared));
    FAIL_IF(!known || !(number || none), l->diag, TYPING, f->source, f->span,
            "a C function gives a real number or nothing, not %s",
            type_text(l->arena, number ? declared : root->result));
    return true;
}

static LLVMValueRef argument(Lower *l, const Type *type, LLVMValueRef given) {
    if (is_pointer(type)) {
        LLVMValueRef length = l_i64(l, INT64_MAX / 2 / (int64_t)type_size(type_element(type)));
        return l_array_of_shape(l, type, given, &length);
    }
    return type->scalar == SCALAR_BOOL ? l_icmp(l, LLVMIntNE, given, l_i8(l, 0)) : given;
}

/* Narrow integers come extended, as C's compilers expect. */
static void extend_result(Lower *l, LLVMValueRef function, const Type *type) {
    if (!type_is_scalar(type) || scalar_info[type->scalar].bytes >= 4) return;
    char kind = scalar_info[type->scalar].kind;
    if (kind != 'f') l_attribute(l, function, 0, kind == 'i' ? "signext" : "zeroext", 0);
}

static void report(Lower *l, LLVMValueRef status) {
    LLVMValueRef self = LLVMConstIntToPtr(l_i64(l, (int64_t)(intptr_t)l->m->options.cfunc), l->ptr);
    LLVMTypeRef params[] = {l->ptr, l->i32, l->ptr};
    LLVMValueRef args[] = {self, status, l->exception};
    LLVMValueRef callee = l_raw_load(l, l->ptr, l_offset(l, self, l_i64(l, offsetof(HostCfunc, head.raise))), 8);
    LLVMBuildCall2(l->b, LLVMFunctionType(l->v, params, 3, false), callee, args, 3, "");
}

bool host_entry_cfunc(Lower *l, const FuncInst *root) {
    TRY(check_types(l, root));
    uint32_t count = root->untyped->nparams;
    LLVMTypeRef *params = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, count), status = NULL;
    for (uint32_t i = 0; i < count; i++)
        params[i] = is_pointer(root->types[i]) ? l->ptr : l_memory_type(l, (Scalar)root->types[i]->scalar);
    const Type *declared = result_type(l, root);
    bool gives = declared->kind != TY_NONE;
    LLVMTypeRef type = gives ? l_memory_type(l, (Scalar)declared->scalar) : l->v;
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, type, params, count);
    extend_result(l, function, declared);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = l_alloca_bytes(l, l->m->exception_bytes ? l->m->exception_bytes : 8, 16, "exception");
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    for (uint32_t i = 0; i < count; i++) args[i] = argument(l, root->types[i], LLVMGetParam(function, i));
    LLVMValueRef result = l_call_inst(l, root, args, &status);
    TRY(result);
    if (status) {
        LIf raised;
        l_if(l, &raised, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)));
        report(l, status);
        if (gives)
            LLVMBuildRet(l->b, l_null(type));
        else
            LLVMBuildRetVoid(l->b);
        l_enter(l, raised.end);
    }
    if (!gives) {
        LLVMBuildRetVoid(l->b);
    } else {
        result = l_cast(l, result, root->result, declared);
        LLVMBuildRet(l->b, declared->scalar == SCALAR_BOOL ? LLVMBuildZExt(l->b, result, l->i8, "") : result);
    }
    l_end(l);
    return true;
}
