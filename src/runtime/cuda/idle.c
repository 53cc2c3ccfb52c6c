/* idle.c: what may be done only when the device has done all that it was given: locked memory, graphs and memory of
 * other processes are given back.
 *
 * A wait for the whole device would end every recording of a graph on it, whichever thread's (CUDA's manual: a handle
 * that encompasses an active capture must not be waited for).  So it is put off until none is recorded; and in a
 * function that the driver calls (stream.c), which must not wait, until it has ended. */
#include "runtime/cuda/device_memory.h"

static bool wait(Device *device) {
    int status;
    Py_BEGIN_ALLOW_THREADS status = device->ops->synchronise_all(device);
    Py_END_ALLOW_THREADS return status == 0;
}

static void put_off(Device *device, DeviceLater *first, DeviceLater **end) {
    *(device->later ? device->later_end : &device->later) = first;
    device->later_end = end;
}

static bool must_not_wait(const Device *device) {
    return device->recordings > 0 || device->deferring > 0 || runtime_calling;
}

void device_when_idle(Device *device, DeviceLater *later, void (*action)(DeviceLater *later, bool idle)) {
    *later = (DeviceLater){NULL, action};
    bool idle = !must_not_wait(device) && wait(device);
    if (!must_not_wait(device)) /* nor has a recording begun during the wait */
        action(later, idle);
    else
        put_off(device, later, &later->next);
}

void device_when_not_recorded(Device *device, DeviceLater *later, void (*action)(DeviceLater *later, bool idle)) {
    *later = (DeviceLater){NULL, action};
    put_off(device, later, &later->next);
}

void device_records(Device *device) { device->recordings++; }

void device_now(Device *device) {
    if (device->recordings > 0 || !device->later || runtime_calling) return;
    DeviceLater *later = device->later, **end = device->later_end;
    device->later = NULL;
    bool idle = wait(device);
    if (device->recordings > 0) {
        put_off(device, later, end);
        return;
    }
    PyObject *type, *value, *traceback; /* what is given up may run Python, which needs that no exception is set */
    PyErr_Fetch(&type, &value, &traceback);
    while (later) {
        DeviceLater *next = later->next; /* the action frees what it is part of */
        later->action(later, idle);
        later = next;
    }
    PyErr_Restore(type, value, traceback);
}

void device_settle(Device *device) {
    if (!must_not_wait(device)) device_now(device);
}

void device_recorded(Device *device) {
    device->recordings--;
    device_settle(device);
}

void device_defer(Device *device, bool begin) {
    device->deferring += begin ? 1 : -1;
    device_settle(device);
}

void device_was_reset(Device *device) {
    if (device->dropped == 0) return;
    device->recordings -= device->dropped - 1;
    device->dropped = 0;
    device_recorded(device);
}
