/* rules_caught.c: what compiled code asks of an exception that was caught.
 *
 * In: an operation one of whose operands is a caught exception, or its class, type(e).  Out: a string that the
 * interpreter makes (CAUGHT_TEXT) in place of the operand or of the whole; a test of its class; or a refusal.  Compiled
 * code knows of it what it is and where it was raised: what it was made of has no type where it is caught. */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h"

enum { TEXT_STR, TEXT_REPR, TEXT_NAME, TEXT_QUALNAME }; /* python_calls.c makes them */

/* type(e) and e.__traceback__ are the same value with types of their own. */
enum { IS_CLASS = 1, IS_TRACEBACK };

static bool is_class(const Type *type) { return type->kind == TY_CAUGHT && type->count == IS_CLASS; }
static bool is_exception(const Type *type) { return type->kind == TY_CAUGHT && !type->count; }

static const Type *part_type(Typing *t, const Type *caught, size_t part) {
    const Type *items[] = {caught, caught};
    return type_with_items(t->in->types, TY_CAUGHT, 0, items, part);
}

/* type(e), e.__traceback__ */
static bool become_part(Typing *t, size_t arg, size_t part) {
    const Type *type = part_type(t, t->args[arg].type, part);
    return typing_become(t, t->emit ? typing_make_op(t, OP_CAST, type, &t->values[arg], 1) : NULL, type);
}

/* Compiled functions may be told of it: what they are given they do not keep. */
static bool calls_function(const Typing *t) {
    const Type *callee = t->op == OP_CALL ? t->args[0].type : NULL;
    return callee && (callee->kind == TY_PYFUNC || callee->kind == TY_CLOSURE);
}

static bool takes_caught(const Typing *t) {
    if (calls_function(t)) return true;
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = t->args[i].type ? infer_content(t->args[i].type) : NULL;
        bool other = t->op == OP_IS || t->op == OP_IS_NOT ? t->args[!i].type->kind == TY_NONE : false;
        if (type && type->kind == TY_CAUGHT && !is_exception(type) && !other) return false;
    }
    return t->op == OP_MATCHES || t->op == OP_CHAIN || t->op == OP_RAISE || t->op == OP_RERAISE || t->op == OP_IS ||
           t->op == OP_IS_NOT || t->op == OP_TRUTH || t->op == OP_NOT;
}

static void become_text(Typing *t, size_t i, int64_t which) {
    t->args[i] = (Fact){type_simple(t->in->types, TY_STRING), NULL};
    if (!t->emit) return;
    Value *args[] = {t->values[i], typing_make_int(t, which)};
    t->values[i] = typing_make_func(t, FUNC_CAUGHT_TEXT, t->args[i].type, args, 2);
}

static void take_template(Typing *t, const char *template) {
    t->args[0].konst = const_str(t->in->arena, t->in->types, template);
    t->args[0].type = t->args[0].konst->type;
    if (t->emit) t->values[0] = typing_make_const(t, t->args[0].konst);
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
    take_template(t, arena_printf(t->in->arena, "%.*s%s", (int)(field + 1 - template), template, field + 3));
    return true;
}

/* "%s" % e, of one field: as {e}. */
static bool take_percent(Typing *t) {
    const char *template = t->args[0].konst ? t->args[0].konst->text : NULL, *field = template;
    while (field && (field = strchr(field, '%')) && field[1] == '%') field += 2;
    const char *letter = field ? field + 1 + strspn(field + 1, "-0123456789.") : "";
    if (*letter != 's' && *letter != 'r') return false;
    become_text(t, 1, *letter == 'r' ? TEXT_REPR : TEXT_STR);
    take_template(t, arena_printf(t->in->arena, "%.*ss%s", (int)(letter - template), template, letter + 1));
    return true;
}

/* Letter number `field` of a template for %, behind its flags and width; 0: it has fewer, or *. */
static char percent_letter(const char *template, size_t field) {
    for (const char *at = template; (at = strchr(at, '%')); at++) {
        at += 1 + strspn(at + 1, "-+ #0123456789.");
        if (!*at) break;
        if (*at != '%' && field-- == 0) return *at;
    }
    return 0;
}

