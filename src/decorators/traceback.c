/* traceback.c: compiled functions in tracebacks, as the interpreter would show them.
 *
 * In: the exception that is set, and a place in Python source.  Out: the exception has one entry more, of a frame that
 * never ran.  Its code object has one range of positions, in the format that CPython 3.11 and later give co_linetable,
 * so that the expression is underlined. */
#include "decorators/decorators.h"

#include <frameobject.h> /* PyFrame_New */
#include <string.h>      /* strrchr */

/* Six bits a byte, the lowest first; 0x40: more follow. */
static size_t put_varint(char *table, size_t used, uint32_t value) {
    for (; value >= 0x40; value >>= 6) table[used++] = (char)(0x40 | (value & 0x3F));
    table[used++] = (char)value;
    return used;
}

static PyObject *linetable(const PyCodeObject *code, Span span) {
    enum { START = 0x80, LONG_FORM = 14, MOST_UNITS = 8 };
    char table[32];
    Py_ssize_t units = Py_SIZE(code) < MOST_UNITS ? Py_SIZE(code) : MOST_UNITS;
    size_t used = 0;
    table[used++] = (char)(START | LONG_FORM << 3 | (int)(units - 1));
    used = put_varint(table, used, 0); /* lines behind the code's first */
    used = put_varint(table, used, span.end_line - span.line);
    used = put_varint(table, used, span.col + 1);
    used = put_varint(table, used, span.end_col + 1);
    return PyBytes_FromStringAndSize(table, (Py_ssize_t)used);
}

static PyObject *code_at(const char *file, const char *function, Span span) {
    const char *short_name = strrchr(function, '.');
    PyCodeObject *code = PyCode_NewEmpty(file, short_name ? short_name + 1 : function, (int)span.line);
    bool ranged = span.end_line > span.line || (span.end_line == span.line && span.end_col > span.col);
    if (!code || !ranged) return (PyObject *)code;
    PyObject *replace = PyObject_GetAttrString((PyObject *)code, "replace"), *none = PyTuple_New(0);
    PyObject *words = Py_BuildValue("{s:N}", "co_linetable", linetable(code, span));
    PyObject *placed = replace && none && words ? PyObject_Call(replace, none, words) : NULL;
    Py_XDECREF(words);
    Py_XDECREF(none);
    Py_XDECREF(replace);
    Py_DECREF(code);
    return placed;
}

void traceback_add(const char *file, const char *function, Span span, PyObject *globals) {
    PyObject *type, *value, *traceback, *entry = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *code = globals ? code_at(file, function, span) : NULL;
    PyFrameObject *frame = code ? PyFrame_New(PyThreadState_Get(), (PyCodeObject *)code, globals, NULL) : NULL;
    if (frame)
        entry = PyObject_CallFunction((PyObject *)&PyTraceBack_Type, "OOii", traceback ? traceback : Py_None, frame, 0,
                                      (int)span.line);
    PyErr_Clear(); /* a traceback without this line is better than another exception */
    if (entry) Py_XSETREF(traceback, entry);
    PyErr_Restore(type, value, traceback);
    Py_XDECREF(frame);
    Py_XDECREF(code);
}
