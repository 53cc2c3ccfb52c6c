/* passes.c: test doors of the middle end: typed IR text in, the same after one pass out.
 *
 *   run_pass(name, text)   text: one typed function, as func_print writes it, the root of a program of its own
 *   passes()               the rows of passes.def: (name, over, targets, doc)
 *
 * What the pass leaves is verified.  A refusal is a ValueError with its text. */
#include "testing/testing.h"

#include <string.h> /* strlen */

#include "passes/passes.h" /* passes_run_one */

typedef struct Trial {
    Arena *arena;
    TypeTable *types;
    Diag diag;
    PassId pass;
    const char *text, *result;
} Trial;

static FuncInst *root_of(Trial *trial, Func *func) {
    FuncInst *inst = ARENA_NEW(trial->arena, FuncInst);
    const Type **types = ARENA_ARRAY(trial->arena, const Type *, func->nparams);
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next)
        if (value->op == OP_PARAM) types[value->imm.i] = value->type;
    inst->untyped = inst->func = func;
    inst->types = types;
    inst->konsts = ARENA_ARRAY(trial->arena, const Const *, func->nparams);
    inst->result = func->result ? func->result : type_simple(trial->types, TY_NONE);
    return inst;
}

static bool run(Trial *trial) {
    Func *func = func_parse(trial->arena, trial->types, trial->text, &trial->diag);
    TRY(func && func_verify(func, true, &trial->diag));
    FuncInst *root = root_of(trial, func);
    Program program = {
        .arena = trial->arena,
        .types = trial->types,
        .diag = &trial->diag,
        .insts = &root,
        .count = 1,
        .index_raises = true,
    };
    TRY(passes_run_one(&program, trial->pass));
    TRY(program_verify(&program));
    Buf text;
    buf_init(&text, trial->arena);
    program_print(&text, &program);
    trial->result = text.text;
    return true;
}

static bool run_guarded(Trial *trial) { /* false: out of memory */
    jmp_buf recovery;
    if (setjmp(recovery)) return false;
    arena_on_exhaustion(trial->arena, &recovery);
    if (!run(trial)) trial->result = diag_render(&trial->diag);
    arena_on_exhaustion(trial->arena, NULL);
    return true;
}

static PyObject *testing_run_pass(PyObject *self, PyObject *args) {
    (void)self;
    const char *name, *text;
    if (!PyArg_ParseTuple(args, "ss:run_pass", &name, &text)) return NULL;
    int pass = pass_named(name, strlen(name));
    if (pass < 0) return PyErr_Format(PyExc_LookupError, "no pass is called %s", name);
    Trial trial = {.arena = arena_new(), .types = type_table_new(), .pass = (PassId)pass, .text = text};
    PyObject *result = NULL;
    if (trial.arena) diag_init(&trial.diag, trial.arena);
    if (trial.types) type_table_set_functions(trial.types, library_find_head, module_state(self)->session.library);
    if (!trial.arena || !trial.types || !run_guarded(&trial))
        PyErr_NoMemory();
    else if (trial.diag.failed)
        PyErr_SetString(PyExc_ValueError, trial.result);
    else
        result = PyUnicode_FromString(trial.result);
    type_table_free(trial.types);
    arena_free(trial.arena);
    return result;
}

static PyObject *testing_passes(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    PyObject *rows = PyList_New(0);
    for (int i = 0; rows && i < PASS_COUNT; i++) {
        const PassInfo *info = &pass_info[i];
        PyObject *row = Py_BuildValue("(ssIs)", info->name, info->each ? "EACH" : "WHOLE", info->targets, info->doc);
        if (!row || PyList_Append(rows, row) < 0) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

PyMethodDef testing_passes_methods[] = {
    {"run_pass", testing_run_pass, METH_VARARGS, "run_pass(name, typed_ir) -> the typed IR after the pass"},
    {"passes", testing_passes, METH_NOARGS, "passes() -> the rows of passes.def"},
    {NULL, NULL, 0, NULL},
};
