/* kernel.c: @cuda.jit: kernels, and device functions that kernels call.
 *
 * kernel[grid, block, stream, sharedmem] gives a Launcher (launcher.c).
 * Which device runs a kernel is decided at each launch (runtime_device); the specialisations of all devices hang on one
 * Specialiser. */
#include "decorators/kernel.h"

#include <limits.h>       /* INT_MAX */
#include <stddef.h>       /* offsetof */
#include <structmember.h> /* T_PYSSIZET */

#include "decorators/inspect.h" /* inspect_stage */

/* ---- launch configuration ---- */

/* What has up to three dimensions. */
typedef struct Counted {
    const char *name;
    bool follows; /* from the size of the data, by a division that may give no whole number, or none */
} Counted;
static const Counted counted_grid = {"grid", true}, counted_block = {"block", false},
                     counted_cluster = {"cluster", false};

static int read_dim(PyObject *object, const Counted *what, unsigned *value) {
    PyObject *index = PyNumber_Index(object);
    long long number = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (number >= 1 && number <= 2147483647) {
        *value = (unsigned)number;
        return 0;
    }
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    bool integer = PyIndex_Check(object), divided = PyFloat_Check(object);
    const char *what_if_empty = "";
    PyErr_Clear();
    const char *advice = "";
    if (what->follows && (divided || (number == 0 && integer)))
        advice = ": round up to an int, (n + threads - 1) // threads or int(np.ceil(n / threads))";
    else if (divided)
        advice = ": write int(...), or // in place of /";
    else if (!integer)
        advice = ": it is kernel[blocks, threads](arguments)";
    else if (!PyLong_Check(object)) /* as a stream, which has an address */
        advice = ": it is kernel[blocks, threads, stream](arguments)";
    if (what->follows && number == 0 && integer)
        what_if_empty = "; where an array is empty, do not launch: if n > 0: ...";
    PyErr_Format(integer ? PyExc_ValueError : PyExc_TypeError, "the %s is made of whole numbers from 1, not %R%s%s",
                 what->name, object, advice, what_if_empty);
    return -1;
}

