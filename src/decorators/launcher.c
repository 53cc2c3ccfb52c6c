/* launcher.c: the class Launcher: a kernel with its configuration, which launch.c launches.
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
