/* arc4random.c: random bits for LLVM's names of temporary files, from the kernel.
 *
 * LLVM calls arc4random where the C library of the machine it was built on has it: glibc 2.36.  It is the one symbol
 * that young which the module would import; with this definition, which the linker finds first, the wheel runs on
 * glibc 2.34 (Ubuntu 22.04, RHEL 9). */
#include <stdint.h>     /* uint32_t */
#include <sys/random.h> /* getrandom */

uint32_t arc4random(void);

uint32_t arc4random(void) {
    uint32_t bits = 0;
    while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) continue; /* interrupted by a signal */
    return bits;
}
