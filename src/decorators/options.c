/* options.c: the keyword options of the decorators: options.def lists them, one small function each reads its value.
 *
 * An unknown name is a TypeError at once, and the message names the options that there are.  What is accepted for the
 * sake of programs written for Numba, and asks for what is so anyway, says "no effect" in its row. */
#include "decorators/decorators.h"

#include <stdlib.h> /* getenv */
#include <string.h> /* strcmp */

static int parse_flag(const char *name, PyObject *value, bool *flag) {
    if (!PyBool_Check(value) && !PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "option %s is True or False, not %R", name, value);
        return -1;
    }
    *flag = PyObject_IsTrue(value);
    return 0;
}

static int parse_count(const char *name, PyObject *value, int *count) {
    if (value == Py_None) return 0;
    long number = PyLong_Check(value) ? PyLong_AsLong(value) : -1;
    if (number < 0 || number > 1 << 20) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "option %s is a whole number that is not negative, not %R", name, value);
        return -1;
    }
    *count = (int)number;
    return 0;
}

#define FLAG(option, field) \
    static int parse_##option(Options *options, PyObject *value) { return parse_flag(#option, value, &options->field); }
FLAG(nogil, nogil)
FLAG(debug, debug)
FLAG(cache, cache)
FLAG(device, device)
FLAG(lineinfo, lineinfo)
FLAG(forceinline, forceinline)
#undef FLAG

/* Flags that change nothing. */
#define IGNORED(name)                                            \
    static int parse_##name(Options *options, PyObject *value) { \
        bool flag = false;                                       \
        return (void)options, parse_flag(#name, value, &flag);   \
    }
IGNORED(nopython)
IGNORED(looplift)
IGNORED(no_cpython_wrapper)
IGNORED(no_cfunc_wrapper)
#undef IGNORED

static int parse_boundscheck(Options *options, PyObject *value) { /* None: as it is by default */
    return value == Py_None ? 0 : parse_flag("boundscheck", value, &options->boundscheck);
}

/* The parts that a dict may name; 0: there is nothing to leave out. */
static const struct {
    const char *name;
    unsigned part;
} parallel_parts[] = {{"prange", PARALLEL_LOOPS},
                      {"numpy", PARALLEL_ARRAYS},
                      {"reduction", PARALLEL_REDUCTIONS},
                      {"comprehension", 0},
                      {"inplace_binop", 0},
                      {"setitem", 0},
                      {"stencil", 0},
                      {"fusion", 0}};

static int leave_out(Options *options, PyObject *name, PyObject *wanted) {
    for (size_t i = 0; PyUnicode_Check(name) && i < COUNT_OF(parallel_parts); i++) {
        bool keep = true;
        if (PyUnicode_CompareWithASCIIString(name, parallel_parts[i].name) != 0) continue;
        if (parse_flag("parallel", wanted, &keep) < 0) return -1;
        if (!keep) options->parallel &= ~parallel_parts[i].part;
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "option parallel has no part %R; its parts are prange, numpy, reduction, comprehension, "
                 "inplace_binop, setitem, stencil, fusion",
                 name);
    return -1;
}

/* True, False, or a dict that says of parts whether they are wanted: those that it does not name are. */
static int parse_parallel(Options *options, PyObject *value) {
    PyObject *name, *wanted;
    Py_ssize_t at = 0;
    bool all = true;
    if (!PyDict_Check(value) && parse_flag("parallel", value, &all) < 0) return -1;
    options->parallel = all ? PARALLEL_ALL : 0;
    while (PyDict_Check(value) && PyDict_Next(value, &at, &name, &wanted))
        if (leave_out(options, name, wanted) < 0) return -1;
    return 0;
}

static int parse_forceobj(Options *options, PyObject *value) {
    bool forceobj = false;
    (void)options;
    if (parse_flag("forceobj", value, &forceobj) < 0) return -1;
    if (!forceobj) return 0;
    PyErr_SetString(PyExc_TypeError, "option forceobj is False: there is no object mode; leave the decorator out, and "
                                     "move the loops into functions that are compiled");
    return -1;
}

