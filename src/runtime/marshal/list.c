/* list.c: Python lists to lists of compiled code and back.
 *
 * In: a list whose items have one type.  Out: a list on the heap with the items' bytes, which remembers where it came
 * from; after the call its items are written back to that one, if the code may have changed them.  A list that has such
 * an origin is boxed as it, so that what is one list here is one there; origins.c sees to it that what is one there is
 * one here. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcpy */

static HeapHead *head_of(const void *from) {
    uintptr_t owner;
    memcpy(&owner, from, sizeof owner);
    return (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS);
}

bool marshal_holds_objects(const Type *type) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++)
        if (repr->leaves[i].kind == LEAF_OWNER && repr->leaves[i].array->kind != TY_ARRAY) return true;
    return false;
}

/* ---- from Python ---- */

static const Type *refuse_items(const Marshal *marshal, const Type *known, const Type *type, PyObject *first,
                                PyObject *other) {
    const char *mixed = known->kind == type->kind && type_is_shared(type) && known->object == type->object
                            ? marshal_mixed_attribute(marshal->types, known, type)
                            : NULL;
    if (mixed)
        return (const Type *)PyErr_Format(PyExc_TypeError,
                                          "a list of instances of %s" NO_ARGUMENT ": their "
                                          "attribute '%s' holds values of several types; give it one type in all of "
                                          "them, or None",
                                          Py_TYPE(other)->tp_name, mixed);
    if (PyList_Check(first) && PyList_Check(other)) {
        PyErr_SetString(PyExc_TypeError,
                        "a list of lists with items of several types" NO_ARGUMENT
                        ": their items have one type; convert "
                        "them, [[float(v) for v in row] for row in values], or, if the rows have one length, make an "
                        "array, np.array(values)");
        return NULL;
    }
    marshal_refuse_mixed(MIXED_LIST, first, other);
    return NULL;
}

const Type *marshal_typeof_list(const Marshal *marshal, PyObject *list, Arena *arena) {
    const Type *item = type_simple(marshal->types, TY_BOTTOM);
    if (!PyList_GET_SIZE(list) && marshal_declared_types(marshal, list, arena, &item, 1))
        return type_with_items(marshal->types, TY_LIST, 0, &item, 1);
    if (Py_EnterRecursiveCall(" while typing a list")) return NULL;
    for (Py_ssize_t i = 0; item && i < PyList_GET_SIZE(list); i++) {
        const Type *type = marshal_typeof_const(marshal, PyList_GET_ITEM(list, i), arena, NULL);
        if (type && type->kind == TY_STR) type = type_simple(marshal->types, TY_STRING);
        if (!type) marshal_name_part("x[%zd]", i);
        const Type *joined = type && i > 0 && type != item ? marshal_join_items(marshal, item, type) : type;
        if (!joined && !PyErr_Occurred())
            refuse_items(marshal, item, type, PyList_GET_ITEM(list, 0), PyList_GET_ITEM(list, i));
        item = joined;
    }
    Py_LeaveRecursiveCall();
    return item ? type_with_items(marshal->types, TY_LIST, 0, &item, 1) : NULL;
}

HeapHead *marshal_new_list(const Type *item, Py_ssize_t capacity) {
    const Repr *repr = type_repr(item);
    int32_t nowners = 0, *offsets = PyMem_Malloc((repr->nleaves + 1u) * sizeof *offsets);
    if (!offsets) return NULL;
    for (uint32_t i = 0; i < repr->nleaves; i++)
        if (repr->leaves[i].kind == LEAF_OWNER) offsets[nowners++] = (int32_t)repr->leaves[i].offset;
    HeapHead *list = krait_heap_list(capacity, repr->nleaves ? (int32_t)repr->size : 0, offsets, nowners);
    PyMem_Free(offsets);
    return list;
}

MarshalResult marshal_hand_over(const Marshal *marshal, const Type *type, PyObject *object, HeapHead *head,
                                MarshalResult result, void *to) {
    ListBody *list = heap_content(head);
    list->origin = marshal->copies ? NULL : object;
    uintptr_t owner = (uintptr_t)head | OWNER_HEAP;
    if (result == MARSHAL_OK && !origins_note(marshal, type, object, &owner)) result = MARSHAL_ERROR;
    if (result == MARSHAL_OK)
        memcpy(to, &owner, sizeof owner);
    else
        heap_release(head);
    return result;
}

