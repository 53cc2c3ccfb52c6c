/* mixed.c: what is said of a list, dict or set whose items have several types, which no argument may have.
 *
 * In: two items of types that do not join.  Out: TypeError, which behind its first semicolon tells what to write, of
 * `values` (frontend_advise_for puts the variable's name there): it is chosen by what the two are, and works. */
#include "runtime/marshal/marshal_private.h"
#include "runtime/marshal/numpy_api.h"

#include <string.h> /* strcmp */

enum { MOST_ITEMS = 6 };

static bool is_array(PyObject *object) { return PyArray_Check(object); }
static bool is_number(PyObject *object) { return PyNumber_Check(object) && !is_array(object); }

/* An instance of a class that was written in Python. */
static bool is_instance(PyObject *object) {
    return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) && !is_number(object) && !PyTuple_Check(object) &&
           !PyList_Check(object) && !PyUnicode_Check(object);
}

/* "int", "(int, float)", "array of int64 with 1 dimension" */
/* Borrowed; NULL: it is no list, or holds nothing. */
static PyObject *first_of_list(PyObject *object) {
    return PyList_CheckExact(object) && PyList_GET_SIZE(object) ? PyList_GET_ITEM(object, 0) : NULL;
}

static PyObject *describe(PyObject *object) {
    if (is_array(object)) {
        int ndim = PyArray_NDIM((PyArrayObject *)object);
        return PyUnicode_FromFormat("array of %S with %d dimension%s", PyArray_DESCR((PyArrayObject *)object), ndim,
                                    ndim == 1 ? "" : "s");
    }
    if (first_of_list(object)) return PyUnicode_FromFormat("list of %s", Py_TYPE(first_of_list(object))->tp_name);
    Py_ssize_t n = PyTuple_CheckExact(object) ? PyTuple_GET_SIZE(object) : 0;
    if (!n || n > MOST_ITEMS) return PyUnicode_FromString(Py_TYPE(object)->tp_name);
    PyObject *text = PyUnicode_FromString("(");
    for (Py_ssize_t i = 0; text && i < n; i++) {
        const char *name = Py_TYPE(PyTuple_GET_ITEM(object, i))->tp_name;
        Py_SETREF(text, PyUnicode_FromFormat("%U%s%s%s", text, i ? ", " : "", name,
                                             i + 1 < n ? ""
                                             : n == 1  ? ",)"
                                                       : ")"));
    }
    return text;
}

static const char *converter(PyObject *a, PyObject *b) {
    if (Py_TYPE(a) == Py_TYPE(b)) return "";
    if (!is_number(a) || !is_number(b)) return "str";
    return PyComplex_Check(a) || PyComplex_Check(b) ? "complex" : "float";
}

/* Tuples of one length, item by item: "(v[0], float(v[1]))"; of several: as lists. */
static PyObject *convert_tuples(PyObject *a, PyObject *b, const char *name) {
    Py_ssize_t n = PyTuple_GET_SIZE(a);
    if (n != PyTuple_GET_SIZE(b)) return PyUnicode_FromFormat("list(%s)", name);
    if (!n || n > MOST_ITEMS) return PyUnicode_FromFormat("str(%s)", name);
    PyObject *text = PyUnicode_FromString("(");
    for (Py_ssize_t i = 0; text && i < n; i++) {
        const char *by = converter(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i));
        Py_SETREF(text, PyUnicode_FromFormat("%U%s%s%s%s[%zd]%s%s", text, i ? ", " : "", by, *by ? "(" : "", name, i,
                                             *by ? ")" : "",
                                             i + 1 < n ? ""
                                             : n == 1  ? ",)"
                                                       : ")"));
    }
    return text;
}

static PyObject *convert_arrays(PyObject *a, PyObject *b, const char *name) {
    PyArrayObject *x = (PyArrayObject *)a, *y = (PyArrayObject *)b;
    if (PyArray_NDIM(x) != PyArray_NDIM(y)) return PyUnicode_FromFormat("np.ravel(%s)", name);
    if (PyArray_EquivTypes(PyArray_DESCR(x), PyArray_DESCR(y)))
        return PyUnicode_FromFormat("np.ascontiguousarray(%s)", name);
    return PyUnicode_FromFormat("np.asarray(%s, np.float64)", name);
}

