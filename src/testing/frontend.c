/* frontend.c: test doors of the frontend: functions to text, the opcode table, source positions, guards.
 *
 * They work on the module's own Session, so that krait.cuda's names mean what they mean in a compilation.  A refusal is
 * a ValueError with the name of its code and the text a user would see. */
#include "testing/testing.h"

#include "frontend/bytecode.h" /* opcode_expand, code_positions */

typedef struct Trial {
    Frontend frontend;
    Diag diag;
    Arena *arena;
    ObjRef function;
} Trial;

/* ---- rows: NULL means that diag says why not ---- */

static const char *try_ir(Trial *trial) {
    const Func *func = frontend_translate(&trial->frontend, trial->function);
    TRY(func);
    if (!func_verify(func, false, &trial->diag)) return NULL;
    Buf buf;
    buf_init(&buf, trial->arena);
    func_print(&buf, func);
    return buf.text;
}

static const char *try_bytecode(Trial *trial) { return frontend_disassemble(&trial->frontend, trial->function); }

/* The functions nested in it, each by its stand-in, as the driver meets them. */
static const char *try_nested(Trial *trial) {
    const Func *func = frontend_translate(&trial->frontend, trial->function);
    TRY(func);
    Buf buf;
    buf_init(&buf, trial->arena);
    buf_puts(&buf, "");
    for (size_t b = 0; b < func->blocks.len; b++) {
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->op != OP_FUNCTION) continue;
            const Func *inner = frontend_translate(&trial->frontend, value->imm.object);
            TRY(inner && func_verify(inner, false, &trial->diag));
            func_print(&buf, inner);
        }
    }
    return buf.text;
}

/* One line for each value of the IR: operation, name, span. */
static const char *try_spans(Trial *trial) {
    const Func *func = frontend_translate(&trial->frontend, trial->function);
    TRY(func);
    Buf buf;
    buf_init(&buf, trial->arena);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            buf_printf(&buf, "%s %s %u:%u-%u:%u\n", op_info[value->op].text, value->name ? value->name : "-",
                       value->span.line, value->span.col, value->span.end_line, value->span.end_col);
    return buf.text;
}

static const struct Row {
    const char *name;
    const char *(*run)(Trial *);
} rows[] = {{"ir", try_ir}, {"bytecode", try_bytecode}, {"nested", try_nested}, {"spans", try_spans}};

/* ---- running one ---- */

static bool run(const struct Row *row, Trial *trial, const char **text) { /* false: out of memory */
    jmp_buf recovery;
    if (setjmp(recovery)) return false;
    arena_on_exhaustion(trial->arena, &recovery);
    *text = row->run(trial);
    if (!*text) {
        frontend_attach_source(&trial->frontend);
        *text = diag_render(&trial->diag);
    }
    arena_on_exhaustion(trial->arena, NULL);
    return true;
}

static void guards_destroy(PyObject *capsule) {
    Guard *guards = PyCapsule_GetPointer(capsule, "guards");
    size_t count = (size_t)(uintptr_t)PyCapsule_GetContext(capsule);
    guards_release(guards, count);
    PyMem_Free(guards);
}

static PyObject *take_guards(Frontend *frontend) {
    size_t count = frontend->guards.len;
    Guard *guards = PyMem_Calloc(count + 1, sizeof(Guard));
    PyObject *capsule = guards ? PyCapsule_New(guards, "guards", guards_destroy) : NULL;
    if (!capsule) return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++) guards[i] = frontend->guards.data[i];
    frontend->guards.len = 0;
    PyCapsule_SetContext(capsule, (void *)(uintptr_t)count);
    return capsule;
}

/* For good: two texts of one function are to be compared. */
static void keep_numbers(const Frontend *frontend) {
    const ObjHold *hold = &frontend->hold;
    for (size_t i = 0; i < hold->count; i++) objects_ref(hold->objects, objects_get(hold->objects, hold->refs[i]));
}

