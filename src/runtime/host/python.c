/* python.c: calls of the interpreter by compiled code.
 *
 * In: which function, the types of its arguments and of its result, their bytes.  Out: the result's bytes, or 1 where
 * it raised: the exception is set then.  The layer above sets who makes the calls. */
#include <stdatomic.h> /* atomic_load */

#include "runtime/host/host.h"

static _Atomic(HostPythonCall *) python_call;

void host_set_python_call(HostPythonCall *call) { atomic_store(&python_call, call); }

int32_t krait_host_python(const char *what, const Type *types, const char *arguments, const Type *result, char *to) {
    HostPythonCall *call = atomic_load(&python_call);
    return !call || !call(what, types, arguments, result, to);
}
