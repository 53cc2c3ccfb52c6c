/* gufunc_loop.c: specialisations compiled as ENTRY_GUFUNC become the loops of a generalised ufunc of NumPy.
 *
 * NumPy finds the loop by its operands' dtypes, matches core dimensions, broadcasts the others, converts, copies what
 * overlaps, and calls run_method for runs of calls whose operands lie evenly.  Here the strides of the core dimensions
 * choose the code: without gaps, or any.  With target 'parallel' the calls are spread over the cores.
 *
 * The loops are array methods: the one kind whose errors NumPy asks for.  Of an object with loops of that kind alone
 * NumPy would know no conversions; so the ufunc gets the list of its loops' types besides, which it searches for one
 * that the operands convert to. */
#include "decorators/gufunc.h"

#include <fenv.h>    /* feholdexcept */
#include <pthread.h> /* pthread_mutex_t */
#include <stdlib.h>  /* malloc */
#include <string.h>  /* memcpy */

#include <numpy/dtype_api.h> /* PyArrayMethod_Spec */

#include "runtime/heap/heap.h" /* heap_forget_cycles */
#include "runtime/host/host.h" /* HostLoop */

enum {
    STRIP = 1024,     /* calls between two looks for interrupts, at most; */
    FIRST_STRIP = 16, /* and until the first, after which it is known what they take */
    CHUNKS = 256      /* parts of a loop on several cores */
};

typedef int32_t GufuncEntry(char *const *args, const int64_t *count, const int64_t *steps, void *exception);

/* ---- code ---- */

static Scalar scalar_of(const Type *type) {
    return (Scalar)(type->kind == TY_ARRAY ? type_element(type) : type)->scalar;
}

GufuncLoop *gufunc_find_loop(const Gufunc *self, const int *scalars) {
    for (Py_ssize_t i = 0; i < self->nloops; i++) {
        bool same = true;
        for (int k = 0; same && k < self->layout.nin + self->layout.nout; k++)
            same = (int)scalar_of(self->loops[i]->types[k]) == scalars[k];
        if (same) return self->loops[i];
    }
    return NULL;
}

void gufunc_check_guards(Gufunc *self) {
    for (Py_ssize_t i = 0; i < self->nloops; i++)
        for (int form = 0; form < GUFUNC_FORMS; form++) {
            Spec *spec = self->loops[i]->forms[form];
            if (!spec || spec_guards(spec)) continue;
            self->loops[i]->forms[form] = NULL;
            spec_release(spec);
        }
}

/* An input that the function writes to would be seen by the caller at times, and at times not: NumPy may have made a
 * copy of it. */
static int check_written(const Gufunc *self, const Code *code) {
    for (int i = 0; i < self->layout.nin; i++) {
        if (!(code->written >> i & 1) || self->writable >> i & 1) continue;
        PyErr_Format(self->core.state->errors[ERROR_TYPING],
                     "%U writes to its parameter %R, which is an input of the layout\n  hint: name it in "
                     "writable_args=(%d,), or write to a result",
                     ((PyFunctionObject *)self->core.function)->func_qualname,
                     PyTuple_GET_ITEM(self->core.binding.names, i), i);
        return -1;
    }
    const char *lost = code->lost ? code->lost : code->assigned; /* y = ... where y[...] = ... is meant */
    for (int i = self->layout.nin; lost && i < self->layout.nin + self->layout.nout; i++) {
        PyObject *name = PyTuple_GET_ITEM(self->core.binding.names, i);
        if (code->written >> i & 1 || PyUnicode_CompareWithASCIIString(name, lost) != 0) continue;
        PyErr_Format(
            self->core.state->errors[ERROR_TYPING],
            "%U never writes to its result %R: assigning to the name changes a variable\n  hint: write into the "
            "array, %U[0] = ..., or all of it, %U[:] = ...",
            ((PyFunctionObject *)self->core.function)->func_qualname, name, name, name);
        return -1;
    }
    return 0;
}

