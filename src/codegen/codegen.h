/* codegen.h: from typed SSA to an optimised LLVM module, once for both targets.  This header knows no LLVM: the layers
 * above see a Module as a closed box.  codegen/llvm.h is the other door of this folder: for codegen_nvptx and
 * codegen_cpu only.
 *
 * What is generated.  Every FuncInst becomes one internal function with its operands by value.  A function that may
 * raise returns { i32 status, result }, any other the result alone; status 0 is success, otherwise 1 + the number of a
 * RaiseSite, whose arguments were stored in the exception buffer.  The entry is what C calls (see EntryKind).  Each
 * target adds its entry wrappers and answers the questions of codegen/target.h. */
#ifndef KRAIT_CODEGEN_H
#define KRAIT_CODEGEN_H

#include "ir/ir.h" /* FuncInst */

typedef enum EntryKind {
    ENTRY_FUNCTION, /* int32_t entry(const void *args, void *result, void *exception): args is the layout of
                       tuple(params); GPU: see codegen_nvptx.h */
    ENTRY_KERNEL,   /* GPU: a PTX kernel over kernel_params(); host: see codegen_cpu.h */
    ENTRY_UFUNC,    /* host: data, a HostLoops (runtime/host/host.h); GPU: see codegen_nvptx.h */
    ENTRY_GUFUNC,   /* host: see codegen_cpu/entry_gufunc.c */
    ENTRY_CFUNC,    /* host: see codegen_cpu/entry_cfunc.c */
} EntryKind;

enum FastMath { /* LLVM's fast-math flags by name */
                FASTMATH_NNAN = 1,
                FASTMATH_NINF = 2,
                FASTMATH_NSZ = 4,
                FASTMATH_ARCP = 8,
                FASTMATH_CONTRACT = 16,
                FASTMATH_AFN = 32,
                FASTMATH_REASSOC = 64,
                FASTMATH_ALL = 127
};

/* ENTRY_UFUNC on a GPU: what is known of the operands; all false fits any (codegen_nvptx.h). */
typedef struct UfuncForm {
    bool rows;          /* the grid has a row of blocks for each row of elements along axis 0 */
    bool two_axes;      /* with rows: at most two axes */
    uint32_t immediate; /* with rows: bit i: input i is one value among the parameters */
} UfuncForm;

/* What a launch has found out about the arguments of a kernel before it (decorators/plan.c), and what a call of a
 * function takes for granted until its code declines. */
enum Facts {
    FACT_NOALIAS = 1,  /* written arrays overlap no other argument */
    FACT_SMALL = 2,    /* Program.small */
    FACT_IN_RANGE = 4, /* Program.declines */
    FACT_BRIEF = 8,    /* Program.brief */
    FACT_ROWS = 32,    /* arrays and their rows are aligned as the code asks (codegen_nvptx_rows) */
    FACTS_ALL = FACT_NOALIAS | FACT_SMALL | FACT_ROWS,
    FACT_FITS = 16, /* a kernel on the host: blocks and arrays are those that it has code of its own for */
    FACTS_OF_CALLS = FACT_IN_RANGE | FACT_BRIEF | FACT_FITS
};

/* The status of a call or a launch that has done nothing, since it is for code without FACTS_OF_CALLS. */
enum { STATUS_DECLINED = -1 };

typedef enum LineTables { LINE_TABLES_NONE, LINE_TABLES_PROFILER, LINE_TABLES_DEBUG } LineTables;

typedef struct CodegenOptions {
#define OPTION(name, type, dimensions, form, key, calls, doc) type name dimensions;
#include "codegen/codegen_options.def"
#undef OPTION
} CodegenOptions;

/* How the exception buffer begins: the interpreter's object, where it has raised (RaiseSite.pending; a reference of the
 * buffer's own, else NULL), and the calls that the exception came through, innermost first, as numbers of RaiseSites
 * that say where each stands.  The arguments of the exception follow.  Of more calls the last place has the
 * outermost.
 *
 * What is raised while something is handled gets that as its context in the first handler that it meets, which has it
 * on its stack: `chained` says that this has happened in this function, or need not; each call on the way out begins
 * anew.  What callers handle is the context of the exception that `owes` names, as a rule the first of those that led
 * here. */
enum { TRAIL_CALLS = 15 };
typedef enum TrailOwes {
    OWES_FIRST,  /* the last of its contexts within compiled code: it has been raised by an operation, or made here */
    OWES_ITSELF, /* a `raise` statement raised it, whatever its context was before */
    OWES_OTHER,  /* RaiseTrail.owing, if it still is among its contexts */
    OWES_NONE,
} TrailOwes;
typedef struct RaiseTrail {
    int64_t recursion[2]; /* what recursive functions look at, as long as nothing has left the entry */
    void *object;
    const void *owing; /* no reference */
    int32_t depth;
    bool shown; /* the object's traceback has the line of the site */
    bool chained;
    uint8_t owes; /* TrailOwes */
    uint8_t unused;
    int32_t calls[TRAIL_CALLS];
} RaiseTrail;

