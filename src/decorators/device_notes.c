/* device_notes.c: what the threads of a kernel printed and raised, as Python sees it.
 *
 * In: the bytes that a launch on the host device, or the memory of a kernel's module on a GPU, has of prints
 * (ir_abi.def: PrintHead); the note of the first thread that raised on a GPU.  Out: text on sys.stdout, made by Python
 * itself; the exception, with a note that names block, thread and kernel. */
#include "decorators/kernel.h"

#include <string.h> /* memcpy */

/* ---- print ---- */

/* str() of each value, with the separator between them. */
static PyObject *joined(PyObject *values, const char *separator) {
    PyObject *texts = values ? PyList_New(0) : NULL, *between = texts ? PyUnicode_FromString(separator) : NULL;
    for (Py_ssize_t i = 0; between && i < PyTuple_GET_SIZE(values); i++) {
        PyObject *text = PyObject_Str(PyTuple_GET_ITEM(values, i));
        if (!text || PyList_Append(texts, text) < 0) Py_CLEAR(between);
        Py_XDECREF(text);
    }
    PyObject *line = between ? PyUnicode_Join(between, texts) : NULL;
    Py_XDECREF(between);
    Py_XDECREF(texts);
    return line;
}

static PyObject *site_text(const ModuleState *state, const PrintSite *site, const char *from) {
    PyObject *values = errors_values(state, site->args, site->konsts, from);
    PyObject *line = joined(values, site->separator),
             *text = line ? PyUnicode_FromFormat("%U%s", line, site->end) : NULL;
    Py_XDECREF(line);
    Py_XDECREF(values);
    return text;
}

/* NULL: exception set. */
static PyObject *all_text(const ModuleState *state, const Code *code, const char *bytes, size_t used) {
    PyObject *lines = PyList_New(0), *nothing = lines ? PyUnicode_FromString("") : NULL, *text = NULL;
    PrintHead head;
    for (size_t at = 0; nothing && at + sizeof head <= used; at += sizeof head + (size_t)head.bytes) {
        memcpy(&head, bytes + at, sizeof head);
        if (head.site < 0 || (size_t)head.site >= code->nprint_sites) break; /* the room at the end was too small */
        if (head.bytes < 0 || (size_t)head.bytes > used - at - sizeof head) break;
        PyObject *line = site_text(state, &code->print_sites[head.site], bytes + at + sizeof head);
        if (!line || PyList_Append(lines, line) < 0) Py_CLEAR(nothing);
        Py_XDECREF(line);
    }
    if (nothing) text = PyUnicode_Join(nothing, lines);
    Py_XDECREF(nothing);
    Py_XDECREF(lines);
    return text;
}

int device_notes_print(Kernel *kernel, const Code *code, const char *bytes, size_t used, bool lost) {
    PyObject *out = PySys_GetObject("stdout"); /* borrowed; NULL or None: nobody reads it */
    if (used && out && out != Py_None) {
        PyObject *text = all_text(kernel->core.state, code, bytes, used);
        PyObject *written = text ? PyObject_CallMethod(out, "write", "O", text) : NULL;
        Py_XDECREF(text);
        if (!written) return -1;
        Py_DECREF(written);
    }
    if (!lost) return 0;
    return PyErr_WarnFormat(kernel->core.state->errors[ERROR_WARNING], 1,
                            "kernel %U printed more than there is room for: what came last is lost; wait for the "
                            "device more often, or print in fewer threads",
                            ((PyFunctionObject *)kernel->core.function)->func_name);
}

/* ---- raise ---- */

static void add_note(PyObject *note) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    PyObject *done = note && value ? PyObject_CallMethod(value, "add_note", "O", note) : NULL;
    if (!done) PyErr_Clear(); /* the exception matters more than its note */
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

void device_notes_raise(Kernel *kernel, const Code *code, int32_t status, const void *exception, PyObject *where) {
    PyFunctionObject *function = (PyFunctionObject *)kernel->core.function;
    errors_raise_site(kernel->core.state, code, status, exception, PyFunction_GET_GLOBALS(function));
    PyObject *note = where ? PyUnicode_FromFormat("raised in %U of kernel %U", where, function->func_name) : NULL;
    add_note(note);
    Py_XDECREF(note);
}

/* The exception buffer as a function on the host leaves it: without calls on the way. */
static void raise_noted(Kernel *kernel, const Code *code, const KernelNotes *notes) {
    const int32_t *b = notes->block, *t = notes->thread;
    char *exception = PyMem_Calloc(1, sizeof(RaiseTrail) + notes->argument_bytes);
    if (!exception) {
        PyErr_NoMemory();
        return;
    }
    memcpy(exception + sizeof(RaiseTrail), notes->arguments, notes->argument_bytes);
    PyObject *where = PyUnicode_FromFormat("block (%d, %d, %d), thread (%d, %d, %d)", b[0], b[1], b[2], t[0], t[1],
                                           t[2]);
    device_notes_raise(kernel, code, notes->status, exception, where);
    Py_XDECREF(where);
    PyMem_Free(exception);
}

int device_notes_read(void *owner, const KernelNotes *notes) {
    Plan *plan = owner;
    Kernel *kernel = (Kernel *)Py_NewRef((PyObject *)plan->kernel); /* what is printed runs code of the user */
    Code *code = code_retain((Code *)plan->code);
    int result = device_notes_print(kernel, code, notes->printed, notes->printed_bytes, notes->lost);
    if (notes->raised) { /* it matters more than an error while printing */
        PyObject *earlier = result < 0 ? errors_take() : NULL;
        raise_noted(kernel, code, notes);
        errors_come_after(earlier);
        result = -1;
    }
    code_release(code);
    Py_DECREF(kernel);
    return result;
}
