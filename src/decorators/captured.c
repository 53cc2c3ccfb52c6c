/* captured.c: arrays on a device that kernels, and functions of vectorize(target='cuda'), find among their globals and
 * in closures.
 *
 * Their addresses are constants of the code (frontend/constants.c), which keeps them alive; that the names mean them
 * still is guarded.  What becomes of their memory is not: so each launch looks whether it is there, as it does for
 * arguments, notes its stream as one that uses it, and holds it where other threads may run meanwhile. */
#include "decorators/kernel.h"

/* Its memory stays where it is.  What was queued for memory of others is over: launches in any stream may use it. */
PyObject *captured_array(void *context, PyObject *object, ObjDeviceArray *array) {
    const ModuleState *state = context;
    PyObject *found = arguments_foreign(state, object, NULL);
    if (found == Py_None) {
        Py_DECREF(found);
        found = Py_IS_TYPE(object, state->marshal.device_array) ? Py_NewRef(object) : NULL;
    }
    if (!found) return NULL;
    DeviceArray *device = (DeviceArray *)found;
    bool waits = found != object && device_synchronise(device->device, NULL) < 0;
    if (waits || device_array_check_there(device) < 0) {
        Py_DECREF(found);
        return NULL;
    }
    device_array_owner(device)->known = true;
    unsigned ndim = device->type->ndim;
    *array = (ObjDeviceArray){device->type, device->head.data, device->dims, device->dims + ndim};
    return found;
}

static DeviceArray *array_at(const ModuleState *state, const Code *code, size_t i) {
    return (DeviceArray *)objects_get(state->session.objects, code->device_arrays[i]);
}

static int refuse_device(const Device *device, const Device *other) {
    PyErr_Format(PyExc_ValueError,
                 "a launch and an array that the kernel finds among its globals or in its closure lie on different "
                 "GPUs, %d and %d: copy the array to the GPU of the launch, or launch on the array's",
                 device->ordinal, other->ordinal);
    return -1;
}

int captured_note(const ModuleState *state, const Code *code, const Device *device, void *stream, PyObject *keeper) {
    for (size_t i = 0; i < code->ndevice_arrays; i++) {
        DeviceArray *array = array_at(state, code, i);
        if (device_array_check_there(array) < 0) return -1;
        if (array->device != device) return refuse_device(device, array->device);
        if (device_array_used(array, stream, keeper) < 0) return -1;
    }
    return 0;
}

int captured_hold(const ModuleState *state, const Code *code) {
    for (size_t i = 0; i < code->ndevice_arrays; i++)
        if (device_array_check_there(array_at(state, code, i)) < 0) return -1;
    for (size_t i = 0; i < code->ndevice_arrays; i++) device_array_hold(array_at(state, code, i));
    return 0;
}

void captured_let_go(const ModuleState *state, const Code *code) {
    for (size_t i = 0; i < code->ndevice_arrays; i++) device_array_let_go(array_at(state, code, i));
}

/* ---- code that runs on the host ---- */

/* Also where the device is a GPU: NumPy asks the loops of a ufunc for what the kernel does not do. */
static int check_host(const ModuleState *state, const Code *code) {
    for (size_t i = 0; i < code->ndevice_arrays; i++) {
        if (array_at(state, code, i)->device->shares_memory) continue;
        PyErr_SetString(PyExc_TypeError,
                        "the function uses an array on a GPU that it finds among its globals or in its "
                        "closure, and this call runs on the host: call it with operands, out and "
                        "stream alone");
        return -1;
    }
    return 0;
}

void captured_release(CapturedHold *held, const ModuleState *state) {
    while (held->count > 0) {
        Spec *spec = held->specs[--held->count];
        captured_let_go(state, spec->code);
        spec_release(spec);
    }
    if (held->specs) PyMem_Free(held->specs);
    held->specs = NULL;
}

int captured_hold_on_host(CapturedHold *held, const ModuleState *state, Spec *const *specs, Py_ssize_t count) {
    *held = (CapturedHold){0};
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!specs[i]->code->ndevice_arrays) continue;
        if (!held->specs && !(held->specs = PyMem_Calloc((size_t)count, sizeof *held->specs))) {
            PyErr_NoMemory();
            return -1;
        }
        if (check_host(state, specs[i]->code) < 0 || captured_hold(state, specs[i]->code) < 0) {
            captured_release(held, state);
            return -1;
        }
        specs[i]->references++;
        held->specs[held->count++] = specs[i];
    }
    return 0;
}
