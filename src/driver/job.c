/* job.c: the pipeline of one compilation.
 *
 *   Python function --frontend--> untyped SSA --infer--> typed SSA --passes--> typed SSA
 *     --lower--> LLVM module --link--> --optimise--> --emit--> Code
 *
 * In: a function, the types of its arguments, a Config.  Out: Code, or a Diag that says why not.
 *
 * pipeline() is read top to bottom: each stage is one call that takes all of the stage before and is finished before
 * the next starts; it is timed, and what it leaves behind can be dumped (KRAIT_DUMP).  The frontend and inference run
 * with the GIL, since inference asks the frontend for callees; from lowering on, other Python threads run.
 *
 * The Job owns every resource: job_close releases them on the way out of success, refusal and exhausted memory alike,
 * which is what makes the arena's jump (base.h) safe. */
#include "driver/units.h"

#include <string.h> /* memcpy, memset */

#include "codegen_nvptx/codegen_nvptx.h" /* codegen_nvptx_target, codegen_nvptx_emit */
#include "runtime/host/host.h"           /* krait_host_safepoint */

const char *const stage_names[STAGE_COUNT] = {
    [STAGE_FRONTEND] = "frontend", [STAGE_INFER] = "infer",       [STAGE_PASSES] = "passes", [STAGE_LOWER] = "lower",
    [STAGE_LINK] = "link",         [STAGE_OPTIMISE] = "optimise", [STAGE_EMIT] = "emit",
};

/* ---- what inference asks ---- */

static const Func *host_translate(void *self, ObjRef function) {
    Job *job = self;
    return frontend_translate(&job->frontend, function);
}

static FuncInst *host_instance(void *self, const InferRequest *request, CallSite site) {
    Job *job = self;
    const Func *untyped = frontend_translate(&job->frontend, request->function);
    return untyped ? worklist_instance(job, untyped, request, site) : NULL;
}

static FuncInst *host_row_instance(void *self, const Type *callee, const Type *const *types, const Const *const *konsts,
                                   size_t count, CallSite site) {
    Job *job = self;
    const InferRequest request = {0, types, konsts, NULL};
    if (callee->kind == TY_FUNC) site.call = NULL;
    return worklist_instance(job, worklist_row_function(job, callee, count), &request, site);
}

static bool host_ufunc(void *self, ObjRef function, UfuncShape *shape) {
    const Objects *objects = ((Job *)self)->session->objects;
    return objects_ufunc(objects, objects_get(objects, function), shape);
}

static bool host_looped(void *self, const LoopedRequest *request, ObjRef *function) {
    return frontend_looped(&((Job *)self)->frontend, request, function);
}

static bool host_signature(void *self, ObjRef function, size_t index, InferSignature *signature) {
    const Objects *objects = ((Job *)self)->session->objects;
    ObjSignature found;
    TRY(objects_signature(objects, objects_get(objects, function), index, &found));
    *signature = (InferSignature){found.result, found.args, found.count};
    return true;
}

static ObjRef host_prelude(void *self, const char *name) {
    Job *job = self;
    return frontend_prelude(&job->frontend, name);
}

static const StructClass *host_struct_class(void *self, ObjRef object) {
    Job *job = self;
    return frontend_struct_class(&job->frontend, object);
}

static Member host_member(void *self, ObjRef class, ObjRef after, const char *name) {
    Job *job = self;
    return frontend_member(&job->frontend, class, after, name);
}

static bool host_answers_itself(void *self, const Type *type, const char *name) {
    Job *job = self;
    return frontend_answers_itself(&job->frontend, type, name);
}

static const Const *host_members(void *self, ObjRef class, MembersWhat what, const char *attribute) {
    Job *job = self;
    return frontend_members(&job->frontend, class, what, attribute);
}

static bool host_enum_class(void *self, ObjRef class, EnumClass *enumeration) {
    Job *job = self;
    return frontend_enum_class(&job->frontend, class, enumeration);
}

static bool host_overload(void *self, const OverloadRequest *request, ObjRef *function) {
    Job *job = self;
    return frontend_overload(&job->frontend, request, function);
}

static const char *host_object_name(void *self, ObjRef object) {
    Job *job = self;
    return frontend_object_name(&job->frontend, object);
}

static const char *host_no_attribute(void *self, ObjRef object, const char *name, const char **hint) {
    Job *job = self;
    return frontend_no_attribute(&job->frontend, object, name, hint);
}

