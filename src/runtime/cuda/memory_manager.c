/* memory_manager.c: memory of a memory manager of another library (cuda.set_memory_manager; krait/cuda/_memory.py).
 *
 * In: how many bytes of what kind.  Out: their address, and an object that keeps them.  A manager gives and takes in
 * the order of the default stream, or waits for the device: so a stream that uses the memory goes on behind that one,
 * and that one behind all who used it before the memory goes back. */
#include "runtime/cuda/device_memory.h"

bool runtime_has_manager(const Runtime *runtime) { return runtime->allocator != NULL; }

PyObject *manager_memory(Runtime *runtime, Device *device, ManagerMemory kind, int64_t bytes, void **memory) {
    static const char *const methods[] = {
        [MANAGER_DEVICE] = "memalloc",          [MANAGER_PINNED] = "memhostalloc",
        [MANAGER_COMBINED] = "memhostalloc wc", [MANAGER_MAPPED] = "memhostalloc mapped",
        [MANAGER_MANAGED] = "memallocmanaged",  [MANAGER_MANAGED_HOST] = "memallocmanaged host"};
    if (bytes == 0 || context_push(device) < 0) return NULL;
    PyObject *allocator = Py_NewRef(runtime->allocator); /* it may set another manager */
    PyObject *pair = PyObject_CallFunction(allocator, "sL", methods[kind], (long long)bytes), *keeper = NULL;
    Py_DECREF(allocator);
    context_pop();
    if (pair && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2) {
        *memory = PyLong_AsVoidPtr(PyTuple_GET_ITEM(pair, 0));
        if (!PyErr_Occurred()) keeper = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
    } else if (pair && pair != Py_None) {
        PyErr_SetString(PyExc_TypeError, "a memory manager gives an address and what keeps the memory");
    }
    Py_XDECREF(pair);
    return keeper;
}

int manager_order(Device *device, void *stream) {
    int status = 0;
    if (stream) GIVE(device, status, device->ops->stream_order(device, stream, NULL));
    return device_check(device, status, "making a stream wait for another");
}

void manager_give_back(Device *device, PyObject *keeper, void *const *streams, size_t count) {
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        if (streams[i]) GIVE(device, status, device->ops->stream_order(device, NULL, streams[i]));
    if (status != 0) { /* a stream that is no longer there */
        Py_BEGIN_ALLOW_THREADS device->ops->synchronise_all(device);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(keeper);
}
