/* rules_print.c: the typing rule of print in kernels.
 *
 * In: values, and the keywords sep, end, flush.  Out: a call of separator, end and the values: what has a form at run
 * time, and texts that are known.  The host makes the text, by Python itself, from the values that a kernel leaves. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h"

static bool is_plain(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR:
    case TY_NONE:
    case TY_TIME:
    case TY_CHARS: return true;
    case TY_OPTIONAL: return is_plain(type->items[0]);
    default: return false;
    }
}

/* Texts in tuples and templates are known where these are made, and the latter are made when code is emitted. */
static bool is_printable(const Typing *t, const Type *type, const Const *konst, const Value *value) {
    if (is_plain(type)) return true;
    if (type->kind == TY_STR) return konst || (value && value->op == OP_CONST);
    if (type->kind != TY_TUPLE && type->kind != TY_TEXT) return false;
    for (uint32_t i = 0; i < type->count; i++) /* these are converted one by one */
        if (type_is_scalar(type->items[i]) && type->items[i]->scalar == SCALAR_BFLOAT16) return false;
    bool made = value && (value->op == OP_TUPLE || value->op == OP_FORMAT) && value->nargs == type->count;
    bool later = type->kind == TY_TEXT && !t->emit;
    for (uint32_t i = 0; i < type->count; i++) {
        const Type *item = type->items[i];
        const Value *part = made ? value_resolve(value->args[i]) : NULL;
        if (later && (item->kind == TY_STR || item->kind == TY_TUPLE)) continue;
        if (!is_printable(t, item, konst ? konst->items[i] : NULL, part)) return false;
    }
    return true;
}

static bool refuse(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    if (type->kind == TY_STR || type->kind == TY_TUPLE)
        typing_fail_arg(t, arg, DIAG_TYPING, "print does not know the text of %s when it is compiled",
                        typing_arg_text(t, arg));
    else
        typing_fail_arg(t, arg, DIAG_TYPING, "print does not take %s", typing_arg_text(t, arg));
    return typing_hint(t, type->kind == TY_ARRAY
                              ? "print its elements one by one, or the array after the launch"
                              : "print numbers, tuples of them, literal texts, and texts that are made "
                                "where they are printed: f\"{x:.3f}\"");
}

/* The text of a keyword, or what it is when None is given. */
static bool read_text(Typing *t, size_t arg, const Const **text) {
    if (t->args[arg].type->kind == TY_NONE) return true;
    const char *known;
    TRY(typing_const_str(t, arg, &known));
    *text = t->args[arg].konst;
    return true;
}

static bool read_keywords(Typing *t, const Const **separator, const Const **end) {
    for (size_t k = 0, arg = t->nargs - t->nnames; k < t->nnames; k++, arg++) {
        if (strcmp(t->names[k], "sep") == 0) {
            TRY(read_text(t, arg, separator));
        } else if (strcmp(t->names[k], "end") == 0) {
            TRY(read_text(t, arg, end));
        }
    }
    return true;
}

/* A bfloat16 is no object of Python's without a package of others. */
static Value *printed(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    bool bfloat16 = type_is_scalar(type) && type->scalar == SCALAR_BFLOAT16;
    return bfloat16 ? typing_make_cast(t, t->values[arg], infer_scalar(t->in, SCALAR_FLOAT32, false)) : t->values[arg];
}

bool typing_kernel_print(Typing *t) {
    const Const *separator = const_str(t->in->arena, t->in->types, " ");
    const Const *end = const_str(t->in->arena, t->in->types, "\n");
    size_t count = t->nargs - t->nnames;
    for (size_t i = 0; i < count; i++)
        if (!is_printable(t, t->args[i].type, t->args[i].konst, t->values[i] ? value_resolve(t->values[i]) : NULL))
            return refuse(t, i);
    TRY(read_keywords(t, &separator, &end));
    if (!t->emit) return typing_become(t, NULL, infer_none(t->in));
    Value **operands = ARENA_ARRAY(t->in->arena, Value *, 2 + count);
    operands[0] = typing_make_const(t, separator);
    operands[1] = typing_make_const(t, end);
    for (size_t i = 0; i < count; i++) operands[2 + i] = printed(t, i);
    return typing_become(t, typing_make_func(t, FUNC_KERNEL_PRINT, infer_none(t->in), operands, 2 + count),
                         infer_none(t->in));
}
