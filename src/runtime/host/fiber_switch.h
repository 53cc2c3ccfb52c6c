/* fiber_switch.h: from one stack to another: the registers that a call preserves are saved on the one that is left, and
 * stack pointers exchanged.  For fibers.c alone. */
#ifndef KRAIT_RUNTIME_HOST_FIBER_SWITCH_H
#define KRAIT_RUNTIME_HOST_FIBER_SWITCH_H

/* ---- the registers ----
 *
 * krait_fiber_switch(&mine, other): saves this stack's pointer, continues the other.  krait_fiber_start: what a new
 * stack returns to. */

void krait_fiber_switch(void **save, void *to);
void krait_fiber_start(void);

#if defined(__x86_64__)
__asm__(".text\n"
        ".hidden krait_fiber_switch\n.globl krait_fiber_switch\n.type krait_fiber_switch,@function\n"
        "krait_fiber_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size krait_fiber_switch,.-krait_fiber_switch\n"
        ".hidden krait_fiber_start\n.globl krait_fiber_start\n.type krait_fiber_start,@function\n"
        "krait_fiber_start:\n"
        "    movq %r12, %rdi\n"
        "    xorl %ebp, %ebp\n"
        "    callq *%r13\n"
        "    ud2\n"
        ".size krait_fiber_start,.-krait_fiber_start\n");

enum { FRAME_WORDS = 7, FRAME_ARGUMENT = 3, FRAME_FUNCTION = 2, FRAME_RETURN = 6 }; /* r15 r14 r13 r12 rbx rbp return */
#elif defined(__aarch64__)
__asm__(".text\n"
        ".hidden krait_fiber_switch\n.globl krait_fiber_switch\n.type krait_fiber_switch,%function\n"
        "krait_fiber_switch:\n"
        "    stp x19, x20, [sp, #-160]!\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, "
        "#144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, "
        "#64]\n"
        "    ldp x29, x30, [sp, #80]\n    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, "
        "#128]\n"
        "    ldp d14, d15, [sp, #144]\n    ldp x19, x20, [sp], #160\n"
        "    ret\n"
        ".size krait_fiber_switch,.-krait_fiber_switch\n"
        ".hidden krait_fiber_start\n.globl krait_fiber_start\n.type krait_fiber_start,%function\n"
        "krait_fiber_start:\n"
        "    mov x0, x19\n    mov x29, xzr\n    blr x20\n    brk #1\n"
        ".size krait_fiber_start,.-krait_fiber_start\n");

enum {
    FRAME_WORDS = 20,
    FRAME_ARGUMENT = 0,
    FRAME_FUNCTION = 1,
    FRAME_RETURN = 11
}; /* x19 ... x28 x29 x30 d8 ... d15 */
#else
#error "fiber_switch.h knows how to switch stacks on x86-64 and aarch64"
#endif

/* ---- the thread sanitizer, which keeps a call stack of its own for each stack of the program ---- */

#if defined(__SANITIZE_THREAD__)
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#define STACK_HERE()     __tsan_get_current_fiber()
#define STACK_NEW()      __tsan_create_fiber(0)
#define STACK_GONE(s)    ((s) ? __tsan_destroy_fiber(s) : (void)0)
#define STACK_ENTERED(s) __tsan_switch_to_fiber((s), 0)
#else
#define STACK_HERE()     NULL
#define STACK_NEW()      NULL
#define STACK_GONE(s)    ((void)(s))
#define STACK_ENTERED(s) ((void)(s))
#endif

#endif
