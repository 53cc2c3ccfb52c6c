/* launcher.c: the class Launcher: a kernel with its configuration, which launch.c launches.
 * kernel[...] keeps them, so that the same configuration costs one look-up, and none where it is the last one again.
 *
 * Who adds to pre_launch_callbacks, before a launch or from what Python functions say while the kernel is compiled for
 * one (krait.cuda.launchconfig), is called before each launch of the configuration. */
#include "decorators/kernel.h"

#include <stddef.h>       /* offsetof */
#include <structmember.h> /* T_PYSSIZET */

PyObject *launcher_new(Kernel *kernel, const LaunchConfig *config, PyObject *stream, int64_t tasks) {
    ModuleState *state = kernel->core.state;
    void *handle = NULL;
    if (stream && runtime_stream_handle(stream, NULL, &handle) < 0) return NULL;
    Launcher *self = (Launcher *)state->launcher_class->tp_alloc(state->launcher_class, 0);
    if (!self) return NULL;
    PyObject *extensions = PyDict_GetItemString(kernel->core.options.given, "extensions");
    self->vectorcall = extensions && PyObject_IsTrue(extensions) == 1 ? launch_extended : launch_plain;
    self->kernel = (Kernel *)Py_NewRef((PyObject *)kernel);
    self->config = *config;
    self->config.stream = handle;
    self->stream = Py_XNewRef(stream);
    self->tasks = tasks;
    self->small_grid = true;
    for (int axis = 0; axis < 3; axis++) self->small_grid &= config->grid.x[axis] <= SMALL_BLOCKS;
    return (PyObject *)self;
}

/* ---- kernel[grid, block, stream, sharedmem] ---- */

enum { MAX_LAUNCHERS = 256 };

static bool are_whole(PyObject *dims) {
    if (!PyTuple_Check(dims)) return PyIndex_Check(dims) || dims == Py_None;
    bool whole = true;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dims); i++) whole = whole && PyIndex_Check(PyTuple_GET_ITEM(dims, i));
    return whole;
}

static bool is_fraction(PyObject *object) {
    const PyNumberMethods *number = Py_TYPE(object)->tp_as_number;
    return !PyIndex_Check(object) && number && number->nb_float;
}

/* Whether what is equal to it as a key of a dict is equal to it as a configuration, too: 2.0 is no number of blocks. */
static bool is_exact(PyObject *key) {
    Py_ssize_t count = PyTuple_GET_SIZE(key);
    return are_whole(PyTuple_GET_ITEM(key, 0)) && are_whole(PyTuple_GET_ITEM(key, 1)) &&
           (count < 3 || !is_fraction(PyTuple_GET_ITEM(key, 2))) &&
           (count < 4 || PyIndex_Check(PyTuple_GET_ITEM(key, 3)));
}

/* Whether its value is fixed and cheap to compare, or it is equal to itself alone, as streams are. */
static bool is_steady(PyObject *item) {
    const PyTypeObject *type = Py_TYPE(item);
    bool steady = true;
    if (!PyTuple_CheckExact(item))
        return PyLong_CheckExact(item) || item == Py_None ||
               (type->tp_hash == PyBaseObject_Type.tp_hash && type->tp_richcompare == PyBaseObject_Type.tp_richcompare);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(item); i++)
        steady = steady && PyLong_CheckExact(PyTuple_GET_ITEM(item, i));
    return steady;
}

/* Of what is steady: false where only the hash would tell. */
static bool is_same(PyObject *item, PyObject *last) {
    int64_t number, other;
    if (item == last) return true;
    if (PyLong_CheckExact(item))
        return marshal_read_compact(item, &number) && marshal_read_compact(last, &other) && number == other;
    if (!PyTuple_CheckExact(item) || !PyTuple_CheckExact(last) || PyTuple_GET_SIZE(item) != PyTuple_GET_SIZE(last))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(item); i++) {
        if (!marshal_read_compact(PyTuple_GET_ITEM(item, i), &number)) return false;
        if (!marshal_read_compact(PyTuple_GET_ITEM(last, i), &other) || number != other) return false;
    }
    return true;
}

