/* target.c: the host's answers to the questions of codegen/target.h.
 *
 * In: the processor this process runs on.  Out: the Target that lowering asks.
 *
 * A CUDA thread's place is in a HostThread that every generated function of a kernel is handed (its one hidden
 * parameter).  In a kernel without barriers that is a local variable of the loop over threads (entry_kernel.c), which
 * LLVM takes apart into registers once the function is inlined; on fibers it lies at the head of the fiber.  An access
 * outside an array is noted by a minimum over (place << SITE_BITS | site), which the vectoriser knows as a reduction.
 * Where blocks are joined (thread_order) threadIdx of the inner axis goes on into the next blocks: nobody sees it by
 * itself. */
#include <pthread.h> /* pthread_once */
#include <stdio.h>   /* snprintf */
#include <string.h>  /* strncmp */

#include <llvm-c/Support.h> /* LLVMParseCommandLineOptions */

#include "codegen/bitcode.h" /* krait_bc_rtlib_host */
#include "codegen_cpu/cpu.h"

/* ---- the processor ---- */

/* What LLVM says about this processor, asked once: it costs a tenth of a millisecond. */
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;
static struct Processor {
    char *triple, *name, *features;
    LLVMTargetRef target;
    char error[128];
} processor;

/* LLVM's scheduler compares each access to memory of a block with all before it, until there are so many; a tuple of a
 * thousand items took a second.  LLVM's own number is 1000. */
static void bound_scheduler(void) {
    static const char *const options[] = {"krait", "-dag-maps-huge-region=128"};
    LLVMParseCommandLineOptions(2, options, NULL);
}

static void processor_detect(void) {
    bound_scheduler();
#if defined(__x86_64__)
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
#elif defined(__aarch64__)
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
#else
#error "Krait runs on x86-64 and aarch64"
#endif
    processor.triple = LLVMGetDefaultTargetTriple();
    processor.name = LLVMGetHostCPUName();
    processor.features = LLVMGetHostCPUFeatures();
    char *message = NULL;
    if (LLVMGetTargetFromTriple(processor.triple, &processor.target, &message)) {
        processor.target = NULL;
        snprintf(processor.error, sizeof processor.error, "%s", message ? message : "unknown target");
    }
    LLVMDisposeMessage(message);
}

static const struct Processor *processor_get(void) {
    pthread_once(&processor_once, processor_detect);
    return &processor;
}

const char *codegen_cpu_name(void) { return processor_get()->name; }
const char *codegen_cpu_features(void) { return processor_get()->features; }

/* Features stand one behind the other, "+avx,-avx512f,...", in any order. */
bool host_has_avx(void) {
    static const char name[] = "+avx";
    for (const char *at = codegen_cpu_features(); (at = strstr(at, name)); at++)
        if (!at[sizeof name - 1] || at[sizeof name - 1] == ',') return true;
    return false;
}

enum { LEVELS = 4 };
static IdleMachines idle_machines[LEVELS];

static int level_of(const CodegenOptions *options) {
    return options->opt_level < 0 ? 0 : options->opt_level >= LEVELS ? LEVELS - 1 : options->opt_level;
}

static LLVMTargetMachineRef host_machine(const CodegenOptions *options, Diag *diag) {
    static const LLVMCodeGenOptLevel levels[LEVELS] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                       LLVMCodeGenLevelDefault, LLVMCodeGenLevelDefault};
    const struct Processor *p = processor_get();
    FAIL_IF(!p->target, diag, LLVM, NULL, (Span){0}, "LLVM does not know the processor %s: %s", p->triple, p->error);
    LLVMTargetMachineRef machine = machines_take(&idle_machines[level_of(options)]);
    if (!machine)
        machine = LLVMCreateTargetMachine(p->target, p->triple, p->name, p->features, levels[level_of(options)],
                                          LLVMRelocPIC, LLVMCodeModelSmall);
    FAIL_IF(!machine, diag, LLVM, NULL, (Span){0}, "LLVM made no target machine for %s", p->name);
    return machine;
}

