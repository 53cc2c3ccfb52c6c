/* device_memory.h: inside the runtime: what its Python types share, and memory of a device, be it a GPU or this
 * process. */
#ifndef KRAIT_RUNTIME_DEVICE_MEMORY_H
#define KRAIT_RUNTIME_DEVICE_MEMORY_H

#include "runtime/cuda/driver.h" /* Cuda, CudaContext */

/* One per module state; its Python functions find it through a capsule, its objects through a field. */
typedef struct Runtime {
    Marshal *marshal;
    Cuda *cuda;
    PyTypeObject *device_array, *stream, *event, *device;
} Runtime;

/* The device that the calling thread's arrays and kernels belong to: *context is NULL for the host device.  -1:
 * exception set. */
int runtime_context(const Runtime *runtime, CudaContext **context);

/* Memory and copies; context NULL: the host device.  -1: exception set.  Copies with a stream are in stream order;
 * those without return when done. */
int device_allocate(CudaContext *context, void *stream, size_t bytes, void **pointer);
/* Frees memory behind what the streams have been given so far. */
void device_release(CudaContext *context, void *pointer, void *const *streams, size_t count);
/* What is queued on `later` from now on waits for what `earlier` has been given. */
int device_order(CudaContext *context, void *later, void *earlier);
int device_copy_in(CudaContext *context, void *stream, bool wait, void *device, const void *host, size_t bytes);
int device_copy_out(CudaContext *context, void *stream, bool wait, void *host, const void *device, size_t bytes);
int device_copy_within(CudaContext *context, void *stream, void *to, const void *from, size_t bytes);
int device_clear(CudaContext *context, void *stream, void *device, int byte, size_t bytes);
int device_synchronise(CudaContext *context, void *stream, bool whole_context);

/* device_array.c */
extern PyType_Spec device_array_spec;
PyObject *device_array_to_device(PyObject *capsule, PyObject *args, PyObject *kwargs);
PyObject *device_array_empty(PyObject *capsule, PyObject *args, PyObject *kwargs);
PyObject *device_array_empty_like(PyObject *capsule, PyObject *args, PyObject *kwargs);
PyObject *device_array_copy_to_host(PyObject *capsule, PyObject *args, PyObject *kwargs);
PyObject *device_array_from_interface(PyObject *capsule, PyObject *args, PyObject *kwargs);
PyObject *device_array_pinned(PyObject *capsule, PyObject *args, PyObject *kwargs);

/* stream.c, device.c */
extern PyType_Spec stream_spec, event_spec, device_spec;
extern PyMethodDef stream_functions[], device_functions[];

#define RUNTIME_OF(capsule) ((Runtime *)PyCapsule_GetPointer((capsule), "krait.runtime"))
#define NEEDS_GPU           "this needs a GPU: kernels run on the host device here (%s)"

#endif
