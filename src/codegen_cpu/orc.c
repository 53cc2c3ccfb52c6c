/* orc.c: from an optimised module to machine code that can be called.
 *
 * In: a Module.  Out: a CodeImage, and of that HostCode (an address and what keeps it alive), or a Diag.
 *
 *   module --LLVM's code generator--> object file in memory --ORC (LLJIT)--> executable memory --lookup--> address
 *
 * The object is made here, by the module's own target machine and without any lock, so that many threads compile at
 * once; only linking (a tenth of a millisecond) is under the lock.  The context dies with the module: ORC never sees
 * IR.
 *
 * The one LLJIT of the process (three quarters of a millisecond to make, hence not one per function) is global because
 * executable memory belongs to the process.  It is made at the first emit and never disposed of; what it holds is freed
 * by host_code_release, through a resource tracker for each HostCode.  A fork waits until no thread is linking, so that
 * the child finds it in order.
 *
 * Symbols are looked for in a library of our own that links against nothing: what it does not define, define_symbol
 * asks host_symbol for. */
#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_fetch_add */
#include <stdio.h>     /* snprintf */
#include <stdlib.h>    /* calloc */
#include <string.h>    /* memset */

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>

#include "codegen_cpu/cpu.h"

enum { MESSAGE_BYTES = 1024 };

typedef struct Linker {
    LLVMOrcLLJITRef jit;
    LLVMOrcExecutionSessionRef session;
    LLVMOrcJITDylibRef library;
    CodeSlab *slabs;             /* where all code lies */
    CodeMemory *memory;          /* of the object that is linked, until the linker has taken it */
    char message[MESSAGE_BYTES]; /* what ORC reported last; its errors come by a callback, the calls' own say only
                                    "failed" */
} Linker;

static pthread_mutex_t linker_lock = PTHREAD_MUTEX_INITIALIZER;
static Linker linker; /* under linker_lock */

static void lock_linker(void) { pthread_mutex_lock(&linker_lock); }
static void unlock_linker(void) { pthread_mutex_unlock(&linker_lock); }
/* When the library is loaded, under the interpreter's lock: a fork that began before the handlers were there would not
 * run them, and leave the child a lock that nobody holds.  Their order among others matters: codegen/fork_gate.c. */
__attribute__((constructor(1000))) static void install_fork_handlers(void) {
    pthread_atfork(lock_linker, unlock_linker, unlock_linker);
}

/* ---- errors ---- */

static void take_message(LLVMErrorRef error, char *message) {
    char *text = LLVMGetErrorMessage(error); /* consumes the error */
    snprintf(message, MESSAGE_BYTES, "%s", text);
    LLVMDisposeErrorMessage(text);
}

static void report_error(void *self, LLVMErrorRef error) { take_message(error, ((Linker *)self)->message); }

/* False, with the text in `message`, if there is an error; it prefers what was reported before, which is more precise.
 */
static bool fine(LLVMErrorRef error, char *message) {
    if (!error) return true;
    if (message[0])
        LLVMConsumeError(error);
    else
        take_message(error, message);
    return false;
}

/* ---- the process's LLJIT; all under the lock ---- */

static LLVMErrorRef define_symbol(LLVMOrcDefinitionGeneratorRef generator, void *self, LLVMOrcLookupStateRef *state,
                                  LLVMOrcLookupKind kind, LLVMOrcJITDylibRef library, LLVMOrcJITDylibLookupFlags flags,
                                  LLVMOrcCLookupSet set, size_t count) {
    (void)generator, (void)self, (void)state, (void)kind, (void)flags;
    for (size_t i = 0; i < count; i++) {
        void *address = host_symbol(LLVMOrcSymbolStringPoolEntryStr(set[i].Name));
        if (!address) continue; /* ORC then reports it as missing */
        LLVMOrcRetainSymbolStringPoolEntry(set[i].Name);
        LLVMOrcCSymbolMapPair pair = {
            set[i].Name, {(LLVMOrcExecutorAddress)(uintptr_t)address, {LLVMJITSymbolGenericFlagsExported, 0}}};
        LLVMErrorRef error = LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(&pair, 1));
        if (error) return error;
    }
    return LLVMErrorSuccess;
}

