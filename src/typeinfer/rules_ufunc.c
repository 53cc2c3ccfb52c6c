/* rules_ufunc.c: typing rules of NumPy's universal functions on scalars.
 *
 * Resolution, as NumPy does it: the loop of the operands' common type (NEP 50; Python scalars alone give NumPy's
 * default type) if there is one, else the first of its loops (library/numpy.def) that every operand casts to safely; a
 * Python scalar casts to any loop of its kind or a higher one if a NumPy scalar of such a kind is there too, else it
 * counts as NumPy's default type.  Results are strong scalars.  Whole arrays are rules_map.c's. */
#include <string.h>

#include "typeinfer/rules_library.h" /* lib_* */

static Scalar scalar_of_char(char c) {
    for (int s = 0; s < SCALAR_COUNT; s++)
        if (scalar_info[s].numpy_char == c) return (Scalar)s;
    return SCALAR_COUNT;
}

/* Bits of precision a float keeps; integers up to that many bits cast to it safely. */
static int exact_bits(Scalar s) {
    switch (s) {
    case SCALAR_BFLOAT16: return 8;
    case SCALAR_FLOAT16: return 11;
    case SCALAR_FLOAT32:
    case SCALAR_COMPLEX64: return 24;
    default: return 64; /* NumPy counts every integer as safe for float64 */
    }
}

bool lib_casts_safely(Scalar from, Scalar to) {
    const ScalarInfo *a = &scalar_info[from], *b = &scalar_info[to];
    bool inexact = b->kind == 'f' || b->kind == 'c';
    if (from == to || a->kind == 'b') return true;
    switch (a->kind) {
    case 'i': return b->kind == 'i' ? b->bytes >= a->bytes : inexact && exact_bits(to) >= 8 * a->bytes;
    case 'u':
        if (b->kind == 'u') return b->bytes >= a->bytes;
        return b->kind == 'i' ? b->bytes > a->bytes : inexact && exact_bits(to) >= 8 * a->bytes;
    case 'f': return b->kind == 'f' ? b->bytes > a->bytes : b->kind == 'c' && b->bytes >= 2 * a->bytes;
    default: return b->kind == 'c' && b->bytes >= a->bytes;
    }
}

/* The type of an operand; a member of an enumeration is an int64 to NumPy. */
static const Type *operand(const Typing *t, size_t arg) {
    bool member = infer_content(t->args[arg].type)->kind == TY_SCALAR && infer_content(t->args[arg].type)->object;
    return member ? type_scalar(t->in->types, SCALAR_INT64, false) : lib_scalar(t, arg);
}

/* Order of kinds in which a Python scalar is weaker than a NumPy one. */
static int kind_order(char kind) { return kind == 'b' ? 0 : kind == 'f' ? 2 : kind == 'c' ? 3 : 1; }

static bool is_python(const Type *type) { return type->weak && type->scalar != SCALAR_BOOL; }

/* Python scalars adapt to the loop only if a NumPy scalar of their kind or a higher one is there. */
static bool python_adapts(const Typing *t, size_t count) {
    int numpy = -1, python = -1;
    for (size_t i = 0; i < count; i++) {
        const Type *type = operand(t, i);
        int *most = is_python(type) ? &python : &numpy, order = kind_order(type_scalar_kind(type));
        if (order > *most) *most = order;
    }
    return numpy >= python;
}

bool lib_can_cast(const Type *from, const Type *to, Casting casting) {
    static const char order[] = "buifc";
    char f = type_scalar_kind(from), k = type_scalar_kind(to);
    if (casting == CASTING_UNSAFE || from->scalar == to->scalar) return true;
    if (casting == CASTING_NO) return false;
    if (lib_casts_safely((Scalar)from->scalar, (Scalar)to->scalar)) return true;
    return casting == CASTING_SAME_KIND && strchr(order, k) >= strchr(order, f) && !(k == 'u' && f == 'i');
}

