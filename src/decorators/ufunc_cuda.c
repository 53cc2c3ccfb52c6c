/* ufunc_cuda.c: calls of @vectorize(target='cuda') functions.
 *
 * On a GPU: operands broadcast to one shape; neighbouring axes that every operand steps through evenly are joined,
 * axes of length one dropped; one launch of the elementwise kernel (codegen_nvptx.h) does the rest.  Host arrays and
 * scalars are copied in; the result is a device array if any operand is one, else it is copied back.  On the host
 * device: NumPy's ufunc on views of the device arrays. */
#include "decorators/ufunc_cuda.h"

#include "decorators/kernel.h" /* launch_keep_code */

#include <stddef.h> /* offsetof */
#include <string.h> /* memcpy */

typedef struct Loaded { /* hangs on the Spec: the kernel in each device */
    int count;
    DeviceKernel *kernels[];
} Loaded;

PyObject *ufunc_call_module(const Vectorized *self, const char *name, PyObject *first, PyObject *second) {
    PyObject *function = PyObject_GetAttrString(self->module, name);
    PyObject *result = function ? PyObject_CallFunctionObjArgs(function, first, second, NULL) : NULL;
    Py_XDECREF(function);
    return result;
}

/* ---- threads of a block, as the user bounds them ---- */

PyObject *ufunc_get_blocksize(PyObject *self, void *offset) {
    unsigned threads = *(unsigned *)((char *)self + (size_t)offset);
    return PyLong_FromLong(threads ? (long)threads : MAX_BLOCK_THREADS);
}

int ufunc_set_blocksize(PyObject *self, PyObject *value, void *offset) {
    long threads = value ? PyLong_AsLong(value) : 0;
    if (threads == -1 && PyErr_Occurred()) return -1;
    if (value && (threads < 1 || threads > MAX_BLOCK_THREADS)) {
        PyErr_Format(PyExc_ValueError, "max_blocksize is 1 to %d threads, not %ld", MAX_BLOCK_THREADS, threads);
        return -1;
    }
    *(unsigned *)((char *)self + (size_t)offset) = (unsigned)threads;
    return 0;
}

/* ---- the specialisation ---- */

static bool casts_safely(ModuleState *state, const Type *from, const Type *to) {
    return typeinfer_promote(PROMOTION_NUMPY2, state->session.types, from, to) == to;
}

/* Of those there are: the exact one, else the first that every operand casts to safely.  NULL: none. */
static const Spec *find_signature(const UfuncCall *call) {
    const Vectorized *self = call->self;
    for (int exact = 1; exact >= 0; exact--)
        for (Py_ssize_t i = 0; i < self->nloops; i++) {
            const Spec *spec = self->loops[i];
            bool fits = true;
            for (int k = 0; fits && k < call->nin; k++)
                fits = exact ? call->types[k] == spec->code->params[k]
                             : casts_safely(call->state, call->types[k], spec->code->params[k]);
            if (fits) return spec;
        }
    return NULL;
}

const Spec *ufunc_choose_signature(const UfuncCall *call) {
    const Spec *found = find_signature(call);
    if (found) return found;
    PyErr_Format(PyExc_TypeError, "no signature of %U takes operands of these types",
                 ((PyFunctionObject *)call->self->core.function)->func_qualname);
    return NULL;
}

static int read_types(UfuncCall *call, PyObject *const *args) {
    Vectorized *self = call->self;
    for (int i = 0; i < call->nin; i++) {
        call->types[i] = vectorized_operand_type(self->core.state, args[i]);
        if (call->types[i]) continue;
        if (PyErr_Occurred()) return -1;
        if (PyArray_Check(args[i]))
            PyErr_Format(PyExc_TypeError, "operand %d is an array of %S, which no elementwise function takes", i,
                         PyArray_DESCR((PyArrayObject *)args[i]));
        else
            PyErr_Format(PyExc_TypeError, "operand %d, a %s, is no array or number", i, Py_TYPE(args[i])->tp_name);
        return -1;
    }
    if (!vectorized_resolve_types(self, call->types, call->nin)) {
        PyErr_SetString(PyExc_TypeError, "the operands have no common type");
        return -1;
    }
    return 0;
}