static const struct {
    const char *name;
    uint32_t bits;
} fastmath_flags[] = {
    {"nnan", FASTMATH_NNAN},         {"ninf", FASTMATH_NINF}, {"nsz", FASTMATH_NSZ},         {"arcp", FASTMATH_ARCP},
    {"contract", FASTMATH_CONTRACT}, {"afn", FASTMATH_AFN},   {"reassoc", FASTMATH_REASSOC}, {"fast", FASTMATH_ALL},
};

static int parse_fastmath(Options *options, PyObject *value) {
    if (PyBool_Check(value)) {
        options->fastmath = value == Py_True ? FASTMATH_ALL : 0;
        return 0;
    }
    PyObject *items = PyAnySet_Check(value) || PyList_Check(value) || PyTuple_Check(value) ? PySequence_List(value)
                                                                                           : NULL;
    options->fastmath = 0;
    for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        uint32_t bits = 0;
        for (size_t k = 0; k < COUNT_OF(fastmath_flags) && PyUnicode_Check(item); k++)
            if (PyUnicode_CompareWithASCIIString(item, fastmath_flags[k].name) == 0) bits = fastmath_flags[k].bits;
        options->fastmath |= bits;
        if (!bits) Py_CLEAR(items);
    }
    if (items) {
        Py_DECREF(items);
        return 0;
    }
    PyErr_Format(
        PyExc_TypeError,
        "option fastmath is True, False or a set of 'nnan', 'ninf', 'nsz', 'arcp', 'contract', 'afn', 'reassoc', "
        "'fast', not %R",
        value);
    return -1;
}

static int parse_error_model(Options *options, PyObject *value) {
    if (PyUnicode_Check(value)) {
        options->python_errors = PyUnicode_CompareWithASCIIString(value, "python") == 0;
        if (options->python_errors || PyUnicode_CompareWithASCIIString(value, "numpy") == 0) return 0;
    }
    PyErr_Format(PyExc_TypeError, "option error_model is 'python' or 'numpy', not %R", value);
    return -1;
}

static int parse_check(Options *options, PyObject *value) {
    options->races = PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "race") == 0;
    if (PyUnicode_Check(value) && !options->races)
        return PyErr_Format(PyExc_TypeError, "option check is True, False or 'race', not %R", value), -1;
    options->check = options->races;
    return options->races ? 0 : parse_flag("check", value, &options->check);
}

static int parse_fp64(Options *options, PyObject *value) {
    options->note_doubles = PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "warn") == 0;
    if (options->note_doubles || value == Py_None) return 0;
    PyErr_Format(PyExc_TypeError, "option fp64 is 'warn' or None, not %R", value);
    return -1;
}

static const struct {
    const char *name;
    Promotion promotion;
} promotions[] = {{"numpy", PROMOTION_NUMPY2}, {"numba", PROMOTION_NUMBA}};

static int parse_promotion(Options *options, PyObject *value) {
    for (size_t i = 0; i < COUNT_OF(promotions) && PyUnicode_Check(value); i++) {
        if (PyUnicode_CompareWithASCIIString(value, promotions[i].name) != 0) continue;
        options->promotion = promotions[i].promotion;
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "option promotion is 'numpy' or 'numba', not %R", value);
    return -1;
}

enum { MOST = 3 }; /* the highest level of optimisation */

/* Of the whole program, read when a function is decorated. */
static int promotion_of_program(Promotion *promotion) {
    const char *text = getenv("KRAIT_PROMOTION");
    *promotion = PROMOTION_NUMPY2;
    for (size_t i = 0; text && *text && i < COUNT_OF(promotions); i++)
        if (strcmp(text, promotions[i].name) == 0) return *promotion = promotions[i].promotion, 0;
    if (!text || !*text) return 0;
    PyErr_Format(PyExc_ValueError, "KRAIT_PROMOTION is numpy or numba, not '%s'", text);
    return -1;
}

