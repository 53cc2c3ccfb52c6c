/* optimise.c: LLVM's passes over a linked module, and the hints that the passes need.
 *
 * The target machine goes with every run: without it the passes know no costs.
 *
 * The time of many passes grows faster than a function, and than the number of its loops.  Where one is long or has
 * many, its loops become functions of their own, which are short and are optimised as any other, or, where these are
 * many, each in less time; what is long still after that gets a few passes whose time is linear.  Taking loops out, and
 * finding registers for what has many blocks, takes more than linear time, too: a module with something longer by far,
 * or with such blocks, gets level 0 as a whole.  So do most passes of level 0, where thousands of branches have one
 * condition or lead to one block: what is VAST as it comes gets those alone that look at each instruction once. */
#include <string.h> /* strlen, strncpy */

#include "codegen/lower.h"

static const char take_loops_out[] = "function(loop-simplify),loop-extract";

/* Of the passes for loops those that give most for their time: no rounds are laid out. */
static const char for_many_loops[] =
    "always-inline,cgscc(inline),globaldce,function(sroa,early-cse,simplifycfg,instcombine<no-"
    "verify-fixpoint>,loop-mssa(loop-rotate,licm),"
    "loop(indvars),loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,dce)";

/* What compares one value with hundreds of constants is to become a search, and no pass may compare each of these
 * conditions with all that hold where it stands, as instcombine does. */
static const char for_conditions[] =
    "always-inline,function(sroa,early-cse,simplifycfg,instsimplify,early-cse,dce),globaldce";

static const char for_vast[] = "always-inline,function(sroa,instsimplify,dce),globaldce";

/* In instructions: from LOWERED on, as code generation leaves it, a function's loops are taken out, and VAST is
 * measured there, too; LONG and HUGE are measured after the passes of level 0, and so are the LOOPS that get all
 * passes, and the blocks. */
enum { LOWERED = 8000, LONG = 5000, HUGE = 4 * LONG, VAST = 5 * HUGE, LOOPS = 4000, MANY_BLOCKS = 2000 };

/* Of what compares one value with hundreds of constants and became no search: of a register that is read so often,
 * LLVM's coalescer looks at each use beside all others. */
enum { HUGE_COMPARING = 2 * LONG };

/* In comparisons of one value with constants, before the passes of level 0 and after (what was compared so often may
 * have become a search, which all passes may see), and in looks that instcombine would take at these: each other use of
 * the value looks at all of them; in parameters of a function, or in variables that a loop carries from round to round,
 * which become parameters where it is taken out; in values that are alive at one place, which would become parameters,
 * too, and of which LLVM's register allocator looks at each beside all others. */
enum { CONDITIONS = 300, FEW_CONDITIONS = 32, LOOKS = 20000, WIDE = 256, ALIVE = 512 };

/* Coroutines become functions like others; what is in registers before need not go through their frames. */
static const char split_generators[] =
    "coro-early,function(sroa,early-cse,simplifycfg),cgscc(coro-split),coro-cleanup,globaldce";

static size_t length_of_block(LLVMBasicBlockRef block) {
    size_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

static size_t calls_of_block(LLVMBasicBlockRef block) {
    size_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        count += LLVMIsACallInst(i) != NULL;
    return count;
}

static size_t length_of(LLVMValueRef function) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        count += length_of_block(b);
    return count;
}

typedef struct Compared {
    unsigned conditions, others; /* uses of a value, and of its sums with constants */
} Compared;

static void count_comparisons(LLVMValueRef value, bool is_sum, Compared *c) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool constant = LLVMGetNumOperands(user) > 1 && LLVMIsConstant(LLVMGetOperand(user, 1));
        bool compares = constant && (LLVMIsAICmpInst(user) || LLVMIsAFCmpInst(user)); /* not: with a length */
        if (compares)
            c->conditions++;
        else
            c->others++;
        if (constant && !is_sum && LLVMIsABinaryOperator(user) && LLVMGetInstructionOpcode(user) == LLVMAdd)
            count_comparisons(user, true, c);
    }
}

