/* loading.c: code on a device: for a GPU the machine code that its driver made before, if the disk cache has it.
 *
 * In: Code, and how the device is to load it.  Out: a DeviceKernel.  What has to be made is kept, where the function
 * asks for it (cache=True, KRAIT_CACHE=1).  What the driver cannot link, LTO-IR, nvJitLink does, where it is installed
 * (krait/cuda/_toolkit.py); its version stands in the key, as the driver's does of what the driver makes.  Functions
 * that linked code names are called when it is loaded, and before it goes (krait/cuda/_linking.py). */
#include "decorators/decorators.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* free */
#include <string.h> /* strstr */

#include "driver/driver.h"

#define LINKED_LTO LINKED_CODE "5 " /* krait/cuda/_linking.py: LTOIR */

typedef struct Loading {
    const ModuleState *state;
    Device *device;
    const Code *code;
    const DeviceCode *how;
} Loading;

static DeviceKernel *load_binary(const Loading *loading, const void *bytes, size_t size) {
    DeviceCode how = *loading->how;
    how.binary = (DeviceBinary){(void *)bytes, size};
    how.binary_alone = true;
    return device_load(loading->device, &how);
}

/* ---- LTO-IR ---- */

/* The machine code, an object of bytes; NULL: exception set. */
static PyObject *link_lto(const Loading *loading) {
    const DeviceCode *how = loading->how;
    return marshal_call_python("krait.cuda._toolkit", "link_with_lto", "(sii)", how->ptx, loading->device->ptx_target,
                               how->max_registers);
}

/* -1: exception set. */
static int name_linker(const Loading *loading, char *text, size_t size) {
    PyObject *name = marshal_call_python("krait.cuda._toolkit", "linker_version", "()");
    const char *version = name ? PyUnicode_AsUTF8(name) : NULL;
    if (version) snprintf(text, size, "sm_%d by %s", loading->device->ptx_target, version);
    Py_XDECREF(name);
    return version ? 0 : -1;
}

/* toolchain: NULL, the code is not kept. */
static DeviceKernel *link_and_load(const Loading *loading, const char *toolchain, Arena *arena) {
    PyObject *bytes = link_lto(loading);
    DeviceKernel *kernel = NULL;
    char *code;
    Py_ssize_t size;
    if (bytes && PyBytes_AsStringAndSize(bytes, &code, &size) == 0) {
        kernel = load_binary(loading, code, (size_t)size);
        if (kernel && toolchain)
            driver_binary_store(loading->code, toolchain, arena, &(CodeImage){.bytes = code, .size = (size_t)size});
    }
    Py_XDECREF(bytes);
    return kernel;
}

/* What the driver does not take any more is linked anew. */
static void *load_kept_lto(Arena *arena, void *context) {
    const Loading *loading = context;
    CodeImage image;
    char toolchain[128];
    if (name_linker(loading, toolchain, sizeof toolchain) < 0) return NULL;
    if (driver_binary_load(loading->code, toolchain, arena, &image)) {
        DeviceKernel *kernel = load_binary(loading, image.bytes, image.size);
        if (kernel) return kernel;
        PyErr_Clear();
    }
    return link_and_load(loading, toolchain, arena);
}

/* ---- what the driver makes ---- */

static void *load_kept(Arena *arena, void *context) {
    const Loading *loading = context;
    DeviceCode how = *loading->how;
    DeviceBinary made = {NULL, 0};
    CodeImage image;
    char toolchain[64];
    int version = cuda_driver_version(loading->state->cuda);
    snprintf(toolchain, sizeof toolchain, "sm_%d by the driver of CUDA %d.%d", loading->device->ptx_target,
             version / 1000, version % 1000 / 10);
    if (driver_binary_load(loading->code, toolchain, arena, &image))
        how.binary = (DeviceBinary){(void *)image.bytes, image.size};
    how.made = &made;
    DeviceKernel *kernel = device_load(loading->device, &how);
    if (kernel && made.bytes)
        driver_binary_store(loading->code, toolchain, arena, &(CodeImage){.bytes = made.bytes, .size = made.size});
    free(made.bytes);
    return kernel;
}

static DeviceKernel *load(const ModuleState *state, Device *device, const Code *code, const DeviceCode *how) {
    Loading loading = {state, device, code, how};
    if (!device->ptx_target) return device_load(device, how);
    bool wanted = driver_binary_wanted(code);
    if (strstr(how->ptx, LINKED_LTO))
        return wanted ? errors_with_arena(load_kept_lto, &loading) : link_and_load(&loading, NULL, NULL);
    return wanted ? errors_with_arena(load_kept, &loading) : device_load(device, how);
}

/* NULL: exception set; the kernel is freed. */
static DeviceKernel *set_up(DeviceKernel *kernel, const char *ptx) {
    PyObject *module = module_of_kernel(kernel);
    kernel->called = module ? marshal_call_python("krait.cuda._linking", "loaded", "(sO)", ptx, module) : NULL;
    Py_XDECREF(module);
    if (kernel->called) return kernel;
    kernel->device->ops->kernel_free(kernel);
    return NULL;
}

DeviceKernel *code_load(const ModuleState *state, Device *device, const Code *code, const DeviceCode *how) {
    DeviceKernel *kernel = load(state, device, code, how);
    return kernel && device->ptx_target && strstr(how->ptx, LINKED_CALLS) ? set_up(kernel, how->ptx) : kernel;
}

/* An error has nowhere to go; an exception that is set stays. */
static void tear_down(PyObject *called) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *done = marshal_call_python("krait.cuda._linking", "unloading", "(O)", called);
    if (!done) PyErr_WriteUnraisable(called);
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

void code_unload(DeviceKernel *kernel) {
    PyObject *called = kernel->called;
    kernel->called = NULL;
    if (called && !device_kernel_gone(kernel)) tear_down(called);
    kernel->device->ops->kernel_free(kernel);
    Py_XDECREF(called);
}

DeviceKernel *code_keep(DeviceKernel *made, DeviceKernel **place) {
    if (made && *place)
        code_unload(made);
    else if (made)
        *place = made;
    return made ? *place : NULL;
}
