/* info.c: `python -m krait info` and cuda.detect(): versions, devices, and where kernels run.
 *
 * Output: text, one fact a line.  Asking opens the CUDA driver if it is there, but makes no context. */
#include "decorators/decorators.h"

#include <limits.h> /* PATH_MAX */
#include <stdarg.h> /* va_list */

#include "codegen_cpu/codegen_cpu.h" /* codegen_cpu_name */
#include "runtime/heap/heap.h"       /* heap_stats */

/* Appends a line, its label in a column of its own; on failure *text becomes NULL. */
static void add_line(PyObject **text, const char *label, const char *format, ...) {
    char column[24];
    if (!*text) return;
    va_list args;
    va_start(args, format);
    PyObject *line = PyUnicode_FromFormatV(format, args);
    va_end(args);
    snprintf(column, sizeof column, "%-16s", label);
    PyObject *longer = line ? PyUnicode_FromFormat("%U%s%U\n", *text, column, line) : NULL;
    Py_XDECREF(line);
    Py_SETREF(*text, longer);
}

static void add_version(PyObject **text, const char *label, const char *module_name) {
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *version = module ? PyObject_GetAttrString(module, "__version__") : NULL;
    if (version) add_line(text, label, "%S", version);
    PyErr_Clear();
    Py_XDECREF(version);
    Py_XDECREF(module);
}

static void add_devices(PyObject **text, PyObject *module) {
    PyObject *list = PyObject_CallMethod(module, "list_devices", NULL);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *device = PyList_GET_ITEM(list, i);
        PyObject *name = PyObject_GetAttrString(device, "name"),
                 *capability = PyObject_GetAttrString(device, "compute_capability");
        PyObject *memory = PyObject_GetAttrString(device, "total_memory");
        double gigabytes = memory ? PyFloat_AsDouble(memory) / (double)(1 << 30) : -1;
        char size[32] = "";
        PyErr_Clear();
        if (gigabytes > 0) snprintf(size, sizeof size, ", %.1f GiB", gigabytes);
        add_line(text, i ? "" : "devices", "%zd: %S, compute capability %S%s", i, name ? name : Py_None,
                 capability ? capability : Py_None, size);
        Py_XDECREF(name);
        Py_XDECREF(capability);
        Py_XDECREF(memory);
    }
    PyErr_Clear();
    Py_XDECREF(list);
}

static void add_device_facts(PyObject **text, PyObject *module, ModuleState *state) {
    const char *why_not = cuda_why_not(state->cuda);
    int version = cuda_driver_version(state->cuda);
    if (version)
        add_line(text, "driver", "CUDA %d.%d", version / 1000, version % 1000 / 10);
    else
        add_line(text, "driver", "none: %s", why_not ? why_not : "no GPU");
    add_devices(text, module);
    PyObject *device = PyObject_CallMethod(module, "get_current_device", NULL);
    PyObject *name = device ? PyObject_GetAttrString(device, "name") : NULL;
    PyErr_Clear();
    add_line(text, "kernels run on", "%S: %s", name ? name : Py_None, cuda_choice_reason(state->cuda));
    Py_XDECREF(name);
    Py_XDECREF(device);
}

static PyObject *info(PyObject *module, PyObject *unused) {
    ModuleState *state = module_state(module);
    PyObject *text = PyUnicode_FromString("");
    (void)unused;
    add_line(&text, "krait", "%s", KRAIT_VERSION);
    add_line(&text, "Python", "%s", Py_GetVersion());
    add_version(&text, "NumPy", "numpy");
    add_line(&text, "LLVM", "%s", codegen_llvm_version());
    add_line(&text, "device math", "%s", codegen_device_math());
    add_line(&text, "host", "%s, %u threads", codegen_cpu_name(), host_device_workers());
    add_device_facts(&text, module, state);
    return text;
}

/* Prints the devices; True if kernels run on a GPU. */
static PyObject *detect(PyObject *module, PyObject *unused) {
    ModuleState *state = module_state(module);
    PyObject *text = PyUnicode_FromString(""), *out = PySys_GetObject("stdout");
    (void)unused;
    add_device_facts(&text, module, state);
    if (!text) return NULL;
    int failed = out && out != Py_None && PyFile_WriteObject(text, out, Py_PRINT_RAW) < 0;
    Py_DECREF(text);
    int gpu = failed ? -1 : cuda_use_gpu(state->cuda);
    if (failed) return NULL;
    PyErr_Clear();
    return PyBool_FromLong(gpu == 1);
}

/* The folder of compiled code, or None. */
static PyObject *cache_folder(PyObject *module, PyObject *unused) {
    char folder[PATH_MAX];
    (void)module, (void)unused;
    if (driver_cache_folder(folder, sizeof folder)) return PyUnicode_DecodeFSDefault(folder);
    Py_RETURN_NONE;
}

/* Why nothing is kept there, or None. */
static PyObject *cache_trouble(PyObject *module, PyObject *unused) {
    char text[256];
    (void)module, (void)unused;
    if (driver_cache_trouble(text, sizeof text)) return PyUnicode_DecodeLocale(text, "surrogateescape");
    Py_RETURN_NONE;
}

/* What compiled code has made on the heap, and what was given up of it. */
static PyObject *allocation_stats(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    heap_collect_cycles();
    HeapStats stats = heap_stats();
    return Py_BuildValue("LL", (long long)stats.allocated, (long long)stats.released);
}

static PyMethodDef functions[] = {
    {"allocation_stats", allocation_stats, METH_NOARGS,
     "allocation_stats()\n--\n\nObjects that compiled code has made, and how many of them were given up."},
    {"cache_folder", cache_folder, METH_NOARGS, "cache_folder()\n--\n\nWhere compiled code is kept, or None."},
    {"cache_trouble", cache_trouble, METH_NOARGS, "cache_trouble()\n--\n\nWhy nothing is kept there, or None."},
    {"info", info, METH_NOARGS, "info()\n--\n\nVersions, devices and where kernels run, as text."},
    {"detect", detect, METH_NOARGS, "detect()\n--\n\nPrints the devices and where kernels run; True if that is a GPU."},
    {NULL, NULL, 0, NULL},
};

int info_add(PyObject *module, ModuleState *state) {
    (void)state;
    return PyModule_AddFunctions(module, functions);
}
