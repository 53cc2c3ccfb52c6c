/* classes.c: which Python class the values of a type belong to.
 *
 * In: a type of compiled code.  Out: the class that `type(x)` gives in the interpreter, and whether `isinstance` holds:
 * Python's own issubclass decides, so that abstract classes (numbers.Integral, numpy.floating), unions (int | float)
 * and the user's own classes are what they are in the interpreter.  The program cannot change the answer later: classes
 * with a `__subclasscheck__` written by the user are asked once, when the function is compiled. */
#include <string.h> /* strlen, strncmp */

#include "frontend/numpy_api.h"

#include "frontend/frontend_private.h"

/* NULL: the package that brings this type to NumPy is not there. */
static PyArray_Descr *descr_of(Scalar scalar) {
    PyArray_Descr *descr = NULL;
    if (scalar != SCALAR_BFLOAT16) return PyArray_DescrFromType(scalar_info[scalar].numpy_char);
    PyObject *package = PyDict_GetItemString(PyImport_GetModuleDict(), "ml_dtypes"); /* borrowed */
    PyObject *class = package ? PyObject_GetAttrString(package, scalar_info[scalar].name) : NULL;
    if (class && !PyArray_DescrConverter(class, &descr)) descr = NULL;
    Py_XDECREF(class);
    PyErr_Clear();
    return descr;
}

static PyObject *class_of_scalar(const Type *type) {
    static PyTypeObject *const pythons[SCALAR_COUNT] = {[SCALAR_BOOL] = &PyBool_Type,
                                                        [SCALAR_INT64] = &PyLong_Type,
                                                        [SCALAR_FLOAT64] = &PyFloat_Type,
                                                        [SCALAR_COMPLEX128] = &PyComplex_Type};
    if (type->weak) return (PyObject *)pythons[type->scalar];
    PyArray_Descr *dtype = descr_of((Scalar)type->scalar);
    PyObject *class = dtype ? (PyObject *)dtype->typeobj : NULL; /* lives as long as NumPy */
    Py_XDECREF(dtype);
    return class;
}

/* A class of a module that is imported, or NULL. */
static PyObject *class_named(Frontend *frontend, const char *module, const char *name) {
    PyObject *found = PyDict_GetItemString(PyImport_GetModuleDict(), module);
    PyObject *class = found ? frontend_keep(frontend, PyObject_GetAttrString(found, name)) : NULL;
    PyErr_Clear();
    return class;
}

static PyObject *class_of_dtype(Frontend *frontend, const Type *item) {
    if (item->kind != TY_SCALAR) return NULL;
    PyArray_Descr *dtype = descr_of((Scalar)item->scalar);
    return dtype ? frontend_keep(frontend, (PyObject *)dtype) ? (PyObject *)Py_TYPE(dtype) : NULL : NULL;
}

static PyObject *class_of_record(Frontend *frontend, const Type *record) {
    if (record->form == STRUCT_RECORD) return (PyObject *)&PyVoidArrType_Type;
    return record->form == STRUCT_RECORD_CLASS ? class_named(frontend, "numpy", "record") : NULL;
}

/* Of the others it depends on what they were made of: a list's may be that of a text. */
static PyObject *class_of_iterator(const Type *iter) {
    switch (iter->iter) {
    case ITER_ZIP: return (PyObject *)&PyZip_Type;
    case ITER_ENUMERATE: return (PyObject *)&PyEnum_Type;
    case ITER_RANGE: return (PyObject *)&PyRangeIter_Type;
    case ITER_GENERATOR: return (PyObject *)&PyGen_Type;
    default: return NULL;
    }
}

