/* collections.c: deque, OrderedDict, defaultdict, Counter and frozenset of the standard library, bytearray, memoryview
 * and array.array, to the classes of the prelude that stand for them in compiled code (krait/prelude/collections.py,
 * deques.py and buffers.py), and back.
 *
 * In: one of the library's.  Out: an instance of the prelude's class with a list or dict of what it holds; after the
 * call, what differs is put into the library's; a buffer is an array on its memory, which holds it.  Between looking at
 * one and writing to it no line of Python runs, so that other threads and handlers of signals see it as it was or as it
 * is: all is done by calls of classes written in C.  Where length, keys and order are as before only items are
 * replaced, which who walks it meanwhile may see; else it is filled anew.  What was in it is kept until it is filled:
 * destructors find it so, too. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcmp, strcmp */

/* ---- from Python ---- */

/* Steals the value; NULL: exception set. */
static bool put(PyObject *object, const char *name, PyObject *value) {
    bool done = value && PyObject_SetAttrString(object, name, value) == 0;
    Py_XDECREF(value);
    return done;
}

/* The keys in the order of an OrderedDict, too. */
static PyObject *copy_of_dict(PyObject *given) {
    PyObject *copy = PyDict_New();
    if (copy && PyDict_Update(copy, given) < 0) Py_CLEAR(copy);
    return copy;
}

static bool is_defaultdict(PyObject *given) { return strcmp(Py_TYPE(given)->tp_name, "collections.defaultdict") == 0; }

static bool fill_table(PyObject *made, PyObject *given) {
    if (!put(made, "_dict", copy_of_dict(given))) return false;
    return !is_defaultdict(given) || put(made, "default_factory", PyObject_GetAttrString(given, "default_factory"));
}

static bool fill_queue(PyObject *made, PyObject *given) {
    return put(made, "_items", PySequence_List(given)) && put(made, "_first", PyLong_FromLong(0)) &&
           put(made, "_changes", PyLong_FromLong(0)) && put(made, "_replaced", PyBool_FromLong(0)) &&
           put(made, "maxlen", PyObject_GetAttrString(given, "maxlen"));
}

static bool fill_set(PyObject *made, PyObject *given) { return put(made, "_set", PySet_New(given)); }

bool marshal_is_buffer(PyObject *object) {
    return PyByteArray_Check(object) || PyMemoryView_Check(object) ||
           strcmp(Py_TYPE(object)->tp_name, "array.array") == 0;
}

/* An array on the memory of a bytearray, memoryview or array.array, which is held while the array lives: a new
 * reference; NULL: exception set. */
PyObject *marshal_array_of_buffer(PyObject *given) {
    PyObject *view = PyMemoryView_FromObject(given);
    const char *format = view ? PyMemoryView_GET_BUFFER(view)->format : NULL;
    PyObject *array = NULL;
    if (view && (!format || (strlen(format) == 1 && strchr("?bBhHiIlLqQfd", *format))))
        array = PyArray_FromAny(view, NULL, 0, 0, 0, NULL);
    else if (view)
        PyErr_Format(PyExc_TypeError,
                     "a value of type %s with items of the format '%s'" NO_ARGUMENT
                     ": its items are not single numbers",
                     Py_TYPE(given)->tp_name, format);
    Py_XDECREF(view);
    return array;
}

static bool fill_buffer(PyObject *made, PyObject *given) {
    bool has_code = !PyByteArray_Check(given) && !PyMemoryView_Check(given);
    if (PyByteArray_Check(given) &&
        !(put(made, "_fixed", PyBool_FromLong(1)) && put(made, "_room", marshal_array_of_buffer(given))))
        return false; /* its memory is the caller's, whatever room is behind it */
    return put(made, "_array", marshal_array_of_buffer(given)) &&
           (!has_code || put(made, "typecode", PyObject_GetAttrString(given, "typecode")));
}

static bool fill(PyObject *made, PyObject *given) {
    if (marshal_is_buffer(given)) return fill_buffer(made, given);
    return (PyDict_Check(given) ? fill_table : PyFrozenSet_Check(given) ? fill_set : fill_queue)(made, given);
}

PyObject *marshal_stand_for(PyObject *given) {
    PyTypeObject *class = (PyTypeObject *)frontend_stand_in(Py_TYPE(given));
    PyObject *none = class ? PyTuple_New(0) : NULL, *made = none ? class->tp_new(class, none, NULL) : NULL;
    Py_XDECREF(none);
    if (made && !fill(made, given)) Py_CLEAR(made);
    return made;
}

/* ---- to Python ---- */

