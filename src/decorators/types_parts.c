/* types_parts.c: attributes and methods that one class of types has, and no other: Array.copy, len() of a Tuple. */
#include "decorators/types.h"

#include <string.h> /* strchr, strlen */

static const Type *own_type(PyObject *self) { return ((TypeObject *)self)->type; }

/* ---- Array ---- */

/* The type with some of its parts others. */
static PyObject *array_copy(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"dtype", "ndim", "layout", "readonly", NULL};
    const Type *type = own_type(self);
    PyObject *given[4] = {NULL, NULL, NULL, NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:copy", keywords, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    PyObject *own[4] = {PyObject_GetAttrString(self, "dtype"), PyLong_FromLong(type->ndim),
                        PyUnicode_FromStringAndSize(&"CFA"[type->layout], 1), PyBool_FromLong(type->readonly)};
    PyObject *parts = PyTuple_New(4), *copy = NULL;
    for (Py_ssize_t i = 0; parts && i < 4; i++) {
        PyObject *part = given[i] && given[i] != Py_None ? given[i] : own[i];
        if (!part) Py_CLEAR(parts);
        if (parts) PyTuple_SET_ITEM(parts, i, Py_NewRef(part));
    }
    if (parts) copy = PyObject_CallObject((PyObject *)Py_TYPE(self), parts);
    Py_XDECREF(parts);
    for (size_t i = 0; i < COUNT_OF(own); i++) Py_XDECREF(own[i]);
    return copy;
}

/* Whether arrays lie as the order that the closure names says. */
static PyObject *array_lies(PyObject *self, void *closure) {
    const Type *type = own_type(self);
    bool either = type->ndim <= 1 && type->layout != LAYOUT_A;
    return PyBool_FromLong(either || strchr(closure, "CFA"[type->layout]));
}

static PyMethodDef array_methods[] = {
    {"copy", WITH_KEYWORDS(array_copy), METH_VARARGS | METH_KEYWORDS,
     "copy($self, dtype=None, ndim=None, layout=None, readonly=None)\n--\n\nThe array type with these parts instead of "
     "its own."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_getset[] = {
    {"is_contig", array_lies, NULL, "whether arrays of the type lie without gaps", "CF"},
    {"is_c_contig", array_lies, NULL, "whether they do in C order", "C"},
    {"is_f_contig", array_lies, NULL, "whether they do in Fortran order", "F"},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- Tuple ---- */

static Py_ssize_t tuple_length(PyObject *self) { return (Py_ssize_t)own_type(self)->count; }

static PyObject *tuple_item(PyObject *self, Py_ssize_t at) {
    const Type *type = own_type(self);
    if (at >= 0 && at < (Py_ssize_t)type->count) return type_to_object(module_state_of(self), type->items[at]);
    return PyErr_Format(PyExc_IndexError, "%R has %u items", self, type->count);
}

static PyObject *tuple_subscript(PyObject *self, PyObject *key) {
    Py_ssize_t at = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred()) return NULL;
    return tuple_item(self, at < 0 ? at + tuple_length(self) : at);
}

static PyObject *tuple_iterate(PyObject *self) {
    PyObject *types = PyObject_GetAttrString(self, "types"), *iterator = types ? PyObject_GetIter(types) : NULL;
    Py_XDECREF(types);
    return iterator;
}

/* ---- numbers ---- */

static PyObject *number_cast(PyObject *self, PyObject *value) { return PyObject_CallOneArg(self, value); }

static PyMethodDef number_methods[] = {
    {"cast_python_value", number_cast, METH_O,
     "cast_python_value($self, value, /)\n--\n\nThe value as the type has it, as a call of the type gives it."},
    {NULL, NULL, 0, NULL},
};

static PyObject *complex_underlying(PyObject *self, void *closure) {
    const Type *type = own_type(self);
    Scalar part = type->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64;
    (void)closure;
    return type_to_object(module_state_of(self), type_scalar(module_state_of(self)->session.types, part, false));
}

static PyGetSetDef complex_getset[] = {
    {"underlying_float", complex_underlying, NULL, "the type of its two parts", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- containers, classes ---- */

static PyObject *first_item(PyObject *self, void *closure) {
    (void)closure;
    return type_to_object(module_state_of(self), own_type(self)->items[0]);
}

static PyGetSetDef list_getset[] = {
    {"item_type", first_item, NULL, "the type of its items", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef dtype_getset[] = {
    {"dtype", first_item, NULL, "the type of items of that dtype", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef class_getset[] = {
    {"instance_type", first_item, NULL, "the type of what the class makes", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *make_c_struct(PyObject *class, PyObject *fields) { return PyObject_CallOneArg(class, fields); }

static PyMethodDef record_methods[] = {
    {"make_c_struct", make_c_struct, METH_O | METH_CLASS,
     "make_c_struct($type, fields, /)\n--\n\nRecord(fields): laid out as C lays out a structure of these fields."},
    {NULL, NULL, 0, NULL},
};

static const struct {
    TypeClass class;
    PyType_Slot slots[TYPES_MAX_OWN_SLOTS];
} parts[] = {
    {TYPE_CLASS_ARRAY, {{Py_tp_methods, array_methods}, {Py_tp_getset, array_getset}}},
    {TYPE_CLASS_TUPLE,
     {{Py_sq_length, tuple_length},
      {Py_sq_item, tuple_item},
      {Py_mp_subscript, tuple_subscript},
      {Py_tp_iter, tuple_iterate}}},
    {TYPE_CLASS_NUMBER, {{Py_tp_methods, number_methods}}},
    {TYPE_CLASS_COMPLEX, {{Py_tp_getset, complex_getset}}},
    {TYPE_CLASS_LIST, {{Py_tp_getset, list_getset}}},
    {TYPE_CLASS_DTYPE, {{Py_tp_getset, dtype_getset}}},
    {TYPE_CLASS_NUMBER_CLASS, {{Py_tp_getset, class_getset}}},
    {TYPE_CLASS_RECORD, {{Py_tp_methods, record_methods}}},
};

void types_own_slots(TypeClass class, PyType_Slot *slots) {
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (size_t k = 0; parts[i].class == class && k < TYPES_MAX_OWN_SLOTS && parts[i].slots[k].slot; k++)
            *slots++ = parts[i].slots[k];
    *slots = (PyType_Slot){0, NULL};
}
