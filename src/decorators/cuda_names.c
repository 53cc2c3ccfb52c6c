/* cuda_names.c: the names of krait.cuda that mean something in compiled code only: cuda.grid, cuda.threadIdx.x,
 * cuda.shared.array.
 *
 * Input: the rows of library/cuda.def.  Output: what krait._krait.cuda_names() gives, a dict from first name to
 * object, made when it is first asked for: krait.cuda asks.  A row with one more name is an Intrinsic; rows that share
 * a first name (atomic.add, atomic.max) become attributes of a namespace, an Intrinsic with func 0.  Called or asked
 * for a value outside compiled code, an Intrinsic says where it belongs. */
#include "decorators/decorators.h"

#include <stddef.h>       /* offsetof */
#include <string.h>       /* strcspn */
#include <structmember.h> /* T_UINT */

typedef struct Intrinsic {
    PyObject_HEAD
    PyObject *name; /* "krait.cuda.grid" */
    PyObject *doc;
    unsigned func;   /* FuncId; 0: a namespace */
    PyObject *names; /* dict: a namespace's attributes; NULL otherwise */
} Intrinsic;

static int intrinsic_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Intrinsic *)object)->names);
    return 0;
}

static int intrinsic_clear(PyObject *object) {
    Py_CLEAR(((Intrinsic *)object)->names);
    return 0;
}

static void intrinsic_dealloc(PyObject *object) {
    Intrinsic *self = (Intrinsic *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->name);
    Py_XDECREF(self->doc);
    Py_XDECREF(self->names);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *intrinsic_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    return PyErr_Format(PyExc_RuntimeError,
                        "%U can be used in a kernel or a device function only, which cuda.jit compiles",
                        ((Intrinsic *)object)->name);
}

static PyObject *intrinsic_getattro(PyObject *object, PyObject *name) {
    Intrinsic *self = (Intrinsic *)object;
    PyObject *found = self->names ? PyDict_GetItemWithError(self->names, name) : NULL;
    if (found) return Py_NewRef(found);
    return PyErr_Occurred() ? NULL : PyObject_GenericGetAttr(object, name);
}

static PyObject *intrinsic_repr(PyObject *object) {
    Intrinsic *self = (Intrinsic *)object;
    return PyUnicode_FromFormat(self->func ? "<%U, for compiled code>" : "<%U, names for compiled code>", self->name);
}

static PyObject *intrinsic_dir(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *names = ((Intrinsic *)object)->names;
    return names ? PyDict_Keys(names) : PyList_New(0);
}

/* By its place: pickle finds krait.cuda.atomic.add by attribute. */
static PyObject *intrinsic_reduce(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *operators = PyImport_ImportModule("krait.cuda");
    PyObject *tail = operators ? PyUnicode_Substring(((Intrinsic *)object)->name, (Py_ssize_t)strlen("krait.cuda."),
                                                     PY_SSIZE_T_MAX)
                               : NULL;
    Py_XDECREF(operators);
    return tail;
}

static PyObject *get_module(PyObject *object, void *closure) {
    (void)object, (void)closure;
    return PyUnicode_FromString("krait.cuda");
}

static PyObject *get_qualname(PyObject *object, void *closure) {
    (void)closure;
    return PyUnicode_Substring(((Intrinsic *)object)->name, (Py_ssize_t)strlen("krait.cuda."), PY_SSIZE_T_MAX);
}

