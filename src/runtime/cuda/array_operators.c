/* array_operators.c: the operators and computing methods of device arrays, by way of Python modules of krait.cuda,
 * which compile kernels for them (array_methods.def, array_operators.def; _operators.py, _reduction.py). */
#include "runtime/cuda/device_array.h"

/* module.function([bound,] first, ...); a module is imported when it is first needed. */
static PyObject *function_of(const char *module_name, const char *name) {
    PyObject *full = PyUnicode_FromFormat("krait.cuda._%s", module_name);
    PyObject *module = full ? PyImport_Import(full) : NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(full);
    return function;
}

/* Whether an argument, or one in a tuple or a dict of them, is an array of another device. */
static bool any_elsewhere(const Device *home, PyObject *object) {
    bool any = false;
    if (!object) return false;
    if (device_array_is(object)) return ((DeviceArray *)object)->device != home;
    for (Py_ssize_t i = 0; PyTuple_Check(object) && !any && i < PyTuple_GET_SIZE(object); i++)
        any = any_elsewhere(home, PyTuple_GET_ITEM(object, i));
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Check(object) && !any && PyDict_Next(object, &at, &key, &value);)
        any = any_elsewhere(home, value);
    return any;
}

/* With the array's device made the thread's as long: what a function makes lies there.  Arrays of several devices meet
 * on the thread's own, as those of a launch do. */
static PyObject *call_on(const DeviceArray *home, PyObject *function, PyObject *args, PyObject *kwargs) {
    if (device_array_check_there(home) < 0) return NULL;
    if (any_elsewhere(home->device, args) || any_elsewhere(home->device, kwargs))
        return PyObject_Call(function, args, kwargs);
    if (context_push(home->device) < 0) return NULL;
    PyObject *result = PyObject_Call(function, args, kwargs);
    context_pop();
    return result;
}

PyObject *device_array_operate(const DeviceArray *home, const char *module, const char *name, const char *format, ...) {
    va_list list;
    va_start(list, format);
    PyObject *function = function_of(module, name), *args = function ? Py_VaBuildValue(format, list) : NULL;
    va_end(list);
    PyObject *result = args ? call_on(home, function, args, NULL) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(function);
    return result;
}

/* ---- methods ---- */

static PyObject *method(const char *module, const char *name, const char *bound, PyObject *self, PyObject *args,
                        PyObject *kwargs) {
    PyObject *function = function_of(module, name);
    PyObject *front = bound ? Py_BuildValue("(sO)", bound, self) : Py_BuildValue("(O)", self);
    PyObject *all = front ? PySequence_Concat(front, args) : NULL;
    PyObject *result = function && all ? call_on((DeviceArray *)self, function, all, kwargs) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(front);
    Py_XDECREF(function);
    return result;
}

#define ARRAY_METHOD(name, module, function, bound, signature, doc)                           \
    PyObject *device_array_compute_##name(PyObject *self, PyObject *args, PyObject *kwargs) { \
        return method(module, function, bound, self, args, kwargs);                           \
    }
#include "runtime/cuda/array_methods.def"
#undef ARRAY_METHOD

PyObject *device_array_ufunc(PyObject *self, PyObject *args, PyObject *kwargs) {
    return method("operators", "array_ufunc", NULL, self, args, kwargs);
}

static void let_go(PyObject *capsule) {
    DeviceArray *array = PyCapsule_GetPointer(capsule, NULL);
    device_array_let_go(array);
    Py_DECREF(array);
}

/* The NumPy array on the same memory where the host reaches it, else None.  As long as it is there, the memory is. */
PyObject *device_array_host_view(DeviceArray *self, PyObject *unused) {
    (void)unused;
    if (!self->device->shares_memory || graph_recording()) Py_RETURN_NONE;
    if (device_array_check_there(self) < 0) return NULL;
    PyObject *hold = PyCapsule_New(self, NULL, let_go), *view = NULL;
    if (!hold) return NULL;
    Py_INCREF(self); /* the capsule's */
    device_array_hold(self);
    view = device_array_numpy_view(self, self->head.data, hold, !self->type->readonly);
    Py_DECREF(hold);
    return view;
}

PyObject *device_array_reduce(DeviceArray *self, PyObject *unused) {
    (void)unused;
    PyObject *maker = function_of("operators", "restored");
    PyObject *host = maker ? device_array_copy_out(self, (StreamUse){NULL, NULL}, true) : NULL;
    if (host) return Py_BuildValue("(N(N))", maker, host);
    Py_XDECREF(maker);
    return NULL;
}

/* ---- operators ---- */

static PyObject *binary(const char *function, const char *ufunc, PyObject *left, PyObject *right) {
    const DeviceArray *home = (const DeviceArray *)(device_array_is(left) ? left : right);
    return device_array_operate(home, "operators", function, "(sOO)", ufunc, left, right);
}

static PyObject *unary(const char *ufunc, PyObject *self) {
    return device_array_operate((const DeviceArray *)self, "operators", "unary", "(sO)", ufunc, self);
}

#define BINARY(slot, ufunc)                                                                                         \
    PyObject *device_array_##slot(PyObject *left, PyObject *right) { return binary("binary", ufunc, left, right); } \
    PyObject *device_array_inplace_##slot(PyObject *left, PyObject *right) {                                        \
        return binary("in_place", ufunc, left, right);                                                              \
    }
#define TERNARY(slot, ufunc)                                                                  \
    PyObject *device_array_##slot(PyObject *left, PyObject *right, PyObject *third) {         \
        if (third != Py_None) Py_RETURN_NOTIMPLEMENTED;                                       \
        return binary("binary", ufunc, left, right);                                          \
    }                                                                                         \
    PyObject *device_array_inplace_##slot(PyObject *left, PyObject *right, PyObject *third) { \
        if (third != Py_None) Py_RETURN_NOTIMPLEMENTED;                                       \
        return binary("in_place", ufunc, left, right);                                        \
    }
#define UNARY(slot, ufunc) \
    PyObject *device_array_##slot(PyObject *self) { return unary(ufunc, self); }
#include "runtime/cuda/array_operators.def"
#undef UNARY
#undef TERNARY
#undef BINARY

PyObject *device_array_compare(PyObject *left, PyObject *right, int op) {
    static const char *const ufuncs[] = {[Py_LT] = "less",      [Py_LE] = "less_equal", [Py_EQ] = "equal",
                                         [Py_NE] = "not_equal", [Py_GT] = "greater",    [Py_GE] = "greater_equal"};
    return binary("binary", ufuncs[op], left, right);
}

/* The one element as a NumPy array asks it: int(a), float(a), bool(a). */
static PyObject *only_element(PyObject *self, const char *conversion) {
    PyObject *host = device_array_copy_out((DeviceArray *)self, (StreamUse){NULL, NULL}, true);
    PyObject *result = host ? PyObject_CallMethod(host, conversion, NULL) : NULL;
    Py_XDECREF(host);
    return result;
}

PyObject *device_array_int(PyObject *self) { return only_element(self, "__int__"); }
PyObject *device_array_float(PyObject *self) { return only_element(self, "__float__"); }
PyObject *device_array_index(PyObject *self) { return only_element(self, "__index__"); }
int device_array_bool(PyObject *self) {
    PyObject *truth = only_element(self, "__bool__");
    int result = truth ? PyObject_IsTrue(truth) : -1;
    Py_XDECREF(truth);
    return result;
}

PyObject *device_array_element(PyObject *self, Py_ssize_t number) {
    PyObject *index = PyLong_FromSsize_t(number), *result = index ? device_array_getitem(self, index) : NULL;
    Py_XDECREF(index);
    return result;
}
