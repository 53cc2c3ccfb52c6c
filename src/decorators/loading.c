/* loading.c: code on a device: for a GPU the machine code that its driver made before, if the disk cache has it.
 *
 * In: Code, and how the device is to load it.  Out: a DeviceKernel.  What the driver has to compile is kept, where the
 * function asks for it (cache=True, KRAIT_CACHE=1). */
#include "decorators/decorators.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* free */

#include "driver/driver.h"

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
    Loading loading = {device, code, how, cuda_driver_version(state->cuda)};
    if (device->ptx_target && driver_binary_wanted(code)) return errors_with_arena(load_kept, &loading);
    return device_load(device, how);
}