/* What stands before the % that a tuple is made for; NULL: it is made for something else, too. */
static const char *template_for(const Typing *t) {
    const Func *func = t->in->func;
    const Value *percent = NULL;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (value_resolve(value->args[i]) != t->at) continue;
                if (percent || value->op != OP_MOD || i != 1) return NULL;
                percent = value;
            }
    const Const *template = percent ? value_resolve(percent->args[0])->konst : NULL;
    return template && template->type->kind == TY_STR ? template->text : NULL;
}

/* "%d: %s" % (n, e) */
static bool take_percent_item(Typing *t, size_t i) {
    const char *template = template_for(t);
    return template && percent_letter(template, i) == 's' && (become_text(t, i, TEXT_STR), true);
}

/* "{}".format(e), whose template nobody writes anew: the field says no more than {}. */
static bool takes_plainly(const Typing *t, size_t arg) {
    const Value *method = t->values[0] ? value_resolve(t->values[0]) : NULL;
    const Value *receiver = method && method->op == OP_GETATTR ? value_resolve(method->args[0]) : NULL;
    const char *template = receiver && receiver->konst ? receiver->konst->text : NULL;
    const char *field = template && !t->nnames ? field_of(template, arg - 1) : NULL;
    return field && field[1] == '}';
}

/* isinstance(e, C), issubclass(type(e), C). */
static bool matches(Typing *t, size_t arg, bool *done) {
    if (arg != 1 || t->nargs != 3) return false;
    Fact facts[] = {t->args[1], t->args[2]}, fact;
    Value *value;
    *done = true;
    if (facts[0].type->count) facts[0].type = facts[0].type->items[0];
    TRY(typing_sub(t, &(SubOp){.op = OP_MATCHES, .values = t->values + 1, .facts = facts, .nargs = 2}, &fact, &value));
    return typing_become(t, value, fact.type);
}

/* str(e), repr(e), print(e), isinstance(e, C), type(e). */
static bool take_call(Typing *t, size_t arg, bool *done) {
    const Type *callee = t->args[0].type, *caught = t->args[arg].type;
    if (callee->kind != TY_FUNC) return false;
    if (is_class(caught) && callee->func->id == FUNC_ISSUBCLASS) return matches(t, arg, done);
    if (!is_exception(caught)) return false;
    switch (callee->func->id) {
    case FUNC_FORMAT:
        if (t->nargs != 2) return false;
        become_text(t, arg, TEXT_STR);
        *done = true;
        return typing_become(t, t->emit ? t->values[arg] : NULL, t->args[arg].type);
    case FUNC_STR:
    case FUNC_PRINT: return become_text(t, arg, TEXT_STR), true;
    case FUNC_REPR:
        become_text(t, arg, TEXT_REPR);
        *done = true;
        return typing_become(t, t->emit ? t->values[arg] : NULL, t->args[arg].type);
    case FUNC_STR_FORMAT: return takes_plainly(t, arg) && (become_text(t, arg, TEXT_STR), true);
    case FUNC_ISINSTANCE: return matches(t, arg, done);
    case FUNC_TYPE: *done = true; return t->nargs == 2 && become_part(t, 1, IS_CLASS);
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
    bool class = strcmp(t->text, "__class__") == 0;
    if (!is_exception(caught) || (!class && strcmp(t->text, "__traceback__") != 0)) return false;
    *done = true;
    return become_part(t, 0, class ? IS_CLASS : IS_TRACEBACK);
}

static bool take(Typing *t, size_t i, bool *done) {
    if (t->in->device || t->args[i].type->kind != TY_CAUGHT) return false;
    switch (t->op) {
    case OP_CALL:
        if (i > 0) return take_call(t, i, done);
        *done = is_class(t->args[0].type);
        return *done && typing_call_like(t);
    case OP_FORMAT: return i > 0 && is_exception(t->args[i].type) && take_field(t, i);
    case OP_TUPLE: return is_exception(t->args[i].type) && take_percent_item(t, i);
    case OP_MOD: return i == 1 && is_exception(t->args[1].type) && take_percent(t);
    case OP_GETATTR: return take_attribute(t, done);
    default: return false;
    }
}

static bool refuse_attribute(Typing *t) {
    typing_fail(t, DIAG_UNSUPPORTED,
                "the type of `%s` of an exception is not known: of it compiled code has str(e), repr(e), "
                "type(e).__name__, isinstance(e, C), and what its class annotates",
                t->text);
    if (strcmp(t->text, "add_note") == 0 || strcmp(t->text, "with_traceback") == 0)
        return typing_hint(t, "call it where Python catches the exception");
    bool args = strcmp(t->text, "args") == 0;
    return typing_hint(t,
                       "annotate it in the class of exceptions that the handler or isinstance names, if it is yours, "
                       "as in `%s`; what a class of Python's own has, str(e) says, and a variable that is assigned "
                       "before the exception is raised keeps (of OSError errno, strerror and filename are read)",
                       args ? "args: tuple[int, str]" : arena_printf(t->in->arena, "%s: int", t->text));
}

/* e is e, e == e: of two that may be the same it is not known. */
static bool compare_itself(Typing *t, bool *done) {
    bool same = t->op == OP_IS || t->op == OP_EQ, other = t->op == OP_IS_NOT || t->op == OP_NE;
    bool itself = t->nargs == 2 && t->values[0] && value_resolve(t->at->args[0]) == value_resolve(t->at->args[1]);
    if (!(same || other) || !itself || !is_exception(t->args[0].type)) return false;
    *done = true;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, same));
}