/* Code that does not know where it lies: an object file of the host, or PTX. */
typedef struct CodeImage {
    const char *bytes;
    size_t size;
    size_t stack_bytes; /* of the code's local variables, on the host */
} CodeImage;

/* What can go wrong at run time, numbered in the order generated; outlives the compilation (deep-copied into Code by
 * the driver). */
typedef struct RaiseSite {
    const char
        *builtin; /* "ZeroDivisionError", a row of ir_exceptions.def; NULL: class is an object, or it is a call on
                            the way out */
    ObjRef class;
    const char *format; /* text with %lld for each int64 in the buffer; NULL: the arguments are the exception's */
    const Type *args;   /* tuple: layout of the exception buffer */
    const Const *const *konsts; /* one per item of args: constant arguments (str), or NULL */
    bool pending;               /* the interpreter has raised it: RaiseTrail.object */
    const char *file, *function;
    Span span;
} RaiseSite;

/* A print(...) of a kernel: what stands between the values and behind them; the values lie in the layout of the tuple
 * `args`, those that are constants in `konsts`, as a RaiseSite has them. */
typedef struct PrintSite {
    const Type *args;
    const Const *const *konsts;
    const char *separator, *end;
} PrintSite;

/* Globals of a kernel's module on a GPU: DeviceNotes, then the arguments of what was raised; what was printed; blocks
 * that have come to the grid's barrier. */
#define GRID_SYMBOL   "krait_grid"
#define NOTES_SYMBOL  "krait_device_notes"
#define PRINTS_SYMBOL "krait_prints"
enum { PRINT_BYTES = 1 << 20 }; /* of a kernel's prints between two looks at them, as CUDA's own printf has */

/* Where an element access or a barrier that a host launch reports stands in the Python source; numbered in the order
 * generated. */
typedef struct AccessSite {
    const char *file, *function;
    const char *array, *index; /* variables; NULL: none */
    Span span;
    uint32_t axis;
} AccessSite;

/* Around all that runs without the interpreter's lock, from lowering to emission: no fork in between (fork_gate.c).
 * Never ask for the interpreter's lock in there, and do not nest. */
void codegen_enter(void);
void codegen_leave(void);
/* At the end of the process: waits for who is inside; nobody enters any more. */
void codegen_close(void);

typedef struct Module Module; /* an LLVM module with its context, target machine and diagnostics */

/* The ten questions whose answers differ between targets; each folder codegen_* defines one. */
typedef struct Target Target;

/* Generates, links bitcode (lazily), checks that nothing unknown remains, optimises.  insts[0] is the root.  No GIL
 * needed. The stages are separate calls so that the driver can time and dump each. */
/* *module (NULL before) is set at once, so that the owner can dispose of it whatever happens: failure, or a jump out of
 * an exhausted arena. */
bool codegen_lower(Module **module, const Target *target, const CodegenOptions *options, const Program *program);
/* Program.index_raises, for these options. */
bool codegen_index_raises(const Target *target, const CodegenOptions *options);
bool codegen_link(Module *module, Diag *diag);
bool codegen_optimise(Module *module, Diag *diag);
char *codegen_text(Module *module, Arena *arena);                          /* LLVM IR, for dumps */
const RaiseSite *codegen_raise_sites(const Module *module, size_t *count); /* in the arena given to codegen_lower */
const AccessSite *codegen_access_sites(const Module *module, size_t *count);
const PrintSite *codegen_print_sites(const Module *module, size_t *count);
/* Scratch the entry may write exception arguments to. */
size_t codegen_exception_bytes(const Module *module);
/* Bytes of static shared memory of a kernel on the host; whether it has barriers or warp operations (then its threads
 * are fibers). */
size_t codegen_shared_bytes(const Module *module);
bool codegen_has_barriers(const Module *module);
bool codegen_waits_for_grid(const Module *module); /* all blocks of a launch must run at once */
bool codegen_tells_caught(const Module *module);   /* asks what str() of exceptions of its own sites is */
/* ENTRY_UFUNC on a GPU: how many neighbouring elements a thread may be given, 1 or UFUNC_LANES (codegen_nvptx.h). */
unsigned codegen_ufunc_lanes(const Module *module);
void codegen_dispose(Module *module); /* NULL is fine */

/* Names and parameters of the LLVM build inside, for `python -m krait info`. */
const char *codegen_llvm_version(void);
const char *codegen_device_math(void); /* "libdevice" or "libclc" */

#endif
