/* stage.c: test door of the driver: any stage of the real pipeline as text: function and argument types in, what
 * KRAIT_DUMP would print out. */
#include "testing/testing.h"

static bool read_types(ModuleState *state, PyObject *sequence, Arena *arena, const Type ***types, Py_ssize_t *count) {
    PyObject *items = PySequence_Fast(sequence, "types must be a sequence");
    if (!items) return false;
    *count = PySequence_Fast_GET_SIZE(items);
    *types = ARENA_ARRAY(arena, const Type *, *count);
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);
        const char *text = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : NULL, *end = NULL;
        (*types)[i] = text ? type_parse(state->session.types, arena, text, &end) : type_from_object(state, item);
        if (!(*types)[i] && !PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "'%U' is not a type", item);
        if (!(*types)[i]) break;
    }
    Py_DECREF(items);
    return !PyErr_Occurred();
}

/* stage(function, types, stage, *, target="host", kernel=False, capability=90, fastmath=0, python_errors=True,
 * boundscheck=True, noalias=False, parallel=0, small=False, in_range=False, brief=False,
 * check=False); parallel: of enum ParallelParts; check: of a kernel, what it raises */
static PyObject *testing_stage(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"function", "types",         "stage",       "target",  "kernel",   "capability",
                            "fastmath", "python_errors", "boundscheck", "noalias", "parallel", "small",
                            "in_range", "brief",         "check",       NULL};
    ModuleState *state = module_state(module);
    PyObject *function, *type_list, *result = NULL;
    const char *stage, *target = "host";
    int kernel = 0, capability = 90, fastmath = 0, python_errors = 1, boundscheck = 1, noalias = 0, parallel = 0,
        small = 0, in_range = 0, brief = 0, check = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOs|$spiipppipppp:stage", names, &function, &type_list, &stage,
                                     &target, &kernel, &capability, &fastmath, &python_errors, &boundscheck, &noalias,
                                     &parallel, &small, &in_range, &brief, &check))
        return NULL;
    Arena *arena = arena_new();
    if (!arena) return PyErr_NoMemory();
    jmp_buf recovery;
    if (setjmp(recovery) != 0) {
        arena_free(arena);
        return PyErr_NoMemory();
    }
    arena_on_exhaustion(arena, &recovery);
    const Type **types;
    Py_ssize_t count;
    Diag diag;
    diag_init(&diag, arena);
    if (read_types(state, type_list, arena, &types, &count)) {
        bool gpu = target[0] == 'n';
        Config config = {.target = gpu ? TARGET_NVPTX : TARGET_HOST, .kernel = kernel || gpu};
        config.codegen = (CodegenOptions){.entry = config.kernel ? ENTRY_KERNEL : ENTRY_FUNCTION,
                                          .fastmath = (uint32_t)fastmath,
                                          .python_errors = config.kernel ? check : python_errors,
                                          .boundscheck = config.kernel ? check : boundscheck,
                                          .opt_level = 3,
                                          .facts = (noalias ? FACT_NOALIAS : 0) | (small ? FACT_SMALL | FACT_ROWS : 0) |
                                                   (in_range ? FACT_IN_RANGE : 0) | (brief ? FACTS_OF_CALLS : 0),
                                          .parallel = parallel,
                                          .compute_capability = capability};
        const char *text = driver_stage_text(&state->session, &config, function, types, (size_t)count, stage, &diag);
        if (text)
            result = PyUnicode_FromString(text);
        else
            errors_raise_diag(state, &diag);
    }
    arena_free(arena);
    return result;
}

static PyObject *testing_ready(PyObject *module, PyObject *args) {
    int capability;
    (void)module;
    if (!PyArg_ParseTuple(args, "i:ready", &capability)) return NULL;
    return PyBool_FromLong(driver_ready_now(capability, 0));
}

static PyObject *testing_units(PyObject *module, PyObject *args) {
    (void)args;
    UnitCounts counts = units_counts(module_state(module)->session.units);
    return Py_BuildValue("(nnn)", (Py_ssize_t)counts.kept, (Py_ssize_t)counts.taken, (Py_ssize_t)counts.bytes);
}

static PyObject *testing_fail_units(PyObject *module, PyObject *args) {
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "n:fail_units", &n)) return NULL;
    units_fail_after(module_state(module)->session.units, (size_t)n);
    Py_RETURN_NONE;
}

static PyObject *testing_config_rows(PyObject *module, PyObject *args) {
    ModuleState *state = module_state(module);
    PyObject *list = PyList_New(0);
    Arena *arena = arena_new();
    jmp_buf recovery;
    (void)args;
    if (!list || !arena || setjmp(recovery) != 0) {
        arena_free(arena);
        Py_XDECREF(list);
        return PyErr_NoMemory();
    }
    arena_on_exhaustion(arena, &recovery);
    ConfigRow row;
    const char *end;
    const Type *any = type_parse(state->session.types, arena, "int", &end);
    for (size_t i = 0; list && config_row(i, arena, any, &row); i++) {
        PyObject *item = Py_BuildValue("(sssOO)", row.name, row.key, row.calls, row.changes_key ? Py_True : Py_False,
                                       row.fits ? Py_True : Py_False);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    arena_free(arena);
    return list;
}

PyMethodDef testing_stage_methods[] = {
    {"config_rows", testing_config_rows, METH_NOARGS,
     "config_rows() -> (name, key, calls, whether the key of code on disk changes with it, whether code for another "
     "value serves) of each field of Config"},
    {"ready", testing_ready, METH_VARARGS, "ready(capability): whether what makes the compiler ready compiles"},
    {"stage", WITH_KEYWORDS(testing_stage), METH_VARARGS | METH_KEYWORDS,
     "stage(function, types, stage, *, target='host', kernel=False, capability=90, ...) -> the text that a stage of "
     "the pipeline leaves behind"},
    {"fail_units", testing_fail_units, METH_VARARGS,
     "fail_units(n): the n-th allocation for typed functions that are kept fails; 0: none"},
    {"units", testing_units, METH_NOARGS,
     "units() -> how many typed functions of the prelude are kept, how often one was taken, and their bytes"},
    {NULL, NULL, 0, NULL},
};