/* Guards may run anything, and that may drop it.  A new reference. */
static Spec *take_if_it_holds(Spec *spec) {
    spec->references++;
    if (spec_guards(spec)) return spec;
    spec_release(spec);
    return NULL;
}

/* Found without a Config and a lock: of few specialisations, the usual case.  A new reference. */
static Spec *find_form(const UfuncCall *call, UfuncForm form) {
    const Specialiser *core = &call->self->core;
    int capability = call->device->ptx_target;
    for (Py_ssize_t i = 0; i < core->nspecs && i < FEW_SPECS; i++) {
        Spec *spec = core->specs[i];
        const Config *config = &spec->code->config;
        if (config->target == TARGET_NVPTX && config->codegen.compute_capability == capability &&
            config->codegen.ufunc.rows == form.rows && config->codegen.ufunc.two_axes == form.two_axes &&
            config->codegen.ufunc.immediate == form.immediate && spec->nargs == (uint32_t)call->nin &&
            memcmp(spec->code->params, call->types, (size_t)call->nin * sizeof *call->types) == 0)
            return take_if_it_holds(spec);
    }
    return NULL;
}

/* A new reference; NULL: exception set. */
static Spec *compile_form(UfuncCall *call, UfuncForm form) {
    Spec *known = find_form(call, form);
    if (known) return known;
    Config config = call->self->core.config;
    config.target = TARGET_NVPTX;
    config.kernel = true;
    config.codegen.compute_capability = call->device->ptx_target;
    config.codegen.ptx_version = call->device->ptx_version;
    config.codegen.ufunc = form;
    config.codegen.boundscheck &= PyDict_GetItemString(call->self->core.options.given, "boundscheck") == Py_True;
    return specialiser_compile(&call->self->core, &config, call->types, NULL, (size_t)call->nin, NULL, false);
}

/* Whether there is code for these types, in whatever form. */
static bool has_types(const UfuncCall *call) {
    const Specialiser *core = &call->self->core;
    for (Py_ssize_t i = 0; i < core->nspecs; i++)
        if (!memcmp(core->specs[i]->code->params, call->types, (size_t)call->nin * sizeof *call->types)) return true;
    return false;
}

/* After disable_compile: as NumPy's ufunc of the loops there are. */
static const Spec *choose_among_known(const UfuncCall *call) {
    if (vectorized_loops_of_devices(call->self) < 0) return NULL;
    const Spec *found = find_signature(call);
    if (!found)
        PyErr_SetString(PyExc_TypeError, "the function is compiled for no more types (disable_compile), and for none "
                                         "that the operands cast to safely");
    return found;
}

static int choose_code(UfuncCall *call) {
    Vectorized *self = call->self;
    if (self->core.signatures || (!self->core.can_compile && !has_types(call))) {
        const Spec *chosen = self->core.signatures ? ufunc_choose_signature(call) : choose_among_known(call);
        if (!chosen) return -1;
        for (int i = 0; i < call->nin; i++) call->types[i] = chosen->code->params[i];
    }
    call->spec = compile_form(call, (UfuncForm){0});
    if (!call->spec) return -1;
    int nin;
    if (ufunc_types(call->spec, call->types, &nin, &call->nout)) return 0;
    spec_release(call->spec);
    PyErr_SetString(call->state->errors[ERROR_TYPING],
                    "a vectorized function takes scalars and returns a scalar or a tuple of scalars");
    return -1;
}

static void loaded_free(void *extra) {
    Loaded *loaded = extra;
    for (int i = 0; i < loaded->count; i++)
        if (loaded->kernels[i]) code_unload(loaded->kernels[i]);
    PyMem_Free(loaded);
}

static size_t params_bytes(const UfuncCall *call) {
    return sizeof(UfuncHead) + (size_t)(call->nin + call->nout) * sizeof(UfuncOperand);
}

