/* entry_cfunc.c: ENTRY_CFUNC: the root as a C function.
 *
 * In: the lowered root, whose parameters are numbers and arrays of one axis and layout C, which stand for pointers.
 * Out: a function with the parameters and the result that C would give it.  A pointer says nothing of a length, so the
 * array is as long as memory.  What the root raises goes to options->cfunc, and the result is zero then. */
#include "codegen_cpu/cpu.h"

#include <string.h> /* strlen */

static bool is_pointer(const Type *type) {
    return type->kind == TY_ARRAY && type->ndim == 1 && type->layout == LAYOUT_C;
}

static bool is_complex(const Type *type) { return type_is_scalar(type) && scalar_info[type->scalar].kind == 'c'; }

/* The result as the signature declares it, or as it is. */
static const Type *result_type(const Lower *l, const FuncInst *root) {
    const HostCfunc *cfunc = l->m->options.cfunc;
    return cfunc && cfunc->result ? cfunc->result : root->result;
}

static bool check_types(Lower *l, const FuncInst *root) {
    const Func *f = root->untyped;
    for (uint32_t i = 0; i < f->nparams; i++)
        FAIL_IF(!type_is_scalar(root->types[i]) && !is_pointer(root->types[i]), l->diag, TYPING, f->source, f->span,
                "parameter %s of a C function is a number or a CPointer, not %s", f->params[i].name,
                type_text(l->arena, root->types[i]));
    const Type *declared = result_type(l, root);
    bool number = type_is_scalar(root->result), none = root->result->kind == TY_NONE;
    bool known = declared->kind == TY_NONE || (number && type_is_scalar(declared));
    FAIL_IF(!known || !(number || none), l->diag, TYPING, f->source, f->span,
            "a C function gives a number or nothing, not %s", type_text(l->arena, number ? declared : root->result));
    FAIL_IF(is_complex(root->result) && declared->kind != TY_NONE && !is_complex(declared), l->diag, TYPING, f->source,
            f->span, "the result is %s, and the signature says %s", type_text(l->arena, root->result),
            type_text(l->arena, declared));
    return true;
}

/* ---- how C passes a number ---- */

/* A complex one comes in registers for floats: on x86-64 two of float32 in one, two of float64 in two, and on
 * the stack where too few are left; on aarch64 as an array of two. */
typedef struct Passing {
    LLVMTypeRef types[2];
    unsigned count;
    bool on_stack;
} Passing;

#if defined(__x86_64__)
enum { FLOAT_REGISTERS = 8 };

static Passing passing(Lower *l, const Type *type, unsigned *floats_left) {
    if (is_pointer(type)) return (Passing){{l->ptr}, 1, false};
    LLVMTypeRef whole = l_memory_type(l, (Scalar)type->scalar);
    unsigned takes = scalar_info[type->scalar].kind == 'f' ? 1 : 0;
    Passing as = {{whole}, 1, false};
    if (is_complex(type)) {
        LLVMTypeRef part = LLVMStructGetTypeAtIndex(whole, 0);
        bool pair = scalar_info[type->scalar].bytes == 16;
        takes = pair ? 2 : 1;
        if (*floats_left < takes) return (Passing){{l->ptr}, 1, true};
        as = pair ? (Passing){{part, part}, 2, false} : (Passing){{LLVMVectorType(part, 2)}, 1, false};
    }
    *floats_left -= takes <= *floats_left ? takes : *floats_left;
    return as;
}

static LLVMTypeRef passed_result(Lower *l, const Type *type) {
    LLVMTypeRef whole = l_memory_type(l, (Scalar)type->scalar);
    bool in_one = is_complex(type) && scalar_info[type->scalar].bytes == 8;
    return in_one ? LLVMVectorType(LLVMStructGetTypeAtIndex(whole, 0), 2) : whole;
}
#else
enum { FLOAT_REGISTERS = 0 }; /* LLVM counts them */

static Passing passing(Lower *l, const Type *type, unsigned *floats_left) {
    (void)floats_left;
    if (is_pointer(type)) return (Passing){{l->ptr}, 1, false};
    LLVMTypeRef whole = l_memory_type(l, (Scalar)type->scalar);
    if (!is_complex(type)) return (Passing){{whole}, 1, false};
    return (Passing){{LLVMArrayType2(LLVMStructGetTypeAtIndex(whole, 0), 2)}, 1, false};
}

static LLVMTypeRef passed_result(Lower *l, const Type *type) { return l_memory_type(l, (Scalar)type->scalar); }
#endif

static LLVMValueRef part_of(Lower *l, LLVMValueRef both, unsigned index) {
    bool vector = LLVMGetTypeKind(LLVMTypeOf(both)) == LLVMVectorTypeKind;
    return vector ? LLVMBuildExtractElement(l->b, both, l_i32(l, (int32_t)index), "") : l_extract(l, both, index);
}

