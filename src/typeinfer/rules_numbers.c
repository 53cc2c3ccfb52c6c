/* rules_numbers.c: typing rules of the builtins that work on numbers and sequences (abs, min, max, round, pow, divmod,
 * sum) and of the functions of the operator module.
 *
 * Python scalars behave as Python's own types, NumPy scalars as their methods (__round__, __divmod__) do. */
#include <string.h>

#include "typeinfer/rules_library.h" /* lib_* */

bool rule_func_abs(Typing *t) {
    if (typing_has_array(t) || t->args[0].type->kind == TY_TIME) return typing_become_func(t, FUNC_NP_ABSOLUTE);
    if (!lib_kinds(t, 0, 1, "biufc")) return typing_bad_operands(t);
    const Type *type = lib_scalar(t, 0);
    if (!type->weak) return typing_become_func(t, FUNC_NP_ABSOLUTE);
    if (type->scalar == SCALAR_BOOL) type = infer_int(t->in);
    if (type_scalar_kind(type) == 'c')
        return lib_call(t, FUNC_ABS_COMPLEX, 1, type, infer_float(t->in), infer_float(t->in));
    return lib_call(t, FUNC_PY_ABS, 1, type, type, type);
}

/* ---- methods of numbers ---- */

/* A bool is the int that it equals. */
static void take_bool(Typing *t) {
    const Type *type = t->args[0].type;
    if (type->kind == TY_SCALAR && type->weak && type->scalar == SCALAR_BOOL) typing_as(t, 0, infer_int(t->in));
}

bool rule_func_bit_count(Typing *t) {
    take_bool(t);
    if (!lib_kinds(t, 0, 1, "iu")) return typing_bad_operands(t);
    bool wide = lib_scalar(t, 0)->scalar == SCALAR_UINT64;
    const Type *integer = infer_int(t->in), *compute = wide ? infer_scalar(t->in, SCALAR_UINT64, false) : integer;
    return lib_call(t, FUNC_NP_BITWISE_COUNT, 1, compute, integer, integer);
}

bool rule_func_bit_length(Typing *t) {
    take_bool(t);
    if (!lib_kinds(t, 0, 1, "i") || !lib_scalar(t, 0)->weak) return typing_bad_operands(t);
    return typing_become_prelude(t, func_info[t->func].symbol);
}

bool rule_func_scalar_conjugate(Typing *t) {
    take_bool(t);
    if (!lib_kinds(t, 0, 1, "biufc")) return typing_bad_operands(t);
    const Type *type = lib_scalar(t, 0);
    typing_cast(t, 0, type);
    if (type_scalar_kind(type) != 'c') return typing_become_arg(t, 0);
    return lib_call(t, FUNC_NP_CONJUGATE, 1, type, type, type);
}

bool rule_func_scalar_view(Typing *t) {
    if (!lib_kinds(t, 0, 1, "iuf") || lib_scalar(t, 0)->weak) return typing_bad_operands(t);
    const Type *from = lib_scalar(t, 0), *to = typing_const_dtype(t, 1);
    TRY(to);
    bool fits = strchr("iuf", type_scalar_kind(to)) && scalar_info[to->scalar].bytes == scalar_info[from->scalar].bytes;
    if (!fits)
        return typing_fail_arg(t, 1, DIAG_TYPING, "a %s cannot be viewed as a %s: both need as many bytes, and be real",
                               typing_text(t, from), typing_text(t, to));
    typing_cast(t, 0, from);
    return typing_result(t, to, NULL);
}