static DeviceKernel *load(const UfuncCall *call, Spec *spec) {
    Device *device = call->device;
    if (!spec->extra) {
        int count = runtime_device_count(call->state->runtime);
        Loaded *made = PyMem_Calloc(1, sizeof *made + (size_t)count * sizeof *made->kernels);
        if (!made) return (DeviceKernel *)PyErr_NoMemory();
        made->count = count;
        spec->extra = made;
        spec->free_extra = loaded_free;
    }
    DeviceKernel **loaded = &((Loaded *)spec->extra)->kernels[device->ordinal];
    if (*loaded && device_kernel_gone(*loaded)) {
        code_unload(*loaded);
        *loaded = NULL;
    }
    if (*loaded) return *loaded;
    DeviceKernel *made = code_load(call->state, device, spec->code,
                                   &(DeviceCode){.ptx = spec->code->ptx,
                                                 .entry = spec->code->config.codegen.entry_name,
                                                 .params_bytes = params_bytes(call)});
    return code_keep(made, loaded);
}

/* ---- the launch ---- */

/* The operands stay where the parameters say.  -1: exception set. */
static int launch_on(const UfuncCall *call, const Code *code, DeviceKernel *kernel, const LaunchConfig *config,
                     const void *params) {
    static const char what[] = "launching an elementwise kernel";
    Device *device = call->device;
    LaunchReport report;
    int status;
    if (!device_lingers(device))
        return device_check(device, device->ops->launch(kernel, config, params, &report), what);
    if (captured_hold(call->state, code) < 0) return -1;
    for (int i = 0; i < call->nin + call->nout; i++)
        if (call->operands[i]) device_array_hold((DeviceArray *)call->operands[i]);
    Py_BEGIN_ALLOW_THREADS status = device->ops->launch(kernel, config, params, &report);
    Py_END_ALLOW_THREADS for (int i = 0; i < call->nin + call->nout; i++) if (call->operands[i])
        device_array_let_go((DeviceArray *)call->operands[i]);
    captured_let_go(call->state, code);
    return device_check(device, status, what);
}

/* The launch's stream and those of arrays of other devices are put in order, before the launch or after it. */
static int visit_operands(const UfuncCall *call, bool after) {
    int status = 0;
    for (int i = 0; status == 0 && i < call->nin + call->nout; i++) {
        DeviceArray *array = (DeviceArray *)call->operands[i];
        if (array && array->device != call->device)
            status = device_array_visited(array, call->device, call->stream, after);
    }
    return status;
}

/* Arrays of this device are noted as used by the stream, and waited for where they are of others (*visits). */
static int note_operands(const UfuncCall *call, bool *visits) {
    for (int i = 0; i < call->nin + call->nout; i++) {
        DeviceArray *array = (DeviceArray *)call->operands[i];
        if (array && KRAIT_UNLIKELY(array->device != call->device))
            *visits = true;
        else if (array && device_array_used(array, call->stream, call->stream_object) < 0)
            return -1;
    }
    return *visits ? visit_operands(call, false) : 0;
}

static int launch_kernel(const UfuncCall *call, Spec *spec, const unsigned grid[3], unsigned threads) {
    int count = call->nin + call->nout;
    struct {
        UfuncHead head;
        UfuncOperand places[MAX_OPERANDS];
    } params; /* as many places as there are operands are filled */
    params.head = call->head;
    DeviceKernel *kernel = load(call, spec);
    if (!kernel) return -1;
    bool visits = false;
    if (note_operands(call, &visits) < 0) return -1;
    if (captured_note(call->state, spec->code, call->device, call->stream, call->stream_object) < 0) return -1;
    memcpy(params.places, call->places, (size_t)count * sizeof *call->places);
    for (int i = 0; i < call->nin; i++)
        if (!call->operands[i]) params.places[i].strides[UFUNC_MAX_NDIM - 1] = call->values[i];
    LaunchConfig config = {.grid = {{grid[0], grid[1], grid[2]}}, .block = {{threads, 1, 1}}, .stream = call->stream};
    int status = launch_on(call, spec->code, kernel, &config, &params);
    return status == 0 && visits ? visit_operands(call, true) : status;
}

