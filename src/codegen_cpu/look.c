/* look.c: how generated code looks for signals, and what it calls to do so.
 *
 * In: the exception buffer.  Out: 0; or 1, and the buffer has the trail of what a signal's handler raised.
 *
 * The loops that look are those whose values are best in registers, so the call leaves all of them as they are: a call
 * that may change them would have them go through memory in every round, and finding places for them would take a good
 * part of the time of code generation.  That is LLVM's convention preserve_all, which not all C compilers speak: so
 * what is called on x86-64 is assembly around a C function.  With AVX that convention keeps the whole of the first 16
 * vector registers, without it their lower halves.  On other processors it is C's convention.
 *
 * The call is convergent, which says that it is not to depend on more conditions than it does: so LLVM does not make
 * two of a loop around one that looks, for a condition that costs nothing beside as many rounds as a budget has. */

#include "codegen_cpu/cpu.h"
#include "runtime/host/host.h" /* krait_host_safepoint */

static int32_t begin(RaiseTrail *trail, void *object) {
    trail->object = object;
    trail->depth = 0;
    trail->shown = trail->chained = false;
    trail->owes = OWES_FIRST;
    return 1;
}

int32_t krait_look(RaiseTrail *trail) {
    if (!krait_host_safepoint()) return 0;
    return begin(trail, krait_host_take_raised());
}

/* Who launches a kernel finds the exception set. */
int32_t krait_look_kernel(RaiseTrail *trail) {
    if (!krait_host_safepoint()) return 0;
    return begin(trail, NULL);
}

#if defined(__x86_64__)
/* Seven registers and the address to return to leave the stack aligned. */
#define KEEPING(name, function, move, vector, bytes, then)                                                 \
    __asm__(".pushsection .text\n.hidden " name "\n.globl " name "\n.type " name ",@function\n" name ":\n" \
            "    .cfi_startproc\n"                                                                         \
            "    pushq %rcx\n    pushq %rdx\n    pushq %rsi\n    pushq %rdi\n"                             \
            "    pushq %r8\n    pushq %r9\n    pushq %r10\n"                                               \
            "    subq $16*" bytes ", %rsp\n    .cfi_def_cfa_offset 64+16*" bytes "\n"                      \
            "    .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"                                           \
            "    " move " %" vector "\\i, " bytes "*\\i(%rsp)\n    .endr\n"                                \
            "    " then "call " function "\n"                                                              \
            "    .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"                                           \
            "    " move " " bytes "*\\i(%rsp), %" vector "\\i\n    .endr\n"                                \
            "    addq $16*" bytes ", %rsp\n    .cfi_def_cfa_offset 64\n"                                   \
            "    popq %r10\n    popq %r9\n    popq %r8\n"                                                  \
            "    popq %rdi\n    popq %rsi\n    popq %rdx\n    popq %rcx\n"                                 \
            "    .cfi_def_cfa_offset 8\n    ret\n    .cfi_endproc\n.size " name ",.-" name "\n.popsection\n")

KEEPING("krait_look_sse", "krait_look", "movups", "xmm", "16", "");
KEEPING("krait_look_avx", "krait_look", "vmovups", "ymm", "32", "vzeroupper\n    ");
KEEPING("krait_look_kernel_sse", "krait_look_kernel", "movups", "xmm", "16", "");
KEEPING("krait_look_kernel_avx", "krait_look_kernel", "vmovups", "ymm", "32", "vzeroupper\n    ");
#endif

static const char *symbol_of(const Lower *l) {
    bool kernel = l->m->options.entry == ENTRY_KERNEL;
#if defined(__x86_64__)
    if (host_has_avx()) return kernel ? "krait_look_kernel_avx" : "krait_look_avx";
    return kernel ? "krait_look_kernel_sse" : "krait_look_sse";
#else
    return kernel ? "krait_look_kernel" : "krait_look";
#endif
}

LLVMValueRef host_safepoint(Lower *l) {
    LLVMValueRef look = l_declare(l, symbol_of(l), LLVMFunctionType(l->i32, &l->ptr, 1, false));
    l_attribute(l, look, -1, "cold", 0);
    l_attribute(l, look, -1, "convergent", 0);
#if defined(__x86_64__)
    LLVMSetFunctionCallConv(look, LLVMPreserveAllCallConv);
#endif
    return l_call(l, look, &l->exception, 1);
}
