/* machines.c: target machines that wait for the next module: making one costs as much as optimising a small function.
 *
 * Slots are exchanged atomically, so that no lock can be held where a fork happens.  A machine keeps some names of
 * every module that it saw: after so many it is made anew. */
#include <stdatomic.h> /* atomic_exchange */

#include "codegen/llvm.h"

enum { MODULES = 64 };

LLVMTargetMachineRef machines_take(IdleMachines *idle) {
    for (int i = 0; i < IDLE_MACHINES; i++) {
        LLVMTargetMachineRef machine = atomic_exchange(&idle->slots[i], NULL);
        if (machine) return machine;
    }
    return NULL;
}

void machines_keep(IdleMachines *idle, LLVMTargetMachineRef machine) {
    bool old = atomic_fetch_add(&idle->kept, 1) % MODULES == MODULES - 1;
    for (int i = 0; !old && i < IDLE_MACHINES; i++) {
        LLVMTargetMachineRef none = NULL;
        if (atomic_compare_exchange_strong(&idle->slots[i], &none, machine)) return;
    }
    LLVMDisposeTargetMachine(machine);
}
