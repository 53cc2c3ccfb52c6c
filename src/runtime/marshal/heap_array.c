/* heap_array.c: arrays that compiled code made, as NumPy's.
 *
 * In: a buffer on the heap.  Out: an ndarray that owns it (flags.owndata, no base) by a handler of NumPy's that
 * releases its reference: NumPy frees, and resizes in place, by the handler that the array names.  Several arrays may
 * own one buffer: its count tells how many. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcpy */

static void *buffer_new(size_t bytes, bool zero) {
    return bytes > INT64_MAX ? NULL : krait_heap_buffer((int64_t)bytes, zero);
}

static void *handler_malloc(void *context, size_t bytes) { return (void)context, buffer_new(bytes, false); }

static void *handler_calloc(void *context, size_t count, size_t bytes) {
    size_t whole;
    (void)context;
    return __builtin_mul_overflow(count, bytes, &whole) ? NULL : buffer_new(whole, true);
}

static void handler_free(void *context, void *content, size_t bytes) {
    (void)context, (void)bytes;
    if (content) heap_release(heap_of_content(content));
}

static void *handler_realloc(void *context, void *content, size_t bytes) {
    void *larger = buffer_new(bytes, false);
    if (!larger || !content) return larger;
    size_t old = (size_t)heap_of_content(content)->bytes;
    memcpy(larger, content, old < bytes ? old : bytes);
    handler_free(context, content, old);
    return larger;
}

PyObject *marshal_heap_memory(void) {
    static const PyDataMem_Handler handler = {
        "krait_heap", 1, {NULL, handler_malloc, handler_calloc, handler_realloc, handler_free}};
    return PyCapsule_New((void *)(uintptr_t)&handler, "mem_handler", NULL); /* the name that NumPy asks for */
}

void heap_array_own(const Marshal *marshal, PyObject *array) {
    PyArrayObject *self = (PyArrayObject *)array;
    HeapHead *buffer = heap_of_content(PyArray_DATA(self));
    if (!heap_is_unique(buffer)) heap_share(buffer); /* from here on objects of any thread release it */
    ((PyArrayObject_fields *)array)->mem_handler = Py_NewRef(marshal->heap_memory);
    PyArray_ENABLEFLAGS(self, NPY_ARRAY_OWNDATA);
}

PyObject *heap_array_of_buffer(const Marshal *marshal, HeapHead *buffer) {
    npy_intp bytes = (npy_intp)buffer->bytes;
    PyObject *array = PyArray_New(&PyArray_Type, 1, &bytes, NPY_UINT8, NULL, heap_content(buffer), 0,
                                  NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE, NULL);
    if (array) heap_array_own(marshal, array);
    return array;
}
