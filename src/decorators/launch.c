/* launch.c: kernel[grid, block, stream, shared](...): a Launcher, called by vectorcall.
 *
 * A launch: unpack the arguments into a buffer on the C stack as a specialisation for this device takes them, see
 * which facts hold of them (that decides which of two variants of the code runs), then either pack the GPU's
 * parameter buffer and hand it to the driver, or run the grid on the host device.  Warm launches allocate nothing.
 * Arguments no specialisation takes lead to a compilation. */
#include "decorators/kernel.h"
#include "decorators/numpy_api.h"

#include <stddef.h>       /* offsetof */
#include <string.h>       /* memcpy */
#include <structmember.h> /* T_PYSSIZET */

enum { STACK_BUFFER = 2048, MAX_STACK_PARAMS = 32, HOST_BLOCK = 256 };

int kernel_device(Kernel *kernel, CudaContext **context) {
    Cuda *cuda = kernel->core.state->cuda;
    int gpu = cuda_use_gpu(cuda);
    *context = NULL;
    if (gpu <= 0) return gpu;
    *context = cuda_current(cuda);
    return *context ? 0 : -1;
}

void kernel_config(const Kernel *kernel, CudaContext *context, uint32_t facts, Config *config) {
    *config = kernel->core.config;
    config->target = context ? TARGET_NVPTX : TARGET_HOST;
    config->codegen.compute_capability = context ? context_compute_capability(context) : 0;
    config->codegen.ptx_version = context ? cuda_max_ptx_version(kernel->core.state->cuda) : 0;
    config->codegen.facts = facts;
}

/* ---- running ---- */

typedef struct Choice { /* of a specialisation */
    Launcher *self;
    CudaContext *context;
    PyObject *const *bound;
    bool convert;                   /* arguments are converted to the specialisation's types */
    const unsigned char *transfers; /* of each argument, 0 or 1 + Transfer; NULL: none says */
} Choice;

static int check_threads(const Launcher *self, const Dims *block) {
    unsigned threads = block->x[0] * block->x[1] * block->x[2];
    int most = self->kernel->core.options.max_threads;
    if (most == 0 || threads <= (unsigned)most) return 0;
    PyErr_Format(PyExc_ValueError, "a block of %u threads: the kernel's launch_bounds allow %d", threads, most);
    return -1;
}

/* forall: as many blocks as the tasks need. */
static int grid_for_tasks(const Launcher *self, CudaKernel *loaded, Dims *grid, Dims *block) {
    if (self->tasks < 0) return 0;
    if (block->x[0] == 0) {
        int best = loaded ? cuda_kernel_best_block(loaded, self->shared_bytes) : HOST_BLOCK;
        if (best < 0) return -1;
        block->x[0] = (unsigned)best;
    }
    int64_t blocks = self->tasks / block->x[0] + (self->tasks % block->x[0] != 0);
    if (blocks > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%lld tasks in blocks of %u threads: a grid has at most %d blocks along x",
                     (long long)self->tasks, block->x[0], INT32_MAX);
        return -1;
    }
    grid->x[0] = (unsigned)blocks;
    return grid->x[0] == 0; /* no task: nothing to launch */
}

/* A real GPU's limit holds on the host device too, so that what runs here runs there. */
static int check_shared(const Launcher *self, const Spec *spec) {
    if ((size_t)self->shared_bytes + spec->code->shared_bytes <= MAX_BLOCK_SHARED) return 0;
    PyErr_Format(PyExc_ValueError,
                 "a block of this kernel would need %u bytes of dynamic and %zu of static shared memory: the host "
                 "device, as an H200, has %d a block",
                 self->shared_bytes, spec->code->shared_bytes, MAX_BLOCK_SHARED);
    return -1;
}