/* A method that NumPy's scalars have as arrays do, and Python's numbers have not. */
bool rule_func_scalar_method(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    if (type->kind == TY_SCALAR && type->weak) return typing_bad_operands(t);
    typing_as(t, 0, type);
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* x.astype(dtype) of a NumPy scalar: converted as an element is. */
bool rule_func_scalar_astype(Typing *t) {
    static const char *const params[] = {"self", "dtype", "order", "casting", "subok", "copy"};
    const char *casting = "unsafe";
    const Type *from = infer_content(t->args[0].type), *to;
    TRY(typing_bind_keywords(t, params, 2, COUNT_OF(params)));
    if (typing_given(t, 3)) TRY(typing_const_str(t, 3, &casting));
    if (strcmp(casting, "unsafe") != 0 || (from->kind == TY_SCALAR && from->weak)) return typing_bad_operands(t);
    TRY(to = typing_const_element(t, 1));
    if (!type_is_scalar(from) || !type_is_scalar(to)) {
        t->nargs = 2;
        return typing_become_prelude(t, "numbers:astype_of_time");
    }
    typing_as(t, 0, from);
    return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], to) : NULL, to);
}

/* ---- min, max ---- */

/* The type control flow would give a variable that holds one of the operands: NumPy's scalars first, so that each
 * Python int meets the type it would have to fit. */
static const Type *join_scalars(Typing *t) {
    Fact fact = {infer_bottom(t->in), NULL};
    for (int weak = 0; weak < 2; weak++)
        for (size_t i = 0; i < t->nargs; i++) {
            Fact operand = {infer_content(t->args[i].type), t->args[i].konst};
            if (operand.type->weak == weak && !typeinfer_fact_join(t->in, fact, operand, &fact)) return NULL;
        }
    return fact.type;
}

/* Strings, tuples, lists or instances of one class, which compare with each other. */
static bool are_alike(Typing *t) {
    bool texts = typing_is_text(t->args[0].type);
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = t->args[i].type;
        TRY(texts ? typing_is_text(type) : type->kind == t->args[0].type->kind);
        TRY(texts || type->kind == TY_TUPLE || type->kind == TY_LIST || type_is_instance(type));
    }
    for (size_t i = 0; texts && i < t->nargs; i++) typing_as(t, i, typeinfer_general(t->in, t->args[i].type));
    return true;
}

bool rule_func_minmax(Typing *t) {
    bool smallest = t->func == FUNC_PY_MIN;
    if (t->nnames) {
        for (size_t i = 0; i < t->nnames; i++)
            if (strcmp(t->names[i], "default") == 0)
                return typing_become_prelude(t, smallest ? "builtin:min_by_or" : "builtin:max_by_or");
        return typing_become_prelude(t, smallest ? "builtin:min_by" : "builtin:max_by");
    }
    if (t->nargs == 1) return typing_become_prelude(t, smallest ? "builtin:min_of" : "builtin:max_of");
    const Type *type = lib_kinds(t, 0, t->nargs, "biuf") ? join_scalars(t) : NULL;
    if (!type && are_alike(t)) return typing_become_prelude(t, smallest ? "builtin:min_by" : "builtin:max_by");
    if (!type || !type_is_scalar(type)) return typing_bad_operands(t);
    return lib_call(t, t->func, t->nargs, type, type, type);
}

/* ---- round ---- */

static bool round_digits(Typing *t, FuncId func, const Type *type, const Type *compute) {
    Value *value = NULL;
    if (t->emit) {
        Value *args[] = {typing_make_cast(t, t->values[0], compute),
                         typing_make_cast(t, t->values[1], infer_int(t->in))};
        value = lib_emit(t, func, args, 2, compute, type);
    }
    return typing_become(t, value, type);
}

