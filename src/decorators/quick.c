/* quick.c: the launch that a program makes again and again: numbers and arrays, on a GPU that has the code already.
 *
 * In: the arguments as the interpreter hands them over.  Out: the launch is made; or it is launch.c's, and nothing was
 * done but that streams were put in order.  Each argument goes straight to its place in the GPU's parameter buffer, and
 * the facts of the call are found on the way.
 *
 * Arrays that other libraries lend are read first, for that is the only thing here which may run code of others.  From
 * the first look at a device array to the launch no other thread runs, so none is freed or moved meanwhile.  What may
 * take long or call Python (conversions, guards that something has touched, code that is not loaded, host arrays,
 * another device, a graph that is recorded) is left to launch.c, and so is every error of an argument. */
#include "decorators/facts.h"

#include <string.h> /* memcpy */

enum { QUICK_BYTES = 1024, QUICK_ARRAYS = 32, QUICK_LENT = 4 };

/* QUICK_VECTOR: an array of one dimension without gaps, as most are. */
typedef enum QuickKind { QUICK_VECTOR, QUICK_FLOAT, QUICK_INT, QUICK_NUMBER, QUICK_ARRAY } QuickKind;

struct QuickArgument {
    QuickKind kind : 8;
    bool wide; /* an integer of 64 bits */
    uint16_t nwords;
    uint32_t to; /* in the parameter buffer; of an array: its address, extents, and strides if it is strided */
    const Type *type;
    const PlanArray *array; /* of arrays, in the order of the arguments */
    union {
        MarshalTake *take; /* of QUICK_NUMBER */
        uint64_t most;     /* elements of a QUICK_VECTOR that is small */
    };
};

/* ---- once a specialisation ---- */

/* false: arguments of this type are launch.c's. */
static bool describe(const Plan *plan, const SpecArgument *argument, uint32_t i, QuickArgument *quick) {
    const Repr *repr = type_repr(argument->type);
    const Type *type = argument->type;
    quick->type = type;
    quick->take = argument->take;
    if (argument->fast == FAST_DEVICE_ARRAY) {
        quick->kind = type->ndim == 1 && type->layout == LAYOUT_C ? QUICK_VECTOR : QUICK_ARRAY;
        quick->nwords = (uint16_t)(type->layout == LAYOUT_A ? 2 * type->ndim : type->ndim);
        for (uint32_t k = 0; k < plan->narrays; k++)
            if (plan->arrays[k].argument == i) quick->array = &plan->arrays[k];
        if (!quick->array || quick->array->offset != argument->offset) return false;
        if (quick->kind == QUICK_VECTOR) quick->most = facts_most(quick->array->item);
        return true;
    }
    quick->kind = argument->fast == FAST_FLOAT ? QUICK_FLOAT : argument->fast == FAST_INT ? QUICK_INT : QUICK_NUMBER;
    quick->wide = type_is_integer(type) && type->scalar == SCALAR_INT64;
    return type->kind == TY_SCALAR && !type->object && repr->nleaves == 1;
}

typedef struct Preparing {
    Plan *plan;
    const Spec *spec;
} Preparing;

static void *prepare(Arena *arena, void *context) {
    const Preparing *preparing = context;
    Plan *plan = preparing->plan;
    const Spec *spec = preparing->spec;
    KernelParam *params = NULL;
    size_t bytes = 0, count = kernel_params(arena, spec->code->params, spec->nargs, &params, &bytes);
    QuickArgument *quick = PyMem_Calloc(spec->nargs + 1, sizeof *quick);
    if (!quick) return PyErr_NoMemory();
    bool fits = bytes <= QUICK_BYTES && plan->narrays <= QUICK_ARRAYS && !spec->code->waits_for_grid;
    for (uint32_t i = 0; fits && i < spec->nargs; i++) fits = describe(plan, &spec->args[i], i, &quick[i]);
    for (size_t i = count; i-- > 0;) quick[params[i].argument].to = params[i].to; /* the first leaf's remains */
    if (fits)
        plan->quick = quick;
    else
        PyMem_Free(quick);
    return plan;
}

int quick_prepare(Plan *plan, const Spec *spec) {
    return errors_with_arena(prepare, &(Preparing){plan, spec}) ? 0 : -1;
}

/* ---- arrays of other libraries ---- */

typedef struct Lending { /* the arrays of a launch that others lend, in the order of the arguments */
    unsigned count;
    ArrayFields arrays[QUICK_LENT];
} Lending;

typedef struct Call {
    Launcher *self;
    Device *device;
    const PyTypeObject *device_array; /* the class */
    PyObject *const *bound;
    const Lending *lending; /* NULL: others lend none */
    bool convert;           /* numbers are converted to the types of a signature */
} Call;

