/* types_struct.c: types that dtypes stand for, as Python objects: Record, NestedArray, NPDatetime, from_dtype.
 *
 * In: fields as Numba names them, or a dtype.  Out: the one type object.  Fields become a dtype, which NumPy lays out
 * and checks; the type is that of its items. */
#include "decorators/types.h"

#include "decorators/numpy_api.h" /* PyArray_Descr */

/* What a record, or a reference to one, is made of; NULL: it is neither. */
static const Type *record_of(const Type *type) {
    if (type->kind == TY_ARRAY && type->record) type = type_element(type);
    return type_is_record(type) ? type : NULL;
}

const Type *types_of_dtype(ModuleState *state, PyObject *dtype) {
    const Type *type = marshal_element(&state->marshal, (PyArray_Descr *)dtype, 0);
    if (!type && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "dtype %R has no type in compiled code", dtype);
    return type;
}

/* (dtype, shape) for a nested array; a dtype for anything else. */
static PyObject *format_of(ModuleState *state, const Type *type) {
    if (type->kind != TY_NESTED) {
        if (type_can_be_element(type)) return (PyObject *)marshal_descr(&state->marshal, type);
        return PyErr_Format(PyExc_TypeError, "a field of a record cannot be of that type");
    }
    PyObject *element = format_of(state, type->items[0]), *shape = types_extents(type);
    PyObject *format = element && shape ? PyTuple_Pack(2, element, shape) : NULL;
    Py_XDECREF(element);
    Py_XDECREF(shape);
    return format;
}

PyObject *types_extents(const Type *nested) {
    PyObject *shape = PyTuple_New(nested->ndim);
    for (unsigned i = 0; shape && i < nested->ndim; i++) {
        PyObject *extent = PyLong_FromUnsignedLong(nested->places[i]);
        if (!extent) Py_CLEAR(shape);
        if (extent) PyTuple_SET_ITEM(shape, (Py_ssize_t)i, extent);
    }
    return shape;
}

/* ---- Record(fields, size, aligned) ---- */

typedef struct Fields {
    PyObject *names, *formats, *offsets; /* lists; offsets stay empty where none is given */
} Fields;

static bool add_field(ModuleState *state, Fields *fields, PyObject *field) {
    PyObject *name, *what, *offset = NULL;
    if (!PyTuple_Check(field) || !PyArg_ParseTuple(field, "UO", &name, &what)) {
        PyErr_SetString(PyExc_TypeError,
                        "Record(fields): a field is (name, type) or (name, {'type': ..., 'offset': ...})");
        return false;
    }
    if (PyDict_Check(what)) {
        offset = PyDict_GetItemString(what, "offset");
        what = PyDict_GetItemString(what, "type");
    }
    const Type *type = what ? type_from_object(state, what) : NULL;
    if (!what) PyErr_SetString(PyExc_TypeError, "Record(fields): a field needs a type");
    if (type && record_of(type)) type = record_of(type);
    PyObject *format = type ? format_of(state, type) : NULL;
    bool fine = format && PyList_Append(fields->names, name) == 0 && PyList_Append(fields->formats, format) == 0 &&
                (!offset || PyList_Append(fields->offsets, offset) == 0);
    Py_XDECREF(format);
    return fine;
}

static PyObject *dtype_of(const Fields *fields, PyObject *size, bool aligned) {
    PyObject *described = PyDict_New();
    PyArray_Descr *descr = NULL;
    bool placed = PyList_GET_SIZE(fields->offsets) > 0;
    bool fine = described && PyDict_SetItemString(described, "names", fields->names) == 0 &&
                PyDict_SetItemString(described, "formats", fields->formats) == 0 &&
                (!placed || PyDict_SetItemString(described, "offsets", fields->offsets) == 0) &&
                (size == Py_None || PyDict_SetItemString(described, "itemsize", size) == 0);
    if (fine && !(aligned && !placed ? PyArray_DescrAlignConverter : PyArray_DescrConverter)(described, &descr))
        descr = NULL;
    Py_XDECREF(described);
    return (PyObject *)descr;
}

PyObject *types_new_record(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"fields", "size", "aligned", NULL};
    PyObject *list, *size = Py_None, *result = NULL;
    int aligned = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op:Record", keywords, &list, &size, &aligned)) return NULL;
    PyObject *sequence = PySequence_Tuple(list);
    Fields fields = {PyList_New(0), PyList_New(0), PyList_New(0)};
    bool fine = sequence && fields.names && fields.formats && fields.offsets;
    for (Py_ssize_t i = 0; fine && i < PyTuple_GET_SIZE(sequence); i++)
        fine = add_field(state, &fields, PyTuple_GET_ITEM(sequence, i));
    PyObject *dtype = fine ? dtype_of(&fields, size, aligned) : NULL;
    const Type *type = dtype ? types_of_dtype(state, dtype) : NULL;
    if (type) result = type_to_object(state, type);
    Py_XDECREF(dtype);
    Py_XDECREF(sequence);
    Py_XDECREF(fields.names);
    Py_XDECREF(fields.formats);
    Py_XDECREF(fields.offsets);
    return result;
}

/* ---- NestedArray(dtype, shape) ---- */

