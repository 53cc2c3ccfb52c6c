/* ufunc_cuda.c: calls of @vectorize(target='cuda') functions.
 *
 * On a GPU: operands broadcast to one shape; neighbouring axes that every operand steps through evenly are joined,
 * axes of length one dropped; one launch of the elementwise kernel (codegen_nvptx.h) does the rest.  Host arrays and
 * scalars are copied in; the result is a device array if any operand is one, else it is copied back.  On the host
 * device: NumPy's ufunc on views of the device arrays. */
#include "decorators/vectorized.h"

#include <string.h> /* memcpy */

#include "codegen_nvptx/codegen_nvptx.h" /* UfuncHead, UfuncOperand */

enum { MIN_THREADS = 64, MAX_THREADS = 256 }; /* of a block; fewer would leave places on a multiprocessor empty */

typedef struct Loaded { /* hangs on the Spec: the kernel in each device */
    int count;
    CudaKernel *kernels[];
} Loaded;

typedef struct Call {
    Vectorized *self;
    ModuleState *state;
    CudaContext *context;
    void *stream;
    PyObject *stream_object; /* borrowed; keeps the stream alive */
    int nin, nout;
    Spec *spec;
    const Type *types[MAX_OPERANDS];  /* as the kernel computes */
    PyObject *operands[MAX_OPERANDS]; /* owned; DeviceArray each, outputs last; NULL: the scalar in values */
    int64_t values[MAX_OPERANDS];     /* the bytes of a scalar that goes over with the launch */
    PyObject *out[MAX_OPERANDS];      /* borrowed: what the caller gave, or NULL */
    bool any_device;
    int ndim;
    int64_t shape[TYPE_MAX_NDIM];
    UfuncHead head;
    UfuncOperand places[MAX_OPERANDS];
} Call;

static bool is_device_array(const ModuleState *state, PyObject *object) {
    return object && PyObject_TypeCheck(object, state->marshal.device_array);
}

/* The elements on the host, as they are when the call's stream has got there. */
static PyObject *fetch(const Call *call, PyObject *array) {
    if (call->stream && cuda_stream_synchronise(call->context, call->stream) < 0) return NULL;
    return PyObject_CallMethod(array, "copy_to_host", NULL);
}

static PyObject *call_module(const Vectorized *self, const char *name, PyObject *first, PyObject *second) {
    PyObject *function = PyObject_GetAttrString(self->module, name);
    PyObject *result = function ? PyObject_CallFunctionObjArgs(function, first, second, NULL) : NULL;
    Py_XDECREF(function);
    return result;
}

/* ---- the specialisation ---- */

static bool casts_safely(ModuleState *state, const Type *from, const Type *to) {
    return typeinfer_promote(PROMOTION_NUMPY2, state->session.types, from, to) == to;
}

/* With signatures: the exact one, else the first that every operand casts to safely. */
static const Spec *choose_signature(Call *call) {
    Vectorized *self = call->self;
    for (int exact = 1; exact >= 0; exact--)
        for (Py_ssize_t i = 0; i < self->nloops; i++) {
            const Spec *spec = self->loops[i];
            bool fits = true;
            for (int k = 0; fits && k < call->nin; k++)
                fits = exact ? call->types[k] == spec->code->params[k]
                             : casts_safely(call->state, call->types[k], spec->code->params[k]);
            if (fits) return spec;
        }
    PyErr_Format(PyExc_TypeError, "no signature of %U takes operands of these types",
                 ((PyFunctionObject *)self->core.function)->func_qualname);
    return NULL;
}

static int read_types(Call *call, PyObject *const *args) {
    Vectorized *self = call->self;
    for (int i = 0; i < call->nin; i++) {
        call->types[i] = vectorized_operand_type(self, args[i]);
        if (call->types[i]) continue;
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "operand %d, a %s, is no array or number", i, Py_TYPE(args[i])->tp_name);
        return -1;
    }
    if (!vectorized_resolve_types(self, call->types, call->nin)) {
        PyErr_SetString(PyExc_TypeError, "the operands have no common type");
        return -1;
    }
    return 0;
}

static Spec *compile_form(Call *call, UfuncForm form) {
    Config config = call->self->core.config;
    config.target = TARGET_NVPTX;
    config.kernel = true;
    config.codegen.compute_capability = context_compute_capability(call->context);
    config.codegen.ptx_version = cuda_max_ptx_version(call->state->cuda);
    config.codegen.ufunc = form;
    return specialiser_compile(&call->self->core, &config, call->types, NULL, (size_t)call->nin, NULL, false);
}

