/* target.c: a GPU's answers to the questions of codegen/target.h.
 *
 * Facts are from the PTX ISA manual and LLVM's "User Guide for NVPTX Back-end".  Nothing returns a
 * status: a thread that raises ends, and in a kernel leaves a note of it for the host (device_notes.c). */
#include <pthread.h> /* pthread_once */
#include <stdio.h>   /* snprintf */
#include <string.h>  /* strncmp */

#include "codegen/bitcode.h" /* krait_bc_device_math, krait_bc_rtlib_nvptx */
#include "codegen_nvptx/nvptx.h"

/* ---- target machine ---- */

static pthread_once_t nvptx_once = PTHREAD_ONCE_INIT;

static void nvptx_initialise(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

/* The PTX version that brought each compute capability ("Release Notes" of the PTX manual). */
static const struct {
    int capability, ptx;
} ptx_of_capability[] = {
    {50, 40}, {52, 41}, {53, 42}, {60, 50}, {61, 50},  {62, 50},  {70, 60},  {72, 61},  {75, 63},  {80, 70},
    {86, 71}, {87, 74}, {89, 78}, {90, 78}, {100, 86}, {101, 86}, {103, 88}, {120, 87}, {121, 88},
};

int codegen_nvptx_ptx_version(int capability) {
    for (size_t i = 0; i < COUNT_OF(ptx_of_capability); i++)
        if (ptx_of_capability[i].capability == capability) return ptx_of_capability[i].ptx;
    return 0;
}

/* A row: a GPU newer than the table runs the PTX of the newest older one: PTX is forward compatible. */
static size_t nearest_capability(int capability) {
    size_t best = 0;
    for (size_t i = 0; i < COUNT_OF(ptx_of_capability); i++)
        if (ptx_of_capability[i].capability <= capability) best = i;
    return best;
}

enum { TANH_CAPABILITY = 75 };

/* The newest PTX that brought something generated code may use, by capability: 6.0 has the .sync forms and scoped
 * atomics of sm_70 on, 6.2 the mask of active lanes, 7.0 the approximate tanh of sm_75 on. */
static int lowest_ptx(int capability) {
    int least = codegen_nvptx_ptx_version(capability), used = capability >= TANH_CAPABILITY ? 70 : 62;
    return least < used ? used : least;
}

/* Those of level 0, and the others. */
static IdleMachines *machines_of(const CodegenOptions *options) {
    static IdleMachines idle[COUNT_OF(ptx_of_capability)][2];
    return &idle[nearest_capability(options->compute_capability)][options->opt_level != 0];
}

static void nvptx_release_machine(LLVMTargetMachineRef machine, const CodegenOptions *options) {
    machines_keep(machines_of(options), machine);
}

static LLVMTargetMachineRef nvptx_machine(const CodegenOptions *options, Diag *diag) {
    static const char *const triple = "nvptx64-nvidia-cuda";
    LLVMTargetRef target = NULL;
    char *message = NULL, cpu[16], features[16];
    pthread_once(&nvptx_once, nvptx_initialise);
    bool failed = LLVMGetTargetFromTriple(triple, &target, &message);
    LLVMDisposeMessage(message);
    FAIL_IF(failed, diag, LLVM, NULL, (Span){0}, "LLVM has no NVPTX target");
    FAIL_IF(options->compute_capability < 50, diag, UNSUPPORTED_TARGET, NULL, (Span){0},
            "compute capability %d.%d is too old: 5.0 is the least", options->compute_capability / 10,
            options->compute_capability % 10);
    int capability = ptx_of_capability[nearest_capability(options->compute_capability)].capability;
    int ptx = lowest_ptx(capability);
    FAIL_IF(
        options->ptx_version && ptx > options->ptx_version, diag, UNSUPPORTED_TARGET, NULL, (Span){0},
        "the driver reads PTX up to version %d.%d, a GPU of compute capability %d.%d needs %d.%d: update the driver",
        options->ptx_version / 10, options->ptx_version % 10, capability / 10, capability % 10, ptx / 10, ptx % 10);
    LLVMTargetMachineRef machine = machines_take(machines_of(options));
    if (machine) return machine;
    snprintf(cpu, sizeof cpu, "sm_%d", capability);
    snprintf(features, sizeof features, "+ptx%d", ptx);
    machine = LLVMCreateTargetMachine(target, triple, cpu, features,
                                      options->opt_level ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess,
                                      LLVMRelocDefault, LLVMCodeModelDefault);
    FAIL_IF(!machine, diag, LLVM, NULL, (Span){0}, "LLVM made no target machine for %s", cpu);
    return machine;
}

/* ---- threads ---- */

static unsigned nvptx_hidden_params(Lower *l, LLVMTypeRef types[MAX_HIDDEN]) {
    (void)l, (void)types;
    return 0;
}

static AccessPolicy nvptx_access(const CodegenOptions *options) {
    return options->boundscheck && options->entry == ENTRY_KERNEL ? ACCESS_RAISE : ACCESS_TRUST;
}

static void nvptx_bad_access(Lower *l, LLVMValueRef inside, LLVMValueRef site) {
    (void)l, (void)inside, (void)site; /* never asked: accesses are trusted, or raise */
}

static void nvptx_end_thread(Lower *l) {
    l_intrinsic(l, "llvm.nvvm.exit", NULL, NULL, 0);
    LLVMBuildUnreachable(l->b);
}

static LLVMValueRef nvptx_special(Lower *l, Special which) {
    static const char *const registers[SPECIAL_COUNT] = {
        [SPECIAL_THREAD_X] = "llvm.nvvm.read.ptx.sreg.tid.x",
        [SPECIAL_THREAD_Y] = "llvm.nvvm.read.ptx.sreg.tid.y",
        [SPECIAL_THREAD_Z] = "llvm.nvvm.read.ptx.sreg.tid.z",
        [SPECIAL_BLOCK_X] = "llvm.nvvm.read.ptx.sreg.ctaid.x",
        [SPECIAL_BLOCK_Y] = "llvm.nvvm.read.ptx.sreg.ctaid.y",
        [SPECIAL_BLOCK_Z] = "llvm.nvvm.read.ptx.sreg.ctaid.z",
        [SPECIAL_BLOCK_DIM_X] = "llvm.nvvm.read.ptx.sreg.ntid.x",
        [SPECIAL_BLOCK_DIM_Y] = "llvm.nvvm.read.ptx.sreg.ntid.y",
        [SPECIAL_BLOCK_DIM_Z] = "llvm.nvvm.read.ptx.sreg.ntid.z",
        [SPECIAL_GRID_DIM_X] = "llvm.nvvm.read.ptx.sreg.nctaid.x",
        [SPECIAL_GRID_DIM_Y] = "llvm.nvvm.read.ptx.sreg.nctaid.y",
        [SPECIAL_GRID_DIM_Z] = "llvm.nvvm.read.ptx.sreg.nctaid.z",
        [SPECIAL_LANE] = "llvm.nvvm.read.ptx.sreg.laneid",
    };
    const FuncRange *range = &func_info[FUNC_CUDA_THREADIDX_X + which].range;
    if (which == SPECIAL_WARP_SIZE) return l_i32(l, (int)range->low);
    LLVMValueRef value = l_intrinsic(l, registers[which], NULL, NULL, 0);
    l_metadata_range(l, value, range->low, range->high + 1);
    return value;
}

/* At level 0 the driver's compiler does not bring the threads of a warp together behind a branch: they reach a barrier
 * one after the other, which its aligned form forbids. */
static bool threads_come_apart(const Lower *l) { return l->m->options.opt_level == 0; }

static void nvptx_barrier(Lower *l, const Value *at) {
    (void)at;
    LLVMValueRef number = l_i32(l, 0);
    const char *aligned = "llvm.nvvm.barrier.cta.sync.aligned.all", *apart = "llvm.nvvm.barrier.cta.sync.all";
    l_intrinsic(l, threads_come_apart(l) ? apart : aligned, NULL, &number, 1);
    l->m->has_barriers = true;
}

static LLVMValueRef nvptx_barrier_vote(Lower *l, const Value *at, BarrierVote vote, LLVMValueRef predicate) {
    static const char *const aligned[] = {
        [VOTE_COUNT] = "llvm.nvvm.barrier.cta.red.popc.aligned.all",
        [VOTE_ALL] = "llvm.nvvm.barrier.cta.red.and.aligned.all",
        [VOTE_ANY] = "llvm.nvvm.barrier.cta.red.or.aligned.all",
    };
    static const char *const apart[] = {
        [VOTE_COUNT] = "llvm.nvvm.barrier.cta.red.popc.all",
        [VOTE_ALL] = "llvm.nvvm.barrier.cta.red.and.all",
        [VOTE_ANY] = "llvm.nvvm.barrier.cta.red.or.all",
    };
    (void)at;
    LLVMValueRef args[] = {l_i32(l, 0), predicate};
    LLVMValueRef result = l_intrinsic(l, (threads_come_apart(l) ? apart : aligned)[vote], NULL, args, 2);
    l->m->has_barriers = true;
    return vote == VOTE_COUNT ? result : LLVMBuildZExt(l->b, result, l->i32, "");
}

static void nvptx_rest(Lower *l, LLVMValueRef nanoseconds) {
    if (l->m->options.compute_capability >= 70) l_call_named(l, "llvm.nvvm.nanosleep", l->v, &nanoseconds, 1);
}

static LLVMValueRef nvptx_cached(Lower *l, CacheHint hint, LLVMTypeRef bits, LLVMValueRef pointer, LLVMValueRef value) {
    static const char *const names[] = {
        [CACHE_LOAD_CA] = "ca",  [CACHE_LOAD_CG] = "cg",  [CACHE_LOAD_CS] = "cs",
        [CACHE_LOAD_LU] = "lu",  [CACHE_LOAD_CV] = "cv",  [CACHE_STORE_CG] = "cg",
        [CACHE_STORE_CS] = "cs", [CACHE_STORE_WB] = "wb", [CACHE_STORE_WT] = "wt",
    };
    unsigned width = LLVMGetIntTypeWidth(bits);
    LLVMTypeRef held = width == 8 ? l->i16 : bits; /* no register has 8 bits */
    char letter = held == l->i16 ? 'h' : held == l->i32 ? 'r' : 'l';
    LLVMValueRef args[] = {pointer, value && held != bits ? LLVMBuildZExt(l->b, value, held, "") : value};
    LLVMTypeRef types[] = {l->ptr, held}, type = LLVMFunctionType(value ? l->v : held, types, value ? 2 : 1, false);
    const char *text = arena_printf(l->arena, value ? "st.%s.b%u [$0], $1;" : "ld.%s.b%u $0, [$1];", names[hint],
                                    width);
    const char *operands = arena_printf(l->arena, value ? "l,%c,~{memory}" : "=%c,l,~{memory}", letter);
    LLVMValueRef assembly = LLVMGetInlineAsm(type, text, strlen(text), operands, strlen(operands), true, false,
                                             LLVMInlineAsmDialectATT, false);
    LLVMValueRef result = LLVMBuildCall2(l->b, type, assembly, args, value ? 2 : 1, "");
    return value || held == bits ? result : LLVMBuildTrunc(l->b, result, bits, "");
}

static void nvptx_fence(Lower *l, FenceScope scope) {
    static const char *const names[] = {[FENCE_BLOCK] = "llvm.nvvm.membar.cta",
                                        [FENCE_DEVICE] = "llvm.nvvm.membar.gl",
                                        [FENCE_SYSTEM] = "llvm.nvvm.membar.sys"};
    l_call_named(l, names[scope], l->v, NULL, 0);
}

/* ---- memory ---- */

enum { SPACE_SHARED = 3, SPACE_CONSTANT = 4, SPACE_GLOBAL = 1, DYNAMIC_ALIGN = 16, CONSTANT_LIMIT = 32768 };

static LLVMValueRef generic(Lower *l, LLVMValueRef pointer) { return LLVMConstAddrSpaceCast(pointer, l->ptr); }

static LLVMValueRef nvptx_shared_array(Lower *l, const Value *at, uint64_t bytes, unsigned align) {
    (void)at;
    static const char *const dynamic_name =
        "krait$dynamic_shared"; /* one symbol: all dynamic arrays are the same memory, as in CUDA */
    LLVMTypeRef type = LLVMArrayType2(l->i8, bytes);
    LLVMValueRef global = bytes ? NULL : LLVMGetNamedGlobal(l->module, dynamic_name);
    if (!global) {
        global = LLVMAddGlobalInAddressSpace(l->module, type, bytes ? "krait$shared" : dynamic_name, SPACE_SHARED);
        LLVMSetAlignment(global, align > DYNAMIC_ALIGN ? align : DYNAMIC_ALIGN);
        if (bytes) {
            LLVMSetInitializer(global, LLVMGetUndef(type));
            LLVMSetLinkage(global, LLVMInternalLinkage);
        }
    }
    return generic(l, global);
}

static LLVMValueRef nvptx_dynamic_shared_bytes(Lower *l) {
    LLVMValueRef bytes = l_intrinsic(l, "llvm.nvvm.read.ptx.sreg.dynamic_smem_size", NULL, NULL, 0);
    return LLVMBuildZExt(l->b, bytes, l->i64, "");
}

/* What is small goes into constant memory. */
static LLVMValueRef nvptx_const_data(Lower *l, LLVMValueRef data, uint64_t bytes) {
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(l->module, LLVMTypeOf(data), "krait_array",
                                                      bytes <= CONSTANT_LIMIT ? SPACE_CONSTANT : SPACE_GLOBAL);
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, 16);
    return generic(l, global);
}

