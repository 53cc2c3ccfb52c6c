/* module.c: the extension module krait._krait, by multi-phase initialisation.
 *
 * Input: the interpreter's import.  Output: a module object; everything Python-facing hangs on its state, never on a
 * global.  Each file of the folder adds its classes and functions in the order of the list in module_exec. */
#define KRAIT_IMPORTS_NUMPY
#include "decorators/decorators.h"
#include "decorators/numpy_api.h"
#include "decorators/layers.h" /* layers_table */

ModuleState *module_state(PyObject *module) { return PyModule_GetState(module); }

ModuleState *module_state_of(PyObject *object) {
    PyObject *module = PyType_GetModuleByDef(Py_TYPE(object), &krait_module_def);
    return module ? PyModule_GetState(module) : NULL;
}

PyTypeObject *module_add_class(PyObject *module, PyType_Spec *spec, PyObject *bases, bool visible) {
    PyTypeObject *class = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, bases);
    if (class && visible && PyModule_AddType(module, class) < 0) Py_CLEAR(class);
    return class;
}

static const Type *type_of_argument(void *context, ObjHold *hold, PyObject *object) {
    Marshal marshal = ((ModuleState *)context)->host_marshal;
    marshal.hold = hold;
    return marshal_typeof(&marshal, object);
}

static int state_open(ModuleState *state) {
    state->session.types = type_table_new();
    state->session.library = library_new();
    state->session.units = units_new();
    if (!state->session.types || !state->session.library || !state->session.units) {
        PyErr_NoMemory();
        return -1;
    }
    type_table_set_functions(state->session.types, library_find_head, state->session.library);
    if (!(state->session.objects = objects_new(state->session.library))) return -1;
    objects_set_decorated(state->session.objects,
                          (ObjDecorated){signature_of_decorated, signature_of_ufunc, signature_locals, gufunc_looped,
                                         inlining_of_decorated, inlining_asked, type_of_argument, captured_array,
                                         state});
    PyObject *dtypes = PyDict_New();
    if (!dtypes) return -1;
    state->marshal = (Marshal){.types = state->session.types, .objects = state->session.objects, .dtypes = dtypes};
    if (marshal_import_numpy() < 0 || PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0) return -1;
    return (state->marshal.heap_memory = marshal_heap_memory()) ? 0 : -1;
}

static int module_exec(PyObject *module) {
    static int (*const parts[])(PyObject *, ModuleState *) = {
        errors_add,    types_add,     cuda_names_add,  dispatcher_add, kernel_add,
        arguments_add, vectorize_add, guvectorize_add, threads_add,    cfunc_add,
        info_add,      random_add,    numpy_loops_add, overloads_add,  generator_add};
    ModuleState *state = module_state(module);
    if (state_open(state) < 0) return -1;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i](module, state) < 0) return -1;
    interrupt_init();
    Py_AtExit(codegen_close); /* if that is refused, there are 32 already: a compilation then under way may fail */
    python_calls_init();
    if (!(state->cuda = cuda_new(driver_make_ready))) return -1;
    if (runtime_add_types(module, &state->marshal, state->cuda) < 0) return -1;
    state->host_marshal = state->marshal;
    state->host_marshal.host = true;
    PyObject *layers = PyCapsule_New((void *)layers_table(), LAYERS_CAPSULE, NULL);
    int added = layers ? PyModule_AddObjectRef(module, "_layers", layers) : -1;
    Py_XDECREF(layers);
    if (added < 0 || PyModule_AddStringConstant(module, "__version__", KRAIT_VERSION) < 0) return -1;
    return PyModule_AddStringConstant(module, "llvm_version", KRAIT_LLVM_VERSION);
}

/* Every Python reference of the state, for traverse and clear alike. */
static int visit_state(ModuleState *state, visitproc visit, void *arg) {
    for (int i = 0; i < ERROR_COUNT; i++) Py_VISIT(state->errors[i]);
    for (int i = 0; i < TYPE_CLASS_COUNT; i++) Py_VISIT(state->type_classes[i]);
    Py_VISIT(state->type_objects);
    Py_VISIT(state->overloads);
    Py_VISIT(state->overload_finder);
    Py_VISIT(state->cuda_names);
    Py_VISIT(state->launching);
    for (int i = 0; i < TRANSFER_COUNT; i++) Py_VISIT(state->transfer_classes[i]);
    Py_VISIT(state->marshal.dtypes);
    Py_VISIT(state->signature_class);
    Py_VISIT(state->decorator_class);
    Py_VISIT(state->dispatcher_class);
    Py_VISIT(state->generator_class);
    Py_VISIT(state->overload_class);
    Py_VISIT(state->kernel_class);
    Py_VISIT(state->launcher_class);
    Py_VISIT(state->intrinsic_class);
    Py_VISIT(state->namespace_class);
    Py_VISIT(state->vectorized_class);
    Py_VISIT(state->gufunc_class);
    Py_VISIT(state->cfunc_class);
    return state->session.objects ? objects_traverse(state->session.objects, visit, arg) : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    return visit_state(module_state(module), visit, arg);
}

static int module_clear(PyObject *module) {
    ModuleState *state = module_state(module);
    for (int i = 0; i < ERROR_COUNT; i++) Py_CLEAR(state->errors[i]);
    Py_CLEAR(state->type_objects);
    Py_CLEAR(state->overloads);
    Py_CLEAR(state->overload_finder);
    Py_CLEAR(state->cuda_names);
    Py_CLEAR(state->launching);
    return 0;
}

static void module_free(void *module) {
    ModuleState *state = module_state(module);
    if (!state) return;
    module_clear(module);
    for (int i = 0; i < TYPE_CLASS_COUNT; i++) Py_CLEAR(state->type_classes[i]);
    for (int i = 0; i < TRANSFER_COUNT; i++) Py_CLEAR(state->transfer_classes[i]);
    Py_CLEAR(state->marshal.dtypes);
    Py_CLEAR(state->signature_class);
    Py_CLEAR(state->decorator_class);
    Py_CLEAR(state->dispatcher_class);
    Py_CLEAR(state->generator_class);
    Py_CLEAR(state->overload_class);
    Py_CLEAR(state->kernel_class);
    Py_CLEAR(state->launcher_class);
    Py_CLEAR(state->intrinsic_class);
    Py_CLEAR(state->namespace_class);
    Py_CLEAR(state->vectorized_class);
    Py_CLEAR(state->gufunc_class);
    Py_CLEAR(state->cfunc_class);
    Py_CLEAR(state->marshal.heap_memory);
    runtime_free(state->runtime);
    state->runtime = NULL;
    if (state->cuda) cuda_free(state->cuda);
    state->cuda = NULL;
    if (state->session.objects) objects_free(state->session.objects);
    if (state->session.types) type_table_free(state->session.types);
    library_free(state->session.library);
    units_free(state->session.units);
    state->session = (Session){0};
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED}, /* NumPy is not, either */
#endif
    {0, NULL},
};

struct PyModuleDef krait_module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "krait._krait",
    .m_doc = "The compiler and its run time; the package krait gives its names their public places.",
    .m_size = sizeof(ModuleState),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__krait(void) { return PyModuleDef_Init(&krait_module_def); }
