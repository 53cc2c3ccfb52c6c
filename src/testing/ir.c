/* ir.c: the test doors of base and ir, which have no Python surface.
 *
 * Most functions are rows of one table: IR, type or constant text in, text out; each runs in an arena and a type table
 * of its own.  Keywords: typed=True (the verifier's second half), fail_after=n (the n-th allocation fails:
 * MemoryError).  A refusal is a ValueError with the text a user would see.  No Python call is made while an allocation
 * may jump: a row yields arena text, which is converted afterwards. */
#include "testing/trial.h"

/* ---- rows: NULL means that diag says why not ---- */

const char *trial_refuse(Trial *trial, const char *text) {
    diag_fail(&trial->diag, DIAG_PARSE, NULL, (Span){0}, "not understood: %s", text);
    return NULL;
}

const char *trial_print_func(Trial *trial, const Func *func) {
    Buf buf;
    buf_init(&buf, trial->arena);
    func_print(&buf, func);
    return buf.text;
}

static const char *try_parse_print(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    return trial_print_func(trial, func);
}

static const char *try_verify(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    Diag faults;
    diag_init(&faults, trial->arena);
    return func_verify(func, trial->typed, &faults) ? "" : diag_render(&faults);
}

static const char *try_clone(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    Func *copy = func_clone(trial->arena, func);
    /* The original is spoilt, so that anything shared shows. */
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        for (Value *value = block->first; value; value = value->next) {
            for (uint32_t i = 0; i < value->nargs; i++) value->args[i] = NULL;
            value->id = 999;
        }
        block->id = 999;
        block->preds.len = 0;
    }
    return trial_print_func(trial, copy);
}

static const char *try_order(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    func_compute_order(func);
    return trial_print_func(trial, func);
}

/* One line for each reachable block: its number and that of its immediate dominator ("-" for the entry). */
static const char *try_dominators(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    func_compute_order(func);
    func_compute_dominators(func);
    Buf buf;
    buf_init(&buf, trial->arena);
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        buf_printf(&buf, "%u ", (unsigned)block->id);
        if (block->idom)
            buf_printf(&buf, "%u\n", (unsigned)block->idom->id);
        else
            buf_puts(&buf, "-\n");
    }
    return buf.text;
}

static const char *try_trivial_phis(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    func_remove_trivial_phis(func);
    return trial_print_func(trial, func);
}

static const char *try_dead(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    func_remove_dead(func);
    return trial_print_func(trial, func);
}

static void print_effects(Buf *buf, Effects effects) {
    static const char letters[] = "RWXSCN";
    buf_putc(buf, ' ');
    if (!effects) buf_putc(buf, 'P');
    for (unsigned i = 0; i < sizeof letters - 1; i++)
        if (effects & 1u << i) buf_putc(buf, letters[i]);
}

/* A line a value: its operation, its effects in the letters of ir_ops.def where an index outside an array raises, and
 * where it does not. */
static const char *try_effects(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    Buf buf;
    buf_init(&buf, trial->arena);
    buf_puts(&buf, "");
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->op == OP_PARAM || value->op == OP_CONST) continue;
            buf_puts(&buf, op_info[value->op].text);
            print_effects(&buf, value_effects(value, true));
            print_effects(&buf, value_effects(value, false));
            buf_putc(&buf, '\n');
        }
    return buf.text;
}

static const char *try_renumber(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    func_renumber(func);
    return trial_print_func(trial, func);
}

/* What inference does with a branch that is never taken: the entry loses its first edge. */
static const char *try_remove_edge(Trial *trial, const char *text) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    Block *entry = func->blocks.data[0];
    block_remove_edge(func, entry, entry->succs.data[0]);
    Diag faults;
    diag_init(&faults, trial->arena);
    return func_verify(func, false, &faults) ? trial_print_func(trial, func) : diag_render(&faults);
}

const Type *trial_whole_type(Trial *trial, const char *text) {
    const char *end;
    const Type *type = type_parse(trial->types, trial->arena, text, &end);
    if (type && !*end) return type;
    trial_refuse(trial, text);
    return NULL;
}

