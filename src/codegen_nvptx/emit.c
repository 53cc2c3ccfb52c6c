/* emit.c: an optimised module becomes PTX text, with the PTX texts that it names (LINKED_PTX) put in.
 *
 * A text that is put in loses its .version, .target and .address_size; the module's version is the highest of all. What
 * it defines and our code declares as .extern becomes a declaration of the same module: .visible.  What machine code
 * defines, which such a text has in a comment (LINKED_CODE), stays .extern: the driver links it. */
#include <string.h> /* memcpy, strstr */

#include "codegen_nvptx/nvptx.h"

/* ---- linked texts ---- */

static bool is_heading(const char *line) {
    while (*line == ' ' || *line == '\t') line++;
    return !strncmp(line, ".version", 8) || !strncmp(line, ".target", 7) || !strncmp(line, ".address_size", 13);
}

/* The lines of a text that are no heading, or, with `heading`, those that are. */
static void put_lines(Buf *out, const char *text, bool heading, int version) {
    for (const char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line);
        if (is_heading(line) != heading) continue;
        if (heading && strstr(line, ".version") && strstr(line, ".version") < end)
            buf_printf(out, ".version %d.%d\n", version / 10, version % 10);
        else
            buf_printf(out, "%.*s", (int)(end - line), line);
    }
    if (!heading) buf_puts(out, "\n");
}

/* Whether one of the texts has the name, followed as where a function is defined. */
static bool names(const char *const *texts, unsigned count, const char *name, size_t length) {
    for (unsigned i = 0; i < count; i++)
        for (const char *at = texts[i]; (at = strstr(at, name)); at++)
            if (strspn(at + length, " (\n\r\t") > 0) return true;
    return false;
}

static void declare_here(const Module *module, char *text, const char *const *texts, unsigned count) {
    for (char *at = text; (at = strstr(at, ".extern .func")); at++) {
        char *end = strchr(at, ';');
        for (LLVMValueRef f = LLVMGetFirstFunction(module->module); end && f; f = LLVMGetNextFunction(f)) {
            size_t length;
            const char *name = LLVMGetValueName2(f, &length);
            if (!LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, LINKED_PTX, strlen(LINKED_PTX))) continue;
            char *found = strstr(at, name);
            bool whole = found && found < end && strspn(found + length, " (\n\r\t") > 0;
            if (whole && names(texts, count, name, length))
                memcpy(at, ".visible.func", strlen(".visible.func")); /* as long as what stood there */
        }
    }
}

static char *put_in_linked(const Module *module, Arena *arena, char *text) {
    unsigned count = LLVMGetNamedMetadataNumOperands(module->module, LINKED_PTX);
    if (!count) return text;
    LLVMValueRef *nodes = ARENA_ARRAY(arena, LLVMValueRef, count), item;
    const char **texts = ARENA_ARRAY(arena, const char *, count);
    int version = l_ptx_version(text);
    LLVMGetNamedMetadataOperands(module->module, LINKED_PTX, nodes);
    for (unsigned i = 0; i < count; i++) {
        unsigned length;
        LLVMGetMDNodeOperands(nodes[i], &item);
        const char *bytes = LLVMGetMDString(item, &length);
        texts[i] = arena_strndup(arena, bytes, length);
        if (l_ptx_version(texts[i]) > version) version = l_ptx_version(texts[i]);
    }
    declare_here(module, text, texts, count);
    Buf out;
    buf_init(&out, arena);
    put_lines(&out, text, true, version);
    put_lines(&out, text, false, version);
    for (unsigned i = 0; i < count; i++) put_lines(&out, texts[i], false, version);
    return out.text;
}

char *codegen_nvptx_emit(Module *module, Arena *arena, size_t *length, Diag *diag) {
    codegen_drop_copied(module);
    nvptx_rewrite(module);
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(module->machine, module->module, LLVMAssemblyFile, &module->text,
                                                      &module->buffer);
    FAIL_IF(failed, diag, LLVM, NULL, (Span){0}, "%s", module->text ? module->text : "no PTX");
    /* reported on the side: instruction selection has no other way */
    FAIL_IF(module->message[0], diag, LLVM, NULL, (Span){0}, "%s", module->message);
    *length = LLVMGetBufferSize(module->buffer);
    char *text = arena_strndup(arena, LLVMGetBufferStart(module->buffer), *length);
    if (module->options.opt_level) text = nvptx_wide_text(arena, text);
    text = nvptx_exact_text(arena, text);
    text = nvptx_note_rows(module, arena, put_in_linked(module, arena, text));
    *length = strlen(text);
    codegen_drop_copied(module);
    return text;
}
