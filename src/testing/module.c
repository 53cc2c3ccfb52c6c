/* module.c: the extension module krait._testing: the functions of the other files, bound to krait._krait. */
#include "testing/testing.h"

static int add_methods(PyObject *module, PyObject *krait, PyMethodDef *methods) {
    for (; methods->ml_name; methods++) {
        PyObject *function = PyCFunction_New(methods, krait);
        int status = function ? PyModule_AddObjectRef(module, methods->ml_name, function) : -1;
        Py_XDECREF(function);
        if (status < 0) return -1;
    }
    return 0;
}

static int module_exec(PyObject *module) {
    PyMethodDef *const files[] = {testing_ir_methods,    testing_frontend_methods, testing_codegen_methods,
                                  testing_stage_methods, testing_passes_methods,   testing_library_methods,
                                  testing_heap_methods};
    PyObject *krait = PyImport_ImportModule("krait._krait");
    int status = krait ? forward_to(krait) : -1;
    for (size_t i = 0; i < COUNT_OF(files) && status == 0; i++) status = add_methods(module, krait, files[i]);
    Py_XDECREF(krait);
    return status;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
    {0, NULL},
};

static struct PyModuleDef testing_module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "krait._testing",
    .m_doc = "The inside of the compiler, for the test suite.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__testing(void) { return PyModuleDef_Init(&testing_module_def); }
