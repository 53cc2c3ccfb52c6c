/* modules.c: code of others on a GPU, by its driver: PTX or machine code that is loaded as it is, its functions and
 * globals by name.  Behind Context.create_module_ptx and create_module_image (krait/cuda/_modules.py).
 *
 * A module is a capsule; it is unloaded with the capsule, or before. */
#include <stdio.h> /* snprintf */

#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/kernel.h" /* gpu_module_unload */

#define MODULE_NAME "krait.module"

typedef struct Loaded {
    CudaContext *context;
    unsigned generation;
    void *module; /* NULL: unloaded */
} Loaded;

static void unload(Loaded *loaded) {
    if (loaded->module) gpu_module_unload(loaded->context, loaded->generation, loaded->module);
    loaded->module = NULL;
}

static void drop(PyObject *capsule) {
    Loaded *loaded = PyCapsule_GetPointer(capsule, MODULE_NAME);
    unload(loaded);
    PyMem_Free(loaded);
}

/* NULL: exception set. */
static Loaded *module_of(PyObject *capsule) {
    Loaded *loaded = PyCapsule_GetPointer(capsule, MODULE_NAME);
    if (!loaded) return NULL;
    Device *device = &loaded->context->device;
    if (!loaded->module || loaded->generation != device->generation) {
        PyErr_SetString(PyExc_RuntimeError, "the module is unloaded, or its device was reset");
        return NULL;
    }
    return loaded;
}

/* module_load(image): PTX text or machine code, as bytes. */
static PyObject *module_load(PyObject *module, PyObject *image) {
    enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6, LOG_BYTES = 8192 };
    Runtime *runtime = RUNTIME_OF(module);
    Device *device = runtime_device(runtime);
    char log[LOG_BYTES] = "", what[LOG_BYTES + 64];
    const char *bytes = device ? PyBytes_AsString(image) : NULL; /* a zero follows them, as PTX needs */
    if (!bytes) return NULL;
    if (device->shares_memory) return cuda_refuse(NEEDS_GPU, cuda_choice_reason(runtime->cuda));
    Loaded *loaded = PyMem_Malloc(sizeof *loaded);
    if (!loaded) return PyErr_NoMemory();
    *loaded = (Loaded){.context = (CudaContext *)device, .generation = device->generation};
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    Visit visit;
    int status = context_visit(loaded->context, &visit);
    if (status == CUDA_OK) status = runtime->cuda->api.ModuleLoadDataEx(&loaded->module, bytes, 2, options, values);
    context_leave(&visit);
    log[LOG_BYTES - 1] = 0;
    snprintf(what, sizeof what, "loading a module%s%s", log[0] ? ": " : "", log);
    PyObject *capsule = device_check(device, status, what) < 0 ? NULL : PyCapsule_New(loaded, MODULE_NAME, drop);
    if (!capsule) {
        unload(loaded);
        PyMem_Free(loaded);
    }
    return capsule;
}

static PyObject *module_unload(PyObject *module, PyObject *capsule) {
    (void)module;
    Loaded *loaded = PyCapsule_GetPointer(capsule, MODULE_NAME);
    if (!loaded) return NULL;
    unload(loaded);
    Py_RETURN_NONE;
}

/* module_function(module, name): (handle, registers, bytes of shared, local and constant memory, most threads) */
static PyObject *module_function(PyObject *module, PyObject *args) {
    static const int attributes[] = {4, 1, 3, 2, 0}; /* CUfunction_attribute */
    PyObject *capsule;
    const char *name;
    void *function = NULL;
    int facts[COUNT_OF(attributes)] = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "Os:module_function", &capsule, &name)) return NULL;
    Loaded *loaded = module_of(capsule);
    if (!loaded) return NULL;
    const CuApi *api = &loaded->context->cuda->api;
    Visit visit;
    int status = context_visit(loaded->context, &visit);
    if (status == CUDA_OK) status = api->ModuleGetFunction(&function, loaded->module, name);
    for (size_t i = 0; status == CUDA_OK && i < COUNT_OF(attributes); i++)
        status = api->FuncGetAttribute(&facts[i], attributes[i], function);
    context_leave(&visit);
    if (device_check(&loaded->context->device, status, "finding a function of a module") < 0) return NULL;
    return Py_BuildValue("(Niiiii)", PyLong_FromVoidPtr(function), facts[0], facts[1], facts[2], facts[3], facts[4]);
}

/* module_global(module, name): (address, bytes) */
static PyObject *module_global(PyObject *module, PyObject *args) {
    PyObject *capsule;
    const char *name;
    uint64_t address = 0;
    size_t bytes = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "Os:module_global", &capsule, &name)) return NULL;
    Loaded *loaded = module_of(capsule);
    if (!loaded) return NULL;
    Visit visit;
    int status = context_visit(loaded->context, &visit);
    if (status == CUDA_OK) status = loaded->context->cuda->api.ModuleGetGlobal(&address, &bytes, loaded->module, name);
    context_leave(&visit);
    if (device_check(&loaded->context->device, status, "finding a global of a module") < 0) return NULL;
    return Py_BuildValue("(Kn)", (unsigned long long)address, (Py_ssize_t)bytes);
}

PyMethodDef module_functions[] = {
    {"module_load", module_load, METH_O, NULL},
    {"module_unload", module_unload, METH_O, NULL},
    {"module_function", module_function, METH_VARARGS, NULL},
    {"module_global", module_global, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
