/* unpack.c: Python values to the bytes of a type: column `take` of kinds.def.  A value has exactly that type, or, for
 * an explicit signature (convert), one that the type's constructor takes.
 *
 * This is the hot path of every call and launch: no allocation, no attribute look-up, only exact class checks.  An
 * array is described, not copied; its owner is the object, borrowed. */
#include "runtime/marshal/marshal_private.h"

int marshal_read_int(PyObject *object, int64_t *value) {
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact((PyLongObject *)object)) {
        *value = PyUnstable_Long_CompactValue((PyLongObject *)object);
        return 0;
    }
#endif
    int overflow = 0;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) {
        PyErr_SetString(PyExc_OverflowError,
                        "Python int too large for compiled code, whose int has 64 bits: pass np.uint64(n) if it is "
                        "below 2**64, or a float, float(n), if that is exact "
                        "enough");
        return -1;
    }
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

bool marshal_is_plain(PyObject *object, PyTypeObject *plain) {
    PyTypeObject *class = Py_TYPE(object);
    return class == plain || (PyType_IsSubtype(class, plain) && !frontend_overrides(class, plain));
}

/* Whether an object has the class that the type says: a member of an enumeration is no int, and the reverse. */
static bool int_fits(const Marshal *marshal, const Type *type, PyObject *object) {
    if (type->object) return objects_get(marshal->objects, type->object) == (PyObject *)Py_TYPE(object);
    return !PyBool_Check(object) && !PyArray_IsScalar(object, Generic) && !frontend_is_enum(Py_TYPE(object)) &&
           marshal_is_plain(object, &PyLong_Type);
}

MarshalResult marshal_take_member(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    (void)convert;
    if (objects_get(marshal->objects, type->object) != (PyObject *)Py_TYPE(object)) return MARSHAL_MISMATCH;
    return frontend_member_number(type, object, to) ? MARSHAL_OK : MARSHAL_MISMATCH;
}

static bool names_fit(const Type *keywords, PyObject *object) {
    PyObject *names = frontend_keyword_names(object);
    bool fit = names && PyTuple_GET_SIZE(names) == (Py_ssize_t)keywords->count;
    for (uint32_t i = 0; fit && i < keywords->count; i++)
        fit = marshal_is_named(keywords, i, PyTuple_GET_ITEM(names, i));
    Py_XDECREF(names);
    return fit;
}

static bool tuple_fits(const Marshal *marshal, const Type *type, PyObject *object) {
    if (type_is_keywords(type)) return names_fit(type, object);
    if (type->object) return objects_get(marshal->objects, type->object) == (PyObject *)Py_TYPE(object);
    return !frontend_is_named_tuple(Py_TYPE(object)) && marshal_is_plain(object, &PyTuple_Type);
}

static MarshalResult unpack_weak(const Marshal *marshal, const Type *type, PyObject *object, void *to) {
    switch ((Scalar)type->scalar) {
    case SCALAR_INT64:
        if ((type->object || !PyLong_CheckExact(object)) && (!PyLong_Check(object) || !int_fits(marshal, type, object)))
            return MARSHAL_MISMATCH;
        return marshal_read_int(object, to) < 0 ? MARSHAL_ERROR : MARSHAL_OK;
    case SCALAR_FLOAT64:
        if (!PyFloat_CheckExact(object) &&
            (!marshal_is_plain(object, &PyFloat_Type) || PyArray_IsScalar(object, Generic)))
            return MARSHAL_MISMATCH;
        *(double *)to = PyFloat_AS_DOUBLE(object);
        return MARSHAL_OK;
    case SCALAR_BOOL:
        if (!PyBool_Check(object)) return MARSHAL_MISMATCH;
        *(uint8_t *)to = object == Py_True;
        return MARSHAL_OK;
    case SCALAR_COMPLEX128: {
        if (!PyComplex_CheckExact(object) &&
            (!marshal_is_plain(object, &PyComplex_Type) || PyArray_IsScalar(object, Generic)))
            return MARSHAL_MISMATCH;
        Py_complex value = ((PyComplexObject *)object)->cval;
        memcpy(to, &value, sizeof value);
        return MARSHAL_OK;
    }
    default: return MARSHAL_MISMATCH;
    }
}