static int choose_code(Call *call) {
    Vectorized *self = call->self;
    const Spec *declared = NULL;
    if (self->signatures) {
        if (!(declared = choose_signature(call))) return -1;
        for (int i = 0; i < call->nin; i++) call->types[i] = declared->code->params[i];
    }
    call->spec = compile_form(call, (UfuncForm){0});
    if (!call->spec) return -1;
    int nin;
    if (ufunc_types(call->spec, call->types, &nin, &call->nout)) return 0;
    PyErr_SetString(call->state->errors[ERROR_TYPING],
                    "a vectorized function takes scalars and returns a scalar or a tuple of scalars");
    return -1;
}

static void loaded_free(void *extra) {
    Loaded *loaded = extra;
    for (int i = 0; i < loaded->count; i++)
        if (loaded->kernels[i]) cuda_kernel_free(loaded->kernels[i]);
    PyMem_Free(loaded);
}

static CudaKernel *load(const Call *call, Spec *spec) {
    int device = context_device(call->context);
    if (!spec->extra) {
        int count = cuda_device_count(call->state->cuda);
        Loaded *loaded = PyMem_Calloc(1, sizeof *loaded + (size_t)count * sizeof *loaded->kernels);
        if (!loaded) return (CudaKernel *)PyErr_NoMemory();
        loaded->count = count;
        spec->extra = loaded;
        spec->free_extra = loaded_free;
    }
    Loaded *loaded = spec->extra;
    if (!loaded->kernels[device])
        loaded->kernels[device] = cuda_kernel_load(call->context, spec->code->ptx,
                                                   spec->code->config.codegen.entry_name, 0);
    return loaded->kernels[device];
}

/* ---- operands ---- */

