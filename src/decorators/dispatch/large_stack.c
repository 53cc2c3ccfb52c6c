/* large_stack.c: compilations, for which a thread's stack may be too small.
 *
 * In: work for an arena (errors_with_arena), called by a thread that holds the interpreter's lock.  Out: what the work
 * gives, and the exception that it has raised, as if it had run here.  LLVM calls itself deeply: where the thread has
 * little stack left, the work runs in a thread of its own, which takes the interpreter's lock meanwhile; so do several
 * threads where there is work for them. */
#include "decorators/decorators.h"

#include <pthread.h>   /* pthread_create */
#include <stdatomic.h> /* atomic_fetch_add */

enum { ENOUGH = 1 << 20, STACK = 16 << 20 };

typedef struct Errand {
    ArenaBody *body;
    void *context, *result;
    PyObject *raised;
    unsigned long asked_by;
} Errand;

/* Of a thread that does an errand: who waits for it; else 0. */
static _Thread_local unsigned long errand_of;

unsigned long errors_thread(void) { return errand_of ? errand_of : PyThread_get_thread_ident(); }

static void *run(void *context) {
    Errand *errand = context;
    errand_of = errand->asked_by;
    PyGILState_STATE gil = PyGILState_Ensure();
    errand->result = errors_with_arena(errand->body, errand->context);
    errand->raised = PyErr_Occurred() ? errors_take() : NULL;
    PyGILState_Release(gil);
    return NULL;
}

static bool run_apart(Errand *errand) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, STACK);
    PyThreadState *saved = PyEval_SaveThread();
    bool made = pthread_create(&thread, &attributes, run, errand) == 0;
    if (made) pthread_join(thread, NULL);
    PyEval_RestoreThread(saved);
    pthread_attr_destroy(&attributes);
    return made;
}

void *errors_on_large_stack(ArenaBody *body, void *context) {
    Errand errand = {body, context, NULL, NULL, errors_thread()};
    if (host_stack_left() >= ENOUGH) return errors_with_arena(body, context);
    if (!run_apart(&errand))
        PyErr_SetString(PyExc_MemoryError,
                        "compiling takes more of the stack than this thread has left, and no thread could be made");
    errors_come_after(errand.raised);
    return errand.result;
}

/* ---- several at once ---- */

typedef struct Errands {
    ArenaBody *body;
    void *const *contexts;
    size_t count;
    atomic_size_t next;
    unsigned long asked_by;
} Errands;

static int do_errands(Errands *errands) {
    for (size_t i; (i = atomic_fetch_add(&errands->next, 1)) < errands->count;) {
        errors_on_large_stack(errands->body, errands->contexts[i]);
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return -1; /* KeyboardInterrupt */
        PyErr_Clear();
    }
    return 0;
}

static void *help(void *context) {
    Errands *errands = context;
    errand_of = errands->asked_by;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (do_errands(errands) < 0) PyErr_Clear();
    PyGILState_Release(gil);
    return NULL;
}

int errors_at_once(ArenaBody *body, void *const *contexts, size_t count, unsigned threads) {
    enum { MOST = 16 };
    Errands errands = {.body = body, .contexts = contexts, .count = count, .asked_by = errors_thread()};
    pthread_t helpers[MOST];
    pthread_attr_t attributes;
    unsigned made = 0, wanted = count - 1 < threads - 1 ? (unsigned)count - 1 : threads - 1;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK);
        while (made < wanted && made < MOST && pthread_create(&helpers[made], &attributes, help, &errands) == 0) made++;
        pthread_attr_destroy(&attributes);
    }
    int status = do_errands(&errands);
    if (status < 0) atomic_store(&errands.next, count); /* no more are begun */
    Py_BEGIN_ALLOW_THREADS while (made > 0) pthread_join(helpers[--made], NULL);
    Py_END_ALLOW_THREADS return status;
}