static int read_dims(PyObject *object, const Counted *what, Dims *dims) {
    *dims = (Dims){{1, 1, 1}};
    if (!PyTuple_Check(object) && !PyList_Check(object)) return read_dim(object, what, &dims->x[0]);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    if (count < 1 || count > 3) {
        PyErr_Format(PyExc_ValueError,
                     "the %s has 1, 2 or 3 dimensions, %R has %zd: make one of two, and take its index apart in "
                     "the kernel, i, j = i // n, i %% n",
                     what->name, object, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (read_dim(PySequence_Fast_GET_ITEM(object, i), what, &dims->x[i]) < 0) return -1;
    return 0;
}

static int check_dims(const Kernel *self, const Dims *grid, const Dims *block) {
    int most = self->core.options.max_threads;
    uint64_t threads = (uint64_t)block->x[0] * block->x[1] * block->x[2];
    if (block->x[0] > MAX_BLOCK_THREADS || block->x[1] > MAX_BLOCK_THREADS || block->x[2] > MAX_BLOCK_Z ||
        threads > MAX_BLOCK_THREADS) {
        PyErr_Format(PyExc_ValueError,
                     "a block of (%u, %u, %u) threads: a block has at most %d threads, at most %d of them along z; it "
                     "is kernel[blocks, threads], with more blocks of fewer threads: kernel[(n + 255) // 256, 256]",
                     block->x[0], block->x[1], block->x[2], MAX_BLOCK_THREADS, MAX_BLOCK_Z);
        return -1;
    }
    if (most > 0 && threads > (uint64_t)most) {
        PyErr_Format(PyExc_ValueError, "a block of %u threads: the kernel's launch_bounds allow %d", (unsigned)threads,
                     most);
        return -1;
    }
    if (grid->x[1] > MAX_GRID_YZ || grid->x[2] > MAX_GRID_YZ) {
        PyErr_Format(PyExc_ValueError,
                     "a grid of (%u, %u, %u) blocks: there are at most %d along y and z: give the longest axis of the "
                     "data to x, or let each thread compute several elements, in a loop with cuda.gridsize",
                     grid->x[0], grid->x[1], grid->x[2], MAX_GRID_YZ);
        return -1;
    }
    return 0;
}

static int read_shared(PyObject *object, unsigned *bytes) {
    PyObject *index = object ? PyNumber_Index(object) : PyLong_FromLong(0);
    long long number = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError,
                     "sharedmem is a number of bytes, an int, as kernel[grid, block, stream, 1024]: not %R", object);
    if (PyErr_Occurred()) return -1;
    if (number >= 0 && number <= 1 << 30) {
        *bytes = (unsigned)number;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "sharedmem is a number of bytes, not %R", object);
    return -1;
}

int kernel_report(Kernel *kernel, unsigned kind, bool *once, const char *format, ...) {
    const ModuleState *state = kernel->core.state;
    va_list list;
    if (!(state->reports & kind) || (once && *once)) return 0;
    if (once) *once = true;
    va_start(list, format);
    PyObject *text = PyUnicode_FromFormatV(format, list);
    va_end(list);
    int status = text ? PyErr_WarnFormat(state->errors[ERROR_PERFORMANCE], 1, "kernel %U: %U",
                                         ((PyFunctionObject *)kernel->core.function)->func_qualname, text)
                      : -1;
    Py_XDECREF(text);
    return status;
}

/* As Numba counts: a GPU has about so many multiprocessors. */
static int report_occupancy(Kernel *self, const Dims *grid) {
    enum { FEW_BLOCKS = 128 };
    uint64_t blocks = (uint64_t)grid->x[0] * grid->x[1] * grid->x[2];
    if (KRAIT_UNLIKELY(self->core.state->reports != 0) && blocks < FEW_BLOCKS)
        return kernel_report(self, REPORT_OCCUPANCY, NULL, "a grid of %llu blocks leaves most of a GPU idle",
                             (unsigned long long)blocks);
    return 0;
}

PyObject *kernel_launcher(Kernel *self, PyObject *grid_object, PyObject *block_object, PyObject *stream,
                          PyObject *shared) {
    LaunchConfig config = {.block = {{1, 1, 1}}};
    bool chosen = block_object == Py_None;
    if (self->core.options.device)
        return PyErr_Format(
            PyExc_TypeError,
            "%U is a device function: kernels call it, it is not launched; without device=True it is a kernel",
            ((PyFunctionObject *)self->core.function)->func_qualname);
    if (read_dims(grid_object, &counted_grid, &config.grid) < 0 ||
        (!chosen && read_dims(block_object, &counted_block, &config.block) < 0) ||
        check_dims(self, &config.grid, &config.block) < 0 || read_shared(shared, &config.shared_bytes) < 0 ||
        report_occupancy(self, &config.grid) < 0)
        return NULL;
    if (chosen) config.block.x[0] = 0;
    return launcher_new(self, &config, stream, chosen ? BLOCK_CHOSEN : GRID_GIVEN);
}

/* Clusters are whole: they divide the grid. */
static int read_attributes(Launcher *launcher, int cooperative, int programmatic, PyObject *cluster,
                           PyObject *priority) {
    LaunchAttributes *attributes = &launcher->config.attributes;
    const unsigned *grid = launcher->config.grid.x;
    enum { MAX_CLUSTER = 16 };
    attributes->cooperative = cooperative;
    attributes->programmatic = programmatic;
    attributes->has_priority = priority != Py_None;
    long level = priority == Py_None ? 0 : PyLong_AsLong(priority);
    if (level == -1 && PyErr_Occurred()) return -1;
    if (level < INT_MIN || level > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "no stream has the priority %ld", level);
        return -1;
    }
    attributes->priority = (int)level;
    if (cluster != Py_None) {
        Dims dims;
        if (read_dims(cluster, &counted_cluster, &dims) < 0) return -1;
        bool fits = (uint64_t)dims.x[0] * dims.x[1] * dims.x[2] <= MAX_CLUSTER;
        for (int i = 0; i < 3; i++) fits = fits && grid[i] % dims.x[i] == 0;
        if (!fits) {
            PyErr_Format(PyExc_ValueError,
                         "a cluster has at most %d blocks, and clusters divide the grid: %R does not "
                         "divide (%u, %u, %u)",
                         MAX_CLUSTER, cluster, grid[0], grid[1], grid[2]);
            return -1;
        }
        attributes->cluster = dims;
    }
    launcher->config.has_attributes = cooperative || programmatic || attributes->has_priority ||
                                      attributes->cluster.x[0];
    return 0;
}

