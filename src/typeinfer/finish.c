/* finish.c: what can be said only when every function of a compilation is solved.
 *
 * In: all FuncInsts, number 0 the root.  Out: those that typed code calls, completed and numbered; who calls whom; a
 * function that calls itself without end refused; and if the compilation failed, the notes that say who called the
 * function where it did, and what to write instead of a library function that was the reason.  Each step is a worklist
 * over calls: none looks at all functions again and again. */
#include <string.h> /* strcmp */

#include "typeinfer/infer.h"

typedef VEC(FuncInst *) Work;

/* Queues the callees of a typed function that are met for the first time, the first to be called on top. */
static void follow_calls(Arena *arena, const FuncInst *inst, Work *work) {
    size_t before = work->len;
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            FuncInst *callee = value_callee(value);
            if (!callee || callee->called) continue;
            callee->called = true;
            vec_push(arena, work, callee);
        }
    for (size_t low = before, high = work->len; low + 1 < high; low++) {
        FuncInst *swapped = work->data[--high];
        work->data[high] = work->data[low];
        work->data[low] = swapped;
    }
}

static bool complete_called(const InferConfig *config, Arena *arena, FuncInst *root, Diag *diag) {
    Work work = {0};
    root->called = true;
    vec_push(arena, &work, root);
    while (work.len) {
        FuncInst *inst = vec_pop(&work);
        if (!typeinfer_complete(inst)) return typeinfer_note_callers(inst, config, diag);
        follow_calls(arena, inst, &work);
    }
    return true;
}

/* ---- functions without a result ---- */

/* The last value before `unreachable` is a call that does not return; NULL: the block ends another way. */
static const FuncInst *ends_in_call(const Block *block) {
    const Value *before = block->last->op == OP_UNREACHABLE ? block->last->prev : NULL;
    return before ? value_callee(before) : NULL;
}

/* One step towards the least set of functions that may end: some block raises, or ends in a call of one that may end.
 */
static bool may_end(const FuncInst *inst) {
    bool calls_on = false;
    for (size_t b = 0; b < inst->func->blocks.len; b++) {
        const Block *block = inst->func->blocks.data[b];
        const FuncInst *callee = ends_in_call(block);
        if (callee && callee->never_returns) return true;
        calls_on |= callee != NULL;
        Op end = block->last->op;
        if (!callee && (end == OP_RAISE || end == OP_RERAISE || end == OP_RESUME || end == OP_UNREACHABLE)) return true;
    }
    return !calls_on; /* a loop without end, as the program says */
}

