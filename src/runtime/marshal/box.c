/* box.c: the bytes of a result to a new Python object: column `box` of kinds.def.
 *
 * Weak scalars become Python's, strong ones NumPy's.  An array that came in and that no view was made of is its owner,
 * the object that came in, as `return x` means in the interpreter; any other is a view on it.  An array made in
 * compiled code owns its buffer as one that NumPy made does, and a view on such has an array that does as its base.
 * Each of the result's references to the heap is used up, by an object or, where boxing fails, here. */
#include "runtime/marshal/marshal_private.h"

PyObject *marshal_box_member(const Marshal *marshal, const Type *type, const void *from) {
    PyTypeObject *class = (PyTypeObject *)objects_get(marshal->objects, type->object);
    return class ? frontend_member_at(type, class, *(const int64_t *)from) : marshal_box_never(marshal, type, from);
}

PyObject *marshal_box_scalar(const Marshal *marshal, const Type *type, const void *from) {
    Scalar scalar = (Scalar)type->scalar;
    if (type->object) return marshal_box_member(marshal, type, from);
    if (type->weak) {
        switch (scalar) {
        case SCALAR_INT64: return PyLong_FromLongLong(*(const int64_t *)from);
        case SCALAR_FLOAT64: return PyFloat_FromDouble(*(const double *)from);
        case SCALAR_BOOL: return PyBool_FromLong(*(const uint8_t *)from);
        default: return PyComplex_FromDoubles(((const double *)from)[0], ((const double *)from)[1]);
        }
    }
    if (scalar == SCALAR_BOOL) return Py_NewRef(*(const uint8_t *)from ? PyArrayScalar_True : PyArrayScalar_False);
    PyTypeObject *class = marshal_scalar_type(scalar);
    PyObject *object = class ? class->tp_alloc(class, 0) : NULL;
    if (object) memcpy((char *)object + marshal_scalar_offset(scalar), from, scalar_info[scalar].bytes);
    return object;
}

/* Generated code does not keep the strides that a layout implies. */
static void array_strides(const Type *type, const int64_t *shape, const int64_t *stored, npy_intp *strides) {
    if (type->layout != LAYOUT_A)
        strided_pack(type->ndim, shape, type_size(type_element(type)), (ArrayLayout)type->layout, strides);
    else if (type->ndim)
        memcpy(strides, stored, type->ndim * sizeof *stored);
}

static bool array_is(const Marshal *marshal, PyArrayObject *array, const Type *type, const ArrayHead *head,
                     const int64_t *shape, const npy_intp *strides) {
    if (PyArray_DATA(array) != head->data || PyArray_NDIM(array) != type->ndim ||
        !marshal_element_is(marshal, type_element(type), PyArray_DESCR(array), frontend_addresses((PyObject *)array)))
        return false;
    bool empty = PyArray_SIZE(array) == 0; /* then strides say nothing */
    for (unsigned k = 0; k < type->ndim; k++) {
        if (PyArray_DIM(array, (int)k) != shape[k]) return false;
        if (!empty && shape[k] > 1 && PyArray_STRIDE(array, (int)k) != strides[k]) return false;
    }
    return true;
}

/* A new ndarray at the data; nobody owns these yet. */
static PyObject *describe(const Marshal *marshal, const Type *type, const ArrayHead *head, const npy_intp *strides,
                          PyTypeObject *class) {
    const int64_t *shape = (const int64_t *)(head + 1);
    PyArray_Descr *descr = marshal_descr(marshal, type_element(type));
    if (!descr) return NULL;
    int flags = type->readonly ? NPY_ARRAY_ALIGNED : NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;
    npy_intp dims[TYPE_MAX_NDIM + 1];
    for (unsigned k = 0; k < type->ndim; k++) dims[k] = (npy_intp)shape[k];
    return PyArray_NewFromDescr(class, descr, type->ndim, dims, strides, head->data, flags, NULL);
}

/* Whether its items are numpy.record: nearly all arrays of these are recarrays, which the type does not tell. */
static bool has_record_items(const Type *type) {
    return type_element(type)->kind == TY_STRUCT && type_element(type)->form == STRUCT_RECORD_CLASS;
}

