/* passes.c: the runner of the middle end: the table as an array, the passes in its order.
 *
 * In: a typed Program and its target.  Out: the Program after every pass that the table has for that target, each timed
 * and, in debug builds, verified. */
#include <stdarg.h> /* va_list */
#include <string.h> /* strlen, strncmp */

#include "passes/private.h"

#define EACH(name)  .each = pass_##name
#define WHOLE(name) .whole = pass_##name
enum { HOST = PASS_ON_HOST, HOST_KERNEL = PASS_ON_HOST_KERNEL, GPU = PASS_ON_GPU, ALL = PASS_ON_ALL };

const PassInfo pass_info[PASS_COUNT] = {
#define PASS(name, over, targets, doc) {#name, doc, targets, over(name)},
#include "passes/passes.def"
#undef PASS
};

int pass_named(const char *name, size_t length) {
    for (int pass = 0; pass < PASS_COUNT; pass++)
        if (strlen(pass_info[pass].name) == length && strncmp(pass_info[pass].name, name, length) == 0) return pass;
    return -1;
}

/* `after`: the pass whose work is checked; NULL: inference. */
static bool verify(const Program *program, const PassInfo *after) {
#ifdef KRAIT_DEBUG
    if (program_verify(program)) return true;
    diag_note(program->diag, NULL, (Span){0}, "after %s", after ? after->name : "inference");
    return false;
#else
    return (void)program, (void)after, true;
#endif
}

/* Whether the text has the line, which ends in a line's end, as one of its own. */
static bool has_line(const char *text, const char *line) {
    const char *at = text;
    while (at && (at = strstr(at, line)) && at != text && at[-1] != '\n') at++;
    return at != NULL;
}

void pass_note(Program *program, const Func *func, Span span, unsigned level, const char *format, ...) {
    if (!program->diagnostics) return;
    va_list args;
    Buf line;
    buf_init(&line, program->arena);
    buf_printf(&line, "%u %s:%u: %s: ", level, func->source ? func->source->file : "?", (unsigned)span.line,
               func->name);
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    buf_putc(&line, '\n');
    if (!has_line(program->diagnostics->text, line.text)) buf_puts(program->diagnostics, line.text);
}

static const Value *call_of(const FuncInst *caller, const FuncInst *callee) {
    for (size_t b = 0; b < caller->func->blocks.len; b++)
        for (const Value *value = caller->func->blocks.data[b]->first; value; value = value->next)
            if (value_callee(value) == callee) return value;
    return NULL;
}

/* What is refused in one of Krait's own functions is told at the user's call that led there. */
static bool refuse_at_call(const Program *program, const FuncInst *inst) {
    Diag *diag = program->diag;
    while (diag->source && diag->source->internal && inst->callers.len) {
        const FuncInst *caller = inst->callers.data[0];
        const Value *call = caller == inst ? NULL : call_of(caller, inst);
        if (!call) break;
        diag->source = caller->func->source;
        diag->span = call->span;
        inst = caller;
    }
    return false;
}

bool passes_run_one(Program *program, PassId pass) {
    const PassInfo *info = &pass_info[pass];
    if (info->whole) TRY(info->whole(program));
    for (size_t i = 0; info->each && i < program->count; i++)
        if (!info->each(program, program->insts[i])) return refuse_at_call(program, program->insts[i]);
    return verify(program, info);
}

bool passes_run(Program *program, unsigned target, const PassWatch *watch) {
    TRY(verify(program, NULL));
    for (PassId pass = 0; pass < PASS_COUNT; pass++) {
        if (!(pass_info[pass].targets & target)) continue;
        int64_t start = clock_nanoseconds();
        TRY(passes_run_one(program, pass));
        if (watch) watch->ran(watch->self, pass, clock_nanoseconds() - start);
    }
    return true;
}
