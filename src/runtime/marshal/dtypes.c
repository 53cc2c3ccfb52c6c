/* dtypes.c: elements of arrays and NumPy's dtypes, both ways.
 *
 * A dtype that an argument came with is kept for its type, so that results have it again, titles and metadata included,
 * and so that the next argument with it is known by one comparison; for a type that came from elsewhere one is made. */
#include "runtime/marshal/marshal_private.h"

static PyArray_Descr *find_descr(const Marshal *marshal, const Type *type) {
    PyObject *key = PyLong_FromVoidPtr((void *)type);
    PyObject *descr = key ? PyDict_GetItemWithError(marshal->dtypes, key) : NULL;
    Py_XDECREF(key);
    return (PyArray_Descr *)descr;
}

static bool keep_descr(const Marshal *marshal, const Type *type, PyObject *descr) {
    PyObject *key = PyLong_FromVoidPtr((void *)type);
    bool kept = key && PyDict_SetItem(marshal->dtypes, key, descr) == 0;
    Py_XDECREF(key);
    return kept;
}

/* ---- from a type ---- */

/* (dtype, (2, 3)) of a nested array; the dtype of anything else. */
static PyObject *make_format(const Marshal *marshal, const Type *item) {
    if (item->kind != TY_NESTED) return (PyObject *)marshal_descr(marshal, item);
    PyObject *element = (PyObject *)marshal_descr(marshal, item->items[0]), *shape = PyTuple_New(item->ndim);
    for (unsigned i = 0; shape && i < item->ndim; i++) {
        PyObject *extent = PyLong_FromUnsignedLong(item->places[i]);
        if (!extent) Py_CLEAR(shape);
        if (extent) PyTuple_SET_ITEM(shape, (Py_ssize_t)i, extent);
    }
    PyObject *format = element && shape ? PyTuple_Pack(2, element, shape) : NULL;
    Py_XDECREF(element);
    Py_XDECREF(shape);
    return format;
}

static PyObject *describe_struct(const Marshal *marshal, const Type *type) {
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0), *made = NULL;
    bool fine = names && formats && offsets;
    for (uint32_t i = 0; fine && i < type->count; i++) {
        PyObject *name = PyUnicode_FromString(type->names[i]), *format = make_format(marshal, type->items[i]);
        PyObject *offset = PyLong_FromUnsignedLong(type->places[i]);
        fine = name && format && offset && PyList_Append(names, name) == 0 && PyList_Append(formats, format) == 0 &&
               PyList_Append(offsets, offset) == 0;
        Py_XDECREF(name);
        Py_XDECREF(format);
        Py_XDECREF(offset);
    }
    if (fine)
        made = Py_BuildValue("{s:O,s:O,s:O,s:I}", "names", names, "formats", formats, "offsets", offsets, "itemsize",
                             (unsigned)type->bytes);
    Py_XDECREF(names);
    Py_XDECREF(formats);
    Py_XDECREF(offsets);
    return made;
}

PyObject *marshal_numpy_class(const char *name) {
    PyObject *numpy = PyImport_ImportModule("numpy"), *class = numpy ? PyObject_GetAttrString(numpy, name) : NULL;
    Py_XDECREF(numpy);
    return class;
}

static PyArray_Descr *make_descr(const Marshal *marshal, const Type *type) {
    PyArray_Descr *plain = NULL, *descr = NULL;
    PyObject *described = describe_struct(marshal, type);
    if (described && !PyArray_DescrConverter(described, &plain)) plain = NULL;
    Py_XDECREF(described);
    if (!plain || type->form != STRUCT_RECORD_CLASS) return plain;
    PyObject *class = marshal_numpy_class("record"), *pair = class ? PyTuple_Pack(2, class, (PyObject *)plain) : NULL;
    if (pair && !PyArray_DescrConverter(pair, &descr)) descr = NULL;
    Py_XDECREF(class);
    Py_XDECREF(pair);
    Py_DECREF(plain);
    return descr;
}

static PyArray_Descr *describe_chars(const Type *type) {
    PyArray_Descr *descr = PyArray_DescrNewFromType(type->flag ? NPY_UNICODE : NPY_STRING);
    if (descr) PyDataType_SET_ELSIZE(descr, (npy_intp)type_size(type));
    return descr;
}

static PyArray_Descr *describe_time(const Type *type) {
    const char *unit = time_unit_name((TimeUnit)type->form), *class = type->flag ? "m8" : "M8";
    PyObject *text = *unit ? PyUnicode_FromFormat("%s[%u%s]", class, (unsigned)type->bytes, unit)
                           : PyUnicode_FromString(class);
    PyArray_Descr *descr = NULL;
    if (text && !PyArray_DescrConverter(text, &descr)) descr = NULL;
    Py_XDECREF(text);
    return descr;
}

PyArray_Descr *marshal_descr(const Marshal *marshal, const Type *element) {
    if (element->kind == TY_SCALAR) return marshal_scalar_descr((Scalar)element->scalar);
    if (element->kind == TY_TIME) return describe_time(element);
    if (element->kind == TY_CHARS) return describe_chars(element);
    PyArray_Descr *descr = find_descr(marshal, element);
    if (descr || PyErr_Occurred()) return (PyArray_Descr *)Py_XNewRef((PyObject *)descr);
    descr = make_descr(marshal, element);
    if (descr && !keep_descr(marshal, element, (PyObject *)descr)) Py_CLEAR(descr);
    return descr;
}

/* ---- from a dtype ---- */

const Type *marshal_element(const Marshal *marshal, PyArray_Descr *descr, uintptr_t addresses) {
    const Type *type = frontend_element_type(marshal->types, (PyObject *)descr, addresses);
    if (!type || type->kind != TY_STRUCT) return type;
    return find_descr(marshal, type) || keep_descr(marshal, type, (PyObject *)descr) ? type : NULL;
}

/* Whether items of this struct are such vectors: the same numbers in the same places, at least as well aligned. */
bool marshal_is_vector(const Type *vector, const Type *given) {
    bool same = given->count == vector->count && given->bytes == vector->bytes;
    for (uint32_t i = 0; same && i < vector->count; i++)
        same = given->items[i] == vector->items[i] && given->places[i] == vector->places[i];
    return same;
}

bool marshal_element_is(const Marshal *marshal, const Type *element, PyArray_Descr *descr, uintptr_t addresses) {
    bool numbers = element->kind == TY_SCALAR && element->scalar != SCALAR_BFLOAT16;
    if (numbers) return marshal_scalar_of_typenum(descr->type_num) == element->scalar;
    if (element->kind == TY_SCALAR || element->kind == TY_TIME || element->kind == TY_CHARS)
        return frontend_element_type(marshal->types, (PyObject *)descr, 0) == element;
    if (element->kind != TY_STRUCT || descr->type_num != NPY_VOID) return false;
    if (element->align > 1 && addresses % element->align == 0 && find_descr(marshal, element) == descr) return true;
    const Type *given = frontend_element_type(marshal->types, (PyObject *)descr, addresses);
    return given == element || (element->form == STRUCT_VECTOR && addresses % element->align == 0 && given &&
                                given->kind == TY_STRUCT && marshal_is_vector(element, given));
}

const Type *marshal_time(const Marshal *marshal, PyObject *object) {
    const PyArray_DatetimeMetaData *meta = &((PyDatetimeScalarObject *)object)->obmeta;
    bool delta = PyArray_IsScalar(object, Timedelta);
    return type_time(marshal->types, delta, (TimeUnit)meta->base, (uint32_t)meta->num);
}
