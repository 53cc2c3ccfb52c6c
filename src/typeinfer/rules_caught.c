/* rules_caught.c: what compiled code asks of an exception that was caught.
 *
 * In: an operation one of whose operands is a caught exception, or its class, type(e).  Out: a string that the
 * interpreter makes (CAUGHT_TEXT) in place of the operand or of the whole; a test of its class; or a refusal.  Compiled
 * code knows of it what it is and where it was raised: what it was made of has no type where it is caught. */
#include <string.h> /* strcmp */

#include "typeinfer/infer.h"

enum { TEXT_STR, TEXT_REPR, TEXT_NAME, TEXT_QUALNAME }; /* python_calls.c makes them */

/* type(e): the same value with a type of its own. */
static bool is_class(const Type *type) { return type->kind == TY_CAUGHT && type->count; }

static bool takes_caught(const Typing *t) {
    for (size_t i = 0; i < t->nargs; i++)
        if (t->args[i].type && is_class(infer_content(t->args[i].type))) return false;
    return t->op == OP_MATCHES || t->op == OP_CHAIN || t->op == OP_RAISE || t->op == OP_RERAISE || t->op == OP_IS ||
           t->op == OP_IS_NOT;
}

static void become_text(Typing *t, size_t i, int64_t which) {
    t->args[i] = (Fact){type_simple(t->in->types, TY_STRING), NULL};
    if (!t->emit) return;
    Value *args[] = {t->values[i], typing_make_int(t, which)};
    t->values[i] = typing_make_func(t, FUNC_CAUGHT_TEXT, t->args[i].type, args, 2);
}

/* Field number `field` of a template for str.format, from its brace on; NULL: it has fewer. */
static const char *field_of(const char *text, size_t field) {
    for (; *text; text++) {
        if (*text != '{' && *text != '}') continue;
        if (text[1] == *text)
            text++;
        else if (*text == '{' && field-- == 0)
            return text;
    }
    return NULL;
}

/* {e}, {e!s}, {e!r:>20}: a text, of which the template without its conversion makes what is meant. */
static bool take_field(Typing *t, size_t arg) {
    const char *template = t->args[0].konst ? t->args[0].konst->text : NULL;
    const char *field = template ? field_of(template, arg - 1) : NULL;
    if (!field || !(field[1] == '}' || (field[1] == '!' && strchr("rs", field[2])))) return false;
    become_text(t, arg, field[1] == '!' && field[2] == 'r' ? TEXT_REPR : TEXT_STR);
    if (field[1] == '}') return true;
    const char *plain = arena_printf(t->in->arena, "%.*s%s", (int)(field + 1 - template), template, field + 3);
    t->args[0].konst = const_str(t->in->arena, t->in->types, plain);
    t->args[0].type = t->args[0].konst->type;
    if (t->emit) t->values[0] = typing_make_const(t, t->args[0].konst);
    return true;
}

/* str(e), repr(e), print(e), isinstance(e, C), type(e). */
static bool take_call(Typing *t, size_t arg, bool *done) {
    const Type *callee = t->args[0].type, *caught = t->args[arg].type;
    if (callee->kind != TY_FUNC || is_class(caught)) return false;
    switch (callee->func->id) {
    case FUNC_STR:
    case FUNC_PRINT: return become_text(t, arg, TEXT_STR), true;
    case FUNC_REPR:
        become_text(t, arg, TEXT_REPR);
        *done = true;
        return typing_become(t, t->emit ? t->values[arg] : NULL, t->args[arg].type);
    case FUNC_ISINSTANCE: {
        if (arg != 1 || t->nargs != 3) return false;
        Fact fact;
        Value *value;
        *done = true;
        TRY(typing_sub(t, &(SubOp){.op = OP_MATCHES, .values = t->values + 1, .facts = t->args + 1, .nargs = 2}, &fact,
                       &value));
        return typing_become(t, value, fact.type);
    }
    case FUNC_TYPE:
        if (t->nargs != 2) return false;
        *done = true;
        Value *itself = t->emit ? typing_make_op(t, OP_CAST, type_with_items(t->in->types, TY_CAUGHT, 0, &caught, 1),
                                                 &t->values[1], 1)
                                : NULL;
        return typing_become(t, itself, type_with_items(t->in->types, TY_CAUGHT, 0, &caught, 1));
    default: return false;
    }
}

static bool take_attribute(Typing *t, bool *done) {
    const Type *caught = t->args[0].type;
    bool name = strcmp(t->text, "__name__") == 0, qualified = strcmp(t->text, "__qualname__") == 0;
    if (is_class(caught) && (name || qualified)) {
        become_text(t, 0, name ? TEXT_NAME : TEXT_QUALNAME);
        *done = true;
        return typing_become(t, t->emit ? t->values[0] : NULL, t->args[0].type);
    }
    if (is_class(caught) || strcmp(t->text, "__class__") != 0) return false;
    const Type *class = type_with_items(t->in->types, TY_CAUGHT, 0, &caught, 1);
    *done = true;
    return typing_become(t, t->emit ? typing_make_op(t, OP_CAST, class, &t->values[0], 1) : NULL, class);
}

static bool take(Typing *t, size_t i, bool *done) {
    if (t->in->device || t->args[i].type->kind != TY_CAUGHT) return false;
    switch (t->op) {
    case OP_CALL: return i > 0 && take_call(t, i, done);
    case OP_FORMAT: return i > 0 && !is_class(t->args[i].type) && take_field(t, i);
    case OP_GETATTR: return take_attribute(t, done);
    default: return false;
    }
}

static bool refuse(Typing *t, const Type *caught) {
    if (t->failed) return false;
    if (is_class(caught)) {
        typing_fail(t, DIAG_UNSUPPORTED, "of the class of a caught exception type(e).__name__ alone is known");
        return typing_hint(t, "compare by isinstance(e, ValueError), or write one handler for each class");
    }
    if (t->op == OP_GETATTR)
        typing_fail(t, DIAG_UNSUPPORTED,
                    "the type of `%s` of a caught exception is not known: of it compiled code has str(e), repr(e), "
                    "type(e).__name__ and isinstance(e, C)",
                    t->text);
    else
        typing_fail(t, DIAG_UNSUPPORTED,
                    "an exception that was caught can be raised again, str(e) and repr(e) are its texts, and "
                    "isinstance(e, C) and type(e).__name__ tell its class; it cannot be used otherwise");
    return typing_hint(t, "keep in a variable, assigned before the exception is raised, what else the handler needs");
}

bool typing_take_caught(Typing *t, bool *done) {
    bool any = false;
    for (size_t i = 0; i < t->nargs; i++) any |= t->args[i].type && infer_content(t->args[i].type)->kind == TY_CAUGHT;
    if (!any || takes_caught(t)) return true;
    for (size_t i = 0; i < t->nargs && !*done; i++) {
        const Type *type = t->args[i].type ? infer_content(t->args[i].type) : NULL;
        if (type && type->kind == TY_CAUGHT && !take(t, i, done)) return refuse(t, type);
    }
    return true;
}