/* frontend(row, function, *, fail_after=0, guards=False, readonly_globals=False) */
static PyObject *testing_frontend(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"", "", "fail_after", "guards", "readonly_globals", NULL};
    const char *name, *text = NULL;
    PyObject *function, *result = NULL;
    Py_ssize_t fail_after = 0;
    int guards = 0, readonly = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|$npp", keywords, &name, &function, &fail_after, &guards,
                                     &readonly))
        return NULL;
    const struct Row *row = NULL;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].name, name) == 0) row = &rows[i];
    if (!row) return PyErr_Format(PyExc_LookupError, "no trial is called %s", name);
    Session *session = &module_state(module)->session;
    Trial trial = {.arena = arena_new()};
    if (!trial.arena) return PyErr_NoMemory();
    diag_init(&trial.diag, trial.arena);
    frontend_open(&trial.frontend, trial.arena, session->types, session->objects, &trial.diag);
    trial.frontend.readonly_globals = readonly;
    trial.function = objects_ref(session->objects, function);
    if (!trial.function) goto done;
    arena_fail_after(trial.arena, (size_t)fail_after);
    if (!run(row, &trial, &text))
        PyErr_NoMemory();
    else if (PyErr_Occurred())
        ; /* KeyboardInterrupt or an exception that the frontend forgot: the caller sees it */
    else if (trial.diag.failed)
        PyErr_Format(PyExc_ValueError, "%s: %s", diag_code_name(trial.diag.code), text);
    else
        result = guards ? take_guards(&trial.frontend) : PyUnicode_FromString(text);
done:
    keep_numbers(&trial.frontend);
    frontend_close(&trial.frontend);
    arena_free(trial.arena);
    return result;
}

static PyObject *testing_guards_hold(PyObject *module, PyObject *capsule) {
    (void)module;
    Guard *guards = PyCapsule_GetPointer(capsule, "guards");
    return guards ? PyBool_FromLong(guards_hold(guards, (size_t)(uintptr_t)PyCapsule_GetContext(capsule))) : NULL;
}

/* opcode(number, arg, jump) -> None without a row, else (name, caches, refusal or None, effect on the stack) */
static PyObject *testing_opcode(PyObject *module, PyObject *args) {
    (void)module;
    int opcode, arg, jump, effect = 0;
    if (!PyArg_ParseTuple(args, "iip", &opcode, &arg, &jump)) return NULL;
    Expansion to;
    if (!opcode_expand(opcode, arg, 1000, &to)) Py_RETURN_NONE;
    const char *refused = NULL;
    for (int i = 0; i < to.count; i++) {
        InsnKind kind = to.insns[i].kind;
        if (kind == INSN_REFUSE) refused = refusal_info[to.insns[i].arg].text;
        bool jumps = jump && insn_info[kind].argument == ARG_TARGET;
        effect += insn_effect(kind, to.insns[i].arg, jumps);
        if (jumps && kind != INSN_JUMP) break;
    }
    return Py_BuildValue("(sizi)", opcode_name(opcode), to.caches, refused, effect);
}

/* positions(code) -> [(line, end line, column, end column)], one for each code unit */
static PyObject *testing_positions(PyObject *module, PyObject *code) {
    (void)module;
    if (!PyCode_Check(code)) return PyErr_Format(PyExc_TypeError, "not a code object");
    PyObject *units = PyCode_GetCode((PyCodeObject *)code), *list = PyList_New(0);
    Arena *arena = units && list ? arena_new() : NULL;
    if (arena) {
        size_t count = (size_t)PyBytes_GET_SIZE(units) / 2;
        const Span *spans = code_positions(arena, (PyCodeObject *)code, count);
        for (size_t i = 0; i < count && list; i++) {
            PyObject *item = Py_BuildValue("(IIII)", spans[i].line, spans[i].end_line, spans[i].col, spans[i].end_col);
            if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
            Py_XDECREF(item);
        }
        arena_free(arena);
    }
    Py_XDECREF(units);
    return list;
}

PyMethodDef testing_frontend_methods[] = {
    {"frontend", WITH_KEYWORDS(testing_frontend), METH_VARARGS | METH_KEYWORDS,
     "frontend(row, function, *, fail_after=0, guards=False, readonly_globals=False) -> text, or guards"},
    {"guards_hold", testing_guards_hold, METH_O, "guards_hold(guards) -> whether they all hold"},
    {"opcode", testing_opcode, METH_VARARGS, "opcode(number, arg, jump) -> (name, caches, refusal, effect) or None"},
    {"positions", testing_positions, METH_O, "positions(code) -> source range of each code unit"},
    {NULL, NULL, 0, NULL},
};
