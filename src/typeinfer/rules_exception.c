/* rules_exception.c: typing rules of exceptions: made, raised, caught. */
#include "typeinfer/rules.h"

/* ---- made ---- */

/* Whether the interpreter has an object for such an argument: not for a zip, a slice, a function made here. */
static bool is_object_outside(const Type *type) {
    if (type->kind == TY_STR || type->kind == TY_TEXT || type_is_instance(type)) return true;
    for (uint32_t i = 0; type->kind == TY_TUPLE && i < type->count; i++) TRY(is_object_outside(type->items[i]));
    return type->kind == TY_TUPLE || (type->kind != TY_GENERATOR && type_can_leave(type));
}

static bool check_arguments(Typing *t, size_t first) {
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "exceptions take no keyword arguments in compiled code");
    for (size_t i = first; !t->in->device && i < t->nargs; i++) {
        const Type *type = t->args[i].type;
        if (!type || type->kind == TY_BOTTOM || is_object_outside(type)) continue;
        typing_fail(t, DIAG_UNSUPPORTED, "%s is no object that an exception could take out of compiled code",
                    typing_arg_text(t, i));
        return typing_hint(t, "give it a number, a text, a list, or a tuple of these");
    }
    return true;
}

/* An instance is a tuple of its arguments with the type of its class.  Where it is not raised at once, its texts go
 * with it. */
bool typing_call_exception(Typing *t, const Type *class_type) {
    const Type **types = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    TRY(check_arguments(t, 0));
    bool counted = false; /* then the interpreter makes it when it is raised (rule_raise) */
    for (size_t i = 0; i < t->nargs; i++) counted |= type_is_counted(t->args[i].type) || !(t->at->flags & VF_RAISED);
    for (size_t i = 0; i < t->nargs; i++) {
        if (counted && !t->in->device) typing_as(t, i, typeinfer_general(t->in, t->args[i].type));
        types[i] = t->args[i].type;
    }
    const Type *type = type_with_items(t->in->types, TY_EXC, class_type->object, types, t->nargs);
    Value *made = t->emit ? typing_make_op(t, OP_TUPLE, type, t->values, t->nargs) : NULL;
    if (made) made->flags |= t->at->flags & VF_RAISED;
    return typing_become(t, made, type);
}

bool typing_call_like(Typing *t) {
    const Type *type = type_simple(t->in->types, TY_CAUGHT);
    TRY(check_arguments(t, 1));
    for (size_t i = 1; t->emit && i < t->nargs; i++)
        t->values[i] = typing_make_cast(t, t->values[i], typeinfer_general(t->in, t->args[i].type));
    Value *made = t->emit ? typing_make_func(t, FUNC_EXCEPTION_LIKE, type, t->values, t->nargs) : NULL;
    return typing_become(t, made, type);
}

/* ---- raised ---- */

/* Texts without bytes are known only where the exception is made. */
static bool check_texts(Typing *t, const Value *exception, const Type *type) {
    for (uint32_t i = 0; exception->op != OP_TUPLE && i < type->count; i++) {
        if (type->items[i]->kind != TY_STR && type->items[i]->kind != TY_TEXT) continue;
        typing_fail(t, DIAG_UNSUPPORTED, "the text of this exception is not known here");
        return typing_hint(t, "make the exception where it is raised, as in: raise A('text') from B('text')");
    }
    return true;
}

/* An argument of an exception as the interpreter takes it. */
static Value *argument(Typing *t, Value *exception, uint32_t i) {
    bool here = exception->op == OP_TUPLE;
    Value *item = here ? exception->args[i] : typing_make_extract(t, exception, i);
    if (item->type->kind == TY_TEXT) return typing_make_text(t, item);
    return typing_make_cast(t, item, typeinfer_general(t->in, item->type));
}

Value *typing_exception_now(Typing *t, Value *exception, const Type *type) {
    Infer *in = t->in;
    uint32_t count = type->kind == TY_EXC ? type->count : 0;
    if (count) check_texts(t, exception, type);
    Value **args = ARENA_ARRAY(in->arena, Value *, count + 2);
    args[0] = exception;
    args[1] = typing_make_const(t, const_of(in->arena, type_object(in->types, TY_EXC_CLASS, type->object)));
    for (uint32_t i = 0; i < count; i++) args[2 + i] = argument(t, exception, i);
    return typing_make_func(t, FUNC_EXCEPTION_NEW, type_simple(in->types, TY_CAUGHT), args, count + 2);
}

