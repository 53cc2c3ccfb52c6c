/* callers.c: how one came to a failure, and what to do instead.
 *
 * In: the function whose inference failed, and who asked for it first.  Out: notes in the Diag that say which calls led
 * there, the user's alone; where the user called one of Krait's own functions, a headline with its name and the types;
 * and a hint by the name of a library function that was the reason, Krait's or Python's. */
#include <string.h> /* strcmp, strlen, strncmp, strstr */

#include "typeinfer/rules.h"

static void print_call(Buf *buf, const FuncInst *callee, bool with_names, const InferHost *host, Arena *arena) {
    const Func *func = callee->untyped;
    for (uint32_t i = 0, shown = 0; i < func->nparams; i++) {
        const char *text = typeinfer_words(host, arena, callee->types[i]), *comma = shown ? ", " : "";
        bool left_out = callee->types[i]->kind == TY_NONE && func->params[i].has_default;
        if (with_names && left_out) continue;
        if (with_names)
            buf_printf(buf, "%s%s: %s", comma, func->params[i].name, text);
        else
            buf_printf(buf, "%s%s", comma, text);
        shown++;
    }
}

/* The row that a function of the prelude stands for, or that of kernels for another (rule prelude_twin); NULL: none. */
static const FuncInfo *row_of(const Func *func) {
    const char *file = func->source && func->source->file ? func->source->file : "", *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    size_t module = strcspn(base, ".");
    bool twin = strncmp(base, "kernel_", strlen("kernel_")) == 0;
    for (size_t i = 0; i < FUNC_COUNT; i++) {
        const char *symbol = func_info[i].how == HOW_PRELUDE ? func_info[i].symbol : "";
        const char *name = strchr(symbol, ':');
        bool there = twin || (strncmp(symbol, base, module) == 0 && symbol[module] == ':');
        bool method = strncmp(func_info[i].head.names, "numpy.ufunc.", strlen("numpy.ufunc.")) == 0;
        if (name && there && !(twin && method) && strcmp(name + 1, func->name) == 0) return &func_info[i];
    }
    return NULL;
}

static const char *shown_name(const Func *func, Arena *arena) {
    const FuncInfo *row = row_of(func);
    return row && *row->head.names ? func_shown_name(arena, row) : func->name;
}

const char *infer_shown_name(Infer *in, const Func *func) {
    return func->source && func->source->internal ? shown_name(func, in->arena) : func->name;
}

/* The value by which the caller calls an instance, the first of them that calls its function if that is not noted yet;
 * NULL: it is not there any more. */
static const Value *call_of(const FuncInst *caller, const FuncInst *callee) {
    const Func *func = caller->func;
    const Value *like = NULL;
    for (size_t b = 0; func && b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->imm.inst == callee) return value;
            const Type *called = value->op == OP_CALL ? value->args[0]->type : NULL;
            if (!like && called && called->kind == TY_PYFUNC && called->object == callee->object) like = value;
        }
    return like;
}

/* What is said of the user's call itself, in place of what was met inside. */
static void tell_at_call(const FuncInst *caller, const Value *call, Diag *diag, const char *message) {
    if (!call) return;
    diag->message = message;
    diag->notes = NULL; /* which lead to this call */
    diag->source = caller->func->source;
    diag->span = call->span;
}

static bool is_empty_list(const Type *type) { return type->kind == TY_LIST && type->items[0]->kind == TY_BOTTOM; }

/* The user's name of the argument that has no type of items yet, "" where it has none; NULL: there is none. */
static const char *empty_list(const Value *call, const FuncInst *callee) {
    for (uint32_t i = 0; i < callee->untyped->nparams; i++) {
        const Type *type = callee->types[i];
        bool empty = is_empty_list(type);
        for (uint32_t k = 0; type->kind == TY_TUPLE && k < type->count; k++) empty |= is_empty_list(type->items[k]);
        if (!empty) continue;
        for (uint32_t k = 0; call && k < call->nargs; k++) {
            const Value *arg = call->args[k]; /* not resolved: the caller may be typed already */
            if (arg->type && is_empty_list(arg->type) && arg->name) return arg->name;
        }
        return "";
    }
    return NULL;
}

/* What the default of dict.get, next and their like stands for; NULL: the types do not tell. */
static const Type *stood_for(const FuncInst *callee) {
    const Type *first = callee->untyped->nparams ? callee->types[0] : NULL;
    return first && first->kind == TY_DICT ? type_dict_value(first) : NULL;
}

