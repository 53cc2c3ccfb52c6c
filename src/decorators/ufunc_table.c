/* ufunc_table.c: the machine code of one loop of a ufunc, which grows with what it is asked for.
 *
 * In: a specialisation compiled as ENTRY_UFUNC, and, from the run time, how operands lie for which a plain loop of
 * their own would pay (HostLie).  Out: that loop in the table: the same function compiled once more, for the same types
 * and the same values of global variables, as CodegenOptions.lie says, and kept on disk as the first is (cache=True).
 *
 * One thread makes it, whichever comes first; the others go on with the loop there is, and so do all where it cannot
 * be made: nothing but time depends on it. */
#include "decorators/vectorized.h"

#include <fenv.h>   /* feholdexcept */
#include <string.h> /* memcpy */

#include "driver/driver.h" /* driver_compile */

typedef struct Making {
    UfuncTable *table;
    HostLie lie;
} Making;

/* An ArenaBody. */
static void *compile(Arena *arena, void *context) {
    const Making *making = context;
    const UfuncTable *table = making->table;
    const Code *first = table->spec->code;
    Config config = first->config;
    Diag diag;
    diag_init(&diag, arena);
    config.codegen.lie = making->lie;
    config.keep_text = config.note_doubles = false;
    Code *code = driver_compile(&table->state->session, &config, table->decorated, first->params, first->param_konsts,
                                first->nparams, &diag);
    return code ? code : errors_raise_diag(table->state, &diag);
}

/* With the GIL.  NULL: none, without an exception unless something else has raised it, such as a signal's handler. */
static Code *code_for(UfuncTable *table, HostLie lie) {
    Making making = {table, lie};
    if (!spec_guards(table->spec)) return NULL; /* a global variable has another value by now */
    Code *code = errors_on_large_stack(compile, &making);
    bool ours = !code && (PyErr_ExceptionMatches(table->state->errors[ERROR_KRAIT]) ||
                          PyErr_ExceptionMatches(PyExc_MemoryError));
    if (ours) PyErr_Clear();
    if (!code || spec_guards(table->spec)) return code;
    code_release(code);
    return NULL;
}

/* In the midst of NumPy's work: the compiler's own arithmetic sets none of its flags.  On threads of a pool nothing is
 * made: their caller waits, and may be all that keeps the interpreter from its end. */
static void make(HostTable *head, HostLie lie, const void *data) {
    UfuncTable *table = (UfuncTable *)head;
    fenv_t numbers;
    if (data != table->alone || atomic_exchange(&table->begun[lie], true)) return;
    feholdexcept(&numbers);
    PyGILState_STATE gil = PyGILState_Ensure();
    HostPlain *plain = head->loops->plain;
    if (!PyErr_Occurred() && (table->made[lie] = code_for(table, lie))) {
        void *address = host_code_address(table->made[lie]->host);
        memcpy(&plain, &address, sizeof plain);
    }
    atomic_store_explicit(&head->plain[lie], plain, memory_order_release);
    PyGILState_Release(gil);
    fesetenv(&numbers);
}

void ufunc_table_begin(UfuncTable *table, const Specialiser *core, Spec *spec, const HostUfunc *alone) {
    table->head.loops = host_code_address(spec->code->host);
    table->head.make = make;
    atomic_init(&table->head.plain[LIE_ANYHOW], table->head.loops->plain);
    table->state = core->state;
    table->spec = spec;
    table->decorated = core->identity;
    table->alone = alone;
}

void ufunc_table_end(UfuncTable *table) {
    for (int lie = 0; lie < LIE_COUNT; lie++) code_release(table->made[lie]);
}