/* A device array with the operand's values as the kernel's type. */
static PyObject *bring_in(Call *call, PyObject *object, const Type *type) {
    int typenum = marshal_typenum((Scalar)type->scalar);
    PyObject *host = NULL;
    if (is_device_array(call->state, object)) {
        DeviceArray *array = (DeviceArray *)object;
        if (array->context == call->context && type_element(array->type)->scalar == type->scalar)
            return Py_NewRef(object);
        host = fetch(call, object); /* another type or device: by way of the host */
        if (!host) return NULL;
        Py_SETREF(host, PyArray_FROMANY(host, typenum, 0, 0, NPY_ARRAY_ALIGNED | NPY_ARRAY_FORCECAST));
    } else {
        host = PyArray_FROMANY(object, typenum, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    }
    PyObject *device = host ? call_module(call->self, "to_device", host, NULL) : NULL;
    Py_XDECREF(host);
    return device;
}

/* A scalar goes over with the launch's parameters.  1: this is one, its bytes are in values; 0: not; -1: exception. */
static int bring_scalar(Call *call, int i, PyObject *object, const Type *type) {
    bool scalar = PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) ||
                  PyArray_IsScalar(object, Generic);
    size_t bytes = scalar_info[type->scalar].bytes;
    if (!scalar || bytes > UFUNC_IMMEDIATE_BYTES) return 0;
    PyObject *array = PyArray_FROMANY(object, marshal_typenum((Scalar)type->scalar), 0, 0,
                                      NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (!array) return -1;
    memcpy(&call->values[i], PyArray_DATA((PyArrayObject *)array), bytes);
    Py_DECREF(array);
    call->head.immediate |= 1ull << i;
    return 1;
}

/* Array i of those whose shapes are broadcast: the inputs, and what the caller gave for results; NULL: none. */
static const DeviceArray *shaping_array(const Call *call, int i) {
    if (i < call->nin) return (DeviceArray *)call->operands[i];
    PyObject *out = call->out[i - call->nin];
    return is_device_array(call->state, out) ? (DeviceArray *)out : NULL;
}

static int broadcast_shape(Call *call) {
    int count = call->nin + call->nout;
    for (int i = 0; i < count; i++) {
        const DeviceArray *array = shaping_array(call, i);
        if (array && array->type->ndim > call->ndim) call->ndim = array->type->ndim;
    }
    for (int axis = 0; axis < call->ndim; axis++) call->shape[axis] = 1;
    for (int i = 0; i < count; i++) {
        const DeviceArray *array = shaping_array(call, i);
        int ndim = array ? array->type->ndim : 0;
        for (int k = 0; k < ndim; k++) {
            int64_t *length = &call->shape[call->ndim - ndim + k];
            if (array->dims[k] == *length || array->dims[k] == 1) continue;
            if (*length != 1) {
                PyErr_Format(PyExc_ValueError,
                             "operands could not be broadcast together: along axis %d there are lengths %lld and %lld",
                             call->ndim - ndim + k, (long long)*length, (long long)array->dims[k]);
                return -1;
            }
            *length = array->dims[k];
        }
    }
    return 0;
}

static PyObject *shape_tuple(const Call *call) {
    PyObject *shape = PyTuple_New(call->ndim);
    for (int i = 0; shape && i < call->ndim; i++) {
        PyObject *length = PyLong_FromLongLong(call->shape[i]);
        if (length)
            PyTuple_SET_ITEM(shape, i, length);
        else
            Py_CLEAR(shape);
    }
    return shape;
}

static bool same_shape(const Call *call, const DeviceArray *array) {
    return array->type->ndim == call->ndim &&
           (call->ndim == 0 || memcmp(array->dims, call->shape, (size_t)call->ndim * sizeof(int64_t)) == 0);
}

/* The addresses of an array's bytes: from *low to below *high. */
static void extent_of(const DeviceArray *array, intptr_t *low, intptr_t *high) {
    *low = *high = (intptr_t)array->head.data;
    for (unsigned i = 0; i < array->type->ndim; i++)
        if (array->dims[i] == 0) return;
    for (unsigned i = 0; i < array->type->ndim; i++) {
        int64_t reach = (array->dims[i] - 1) * array->dims[array->type->ndim + i];
        *(reach < 0 ? low : high) += (intptr_t)reach;
    }
    *high += scalar_info[type_element(array->type)->scalar].bytes;
}

/* Whether a thread may read an input where another has written a result: they overlap other than element by element. */
static bool disturbs_inputs(const Call *call, const DeviceArray *out) {
    intptr_t low, high, from, beyond;
    unsigned ndim = out->type->ndim;
    extent_of(out, &low, &high);
    for (int i = 0; i < call->nin; i++) {
        const DeviceArray *in = (DeviceArray *)call->operands[i];
        if (!in) continue;
        extent_of(in, &from, &beyond);
        if (from >= high || low >= beyond) continue;
        bool same = in->head.data == out->head.data && in->type->ndim == ndim &&
                    scalar_info[type_element(in->type)->scalar].bytes ==
                        scalar_info[type_element(out->type)->scalar].bytes &&
                    (ndim == 0 || memcmp(in->dims, out->dims, 2u * ndim * sizeof(int64_t)) == 0);
        if (!same) return true;
    }
    return false;
}

/* What the caller gives for a result is never broadcast itself. */
static int check_out_shapes(const Call *call, PyObject *shape) {
    for (int i = 0; i < call->nout; i++) {
        PyObject *out = call->out[i];
        if (!is_device_array(call->state, out) || same_shape(call, (DeviceArray *)out)) continue;
        PyObject *own = PyObject_GetAttrString(out, "shape");
        if (own)
            PyErr_Format(PyExc_ValueError,
                         "non-broadcastable output operand with shape %R doesn't match the broadcast shape %R", own,
                         shape);
        Py_XDECREF(own);
        return -1;
    }
    return 0;
}

/* Outputs are computed where the caller wants them if they fit, else into new device arrays. */
static int make_outputs(Call *call) {
    PyObject *shape = shape_tuple(call);
    if (shape && check_out_shapes(call, shape) < 0) Py_CLEAR(shape);
    for (int i = 0; shape && i < call->nout; i++) {
        const Type *type = call->types[call->nin + i];
        PyObject *out = call->out[i];
        if (is_device_array(call->state, out) && ((DeviceArray *)out)->context == call->context &&
            type_element(((DeviceArray *)out)->type)->scalar == type->scalar &&
            !disturbs_inputs(call, (DeviceArray *)out)) {
            call->operands[call->nin + i] = Py_NewRef(out);
            continue;
        }
        PyObject *dtype = (PyObject *)PyArray_DescrFromType(marshal_typenum((Scalar)type->scalar));
        call->operands[call->nin + i] = dtype ? call_module(call->self, "device_array", shape, dtype) : NULL;
        Py_XDECREF(dtype);
        if (!call->operands[call->nin + i]) Py_CLEAR(shape);
    }
    Py_XDECREF(shape);
    return shape ? 0 : -1;
}

/* ---- geometry ---- */

static int64_t operand_stride(const Call *call, int operand, int axis) {
    const DeviceArray *array = (DeviceArray *)call->operands[operand];
    if (!array) return 0;
    int own = axis - (call->ndim - array->type->ndim);
    if (own < 0 || array->dims[own] == 1) return 0;
    return array->dims[array->type->ndim + own];
}

/* Fills head and places: axis 0 is the innermost. */
static int flatten(Call *call) {
    int count = call->nin + call->nout;
    call->head = (UfuncHead){.size = 1, .mode = UFUNC_STRIDED, .ndim = 0, .immediate = call->head.immediate};
    for (int i = 0; i < count; i++) {
        const DeviceArray *array = (DeviceArray *)call->operands[i];
        call->places[i] = (UfuncOperand){.data = array ? array->head.data : NULL};
    }
    for (int axis = call->ndim - 1; axis >= 0; axis--) {
        int64_t length = call->shape[axis];
        int last = (int)call->head.ndim - 1;
        call->head.size *= length;
        if (length == 1) continue;
        bool joins = last >= 0;
        for (int i = 0; joins && i < count; i++)
            joins = operand_stride(call, i, axis) == call->places[i].strides[last] * call->head.shape[last];
        if (joins) {
            call->head.shape[last] *= length;
            continue;
        }
        if (call->head.ndim == UFUNC_MAX_NDIM) {
            PyErr_Format(PyExc_ValueError, "the operands have more than %d axes that cannot be joined", UFUNC_MAX_NDIM);
            return -1;
        }
        call->head.shape[call->head.ndim] = length;
        for (int i = 0; i < count; i++) call->places[i].strides[call->head.ndim] = operand_stride(call, i, axis);
        call->head.ndim++;
    }
    for (int axis = 0; axis < call->head.ndim; axis++)
        call->head.reciprocal[axis] = ufunc_reciprocal(call->head.shape[axis]);
    if (call->head.ndim == 0) {
        call->head.ndim = 1;
        call->head.shape[0] = 1;
    }
    return 0;
}

/* Whether the results lie in memory in the order in which threads are numbered, without gaps. */
static bool results_packed(const Call *call) {
    for (int i = call->nin; i < call->nin + call->nout; i++) {
        int64_t stride = scalar_info[call->types[i]->scalar].bytes;
        for (int axis = 0; axis < call->head.ndim; axis++) {
            if (call->head.shape[axis] > 1 && call->places[i].strides[axis] != stride) return false;
            stride *= call->head.shape[axis];
        }
    }
    return true;
}

/* Whether neighbours in the innermost axis may be taken UFUNC_LANES at a time, with wide accesses. */
static bool can_use_lanes(const Call *call) {
    if (call->head.ndim > 1 && call->head.shape[0] % UFUNC_LANES) return false;
    if (call->head.size < UFUNC_LANES || call->spec->code->ufunc_lanes == 1) return false;
    for (int i = 0; i < call->nin + call->nout; i++) {
        const UfuncOperand *place = &call->places[i];
        int64_t item = scalar_info[call->types[i]->scalar].bytes;
        if (place->strides[0] == 0 && i < call->nin) continue; /* read as one element */
        if (place->strides[0] != item || (uintptr_t)place->data % 16) return false;
        for (int axis = 1; axis < call->head.ndim; axis++)
            if (place->strides[axis] % 16) return false;
    }
    return true;
}

/* Whether the grid may have a row of blocks for each row of elements: where the numbers are small enough and blocks of
 * *threads do not stand out over the end of the rows by more than an eighth. */
static bool can_use_rows(const Call *call, unsigned *threads) {
    const UfuncHead *head = &call->head;
    int64_t least = INT64_MAX;
    if (head->size > INT32_MAX) return false;
    for (int i = 0; i < call->nin + call->nout; i++)
        for (int axis = 0; axis < head->ndim; axis++) {
            int64_t stride = call->places[i].strides[axis];
            if (stride > INT32_MAX || stride < INT32_MIN) return false;
        }
    for (unsigned width = MAX_THREADS; width >= MIN_THREADS; width -= MIN_THREADS) {
        int64_t covered = (head->shape[0] + width - 1) / width * width;
        if (covered >= least) continue;
        least = covered;
        *threads = width;
    }
    return least - head->shape[0] <= head->shape[0] / 8;
}

static int launch_kernel(const Call *call, Spec *spec, const unsigned grid[3], unsigned threads) {
    int count = call->nin + call->nout;
    struct {
        UfuncHead head;
        UfuncOperand places[MAX_OPERANDS];
    } params = {.head = call->head};
    CudaKernel *kernel = load(call, spec);
    if (!kernel) return -1;
    for (int i = 0; i < count; i++)
        if (call->operands[i] &&
            device_array_used((DeviceArray *)call->operands[i], call->stream, call->stream_object) < 0)
            return -1;
    memcpy(params.places, call->places, (size_t)count * sizeof *call->places);
    for (int i = 0; i < call->nin; i++)
        if (!call->operands[i]) params.places[i].strides[UFUNC_MAX_NDIM - 1] = call->values[i];
    const unsigned block[3] = {threads, 1, 1};
    return cuda_kernel_launch(kernel, grid, block, call->stream, 0, &params,
                              sizeof(UfuncHead) + (size_t)count * sizeof(UfuncOperand));
}

static int launch_rows(Call *call, unsigned threads) {
    enum { MOST_GRID_Y = 65535 };
    const UfuncHead *head = &call->head;
    UfuncForm form = {.rows = true, .two_axes = head->ndim <= 2, .immediate = (uint32_t)head->immediate};
    int64_t y = head->rows < MOST_GRID_Y ? head->rows : MOST_GRID_Y;
    const unsigned grid[3] = {(unsigned)((head->shape[0] + threads - 1) / threads), (unsigned)y,
                              (unsigned)((head->rows + y - 1) / y)};
    Spec *spec = compile_form(call, form);
    if (!spec) return -1;
    spec->references++;
    int result = launch_kernel(call, spec, grid, threads);
    spec_release(spec);
    return result;
}

static int launch_part(Call *call) {
    UfuncHead *head = &call->head;
    unsigned threads = MAX_THREADS;
    head->rows = head->size / head->shape[0];
    head->mode = can_use_lanes(call) ? UFUNC_VECTOR : UFUNC_STRIDED;
    head->packed = results_packed(call);
    if (head->mode == UFUNC_STRIDED && can_use_rows(call, &threads)) return launch_rows(call, threads);
    threads = MAX_THREADS;
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
static int launch(Call *call) {
    if (flatten(call) < 0) return -1;
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

/* ---- results ---- */

/* Result i as the caller gets it. */
static PyObject *take_result(Call *call, int i) {
    PyObject *computed = call->operands[call->nin + i], *out = call->out[i];
    const Type *declared = NULL;
    if (out == computed) return Py_NewRef(out);
    if (call->self->signatures) {
        const Spec *spec = choose_signature(call);
        const Type *types[MAX_OPERANDS];
        int nin, nout;
        if (spec && ufunc_types(spec, types, &nin, &nout)) declared = types[nin + i];
    }
    bool converts = declared && declared->scalar != call->types[call->nin + i]->scalar;
    if (!out && call->any_device && !converts) return Py_NewRef(computed);
    PyObject *host = fetch(call, computed);
    if (host && converts)
        Py_SETREF(host, PyArray_FROMANY(host, marshal_typenum((Scalar)declared->scalar), 0, 0,
                                        NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST));
    if (!host) return NULL;
    PyObject *result = NULL;
    if (is_device_array(call->state, out)) {
        PyObject *done = PyObject_CallMethod(out, "copy_to_device", "O", host);
        if (done) result = Py_NewRef(out);
        Py_XDECREF(done);
    } else if (out) {
        if (PyArray_Check(out) && PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)host) == 0)
            result = Py_NewRef(out);
        else if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "out is a device array or a NumPy array");
    } else if (call->any_device) {
        result = call_module(call->self, "to_device", host, NULL);
    } else {
        result = PyArray_Return((PyArrayObject *)Py_NewRef(host));
    }
    Py_DECREF(host);
    return result;
}