PyObject *kernel_configure(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"griddim", "blockdim",     "stream",   "sharedmem", "cooperative",
                               "cluster", "programmatic", "priority", NULL};
    PyObject *grid, *block, *stream = NULL, *shared = NULL, *cluster = Py_None, *priority = Py_None;
    int cooperative = 0, programmatic = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO$pOpO:configure", keywords, &grid, &block, &stream, &shared,
                                     &cooperative, &cluster, &programmatic, &priority))
        return NULL;
    PyObject *launcher = kernel_launcher((Kernel *)object, grid, block, stream, shared);
    if (launcher && read_attributes((Launcher *)launcher, cooperative, programmatic, cluster, priority) < 0)
        Py_CLEAR(launcher);
    return launcher;
}

PyObject *kernel_forall(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"ntasks", "tpb", "stream", "sharedmem", NULL};
    long long tasks, threads = 0;
    PyObject *stream = NULL, *shared = NULL, *count;
    LaunchConfig config = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|LOO:forall", keywords, &count, &threads, &stream, &shared))
        return NULL;
    PyObject *index = PyNumber_Index(count);
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError))
        return PyErr_Format(PyExc_TypeError,
                            "forall(ntasks): ntasks is how many threads there are to be, an int, as x.size or n // 2, "
                            "not of type %s",
                            Py_TYPE(count)->tp_name);
    tasks = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (tasks == -1 && PyErr_Occurred()) return NULL;
    if (read_shared(shared, &config.shared_bytes) < 0) return NULL;
    if (tasks < 0 || threads < 0 || threads > MAX_BLOCK_THREADS)
        return PyErr_Format(PyExc_ValueError,
                            "forall(ntasks, tpb): ntasks is not negative, tpb is 0 (chosen here) to %d",
                            MAX_BLOCK_THREADS);
    config.grid = (Dims){{1, 1, 1}};
    config.block = (Dims){{(unsigned)threads, 1, 1}};
    if (threads && check_dims((Kernel *)object, &config.grid, &config.block) < 0) return NULL;
    return launcher_new((Kernel *)object, &config, stream, tasks);
}

/* What may be the number of blocks or threads, in place of arguments. */
static bool is_extent(PyObject *object) { return PyLong_Check(object) || PyTuple_Check(object); }

static PyObject *kernel_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Kernel *self = (Kernel *)callable;
    PyObject *name = ((PyFunctionObject *)self->core.function)->func_qualname;
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (self->core.options.device)
        return PyErr_Format(
            PyExc_TypeError,
            "%U is a device function, which kernels and compiled functions call: with @njit in place of "
            "@cuda.jit(device=True) Python calls it as well; %U.py_func(...) runs it without compiling it",
            name, name);
    if (!kwnames && (count == 2 || count == 3) && is_extent(args[0]) && is_extent(args[1]))
        return PyErr_Format(PyExc_ValueError,
                            "%U is a kernel, whose grid and block stand in brackets: %U[%R, %R](arguments)", name, name,
                            args[0], args[1]);
    return PyErr_Format(PyExc_ValueError,
                        "%U is a kernel and is launched with a grid: %U[blocks, threads](...), for n elements "
                        "%U[(n + 255) // 256, 256](...)",
                        name, name, name);
}

