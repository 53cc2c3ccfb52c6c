/* forward.c: every name of decorators/layers.def, forwarded to the module that is shipped.
 *
 * A function is a jump through a pointer of its own, which neither knows nor touches arguments; a table is a copy.
 * Both are filled once, when krait._testing is imported; the other files, and the inline functions of the headers that
 * they include, use the layers by their own names. */
#include <string.h> /* memcpy, strcmp */

#include "testing/testing.h"

#include "decorators/layers.h"
#include "frontend/bytecode.h" /* insn_info, refusal_info */
#include "passes/passes.h"     /* pass_info */

#if defined(__x86_64__)
#define JUMP(name) "jmp *to_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "adrp x16, to_" #name "\nldr x16, [x16, #:lo12:to_" #name "]\nbr x16\n"
#else
#error "no jump through a pointer is known for this processor"
#endif

#define FUNCTION(name)       \
    void (*to_##name)(void); \
    __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" JUMP(name));
#define TABLE(name) _Alignas(16) char copy_##name[sizeof name] __asm__(#name);
#include "decorators/layers.def"
#undef FUNCTION
#undef TABLE

int forward_to(PyObject *krait) {
    PyObject *capsule = PyObject_GetAttrString(krait, "_layers");
    const Layers *layers = capsule ? PyCapsule_GetPointer(capsule, LAYERS_CAPSULE) : NULL;
    Py_XDECREF(capsule);
    if (!layers) return -1;
    if (strcmp(layers->rows, layers_rows) != 0) {
        PyErr_SetString(PyExc_ImportError, "krait._testing and krait._krait were built from different sources");
        return -1;
    }
#define FUNCTION(name) to_##name = layers->name;
#define TABLE(name)    memcpy(copy_##name, layers->name, sizeof copy_##name);
#include "decorators/layers.def"
#undef FUNCTION
#undef TABLE
    return 0;
}
