/* made_ahead.c: calls that are made when the function is compiled: stencil in compiled code, called or as a decorator.
 *
 * In: a call of a Python function that is marked (_made_ahead) with constants and functions of its own text.  Out: what
 * the call gives, a constant as a global variable's value is one. */
#include "frontend/objects.h"
#include "frontend/translate.h"

static PyObject *marked(const Translator *t, const Value *callee) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    PyObject *function = type && type->kind == TY_PYFUNC ? objects_get(t->frontend->objects, type->object) : NULL;
    if (!function || !PyFunction_Check(function)) return NULL;
    PyObject *dict = ((PyFunctionObject *)function)->func_dict;
    return dict && PyDict_GetItemString(dict, "_made_ahead") ? function : NULL;
}

bool translate_is_made_ahead(const Translator *t, const Value *callee) { return marked(t, callee) != NULL; }

static PyObject *object_of_const(Translator *t, const Const *konst) {
    const Type *type = konst->type;
    if (type->kind == TY_PYFUNC) return Py_XNewRef(objects_get(t->frontend->objects, type->object));
    if (type->kind != TY_TUPLE || type->object) return translate_const_object(konst);
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (uint32_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = object_of_const(t, konst->items[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* A new reference; NULL, perhaps without an exception: what is given is known only when the function runs. */
static PyObject *object_of(Translator *t, const Value *value) {
    if (value->op == OP_CONST) return object_of_const(t, value->konst);
    bool alone = value->op == OP_FUNCTION && value->nargs == 2; /* without variables of the function around it */
    return alone ? Py_XNewRef(objects_get(t->frontend->objects, value->imm.object)) : NULL;
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

bool translate_make_ahead(Translator *t, Value *const *operands, size_t count, const Const *names) {
    size_t nnames = names ? names->type->count : 0, nargs = count - 1 - nnames;
    PyObject *args = frontend_keep(t->frontend, PyTuple_New((Py_ssize_t)nargs));
    PyObject *keywords = frontend_keep(t->frontend, PyDict_New());
    for (size_t i = 1; args && keywords && i < count; i++) {
        PyObject *object = object_of(t, operands[i]);
        if (!object) return not_known(t, operands[i]);
        if (i <= nargs)
            PyTuple_SET_ITEM(args, (Py_ssize_t)(i - 1), object);
        else if (PyDict_SetItemString(keywords, names->items[i - 1 - nargs]->text, object) < 0)
            keywords = NULL;
        if (i > nargs) Py_DECREF(object);
    }
    PyObject *made = args && keywords ? PyObject_Call(marked(t, operands[0]), args, keywords) : NULL;
    if (!frontend_keep(t->frontend, made))
        return frontend_python_failed(t->frontend, t->source, t->span, "the stencil could not be made");
    return translate_push_object(t, made);
}