static const char *try_type(Trial *trial, const char *text) {
    const Type *type = trial_whole_type(trial, text);
    TRY(type);
    const char *printed = type_text(trial->arena, type);
    if (type_parse(trial->types, trial->arena, printed, NULL) != type) return trial_refuse(trial, printed);
    return printed;
}

static const char *try_const(Trial *trial, const char *text) {
    const char *end;
    const Const *konst = const_parse(trial->arena, trial->types, text, &end);
    if (!konst || *end) return trial_refuse(trial, text);
    Buf buf;
    buf_init(&buf, trial->arena);
    const_print(&buf, konst);
    const Const *again = const_parse(trial->arena, trial->types, buf.text, NULL);
    return again && again->type == konst->type ? buf.text : trial_refuse(trial, buf.text);
}

/* "size align", then the offset of each item of a composite. */
static const char *try_layout(Trial *trial, const char *text) {
    const Type *type = trial_whole_type(trial, text);
    TRY(type);
    Buf buf;
    buf_init(&buf, trial->arena);
    buf_printf(&buf, "%zu %zu", type_size(type), type_align(type));
    for (size_t i = 0; i < type_repr(type)->nparts; i++) buf_printf(&buf, " %zu", type_item_offset(type, i));
    return buf.text;
}

/* An array constant: its layout by its strides, the bytes it reaches, its packed strides in C and in F order. */
static const char *try_strided(Trial *trial, const char *text) {
    const Const *konst = const_parse(trial->arena, trial->types, text, NULL);
    if (!konst || konst->type->kind != TY_ARRAY || !konst->array) return trial_refuse(trial, text);
    const Type *type = konst->type;
    const int64_t *shape = konst->array->shape, *strides = konst->array->strides;
    size_t item = type_size(type_element(type));
    ByteRange range = strided_range(type->ndim, shape, strides, item);
    Buf buf;
    buf_init(&buf, trial->arena);
    buf_printf(&buf, "%c %lld %lld", "CFA"[strided_layout(type->ndim, shape, strides, item)], (long long)range.low,
               (long long)range.high);
    for (ArrayLayout layout = LAYOUT_C; layout <= LAYOUT_F; layout++) {
        int64_t packed[TYPE_MAX_NDIM];
        strided_pack(type->ndim, shape, item, layout, packed);
        for (unsigned i = 0; i < type->ndim; i++) buf_printf(&buf, " %lld", (long long)packed[i]);
    }
    return buf.text;
}

static const char *leaf_text(Trial *trial, const Leaf *leaf) {
    static const char *const kinds[] = {"scalar", "present", "data", "owner", "shape", "stride", "state"};
    const char *what = leaf_is_pointer(leaf) ? "-" : scalar_info[leaf->scalar].name;
    return arena_printf(trial->arena, "%s %s axis=%u bytes=%zu align=%u offset=%u", kinds[leaf->kind], what, leaf->axis,
                        leaf_bytes(leaf), leaf->align, leaf->offset);
}

/* One line a leaf. */
static const char *try_leaves(Trial *trial, const char *text) {
    const Type *type = trial_whole_type(trial, text);
    TRY(type);
    const Repr *repr = type_repr(type);
    Buf buf;
    buf_init(&buf, trial->arena);
    buf_puts(&buf, "");
    for (uint32_t i = 0; i < repr->nleaves; i++) buf_printf(&buf, "%s\n", leaf_text(trial, &repr->leaves[i]));
    return buf.text;
}

/* The text is a tuple type, whose items are the arguments.  One line a parameter; last the size of the buffer. */
static const char *try_kernel_params(Trial *trial, const char *text) {
    const Type *type = trial_whole_type(trial, text);
    TRY(type);
    if (type->kind != TY_TUPLE) return trial_refuse(trial, text);
    KernelParam *params;
    size_t bytes, count = kernel_params(trial->arena, type->items, type->count, &params, &bytes);
    Buf buf;
    buf_init(&buf, trial->arena);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s argument=%u to=%u\n", leaf_text(trial, params[i].leaf), params[i].argument, params[i].to);
    buf_printf(&buf, "%zu\n", bytes);
    return buf.text;
}