/* The code for core dimensions without gaps (packed) or for any strides; compiled if there is none.  Borrowed. */
static Spec *code_for(Gufunc *self, GufuncLoop *loop, bool packed, bool decorating) {
    const Type *types[MAX_OPERANDS];
    TypeTable *table = self->core.state->session.types;
    if (loop->forms[packed]) return loop->forms[packed];
    Config config = self->core.config;
    config.decorating = decorating;
    for (int i = 0; i < self->layout.nin + self->layout.nout; i++) {
        const Type *type = loop->types[i];
        types[i] = type->kind == TY_ARRAY
                       ? type_array(table, type_element(type), type->ndim, packed ? LAYOUT_C : LAYOUT_A, false)
                       : type;
    }
    Spec *spec = specialiser_compile(&self->core, &config, types, NULL, (size_t)self->core.binding.nparams, NULL,
                                     false);
    if (spec && check_written(self, spec->code) < 0) {
        spec_release(spec);
        spec = NULL;
    }
    if (!spec || !loop->forms[packed]) return spec ? loop->forms[packed] = spec : NULL;
    spec_release(spec); /* another thread has made it meanwhile */
    return loop->forms[packed];
}

/* ---- running ---- */

typedef struct Run {
    HostLoop loop;
    GufuncEntry *entry;
    int nargs;
    char *const *args;
    const int64_t *steps; /* one for each operand, then extents and strides */
    size_t exception_bytes;
    pthread_mutex_t lock; /* of what follows */
    int64_t raised;       /* the first chunk that raised; INT64_MAX: none */
    int32_t status;
    void *exception; /* of that chunk */
} Run;

static void note_raise(Run *run, int64_t chunk, int32_t status, const void *exception) {
    pthread_mutex_lock(&run->lock);
    if (chunk < run->raised) {
        run->raised = chunk;
        run->status = status;
        memcpy(run->exception, exception, run->exception_bytes);
    }
    pthread_mutex_unlock(&run->lock);
}

static bool run_chunk(HostLoop *loop, int64_t from, int64_t to, int64_t chunk) {
    Run *run = (Run *)loop;
    char *at[MAX_OPERANDS];
    _Alignas(16) char room[512];
    char *exception = run->exception_bytes <= sizeof room ? room : malloc(run->exception_bytes);
    bool fine = exception != NULL;
    int64_t strip = FIRST_STRIP;
    uint64_t since = host_pace_begins();
    for (int64_t count; fine && from < to; from += count) {
        count = to - from < strip ? to - from : strip;
        for (int i = 0; i < run->nargs; i++) at[i] = run->args[i] + from * run->steps[i];
        int32_t status = run->entry(at, &count, run->steps, exception);
        if (status) note_raise(run, chunk, status, exception);
        fine = !status && !krait_host_safepoint();
        strip = host_pace(strip, &since, STRIP);
    }
    if (exception != room) free(exception);
    return fine;
}

/* The steps, then extents and strides of each array; *packed: whether none has gaps. */
static void describe(const Gufunc *self, const GufuncLoop *loop, const npy_intp *dimensions, const npy_intp *steps,
                     int64_t *table, bool *packed) {
    const PyUFuncObject *ufunc = (PyUFuncObject *)self->ufunc;
    int nargs = ufunc->nargs, next = nargs, core = nargs;
    *packed = true;
    for (int i = 0; i < nargs; i++) table[i] = steps[i];
    for (int i = 0; i < nargs; i++) {
        const Type *type = loop->types[i];
        int ndim = ufunc->core_num_dims[i];
        if (type->kind != TY_ARRAY) continue;
        if (ndim == 0) { /* a scalar that the function sees as an array of one */
            table[next++] = 1;
            table[next++] = scalar_info[scalar_of(type)].bytes;
            continue;
        }
        int64_t stride = scalar_info[scalar_of(type)].bytes;
        for (int axis = ndim - 1; axis >= 0; axis--) {
            int64_t extent = dimensions[1 + ufunc->core_dim_ixs[ufunc->core_offsets[i] + axis]];
            table[next + axis] = extent;
            table[next + ndim + axis] = steps[core + axis];
            *packed = *packed && (extent <= 1 || steps[core + axis] == stride);
            stride *= extent;
        }
        next += 2 * ndim;
        core += ndim;
    }
}