/* For instcombine `value + 3 == 0`, as of a division by `value + 3`, is a condition of the value. */
static bool is_compared_often(LLVMValueRef value) {
    Compared c = {0};
    count_comparisons(value, false, &c);
    size_t looks = (size_t)c.conditions * c.others;
    return c.conditions > CONDITIONS || (c.conditions > FEW_CONDITIONS && looks > LOOKS);
}

static bool has_many_conditions(LLVMValueRef function) {
    for (LLVMValueRef param = LLVMGetFirstParam(function); param; param = LLVMGetNextParam(param))
        if (is_compared_often(param)) return true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_compared_often(i)) return true;
    return false;
}

static bool any(const Module *module, bool (*holds)(LLVMValueRef)) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (holds(f)) return true;
    return false;
}

/* Calls do not count: what they call is small and goes into the block, or they part what is looked at together. */
static bool has_block_longer_than(const Module *module, size_t most) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            if (length_of_block(b) - calls_of_block(b) > most) return true;
    return false;
}

static bool carries_many(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        size_t count = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
            count++;
        if (count > WIDE) return true;
    }
    return false;
}

static bool keeps_many(Module *module, LLVMValueRef function) {
    return carries_many(function) || (length_of(function) > 2 * ALIVE && values_alive(module, function) > ALIVE);
}

/* Instructions of the functions that keep many values, and of all. */
static size_t length_of_keepers(Module *module, size_t *all) {
    size_t kept = 0;
    *all = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        size_t length = length_of(f);
        *all += length;
        if (keeps_many(module, f)) kept += length;
    }
    return kept;
}

/* Whether some of LLVM's passes would take more than linear time of this function. */
static bool is_long(Module *module, LLVMValueRef function) {
    (void)module;
    return length_of(function) > LONG || has_many_conditions(function);
}

static unsigned kind_of_attribute(const char *name) { return LLVMGetEnumAttributeKindForName(name, strlen(name)); }

static void set_attribute(Module *module, LLVMValueRef function, const char *name) {
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(module->context, kind_of_attribute(name), 0);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
}

static size_t longest(const Module *module) {
    size_t most = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        size_t length = length_of(f);
        if (length > most) most = length;
    }
    return most;
}

static size_t most_blocks_of_long(Module *module) {
    size_t most = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        size_t blocks = LLVMCountBasicBlocks(f);
        if (blocks > most && is_long(module, f)) most = blocks;
    }
    return most;
}

/* From here on, by passes and by the code generator. */
static void leave_alone(Module *module, bool (*which)(Module *module, LLVMValueRef)) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (!which(module, f)) continue;
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind_of_attribute("alwaysinline"));
        set_attribute(module, f, "noinline");
        set_attribute(module, f, "optnone");
    }
}

static bool take_level_0(Module *module, Diag *diag) {
    const Target *target = module->target;
    target->release_machine(module->machine, &module->options);
    module->options.opt_level = 0;
    module->machine = target->machine(&module->options, diag);
    return module->machine != NULL;
}

static bool run(Module *module, const char *passes, Diag *diag) {
    LLVMPassBuilderOptionsRef settings = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopInterleaving(settings, true);
    LLVMPassBuilderOptionsSetLoopVectorization(settings, true);
    LLVMPassBuilderOptionsSetLoopUnrolling(settings, true);
    LLVMErrorRef error = LLVMRunPasses(module->module, passes, module->machine, settings);
    LLVMDisposePassBuilderOptions(settings);
    if (!error) return true;
    char *text = LLVMGetErrorMessage(error);
    strncpy(module->message, text, sizeof module->message - 1);
    LLVMDisposeErrorMessage(text);
    return diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "%s", module->message);
}

/* Results of a loop that was taken out go to local variables of the function around it, whose addresses LLVM hands over
 * by parameters of this name: nothing else points there, so that the loop keeps them in registers. */