/* The linker asks once for each object. */
static void *hand_over(void *self) {
    CodeMemory *memory = ((Linker *)self)->memory;
    ((Linker *)self)->memory = NULL;
    return memory;
}

static void no_more(void *self) { (void)self; }

static LLVMOrcObjectLayerRef make_layer(void *self, LLVMOrcExecutionSessionRef session, const char *triple) {
    (void)triple;
    return LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
        session, self, hand_over, no_more, code_memory_section, code_memory_data, code_memory_finish, code_memory_free);
}

static bool linker_open(char *message) {
    if (linker.jit) return true;
    LLVMOrcLLJITRef jit = NULL;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_layer, &linker);
    if (!fine(LLVMOrcCreateLLJIT(&jit, builder), message)) return false; /* takes the builder */
    linker.jit = jit;
    linker.session = LLVMOrcLLJITGetExecutionSession(jit);
    LLVMOrcExecutionSessionSetErrorReporter(linker.session, report_error, &linker);
    linker.library = LLVMOrcExecutionSessionCreateBareJITDylib(linker.session, "krait");
    LLVMOrcJITDylibAddGenerator(linker.library, LLVMOrcCreateCustomCAPIDefinitionGenerator(define_symbol, NULL, NULL));
    return true;
}

enum { MOST_LOOKUPS = 2 };

typedef struct Lookup {
    const char *names[MOST_LOOKUPS];
    void *addresses[MOST_LOOKUPS];
    size_t count;
    LLVMErrorRef error;
} Lookup;

static void lookup_done(LLVMErrorRef error, LLVMOrcCSymbolMapPairs pairs, size_t count, void *self) {
    Lookup *lookup = self;
    lookup->error = error;
    for (size_t i = 0; !error && i < count; i++)
        for (size_t k = 0; k < lookup->count; k++)
            if (!strcmp(LLVMOrcSymbolStringPoolEntryStr(pairs[i].Name), lookup->names[k]))
                lookup->addresses[k] = (void *)(uintptr_t)pairs[i].Sym.Address;
}

/* Links the object (which it takes) and finds its symbols. */
static bool link_object(LLVMOrcResourceTrackerRef tracker, LLVMMemoryBufferRef object, Lookup *lookup, char *message) {
    if (!fine(LLVMOrcLLJITAddObjectFileWithRT(linker.jit, tracker, object), message)) return false;
    LLVMOrcCJITDylibSearchOrderElement order = {linker.library, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcCLookupSetElement wanted[MOST_LOOKUPS];
    for (size_t i = 0; i < lookup->count; i++)
        wanted[i] = (LLVMOrcCLookupSetElement){LLVMOrcLLJITMangleAndIntern(linker.jit, lookup->names[i]),
                                               LLVMOrcSymbolLookupFlagsRequiredSymbol};
    LLVMOrcExecutionSessionLookup(linker.session, LLVMOrcLookupKindStatic, &order, 1, wanted, lookup->count,
                                  lookup_done, lookup);
    if (!fine(lookup->error, message)) return false;
    for (size_t i = 0; i < lookup->count; i++)
        if (!lookup->addresses[i]) snprintf(message, MESSAGE_BYTES, "the linker did not find %s", lookup->names[i]);
    return message[0] == 0;
}

static void tracker_free(LLVMOrcResourceTrackerRef tracker) {
    LLVMConsumeError(LLVMOrcResourceTrackerRemove(tracker));
    LLVMOrcReleaseResourceTracker(tracker);
    LLVMOrcSymbolStringPoolClearDeadEntries(LLVMOrcExecutionSessionGetSymbolStringPool(linker.session));
}

/* ---- emission ---- */

/* Bytes of all local variables: what the fibers' stacks must hold besides return addresses and spills. */
static size_t local_bytes(Module *module) {
    size_t sum = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (!LLVMIsAAllocaInst(i)) continue;
                LLVMValueRef count = LLVMGetOperand(i, 0);
                size_t items = LLVMIsAConstantInt(count) ? (size_t)LLVMConstIntGetZExtValue(count) : 1;
                sum += items * (size_t)LLVMABISizeOfType(module->layout, LLVMGetAllocatedType(i)) + LLVMGetAlignment(i);
            }
    return sum;
}