static MarshalResult unpack_strong(const Type *type, PyObject *object, void *to) {
    Scalar scalar = (Scalar)type->scalar;
    PyTypeObject *class = Py_TYPE(object);
    if (scalar == SCALAR_BFLOAT16
            ? marshal_scalar_of_class(class) != SCALAR_BFLOAT16
            : class != marshal_scalar_type(scalar) && !(scalar == SCALAR_INT64 && class == &PyLongLongArrType_Type) &&
                  !(scalar == SCALAR_UINT64 && class == &PyULongLongArrType_Type))
        return MARSHAL_MISMATCH;
    memcpy(to, (char *)object + marshal_scalar_offset(scalar), scalar_info[scalar].bytes);
    return MARSHAL_OK;
}

static inline void describe_array(PyArrayObject *array, int ndim, void *to) {
    ArrayHead *head = to;
    int64_t *dims = (int64_t *)(head + 1);
    head->data = PyArray_DATA(array);
    head->owner = array;
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    for (int i = 0; i < ndim; i++) { /* NumPy has no dims to point at where there are none */
        dims[i] = shape[i];
        dims[ndim + i] = strides[i];
    }
}

static MarshalResult unpack_record(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    if (!marshal_is_record(object)) return MARSHAL_MISMATCH;
    PyVoidScalarObject *record = (PyVoidScalarObject *)object;
    bool readonly = !(record->flags & NPY_ARRAY_WRITEABLE);
    if ((readonly != type->readonly && (readonly || !convert)) ||
        !marshal_element_is(marshal, type_element(type), (PyArray_Descr *)record->descr, (uintptr_t)record->obval))
        return MARSHAL_MISMATCH;
    *(ArrayHead *)to = (ArrayHead){record->obval, object};
    return MARSHAL_OK;
}

/* The same, or structs that are the small vectors which a signature declares. */
static bool elements_fit(const Type *type, const DeviceArray *array) {
    const Type *element = type_element(type), *given = type_element(array->type);
    uintptr_t addresses = (uintptr_t)array->head.data;
    if (given == element) return true;
    if (element->kind != TY_STRUCT || element->form != STRUCT_VECTOR || given->kind != TY_STRUCT) return false;
    for (unsigned i = 0; i < type->ndim; i++) addresses |= (uintptr_t)array->dims[type->ndim + i];
    return addresses % element->align == 0 && marshal_is_vector(element, given);
}

static MarshalResult unpack_device_array(const Type *type, DeviceArray *array, void *to, bool convert) {
    const Type *given = array->type;
    if (given != type &&
        !(convert && given->ndim == type->ndim && elements_fit(type, array) &&
          (type->layout == LAYOUT_A || type->layout == given->layout) && (type->readonly || !given->readonly)))
        return MARSHAL_MISMATCH;
    marshal_describe_device_array(array, type->ndim, to);
    return MARSHAL_OK;
}

/* Whether the elements of an array are those that the type says, in memory as it says. */
static inline bool has_elements(const Marshal *marshal, const Type *type, PyArrayObject *array) {
    const Type *element = type_element(type);
    if (!PyArray_ISNOTSWAPPED(array)) return false;
    if (element->kind == TY_SCALAR && element->scalar != SCALAR_BFLOAT16)
        return marshal_scalar_of_typenum(PyArray_TYPE(array)) == element->scalar;
    return marshal_element_is(marshal, element, PyArray_DESCR(array), frontend_addresses((PyObject *)array));
}

static bool is_aligned(PyArrayObject *array) { return (PyArray_FLAGS(array) & NPY_ARRAY_ALIGNED) != 0; }

/* As it is; or for an explicit signature any layout where any is declared, and a writable array where a read-only one
 * is. */
static inline bool array_fits(const Type *type, PyArrayObject *array, bool convert) {
    int flags = PyArray_FLAGS(array);
    bool readonly = !(flags & NPY_ARRAY_WRITEABLE);
    if (!convert)
        return marshal_layout(array) == (ArrayLayout)type->layout && readonly == type->readonly &&
               is_aligned(array) != type->unaligned;
    if (!is_aligned(array) && !type->unaligned) return false;
    if (type->layout == LAYOUT_C && !(flags & NPY_ARRAY_C_CONTIGUOUS)) return false;
    if (type->layout == LAYOUT_F && !(flags & NPY_ARRAY_F_CONTIGUOUS)) return false;
    return type->readonly || !readonly;
}

