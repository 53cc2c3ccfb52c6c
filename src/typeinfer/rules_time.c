/* rules_time.c: typing rules of datetime64 and timedelta64: arithmetic, comparison.
 *
 * Operands are cast to ticks of one length, numbers to int64 or float64; beside a date or a duration an integer counts
 * ticks of its.  Lowering sees two of one length, or a duration and a number (lower_time.c). */
#include <string.h> /* strcmp, strlen */

#include "typeinfer/rules.h"

static bool is_time(const Type *type) { return type->kind == TY_TIME; }
static bool is_delta(const Type *type) { return type->kind == TY_TIME && type->flag; }

/* NumPy makes a duration of an integer that int64 holds whatever its value. */
static bool counts_ticks(const Type *type) { return type_is_integer(type) && type->scalar != SCALAR_UINT64; }

static bool no_common_unit(Typing *t) {
    typing_fail(t, DIAG_TYPING, "%s and %s have no common unit in compiled code", typing_arg_text(t, 0),
                typing_arg_text(t, 1));
    return typing_hint(t, "years and months are of no fixed length: convert one before the call, with astype()");
}

/* Operand number `arg` as a date or a duration with ticks as `like` has them. */
static void cast_time(Typing *t, size_t arg, const Type *like, bool delta) {
    typing_cast(t, arg, type_time(t->in->types, delta, (TimeUnit)like->form, like->bytes));
}

/* Both operands with common ticks; an integer counts as a duration.  NULL: refused. */
static const Type *align(Typing *t, const Type *a, const Type *b) {
    const Type *common = !is_time(a) ? b : !is_time(b) ? a : type_time_common(t->in->types, true, a, b);
    if (!common) return no_common_unit(t), NULL;
    cast_time(t, 0, common, !is_time(a) || a->flag);
    cast_time(t, 1, common, !is_time(b) || b->flag);
    return common;
}

static bool result(Typing *t, bool delta, const Type *ticks) {
    return typing_result(t, type_time(t->in->types, delta, (TimeUnit)ticks->form, ticks->bytes), NULL);
}

/* duration * number, duration / number. */
static bool scale(Typing *t, size_t number, const Type *duration, const Type *by) {
    char kind = type_scalar_kind(by);
    if (kind == 'c') return typing_bad_operands(t);
    typing_cast(t, number, infer_scalar(t->in, kind == 'f' ? SCALAR_FLOAT64 : SCALAR_INT64, false));
    typing_cast(t, 1 - number, duration);
    return typing_result(t, duration, NULL);
}

bool typing_binary_times(Typing *t, const Type *a, const Type *b) {
    bool a_int = type_is_integer(a), b_int = type_is_integer(b);
    const Type *ticks;
    if ((!is_time(a) && a->kind != TY_SCALAR) || (!is_time(b) && b->kind != TY_SCALAR)) return typing_bad_operands(t);
    switch (t->op) {
    case OP_ADD:
    case OP_SUB: {
        bool date_a = is_time(a) && !a->flag, date_b = is_time(b) && !b->flag;
        bool fits = (is_time(a) || a_int) && (is_time(b) || b_int) && !(date_b && (t->op == OP_SUB ? !date_a : date_a));
        if (!fits) return typing_bad_operands(t);
        TRY(ticks = align(t, a, b));
        return result(t, date_a == date_b, ticks);
    }
    case OP_MUL:
        if (is_delta(a) && b->kind == TY_SCALAR) return scale(t, 1, a, b);
        return is_delta(b) && a->kind == TY_SCALAR ? scale(t, 0, b, a) : typing_bad_operands(t);
    case OP_TRUEDIV:
    case OP_FLOORDIV:
    case OP_MOD:
        if (t->op != OP_MOD && is_delta(a) && b->kind == TY_SCALAR) return scale(t, 1, a, b);
        if (!is_delta(a) || !is_delta(b)) return typing_bad_operands(t);
        TRY(ticks = align(t, a, b));
        if (t->op == OP_MOD) return result(t, true, ticks);
        return typing_result(t, infer_scalar(t->in, t->op == OP_TRUEDIV ? SCALAR_FLOAT64 : SCALAR_INT64, false), NULL);
    default: return typing_bad_operands(t);
    }
}

bool typing_unary_time(Typing *t, const Type *type) {
    if (!type->flag || t->op == OP_INVERT) return typing_bad_operands(t);
    typing_cast(t, 0, type);
    return t->op == OP_POS ? typing_become_arg(t, 0) : typing_result(t, type, NULL);
}

bool typing_compare_times(Typing *t, const Type *a, const Type *b) {
    bool fits = is_time(a) ? (is_time(b) ? a->flag == b->flag : a->flag && counts_ticks(b))
                           : b->flag && counts_ticks(a);
    if (!fits || !align(t, a, b)) return t->failed ? false : typing_bad_operands(t);
    return typing_result(t, infer_scalar(t->in, SCALAR_BOOL, false), NULL);
}

