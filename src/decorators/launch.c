/* launch.c: kernel[grid, block, stream, shared](...): a Launcher, called by vectorcall.
 *
 * A launch that quick.c leaves: unpack the arguments into a buffer on the C stack as a specialisation for this device
 * takes them, see which facts hold of them (that decides which variant of the code runs), pack the parameters
 * if the device wants them packed, and hand them to the device (runtime/device.h), of which nobody asks here what it
 * is.  Warm launches allocate nothing.  Arguments no specialisation takes lead to a compilation. */
#include "decorators/kernel.h"
#include "decorators/numpy_api.h"

#include <string.h> /* memcpy */

enum { STACK_BUFFER = 2048, MAX_STACK_PARAMS = 32 };

void kernel_config(const Kernel *kernel, const Device *device, uint32_t facts, Config *config) {
    *config = kernel->core.config;
    config->target = device->ptx_target ? TARGET_NVPTX : TARGET_HOST;
    config->codegen.compute_capability = device->ptx_target;
    config->codegen.ptx_version = device->ptx_version;
    config->codegen.facts = facts;
}

/* ---- running ---- */

typedef struct Choice { /* of a specialisation */
    Launcher *self;
    Device *device;
    PyObject *const *bound;
    bool convert;                   /* arguments are converted to the specialisation's types */
    bool settled;                   /* the device was chosen by where the arrays lie */
    uint32_t *wants;                /* gets the facts of the call; NULL: nobody asks */
    const unsigned char *transfers; /* of each argument, 0 or 1 + Transfer; NULL: none says */
    bool kept;                      /* the launch itself is left out: a graph of the host device keeps how it came */
} Choice;

/* forall: as many blocks as the tasks need; the block, where none is given.  1: there is nothing to launch; -1:
 * exception set. */
static int grid_for_tasks(const Launcher *self, DeviceKernel *loaded, LaunchConfig *config) {
    unsigned *threads = &config->block.x[0];
    if (*threads == 0) {
        Device *device = loaded->device;
        int best = 0, status = device->ops->best_block(loaded, config->shared_bytes, &best);
        if (device_check(device, status, "choosing a block size") < 0) return -1;
        int most = self->kernel->core.options.max_threads;
        *threads = (unsigned)(most && most < best ? most : best);
    }
    if (self->tasks == BLOCK_CHOSEN) return 0;
    int64_t blocks = self->tasks / *threads + (self->tasks % *threads != 0);
    if (blocks > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%lld tasks in blocks of %u threads: a grid has at most %d blocks along x",
                     (long long)self->tasks, *threads, INT32_MAX);
        return -1;
    }
    config->grid.x[0] = (unsigned)blocks;
    return blocks == 0;
}

int launch_failed(Kernel *kernel, const Spec *spec, Device *device, int status, const LaunchConfig *config,
                  const LaunchReport *report) {
    char what[256];
    const unsigned *grid = config->grid.x, *block = config->block.x;
    if (status == DEVICE_REPORTS) return launch_report(kernel, spec, config, report);
    int used = snprintf(what, sizeof what, "launching a grid of (%u, %u, %u) blocks of (%u, %u, %u) threads", grid[0],
                        grid[1], grid[2], block[0], block[1], block[2]);
    if (device->shares_memory && report->needed_bytes)
        snprintf(what + used, sizeof what - (size_t)used, ", whose blocks that run at once need %zu bytes",
                 report->needed_bytes);
    return device_raise(device, status, what);
}

static inline void pack(const Plan *plan, const char *buffer, char *params) {
    const PlanMove *move = plan->words, *end = move + plan->nwords;
    for (; move < end; move++) memcpy(params + move->to, buffer + move->from, 8);
    for (end = move + plan->nmoves; move < end; move++) memcpy(params + move->to, buffer + move->from, move->bytes);
}

/* What a launch comes to, besides 0 and -1, exception set. */
enum { NOT_TAKEN = 1, DECLINED = 2 }; /* the specialisation is not for these arguments; it has left it to FACT_FITS's */

