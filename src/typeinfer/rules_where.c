/* rules_where.c: typing rules of what takes elements by a condition: numpy.where and copies under a
 * mask.
 *
 * where(c, x, y) is `select` of the elements, a row that maps over arrays like any ufunc (rules_map.c); NumPy gives an
 * array without axes where all operands are numbers, which in kernels is the number.  copied(to, from, casting, mask)
 * is the conversion that an assignment is, where a mask is true. */
#include <string.h> /* strchr */

#include "typeinfer/rules_library.h" /* lib_* */

static bool has_axes(const Type *type) { return infer_content(type)->kind == TY_ARRAY && infer_content(type)->ndim; }

/* Of Python's ints NumPy makes arrays before it looks for a type: what does not fit into that loses bits. */
static Value *cast_chosen(Typing *t, size_t arg, const Type *common) {
    const Type *given = lib_scalar(t, arg);
    bool plain = given->weak && type_scalar_kind(given) == 'i';
    Value *value = t->values[arg];
    if (plain) value = typing_make_cast(t, value, infer_scalar(t->in, SCALAR_INT64, false));
    return typing_make_cast(t, value, common);
}

/* select(condition, x, y) of numbers, dates, texts of fixed length */
bool rule_func_select(Typing *t) {
    const Type *x = infer_content(t->args[1].type), *y = infer_content(t->args[2].type);
    if ((x->kind == TY_TIME || x->kind == TY_CHARS) && x->kind == y->kind && lib_kinds(t, 0, 1, "b")) {
        const Type *both = lib_promoted(t, x, y);
        if (!both) return typing_bad_operands(t);
        for (size_t i = 1; i < 3; i++) typing_cast(t, i, both);
        return typing_result(t, both, NULL);
    }
    if (!lib_kinds(t, 0, 3, "biufc")) return typing_bad_operands(t);
    const Type *common = promote_ufunc(t->in, lib_scalar(t, 1), lib_scalar(t, 2));
    if (!common) return typing_bad_operands(t);
    common = infer_strong(t->in, common);
    Value *value = NULL;
    if (t->emit) {
        Value *condition = typing_make_cast(t, t->values[0], lib_scalar(t, 0));
        Value *args[] = {typing_make_op(t, OP_TRUTH, infer_bool(t->in), &condition, 1), cast_chosen(t, 1, common),
                         cast_chosen(t, 2, common)};
        value = lib_emit(t, FUNC_SELECT, args, 3, common, common);
    }
    return typing_become(t, value, common);
}

/* Python's ints beside integers of NumPy: whether they must fit, the version of NumPy says (searching.py). */
static bool has_plain_int(const Typing *t) {
    unsigned plain = 0, narrow = 0;
    for (size_t i = 1; i < 3 && !t->in->device; i++) {
        const Type *type = infer_content(t->args[i].type);
        if (type->kind == TY_ARRAY) type = type->items[0];
        if (!type_is_scalar(type) || !type_is_integer(type)) return false;
        plain += type->weak && type->scalar == SCALAR_INT64 && !type->object;
        narrow += !type->weak;
    }
    return plain && narrow;
}

bool rule_func_np_where(Typing *t) {
    if (t->nargs == 1) return typing_become_prelude(t, "searching:nonzero");
    if (t->nargs == 2) return typing_fail(t, DIAG_BAD_ARGUMENTS, "either both or neither of x and y should be given");
    for (size_t i = 0; i < t->nargs; i++) {
        if (t->args[i].type->kind == TY_LIST || t->args[i].type->kind == TY_TUPLE)
            return typing_become_prelude(t, "searching:where_of_sequences");
    }
    for (size_t i = 1; i < t->nargs; i++) {
        const Type *type = infer_content(t->args[i].type);
        if (type->kind != TY_CHARS && !typing_is_text(type)) continue;
        typing_bad_operands(t); /* the length of the text decides the dtype */
        return typing_hint(t, "make arrays of the texts first, outside, np.full(n, 'text'), or of what there is, a "
                              "slice like x[:1]; or choose in a loop, 'a' if x[i] > 0 else 'b', and append to a list");
    }
    bool plain = has_plain_int(t);
    for (size_t i = 0; i < t->nargs; i++)
        if (has_axes(t->args[i].type))
            return plain ? typing_become_prelude(t, "searching:where_of_ints") : typing_become_func(t, FUNC_SELECT);
    return t->in->device ? typing_become_func(t, FUNC_SELECT) : typing_become_prelude(t, "searching:where_of_numbers");
}

/* ---- copies ---- */

static bool casts_allowed(const Type *from, const Type *to, Casting casting) {
    static const char order[] = "buifc";
    char f = type_scalar_kind(from), k = type_scalar_kind(to);
    bool weak = type_is_scalar(from) && from->weak; /* a Python number: of any type of its kind */
    if (casting == CASTING_UNSAFE || from->scalar == to->scalar) return true;
    if (casting == CASTING_NO) return false;
    if (lib_casts_safely((Scalar)from->scalar, (Scalar)to->scalar)) return true;
    bool same_kind = strchr(order, k) >= strchr(order, f) && !(k == 'u' && f == 'i' && !weak);
    return (casting == CASTING_SAME_KIND || weak) && same_kind;
}

/* copied(to, from, casting, mask): the prelude has looked at the shape of the mask; None: there is none */
bool rule_func_copied(Typing *t) {
    Casting casting;
    Infer *in = t->in;
    const Type *to = infer_content(t->args[0].type), *from = infer_content(t->args[1].type);
    const Type *mask = infer_content(t->args[3].type);
    bool masked = mask->kind != TY_NONE;
    if (to->kind != TY_ARRAY || (from->kind != TY_ARRAY && from->kind != TY_SCALAR)) return typing_bad_operands(t);
    if (to->readonly) return typing_read_only(t);
    TRY(lib_casting(t, 2, &casting));
    if (masked && type_scalar_kind(mask->kind == TY_ARRAY ? type_element(mask) : mask) != 'b')
        return typing_fail_arg(t, 3, DIAG_TYPING, "`where` must be a bool or an array of bools, not %s",
                               typing_arg_text(t, 3));
    const Type *element = type_element(to), *given = from->kind == TY_ARRAY ? type_element(from) : from;
    if (element->kind != TY_SCALAR || given->kind != TY_SCALAR) return typing_bad_operands(t);
    if (!casts_allowed(given, element, casting))
        return typing_fail(t, DIAG_TYPING, "Cannot cast array data from %s to %s according to the rule '%s'",
                           typing_text(t, given), typing_text(t, element), t->args[2].konst->text);
    if (t->emit) {
        Value *args[3] = {typing_make_cast(t, t->values[0], to), typing_make_cast(t, t->values[1], from)};
        if (from->kind == TY_ARRAY) {
            Value *shapes[2] = {typing_make_shape(t, args[0]), typing_make_shape(t, args[1])};
            typing_make_op_imm(t, OP_BROADCAST, shapes[0]->type, shapes, 2, 1)->flags |= VF_INPLACE;
        } else {
            args[1] = typing_make_cast(t, args[1], element);
        }
        if (masked) args[2] = typing_make_cast(t, t->values[3], mask);
        typing_make_op_imm(t, OP_MAP, infer_none(in), args, masked ? 3 : 2, 1);
    }
    return typing_become_const(t, const_none(in->arena, in->types));
}