/* The bytes the array spans go into the module as they are now.  What lies on the device already is used there: it may
 * be an argument as well. */
static LLVMValueRef nvptx_const_array(Lower *l, const Value *at, const Type *type, const ArrayConst *array) {
    (void)at;
    if (array->on_device) {
        LLVMTypeRef pointer = LLVMPointerTypeInContext(l->context, SPACE_GLOBAL);
        return generic(l, LLVMConstIntToPtr(l_i64(l, (int64_t)(uintptr_t)array->data), pointer));
    }
    ByteRange range = strided_range(type->ndim, array->shape, array->strides, type_size(type_element(type)));
    size_t bytes = (size_t)(range.high - range.low);
    LLVMValueRef data = LLVMConstStringInContext2(l->context, (const char *)array->data + range.low, bytes, true);
    LLVMValueRef pointer = nvptx_const_data(l, data, bytes);
    return range.low ? l_offset(l, pointer, l_i64(l, -range.low)) : pointer;
}

/* ---- the passes and what follows them ---- */

/* LLVM's passes inline what has one caller anyway, once it is simplified. */
static bool has_one_caller(LLVMValueRef function) {
    LLVMUseRef first = LLVMGetFirstUse(function);
    return first && !LLVMGetNextUse(first);
}

/* The functions that call `callee` and those that call them, kernels apart, are always inlined. */
static void inline_callers(Module *module, LLVMValueRef callee) {
    static const char mark[] = "krait-meets", name[] = "alwaysinline"; /* the mark: seen before */
    LLVMAttributeRef seen = LLVMCreateStringAttribute(module->context, mark, sizeof mark - 1, "", 0);
    LLVMAttributeRef always = LLVMCreateEnumAttribute(module->context,
                                                      LLVMGetEnumAttributeKindForName(name, sizeof name - 1), 0);
    VEC(LLVMValueRef) found = {0};
    vec_push(module->arena, &found, callee);
    while (found.len) {
        LLVMValueRef function = found.data[--found.len];
        for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (!LLVMIsACallInst(user)) continue;
            LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
            if (LLVMGetFunctionCallConv(caller) == PTX_KERNEL ||
                LLVMGetStringAttributeAtIndex(caller, LLVMAttributeFunctionIndex, mark, sizeof mark - 1))
                continue;
            LLVMAddAttributeAtIndex(caller, LLVMAttributeFunctionIndex, seen);
            if (module->options.opt_level == 0 || !has_one_caller(caller))
                LLVMAddAttributeAtIndex(caller, LLVMAttributeFunctionIndex, always);
            vec_push(module->arena, &found, caller);
        }
    }
}