/* ---- making one ---- */

int kernel_compile_signatures(Kernel *kernel, const Config *config) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(kernel->core.signatures); i++) {
        Spec *spec = specialiser_for_signature(&kernel->core, config,
                                               (Signature *)PyList_GET_ITEM(kernel->core.signatures, i));
        if (!spec) return -1;
        spec_release(spec);
    }
    return 0;
}

/* A device function has no code of its own: its types are checked, for the error to come now. */
static int check_device_function(Kernel *self) {
    Config config = self->core.config;
    config.decorating = true;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->core.signatures); i++) {
        const Signature *signature = (Signature *)PyList_GET_ITEM(self->core.signatures, i);
        PyObject *typed = inspect_stage(&self->core, &config, signature->args, (size_t)signature->count, "typed");
        if (!typed) return -1;
        Py_DECREF(typed);
    }
    return 0;
}

static int compile_now(Kernel *self) {
    Config config;
    if (self->core.options.device) return check_device_function(self);
    const Device *device = runtime_device(self->core.state->runtime);
    if (!device) return -1;
    kernel_config(self, device, FACTS_ALL, &config);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->core.signatures); i++) {
        Spec *spec = specialiser_for_signature(&self->core, &config,
                                               (Signature *)PyList_GET_ITEM(self->core.signatures, i));
        const Plan *plan = spec ? plan_of(self, spec) : NULL;
        if (spec) spec_release(spec);
        if (!plan) return -1;
    }
    return 0;
}

