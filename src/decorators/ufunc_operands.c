/* ufunc_operands.c: what goes into an elementwise launch on a GPU, and what comes out.
 *
 * In: the operands as the caller gave them.  Out: device arrays of the kernel's types, numbers that travel with the
 * launch, places for the results; afterwards the results as the caller gets them: device arrays if any operand was one,
 * else copied back, of the types that signatures say. */
#include "decorators/ufunc_cuda.h"

#include <float.h>  /* FLT_MAX */
#include <math.h>   /* fabs */
#include <string.h> /* memcpy */

/* The elements on the host, as they are when the call's stream has got there. */
static PyObject *fetch(const UfuncCall *call, PyObject *array) {
    if (call->stream && device_synchronise(call->device, call->stream) < 0) return NULL;
    return PyObject_CallMethod(array, "copy_to_host", NULL);
}

/* ---- operands ---- */

/* A device array with the operand's values as the kernel's type. */
PyObject *ufunc_bring_in(UfuncCall *call, PyObject *object, const Type *type) {
    int typenum = marshal_typenum((Scalar)type->scalar);
    PyObject *host = NULL;
    if (ufunc_is_device_array(call->state, object)) {
        DeviceArray *array = (DeviceArray *)object;
        if (type_element_scalar(array->type) == type->scalar) return Py_NewRef(object);
        if (!call->stream) return PyObject_CallMethod(object, "astype", "N", PyArray_DescrFromType(typenum));
        host = fetch(call, object); /* in the order of a stream: by way of the host */
        if (!host) return NULL;
        Py_SETREF(host, PyArray_FROMANY(host, typenum, 0, 0, NPY_ARRAY_ALIGNED | NPY_ARRAY_FORCECAST));
    } else {
        host = PyArray_FROMANY(object, typenum, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    }
    PyObject *device = host ? ufunc_call_module(call->self, "to_device", host, NULL) : NULL;
    Py_XDECREF(host);
    return device;
}

/* A scalar goes over with the launch's parameters.  1: this is one, its bytes are in values; 0: not; -1: exception. */
int ufunc_bring_scalar(UfuncCall *call, int i, PyObject *object, const Type *type) {
    bool scalar = PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) ||
                  PyArray_IsScalar(object, Generic);
    size_t bytes = scalar_info[type->scalar].bytes;
    if (!scalar || bytes > UFUNC_IMMEDIATE_BYTES) return 0;
    call->head.immediate |= 1ull << i;
    if (PyFloat_CheckExact(object) && type->scalar == SCALAR_FLOAT64) {
        memcpy(&call->values[i], &(double){PyFloat_AS_DOUBLE(object)}, sizeof(double));
        return 1;
    }
    if (PyFloat_CheckExact(object) && type->scalar == SCALAR_FLOAT32 && fabs(PyFloat_AS_DOUBLE(object)) <= FLT_MAX) {
        memcpy(&call->values[i], &(float){(float)PyFloat_AS_DOUBLE(object)}, sizeof(float));
        return 1;
    }
    PyObject *array = PyArray_FROMANY(object, marshal_typenum((Scalar)type->scalar), 0, 0,
                                      NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (!array) return -1;
    memcpy(&call->values[i], PyArray_DATA((PyArrayObject *)array), bytes);
    Py_DECREF(array);
    return 1;
}

static PyObject *shape_tuple(const UfuncCall *call) {
    PyObject *shape = PyTuple_New(call->ndim);
    for (int i = 0; shape && i < call->ndim; i++) {
        PyObject *length = PyLong_FromLongLong(call->shape[i]);
        if (length)
            PyTuple_SET_ITEM(shape, i, length);
        else
            Py_CLEAR(shape);
    }
    return shape;
}

/* What the caller gives for a result is never broadcast itself. */
static int check_out_shapes(const UfuncCall *call) {
    for (int i = 0; i < call->nout; i++) {
        PyObject *out = call->out[i];
        if (!ufunc_is_device_array(call->state, out) || ufunc_same_shape(call, (DeviceArray *)out)) continue;
        PyObject *own = PyObject_GetAttrString(out, "shape"), *shape = own ? shape_tuple(call) : NULL;
        if (shape)
            PyErr_Format(PyExc_ValueError,
                         "non-broadcastable output operand with shape %R doesn't match the broadcast shape %R", own,
                         shape);
        Py_XDECREF(shape);
        Py_XDECREF(own);
        return -1;
    }
    return 0;
}

/* Outputs are computed where the caller wants them if they fit, else into new device arrays. */
/* What a signature says that result i is; NULL: what it is computed in. */
static const Type *declared_result(const UfuncCall *call, int i) {
    const Type *types[MAX_OPERANDS];
    int nin, nout;
    const Spec *spec = call->self->core.signatures ? ufunc_choose_signature(call) : NULL;
    return spec && ufunc_types(spec, types, &nin, &nout) ? types[nin + i] : NULL;
}

/* NumPy's rule for `out`, in its words. */
static int check_out_type(const UfuncCall *call, int i) {
    const Type *declared = declared_result(call, i), *type = declared ? declared : call->types[call->nin + i];
    if (!ufunc_is_device_array(call->state, call->out[i])) return 0; /* NumPy asks */
    int to_number = marshal_typenum((Scalar)type_element_scalar(((DeviceArray *)call->out[i])->type));
    PyArray_Descr *from = PyArray_DescrFromType(marshal_typenum((Scalar)type->scalar)),
                  *to = PyArray_DescrFromType(to_number);
    bool can = from && to && PyArray_CanCastTypeTo(from, to, NPY_SAME_KIND_CASTING);
    if (from && to && !can)
        PyErr_Format(PyExc_TypeError, "Cannot cast ufunc '%U' output from %R to %R with casting rule 'same_kind'",
                     ((PyFunctionObject *)call->self->core.function)->func_name, from, to);
    Py_XDECREF(from);
    Py_XDECREF(to);
    return can ? 0 : -1;
}

int ufunc_make_outputs(UfuncCall *call) {
    PyObject *shape = NULL; /* for the first new array */
    int status = check_out_shapes(call);
    for (int i = 0; status == 0 && i < call->nout; i++) {
        const Type *type = call->types[call->nin + i];
        PyObject *out = call->out[i];
        if (ufunc_is_device_array(call->state, out) &&
            type_element_scalar(((DeviceArray *)out)->type) == type->scalar &&
            !ufunc_disturbs_inputs(call, (DeviceArray *)out)) {
            call->operands[call->nin + i] = Py_NewRef(out);
            continue;
        }
        if (check_out_type(call, i) < 0) {
            status = -1;
            break;
        }
        PyObject *dtype = (PyObject *)PyArray_DescrFromType(marshal_typenum((Scalar)type->scalar));
        if (dtype && (shape || (shape = shape_tuple(call))))
            call->operands[call->nin + i] = ufunc_call_module(call->self, "device_array", shape, dtype);
        Py_XDECREF(dtype);
        status = call->operands[call->nin + i] ? 0 : -1;
    }
    Py_XDECREF(shape);
    return status;
}

/* ---- results ---- */

/* Result i as the caller gets it. */
static PyObject *take_result(UfuncCall *call, int i) {
    PyObject *computed = call->operands[call->nin + i], *out = call->out[i];
    if (out == computed) return Py_NewRef(out);
    const Type *declared = declared_result(call, i);
    bool converts = declared && declared->scalar != call->types[call->nin + i]->scalar;
    if (!out && call->any_device && !converts) return Py_NewRef(computed);
    if (ufunc_is_device_array(call->state, out) && !converts) { /* another type, or memory that was still being read */
        PyObject *stream = call->stream_object ? call->stream_object : Py_None;
        PyObject *done = PyObject_CallMethod(out, "copy_to_device", "OO", computed, stream);
        Py_XDECREF(done);
        return done ? Py_NewRef(out) : NULL;
    }
    PyObject *host = fetch(call, computed);
    if (host && converts)
        Py_SETREF(host, PyArray_FROMANY(host, marshal_typenum((Scalar)declared->scalar), 0, 0,
                                        NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST));
    if (!host) return NULL;
    PyObject *result = NULL;
    if (ufunc_is_device_array(call->state, out)) {
        PyObject *done = PyObject_CallMethod(out, "copy_to_device", "O", host);
        if (done) result = Py_NewRef(out);
        Py_XDECREF(done);
    } else if (out) {
        if (PyArray_Check(out) && PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)host) == 0)
            result = Py_NewRef(out);
        else if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "out is a device array or a NumPy array");
    } else if (call->any_device) {
        result = ufunc_call_module(call->self, "to_device", host, NULL);
    } else {
        result = PyArray_Return((PyArrayObject *)Py_NewRef(host));
    }
    Py_DECREF(host);
    return result;
}