PyObject *frontend_class_of(Frontend *frontend, const Type *type) {
    PyObject *object = type->object ? objects_get(frontend->objects, type->object) : NULL;
    switch (type->kind) {
    case TY_NONE: return (PyObject *)Py_TYPE(Py_None);
    case TY_SCALAR: return type->object ? object : class_of_scalar(type);
    case TY_MEMBER: return object;
    case TY_TUPLE:
        if (type_is_keywords(type)) return (PyObject *)&PyDict_Type;
        return type->object ? object : (PyObject *)&PyTuple_Type;
    case TY_VARTUPLE: return (PyObject *)&PyTuple_Type;
    case TY_ARRAY: return type->record ? class_of_record(frontend, type_element(type)) : (PyObject *)&PyArray_Type;
    case TY_STRUCT:
        if (type_is_instance(type)) return object ? frontend_original(object) : NULL;
        return class_of_record(frontend, type);
    case TY_TIME: return (PyObject *)(type->flag ? &PyTimedeltaArrType_Type : &PyDatetimeArrType_Type);
    case TY_CHARS:
        return (PyObject *)(scalar_info[type->scalar].bytes == 4 ? &PyUnicodeArrType_Type : &PyStringArrType_Type);
    case TY_LIST: return (PyObject *)&PyList_Type;
    case TY_ITER: return class_of_iterator(type);
    case TY_GENERATOR: return (PyObject *)&PyGen_Type;
    case TY_RANGE: return (PyObject *)&PyRange_Type;
    case TY_SLICE: return (PyObject *)&PySlice_Type;
    case TY_ELLIPSIS: return (PyObject *)&PyEllipsis_Type;
    case TY_DICT: return (PyObject *)&PyDict_Type;
    case TY_SET: return (PyObject *)&PySet_Type;
    case TY_BYTES: return (PyObject *)&PyBytes_Type;
    case TY_STR:
    case TY_STRING:
    case TY_TEXT: return (PyObject *)&PyUnicode_Type;
    case TY_DTYPE: return class_of_dtype(frontend, type->items[0]);
    case TY_FLAT: return class_named(frontend, "numpy", "flatiter");
    case TY_RANDOM: return class_named(frontend, "numpy.random", "Generator");
    case TY_EXC: return object;
    case TY_CHOICE:
    case TY_CLOSURE: return (PyObject *)&PyFunction_Type;
    case TY_CLASS: return type->object ? NULL : (PyObject *)&PyType_Type;
    case TY_EXC_CLASS:
    case TY_PYFUNC:
    case TY_OBJECT: return object ? (PyObject *)Py_TYPE(object) : NULL;
    default: return NULL;
    }
}

/* What a constant of this type is: a class, a union of classes, or something else that isinstance refuses. */
PyObject *frontend_class_meant(Frontend *frontend, const Type *type) {
    if (type->kind == TY_CLASS && !type->object) return frontend_class_of(frontend, type->items[0]);
    if (type->kind == TY_FUNC) return objects_library_object(frontend->objects, type->func->id);
    bool is_object = type->kind == TY_OBJECT || type->kind == TY_EXC_CLASS;
    PyObject *object = is_object ? objects_get(frontend->objects, type->object) : NULL;
    return object ? frontend_original(object) : NULL;
}

/* What is taken for an int may be of a class that a user derived from int. */
static bool may_be_of_subclass(PyObject *own, PyObject *class) {
    PyTypeObject *const plains[] = {&PyLong_Type,  &PyFloat_Type, &PyComplex_Type, &PyUnicode_Type,
                                    &PyTuple_Type, &PyList_Type,  &PyDict_Type,    &PySet_Type};
    if (!PyType_Check(class) || class == (PyObject *)&PyBool_Type) return false;
    PyTypeObject *meant = (PyTypeObject *)class;
    bool written = (meant->tp_flags & Py_TPFLAGS_HEAPTYPE) && !frontend_is_enum(meant);
    if (!written || frontend_is_named_tuple(meant)) return false;
    for (size_t i = 0; i < COUNT_OF(plains); i++)
        if (own == (PyObject *)plains[i] && PyType_IsSubtype(meant, plains[i])) return true;
    return false;
}

