/* codegen.c: the stages of code generation and the life of a Module.
 *
 *   FuncInsts --codegen_lower--> LLVM module --codegen_link--> with bitcode --codegen_optimise--> ready for a target's
 * emit
 *
 * Every Module has a context of its own with a diagnostic handler: without one LLVM ends the process at the first error
 * it reports. */
#include <stdio.h>  /* sscanf */
#include <string.h> /* strlen */

#include "codegen/lower.h"

/* LLVM reports through this what has no return value to report by: what linking failed on, above all; and how large a
 * function's frame is, of one that has the attribute warn-stack-size.  No arena here: it may jump. */
static void remember_diagnostic(LLVMDiagnosticInfoRef info, void *self) {
    Module *module = self;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity != LLVMDSError && severity != LLVMDSWarning) return;
    char *text = LLVMGetDiagInfoDescription(info);
    const char *size = strstr(text, "stack frame size (");
    size_t frame = 0;
    if (severity == LLVMDSError) strncpy(module->message, text, sizeof module->message - 1);
    if (severity == LLVMDSWarning && size && sscanf(size, "stack frame size (%zu", &frame) == 1) {
        module->frames += frame;
        if (frame > module->largest_frame) module->largest_frame = frame;
    }
    LLVMDisposeMessage(text);
}

/* From so many values on a function may be too long for all of LLVM's passes (optimise.c).  Of a kernel there are two
 * copies. */
enum { LONG = 5000, LONG_KERNEL = LONG / 2 };

static bool has_long(const Program *program, EntryKind entry) {
    uint32_t limit = entry == ENTRY_KERNEL ? LONG_KERNEL : LONG;
    for (size_t i = 0; i < program->count; i++)
        if (program->insts[i]->func->next_value > limit || program->insts[i]->many_loops) return true;
    return false;
}

static Module *module_new(const Target *target, const CodegenOptions *options, const Program *program) {
    Arena *arena = program->arena;
    Module *module = ARENA_NEW(arena, Module);
    module->target = target;
    module->options = *options;
    module->has_long = target->splits_long && options->opt_level > 0 && has_long(program, options->entry);
    module->arena = arena;
    module->types = program->types;
    return module;
}

static bool module_open(Module *module, Diag *diag) {
    module->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(module->context, remember_diagnostic, module);
    TRY(module->machine = module->target->machine(&module->options, diag));
    module->layout = LLVMCreateTargetDataLayout(module->machine);
    module->module = LLVMModuleCreateWithNameInContext(module->options.entry_name, module->context);
    char *triple = LLVMGetTargetMachineTriple(module->machine);
    LLVMSetTarget(module->module, triple);
    LLVMDisposeMessage(triple);
    LLVMSetModuleDataLayout(module->module, module->layout);
    module->builder = LLVMCreateBuilderInContext(module->context);
    return true;
}

void codegen_drop_copied(Module *module) {
    if (module->text) LLVMDisposeMessage(module->text);
    if (module->buffer) LLVMDisposeMemoryBuffer(module->buffer);
    module->text = NULL, module->buffer = NULL;
}

void codegen_dispose(Module *module) {
    if (!module) return;
    codegen_drop_copied(module);
    if (module->debug) LLVMDisposeDIBuilder(module->debug);
    if (module->builder) LLVMDisposeBuilder(module->builder);
    if (module->module) LLVMDisposeModule(module->module);
    if (module->layout) LLVMDisposeTargetData(module->layout);
    if (module->machine) module->target->release_machine(module->machine, &module->options);
    if (module->context) LLVMContextDispose(module->context);
    module->debug = NULL, module->builder = NULL, module->module = NULL, module->layout = NULL, module->machine = NULL,
    module->context = NULL;
}

/* False, with LLVM's words and the module's text in the diagnostic, if LLVM finds the module malformed. */
static bool verify(Module *module, Diag *diag) {
    bool broken = LLVMVerifyModule(module->module, LLVMReturnStatusAction, &module->text);
    const char *copy = arena_strdup(module->arena, module->text ? module->text : "");
    codegen_drop_copied(module);
    Span none = {0};
    FAIL_IF(broken, diag, LLVM, NULL, none, "%s", copy);
    return true;
}

bool codegen_index_raises(const Target *target, const CodegenOptions *options) {
    return target->access(options) == ACCESS_RAISE;
}

/* The table of addresses (l_address), now that its length is known; linking fills it. */
static void finish_addresses(Module *module) {
    LLVMValueRef declared = LLVMGetNamedGlobal(module->module, ADDRESSES_SYMBOL);
    if (!declared) return;
    LLVMTypeRef type = LLVMArrayType2(LLVMPointerTypeInContext(module->context, 0), module->addresses.len);
    LLVMValueRef table = LLVMAddGlobal(module->module, type, "");
    LLVMSetInitializer(table, LLVMConstNull(type));
    LLVMSetVisibility(table, LLVMHiddenVisibility);
    LLVMReplaceAllUsesWith(declared, table);
    LLVMDeleteGlobal(declared);
    LLVMSetValueName2(table, ADDRESSES_SYMBOL, sizeof ADDRESSES_SYMBOL - 1);
}