/* What the kernel alone calls, and once, is part of it before most passes: they would simplify it by itself, and once
 * more in the kernel. */
static void inline_bodies(Module *module) {
    static const char name[] = "alwaysinline";
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMInternalLinkage || !has_one_caller(f)) continue;
        LLVMValueRef user = LLVMGetUser(LLVMGetFirstUse(f));
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != f) continue;
        LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        if (LLVMGetFunctionCallConv(caller) != PTX_KERNEL) continue;
        LLVMAddAttributeAtIndex(
            f, LLVMAttributeFunctionIndex,
            LLVMCreateEnumAttribute(module->context, LLVMGetEnumAttributeKindForName(name, sizeof name - 1), 0));
    }
}

/* What threads do together stands in the kernel itself, not in a function that it calls: only there does the driver's
 * compiler know which conditions are uniform, by which it brings the threads of a warp together. */
static void inline_barriers(Module *module) {
    static const char name[] = "convergent";
    unsigned convergent = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, convergent))
            inline_callers(module, f);
}

/* What libdevice asks of who compiles it; what is not known here is 0. */
static unsigned reflection(const Module *module, const char *question, size_t length) {
    const CodegenOptions *options = &module->options;
    bool flush = (options->fastmath & FASTMATH_AFN) != 0;
    const struct {
        const char *question;
        unsigned answer;
    } known[] = {
        {"__CUDA_FTZ", flush},
        {"__CUDA_PREC_SQRT", !flush},
        {"__CUDA_ARCH", (unsigned)ptx_of_capability[nearest_capability(options->compute_capability)].capability * 10}};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (length == strlen(known[i].question) + 1 && memcmp(question, known[i].question, length) == 0)
            return known[i].answer;
    return 0;
}

