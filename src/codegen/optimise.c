/* optimise.c: LLVM's passes over a linked module, and the hints that the passes need.
 *
 * The target machine goes with every run: without it the passes know no costs.
 *
 * The time of many passes grows faster than a function, and than the number of its loops.  Where one is long or has
 * many, its loops become functions of their own, which are short and are optimised as any other; what is long still
 * after that gets a few passes whose time is linear.  Taking loops out takes more than linear time, too: a
 * module with something longer by far gets level 0 as a whole. */
#include <string.h> /* strlen, strncpy */

#include "codegen/lower.h"

static const char take_loops_out[] = "function(loop-simplify),loop-extract";

enum { LONG = 5000, HUGE = 4 * LONG }; /* instructions */

static size_t length_of(LLVMValueRef function) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

static unsigned kind_of_attribute(const char *name) { return LLVMGetEnumAttributeKindForName(name, strlen(name)); }

static void set_attribute(Module *module, LLVMValueRef function, const char *name) {
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(module->context, kind_of_attribute(name), 0);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
}

static size_t longest(Module *module) {
    size_t most = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        size_t length = length_of(f);
        if (length > most) most = length;
    }
    return most;
}

/* What is long is left alone from here on, by passes and by the code generator. */
static void leave_long_functions(Module *module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (length_of(f) <= LONG) continue;
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind_of_attribute("alwaysinline"));
        set_attribute(module, f, "noinline");
        set_attribute(module, f, "optnone");
    }
}

static bool take_level_0(Module *module, Diag *diag) {
    const Target *target = module->target;
    if (target->release_machine)
        target->release_machine(module->machine, &module->options);
    else
        LLVMDisposeTargetMachine(module->machine);
    module->options.opt_level = 0;
    module->machine = target->machine(&module->options, diag);
    return module->machine != NULL;
}

static bool run(Module *module, const char *passes, Diag *diag) {
    LLVMPassBuilderOptionsRef settings = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopInterleaving(settings, true);
    LLVMPassBuilderOptionsSetLoopVectorization(settings, true);
    LLVMPassBuilderOptionsSetSLPVectorization(settings, true);
    LLVMPassBuilderOptionsSetLoopUnrolling(settings, true);
    LLVMErrorRef error = LLVMRunPasses(module->module, passes, module->machine, settings);
    LLVMDisposePassBuilderOptions(settings);
    if (!error) return true;
    char *text = LLVMGetErrorMessage(error);
    strncpy(module->message, text, sizeof module->message - 1);
    LLVMDisposeErrorMessage(text);
    return diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "%s", module->message);
}

/* After the passes of level 0, which are linear; nothing else is left to do where that level remains. */
static bool split_long_functions(Module *module, Diag *diag) {
    CodegenOptions least = module->options;
    least.opt_level = 0;
    TRY(run(module, module->target->passes(&least), diag));
    if (longest(module) > HUGE) return take_level_0(module, diag);
    LLVMValueRef last = LLVMGetLastFunction(module->module); /* before those that are made of loops */
    TRY(run(module, take_loops_out, diag));
    for (LLVMValueRef f = last; (f = LLVMGetNextFunction(f));) set_attribute(module, f, "noinline");
    leave_long_functions(module);
    return true;
}

bool optimise_run(Module *module, Diag *diag) {
    const CodegenOptions *options = &module->options;
    const Target *target = module->target;
    if (module->has_long) {
        TRY(split_long_functions(module, diag));
        if (options->opt_level == 0) return true;
    }
    const char *passes = target->passes(options), *last = target->last_passes ? target->last_passes(options) : NULL;
    TRY(run(module, passes, diag));
    if (!last) return true;
    rounds_release(module);
    TRY(run(module, last, diag));
    turn_loops(module);
    return true;
}