/* 1: one cannot be read so; launch.c reads it again, or refuses it. */
static int read_lent(const Call *call, Lending *lending) {
    const Kernel *kernel = call->self->kernel;
    const ModuleState *state = kernel->core.state;
    Producer seen = {NULL, NULL};
    for (Py_ssize_t i = 0; i < kernel->core.binding.nparams; i++) {
        PyTypeObject *type = Py_TYPE(call->bound[i]);
        if (type == state->marshal.device_array || type == &PyFloat_Type || type == &PyLong_Type) continue;
        const Foreign *known = runtime_known(state->runtime, type);
        if (!known) continue; /* a number of NumPy's, or an argument that no specialisation takes here */
        if (lending->count == QUICK_LENT) return 1;
        int read = runtime_read(state->runtime, known, call->bound[i], call->device, call->self->config.stream, &seen,
                                &lending->arrays[lending->count++]);
        if (read != 0) return PyErr_Clear(), 1;
    }
    return 0;
}

static inline bool lent_fits(const PlanArray *array, const Device *device, const ArrayFields *fields) {
    const Type *type = array->type;
    const int64_t *strides = fields->dims + array->ndim;
    if (fields->device != device || fields->element != type_element(type) || fields->ndim != array->ndim ||
        fields->readonly != type->readonly)
        return false;
    uintptr_t addresses = (uintptr_t)fields->data;
    for (unsigned i = 0; i < array->ndim; i++) addresses |= (uintptr_t)strides[i];
    if ((addresses & (array->align - 1)) != 0 || type->unaligned) return false;
    if (array->ndim == 1 && strides[0] == (int64_t)array->item) return type->layout == LAYOUT_C;
    return strided_layout(array->ndim, fields->dims, strides, array->item) == (ArrayLayout)type->layout;
}

/* ---- one launch ---- */

typedef struct Filling { /* the parameter buffer, for one specialisation */
    const Call *call;
    const Plan *plan;
    unsigned nlent, narrays;
    bool small, apart;
    Extent extents[QUICK_ARRAYS];
} Filling;

/* Of exact floats and ints the conversion calls nothing of Python. */
static bool take_number(const Call *call, const QuickArgument *quick, PyObject *object, char *to) {
    const Marshal *marshal = &call->self->kernel->core.state->marshal;
    if (call->convert && !PyFloat_CheckExact(object) && !PyLong_CheckExact(object)) return false;
    MarshalResult result = quick->take(marshal, quick->type, object, to, call->convert);
    if (KRAIT_UNLIKELY(result == MARSHAL_ERROR)) PyErr_Clear();
    return result == MARSHAL_OK;
}

static inline bool is_small(const char *at) {
    int64_t number;
    memcpy(&number, at, sizeof number);
    return number > -SMALL_COUNT && number < SMALL_COUNT;
}

static void put_array(Filling *filling, const QuickArgument *quick, void *data, const int64_t *dims, char *to) {
    const Plan *plan = filling->plan;
    unsigned at = filling->narrays++;
    uint32_t nwords = quick->nwords;
    memcpy(to, &data, 8);
    for (uint32_t i = 0; i < nwords; i++) memcpy(to + 8 + 8 * i, &dims[i], 8);
    filling->small &= facts_measure(quick->array, data, dims, &filling->extents[at]);
    if (at && plan->may_overlap && filling->apart) filling->apart = !facts_overlap(plan->arrays, filling->extents, at);
}

/* The same of a QUICK_VECTOR; a part of the loop over the arguments, as take_array is: calls would be a third of it. */
__attribute__((always_inline)) static inline void put_vector(Filling *filling, const QuickArgument *quick, void *data,
                                                             int64_t length, char *to) {
    const Plan *plan = filling->plan;
    unsigned at = filling->narrays++;
    uintptr_t start = (uintptr_t)data;
    memcpy(to, &data, 8);
    memcpy(to + 8, &length, 8);
    filling->small &= (uint64_t)length <= quick->most && !(start & quick->array->whole);
    filling->extents[at] = (Extent){start, start + (uint64_t)length * quick->array->item};
    if (at && plan->may_overlap && filling->apart) filling->apart = !facts_overlap(plan->arrays, filling->extents, at);
}

__attribute__((noinline)) static MarshalResult take_lent(Filling *filling, const QuickArgument *quick, char *to) {
    const Lending *lending = filling->call->lending;
    if (!lending || filling->nlent == lending->count) return MARSHAL_MISMATCH;
    const ArrayFields *fields = &lending->arrays[filling->nlent++];
    if (!lent_fits(quick->array, filling->call->device, fields)) return MARSHAL_MISMATCH;
    if (quick->kind == QUICK_VECTOR)
        put_vector(filling, quick, fields->data, fields->dims[0], to);
    else
        put_array(filling, quick, fields->data, fields->dims, to);
    return MARSHAL_OK;
}