MarshalResult marshal_take_array(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    if (type->record) return unpack_record(marshal, type, object, to, convert);
    if (Py_IS_TYPE(object, marshal->device_array))
        return marshal->host ? MARSHAL_MISMATCH : unpack_device_array(type, (DeviceArray *)object, to, convert);
    if (!marshal_is_array(object)) return MARSHAL_MISMATCH;
    PyArrayObject *array = (PyArrayObject *)object;
    int ndim = (int)type->ndim;
    if (PyArray_NDIM(array) != ndim || !array_fits(type, array, convert) || !has_elements(marshal, type, array))
        return MARSHAL_MISMATCH;
    describe_array(array, ndim, to);
    return MARSHAL_OK;
}

MarshalResult marshal_take_scalar(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    if (convert) return marshal_convert_number(type, object, to);
    return type->weak ? unpack_weak(marshal, type, object, to) : unpack_strong(type, object, to);
}

/* The function's number among those that the type says; most are the objects that stand for these. */
MarshalResult marshal_take_choice(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    int64_t number = 0;
    (void)convert;
    while (number < type->count && objects_get(marshal->objects, type->items[number]->object) != object) number++;
    if (number == type->count) {
        const Type *function = marshal_typeof(marshal, object);
        if (!function && !PyErr_ExceptionMatches(PyExc_TypeError)) return MARSHAL_ERROR;
        PyErr_Clear();
        for (number = 0; number < type->count && type->items[number] != function;) number++;
    }
    memcpy(to, &number, sizeof number);
    if (marshal->origins) marshal->origins->untold = true;
    return number < type->count ? MARSHAL_OK : MARSHAL_MISMATCH;
}

MarshalResult marshal_take_time(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    (void)convert;
    if (!marshal_is_time(object) || marshal_time(marshal, object) != type) return MARSHAL_MISMATCH;
    *(int64_t *)to = ((PyDatetimeScalarObject *)object)->obval;
    return MARSHAL_OK;
}

/* The struct that its bit generator publishes: NumPy's functions draw from it by its address. */
MarshalResult marshal_take_generator(const Marshal *marshal, const Type *type, PyObject *object, void *to,
                                     bool convert) {
    (void)marshal, (void)type, (void)convert;
    if (!marshal_is_generator(object)) return MARSHAL_MISMATCH;
    PyObject *bits = PyObject_GetAttrString(object, "bit_generator");
    PyObject *capsule = bits ? PyObject_GetAttrString(bits, "capsule") : NULL;
    const void *address = capsule ? PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(bits);
    *(int64_t *)to = (int64_t)(intptr_t)address;
    return address ? MARSHAL_OK : MARSHAL_ERROR;
}

/* ---- composites: their parts in turn ---- */

MarshalResult marshal_take_range(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    static const char *const names[3] = {"start", "stop", "step"};
    (void)marshal, (void)convert;
    if (!PyRange_Check(object)) return MARSHAL_MISMATCH;
    for (uint32_t i = 0; i < 3; i++) {
        PyObject *part = PyObject_GetAttrString(object, names[i]);
        int failed = !part || marshal_read_int(part, (int64_t *)((char *)to + type_item_offset(type, i))) < 0;
        Py_XDECREF(part);
        if (failed) return MARSHAL_ERROR;
    }
    return MARSHAL_OK;
}

static MarshalResult take_part(const Marshal *marshal, const Type *type, uint32_t i, PyObject *value, void *to,
                               bool convert) {
    const Type *item = type->items[i];
    return marshal_taker(item)(marshal, item, value, (char *)to + type_item_offset(type, i), convert);
}

MarshalResult marshal_take_tuple(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    MarshalResult result = MARSHAL_OK;
    if (type_is_keywords(type) && PyDict_CheckExact(object))
        return marshal_take_named(marshal, type, object, to, convert);
    if (!PyTuple_Check(object) || (size_t)PyTuple_GET_SIZE(object) != type->count) return MARSHAL_MISMATCH;
    if ((type->object || (!PyTuple_CheckExact(object) && !convert)) && !tuple_fits(marshal, type, object))
        return MARSHAL_MISMATCH;
    for (uint32_t i = 0; result == MARSHAL_OK && i < type->count; i++)
        result = take_part(marshal, type, i, PyTuple_GET_ITEM(object, i), to, convert);
    return result;
}