MarshalResult marshal_take_list(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    const Type *declared = type_simple(marshal->types, TY_BOTTOM);
    MarshalResult result = MARSHAL_OK;
    if (!marshal_is_plain(object, &PyList_Type)) return MARSHAL_MISMATCH;
    if (origins_met(marshal, type, object, to, &result)) return result;
    if (!PyList_GET_SIZE(object) && marshal_declared_types(marshal, object, NULL, &declared, 1) &&
        declared != type->items[0])
        return MARSHAL_MISMATCH;
    Telling telling = origins_tell(marshal, type->items[0]);
    HeapHead *head = marshal_new_list(type->items[0], PyList_GET_SIZE(object));
    if (!head) return PyErr_NoMemory(), MARSHAL_ERROR;
    ListBody *list = heap_content(head);
    MarshalTake *take = marshal_taker(type->items[0]);
    if (marshal_borrows(type->items[0]) && !origins_keep(marshal, PySequence_List(object))) result = MARSHAL_ERROR;
    for (int64_t i = 0; result == MARSHAL_OK && i < list->capacity && i < PyList_GET_SIZE(object); i++) {
        char *item = (char *)list->items + i * list->item_bytes;
        memset(item, 0, (size_t)list->item_bytes);
        origins_tell_of_item(&telling);
        result = take(marshal, type->items[0], PyList_GET_ITEM(object, i), item, convert);
        list->length = i + 1; /* what is there of the item is given up with the list */
    }
    origins_told(&telling, list->length == 0, declared == type->items[0]);
    return marshal_hand_over(marshal, type, object, head, result, to);
}

/* ---- to Python ---- */

/* The item, or what the list that is written to has in its place for the same constant. */
static PyObject *box_item(const Marshal *marshal, const Type *item, const char *at, PyObject *before, int64_t i) {
    bool had = before && marshal_is_constant(item) && i < PyList_GET_SIZE(before);
    PyObject *now = had ? Py_NewRef(PyList_GET_ITEM(before, (Py_ssize_t)i)) : NULL;
    if (now && marshal_is_same_constant(marshal, item, at, now)) return now;
    Py_XDECREF(now);
    marshal_retain(item, at); /* boxing uses a reference up */
    return marshal_box(marshal, item, at);
}

/* A new Python list of the items; before: the one that these are written to, or NULL. */
static PyObject *box_items(const Marshal *marshal, const Type *item, const ListBody *list, PyObject *before) {
    PyObject *object = PyList_New((Py_ssize_t)list->length);
    for (int64_t i = 0; object && i < list->length; i++) {
        PyObject *boxed = box_item(marshal, item, (const char *)list->items + i * list->item_bytes, before, i);
        if (boxed)
            PyList_SET_ITEM(object, (Py_ssize_t)i, boxed);
        else
            Py_CLEAR(object);
    }
    return object;
}

/* The copy that was made of it before: a new reference. */
PyObject *marshal_find_copy(const Marshal *marshal, const HeapHead *head) {
    PyObject *key = marshal->copied ? PyLong_FromVoidPtr((void *)head) : NULL;
    PyObject *copy = key ? PyDict_GetItemWithError(marshal->copied, key) : NULL;
    Py_XDECREF(key);
    return Py_XNewRef(copy);
}

PyObject *marshal_note_copy(const Marshal *marshal, const HeapHead *head, PyObject *copy) {
    if (!marshal->copied || !copy) return copy;
    PyObject *key = PyLong_FromVoidPtr((void *)head);
    if (!key || PyDict_SetItem(marshal->copied, key, copy) < 0) Py_CLEAR(copy);
    Py_XDECREF(key);
    return copy;
}

PyObject *marshal_box_list(const Marshal *marshal, const Type *type, const void *from) {
    HeapHead *head = head_of(from);
    ListBody *list = heap_content(head);
    if (marshal->copies) {
        PyObject *copy = marshal_find_copy(marshal, head);
        if (!copy) copy = marshal_note_copy(marshal, head, box_items(marshal, type->items[0], list, NULL));
        heap_release(head);
        return copy;
    }
    PyObject *object = list->origin ? Py_NewRef((PyObject *)list->origin)
                                    : box_items(marshal, type->items[0], list, NULL);
    if (object && !list->origin && !origins_note(marshal, type, object, from)) Py_CLEAR(object);
    list->origin = object; /* until the call is over this is what it is */
    heap_release(head);
    return object;
}

PyObject *marshal_box_vartuple(const Marshal *marshal, const Type *type, const void *from) {
    HeapHead *head = head_of(from);
    PyObject *items = box_items(marshal, type->items[0], heap_content(head), NULL);
    PyObject *tuple = items ? PyList_AsTuple(items) : NULL;
    Py_XDECREF(items);
    heap_release(head);
    return tuple;
}

bool marshal_write_back_list(const Marshal *marshal, const Type *type, const void *from) {
    const ListBody *list = heap_content(head_of(from));
    PyObject *items = box_items(marshal, type->items[0], list, list->origin);
    bool done = items && PyList_SetSlice(list->origin, 0, PY_SSIZE_T_MAX, items) == 0;
    Py_XDECREF(items);
    return done;
}
