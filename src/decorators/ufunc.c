/* ufunc.c: specialisations compiled as ENTRY_UFUNC become one NumPy ufunc.
 *
 * Each specialisation is a loop of the ufunc.  A result whose signature declares another type than inference found
 * goes through a buffer and is converted.  With target 'parallel' long loops are spread over the cores.  Loops that
 * cannot raise are ordinary ones; if any can, all are registered as array methods, the one kind of loop whose errors
 * NumPy asks for.  Everything the loops use hangs on a capsule in ufunc->obj.
 */
#include "decorators/vectorized.h"

#include <fenv.h>      /* feraiseexcept */
#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_fetch_or */
#include <stdlib.h>    /* malloc */
#include <string.h>    /* memcpy */

#include <numpy/dtype_api.h> /* PyArrayMethod_Spec */

#include "runtime/heap/heap.h" /* heap_forget_cycles */
#include "runtime/host/host.h" /* HostLoop */

enum { CHUNK = 512, MAX_ITEM = 16 };

typedef struct Loop {
    HostUfunc head; /* first: what generated code sees */
    struct UfuncData *owner;
    Spec *spec;
    UfuncTable table;
    int nin, nout;
    const Type *types[MAX_OPERANDS];    /* as NumPy sees the operands */
    const Type *computed[MAX_OPERANDS]; /* as generated code sees them */
    bool converts, parallel;
    _Atomic int64_t each; /* nanoseconds of one element when last measured on several cores */
} Loop;

typedef struct UfuncData {
    ModuleState *state;
    PyObject *module, *function;
    Py_ssize_t nloops;
    Loop *loops;
    PyUFuncGenericFunction *functions;
    void **data;
    char *types;
    char *name, *doc;
    int identity; /* a PyUFunc_ value */
} UfuncData;

/* ---- types ---- */

int ufunc_check_types(const Type *const *types, int count) {
    for (int i = 0; i < count; i++) {
        const Type *item = types[i]->kind == TY_ARRAY ? type_element(types[i]) : types[i];
        if (!type_is_scalar(item) || item->scalar != SCALAR_BFLOAT16) continue;
        PyErr_SetString(PyExc_TypeError,
                        "a ufunc cannot take or give bfloat16, which is no type of NumPy's own\n  hint: "
                        "take float32, or write a kernel, where bfloat16 is a type like others");
        return -1;
    }
    return 0;
}

bool ufunc_types(const Spec *spec, const Type **types, int *nin, int *nout) {
    const Type *result = spec->declared ? spec->declared : spec->code->result;
    *nin = (int)spec->nargs;
    *nout = result->kind == TY_TUPLE ? (int)result->count : 1;
    if (*nin + *nout > MAX_OPERANDS) return false;
    for (int i = 0; i < *nin; i++)
        if (!type_is_scalar(types[i] = spec->code->params[i])) return false;
    for (int i = 0; i < *nout; i++)
        if (!type_is_scalar(types[*nin + i] = result->kind == TY_TUPLE ? result->items[i] : result)) return false;
    return true;
}

/* ---- loops ---- */

/* Called by generated code, without the GIL, when the function raised. */
static void loop_raise(HostUfunc *head, int32_t status, const void *exception) {
    Loop *loop = (Loop *)head;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!PyErr_Occurred())
        errors_raise_site(loop->owner->state, loop->spec->code, status, exception,
                          PyFunction_GET_GLOBALS(loop->owner->function));
    PyGILState_Release(gil);
}

static void convert_items(const Type *from_type, const char *from, const Type *to_type, char *to, npy_intp step,
                          npy_intp count) {
    size_t bytes = scalar_info[from_type->scalar].bytes;
    for (npy_intp i = 0; i < count; i++)
        marshal_convert_scalar((Scalar)from_type->scalar, from + (size_t)i * bytes, (Scalar)to_type->scalar,
                               to + i * step);
}

