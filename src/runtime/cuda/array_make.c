/* array_make.c: the functions of krait.cuda that make arrays on new memory. */
#include "runtime/cuda/device_array.h"

#include <string.h> /* memcmp */

PyObject *device_array_to_device(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"obj", "stream", "copy", "to", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    PyObject *source, *stream = NULL, *into = Py_None;
    int copy = 1;
    Device *device;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OpO:to_device", names, &source, &stream, &copy, &into) ||
        !(device = runtime_device(runtime)) || device_array_stream(device, stream, &on) < 0)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(source);
    if (!array) return NULL;
    PyObject *result = NULL;
    const Type *element = geometry_element(runtime, PyArray_DESCR(array), 0);
    if (element && into == Py_None) {
        int64_t strides[NPY_MAXDIMS];
        unsigned ndim = (unsigned)PyArray_NDIM(array);
        if (ndim > TYPE_MAX_NDIM)
            PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
        else {
            strided_pack(ndim, PyArray_DIMS(array), type_size(element),
                         PyArray_IS_F_CONTIGUOUS(array) && !PyArray_IS_C_CONTIGUOUS(array) ? LAYOUT_F : LAYOUT_C,
                         strides);
            result = (PyObject *)device_array_allocate(runtime, device, on, element, ndim, PyArray_DIMS(array),
                                                       strides);
        }
    } else if (element) {
        if (Py_TYPE(into) == runtime->device_array)
            result = Py_NewRef(into);
        else
            PyErr_SetString(PyExc_TypeError, "to_device(): `to` must be a device array");
    }
    if (result && copy) {
        if (!device_array_same_shape((DeviceArray *)result, array)) {
            PyErr_SetString(PyExc_ValueError, "to_device(): `obj` and `to` differ in shape");
            Py_CLEAR(result);
        } else if (device_array_copy_in((DeviceArray *)result, on, (PyObject *)array) < 0) {
            Py_CLEAR(result);
        }
    }
    Py_DECREF(array);
    return result;
}

int device_array_read_shape(PyObject *object, PyArray_Dims *dims) {
    if (!PyArray_IntpConverter(object, dims)) return -1;
    for (int i = 0; i < dims->len; i++)
        if (dims->ptr[i] < 0) {
            PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed");
            return -1;
        }
    if (dims->len > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
        return -1;
    }
    return 0;
}

int device_array_read_order(const char *order, bool *fortran) {
    *fortran = order[0] == 'F' || order[0] == 'f';
    if ((*fortran || order[0] == 'C' || order[0] == 'c') && !order[1]) return 0;
    PyErr_Format(PyExc_ValueError, "order is 'C' or 'F', not '%.20s'", order);
    return -1;
}

PyObject *device_array_empty(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "stream", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    PyObject *shape_object, *dtype_object = NULL, *strides_object = Py_None, *stream = NULL, *result = NULL;
    PyArray_Descr *dtype = NULL;
    PyArray_Dims shape = {NULL, 0}, strides = {NULL, 0};
    const char *order = "C";
    bool fortran;
    StreamUse on;
    Device *device = runtime_device(runtime);
    const Type *element;
    int64_t packed[TYPE_MAX_NDIM + 1];
    if (!device || !PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOsO:device_array", names, &shape_object,
                                                &dtype_object, &strides_object, &order, &stream))
        return NULL;
    if (device_array_stream(device, stream, &on) < 0 || device_array_read_shape(shape_object, &shape) < 0) goto done;
    if (dtype_object ? !PyArray_DescrConverter(dtype_object, &dtype) : !(dtype = PyArray_DescrFromType(NPY_DOUBLE)))
        goto done;
    element = geometry_element(runtime, dtype, 0);
    if (!element || device_array_read_order(order, &fortran) < 0) goto done;
    strided_pack((unsigned)shape.len, shape.ptr, type_size(element), fortran ? LAYOUT_F : LAYOUT_C, packed);
    if (strides_object != Py_None) { /* like Numba: only a permutation of packed strides can be asked for */
        if (!PyArray_IntpConverter(strides_object, &strides)) goto done;
        int64_t other[TYPE_MAX_NDIM + 1];
        strided_pack((unsigned)shape.len, shape.ptr, type_size(element), fortran ? LAYOUT_C : LAYOUT_F, other);
        bool same = strides.len == shape.len && !memcmp(strides.ptr, packed, sizeof(int64_t) * (size_t)shape.len);
        bool swapped = strides.len == shape.len && !memcmp(strides.ptr, other, sizeof(int64_t) * (size_t)shape.len);
        if (!same && !swapped) {
            PyErr_SetString(PyExc_ValueError,
                            "device_array(): strides must be those of a C or a Fortran contiguous array");
            goto done;
        }
        memcpy(packed, strides.ptr, sizeof(int64_t) * (size_t)shape.len);
    }
    result = (PyObject *)device_array_allocate(runtime, device, on, element, (unsigned)shape.len, shape.ptr, packed);
done:
    PyDimMem_FREE(shape.ptr);
    PyDimMem_FREE(strides.ptr);
    Py_XDECREF(dtype);
    return result;
}

PyObject *device_array_empty_like(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    PyObject *like, *stream = NULL;
    Device *device;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device_array_like", names, &like, &stream)) return NULL;
    device = Py_TYPE(like) == runtime->device_array ? ((DeviceArray *)like)->device : runtime_device(runtime);
    if (!device || device_array_stream(device, stream, &on) < 0) return NULL;
    int64_t strides[NPY_MAXDIMS];
    if (Py_TYPE(like) == runtime->device_array) {
        DeviceArray *array = (DeviceArray *)like;
        if (device_array_check_there(array) < 0) return NULL;
        strided_pack_like(array->type->ndim, device_array_shape(array), device_array_item(array),
                          device_array_strides(array), strides);
        return (PyObject *)device_array_allocate(runtime, device, on, device_array_item_type(array), array->type->ndim,
                                                 device_array_shape(array), strides);
    }
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(like);
    const Type *element = array ? geometry_element(runtime, PyArray_DESCR(array), 0) : NULL;
    PyObject *result = NULL;
    if (element && PyArray_NDIM(array) <= TYPE_MAX_NDIM) {
        strided_pack_like((unsigned)PyArray_NDIM(array), PyArray_DIMS(array), type_size(element),
                          PyArray_STRIDES(array), strides);
        result = (PyObject *)device_array_allocate(runtime, runtime_device(runtime), on, element,
                                                   (unsigned)PyArray_NDIM(array), PyArray_DIMS(array), strides);
    } else if (element) {
        PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
    }
    Py_XDECREF(array);
    return result;
}

PyObject *device_array_copy_to_host(PyObject *module, PyObject *args, PyObject *kwargs) {
    Runtime *runtime = RUNTIME_OF(module);
    PyObject *first = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (!first || Py_TYPE(first) != runtime->device_array) {
        PyErr_SetString(PyExc_TypeError, "copy_to_host() takes a device array, then what its method takes");
        return NULL;
    }
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
    PyObject *result = rest ? device_array_method_to_host((DeviceArray *)first, rest, kwargs) : NULL;
    Py_XDECREF(rest);
    return result;
}

Device *device_array_home(Runtime *runtime, Device *current, const void *memory) {
    int ordinal = -1;
    if (runtime->cuda->device_count == 1) return current;
    if (device_check(current, current->ops->home(current, memory, &ordinal), "asking where memory lies") < 0)
        return NULL;
    if (ordinal < 0 || ordinal == current->ordinal || current->shares_memory) return current;
    return cuda_device(runtime->cuda, ordinal);
}