static int give(const Choice *choice, Spec *spec, const Plan *plan, DeviceKernel *loaded, const LaunchConfig *config,
                char *buffer) {
    _Alignas(16) char packed[MAX_PARAMS_BYTES];
    Device *device = choice->device;
    const char *params = buffer;
    LaunchReport report;
    int status;
    if (choice->kept) return 0;
    if (plan->packs) {
        pack(plan, buffer, packed);
        params = packed;
    }
    report.exception = buffer + spec->exception_offset;
    report.status = 0;
    if (device_lingers(device)) {
        Py_BEGIN_ALLOW_THREADS status = device->ops->launch(loaded, config, params, &report);
        Py_END_ALLOW_THREADS
    } else {
        status = device->ops->launch(loaded, config, params, &report);
    }
    if (KRAIT_UNLIKELY(status == DEVICE_REPORTS && report.status == STATUS_DECLINED)) return DECLINED;
    if (KRAIT_UNLIKELY(status != 0)) return launch_failed(choice->self->kernel, spec, device, status, config, &report);
    return 0;
}

static int refuse_host_arrays(void) {
    PyErr_SetString(PyExc_RuntimeError,
                    "a launch with host arrays cannot be recorded in a graph: copy them to device arrays, in the graph "
                    "if they are to be read anew each time");
    return -1;
}

static int give_staged(const Choice *choice, Spec *spec, const Plan *plan, DeviceKernel *loaded,
                       const LaunchConfig *config, char *buffer) {
    Staging staging;
    Device *device = choice->device;
    if (runtime_capture) return refuse_host_arrays();
    if (kernel_report(choice->self->kernel, REPORT_COPIES, &choice->self->kernel->copies_told,
                      "host arrays are copied to the device and back at each launch: cuda.to_device() copies once") < 0)
        return -1;
    choice->self->kernel->roundabout = true;
    int result = staging_in(&staging, plan, device, config->stream, buffer, choice->self->kernel->core.state,
                            choice->transfers);
    if (result == 0) result = give(choice, spec, plan, loaded, config, buffer);
    if (staging_out(&staging, device, config->stream, result == 0) < 0) result = -1;
    return result < 0 ? -1 : device->ops->look(device);
}

/* Where a launch's arrays lie; FAILED: exception set. */
typedef enum Places { HERE, AT_HOST, ELSEWHERE, FAILED } Places;

/* Converting an argument may have run anything. */
static inline bool is_there(const DeviceArray *array, const ArrayHead *head) { return array->head.data == head->data; }

/* Arrays of this device are there, and noted as used by the stream; *visits: others are where it reaches them. */
static Places note_arrays(const Choice *choice, const Plan *plan, const char *buffer, bool *visits) {
    const Launcher *self = choice->self;
    PyTypeObject *device_array = self->kernel->core.state->marshal.device_array;
    Places places = HERE;
    for (uint32_t i = 0; i < plan->narrays; i++) {
        const ArrayHead *head = (const ArrayHead *)(buffer + plan->arrays[i].offset);
        PyObject *owner = head->owner;
        DeviceArray *array = (DeviceArray *)owner;
        if (KRAIT_UNLIKELY(!Py_IS_TYPE(owner, device_array))) {
            if (places == HERE) places = AT_HOST;
        } else if (KRAIT_UNLIKELY(array->device != choice->device)) {
            bool reached = choice->settled && device_reaches(choice->device, array->device);
            *visits |= reached;
            if (!reached) places = ELSEWHERE;
        } else if (KRAIT_UNLIKELY(!is_there(array, head))) {
            return device_array_gone(), FAILED;
        } else if (self->stream && runtime_stream_check(self->stream, choice->device) < 0) {
            if (choice->settled) return FAILED;
            PyErr_Clear();
            places = ELSEWHERE; /* where the stream is, perhaps */
        } else if (device_array_used(array, self->config.stream, self->stream) < 0) {
            return FAILED;
        }
    }
    return places;
}

static PyObject *owner_of(const Plan *plan, const char *buffer, uint32_t i) {
    return ((const ArrayHead *)(buffer + plan->arrays[i].offset))->owner;
}

static DeviceArray *held_array(const Choice *choice, const Plan *plan, const char *buffer, uint32_t i) {
    PyObject *owner = owner_of(plan, buffer, i);
    bool device = owner && Py_IS_TYPE(owner, choice->self->kernel->core.state->marshal.device_array);
    return device ? (DeviceArray *)owner : NULL;
}

