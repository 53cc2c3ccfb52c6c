/* rules_named_attr.c: attributes by a name that is a text: getattr, hasattr and setattr.
 *
 * In: a call with a name that is known when the function is compiled.  Out: what x.name, or x.name = v, becomes. */
#include "typeinfer/rules.h"

static bool attribute_of(Typing *t, const char *name, Fact *fact, Value **value) {
    return typing_sub(t, &(SubOp){.op = OP_GETATTR, .values = t->values, .facts = t->args, .nargs = 1, .text = name},
                      fact, value);
}

static bool has_attribute(Typing *t, const char *name) {
    bool quiet = t->in->quiet, emit = t->emit;
    Fact fact;
    Value *value;
    t->in->quiet = true;
    t->emit = false;
    bool has = attribute_of(t, name, &fact, &value);
    t->in->quiet = quiet;
    t->emit = emit;
    t->failed = false;
    return has;
}

bool rule_func_callable(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    bool class = type->kind == TY_CLASS || type->kind == TY_EXC_CLASS || type->kind == TY_OBJECT;
    bool can = class || type->kind == TY_CLOSURE || type_is_function(type) ||
               typing_member(t, type, "__call__", 0).kind == MEMBER_METHOD;
    if (t->args[0].type->kind == TY_OPTIONAL && can) return typing_bad_operands(t);
    if (type->kind == TY_OBJECT) can = t->in->host->struct_class(t->in->host->self, type->object) != NULL;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, can));
}

bool rule_func_hasattr(Typing *t) {
    const char *name;
    TRY(typing_const_str(t, 1, &name));
    const Type *type = infer_content(t->args[0].type);
    int field = type_is_shared(type) ? type_field(type, name) : -1;
    if (field > 0) return typing_has_attribute(t, type, (unsigned)field);
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, has_attribute(t, name)));
}

bool rule_func_getattr(Typing *t) {
    const char *name;
    Fact fact;
    Value *value;
    TRY(typing_const_str(t, 1, &name));
    const Type *type = infer_content(t->args[0].type);
    if (t->nargs == 3 && type_is_shared(type) && type_field(type, name) > 0)
        return typing_become_prelude(t, "builtin:attribute_or");
    if (t->nargs == 3 && !has_attribute(t, name)) return typing_become_arg(t, 2);
    TRY(attribute_of(t, name, &fact, &value));
    if (fact.type->kind == TY_FUNC || fact.type->kind == TY_PYFUNC) {
        typing_fail(t, DIAG_UNSUPPORTED, "getattr() of a method is not compiled");
        return typing_hint(t, "call it by its name: x.%s(...)", name);
    }
    return fact.konst ? typing_become_const(t, fact.konst) : typing_become(t, value, fact.type);
}

bool rule_func_setattr(Typing *t) {
    Fact facts[2] = {t->args[0], t->args[2]}, done;
    Value *values[2] = {t->values[0], t->values[2]}, *value;
    const char *name;
    TRY(typing_const_str(t, 1, &name));
    SubOp assigns = {.op = OP_SETATTR, .values = values, .facts = facts, .nargs = 2, .text = name};
    TRY(typing_sub(t, &assigns, &done, &value));
    return typing_become_const(t, const_none(t->in->arena, t->in->types));
}
