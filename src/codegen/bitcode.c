/* bitcode.c: links the embedded bitcode libraries (rtlib, the device math library) into a module, only what it calls.
 *
 * In: a lowered module with declarations of library functions.  Out: the same module with their bodies, internal.
 *
 * LLVM's C API has no "link only what is needed".  The way there: open the library lazily, so that no body is read yet;
 * give every definition the linkage linkonce_odr, which the linker brings over only if somebody refers to it; link;
 * make what came internal, so that the optimiser may inline and drop it.  libdevice's 352 functions cost a millisecond
 * and a half this way, twenty-four when all are read.
 *
 * The libraries are linked in the target's order: rtlib calls the math library, never the reverse. */
#include <stdio.h>  /* snprintf */
#include <string.h> /* strncmp */

#include "codegen/lower.h"

static bool is_intrinsic(LLVMValueRef function) { return LLVMGetIntrinsicID(function) != 0; }

/* Whether some function is called that has no body yet, and does not stay outside the module. */
static bool wants_more(const Module *module) {
    size_t length;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && !is_intrinsic(f) && LLVMGetFirstUse(f) &&
            !module->target->knows(module, LLVMGetValueName2(f, &length)))
            return true;
    return false;
}

static void offer_on_demand(LLVMModuleRef library) {
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage)
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    for (LLVMValueRef g = LLVMGetFirstGlobal(library); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && LLVMGetLinkage(g) == LLVMExternalLinkage)
            LLVMSetLinkage(g, LLVMLinkOnceODRLinkage);
}

/* What came with a library belongs to this module alone; declarations nobody uses go. */
static void internalise(LLVMModuleRef module) {
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage) LLVMSetLinkage(f, LLVMInternalLinkage);
        if (LLVMIsDeclaration(f) && !LLVMGetFirstUse(f)) LLVMDeleteFunction(f);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetLinkage(g) == LLVMLinkOnceODRLinkage) LLVMSetLinkage(g, LLVMInternalLinkage);
}

static bool link_library(Module *module, const BitcodeLibrary *library, Diag *diag) {
    LLVMModuleRef opened = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange((const char *)library->bytes,
                                                                       (size_t)*library->size, "krait-bitcode", true);
    if (LLVMGetBitcodeModuleInContext2(module->context, buffer, &opened)) { /* it owns the buffer unless it fails */
        LLVMDisposeMemoryBuffer(buffer);
        diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "an embedded library could not be opened: %s", module->message);
        return false;
    }
    LLVMSetTarget(opened, LLVMGetTarget(module->module)); /* libdevice names an older spelling of the triple */
    LLVMSetModuleDataLayout(opened, module->layout);
    offer_on_demand(opened);
    bool failed = LLVMLinkModules2(module->module, opened); /* takes `opened` either way */
    FAIL_IF(failed, diag, LLVM, NULL, (Span){0}, "an embedded library could not be linked: %s", module->message);
    internalise(module->module);
    return true;
}

bool codegen_bitcode_link(Module *module, Diag *diag) {
    for (size_t i = 0; i < COUNT_OF(module->target->libraries); i++) {
        const BitcodeLibrary *library = &module->target->libraries[i];
        if (library->bytes && wants_more(module)) TRY(link_library(module, library, diag));
    }
    return true;
}
