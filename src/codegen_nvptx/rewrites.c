/* rewrites.c: what is changed in a module just before it is emitted: one walk over its instructions, a table of what is
 * made of each kind.
 *
 * In: a module.  Out: the same values, computed by what ptxas and instruction selection take as it is meant
 * (exact.c) or leave together (fuse.c, conversions.c, halves.c, in optimised modules). */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

/* What takes the place of an instruction, made before it; NULL: it stays, perhaps with other operands. */
typedef LLVMValueRef Rewrite(LLVMBuilderRef b, LLVMValueRef value);

static const struct {
    LLVMOpcode op;
    bool optimised; /* in optimised modules alone */
    Rewrite *make;
} rewrites[] = {
    {LLVMAdd, true, nvptx_fuse_product},     {LLVMFAdd, true, nvptx_fuse_double},
    {LLVMSub, false, nvptx_exact_negation},  {LLVMCall, false, nvptx_exact_magnitude},
    {LLVMSelect, false, nvptx_exact_choice}, {LLVMShl, false, nvptx_exact_shift},
    {LLVMLShr, false, nvptx_exact_shift},    {LLVMFPToSI, true, nvptx_convert_rounded},
    {LLVMAnd, true, nvptx_compare_whole},    {LLVMOr, true, nvptx_compare_whole},
    {LLVMSelect, true, nvptx_compare_whole}, {LLVMLShr, true, nvptx_fuse_shift},
};

LLVMValueRef nvptx_assembly(LLVMBuilderRef b, LLVMValueRef like, const char *text, const char *constraints,
                            LLVMValueRef *args, unsigned count) {
    LLVMTypeRef params[3];
    for (unsigned i = 0; i < count; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef signature = LLVMFunctionType(LLVMTypeOf(like), params, count, false);
    LLVMValueRef code = LLVMGetInlineAsm(signature, text, strlen(text), constraints, strlen(constraints), false, false,
                                         LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, signature, code, args, count, "");
}

static void rewrite(Module *module, LLVMValueRef value) {
    LLVMOpcode op = LLVMGetInstructionOpcode(value);
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++) {
        if (rewrites[i].op != op || (rewrites[i].optimised && !module->options.opt_level)) continue;
        LLVMPositionBuilderBefore(module->builder, value);
        LLVMValueRef better = rewrites[i].make(module->builder, value);
        if (!better) continue;
        LLVMReplaceAllUsesWith(value, better);
        LLVMInstructionEraseFromParent(value);
        return;
    }
}

void nvptx_rewrite(Module *module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (module->options.opt_level) {
            nvptx_start_at_bases(module->builder, f);
            nvptx_load_early(module->builder, f);
            nvptx_branch_around_arms(module->builder, f);
            nvptx_order_ways(module->builder, f);
        }
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
                next = LLVMGetNextInstruction(value);
                rewrite(module, value);
            }
    }
}
