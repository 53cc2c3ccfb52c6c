/* vectors.h: vectors of this processor in C, for functions of mathematics that machine code of the host takes as
 * variants of scalar ones (codegen/lower_math.c); private to the files that define such. */
#ifndef KRAIT_CODEGEN_CPU_VECTORS_H
#define KRAIT_CODEGEN_CPU_VECTORS_H

#include <stdint.h>
#include <string.h> /* strcmp, memcpy */

#include "codegen_cpu/cpu.h"

#define BITS(I, F, x) \
    ((union {         \
         F f;         \
         I i;         \
     }){.f = (x)}     \
         .i)

#if defined(__x86_64__)
#include <immintrin.h>
#define FUSED  __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))

typedef double D4 __attribute__((vector_size(32)));
typedef double D8 __attribute__((vector_size(64)));
typedef float S8 __attribute__((vector_size(32)));
typedef float S16 __attribute__((vector_size(64)));
typedef int64_t L4 __attribute__((vector_size(32)));
typedef int64_t L8 __attribute__((vector_size(64)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef int32_t I16 __attribute__((vector_size(64)));

#define TOWARDS_0          (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define D4_TRUNC(x)        _mm256_round_pd(x, TOWARDS_0)
#define D8_TRUNC(x)        _mm512_roundscale_pd(x, TOWARDS_0)
#define S8_TRUNC(x)        _mm256_round_ps(x, TOWARDS_0)
#define S16_TRUNC(x)       _mm512_roundscale_ps(x, TOWARDS_0)
#define D4_ANY(mask)       !_mm256_testz_si256((__m256i)(mask), (__m256i)(mask))
#define S8_ANY(mask)       D4_ANY(mask)
#define D8_ANY(mask)       _mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask))
#define S16_ANY(mask)      D8_ANY(mask)
#define ALL(V, F, x)       ((V){0} + (F)(x))
#define CHOSEN(I, m, a, b) (((I)(a) & (m)) | ((I)(b) & ~(m)))
#else
#define FUSED
#endif

typedef enum Needs { NEEDS_NOTHING, NEEDS_FUSED, NEEDS_AVX512 } Needs;

static inline bool processor_has(Needs needs) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return needs == NEEDS_NOTHING || (needs == NEEDS_FUSED ? fused : fused && __builtin_cpu_supports("avx512f"));
#else
    return needs != NEEDS_AVX512;
#endif
}

/* In the names of vectors (the x86-64 psABI's vector functions), d is AVX2, e AVX-512. */
typedef struct VectorRow {
    const char *name;
    Needs needs;
    void (*address)(void);
} VectorRow;
#define VECTOR_ROW(name, needs, function) {name, needs, (void (*)(void))(function)}

/* The first that has this name and runs on this processor; NULL: none. */
static inline void *vector_row(const VectorRow *rows, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, rows[i].name) && processor_has(rows[i].needs)) {
            void *address;
            memcpy(&address, &rows[i].address, sizeof address); /* ISO C has no cast from function to object */
            return address;
        }
    return NULL;
}

#endif