/* An int where the type has one, None where it has that. */
MarshalResult marshal_take_slice(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    (void)marshal, (void)convert;
    if (!PySlice_Check(object)) return MARSHAL_MISMATCH;
    PySliceObject *slice = (PySliceObject *)object;
    PyObject *parts[] = {slice->start, slice->stop, slice->step};
    for (uint32_t i = 0; i < COUNT_OF(parts); i++) {
        if ((parts[i] == Py_None) != (type->items[i]->kind == TY_NONE)) return MARSHAL_MISMATCH;
        if (parts[i] == Py_None) continue;
        if (!PyIndex_Check(parts[i])) return MARSHAL_MISMATCH;
        PyObject *number = PyNumber_Index(parts[i]);
        bool read = number && marshal_read_int(number, (int64_t *)((char *)to + type_item_offset(type, i))) == 0;
        if (number && !read)
            PyErr_Format(PyExc_OverflowError,
                         "a part of a slice is %S, and has more than 64 bits: give None, which "
                         "means as far as there are items",
                         number);
        Py_XDECREF(number);
        if (!read) return MARSHAL_ERROR;
    }
    return MARSHAL_OK;
}

/* Of an instance: it keeps its attributes alive; a property that makes one up would not. */
MarshalResult marshal_take_struct(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    MarshalResult result = MARSHAL_OK;
    if (type_is_shared(type)) return marshal_take_instance(marshal, type, object, to, convert);
    if (type->form != STRUCT_INSTANCE || objects_get(marshal->objects, type->object) != (PyObject *)Py_TYPE(object))
        return MARSHAL_MISMATCH;
    for (uint32_t i = 0; result == MARSHAL_OK && i < type->count; i++) {
        PyObject *value = PyObject_GetAttrString(object, type->names[i]);
        if (!value) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return MARSHAL_ERROR;
            PyErr_Clear();
            return MARSHAL_MISMATCH;
        }
        bool kept = Py_REFCNT(value) > 1;
        result = kept ? take_part(marshal, type, i, value, to, convert) : MARSHAL_MISMATCH;
        Py_DECREF(value);
    }
    return result;
}

MarshalResult marshal_take_optional(const Marshal *marshal, const Type *type, PyObject *object, void *to,
                                    bool convert) {
    uint8_t *present = (uint8_t *)to + type_item_offset(type, 1);
    *present = object != Py_None;
    if (!*present && marshal->origins) marshal->origins->untold = true;
    return *present ? take_part(marshal, type, 0, object, to, convert) : MARSHAL_OK;
}

/* ---- constants: they have no bytes; only their identity counts, and the type holds it ---- */

MarshalResult marshal_take_constant(const Marshal *marshal, const Type *type, PyObject *object, void *to,
                                    bool convert) {
    (void)to, (void)convert;
    if (type->kind == TY_PYFUNC && objects_get(marshal->objects, type->object) == object) return MARSHAL_OK;
    ObjHold hold = {0}; /* no longer than it takes to look */
    Marshal looking = *marshal;
    looking.hold = &hold;
    const Type *given = marshal_typeof(&looking, object);
    objects_let_go(&hold);
    if (given == type) return MARSHAL_OK;
    PyErr_Clear(); /* a value without a type is just another mismatch here */
    return MARSHAL_MISMATCH;
}

static MarshalResult is(bool fits) { return fits ? MARSHAL_OK : MARSHAL_MISMATCH; }

MarshalResult marshal_take_none(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    return (void)marshal, (void)type, (void)to, (void)convert, is(object == Py_None);
}

MarshalResult marshal_take_ellipsis(const Marshal *marshal, const Type *type, PyObject *object, void *to,
                                    bool convert) {
    return (void)marshal, (void)type, (void)to, (void)convert, is(object == Py_Ellipsis);
}

/* The caller compares the text. */
MarshalResult marshal_take_text(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    return (void)marshal, (void)type, (void)to, (void)convert, is(marshal_is_plain(object, &PyUnicode_Type));
}