static bool operand_fits(const Type *type, Scalar loop, bool adapts) {
    if (!is_python(type) || !adapts) return lib_casts_safely((Scalar)type->scalar, loop);
    char kind = scalar_info[loop].kind;
    return kind != 'b' && kind_order(kind) >= kind_order(type_scalar_kind(type));
}

bool lib_loop_takes(const Typing *t, const Type *const *loop, size_t count) {
    bool adapts = python_adapts(t, count);
    for (size_t i = 0; i < count; i++) TRY(operand_fits(operand(t, i), (Scalar)loop[i]->scalar, adapts));
    return true;
}

/* Functions of the distance between neighbours, which no other type can compute. */
static bool steps_on_grid(FuncId func) { return func == FUNC_NP_NEXTAFTER || func == FUNC_NP_SPACING; }

/* The loop taken, looking at operands 0 .. count-1 of which the first `typed` have its type; NULL: none (or an operand
 * is no scalar). */
static const Type *find_loop(Typing *t, const UfuncLoops *ufunc, size_t typed, size_t count) {
    if (!lib_kinds(t, 0, count, "biufc")) return NULL;
    const PromotionRules *rules = promote_rules(t->in);
    bool adapts = rules->python_adapts && python_adapts(t, count), only_bools = true, halves = rules->half_loops;
    for (size_t i = 0; i < typed; i++) {
        only_bools = only_bools && operand(t, i)->scalar == SCALAR_BOOL;
        halves = halves || scalar_is_half((Scalar)operand(t, i)->scalar);
    }
    if (only_bools && strchr(ufunc->integers, '!')) return NULL;
    const Type *common = operand(t, 0);
    if (typed > 1) common = promote_ufunc(t->in, common, operand(t, 1));
    char letter = common ? scalar_info[common->scalar].numpy_char : 0;
    if (letter == 'E' && !steps_on_grid(t->func)) letter = 'e'; /* whatever has a loop of float16 has one of bfloat16 */
    if (letter && strchr(ufunc->types, letter)) return infer_strong(t->in, common);
    for (const char *c = ufunc->types; *c; c++) {
        Scalar loop = scalar_of_char(*c);
        bool fits = halves || loop != SCALAR_FLOAT16;
        for (size_t i = 0; i < typed; i++) fits = fits && operand_fits(operand(t, i), loop, adapts);
        if (fits) return infer_scalar(t->in, loop, false);
    }
    return NULL;
}

static const Type *real_part(Infer *in, const Type *loop) {
    if (type_scalar_kind(loop) != 'c') return loop;
    return infer_scalar(in, loop->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64, false);
}

static const Type *loop_result(Infer *in, const char *out, const Type *loop) {
    switch (out[0]) {
    case '?': return infer_scalar(in, SCALAR_BOOL, false);
    case 'B': return infer_scalar(in, SCALAR_UINT8, false);
    case 'r': return real_part(in, loop);
    default: break;
    }
    if (out[1] == '=') return lib_pair(in, loop, loop);
    return out[1] == 'i' ? lib_pair(in, loop, infer_scalar(in, SCALAR_INT32, false)) : loop;
}

/* The type a loop is computed in: float16 has few functions of its own in rtlib, integers are 64 bits wide there. */
static const Type *loop_compute(Typing *t, const Type *loop, FuncId func) {
    if (func == FUNC_PY_MIN || func == FUNC_PY_MAX) return loop;
    switch (type_scalar_kind(loop)) {
    case 'b':
    case 'i': return infer_scalar(t->in, SCALAR_INT64, false);
    case 'u': return infer_scalar(t->in, SCALAR_UINT64, false);
    default: break;
    }
    return steps_on_grid(t->func) ? loop : lib_compute(t->in, loop);
}

/* The function that a loop calls: where no type of its own has one, the general one. */
static FuncId loop_func(FuncId func, const Type *loop) {
    char integers = strchr("biu", type_scalar_kind(loop)) ? func_info[func].loops.integers[0] : 0;
    if (integers == '<' || integers == '>') return integers == '<' ? FUNC_PY_MIN : FUNC_PY_MAX;
    return func == FUNC_NP_RECIPROCAL && loop->scalar == SCALAR_INT32 ? FUNC_NP_RECIPROCAL_INT32 : func;
}

