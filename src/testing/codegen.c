/* codegen.c: test doors of code generation: LLVM IR, PTX or assembly of typed IR text, or of a Python
 * function, for any target and compute capability, whether or not the machine has such a device.
 *
 *   lower_text(text, **options)              typed IR of one function, as func_print writes it
 *   compile(function, types, **options)      a Python function for parameters of these types, their texts in one string
 * separated by ;
 *
 * options: target "nvptx" or "host", stage "llvm" (as lowered), "opt", "ptx" or "asm", entry "kernel", "function" or
 * "ufunc" | "ufunc_rows" | "ufunc_rows_nd", capability, ptx_version, fastmath, noalias, small, boundscheck,
 * python_errors, opt_level, max_threads, fail_after, debug. A refusal is a ValueError with its text. */
#include "testing/testing.h"

#include "codegen_nvptx/codegen_nvptx.h" /* codegen_nvptx_target, codegen_nvptx_emit */
#include "passes/passes.h"               /* passes_run_one */

typedef struct Trial {
    Arena *arena;
    Diag diag;
    Session *session;
    Config config;
    const char *stage, *text, *result;
    PyObject *function;
    Module *module;
    Py_ssize_t fail_after;
} Trial;

/* ---- options ---- */

static bool choose(const char *what, const char *name, const char *const *names, int count, int *out) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name)) continue;
        *out = i;
        return true;
    }
    PyErr_Format(PyExc_LookupError, "no %s is called %s", what, name);
    return false;
}

static bool read_options(Trial *trial, PyObject *kwargs) {
    static char *keywords[] = {"target",      "stage",      "entry",       "capability",    "ptx_version",
                               "fastmath",    "noalias",    "boundscheck", "python_errors", "opt_level",
                               "max_threads", "fail_after", "debug",       "small",         NULL};
    static const char *const targets[] = {"host", "nvptx"}, *const entries[] = {"function", "kernel", "ufunc",
                                                                                "ufunc_rows", "ufunc_rows_nd"};
    const char *target = "nvptx", *entry = NULL;
    CodegenOptions *options = &trial->config.codegen;
    unsigned int fastmath = 0;
    int noalias = 1, boundscheck = 0, python_errors = 0, debug = 0, small = 1, target_number, entry_number;
    options->compute_capability = 90;
    options->opt_level = 3;
    trial->stage = NULL;
    PyObject *nothing = PyTuple_New(0);
    if (!nothing) return false;
    int fine = PyArg_ParseTupleAndKeywords(nothing, kwargs, "|$sssiiIpppiinpp", keywords, &target, &trial->stage,
                                           &entry, &options->compute_capability, &options->ptx_version, &fastmath,
                                           &noalias, &boundscheck, &python_errors, &options->opt_level,
                                           &options->max_threads, &trial->fail_after, &debug, &small);
    Py_DECREF(nothing);
    if (!fine || !choose("target", target, targets, 2, &target_number)) return false;
    bool gpu = target_number == TARGET_NVPTX;
    if (!entry) entry = gpu ? "kernel" : "function";
    if (!trial->stage) trial->stage = gpu ? "ptx" : "opt";
    if (!choose("entry", entry, entries, 5, &entry_number)) return false;
    options->fastmath = fastmath;
    options->facts = (noalias ? FACT_NOALIAS : 0) | (small ? FACT_SMALL | FACT_ROWS : 0);
    options->boundscheck = boundscheck;
    options->line_tables = debug ? LINE_TABLES_DEBUG : LINE_TABLES_NONE;
    options->python_errors = python_errors;
    options->ufunc = (UfuncForm){.rows = entry_number > ENTRY_UFUNC, .two_axes = entry_number == ENTRY_UFUNC + 1};
    options->entry = options->ufunc.rows ? ENTRY_UFUNC : (EntryKind)entry_number;
    options->entry_name = "entry";
    options->python_version = PY_VERSION_HEX >> 16;
    trial->config.target = (TargetKind)target_number;
    trial->config.kernel = options->entry == ENTRY_KERNEL;
    return true;
}

/* ---- typed IR text ---- */