/* given: the first of the parameters that the number, or the pointer, comes in. */
static LLVMValueRef argument(Lower *l, const Type *type, const Passing *as, LLVMValueRef given) {
    if (is_pointer(type)) {
        LLVMValueRef length = l_i64(l, INT64_MAX / 2 / (int64_t)type_size(type_element(type)));
        return l_array_of_shape(l, type, given, &length);
    }
    if (as->on_stack) return l_load(l, type, given);
    if (as->count == 2) return l_complex(l, given, LLVMGetNextParam(given));
    if (is_complex(type)) return l_complex(l, part_of(l, given, 0), part_of(l, given, 1));
    return type->scalar == SCALAR_BOOL ? l_icmp(l, LLVMIntNE, given, l_i8(l, 0)) : given;
}

static LLVMValueRef given_result(Lower *l, const Type *declared, LLVMTypeRef type, LLVMValueRef result) {
    if (declared->scalar == SCALAR_BOOL) return LLVMBuildZExt(l->b, result, l->i8, "");
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return result;
    LLVMValueRef both = LLVMGetPoison(type);
    for (unsigned i = 0; i < 2; i++)
        both = LLVMBuildInsertElement(l->b, both, l_extract(l, result, i), l_i32(l, (int32_t)i), "");
    return both;
}

/* Narrow integers come extended, as C's compilers expect. */
static void extend_result(Lower *l, LLVMValueRef function, const Type *type) {
    if (!type_is_scalar(type) || scalar_info[type->scalar].bytes >= 4) return;
    char kind = scalar_info[type->scalar].kind;
    if (kind != 'f') l_attribute(l, function, 0, kind == 'i' ? "signext" : "zeroext", 0);
}

static void pass_on_stack(Lower *l, LLVMValueRef function, const Type *type, unsigned index) {
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
    LLVMTypeRef content = l_memory_type(l, (Scalar)type->scalar);
    LLVMAddAttributeAtIndex(function, index, LLVMCreateTypeAttribute(l->context, kind, content));
    l_attribute(l, function, (int)index, "align", 8);
}

static void report(Lower *l, LLVMValueRef status) {
    LLVMValueRef self = LLVMConstIntToPtr(l_i64(l, (int64_t)(intptr_t)l->m->options.cfunc), l->ptr);
    LLVMTypeRef params[] = {l->ptr, l->i32, l->ptr};
    LLVMValueRef args[] = {self, status, l->exception};
    LLVMValueRef callee = l_raw_load(l, l->ptr, l_offset(l, self, l_i64(l, offsetof(HostCfunc, head.raise))), 8);
    LLVMBuildCall2(l->b, LLVMFunctionType(l->v, params, 3, false), callee, args, 3, "");
}

/* The function, and where each argument of the root begins among its parameters. */
static LLVMValueRef add_function(Lower *l, const FuncInst *root, LLVMTypeRef result, Passing *as, unsigned *first) {
    uint32_t count = root->untyped->nparams;
    size_t most = 2 * (size_t)count;
    LLVMTypeRef *params = ARENA_ARRAY(l->arena, LLVMTypeRef, most);
    unsigned n = 0, floats_left = FLOAT_REGISTERS;
    for (uint32_t i = 0; i < count; i++) {
        as[i] = passing(l, root->types[i], &floats_left);
        first[i] = n;
        for (unsigned k = 0; k < as[i].count; k++) params[n++] = as[i].types[k];
    }
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, result, params, n);
    for (uint32_t i = 0; i < count; i++)
        if (as[i].on_stack) pass_on_stack(l, function, root->types[i], first[i] + 1);
    return function;
}

bool host_entry_cfunc(Lower *l, const FuncInst *root) {
    TRY(check_types(l, root));
    uint32_t count = root->untyped->nparams;
    Passing *as = ARENA_ARRAY(l->arena, Passing, count);
    unsigned *first = ARENA_ARRAY(l->arena, unsigned, count);
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, count), status = NULL;
    const Type *declared = result_type(l, root);
    bool gives = declared->kind != TY_NONE;
    LLVMTypeRef type = gives ? passed_result(l, declared) : l->v;
    LLVMValueRef function = add_function(l, root, type, as, first);
    extend_result(l, function, declared);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = l_alloca_bytes(l, l->m->exception_bytes ? l->m->exception_bytes : 8, 16, "exception");
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    for (uint32_t i = 0; i < count; i++)
        args[i] = argument(l, root->types[i], &as[i], LLVMGetParam(function, first[i]));
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
        LLVMBuildRet(l->b, given_result(l, declared, type, result));
    }
    l_end(l);
    return true;
}