bool rule_func_ufunc(Typing *t) {
    const UfuncLoops *ufunc = &func_info[t->func].loops;
    const Type *loop = find_loop(t, ufunc, t->nargs, t->nargs);
    if (!loop) return typing_bad_operands(t);
    const Type *result = loop_result(t->in, ufunc->result, loop);
    bool integers = strchr("biu", type_scalar_kind(loop)) != NULL;
    if (integers && (ufunc->integers[0] == '0' || ufunc->integers[0] == '1')) {
        Const *konst = ARENA_NEW(t->in->arena, Const);
        konst->type = result, konst->i = ufunc->integers[0] == '1';
        return typing_become_const(t, konst);
    }
    if (integers && ufunc->integers[0] == '=')
        return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], loop) : NULL, result);
    FuncId func = loop_func(t->func, loop);
    const Type *compute = loop_compute(t, loop, func);
    const Type *natural = loop_result(t->in, ufunc->result, compute);
    TRY(lib_constants_fit(t, t->nargs, loop));
    if (ufunc->result[0] == 'B') natural = infer_scalar(t->in, SCALAR_INT64, false);
    if (loop->scalar == SCALAR_BOOL && t->func == FUNC_NP_ABSOLUTE)
        return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], loop) : NULL, loop);
    Value *value = NULL;
    if (t->emit) {
        /* First to the loop's type (a Python int becomes an int8), then to what it is computed in. */
        Value **args = ARENA_ARRAY(t->in->arena, Value *, t->nargs);
        for (size_t i = 0; i < t->nargs; i++)
            args[i] = typing_make_cast(t, typing_make_cast(t, t->values[i], loop), compute);
        value = lib_emit(t, func, args, t->nargs, natural, result);
    }
    return typing_become(t, value, result);
}

/* NumPy's bool has its own add and multiply. */
static Op bool_op(Op op) {
    switch (op) {
    case OP_ADD: return OP_OR;
    case OP_MUL: return OP_AND;
    case OP_INVERT: return OP_NOT;
    default: return op;
    }
}

static bool become_op(Typing *t, Op op, const Type *operand, const Type *result, size_t count, bool twice) {
    Value *value = NULL;
    TRY(lib_constants_fit(t, twice ? 1 : count, operand));
    if (t->emit) {
        Value *args[2];
        for (size_t i = 0; i < count; i++) args[i] = typing_make_cast(t, t->values[twice ? 0 : i], operand);
        value = typing_make_op(t, op, result, args, count);
    }
    return typing_become(t, value, result);
}

bool rule_func_ufunc_op(Typing *t) {
    const Type *loop = find_loop(t, &func_info[t->func].loops, t->nargs, t->nargs);
    if (!loop) return typing_bad_operands(t);
    Op op = lib_op(t->func);
    return become_op(t, loop->scalar == SCALAR_BOOL ? bool_op(op) : op, loop, loop, t->nargs, false);
}

bool rule_func_ufunc_square(Typing *t) {
    const Type *loop = find_loop(t, &func_info[t->func].loops, 1, 1);
    if (!loop) return typing_bad_operands(t);
    return become_op(t, OP_MUL, loop, loop, 2, true);
}

bool rule_func_ufunc_positive(Typing *t) {
    const Type *content = infer_content(t->args[0].type);
    if (content->kind == TY_TIME && content->flag) return typing_become_arg(t, 0);
    const Type *loop = find_loop(t, &func_info[t->func].loops, 1, 1);
    if (!loop) return typing_bad_operands(t);
    return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], loop) : NULL, loop);
}

