/* module.c: the extension module krait._krait, by multi-phase initialisation.
 *
 * Input: the interpreter's import.  Output: a module object; everything Python-facing hangs on its state, never on a
 * global. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static int module_exec(PyObject *module) {
    if (PyModule_AddStringConstant(module, "__version__", KRAIT_VERSION) < 0) return -1;
    return PyModule_AddStringConstant(module, "llvm_version", KRAIT_LLVM_VERSION);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "krait._krait",
    .m_doc = "The compiler and its run time; the package krait gives its names their public places.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__krait(void) { return PyModuleDef_Init(&module_def); }
