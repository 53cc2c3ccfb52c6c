/* own_operators.c: operands whose classes, written by the user, have an answer of their own.
 *
 * What is computed with a namedtuple is computed with a tuple, with a member of an enumeration of ints with an int,
 * which is wrong where the class has the special method that the interpreter would call: that is refused.  A member of
 * an enumeration of texts or floats is a constant, and its text or float where an operation asks for nothing else. */
#include "typeinfer/rules.h"

#include <string.h> /* strcmp */

/* That by which a class of numbers asks what it converts. */
static const char *method_of_class(const Type *made) {
    if (made->kind != TY_SCALAR) return NULL;
    char kind = scalar_info[made->scalar].kind;
    return kind == 'b' ? "__bool__" : kind == 'f' ? "__float__" : kind == 'c' ? "__complex__" : "__int__";
}

/* "__add__" and the like, by which the class of operand `i` may answer itself; NULL: it is not asked. */
static const char *special_method(Typing *t, size_t i) {
    const Type *callee = t->op == OP_CALL ? t->args[0].type : NULL;
    switch (t->op) {
    case OP_TRUTH:
    case OP_NOT: return "__bool__";
    case OP_IN:
    case OP_NOT_IN: return i == 1 ? "__contains__" : NULL;
    case OP_GETITEM: return i == 0 ? "__getitem__" : "__index__";
    case OP_ITER: return "__iter__";
    case OP_CALL:
        if (i == 0) return NULL;
        return callee->kind == TY_FUNC    ? func_row(callee->func)->refused_method
               : callee->kind == TY_CLASS ? method_of_class(callee->items[0])
                                          : NULL;
    default: break;
    }
    bool calculates = op_is_binary(t->op) || t->op == OP_NEG || t->op == OP_POS || t->op == OP_INVERT;
    bool compares = t->op >= OP_LT && t->op <= OP_GE;
    if (!calculates && !compares) return NULL;
    if (compares) return arena_printf(t->in->arena, "__%s__", op_info[i == 1 ? op_mirrored(t->op) : t->op].text);
    return arena_printf(t->in->arena, i == 1 ? "__r%s__" : "__%s__", op_info[t->op].text);
}

/* Another method that is asked before, or where there is no such one; or NULL. */
static const char *other_method(Typing *t, size_t i, const char *name) {
    if (strcmp(name, "__bool__") == 0) return "__len__";
    bool changes = i == 0 && op_is_binary(t->op) && (t->at->flags & VF_INPLACE);
    return changes ? arena_printf(t->in->arena, "__i%s__", op_info[t->op].text) : NULL;
}

static bool has_class(const Type *type) {
    return type && type->object && (type->kind == TY_TUPLE || typing_is_member(type) || type->kind == TY_OBJECT);
}

/* Of two operands of one class the left one is asked. */
static bool is_asked(const Typing *t, size_t i) {
    const Type *type = t->args[i].type ? infer_content(t->args[i].type) : NULL;
    const Type *left = i == 1 && t->args[0].type ? infer_content(t->args[0].type) : NULL;
    return has_class(type) && !(has_class(left) && left->kind != TY_OBJECT && left->object == type->object);
}

static bool refuse_own(Typing *t, size_t i) {
    const InferHost *host = t->in->host;
    const char *name = is_asked(t, i) ? special_method(t, i) : NULL;
    const Type *type = infer_content(t->args[i].type);
    if (name && !host->answers_itself(host->self, type, name)) name = other_method(t, i, name);
    if (!name || !host->answers_itself(host->self, type, name)) return true;
    typing_fail(t, DIAG_UNSUPPORTED, "%s is of a class that has %s() itself, which compiled code does not call here",
                typing_arg_text(t, i), name);
    return typing_hint(
        t, type->kind == TY_TUPLE    ? "call the method by a name of its own, as in a.added(b), or use the fields"
           : type->kind == TY_OBJECT ? "take what is needed of it before the call, and pass that as an argument"
                                     : "call a function that does it, or pass the value of the member: x.value");
}

/* A function that makes the same of a member as of its text or float. */
static bool takes_plain(const FuncInfo *row) {
    return row->elementwise || row->takes_plain || row->library == LIBRARY_MATH || row->head.id == FUNC_LEN;
}

/* Whether the operation tells a member from its text or float. */
static bool keeps_members(const Typing *t) {
    const Type *first = t->nargs ? t->args[0].type : NULL;
    if (t->op == OP_CALL && first && first->kind == TY_FUNC) return !takes_plain(func_row(first->func));
    if (t->op == OP_CALL) return !first || first->kind != TY_CLASS;
    bool formats = t->op == OP_MOD && first && (first->kind == TY_STR || first->kind == TY_STRING);
    bool unary = t->op == OP_NEG || t->op == OP_POS || t->op == OP_TRUTH || t->op == OP_NOT;
    bool compares = t->op >= OP_LT && t->op <= OP_GE;
    bool contains = t->op == OP_IN || t->op == OP_NOT_IN || t->op == OP_GETITEM || t->op == OP_ITER;
    return formats || (!op_is_binary(t->op) && !unary && !compares && !contains);
}

bool typing_refuse_own(Typing *t) {
    for (size_t i = 0; i < t->nargs; i++)
        if (t->args[i].type) TRY(refuse_own(t, i));
    if (keeps_members(t)) return true;
    for (size_t i = 0; i < t->nargs; i++) TRY(typing_plain_member(t, i));
    return true;
}
