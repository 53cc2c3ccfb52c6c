/* typing_values.c: the values that rules put in place of others: constants converted to a type, and, in the second
 * phase, operations before the one being typed. */
#include <math.h> /* trunc, ldexp */

#include "typeinfer/rules.h"

/* ---- constants ---- */

/* Nearest value of a float with so many bits, whose least normal number is 2^least and whose greatest is `most`; what
 * is too large becomes infinite. */
static double round_half(double x, int bits, int least, double most) {
    if (x == 0 || !isfinite(x)) return x;
    int exponent;
    frexp(x, &exponent); /* |x| = m * 2^exponent, 0.5 <= m < 1 */
    double unit = ldexp(1, (exponent <= least ? least + 1 : exponent) - bits);
    double rounded = nearbyint(x / unit) * unit;
    return fabs(rounded) > most ? copysign(INFINITY, x) : rounded;
}

static double round_float(double x, const Type *to) {
    int part = scalar_info[to->scalar].bytes / (scalar_info[to->scalar].kind == 'c' ? 2 : 1);
    if (to->scalar == SCALAR_BFLOAT16) return round_half(x, 8, -126, 0x1.fep127);
    return part == 2 ? round_half(x, 11, -14, 65504) : part == 4 ? (double)(float)x : x;
}

const Const *typing_konst_cast(Infer *in, const Const *konst, const Type *to) {
    if (konst->type == to) return konst;
    if (konst->type->kind != TY_SCALAR || to->kind != TY_SCALAR || (konst->too_big && !typing_konst_fits(konst, to)))
        return NULL;
    char from_kind = konst->too_big ? 'u' : scalar_info[konst->type->scalar].kind, kind = scalar_info[to->scalar].kind;
    bool from_int = from_kind == 'i' || from_kind == 'u' || from_kind == 'b';
    Const *out = ARENA_NEW(in->arena, Const);
    out->type = to;
    switch (kind) {
    case 'b':
        if (from_kind == 'c')
            out->i = konst->c.re != 0 || konst->c.im != 0;
        else
            out->i = from_int ? konst->i != 0 : konst->f != 0;
        return out;
    case 'i':
    case 'u': {
        int bits = 8 * scalar_info[to->scalar].bytes;
        if (!from_int || !typing_konst_fits(konst, to)) return NULL;
        if (bits == 64)
            out->i = konst->i;
        else if (kind == 'u')
            out->i = (int64_t)((uint64_t)konst->i & (((uint64_t)1 << bits) - 1));
        else
            out->i = (int64_t)((uint64_t)konst->i << (64 - bits)) >> (64 - bits);
        return out;
    }
    case 'f':
    case 'c': {
        if (from_kind == 'c' && kind != 'c') return NULL;
        double re = from_kind == 'u'   ? (double)(uint64_t)konst->i
                    : from_int         ? (double)konst->i
                    : from_kind == 'c' ? konst->c.re
                                       : konst->f;
        long double whole = from_kind == 'u' ? (long double)(uint64_t)konst->i : (long double)konst->i;
        if (from_int && (long double)round_float(re, to) != whole)
            return NULL; /* would be rounded twice, and divisions of ints look at the int: left to generated code */
        if (kind == 'f') {
            out->f = round_float(re, to);
            return out;
        }
        out->c.re = round_float(re, to);
        out->c.im = from_kind == 'c' ? round_float(konst->c.im, to) : 0;
        return out;
    }
    default: return NULL;
    }
}

/* ---- building ---- */

Value *typing_make_const(Typing *t, const Const *konst) {
    Value *value = typing_make_op(t, OP_CONST, konst->type, NULL, 0);
    value->konst = konst;
    return value;
}

Value *typing_make_int(Typing *t, int64_t value) {
    return typing_make_const(t, const_int(t->in->arena, t->in->types, value));
}

Value *typing_make_op(Typing *t, Op op, const Type *type, Value *const *args, size_t nargs) {
    Value *value = value_new(t->in->func, op, t->at->span, args, nargs);
    value->type = type;
    value_insert_before(t->at, value);
    return value;
}

Value *typing_make_op_imm(Typing *t, Op op, const Type *type, Value *const *args, size_t nargs, int64_t imm) {
    Value *value = typing_make_op(t, op, type, args, nargs);
    value->imm.i = imm;
    return value;
}

Value *typing_make_getattr(Typing *t, const char *name, const Type *type, Value *of) {
    Value *value = typing_make_op(t, OP_GETATTR, type, &of, 1);
    value->imm.text = name;
    return value;
}

Value *typing_make_extract(Typing *t, Value *tuple, size_t index) {
    if ((tuple->op == OP_TUPLE && tuple->type->kind == TY_TUPLE) || tuple->op == OP_FUNCTION) return tuple->args[index];
    if (tuple->konst && tuple->type->kind == TY_TUPLE) return typing_make_const(t, tuple->konst->items[index]);
    return typing_make_op_imm(t, OP_EXTRACT, tuple->type->items[index], &tuple, 1, (int64_t)index);
}

Value *typing_make_captured(Typing *t, int64_t index, const Type **type) {
    Captured *capture = &t->in->config->captures->data[index];
    capture->looked_at = true;
    *type = capture->type;
    return t->emit ? typing_make_op_imm(t, OP_CAPTURED, *type, NULL, 0, index) : NULL;
}