static PyObject *take_results(Call *call) {
    if (call->nout == 1) return take_result(call, 0);
    PyObject *tuple = PyTuple_New(call->nout);
    for (int i = 0; tuple && i < call->nout; i++) {
        PyObject *item = take_result(call, i);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static int read_out(Call *call, PyObject *out) {
    if (!out || out == Py_None) return 0;
    if (!PyTuple_Check(out) && call->nout == 1) {
        call->out[0] = out;
    } else if (PyTuple_Check(out) && PyTuple_GET_SIZE(out) == call->nout) {
        for (int i = 0; i < call->nout; i++)
            call->out[i] = PyTuple_GET_ITEM(out, i) == Py_None ? NULL : PyTuple_GET_ITEM(out, i);
    } else {
        PyErr_Format(PyExc_ValueError, "out is one array for each of %d results", call->nout);
        return -1;
    }
    for (int i = 0; i < call->nout; i++)
        if (is_device_array(call->state, call->out[i])) call->any_device = true;
    return 0;
}

/* ---- the host device ---- */

static PyObject *as_numpy(const ModuleState *state, PyObject *object) {
    if (!is_device_array(state, object)) return Py_NewRef(object);
    DeviceArray *array = (DeviceArray *)object;
    npy_intp dims[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < array->type->ndim; i++) {
        dims[i] = (npy_intp)array->dims[i];
        strides[i] = (npy_intp)array->dims[array->type->ndim + i];
    }
    PyArray_Descr *descr = PyArray_DescrFromType(marshal_typenum((Scalar)type_element(array->type)->scalar));
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, array->type->ndim, dims, strides, array->head.data,
                                          NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE, NULL);
    if (view && PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(object)) < 0) Py_CLEAR(view);
    return view;
}

