/* testing.h: krait._testing, the inside of the compiler for the test suite: a second extension that no wheel carries.
 *
 * It is built beside krait._krait and has no copy of the compiler: what its files call is forwarded (forward.c) to the
 * functions of the module that is shipped.  To call one more, write its row in decorators/layers.def. */
#ifndef KRAIT_TESTING_H
#define KRAIT_TESTING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h> /* PyObject */

#include "decorators/decorators.h" /* ModuleState */

/* Functions of each file, added to krait._testing; their self is krait._krait, whose state is module_state(self). */
extern PyMethodDef testing_ir_methods[], testing_frontend_methods[], testing_codegen_methods[], testing_stage_methods[],
    testing_passes_methods[], testing_library_methods[], testing_heap_methods[];

/* Points every forwarded name at the module that is shipped.  -1: ImportError. */
int forward_to(PyObject *krait);

#endif