static bool compares_two(const Typing *t) {
    bool compares = t->op == OP_IS || t->op == OP_IS_NOT || t->op == OP_EQ || t->op == OP_NE;
    return compares && is_exception(infer_content(t->args[0].type)) && is_exception(infer_content(t->args[1].type));
}

static bool refuse_comparison(Typing *t) {
    typing_fail(t, DIAG_UNSUPPORTED, "whether two exceptions are the same one is not known in compiled code");
    return typing_hint(t,
                       "compare what is known of both, str(e) or type(e).__name__, or set a flag where one is caught");
}

static bool refuse(Typing *t, const Type *caught) {
    if (t->failed) return false;
    if (!is_exception(caught) && !is_class(caught))
        return typing_fail(t, DIAG_UNSUPPORTED, "of a traceback compiled code knows only that it is not None");
    if (is_class(caught)) {
        typing_fail(t, DIAG_UNSUPPORTED,
                    "of the class of a caught exception type(e)(...), type(e).__name__ and issubclass(type(e), C) are "
                    "known");
        return typing_hint(t, "compare by isinstance(e, ValueError), or write one handler for each class");
    }
    if (t->op == OP_GETATTR) return refuse_attribute(t);
    typing_fail(t, DIAG_UNSUPPORTED,
                "an exception that was caught can be raised again, str(e) and repr(e) are its texts, and "
                "isinstance(e, C) and type(e).__name__ tell its class; it cannot be used otherwise");
    return typing_hint(t, "keep in a variable, assigned before the exception is raised, what else the handler needs");
}

/* What an exception of a class of Python's own was made of here. */
static const Type *arguments_of(Typing *t, const Type *exception) {
    Infer *in = t->in;
    const Type *class = type_object(in->types, TY_EXC_CLASS, exception->object);
    const char *module = in->host->name_of(in->host->self, class, "__module__");
    if (strcmp(t->text, "args") != 0 || !module || strcmp(module, "builtins") != 0) return NULL;
    if (typing_class_follows(t, exception) && exception->count > 2) return NULL; /* its args are the first two */
    const Type **items = ARENA_ARRAY(in->arena, const Type *, exception->count);
    for (uint32_t i = 0; i < exception->count; i++) {
        items[i] = typeinfer_general(in, exception->items[i]);
        if (items[i]->kind == TY_TEXT) items[i] = type_simple(in->types, TY_STRING);
        if (items[i]->kind != TY_SCALAR && items[i]->kind != TY_STRING) return NULL;
    }
    return type_tuple(in->types, items, exception->count);
}