/* Device arrays are there, and stay where the buffer says, or the code, until let_arrays_go, whatever other threads do;
 * arrays of the host live until then, which an instance among the arguments may hold, or hold no more.  -1: exception
 * set, nothing is held. */
static int hold_arrays(const Choice *choice, const Plan *plan, const char *buffer) {
    for (uint32_t i = 0; i < plan->narrays; i++) {
        const DeviceArray *array = held_array(choice, plan, buffer, i);
        if (!array) continue;
        if (!is_there(array, (const ArrayHead *)(buffer + plan->arrays[i].offset))) return device_array_gone();
        if (device_array_check_there(array) < 0) return -1;
    }
    if (plan->ncaptured && captured_hold(choice->self->kernel->core.state, plan->code) < 0) return -1;
    for (uint32_t i = 0; i < plan->narrays; i++) {
        DeviceArray *array = held_array(choice, plan, buffer, i);
        Py_XINCREF(owner_of(plan, buffer, i));
        if (array) device_array_hold(array);
    }
    return 0;
}

static void let_arrays_go(const Choice *choice, const Plan *plan, const char *buffer) {
    for (uint32_t i = 0; i < plan->narrays; i++) {
        DeviceArray *array = held_array(choice, plan, buffer, i);
        if (array) device_array_let_go(array);
        Py_XDECREF(owner_of(plan, buffer, i));
    }
    if (plan->ncaptured) captured_let_go(choice->self->kernel->core.state, plan->code);
}

/* The launch's stream and those of arrays of other devices are put in order, before the launch or after it. */
static int visit_arrays(const Choice *choice, const Plan *plan, const char *buffer, bool after) {
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < plan->narrays; i++) {
        DeviceArray *array = held_array(choice, plan, buffer, i);
        if (array && array->device != choice->device)
            status = device_array_visited(array, choice->device, choice->self->config.stream, after);
    }
    return status;
}

/* Those of the code, of a launch on a GPU. */
static int note_captured(const Choice *choice, const Plan *plan) {
    const Launcher *self = choice->self;
    if (plan->ncaptured == 0) return 0;
    if (self->stream && runtime_stream_check(self->stream, choice->device) < 0) return -1;
    return captured_note(self->kernel->core.state, plan->code, choice->device, self->config.stream, self->stream);
}

static void let_spec_go(void *spec) { spec_release(spec); }

int launch_keep_code(Spec *spec, DeviceKernel *loaded) {
    spec->references++;
    return graph_keep_code(loaded, spec, let_spec_go);
}

static int run(const Choice *choice, Spec *spec, Plan *plan, Places places, char *buffer) {
    Launcher *self = choice->self;
    const LaunchConfig *config = &self->config;
    if (self->stream && runtime_stream_check(self->stream, choice->device) < 0) return -1;
    DeviceKernel *loaded = plan_kernel(self->kernel, spec, plan, choice->device);
    LaunchConfig fitted;
    if (!loaded || (KRAIT_UNLIKELY(runtime_capture != NULL) && launch_keep_code(spec, loaded) < 0)) return -1;
    if (KRAIT_UNLIKELY(self->tasks != GRID_GIVEN)) {
        fitted = *config;
        config = &fitted;
        int empty = grid_for_tasks(self, loaded, &fitted);
        if (empty) return empty < 0 ? -1 : 0;
    }
    if ((int)config->shared_bytes > loaded->dynamic_limit && device_allow_shared(loaded, config->shared_bytes) < 0)
        return -1;
    if (KRAIT_UNLIKELY(spec->code->waits_for_grid) && device_check_together(loaded, config) < 0) return -1;
    if (KRAIT_UNLIKELY(places != HERE)) return give_staged(choice, spec, plan, loaded, config, buffer);
    self->kernel->roundabout = false;
    return give(choice, spec, plan, loaded, config, buffer);
}

/* ---- choosing ---- */

/* Of all facts, of all but FACT_ROWS, or of none: whether the specialisation is the variant for this call.  forall: a
 * block has a warp at least. */