static int run_on_host(Launcher *self, Spec *spec, char *buffer) {
    if (check_shared(self, spec) < 0) return -1;
    HostLaunch launch = {.kernel = host_code_kernel(spec->code->host),
                         .shared_static = spec->code->shared_bytes,
                         .shared_dynamic = self->shared_bytes,
                         .fibers = spec->code->has_barriers,
                         .args = buffer,
                         .exception = buffer + spec->exception_offset,
                         .exception_bytes = spec->code->exception_bytes};
    HostLaunchReport report = {.bad_block = -1, .bad_thread = -1, .bad_site = UINT32_MAX};
    Dims grid = self->grid, block = self->block;
    int empty = grid_for_tasks(self, NULL, &grid, &block);
    if (empty) return empty < 0 ? -1 : 0;
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = (int32_t)grid.x[i];
        launch.block[i] = (int32_t)block.x[i];
    }
    bool ran;
    spec->references++;
    Py_BEGIN_ALLOW_THREADS ran = host_device_launch(&launch, &report);
    Py_END_ALLOW_THREADS int result = ran ? launch_report(self->kernel, spec, &launch, &report)
                                          : (PyErr_NoMemory(), -1);
    spec_release(spec);
    return result;
}

/* Arrays of this GPU are noted as used by the stream.  1: there are others; -1: exception set. */
static int note_arrays(const Launcher *self, const Plan *plan, const char *buffer, CudaContext *context) {
    const Device *device = context_as_device(context);
    PyTypeObject *device_array = self->kernel->core.state->marshal.device_array;
    int others = 0;
    for (uint32_t i = 0; i < plan->narrays; i++) {
        PyObject *owner = ((const ArrayHead *)(buffer + plan->arrays[i].offset))->owner;
        if (!Py_IS_TYPE(owner, device_array) || ((DeviceArray *)owner)->device != device)
            others = 1;
        else if (device_array_used((DeviceArray *)owner, self->stream_handle, self->stream) < 0)
            return -1;
    }
    return others;
}

static int refuse_host_arrays(void) {
    PyErr_SetString(PyExc_RuntimeError,
                    "a launch with host arrays cannot be recorded in a graph: copy them to device arrays, in the graph "
                    "if they are to be read anew each time");
    return -1;
}

static int run_on_gpu(const Choice *choice, Spec *spec, Plan *plan, char *buffer) {
    Launcher *self = choice->self;
    CudaContext *context = choice->context;
    ModuleState *state = self->kernel->core.state;
    CudaKernel *loaded = plan_kernel(self->kernel, spec, plan, context);
    Staging staging;
    Dims grid = self->grid, block = self->block;
    _Alignas(16) char params[MAX_PARAMS_BYTES];
    if (!loaded) return -1;
    int empty = grid_for_tasks(self, loaded, &grid, &block);
    if (empty) return empty < 0 ? -1 : 0;
    int staged = note_arrays(self, plan, buffer, context);
    if (staged < 0) return -1;
    if (staged && runtime_capture) return refuse_host_arrays();
    if (staged && staging_in(&staging, plan, context, self->stream_handle, buffer, state, choice->transfers) < 0) {
        staging_out(&staging, context, self->stream_handle, false);
        return -1;
    }
    plan_pack(plan, buffer, params);
    CudaLaunch launch = {.grid = {grid.x[0], grid.x[1], grid.x[2]},
                         .block = {block.x[0], block.x[1], block.x[2]},
                         .stream = self->stream_handle,
                         .shared_bytes = self->shared_bytes,
                         .attributes = self->has_attributes ? &self->attributes : NULL,
                         .params = params,
                         .params_bytes = plan->params_bytes};
    int result = cuda_kernel_launch(loaded, &launch);
    if (staged && staging_out(&staging, context, self->stream_handle, result == 0) < 0) result = -1;
    return result;
}

/* ---- choosing ---- */

static bool for_device(const Spec *spec, const CudaContext *context) {
    const Config *config = &spec->code->config;
    if (!context) return config->target == TARGET_HOST;
    return config->target == TARGET_NVPTX && config->codegen.compute_capability == context_compute_capability(context);
}

/* Of all facts or of none: whether the specialisation is the variant for this call.  forall: a block has a warp at
 * least. */