/* Whether nobody could tell one from the other, but by `is` of numbers and texts. */
static bool is_same(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (PyFloat_CheckExact(a)) { /* nan, -0.0 */
        double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (!PyTuple_CheckExact(a) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
    Py_ssize_t i = 0;
    while (i < PyTuple_GET_SIZE(a) && is_same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) i++;
    return i == PyTuple_GET_SIZE(a);
}

static bool call(PyObject *object, const char *method, PyObject *argument) {
    PyObject *result = argument ? PyObject_CallMethod(object, method, "(O)", argument)
                                : PyObject_CallMethod(object, method, NULL);
    Py_XDECREF(result);
    return result != NULL;
}

/* As many items as there are.  A deque turned round is turned, which is quicker than to go to each item. */
static bool replace_items(PyObject *given, PyObject *before, PyObject *items) {
    Py_ssize_t count = PyList_GET_SIZE(items);
    bool turned = count > 2 && is_same(PyList_GET_ITEM(items, 0), PyList_GET_ITEM(before, count - 1)) &&
                  is_same(PyList_GET_ITEM(items, 1), PyList_GET_ITEM(before, count - 2)) &&
                  !is_same(PyList_GET_ITEM(items, 0), PyList_GET_ITEM(before, 0));
    bool done = !turned || (call(given, "reverse", NULL) && PyList_Reverse(before) == 0);
    for (Py_ssize_t i = 0; done && i < count; i++)
        if (!is_same(PyList_GET_ITEM(items, i), PyList_GET_ITEM(before, i)))
            done = PySequence_SetItem(given, i, PyList_GET_ITEM(items, i)) == 0;
    return done;
}

static bool is_true(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    bool is = value && PyObject_IsTrue(value) > 0;
    Py_XDECREF(value);
    return is;
}

static PyObject *items_of(PyObject *made) {
    PyObject *items = PyObject_GetAttrString(made, "_items"), *first = PyObject_GetAttrString(made, "_first");
    PyObject *rest = NULL;
    if (items && first) rest = PyList_GetSlice(items, PyLong_AsSsize_t(first), PyList_GET_SIZE(items));
    Py_XDECREF(items);
    Py_XDECREF(first);
    return rest;
}

static bool write_back_queue(PyObject *made, PyObject *given) {
    bool changed = is_true(made, "_changes"), replaced = is_true(made, "_replaced");
    if (PyErr_Occurred()) return false;
    if (!changed && !replaced) return true;
    PyObject *items = items_of(made), *before = items ? PySequence_List(given) : NULL;
    bool done = before != NULL;
    if (done && !changed && PyList_GET_SIZE(items) == PyList_GET_SIZE(before))
        done = replace_items(given, before, items);
    else if (done)
        done = call(given, "clear", NULL) && call(given, "extend", items);
    Py_XDECREF(items);
    Py_XDECREF(before);
    return done;
}

/* Puts in, or takes out where there is no value, in a way that is the class's own where it keeps an order of its own,
 * and never a method that is written in Python. */
static bool set_item(PyObject *given, PyObject *key, PyObject *value) {
    if (PyODict_Check(given)) return (value ? PyODict_SetItem(given, key, value) : PyODict_DelItem(given, key)) == 0;
    return (value ? PyDict_SetItem(given, key, value) : PyDict_DelItem(given, key)) == 0;
}

static bool replace_values(PyObject *given, PyObject *before, PyObject *ours) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool done = true;
    while (done && PyDict_Next(ours, &at, &key, &value)) {
        PyObject *now = PyDict_GetItemWithError(before, key);
        if (!now || !is_same(now, value)) done = !PyErr_Occurred() && set_item(given, key, value);
    }
    return done;
}

/* Those of `before` that are kept stand first, in the order that they had: what is gone can be taken out, and what is
 * new put behind them. */
static bool keeps_order(PyObject *before, PyObject *ours, bool *any_gone) {
    PyObject *key, *kept, *value;
    Py_ssize_t at = 0, next = 0;
    *any_gone = false;
    while (PyDict_Next(before, &at, &key, &value)) {
        int has = PyDict_Contains(ours, key);
        if (has < 0) return false;
        *any_gone |= !has;
        if (has && (!PyDict_Next(ours, &next, &kept, &value) || PyObject_RichCompareBool(key, kept, Py_EQ) != 1))
            return false;
    }
    return true;
}

static bool take_out(PyObject *given, PyObject *before, PyObject *ours) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool done = true;
    while (done && PyDict_Next(before, &at, &key, &value)) {
        int has = PyDict_Contains(ours, key);
        done = has > 0 || (has == 0 && set_item(given, key, NULL));
    }
    return done;
}

static bool empty(PyObject *given) {
    if (PyODict_Check(given)) return call(given, "clear", NULL);
    PyDict_Clear(given);
    return true;
}

/* What is gone is taken out, and what differs put in, which a new key is as well; in another order all is. */
static bool write_back_dict(PyObject *given, PyObject *ours) {
    PyObject *before = copy_of_dict(given), *there = before ? Py_NewRef(before) : NULL;
    bool done = before != NULL, any_gone;
    if (done && keeps_order(before, ours, &any_gone)) {
        done = !any_gone || take_out(given, before, ours);
    } else if (done && (done = !PyErr_Occurred())) {
        Py_SETREF(there, PyDict_New());
        done = there && empty(given);
    }
    done = done && replace_values(given, there, ours);
    Py_XDECREF(there);
    Py_XDECREF(before);
    return done;
}

static bool write_back_table(PyObject *made, PyObject *given) {
    PyObject *ours = PyObject_GetAttrString(made, "_dict");
    bool done = ours && write_back_dict(given, ours);
    Py_XDECREF(ours);
    if (!done || !is_defaultdict(given)) return done;
    PyObject *factory = PyObject_GetAttrString(made, "default_factory");
    PyObject *before = PyObject_GetAttrString(given, "default_factory");
    done = factory && before && (factory == before || PyObject_SetAttrString(given, "default_factory", factory) == 0);
    Py_XDECREF(factory);
    Py_XDECREF(before);
    return done;
}

bool marshal_write_back_collection(PyObject *made, PyObject *given) {
    if (PyFrozenSet_Check(given) || marshal_is_buffer(given)) return true; /* nothing changes it, or it is changed */
    return (PyDict_Check(given) ? write_back_table : write_back_queue)(made, given);
}