/* The function's results go to buffers, and from there, converted, to the outputs. */
static void run_converting(Loop *loop, char **args, const npy_intp *dimensions, const npy_intp *steps,
                           HostUfunc *head) {
    int count = loop->nin + loop->nout;
    npy_intp left = dimensions[0];
    _Alignas(64) char buffers[4][CHUNK * MAX_ITEM];
    char *at[MAX_OPERANDS], *inner[MAX_OPERANDS];
    npy_intp inner_steps[MAX_OPERANDS];
    for (int i = 0; i < count; i++) at[i] = args[i];
    while (left > 0 && !host_is_to_stop()) {
        npy_intp n = left < CHUNK ? left : CHUNK;
        int used = 0;
        for (int i = 0; i < count; i++) {
            bool buffered = i >= loop->nin && loop->types[i]->scalar != loop->computed[i]->scalar;
            inner[i] = buffered ? buffers[used++] : at[i];
            inner_steps[i] = buffered ? scalar_info[loop->computed[i]->scalar].bytes : steps[i];
        }
        host_ufunc_run(&loop->table.head, inner, &n, inner_steps, head);
        for (int i = 0; i < count; i++) {
            if (inner[i] != at[i]) convert_items(loop->computed[i], inner[i], loop->types[i], at[i], steps[i], n);
            at[i] += n * steps[i];
        }
        left -= n;
    }
}

static void run_alone(Loop *loop, char **args, const npy_intp *dimensions, const npy_intp *steps, HostUfunc *head) {
    if (loop->converts)
        run_converting(loop, args, dimensions, steps, head);
    else
        host_ufunc_run(&loop->table.head, args, dimensions, steps, head);
}

/* ---- on several cores ---- */

enum { LEAST_CHUNK = 1 << 14, CHUNKS = 256 };

typedef struct Spread {
    HostLoop loop;
    Loop *what;
    char **args;
    const npy_intp *steps;
    atomic_int numbers;   /* floating-point flags of every thread */
    pthread_mutex_t lock; /* of what follows */
    int64_t raised;       /* the first chunk that raised; INT64_MAX: none */
    int32_t status;
    void *exception;
} Spread;

typedef struct Chunk {
    HostUfunc head; /* first: what generated code sees */
    Spread *spread;
    int64_t number;
    bool raised;
} Chunk;

/* Called by generated code on any thread. */
static void chunk_raise(HostUfunc *head, int32_t status, const void *exception) {
    Chunk *chunk = (Chunk *)head;
    Spread *spread = chunk->spread;
    chunk->raised = true;
    pthread_mutex_lock(&spread->lock);
    if (chunk->number < spread->raised) {
        spread->raised = chunk->number;
        spread->status = status;
        memcpy(spread->exception, exception, spread->what->spec->code->exception_bytes);
    }
    pthread_mutex_unlock(&spread->lock);
}

static bool run_chunk(HostLoop *loop, int64_t from, int64_t to, int64_t number) {
    Spread *spread = (Spread *)loop;
    Chunk chunk = {.head = {.raise = chunk_raise}, .spread = spread, .number = number};
    char *at[MAX_OPERANDS];
    npy_intp count = to - from;
    for (int i = 0; i < spread->what->nin + spread->what->nout; i++) at[i] = spread->args[i] + from * spread->steps[i];
    feclearexcept(FE_ALL_EXCEPT);
    run_alone(spread->what, at, &count, spread->steps, &chunk.head);
    atomic_fetch_or(&spread->numbers, fetestexcept(FE_ALL_EXCEPT));
    return !chunk.raised && !krait_host_safepoint();
}

