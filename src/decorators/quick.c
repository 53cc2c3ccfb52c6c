/* quick.c: a launch where it begins, and the one that a program makes again and again to its end: numbers and arrays,
 * on a GPU that has the code already.
 *
 * In: the arguments as the interpreter hands them over.  Out: the launch is made; or it is launch.c's, and nothing was
 * done but that streams were put in order.  Each argument goes straight to its place in the GPU's parameter buffer, and
 * the facts of the call are found on the way: arrays first, in a loop of their own, then the others.
 *
 * Arrays that other libraries lend are read first, for that is the only thing here which may run code of others.  From
 * the first look at a device array to the launch no other thread runs, so none is freed or moved meanwhile.  What may
 * take long or call Python (conversions, guards that something has touched, code that is not loaded, host arrays,
 * another device, a graph that is recorded) is left to launch.c, and so is every error of an argument. */
#include "decorators/facts.h"

#include <string.h> /* memcpy */

enum { QUICK_BYTES = 1024, QUICK_ARRAYS = 32, QUICK_LENT = 4 };

/* QUICK_VECTOR: an array of one dimension without gaps, as most are. */
typedef enum QuickKind { QUICK_VECTOR, QUICK_ARRAY, QUICK_FLOAT, QUICK_INT, QUICK_NUMBER } QuickKind;

struct QuickArgument {
    uint8_t kind;      /* QuickKind */
    uint8_t whole;     /* of an array, as in PlanArray */
    uint8_t rows;      /* the same */
    bool wide;         /* an integer of 64 bits */
    uint16_t argument; /* its number */
    uint16_t to;       /* in the parameter buffer; of an array: its address, extents, and strides if it is strided */
    const Type *type;
    union {
        MarshalTake *take; /* of a QUICK_NUMBER */
        uint64_t most;     /* elements of a QUICK_VECTOR, if it is small */
    };
    uint32_t item;    /* bytes of an element */
    uint32_t against; /* a bit for each array before it that is to lie apart from it */
};

/* ---- once a specialisation ---- */

static bool describe_array(const Plan *plan, const SpecArgument *argument, uint32_t number, uint32_t i,
                           QuickArgument *quick) {
    const Type *type = argument->type;
    const PlanArray *array = &plan->arrays[number];
    if (number == plan->narrays || array->argument != i || array->offset != argument->offset) return false;
    quick->kind = type->ndim == 1 && type->layout == LAYOUT_C ? QUICK_VECTOR : QUICK_ARRAY;
    quick->most = facts_most(array->item);
    quick->item = (uint32_t)array->item;
    quick->whole = (uint8_t)array->whole;
    quick->rows = (uint8_t)array->rows;
    for (uint32_t k = 0; k < number; k++)
        if (array->written || plan->arrays[k].written) quick->against |= UINT32_C(1) << k;
    return array->item <= UINT32_MAX && array->whole <= UINT8_MAX;
}

static bool describe_number(const SpecArgument *argument, QuickArgument *quick) {
    const Type *type = argument->type;
    quick->kind = argument->fast == FAST_FLOAT ? QUICK_FLOAT : argument->fast == FAST_INT ? QUICK_INT : QUICK_NUMBER;
    quick->wide = type_is_integer(type) && type->scalar == SCALAR_INT64;
    quick->take = argument->take;
    return type->kind == TY_SCALAR && !type->object && type_repr(type)->nleaves == 1;
}

/* Arrays first, each in the order of the arguments.  false: some argument is of another kind. */
static bool describe(const Plan *plan, const Spec *spec, const KernelParam *params, size_t count,
                     QuickArgument *arguments) {
    uint32_t narrays = 0, nnumbers = 0;
    for (uint32_t i = 0; i < spec->nargs; i++) {
        const SpecArgument *argument = &spec->args[i];
        bool is_array = argument->fast == FAST_DEVICE_ARRAY;
        QuickArgument *quick = &arguments[is_array ? narrays : plan->narrays + nnumbers];
        if (!is_array && plan->narrays + nnumbers >= spec->nargs) return false;
        if (!(is_array ? describe_array(plan, argument, narrays, i, quick) : describe_number(argument, quick)))
            return false;
        is_array ? narrays++ : nnumbers++;
        quick->type = argument->type;
        quick->argument = (uint16_t)i;
        for (size_t k = count; k-- > 0;) /* the first leaf's remains */
            if (params[k].argument == i) quick->to = (uint16_t)params[k].to;
    }
    return narrays == plan->narrays;
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
    if (fits && describe(plan, spec, params, count, quick))
        plan->quick = quick;
    else
        PyMem_Free(quick);
    return plan;
}

int quick_prepare(Plan *plan, const Spec *spec) {
    return errors_with_arena(prepare, &(Preparing){plan, spec}) ? 0 : -1;
}

/* ---- one launch ---- */

typedef struct Call {
    Launcher *self;
    Device *device;
    const PyTypeObject *device_array; /* the class */
    PyObject *const *bound;
    const ArrayFields *lent; /* the arrays that others lend, in the order of the arguments */
    int nlent;
    bool convert; /* numbers are converted to the types of a signature */
} Call;

