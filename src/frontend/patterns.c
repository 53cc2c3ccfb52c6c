/* patterns.c: what a match statement asks of its subject, as calls of library functions that inference answers
 * (typeinfer/rules_match.c).
 *
 * In: the subject on the stack.  Out: calls of is_sequence, isinstance, len, match_class and, for the keys of dicts, of
 * Python of the prelude.  Which attribute a positional pattern means stands in the class (__match_args__), so that the
 * class must be a constant here; the names go into the call. */
#include "frontend/translate.h"

static Value *library_constant(Translator *t, FuncId func) {
    return translate_append_const(t, const_of(t->arena, type_func(t->types, &func_info[func].head)));
}

/* Pushes what the function says of the value on top, which stays. */
static bool ask_top(Translator *t, FuncId func) {
    Value *subject = translate_pop_value(t);
    TRY(subject);
    translate_push_value(t, subject);
    translate_push_value(t, translate_append2(t, OP_CALL, library_constant(t, func), subject));
    return true;
}

bool insn_length(Translator *t) { return ask_top(t, FUNC_LEN); }

bool insn_match_sequence(Translator *t) { return ask_top(t, FUNC_IS_SEQUENCE); }

bool insn_match_mapping(Translator *t) {
    Value *subject = translate_pop_value(t);
    const Const *dict = frontend_constant(t->frontend, (PyObject *)&PyDict_Type, t->source, t->span);
    TRY(subject && dict);
    translate_push_value(t, subject);
    Value *operands[] = {library_constant(t, FUNC_ISINSTANCE), subject, translate_append_const(t, dict)};
    translate_push_value(t, translate_append(t, OP_CALL, operands, COUNT_OF(operands)));
    return true;
}

bool insn_match_keys(Translator *t) {
    Value *keys = translate_pop_value(t), *subject = keys ? translate_pop_value(t) : NULL;
    TRY(subject);
    ObjRef function = frontend_prelude(t->frontend, "tables:match_keys");
    TRY(function);
    translate_push_value(t, subject);
    translate_push_value(t, keys);
    const Const *callee = const_of(t->arena, type_object(t->types, TY_PYFUNC, function));
    Value *operands[] = {translate_append_const(t, callee), subject, keys};
    translate_push_value(t, translate_append(t, OP_CALL, operands, COUNT_OF(operands)));
    return true;
}

static bool too_many(Translator *t, PyObject *class, Py_ssize_t allowed, int given) {
    return diag_fail(t->diag, DIAG_TYPING, t->source, t->span, "%s() accepts %zd positional sub-pattern%s (%d given)",
                     ((PyTypeObject *)class)->tp_name, allowed, allowed == 1 ? "" : "s", given);
}

/* The attribute of each positional pattern, "" for the subject itself. */
static bool positional_names(Translator *t, PyObject *class, const char **names, int count) {
    PyObject *name = frontend_keep(t->frontend, PyUnicode_FromString("__match_args__"));
    PyObject *args = name ? name_attribute(t->frontend, class, name, t->source, t->span) : NULL;
    TRY(!t->diag->failed);
    if (!args) {
        bool itself = ((PyTypeObject *)class)->tp_flags & _Py_TPFLAGS_MATCH_SELF;
        if (count > itself) return too_many(t, class, itself, count);
        names[0] = "";
        return true;
    }
    if (!PyTuple_Check(args)) return translate_refuse(t, t->span, REFUSED_MATCH_CLASS);
    if (count > PyTuple_GET_SIZE(args)) return too_many(t, class, PyTuple_GET_SIZE(args), count);
    for (int i = 0; i < count; i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, i));
        if (!text) return frontend_python_failed(t->frontend, t->source, t->span, "__match_args__ could not be read");
        names[i] = arena_strdup(t->arena, text);
    }
    return true;
}

bool insn_match_class(Translator *t, int positional) {
    Value *named = translate_pop_value(t), *class = named ? translate_pop_value(t) : NULL,
          *subject = class ? translate_pop_value(t) : NULL;
    TRY(subject);
    PyObject *object = class->op == OP_CONST ? frontend_class_meant(t->frontend, class->konst->type) : NULL;
    if (!object || !PyType_Check(object)) return translate_refuse(t, t->span, REFUSED_MATCH_CLASS);
    size_t count = (size_t)positional + named->konst->type->count;
    const char **names = ARENA_ARRAY(t->arena, const char *, count + 1);
    if (positional) TRY(positional_names(t, object, names, positional));
    for (size_t i = (size_t)positional; i < count; i++) names[i] = named->konst->items[i - (size_t)positional]->text;
    Value **operands = ARENA_ARRAY(t->arena, Value *, count + 3);
    operands[0] = library_constant(t, FUNC_MATCH_CLASS);
    operands[1] = subject;
    operands[2] = class;
    for (size_t i = 0; i < count; i++)
        operands[i + 3] = translate_append_const(t, const_str(t->arena, t->types, names[i]));
    translate_push_value(t, translate_append(t, OP_CALL, operands, count + 3));
    return true;
}