static bool text_of_module(Trial *trial) {
    if (strcmp(trial->stage, "llvm") == 0) {
        trial->result = codegen_text(trial->module, trial->arena);
        return true;
    }
    TRY(codegen_link(trial->module, &trial->diag) && codegen_optimise(trial->module, &trial->diag));
    if (strcmp(trial->stage, "opt") == 0) {
        trial->result = codegen_text(trial->module, trial->arena);
        return true;
    }
    size_t length;
    trial->result = trial->config.target == TARGET_NVPTX
                        ? codegen_nvptx_emit(trial->module, trial->arena, &length, &trial->diag)
                        : codegen_cpu_assembly(trial->module, trial->arena, &trial->diag);
    return trial->result;
}

static bool lower_text(Trial *trial) {
    Func *func = func_parse(trial->arena, trial->session->types, trial->text, &trial->diag);
    TRY(func && func_verify(func, true, &trial->diag));
    FuncInst *inst = func_instance(trial->arena, trial->session->types, func);
    const Target *target = trial->config.target == TARGET_NVPTX ? codegen_nvptx_target() : codegen_cpu_target();
    const CodegenOptions *options = &trial->config.codegen;
    Program program = {
        .arena = trial->arena,
        .types = trial->session->types,
        .diag = &trial->diag,
        .insts = &inst,
        .count = 1,
        .index_raises = codegen_index_raises(target, options),
    };
    TRY(passes_run_one(&program, PASS_effects));
    if (options->entry == ENTRY_KERNEL && trial->config.target == TARGET_HOST)
        TRY(passes_run_one(&program, PASS_loops) && passes_run_one(&program, PASS_thread_order));
    TRY(codegen_lower(&trial->module, target, options, &program));
    return text_of_module(trial);
}

/* ---- a Python function ---- */

static bool compile(Trial *trial) {
    VEC(const Type *) types = {0};
    const char *at = trial->text;
    while (*at) {
        const Type *type = type_parse(trial->session->types, trial->arena, at, &at);
        FAIL_IF(!type, &trial->diag, PARSE, NULL, (Span){0}, "not a list of types: %s", trial->text);
        vec_push(trial->arena, &types, type);
        while (*at == ' ' || *at == ';') at++;
    }
    trial->result = driver_stage_text(trial->session, &trial->config, trial->function, types.data, types.len,
                                      trial->stage, &trial->diag);
    return trial->result;
}

/* ---- running one ---- */

static bool run(bool (*body)(Trial *), Trial *trial) { /* false: out of memory */
    jmp_buf recovery;
    if (setjmp(recovery)) return false;
    arena_on_exhaustion(trial->arena, &recovery);
    arena_fail_after(trial->arena, (size_t)trial->fail_after);
    if (!body(trial)) trial->result = diag_render(&trial->diag);
    arena_on_exhaustion(trial->arena, NULL);
    return true;
}

static PyObject *run_trial(Trial *trial, bool (*body)(Trial *)) {
    PyObject *result = NULL;
    diag_init(&trial->diag, trial->arena);
    if (!run(body, trial))
        PyErr_NoMemory();
    else if (PyErr_Occurred())
        ; /* the caller sees it */
    else if (trial->diag.failed)
        PyErr_Format(PyExc_ValueError, "%s: %s", diag_code_name(trial->diag.code), trial->result);
    else
        result = PyUnicode_FromString(trial->result);
    codegen_dispose(trial->module);
    arena_free(trial->arena);
    return result;
}

static PyObject *testing_lower_text(PyObject *module, PyObject *args, PyObject *kwargs) {
    Trial trial = {.session = &module_state(module)->session};
    if (!PyArg_ParseTuple(args, "s", &trial.text) || !read_options(&trial, kwargs)) return NULL;
    trial.arena = arena_new();
    return trial.arena ? run_trial(&trial, lower_text) : PyErr_NoMemory();
}

static PyObject *testing_compile(PyObject *module, PyObject *args, PyObject *kwargs) {
    Trial trial = {.session = &module_state(module)->session};
    if (!PyArg_ParseTuple(args, "Os", &trial.function, &trial.text) || !read_options(&trial, kwargs)) return NULL;
    trial.arena = arena_new();
    return trial.arena ? run_trial(&trial, compile) : PyErr_NoMemory();
}

PyMethodDef testing_codegen_methods[] = {
    {"lower_text", WITH_KEYWORDS(testing_lower_text), METH_VARARGS | METH_KEYWORDS,
     "lower_text(typed_ir, *, target, stage, entry, ...) -> text"},
    {"compile", WITH_KEYWORDS(testing_compile), METH_VARARGS | METH_KEYWORDS,
     "compile(function, types, *, target, stage, entry, ...) -> text"},
    {NULL, NULL, 0, NULL},
};
