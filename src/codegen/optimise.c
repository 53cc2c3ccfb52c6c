/* optimise.c: LLVM's passes over a linked module, and the hints that the passes need.
 *
 * The target machine goes with every run: without it the passes know no costs.  Under bounds checks that raise, loops
 * are first brought into the form that inductive range check elimination wants, and that pass splits each into a part
 * without checks, which the vectoriser then takes; it is not part of LLVM's own pipeline. */
#include <string.h> /* strncpy */

#include "codegen/lower.h"

static const char split_checked_loops[] =
    "always-inline,cgscc(inline),function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate,licm),loop(indvars),instcombine<no-verify-fixpoint>,irce)";

static bool run_passes(Module *module, const char *passes, Diag *diag) {
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

bool optimise_run(Module *module, Diag *diag) {
    const CodegenOptions *options = &module->options;
    const Target *target = module->target;
    const char *passes = target->passes(options), *last = target->last_passes ? target->last_passes(options) : NULL;
    if (options->opt_level >= 2 && target->access(options) == ACCESS_RAISE)
        passes = arena_printf(module->arena, "%s,%s", split_checked_loops, passes);
    TRY(run_passes(module, passes, diag));
    if (!last) return true;
    rounds_release(module);
    TRY(run_passes(module, last, diag));
    turn_loops(module);
    return true;
}