/* Whether elements are independent: no result is an input of another element, or the result of several. */
static bool may_spread(const Loop *loop, char **args, npy_intp count, const npy_intp *steps) {
    const char *low[MAX_OPERANDS], *high[MAX_OPERANDS];
    if (count < 2 * LEAST_CHUNK) return false;
    for (int i = 0; i < loop->nin + loop->nout; i++) {
        const char *end = args[i] + (count - 1) * steps[i];
        low[i] = steps[i] < 0 ? end : args[i];
        high[i] = (steps[i] < 0 ? args[i] : end) + scalar_info[loop->types[i]->scalar].bytes;
    }
    for (int o = loop->nin; o < loop->nin + loop->nout; o++) {
        if (steps[o] == 0) return false;
        for (int i = 0; i < o; i++) {
            bool apart = high[i] <= low[o] || high[o] <= low[i], same = args[i] == args[o] && steps[i] == steps[o];
            if (!apart && !same) return false;
        }
    }
    return true;
}

static void run_spread(Loop *loop, char **args, npy_intp count, const npy_intp *steps) {
    Spread spread = {.loop = {.run = run_chunk, .count = count, .each = &loop->each},
                     .what = loop,
                     .args = args,
                     .steps = steps,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .raised = INT64_MAX,
                     .exception = malloc(loop->spec->code->exception_bytes + 1)};
    npy_intp chunk = count / CHUNKS;
    spread.loop.chunk = chunk < LEAST_CHUNK ? LEAST_CHUNK : chunk;
    if (spread.exception)
        host_loop_run(&spread.loop);
    else
        run_alone(loop, args, &count, steps, &loop->head);
    if (spread.status) loop->head.raise(&loop->head, spread.status, spread.exception);
    free(spread.exception);
    feraiseexcept(atomic_load(&spread.numbers));
}

static bool fits_stack(const Loop *loop) {
    PyGILState_STATE gil = PyGILState_Ensure();
    bool fits = PyErr_Occurred() || spec_fits_stack(loop->spec, loop->owner->function);
    PyGILState_Release(gil);
    return fits;
}

/* What NumPy calls where generated code does all. */
static void run_directly(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    host_ufunc_run(&((Loop *)data)->table.head, args, dimensions, steps, data);
}

/* What it calls otherwise. */
static void run_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    Loop *loop = data;
    if (loop->spec->is_deep && !fits_stack(loop)) return;
    if (loop->parallel && may_spread(loop, args, dimensions[0], steps))
        run_spread(loop, args, dimensions[0], steps);
    else
        run_alone(loop, args, dimensions, steps, &loop->head);
}

/* ---- as array methods ---- */

/* The same as an array method: the caller's ufunc leads to the loops, the operands' dtypes to the one. */
static int run_method(PyArrayMethod_Context *context, char *const *args, const npy_intp *dimensions,
                      const npy_intp *steps, NpyAuxData *aux) {
    PyUFuncObject *ufunc = (PyUFuncObject *)context->caller;
    UfuncData *data = PyCapsule_GetPointer(ufunc->obj, NULL);
    (void)aux;
    for (Py_ssize_t i = 0; data && i < data->nloops; i++) {
        Loop *loop = &data->loops[i];
        bool same = true;
        for (int k = 0; same && k < loop->nin + loop->nout; k++)
            same = marshal_scalar_of_typenum(context->descriptors[k]->type_num) == loop->types[k]->scalar;
        if (!same) continue;
        heap_forget_cycles();
        Py_BEGIN_ALLOW_THREADS run_loop((char **)args, dimensions, steps, loop);
        Py_END_ALLOW_THREADS return PyErr_Occurred() ? -1 : 0;
    }
    PyErr_SetString(PyExc_TypeError, "no loop of the ufunc fits its operands");
    return -1;
}

/* What NumPy's own kind of loop takes from the ufunc: what a reduction starts from, also if there are elements. */
static int start_reduction(PyArrayMethod_Context *context, npy_bool is_empty, void *initial) {
    PyUFuncObject *ufunc = (PyUFuncObject *)context->caller;
    UfuncData *data = PyCapsule_GetPointer(ufunc->obj, NULL);
    (void)is_empty;
    if (!data) return -1;
    if (data->identity == PyUFunc_None || data->identity == PyUFunc_ReorderableNone) return 0;
    int64_t identity = data->identity == PyUFunc_One ? 1 : data->identity == PyUFunc_MinusOne ? -1 : 0;
    Scalar scalar = marshal_scalar_of_typenum(context->descriptors[0]->type_num);
    marshal_convert_scalar(SCALAR_INT64, (const char *)&identity, scalar, initial);
    return 1;
}