static PyObject *class_of_new(const Type *type) {
    return has_record_items(type) && !type->record ? marshal_numpy_class("recarray")
                                                   : Py_NewRef((PyObject *)&PyArray_Type);
}

static PyObject *box_heap_array(const Marshal *marshal, const Type *type, const ArrayHead *head) {
    const int64_t *shape = (const int64_t *)(head + 1);
    npy_intp strides[TYPE_MAX_NDIM + 1];
    array_strides(type, shape, shape + type->ndim, strides);
    HeapHead *buffer = (HeapHead *)((uintptr_t)head->owner & ~(uintptr_t)OWNER_BITS);
    bool view = (uintptr_t)head->owner & OWNER_VIEW;
    bool whole = !view && head->data == heap_content(buffer) && heap_is_unique(buffer);
    PyObject *class = class_of_new(type), *base = NULL;
    PyObject *array = class ? describe(marshal, type, head, strides, (PyTypeObject *)class) : NULL;
    Py_XDECREF(class);
    if (array && whole) return heap_array_own(marshal, array), array;
    if (array) base = heap_array_of_buffer(marshal, buffer);
    if (!base) heap_release(buffer);
    if (!base || PyArray_SetBaseObject((PyArrayObject *)array, base) < 0) Py_CLEAR(array);
    return array;
}

/* Of memory that an object of Python's keeps; NULL: nobody does. */
static PyObject *box_outside_array(const Marshal *marshal, const Type *type, const ArrayHead *head, PyObject *owner) {
    const int64_t *shape = (const int64_t *)(head + 1);
    bool view = (uintptr_t)head->owner & OWNER_VIEW;
    npy_intp strides[TYPE_MAX_NDIM + 1];
    array_strides(type, shape, shape + type->ndim, strides);
    if (owner && !view && PyArray_Check(owner) && array_is(marshal, (PyArrayObject *)owner, type, head, shape, strides))
        return Py_NewRef(owner);
    if (owner && !view && marshal->device_array && PyObject_TypeCheck(owner, marshal->device_array) &&
        ((DeviceArray *)owner)->head.data == head->data && ((DeviceArray *)owner)->type == type)
        return Py_NewRef(owner);

    bool records = owner && PyArray_Check(owner) && !PyArray_CheckExact(owner) && has_record_items(type);
    PyObject *array = describe(marshal, type, head, strides, records ? Py_TYPE(owner) : &PyArray_Type);
    if (!array) return NULL;
    if (!owner) { /* nobody keeps the memory alive for us: the result is a copy */
        PyObject *copy = PyArray_NewCopy((PyArrayObject *)array, NPY_KEEPORDER);
        Py_DECREF(array);
        return copy;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(owner)) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

static PyObject *box_array(const Marshal *marshal, const Type *type, const void *from) {
    const ArrayHead *head = from;
    void *owner = (void *)((uintptr_t)head->owner & ~(uintptr_t)OWNER_BITS);
    if (!((uintptr_t)head->owner & OWNER_HEAP)) return box_outside_array(marshal, type, head, owner);
    HeapHead *buffer = owner;
    if (buffer->kind != HEAP_OUTSIDE) return box_heap_array(marshal, type, head);
    const OutsideBody *outside = heap_content(buffer);
    PyObject *array = box_outside_array(marshal, type, head, outside->object);
    heap_release(buffer);
    return array;
}

/* What came in as it came; else a numpy.void that refers to the memory, or to a copy of it, as an item of an array
 * does. */
static PyObject *box_record(const Marshal *marshal, const Type *type, const void *from) {
    const ArrayHead *head = from;
    PyObject *owner = (PyObject *)((uintptr_t)head->owner & ~(uintptr_t)OWNER_BITS);
    bool own = ((uintptr_t)head->owner & (OWNER_VIEW | OWNER_HEAP)) == 0;
    if (own && owner && marshal_is_record(owner) && ((PyVoidScalarObject *)owner)->obval == head->data)
        return Py_NewRef(owner);
    PyObject *array = box_array(marshal, type, from);
    return array ? PyArray_Return((PyArrayObject *)array) : NULL;
}

PyObject *marshal_box_array(const Marshal *marshal, const Type *type, const void *from) {
    return type->record ? box_record(marshal, type, from) : box_array(marshal, type, from);
}

/* The objects on the heap that a value refers to. */
static void each_owner(const Type *type, const void *from, void (*apply)(HeapHead *)) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++) {
        if (repr->leaves[i].kind != LEAF_OWNER) continue;
        uintptr_t owner;
        memcpy(&owner, (const char *)from + repr->leaves[i].offset, sizeof owner);
        if (owner & OWNER_HEAP) apply((HeapHead *)(owner & ~(uintptr_t)OWNER_BITS));
    }
}

