/* string.c: Python's str to strings of compiled code and back.
 *
 * A string is an object of the heap as a list is, whose items are code points of 32 bits, whatever width Python keeps
 * them in.  Nobody changes it, so that nothing is written back. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcpy */

MarshalResult marshal_take_string(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    (void)marshal, (void)type, (void)convert;
    if (!marshal_is_plain(object, &PyUnicode_Type)) return MARSHAL_MISMATCH;
    Py_ssize_t length = PyUnicode_GetLength(object);
    HeapHead *head = krait_heap_list(length, sizeof(Py_UCS4), NULL, 0);
    if (!head) return PyErr_NoMemory(), MARSHAL_ERROR;
    ListBody *string = heap_content(head);
    if (length && !PyUnicode_AsUCS4(object, string->items, length, 0)) {
        heap_release(head);
        return MARSHAL_ERROR;
    }
    string->length = length;
    uintptr_t owner = (uintptr_t)head | OWNER_HEAP;
    memcpy(to, &owner, sizeof owner);
    return MARSHAL_OK;
}

PyObject *marshal_box_string(const Marshal *marshal, const Type *type, const void *from) {
    (void)marshal, (void)type;
    uintptr_t owner;
    memcpy(&owner, from, sizeof owner);
    HeapHead *head = (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS);
    const ListBody *string = heap_content(head);
    PyObject *object = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, string->items, (Py_ssize_t)string->length);
    heap_release(head);
    return object;
}
