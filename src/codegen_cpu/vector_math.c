/* vector_math.c: libmvec, the vector variants of the C library's math functions. */
#include "codegen_cpu/host.h"

void host_vector_math(Module *module) { (void)module; }