static void drop_object(void *object) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(gil);
}

bool marshal_own_outside(const Type *type, void *at) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++) {
        if (repr->leaves[i].kind != LEAF_OWNER) continue;
        uintptr_t owner;
        memcpy(&owner, (char *)at + repr->leaves[i].offset, sizeof owner);
        if (!owner || owner & OWNER_HEAP) continue;
        HeapHead *head = heap_new(HEAP_OUTSIDE, sizeof(OutsideBody), false);
        if (!head) return PyErr_NoMemory(), false;
        *(OutsideBody *)heap_content(head) = (OutsideBody){Py_NewRef((PyObject *)owner), drop_object};
        owner = (uintptr_t)head | OWNER_HEAP;
        memcpy((char *)at + repr->leaves[i].offset, &owner, sizeof owner);
    }
    return true;
}

void marshal_release(const Type *type, const void *from) { each_owner(type, from, heap_release); }
void marshal_retain(const Type *type, const void *from) { each_owner(type, from, heap_retain); }

/* ---- composites ---- */

/* Its parts as a tuple. */
static PyObject *box_parts(const Marshal *marshal, const Type *type, const void *from) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        const char *at = (const char *)from + type_item_offset(type, i);
        PyObject *item = NULL;
        if (!tuple) {
            marshal_release(type->items[i], at);
            continue;
        }
        if ((item = marshal_box(marshal, type->items[i], at)))
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *as_dict(const Type *keywords, PyObject *tuple) {
    PyObject *dict = tuple ? PyDict_New() : NULL;
    for (uint32_t i = 0; dict && i < keywords->count; i++)
        if (PyDict_SetItemString(dict, type_keyword(keywords, i), PyTuple_GET_ITEM(tuple, i)) < 0) Py_CLEAR(dict);
    Py_XDECREF(tuple);
    return dict;
}

/* The class that x.method is kept as; borrowed, NULL: no such value has been made. */
static PyObject *method_class(void) {
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "krait.prelude.partials");
    return module && PyModule_Check(module) ? PyDict_GetItemString(PyModule_GetDict(module), "Method") : NULL;
}

