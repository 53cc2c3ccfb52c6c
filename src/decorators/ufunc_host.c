/* ufunc_host.c: calls of @vectorize(target='cuda') functions on the host device: NumPy's ufunc on views of the device
 * arrays. */
#include "decorators/ufunc_cuda.h"

#include <string.h> /* memcpy */

static PyObject *as_numpy(const ModuleState *state, PyObject *object) {
    if (!ufunc_is_device_array(state, object)) return Py_NewRef(object);
    DeviceArray *array = (DeviceArray *)object;
    npy_intp dims[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < array->type->ndim; i++) {
        dims[i] = (npy_intp)array->dims[i];
        strides[i] = (npy_intp)array->dims[array->type->ndim + i];
    }
    PyArray_Descr *descr = PyArray_DescrFromType(marshal_typenum((Scalar)type_element(array->type)->scalar));
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, array->type->ndim, dims, strides, array->head.data,
                                          NPY_ARRAY_ALIGNED | (array->type->readonly ? 0 : NPY_ARRAY_WRITEABLE), NULL);
    if (view && PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(object)) < 0) Py_CLEAR(view);
    return view;
}

PyObject *ufunc_by_way_of_host(PyObject *ufunc, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *module = PyImport_ImportModule("krait.cuda._ufunc_calls"), *all[2 * MAX_OPERANDS];
    PyObject *function = module ? PyObject_GetAttrString(module, "by_way_of_host") : NULL, *result = NULL;
    Py_ssize_t count = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    if (count > 2 * MAX_OPERANDS - 1)
        PyErr_SetString(PyExc_TypeError, "too many arguments");
    else if (function) {
        all[0] = ufunc;
        memcpy(all + 1, args, (size_t)count * sizeof *all);
        result = PyObject_Vectorcall(function, all, (size_t)nargs + 1, kwnames);
    }
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

/* Several results, at least one of which has to be on the device. */
static PyObject *call_for_several(const UfuncCall *call, PyObject *const *args, PyObject *out) {
    PyObject *all[MAX_OPERANDS + 1], *names = out ? Py_BuildValue("(s)", "out") : NULL;
    if (out && !names) return NULL;
    memcpy(all, args, (size_t)call->nin * sizeof *all);
    all[call->nin] = out;
    PyObject *result = ufunc_by_way_of_host(call->self->ufunc, all, call->nin, names);
    Py_XDECREF(names);
    return result;
}

/* checks: `out` is given, and nothing is computed: types and shapes are looked at. */
static PyObject *call_numpy(UfuncCall *call, PyObject *const *args, PyObject *out, bool checks) {
    Vectorized *self = call->self;
    PyObject *views = PyTuple_New(call->nin), *kwargs = NULL, *out_view = NULL, *result = NULL;
    const Type *types[MAX_OPERANDS];
    bool any_device = ufunc_is_device_array(call->state, out);
    memcpy(types, call->types, sizeof types);
    if (!self->core.signatures && self->core.can_compile && !vectorized_loop(self, types)) goto done;
    if (((PyUFuncObject *)self->ufunc)->nout > 1) {
        result = call_for_several(call, args, out == Py_None ? NULL : out);
        goto done;
    }
    for (int i = 0; views && i < call->nin; i++) {
        any_device |= ufunc_is_device_array(call->state, args[i]);
        PyObject *view = as_numpy(call->state, args[i]);
        if (view)
            PyTuple_SET_ITEM(views, i, view);
        else
            Py_CLEAR(views);
    }
    if (!views) goto done;
    if (out && out != Py_None) {
        out_view = as_numpy(call->state, out);
        if (out_view) kwargs = Py_BuildValue("{sO}", "out", out_view);
        if (kwargs && checks && PyDict_SetItemString(kwargs, "where", Py_False) < 0) Py_CLEAR(kwargs);
        if (!kwargs) goto done;
    }
    result = PyObject_Call(self->ufunc, views, kwargs);
    if (result && ufunc_is_device_array(call->state, out))
        Py_SETREF(result, Py_NewRef(out));
    else if (result && any_device && !PyTuple_Check(result))
        Py_SETREF(result, ufunc_call_module(self, "to_device", result, NULL));
done:
    Py_XDECREF(views);
    Py_XDECREF(kwargs);
    Py_XDECREF(out_view);
    return result;
}

/* Of the call's device arrays: way 0 asks whether they are there (false: one is gone, exception set), 1 holds them
 * where they are, -1 lets them go. */
static bool hold(const UfuncCall *call, PyObject *const *args, PyObject *out, int way) {
    for (int i = 0; i <= call->nin; i++) {
        PyObject *object = i < call->nin ? args[i] : out;
        if (!ufunc_is_device_array(call->state, object)) continue;
        if (way == 0 && device_array_check_there((DeviceArray *)object) < 0) return false;
        if (way > 0) device_array_hold((DeviceArray *)object);
        if (way < 0) device_array_let_go((DeviceArray *)object);
    }
    return true;
}

static PyObject *call_on_host(UfuncCall *call, PyObject *const *args, PyObject *out, bool checks) {
    const Vectorized *self = call->self;
    CapturedHold held;
    if (!hold(call, args, out, 0)) return NULL;
    if (captured_hold_on_host(&held, call->state, self->loops, self->nloops) < 0) return NULL;
    hold(call, args, out, 1);
    PyObject *result = call_numpy(call, args, out, checks);
    hold(call, args, out, -1);
    captured_release(&held, call->state);
    return result;
}

/* In a block of cuda.graph(): the call with its result's place is a step.  It is made once where there is no such place
 * yet, for that to come to be; else it is checked. */
static PyObject *record(UfuncCall *call, PyObject *const *args, Py_ssize_t nargs, PyObject *out) {
    PyObject *all[MAX_OPERANDS + 1], *result = NULL;
    Capture *capture = runtime_capture;
    if (out && PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1) out = PyTuple_GET_ITEM(out, 0);
    runtime_capture = NULL;
    if (!out || !PyTuple_Check(out)) result = call_on_host(call, args, out, out && out != Py_None);
    runtime_capture = capture;
    if (!result && PyErr_Occurred()) return NULL;
    if (!result || !ufunc_is_device_array(call->state, result)) {
        PyErr_SetString(PyExc_RuntimeError, "a call whose result is no device array cannot be recorded in a graph");
        Py_CLEAR(result);
    }
    if (!result) return NULL;
    memcpy(all, args, (size_t)nargs * sizeof *all);
    all[nargs] = result;
    for (Py_ssize_t i = 0; i <= nargs; i++) {
        if (!ufunc_is_device_array(call->state, all[i])) continue;
        if (device_array_check_there((DeviceArray *)all[i]) < 0 || graph_keep_array((DeviceArray *)all[i]) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    if (graph_add_call((PyObject *)call->self, all, nargs + 1) < 0) Py_CLEAR(result);
    return result;
}

PyObject *ufunc_call_on_host(UfuncCall *call, PyObject *const *args, Py_ssize_t nargs, PyObject *out) {
    return graph_recording() ? record(call, args, nargs, out) : call_on_host(call, args, out, false);
}
