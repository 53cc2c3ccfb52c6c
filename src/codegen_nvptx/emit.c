/* emit.c: an optimised module becomes PTX text. */
#include <string.h> /* memcpy */

#include "codegen_nvptx/nvptx.h"

char *codegen_nvptx_emit(Module *module, Arena *arena, size_t *length, Diag *diag) {
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(module->machine, module->module, LLVMAssemblyFile, &message,
                                                      &buffer);
    const char *copy = message ? arena_strdup(arena, message) : "";
    LLVMDisposeMessage(message);
    FAIL_IF(failed, diag, LLVM, NULL, (Span){0}, "%s", copy);
    if (module->message[0]) { /* reported on the side: instruction selection has no other way */
        LLVMDisposeMemoryBuffer(buffer);
        diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "%s", module->message);
        return NULL;
    }
    *length = LLVMGetBufferSize(buffer);
    char *text = arena_strndup(arena, LLVMGetBufferStart(buffer), *length);
    LLVMDisposeMemoryBuffer(buffer);
    return text;
}