/* Where values of two types meet in one of Krait's own functions, its lines mean nothing to the user, but its arguments
 * do. */
static void tell_of_arguments(const FuncInst *caller, const FuncInst *callee, const InferConfig *config, Diag *diag) {
    const Value *call = call_of(caller, callee);
    uint32_t i = 0, count = callee->untyped->nparams;
    while (i < count && strcmp(callee->untyped->params[i].name, "default") != 0) i++;
    const Type *values = stood_for(callee);
    if (i == count || !call) return;
    const char *is = typeinfer_words(config->host, diag->arena, callee->types[i]);
    const char *of = values ? typeinfer_words(config->host, diag->arena, values) : "what it stands for";
    tell_at_call(caller, call, diag,
                 values ? arena_printf(diag->arena, "the default is %s, and the values are %s", is, of)
                        : arena_printf(diag->arena, "the default, %s, is of another type than what it stands for", is));
    bool may_miss = strncmp(callee->untyped->name, "get", strlen("get")) == 0;
    const char *example = values ? infer_example(values) : NULL;
    diag_hint(diag, "give a default of the type of the values%s%s%s%s; or %s", values ? ", " : "", values ? of : "",
              example ? ", as " : "", example ? example : "",
              may_miss ? "leave it out, and test the result with `is None`"
              : values ? "ask first whether the key is there: if key in d: ..."
                       : "leave it out, and ask first whether there is anything");
}

/* Mistakes that the call shows, whatever was met inside. */
static void tell_mistake(const FuncInst *caller, const FuncInst *callee, const char *shown, const InferConfig *config,
                         Diag *diag) {
    const Value *call = call_of(caller, callee);
    const char *list = empty_list(call, callee), *function = callee->untyped->name;
    const Type *first = callee->untyped->nparams ? callee->types[0] : NULL;
    bool states = first && first->kind == TY_ARRAY && type_is_record(type_element(first));
    if (diag->code == DIAG_UNSUPPORTED_TARGET && strstr(diag->message, NEEDS_HEAP)) {
        tell_at_call(caller, call, diag, arena_printf(diag->arena, "%s" NEEDS_HEAP, shown));
    } else if (list && strstr(diag->message, "an empty list")) {
        const char *is = *list ? arena_printf(diag->arena, "`%s` is", list) : "an argument is", *a = *list ? list : "a";
        tell_at_call(caller, call, diag,
                     arena_printf(diag->arena, "%s an empty list, whose items have no type yet", is));
        diag_hint(
            diag,
            "put the items in with %s.append(value), and make an array when all are there, np.array(%s); or begin "
            "with an array, %s = np.zeros(0)",
            a, a, a);
    } else if (diag->code == DIAG_NO_UNIFY) {
        tell_of_arguments(caller, callee, config, diag);
    } else if (strncmp(function, "xoroshiro128p_", strlen("xoroshiro128p_")) == 0 && !states) {
        tell_at_call(caller, call, diag,
                     arena_printf(diag->arena, "the first argument of %s has to be an array of states, not %s",
                                  function, first ? typeinfer_words(config->host, diag->arena, first) : "nothing"));
    }
}

/* As the user called it: dict.get, which several functions of the prelude are. */
static const char *called_name(const FuncInst *callee, Arena *arena) {
    const Type *named = row_of(callee->untyped) ? NULL : callee->named;
    const FuncInfo *row = named && named->kind == TY_FUNC ? func_row(named->func) : NULL;
    return row && *row->head.names ? func_shown_name(arena, row) : shown_name(callee->untyped, arena);
}

/* The user called one of Krait's own functions, and it cannot be compiled for these arguments. */
static void headline(const FuncInst *caller, const FuncInst *callee, const InferConfig *config, Diag *diag) {
    const char *name = called_name(callee, diag->arena);
    const char *advice = infer_advice(name, config->device, !diag->hint);
    Buf text;
    buf_init(&text, diag->arena);
    buf_puts(&text, ""); /* no arguments */
    print_call(&text, callee, true, config->host, diag->arena);
    bool mistake = diag->code == DIAG_NO_AXIS || diag->code == DIAG_WRONG_KIND; /* wherever it runs */
    if (mistake) diag_headline(diag, "%s()", name);
    if (mistake || (diag->source && *diag->source->file == '<')) return;                  /* a partial: user's names */
    bool operator= strncmp(name, "__", 2) == 0, named = diag->code == DIAG_BAD_ARGUMENTS; /* the line shows them */
    if (!operator&& !(named && diag->hint))
        diag_headline(diag, "%s(%s) is not compiled%s", name, text.text, config->device ? " in kernels" : "");
    if (advice) diag_hint(diag, "%s", advice);
    tell_mistake(caller, callee, arena_printf(diag->arena, "%s(%s)", name, text.text), config, diag);
}

