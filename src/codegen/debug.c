/* debug.c: line tables: which line of the Python source an instruction comes from, for profilers and debuggers.
 *
 * Only with options.line_tables; a GPU gets directives alone unless it is debugged: where there are tables its driver
 * takes the code for code under a debugger.  One compile unit for the module, one file for each source, one subprogram
 * for each function; every instruction gets the place of the value it was generated for.  LLVM demands that every call
 * in a function with a subprogram has a place: the function's own line stands until the first value, and throughout the
 * entry wrappers, without which inlining would drop the places. */
#include <string.h> /* strlen */

#include "codegen/lower.h"

static LLVMMetadataRef file_of(Lower *l, const char *path) {
    size_t length = strlen(path), folder = length;
    while (folder > 0 && path[folder - 1] != '/') folder--;
    return LLVMDIBuilderCreateFile(l->m->debug, path + folder, length - folder, path, folder);
}

static bool open_debug(Lower *l, const Source *source) {
    if (l->m->debug) return true;
    static const char version[] = "Debug Info Version", producer[] = "krait";
    const LLVMDWARFEmissionKind directives_only = (LLVMDWARFEmissionKind)3; /* which the C interface does not name */
    bool tables = l->m->options.line_tables == LINE_TABLES_DEBUG;
    LLVMDWARFEmissionKind emission = tables ? LLVMDWARFEmissionLineTablesOnly : directives_only;
    l->m->debug = LLVMCreateDIBuilder(l->module);
    LLVMMetadataRef number = LLVMValueAsMetadata(l_i32(l, LLVMDebugMetadataVersion()));
    LLVMAddModuleFlag(l->module, LLVMModuleFlagBehaviorWarning, version, sizeof version - 1, number);
    return LLVMDIBuilderCreateCompileUnit(l->m->debug, LLVMDWARFSourceLanguagePython, file_of(l, source->file),
                                          producer, sizeof producer - 1, true, "", 0, 0, "", 0, emission, 0, false,
                                          false, "", 0, "", 0) != NULL;
}

static void locate(Lower *l, Span span) {
    if (!l->s->subprogram || !span.line) return;
    LLVMMetadataRef place = LLVMDIBuilderCreateDebugLocation(l->context, span.line, span.col + 1, l->s->subprogram,
                                                             NULL);
    LLVMSetCurrentDebugLocation2(l->b, place);
}

void debug_begin(Lower *l, LLVMValueRef function) {
    const Func *func = l->func ? l->func : l->m->insts[0]->func; /* a wrapper has the root's place */
    const Source *source = func->source;
    l->s->subprogram = NULL;
    if (!l->m->options.line_tables || !source || !source->file || !open_debug(l, source)) return;
    const char *name = source->function ? source->function : func->name;
    size_t symbol_length;
    const char *symbol = LLVMGetValueName2(function, &symbol_length);
    LLVMMetadataRef file = file_of(l, source->file);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(l->m->debug, file, NULL, 0, LLVMDIFlagZero);
    unsigned line = func->span.line ? func->span.line : source->first_line + 1;
    l->s->subprogram = LLVMDIBuilderCreateFunction(l->m->debug, file, name, strlen(name), symbol, symbol_length, file,
                                                   line, type, true, true, line, LLVMDIFlagZero,
                                                   l->m->options.opt_level > 0);
    LLVMSetSubprogram(function, l->s->subprogram);
    locate(l, (Span){.line = line});
}

void debug_locate(Lower *l, const Value *value) { locate(l, value->span); }

void debug_end(Lower *l) {
    if (l->s->subprogram) LLVMSetCurrentDebugLocation2(l->b, NULL);
    l->s->subprogram = NULL;
}

void debug_finish(Module *module) {
    if (module->debug) LLVMDIBuilderFinalize(module->debug);
}