static PyObject *kernel_decorate(ModuleState *state, PyObject *function, PyObject *signatures, const Options *options) {
    if (Py_IS_TYPE(function, state->kernel_class)) function = ((Kernel *)function)->core.function;
    if (Py_IS_TYPE(function, state->dispatcher_class)) function = ((Dispatcher *)function)->core.function;
    if (!PyFunction_Check(function)) return errors_no_function("cuda.jit", function);
    Kernel *self = (Kernel *)state->kernel_class->tp_alloc(state->kernel_class, 0);
    if (!self) return NULL;
    self->vectorcall = kernel_vectorcall;
    self->module = Py_NewRef(PyType_GetModule(state->kernel_class));
    self->dict = PyDict_New();
    self->launchers = PyDict_New();
    self->core.config.target = TARGET_HOST;
    self->core.config.kernel = true;
    self->core.config.codegen.entry = options->device ? ENTRY_FUNCTION : ENTRY_KERNEL;
    self->core.config.codegen.python_version = PY_VERSION_HEX >> 16;
    if (!self->dict || !self->launchers || copy_function_attributes(self->dict, function) < 0 ||
        specialiser_init(&self->core, state, (PyObject *)self, function, signatures, options) < 0)
        goto failed;
    self->core.can_compile = !signatures;
    if (signatures && compile_now(self) < 0) goto failed;
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static PyObject *kernel_apply(PyObject *module, PyObject *packed) {
    PyObject *signatures = PyTuple_GET_ITEM(packed, 1), *kwargs = PyTuple_GET_ITEM(packed, 2);
    Options options;
    if (options_parse(&options, OPTIONS_KERNEL, kwargs == Py_None ? NULL : kwargs) < 0) return NULL;
    PyObject *result = kernel_decorate(module_state(module), PyTuple_GET_ITEM(packed, 0),
                                       signatures == Py_None ? NULL : signatures, &options);
    Py_XDECREF(options.given);
    return result;
}

/* cuda.jit(function), cuda.jit(signature(s), **options), cuda.jit(**options) */
static PyObject *cuda_jit(PyObject *module, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    PyObject *first = Py_None, *second = Py_None, *signatures = NULL, *result = NULL;
    Options options;
    if (options_parse(&options, OPTIONS_KERNEL, kwargs) < 0) return NULL;
    if (!PyArg_ParseTuple(args, "|OO:jit", &first, &second)) goto done;
    if (signature_looks_like(state, first)) {
        if (!(signatures = signatures_from_object(state, first))) goto done;
        result = second == Py_None ? decorate_later(module, kernel_apply, signatures, kwargs)
                                   : kernel_decorate(state, second, signatures, &options);
    } else if (first == Py_None) {
        result = decorate_later(module, kernel_apply, NULL, kwargs);
    } else {
        result = kernel_decorate(state, first, NULL, &options);
    }
done:
    Py_XDECREF(signatures);
    Py_XDECREF(options.given);
    return result;
}

static Specialiser *core_of(PyObject *self) { return &((Kernel *)self)->core; }

/* ---- the class ---- */

static int kernel_traverse(PyObject *object, visitproc visit, void *arg) {
    Kernel *self = (Kernel *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->module);
    Py_VISIT(self->launchers);
    Py_VISIT(self->last_key);
    Py_VISIT(self->last);
    Py_VISIT(self->specialised);
    return specialiser_traverse(&self->core, visit, arg);
}

static int kernel_clear(PyObject *object) {
    Py_CLEAR(((Kernel *)object)->dict);
    Py_CLEAR(((Kernel *)object)->launchers);
    Py_CLEAR(((Kernel *)object)->last_key);
    Py_CLEAR(((Kernel *)object)->last);
    Py_CLEAR(((Kernel *)object)->specialised);
    return 0;
}

static void kernel_dealloc(PyObject *object) {
    Kernel *self = (Kernel *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->launchers);
    Py_CLEAR(self->last_key);
    Py_CLEAR(self->last);
    Py_CLEAR(self->specialised);
    specialiser_clear(&self->core);
    Py_CLEAR(self->module);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *kernel_repr(PyObject *self) {
    return PyUnicode_FromFormat("%s(%R)", core_of(self)->options.device ? "DeviceFunction" : "Kernel",
                                core_of(self)->function);
}

static PyMemberDef kernel_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Kernel, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Kernel, weakrefs), READONLY, NULL},
    {"py_func", T_OBJECT_EX, offsetof(Kernel, core.function), READONLY, "the Python function"},
    {"targetoptions", T_OBJECT_EX, offsetof(Kernel, core.options.given), READONLY,
     "the options as given to the decorator"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "A CUDA kernel, compiled for the types of its arguments; cuda.jit makes it, kernel[grid, block](...) "
                "launches it."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_mp_subscript, kernel_subscript},
    {Py_tp_repr, kernel_repr},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_members, kernel_members},
    {Py_tp_methods, kernel_methods},
    {Py_tp_getset, kernel_getset},
    {0, NULL},
};

static PyType_Spec kernel_spec = {"krait.cuda.Kernel", sizeof(Kernel), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  kernel_slots};

/* krait.cuda.jit: the module has a jit of its own, so it lies there under another name than the one it shows. */
static PyMethodDef cuda_jit_def = {"jit", WITH_KEYWORDS(cuda_jit), METH_VARARGS | METH_KEYWORDS, kernel_doc};

static int add_cuda_jit(PyObject *module) {
    PyObject *name = PyUnicode_FromString("krait.cuda");
    PyObject *function = name ? PyCFunction_NewEx(&cuda_jit_def, module, name) : NULL;
    int result = function ? PyModule_AddObjectRef(module, "cuda_jit", function) : -1;
    Py_XDECREF(name);
    Py_XDECREF(function);
    return result;
}

int kernel_add(PyObject *module, ModuleState *state) {
    if (!(state->kernel_class = module_add_class(module, &kernel_spec, NULL, true))) return -1;
    if (!(state->launcher_class = module_add_class(module, &launcher_spec, NULL, true))) return -1;
    if (!(state->launching = PyContextVar_New("krait.launching", Py_None))) return -1;
    if (PyModule_AddObjectRef(module, "_launching", state->launching) < 0) return -1;
    return add_cuda_jit(module);
}