/* A GPU gives a thread 512 KiB at most; here the limit keeps threads within the stacks they run on. */
enum { MOST_OF_KERNEL = 512 << 10, MOST_OF_FUNCTION = THREAD_RECURSION };

static bool check_locals(Module *module, Diag *diag) {
    size_t bytes = local_bytes(module);
    if (module->options.entry != ENTRY_KERNEL || bytes <= MOST_OF_KERNEL) return true;
    const Func *root = module->insts[0]->untyped;
    return diag_fail(diag, DIAG_UNSUPPORTED, root->source, root->span,
                     "the local arrays of a thread take %zu bytes, at most %d are allowed", bytes, MOST_OF_KERNEL);
}

/* LLVM is to say how large the frame of each function is (remember_diagnostic). */
static void ask_for_frames(Module *module) {
    static const char warn[] = "warn-stack-size";
    LLVMAttributeRef all = LLVMCreateStringAttribute(module->context, warn, sizeof warn - 1, "0", 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, all);
    module->frames = module->largest_frame = 0;
}

/* A frame that is larger than the stack would end the process. */
static bool check_frames(const Module *module, Diag *diag) {
    size_t most = module->options.entry == ENTRY_KERNEL ? MOST_OF_KERNEL : MOST_OF_FUNCTION;
    if (module->largest_frame <= most) return true;
    const Func *root = module->insts[0]->untyped;
    diag_fail(diag, DIAG_UNSUPPORTED, root->source, root->span,
              "what the function computes takes %zu bytes of the stack, at most %zu are allowed", module->largest_frame,
              most);
    diag_hint(diag, "it is very long: take it apart into several functions, or make a loop of lines that are alike");
    return false;
}

static bool make_object(Module *module, LLVMCodeGenFileType kind, LLVMMemoryBufferRef *object, Diag *diag) {
    codegen_drop_copied(module);
    module->message[0] = 0;
    ask_for_frames(module);
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(module->machine, module->module, kind, &module->text, object);
    if (failed || module->message[0])
        diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "no machine code: %s",
                  failed && module->text ? module->text : module->message);
    return !diag->failed && check_frames(module, diag);
}

bool codegen_cpu_emit(Module *m, const char *entry_name, CodeImage *image, Diag *diag) {
    LLVMValueRef entry = LLVMGetNamedFunction(m->module, entry_name);
    if (!entry) entry = LLVMGetNamedGlobal(m->module, entry_name); /* ENTRY_UFUNC: data */
    FAIL_IF(!entry, diag, LLVM, NULL, (Span){0}, "the module has no entry %s", entry_name);
    LLVMSetValueName2(entry, IMAGE_SYMBOL, sizeof IMAGE_SYMBOL - 1);
    TRY(check_locals(m, diag) && make_object(m, LLVMObjectFile, &m->buffer, diag));
    image->size = LLVMGetBufferSize(m->buffer);
    image->bytes = memcpy(arena_alloc(m->arena, image->size), LLVMGetBufferStart(m->buffer), image->size);
    image->stack_bytes = m->frames; /* of a chain of calls no more: recursion has its own limit */
    codegen_drop_copied(m);
    return true;
}

/* ---- linking ---- */