bool rule_func_round(Typing *t) {
    static const char *const params[] = {"number", "ndigits"};
    TRY(typing_bind_keywords(t, params, 1, 2));
    const Type *type = lib_scalar(t, 0), *integer = infer_int(t->in);
    bool digits = typing_given(t, 1) && !typing_is_none(t, 1);
    if (!lib_kinds(t, 0, 1, "biuf") || (digits && !lib_kinds(t, 1, 1, "biu"))) return typing_bad_operands(t);
    if (type->scalar == SCALAR_BOOL && !type->weak) return typing_bad_operands(t); /* numpy.bool has no __round__ */
    if (type_scalar_kind(type) != 'f') {
        const Type *result = digits && !type->weak ? type : integer;
        if (!digits) return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], result) : NULL, result);
        const Type *wide = type->scalar == SCALAR_UINT64 ? type
                           : type->weak                  ? integer
                                                         : infer_scalar(t->in, SCALAR_INT64, false);
        return round_digits(t, type->weak ? FUNC_ROUND_TENS : FUNC_ROUND_TENS_NUMPY, result, wide);
    }
    if (!digits) return lib_call(t, FUNC_ROUND_INT, 1, lib_compute(t->in, type), integer, integer);
    return round_digits(t, type->weak ? FUNC_ROUND_DIGITS : FUNC_ROUND_NUMPY, type, type);
}

/* ---- pow, divmod, sum ---- */

bool rule_func_pow(Typing *t) {
    static const char *const params[] = {"base", "exp", "mod"};
    if (t->nnames) TRY(typing_bind_keywords(t, params, 2, 3));
    bool modulo = typing_given(t, 2) && !typing_is_none(t, 2);
    if (!modulo) {
        t->nargs = 2;
        return typing_become_op(t, OP_POW);
    }
    if (!lib_kinds(t, 0, 3, "biu")) return typing_bad_operands(t);
    for (size_t i = 0; i < 3; i++)
        if (!lib_scalar(t, i)->weak) {
            typing_bad_operands(t);
            return typing_hint(t, "NumPy's integers have no three-argument pow: convert them with int()");
        }
    return lib_call(t, FUNC_POW_MOD, 3, infer_int(t->in), infer_int(t->in), infer_int(t->in));
}

bool rule_func_divmod(Typing *t) {
    if (typing_has_array(t)) return typing_become_func(t, FUNC_NP_DIVMOD);
    if (!lib_kinds(t, 0, 2, "biuf")) return typing_bad_operands(t);
    const Type *a = lib_scalar(t, 0), *b = lib_scalar(t, 1);
    if (!a->weak || !b->weak) return typing_become_func(t, FUNC_NP_DIVMOD);
    const Type *type = lib_kinds(t, 0, 2, "bi") ? infer_int(t->in) : infer_float(t->in),
               *pair = lib_pair(t->in, type, type);
    return lib_call(t, FUNC_PY_DIVMOD, 2, type, pair, pair);
}

/* Items of several types are added one after the other: an addition takes the types that its operands have. */
static bool sum_of_items(Typing *t) {
    const Fact tuple = t->args[0];
    Fact sum = {infer_int(t->in), const_int(t->in->arena, t->in->types, 0)};
    Value *value = NULL;
    if (t->nargs > 1)
        sum = t->args[1], value = t->values[1];
    else if (t->emit)
        value = typing_make_const(t, sum.konst);
    for (uint32_t i = 0; i < tuple.type->count; i++) {
        Fact facts[2] = {sum, typing_item_fact(tuple, i)};
        Value *values[2] = {value, t->emit ? typing_make_extract(t, t->values[0], i) : NULL};
        TRY(typing_sub(t, &(SubOp){.op = OP_ADD, .values = values, .facts = facts, .nargs = 2}, &sum, &value));
    }
    t->konst = sum.konst;
    return typing_become(t, value, sum.type);
}

static bool is_mixed(const Type *tuple) {
    bool mixed = false;
    for (uint32_t i = 1; tuple->kind == TY_TUPLE && i < tuple->count; i++)
        mixed = mixed || tuple->items[i] != tuple->items[0];
    return mixed;
}

static bool is_python_real(const Type *type) {
    return type_is_scalar(type) && type->weak && type_scalar_kind(type) != 'c';
}

/* Newer interpreters sum Python floats with compensation: lists and tuples of them, and of ints beside them, take
 * functions of their own. */