static GufuncLoop *loop_of(const Gufunc *self, PyArray_Descr *const *descriptors) {
    int scalars[MAX_OPERANDS];
    for (int i = 0; i < self->layout.nin + self->layout.nout; i++)
        scalars[i] = marshal_scalar_of_typenum(descriptors[i]->type_num);
    GufuncLoop *loop = gufunc_find_loop(self, scalars);
    if (!loop) PyErr_SetString(PyExc_TypeError, "no loop of the ufunc fits its operands");
    return loop;
}

/* With the GIL, which is given up while the loop runs. */
static int run_spec(Gufunc *self, Spec *spec, char *const *args, int64_t count, const int64_t *table) {
    void *address = host_code_address(spec->code->host);
    size_t bytes = spec->code->exception_bytes ? spec->code->exception_bytes : 8;
    Run run = {.loop = {.run = run_chunk, .count = count, .chunk = count, .each = &self->each},
               .nargs = self->layout.nin + self->layout.nout,
               .args = args,
               .steps = table,
               .exception_bytes = bytes,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .raised = INT64_MAX,
               .exception = PyMem_RawMalloc(bytes)};
    bool finished = true;
    if (!run.exception) return PyErr_NoMemory(), -1;
    if (self->target == UFUNC_PARALLEL) run.loop.chunk = (count + CHUNKS - 1) / CHUNKS;
    memcpy(&run.entry, &address, sizeof run.entry);
    heap_forget_cycles();
    Py_BEGIN_ALLOW_THREADS finished = count < 1 || host_loop_run(&run.loop);
    Py_END_ALLOW_THREADS if (run.status && !PyErr_Occurred()) errors_raise_site(
        self->core.state, spec->code, run.status, run.exception, PyFunction_GET_GLOBALS(self->core.function));
    if (!finished && !PyErr_Occurred()) PyErr_NoMemory();
    PyMem_RawFree(run.exception);
    return finished ? 0 : -1;
}

/* Room for what describe() writes: not on the stack, of which a thread may have little. */
static int64_t *new_table(const Gufunc *self) {
    const PyUFuncObject *ufunc = (PyUFuncObject *)self->ufunc;
    size_t count = (size_t)ufunc->nargs;
    for (int i = 0; i < ufunc->nargs; i++) count += 2 * (size_t)(ufunc->core_num_dims[i] + 1);
    return PyMem_Malloc(count * sizeof(int64_t));
}

static int run_of(Gufunc *self, GufuncLoop *loop, char *const *args, const npy_intp *dimensions, const npy_intp *steps,
                  int64_t *table) {
    int result = -1;
    bool packed;
    fenv_t numbers;
    describe(self, loop, dimensions, steps, table, &packed);
    feholdexcept(&numbers); /* the compiler's own arithmetic is not the function's */
    Spec *spec = code_for(self, loop, packed, false);
    fesetenv(&numbers);
    if (spec && (!spec->is_deep || spec_fits_stack(spec, self->core.function))) {
        CapturedHold held;
        spec->references++;
        if (captured_hold_on_host(&held, self->core.state, &spec, 1) == 0) {
            result = run_spec(self, spec, args, dimensions[0], table);
            captured_release(&held, self->core.state);
        }
        spec_release(spec);
    }
    return result;
}

static int run_method(PyArrayMethod_Context *context, char *const *args, const npy_intp *dimensions,
                      const npy_intp *steps, NpyAuxData *aux) {
    Gufunc *self = (Gufunc *)((PyUFuncObject *)context->caller)->obj;
    int result = -1;
    (void)aux;
    PyGILState_STATE gil = PyGILState_Ensure();
    GufuncLoop *loop = loop_of(self, context->descriptors);
    int64_t *table = loop ? new_table(self) : NULL;
    if (table) result = run_of(self, loop, args, dimensions, steps, table);
    if (loop && !table) PyErr_NoMemory();
    PyMem_Free(table);
    PyGILState_Release(gil);
    return result;
}

/* ---- the ufunc ---- */