static void host_release_machine(LLVMTargetMachineRef machine, const CodegenOptions *options) {
    machines_keep(&idle_machines[level_of(options)], machine);
}

/* ---- the state of a thread ---- */

static unsigned host_hidden_params(Lower *l, LLVMTypeRef types[MAX_HIDDEN]) {
    if (l->m->options.entry != ENTRY_KERNEL) return 0;
    types[0] = l->ptr; /* HostThread * */
    return 1;
}

static LLVMValueRef field_address(Lower *l, LLVMValueRef structure, size_t offset) {
    return l_offset(l, structure, l_i64(l, (int64_t)offset));
}

/* The grid's fields do not change while a block's code runs. */
static LLVMValueRef grid_load(Lower *l, LLVMTypeRef type, size_t offset, unsigned align) {
    LLVMMetadataRef empty = LLVMMDNodeInContext2(l->context, NULL, 0);
    LLVMValueRef grid = l_raw_load(l, l->ptr, field_address(l, l->hidden[0], offsetof(HostThread, grid)), 8);
    l_set_metadata(l, grid, "nonnull", empty);
    LLVMValueRef value = l_raw_load(l, type, field_address(l, grid, offset), align);
    l_set_metadata(l, value, "invariant.load", empty);
    return value;
}

static LLVMValueRef thread_load(Lower *l, size_t offset, int64_t beyond) {
    LLVMValueRef value = l_raw_load(l, l->i32, field_address(l, l->hidden[0], offset), 4);
    l_metadata_range(l, value, 0, beyond);
    return value;
}

static int64_t row_limit(const Lower *l) { return l->m->joins_blocks ? MAX_ROW : MAX_BLOCK_THREADS; }

static LLVMValueRef special_grid(Lower *l, size_t offset, int64_t least, int64_t beyond) {
    LLVMValueRef value = grid_load(l, l->i32, offset, 4);
    l_metadata_range(l, value, least, beyond);
    return value;
}

static LLVMValueRef host_special(Lower *l, Special which);

static LLVMValueRef special_lane(Lower *l) {
    LLVMValueRef nx = host_special(l, SPECIAL_BLOCK_DIM_X), ny = host_special(l, SPECIAL_BLOCK_DIM_Y);
    LLVMValueRef row = l_nswadd(l, host_special(l, SPECIAL_THREAD_Y),
                                l_nswmul(l, host_special(l, SPECIAL_THREAD_Z), ny));
    LLVMValueRef number = l_nswadd(l, host_special(l, SPECIAL_THREAD_X), l_nswmul(l, row, nx));
    return l_and(l, number, l_i32(l, WARP_SIZE - 1));
}

/* Threads of a block along an axis, if the code is for blocks of one size alone; 0: for any. */
static int64_t known_threads(const Lower *l, unsigned axis) {
    return l->m->options.facts & FACT_FITS ? l->m->block[axis] : 0;
}

static LLVMValueRef special_place(Lower *l, unsigned axis, size_t offset) {
    int64_t known = known_threads(l, axis), joined = l->m->inner_axis == axis ? row_limit(l) : MAX_BLOCK_THREADS;
    return known == 1 ? l_i32(l, 0) : thread_load(l, offset, known ? known : joined);
}

static LLVMValueRef special_threads(Lower *l, unsigned axis, size_t offset) {
    int64_t known = known_threads(l, axis);
    return known ? l_i32(l, known) : special_grid(l, offset, 1, MAX_BLOCK_THREADS + 1);
}

