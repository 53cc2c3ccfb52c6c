/* rules_library.c: helpers of the typing rules of library functions.
 *
 * Input: a Typing (infer.h).  Output: its answer, with operands cast to what the function computes in and the result
 * cast to what the interpreter gives. */
#include <string.h> /* strchr, strcmp */

#include "typeinfer/rules_library.h" /* lib_* */

const Type *lib_scalar(const Typing *t, size_t arg) {
    if (arg >= t->nargs || !t->args[arg].type) return NULL;
    const Type *type = infer_content(t->args[arg].type);
    if (!type_is_scalar(type)) return NULL;
    return type->object ? infer_int(t->in) : type; /* a member of an enumeration counts as its int */
}

bool lib_casting(Typing *t, size_t arg, Casting *casting) {
    static const struct {
        const char *name;
        Casting casting;
    } known[] = {{"no", CASTING_NO},
                 {"equiv", CASTING_NO}, /* byte orders are all alike */
                 {"safe", CASTING_SAFE},
                 {"same_kind", CASTING_SAME_KIND},
                 {"unsafe", CASTING_UNSAFE}};
    const char *text;
    TRY(typing_const_str(t, arg, &text));
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(text, known[i].name) == 0) return *casting = known[i].casting, true;
    return typing_fail_arg(t, arg, DIAG_TYPING,
                           "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '%s')", text);
}

bool lib_kinds(const Typing *t, size_t first, size_t count, const char *kinds) {
    for (size_t i = first; i < first + count; i++) {
        const Type *type = lib_scalar(t, i);
        if (!type || !strchr(kinds, type_scalar_kind(type))) return false;
    }
    return true;
}

bool lib_is_numpys(Typing *t, size_t arg) {
    const Type *element = type_element(t->args[arg].type);
    if (!type_is_scalar(element)) return false;
    if (element->scalar != SCALAR_BFLOAT16) return true;
    typing_fail_arg(t, arg, DIAG_TYPING, "NumPy has no function of its own for elements of type bfloat16");
    return typing_hint(t, "convert the array: a.astype(np.float32)");
}

const Type *lib_compute(Infer *in, const Type *type) {
    return scalar_is_half((Scalar)type->scalar) ? infer_scalar(in, SCALAR_FLOAT32, false) : type;
}

const Type *lib_pair(Infer *in, const Type *first, const Type *second) {
    const Type *items[] = {first, second};
    return type_tuple(in->types, items, 2);
}

const Type *lib_uniform_tuple(Infer *in, const Type *item, size_t count) {
    const Type **items = ARENA_ARRAY(in->arena, const Type *, count);
    for (size_t i = 0; i < count; i++) items[i] = item;
    return type_tuple(in->types, items, count);
}

Value *lib_emit_tuple(Typing *t, const Type *item, size_t first, size_t count) {
    Value **items = ARENA_ARRAY(t->in->arena, Value *, count);
    for (size_t i = 0; i < count; i++) items[i] = typing_make_cast(t, t->values[first + i], item);
    return typing_make_op(t, OP_TUPLE, lib_uniform_tuple(t->in, item, count), items, count);
}

bool lib_constants_fit(Typing *t, size_t count, const Type *to) {
    for (size_t i = 0; i < count; i++) {
        typing_cast(t, i, to);
        t->to[i] = NULL; /* the casts are made where the operands are used */
    }
    return !t->failed;
}

Value *lib_emit_const_float(Typing *t, double value) {
    return typing_make_const(t, const_float(t->in->arena, t->in->types, value));
}

Value *lib_emit(Typing *t, FuncId func, Value *const *args, size_t count, const Type *natural, const Type *result) {
    Value *value = typing_make_func(t, func, natural, args, count);
    bool int_of_float = type_is_integer(natural) && type_is_scalar(args[0]->type) &&
                        type_scalar_kind(args[0]->type) == 'f';
    bool int_power = func == FUNC_NP_POWER && type_is_integer(natural); /* as of the operator */
    if (func_info[func].head.checked && (t->in->py_errors || ((int_of_float || int_power) && infer_ints_raise(t->in))))
        value->flags |= VF_CHECKED;
    if (natural == result) return value;
    if (natural->kind != TY_TUPLE) return typing_make_cast(t, value, result);
    Value **items = ARENA_ARRAY(t->in->arena, Value *, natural->count);
    for (uint32_t i = 0; i < natural->count; i++)
        items[i] = typing_make_cast(t, typing_make_extract(t, value, i), result->items[i]);
    return typing_make_op(t, OP_TUPLE, result, items, natural->count);
}