static PyObject *as_method(PyObject *pair) {
    PyObject *method = PyMethod_New(PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
    Py_DECREF(pair);
    return method;
}

PyObject *marshal_as_class(const Marshal *marshal, const Type *type, PyObject *tuple) {
    if (type_is_keywords(type)) return as_dict(type, tuple);
    PyObject *class = type->object ? objects_get(marshal->objects, type->object) : NULL;
    bool callable = class && tuple && type->count == 2 && PyCallable_Check(PyTuple_GET_ITEM(tuple, 0));
    if (callable && class == method_class()) return as_method(tuple);
    if (class == (PyObject *)&PyBytes_Type) { /* a kernel's: its numbers */
        if (tuple) Py_SETREF(tuple, PyBytes_FromObject(tuple));
        return tuple;
    }
    PyObject *args = class && tuple ? PyTuple_Pack(1, tuple) : NULL;
    if (class && tuple) Py_SETREF(tuple, args ? PyTuple_Type.tp_new((PyTypeObject *)class, args, NULL) : NULL);
    Py_XDECREF(args);
    return tuple;
}

PyObject *marshal_box_tuple(const Marshal *marshal, const Type *type, const void *from) {
    return marshal_as_class(marshal, type, box_parts(marshal, type, from));
}

PyObject *marshal_box_slice(const Marshal *marshal, const Type *type, const void *from) {
    PyObject *parts = box_parts(marshal, type, from), *slice = NULL;
    if (parts) slice = PySlice_New(PyTuple_GET_ITEM(parts, 0), PyTuple_GET_ITEM(parts, 1), PyTuple_GET_ITEM(parts, 2));
    Py_XDECREF(parts);
    return slice;
}

PyObject *marshal_box_optional(const Marshal *marshal, const Type *type, const void *from) {
    if (!((const uint8_t *)from)[type_item_offset(type, 1)]) Py_RETURN_NONE;
    return marshal_box(marshal, type->items[0], from);
}

PyObject *marshal_box_range(const Marshal *marshal, const Type *type, const void *from) {
    const int64_t *parts = from;
    (void)marshal, (void)type;
    return PyObject_CallFunction((PyObject *)&PyRange_Type, "LLL", (long long)parts[0], (long long)parts[1],
                                 (long long)parts[2]);
}

/* A new instance with these attributes; its __init__ has run in compiled code, or does nothing else. */
static PyObject *box_instance(const Marshal *marshal, const Type *type, const void *from) {
    PyTypeObject *class = (PyTypeObject *)objects_get(marshal->objects, type->object);
    PyObject *values = box_parts(marshal, type, from), *empty = values && class ? PyTuple_New(0) : NULL;
    PyObject *object = empty ? class->tp_new(class, empty, NULL) : NULL;
    for (uint32_t i = 0; object && i < type->count; i++) {
        PyObject *name = PyUnicode_InternFromString(type->names[i]);
        if (!name || PyObject_GenericSetAttr(object, name, PyTuple_GET_ITEM(values, i)) < 0) Py_CLEAR(object);
        Py_XDECREF(name);
    }
    Py_XDECREF(empty);
    Py_XDECREF(values);
    return object;
}

/* What lies in memory as an item of an array of its dtype does: a small vector, a date, a text. */
PyObject *marshal_box_item(const Marshal *marshal, const Type *type, const void *from) {
    PyArray_Descr *descr = marshal_descr(marshal, type);
    PyObject *object = descr ? PyArray_Scalar((void *)from, descr, NULL) : NULL;
    Py_XDECREF(descr);
    return object;
}

PyObject *marshal_box_struct(const Marshal *marshal, const Type *type, const void *from) {
    if (type_is_shared(type)) return marshal_box_instance(marshal, type, from);
    return (type->form == STRUCT_INSTANCE ? box_instance : marshal_box_item)(marshal, type, from);
}

/* ---- what has no bytes ---- */

PyObject *marshal_box_none(const Marshal *marshal, const Type *type, const void *from) {
    (void)marshal, (void)type, (void)from;
    Py_RETURN_NONE;
}

PyObject *marshal_box_ellipsis(const Marshal *marshal, const Type *type, const void *from) {
    return (void)marshal, (void)type, (void)from, Py_NewRef(Py_Ellipsis);
}

PyObject *marshal_box_dtype(const Marshal *marshal, const Type *type, const void *from) {
    return (void)from, (PyObject *)marshal_descr(marshal, type->items[0]);
}

/* A type of krait.types; else the class of a scalar. */
PyObject *marshal_box_class(const Marshal *marshal, const Type *type, const void *from) {
    const Type *scalar = type->items[0];
    PyObject *ours = objects_get(marshal->objects, type->object);
    (void)from;
    if (ours) return Py_NewRef(ours);
    if (!scalar->weak) return Py_XNewRef((PyObject *)marshal_scalar_type((Scalar)scalar->scalar));
    PyTypeObject *const python[] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
    char kind = scalar_info[scalar->scalar].kind;
    return Py_NewRef((PyObject *)python[kind == 'b' ? 0 : kind == 'i' ? 1 : kind == 'f' ? 2 : 3]);
}

/* The function of the library itself. */
PyObject *marshal_box_func(const Marshal *marshal, const Type *type, const void *from) {
    PyObject *object = objects_library_object(marshal->objects, type->func->id);
    return object ? Py_NewRef(object) : marshal_box_never(marshal, type, from);
}

PyObject *marshal_box_choice(const Marshal *marshal, const Type *type, const void *from) {
    int64_t number;
    memcpy(&number, from, sizeof number);
    return marshal_box(marshal, type->items[number], from);
}

PyObject *marshal_box_object(const Marshal *marshal, const Type *type, const void *from) {
    PyObject *object = objects_get(marshal->objects, type->object);
    return object ? Py_NewRef(frontend_original(object)) : marshal_box_never(marshal, type, from);
}
