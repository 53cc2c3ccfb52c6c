/* lowering.h: what lowering gives beyond the emit helpers of llvm.h: operands, scalars, raising, arrays, functions; to
 * the files lower_*.c, and to the entries of codegen_nvptx and codegen_cpu. */
#ifndef KRAIT_CODEGEN_LOWERING_H
#define KRAIT_CODEGEN_LOWERING_H

#include "codegen/llvm.h"

/* ---- operands of the value being lowered ---- */

LLVMValueRef l_value(Lower *l, const Value *value);
static inline LLVMValueRef l_arg(Lower *l, const Value *call, unsigned index) { return l_value(l, call->args[index]); }
static inline const Type *l_arg_type(const Value *call, unsigned index) { return call->args[index]->type; }
/* The constant that an operand is known to be, else NULL. */
static inline const Const *l_arg_const(const Value *call, unsigned index) { return call->args[index]->konst; }

/* ---- constants (lower_operands.c) ---- */

LLVMValueRef l_const(Lower *l, const Const *konst);

/* ---- scalars (lower_scalar.c, lower_truth.c) ---- */

/* Any scalar to any scalar, as C and NumPy convert; complex to real drops the imaginary part. */
LLVMValueRef l_cast(Lower *l, LLVMValueRef value, const Type *from, const Type *to);
LLVMValueRef l_cast_scalar(Lower *l, LLVMValueRef value, Scalar from, Scalar to);
/* ADD ... XOR, LT ... GE, NEG POS INVERT on operands of one scalar type (b NULL for unary); never raises. */
LLVMValueRef l_scalar_op(Lower *l, Op op, Scalar scalar, LLVMValueRef a, LLVMValueRef b);
/* divmod(args[0], args[1]) of floats. */
bool l_float_divmod(Lower *l, Scalar scalar, LLVMValueRef const *args, LLVMValueRef results[2]);
LLVMValueRef l_truth(Lower *l, const Type *type, LLVMValueRef value); /* i1 */

/* A function of the platforms' math libraries, on `count` arguments of one float (or complex) scalar
 * type. (lower_math.c) */
LLVMValueRef lower_math(Lower *l, MathId id, Scalar scalar, LLVMValueRef const *args, unsigned count);
/* The value of a CALL_FUNC whose row is EXTERN or RTLIB, the interpreter's exceptions (column check, VF_CHECKED)
 * included: the only thing lower_call.c has to call for such rows. (lower_math.c, where the calling convention of
 * rtlib/ is written down) */
LLVMValueRef lower_library(Lower *l, const Value *call);
/* Raises error number `code` (i32, 1 or 2), as the row of the function words it; goes on if it is 0. */
void l_math_errors(Lower *l, const FuncInfo *info, LLVMValueRef code);
/* A function of rtlib/: symbol_<type letter>; letters as in functions.def. (lower_call.c) */
LLVMValueRef l_rtlib(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef const *args, unsigned count);

/* ---- raising (lower_raise.c) ---- */

/* Leaves with a status (i32, not 0): to the landing of the block at hand, or out of the function. */
void l_leave(Lower *l, LLVMValueRef status);
void l_note_call(Lower *l); /* on the way out of a call that raised */
/* Raises a built-in exception at l->at if the condition (i1) holds, and goes on where it does not.  args are i64 values
 * for the %lld of format. */
void l_raise_if(Lower *l, LLVMValueRef condition, const char *builtin, const char *format, LLVMValueRef const *args,
                unsigned count);
/* What is raised where a condition holds, and none of those before it; words and numbers as of l_raise_if. */
typedef struct RaiseWhen {
    LLVMValueRef condition;
    const char *builtin, *format;
    LLVMValueRef const *args;
    unsigned count;
} RaiseWhen;
/* Raises one of several where `any` holds, from one block: the last if no condition of the others holds. */
void l_raise_first(Lower *l, LLVMValueRef any, const RaiseWhen *raises, unsigned count);
/* Named metadata: PTX texts that go into the module's own; attribute of the functions that they define. */
#define LINKED_PTX "krait.linked_ptx"
int l_ptx_version(const char *text); /* 78 for 7.8: the greatest that its headings name; 0: none does */
/* With CodegenOptions.races, tells of an access to an element of this type, or of a fence. */
void l_watch(Lower *l, const Value *at, LLVMValueRef pointer, const Type *element, RaceAccess kind);
/* Number of an access site at `at` (for Target.bad_access and barriers). */
uint32_t l_access_site(Lower *l, const Value *at, unsigned axis);