bool lib_call(Typing *t, FuncId func, size_t count, const Type *compute, const Type *natural, const Type *result) {
    Value *value = NULL;
    if (t->emit) {
        Value **args = ARENA_ARRAY(t->in->arena, Value *, count);
        for (size_t i = 0; i < count; i++) args[i] = typing_make_cast(t, t->values[i], compute);
        value = lib_emit(t, func, args, count, natural, result);
    }
    return typing_become(t, value, result);
}

Value *lib_emit_op(Typing *t, Op op, Value *const *args, size_t count, const Type *result) {
    Value *value = typing_make_op(t, op, result, args, count);
    const Type *last = args[count - 1]->type;
    if (t->in->py_errors && type_is_scalar(last) && last->weak && op_effects(op) & EFFECT_RAISE)
        value->flags |= VF_CHECKED;
    return value;
}

Op lib_op(FuncId func) { return func_info[func].op; }

/* An internal row is only ever made by another rule, never called by name. */
bool rule_func_none(Typing *t) { return typing_bad_operands(t); }

static bool on_host(Typing *t) {
    if (!t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "%s cannot be used in kernels", typing_func_name(t));
    const char *advice = typing_advice(t, typing_func_name(t));
    return typing_hint(t, "%s", advice ? advice : "call it outside and pass the result as an argument");
}

/* HOSTED rows: the letters of SIGNATURE are the types; kernels have no such function. */
bool rule_func_hosted(Typing *t) {
    const char *letters = func_info[t->func].signature, *result = strchr(letters, '>') + 1;
    TRY(on_host(t));
    for (size_t i = 0; i < t->nargs; i++) {
        bool real = letters[i] == 'd', generator = letters[i] == 'g';
        if (generator && t->args[i].type->kind != TY_RANDOM) return typing_bad_operands(t);
        if (generator) continue;
        if (!lib_kinds(t, i, 1, real ? "biuf" : "biu")) return typing_bad_operands(t);
        typing_cast(t, i, real ? infer_float(t->in) : infer_int(t->in));
    }
    return typing_result(t, *result == 'd' ? infer_float(t->in) : infer_int(t->in), NULL);
}

/* PRELUDE rows: the function named in the row takes the place of this one. */
bool rule_func_prelude(Typing *t) { return typing_become_prelude(t, func_info[t->func].symbol); }

/* The same; in kernels the function of the same name in kernel_arrays.py, which makes no array. */
bool rule_func_prelude_twin(Typing *t) {
    const char *symbol = func_info[t->func].symbol;
    if (!t->in->device) return typing_become_prelude(t, symbol);
    return typing_become_prelude(t, arena_printf(t->in->arena, "kernel_arrays%s", strchr(symbol, ':')));
}

bool rule_func_host_prelude(Typing *t) {
    TRY(on_host(t));
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* Axes of the array that np.asarray makes of a value of this type; -1: it makes none. */
static int axes_of(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR:
    case TY_TIME: return 0;
    case TY_ARRAY: return type->ndim;
    case TY_LIST:
    case TY_TUPLE: {
        if (type->count == 0 || type->items[0]->kind == TY_BOTTOM) return 1;
        int axes = axes_of(type->items[0]);
        for (uint32_t i = 1; i < type->count; i++)
            if (axes_of(type->items[i]) != axes) return -1;
        return axes < 0 ? -1 : axes + 1;
    }
    default: return -1;
    }
}

/* np.ndim(x): known from the type. */
bool rule_func_ndim(Typing *t) {
    int axes = axes_of(t->args[0].type);
    if (axes < 0) return typing_bad_operands(t);
    return typing_become_const(t, const_int(t->in->arena, t->in->types, axes));
}

/* np.isscalar(x): known from the type. */
bool rule_func_np_isscalar(Typing *t) {
    const Type *type = t->args[0].type;
    bool scalar = type->kind == TY_SCALAR || type->kind == TY_TIME || type->kind == TY_STR;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, scalar));
}