static void note_results(Module *module, LLVMValueRef function) {
    static const char ending[] = ".out";
    unsigned kind = kind_of_attribute("noalias");
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        LLVMValueRef param = LLVMGetParam(function, i);
        size_t length = 0, least = sizeof ending - 1;
        const char *name = LLVMGetValueName2(param, &length);
        bool is_result = LLVMGetTypeKind(LLVMTypeOf(param)) == LLVMPointerTypeKind && length > least &&
                         memcmp(name + length - least, ending, least) == 0;
        if (is_result) LLVMAddAttributeAtIndex(function, i + 1, LLVMCreateEnumAttribute(module->context, kind, 0));
    }
}

/* After the passes of level 0, which are linear; nothing else is left to do where that level remains.  *many: the loops
 * taken out are too many for all passes. */
static bool split_long_functions(Module *module, bool *many, Diag *diag) {
    CodegenOptions least = module->options;
    least.opt_level = 0;
    TRY(run(module, any(module, has_many_conditions) ? for_conditions : module->target->passes(&least), diag));
    size_t all = 0, kept = length_of_keepers(module, &all);
    size_t most = any(module, has_many_conditions) ? HUGE_COMPARING : HUGE;
    if (longest(module) > most || kept > all / 2) return take_level_0(module, diag);
    if (kept) leave_alone(module, keeps_many);
    LLVMValueRef last = LLVMGetLastFunction(module->module); /* before those that are made of loops */
    TRY(run(module, take_loops_out, diag));
    size_t loops = 0;
    for (LLVMValueRef f = last; (f = LLVMGetNextFunction(f));) {
        set_attribute(module, f, "noinline");
        note_results(module, f);
        loops += length_of(f);
    }
    *many = loops > LOOPS;
    if (most_blocks_of_long(module) > MANY_BLOCKS) return take_level_0(module, diag);
    leave_alone(module, is_long);
    return true;
}

static unsigned count_uses(LLVMValueRef function, unsigned most) {
    unsigned count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use && count < most; use = LLVMGetNextUse(use)) count++;
    return count;
}

/* What LLVM asks of the parameters of a function takes the square of their number: where a tuple has made thousands of
 * them, the function is to become part of what calls it, before all else. */
static bool mark_wide_functions(Module *module) {
    enum { FEW_CALLS = 4 };
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMCountParams(f) < WIDE || count_uses(f, FEW_CALLS + 1) > FEW_CALLS) continue;
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind_of_attribute("noinline"));
        set_attribute(module, f, "alwaysinline");
        any = true;
    }
    return any;
}

static bool may_be_long(Module *module) {
    if (!module->target->splits_long || module->options.opt_level == 0) return false;
    size_t all = 0;
    return module->has_long || longest(module) > LOWERED || any(module, has_many_conditions) ||
           length_of_keepers(module, &all) > 0;
}

static const char *passes_of(const Module *module) {
    const Target *target = module->target;
    const CodegenOptions *options = &module->options;
    if (module->only_nests && target->nest_passes) return target->nest_passes(options);
    if (module->straight && target->straight_passes) return target->straight_passes(options);
    if (target->long_block && has_block_longer_than(module, target->long_block))
        return target->long_block_passes(options);
    return target->passes(options);
}

bool optimise_run(Module *module, Diag *diag) {
    const CodegenOptions *options = &module->options;
    const Target *target = module->target;
    if (module->has_generators) TRY(run(module, split_generators, diag));
    bool many = false, wide = options->opt_level > 0 && mark_wide_functions(module);
    if (target->splits_long && longest(module) > VAST) return run(module, for_vast, diag) && take_level_0(module, diag);
    if (wide) TRY(run(module, "always-inline,function(sroa,early-cse,simplifycfg),globaldce", diag));
    if (may_be_long(module)) {
        TRY(split_long_functions(module, &many, diag));
        if (options->opt_level == 0) return true;
    }
    TRY(run(module, many ? for_many_loops : passes_of(module), diag));
    LoopsLeft loops = target->last_passes ? late_unroll_release(module) : LOOPS_NONE;
    const char *last = target->last_passes ? target->last_passes(options, loops) : NULL;
    if (!last) return true;
    if (target->before_last) target->before_last(module);
    TRY(run(module, last, diag));
    turn_loops(module);
    return true;
}
