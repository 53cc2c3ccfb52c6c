/* python.c: calls of the interpreter by compiled code, and the exceptions that they raise.
 *
 * In: which function, the types of its arguments and of its result, their bytes.  Out: the result's bytes, or which
 * class it raised (ir_exceptions.def, counted from 1): then the thread keeps the exception until generated code takes
 * it into its exception buffer.  The layer above sets who does it. */
#include <stdatomic.h> /* atomic_load */

#include "runtime/host/host.h"

static _Atomic(const HostPython *) python;
static _Thread_local void *raised;

void host_set_python(const HostPython *of) { atomic_store(&python, of); }

int32_t krait_host_python(const char *what, const Type *types, const char *arguments, const Type *result, char *to) {
    const HostPython *is = atomic_load(&python);
    if (!is) return 1;
    raised = is->call(what, types, arguments, result, to);
    return raised ? is->row_of(raised) : 0;
}

int32_t krait_host_caught_text(void *caught, int64_t which, char *to) {
    const HostPython *is = atomic_load(&python);
    if (!is) return 1;
    raised = is->caught_text(caught, which, to);
    return raised ? is->row_of(raised) : 0;
}

int32_t krait_host_caught_attribute(void *caught, const char *name, const Type *type, char *to) {
    const HostPython *is = atomic_load(&python);
    if (!is) return 1;
    raised = is->caught_attribute(caught, name, type, to);
    return raised ? is->row_of(raised) : 0;
}

void *krait_host_take_raised(void) {
    void *taken = raised;
    const HostPython *is = atomic_load(&python);
    raised = NULL;
    return taken || !is ? taken : is->raised();
}

void krait_host_hold_raised(void *held, void *dropped) {
    const HostPython *is = atomic_load(&python);
    if (is) is->hold(held, dropped);
}

int32_t krait_host_raised_is(const void *held, const Type *classes) {
    const HostPython *is = atomic_load(&python);
    return is && is->is(held, classes);
}

uint32_t krait_host_character_traits(uint32_t code, uint32_t asked) {
    const HostPython *is = atomic_load_explicit(&python, memory_order_relaxed);
    return is ? is->traits(code, asked) : 0;
}

void krait_host_keep_raised(void *caught) {
    const HostPython *is = atomic_load(&python);
    if (is) is->keep(caught);
}

void krait_host_chain_raised(void *trail, int32_t status, void *handled) {
    const HostPython *is = atomic_load(&python);
    if (is) is->chain(trail, status, handled);
}

void krait_host_cause_raised(void *trail, int32_t status, void *cause) {
    const HostPython *is = atomic_load(&python);
    if (is) is->give_cause(trail, status, cause);
}
