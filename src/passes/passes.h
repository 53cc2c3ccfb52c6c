/* passes.h: the middle end: typed SSA to typed SSA.
 *
 * In: a Program as inference left it.  Out: the same Program, changed or with facts noted, as passes.def says row by
 * row.  Every pass is one row and one file; it may rely on what the rows above it promise.  With KRAIT_DEBUG the typed
 * form is verified before the first pass and after each.  No Python, no LLVM, no GIL needed. */
#ifndef KRAIT_PASSES_H
#define KRAIT_PASSES_H

#include "ir/ir.h" /* Program */

typedef enum PassTarget {
    PASS_ON_HOST = 1,        /* functions and ufuncs of the host */
    PASS_ON_HOST_KERNEL = 2, /* kernels on the host device */
    PASS_ON_GPU = 4,
    PASS_ON_ALL = 7,
} PassTarget;

typedef enum PassId {
#define PASS(name, over, targets, doc) PASS_##name,
#include "passes/passes.def"
#undef PASS
    PASS_COUNT
} PassId;

typedef struct PassInfo {
    const char *name, *doc;
    unsigned targets; /* PassTargets */
    bool (*each)(Program *program, FuncInst *inst);
    bool (*whole)(Program *program); /* one of the two */
} PassInfo;
extern const PassInfo pass_info[PASS_COUNT];
int pass_named(const char *name, size_t length); /* -1: none */

/* Told of every pass that has run. */
typedef struct PassWatch {
    void *self;
    void (*ran)(void *self, PassId pass, int64_t nanoseconds);
} PassWatch;

/* Notes what became of the code at that place, for whoever asks for parallel_diagnostics: level 1 says what runs on
 * several cores and what does not, 2 what was made one loop, 3 why something was not.  A line already there is not
 * noted again. */
void pass_note(Program *program, const Func *func, Span span, unsigned level, const char *format, ...)
    KRAIT_PRINTF(5, 6);

/* Runs the passes of one target (one PassTarget).  False: program->diag says why. */
bool passes_run(Program *program, unsigned target, const PassWatch *watch);
/* Runs one pass, as passes_run does. */
bool passes_run_one(Program *program, PassId pass);

#endif