/* Before the passes, which would inline and simplify both answers. */
static void answer_reflections(Module *module) {
    LLVMValueRef reflect = LLVMGetNamedFunction(module->module, "__nvvm_reflect");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(module->context);
    for (LLVMUseRef use = reflect ? LLVMGetFirstUse(reflect) : NULL, next; use; use = next) {
        LLVMValueRef call = LLVMGetUser(use), asked = LLVMIsACallInst(call) ? LLVMGetOperand(call, 0) : NULL;
        size_t length = 0;
        next = LLVMGetNextUse(use);
        if (!asked || !LLVMIsAGlobalVariable(asked) || !LLVMIsAConstantDataArray(LLVMGetInitializer(asked))) continue;
        const char *text = LLVMGetAsString(LLVMGetInitializer(asked), &length);
        LLVMReplaceAllUsesWith(call, LLVMConstInt(i32, reflection(module, text, length), false));
        LLVMInstructionEraseFromParent(call);
    }
}

static bool begins_with(LLVMValueRef function, const char *prefix) {
    size_t length;
    return strncmp(LLVMGetValueName2(function, &length), prefix, strlen(prefix)) == 0;
}

static bool is_float32(LLVMValueRef i) { return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMFloatTypeKind; }

/* libdevice is written for compilers that join a product with the one sum that it goes into, also one of who calls it.
 * A product that is used elsewhere, too, is a rounded number there: what its sum is to find may be how much was lost by
 * rounding (logarithms of powf, wrong by 68 units in the last place otherwise), and selection would join it all the
 * same. */