typedef struct Filling { /* the parameter buffer, for one specialisation */
    const Call *call;
    const Plan *plan;
    int taken; /* of those that others lend */
    bool small, apart;
    uintptr_t between; /* facts_between_rows of the arrays */
} Filling;

/* The array that is the next of those that others lend; NULL: there is none, or it is not for this specialisation.
 * odd: bits of an address at which no element lies. */
__attribute__((noinline)) static const ArrayFields *take_lent(Filling *filling, const QuickArgument *quick,
                                                              uintptr_t odd) {
    const Call *call = filling->call;
    const Type *type = quick->type;
    unsigned ndim = type->ndim;
    if (filling->taken == call->nlent) return NULL;
    const ArrayFields *fields = &call->lent[filling->taken++];
    if (fields->device != call->device || fields->element != type_element(type) || fields->ndim != ndim ||
        fields->readonly != type->readonly || type->unaligned)
        return NULL;
    const int64_t *strides = fields->dims + ndim;
    uintptr_t addresses = (uintptr_t)fields->data;
    if (quick->kind == QUICK_VECTOR && strides[0] == (int64_t)quick->item) return addresses & odd ? NULL : fields;
    for (unsigned i = 0; i < ndim; i++) addresses |= (uintptr_t)strides[i];
    bool fits = strided_layout(ndim, fields->dims, strides, quick->item) == (ArrayLayout)type->layout;
    return fits && (addresses & odd) == 0 ? fields : NULL;
}

/* An array that is no vector: its extents, and strides if they are not implied, and how it lies. */
__attribute__((noinline)) static bool put_array(const Plan *plan, uint32_t i, void *data, const int64_t *dims, char *to,
                                                Extent *extent) {
    const PlanArray *array = &plan->arrays[i];
    memcpy(to, dims, (array->strided ? 16 : 8) * (size_t)array->ndim);
    return facts_measure(array, data, dims, extent);
}

/* MARSHAL_MISMATCH: an argument is not for this specialisation, or not for here. */
__attribute__((noinline)) static MarshalResult fill_arrays(Filling *filling, char *params) {
    const Call *call = filling->call;
    const Plan *plan = filling->plan;
    const QuickArgument *quick = plan->quick;
    Device *device = call->device;
    Extent extents[QUICK_ARRAYS];
    for (uint32_t i = 0; i < plan->narrays; i++, quick++) {
        DeviceArray *array = (DeviceArray *)call->bound[quick->argument];
        const int64_t *dims = array->dims;
        char *to = params + quick->to;
        void *data;
        if (KRAIT_UNLIKELY(Py_TYPE(array) != call->device_array)) {
            const ArrayFields *fields = take_lent(filling, quick, plan->arrays[i].align - 1);
            if (!fields) return MARSHAL_MISMATCH;
            data = fields->data;
            dims = fields->dims;
        } else {
            if (KRAIT_UNLIKELY(array->type != quick->type || array->device != device ||
                               array->generation != device->generation))
                return MARSHAL_MISMATCH;
            if (KRAIT_UNLIKELY(device_array_used_now(array, call->self->config.stream, call->self->stream) < 0))
                return MARSHAL_ERROR;
            data = array->head.data;
        }
        memcpy(to, &data, 8);
        bool small;
        if (quick->kind == QUICK_VECTOR) {
            int64_t length = dims[0];
            memcpy(to + 8, &length, 8);
            small = facts_measure_vector(data, (uint64_t)length, quick->item, quick->most, quick->whole, &extents[i]);
        } else {
            small = put_array(plan, i, data, dims, to + 8, &extents[i]);
        }
        if (KRAIT_UNLIKELY(!small)) filling->small = false;
        if (quick->rows)
            filling->between |= facts_between_rows(data, quick->type->ndim, dims, quick->item, quick->rows);
        for (uint32_t left = quick->against; left; left &= left - 1)
            if (KRAIT_UNLIKELY(facts_meet(extents[i], extents[__builtin_ctz(left)]))) filling->apart = false;
    }
    return MARSHAL_OK;
}

static inline bool is_small(const char *at) {
    int64_t number;
    memcpy(&number, at, sizeof number);
    return number > -SMALL_COUNT && number < SMALL_COUNT;
}

/* Of exact floats and ints the conversion calls nothing of Python. */
static bool take_number(const Call *call, const QuickArgument *quick, PyObject *object, char *to) {
    const Marshal *marshal = &call->self->kernel->core.state->marshal;
    if (call->convert && !PyFloat_CheckExact(object) && !PyLong_CheckExact(object)) return false;
    MarshalResult result = quick->take(marshal, quick->type, object, to, call->convert);
    if (KRAIT_UNLIKELY(result == MARSHAL_ERROR)) PyErr_Clear();
    return result == MARSHAL_OK;
}