static PyObject *call_on_host(Call *call, PyObject *const *args, PyObject *out) {
    Vectorized *self = call->self;
    PyObject *views = PyTuple_New(call->nin), *kwargs = NULL, *out_view = NULL, *result = NULL;
    const Type *types[MAX_OPERANDS];
    bool any_device = is_device_array(call->state, out);
    memcpy(types, call->types, sizeof types);
    if (!self->signatures && !vectorized_loop(self, types)) goto done;
    for (int i = 0; views && i < call->nin; i++) {
        any_device |= is_device_array(call->state, args[i]);
        PyObject *view = as_numpy(call->state, args[i]);
        if (view)
            PyTuple_SET_ITEM(views, i, view);
        else
            Py_CLEAR(views);
    }
    if (!views) goto done;
    if (out && out != Py_None) {
        out_view = as_numpy(call->state, out);
        kwargs = out_view ? Py_BuildValue("{sO}", "out", out_view) : NULL;
        if (!kwargs) goto done;
    }
    result = PyObject_Call(self->ufunc, views, kwargs);
    if (result && is_device_array(call->state, out))
        Py_SETREF(result, Py_NewRef(out));
    else if (result && any_device && !PyTuple_Check(result))
        Py_SETREF(result, call_module(self, "to_device", result, NULL));
done:
    Py_XDECREF(views);
    Py_XDECREF(kwargs);
    Py_XDECREF(out_view);
    return result;
}

