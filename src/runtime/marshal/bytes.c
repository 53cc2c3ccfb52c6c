/* bytes.c: Python's bytes to those of compiled code and back.
 *
 * In compiled code they are an object of the heap as a list is, of items of 8 bits.  Nobody changes it, so that nothing
 * is written back. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcpy */

MarshalResult marshal_take_bytes(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    (void)marshal, (void)type, (void)convert;
    if (!PyBytes_CheckExact(object)) return MARSHAL_MISMATCH;
    Py_ssize_t length = PyBytes_GET_SIZE(object);
    HeapHead *head = krait_heap_list(length, 1, NULL, 0);
    if (!head) return PyErr_NoMemory(), MARSHAL_ERROR;
    ListBody *list = heap_content(head);
    if (length) memcpy(list->items, PyBytes_AS_STRING(object), (size_t)length);
    list->length = length;
    uintptr_t owner = (uintptr_t)head | OWNER_HEAP;
    memcpy(to, &owner, sizeof owner);
    return MARSHAL_OK;
}

PyObject *marshal_box_bytes(const Marshal *marshal, const Type *type, const void *from) {
    (void)marshal, (void)type;
    uintptr_t owner;
    memcpy(&owner, from, sizeof owner);
    HeapHead *head = (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS);
    const ListBody *list = heap_content(head);
    PyObject *object = PyBytes_FromStringAndSize(list->items, (Py_ssize_t)list->length);
    heap_release(head);
    return object;
}