/* false: it is not for this specialisation. */
__attribute__((noinline)) static bool put_number(Filling *filling, const QuickArgument *quick, PyObject *object,
                                                 char *to) {
    int64_t integer;
    if (quick->kind == QUICK_INT) {
        if (!marshal_read_compact(object, &integer)) return false;
        memcpy(to, &integer, 8);
    } else if (!take_number(filling->call, quick, object, to)) {
        return false;
    }
    if (quick->wide && !is_small(to)) filling->small = false;
    return true;
}

static inline bool fill_numbers(Filling *filling, const QuickArgument *quick, const QuickArgument *end, char *params) {
    for (; quick < end; quick++) {
        PyObject *object = filling->call->bound[quick->argument];
        char *to = params + quick->to;
        if (quick->kind != QUICK_FLOAT) {
            if (!put_number(filling, quick, object, to)) return false;
        } else if (PyFloat_CheckExact(object)) {
            memcpy(to, &((PyFloatObject *)object)->ob_fval, 8);
        } else {
            return false;
        }
    }
    return true;
}

/* 0: launched; 1: nothing was done; -1: exception set. */
static int launch_spec(const Call *call, Spec *spec) {
    _Alignas(16) char params[QUICK_BYTES];
    const LaunchConfig *config = &call->self->config;
    Device *device = call->device;
    const Plan *plan = spec->extra;
    if (!plan || !plan->quick || !plan_is_loaded(plan, device) || !spec_unchanged(spec)) return 1;
    DeviceKernel *loaded = plan->loaded[device->ordinal];
    if (KRAIT_UNLIKELY((int)config->shared_bytes > loaded->dynamic_limit)) return 1;
    Filling filling = {call, plan, 0, call->self->small_grid, true, 0};
    MarshalResult filled = fill_arrays(&filling, params);
    if (KRAIT_UNLIKELY(filled != MARSHAL_OK)) return filled == MARSHAL_ERROR ? -1 : 1;
    if (!fill_numbers(&filling, plan->quick + plan->narrays, plan->quick + spec->nargs, params)) return 1;
    if (facts_variant(filling.small, filling.apart, filling.between == 0) != plan->facts) return 1;
    if (KRAIT_UNLIKELY(plan->ncaptured != 0) &&
        captured_note(call->self->kernel->core.state, spec->code, device, config->stream, call->self->stream) < 0)
        return -1;
    int status = device->ops->launch(loaded, config, params, NULL);
    return KRAIT_UNLIKELY(status != 0) ? launch_failed(call->self->kernel, spec, device, status, config, NULL) : 0;
}

/* The specialisations but the first, which was tried. */
__attribute__((noinline)) static int launch_others(const Call *call) {
    const Specialiser *core = &call->self->kernel->core;
    int status = 1;
    if (core->nspecs > FEW_SPECS) return core->recent ? launch_spec(call, core->recent) : 1;
    for (Py_ssize_t i = 1; i < core->nspecs && status == 1; i++) status = launch_spec(call, core->specs[i]);
    return status;
}

static inline int launch_some(const Call *call) {
    const Specialiser *core = &call->self->kernel->core;
    bool few = core->nspecs > 0 && core->nspecs <= FEW_SPECS;
    int status = few ? launch_spec(call, core->specs[0]) : 1;
    return KRAIT_UNLIKELY(status == 1) ? launch_others(call) : status;
}

/* Of arrays that others lend one that cannot be read so is read again by launch.c, or refused. */
__attribute__((noinline)) static int launch_lent(Call *call) {
    ArrayFields lent[QUICK_LENT];
    const Kernel *kernel = call->self->kernel;
    call->lent = lent;
    call->nlent = runtime_read_all(kernel->core.state->runtime, call->bound, kernel->core.binding.nparams, call->device,
                                   call->self->config.stream, lent, QUICK_LENT);
    if (call->nlent >= 0) return launch_some(call);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return -1; /* Ctrl-C: nobody raises it again */
    PyErr_Clear();
    return 1;
}

/* One argument for each parameter. */
static inline int quick_launch(Launcher *self, PyObject *const *bound) {
    const Kernel *kernel = self->kernel;
    const Specialiser *core = &kernel->core;
    const ModuleState *state = core->state;
    if (runtime_capture || self->tasks != GRID_GIVEN || kernel->roundabout) return 1;
    Device *device = runtime_device_at_hand(state->cuda);
    if (KRAIT_UNLIKELY(!device || device_lingers(device))) return 1;
    if (self->config.stream && runtime_stream_check(self->stream, device) < 0) return PyErr_Clear(), 1;
    Call call = {self,
                 device,
                 state->marshal.device_array,
                 bound,
                 NULL,
                 0,
                 core->signatures && PyList_GET_SIZE(core->signatures) == 1};
    return kernel->adopts ? launch_lent(&call) : launch_some(&call);
}

PyObject *launch_plain(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Launcher *self = (Launcher *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    int status = binding_direct(&self->kernel->core.binding, nargs, kwnames) ? quick_launch(self, args) : 1;
    if (KRAIT_UNLIKELY(status != 0)) return status < 0 ? NULL : launch_any(self, args, nargs, kwnames);
    Py_RETURN_NONE;
}
