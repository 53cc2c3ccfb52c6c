/* types_derived.c: types as Python's values: which are equal, which name they have; and the classes of types that
 * programs derive.
 *
 * A program that tells Numba of a class of its own derives a class of types.  Its objects are such types here, too:
 * made by the program they stand for whatever comes (TY_BOTTOM), made by _type_as for what an argument has. */
#include "decorators/types.h"

/* The attribute that has the name which a program gave. */
#define GIVEN_NAME "_given_name"

bool types_is_derived(const PyTypeObject *class) { return !((const PyHeapTypeObject *)class)->ht_module; }

PyObject *types_make_derived(ModuleState *state, PyTypeObject *class, const Type *type) {
    PyObject *made = class->tp_alloc(class, 0);
    if (made) ((TypeObject *)made)->type = type ? type : type_simple(state->session.types, TY_BOTTOM);
    return made;
}

/* _type_as(type, class) -> the type as an object of a class that a program derives. */
PyObject *types_as(PyObject *module, PyObject *args) {
    ModuleState *state = module_state(module);
    PyObject *type;
    PyTypeObject *class;
    if (!PyArg_ParseTuple(args, "O!O!:_type_as", state->type_classes[TYPE_CLASS_TYPE], &type, &PyType_Type, &class))
        return NULL;
    if (PyType_IsSubtype(class, state->type_classes[TYPE_CLASS_TYPE]) && types_is_derived(class))
        return types_make_derived(state, class, ((TypeObject *)type)->type);
    return PyErr_Format(PyExc_TypeError, "%R is derived from no type", class);
}

/* Programs name theirs: super().__init__(name="Interval"). */
int types_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *name = kwargs ? PyDict_GetItemString(kwargs, "name") : NULL;
    if (!name && PyTuple_GET_SIZE(args)) name = PyTuple_GET_ITEM(args, 0);
    return name && types_is_derived(Py_TYPE(self)) ? PyObject_SetAttrString(self, GIVEN_NAME, name) : 0;
}

/* NULL: none was given, perhaps with an exception set. */
static PyObject *given_name(PyObject *self) {
    if (!types_is_derived(Py_TYPE(self))) return NULL;
    PyObject *name = PyObject_GetAttrString(self, GIVEN_NAME);
    if (!name && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return name;
}

PyObject *types_get_name(PyObject *self, void *closure) {
    PyObject *name = given_name(self), *text = name ? PyObject_Str(name) : NULL;
    (void)closure;
    Py_XDECREF(name);
    return text || PyErr_Occurred() ? text : type_to_text(((TypeObject *)self)->type);
}

const Type *type_compared(const Type *type) {
    if (type->kind == TY_OPTIONAL) return type_optional(type->table, type_compared(type->items[0]));
    return type->object ? type : type_as_item(type->table, type);
}

/* Of classes that programs derive: of the same class, and of the same name if both were given one.  -1: exception. */
static int derived_equal(PyObject *a, PyObject *b) {
    if (Py_TYPE(a) != Py_TYPE(b)) return 0;
    PyObject *one = given_name(a), *other = one ? given_name(b) : NULL;
    int equal = PyErr_Occurred() ? -1 : one && other ? PyObject_RichCompareBool(one, other, Py_EQ) : 1;
    Py_XDECREF(one);
    Py_XDECREF(other);
    return equal;
}

PyObject *types_compare(PyObject *self, PyObject *other, int op) {
    if ((op != Py_EQ && op != Py_NE) || !type_object_check(module_state_of(self), other)) Py_RETURN_NOTIMPLEMENTED;
    const Type *a = ((TypeObject *)self)->type, *b = ((TypeObject *)other)->type;
    bool derived = types_is_derived(Py_TYPE(self)) || types_is_derived(Py_TYPE(other));
    int equal = derived ? derived_equal(self, other) : a == b || type_compared(a) == type_compared(b);
    return equal < 0 ? NULL : PyBool_FromLong(equal == (op == Py_EQ));
}

Py_hash_t types_hash(PyObject *self) {
    const void *what = types_is_derived(Py_TYPE(self)) ? (const void *)Py_TYPE(self)
                                                       : type_compared(((TypeObject *)self)->type);
    return (Py_hash_t)((uintptr_t)what / 16);
}