/* What makes items of one type of such as these; name: of the variable that holds one. */
static PyObject *convert(PyObject *a, PyObject *b, const char *name) {
    if (PyTuple_CheckExact(a) && PyTuple_CheckExact(b)) return convert_tuples(a, b, name);
    if (is_array(a) && is_array(b)) return convert_arrays(a, b, name);
    PyObject *first = first_of_list(a), *other = first_of_list(b);
    if (first && other) {
        bool numbers = is_number(first) && is_number(other);
        return PyUnicode_FromFormat("[%s(w) for w in %s]", numbers ? "float" : "str", name);
    }
    const char *by = converter(a, b);
    return PyUnicode_FromFormat("%s(%s)", *by ? by : "str", name);
}

static const char *const made[] = {
    [MIXED_LIST] = "[%U for v in values%s]",
    [MIXED_SET] = "{%U for v in values%s}",
    [MIXED_KEYS] = "{%U: v for k, v in values.items()%s}",
    [MIXED_VALUES] = "{k: %U for k, v in values.items()%s}",
};

static PyObject *advise(MixedIn what, PyObject *a, PyObject *b) {
    const char *name = what == MIXED_KEYS ? "k" : "v";
    if (is_instance(a) && is_instance(b))
        return PyUnicode_FromFormat("make them instances of one class, in which an attribute tells them apart%s",
                                    what == MIXED_LIST ? "" : ", or use a variable for each");
    if (PyCallable_Check(a) || PyCallable_Check(b))
        return PyUnicode_FromString("use a variable for each that is called");
    bool missing = a == Py_None || b == Py_None, alike = PyTuple_Check(a) && PyTuple_Check(b);
    if (what == MIXED_VALUES && !missing && !alike && !is_array(a) && strcmp(converter(a, b), "str") == 0)
        return PyUnicode_FromString("use a variable for each, or a namedtuple"); /* settings: no texts of numbers */
    PyObject *one = missing ? PyUnicode_FromString(name) : convert(a, b, name), *text = NULL, *whole = NULL;
    PyObject *left_out = missing ? PyUnicode_FromFormat(" if %s is not None", name) : PyUnicode_FromString("");
    if (one && left_out) text = PyUnicode_FromFormat(made[what], one, PyUnicode_AsUTF8(left_out));
    bool numbers = missing && (is_number(a) || is_number(b));
    const char *array = what == MIXED_LIST && is_number(a) && is_number(b) ? ", or make an array, np.array(values)"
                                                                           : "";
    if (text)
        whole = PyUnicode_FromFormat("%s, %U%s%s", missing ? "leave None out" : "convert them", text, array,
                                     numbers ? ", or let a number stand for it, as math.nan" : "");
    Py_XDECREF(one), Py_XDECREF(left_out), Py_XDECREF(text);
    return whole;
}

/* Another way, which keeps the items as they are. */
static const char *other_way(MixedIn what, PyObject *a, PyObject *b) {
    if (is_number(a) && is_number(b)) return "";
    if (what == MIXED_LIST)
        return ", or use a tuple, tuple(values), of which constant indices and loops take the items";
    return what == MIXED_VALUES && (a == Py_None || b == Py_None) ? ", or use a variable for each, or a namedtuple"
                                                                  : "";
}

void marshal_refuse_mixed(MixedIn what, PyObject *first, PyObject *other) {
    static const char *const facts[] = {
        [MIXED_LIST] = "a list that holds %U and %U" NO_ARGUMENT ": the items of a list have one type; %U%s",
        [MIXED_SET] = "a set that holds %U and %U" NO_ARGUMENT ": the items of a set have one type; %U%s",
        [MIXED_KEYS] = "a dict with keys %U and %U" NO_ARGUMENT ": the keys of a dict have one type; %U%s",
        [MIXED_VALUES] = "a dict with values %U and %U" NO_ARGUMENT ": the values of a dict have one type; %U%s",
    };
    PyObject *a = describe(first), *b = a ? describe(other) : NULL, *advice = b ? advise(what, first, other) : NULL;
    if (advice) PyErr_Format(PyExc_TypeError, facts[what], a, b, advice, other_way(what, first, other));
    Py_XDECREF(a), Py_XDECREF(b), Py_XDECREF(advice);
}