static bool is_variant(const Choice *choice, const Plan *plan, const char *buffer) {
    const Launcher *self = choice->self;
    enum { LEAST_BLOCK = 32 };
    bool small = self->small_grid;
    if (KRAIT_UNLIKELY(self->tasks >= 0)) {
        int64_t block = self->config.block.x[0] ? self->config.block.x[0] : LEAST_BLOCK;
        small = self->tasks / block < SMALL_BLOCKS;
    }
    uint32_t facts = plan_facts(plan, buffer, small);
    if (!choice->wants) return facts == plan->facts;
    *choice->wants = facts;
    return (facts & plan->facts) == plan->facts; /* it was compiled for this launch: what it takes for granted holds */
}

/* MARSHAL_OK: launched, *status tells how it went.  MISMATCH: this specialisation is not for these arguments. */
static MarshalResult try_launch(const Choice *choice, Spec *spec, char *buffer, int *status) {
    Launcher *self = choice->self;
    const Marshal *marshal = &self->kernel->core.state->marshal;
    Places places = HERE;
    bool visits = false;
    MarshalResult filled = choice->convert ? spec_convert(marshal, spec, choice->bound, buffer)
                                           : spec_unpack(marshal, spec, choice->bound, buffer);
    if (filled == MARSHAL_ERROR) binding_name_argument(&self->kernel->core.binding, spec->refused);
    if (filled != MARSHAL_OK) return filled;
    if (!spec_guards(spec)) return MARSHAL_MISMATCH;
    Plan *plan = plan_of(self->kernel, spec);
    if (!plan) return MARSHAL_ERROR;
    if (!is_variant(choice, plan, buffer)) return MARSHAL_MISMATCH;
    if (!choice->device->shares_memory || choice->kept) {
        places = note_arrays(choice, plan, buffer, &visits);
        if (places == FAILED) return MARSHAL_ERROR;
        if (places == ELSEWHERE && !choice->settled) return MARSHAL_MISMATCH; /* launch_slow settles it */
        if (note_captured(choice, plan) < 0) return MARSHAL_ERROR;
    }
    if (places == HERE && !visits && !device_lingers(choice->device) && plan_is_loaded(plan, choice->device)) {
        *status = run(choice, spec, plan, places, buffer); /* without letting other threads run */
        return MARSHAL_OK;
    }
    if (hold_arrays(choice, plan, buffer) < 0) return MARSHAL_ERROR;
    *status = visits ? visit_arrays(choice, plan, buffer, false) : 0;
    if (*status == 0) *status = run(choice, spec, plan, places, buffer);
    if (*status == 0 && visits) *status = visit_arrays(choice, plan, buffer, true);
    let_arrays_go(choice, plan, buffer);
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

static int launch_held(const Choice *choice, Spec *spec) {
    int status = 0;
    spec->references++; /* guards and conversions may run anything, and that may drop it */
    MarshalResult filled = try_launch_buffer(choice, spec, &status);
    if (status == DECLINED) {
        Spec *general = specialiser_generalise(&choice->self->kernel->core, spec);
        status = general ? launch_held(choice, general) : -1;
        if (general) spec_release(general);
    }
    spec_release(spec);
    return filled == MARSHAL_OK ? status : filled == MARSHAL_ERROR ? -1 : NOT_TAKEN;
}

/* -1: exception set; 0: launched; NOT_TAKEN. */
static int launch_if_it_takes(const Choice *choice, Spec *spec) {
    if (spec->code->config.codegen.compute_capability != choice->device->ptx_target) return NOT_TAKEN;
    return launch_held(choice, spec);
}

/* The same of all there are. */
static int launch_known(const Choice *choice) {
    Specialiser *core = &choice->self->kernel->core;
    int status = NOT_TAKEN;
    if (core->nspecs <= FEW_SPECS) {
        for (Py_ssize_t i = 0; i < core->nspecs && status == NOT_TAKEN; i++)
            status = launch_if_it_takes(choice, core->specs[i]);
        return status;
    }
    uint64_t fingerprint = lookup_fingerprint(core, choice->bound);
    size_t at = 0;
    for (Spec *spec; status == NOT_TAKEN && (spec = lookup_next(core, fingerprint, &at)) != NULL;) {
        core->recent = spec; /* for quick.c; whoever forgets it takes it from there */
        status = launch_if_it_takes(choice, spec);
    }
    return status;
}

/* Its shape; NULL: not an array, or one of another library. */
static bool find_shape(const ModuleState *state, PyObject *object, unsigned *ndim, int64_t shape[TYPE_MAX_NDIM]) {
    if (Py_IS_TYPE(object, state->marshal.device_array)) {
        const DeviceArray *array = (DeviceArray *)object;
        *ndim = array->type->ndim;
        memcpy(shape, array->dims, *ndim * sizeof *shape);
        return true;
    }
    if (!PyArray_Check(object) || PyArray_NDIM((PyArrayObject *)object) > TYPE_MAX_NDIM) return false;
    *ndim = (unsigned)PyArray_NDIM((PyArrayObject *)object);
    for (unsigned i = 0; i < *ndim; i++) shape[i] = PyArray_DIM((PyArrayObject *)object, (int)i);
    return true;
}

/* Whether arrays among the arguments that have as many axes have one shape, as far as is seen here: code for that is
 * compiled by itself then, and code for any with it where that declines. */
static bool have_one_shape(const Choice *choice) {
    const Kernel *kernel = choice->self->kernel;
    int64_t shapes[TYPE_MAX_NDIM + 1][TYPE_MAX_NDIM], shape[TYPE_MAX_NDIM];
    bool seen[TYPE_MAX_NDIM + 1] = {false};
    for (Py_ssize_t i = 0; i < kernel->core.binding.nparams; i++) {
        unsigned ndim;
        if (!find_shape(kernel->core.state, choice->bound[i], &ndim, shape)) continue;
        if (seen[ndim] && memcmp(shapes[ndim], shape, ndim * sizeof *shape) != 0) return false;
        memcpy(shapes[ndim], shape, ndim * sizeof *shape);
        seen[ndim] = true;
    }
    return true;
}

/* The specialisation for these arguments on this device, compiled if need be: `like` is its other variant, if there
 * is one.  A new reference. */
static Spec *compile_variant(const Choice *choice, uint32_t facts, const Spec *like) {
    Kernel *kernel = choice->self->kernel;
    Config config;
    if (!choice->device->ptx_target && have_one_shape(choice)) facts |= FACT_FITS;
    kernel_config(kernel, choice->device, facts, &config);
    if (!choice->device->ptx_target)
        memcpy(config.codegen.block, choice->self->config.block.x, sizeof config.codegen.block);
    if (like && like->convert)
        return specialiser_compile(&kernel->core, &config, like->code->params, like->code->param_konsts, like->nargs,
                                   like->declared, true);
    if (kernel->core.signatures && kernel_compile_signatures(kernel, &config) < 0) return NULL;
    return specialiser_for_arguments(&kernel->core, &config, choice->bound);
}

/* launchconfig.capture_compile_config has put the name there, in a block that asks for which launch it was. */
static int note_capture(Launcher *self) {
    PyObject *name = PyUnicode_FromString("_compiled_for");
    int asked = name ? PyDict_Contains(self->kernel->dict, name) : -1;
    if (asked == 1) asked = PyDict_SetItem(self->kernel->dict, name, (PyObject *)self);
    Py_XDECREF(name);
    return asked;
}

/* The same, where what Python functions say while it is compiled (extending.overload) may ask for the launch:
 * krait.cuda.launchconfig. */
static Spec *compile_for_launch(const Choice *choice, uint32_t facts, const Spec *like) {
    PyObject *variable = choice->self->kernel->core.state->launching;
    PyObject *before = PyContextVar_Set(variable, (PyObject *)choice->self), *type, *value, *traceback;
    if (!before) return NULL;
    Spec *spec = compile_variant(choice, facts, like);
    if (spec && note_capture(choice->self) < 0) {
        spec_release(spec);
        spec = NULL;
    }
    PyErr_Fetch(&type, &value, &traceback);
    if (PyContextVar_Reset(variable, before) < 0) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    Py_DECREF(before);
    return spec;
}

/* Compiles the variant these arguments need: the one that knows all facts first, then, if one does not hold, the one
 * without FACT_ROWS or the general one. */
static int launch_compiled(Choice *choice) {
    Specialiser *core = &choice->self->kernel->core;
    Spec *like = NULL;
    int status = NOT_TAKEN;
    uint32_t wants = FACTS_ALL, facts = FACTS_ALL + 1;
    choice->wants = &wants;
    while (status == NOT_TAKEN && wants < facts) { /* those of a variant are more than those of the next */
        facts = wants;
        bool has_callbacks = choice->self->callbacks != NULL;
        Spec *spec = compile_for_launch(choice, facts, like);
        if (like) spec_release(like);
        like = spec;
        if (!spec || (!has_callbacks && launcher_call_back(choice->self) < 0)) {
            status = -1;
            break;
        }
        choice->convert = spec->convert;
        uint64_t fingerprint = lookup_fingerprint(core, choice->bound);
        if (spec->kept) lookup_note(core, fingerprint, spec);
        status = launch_held(choice, spec);
    }
    if (like) spec_release(like);
    if (status != NOT_TAKEN) return status;
    PyErr_SetString(PyExc_TypeError, "an argument does not convert to its declared type");
    return -1;
}

/* The launch goes to the device on which the arrays lie, or to one that reaches them.  -1: exception set. */
static int follow_arrays(Choice *choice) {
    const Kernel *kernel = choice->self->kernel;
    Device *home = choice->device;
    if (!home->shares_memory)
        home = runtime_launch_home(kernel->core.state->runtime, choice->self->stream, choice->bound,
                                   kernel->core.binding.nparams);
    if (home) choice->device = home;
    return home ? 0 : -1;
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
    Device *first = choice->device;
    bool untried = kernel->adopts;
    int found = arguments_adopt(kernel, first, choice->self->config.stream, bound, made, transfers);
    bool adopted = kernel->adopts = found >= 0 && found & ARGUMENTS_ADOPTED;
    choice->settled = true;
    int status = found < 0 || (found & ARGUMENTS_ELSEWHERE && follow_arrays(choice) < 0) ? -1 : NOT_TAKEN;
    bool moved = found >= 0 && found & ARGUMENTS_ELSEWHERE; /* or it stays, and reaches the others */
    if (status == NOT_TAKEN && (adopted || untried || moved)) status = launch_known(choice);
    if (status == NOT_TAKEN) status = launch_compiled(choice);
    if (moved) kernel->roundabout = true;
    for (Py_ssize_t i = 0; i < count; i++) Py_XDECREF(made[i]);
    if (made != few) PyMem_Free(made);
    return status;
}

/* In a block of cuda.graph() a GPU records what it is given, and the graph how it came about; for the host device that
 * is all, once all is refused that a launch refuses. */
static int launch_recorded(Choice *choice, PyObject **bound) {
    const Binding *binding = &choice->self->kernel->core.binding;
    Py_ssize_t mark = graph_mark(), count = binding->nparams;
    if (binding->varargs || binding->varkeywords) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel with *args or **keywords cannot be recorded in a graph");
        return -1;
    }
    if (graph_check(choice->device) < 0) return -1;
    choice->kept = choice->device->shares_memory;
    int status = launch_known(choice);
    if (status == NOT_TAKEN) status = launch_slow(choice, bound);
    return status == 0 ? graph_add_launch((PyObject *)choice->self, bound, count, mark) : -1;
}