static ClassAnswer host_is_instance(void *self, const Type *type, const Type *meant) {
    Job *job = self;
    return frontend_is_instance(&job->frontend, type, meant);
}

static ClassAnswer host_is_subclass(void *self, const Type *type, const Type *meant) {
    Job *job = self;
    return frontend_is_subclass(&job->frontend, type, meant);
}

static bool host_is_sequence(void *self, const Type *type) {
    Job *job = self;
    return frontend_is_sequence(&job->frontend, type);
}

static const Const *host_class_of(void *self, const Type *type) {
    Job *job = self;
    return frontend_class_constant(&job->frontend, type);
}

static const char *host_name_of(void *self, const Type *type, const char *attribute) {
    Job *job = self;
    return frontend_own_name(&job->frontend, type, attribute);
}

static const Type *host_declared(void *self, const Type *class, const char *name) {
    Job *job = self;
    return frontend_declared(&job->frontend, class, name);
}

static const Const *host_ufunc_attribute(void *self, const Type *type, const char *attribute) {
    Job *job = self;
    return frontend_ufunc_attribute(&job->frontend, type, attribute);
}

/* ---- the stages ---- */

typedef struct Request {
    const Type *const *types;
    const Const *const *konsts;
    size_t count;
} Request;

/* A symbol that every assembler takes: "<lambda>" and letters beyond ASCII are valid names in Python only. */
static const char *entry_name(Job *job, const char *name) {
    char *symbol = arena_printf(job->arena, "krait_%s", name);
    for (char *c = symbol; *c; c++) {
        bool fine = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!fine) *c = '_';
    }
    return symbol;
}

static bool out_of_memory(Job *job) {
    PyErr_Clear();
    return diag_fail(job->diag, DIAG_MEMORY, NULL, (Span){0}, "out of memory while compiling");
}

/* Numbers for the function and for what the types of its arguments mention, as long as the job and its Code live. */
static bool hold_objects(Job *job, const Request *request) {
    Objects *objects = job->session->objects;
    ObjHold *hold = &job->frontend.hold;
    job->function = objects_hold(objects, hold, job->object);
    bool held = job->function != 0;
    if (job->config->decorating) job->frontend.decorating = job->function;
    for (size_t i = 0; held && i < request->count; i++) held = objects_hold_type(objects, hold, request->types[i]);
    return held || out_of_memory(job);
}

static bool stage_frontend(Job *job, const Request *request) {
    TRY(hold_objects(job, request));
    const Func *untyped = frontend_translate(&job->frontend, job->function);
    TRY(untyped);
    FAIL_IF(untyped->nparams != request->count, job->diag, BAD_ARGUMENTS, untyped->source, untyped->span,
            "%s takes %u arguments, %zu were given", untyped->name, untyped->nparams, request->count);
    if (dump_wanted(job, DUMP_BYTECODE))
        dump_text(job, DUMP_BYTECODE, frontend_disassemble(&job->frontend, job->function));
    if (dump_wanted(job, DUMP_IR)) {
        Buf text;
        buf_init(&text, job->arena);
        func_print(&text, untyped);
        dump_text(job, DUMP_IR, text.text);
    }
    if (!job->options.entry_name) job->options.entry_name = entry_name(job, untyped->name);
    const InferRequest root = {job->function, request->types, request->konsts, NULL};
    return worklist_instance(job, untyped, &root, (CallSite){0}) != NULL;
}

static const Target *job_target(const Job *job) {
    return job->config->target == TARGET_NVPTX ? codegen_nvptx_target() : codegen_cpu_target();
}

static bool stage_infer(Job *job) {
    TRY(worklist_run(job));
    if (!units_keep(job)) return out_of_memory(job);
    TRY(inline_calls(job));
    job->program = (Program){
        .arena = job->arena,
        .types = job->session->types,
        .diag = job->diag,
        .insts = job->insts.data,
        .count = job->insts.len,
        .parallel = job->options.parallel,
        .index_raises = codegen_index_raises(job_target(job), &job->options),
        .watched = job->options.races,
        .uninterrupted = job->options.uninterrupted,
        .called_once = job->config->target == TARGET_HOST && job->options.entry == ENTRY_FUNCTION,
        .declines = job->options.entry == ENTRY_FUNCTION && job->options.facts & FACT_IN_RANGE,
        .brief = job->options.facts & FACT_BRIEF,
        .captures = &job->captures,
        .small = job->config->kernel && job->options.facts & FACT_SMALL,
    };
    memcpy(job->program.launched, job->options.block, sizeof job->program.launched);
    dump_program(job, DUMP_TYPED);
    notes_print(job);
    if (job->config->note_doubles) doubles_find(job);
    return true;
}