Value *typing_make_func(Typing *t, FuncId func, const Type *type, Value *const *args, size_t nargs) {
    Value *value = typing_make_op(t, OP_CALL_FUNC, type, args, nargs);
    value->imm.func = &func_info[func].head;
    return value;
}

static Value *cast_tuple(Typing *t, Value *value, const Type *to) {
    Value **items = ARENA_ARRAY(t->in->arena, Value *, to->count);
    for (uint32_t i = 0; i < to->count; i++)
        items[i] = typing_make_cast(t, typing_make_extract(t, value, i), to->items[i]);
    return typing_make_op(t, OP_TUPLE, to, items, to->count);
}

Value *typing_make_content(Typing *t, Value *optional) {
    Value *content = typing_make_op(t, OP_CAST, optional->type->items[0], &optional, 1);
    content->flags |= VF_UNCHECKED;
    content->name = optional->name;
    return content;
}

bool typing_may_overflow(const Infer *in, const Type *from, const Type *to) {
    if (!in->int_range || from->kind != TY_SCALAR || to->kind != TY_SCALAR) return false;
    bool numpy_integer = !to->weak && (scalar_info[to->scalar].kind == 'i' || scalar_info[to->scalar].kind == 'u');
    if (!from->weak && from->scalar == SCALAR_UINT64) return to->weak && to->scalar == SCALAR_INT64;
    return from->weak && from->scalar == SCALAR_INT64 && numpy_integer && to->scalar != SCALAR_INT64;
}

/* The content of an Optional, behind a check that says what the operation says of None. */
static Value *make_value(Typing *t, Value *optional) {
    size_t arg = 0;
    while (arg < t->nargs && t->values[arg] != optional) arg++;
    Value *content = typing_make_op(t, OP_CAST, optional->type->items[0], &optional, 1);
    content->imm.text = t->nargs ? typing_none_words(t, arg < t->nargs ? arg : 0) : NULL;
    return content;
}

/* Of what is put into a container of floats: the interpreter would keep the int. */
static bool is_to_keep(const Typing *t, const Type *from, const Type *to) {
    return t->keeps && from == infer_int(t->in) && to == infer_float(t->in);
}

static bool is_exact(const Const *konst) {
    return konst->i < INT64_MAX - 1024 && (int64_t)(double)konst->i == konst->i; /* above, the double is 2**63 */
}

Value *typing_make_cast(Typing *t, Value *value, const Type *to) {
    const Type *from = value->type;
    if (from == to) return value;
    bool keeps = is_to_keep(t, from, to);
    if (value->konst && (!keeps || is_exact(value->konst))) {
        const Const *konst = typing_konst_cast(t->in, value->konst, to);
        if (konst) return typing_make_const(t, konst);
    }
    if (from->kind == TY_TEXT && to->kind == TY_STRING) return typing_make_text(t, value);
    if (from->kind == TY_STRING && to->kind == TY_LIST && to->items[0] == from)
        return typing_make_func(t, FUNC_CHARACTERS, to, &value, 1);
    if (from->kind == TY_STR && to == typing_characters_type(t->in))
        return typing_make_cast(t, typing_make_cast(t, value, to->items[0]), to);
    if (from->kind == TY_TUPLE && to->kind == TY_TUPLE) return cast_tuple(t, value, to);
    if (from->kind == TY_TUPLE && to->kind == TY_VARTUPLE) return typing_make_vartuple(t, value, to);
    if (type_is_shared(from) && type_is_shared(to)) {
        typing_fail(t, DIAG_NO_UNIFY, "instances of one class meet here whose attributes hold values of other types");
        typing_hint(t,
                    "the attributes of an argument keep the types that they came with: make the instance in compiled "
                    "code, or let __init__ assign what each attribute will hold");
    }
    if (type_is_container(from) && type_is_container(to) && typeinfer_is_open(from)) { /* growth.c did not get there */
        typing_fail(t, DIAG_NO_UNIFY, "what this %s holds is not known where it is made", infer_text(t->in, from));
        typing_hint(t, "put an item in where it is made, or make it in this function");
    }
    if (from->kind == TY_OPTIONAL && to->kind != TY_OPTIONAL) return typing_make_cast(t, make_value(t, value), to);
    if (to->kind == TY_OPTIONAL && from->kind != TY_OPTIONAL && from->kind != TY_NONE)
        value = typing_make_cast(t, value, to->items[0]);
    Value *cast = typing_make_op(t, OP_CAST, to, &value, 1);
    cast->name = value->name;
    bool overflows = typing_may_overflow(t->in, from, to);
    if (overflows && t->casts_index && !from->weak)
        cast->flags |= VF_FORWARD;
    else if (keeps || (overflows && !t->wraps))
        cast->flags |= VF_CHECKED;
    return cast;
}

bool typing_call_prelude(Typing *t, const char *name, Fact *facts, Value **values, size_t count, Fact *fact,
                         Value **value) {
    ObjRef function = t->in->host->prelude(t->in->host->self, name);
    TRY(function);
    facts[0] = (Fact){type_object(t->in->types, TY_PYFUNC, function), NULL};
    facts[0].konst = const_of(t->in->arena, facts[0].type);
    for (size_t i = 0; t->emit && i < count; i++)
        if (facts[i].konst) values[i] = typing_make_const(t, facts[i].konst);
    return typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = count}, fact, value);
}