/* An attribute whose type the class declares: what it is then, the interpreter knows. */
static bool take_declared(Typing *t, bool *done) {
    const Type *of = t->op == OP_GETATTR && !t->in->device ? t->args[0].type : NULL, *type = NULL;
    if (!of || *done) return true;
    if (of->kind == TY_EXC)
        type = t->in->host->declared(t->in->host->self, type_object(t->in->types, TY_EXC_CLASS, of->object), t->text);
    if (of->kind == TY_EXC && !type) type = arguments_of(t, of);
    if (is_exception(of)) type = narrow_declared(t->in, t->at, value_resolve(t->at->args[0]), t->text);
    if (!type) return of->kind != TY_EXC || strcmp(t->text, "__class__") == 0 || refuse_attribute(t);
    *done = true;
    if (!t->emit) return typing_become(t, NULL, type);
    Value *caught = of->kind == TY_EXC ? typing_exception_now(t, t->values[0], of) : t->values[0];
    Value *args[] = {caught, typing_make_const(t, const_str(t->in->arena, t->in->types, t->text))};
    return typing_become(t, typing_make_func(t, FUNC_CAUGHT_ATTR, type, args, 2), type);
}

/* Whether the interpreter's words for an exception are asked, which it has only of one that it made. */
static bool asks_words(const Typing *t, size_t i) {
    switch (t->op) {
    case OP_CALL: {
        const Type *callee = t->args[0].type;
        FuncId id = callee->kind == TY_FUNC ? callee->func->id : FUNC_NONE;
        return i > 0 &&
               (id == FUNC_STR || id == FUNC_REPR || id == FUNC_PRINT || id == FUNC_FORMAT || id == FUNC_STR_FORMAT);
    }
    case OP_FORMAT: return i > 0;
    case OP_MOD: return i == 1 && typing_is_text(infer_content(t->args[0].type));
    default: return false;
    }
}

/* Who it is, too: what a variable holds a compiled function may raise, and this one again. */
static bool is_given(const Typing *t, size_t i) {
    return i > 0 && i < t->at->nargs && calls_function(t) && value_resolve(t->at->args[i])->name;
}

/* isinstance(e, C), type(e), e.__class__ */
static bool asks_class(const Typing *t, size_t i) {
    const Type *callee = t->op == OP_CALL && i == 1 ? t->args[0].type : NULL;
    if (callee)
        return callee->kind == TY_FUNC && (callee->func->id == FUNC_ISINSTANCE || callee->func->id == FUNC_TYPE);
    return t->op == OP_GETATTR && strcmp(t->text, "__class__") == 0;
}

/* An exception that was made here, and is its arguments, is made by the interpreter for its texts. */
static void make_asked(Typing *t) {
    for (size_t i = 0; !t->in->device && i < t->nargs; i++) {
        const Type *type = t->args[i].type;
        if (!type || type->kind != TY_EXC) continue;
        if (!asks_words(t, i) && !is_given(t, i) && !(typing_class_follows(t, type) && asks_class(t, i))) continue;
        t->args[i] = (Fact){type_simple(t->in->types, TY_CAUGHT), NULL};
        if (t->emit) t->values[i] = typing_exception_now(t, t->values[i], type);
    }
}

bool typing_take_caught(Typing *t, bool *done) {
    bool any = false;
    TRY(take_declared(t, done));
    if (*done) return true;
    make_asked(t);
    for (size_t i = 0; i < t->nargs; i++) any |= t->args[i].type && infer_content(t->args[i].type)->kind == TY_CAUGHT;
    if (any && compare_itself(t, done)) return true;
    if (any && compares_two(t)) return refuse_comparison(t);
    if (!any || takes_caught(t)) return true;
    for (size_t i = 0; i < t->nargs && !*done; i++) {
        const Type *type = t->args[i].type ? infer_content(t->args[i].type) : NULL;
        if (type && type->kind == TY_CAUGHT && !take(t, i, done)) return refuse(t, type);
    }
    return true;
}
