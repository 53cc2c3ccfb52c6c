/* made_ahead.c: calls that are made when the function is compiled: stencil in compiled code, called or as a decorator.
 *
 * In: a call of a Python function that is marked with constants and functions of its own text.  Out: what the call
 * gives, a constant as a global variable's value is one.
 *
 * The mark, _made_ahead, is a dict: the names of keywords whose values, or parts of these if they are tuples, may be
 * known only when the function runs, each with the class whose instance, made of a number, is given in their place.
 * What is made says in _later which of these numbers it needs: it becomes a functools.partial of it, with the values
 * as the keywords _later0, _later1, ... */
#include "frontend/objects.h"
#include "frontend/translate.h"

/* The mark of a function, borrowed; *function: that. */
static PyObject *mark_of(const Translator *t, const Value *callee, PyObject **function) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    *function = type && type->kind == TY_PYFUNC ? objects_get(t->frontend->objects, type->object) : NULL;
    if (!*function || !PyFunction_Check(*function)) return NULL;
    PyObject *dict = ((PyFunctionObject *)*function)->func_dict;
    PyObject *mark = dict ? PyDict_GetItemString(dict, "_made_ahead") : NULL;
    return mark && PyDict_Check(mark) ? mark : NULL;
}

bool translate_is_made_ahead(const Translator *t, const Value *callee) {
    PyObject *function;
    return mark_of(t, callee, &function) != NULL;
}

PyObject *translate_known_object(const Translator *t, const Const *konst) {
    const Type *type = konst->type;
    if (type->kind == TY_PYFUNC) return Py_XNewRef(objects_get(t->frontend->objects, type->object));
    if (type->kind != TY_TUPLE || type->object) return translate_const_object(konst);
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (uint32_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = translate_known_object(t, konst->items[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* A value that is known only when the function runs, by its number. */
static PyObject *later(Translator *t, Value *value, PyObject *class) {
    vec_push(t->arena, &t->later, value);
    return PyObject_CallFunction(class, "n", (Py_ssize_t)t->later.len - 1);
}

/* A new reference; NULL, perhaps without an exception: what is given is known only when the function runs.  class: of
 * what stands for such a value, or NULL. */
static PyObject *object_of(Translator *t, Value *value, PyObject *class) {
    if (value->op == OP_CONST) return translate_known_object(t, value->konst);
    if (value->op == OP_TUPLE && class) {
        PyObject *tuple = PyTuple_New((Py_ssize_t)value->nargs);
        for (uint32_t i = 0; tuple && i < value->nargs; i++) {
            PyObject *item = object_of(t, value->args[i], class);
            if (item)
                PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
            else
                Py_CLEAR(tuple);
        }
        return tuple;
    }
    bool alone = value->op == OP_FUNCTION && value->nargs == 2; /* without variables of the function around it */
    if (alone) return Py_XNewRef(objects_get(t->frontend->objects, value->imm.object));
    return class && value->op != OP_FUNCTION ? later(t, value, class) : NULL;
}

static bool not_known(Translator *t, const Value *value) {
    if (PyErr_Occurred()) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for an argument");
    bool function = value->op == OP_FUNCTION;
    diag_fail(t->frontend->diag, DIAG_UNSUPPORTED, t->source, t->span,
              function ? "the kernel of a stencil made in compiled code takes variables of the function around it"
                       : "what a stencil made in compiled code is made of is known only when the function runs");
    diag_hint(t->frontend->diag,
              function ? "pass them to the stencil as arguments, or make the stencil outside of the function"
                       : "write constants and functions, or make the stencil outside of the function");
    return false;
}

/* functools.partial(what was made, _later0=..., ...) */
static bool push_partial(Translator *t, PyObject *numbers) {
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(numbers);
    PyObject *functools = frontend_keep(t->frontend, PyImport_ImportModule("functools"));
    PyObject *partial = functools ? frontend_keep(t->frontend, PyObject_GetAttrString(functools, "partial")) : NULL;
    if (!partial) return frontend_python_failed(t->frontend, t->source, t->span, "the stencil could not be made");
    Value **args = ARENA_ARRAY(t->arena, Value *, count + 2u);
    const char **names = ARENA_ARRAY(t->arena, const char *, count);
    TRY((args[1] = translate_pop_value(t)) && translate_push_object(t, partial) && (args[0] = translate_pop_value(t)));
    for (uint32_t i = 0; i < count; i++) {
        size_t number = PyLong_AsSize_t(PyTuple_GET_ITEM(numbers, i));
        if (number >= t->later.len) return translate_malformed(t, "a value that is known later is missing");
        names[i] = arena_printf(t->arena, "_later%zu", number);
        args[i + 2] = t->later.data[number];
    }
    Value *call = translate_append(t, OP_CALL, args, count + 2);
    call->imm.names = names;
    call->imm.nnames = count;
    translate_push_value(t, call);
    return true;
}

static bool push_made(Translator *t, PyObject *made) {
    TRY(translate_push_object(t, made));
    PyObject *numbers = frontend_keep(t->frontend, PyObject_GetAttrString(made, "_later"));
    if (!numbers) PyErr_Clear(); /* it is a decorator */
    return !numbers || !PyTuple_Check(numbers) || !PyTuple_GET_SIZE(numbers) || push_partial(t, numbers);
}

bool translate_make_ahead(Translator *t, Value *const *operands, size_t count, const Const *names) {
    size_t nnames = names ? names->type->count : 0, nargs = count - 1 - nnames;
    PyObject *function, *mark = mark_of(t, operands[0], &function);
    PyObject *args = frontend_keep(t->frontend, PyTuple_New((Py_ssize_t)nargs));
    PyObject *keywords = frontend_keep(t->frontend, PyDict_New());
    for (size_t i = 1; args && keywords && i < count; i++) {
        const char *name = i > nargs ? names->items[i - 1 - nargs]->text : NULL;
        PyObject *object = object_of(t, operands[i], name ? PyDict_GetItemString(mark, name) : NULL);
        if (!object) return not_known(t, operands[i]);
        if (!name)
            PyTuple_SET_ITEM(args, (Py_ssize_t)(i - 1), object);
        else if (PyDict_SetItemString(keywords, name, object) < 0)
            keywords = NULL;
        if (name) Py_DECREF(object);
    }
    PyObject *made = args && keywords ? PyObject_Call(function, args, keywords) : NULL;
    if (!frontend_keep(t->frontend, made))
        return frontend_python_failed(t->frontend, t->source, t->span, "the stencil could not be made");
    return push_made(t, made);
}