/* ---- arrays (lower_array.c) ---- */

/* Strides that the layout implies are not looked at. */
LLVMValueRef l_array_make(Lower *l, const Type *type, LLVMValueRef data, LLVMValueRef owner, LLVMValueRef const *shape,
                          LLVMValueRef const *strides);
/* A contiguous C array with that shape (i64 values); owner is null. */
LLVMValueRef l_array_of_shape(Lower *l, const Type *type, LLVMValueRef data, LLVMValueRef const *shape);
LLVMValueRef l_array_data(Lower *l, LLVMValueRef array);
LLVMValueRef l_array_owner(Lower *l, LLVMValueRef array);
LLVMValueRef l_view_owner(Lower *l, LLVMValueRef array); /* of a view on it: OWNER_VIEW in repr.h */
LLVMValueRef l_array_shape(Lower *l, const Type *type, LLVMValueRef array, unsigned axis);
LLVMValueRef l_array_stride(Lower *l, const Type *type, LLVMValueRef array,
                            unsigned axis); /* bytes; computed from the shape for C and F */
LLVMValueRef l_array_size(Lower *l, const Type *type, LLVMValueRef array); /* elements */
/* Address of an element; indices are i64, within the array. */
LLVMValueRef l_element(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef const *index);
LLVMValueRef l_element_wide(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef const *index); /* in 64 bits */

/* The element at an address: its value, or a reference to the record there. */
LLVMValueRef l_element_value(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef pointer);

/* One access at x[index], indices as in the source (negative ones wrap, checks as the target wants):
 *     Access a;
 *     l_access(l, &a, at, array operand, index operand);
 *     value = use(a.pointer);
 *     value = l_endaccess(l, &a, value);
 * `value` may be NULL (a store).  Where the access is skipped the result is zero. */
typedef struct Access {
    LLVMValueRef pointer;
    const Type *element, *array; /* of the element; of the array it is one of */
    bool guarded;
    LIf guard;
} Access;
void l_access(Lower *l, Access *a, const Value *at, const Value *array, const Value *index);
LLVMValueRef l_endaccess(Lower *l, Access *a, LLVMValueRef value);

/* ---- functions (lower_call.c), for entry wrappers ---- */

LLVMValueRef l_function_of(Lower *l, const FuncInst *inst);
/* Starts the body of a function: builder in its code, allocas block open.  The caller sets hidden and exception. */
void l_begin(Lower *l, LLVMValueRef function);
void l_end(Lower *l);
/* Which items of a parameter that is a wide tuple the function takes out of it; NULL: it is narrow, or used whole. */
const bool *l_items_taken(Lower *l, const FuncInst *inst, uint32_t param);
/* Calls the generated function with one value per parameter.  *status (i32) is NULL when it cannot raise. */
LLVMValueRef l_call_inst(Lower *l, const FuncInst *inst, LLVMValueRef const *args, LLVMValueRef *status);

/* ---- library functions that need code of their own: rows with EMIT(f) ----
 *
 * lower_func_<f> returns the value of the call (LLVMGetUndef(l->empty) for None; NULL after a refusal). */

typedef LLVMValueRef (*Emitter)(Lower *l, const Value *call);
#define DECLARE_EXTERN(f)
#define DECLARE_OP(name)
#define DECLARE_RTLIB(f)
#define DECLARE_HOSTED(f)
#define DECLARE_EMIT(f) LLVMValueRef lower_func_##f(Lower *l, const Value *call);
#define DECLARE_PRELUDE(f)
#define DECLARE_TYPED
#define FUNC(id, rule, how, ...) DECLARE_##how
#include "library/functions.def"
#undef FUNC
Emitter lower_func_emitter(FuncId func); /* NULL: the row is of another kind */

#endif