/* Whether all loops are those of operations on whole arrays. */
static bool has_only_nests(const CodegenOptions *options, const Program *program) {
    bool any = options->entry != ENTRY_FUNCTION;
    for (size_t i = 0; i < program->count && !any; i++) any = program->insts[i]->has_rounds;
    return !any;
}

bool codegen_lower(Module **out, const Target *target, const CodegenOptions *options, const Program *program) {
    Module *module = *out = module_new(target, options, program);
    Diag *diag = program->diag;
    module->insts = program->insts;
    module->ninsts = program->count;
    module->inner_axis = program->inner_axis;
    module->joins_blocks = program->joins_blocks;
    module->straight = options->entry == ENTRY_UFUNC && !program->insts[0]->reaches_loop;
    module->keeps_raised = program->keeps_raised;
    module->only_nests = has_only_nests(options, program);
    memcpy(module->block, program->block, sizeof module->block);
    TRY(module_open(module, diag));
    Lower lower;
    l_init(&lower, module, diag);
    lower.narrow = target->slow_wide && program->small && lower.access != ACCESS_SKIP;
    lower.s = ARENA_NEW(program->arena, struct LowerState);
    TRY(lower_declare(&lower));
    for (size_t i = 0; i < program->count; i++) TRY(lower_function(&lower, program->insts[i]));
    TRY(target->entry(&lower, program->insts[0]));
    lower_parallel_finish(&lower);
    TRY(!diag->failed);
    lower_finish_caught(&lower);
    finish_addresses(module);
    debug_finish(module);
    zero_tests_hide(module); /* at level 0, too, some of LLVM's passes run */
    if (options->opt_level > 0) sine_pairs_join(module);
    return verify(module, diag);
}

/* Whether calls lead from the function to one that starts a generator anew.  seen: by FuncInst.id. */
static bool seeds(const FuncInst *inst, bool *seen) {
    if (seen[inst->id]) return false;
    seen[inst->id] = true;
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            if (value_calls(value, FUNC_DRAW_NUMPY_SEED) || value_calls(value, FUNC_DRAW_PYTHON_SEED)) return true;
            if (value_callee(value) && seeds(value_callee(value), seen)) return true;
        }
    return false;
}

/* rtlib/random.c says what it is for. */
static int stream_mode(const Module *module) {
    bool *seen = ARENA_ARRAY(module->arena, bool, module->ninsts);
    int mode = 0;
    for (size_t i = 0; i < module->ninsts && mode < 2; i++)
        if (module->insts[i]->piece) mode = seeds(module->insts[i]->piece, seen) ? 2 : 1;
    return mode;
}

bool codegen_link(Module *module, Diag *diag) {
    TRY(codegen_bitcode_link(module, diag));
    LLVMValueRef streams = LLVMGetNamedGlobal(module->module, "krait_streams"); /* rtlib/random.c asks */
    if (streams) {
        unsigned mode = (unsigned)stream_mode(module);
        LLVMSetInitializer(streams, LLVMConstInt(LLVMInt32TypeInContext(module->context), mode, false));
        LLVMSetLinkage(streams, LLVMInternalLinkage);
        LLVMSetGlobalConstant(streams, true);
    }
    return codegen_check_callees(module, false, diag);
}

bool codegen_optimise(Module *module, Diag *diag) {
    if (module->target->prepare) module->target->prepare(module);
    TRY(optimise_run(module, diag) && codegen_check_callees(module, true, diag));
    if (module->target->finish) module->target->finish(module);
#ifdef KRAIT_DEBUG
    TRY(verify(module, diag));
#endif
    return true;
}

char *codegen_text(Module *module, Arena *arena) {
    module->text = LLVMPrintModuleToString(module->module);
    char *copy = arena_strdup(arena, module->text);
    codegen_drop_copied(module);
    return copy;
}

const RaiseSite *codegen_raise_sites(const Module *module, size_t *count) {
    *count = module->raise_sites.len;
    return module->raise_sites.data;
}

const AccessSite *codegen_access_sites(const Module *module, size_t *count) {
    *count = module->access_sites.len;
    return module->access_sites.data;
}

const PrintSite *codegen_print_sites(const Module *module, size_t *count) {
    *count = module->print_sites.len;
    return module->print_sites.data;
}

size_t codegen_exception_bytes(const Module *module) { return module->exception_bytes; }
size_t codegen_shared_bytes(const Module *module) { return module->shared_bytes; }
bool codegen_has_barriers(const Module *module) { return module->has_barriers; }
bool codegen_waits_for_grid(const Module *module) { return module->waits_for_grid; }
bool codegen_tells_caught(const Module *module) { return module->tells_caught; }
unsigned codegen_ufunc_lanes(const Module *module) { return module->ufunc_lanes; }

const char *codegen_llvm_version(void) { return KRAIT_LLVM_VERSION; }
const char *codegen_device_math(void) { return KRAIT_DEVICE_MATH; }