PyObject *ufunc_take_results(UfuncCall *call) {
    if (call->nout == 1) return take_result(call, 0);
    PyObject *tuple = PyTuple_New(call->nout);
    for (int i = 0; tuple && i < call->nout; i++) {
        PyObject *item = take_result(call, i);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* On both devices, and also where the call is only recorded; NumPy itself looks at its arrays. */
int ufunc_check_writable(const ModuleState *state, PyObject *out) {
    Py_ssize_t count = !out ? 0 : PyTuple_Check(out) ? PyTuple_GET_SIZE(out) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *array = PyTuple_Check(out) ? PyTuple_GET_ITEM(out, i) : out;
        if (!ufunc_is_device_array(state, array) || !((DeviceArray *)array)->type->readonly) continue;
        PyErr_SetString(PyExc_ValueError, "output array is read-only");
        return -1;
    }
    return 0;
}

int ufunc_read_out(UfuncCall *call, PyObject *out) {
    if (!out || out == Py_None) return 0;
    if (!PyTuple_Check(out) && call->nout == 1) {
        call->out[0] = out;
    } else if (PyTuple_Check(out) && PyTuple_GET_SIZE(out) == call->nout) {
        for (int i = 0; i < call->nout; i++)
            call->out[i] = PyTuple_GET_ITEM(out, i) == Py_None ? NULL : PyTuple_GET_ITEM(out, i);
    } else {
        PyErr_Format(PyExc_ValueError, "out is one array for each of %d results", call->nout);
        return -1;
    }
    for (int i = 0; i < call->nout; i++)
        if (ufunc_is_device_array(call->state, call->out[i])) call->any_device = true;
    return 0;
}
