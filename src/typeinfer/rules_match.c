/* rules_match.c: typing rules of what the patterns of a match statement ask.
 *
 * A pattern's class and length are mostly in the type of the subject, so that the answers are constants and cases that
 * cannot match are not compiled.  The attributes that a class pattern names are read one by one, as x.name is. */
#include "typeinfer/infer.h"

/* is_sequence(x): what a sequence pattern takes: not a str; an array if NumPy says so, which it does from 2.5 on. */
bool rule_func_is_sequence(Typing *t) {
    const InferHost *host = t->in->host;
    const Type *type = t->args[0].type, *content = infer_content(type);
    bool is = content->kind != TY_STR && host->is_sequence(host->self, content);
    if (type == content || !is) return typing_become_const(t, const_bool(t->in->arena, t->in->types, is));
    Value *there = NULL;
    if (t->emit) {
        Value *pair[2] = {t->values[0], typing_make_const(t, const_none(t->in->arena, t->in->types))};
        there = typing_make_op(t, OP_IS_NOT, infer_bool(t->in), pair, 2);
    }
    return typing_become(t, there, infer_bool(t->in));
}

static bool not_known(Typing *t) {
    typing_fail_arg(t, 0, DIAG_TYPING, "whether %s matches this class is not known when the function is compiled",
                    typing_arg_text(t, 0));
    return typing_hint(t, "test it with `is None` before the match statement");
}

/* match_class(x, C, name ...): None, or the tuple of these attributes of x; "" stands for x itself. */
bool rule_func_match_class(Typing *t) {
    const InferHost *host = t->in->host;
    ClassAnswer answer = host->is_instance(host->self, infer_content(t->args[0].type), t->args[1].type);
    if (answer == CLASS_NOT_ONE) return typing_fail_arg(t, 1, DIAG_TYPING, "%s is no class", typing_arg_text(t, 1));
    if (answer == CLASS_UNKNOWN) return not_known(t);
    if (answer == CLASS_NO) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    if (t->args[0].type->kind == TY_OPTIONAL) return not_known(t);
    Items items = typing_items_new(t->in, t->nargs - 2);
    for (size_t i = 2; i < t->nargs; i++) {
        const char *name = t->args[i].konst->text;
        size_t at = items.count++;
        items.facts[at] = t->args[0];
        items.values[at] = t->values[0];
        if (!*name) continue;
        TRY(typing_sub(t, &(SubOp){.op = OP_GETATTR, .values = t->values, .facts = t->args, .nargs = 1, .text = name},
                       &items.facts[at], &items.values[at]));
    }
    return typing_become_tuple(t, items.facts, items.values, items.count);
}