static bool is_internal(const FuncInst *inst) { return inst->untyped->source && inst->untyped->source->internal; }

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

void typeinfer_tell_of_library(const Source *user, const Value *call, const Source *source, const char *function,
                               Diag *diag) {
    if (!source || !source->file || !is_of_python(source->file)) return;
    if (!call || !user || !user->file || is_of_python(user->file) || user->internal) return;
    const char *module = module_name(diag->arena, source->file);
    if (!module) return;
    diag->message = arena_printf(diag->arena, "%s.%s, of Python's library, needs what is not compiled: %s", module,
                                 function, diag->message);
    diag->notes = NULL; /* of lines that the user has not written */
    diag->source = user;
    diag->span = call->span;
}

void typeinfer_advise(const InferConfig *config, Diag *diag) {
    if (diag->source && diag->source->function) advise_library(diag->source, diag->source->function, config, diag);
}

/* A part of a function that Python makes a function of, as "<listcomp>" or "<genexpr>", is in the lines of its caller.
 */
static bool is_part(const Func *func) { return *func->name == '<' && strcmp(func->name, "<lambda>") != 0; }

static bool is_cached(const FuncInst *inst) {
    const Source *source = inst->untyped->source;
    return source && source->file && strcmp(source->file, "<functools.lru_cache>") == 0;
}

/* Results are kept by the arguments, whose types are those of the first call. */
static bool tell_of_cache(const FuncInst *caller, const FuncInst *cached, const InferConfig *config, Diag *diag) {
    const Value *call = call_of(caller, cached);
    if (!is_cached(cached) || !call || !diag->message || !strstr(diag->message, "`_krait_key`")) return false;
    const char *name = config->host->object_name(config->host->self, cached->object);
    Buf text;
    buf_init(&text, diag->arena);
    print_call(&text, cached, true, config->host, diag->arena);
    tell_at_call(caller, call, diag,
                 arena_printf(diag->arena,
                              "functools.lru_cache keeps results of `%s` for arguments of the types of the "
                              "first call, which (%s) are not",
                              name, text.text));
    diag_hint(diag, "pass values of the same types in all calls: of tuples, whose length is part of their type, "
                    "tuple([...]), from the first call on");
    return true;
}

static void note_caller(const FuncInst *caller, const FuncInst *callee, const InferConfig *config, Diag *diag) {
    if ((is_part(callee->untyped) && !is_internal(caller)) || is_cached(caller)) return;
    if (tell_of_cache(caller, callee, config, diag)) return;
    const Value *call = call_of(caller, callee);
    if (!call) return;
    Buf text;
    buf_init(&text, diag->arena);
    buf_printf(&text, "in the call of %s with (", callee->untyped->name);
    print_call(&text, callee, false, config->host, diag->arena);
    buf_puts(&text, ")");
    diag_note(diag, caller->func->source, call->span, "%s", text.text);
}

bool typeinfer_note_callers(const FuncInst *inst, const InferConfig *config, Diag *diag) {
    enum { MAX_NOTES = 8 };
    bool internal = is_internal(inst);
    int notes = 0; /* calls in Krait's own functions do not count: the user's call of them is shown */
    for (; notes < MAX_NOTES && inst->caller && inst->caller != inst; inst = inst->caller) {
        note_caller(inst->caller, inst, config, diag);
        if (internal && !is_internal(inst->caller)) headline(inst->caller, inst, config, diag);
        advise_library(inst->untyped->source, inst->untyped->name, config, diag);
        if (!is_internal(inst->caller))
            typeinfer_tell_of_library(inst->caller->untyped->source, call_of(inst->caller, inst), inst->untyped->source,
                                      inst->untyped->name, diag);
        internal = internal && is_internal(inst->caller);
        notes += !is_internal(inst->caller);
    }
    return false;
}