static LLVMValueRef host_special(Lower *l, Special which) {
    const int64_t blocks = INT32_MAX; /* of gridDim the most is 2^31 - 1 */
    switch (which) {
    case SPECIAL_THREAD_X: return special_place(l, 0, offsetof(HostThread, x));
    case SPECIAL_THREAD_Y: return special_place(l, 1, offsetof(HostThread, y));
    case SPECIAL_THREAD_Z: return special_place(l, 2, offsetof(HostThread, z));
    case SPECIAL_BLOCK_X: return special_grid(l, offsetof(HostGrid, index_x), 0, blocks);
    case SPECIAL_BLOCK_Y: return special_grid(l, offsetof(HostGrid, index_y), 0, blocks);
    case SPECIAL_BLOCK_Z: return special_grid(l, offsetof(HostGrid, index_z), 0, blocks);
    case SPECIAL_BLOCK_DIM_X: return special_threads(l, 0, offsetof(HostGrid, block_x));
    case SPECIAL_BLOCK_DIM_Y: return special_threads(l, 1, offsetof(HostGrid, block_y));
    case SPECIAL_BLOCK_DIM_Z: return special_threads(l, 2, offsetof(HostGrid, block_z));
    case SPECIAL_GRID_DIM_X: return special_grid(l, offsetof(HostGrid, grid_x), 1, blocks + 1);
    case SPECIAL_GRID_DIM_Y: return special_grid(l, offsetof(HostGrid, grid_y), 1, blocks + 1);
    case SPECIAL_GRID_DIM_Z: return special_grid(l, offsetof(HostGrid, grid_z), 1, blocks + 1);
    case SPECIAL_LANE: return special_lane(l);
    case SPECIAL_WARP_SIZE:
    case SPECIAL_COUNT: break;
    }
    return l_i32(l, WARP_SIZE);
}

/* ---- accesses, barriers, memory ---- */

static AccessPolicy host_access(const CodegenOptions *options) {
    if (options->boundscheck) return ACCESS_RAISE;
    return options->entry == ENTRY_KERNEL ? ACCESS_SKIP : ACCESS_TRUST;
}

static void host_bad_access(Lower *l, LLVMValueRef inside, LLVMValueRef site) {
    LLVMValueRef address = field_address(l, l->hidden[0], offsetof(HostThread, bad));
    LLVMValueRef place = thread_load(l, offsetof(HostThread, place), row_limit(l));
    LLVMValueRef limited[] = {site, l_i32(l, (1u << SITE_BITS) - 1)};
    /* Known not to be negative: so where `inside` is known to be true, nothing is left of this. */
    LLVMValueRef first = LLVMBuildShl(l->b, place, l_i32(l, SITE_BITS), "");
    LLVMSetNSW(first, true);
    LLVMSetNUW(first, true);
    LLVMValueRef key = l_or(l, first, l_intrinsic(l, "llvm.umin", l->i32, limited, 2));
    /* Not a select of INT32_MAX: LLVM would turn that into a branch around the minimum, which is no reduction. */
    LLVMValueRef fine = LLVMBuildLShr(l->b, LLVMBuildSExt(l->b, inside, l->i32, ""), l_i32(l, 1), "");
    LLVMValueRef args[] = {l_raw_load(l, l->i32, address, 4), l_or(l, fine, key)};
    l_raw_store(l, l_intrinsic(l, "llvm.smin", l->i32, args, 2), address, 4);
}

static void host_end_thread(Lower *l) { LLVMBuildUnreachable(l->b); } /* functions return a status here: never asked */

static void host_leave(Lower *l) {
    l_raw_store(l, l_i32(l, 1), field_address(l, l->hidden[0], offsetof(HostThread, left)), 4);
}

/* Calls the run time with the thread and the barrier's site before the arguments given; such a kernel's threads are
 * fibers. */
static LLVMValueRef barrier_call(Lower *l, const Value *at, const char *symbol, LLVMTypeRef result, LLVMValueRef a,
                                 LLVMValueRef b) {
    LLVMValueRef args[] = {l->hidden[0], l_i32(l, l_access_site(l, at, 0)), a, b};
    LLVMValueRef call = l_call_named(l, symbol, result, args, b ? 4 : a ? 3 : 2);
    l_call_attribute(l, call, -1, "nounwind", 0);
    l->m->has_barriers = true;
    return call;
}