bool typing_align_times(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    bool same = is_time(a) && is_time(b) && a->flag == b->flag;
    bool ticks = (is_delta(a) && counts_ticks(b)) || (is_delta(b) && counts_ticks(a));
    if (same || !ticks) return same || typing_bad_operands(t);
    size_t number = is_delta(a) ? 1 : 0;
    const Type *duration = t->args[1 - number].type;
    if (t->emit) t->values[number] = typing_make_cast(t, t->values[number], duration);
    t->args[number] = (Fact){duration, NULL};
    return true;
}

/* ---- datetime64(x, unit), timedelta64(x, unit) ---- */

/* The unit of argument 1; *unit stays what it is if there is none. */
static bool read_unit(Typing *t, TimeUnit *unit) {
    const char *name;
    if (t->nargs < 2) return true;
    TRY(typing_const_str(t, 1, &name));
    return time_unit_find(name, strlen(name), unit) ||
           typing_fail_arg(t, 1, DIAG_TYPING, "'%s' is no unit of time", name);
}

static bool become_ticks(Typing *t, const Type *type, int64_t ticks) {
    Const *konst = ARENA_NEW(t->in->arena, Const);
    konst->type = type;
    konst->i = ticks;
    return typing_become_const(t, konst);
}

static bool time_of_text(Typing *t, const char *text, bool delta, TimeUnit wanted) {
    TimeUnit unit;
    int64_t ticks;
    bool is_nat = !*text || strcmp(text, "NaT") == 0;
    if ((delta && !is_nat) || !time_parse_date(text, &unit, &ticks)) {
        typing_fail_arg(t, 0, DIAG_TYPING, "'%s' is no %s that compiled code reads", text, delta ? "duration" : "date");
        return typing_hint(t, delta ? "write a number and a unit"
                                    : "write it as 2020-01-31T12:30:00.5, or make it outside");
    }
    if (t->nargs > 1 && !time_convert_date(&ticks, unit, wanted))
        return typing_fail_arg(t, 0, DIAG_TYPING, "'%s' is too far away for this unit", text);
    return become_ticks(t, type_time(t->in->types, delta, t->nargs > 1 ? wanted : unit, 1), ticks);
}

bool rule_func_np_time(Typing *t) {
    TimeUnit unit = TIME_GENERIC;
    bool delta = t->func == FUNC_NP_TIMEDELTA64;
    TRY(read_unit(t, &unit));
    const Type *x = t->nargs ? infer_content(t->args[0].type) : NULL;
    const Type *type = type_time(t->in->types, delta, unit, 1);
    if (!x || x->kind == TY_NONE) return become_ticks(t, type, x ? INT64_MIN : delta ? 0 : INT64_MIN);
    if (x->kind == TY_STR && t->args[0].konst) return time_of_text(t, t->args[0].konst->text, delta, unit);
    if (x->kind == TY_TIME && x->flag == delta && t->nargs < 2) return typing_become_arg(t, 0);
    bool fine = x->kind == TY_TIME ? x->flag == delta && time_factor(x, type) : type_is_integer(x);
    if (!delta && unit == TIME_GENERIC) fine = false;
    if (fine && type_scalar_kind(x) != 'b') {
        typing_cast(t, 0, type);
        if (t->args[0].konst && type_is_integer(x)) return become_ticks(t, type, t->args[0].konst->i);
        return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], type) : NULL, type);
    }
    typing_bad_operands(t);
    if (x->kind == TY_TIME) return typing_hint(t, "convert an array of it, x.astype(), to a coarser unit");
    return typing_hint(t, "it is made of a text that is known, or of an int and a unit");
}

/* numpy.datetime_data(dtype) */
bool rule_func_np_datetime_data(Typing *t) {
    const Type *time;
    TRY(time = typing_const_element(t, 0));
    if (!is_time(time)) return typing_bad_operands(t);
    const char *name = time->form == TIME_GENERIC ? "generic" : time_unit_name((TimeUnit)time->form);
    const Const *items[] = {const_str(t->in->arena, t->in->types, name),
                            const_int(t->in->arena, t->in->types, time->bytes)};
    return typing_become_const(t, const_tuple(t->in->arena, t->in->types, items, 2));
}

/* numpy.isnat(x) */
bool rule_func_np_isnat(Typing *t) {
    if (!is_time(infer_content(t->args[0].type))) return typing_bad_operands(t);
    typing_cast(t, 0, infer_content(t->args[0].type));
    return typing_result(t, infer_scalar(t->in, SCALAR_BOOL, false), NULL);
}
