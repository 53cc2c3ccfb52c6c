/* own_texts.c: instances in f-strings and print.
 *
 * In: a template and what is put into it, among that instances whose classes have a text.  Out: in their place their
 * str(), repr() or format(), and a template whose fields are for texts. */
#include <string.h> /* memchr, strcspn */

#include "library/library.h"
#include "typeinfer/rules.h"

/* Field number `field` of a template for str.format, and how long it is with its braces. */
static const char *find_field(const char *template, size_t field, size_t *length) {
    for (; *template; template ++) {
        if (*template != '{' && *template != '}') continue;
        *length = strcspn(template, "}") + 1;
        if (template[1] == *template)
            template ++;
        else if (*template == '{' && field-- == 0)
            return template;
    }
    return NULL;
}

static bool refuse_format(Typing *t, size_t arg, const char *field, int length) {
    typing_fail(t, DIAG_UNSUPPORTED, "%s is put into a text as %.*s, which its class may answer itself",
                typing_arg_text(t, arg), length, field);
    return typing_hint(t, "make the text first: format(x, '...'), str(x), repr(x), or a method of its class");
}

/* The function that makes the text of an instance in the template of an f-string, whose field is for that text then,
 * without what the function is given of it: *spec, for format(). */
static bool plain_field(Typing *t, size_t arg, FuncId *function, const char **spec) {
    size_t length;
    const Const *template = t->args[0].konst;
    const char *field = template ? find_field(template->text, arg - 1, &length) : NULL;
    if (!field) return true;
    bool shown = field[1] == '!' && (field[2] == 'r' || field[2] == 's');
    bool own = !shown && typing_has_method(t, "__format__", arg), given = length > 2 && field[1] == ':';
    if (!shown && !own && length != 2) return refuse_format(t, arg, field, (int)length);
    if (own && length != 2 && (!given || memchr(field + 1, '{', length - 1))) /* of another value */
        return refuse_format(t, arg, field, (int)length);
    if (shown && field[2] == 'r') *function = FUNC_REPR;
    if (own) *function = FUNC_FORMAT;
    if (own) *spec = given ? arena_printf(t->in->arena, "%.*s", (int)length - 3, field + 2) : "";
    int before = (int)(field - template->text);
    const char *rest = own ? field + length - 1 : field + (shown ? 3 : 1);
    const char *text = arena_printf(t->in->arena, "%.*s{%s", before, template->text, rest);
    const Const *plain = const_str(t->in->arena, t->in->types, text);
    t->args[0] = (Fact){plain->type, plain};
    if (t->emit) t->values[0] = typing_make_const(t, plain);
    return true;
}

/* In an f-string and in print, what is put into a text is its str(), or its repr() where that is asked for. */
bool typing_texts_of_instances(Typing *t) {
    bool prints = t->op == OP_CALL && t->args[0].type->kind == TY_FUNC && t->args[0].type->func->id == FUNC_PRINT;
    if (t->in->device || (t->op != OP_FORMAT && !prints)) return true;
    for (size_t i = 1; i < t->nargs; i++) {
        FuncId function = FUNC_STR;
        if (!typing_has_method(t, "__str__", i) && !typing_has_method(t, "__repr__", i) &&
            !typing_has_method(t, "__format__", i))
            continue;
        const char *spec = NULL;
        if (!prints) TRY(plain_field(t, i, &function, &spec));
        const Const *text = const_of(t->in->arena, type_func(t->in->types, &func_info[function].head));
        const Const *how = spec ? const_str(t->in->arena, t->in->types, spec) : NULL;
        Fact facts[3] = {{text->type, text}, t->args[i]};
        Value *values[3] = {t->emit ? typing_make_const(t, text) : NULL, t->values[i]};
        if (how) facts[2] = (Fact){how->type, how};
        if (how && t->emit) values[2] = typing_make_const(t, how);
        SubOp call = {.op = OP_CALL, .values = values, .facts = facts, .nargs = how ? 3 : 2};
        TRY(typing_sub(t, &call, &t->args[i], &t->values[i]));
    }
    return true;
}