/* Of the whole program, too: whether compiled code looks for signals. */
static int interrupts_of_program(bool *uninterrupted) {
    const char *text = getenv("KRAIT_INTERRUPTS");
    *uninterrupted = text && strcmp(text, "0") == 0;
    if (!text || !*text || *uninterrupted || strcmp(text, "1") == 0) return 0;
    PyErr_Format(PyExc_ValueError, "KRAIT_INTERRUPTS is 0 or 1, not '%s'", text);
    return -1;
}

/* And the level of optimisation. */
static int level_of_program(int *level) {
    const char *text = getenv("KRAIT_OPT");
    *level = MOST;
    if (!text || !*text) return 0;
    if (text[0] >= '0' && text[0] <= '0' + MOST && !text[1]) return *level = text[0] - '0', 0;
    PyErr_Format(PyExc_ValueError, "KRAIT_OPT is 0 to 3, not '%s'", text);
    return -1;
}

/* inlining.c reads it from `given`, where the function is called. */
static int parse_inline(Options *options, PyObject *value) {
    (void)options;
    if (PyBool_Check(value) || PyCallable_Check(value)) return 0;
    bool text = PyUnicode_Check(value);
    if (text && PyUnicode_CompareWithASCIIString(value, "always") == 0) return 0;
    if (text && PyUnicode_CompareWithASCIIString(value, "never") == 0) return 0;
    PyErr_Format(PyExc_TypeError, "option inline is 'never', 'always' or a function, not %R", value);
    return -1;
}

static int parse_opt(Options *options, PyObject *value) {
    if (PyBool_Check(value)) {
        options->opt_level = value == Py_True ? MOST : 0;
        return 0;
    }
    if (parse_count("opt", value, &options->opt_level) < 0) return -1;
    if (options->opt_level <= MOST) return 0;
    PyErr_Format(PyExc_TypeError, "option opt is True, False or 0 to 3, not %R", value);
    return -1;
}

static int parse_max_registers(Options *options, PyObject *value) {
    return parse_count("max_registers", value, &options->max_registers);
}

static int parse_launch_bounds(Options *options, PyObject *value) {
    int *const bounds[] = {&options->max_threads, &options->min_blocks, &options->max_cluster};
    if (!PyTuple_Check(value)) return parse_count("launch_bounds", value, &options->max_threads);
    if (PyTuple_GET_SIZE(value) < 1 || PyTuple_GET_SIZE(value) > (Py_ssize_t)COUNT_OF(bounds)) {
        PyErr_Format(PyExc_TypeError,
                     "option launch_bounds is a number of threads, (threads, blocks) or (threads, blocks, blocks of a "
                     "cluster), not %R",
                     value);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++)
        if (parse_count("launch_bounds", PyTuple_GET_ITEM(value, i), bounds[i]) < 0) return -1;
    return 0;
}

static int parse_lto(Options *options, PyObject *value) {
    bool lto = false;
    (void)options;
    return value == Py_None ? 0 : parse_flag("lto", value, &lto);
}

static const struct {
    const char *name;
    int percent;
} carveouts[] = {{"default", -1}, {"maxl1", 0}, {"maxshared", 100}};

static int parse_shared_memory_carveout(Options *options, PyObject *value) {
    if (value == Py_None) return 0;
    options->has_carveout = true;
    for (size_t i = 0; i < COUNT_OF(carveouts) && PyUnicode_Check(value); i++) {
        PyObject *lower = PyObject_CallMethod(value, "lower", NULL);
        bool same = lower && PyUnicode_CompareWithASCIIString(lower, carveouts[i].name) == 0;
        Py_XDECREF(lower);
        if (same) return options->carveout = carveouts[i].percent, 0;
    }
    long percent = PyLong_Check(value) ? PyLong_AsLong(value) : -2;
    if (percent >= -1 && percent <= 100 && !PyErr_Occurred()) return options->carveout = (int)percent, 0;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError,
                 "option shared_memory_carveout is -1 to 100, 'default', 'maxl1' or 'maxshared', not %R", value);
    return -1;
}

