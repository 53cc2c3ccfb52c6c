/* ready.c: the compiler made ready for GPU kernels while the driver makes a context.
 *
 * In: a compute capability, and the newest PTX that the driver reads.  Out: nothing but what stays in the process: a
 * target machine (codegen/machines.c), LLVM's tables, the pages of this library that kernels need.
 *
 * The first compilation of a process takes three times as long as the next, and making a context a hundred times as
 * long, in which the thread that asked for it can do nothing else.  So another compiles a kernel meanwhile, from typed
 * IR on: a loop over arrays, a function of the math library.  Whoever compiles at the same time waits for nothing.
 *
 * The thread is inside the fork gate as long as it works: a fork waits for it, and so does the end of the process
 * (codegen_close).  What it works on is its own; it knows nothing of the interpreter.  Nobody hears of a failure: what
 * is wrong then, the first kernel will tell.  There is no such thread where one core would do both, where all code is
 * to come from the disk (KRAIT_CACHE=1), nor where the memory of the process is limited: LLVM, refused memory, ends
 * it. */
#include <setjmp.h>       /* setjmp */
#include <stdlib.h>       /* malloc */
#include <sys/resource.h> /* getrlimit */

#include "codegen_nvptx/codegen_nvptx.h" /* codegen_nvptx_target, codegen_nvptx_emit */
#include "driver/cache.h"                /* cache_wanted */
#include "runtime/host/host.h"           /* host_begin_thread */

static const char kernel[] = "func ready(x: array(float32, 1, C), y: array(float32, 1, C), a: float) -> None {\n"
                             "b0:\n"
                             "  %3 = const 1\n"
                             "  %4: int = call_func[krait.cuda.grid] %3\n"
                             "  %5: int = getattr[size] %0\n"
                             "  %6: int = call_func[krait.cuda.gridsize] %3\n"
                             "  %7: range = call_func[builtins.range] %4, %5, %6\n"
                             "  %8: iter.range(int) = iter %7\n"
                             "  jump b1\n"
                             "b1:\n"
                             "  %9: bool = iter_more %8\n"
                             "  branch %9, b2, b3\n"
                             "b2:\n"
                             "  %10: int = iter_take %8\n"
                             "  %11: float32 = getitem %0, %10\n"
                             "  %12: float32 = call_func[math.exp] %11\n"
                             "  %13: float32 = cast %2\n"
                             "  %14: float32 = mul %13, %12\n"
                             "  %15 = const 3\n"
                             "  %16: int = floordiv.unchecked %10, %15\n"
                             "  %17: float32 = getitem %1, %16\n"
                             "  %18: float32 = add %14, %17\n"
                             "  setitem %1, %10, %18\n"
                             "  jump b1\n"
                             "b3:\n"
                             "  %19 = const None\n"
                             "  return.implicit %19\n"
                             "}\n";

typedef struct Readying {
    CodegenOptions options;
    TypeTable *types;
    Library *library;
    Arena *arena;
    Diag diag;
    Module *module;
    jmp_buf recovery;
} Readying;

static bool compile(Readying *self) {
    Func *func = func_parse(self->arena, self->types, kernel, &self->diag);
    TRY(func && func_verify(func, true, &self->diag));
    FuncInst *inst = func_instance(self->arena, self->types, func);
    Program program = {.arena = self->arena, .types = self->types, .diag = &self->diag, .small = true};
    program_add(&program, inst);
    TRY(passes_run(&program, PASS_ON_GPU, NULL));
    TRY(codegen_lower(&self->module, codegen_nvptx_target(), &self->options, &program));
    TRY(codegen_link(self->module, &self->diag) && codegen_optimise(self->module, &self->diag));
    size_t length;
    return codegen_nvptx_emit(self->module, self->arena, &length, &self->diag) != NULL;
}

bool driver_ready_now(int compute_capability, int ptx_version) {
    Readying self = {.types = type_table_new(), .library = library_new(), .arena = arena_new()};
    volatile bool fine = false;
    self.options = (CodegenOptions){.entry = ENTRY_KERNEL,
                                    .entry_name = "krait_ready",
                                    .opt_level = 3,
                                    .facts = FACTS_ALL,
                                    .compute_capability = compute_capability,
                                    .ptx_version = ptx_version};
    codegen_enter();
    if (self.types && self.library && self.arena && setjmp(self.recovery) == 0) {
        arena_on_exhaustion(self.arena, &self.recovery);
        type_table_set_functions(self.types, library_find_head, self.library);
        diag_init(&self.diag, self.arena);
        fine = compile(&self);
    }
    codegen_dispose(self.module);
    codegen_leave();
    if (self.arena) arena_free(self.arena);
    if (self.types) type_table_free(self.types);
    library_free(self.library);
    return fine;
}

static void *work(void *given) {
    const int *versions = given;
    driver_ready_now(versions[0], versions[1]);
    free(given);
    return NULL;
}

static bool memory_is_limited(void) {
    struct rlimit all, data;
    if (getrlimit(RLIMIT_AS, &all) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return true;
    return all.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY;
}

void driver_make_ready(int compute_capability, int ptx_version) {
    if (host_threads() < 2 || cache_wanted(&(Config){0}) || memory_is_limited()) return;
    int *versions = malloc(2 * sizeof *versions);
    if (!versions) return;
    versions[0] = compute_capability, versions[1] = ptx_version;
    if (!host_begin_thread(work, versions)) free(versions);
}
