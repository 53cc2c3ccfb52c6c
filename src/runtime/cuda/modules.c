/* modules.c: code of others on a GPU, by its driver: PTX or machine code that is linked, or loaded as it is, its
 * functions and globals by name, their launches.  Behind Context.create_module_ptx and create_module_image, and Linker
 * and launch_kernel of krait.cuda.cudadrv.driver (krait/cuda/_modules.py).
 *
 * A module is a capsule; it is unloaded with the capsule, or before, unless it is a kernel's of Krait's. */
#include <stdio.h> /* snprintf */

#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/graph.h"  /* capture_stream */
#include "runtime/cuda/kernel.h" /* gpu_module_unload */

#define MODULE_NAME "krait.module"

typedef struct Loaded {
    CudaContext *context;
    unsigned generation;
    void *module;  /* NULL: unloaded */
    bool borrowed; /* a kernel of Krait's has it */
} Loaded;

static void unload(Loaded *loaded) {
    if (loaded->module && !loaded->borrowed) gpu_module_unload(loaded->context, loaded->generation, loaded->module);
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

PyObject *module_of_kernel(const DeviceKernel *kernel) {
    Loaded *loaded = PyMem_Malloc(sizeof *loaded);
    if (!loaded) return PyErr_NoMemory();
    *loaded = (Loaded){.context = (CudaContext *)kernel->device,
                       .generation = kernel->generation,
                       .module = ((const CudaKernel *)kernel)->module,
                       .borrowed = true};
    PyObject *capsule = PyCapsule_New(loaded, MODULE_NAME, drop);
    if (!capsule) PyMem_Free(loaded);
    return capsule;
}

/* module_handle(module): the driver's, a CUmodule, as an int */
static PyObject *module_handle(PyObject *module, PyObject *capsule) {
    Loaded *loaded = module_of(capsule);
    (void)module;
    return loaded ? PyLong_FromVoidPtr(loaded->module) : NULL;
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

/* One input for the driver's linker: a CUjitInputType, bytes (PTX with its closing zero), a name for messages. */
static int add_input(const CuApi *api, void *link, PyObject *input, int *status) {
    int type;
    const char *name;
    Py_buffer bytes;
    if (!PyArg_ParseTuple(input, "iy*s:module_link", &type, &bytes, &name)) return -1;
    *status = api->LinkAddData(link, type, bytes.buf, (size_t)bytes.len, name, 0, NULL, NULL);
    PyBuffer_Release(&bytes);
    return 0;
}

/* module_link([(type, bytes, name), ...], most registers or 0): the machine code, as bytes. */
static PyObject *module_link(PyObject *module, PyObject *args) {
    enum { MAX_REGISTERS = 0, ERROR_LOG = 5, ERROR_LOG_BYTES = 6, LOG_BYTES = 8192 };
    Runtime *runtime = RUNTIME_OF(module);
    PyObject *inputs, *code = NULL;
    unsigned registers;
    if (!PyArg_ParseTuple(args, "O!I:module_link", &PyList_Type, &inputs, &registers)) return NULL;
    Device *device = runtime_device(runtime);
    if (!device) return NULL;
    if (device->shares_memory) return cuda_refuse(NEEDS_GPU, cuda_choice_reason(runtime->cuda));
    const CuApi *api = &runtime->cuda->api;
    char log[LOG_BYTES] = "", what[LOG_BYTES + 64];
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES, MAX_REGISTERS};
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)registers}, *link = NULL, *binary = NULL;
    size_t size = 0;
    Visit visit;
    int status = context_visit((CudaContext *)device, &visit);
    if (status == CUDA_OK) status = api->LinkCreate(registers ? 3 : 2, options, values, &link);
    for (Py_ssize_t i = 0; status == CUDA_OK && !PyErr_Occurred() && i < PyList_GET_SIZE(inputs); i++)
        add_input(api, link, PyList_GET_ITEM(inputs, i), &status);
    if (status == CUDA_OK && !PyErr_Occurred()) status = api->LinkComplete(link, &binary, &size);
    if (binary) code = PyBytes_FromStringAndSize(binary, (Py_ssize_t)size);
    if (link) api->LinkDestroy(link);
    context_leave(&visit);
    log[LOG_BYTES - 1] = 0;
    snprintf(what, sizeof what, "linking code%s%s", log[0] ? ": " : "", log);
    if (PyErr_Occurred() || device_check(device, status, what) < 0) Py_CLEAR(code);
    return code;
}

/* module_launch(function, (x, y, z) of blocks, of threads, bytes of shared memory, stream, addresses of arguments) */
static PyObject *module_launch(PyObject *module, PyObject *args) {
    enum { MOST = 256 };
    Runtime *runtime = RUNTIME_OF(module);
    unsigned long long function;
    unsigned g[3], b[3], shared;
    PyObject *stream, *addresses;
    void *params[MOST], *handle;
    if (!PyArg_ParseTuple(args, "K(III)(III)IOO!:module_launch", &function, &g[0], &g[1], &g[2], &b[0], &b[1], &b[2],
                          &shared, &stream, &PyTuple_Type, &addresses))
        return NULL;
    Device *device = runtime_device(runtime);
    if (!device || runtime_stream_handle(stream, device, &handle) < 0) return NULL;
    if (device->shares_memory) return cuda_refuse(NEEDS_GPU, cuda_choice_reason(runtime->cuda));
    Py_ssize_t count = PyTuple_GET_SIZE(addresses);
    if (count > MOST) return PyErr_Format(PyExc_ValueError, "a launch has at most %d arguments", MOST);
    for (Py_ssize_t i = 0; i < count; i++) params[i] = PyLong_AsVoidPtr(PyTuple_GET_ITEM(addresses, i));
    if (PyErr_Occurred()) return NULL;
    Visit visit;
    int status = context_visit((CudaContext *)device, &visit);
    if (status == CUDA_OK)
        status = runtime->cuda->api.LaunchKernel((void *)(uintptr_t)function, g[0], g[1], g[2], b[0], b[1], b[2],
                                                 shared, capture_stream(handle), params, NULL);
    context_leave(&visit);
    if (device_check(device, status, "launching a function of a module") < 0) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef module_functions[] = {
    {"module_link", module_link, METH_VARARGS, NULL},     {"module_launch", module_launch, METH_VARARGS, NULL},
    {"module_load", module_load, METH_O, NULL},           {"module_handle", module_handle, METH_O, NULL},
    {"module_unload", module_unload, METH_O, NULL},       {"module_function", module_function, METH_VARARGS, NULL},
    {"module_global", module_global, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};