static PyMethodDef intrinsic_methods[] = {
    {"__dir__", intrinsic_dir, METH_NOARGS, NULL},
    {"__reduce__", intrinsic_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef intrinsic_members[] = {
    {"__name__", T_OBJECT_EX, offsetof(Intrinsic, name), READONLY, NULL},
    {"__doc__", T_OBJECT_EX, offsetof(Intrinsic, doc), READONLY, NULL},
    {"func", T_UINT, offsetof(Intrinsic, func), READONLY, "number of the library function"},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef intrinsic_getset[] = {
    {"__module__", get_module, NULL, NULL, NULL},
    {"__qualname__", get_qualname, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot intrinsic_slots[] = {
    {Py_tp_call, intrinsic_call},       {Py_tp_getattro, intrinsic_getattro},
    {Py_tp_repr, intrinsic_repr},       {Py_tp_traverse, intrinsic_traverse},
    {Py_tp_clear, intrinsic_clear},     {Py_tp_dealloc, intrinsic_dealloc},
    {Py_tp_methods, intrinsic_methods}, {Py_tp_members, intrinsic_members},
    {Py_tp_getset, intrinsic_getset},   {0, NULL},
};

static PyType_Spec intrinsic_spec = {"krait._krait.Intrinsic", sizeof(Intrinsic), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     intrinsic_slots};

static PyObject *intrinsic_new(ModuleState *state, const char *name, size_t length, unsigned func, const char *doc) {
    Intrinsic *self = (Intrinsic *)state->intrinsic_class->tp_alloc(state->intrinsic_class, 0);
    if (!self) return NULL;
    self->name = PyUnicode_FromStringAndSize(name, (Py_ssize_t)length);
    self->doc = PyUnicode_FromString(doc);
    self->func = func;
    if (!self->name || !self->doc) Py_CLEAR(self);
    return (PyObject *)self;
}

/* Puts the row under `name`, "krait.cuda.a.b", making the namespaces on the way. */
static int add_row(ModuleState *state, PyObject *names, const char *name, size_t length, unsigned func) {
    size_t start = strlen(library_info[LIBRARY_CUDA].prefix);
    for (;;) {
        size_t part = strcspn(name + start, ". ");
        bool last = start + part >= length;
        PyObject *key = PyUnicode_FromStringAndSize(name + start, (Py_ssize_t)part);
        PyObject *found = key ? PyDict_GetItemWithError(names, key) : NULL;
        if (key && !found && !PyErr_Occurred()) {
            found = intrinsic_new(state, name, start + part, last ? func : 0,
                                  last ? func_info[func].doc : "Names for compiled code.");
            if (found && PyDict_SetItem(names, key, found) < 0) Py_CLEAR(found);
            Py_XDECREF(found); /* the dict has it */
        }
        Py_XDECREF(key);
        if (!found) return -1;
        if (last) return 0;
        Intrinsic *space = (Intrinsic *)found;
        if (!space->names && !(space->names = PyDict_New())) return -1;
        names = space->names;
        start += part + 1;
    }
}

static PyObject *make_names(ModuleState *state) {
    PyObject *names = PyDict_New();
    int result = names ? 0 : -1;
    for (unsigned func = 1; result == 0 && func < FUNC_COUNT; func++) {
        if (func_info[func].library != LIBRARY_CUDA) continue;
        for (const char *at = func_info[func].head.names; result == 0 && *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            result = add_row(state, names, at, length, func);
            at += length;
        }
    }
    if (result < 0) Py_CLEAR(names);
    return names;
}

static PyObject *cuda_names(PyObject *module, PyObject *unused) {
    (void)unused;
    ModuleState *state = module_state(module);
    if (!state->cuda_names) {
        PyObject *names = make_names(state);
        if (!names) return NULL;
        if (state->cuda_names) /* another thread was faster */
            Py_DECREF(names);
        else
            state->cuda_names = names;
    }
    return Py_NewRef(state->cuda_names);
}

static PyMethodDef functions[] = {
    {"cuda_names", cuda_names, METH_NOARGS, "The names of krait.cuda that mean something in compiled code."},
    {NULL, NULL, 0, NULL},
};

int cuda_names_add(PyObject *module, ModuleState *state) {
    if (!(state->intrinsic_class = module_add_class(module, &intrinsic_spec, NULL, true))) return -1;
    objects_set_intrinsic_type(state->session.objects, state->intrinsic_class);
    return PyModule_AddFunctions(module, functions);
}