/* A copy of the image whose symbols carry a number that no other has: what LLVM names is as long before as after. */
static LLVMMemoryBufferRef numbered(const CodeImage *image, const char *symbol) {
    size_t length = sizeof IMAGE_SYMBOL - 1;
    LLVMMemoryBufferRef copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(image->bytes, image->size, "krait");
    char *start = (char *)LLVMGetBufferStart(copy), *end = start + LLVMGetBufferSize(copy);
    for (char *at = start; (at = memmem(at, (size_t)(end - at), IMAGE_SYMBOL, length)) != NULL; at += length)
        memcpy(at, symbol, length);
    return copy;
}

static HostCode *link_under_lock(Module *module, const CodeImage *image, Lookup *lookup, char *message) {
    HostCode *code = calloc(1, sizeof *code);
    if (!code) {
        snprintf(message, MESSAGE_BYTES, "out of memory");
        return NULL;
    }
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(linker.library);
    code->tracker = tracker;
    code->kernel.stack_bytes = image->stack_bytes;
    code->recursive = module->recursive;
    code->kernel.kept_bytes = module->kept_bytes;
    code->kernel.inner_axis = module->has_barriers ? 0 : module->inner_axis;
    code->kernel.joins_blocks = module->joins_blocks && !module->has_barriers;
    linker.memory = code_memory_take(&linker.slabs, image->bytes, image->size);
    if (!linker.memory) snprintf(message, MESSAGE_BYTES, "no memory for %zu bytes of code", image->size);
    bool linked = linker.memory && link_object(tracker, numbered(image, lookup->names[0]), lookup, message);
    if (linker.memory) code_memory_free(linker.memory); /* nobody asked for it */
    linker.memory = NULL;
    if (!linked) {
        tracker_free(tracker);
        free(code);
        return NULL;
    }
    code->kernel.address = lookup->addresses[0];
    if (module->addresses.len)
        memcpy(lookup->addresses[1], module->addresses.data, module->addresses.len * sizeof *module->addresses.data);
    return code;
}

HostCode *codegen_cpu_link(Module *m, const CodeImage *image, Diag *diag) {
    static _Atomic uint64_t serial;
    HostCode *code = NULL;
    char message[MESSAGE_BYTES] = "", symbol[sizeof IMAGE_SYMBOL], table[sizeof ADDRESSES_SYMBOL];
    unsigned long long number = atomic_fetch_add(&serial, 1) + 1;
    Lookup lookup = {.names = {symbol, table}, .count = m->addresses.len ? 2 : 1};
    snprintf(symbol, sizeof symbol, "krait.%016llx", number);
    snprintf(table, sizeof table, "%s%s", symbol, &ADDRESSES_SYMBOL[sizeof IMAGE_SYMBOL - 1]);
    lock_linker();
    linker.message[0] = 0;
    if (linker_open(message)) code = link_under_lock(m, image, &lookup, linker.message);
    if (linker.message[0]) memcpy(message, linker.message, sizeof message);
    unlock_linker();
    codegen_dispose(m);
    if (!code) diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "linking failed: %s", message);
    return code;
}

char *codegen_cpu_assembly(Module *module, Arena *arena, Diag *diag) {
    if (!make_object(module, LLVMAssemblyFile, &module->buffer, diag)) return NULL;
    char *copy = arena_strndup(arena, LLVMGetBufferStart(module->buffer), LLVMGetBufferSize(module->buffer));
    codegen_drop_copied(module);
    return copy;
}

void *host_code_address(const HostCode *code) { return code->kernel.address; }

size_t host_code_stack(const HostCode *code) {
    size_t frames = code->kernel.stack_bytes;
    if (frames <= HOST_LEAST_RESERVE) return 0;
    if (!code->recursive) return frames + HOST_LEAST_RESERVE;
    return frames <= HOST_MOST_RESERVE ? 4 * frames : frames + THREAD_RECURSION;
}

HostKernel *host_code_kernel(HostCode *code) { return &code->kernel; }

void host_code_release(HostCode *code) {
    if (!code) return;
    lock_linker();
    tracker_free(code->tracker);
    unlock_linker();
    free(code);
}