/* locals.c reads them from `given`, when the function is there, and the frontend. */
static int parse_locals(Options *options, PyObject *value) {
    PyObject *name, *type;
    Py_ssize_t at = 0;
    (void)options;
    if (!PyDict_Check(value))
        return PyErr_Format(PyExc_TypeError, "option locals is a dict of names and types, not %R", value), -1;
    while (PyDict_Next(value, &at, &name, &type))
        if (!PyUnicode_Check(name))
            return PyErr_Format(PyExc_TypeError, "option locals has names of variables as keys, not %R", name), -1;
    return 0;
}

/* The text of all that is linked comes first in what stays in `given`, if there is any. */
static int parse_link(Options *options, PyObject *value) {
    PyObject *kept = marshal_call_python("krait.cuda._linking", "kept_of_kernel", "(O)", value);
    PyObject *text = kept && PyTuple_GET_SIZE(kept) > 0 ? PyTuple_GET_ITEM(kept, 0) : NULL;
    if (!kept || (text && PyUnicode_Check(text) && !PyUnicode_AsUTF8(text))) {
        Py_XDECREF(kept);
        return -1;
    }
    options->linked = text && PyUnicode_Check(text) ? text : NULL;
    options->kept = kept;
    return 0;
}

/* The launcher reads them from `given`. */
static int parse_extensions(Options *options, PyObject *value) {
    (void)options;
    if (PyList_Check(value) || PyTuple_Check(value)) return 0;
    PyErr_Format(PyExc_TypeError, "option extensions is a list of objects with prepare_args, not %R", value);
    return -1;
}

/* vectorized.c and guvectorize.c read these themselves, from `given`. */
static int parse_identity(Options *options, PyObject *value) { return (void)options, (void)value, 0; }
static int parse_target(Options *options, PyObject *value) { return (void)options, (void)value, 0; }
static int parse_layout(Options *options, PyObject *value) { return (void)options, (void)value, 0; }
static int parse_writable_args(Options *options, PyObject *value) { return (void)options, (void)value, 0; }

