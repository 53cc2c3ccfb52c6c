/* bitcode.c: links the embedded bitcode libraries (rtlib, the device math library) into a module, only what it calls.
 *
 * In: a lowered module with declarations of library functions.  Out: the same module with their bodies, internal.
 *
 * LLVM's C API has no "link only what is needed".  The way there: open the library lazily, so that no body is read yet;
 * give every definition the linkage linkonce_odr, which the linker brings over only if somebody refers to it; link;
 * make what came internal, so that the optimiser may inline and drop it.  libdevice's 352 functions cost a millisecond
 * and a half this way, twenty-four when all are read.
 *
 * The libraries are linked in the target's order: rtlib calls the math library, never the reverse.  rtlib is in parts,
 * of which those are opened that have the name of a function that is wanted: all of it would cost two milliseconds. */
#include <stdio.h>  /* snprintf */
#include <string.h> /* strncmp */

#include "codegen/lower.h"

static bool is_intrinsic(LLVMValueRef function) { return LLVMGetIntrinsicID(function) != 0; }

/* Whether the part may have what the name means: it has the bytes.  Names of its declarations are found, too. */
static bool may_define(const BitcodeLibrary *library, const BitcodePart *part, const char *name, size_t length) {
    if (!library->prefix) return true;
    if (strncmp(name, library->prefix, strlen(library->prefix)) != 0) return false;
    return memmem(part->bytes, part->size, name, length) != NULL;
}

/* Whether a function is called that has no body yet, does not stay outside the module, and may be in the part. */
static bool is_wanted(const Module *module, const BitcodeLibrary *library, const BitcodePart *part) {
    size_t length;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) || is_intrinsic(f) || !LLVMGetFirstUse(f)) continue;
        const char *name = LLVMGetValueName2(f, &length);
        if (may_define(library, part, name, length) && !module->target->knows(module, name)) return true;
    }
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

static bool link_part(Module *module, const BitcodePart *part, Diag *diag) {
    LLVMModuleRef opened = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange((const char *)part->bytes, (size_t)part->size,
                                                                       "krait-bitcode", true);
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
    return true;
}

static size_t bodies(LLVMModuleRef module) {
    size_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) count += !LLVMIsDeclaration(f);
    return count;
}

/* What comes from a part may want more, of a part that was opened before, too: as long as bodies come. */
static bool link_library(Module *module, const BitcodeLibrary *library, Diag *diag) {
    for (bool more = true; more;) {
        more = false;
        for (const BitcodePart *part = library->parts; part->bytes; part++) {
            if (!is_wanted(module, library, part)) continue;
            size_t before = bodies(module->module);
            TRY(link_part(module, part, diag));
            more = more || bodies(module->module) > before;
        }
    }
    internalise(module->module);
    return true;
}

bool codegen_bitcode_link(Module *module, Diag *diag) {
    for (size_t i = 0; i < COUNT_OF(module->target->libraries); i++)
        if (module->target->libraries[i].parts) TRY(link_library(module, &module->target->libraries[i], diag));
    return true;
}
