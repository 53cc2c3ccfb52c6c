/* none_operands.c: operands that may be None where only a value will do.
 *
 * In: the operation, before its rule sees it.  Out: the operand's content, behind a CAST that raises what the
 * interpreter raises for None, in its words (Value.imm.text: "TypeError: ..."); in what none_words.def does not name, a
 * rule casts operands by itself, and lowering finds words. */
#include <string.h> /* strchr, strcspn, strlen, strncmp, strspn */

#include "typeinfer/rules.h"

static const struct {
    Op op;
    size_t operand;
    const char *words;
} operands[] = {
#define NONE_OPERAND(operation, operand, words) {OP_##operation, operand, words},
#include "typeinfer/none_words.def"
};

static const struct {
    const char *functions, *words;
} arguments[] = {
#define NONE_ARGUMENT(functions, words) {functions, words},
#include "typeinfer/none_words.def"
};

/* The name of its class in the interpreter; NULL: where None meets it, the words are others. */
static const char *class_name(const Type *type) {
    static const char *const names[] = {
        [TY_NONE] = "NoneType", [TY_TUPLE] = "tuple", [TY_VARTUPLE] = "tuple", [TY_LIST] = "list",
        [TY_DICT] = "dict",     [TY_SET] = "set",     [TY_STR] = "str",        [TY_STRING] = "str",
        [TY_TEXT] = "str",      [TY_BYTES] = "bytes", [TY_RANGE] = "range",    [TY_SLICE] = "slice",
    };
    if (type->kind == TY_SCALAR && type->weak && !type->object) switch (type_scalar_kind(type)) {
        case 'b': return "bool";
        case 'i': return "int";
        case 'f': return "float";
        default: return "complex";
        }
    return type->kind < COUNT_OF(names) && !type->object ? names[type->kind] : NULL;
}

const char *typing_class_name(Typing *t, const Type *type) {
    bool strong = type->kind == TY_SCALAR && !type->weak && !type->object;
    return strong ? arena_printf(t->in->arena, "numpy.%s", scalar_info[type->scalar].name) : class_name(type);
}

/* Whether the operator joins what is on its left, of this class, with the like of it alone. */
static bool concatenates(Op op, const Type *left) {
    return op == OP_ADD && (typing_is_text(left) || left->kind == TY_LIST || left->kind == TY_TUPLE);
}

static bool is_repeated(Op op, const Type *type) {
    return op == OP_MUL && (typing_is_text(type) || type->kind == TY_LIST || type->kind == TY_TUPLE);
}

/* Of x + y and x < y.  What may be None too is taken for the value that it may be. */
static const char *operator_words(const Typing *t, Op op, size_t arg) {
    Arena *arena = t->in->arena;
    const Type *other = infer_content(t->args[1 - arg].type);
    bool same = value_resolve(t->values[0]) == value_resolve(t->values[1]);
    const char *name = same ? "NoneType" : class_name(other), *symbol = typing_symbol(op);
    const char *left = arg == 0 ? "NoneType" : name, *right = arg == 1 ? "NoneType" : name;
    bool inplace = t->flags & VF_INPLACE;
    if (!name || !symbol) return NULL;
    if (op_is_comparison(op))
        return arena_printf(arena, "'%s' not supported between instances of '%s' and '%s'", symbol, left, right);
    if (arg == 1 && inplace && op == OP_ADD && other->kind == TY_LIST) return "'NoneType' object is not iterable";
    if (arg == 1 && concatenates(op, other))
        return arena_printf(arena, "can only concatenate %s (not \"NoneType\") to %s", name, name);
    if (is_repeated(op, other)) return "can't multiply sequence by non-int of type 'NoneType'";
    const char *power = op == OP_POW && !inplace ? " or pow()" : "";
    return arena_printf(arena, "unsupported operand type(s) for %s%s%s: '%s' and '%s'", symbol, inplace ? "=" : "",
                        power, left, right);
}

/* What a sequence says of None as an index, or NULL: it is no sequence, or the operand no index of one. */
static const char *index_words(const Typing *t, size_t arg) {
    bool index = arg == 1 && (t->op == OP_GETITEM || t->op == OP_SETITEM || t->op == OP_DELITEM);
    if (!index || !type_is_integer(infer_content(t->args[1].type))) return NULL;
    const Type *of = infer_content(t->args[0].type);
    switch (of->kind) {
    case TY_LIST: return "list indices must be integers or slices, not NoneType";
    case TY_TUPLE: return of->object ? NULL : "tuple indices must be integers or slices, not NoneType";
    case TY_STR:
    case TY_STRING: return "string indices must be integers, not 'NoneType'";
    default: return NULL;
    }
}

static bool asks_attribute(const Typing *t, size_t arg) {
    return t->op == OP_GETATTR || (t->op == OP_SETATTR && arg == 0);
}

/* Whether the interpreter has no answer for None as this operand. */
static bool needs_value(const Typing *t, size_t arg) {
    if (t->is_call) return func_info[t->func].elementwise && !func_info[t->func].takes_none;
    if (t->op == OP_MOD && arg == 1 && typing_is_text(infer_content(t->args[0].type))) return false; /* "%s" % None */
    if ((op_is_binary(t->op) && t->op != OP_MATMUL) || (op_is_comparison(t->op) && t->op != OP_EQ && t->op != OP_NE))
        return true;
    if (asks_attribute(t, arg) || index_words(t, arg)) return true;
    for (size_t i = 0; i < COUNT_OF(operands); i++)
        if (operands[i].op == t->op && operands[i].operand == arg) return true;
    return false;
}

