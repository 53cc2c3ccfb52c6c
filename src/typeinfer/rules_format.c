/* rules_format.c: the typing rule of f-strings and of templates for str.format.
 *
 * In: a template and the values that are put into it.  Out: a text that is not made yet, and may never be; a string, of
 * what may change until it is used, and where making it may raise. */
#include <string.h> /* strchr, strspn */

#include "typeinfer/rules.h"

/* Whether what a value shows may change after it was put into a text. */
static bool may_change(const Type *type) {
    if (type_is_container(type) || type_is_instance(type) || type->kind == TY_ARRAY) return true;
    if (type->kind == TY_STRUCT) return false; /* a record, copied; a type may hold itself only by an instance */
    for (uint32_t i = 0; i < type->count; i++)
        if (type->items[i] && may_change(type->items[i])) return true;
    return false;
}

enum { MOST_DIGITS = 4 };

/* Skips a number that is not too large for anybody; false: it is. */
static bool skip_digits(const char **at) {
    size_t digits = strspn(*at, "0123456789");
    *at += digits;
    return digits <= MOST_DIGITS;
}

/* Whether a specification, which ends with `}`, is one that every value of the type can be shown by. */
static bool is_sure(const char *at, const Type *type) {
    char kind = type->kind == TY_SCALAR ? type_scalar_kind(type) : 's';
    bool number = strchr("biuf", kind), precise = false;
    if (*at == '}') return true;
    if ((!number && !typing_is_text(type)) || (number && !type->weak)) return false;
    if (strchr("<>^", *at)) at++;
    if (number && *at == '+') at++;
    TRY(skip_digits(&at));
    if (*at == '.') {
        at++;
        precise = true;
        TRY(number && skip_digits(&at));
    }
    if (*at == '}') return !precise || kind == 'f';
    const char *shown_as = !number ? "s" : precise || kind == 'f' ? "eEfFgG%" : "bdoxXeEfFgG%";
    return strchr(shown_as, *at) && at[1] == '}';
}

/* Whether a value may be one that the template does not take. */
static bool may_raise(const Const *template, const Fact *values, size_t count) {
    size_t field = 0;
    if (!template || !template->text) return true;
    for (const char *at = template->text; *at; at++) {
        if (*at != '{' && *at != '}') continue;
        if (at[1] == *at) {
            at++;
            continue;
        }
        const char *end = strchr(at, '}'), *colon = strchr(at, ':'), *nested = strchr(at + 1, '{');
        if (!end || (nested && nested < end) || field == count) return true;
        bool shown = colon && colon < end, converted = at[1] == '!';
        const Type *type = values[field++].type;
        if (shown && (converted ? colon[1] != '}' : !is_sure(colon + 1, type))) return true;
        at = end;
    }
    return false;
}

bool rule_format(Typing *t) {
    Infer *in = t->in;
    const Type **types = ARENA_ARRAY(in->arena, const Type *, t->nargs);
    bool now = false;
    for (size_t i = 0; i < t->nargs; i++) {
        TRY(typing_refuse_mixed(t, i));
        types[i] = t->args[i].type;
        now |= types[i] && may_change(types[i]);
    }
    now |= !in->device && may_raise(t->args[0].konst, t->args + 1, t->nargs - 1);
    const Type *text = type_with_items(in->types, TY_TEXT, 0, types, t->nargs);
    if (in->device || !now) return typing_result(t, text, NULL);
    Value *made = t->emit ? typing_make_text(t, typing_make_op(t, OP_FORMAT, text, t->values, t->nargs)) : NULL;
    return typing_become(t, made, type_simple(in->types, TY_STRING));
}
