/* arguments.c: arguments of a launch that stand for something else: In, Out and InOut around a host array, and arrays
 * of other libraries, which become device arrays on the same memory.
 *
 * In: the arguments as bound.  Out: those that compiled code takes, and which copies a launch on a GPU may leave out.
 * On the host device an In array that the kernel writes is a copy: what a GPU does not bring back does not change. */
#include "decorators/kernel.h"
#include "decorators/numpy_api.h"

#include <stddef.h>       /* offsetof */
#include <structmember.h> /* T_OBJECT_EX */

typedef struct Wrapped { /* In(array), ... */
    PyObject_HEAD
    PyObject *array;
} Wrapped;

/* ---- the classes ---- */

static PyObject *wrapped_new(PyTypeObject *class, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"value", NULL};
    PyObject *array;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &array)) return NULL;
    Wrapped *self = (Wrapped *)class->tp_alloc(class, 0);
    if (!self) return NULL;
    ModuleState *state = module_state_of((PyObject *)self);
    PyObject *interface = NULL;
    if (!PyArray_Check(array) && !Py_IS_TYPE(array, state->marshal.device_array))
        interface = PyObject_GetAttrString(array, "__cuda_array_interface__");
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        Py_DECREF(self);
        return NULL;
    }
    if (PyErr_Occurred()) { /* a number or a list: an array is made of it, whose result nobody sees */
        PyErr_Clear();
        self->array = Py_IS_TYPE((PyObject *)self, state->transfer_classes[TRANSFER_IN]) ? PyArray_FROM_O(array) : NULL;
        if (!self->array && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "Out and InOut take an array, not %.100s", Py_TYPE(array)->tp_name);
    } else {
        self->array = Py_NewRef(array);
    }
    Py_XDECREF(interface);
    if (!self->array) Py_CLEAR(self);
    return (PyObject *)self;
}

static int wrapped_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Wrapped *)object)->array);
    return 0;
}

static int wrapped_clear(PyObject *object) {
    Py_CLEAR(((Wrapped *)object)->array);
    return 0;
}

static void wrapped_dealloc(PyObject *object) {
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    wrapped_clear(object);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyMemberDef wrapped_members[] = {
    {"value", T_OBJECT_EX, offsetof(Wrapped, array), READONLY, "the array"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot wrapped_slots[] = {
    {Py_tp_doc, "An argument of a launch that says how it travels: In(array) is copied to the device and not back, "
                "Out(array) back and not there, InOut(array) both, as an array that says nothing."},
    {Py_tp_new, wrapped_new},
    {Py_tp_traverse, wrapped_traverse},
    {Py_tp_clear, wrapped_clear},
    {Py_tp_dealloc, wrapped_dealloc},
    {Py_tp_members, wrapped_members},
    {0, NULL},
};

#define WRAPPED_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC)
static PyType_Spec wrapped_specs[TRANSFER_COUNT] = {
    [TRANSFER_IN] = {"krait.cuda.In", sizeof(Wrapped), 0, WRAPPED_FLAGS, wrapped_slots},
    [TRANSFER_OUT] = {"krait.cuda.Out", sizeof(Wrapped), 0, WRAPPED_FLAGS, wrapped_slots},
    [TRANSFER_INOUT] = {"krait.cuda.InOut", sizeof(Wrapped), 0, WRAPPED_FLAGS, wrapped_slots},
};

int arguments_add(PyObject *module, ModuleState *state) {
    for (int i = 0; i < TRANSFER_COUNT; i++)
        if (!(state->transfer_classes[i] = module_add_class(module, &wrapped_specs[i], NULL, true))) return -1;
    return 0;
}

/* ---- in a launch ---- */

/* The array in the wrapper; for the host device its own if the kernel's writes are not to be seen. */
static PyObject *unwrap(const ModuleState *state, PyObject *object, bool copies, unsigned char *transfer) {
    for (int i = 0; i < TRANSFER_COUNT; i++)
        if (Py_IS_TYPE(object, state->transfer_classes[i])) *transfer = (unsigned char)(1 + i);
    PyObject *array = ((Wrapped *)object)->array;
    if (copies || *transfer != 1 + TRANSFER_IN || !PyArray_Check(array)) return Py_NewRef(array);
    PyArrayObject *copy = (PyArrayObject *)PyArray_NewCopy((PyArrayObject *)array, NPY_KEEPORDER);
    if (copy && !PyArray_ISWRITEABLE((PyArrayObject *)array)) PyArray_CLEARFLAGS(copy, NPY_ARRAY_WRITEABLE);
    return (PyObject *)copy;
}

static bool is_wrapped(const ModuleState *state, PyObject *object) {
    return Py_IS_TYPE(object, state->transfer_classes[TRANSFER_IN]) ||
           Py_IS_TYPE(object, state->transfer_classes[TRANSFER_OUT]) ||
           Py_IS_TYPE(object, state->transfer_classes[TRANSFER_INOUT]);
}

/* What is none is told fast, of the usual classes; the others are looked up. */
static bool may_be_foreign(const ModuleState *state, PyObject *object) {
    return !(Py_IS_TYPE(object, state->marshal.device_array) || PyLong_Check(object) || PyFloat_CheckExact(object) ||
             PyTuple_Check(object) || object == Py_None || PyList_Check(object) || PyArray_Check(object) ||
             PyFunction_Check(object) || PyType_Check(object));
}

PyObject *arguments_foreign(const ModuleState *state, PyObject *object, void *stream) {
    return may_be_foreign(state, object) ? runtime_adopt(state->runtime, object, stream) : Py_NewRef(Py_None);
}

static int place_of(const ModuleState *state, PyObject *object, const Device *device) {
    const DeviceArray *array = (const DeviceArray *)object;
    if (!Py_IS_TYPE(object, state->marshal.device_array)) return 0;
    return array->device == device && array->generation == device->generation ? 0 : ARGUMENTS_ELSEWHERE;
}

int arguments_adopt(const Kernel *kernel, Device *device, void *stream, PyObject **bound, PyObject **made,
                    unsigned char *transfers) {
    const ModuleState *state = kernel->core.state;
    int found = 0;
    for (Py_ssize_t i = 0; i < kernel->core.binding.nparams; i++) {
        if (Py_IS_TYPE(bound[i], state->marshal.device_array)) {
            found |= place_of(state, bound[i], device);
            continue;
        }
        if (PyFloat_CheckExact(bound[i]) || PyLong_CheckExact(bound[i])) continue;
        if (is_wrapped(state, bound[i])) {
            if (!(made[i] = unwrap(state, bound[i], !device->shares_memory, &transfers[i]))) return -1;
            bound[i] = made[i];
            found |= ARGUMENTS_ADOPTED | place_of(state, bound[i], device);
        }
        const Foreign *known = runtime_known(state->runtime, Py_TYPE(bound[i]));
        bool may_be = known || may_be_foreign(state, bound[i]);
        PyObject *array = may_be ? runtime_lend(state->runtime, known, bound[i], device, stream, (unsigned)i)
                                 : Py_NewRef(Py_None);
        if (!array) return -1;
        if (array == Py_None) {
            Py_DECREF(array);
            continue;
        }
        Py_XSETREF(made[i], array);
        bound[i] = array;
        found |= ARGUMENTS_ADOPTED | place_of(state, array, device);
    }
    return found;
}