static bool may_be_joined(LLVMValueRef i) {
    LLVMUseRef first = LLVMGetFirstUse(i);
    return LLVMGetInstructionOpcode(i) != LLVMFMul || !first || !LLVMGetNextUse(first);
}

/* Flags can be added to an instruction, not taken away. */
static void allow(LLVMValueRef function, bool (*holds)(LLVMValueRef), LLVMFastMathFlags flags) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMCanValueUseFastMathFlags(i) && holds(i)) LLVMSetFastMathFlags(i, flags);
}

/* What may be done with the arithmetic of libraries as if it stood in the kernel.  With fastmath what rtlib computes in
 * float32 may be approximated: square roots, quotients.  Nothing is assumed of its operands: it tests them for NaN. */
static void relax_library(LLVMValueRef function, bool fast) {
    const LLVMFastMathFlags flags = LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal | LLVMFastMathAllowContract;
    if (begins_with(function, "__nv_"))
        allow(function, may_be_joined, LLVMFastMathAllowContract);
    else if (fast && begins_with(function, "krait_rt_"))
        allow(function, is_float32, flags);
}

/* Flush-to-zero is asked for by attribute on every function, those of the math library included. */
static void nvptx_prepare(Module *module) {
    bool flush = (module->options.fastmath & FASTMATH_AFN) != 0;
    answer_reflections(module);
    static const char name[] = "denormal-fp-math-f32", mode[] = "preserve-sign,preserve-sign";
    inline_barriers(module);
    inline_bodies(module);
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(module->context, name, sizeof name - 1, mode,
                                                           sizeof mode - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) {
            if (flush) LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
            relax_library(f, flush);
        }
}

