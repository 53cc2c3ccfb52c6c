/* docs.c: what help() shows of the decorators: what they take, and every option that options.def has for them.
 *
 * Each text is put together by the preprocessor from the rows of the table. */
#include "decorators/decorators.h"

#define ROW_0(name, doc) ""
#define ROW_1(name, doc) "  " #name ": " doc "\n"

#define SIGNATURES                                                                                                \
    "Used bare, as a decorator with options, or with signatures:\n\n"                                             \
    "signature_or_function: a function, or the types to compile for at once: text such as 'float64(float64, "     \
    "int32)',\n"                                                                                                  \
    "  a Signature such as float64(float64, int32), a tuple of types, or a list of them.  Without signatures a\n" \
    "  function is compiled when it is first called with arguments of new types.\n\nOptions:\n"

const char jit_doc[] =
    "jit(signature_or_function=None, **options)\n--\n\n"
    "Compiles a function for the host, for the types it is called with or for the signatures given.\n\n" SIGNATURES
#define OPTION(name, jit, kernel, vectorize, guvectorize, doc) ROW_##jit(name, doc)
#include "decorators/options.def"
#undef OPTION
    "\nReturns a Dispatcher, which is called like the function.  Raises TypeError for an unknown option, and when it "
    "is\n"
    "called TypingError or UnsupportedError, with the source line, for what cannot be compiled.";

const char kernel_doc[] =
    "jit(signature_or_function=None, **options)\n--\n\n"
    "Compiles a function as a CUDA kernel or, with device=True, for kernels to call.\n\n" SIGNATURES
#define OPTION(name, jit, kernel, vectorize, guvectorize, doc) ROW_##kernel(name, doc)
#include "decorators/options.def"
#undef OPTION
    "\nReturns a Kernel: kernel[blocks, threads](...) launches it, kernel[blocks, threads, stream, shared bytes](...)\n"
    "on a stream and with dynamic shared memory; blocks and threads are ints or tuples of up to three.";

const char vectorize_doc[] =
    "vectorize(signatures_or_function=None, *, identity=None, target='cpu', **options)\n--\n\n"
    "Makes a ufunc of a function of scalars: it is called with arrays of any shapes that broadcast.\n\n" SIGNATURES
#define OPTION(name, jit, kernel, vectorize, guvectorize, doc) ROW_##vectorize(name, doc)
#include "decorators/options.def"
#undef OPTION
    "\nReturns a numpy.ufunc where signatures are given and the target is the host, else an object that compiles for\n"
    "the types of its operands and is called in the same way (out=, where=, dtype=).";

const char guvectorize_doc[] =
    "guvectorize(signatures, layout, *, target='cpu', writable_args=(), **options)\n--\n\n"
    "Makes a generalised ufunc of a function of arrays: it is called for each item of the operands' other "
    "dimensions.\n\n"
    "signatures: the types to compile for, such as 'void(float64[:], float64[:])', or a list of them; left out, the "
    "types\n"
    "  that calls give.  layout: the core dimensions of inputs and results, such as '(n),()->(n)'.  The function's "
    "last\n"
    "  parameters are its results, which it writes into.\n\nOptions:\n"
#define OPTION(name, jit, kernel, vectorize, guvectorize, doc) ROW_##guvectorize(name, doc)
#include "decorators/options.def"
#undef OPTION
    "\nReturns a Gufunc, which is called as numpy.ufunc is (out=, axes=, axis=, keepdims=).";