static bool find_endless(Arena *arena, FuncInst *const *insts, size_t count, Diag *diag) {
    Work work = {0};
    for (size_t i = 0; i < count; i++)
        if (insts[i]->result->kind == TY_BOTTOM) vec_push(arena, &work, insts[i]);
    while (work.len) {
        FuncInst *inst = vec_pop(&work);
        if (inst->result->kind != TY_BOTTOM || inst->never_returns || !may_end(inst)) continue;
        inst->never_returns = true;
        for (size_t i = 0; i < inst->callers.len; i++) vec_push(arena, &work, inst->callers.data[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const Func *func = insts[i]->untyped;
        FAIL_IF(func->generator && insts[i]->result->items[0]->kind == TY_BOTTOM, diag, NO_RETURN, func->source,
                func->span, "the generator %s never yields anything", func->name);
        if (insts[i]->result->kind != TY_BOTTOM || insts[i]->never_returns) continue;
        diag_fail(diag, DIAG_NO_RETURN, func->source, func->span, "%s never returns: every path calls on", func->name);
        diag_hint(diag, "one path returns without a call: if n <= 0: return 0");
        return false;
    }
    return true;
}

bool typeinfer_finish(const InferConfig *config, Arena *arena, TypeTable *types, FuncInst **insts, size_t *count,
                      Diag *diag) {
    size_t kept = 0;
    if (!*count) return true;
    TRY(complete_called(config, arena, insts[0], diag));
    for (size_t i = 0; i < *count; i++)
        if (insts[i]->called) insts[kept++] = insts[i];
    *count = kept;
    for (size_t i = 0; i < kept; i++) insts[i]->id = (uint32_t)i;
    insts_find_calls(arena, insts, kept);
    TRY(find_endless(arena, insts, kept, diag));
    for (size_t i = 0; i < kept; i++)
        if (insts[i]->never_returns) insts[i]->result = type_simple(types, TY_NONE);
    return true;
}

/* ---- how one came to a failure ---- */

static void print_call(Buf *buf, const FuncInst *callee, bool with_names, const InferHost *host, Arena *arena) {
    const Func *func = callee->untyped;
    for (uint32_t i = 0; i < func->nparams; i++) {
        const char *text = infer_words(host, arena, callee->types[i]);
        if (with_names)
            buf_printf(buf, "%s%s: %s", i ? ", " : "", func->params[i].name, text);
        else
            buf_printf(buf, "%s%s", i ? ", " : "", text);
    }
}

/* The row that a function of the prelude stands for; NULL: none. */
static const FuncInfo *row_of(const Func *func) {
    const char *file = func->source && func->source->file ? func->source->file : "", *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    size_t module = strcspn(base, ".");
    for (size_t i = 0; i < FUNC_COUNT; i++) {
        const char *symbol = func_info[i].how == HOW_PRELUDE ? func_info[i].symbol : "";
        if (strncmp(symbol, base, module) == 0 && symbol[module] == ':' && strcmp(symbol + module + 1, func->name) == 0)
            return &func_info[i];
    }
    return NULL;
}

/* The user called one of Krait's own functions, and it cannot be compiled for these arguments. */
static void headline(const FuncInst *callee, const InferConfig *config, Diag *diag) {
    const FuncInfo *row = row_of(callee->untyped);
    const char *name = row && *row->head.names ? func_shown_name(diag->arena, row) : callee->untyped->name;
    const char *advice = infer_advice(name, config->device, !diag->hint);
    Buf text;
    buf_init(&text, diag->arena);
    print_call(&text, callee, true, config->host, diag->arena);
    diag_headline(diag, "%s(%s) is not compiled%s", name, text.text, config->device ? " in kernels" : "");
    if (advice) diag_hint(diag, "%s", advice);
}

static bool is_frozen(const char *file) { return strncmp(file, "<frozen ", sizeof "<frozen " - 1) == 0; }

static bool is_of_python(const char *file) {
    return is_frozen(file) || (strstr(file, "/lib/python3.") && !strstr(file, "-packages/"));
}

/* The name of the module, which is that of the file, or of the folder of an __init__.py; "<frozen genericpath>":
 * "genericpath"; NULL: the file is no module. */
static const char *module_name(Arena *arena, const char *file) {
    static const char *const ends[] = {"/__init__.py", ".py", ">"}; /* the last: of a frozen one */
    size_t length = strlen(file), count = COUNT_OF(ends) - !is_frozen(file);
    for (size_t i = 0; i < count; i++) {
        size_t tail = strlen(ends[i]), start;
        if (length <= tail || strcmp(file + length - tail, ends[i]) != 0) continue;
        for (start = length -= tail; start && !strchr("/ <", file[start - 1]);) start--;
        return arena_printf(arena, "%.*s", (int)(length - start), file + start);
    }
    return NULL;
}

/* The user called a function of Python's library, written in Python, and it cannot be compiled: what to do instead is
 * known by the name of the module. */
static void advise_library(const Source *source, const char *function, const InferConfig *config, Diag *diag) {
    const char *module = source && source->file ? module_name(diag->arena, source->file) : NULL;
    if (!module) return;
    const char *dot = strrchr(function, '.');
    const char *name = arena_printf(diag->arena, "%s.%s", module, dot ? dot + 1 : function);
    const char *advice = infer_advice(name, config->device, true);
    if (advice && strcmp(module, "numpy") != 0 && strcmp(module, "array") != 0)
        diag_hint(diag, "%s", advice);
    else if (is_of_python(source->file))
        diag_hint(diag,
                  "%s, of Python's library, does what is not compiled: call it outside, and pass its result as an "
                  "argument",
                  name);
}

void typeinfer_advise(const InferConfig *config, Diag *diag) {
    if (diag->source && diag->source->function) advise_library(diag->source, diag->source->function, config, diag);
}

static bool is_internal(const FuncInst *inst) { return inst->untyped->source && inst->untyped->source->internal; }

/* A part of a function that Python makes a function of, as "<listcomp>" or "<genexpr>", is in the lines of its caller.
 */
static bool is_part(const Func *func) { return *func->name == '<' && strcmp(func->name, "<lambda>") != 0; }

static void note_caller(const FuncInst *caller, const FuncInst *callee, const InferConfig *config, Diag *diag) {
    const Func *func = caller->func;
    if (is_part(callee->untyped) && !is_internal(caller)) return;
    for (size_t b = 0; func && b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value->imm.inst == callee) {
                Buf text;
                buf_init(&text, diag->arena);
                buf_printf(&text, "in the call of %s with (", callee->untyped->name);
                print_call(&text, callee, false, config->host, diag->arena);
                buf_puts(&text, ")");
                diag_note(diag, func->source, value->span, "%s", text.text);
                return;
            }
}

bool typeinfer_note_callers(const FuncInst *inst, const InferConfig *config, Diag *diag) {
    enum { MAX_NOTES = 8 };
    bool internal = is_internal(inst);
    int notes = 0; /* calls in Krait's own functions do not count: the user's call of them is shown */
    for (; notes < MAX_NOTES && inst->caller && inst->caller != inst; inst = inst->caller) {
        note_caller(inst->caller, inst, config, diag);
        if (internal && !is_internal(inst->caller)) headline(inst, config, diag);
        advise_library(inst->untyped->source, inst->untyped->name, config, diag);
        internal = internal && is_internal(inst->caller);
        notes += !is_internal(inst->caller);
    }
    return false;
}
