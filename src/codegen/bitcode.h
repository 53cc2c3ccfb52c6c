/* bitcode.h - the LLVM bitcode that the build embeds in the extension, as read-only data.
 *
 * krait_bc_device_math   the device math library for NVPTX: libdevice, or libclc reduced to its scalar math functions
 *                        when KRAIT_DEVICE_MATH_LIBCLC is defined (KRAIT_DEVICE_MATH is the name as a string)
 * krait_bc_rtlib_host    rtlib/ compiled for the host, without target attributes, a part for each file
 * krait_bc_rtlib_nvptx   rtlib/ compiled for nvptx64-nvidia-cuda, the same
 *
 * Each is a table of parts that ends with one without bytes.  A part is 16-byte aligned, followed by a zero byte that
 * its size does not count, and never written to.  cmake/KraitBitcode.cmake makes the symbols.
 */
#ifndef KRAIT_CODEGEN_BITCODE_H
#define KRAIT_CODEGEN_BITCODE_H

#include <stdint.h>

typedef struct BitcodePart {
    const unsigned char *bytes;
    uint64_t size;
} BitcodePart;

extern const BitcodePart krait_bc_device_math[], krait_bc_rtlib_host[], krait_bc_rtlib_nvptx[];

#endif
