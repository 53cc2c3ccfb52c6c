/* codegen_nvptx.h: the PTX target: optimised module in, PTX text out.
 *
 * ENTRY_KERNEL: one .entry named options->entry_name whose parameters are kernel_params() of the root's parameter
 * types.
 *
 * ENTRY_FUNCTION: a visible .func of that name over the same parameters, which gives its result as C does; with
 * options->status_result it gives 0, and stores the result through a pointer that comes first.
 *
 * ENTRY_UFUNC: an elementwise kernel over the inputs and results of the root, which broadcast.  Its parameter buffer is
 * an UfuncHead followed by one UfuncOperand for each input and each result, all of eight-byte items.  Axis 0 is the
 * innermost; the launcher drops axes of length one and joins axes that every operand steps through evenly, so that few
 * are left.  Each thread computes one element, or UFUNC_LANES neighbours in the innermost axis with 128-bit accesses
 * when the code allows it (codegen_ufunc_lanes) and the launcher says so (UFUNC_VECTOR): every operand's stride along
 * axis 0 is its item size or, for inputs, 0; each operand that moves along axis 0 is 16-byte aligned (pointer, and
 * outer strides); and the length of axis 0 is a multiple of UFUNC_LANES or there is one axis only.
 *
 * The grid has one axis; threads * blocks must cover size elements (size / UFUNC_LANES rounded up).
 *
 * With UfuncForm.rows the grid's x covers axis 0, its y and z the product of the outer axes (`rows`); size must be
 * below 2^31, and every stride fit in 32 bits.  `mode`, `immediate` and `packed` are not read then. */
#ifndef KRAIT_CODEGEN_NVPTX_H
#define KRAIT_CODEGEN_NVPTX_H

#include "codegen/codegen.h" /* Target, Module */

enum { UFUNC_MAX_NDIM = 6, UFUNC_LANES = 4 };
enum UfuncMode { UFUNC_STRIDED, UFUNC_VECTOR };

typedef struct UfuncHead {
    int64_t size; /* elements of the result */
    int64_t mode; /* UfuncMode */
    int64_t ndim; /* 1 ... UFUNC_MAX_NDIM */
    int64_t shape[UFUNC_MAX_NDIM];
    uint64_t reciprocal[UFUNC_MAX_NDIM]; /* ufunc_reciprocal(shape[i]) */
    uint64_t immediate;                  /* bit i: input i is one value, which lies in its last stride; see below */
    int64_t packed;                      /* 1: element n of every result is the n-th in memory */
    int64_t rows;                        /* size / shape[0] */
} UfuncHead;

/* 2^64 / length rounded up: a number below 2^32 times this, shifted right by 64 bits, is the number divided by length
 * (the error of the product is below number * length / 2^64 < 1 / length).  So with more than one axis size is below
 * 2^32: the launcher cuts what is larger into several launches. */
static inline uint64_t ufunc_reciprocal(int64_t length) { return length > 1 ? UINT64_MAX / (uint64_t)length + 1 : 0; }

typedef struct UfuncOperand {
    void *data;
    int64_t strides[UFUNC_MAX_NDIM]; /* bytes; 0 where the operand is broadcast */
} UfuncOperand;

/* A scalar of up to eight bytes needs no memory on the GPU: its bytes stand in strides[UFUNC_MAX_NDIM - 1], the other
 * strides are 0, data is not read. */
enum { UFUNC_IMMEDIATE_BYTES = 8 };

const Target *codegen_nvptx_target(void);
/* PTX for options->compute_capability; lies in the arena. */
char *codegen_nvptx_emit(Module *module, Arena *arena, size_t *length, Diag *diag);
/* Of the text of a kernel, the power of two that array number `array` among the arguments has to begin at a multiple
 * of, and its rows have to have a multiple of, in bytes, if FACT_ROWS holds; 0: nothing is asked. */
unsigned codegen_nvptx_rows(const char *text, unsigned array);
/* The oldest PTX version (78 for 7.8) that knows a compute capability; 0: LLVM generates no code for it. */
int codegen_nvptx_ptx_version(int compute_capability);

#endif