static bool is_exception(const Type *type) {
    return type->kind == TY_EXC_CLASS || type->kind == TY_EXC || type->kind == TY_CAUGHT;
}

/* OSError(2, "text") is a FileNotFoundError: the number says which class it has. */
bool typing_class_follows(Typing *t, const Type *type) {
    return type->kind == TY_EXC && type->count >= 2 && !t->in->device &&
           type_table_exception_named(t->in->types, type->object, NULL, "OSError");
}

/* The cause is made now; it may be the exception itself. */
static void give_cause(Typing *t, const Type *type) {
    bool same = value_resolve(t->values[0]) == value_resolve(t->values[1]);
    t->values[1] = typing_exception_now(t, t->values[1], type);
    if (same) t->values[0] = t->values[1];
}

/* What comes after `from` is an exception that was caught, one that is made here, or None. */
static bool take_cause(Typing *t) {
    const Type *type = infer_content(t->args[1].type);
    if (!is_exception(type) && type->kind != TY_NONE) {
        typing_fail(t, DIAG_TYPING, "what comes after `from` must be an exception or None, not %s",
                    typing_arg_text(t, 1));
        return typing_hint(t, "the interpreter raises TypeError: exception causes must derive from BaseException");
    }
    if (t->in->device)
        t->nargs = 1; /* what a kernel raises comes to the host alone */
    else if (t->emit && is_exception(type) && type->kind != TY_CAUGHT)
        give_cause(t, type);
    return true;
}

bool rule_raise(Typing *t) {
    if (t->nargs == 0) {
        typing_fail(t, DIAG_UNSUPPORTED, "`raise` without an exception is not compiled");
        return typing_hint(t, "name the exception");
    }
    const Type *type = t->args[0].type;
    if (!is_exception(type)) {
        typing_fail(t, DIAG_TYPING, "an exception is needed here, not %s", typing_arg_text(t, 0));
        return typing_hint(t, "raise a class of exceptions or an instance of one: raise ValueError(\"...\")");
    }
    if (t->nargs > 1) TRY(take_cause(t));
    /* What counts its references does not outlive the function. */
    if (t->emit && t->in->device && type->kind == TY_EXC) TRY(check_texts(t, t->values[0], type));
    bool made = t->emit && t->values[0]->type->kind == TY_CAUGHT;
    bool counted = !t->in->device && type->kind == TY_EXC && type_is_counted(type);
    if (t->emit && !made && (counted || typing_class_follows(t, type)))
        t->values[0] = typing_exception_now(t, t->values[0], type);
    return typing_result(t, infer_none(t->in), NULL);
}

/* ---- caught ---- */

bool rule_caught(Typing *t) {
    if (!t->in->device) return typing_result(t, type_simple(t->in->types, TY_CAUGHT), NULL);
    typing_fail(t, DIAG_UNSUPPORTED, "exception handlers (try, except, finally) are not compiled in kernels");
    return typing_hint(t, "test the condition before the operation: in kernels nothing raises but raise and assert");
}

/* A class, or a tuple of classes. */
static bool is_exception_class(const Type *type) {
    if (type->kind != TY_TUPLE) return type->kind == TY_EXC_CLASS;
    for (uint32_t i = 0; i < type->count; i++)
        if (type->items[i]->kind != TY_EXC_CLASS) return false;
    return true;
}

bool rule_matches(Typing *t) {
    if (is_exception_class(t->args[1].type)) return typing_result(t, infer_bool(t->in), NULL);
    typing_fail(t, DIAG_TYPING, "only exceptions are caught, not %s", typing_arg_text(t, 1));
    return typing_hint(t, "name exception classes: except ValueError, except (IndexError, KeyError)");
}

bool rule_chain(Typing *t) { return typing_result(t, infer_none(t->in), NULL); }

bool rule_reraise(Typing *t) { return typing_result(t, infer_none(t->in), NULL); }