static void pass_ran(void *self, PassId pass, int64_t nanoseconds) {
    Job *job = self;
    job->pass_nanoseconds[pass] = nanoseconds;
    dump_program(job, (Dump)(DUMP_PASS + pass));
}

static bool stage_passes(Job *job) {
    const Config *config = job->config;
    PassTarget target = config->target == TARGET_NVPTX ? PASS_ON_GPU
                        : config->kernel               ? PASS_ON_HOST_KERNEL
                                                       : PASS_ON_HOST;
    Buf diagnostics;
    TRY(worklist_check_result(job));
    buf_init(&diagnostics, job->arena);
    buf_puts(&diagnostics, "");
    if (job->program.parallel && dump_wanted(job, DUMP_DIAGNOSTICS)) job->program.diagnostics = &diagnostics;
    TRY(passes_run(&job->program, target, &(PassWatch){job, pass_ran}));
    if (job->program.diagnostics) dump_text(job, DUMP_DIAGNOSTICS, diagnostics.text);
    job->program.diagnostics = NULL;
    return true;
}

/* Whether an image may come from the disk: not if somebody wants to read what it is made from. */
static bool may_be_cached(const Job *job) {
    const uint64_t texts = DUMP_BIT(DUMP_OPT) | DUMP_BIT(DUMP_ASM) | DUMP_BIT(DUMP_PTX);
    return cache_wanted(job->config) && !job->texts_only && !(job->wanted & texts);
}

static bool stage_lower(Job *job) {
    job->options.relocatable = may_be_cached(job);
    TRY(codegen_lower(&job->module, job_target(job), &job->options, &job->program));
    if (dump_wanted(job, DUMP_LLVM)) dump_text(job, DUMP_LLVM, codegen_text(job->module, job->arena));
    if (!may_be_cached(job)) return true;
    job->cached = cache_key(&job->key, job->config, codegen_text(job->module, job->arena), job->arena);
    job->from_cache = job->cached && cache_load(&job->key, job->arena, &job->image);
    return true;
}

static bool stage_optimise(Job *job) {
    TRY(codegen_optimise(job->module, job->diag));
    if (dump_wanted(job, DUMP_OPT)) dump_text(job, DUMP_OPT, codegen_text(job->module, job->arena));
    return true;
}

static bool emit_ptx(Job *job) {
    job->image.bytes = codegen_nvptx_emit(job->module, job->arena, &job->image.size, job->diag);
    TRY(job->image.bytes);
    if (dump_wanted(job, DUMP_PTX) || dump_wanted(job, DUMP_ASM)) {
        dump_text(job, DUMP_PTX, job->image.bytes);
        job->texts[DUMP_ASM] = job->image.bytes;
    }
    return true;
}

static bool emit_object(Job *job) {
    if (dump_wanted(job, DUMP_ASM)) {
        const char *assembly = codegen_cpu_assembly(job->module, job->arena, job->diag);
        TRY(assembly);
        dump_text(job, DUMP_ASM, assembly);
    }
    return job->texts_only || codegen_cpu_emit(job->module, job->options.entry_name, &job->image, job->diag);
}