/* ---- data ---- */

static void data_free(UfuncData *data) {
    for (Py_ssize_t i = 0; data->loops && i < data->nloops; i++) {
        ufunc_table_end(&data->loops[i].table);
        spec_release(data->loops[i].spec);
    }
    PyMem_Free(data->loops);
    PyMem_Free(data->functions);
    PyMem_Free(data->data);
    PyMem_Free(data->types);
    PyMem_Free(data->name);
    PyMem_Free(data->doc);
    Py_XDECREF(data->function);
    Py_XDECREF(data->module);
    PyMem_Free(data);
}

static void capsule_free(PyObject *capsule) {
    UfuncData *data = PyCapsule_GetPointer(capsule, NULL);
    if (data) data_free(data);
}

static char *copy_text(PyObject *text) {
    Py_ssize_t length;
    const char *utf8 = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
    char *copy = utf8 ? PyMem_Malloc((size_t)length + 1) : NULL;
    if (copy) memcpy(copy, utf8, (size_t)length + 1);
    PyErr_Clear();
    return copy;
}

static bool fill_loop(UfuncData *data, Py_ssize_t at, Spec *spec, const Specialiser *core, bool parallel) {
    Loop *loop = &data->loops[at];
    spec->references++;
    loop->spec = spec;
    loop->owner = data;
    loop->head.raise = loop_raise;
    ufunc_table_begin(&loop->table, core, spec, &loop->head);
    if (!ufunc_types(spec, loop->types, &loop->nin, &loop->nout)) return false;
    const Type *result = spec->code->result;
    int differing = 0;
    for (int i = 0; i < loop->nin + loop->nout; i++) {
        loop->computed[i] = loop->types[i];
        if (i >= loop->nin)
            loop->computed[i] = host_ufunc_result(&spec->code->config.codegen, result, (uint32_t)(i - loop->nin));
        differing += loop->computed[i]->scalar != loop->types[i]->scalar;
        data->types[at * (loop->nin + loop->nout) + i] = (char)marshal_typenum((Scalar)loop->types[i]->scalar);
    }
    loop->converts = differing > 0;
    loop->parallel = parallel;
    data->functions[at] = loop->converts || parallel || spec->is_deep ? run_loop : run_directly;
    data->data[at] = loop;
    return differing <= 4;
}

static UfuncData *data_new(const Specialiser *core, Spec *const *specs, Py_ssize_t nloops, int count, bool parallel) {
    ModuleState *state = core->state;
    UfuncData *data = PyMem_Calloc(1, sizeof *data);
    if (!data) return (UfuncData *)PyErr_NoMemory();
    data->state = state;
    data->module = Py_NewRef(PyType_GetModule(state->dispatcher_class));
    data->function = Py_NewRef(core->function);
    data->loops = PyMem_Calloc((size_t)nloops + 1, sizeof *data->loops);
    data->functions = PyMem_Calloc((size_t)nloops + 1, sizeof *data->functions);
    data->data = PyMem_Calloc((size_t)nloops + 1, sizeof *data->data);
    data->types = PyMem_Calloc((size_t)(nloops * count) + 1, 1);
    data->name = copy_text(((PyFunctionObject *)core->function)->func_name);
    data->doc = copy_text(((PyFunctionObject *)core->function)->func_doc);
    if (!data->loops || !data->functions || !data->data || !data->types || !data->name) {
        data_free(data);
        return (UfuncData *)PyErr_NoMemory();
    }
    for (; data->nloops < nloops; data->nloops++) {
        if (fill_loop(data, data->nloops, specs[data->nloops], core, parallel)) continue;
        data->nloops++; /* it has its reference */
        data_free(data);
        PyErr_SetString(state->errors[ERROR_TYPING],
                        "the arguments and results of a vectorized function are scalars, 32 of them at most");
        return NULL;
    }
    return data;
}

