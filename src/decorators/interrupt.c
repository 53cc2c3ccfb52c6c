/* interrupt.c: signals while compiled code runs.
 *
 * In: a safepoint of compiled code, every 10 ms, of any thread, with the GIL or without (runtime/host/interrupt.c).
 * Out: whether a signal's handler raised; the exception is set then.
 *
 * The interpreter handles signals in its main thread alone: only that one takes the GIL if it has none.  Who holds the
 * GIL lets others have it, as the interpreter does between two instructions: the main thread may wait for it with a
 * signal to handle, and a thread for what another writes. */
#include <sys/syscall.h> /* SYS_gettid */
#include <unistd.h>      /* getpid */

#include "decorators/decorators.h"

static bool is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

static bool check_signals(bool again) {
    if (PyGILState_Check()) {
        if (again) return PyErr_Occurred() != NULL;
        if (PyErr_CheckSignals() < 0) return true;
        PyThreadState *saved = PyEval_SaveThread();
        PyEval_RestoreThread(saved);
        return false;
    }
    if (!is_main_thread()) return false;
    PyGILState_STATE gil = PyGILState_Ensure();
    bool raised = again ? PyErr_Occurred() != NULL : PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    return raised;
}

void interrupt_init(void) { host_set_interrupt_check(check_signals); }