/* Threads that are watched are fibers, so that each is somebody. */
static void host_watch(Lower *l, const Value *at, LLVMValueRef pointer, uint64_t bytes, RaceAccess kind) {
    if (l->m->options.entry != ENTRY_KERNEL) return;
    LLVMValueRef args[] = {l->hidden[0], pointer ? pointer : l_null(l->ptr), l_i32(l, (int64_t)bytes),
                           l_i32(l, l_access_site(l, at, 0)), l_i32(l, kind)};
    l_call_attribute(l, l_call_named(l, "krait_host_access", l->v, args, COUNT_OF(args)), -1, "nounwind", 0);
    l->m->has_barriers = true;
}

static void host_barrier(Lower *l, const Value *at) { barrier_call(l, at, "krait_host_barrier", l->v, NULL, NULL); }

static void host_grid_barrier(Lower *l, const Value *at) {
    barrier_call(l, at, "krait_host_grid_barrier", l->v, NULL, NULL);
}

static LLVMValueRef host_barrier_vote(Lower *l, const Value *at, BarrierVote vote, LLVMValueRef predicate) {
    LLVMValueRef truth = LLVMBuildZExt(l->b, predicate, l->i32, "");
    return barrier_call(l, at, "krait_host_barrier_vote", l->i32, l_i32(l, vote), truth);
}

/* The run time takes and gives 64 bits. */
static LLVMValueRef host_warp(Lower *l, const Value *at, WarpOp op, LLVMValueRef mask, LLVMValueRef value,
                              LLVMValueRef operand) {
    bool is_signed = op == WARP_MIN || op == WARP_MAX, votes = op >= WARP_ALL && op <= WARP_EQ;
    bool gives_lanes = op == WARP_ACTIVE || op == WARP_BALLOT || op == WARP_MATCH_ANY || op == WARP_MATCH_ALL;
    LLVMTypeRef type = gives_lanes ? l->i32 : votes ? l->i1 : value ? LLVMTypeOf(value) : NULL;
    LLVMValueRef wide = !value      ? l_i64(l, 0)
                        : is_signed ? LLVMBuildSExt(l->b, value, l->i64, "")
                                    : LLVMBuildZExt(l->b, value, l->i64, "");
    LLVMValueRef args[] = {l->hidden[0], l_i32(l, l_access_site(l, at, 0)), l_i32(l, op), mask ? mask : l_i32(l, 0),
                           wide,         operand ? operand : l_i32(l, 0)};
    LLVMValueRef result = l_call_named(l, "krait_host_warp", l->i64, args, COUNT_OF(args));
    l_call_attribute(l, result, -1, "nounwind", 0);
    l->m->has_barriers = true;
    return !type || type == l->i64 ? result : LLVMBuildTrunc(l->b, result, type, "");
}

/* A thread that rests waits for another, perhaps of its own block. */
static void host_rest(Lower *l, LLVMValueRef nanoseconds) {
    (void)nanoseconds;
    l_call_attribute(l, l_call_named(l, "krait_host_yield", l->v, l->hidden, 1), -1, "nounwind", 0);
    l->m->has_barriers = true;
}

/* The caches of a processor need no hint; what is loaded anew is not kept in a register either. */
static LLVMValueRef host_cached(Lower *l, CacheHint hint, LLVMTypeRef bits, LLVMValueRef pointer, LLVMValueRef value) {
    unsigned align = LLVMGetIntTypeWidth(bits) / 8;
    if (value) return l_raw_store(l, value, pointer, align);
    LLVMValueRef load = l_raw_load(l, bits, pointer, align);
    if (hint == CACHE_LOAD_CV) LLVMSetVolatile(load, true);
    return load;
}

