/* driver.h: one compilation, from a function and the types of its arguments to finished Code.
 *
 * The pipeline is the body of one function in job.c: named stages, each timed and dumpable (KRAIT_DUMP=bytecode, ir,
 * typed, the name of a pass, llvm, opt, ptx, asm, or all).  Callees are a worklist, never recursion.  A Job owns
 * everything of a compilation and dies with it; Code is what stays.  Many threads may compile at once. */
#ifndef KRAIT_DRIVER_H
#define KRAIT_DRIVER_H

#include "codegen/codegen.h"         /* CodegenOptions, RaiseSite */
#include "codegen_cpu/codegen_cpu.h" /* HostCode, AccessSite */
#include "frontend/frontend.h"       /* Objects, Guard */
#include "passes/passes.h"           /* PASS_COUNT */
#include "typeinfer/typeinfer.h"     /* Promotion */

typedef enum TargetKind { TARGET_HOST, TARGET_NVPTX } TargetKind;

enum { DEFAULT_CAPABILITY = 75 }; /* of PTX that is shown where there is no GPU */

typedef struct Config {
#define OPTION(name, type, dimensions, form, key, calls, doc) type name dimensions;
#include "driver/config.def"
#undef OPTION
    CodegenOptions codegen;
} Config;

/* Whether compilations print what they do (KRAIT_DUMP, KRAIT_NOTES): one after the other, then. */
bool driver_prints(void);
/* Whether a call for `wanted` may take code that was made for `made`. */
bool config_fits(const Config *made, const Config *wanted);
/* For tests: what row number `row` of the fields says, and what a change of it does (config.c); any: a type.  False:
 * there is no such row. */
typedef struct ConfigRow {
    const char *name, *key, *calls;
    bool changes_key, fits;
} ConfigRow;
bool config_row(size_t row, Arena *arena, const Type *any, ConfigRow *out);

/* Functions of krait.prelude that were typed in one compilation, and that later ones take (units.c). */
typedef struct Units Units;
Units *units_new(void); /* NULL: no memory */
void units_free(Units *units);
typedef struct UnitCounts {
    size_t kept, bytes, taken; /* how many there are, in how much memory; how often one was taken so far */
} UnitCounts;
UnitCounts units_counts(const Units *units);
void units_fail_after(Units *units, size_t n); /* tests: the n-th allocation for what is kept fails; 0: none */

/* What compilations of one module state share. */
typedef struct Session {
    TypeTable *types;
    Library *library;
    Objects *objects;
    Units *units; /* NULL: each compilation infers all that it calls */
} Session;

/* A type as messages name it, also where nothing is being compiled. */
const char *driver_words(const Session *session, Arena *arena, const Type *type);

enum Stage {
    STAGE_FRONTEND,
    STAGE_INFER,
    STAGE_PASSES,
    STAGE_LOWER,
    STAGE_LINK,
    STAGE_OPTIMISE,
    STAGE_EMIT,
    STAGE_COUNT
};
extern const char *const stage_names[STAGE_COUNT];

/* An operation that computes in float64: what it is, in words. */
typedef struct DoubleNote {
    const char *file, *function, *text;
    uint32_t line;
} DoubleNote;

/* Finished code of one specialisation; reference-counted; everything it points to is its own. */
typedef struct Code Code;
struct Code {
    _Atomic int references;
    _Atomic int followers; /* of these, those of objects that keep its owner alive, too, and show it to the collector */
    Arena *arena;          /* holds what follows */
    Config config;
    const Type *const *params;
    const Const *const *param_konsts; /* as compiled: a constant, or NULL */
    size_t nparams;
    const ObjRef *captured; /* what global variables hold: parameters behind these, with types in params */
    size_t ncaptured;
    const ObjRef *device_arrays; /* of a kernel's globals and closures: their addresses are constants of the code */
    size_t ndevice_arrays;
    const Type *result;
    const Guard *guards;
    size_t nguards;
    ObjHold hold;    /* the objects whose numbers its types, constants and raise sites mention */
    HostCode *host;  /* TARGET_HOST */
    const char *ptx; /* TARGET_NVPTX */
    size_t ptx_length;
    const RaiseSite *raise_sites;
    size_t nraise_sites;
    const AccessSite *access_sites;
    size_t naccess_sites;
    const PrintSite *print_sites;
    size_t nprint_sites;
    const DoubleNote *doubles; /* if Config.note_doubles, by line */
    size_t ndoubles;
    size_t exception_bytes, shared_bytes;
    bool has_barriers, waits_for_grid;
    bool from_cache;      /* its machine code lay on disk */
    bool tells_caught;    /* codegen_tells_caught */
    unsigned ufunc_lanes; /* codegen_ufunc_lanes */
    uint64_t written;     /* bit i: array argument i may be written (63 and above: always set) */
    const char *assigned; /* a parameter that the function assigns to, or NULL */
    const char *lost;     /* one, a number, that it changes in place without ever reading it afterwards, or NULL */
    const char *typed_text, *diagnostics, *llvm_text, *opt_text, *asm_text; /* when keep_text */
    int64_t nanoseconds[STAGE_COUNT], pass_nanoseconds[PASS_COUNT];
};

/* Compiles a Python function, or what it was decorated as; called with the GIL held, releases it while LLVM works.
 * NULL: diag (whose arena the caller owns) says why; if a Python exception other than a refusal occurred
 * (KeyboardInterrupt, MemoryError) it is set and diag->code is DIAG_PYTHON. */
Code *driver_compile(const Session *session, const Config *config, PyObject *function, const Type *const *types,
                     const Const *const *konsts, size_t count, Diag *diag);
Code *code_retain(Code *code);
void code_release(Code *code);                                   /* GIL held: guards and hold are Python references */
int code_traverse(const Code *code, visitproc visit, void *arg); /* for its only owner but for followers */

/* Where compiled code is kept (cache=True); false: nowhere. */
bool driver_cache_folder(char *path, size_t size);
/* Why nothing is kept in that folder; false: it serves. */
bool driver_cache_trouble(char *text, size_t size);

/* Machine code that a GPU's driver made of the PTX, kept with the rest; toolchain: the GPU and the driver, as text.
 * Wanted: the function asks for a cache.  False: there is none. */
bool driver_binary_wanted(const Code *code);
bool driver_binary_load(const Code *code, const char *toolchain, Arena *arena, CodeImage *binary);
void driver_binary_store(const Code *code, const char *toolchain, Arena *arena, const CodeImage *binary);

/* Has a thread of its own compile something for such a GPU, so that what comes next takes less time (ready.c). */
void driver_make_ready(int compute_capability, int ptx_version);
bool driver_ready_now(int compute_capability, int ptx_version); /* in this thread; false: it failed */

/* For tests: stops after the named stage ("bytecode", "ir", "typed", a pass, "llvm", "opt", "asm" or "ptx") and gives
 * its text, in diag->arena. */
const char *driver_stage_text(const Session *session, const Config *config, PyObject *function,
                              const Type *const *types, size_t count, const char *stage, Diag *diag);

#endif