PyObject *launch_any(Launcher *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    Binding *binding = &self->kernel->core.binding;
    PyObject *few[MAX_STACK_PARAMS], **bound = few, *rest = NULL;
    int status = -1;
    if (binding->nparams > MAX_STACK_PARAMS && !(bound = PyMem_Malloc((size_t)binding->nparams * sizeof *bound)))
        return PyErr_NoMemory();
    bool convert = self->kernel->core.signatures &&
                   PyList_GET_SIZE(self->kernel->core.signatures) == 1; /* no choice to make */
    Choice choice = {self, runtime_device(self->kernel->core.state->runtime), bound, convert, false, NULL, NULL, false};
    if (!choice.device) goto done;
    if (binding_direct(binding, nargs, kwnames))
        memcpy(bound, args, (size_t)nargs * sizeof *bound);
    else if (binding_fill(binding, args, nargs, kwnames, bound, &rest) < 0)
        goto done;
    if (graph_recording()) {
        status = launch_recorded(&choice, bound);
        goto done;
    }
    status = self->kernel->adopts ? NOT_TAKEN : launch_known(&choice);
    if (status == NOT_TAKEN) status = launch_slow(&choice, bound);
done:
    Py_XDECREF(rest);
    if (bound != few) PyMem_Free(bound);
    if (status != 0) return NULL;
    Py_RETURN_NONE;
}