static const TrialRow ir_rows[] = {
    {"parse_print", try_parse_print},
    {"verify", try_verify},
    {"clone", try_clone},
    {"order", try_order},
    {"dominators", try_dominators},
    {"trivial_phis", try_trivial_phis},
    {"dead", try_dead},
    {"effects", try_effects},
    {"renumber", try_renumber},
    {"type_roundtrip", try_type},
    {"const_roundtrip", try_const},
    {"remove_edge", try_remove_edge},
    {"layout", try_layout},
    {"strided", try_strided},
    {"kernel_params", try_kernel_params},
    {"leaves", try_leaves},
};

/* ---- running one ---- */

static const TrialRow *find_row(const TrialRow *rows, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/* False: out of memory. */
static bool run_row(const TrialRow *row, Trial *trial, const char *text, const char **result) {
    jmp_buf recovery;
    if (setjmp(recovery)) return false;
    arena_on_exhaustion(trial->arena, &recovery);
    *result = row->run(trial, text);
    if (!*result) *result = diag_render(&trial->diag);
    arena_on_exhaustion(trial->arena, NULL);
    return !type_table_exhausted(trial->types);
}

static PyObject *testing_run(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"", "", "typed", "fail_after", NULL};
    const char *name, *text, *answer = NULL;
    int typed = 0;
    Py_ssize_t fail_after = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ss|$pn", keywords, &name, &text, &typed, &fail_after)) return NULL;
    const TrialRow *row = find_row(ir_rows, COUNT_OF(ir_rows), name);
    if (!row) row = find_row(testing_typeinfer_rows, testing_typeinfer_row_count, name);
    if (!row) return PyErr_Format(PyExc_LookupError, "no trial is called %s", name);

    PyObject *result = NULL;
    Trial trial = {.arena = arena_new(), .types = type_table_new(), .typed = typed != 0};
    if (!trial.arena || !trial.types) {
        PyErr_NoMemory();
        goto done;
    }
    type_table_set_functions(trial.types, library_find_head, module_state(self)->session.library);
    diag_init(&trial.diag, trial.arena);
    arena_fail_after(trial.arena, (size_t)fail_after);
    type_table_fail_after(trial.types, (size_t)fail_after);
    if (!run_row(row, &trial, text, &answer))
        PyErr_NoMemory();
    else if (trial.diag.failed)
        PyErr_SetString(PyExc_ValueError, answer);
    else
        result = PyUnicode_FromString(answer);
done:
    type_table_free(trial.types);
    arena_free(trial.arena);
    return result;
}

/* ---- diagnostics ---- */

typedef struct Place {
    const char *file, *function, *text;
    unsigned first_line;
    Span span;
} Place;

/* (file, function, text or None, first line, (line, end line, column, end column)) */
static int to_place(PyObject *tuple, void *to) {
    Place *place = to;
    return PyArg_ParseTuple(tuple, "zzzI(IIII)", &place->file, &place->function, &place->text, &place->first_line,
                            &place->span.line, &place->span.end_line, &place->span.col, &place->span.end_col);
}

static const Source *place_source(Arena *arena, const Place *place) {
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){
        .file = place->file, .function = place->function, .text = place->text, .first_line = place->first_line};
    return source;
}