static bool is_variant(const Launcher *self, const Spec *spec, const Plan *plan, const char *buffer) {
    enum { LEAST_BLOCK = 32 };
    int64_t block = self->block.x[0] ? self->block.x[0] : LEAST_BLOCK;
    Dims grid = self->grid;
    if (self->tasks >= 0) grid.x[0] = self->tasks / block < SMALL_BLOCKS ? 1 : UINT32_MAX;
    return (plan_facts(plan, buffer, &grid) == FACTS_ALL) == (spec->code->config.codegen.facts == FACTS_ALL);
}

/* MARSHAL_OK: launched, *status tells how it went.  MISMATCH: this specialisation is not for these arguments. */
static MarshalResult try_launch(const Choice *choice, Spec *spec, char *buffer, int *status) {
    Launcher *self = choice->self;
    const Marshal *marshal = &self->kernel->core.state->marshal;
    MarshalResult filled = (choice->convert ? spec_convert : spec_unpack)(marshal, spec, choice->bound, buffer);
    if (filled == MARSHAL_ERROR && choice->convert) binding_name_argument(&self->kernel->core.binding, spec->refused);
    if (filled != MARSHAL_OK) return filled;
    if (!spec_guards(spec)) return MARSHAL_MISMATCH;
    Plan *plan = plan_of(self->kernel, spec);
    if (!plan) return MARSHAL_ERROR;
    if (!is_variant(self, spec, plan, buffer)) return MARSHAL_MISMATCH;
    *status = choice->context ? run_on_gpu(choice, spec, plan, buffer) : run_on_host(self, spec, buffer);
    return MARSHAL_OK;
}

static MarshalResult try_launch_buffer(const Choice *choice, Spec *spec, int *status) {
    _Alignas(64) char buffer[STACK_BUFFER];
    if (spec->buffer_bytes <= sizeof buffer) return try_launch(choice, spec, buffer, status);
    char *heap = PyMem_Malloc(spec->buffer_bytes + 64);
    if (!heap) return PyErr_NoMemory(), MARSHAL_ERROR;
    MarshalResult filled = try_launch(choice, spec, (char *)(((uintptr_t)heap + 63) & ~(uintptr_t)63), status);
    PyMem_Free(heap);
    return filled;
}

/* -1: exception set; 0: launched; 1: it does not take these arguments. */
static int launch_if_it_takes(const Choice *choice, Spec *spec) {
    int status = 0;
    if (!for_device(spec, choice->context)) return 1;
    spec->references++; /* guards and conversions may run anything, and that may drop it */
    MarshalResult filled = try_launch_buffer(choice, spec, &status);
    spec_release(spec);
    return filled == MARSHAL_OK ? status : filled == MARSHAL_ERROR ? -1 : 1;
}

/* The same; 1: nothing there takes these arguments. */
static int launch_known(const Choice *choice) {
    Specialiser *core = &choice->self->kernel->core;
    int status = 1;
    if (core->nspecs <= FEW_SPECS) {
        for (Py_ssize_t i = 0; i < core->nspecs && status == 1; i++)
            status = launch_if_it_takes(choice, core->specs[i]);
        return status;
    }
    uint64_t fingerprint = table_fingerprint(core, choice->bound);
    size_t at = 0;
    for (Spec *spec; status == 1 && (spec = table_next(core, fingerprint, &at)) != NULL;)
        status = launch_if_it_takes(choice, spec);
    return status;
}

/* The specialisation for these arguments on this device, compiled if need be: `like` is its other variant, if there
 * is one. */
static Spec *compile_variant(const Choice *choice, uint32_t facts, const Spec *like) {
    Kernel *kernel = choice->self->kernel;
    Config config;
    kernel_config(kernel, choice->context, facts, &config);
    if (like && like->convert)
        return specialiser_compile(&kernel->core, &config, like->code->params, like->code->param_konsts, like->nargs,
                                   like->declared, true);
    if (kernel->core.signatures && kernel_compile_signatures(kernel, &config) < 0) return NULL;
    return specialiser_for_arguments(&kernel->core, &config, choice->bound);
}

/* Compiles the variant these arguments need: the one that knows all facts first, then, if one does not hold, the
 * general one. */
