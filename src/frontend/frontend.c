/* frontend.c: the folder's public functions: one compilation's Frontend, translation with its cache, disassembly,
 * source text, the GIL. */
#include "frontend/translate.h"

/* ---- life ---- */

typedef struct CacheEntry {
    ObjRef function;
    const Func *func;
} CacheEntry;

typedef struct Cache {
    VEC(CacheEntry) entries;
    HashIndex index; /* by function */
} Cache;

void frontend_open(Frontend *frontend, Arena *arena, TypeTable *types, Objects *objects, Diag *diag) {
    *frontend = (Frontend){.arena = arena, .types = types, .objects = objects, .diag = diag};
}

void frontend_close(Frontend *frontend) {
    guards_release(frontend->guards.data, frontend->guards.len);
    frontend->guards.len = 0;
    objects_let_go(&frontend->hold);
    Py_CLEAR(frontend->kept);
}

ObjRef frontend_ref(Frontend *frontend, PyObject *object) {
    return objects_hold(frontend->objects, &frontend->hold, object);
}

PyObject *frontend_keep(Frontend *frontend, PyObject *new_reference) {
    if (!new_reference) return NULL;
    if (!frontend->kept) frontend->kept = PyList_New(0);
    bool kept = frontend->kept && PyList_Append(frontend->kept, new_reference) == 0;
    Py_DECREF(new_reference);
    return kept ? new_reference : NULL;
}

bool frontend_may_put_into_words(void) {
    return PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError);
}

bool frontend_python_failed(Frontend *frontend, const Source *source, Span span, const char *what) {
    if (PyErr_Occurred() && !frontend_may_put_into_words())
        return diag_fail(frontend->diag, DIAG_PYTHON, source, span, "%s", what);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *label = frontend_keep(frontend, type ? PyObject_GetAttrString(type, "__name__") : NULL);
    PyObject *message = frontend_keep(frontend, value ? PyObject_Str(value) : NULL);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    const char *name = label ? PyUnicode_AsUTF8(label) : NULL, *text = message ? PyUnicode_AsUTF8(message) : NULL;
    PyErr_Clear();
    if (!name) return diag_fail(frontend->diag, DIAG_PYTHON, source, span, "%s", what);
    return diag_fail(frontend->diag, DIAG_PYTHON, source, span, "%s: %s: %s", what, name, text ? text : "");
}

/* ---- translation ---- */

const Func *frontend_translate(Frontend *frontend, ObjRef function) {
    if (!frontend->cache) frontend->cache = ARENA_NEW(frontend->arena, Cache);
    Cache *cache = frontend->cache;
    uint64_t hash = hash_mix(0, function);
    uint32_t i = hash_index_first(&cache->index, hash);
    for (; i != HASH_INDEX_END; i = hash_index_next(&cache->index, i))
        if (cache->entries.data[i].function == function) return cache->entries.data[i].func;
    const Func *func = frontend->left ? frontend->left(frontend->left_self, function) : NULL;
    if (!func) func = translate_function(frontend, function);
    if (!func) return NULL;
    hash_index_add(&cache->index, frontend->arena, hash);
    vec_push(frontend->arena, &cache->entries, ((CacheEntry){function, func}));
    return func;
}

/* ---- disassembly ---- */

static void print_object(Frontend *frontend, Buf *buf, PyObject *tuple, int i, bool quoted) {
    PyObject *object = i < PyTuple_GET_SIZE(tuple) ? PyTuple_GET_ITEM(tuple, i) : NULL;
    PyObject *text = NULL;
    if (object && PyCode_Check(object))
        text = PyUnicode_FromFormat("<code %U>", ((PyCodeObject *)object)->co_qualname);
    else if (object)
        text = quoted ? PyObject_Repr(object) : PyObject_Str(object);
    text = frontend_keep(frontend, text);
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    buf_puts(buf, bytes ? bytes : "?");
}