/* Programs configure a kernel in the same way again and again: most often the key is even the same constant. */
static inline bool is_last(const Kernel *self, PyObject *key) {
    PyObject *last = self->last_key;
    if (key == last) return true;
    if (!last || !PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != PyTuple_GET_SIZE(last)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
        if (!is_same(PyTuple_GET_ITEM(key, i), PyTuple_GET_ITEM(last, i))) return false;
    return true;
}

static PyObject *note_last(Kernel *self, PyObject *key, PyObject *launcher) {
    bool steady = PyTuple_CheckExact(key);
    for (Py_ssize_t i = 0; steady && i < PyTuple_GET_SIZE(key); i++) steady = is_steady(PyTuple_GET_ITEM(key, i));
    if (steady) {
        Py_XSETREF(self->last_key, Py_NewRef(key));
        Py_XSETREF(self->last, Py_NewRef(launcher));
    }
    return launcher;
}

void kernel_forget_launchers(Kernel *self) {
    Py_CLEAR(self->last_key);
    Py_CLEAR(self->last);
    if (self->launchers) PyDict_Clear(self->launchers);
}

PyObject *kernel_subscript(PyObject *object, PyObject *key) {
    Kernel *self = (Kernel *)object;
    if (is_last(self, key)) return Py_NewRef(self->last);
    if (!PyTuple_Check(key) || PyTuple_GET_SIZE(key) < 2 || PyTuple_GET_SIZE(key) > 4)
        return PyErr_Format(
            PyExc_ValueError,
            "a kernel is configured as kernel[grid, block], kernel[grid, block, stream] or "
            "kernel[grid, block, stream, sharedmem]; %R is none of these; kernel.forall(n) chooses both "
            "for n threads in all",
            key);
    bool kept = is_exact(key);
    PyObject *launcher = kept ? PyDict_GetItemWithError(self->launchers, key) : NULL;
    if (launcher) return note_last(self, key, Py_NewRef(launcher));
    if (PyErr_Occurred()) { /* a stream that has no hash: made each time */
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
        kept = false;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(key);
    launcher = kernel_launcher(self, PyTuple_GET_ITEM(key, 0), PyTuple_GET_ITEM(key, 1),
                               count > 2 ? PyTuple_GET_ITEM(key, 2) : NULL,
                               count > 3 ? PyTuple_GET_ITEM(key, 3) : NULL);
    if (!launcher || !kept) return launcher;
    if (PyDict_GET_SIZE(self->launchers) >= MAX_LAUNCHERS) kernel_forget_launchers(self);
    if (PyDict_SetItem(self->launchers, key, launcher) < 0) Py_CLEAR(launcher);
    return launcher ? note_last(self, key, launcher) : NULL;
}

/* ---- the class ---- */

int launcher_call_back(Launcher *self) {
    for (Py_ssize_t i = 0; self->callbacks && i < PyList_GET_SIZE(self->callbacks); i++) {
        PyObject *callback = Py_NewRef(PyList_GET_ITEM(self->callbacks, i));
        PyObject *done = PyObject_CallFunctionObjArgs(callback, self->kernel, self, NULL);
        Py_DECREF(callback);
        if (!done) return -1;
        Py_DECREF(done);
    }
    return 0;
}

/* A list that the caller may add to, so from now on each launch looks into it. */
static PyObject *get_callbacks(PyObject *object, void *closure) {
    Launcher *self = (Launcher *)object;
    (void)closure;
    if (!self->callbacks && !(self->callbacks = PyList_New(0))) return NULL;
    self->vectorcall = launch_extended;
    return Py_NewRef(self->callbacks);
}

static PyObject *get_stream(PyObject *object, void *closure) {
    PyObject *stream = ((Launcher *)object)->stream;
    (void)closure;
    return stream ? Py_NewRef(stream) : PyLong_FromLong(0);
}

static int launcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Launcher *)object)->kernel);
    Py_VISIT(((Launcher *)object)->stream);
    Py_VISIT(((Launcher *)object)->callbacks);
    return 0;
}

static int launcher_clear(PyObject *object) {
    Py_CLEAR(((Launcher *)object)->callbacks);
    return 0;
}

static void launcher_dealloc(PyObject *object) {
    Launcher *self = (Launcher *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->kernel);
    Py_XDECREF(self->stream);
    Py_XDECREF(self->callbacks);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *launcher_repr(PyObject *object) {
    Launcher *self = (Launcher *)object;
    PyObject *name = ((PyFunctionObject *)self->kernel->core.function)->func_qualname;
    if (self->tasks >= 0)
        return PyUnicode_FromFormat("<kernel %U for all of %lld tasks>", name, (long long)self->tasks);
    const unsigned *grid = self->config.grid.x, *block = self->config.block.x;
    if (block[0] == 0) return PyUnicode_FromFormat("<kernel %U[(%u, %u, %u), None]>", name, grid[0], grid[1], grid[2]);
    return PyUnicode_FromFormat("<kernel %U[(%u, %u, %u), (%u, %u, %u)]>", name, grid[0], grid[1], grid[2], block[0],
                                block[1], block[2]);
}

static PyMemberDef launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, vectorcall), READONLY, NULL},
    {"kernel", T_OBJECT_EX, offsetof(Launcher, kernel), READONLY, "what is launched"},
    {"dispatcher", T_OBJECT_EX, offsetof(Launcher, kernel), READONLY, "what is launched"},
    {"sharedmem", T_UINT, offsetof(Launcher, config.shared_bytes), READONLY, "bytes of dynamic shared memory"},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *dims_tuple(const Dims *dims) { return Py_BuildValue("(III)", dims->x[0], dims->x[1], dims->x[2]); }
static PyObject *get_griddim(PyObject *self, void *closure) {
    const Launcher *launcher = (Launcher *)self;
    (void)closure;
    if (launcher->tasks >= 0) Py_RETURN_NONE; /* follows from the block at each launch */
    return dims_tuple(&launcher->config.grid);
}
static PyObject *get_blockdim(PyObject *self, void *closure) {
    const Launcher *launcher = (Launcher *)self;
    (void)closure;
    if (launcher->config.block.x[0] == 0) Py_RETURN_NONE; /* chosen at each launch */
    return dims_tuple(&launcher->config.block);
}

static PyGetSetDef launcher_getset[] = {
    {"griddim", get_griddim, NULL, "blocks along x, y, z; None: as many as forall's tasks need", NULL},
    {"blockdim", get_blockdim, NULL, "threads of a block along x, y, z; None: chosen at the launch", NULL},
    {"stream", get_stream, NULL, "what it is launched on, as it was given; 0: the default stream", NULL},
    {"pre_launch_callbacks", get_callbacks, NULL, "a list: functions of (kernel, launcher), called before each launch",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot launcher_slots[] = {
    {Py_tp_doc, "A kernel with its launch configuration; call it with the kernel's arguments."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, launcher_traverse},
    {Py_tp_clear, launcher_clear},
    {Py_tp_dealloc, launcher_dealloc},
    {Py_tp_repr, launcher_repr},
    {Py_tp_members, launcher_members},
    {Py_tp_getset, launcher_getset},
    {0, NULL},
};

PyType_Spec launcher_spec = {"krait.cuda.Launcher", sizeof(Launcher), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             launcher_slots};
