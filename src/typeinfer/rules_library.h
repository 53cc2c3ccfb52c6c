/* rules_library.h: what the typing rules of library functions share (rules_math.c, rules_ufunc.c, rules_numbers.c,
 * rules_cuda.c); helpers in rules_library.c.
 *
 * A library function computes in few types (rtlib has no int8 version): operands are cast to the type it computes in
 * and its natural result is cast to the result the interpreter gives.  lib_call writes that down in one line. */
#ifndef KRAIT_RULES_LIBRARY_H
#define KRAIT_RULES_LIBRARY_H

#include "typeinfer/rules.h"

/* A scalar fact's type without Optional; NULL if it is no scalar. */
const Type *lib_scalar(const Typing *t, size_t arg);
/* True if arguments first .. first+count-1 are scalars whose kind is one of `kinds` ("biuf"). */
bool lib_kinds(const Typing *t, size_t first, size_t count, const char *kinds);
/* Whether an argument is an array of scalars that NumPy has functions of its own for. */
bool lib_is_numpys(Typing *t, size_t arg);
/* float16 and bfloat16 are computed in float32: the type a float type is computed in. */
const Type *lib_compute(Infer *in, const Type *type);

/* As numpy.can_cast(from, to, 'safe') of NumPy's own types. */
bool lib_casts_safely(Scalar from, Scalar to);

/* NumPy's rules of what a conversion may lose.  False: refused. */
typedef enum Casting { CASTING_NO, CASTING_SAFE, CASTING_SAME_KIND, CASTING_UNSAFE } Casting;
bool lib_casting(Typing *t, size_t arg, Casting *casting);

/* As numpy.can_cast(from, to, casting) of types of numbers. */
bool lib_can_cast(const Type *from, const Type *to, Casting casting);
/* The type of elements that two of them have in common: numbers, dates, texts of fixed length, records of one dtype;
 * NULL: there is none. */
const Type *lib_promoted(Typing *t, const Type *a, const Type *b);
/* The type of the numbers in lists of lists, tuples, arrays; NULL: other things. */
const Type *lib_number_in(Typing *t, const Type *type);

/* Whether NumPy casts these arguments, all scalars, to the types of a ufunc's loop by itself. */
bool lib_loop_takes(const Typing *t, const Type *const *loop, size_t count);

/* False: refused, for one of the first `count` operands is a constant int that `to` cannot hold. */
bool lib_constants_fit(Typing *t, size_t count, const Type *to);

/* The call becomes `func` on the first `count` operands, each cast to `compute`; its natural result is cast to
 * `result`, item by item if both are tuples. */
bool lib_call(Typing *t, FuncId func, size_t count, const Type *compute, const Type *natural, const Type *result);
/* The same on given values, when t->emit is set: the finished value. */
Value *lib_emit(Typing *t, FuncId func, Value *const *args, size_t count, const Type *natural, const Type *result);
/* An operation of the intermediate representation on given values, raising as the interpreter does where both operands
 * are Python scalars. */
Value *lib_emit_op(Typing *t, Op op, Value *const *args, size_t count, const Type *result);
Value *lib_emit_const_float(Typing *t, double value);
const Type *lib_pair(Infer *in, const Type *first, const Type *second);
const Type *lib_uniform_tuple(Infer *in, const Type *item, size_t count);
/* The operands as one tuple value, each cast to `item`. */
Value *lib_emit_tuple(Typing *t, const Type *item, size_t first, size_t count);
/* The operation a row of kind OP names. */
Op lib_op(FuncId func);

/* ---- explicit signatures (rules_signature.c) ---- */

/* The one that a call with arguments of these types takes; args NULL: the function has none.  False: none fits. */
bool typing_choose_signature(Typing *t, ObjRef function, const Func *callee, const Type *const *types,
                             InferSignature *chosen);
Value *typing_declared_cast(Typing *t, Value *value, const Type *to);
/* The call of an instance whose result is converted to a declared type. */
bool typing_declared_result(Typing *t, FuncInst *inst, Value *const *args, const Type *declared);

#endif
