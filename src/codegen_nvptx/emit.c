/* emit.c: an optimised module becomes PTX text. */
#include <string.h> /* memcpy */

#include "codegen_nvptx/nvptx.h"

char *codegen_nvptx_emit(Module *module, Arena *arena, size_t *length, Diag *diag) {
    codegen_drop_copied(module);
    if (module->options.opt_level) nvptx_fuse(module);
    nvptx_exact(module);
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(module->machine, module->module, LLVMAssemblyFile, &module->text,
                                                      &module->buffer);
    FAIL_IF(failed, diag, LLVM, NULL, (Span){0}, "%s", module->text ? module->text : "no PTX");
    /* reported on the side: instruction selection has no other way */
    FAIL_IF(module->message[0], diag, LLVM, NULL, (Span){0}, "%s", module->message);
    *length = LLVMGetBufferSize(module->buffer);
    char *text = arena_strndup(arena, LLVMGetBufferStart(module->buffer), *length);
    codegen_drop_copied(module);
    return text;
}
