/* idle.c: what may be done only when the device has done all that it was given: locked memory, graphs and memory of
 * other processes are given back.
 *
 * A wait for the whole device would end every recording of a graph on it, whichever thread's (CUDA's manual: a handle
 * that encompasses an active capture must not be waited for).  So it is put off until none is recorded. */
#include "runtime/cuda/device_memory.h"

static bool wait(Device *device) {
    int status;
    Py_BEGIN_ALLOW_THREADS status = device->ops->synchronise_all(device);
    Py_END_ALLOW_THREADS return status == 0;
}

void device_when_idle(Device *device, DeviceLater *later, void (*action)(DeviceLater *later, bool idle)) {
    *later = (DeviceLater){NULL, action};
    if (device->recordings == 0) {
        action(later, wait(device));
        return;
    }
    *(device->later ? device->later_end : &device->later) = later;
    device->later_end = &later->next;
}

void device_records(Device *device) { device->recordings++; }

void device_recorded(Device *device) {
    if (--device->recordings > 0 || !device->later) return;
    DeviceLater *later = device->later;
    device->later = NULL;
    bool idle = wait(device);
    while (later) {
        DeviceLater *next = later->next; /* the action frees what it is part of */
        later->action(later, idle);
        later = next;
    }
}