static void host_fence(Lower *l, FenceScope scope) {
    (void)scope;
    LLVMBuildFence(l->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
}

static void host_print(Lower *l, LLVMValueRef site, const Type *type, LLVMValueRef values) {
    LLVMValueRef room = l_alloca_value(l, type, "printed"),
                 prints = grid_load(l, l->ptr, offsetof(HostGrid, prints), 8);
    l_store(l, type, values, room);
    LLVMValueRef args[] = {prints, site, room, l_i32(l, (int64_t)type_size(type))};
    l_call_attribute(l, l_call_named(l, "krait_host_print", l->v, args, COUNT_OF(args)), -1, "nounwind", 0);
}

static LLVMValueRef host_shared_array(Lower *l, const Value *at, uint64_t bytes, unsigned align) {
    (void)at, (void)align;
    LLVMValueRef base = grid_load(l, l->ptr, offsetof(HostGrid, shared), 8);
    if (bytes == 0) return base;
    /* Static arrays grow downwards from the dynamic part: their sum is not known before the last is met. */
    return l_offset(l, base, l_i64(l, -(int64_t)l->m->shared_bytes));
}

static LLVMValueRef host_dynamic_shared_bytes(Lower *l) {
    return LLVMBuildZExt(l->b, grid_load(l, l->i32, offsetof(HostGrid, dynamic_bytes), 4), l->i64, "");
}

static LLVMValueRef host_const_data(Lower *l, LLVMValueRef data, uint64_t bytes) {
    (void)bytes;
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(data), "items");
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

static LLVMValueRef host_const_array(Lower *l, const Value *at, const Type *type, const ArrayConst *array) {
    (void)at;
    (void)type;
    return l_address(l, array->data); /* the array is kept alive by the code's guards */
}

/* ---- the rest ---- */

/* A kernel's threads have it in their HostThread; any other entry leaves it in the exception buffer, which
 * nobody reads before it is written to and the call is over. */
static LLVMValueRef host_recursion(Lower *l) {
    return l->m->options.entry == ENTRY_KERNEL ? field_address(l, l->hidden[0], offsetof(HostThread, stack_limit))
                                               : l->exception;
}

static void host_begin_call(Lower *l) { host_note_stack_limit(l, l->exception, THREAD_RECURSION); }

/* Level 0 too has local variables in registers and does nothing twice; all of it linear in a function's size. */
#define LEAST                                                                                                     \
    "always-inline,function(sroa,early-cse,simplifycfg<no-simplify-cond-branch>,instcombine<no-verify-fixpoint>," \
    "early-cse,dce),globaldce"

/* LLVM's own pipeline would simplify a function of ours by itself first, and again inside its only caller.  What nobody
 * uses goes before it: of a large tuple that is put together in vain, SCCP would keep all items at each step. */
#define INLINED "always-inline,cgscc(inline),globaldce,function(dce),"

static const char *host_passes(const CodegenOptions *options) {
    static const char *const pipelines[LEVELS] = {LEAST, "default<O1>", INLINED "default<O2>", INLINED "default<O3>"};
    return pipelines[level_of(options)];
}

/* Of what most passes do, a loop around a function without loops needs little: what it calls put in, its branches made
 * selections, and vectors. */
#define STRAIGHT                                                                                        \
    "always-inline,cgscc(inline),globaldce,function(sroa,early-cse,simplifycfg,"                        \
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),loop-vectorize,early-cse," \
    "instcombine<no-verify-fixpoint>,simplifycfg)"

static const char *host_straight_passes(const CodegenOptions *options) {
    return level_of(options) < 2 ? host_passes(options) : STRAIGHT;
}

/* Loops over whole arrays are free of tests and known to step by one item from the start: of what finds out about loops
 * that somebody wrote, they need those over small arrays laid out, which then live in registers. */