/* Integers are divided as float64, whatever their width, or in the first float they cast to safely. */
bool rule_func_ufunc_divide(Typing *t) {
    if (!lib_kinds(t, 0, 2, "biufc")) return typing_bad_operands(t);
    const Type *a = operand(t, 0), *b = operand(t, 1), *loop = promote_ufunc(t->in, a, b);
    if (!loop) return typing_bad_operands(t);
    bool single = !promote_rules(t->in)->integers_to_float && lib_casts_safely((Scalar)a->scalar, SCALAR_FLOAT32) &&
                  lib_casts_safely((Scalar)b->scalar, SCALAR_FLOAT32);
    loop = strchr("biu", type_scalar_kind(loop)) ? infer_scalar(t->in, single ? SCALAR_FLOAT32 : SCALAR_FLOAT64, false)
                                                 : infer_strong(t->in, loop);
    return become_op(t, OP_TRUEDIV, loop, loop, 2, false);
}

/* Comparisons: integers of different signedness keep their types and are compared by value. */
/* NumPy's ufuncs, unlike its scalars' operators, order no complex number whose imaginary part is not a number. */
static Value *ordered_too(Typing *t, Value *compared, Value *number) {
    const Type *part = infer_scalar(t->in, number->type->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64,
                                    false);
    Value *imag = typing_make_op(t, OP_GETATTR, part, &number, 1);
    imag->imm.text = "imag";
    Value *test = typing_make_op(t, OP_EQ, compared->type, (Value *[]){imag, imag}, 2);
    return typing_make_op(t, OP_AND, compared->type, (Value *[]){compared, test}, 2);
}

bool rule_func_ufunc_compare(Typing *t) {
    BinaryTypes types;
    if (!lib_kinds(t, 0, 2, "biufc")) return typing_bad_operands(t);
    const Type *a = operand(t, 0), *b = operand(t, 1);
    if (a->weak && b->weak) a = infer_strong(t->in, a), b = infer_strong(t->in, b);
    if (!promote_binary(t->in, lib_op(t->func), a, b, &types)) return typing_bad_operands(t);
    const Type *result = infer_scalar(t->in, SCALAR_BOOL, false);
    Value *value = NULL;
    if (t->emit) {
        Value *args[2];
        for (size_t i = 0; i < 2; i++)
            args[i] = typing_make_cast(t, t->values[i], types.compute ? types.compute : i ? b : a);
        Op op = lib_op(t->func);
        value = typing_make_op(t, op, result, args, 2);
        bool orders = op != OP_EQ && op != OP_NE && type_scalar_kind(args[0]->type) == 'c';
        for (size_t i = 0; orders && i < 2; i++) value = ordered_too(t, value, args[i]);
    }
    return typing_become(t, value, result);
}

bool rule_func_ufunc_logical(Typing *t) {
    if (!lib_kinds(t, 0, t->nargs, "biufc")) return typing_bad_operands(t);
    const Type *result = infer_scalar(t->in, SCALAR_BOOL, false);
    Value *value = NULL;
    if (t->emit) {
        Value *args[2];
        for (size_t i = 0; i < t->nargs; i++) {
            bool truth = operand(t, i)->scalar == SCALAR_BOOL; /* a step of a reduction over prange as it is */
            Value *arg = typing_make_cast(t, t->values[i], truth ? result : operand(t, i));
            args[i] = truth ? arg : typing_make_op(t, OP_TRUTH, result, &arg, 1);
        }
        value = typing_make_op(t, lib_op(t->func), result, args, t->nargs);
    }
    return typing_become(t, value, result);
}

bool rule_func_ufunc_ldexp(Typing *t) {
    const Type *loop = find_loop(t, &func_info[t->func].loops, 1, 2);
    if (!loop || !lib_kinds(t, 1, 1, "biu") || operand(t, 1)->scalar == SCALAR_UINT64) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        const Type *compute = lib_compute(t->in, loop);
        Value *args[] = {typing_make_cast(t, typing_make_cast(t, t->values[0], loop), compute),
                         typing_make_cast(t, t->values[1], infer_int(t->in))};
        value = lib_emit(t, t->func, args, 2, compute, loop);
    }
    return typing_become(t, value, loop);
}