static void print_insn(Frontend *frontend, Buf *buf, PyCodeObject *code, const Insn *insn) {
    static const char *const comparisons[] = {"<", "<=", "==", "!=", ">", ">="};
    static const char *const operators[] = {"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"};
    int count = COUNT_OF(operators);
    buf_puts(buf, insn_info[insn->kind].text);
    ArgKind kind = insn_info[insn->kind].argument;
    if (kind != ARG_NONE) buf_putc(buf, ' ');
    switch (kind) {
    case ARG_LOCAL: print_object(frontend, buf, code->co_localsplusnames, insn->arg, false); break;
    case ARG_NAME: print_object(frontend, buf, code->co_names, insn->arg, false); break;
    case ARG_KONST: print_object(frontend, buf, code->co_consts, insn->arg, true); break;
    case ARG_BINARY:
        buf_puts(buf, insn->arg < 2 * count ? operators[insn->arg % count] : "?");
        if (insn->arg >= count) buf_putc(buf, '=');
        break;
    case ARG_COMPARE: buf_puts(buf, (size_t)insn->arg < COUNT_OF(comparisons) ? comparisons[insn->arg] : "?"); break;
    case ARG_REFUSAL: buf_puts(buf, refusal_info[insn->arg].text); break;
    case ARG_NONE: break;
    default: buf_printf(buf, "%d", insn->arg); break;
    }
}

const char *frontend_disassemble(Frontend *frontend, ObjRef function) {
    PyObject *object = objects_function(frontend->objects, function);
    FAIL_IF(!object, frontend->diag, NOT_CALLABLE, NULL, ((Span){0}), "object %u is not a Python function", function);
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(object);
    PyObject *units = frontend_keep(frontend, PyCode_GetCode(code));
    if (!units) {
        frontend_python_failed(frontend, NULL, (Span){0}, "the bytecode could not be read");
        return NULL;
    }
    Bytecode bytecode;
    const char *why;
    FAIL_IF(!bytecode_decode(frontend->arena, code, units, &bytecode, &why), frontend->diag, UNSUPPORTED_BYTECODE, NULL,
            ((Span){0}), "%s", why);
    Buf buf;
    buf_init(&buf, frontend->arena);
    buf_puts(&buf, "");
    for (size_t i = 0; i < bytecode.count; i++) {
        const Insn *insn = &bytecode.insns[i];
        buf_printf(&buf, "%4zu  %u:%u-%u:%u  ", i, insn->span.line, insn->span.col, insn->span.end_line,
                   insn->span.end_col);
        print_insn(frontend, &buf, code, insn);
        buf_putc(&buf, '\n');
    }
    for (size_t i = 0; i < bytecode.nhandlers; i++)
        buf_printf(&buf, "handler of %u-%u at %u\n", bytecode.handlers[i].start, bytecode.handlers[i].end,
                   bytecode.handlers[i].target);
    return buf.text;
}

/* ---- source text, wanted only where something failed ---- */

/* The text of a file as linecache knows it, in the Diag's arena; NULL without an exception: not to be had. */
static const char *file_text(Frontend *frontend, const char *file) {
    PyObject *linecache = frontend_keep(frontend, PyImport_ImportModule("linecache"));
    PyObject *lines = linecache ? frontend_keep(frontend, PyObject_CallMethod(linecache, "getlines", "s", file)) : NULL;
    PyObject *nothing = frontend_keep(frontend, PyUnicode_FromString(""));
    PyObject *text = lines && nothing ? frontend_keep(frontend, PyUnicode_Join(nothing, lines)) : NULL;
    const char *bytes = text && PyUnicode_GET_LENGTH(text) ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    return bytes ? arena_strdup(frontend->diag->arena, bytes) : NULL;
}

static const Source *copy_source(Frontend *frontend, const Source *source) {
    if (!source) return NULL;
    Arena *arena = frontend->diag->arena;
    Source *copy = ARENA_NEW(arena, Source);
    *copy = *source;
    if (source->file) copy->file = arena_strdup(arena, source->file);
    if (source->function) copy->function = arena_strdup(arena, source->function);
    copy->text = source->text ? arena_strdup(arena, source->text) : NULL;
    if (copy->text || !copy->file) return copy;
    copy->text = file_text(frontend, copy->file);
    copy->first_line = 1;
    return copy;
}

void frontend_attach_source(Frontend *frontend) {
    PyObject *type, *value, *traceback; /* an exception that is set already stays */
    PyErr_Fetch(&type, &value, &traceback);
    Diag *diag = frontend->diag;
    const Source *old = diag->source;
    diag->source = copy_source(frontend, old);
    for (DiagNote *note = diag->notes; note; note = note->next)
        note->source = note->source == old ? diag->source : copy_source(frontend, note->source);
    PyErr_Restore(type, value, traceback);
}

/* ---- the GIL ---- */

void *frontend_release_gil(void) { return PyEval_SaveThread(); }
void frontend_acquire_gil(void *saved) { PyEval_RestoreThread(saved); }
