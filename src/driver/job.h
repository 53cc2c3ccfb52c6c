/* job.h: what the files of driver/ share: the Job of one compilation. */
#ifndef KRAIT_DRIVER_JOB_H
#define KRAIT_DRIVER_JOB_H

#include "driver/cache.h"  /* CacheKey */
#include "driver/driver.h" /* Session, Config, Code */

/* Texts of the stages, in the order of the pipeline: KRAIT_DUMP's names.  DUMP_PASS + n: of pass number n. */
typedef enum Dump {
    DUMP_BYTECODE,
    DUMP_IR,
    DUMP_TYPED,
    DUMP_PASS,
    DUMP_DIAGNOSTICS = DUMP_PASS + PASS_COUNT,
    DUMP_LLVM,
    DUMP_OPT,
    DUMP_ASM,
    DUMP_PTX,
    DUMP_COUNT
} Dump;
#define DUMP_BIT(dump) ((uint64_t)1 << (dump))
_Static_assert(DUMP_COUNT <= 64, "a set of dumps is a uint64_t");

/* How many specialisations of a function there are. */
typedef struct Specialised {
    ObjRef function;
    uint32_t count;
} Specialised;

/* The untyped function that calls a function, of the library or a ufunc's, with so many arguments. */
typedef struct RowFunction {
    const Type *callee;
    size_t count;
    const Func *untyped;
} RowFunction;

typedef VEC(DoubleNote) DoubleNotes;

typedef struct Job {
    const Session *session;
    const Config *config;
    CodegenOptions options; /* config's, with the entry's name filled in */
    PyObject *object;       /* what is compiled: a Python function, or what it was decorated as */
    ObjRef function;        /* its number */
    Arena *arena;
    Diag *diag; /* the caller's */
    jmp_buf recovery;
    void *gil; /* what frontend_release_gil gave while it is released, else NULL */
    Frontend frontend;
    InferHost infer_host;
    InferConfig infer_config;
    OpenCalls open; /* infer_config.open */
    Captures captures;
    KeptViews views;
    VEC(FuncInst *) insts; /* every specialisation, in the order found; 0 is the root */
    unsigned widened;      /* how often the root was asked for with other types */
    HashIndex requests;    /* of insts: by function, types and constants */
    VEC(Specialised) specialised;
    HashIndex functions; /* of specialised */
    VEC(RowFunction) row_functions;
    VEC(FuncInst *) queue; /* to be inferred (again) */
    Program program;       /* insts, once they are typed */
    DoubleNotes doubles;   /* if config->note_doubles */
    Module *module;
    HostCode *host;
    CodeImage image; /* what the back end made, or what lay on disk */
    bool cached, from_cache;
    CacheKey key;                  /* when cached */
    Code *code;                    /* what of all this outlives the job */
    bool texts_only;               /* nothing is going to run */
    const char *texts[DUMP_COUNT]; /* those wanted */
    Dump last_text;                /* driver_stage_text: the one asked for, and its copy in the Diag's arena */
    const char *text;
    uint64_t wanted, printed; /* bits of Dump: texts to keep, texts to print on stderr */
    int64_t nanoseconds[STAGE_COUNT], pass_nanoseconds[PASS_COUNT];
} Job;

/* worklist.c */
/* site.caller asks, NULL: it is the root; site.call waits for the result, NULL: nothing does. */
FuncInst *worklist_instance(Job *job, const Func *untyped, const InferRequest *request, CallSite site);
FuncInst *worklist_find(Job *job, const Func *untyped, const InferRequest *request); /* NULL: nobody asked for it yet */
FuncInst *worklist_add(Job *job, const Func *untyped, const InferRequest *request, FuncInst *caller);
const Func *worklist_row_function(Job *job, const Type *callee, size_t count);
bool job_goes_on(Job *job);           /* false: a signal has ended it */
bool worklist_run(Job *job);          /* infers until nothing changes */
bool worklist_check_result(Job *job); /* the result of the root can become a Python object */
/* inline_calls.c */
uint32_t inline_options(Job *job, ObjRef function); /* OPT_INLINE and OPT_ASK_INLINE of its specialisations */
bool inline_calls(Job *job);
/* narrow_sums.c */
void notes_print(Job *job); /* once the functions are typed */
/* doubles.c */
void doubles_find(Job *job); /* fills job->doubles */
/* dump.c */
uint64_t dump_from_environment(void);
int dump_named(const char *name); /* -1: no such stage */
static inline bool dump_wanted(const Job *job, Dump dump) { return job->wanted & DUMP_BIT(dump); }
void dump_text(Job *job, Dump dump, const char *text);
/* The PTX of a kernel that was compiled for the host device, if it is asked for by name. */
void dump_ptx_of_host(const Session *session, const Config *config, PyObject *function, const Type *const *types,
                      size_t count);
void dump_program(Job *job, Dump dump); /* the text of job->program */
/* code.c */
Code *code_from_job(Job *job);

#endif
