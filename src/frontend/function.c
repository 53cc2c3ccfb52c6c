/* function.c: the function to be translated: its source, its instructions, its parameters and variables.
 *
 * In: a Python function, or code nested in one.  Out: a Func whose entry holds the parameters; blocks of instructions;
 * each variable that may be unassigned where it is loaded has a shadow, true once it is assigned. */
#include "frontend/translate.h"

#include <stdio.h>  /* snprintf */
#include <string.h> /* memcpy, strncmp */

/* ---- parameters ---- */

static const Const *default_const(Translator *t, PyObject *object) {
    Diag scratch, *diag = t->frontend->diag; /* a default that cannot be a constant is a fault only where it is used */
    diag_init(&scratch, t->arena);
    t->frontend->diag = &scratch;
    const Const *konst = frontend_value(t->frontend, object, t->source, t->func->span);
    t->frontend->diag = diag;
    if (konst) return konst;
    PyErr_Clear();
    ObjRef ref = frontend_ref(t->frontend, object);
    PyErr_Clear();
    return ref ? const_of(t->arena, type_object(t->types, TY_OBJECT, ref)) : NULL;
}

/* The default of parameter number i, or NULL. */
static PyObject *default_object(const Translator *t, Py_ssize_t i) {
    PyObject *defaults = t->function->func_defaults, *kwdefaults = t->function->func_kwdefaults;
    Py_ssize_t first = t->code->co_argcount - (defaults ? PyTuple_GET_SIZE(defaults) : 0);
    if (i < t->code->co_argcount) return i >= first && defaults ? PyTuple_GET_ITEM(defaults, i - first) : NULL;
    PyObject *name = PyTuple_GET_ITEM(t->code->co_localsplusnames, i);
    PyObject *value = kwdefaults ? PyDict_GetItemWithError(kwdefaults, name) : NULL;
    if (kwdefaults && !t->nested) guard_add(t->frontend, (Guard){GUARD_GLOBAL, kwdefaults, NULL, name, value});
    return value;
}

static ParamKind param_kind(const PyCodeObject *code, int i) {
    if (i < code->co_posonlyargcount) return PARAM_POSITIONAL_ONLY;
    if (i < code->co_argcount) return PARAM_NORMAL;
    if (i < code->co_argcount + code->co_kwonlyargcount) return PARAM_KEYWORD_ONLY;
    return i == code->co_argcount + code->co_kwonlyargcount && (code->co_flags & CO_VARARGS) ? PARAM_VARARGS
                                                                                             : PARAM_VARKEYWORDS;
}

static int count_params(const PyCodeObject *code) {
    return code->co_argcount + code->co_kwonlyargcount + ((code->co_flags & CO_VARARGS) != 0) +
           ((code->co_flags & CO_VARKEYWORDS) != 0);
}

static void make_param(Translator *t, size_t local, ParamKind kind) {
    Func *func = t->func;
    Param *param = &func->params[func->nparams];
    *param = (Param){.name = t->names[local], .kind = kind};
    bool named = kind != PARAM_CELL && kind != PARAM_VARARGS && kind != PARAM_VARKEYWORDS;
    PyObject *fallback = named ? default_object(t, (Py_ssize_t)local) : NULL;
    param->has_default = fallback != NULL;
    if (fallback && !(t->nested && fallback == TRANSLATE_UNKNOWN_DEFAULT)) param->fallback = default_const(t, fallback);
    Value *value = block_append(func, t->block, OP_PARAM, func->span, NULL, 0);
    value->imm.i = func->nparams++;
    value->name = param->name;
    ssa_write(&t->ssa, t->block, local, value);
}

static void make_params(Translator *t) {
    const PyCodeObject *code = t->code;
    int nparams = count_params(code);
    int ncells = t->nested ? code->co_nfreevars : 0;
    t->block = translate_ir_block(t, t->cfg.blocks[0]);
    t->func->params = ARENA_ARRAY(t->arena, Param, nparams + ncells);
    for (int i = 0; i < nparams; i++) make_param(t, (size_t)i, param_kind(code, i));
    for (int i = 0; i < ncells; i++) make_param(t, t->nlocals - (size_t)code->co_nfreevars + (size_t)i, PARAM_CELL);
}

static bool declare_params(Translator *t) {
    for (size_t local = 0; t->locals && local < t->func->nparams && local < t->nlocals; local++) {
        Value *param = ssa_read(&t->ssa, t->block, local), *value = param;
        TRY(translate_declared(t, local, &value));
        if (value == param) continue;
        t->func->params[local].assigned = true;
        ssa_write(&t->ssa, t->block, local, value);
    }
    return true;
}