static const struct {
    const char *name;
    int whom;
    int (*parse)(Options *options, PyObject *value);
    const char *doc;
} option_table[] = {
#define OPTION(name, jit, kernel, vectorize, guvectorize, doc)                           \
    {#name,                                                                              \
     (jit * OPTIONS_JIT) | (kernel * OPTIONS_KERNEL) | (vectorize * OPTIONS_VECTORIZE) | \
         (guvectorize * OPTIONS_GUVECTORIZE),                                            \
     parse_##name, doc},
#include "decorators/options.def"
#undef OPTION
};

/* What belongs elsewhere than among the options of a decorator; "": nothing that is known. */
static const char *belongs_elsewhere(PyObject *key) {
    static const char *const sizes[] = {"grid",     "block",  "blocks", "threads",  "griddim",
                                        "blockdim", "stream", "shared", "sharedmem"};
    if (PyUnicode_CompareWithASCIIString(key, "target") == 0) return "; kernels are compiled by @cuda.jit";
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (PyUnicode_CompareWithASCIIString(key, sizes[i]) == 0)
            return "; it stands at the launch, kernel[grid, block, stream, sharedmem](arguments)";
    return "";
}

static int unknown_option(PyObject *key, OptionsFor whom) {
    const char *decorator = whom == OPTIONS_JIT         ? "jit"
                            : whom == OPTIONS_KERNEL    ? "cuda.jit"
                            : whom == OPTIONS_VECTORIZE ? "vectorize"
                            : whom == OPTIONS_CFUNC     ? "cfunc"
                                                        : "guvectorize";
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < COUNT_OF(option_table); i++) {
        PyObject *name = option_table[i].whom & (int)whom ? PyUnicode_FromString(option_table[i].name) : NULL;
        if (name && PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    PyObject *comma = names ? PyUnicode_FromString(", ") : NULL;
    PyObject *listed = comma ? PyUnicode_Join(comma, names) : NULL;
    PyObject *meant = listed ? errors_did_you_mean(key, names) : NULL;
    if (meant)
        PyErr_Format(PyExc_TypeError, "%s has no option %R%s; its options are %U%U", decorator, key,
                     belongs_elsewhere(key), listed, meant);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    Py_XDECREF(listed);
    Py_XDECREF(meant);
    return -1;
}

static int parse_option(Options *options, OptionsFor whom, PyObject *key, PyObject *value) {
    for (size_t i = 0; i < COUNT_OF(option_table); i++) {
        if (!(option_table[i].whom & (int)whom) || PyUnicode_CompareWithASCIIString(key, option_table[i].name) != 0)
            continue;
        int result = option_table[i].parse(options, value);
        if (result == 0) result = PyDict_SetItem(options->given, key, options->kept ? options->kept : value);
        Py_CLEAR(options->kept);
        return result;
    }
    return unknown_option(key, whom);
}

/* KRAIT_CHECK=1: every kernel is a checked one, unless it says check=False. */
static bool checks_of_program(OptionsFor whom) {
    const char *text = whom == OPTIONS_KERNEL ? getenv("KRAIT_CHECK") : NULL;
    return text && *text && strcmp(text, "0") != 0;
}

int options_parse(Options *options, OptionsFor whom, PyObject *kwargs) {
    *options = (Options){.python_errors = (whom & OPTIONS_JIT) != 0,
                         .boundscheck = whom != OPTIONS_KERNEL,
                         .check = checks_of_program(whom),
                         .given = PyDict_New()};
    PyObject *key, *value;
    Py_ssize_t position = 0;
    if (options->given &&
        (promotion_of_program(&options->promotion) < 0 || interrupts_of_program(&options->uninterrupted) < 0 ||
         level_of_program(&options->opt_level) < 0))
        Py_CLEAR(options->given);
    if (!options->given) return -1;
    while (kwargs && PyDict_Next(kwargs, &position, &key, &value)) {
        if (parse_option(options, whom, key, value) < 0) {
            Py_CLEAR(options->given);
            return -1;
        }
    }
    if (whom == OPTIONS_KERNEL && (options->check || options->debug))
        options->boundscheck = options->python_errors = true;
    return 0;
}

/* (name, in jit, in cuda.jit, in vectorize, in guvectorize, what it means) of every option: a page of the manual is
 * printed from it. */
PyObject *options_list(PyObject *module, PyObject *unused) {
    PyObject *list = PyList_New(0);
    (void)module, (void)unused;
    for (size_t i = 0; list && i < COUNT_OF(option_table); i++) {
        int whom = option_table[i].whom;
        PyObject *row = Py_BuildValue("(siiiis)", option_table[i].name, (whom & OPTIONS_JIT) != 0,
                                      (whom & OPTIONS_KERNEL) != 0, (whom & OPTIONS_VECTORIZE) != 0,
                                      (whom & OPTIONS_GUVECTORIZE) != 0, option_table[i].doc);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

void options_config(const Options *options, Config *config) {
    config->promotion = options->promotion;
    config->cache = options->cache;
    config->note_doubles = options->note_doubles;
    config->codegen.fastmath = options->fastmath;
    config->codegen.linked = options->linked ? PyUnicode_AsUTF8(options->linked) : NULL; /* read before */
    config->codegen.python_errors = options->python_errors;
    config->codegen.boundscheck = options->boundscheck;
    config->codegen.races = options->races;
    config->codegen.line_tables = options->debug      ? LINE_TABLES_DEBUG
                                  : options->lineinfo ? LINE_TABLES_PROFILER
                                                      : LINE_TABLES_NONE;
    config->codegen.parallel = options->parallel;
    config->codegen.uninterrupted = options->uninterrupted;
    config->codegen.opt_level = options->opt_level;
    config->codegen.max_registers = options->max_registers;
    config->codegen.max_threads = options->max_threads;
    config->codegen.min_blocks = options->min_blocks;
    config->codegen.max_cluster = options->max_cluster;
}