static bool is_named(const char *names, const char *name) {
    size_t length = strcspn(name, " ");
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own == length && strncmp(at, name, length) == 0) return true;
        at += own;
    }
    return false;
}

/* The class of the operand that None meets: of a pair, the other one; of more, the first, or the second. */
static const char *other_class(const Typing *t, size_t arg) {
    if (t->nargs < 2) return NULL;
    bool same = value_resolve(t->values[0]) == value_resolve(t->values[1]);
    return same ? "NoneType" : class_name(infer_content(t->args[arg ? 0 : 1].type));
}

static const char *divmod_words(const Typing *t, size_t arg) {
    const char *name = other_class(t, arg), *left = arg ? name : "NoneType", *right = arg ? "NoneType" : name;
    return name ? arena_printf(t->in->arena, "unsupported operand type(s) for divmod(): '%s' and '%s'", left, right)
                : NULL;
}

/* Of NumPy's, which compares the first with the second. */
static const char *compared_words(const Typing *t, size_t arg, const char *symbol) {
    const char *name = other_class(t, arg), *left = arg ? name : "NoneType", *right = arg ? "NoneType" : name;
    return name ? arena_printf(t->in->arena, "'%s' not supported between instances of '%s' and '%s'", symbol, left,
                               right)
                : NULL;
}

/* Of max and min, which compare each argument with the one that is ahead. */
static const char *extreme_words(const Typing *t, size_t arg, const char *symbol) {
    const char *name = other_class(t, arg), *left = arg ? "NoneType" : name, *right = arg ? name : "NoneType";
    return name ? arena_printf(t->in->arena, "'%s' not supported between instances of '%s' and '%s'", symbol, left,
                               right)
                : NULL;
}

/* `words` with the last part of the function's name in place of $. */
static const char *with_name(Arena *arena, const char *words, const char *names) {
    const char *place = strchr(words, '$');
    size_t length = strcspn(names, " ");
    for (size_t i = 0; place && i < length; i++)
        if (names[i] == '.') names += i + 1, length -= i + 1, i = 0;
    return place ? arena_printf(arena, "%.*s%.*s%s", (int)(place - words), words, (int)length, names, place + 1)
                 : words;
}

/* NumPy has the operators of its operands, which it takes for objects, do it. */
static const char *ufunc_words(const Typing *t, const FuncInfo *row, size_t arg) {
    for (size_t i = 0; i < COUNT_OF(operands); i++)
        if (operands[i].op == row->op && t->nargs == 1) return operands[i].words;
    return t->nargs == 2 && t->values[0] && t->values[1] ? operator_words(t, row->op, arg) : NULL;
}

static const char *call_words(const Typing *t, size_t arg) {
    const FuncInfo *row = &func_info[t->func];
    if (row->elementwise && row->how == HOW_OP && !row->takes_none) return ufunc_words(t, row, arg);
    switch (t->func) {
    case FUNC_NP_MAXIMUM:
    case FUNC_NP_FMAX: return compared_words(t, arg, ">=");
    case FUNC_NP_MINIMUM:
    case FUNC_NP_FMIN: return compared_words(t, arg, "<=");
    case FUNC_NP_POWER: return operator_words(t, OP_POW, arg);
    case FUNC_PY_DIVMOD: return divmod_words(t, arg);
    case FUNC_PY_MAX: return extreme_words(t, arg, ">");
    case FUNC_PY_MIN: return extreme_words(t, arg, "<");
    default: break;
    }
    for (size_t i = 0; i < COUNT_OF(arguments); i++)
        if (is_named(arguments[i].functions, row->head.names))
            return with_name(t->in->arena, arguments[i].words, row->head.names);
    return row->library == LIBRARY_MATH ? "must be real number, not NoneType" : NULL;
}

/* What the operation being typed says of None; NULL: nobody knows. */
static const char *words(const Typing *t, size_t arg) {
    if (t->is_call) return call_words(t, arg);
    for (size_t i = 0; i < COUNT_OF(operands); i++)
        if (operands[i].op == t->op && operands[i].operand == arg) return operands[i].words;
    if ((op_is_binary(t->op) || op_is_comparison(t->op)) && t->nargs == 2) return operator_words(t, t->op, arg);
    return index_words(t, arg);
}

const char *typing_none_words(const Typing *t, size_t arg) {
    if (asks_attribute(t, arg))
        return arena_printf(t->in->arena, "AttributeError: 'NoneType' object has no attribute '%s'", t->text);
    const char *found = words(t, arg);
    return found ? arena_printf(t->in->arena, "TypeError: %s", found) : NULL;
}

void typing_need_value(Typing *t, size_t arg, const char *words) {
    const Type *type = t->args[arg].type;
    if (!type || type->kind != TY_OPTIONAL) return;
    t->args[arg] = (Fact){type->items[0], NULL};
    if (!t->emit) return;
    t->values[arg] = typing_make_op(t, OP_CAST, type->items[0], &t->values[arg], 1);
    t->values[arg]->imm.text = words;
}

void typing_need_values(Typing *t) {
    for (size_t i = 0; i < t->nargs; i++)
        if (t->args[i].type && t->args[i].type->kind == TY_OPTIONAL && needs_value(t, i))
            typing_need_value(t, i, t->emit ? typing_none_words(t, i) : NULL);
}
