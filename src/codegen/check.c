/* check.c: the last look before LLVM generates code: everything that is called must be known to the target.
 *
 * An unknown symbol would be an unresolved reference on the host, and on a GPU an intrinsic that the back end cannot
 * select ends the process.  So whatever is left without a body is looked up in the target's table, and refused by name
 * if it is not there. */
#include "codegen/lower.h"

bool codegen_check_callees(Module *module, Diag *diag) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (!LLVMIsDeclaration(f) || !LLVMGetFirstUse(f)) continue;
        const char *name = LLVMGetValueName2(f, &length);
        FAIL_IF(!module->target->knows(module, name), diag, LOWERING, NULL, (Span){0},
                "generated code calls %s, which %s does not have", name, module->target->what);
    }
    return true;
}