#define NESTS                                                                                                         \
    "always-inline,cgscc(inline),globaldce,function(sroa,early-cse<memssa>,simplifycfg,"                              \
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),simplifycfg,"                            \
    "instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion,loop-unroll-full),sroa,gvn,sccp,adce,loop-vectorize," \
    "instcombine<no-verify-fixpoint>,early-cse,simplifycfg,loop-mssa(licm),dce)"

static const char *host_nest_passes(const CodegenOptions *options) {
    return level_of(options) < 2 ? host_passes(options) : NESTS;
}

/* What LLVM's own pipeline does without making vectors of the scalars of a block, which it compares in pairs; there it
 * is no option that would hold for a pipeline given by its name. */
#define LONG_BLOCKS                                                                                               \
    INLINED                                                                                                       \
    "function(sroa,early-cse<memssa>,jump-threading,correlated-propagation,simplifycfg<switch-range-to-icmp>,"    \
    "instcombine<no-verify-fixpoint>,reassociate,loop-mssa(loop-rotate,licm),simplifycfg<switch-range-to-icmp>,"  \
    "instcombine<no-verify-fixpoint>,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa,gvn,sccp,bdce," \
    "adce,loop-mssa(licm),simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-common-insts;"              \
    "sink-common-insts>,instcombine<no-verify-fixpoint>,loop-vectorize,instcombine<no-verify-fixpoint>,"          \
    "simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;switch-to-lookup;no-keep-loops;"   \
    "hoist-common-insts;sink-common-insts>,loop-unroll<O2>,instcombine<no-verify-fixpoint>,loop-mssa(licm),"      \
    "div-rem-pairs,simplifycfg<hoist-loads-stores-with-cond-faulting;speculate-unpredictables>,dce),globaldce,"   \
    "constmerge"

/* Those of 64 bits only where vectors convert to and from floats. */
static unsigned host_vector_divisions(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512dq") ? 64 : 32;
#else
    return 32;
#endif
}

static const char *host_long_block_passes(const CodegenOptions *options) {
    return level_of(options) < 1 ? LEAST : LONG_BLOCKS;
}

static bool host_knows(const Module *module, const char *symbol) {
    if (strncmp(symbol, "llvm.", 5) == 0) return codegen_selects(module, symbol, false, false);
    return host_symbol(symbol) != NULL;
}

const Target *codegen_cpu_target(void) {
    static const Target target = {
        .name = "host",
        .what = "the host",
        .math = MATH_HOST,
        .atomic_scope = "",
        .raises = true,
        .shares_memory = true,
        .block_is_one_thread = true,
        .splits_long = true,
        .long_block = 1000,
        .libraries = {{krait_bc_rtlib_host, "krait_"}},
        .machine = host_machine,
        .release_machine = host_release_machine,
        .hidden_params = host_hidden_params,
        .access = host_access,
        .bad_access = host_bad_access,
        .watch = host_watch,
        .end_thread = host_end_thread,
        .leave = host_leave,
        .recursion = host_recursion,
        .begin_call = host_begin_call,
        .safepoint = host_safepoint,
        .context = threads_context,
        .threads = threads_region,
        .special = host_special,
        .barrier = host_barrier,
        .grid_barrier = host_grid_barrier,
        .barrier_vote = host_barrier_vote,
        .warp = host_warp,
        .rest = host_rest,
        .cached = host_cached,
        .fence = host_fence,
        .print = host_print,
        .shared_array = host_shared_array,
        .dynamic_shared_bytes = host_dynamic_shared_bytes,
        .const_data = host_const_data,
        .const_array = host_const_array,
        .entry = host_entry,
        .passes = host_passes,
        .straight_passes = host_straight_passes,
        .nest_passes = host_nest_passes,
        .long_block_passes = host_long_block_passes,
        .vector_divisions = host_vector_divisions,
        .finish = host_make_quiet,
        .knows = host_knows,
    };
    return &target;
}