/* ---- variables ---- */

/* Finds the variables that may be unassigned at a load, and gives these, and whether they are assigned, a value in the
 * entry. */
static void track_unassigned(Translator *t) {
    const PyCodeObject *code = t->code;
    size_t nparams = (size_t)count_params(code);
    size_t words = t->nlocals / 64 + 1;
    uint64_t *assigned = ARENA_ARRAY(t->arena, uint64_t, words), *bound = ARENA_ARRAY(t->arena, uint64_t, words);
    t->tracked = ARENA_ARRAY(t->arena, uint64_t, words);
    t->bound = ARENA_ARRAY(t->arena, uint64_t, words);
    for (size_t i = 0; i < t->nlocals; i++)
        if (i < nparams || i >= t->nlocals - (size_t)code->co_nfreevars) bit_set(assigned, i);
    cfg_compute_bound(t->arena, &t->bytecode, &t->cfg, assigned, t->nlocals);
    bool any = false;
    for (size_t i = 0; i < t->cfg.count; i++) {
        const CfgBlock *block = t->cfg.blocks[i];
        memcpy(bound, block->bound, words * sizeof *bound);
        for (const CfgPart *part = &block->part; part; part = part->next) {
            for (uint32_t at = part->first; at < part->last; at++) {
                const Insn *insn = &t->bytecode.insns[at];
                bool needs = insn->kind == INSN_LOAD_LOCAL || insn->kind == INSN_DELETE_LOCAL,
                     saves = insn->kind == INSN_SAVE_LOCAL;
                if (saves || (needs && !bit_has(bound, (size_t)insn->arg))) {
                    bit_set(t->tracked, (size_t)insn->arg);
                    any = true;
                }
                cfg_apply_bound(&t->cfg, insn, bound);
            }
        }
    }
    if (!any) return;
    t->span = t->func->span;
    t->true_value = translate_append_const(t, const_bool(t->arena, t->types, true));
    t->false_value = translate_append_const(t, const_bool(t->arena, t->types, false));
    t->undef_value = translate_append(t, OP_UNDEF, NULL, 0);
    for (size_t i = 0; i < t->nlocals; i++) {
        if (!bit_has(t->tracked, i)) continue;
        ssa_write(&t->ssa, t->block, t->nlocals + i, bit_has(assigned, i) ? t->true_value : t->false_value);
        if (!bit_has(assigned, i)) ssa_write(&t->ssa, t->block, i, t->undef_value);
    }
}

/* ---- the function ---- */

static bool check_kind(Translator *t) {
    int flags = t->code->co_flags;
    if (flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE))
        return translate_refuse(t, t->func->span, REFUSED_ASYNC);
    if ((flags & CO_GENERATOR) && translate_is_generator_expression(t->code)) return translate_generator_loop(t);
    if (translate_is_kept_generator(t->code)) TRY(translate_kept_generator(t));
    t->func->generator = flags & CO_GENERATOR;
    return true;
}

static const char *utf8(Translator *t, PyObject *text) {
    const char *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (!bytes) PyErr_Clear();
    return arena_strdup(t->arena, bytes ? bytes : "?");
}

/* Whether the function's module is the package or in it. */
static bool of_package(const PyFunctionObject *function, const char *package) {
    PyObject *module = function->func_module; /* may be NULL or anything */
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    PyErr_Clear();
    size_t length = strlen(package);
    return name && strncmp(name, package, length) == 0 && (name[length] == '.' || !name[length]);
}

/* Whether dataclasses wrote the function: what it writes has names of its own. */
static bool is_made_comparison(const Source *source) {
    static const char *const names[] = {"eq", "lt", "le", "gt", "ge"};
    char name[48];
    bool made = false;
    for (size_t i = 0; i < COUNT_OF(names) && strcmp(source->file, "<string>") == 0; i++) {
        snprintf(name, sizeof name, "__create_fn__.<locals>.__%s__", names[i]);
        made |= strcmp(source->function, name) == 0;
    }
    return made;
}

static Source *source_of(Translator *t, PyFunctionObject *function) {
    const PyCodeObject *code = (PyCodeObject *)function->func_code;
    Source *source = ARENA_NEW(t->arena, Source);
    *source = (Source){.file = utf8(t, code->co_filename),
                       .function = utf8(t, code->co_qualname),
                       .first_line = (uint32_t)code->co_firstlineno,
                       .internal = of_package(function, "krait")};
    return source;
}

