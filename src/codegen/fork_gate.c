/* fork_gate.c: keeps a fork, and the end of the process, from happening in the middle of a compilation.
 *
 * In: codegen_enter and codegen_leave around everything that runs without the interpreter's lock.  Out: a child that
 * can compile.
 *
 * A child has only the thread that forked.  A lock that another thread held, in LLVM or here, stays taken in the child
 * for ever, and an initialisation that another thread was in never ends.  So whoever compiles holds this gate for
 * reading, and a fork takes it for writing: it waits until compilations under way have left, which takes milliseconds,
 * and new ones wait for it.  It cannot wait in a circle: the forking thread may hold the interpreter's lock, and who is
 * inside the gate never asks for that.
 *
 * At the end of a process LLVM's tables are taken down under threads that are still inside.  So that waits as well, and
 * leaves the gate closed; a fork by the thread that closed it does not wait for itself (EDEADLK). */
#include <pthread.h> /* pthread_rwlock_t */

#include "codegen/codegen.h"

/* Forks go first: compilations that overlap without a gap must not keep one out. */
static pthread_rwlock_t fork_gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void codegen_enter(void) { pthread_rwlock_rdlock(&fork_gate); }
void codegen_leave(void) { pthread_rwlock_unlock(&fork_gate); }

void codegen_close(void) { pthread_rwlock_wrlock(&fork_gate); }

static void close_gate(void) { pthread_rwlock_wrlock(&fork_gate); }
static void open_gate(void) { pthread_rwlock_unlock(&fork_gate); }

/* The child's one thread has another number than the one that locked: the gate is made anew. */
static void open_gate_in_child(void) {
    fork_gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

/* Handlers run in reverse order of installation, and this one must be the first: after those of codegen_cpu, which hold
 * locks that a compilation inside the gate may wait for. */
__attribute__((constructor(2000))) static void install_fork_handlers(void) {
    pthread_atfork(close_gate, open_gate, open_gate_in_child);
}