static int launch_rows(UfuncCall *call, unsigned threads) {
    const UfuncHead *head = &call->head;
    UfuncForm form = {.rows = true, .two_axes = head->ndim <= 2, .immediate = (uint32_t)head->immediate};
    int64_t y = head->rows < MAX_GRID_YZ ? head->rows : MAX_GRID_YZ;
    const unsigned grid[3] = {(unsigned)((head->shape[0] + threads - 1) / threads), (unsigned)y,
                              (unsigned)((head->rows + y - 1) / y)};
    Spec *spec = compile_form(call, form);
    if (!spec) return -1;
    int result = launch_kernel(call, spec, grid, threads);
    spec_release(spec);
    return result;
}

static int launch_part(UfuncCall *call) {
    UfuncHead *head = &call->head;
    unsigned threads, most = ufunc_most_threads(call);
    head->rows = head->size / head->shape[0];
    head->mode = ufunc_can_use_lanes(call) ? UFUNC_VECTOR : UFUNC_STRIDED;
    head->packed = ufunc_results_packed(call);
    if (head->mode == UFUNC_STRIDED && ufunc_can_use_rows(call, &threads)) return launch_rows(call, threads);
    threads = most;
    int64_t lanes = head->mode == UFUNC_VECTOR ? UFUNC_LANES : 1;
    int64_t blocks = ((head->size + lanes - 1) / lanes + threads - 1) / threads;
    if (blocks > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "too many elements for one launch");
        return -1;
    }
    const unsigned grid[3] = {(unsigned)blocks, 1, 1};
    return launch_kernel(call, call->spec, grid, threads);
}

/* One launch; several, along the outermost axis, where the kernel could not divide the number of elements. */
static int launch(UfuncCall *call) {
    if (ufunc_flatten(call) < 0) return -1;
    if (call->head.size == 0) return 0;
    if (call->head.ndim == 1 || call->head.size <= UINT32_MAX) return launch_part(call);
    int outer = (int)call->head.ndim - 1;
    int64_t length = call->head.shape[outer], inner = call->head.size / length;
    int64_t most = UINT32_MAX / inner;
    if (most == 0) {
        PyErr_SetString(PyExc_ValueError, "too many elements beside the outermost axis for one launch");
        return -1;
    }
    for (int64_t from = 0; from < length; from += most) {
        int64_t now = length - from < most ? length - from : most;
        call->head.shape[outer] = now;
        call->head.size = inner * now;
        if (launch_part(call) < 0) return -1;
        for (int i = 0; i < call->nin + call->nout; i++)
            if (call->operands[i])
                call->places[i].data = (char *)call->places[i].data + now * call->places[i].strides[outer];
    }
    return 0;
}

/* ---- the call ---- */

static PyObject *call_on(Device *device, Vectorized *self, PyObject *const *args, Py_ssize_t nargs, PyObject *out,
                         PyObject *stream, void *handle) {
    UfuncCall call; /* of the arrays in it, as much is filled as there are operands */
    PyObject *result = NULL;
    memset(&call, 0, offsetof(UfuncCall, types));
    call.self = self;
    call.state = self->core.state;
    call.nin = (int)nargs;
    call.device = device;
    if (read_types(&call, args) < 0 || ufunc_check_writable(call.state, out) < 0) return NULL;
    if (call.device->shares_memory) return ufunc_call_on_host(&call, args, nargs, out);
    call.stream = handle;
    call.stream_object = stream;
    if (choose_code(&call) < 0) return NULL;
    memset(call.operands, 0, (size_t)(call.nin + call.nout) * sizeof *call.operands);
    memset(call.out, 0, (size_t)call.nout * sizeof *call.out);
    if (graph_recording() && launch_keep_code(call.spec, NULL) < 0) goto done;
    for (int i = 0; i < call.nin; i++) {
        call.any_device |= ufunc_is_device_array(call.state, args[i]);
        int scalar = ufunc_bring_scalar(&call, i, args[i], call.types[i]);
        if (scalar < 0) goto done;
        if (!scalar && !(call.operands[i] = ufunc_bring_in(&call, args[i], call.types[i]))) goto done;
    }
    if (ufunc_read_out(&call, out) < 0 || ufunc_broadcast(&call) < 0 || ufunc_make_outputs(&call) < 0 ||
        launch(&call) < 0)
        goto done;
    result = ufunc_take_results(&call);
done:
    for (int i = 0; i < call.nin + call.nout; i++) Py_XDECREF(call.operands[i]);
    spec_release(call.spec);
    return result;
}