static int launch_compiled(Choice *choice) {
    Specialiser *core = &choice->self->kernel->core;
    Spec *spec = NULL;
    for (int variant = 1; variant >= 0; variant--) {
        int status = 0;
        spec = compile_variant(choice, variant ? FACTS_ALL : 0, spec);
        if (!spec) return -1;
        choice->convert = spec->convert;
        table_note(core, table_fingerprint(core, choice->bound), spec);
        MarshalResult filled = try_launch_buffer(choice, spec, &status);
        if (filled == MARSHAL_OK) return status;
        if (filled == MARSHAL_ERROR) return -1;
    }
    PyErr_SetString(PyExc_TypeError, "an argument does not convert to its declared type");
    return -1;
}

/* The launch goes to the GPU on which the arrays lie.  -1: they lie on several. */
static int follow_arrays(Choice *choice) {
    const Kernel *kernel = choice->self->kernel;
    const ModuleState *state = kernel->core.state;
    const Device *home = NULL;
    if (!choice->context) return 0;
    for (Py_ssize_t i = 0; i < kernel->core.binding.nparams; i++) {
        if (!Py_IS_TYPE(choice->bound[i], state->marshal.device_array)) continue;
        const Device *device = ((DeviceArray *)choice->bound[i])->device;
        if (home && home != device) {
            PyErr_Format(PyExc_ValueError,
                         "the arrays of a launch lie on different GPUs, %d and %d: copy them to one of them",
                         home->ordinal, device->ordinal);
            return -1;
        }
        home = device;
    }
    if (home && home != context_as_device(choice->context)) choice->context = cuda_context(state->cuda, home->ordinal);
    return 0;
}

static int launch_slow(Choice *choice, PyObject **bound) {
    Kernel *kernel = choice->self->kernel;
    PyObject *few[MAX_STACK_PARAMS] = {NULL}, **made = few;
    unsigned char few_transfers[MAX_STACK_PARAMS] = {0}, *transfers = few_transfers;
    Py_ssize_t count = kernel->core.binding.nparams;
    if (count > MAX_STACK_PARAMS) { /* one block: the references, then the bytes */
        if (!(made = PyMem_Calloc((size_t)count, sizeof *made + 1))) return PyErr_NoMemory(), -1;
        transfers = (unsigned char *)(made + count);
    }
    choice->transfers = transfers;
    int status = arguments_adopt(kernel, choice->context != NULL, bound, made, transfers);
    if (status == 1)
        status = follow_arrays(choice) < 0 ? -1 : launch_known(choice);
    else if (status == 0)
        status = 1;
    if (status == 1) status = launch_compiled(choice);
    for (Py_ssize_t i = 0; i < count; i++) Py_XDECREF(made[i]);
    if (made != few) PyMem_Free(made);
    return status;
}

/* Host arrays of a launch on the host device, whose elements a GPU would have copied before. */
static bool has_host_arrays(PyObject *const *bound, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyArray_Check(bound[i])) return true;
    return false;
}

/* In a block of cuda.graph() a GPU records what it is given, and the graph how it came about; for the host device that
 * is all. */
static int launch_recorded(Choice *choice, PyObject **bound) {
    const Binding *binding = &choice->self->kernel->core.binding;
    Py_ssize_t mark = graph_mark(), count = binding->nparams;
    int status;
    if (binding->varargs) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel with *args cannot be recorded in a graph");
        return -1;
    }
    if (choice->context) {
        status = launch_known(choice);
        if (status == 1) status = launch_slow(choice, bound);
    } else {
        status = has_host_arrays(bound, count) ? 1 : 0;
        if (status) refuse_host_arrays();
    }
    return status == 0 ? graph_add_launch((PyObject *)choice->self, bound, count, mark) : -1;
}