/* render(code, message, place, hint=None, notes=()): notes are pairs of text and place. */
static PyObject *testing_render(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    static char *keywords[] = {"code", "message", "place", "hint", "notes", NULL};
    const char *code_name, *message, *hint = NULL;
    Place place = {0};
    PyObject *notes = NULL, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ssO&|zO!", keywords, &code_name, &message, to_place, &place, &hint,
                                     &PyTuple_Type, &notes))
        return NULL;
    DiagCode code = 0;
    while (code < DIAG_COUNT && strcmp(diag_code_name(code), code_name) != 0) code++;
    if (code == DIAG_COUNT) return PyErr_Format(PyExc_LookupError, "no code is called %s", code_name);
    Arena *arena = arena_new();
    if (!arena) return PyErr_NoMemory();
    Diag diag;
    diag_init(&diag, arena);
    diag_fail(&diag, code, place_source(arena, &place), place.span, "%s", message);
    if (hint) diag_hint(&diag, "%s", hint);
    /* What comes after the first failure is ignored, its hint too. */
    diag_fail(&diag, DIAG_TYPING, NULL, (Span){0}, "a second failure");
    diag_hint(&diag, "a second hint");
    for (Py_ssize_t i = 0; notes && i < PyTuple_GET_SIZE(notes); i++) {
        const char *text;
        Place note = {0};
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(notes, i), "sO&", &text, to_place, &note)) goto done;
        diag_note(&diag, place_source(arena, &note), note.span, "%s", text);
    }
    result = PyUnicode_FromString(diag_render(&diag));
done:
    arena_free(arena);
    return result;
}

/* ---- tables ---- */

/* table("scalars" | "ops" | "attrs" | "diag"): the rows as tuples, for the reference pages of the manual and the
 * table tests. */
static PyObject *table_row(const char *name, size_t i) {
    if (strcmp(name, "scalars") == 0 && i < SCALAR_COUNT) {
        const ScalarInfo *info = &scalar_info[i];
        return Py_BuildValue("(sCCiz)", info->name, info->numpy_char, info->kind, info->bytes, info->weak_name);
    }
    if (strcmp(name, "ops") == 0 && i < OP_COUNT) {
        const OpInfo *info = &op_info[i];
        return Py_BuildValue("(sisss)", info->text, info->operands, info->rule, info->effects, info->doc);
    }
    if (strcmp(name, "attrs") == 0 && i < ATTR_COUNT) {
        static const char *const kinds[] = {[TY_ARRAY] = "array", [TY_SCALAR] = "number", [TY_TUPLE] = "namedtuple",
                                            [TY_RANGE] = "range", [TY_SLICE] = "slice",   [TY_DTYPE] = "dtype",
                                            [TY_CLASS] = "class"};
        const AttrInfo *info = &attr_info[i];
        return Py_BuildValue("(sss)", kinds[info->kind], info->name, info->doc);
    }
    if (strcmp(name, "diag") == 0 && i < DIAG_COUNT)
        return Py_BuildValue("(sss)", diag_code_name((DiagCode)i), diag_exception_name((DiagCode)i),
                             diag_code_text((DiagCode)i));
    return NULL;
}

/* fail_arena(n): the n-th allocation from arenas that this thread makes from now on fails; 0: none.  Gives what was
 * left of the n before: 0 if it failed. */
static PyObject *testing_fail_arena(PyObject *self, PyObject *number) {
    (void)self;
    size_t n = PyLong_AsSize_t(number);
    return PyErr_Occurred() ? NULL : PyLong_FromSize_t(arena_fail_thread(n));
}

static PyObject *testing_table(PyObject *self, PyObject *arg) {
    (void)self;
    const char *name = PyUnicode_AsUTF8(arg);
    if (!name) return NULL;
    PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows; i++) {
        PyObject *row = table_row(name, i);
        if (!row) break;
        if (PyList_Append(rows, row) < 0) Py_CLEAR(rows);
        Py_DECREF(row);
    }
    if (PyErr_Occurred()) Py_CLEAR(rows);
    return rows;
}

PyMethodDef testing_ir_methods[] = {
    {"run", WITH_KEYWORDS(testing_run), METH_VARARGS | METH_KEYWORDS,
     "run(trial, text, *, typed=False, fail_after=0) -> text"},
    {"render", WITH_KEYWORDS(testing_render), METH_VARARGS | METH_KEYWORDS,
     "render(code, message, place, hint=None, notes=()) -> the text of a diagnostic"},
    {"fail_arena", testing_fail_arena, METH_O,
     "fail_arena(n): the n-th allocation of this thread fails; what was left"},
    {"table", testing_table, METH_O, "table(name) -> the rows of a table of the compiler"},
    {NULL, NULL, 0, NULL},
};