static int register_loop(Gufunc *self, const GufuncLoop *loop) {
    PyArray_DTypeMeta *dtypes[MAX_OPERANDS];
    for (int i = 0; i < self->layout.nin + self->layout.nout; i++) {
        PyArray_Descr *descr = PyArray_DescrFromType(marshal_typenum(scalar_of(loop->types[i])));
        dtypes[i] = (PyArray_DTypeMeta *)Py_TYPE(descr); /* static types of NumPy */
        Py_DECREF(descr);
    }
    PyType_Slot slots[] = {{NPY_METH_strided_loop, (void *)run_method}, {0, NULL}};
    PyArrayMethod_Spec spec = {.name = self->name,
                               .nin = self->layout.nin,
                               .nout = self->layout.nout,
                               .casting = NPY_NO_CASTING,
                               .dtypes = dtypes,
                               .slots = slots};
    return PyUFunc_AddLoopFromSpec(self->ufunc, &spec);
}

/* The list that NumPy searches; its order is that of the declarations. */
static int list_types(Gufunc *self) {
    PyUFuncObject *ufunc = (PyUFuncObject *)self->ufunc;
    char *typenums = PyMem_Realloc(self->typenums, (size_t)(self->nloops * ufunc->nargs) + 1);
    if (!typenums) return PyErr_NoMemory(), -1;
    self->typenums = typenums;
    for (Py_ssize_t i = 0; i < self->nloops; i++)
        for (int k = 0; k < ufunc->nargs; k++)
            typenums[i * ufunc->nargs + k] = (char)marshal_typenum(scalar_of(self->loops[i]->types[k]));
    ufunc->types = typenums;
    ufunc->ntypes = (int)self->nloops;
    return 0;
}

static void free_loop(GufuncLoop *loop) {
    if (loop && loop->forms[true]) spec_release(loop->forms[true]);
    PyMem_Free(loop);
}

/* The list grows once there is code: other threads may have added loops, this one as well, while it was made. */
int gufunc_add_loop(Gufunc *self, const Type *const *types) {
    int count = self->layout.nin + self->layout.nout, scalars[MAX_OPERANDS];
    if (ufunc_check_types(types, count) < 0) return -1;
    for (int i = 0; i < count; i++) scalars[i] = (int)scalar_of(types[i]);
    if (gufunc_find_loop(self, scalars)) return 0;
    GufuncLoop *loop = PyMem_Calloc(1, sizeof *loop);
    if (!loop) return PyErr_NoMemory(), -1;
    memcpy(loop->types, types, (size_t)count * sizeof *types);
    bool made = code_for(self, loop, true, true) != NULL, there = made && gufunc_find_loop(self, scalars);
    if (!made || there || register_loop(self, loop) < 0) {
        free_loop(loop);
        return there ? 0 : -1;
    }
    GufuncLoop **grown = PyMem_Realloc(self->loops, (size_t)(self->nloops + 1) * sizeof *grown);
    if (!grown) {
        free_loop(loop);
        return PyErr_NoMemory(), -1;
    }
    self->loops = grown;
    self->loops[self->nloops++] = loop;
    return list_types(self);
}

int gufunc_make(Gufunc *self, const char *layout, int identity) {
    self->ufunc = PyUFunc_FromFuncAndDataAndSignature(NULL, NULL, NULL, 0, self->layout.nin, self->layout.nout,
                                                      identity, self->name, self->doc, 0, layout);
    if (!self->ufunc) return -1;
    PyUFuncObject *ufunc = (PyUFuncObject *)self->ufunc;
    ufunc->obj = Py_NewRef(self);
    ufunc_track(self->ufunc);
    for (int i = 0; i < self->layout.nin; i++)
        if (self->writable >> i & 1) ufunc->op_flags[i] = NPY_ITER_READWRITE | NPY_ITER_UPDATEIFCOPY | NPY_ITER_ALIGNED;
    /* NumPy's own but one: it takes a result on the very place of an input for an elementwise operation's. */
    for (int i = self->layout.nin; i < ufunc->nargs; i++)
        ufunc->op_flags[i] = NPY_ITER_WRITEONLY | NPY_ITER_UPDATEIFCOPY | NPY_ITER_ALIGNED | NPY_ITER_ALLOCATE |
                             NPY_ITER_NO_BROADCAST | NPY_ITER_NO_SUBTYPE;
    return 0;
}