PyObject *launch_plain(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Launcher *self = (Launcher *)callable;
    Binding *binding = &self->kernel->core.binding;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *few[MAX_STACK_PARAMS], **bound = few, *rest = NULL;
    int status = -1;
    if (binding->nparams > MAX_STACK_PARAMS && !(bound = PyMem_Malloc((size_t)binding->nparams * sizeof *bound)))
        return PyErr_NoMemory();
    bool convert = self->kernel->core.signatures &&
                   PyList_GET_SIZE(self->kernel->core.signatures) == 1; /* no choice to make */
    Choice choice = {self, NULL, bound, convert, NULL};
    if (kernel_device(self->kernel, &choice.context) < 0 || check_threads(self, &self->block) < 0) goto done;
    if (binding_direct(binding, nargs, kwnames))
        memcpy(bound, args, (size_t)nargs * sizeof *bound);
    else if (binding_fill(binding, args, nargs, kwnames, bound, &rest) < 0)
        goto done;
    if (follow_arrays(&choice) < 0) goto done;
    if (KRAIT_UNLIKELY(runtime_capture != NULL)) {
        status = launch_recorded(&choice, bound);
        goto done;
    }
    status = launch_known(&choice);
    if (status == 1) status = launch_slow(&choice, bound);
done:
    Py_XDECREF(rest);
    if (bound != few) PyMem_Free(bound);
    if (status != 0) return NULL;
    Py_RETURN_NONE;
}

/* ---- the class ---- */

PyObject *launcher_new(Kernel *kernel, const Dims *grid, const Dims *block, PyObject *stream, unsigned shared_bytes,
                       int64_t tasks) {
    ModuleState *state = kernel->core.state;
    void *handle = NULL;
    if (stream && runtime_stream_handle(&state->marshal, stream, &handle) < 0) return NULL;
    Launcher *self = (Launcher *)state->launcher_class->tp_alloc(state->launcher_class, 0);
    if (!self) return NULL;
    PyObject *extensions = PyDict_GetItemString(kernel->core.options.given, "extensions");
    self->vectorcall = extensions && PyObject_IsTrue(extensions) == 1 ? launch_extended : launch_plain;
    self->kernel = (Kernel *)Py_NewRef((PyObject *)kernel);
    self->grid = *grid;
    self->block = *block;
    self->stream = Py_XNewRef(stream);
    self->stream_handle = handle;
    self->shared_bytes = shared_bytes;
    self->tasks = tasks;
    return (PyObject *)self;
}

static int launcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Launcher *)object)->kernel);
    Py_VISIT(((Launcher *)object)->stream);
    return 0;
}

static void launcher_dealloc(PyObject *object) {
    Launcher *self = (Launcher *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->kernel);
    Py_XDECREF(self->stream);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *launcher_repr(PyObject *object) {
    Launcher *self = (Launcher *)object;
    PyObject *name = ((PyFunctionObject *)self->kernel->core.function)->func_qualname;
    if (self->tasks >= 0)
        return PyUnicode_FromFormat("<kernel %U for all of %lld tasks>", name, (long long)self->tasks);
    return PyUnicode_FromFormat("<kernel %U[(%u, %u, %u), (%u, %u, %u)]>", name, self->grid.x[0], self->grid.x[1],
                                self->grid.x[2], self->block.x[0], self->block.x[1], self->block.x[2]);
}

static PyMemberDef launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, vectorcall), READONLY, NULL},
    {"kernel", T_OBJECT_EX, offsetof(Launcher, kernel), READONLY, "what is launched"},
    {"sharedmem", T_UINT, offsetof(Launcher, shared_bytes), READONLY, "bytes of dynamic shared memory"},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *dims_tuple(const Dims *dims) { return Py_BuildValue("(III)", dims->x[0], dims->x[1], dims->x[2]); }
static PyObject *get_griddim(PyObject *self, void *closure) {
    return (void)closure, dims_tuple(&((Launcher *)self)->grid);
}
static PyObject *get_blockdim(PyObject *self, void *closure) {
    return (void)closure, dims_tuple(&((Launcher *)self)->block);
}

static PyGetSetDef launcher_getset[] = {
    {"griddim", get_griddim, NULL, "blocks along x, y, z", NULL},
    {"blockdim", get_blockdim, NULL, "threads of a block along x, y, z", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot launcher_slots[] = {
    {Py_tp_doc, "A kernel with its launch configuration; call it with the kernel's arguments."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, launcher_traverse},
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