/* Level 0 too has local variables in registers, memory by its address space and small functions inlined: a loop's count
 * in local memory, or a parameter of a function, is not seen to be uniform. */
#define LEAST "default<O0>,cgscc(inline),globaldce,function(sroa,simplifycfg,infer-address-spaces,dce)"

/* LLVM's level 3 without what changes nothing in kernels: six of its eight runs of instcombine, second runs of others,
 * vectors of loops, what looks into memory of the heap and at calls that are not inlined.  They were left out one by
 * one while the machine code of many kernels stayed as it was, or became shorter.
 *
 * Before functions of the math library are inlined: what does not change in a loop leaves it as a call, where its
 * branches would keep it; two conditions of a loop become one where the second costs no more than a branch. */
#define EARLY                                                                                                    \
    "function(nvvm-intr-range,sroa,early-cse,simplifycfg<bonus-inst-threshold=10>,loop-mssa(loop-rotate,licm))," \
    "ipsccp,"

#define SIMPLIFY "simplifycfg<switch-range-to-icmp;keep-loops>,"
#define COMBINE  "instcombine<no-verify-fixpoint>"

/* Of each function, the callees first. */
#define EACH                                                                                                   \
    "inline,function-attrs<skip-non-recursive-function-attrs>,function<eager-inv;no-rerun>("                   \
    "sroa,early-cse<memssa>,speculative-execution<only-if-divergent-target>,jump-threading,"                   \
    "correlated-propagation," SIMPLIFY COMBINE ",aggressive-instcombine,tailcallelim," SIMPLIFY "reassociate," \
    "constraint-elimination,loop-mssa(loop-instsimplify,loop-simplifycfg,"                                     \
    "loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>,"                               \
    "simple-loop-unswitch<nontrivial;trivial>),loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"       \
    "sroa<modify-cfg>,gvn,bdce,adce,memcpyopt,dse,loop-mssa(licm<allowspeculation>),simplifycfg<"              \
    "switch-range-to-icmp;switch-to-arithmetic;keep-loops;hoist-common-insts;sink-common-insts>," COMBINE      \
    "),function-attrs"

/* Of the kernel, and what it still calls: two halves become one register, loops of known length are laid out; at last
 * each loop that is left has a block in front of it (carried.c). */
#define LATE                                                                                                    \
    "globaldce,function<eager-inv>(loop-load-elim,simplifycfg<forward-switch-cond;switch-range-to-icmp;"        \
    "switch-to-arithmetic;switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>,slp-vectorizer," \
    "loop-unroll<O3>,loop-mssa(licm<allowspeculation>),loop-sink,div-rem-pairs,simplifycfg<"                    \
    "switch-range-to-icmp;switch-to-arithmetic;keep-loops;hoist-loads-stores-with-cond-faulting;"               \
    "speculate-unpredictables>,loop-simplify),constmerge"