/* ---- the call ---- */

PyObject *ufunc_cuda_call(Vectorized *self, PyObject *const *args, Py_ssize_t nargs, PyObject *out, PyObject *stream) {
    Call call = {.self = self, .state = self->core.state, .nin = (int)nargs};
    PyObject *result = NULL;
    int gpu = cuda_use_gpu(call.state->cuda);
    if (gpu < 0 || read_types(&call, args) < 0) return NULL;
    if (gpu == 0) return call_on_host(&call, args, out);
    if (!(call.context = cuda_current(call.state->cuda))) return NULL;
    if (stream && runtime_stream_handle(&call.state->marshal, stream, &call.stream) < 0) return NULL;
    call.stream_object = stream;
    if (choose_code(&call) < 0) return NULL;
    call.spec->references++;
    for (int i = 0; i < call.nin; i++) {
        call.any_device |= is_device_array(call.state, args[i]);
        int scalar = bring_scalar(&call, i, args[i], call.types[i]);
        if (scalar < 0) goto done;
        if (!scalar && !(call.operands[i] = bring_in(&call, args[i], call.types[i]))) goto done;
    }
    if (read_out(&call, out) < 0 || broadcast_shape(&call) < 0 || make_outputs(&call) < 0 || launch(&call) < 0)
        goto done;
    result = take_results(&call);
done:
    for (int i = 0; i < call.nin + call.nout; i++) Py_XDECREF(call.operands[i]);
    spec_release(call.spec);
    return result;
}
