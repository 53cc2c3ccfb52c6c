/* ahead.c: the signatures of a decorator, compiled at the same time.
 *
 * In: a Specialiser with signatures.  Out: their code, which specialiser_compile takes instead of compiling.
 *
 * Nearly all of a compilation is LLVM's, without the interpreter's lock: each signature has a thread, as far as there
 * are cores.  What fails is dropped here: specialiser_compile, which goes through the signatures in their order, fails
 * anew with it, so that the first error is told, and warnings come in order. */
#include "decorators/decorators.h"

#include <string.h> /* memcmp */

#include "driver/driver.h"     /* config_fits */
#include "runtime/host/host.h" /* host_threads */

static bool is_for(const Compilation *made, const Compilation *wanted) {
    return made->code && made->fine && !wanted->konsts && made->count == wanted->count &&
           made->declared == wanted->declared &&
           memcmp(made->types, wanted->types, wanted->count * sizeof *wanted->types) == 0 &&
           config_fits(made->config, wanted->config);
}

Code *ahead_take(const Compilation *wanted) {
    const Ahead *ahead = wanted->self->ahead;
    for (size_t i = 0; ahead && i < ahead->count; i++) {
        Compilation *made = &ahead->compilations[i];
        if (!is_for(made, wanted)) continue;
        Code *code = made->code;
        made->code = NULL;
        return code;
    }
    return NULL;
}

static int run(Ahead *ahead, unsigned threads) {
    void **contexts = PyMem_Calloc(ahead->count, sizeof *contexts);
    for (size_t i = 0; contexts && i < ahead->count; i++) contexts[i] = &ahead->compilations[i];
    int status = contexts ? errors_at_once(compilation_run, contexts, ahead->count, threads) : 0;
    PyMem_Free(contexts);
    return status;
}

int ahead_begin(Ahead *ahead, Specialiser *self, const Config *config, bool declares) {
    size_t count = self->signatures ? (size_t)PyList_GET_SIZE(self->signatures) : 0;
    unsigned threads = host_threads();
    *ahead = (Ahead){0};
    if (count < 2 || threads < 2 || driver_prints()) return 0;
    ahead->compilations = PyMem_Calloc(count, sizeof *ahead->compilations);
    ahead->configs = PyMem_Calloc(count, sizeof *ahead->configs);
    for (size_t i = 0; ahead->compilations && ahead->configs && i < count; i++) {
        const Signature *signature = (Signature *)PyList_GET_ITEM(self->signatures, (Py_ssize_t)i);
        if (signature->count != self->binding.nparams) continue; /* an error, told later */
        Config *own = &ahead->configs[ahead->count];
        *own = *config;
        if (declares) own->codegen.declared = signature->result;
        ahead->compilations[ahead->count++] = (Compilation){
            self, own, signature->args, NULL, (size_t)signature->count, signature->result, NULL, false};
    }
    self->ahead = ahead;
    return ahead->count < 2 ? 0 : run(ahead, threads);
}

void ahead_end(Ahead *ahead, Specialiser *self) {
    self->ahead = NULL;
    for (size_t i = 0; i < ahead->count; i++) code_release(ahead->compilations[i].code);
    PyMem_Free(ahead->compilations);
    PyMem_Free(ahead->configs);
}