#define MOST EARLY "always-inline,cgscc(devirt<4>(" EACH "))," LATE

static const char *nvptx_passes(const CodegenOptions *options) {
    static const char *const pipelines[] = {LEAST, "default<O1>", MOST, MOST};
    return pipelines[options->opt_level < 0 ? 0 : options->opt_level > 3 ? 3 : options->opt_level];
}

/* What the alignment of parameters says of accesses is noted while they are seen to begin there, and no loop has a
 * pointer between two parts of a complex number.  Strength is reduced before rounds become one, so that an address is
 * the one before plus a stride.  Then: which loads are from shared memory, and how they are aligned, so that the back
 * end joins neighbours into wide ones (it infers address spaces itself, but too late to learn alignments from them). */
#define FIRST  "function(infer-alignment,"
#define SPACES "infer-address-spaces,infer-alignment)"
#define UNROLL "loop-unroll<O3>,early-cse," COMBINE "," SPACES

static const char *nvptx_last_passes(const CodegenOptions *options, LoopsLeft loops) {
    static const char *const passes[] = {
        [LOOPS_NONE] = FIRST SPACES, [LOOPS_SHORT] = FIRST UNROLL, [LOOPS_ANY] = FIRST "loop(loop-reduce)," UNROLL};
    return options->opt_level < 2 ? NULL : passes[loops];
}

static bool nvptx_knows(const Module *module, const char *symbol) {
    static const char *const driver[] = {"vprintf", "malloc", "free", "__assertfail",
                                         "__nvvm_reflect"}; /* system calls the driver links */
    if (strncmp(symbol, "llvm.nvvm.", 10) == 0) return true;
    if (strncmp(symbol, "llvm.", 5) == 0)
        return codegen_selects(module, symbol, true, module->options.compute_capability >= TANH_CAPABILITY);
    for (size_t i = 0; i < COUNT_OF(driver); i++)
        if (strcmp(symbol, driver[i]) == 0) return true;
    return false;
}

/* In the open build rtlib has libdevice's names, too (open_math.c). */
#ifdef KRAIT_DEVICE_MATH_LIBCLC
#define RTLIB_PREFIX NULL
#else
#define RTLIB_PREFIX "krait_"
#endif

const Target *codegen_nvptx_target(void) {
    static const Target target = {
        .name = "nvptx",
        .what = "a GPU",
#ifdef KRAIT_DEVICE_MATH_LIBCLC
        .math = MATH_LIBCLC,
#else
        .math = MATH_LIBDEVICE,
#endif
        .fastmath = FASTMATH_CONTRACT,
        .atomic_scope = "device",
        .rounds_bfloat16 = true,
        .short_counts = true,
        .slow_division = true,
        .slow_wide = true,
        .convergent = true,
        .raises = false,
        .shares_memory = false,
        .libraries = {{krait_bc_rtlib_nvptx, RTLIB_PREFIX}, {krait_bc_device_math, NULL}},
        .machine = nvptx_machine,
        .release_machine = nvptx_release_machine,
        .hidden_params = nvptx_hidden_params,
        .access = nvptx_access,
        .bad_access = nvptx_bad_access,
        .end_thread = nvptx_end_thread,
        .special = nvptx_special,
        .barrier = nvptx_barrier,
        .grid_barrier = nvptx_grid_barrier,
        .barrier_vote = nvptx_barrier_vote,
        .warp = nvptx_warp,
        .rest = nvptx_rest,
        .cached = nvptx_cached,
        .fence = nvptx_fence,
        .note_raise = nvptx_note_raise,
        .print = nvptx_print,
        .shared_array = nvptx_shared_array,
        .dynamic_shared_bytes = nvptx_dynamic_shared_bytes,
        .const_data = nvptx_const_data,
        .const_array = nvptx_const_array,
        .entry = nvptx_entry,
        .prepare = nvptx_prepare,
        .passes = nvptx_passes,
        .last_passes = nvptx_last_passes,
        .before_last = nvptx_ready_for_strength,
        .knows = nvptx_knows,
    };
    return &target;
}
