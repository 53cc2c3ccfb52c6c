/* loading.c: code on a device: for a GPU the machine code that its driver made before, if the disk cache has it.
 *
 * In: Code, and how the device is to load it.  Out: a DeviceKernel.  What the driver has to compile is kept, where the
 * function asks for it (cache=True, KRAIT_CACHE=1).  What the driver cannot link, LTO-IR, nvJitLink does first, where
 * it is installed (krait/cuda/_toolkit.py). */
#include "decorators/decorators.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* free */
#include <string.h> /* strstr */

#include "driver/driver.h"

#define LINKED_LTO LINKED_CODE "5 " /* krait/cuda/_linking.py: LTOIR */

/* The machine code, an object of bytes; NULL: exception set. */
static PyObject *link_lto(const Device *device, const DeviceCode *how) {
    PyObject *toolkit = PyImport_ImportModule("krait.cuda._toolkit"), *bytes = NULL;
    if (toolkit)
        bytes = PyObject_CallMethod(toolkit, "link_with_lto", "sii", how->ptx, device->ptx_target, how->max_registers);
    Py_XDECREF(toolkit);
    return bytes;
}

/* Linked each time, not kept on disk. */
static DeviceKernel *load_linked(Device *device, const DeviceCode *given) {
    DeviceCode how = *given;
    PyObject *bytes = link_lto(device, given);
    DeviceKernel *kernel = NULL;
    Py_ssize_t size;
    if (bytes && PyBytes_AsStringAndSize(bytes, (char **)&how.binary.bytes, &size) == 0) {
        how.binary.size = (size_t)size;
        kernel = device_load(device, &how);
    }
    Py_XDECREF(bytes);
    return kernel;
}

typedef struct Loading {
    Device *device;
    const Code *code;
    const DeviceCode *how;
    int driver_version;
} Loading;

static void *load_kept(Arena *arena, void *context) {
    const Loading *loading = context;
    DeviceCode how = *loading->how;
    DeviceBinary made = {NULL, 0};
    CodeImage image;
    char toolchain[64];
    snprintf(toolchain, sizeof toolchain, "sm_%d by the driver of CUDA %d.%d", loading->device->ptx_target,
             loading->driver_version / 1000, loading->driver_version % 1000 / 10);
    if (driver_binary_load(loading->code, toolchain, arena, &image))
        how.binary = (DeviceBinary){(void *)image.bytes, image.size};
    how.made = &made;
    DeviceKernel *kernel = device_load(loading->device, &how);
    if (kernel && made.bytes)
        driver_binary_store(loading->code, toolchain, arena, &(CodeImage){.bytes = made.bytes, .size = made.size});
    free(made.bytes);
    return kernel;
}

DeviceKernel *code_load(const ModuleState *state, Device *device, const Code *code, const DeviceCode *how) {
    if (device->ptx_target && strstr(how->ptx, LINKED_LTO)) return load_linked(device, how);
    Loading loading = {device, code, how, cuda_driver_version(state->cuda)};
    if (device->ptx_target && driver_binary_wanted(code)) return errors_with_arena(load_kept, &loading);
    return device_load(device, how);
}