static bool holds_arrays(const Type *items) {
    if (items->kind == TY_ARRAY) return items->ndim > 1;
    return typing_is_sequence(items) && items->count && items->items[0]->kind == TY_ARRAY;
}

/* A sum neither begins with a text nor is one of texts, as in Python. */
static bool refuse_texts(Typing *t, const Type *text) {
    bool bytes = text->kind == TY_BYTES;
    return typing_fail(t, DIAG_TYPING, "sum() can't sum %s [use %s''.join(seq) instead]", bytes ? "bytes" : "strings",
                       bytes ? "b" : "");
}

static bool refuse_keyword(Typing *t, const char *name) {
    typing_fail(t, DIAG_BAD_ARGUMENTS, "sum() got an unexpected keyword argument '%s'", name);
    return typing_hint(t, "it takes iterable and start; np.sum(x, axis=0) sums an array along an axis");
}

bool rule_func_sum(Typing *t) {
    for (size_t k = 0; k < t->nnames; k++)
        if (strcmp(t->names[k], "start") != 0) return refuse_keyword(t, t->names[k]);
    const Type *items = infer_content(t->args[0].type), *start = t->nargs > 1 ? infer_content(t->args[1].type) : items;
    if (t->nargs > 1 && (typing_is_text(start) || start->kind == TY_BYTES)) return refuse_texts(t, start);
    bool several = items->kind == TY_LIST || items->kind == TY_VARTUPLE || items->kind == TY_TUPLE;
    const Type *item = several && items->count ? infer_content(items->items[0]) : items;
    if (several && t->nargs == 1 && (typing_is_text(item) || item->kind == TY_BYTES)) return refuse_texts(t, item);
    if (holds_arrays(items) && !is_mixed(items)) return typing_become_prelude(t, "builtin:sum_of_arrays");
    bool reals = items->kind == TY_TUPLE && items->count > 0, any = false;
    if (items->kind == TY_LIST)
        reals = any = is_python_real(items->items[0]) && type_scalar_kind(items->items[0]) == 'f';
    if (t->nargs > 1) reals = reals && is_python_real(infer_content(t->args[1].type)); /* start */
    for (uint32_t i = 0; items->kind == TY_TUPLE && reals && i < items->count; i++) {
        reals = is_python_real(items->items[i]);
        any = any || type_scalar_kind(items->items[i]) == 'f';
    }
    if (reals && any)
        return typing_become_prelude(t, is_mixed(items) ? "builtin:sum_of_mixed" : "builtin:sum_of_floats");
    if (is_mixed(items)) return sum_of_items(t);
    if (items->kind == TY_LIST && infer_content(items->items[0])->kind == TY_ARRAY)
        return typing_become_prelude(t, "builtin:sum_of_arrays");
    return typing_become_prelude(t, "builtin:sum_of");
}

/* ---- operator ---- */

bool rule_func_operator(Typing *t) { return typing_become_op(t, lib_op(t->func)); }

bool rule_func_operator_inplace(Typing *t) {
    t->flags |= VF_INPLACE;
    return typing_become_op(t, lib_op(t->func));
}

/* contains(y, x) is x in y. */
bool rule_func_operator_contains(Typing *t) {
    Fact fact = t->args[0];
    Value *value = t->values[0];
    t->args[0] = t->args[1], t->values[0] = t->values[1];
    t->args[1] = fact, t->values[1] = value;
    return typing_become_op(t, OP_IN);
}

bool rule_func_operator_index(Typing *t) {
    if (!lib_kinds(t, 0, 1, "biu") || (lib_scalar(t, 0)->scalar == SCALAR_BOOL && !lib_scalar(t, 0)->weak))
        return typing_bad_operands(t);
    typing_cast(t, 0, infer_int(t->in)); /* a literal that does not fit is told */
    if (t->failed) return false;
    return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], infer_int(t->in)) : NULL, infer_int(t->in));
}