static int add_methods(PyObject *ufunc, UfuncData *data) {
    for (Py_ssize_t i = 0; i < data->nloops; i++) {
        Loop *loop = &data->loops[i];
        PyArray_DTypeMeta *dtypes[MAX_OPERANDS];
        for (int k = 0; k < loop->nin + loop->nout; k++) {
            PyArray_Descr *descr = PyArray_DescrFromType(marshal_typenum((Scalar)loop->types[k]->scalar));
            dtypes[k] = (PyArray_DTypeMeta *)Py_TYPE(descr); /* static types of NumPy */
            Py_DECREF(descr);
        }
        PyType_Slot slots[] = {{NPY_METH_strided_loop, (void *)run_method},
                               {NPY_METH_get_reduction_initial, (void *)start_reduction},
                               {0, NULL}};
        bool any_order = data->identity != PyUFunc_None;
        PyArrayMethod_Spec spec = {.name = data->name,
                                   .nin = loop->nin,
                                   .nout = loop->nout,
                                   .casting = NPY_NO_CASTING,
                                   .flags = NPY_METH_REQUIRES_PYAPI | (any_order ? NPY_METH_IS_REORDERABLE : 0),
                                   .dtypes = dtypes,
                                   .slots = slots};
        if (PyUFunc_AddLoopFromSpec(ufunc, &spec) < 0) return -1;
    }
    return 0;
}

PyObject *ufunc_new(const Specialiser *core, Spec *const *loops, Py_ssize_t nloops, int nin, int nout, int identity,
                    bool parallel) {
    UfuncData *data = data_new(core, loops, nloops, nin + nout, parallel);
    bool raises = false;
    if (!data) return NULL;
    PyObject *capsule = PyCapsule_New(data, NULL, capsule_free);
    if (!capsule) {
        data_free(data);
        return NULL;
    }
    data->identity = identity;
    for (Py_ssize_t i = 0; i < nloops; i++) raises |= loops[i]->code->nraise_sites > 0;
    PyObject *ufunc = PyUFunc_FromFuncAndData(data->functions, data->data, data->types, raises ? 0 : (int)nloops, nin,
                                              nout, identity, data->name, data->doc, 0);
    if (!ufunc) {
        Py_DECREF(capsule);
        return NULL;
    }
    ((PyUFuncObject *)ufunc)->obj = capsule;
    if (!raises) return ufunc;
    if (add_methods(ufunc, data) < 0) {
        Py_DECREF(ufunc);
        return NULL;
    }
    ((PyUFuncObject *)ufunc)->types = data->types; /* where NumPy looks for a loop that operands convert to */
    ((PyUFuncObject *)ufunc)->ntypes = (int)nloops;
    return ufunc;
}

/* krait/_ufunc_words.py finds the words. */
void ufunc_explain(PyObject *ufunc) {
    bool here = PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
    PyObject *class = PyErr_ExceptionMatches(PyExc_TypeError) ? PyExc_TypeError : PyExc_ValueError;
    if (!here) return;
    PyObject *raised = errors_take(), *text = PyObject_Str(raised);
    PyObject *module = text ? PyImport_ImportModule("krait._ufunc_words") : NULL;
    PyObject *words = module ? PyObject_CallMethod(module, "explained", "OO", text, ufunc) : NULL;
    PyErr_Clear();
    if (words && words != Py_None)
        PyErr_SetObject(class, words);
    else
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    Py_XDECREF(words);
    Py_XDECREF(module);
    Py_XDECREF(text);
    Py_DECREF(raised);
}