static bool has_name(PyObject *names, const char *name) {
    bool has = false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names) && !has; i++)
        has = PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0;
    return has;
}

/* Why a block of objmode was refused: a text, its line, and its first and last column, if it lies in one line. */
static void refuse_block(Translator *t, PyFunctionObject *function) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = value ? frontend_keep(t->frontend, PyObject_Str(value)) : NULL;
    PyObject *place = value ? PyObject_GetAttrString(value, "place") : NULL;
    Span span = {0};
    if (place && PyArg_ParseTuple(place, "III", &span.line, &span.col, &span.end_col)) span.end_line = span.line;
    PyErr_Clear();
    const char *words = text ? utf8(t, text) : "a block of objmode could not be taken out", *hint = strchr(words, '\n');
    diag_fail(t->diag, DIAG_UNSUPPORTED, span.line ? source_of(t, function) : NULL, span, "%.*s",
              (int)strcspn(words, "\n"), words);
    if (hint) diag_hint(t->diag, "%s", hint + 1);
    Py_XDECREF(place);
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
}

/* The function with calls in place of its blocks of objmode (krait/_objmode.py). */
static PyFunctionObject *without_objmode(Translator *t, PyObject *function) {
    const PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    bool has = has_name(code->co_names, "objmode");
    for (int i = 0; i < code->co_nlocalsplus && !has; i++) /* of a function around it */
        has = PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code->co_localsplusnames, i), "objmode") == 0;
    if (!has || of_package((PyFunctionObject *)function, "krait")) return (PyFunctionObject *)function;
    PyObject *module = PyImport_ImportModule("krait._objmode");
    PyObject *made = module ? PyObject_CallMethod(module, "rewritten", "O", function) : NULL;
    Py_XDECREF(module);
    if (made && frontend_ref(t->frontend, made)) return (PyFunctionObject *)frontend_keep(t->frontend, made);
    if (!PyErr_ExceptionMatches(PyExc_ValueError))
        return frontend_python_failed(t->frontend, NULL, (Span){0}, "a block of objmode could not be taken out"), NULL;
    refuse_block(t, (PyFunctionObject *)function);
    return NULL;
}

static bool open_function(Translator *t, ObjRef ref) {
    PyObject *object = objects_function(t->frontend->objects, ref);
    FAIL_IF(!object, t->diag, NOT_CALLABLE, NULL, ((Span){0}), "object %u is not a Python function", ref);
    t->function = without_objmode(t, object);
    TRY(t->function);
    t->code = (PyCodeObject *)t->function->func_code;
    t->locals = objects_locals(t->frontend->objects, objects_get(t->frontend->objects, ref));
    t->nested = objects_is_nested(t->frontend->objects, ref);
    t->frontend->unguarded = of_package(t->function, "krait.prelude");
    if (!t->nested) name_function(t->frontend, object); /* however it came here, it may be changed */
    Source *source = source_of(t, t->function);
    t->source = source;
    t->func = func_new(t->arena, t->types, utf8(t, t->code->co_name), source);
    t->func->object = ref;
    t->func->by_fields = is_made_comparison(source);
    t->func->span = (Span){.line = source->first_line, .end_line = source->first_line};
    t->span = t->func->span;

    PyObject *units = frontend_keep(t->frontend, PyCode_GetCode(t->code));
    if (!units) return frontend_python_failed(t->frontend, t->source, t->span, "the bytecode could not be read");
    const char *why;
    if (!bytecode_decode(t->arena, t->code, units, &t->bytecode, &why)) return translate_malformed(t, why);
    t->bytecode.chains = !source->internal;
    return check_kind(t);
}

static void open_variables(Translator *t) {
    t->nlocals = (size_t)t->code->co_nlocalsplus;
    /* a loop's exit may leave one slot more; a list */
    size_t nvars = 2 * t->nlocals + (size_t)t->code->co_stacksize + 3;
    t->names = ARENA_ARRAY(t->arena, const char *, nvars);
    for (size_t i = 0; i < t->nlocals; i++)
        t->names[i] = utf8(t, PyTuple_GET_ITEM(t->code->co_localsplusnames, (Py_ssize_t)i));
    ssa_init(&t->ssa, t->func, t->names);
}

bool translate_open(Translator *t, ObjRef ref) {
    TRY(open_function(t, ref));
    t->func->prelude = t->frontend->unguarded;
    open_variables(t);
    cfg_build(t->arena, &t->bytecode, &t->cfg);
    make_params(t);
    TRY(declare_params(t));
    track_unassigned(t);
    ssa_seal(&t->ssa, t->block);
    return true;
}