static ClassAnswer derives(Frontend *frontend, PyObject *own, PyObject *class) {
    int is = PyObject_IsSubclass(own, class);
    if (is < 0 && !PyErr_ExceptionMatches(PyExc_TypeError)) { /* of the class's own __subclasscheck__ */
        frontend_python_failed(frontend, NULL, (Span){0}, "asking the class raised an exception");
        return CLASS_NOT_ONE;
    }
    PyErr_Clear();
    return is < 0 ? CLASS_NOT_ONE : is ? CLASS_YES : CLASS_NO;
}

/* No iterator is a list, a tuple, a text, a dict or a number, whatever it was made of. */
static bool is_no_iterator(PyObject *class) {
    const unsigned long holders = Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS |
                                  Py_TPFLAGS_BYTES_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS | Py_TPFLAGS_LONG_SUBCLASS;
    return PyType_Check(class) && (PyType_GetFlags((PyTypeObject *)class) & holders);
}

ClassAnswer frontend_is_instance(Frontend *frontend, const Type *type, const Type *meant) {
    PyObject *class = frontend_class_meant(frontend, meant), *own;
    if (!class) return CLASS_NOT_ONE;
    if (type->kind == TY_ITER && is_no_iterator(class)) return CLASS_NO;
    if (!(own = frontend_class_of(frontend, type))) return CLASS_UNKNOWN;
    ClassAnswer answer = derives(frontend, own, class);
    return answer == CLASS_NO && may_be_of_subclass(own, class) ? CLASS_UNKNOWN : answer;
}

ClassAnswer frontend_is_subclass(Frontend *frontend, const Type *type, const Type *meant) {
    PyObject *own = frontend_class_meant(frontend, type), *class = frontend_class_meant(frontend, meant);
    if (!own || !PyType_Check(own)) return CLASS_UNKNOWN;
    return class ? derives(frontend, own, class) : CLASS_NOT_ONE;
}

bool frontend_is_sequence(Frontend *frontend, const Type *type) {
    PyObject *class = frontend_class_of(frontend, type);
    return class && PyType_HasFeature((PyTypeObject *)class, Py_TPFLAGS_SEQUENCE);
}

const Const *frontend_class_constant(Frontend *frontend, const Type *type) {
    PyObject *class = frontend_class_of(frontend, type);
    return class ? frontend_constant(frontend, class, NULL, (Span){0}) : NULL;
}

/* ---- what they say of themselves ---- */

const char *frontend_own_name(Frontend *frontend, const Type *type, const char *attribute) {
    bool function = type->kind == TY_PYFUNC || type->kind == TY_CLOSURE;
    bool memo = type->kind == TY_OBJECT && strncmp(attribute, "__krait_", strlen("__krait_")) == 0;
    PyObject *object = function || memo ? objects_get(frontend->objects, type->object)
                                        : frontend_class_meant(frontend, type);
    PyObject *name = object ? frontend_keep(frontend, PyObject_GetAttrString(object, attribute)) : NULL;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    return text ? arena_printf(frontend->arena, "%s", text) : NULL;
}

/* NumPy's, or one that @vectorize or @guvectorize made. */
static bool is_ufunc(const Frontend *frontend, PyObject *object) {
    return strcmp(Py_TYPE(object)->tp_name, "numpy.ufunc") == 0 ||
           objects_ufunc(frontend->objects, object, &(UfuncShape){0});
}

const Const *frontend_ufunc_attribute(Frontend *frontend, const Type *type, const char *attribute) {
    static const char *const names[] = {"nin", "nout", "nargs", "ntypes", "identity", "signature", "types"};
    PyObject *object = type->kind == TY_PYFUNC ? objects_get(frontend->objects, type->object)
                                               : frontend_class_meant(frontend, type);
    bool known = false;
    for (size_t i = 0; i < COUNT_OF(names); i++) known |= strcmp(attribute, names[i]) == 0;
    if (!known || !object || !is_ufunc(frontend, object)) return NULL;
    PyObject *value = frontend_keep(frontend, PyObject_GetAttrString(object, attribute));
    if (value && PyList_Check(value)) value = frontend_keep(frontend, PyList_AsTuple(value));
    PyErr_Clear();
    return value ? frontend_constant(frontend, value, NULL, (Span){0}) : NULL;
}