/* Operands and, if they are given, results. */
typedef struct Given {
    PyObject *objects[MAX_OPERANDS]; /* borrowed; arrays of other libraries as device arrays, or NumPy's */
    PyObject *made[MAX_OPERANDS];
    int count;
} Given;

/* What NumPy makes of an object, which is asked once; None: it is an operand as it is.  A new reference. */
static PyObject *as_host_array(PyObject *object) {
    bool known = PyFloat_CheckExact(object) || PyLong_Check(object) || PyArray_Check(object) ||
                 PyArray_IsScalar(object, Generic) || PyComplex_Check(object);
    PyObject *array = known ? NULL : PyArray_FROM_O(object);
    if (!known && !array) return NULL;
    if (array && PyArray_TYPE((PyArrayObject *)array) != NPY_OBJECT) return array;
    Py_XDECREF(array);
    return Py_NewRef(Py_None);
}

static int give_object(Given *given, const ModuleState *state, PyObject *object, bool operand, void *stream) {
    int at = given->count;
    if (at == MAX_OPERANDS) {
        PyErr_Format(PyExc_TypeError, "a call has at most %d operands and results", MAX_OPERANDS);
        return -1;
    }
    PyObject *array = object ? arguments_foreign(state, object, stream) : Py_NewRef(Py_None);
    if (array == Py_None && operand && !Py_IS_TYPE(object, state->marshal.device_array))
        Py_SETREF(array, as_host_array(object));
    if (!array) return -1;
    given->made[at] = array;
    given->objects[at] = array == Py_None ? object : array;
    given->count++;
    return 0;
}

/* `out`, with what its arrays became. */
static PyObject *given_out(const Given *given, int nin, PyObject *out) {
    if (!out || out == Py_None) return NULL;
    if (!PyTuple_Check(out)) return Py_NewRef(given->objects[nin]);
    PyObject *tuple = PyTuple_New(given->count - nin);
    for (int i = nin; tuple && i < given->count; i++) PyTuple_SET_ITEM(tuple, i - nin, Py_NewRef(given->objects[i]));
    return tuple;
}

static PyObject *call_given(Vectorized *self, const Given *given, Py_ssize_t nin, PyObject *out, PyObject *stream,
                            void *handle) {
    Device *home = runtime_launch_home(self->core.state->runtime, stream, given->objects, given->count);
    if (!home || (stream && runtime_stream_check(stream, home) < 0)) return NULL;
    if (home == runtime_device(self->core.state->runtime))
        return call_on(home, self, given->objects, nin, out, stream, handle);
    if (PyErr_Occurred() || context_push(home) < 0) return NULL;
    PyObject *result = call_on(home, self, given->objects, nin, out, stream, handle);
    context_pop();
    return result;
}

PyObject *ufunc_cuda_call(Vectorized *self, PyObject *const *args, Py_ssize_t nargs, PyObject *out, PyObject *stream) {
    const ModuleState *state = self->core.state;
    Given given; /* filled as far as it counts */
    given.count = 0;
    void *handle = NULL;
    int status = stream ? runtime_stream_handle(stream, NULL, &handle) : 0;
    for (Py_ssize_t i = 0; status == 0 && i < nargs; i++) status = give_object(&given, state, args[i], true, handle);
    if (out && out != Py_None && !PyTuple_Check(out) && status == 0)
        status = give_object(&given, state, out, false, handle);
    for (Py_ssize_t i = 0; status == 0 && out && PyTuple_Check(out) && i < PyTuple_GET_SIZE(out); i++)
        status = give_object(&given, state, PyTuple_GET_ITEM(out, i), false, handle);
    PyObject *outs = status == 0 ? given_out(&given, (int)nargs, out) : NULL, *result = NULL;
    if (status == 0 && !PyErr_Occurred()) result = call_given(self, &given, nargs, outs, stream, handle);
    Py_XDECREF(outs);
    for (int i = 0; i < given.count; i++) Py_DECREF(given.made[i]);
    return result;
}