PyObject *types_new_nested(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"dtype", "shape", NULL};
    PyObject *dtype;
    PyArray_Dims shape = {NULL, 0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO&:NestedArray", keywords, &dtype, PyArray_IntpConverter, &shape))
        return NULL;
    uint32_t extents[TYPE_MAX_NDIM];
    PyObject *result = NULL;
    const Type *element = type_from_object(state, dtype);
    bool fits = element && shape.len > 0 && shape.len <= TYPE_MAX_NDIM && type_can_be_element(element);
    int64_t bytes = fits ? (int64_t)type_size(element) : 0;
    for (int i = 0; fits && i < shape.len; i++) {
        fits = shape.ptr[i] >= 0 && !__builtin_mul_overflow(bytes, shape.ptr[i], &bytes) && bytes <= INT32_MAX;
        extents[i] = (uint32_t)shape.ptr[i];
    }
    if (fits)
        result = type_to_object(state, type_nested(state->session.types, element, (unsigned)shape.len, extents));
    else if (element)
        PyErr_SetString(PyExc_TypeError, "NestedArray(dtype, shape): an element type and extents of at most 2 GB");
    PyDimMem_FREE(shape.ptr);
    return result;
}

/* ---- NPDatetime(unit), NPTimedelta(unit) ---- */

PyObject *types_new_time(ModuleState *state, bool delta, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"unit", NULL};
    const char *unit = "";
    PyArray_Descr *dtype = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|s", keywords, &unit)) return NULL;
    PyObject *text = PyUnicode_FromFormat(*unit ? "%s[%s]" : "%s", delta ? "m8" : "M8", unit);
    if (text && !PyArray_DescrConverter(text, &dtype)) dtype = NULL;
    Py_XDECREF(text);
    const Type *type = dtype ? types_of_dtype(state, (PyObject *)dtype) : NULL;
    Py_XDECREF(dtype);
    return type ? type_to_object(state, type) : NULL;
}

/* ---- CharSeq(count), UnicodeCharSeq(count) ---- */

PyObject *types_new_chars(ModuleState *state, bool wide, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"count", NULL};
    int count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i", keywords, &count)) return NULL;
    if (count < 1 || count > CHARS_MAX_COUNT)
        return PyErr_Format(PyExc_ValueError, "a type of %d characters: 1 to %d are compiled", count, CHARS_MAX_COUNT);
    return type_to_object(state, type_chars(state->session.types, wide, (uint32_t)count));
}

/* ---- what a Record has ---- */

static const Type *own_record(PyObject *self) { return record_of(((TypeObject *)self)->type); }

static const Type *wanted_field(PyObject *self, PyObject *name, uint32_t *place) {
    const Type *record = own_record(self);
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    int field = record && text ? type_field(record, text) : -1;
    if (field >= 0) return *place = record->places[field], record->items[field];
    if (!PyErr_Occurred()) PyErr_Format(PyExc_KeyError, "type %R has no field %R", self, name);
    return NULL;
}

PyObject *types_typeof_field(PyObject *self, PyObject *name) {
    uint32_t place;
    const Type *item = wanted_field(self, name, &place);
    return item ? type_to_object(module_state_of(self), item) : NULL;
}

PyObject *types_offset_of_field(PyObject *self, PyObject *name) {
    uint32_t place;
    return wanted_field(self, name, &place) ? PyLong_FromUnsignedLong(place) : NULL;
}

static PyObject *no_record(PyObject *self, const char *name) {
    return PyErr_Format(PyExc_AttributeError, "type %R has no attribute '%s'", self, name);
}

PyObject *types_get_size(PyObject *self, void *closure) {
    (void)closure;
    return own_record(self) ? PyLong_FromUnsignedLong(own_record(self)->bytes) : no_record(self, "size");
}

PyObject *types_get_aligned(PyObject *self, void *closure) {
    const Type *record = own_record(self);
    (void)closure;
    if (((TypeObject *)self)->type->kind == TY_ARRAY) return PyBool_FromLong(!((TypeObject *)self)->type->unaligned);
    if (!record) return no_record(self, "aligned");
    size_t align = 1;
    for (uint32_t i = 0; i < record->count; i++)
        if (type_align(record->items[i]) > align) align = type_align(record->items[i]);
    return PyBool_FromLong(record->align >= align);
}

PyObject *types_get_members(PyObject *self, void *closure) {
    const Type *record = own_record(self);
    (void)closure;
    if (!record) return no_record(self, "members");
    PyObject *members = PyTuple_New((Py_ssize_t)record->count);
    for (uint32_t i = 0; members && i < record->count; i++) {
        PyObject *item = type_to_object(module_state_of(self), record->items[i]);
        PyObject *member = item ? Py_BuildValue("(sN)", record->names[i], item) : NULL;
        if (!member) Py_CLEAR(members);
        if (member) PyTuple_SET_ITEM(members, (Py_ssize_t)i, member);
    }
    return members;
}

PyObject *types_from_dtype(PyObject *module, PyObject *object) {
    PyArray_Descr *dtype = NULL;
    if (!PyArray_DescrConverter(object, &dtype)) return NULL;
    const Type *type = types_of_dtype(module_state(module), (PyObject *)dtype);
    Py_DECREF(dtype);
    return type ? type_to_object(module_state(module), type) : NULL;
}

/* ---- of deferred types, and of dicts ---- */

/* Nothing has to be known of it. */
PyObject *types_define(PyObject *self, PyObject *type) {
    (void)type;
    if (((TypeObject *)self)->type->kind == TY_BOTTOM) Py_RETURN_NONE;
    return PyErr_Format(PyExc_TypeError, "%R is no deferred type", self);
}

static PyObject *of_dict(PyObject *self, const char *name, const Type *(*part)(const Type *dict)) {
    const Type *type = ((TypeObject *)self)->type;
    if (type->kind == TY_DICT) return type_to_object(module_state_of(self), part(type));
    return PyErr_Format(PyExc_AttributeError, "type %R has no attribute '%s'", self, name);
}

PyObject *types_get_key(PyObject *self, void *closure) { return (void)closure, of_dict(self, "key_type", type_key); }

PyObject *types_get_value(PyObject *self, void *closure) {
    return (void)closure, of_dict(self, "value_type", type_dict_value);
}
