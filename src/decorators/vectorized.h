/* vectorized.h: what the files of @vectorize share: vectorized.c (the decorator and its class), vectorized_loops.c (its
 * loops), ufunc.c (specialisations as a NumPy ufunc), ufunc_methods.c (its further methods), ufunc_cuda.c (elementwise
 * kernels over device and host arrays). */
#ifndef KRAIT_DECORATORS_VECTORIZED_H
#define KRAIT_DECORATORS_VECTORIZED_H

#include <stdatomic.h> /* atomic_bool */

#include "decorators/decorators.h"
#include "decorators/numpy_api.h"
#include "runtime/host/host.h" /* HostTable */

enum { MAX_OPERANDS = UFUNC_MAX_OPERANDS };

typedef enum UfuncTarget { UFUNC_CPU, UFUNC_PARALLEL, UFUNC_CUDA } UfuncTarget;

typedef struct Vectorized {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *dict, *weakrefs;
    PyObject *module;
    PyObject *ufunc; /* the NumPy ufunc of the loops so far */
    Spec **loops;    /* owned references, narrow types first */
    Py_ssize_t nloops;
    int identity; /* PyUFunc_Zero, ... */
    UfuncTarget target;
    int nin;
    unsigned max_blocksize; /* 0: what suits */
    Specialiser core;
} Vectorized;

/* The attribute max_blocksize of a class that has a field of that name (ufunc_cuda.c). */
PyObject *ufunc_get_blocksize(PyObject *self, void *offset);
int ufunc_set_blocksize(PyObject *self, PyObject *value, void *offset);
#define MAX_BLOCKSIZE(class)                                    \
    {"max_blocksize", ufunc_get_blocksize, ufunc_set_blocksize, \
     "most threads of a block on a device; deleted, it is what suits", (void *)offsetof(class, max_blocksize)}

/* Types that loops take and give: declared ones where a signature names them.  false: not scalars. */
bool ufunc_types(const Spec *spec, const Type **types, int *nin, int *nout);
/* A call of the ufunc has raised: what NumPy says of operands that no loop takes gets a word of what to do. */
void ufunc_explain(PyObject *ufunc);
/* -1, exception set: NumPy makes no ufunc of operands and results of these types. */
int ufunc_check_types(const Type *const *types, int count);
/* A ufunc of these specialisations, each ENTRY_UFUNC for the host.  The ufunc keeps all it needs alive. */
PyObject *ufunc_new(const Specialiser *core, Spec *const *loops, Py_ssize_t nloops, int nin, int nout, int identity,
                    bool parallel);

/* ufunc_table.c: the machine code of one of its loops, to which plain loops are added as operands come that they are
 * for. */
typedef struct UfuncTable {
    HostTable head; /* first: what the run time sees */
    ModuleState *state;
    Spec *spec;             /* borrowed */
    PyObject *decorated;    /* what it was compiled as: its code keeps that */
    const HostUfunc *alone; /* the data of calls that are not on several threads */
    atomic_bool begun[LIE_COUNT];
    Code *made[LIE_COUNT];
} UfuncTable;
void ufunc_table_begin(UfuncTable *table, const Specialiser *core, Spec *spec, const HostUfunc *alone);
void ufunc_table_end(UfuncTable *table);

/* Calls an elementwise function for @vectorize(target='cuda'). */
PyObject *ufunc_cuda_call(Vectorized *self, PyObject *const *args, Py_ssize_t nargs, PyObject *out, PyObject *stream);

/* The same of NumPy's ufunc, for what the kernels do not; results are where operands are. */
PyObject *ufunc_by_way_of_host(PyObject *ufunc, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* ufunc_methods.c: what a ufunc with signatures has beside NumPy's methods, and what compiled code that calls it looks
 * for.  NumPy before 2.2 has no room for it in a ufunc. */
void ufunc_note(PyObject *ufunc, const Specialiser *core);
/* NumPy takes a ufunc for one that refers to nothing: one that is part of a circle is shown to garbage collection. */
void ufunc_track(PyObject *ufunc);
/* (types, signature) -> whether the signature is of these types. */
PyObject *ufunc_match_signature(ModuleState *state, PyObject *args);
extern const char match_signature_doc[];
/* A ufunc that vectorize made, for a pickle (copyreg); None: NumPy's own, or one of others. */
PyObject *ufunc_reduce_pickle(PyObject *module, PyObject *ufunc);

/* vectorized_loops.c: the scalar type an operand counts as, weak for Python's int, float and complex; NULL without an
 * exception: none. */
const Type *vectorized_operand_type(const ModuleState *state, PyObject *object);
/* Weak operands take the type they have beside the strong ones, as NumPy decides (NEP 50). */
bool vectorized_resolve_types(Vectorized *self, const Type **types, Py_ssize_t count);
/* Whether operands are arrays of just the types of a loop there is, of today's globals. */
bool vectorized_has_loop(const Vectorized *self, PyObject *const *operands);
/* The specialisation for these operand types on the host, added to the ufunc if new.  Borrowed. */
Spec *vectorized_loop(Vectorized *self, const Type *const *types);
/* A loop on the host for all types that there are kernels for.  -1: exception set. */
int vectorized_loops_of_devices(Vectorized *self);
/* The loop of a specialisation, sorted in.  -1: an exception, also if it is none of scalars. */
int vectorized_add_loop(Vectorized *self, Spec *spec);
int vectorized_rebuild(Vectorized *self); /* the ufunc of the loops there are */
void vectorized_drop_loops(Vectorized *self);

/* vectorized.c: whether an object has something of its own to say of ufuncs (NEP 13); arrays on a device are operands
 * as they are.  NULL: no. */
bool vectorized_overrides(const ModuleState *state, PyObject *object);
/* The options identity, as NumPy numbers it, and target.  -1: ValueError. */
int vectorized_read_identity(PyObject *options, int *identity);
int vectorized_read_target(PyObject *options, UfuncTarget *target);

#endif