__attribute__((always_inline)) static inline MarshalResult take_array(Filling *filling, const QuickArgument *quick,
                                                                      PyObject *object, bool vector, char *to) {
    const Call *call = filling->call;
    DeviceArray *array = (DeviceArray *)object;
    if (KRAIT_UNLIKELY(Py_TYPE(object) != call->device_array)) return take_lent(filling, quick, to);
    if (KRAIT_UNLIKELY(array->type != quick->type || array->device != call->device)) return MARSHAL_MISMATCH;
    if (KRAIT_UNLIKELY(device_array_used(array, call->self->config.stream, call->self->stream) < 0))
        return MARSHAL_ERROR;
    if (vector)
        put_vector(filling, quick, array->head.data, array->dims[0], to);
    else
        put_array(filling, quick, array->head.data, array->dims, to);
    return MARSHAL_OK;
}

/* MARSHAL_MISMATCH: the argument is not for this specialisation, or not for here. */
static inline MarshalResult take(Filling *filling, const QuickArgument *quick, PyObject *object, char *to) {
    double number;
    int64_t integer;
    switch (quick->kind) {
    case QUICK_VECTOR: return take_array(filling, quick, object, true, to);
    case QUICK_ARRAY: return take_array(filling, quick, object, false, to);
    case QUICK_FLOAT:
        if (!PyFloat_CheckExact(object)) return MARSHAL_MISMATCH;
        number = PyFloat_AS_DOUBLE(object);
        memcpy(to, &number, 8);
        return MARSHAL_OK;
    case QUICK_INT:
        if (!marshal_read_compact(object, &integer)) return MARSHAL_MISMATCH;
        memcpy(to, &integer, 8);
        break;
    case QUICK_NUMBER:
        if (!take_number(filling->call, quick, object, to)) return MARSHAL_MISMATCH;
        break;
    }
    if (quick->wide) filling->small &= is_small(to);
    return MARSHAL_OK;
}

static MarshalResult fill(Filling *filling, const Spec *spec, char *params) {
    const QuickArgument *quick = filling->plan->quick, *end = quick + spec->nargs;
    PyObject *const *bound = filling->call->bound;
    for (; quick < end; quick++) {
        MarshalResult taken = take(filling, quick, *bound++, params + quick->to);
        if (KRAIT_UNLIKELY(taken != MARSHAL_OK)) return taken;
    }
    return (filling->small && filling->apart) == filling->plan->all_facts ? MARSHAL_OK : MARSHAL_MISMATCH;
}

static int launch_spec(const Call *call, Spec *spec) {
    _Alignas(16) char params[QUICK_BYTES];
    const LaunchConfig *config = &call->self->config;
    Device *device = call->device;
    const Plan *plan = spec->extra;
    Filling filling;
    if (!plan || !plan->quick || !plan_is_loaded(plan, device) || !spec_unchanged(spec)) return 1;
    DeviceKernel *loaded = plan->loaded[device->ordinal];
    if (KRAIT_UNLIKELY((int)config->shared_bytes > loaded->dynamic_limit)) return 1;
    filling.call = call;
    filling.plan = plan;
    filling.nlent = filling.narrays = 0;
    filling.small = call->self->small_grid;
    filling.apart = true;
    MarshalResult filled = fill(&filling, spec, params);
    if (KRAIT_UNLIKELY(filled != MARSHAL_OK)) return filled == MARSHAL_ERROR ? -1 : 1;
    if (KRAIT_UNLIKELY(plan->ncaptured != 0) &&
        captured_note(call->self->kernel->core.state, spec->code, device, config->stream, call->self->stream) < 0)
        return -1;
    int status = device->ops->launch(loaded, config, params, NULL);
    return KRAIT_UNLIKELY(status != 0) ? launch_failed(call->self->kernel, spec, device, status, config, NULL) : 0;
}

static inline int launch_some(const Call *call) {
    const Specialiser *core = &call->self->kernel->core;
    int status = 1;
    if (KRAIT_UNLIKELY(core->nspecs > FEW_SPECS)) return core->recent ? launch_spec(call, core->recent) : 1;
    for (Py_ssize_t i = 0; i < core->nspecs && status == 1; i++) status = launch_spec(call, core->specs[i]);
    return status;
}

static int launch_lent(const Call *call) {
    Lending lending;
    Call with = *call;
    with.lending = &lending;
    lending.count = 0;
    return read_lent(call, &lending) == 0 ? launch_some(&with) : 1;
}

int quick_launch(Launcher *self, PyObject *const *bound) {
    const Specialiser *core = &self->kernel->core;
    if (runtime_capture || self->tasks != GRID_GIVEN) return 1;
    Device *device = runtime_device(core->state->runtime);
    if (KRAIT_UNLIKELY(!device || device_lingers(device))) return PyErr_Clear(), 1;
    if (self->config.stream && runtime_stream_check(self->stream, device) < 0) return PyErr_Clear(), 1;
    Call call = {self,  device, core->state->marshal.device_array,
                 bound, NULL,   core->signatures && PyList_GET_SIZE(core->signatures) == 1};
    return self->kernel->adopts ? launch_lent(&call) : launch_some(&call);
}