/* What people read of an entry on disk: the function and the types of its arguments. */
static const char *cache_label(Job *job) {
    const FuncInst *root = job->insts.data[0];
    Buf text;
    buf_init(&text, job->arena);
    buf_printf(&text, "%s %s(", job->config->target == TARGET_NVPTX ? "GPU" : "host", root->untyped->source->function);
    for (size_t i = 0; i < root->untyped->nparams; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", type_text(job->arena, root->types[i]));
    buf_printf(&text, ") %s", root->untyped->source->file);
    return text.text;
}

/* The image, if it does not come from the disk, and code that can be called. */
static bool stage_emit(Job *job) {
    bool gpu = job->config->target == TARGET_NVPTX;
    if (!job->from_cache) TRY(gpu ? emit_ptx(job) : emit_object(job));
    if (job->texts_only) return true;
    if (job->cached && !job->from_cache) cache_store(&job->key, &job->image, cache_label(job));
    if (!gpu) job->host = codegen_cpu_link(job->module, &job->image, job->diag);
    return gpu || job->host != NULL;
}

/* Asked between two functions and between two stages: the exception that a signal's handler raised is set then.  Not
 * while code is generated: who forks holds the GIL and waits until that is over, so nobody in it waits for the GIL. */
bool job_goes_on(Job *job) {
    return job->gil || !krait_host_safepoint() ||
           diag_fail(job->diag, DIAG_PYTHON, NULL, (Span){0}, "a signal has ended the compilation");
}

/* One line of the pipeline: times the call; ends the pipeline if it fails, or is the last one wanted. */
#define STAGE(number, call)                                      \
    do {                                                         \
        int64_t start = clock_nanoseconds();                     \
        bool fine = job_goes_on(job) && (call);                  \
        job->nanoseconds[number] += clock_nanoseconds() - start; \
        if (!fine || (number) == until) return fine;             \
    } while (0)

/* The way of a function through the house.  `until` is the last stage wanted. */
static bool pipeline(Job *job, const Request *request, enum Stage until) {
    STAGE(STAGE_FRONTEND, stage_frontend(job, request));
    STAGE(STAGE_INFER, stage_infer(job));
    STAGE(STAGE_PASSES, stage_passes(job));
    job->gil = frontend_release_gil(); /* no Python object is touched from here on */
    codegen_enter();
    STAGE(STAGE_LOWER, stage_lower(job));
    STAGE(STAGE_LINK, job->from_cache || codegen_link(job->module, job->diag));
    STAGE(STAGE_OPTIMISE, job->from_cache || stage_optimise(job));
    STAGE(STAGE_EMIT, stage_emit(job));
    return true;
}

/* ---- life of a job ---- */

static void job_take_gil(Job *job) {
    void *saved = job->gil;
    job->gil = NULL;
    if (!saved) return;
    codegen_leave();
    frontend_acquire_gil(saved);
}

static void job_out_of_memory(Job *job) {
    Diag *diag = job->diag; /* no allocation here: there is no memory */
    diag->failed = true;
    diag->code = DIAG_MEMORY;
    diag->source = NULL;
    diag->message = "out of memory while compiling";
    diag->hint = NULL;
    diag->notes = NULL;
}

static bool job_init(Job *job, const Session *session, const Config *config, PyObject *function, Diag *diag) {
    memset(job, 0, sizeof *job);
    job->session = session;
    job->config = config;
    job->options = config->codegen;
    job->object = function;
    job->diag = diag;
    job->arena = arena_new();
    if (!job->arena) job_out_of_memory(job);
    return job->arena != NULL;
}

static void job_open(Job *job) {
    frontend_open(&job->frontend, job->arena, job->session->types, job->session->objects, job->diag);
    job->frontend.readonly_globals = job->config->kernel;
    job->frontend.reads_device_arrays = job->config->kernel || job->config->device_arrays;
    job->frontend.left = job->session->units ? units_function : NULL;
    job->frontend.left_self = job->session->units;
    if (!job->config->kernel && job->options.entry == ENTRY_FUNCTION) job->frontend.captures = &job->captures;
    job->infer_host = (InferHost){.self = job,
                                  .translate = host_translate,
                                  .instance = host_instance,
                                  .row_instance = host_row_instance,
                                  .ufunc = host_ufunc,
                                  .signature = host_signature,
                                  .prelude = host_prelude,
                                  .struct_class = host_struct_class,
                                  .member = host_member,
                                  .answers_itself = host_answers_itself,
                                  .members = host_members,
                                  .enum_class = host_enum_class,
                                  .overload = host_overload,
                                  .overloads = objects_overloaded(job->session->objects),
                                  .looped = host_looped,
                                  .object_name = host_object_name,
                                  .no_attribute = host_no_attribute,
                                  .is_instance = host_is_instance,
                                  .is_subclass = host_is_subclass,
                                  .is_sequence = host_is_sequence,
                                  .class_of = host_class_of,
                                  .name_of = host_name_of,
                                  .declared = host_declared,
                                  .ufunc_attribute = host_ufunc_attribute};
    job->infer_config = (InferConfig){job->config->promotion,
                                      job->config->kernel,
                                      &job->captures,
                                      job->config->codegen.compute_capability,
                                      &job->infer_host,
                                      job->config->codegen.entry == ENTRY_UFUNC,
                                      &job->views,
                                      &job->open};
}

/* After a failure: what the Diag says about the source moves to the Diag's own arena, with the lines themselves. */
static void job_explain(Job *job) {
    job_take_gil(job);
    frontend_attach_source(&job->frontend);
}

static void job_close(Job *job) {
    job_take_gil(job);
    codegen_dispose(job->module);
    host_code_release(job->host);
    code_release(job->code);
    if (job->frontend.arena) frontend_close(&job->frontend);
    arena_free(job->arena);
}

/* Opens the job, runs the pipeline up to `until`, then `finish`.  The Diag's arena is the caller's, but while the job
 * runs, running out of it ends the job like running out of its own.  The caller takes the result and closes the job. */
static void job_run(Job *job, const Request *request, enum Stage until, bool (*finish)(Job *)) {
    jmp_buf *outer = arena_on_exhaustion(job->diag->arena, &job->recovery);
    if (setjmp(job->recovery) == 0) {
        arena_on_exhaustion(job->arena, &job->recovery);
        job_open(job);
        if (!pipeline(job, request, until) || !finish(job)) {
            if (job->diag->failed && !job->diag->notes) typeinfer_advise(&job->infer_config, job->diag);
            job_explain(job);
        }
        if (type_table_exhausted(job->session->types)) job_out_of_memory(job);
    } else {
        job_out_of_memory(job);
    }
    job_take_gil(job);
    arena_on_exhaustion(job->diag->arena, outer);
}

/* What outlives the job is copied out of it. */
static bool finish_code(Job *job) {
    job->code = code_from_job(job);
    return true;
}

static bool finish_text(Job *job) {
    const char *text = job->texts[job->last_text];
    FAIL_IF(!text, job->diag, PARSE, NULL, (Span){0}, "the stage has no text for this target");
    job->text = arena_strdup(job->diag->arena, text);
    return true;
}

Code *driver_compile(const Session *session, const Config *config, PyObject *function, const Type *const *types,
                     const Const *const *konsts, size_t count, Diag *diag) {
    Job job;
    const Request request = {types, konsts, count};
    if (!job_init(&job, session, config, function, diag)) return NULL;
    job.wanted = job.printed = dump_from_environment();
    if (config->keep_text)
        job.wanted |= DUMP_BIT(DUMP_TYPED) | DUMP_BIT(DUMP_DIAGNOSTICS) | DUMP_BIT(DUMP_LLVM) | DUMP_BIT(DUMP_OPT) |
                      DUMP_BIT(DUMP_ASM);
    job_run(&job, &request, STAGE_EMIT, finish_code);
    Code *code = diag->failed ? NULL : job.code;
    if (code) job.code = NULL;
    bool ptx = code && job.printed & DUMP_BIT(DUMP_PTX) && config->target == TARGET_HOST && config->kernel;
    job_close(&job);
    if (ptx) dump_ptx_of_host(session, config, function, types, count);
    return code;
}

static enum Stage stage_of(Dump dump) {
    switch (dump) {
    case DUMP_BYTECODE:
    case DUMP_IR: return STAGE_FRONTEND;
    case DUMP_TYPED: return STAGE_INFER;
    case DUMP_LLVM: return STAGE_LOWER;
    case DUMP_OPT: return STAGE_OPTIMISE;
    case DUMP_ASM:
    case DUMP_PTX: return STAGE_EMIT;
    default: return STAGE_PASSES;
    }
}

const char *driver_stage_text(const Session *session, const Config *config, PyObject *function,
                              const Type *const *types, size_t count, const char *name, Diag *diag) {
    Job job;
    const Request request = {types, NULL, count};
    int dump = dump_named(name);
    FAIL_IF(dump < 0, diag, PARSE, NULL, (Span){0}, "no stage is named '%s'", name);
    if (!job_init(&job, session, config, function, diag)) return NULL;
    job.wanted = DUMP_BIT(dump);
    job.last_text = (Dump)dump;
    job.texts_only = true;
    job_run(&job, &request, stage_of(job.last_text), finish_text);
    const char *text = diag->failed ? NULL : job.text;
    job_close(&job);
    return text;
}
