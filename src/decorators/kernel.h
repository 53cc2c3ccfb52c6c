/* kernel.h: what the files of @cuda.jit share: kernel.c (the class), launch.c (kernel[grid, block](...)), plan.c
 * (what a launch knows about a specialisation), arguments.c (arguments that stand for others), extensions.c (arguments
 * that the user's objects replace), staging.c (host arrays as arguments of a GPU kernel), report.c (what went wrong on
 * the host device), kernel_inspect.c (what a kernel tells). */
#ifndef KRAIT_DECORATORS_KERNEL_H
#define KRAIT_DECORATORS_KERNEL_H

#include "decorators/decorators.h"

typedef struct Kernel {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *dict, *weakrefs;
    PyObject *module;
    PyObject *launchers;   /* dict: what stands in kernel[...] -> Launcher */
    PyObject *specialised; /* dict: argument types -> what specialize gave; NULL: none yet */
    Specialiser core;
} Kernel;

typedef struct Dims {
    unsigned x[3];
} Dims;

/* kernel[grid, block, stream, shared]; for forall, tasks >= 0 and the grid follows from the block. */
typedef struct Launcher {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Kernel *kernel;
    Dims grid, block;
    PyObject *stream; /* keeps the handle's owner alive */
    void *stream_handle;
    unsigned shared_bytes;
    int64_t tasks;
    bool has_attributes;
    LaunchAttributes attributes;
} Launcher;

typedef struct PlanArray { /* an array somewhere among the arguments */
    const Type *type;
    size_t item;       /* bytes of an element */
    uint32_t offset;   /* in the argument buffer */
    uint32_t argument; /* its number */
    bool written;
} PlanArray;

typedef struct PlanMove { /* bytes of the argument buffer that go to the GPU's parameter buffer */
    uint32_t from, to, bytes;
} PlanMove;

/* What a launch needs to know about a specialisation, computed once. */
typedef struct Plan {
    uint32_t narrays, nmoves;
    PlanArray *arrays;
    bool may_overlap; /* some array is written and there is another */
    uint32_t nints;   /* integers of 64 bits among the arguments */
    uint32_t *ints;   /* where they lie in the argument buffer */
    PlanMove *moves;  /* TARGET_NVPTX */
    size_t params_bytes;
    CudaKernel **loaded; /* one per device */
    int ndevices;
} Plan;

enum { MAX_PARAMS_BYTES = 4096 }; /* CUDA's limit for kernel parameters */

/* plan.c */
Plan *plan_of(Kernel *kernel, Spec *spec); /* NULL: exception set */
CudaKernel *plan_kernel(Kernel *kernel, Spec *spec, Plan *plan, CudaContext *context);
uint32_t plan_facts(const Plan *plan, const char *buffer, const Dims *grid);
void plan_pack(const Plan *plan, const char *buffer, char *params);

/* staging.c */
typedef struct Staging {
    void *device; /* one allocation for all */
    size_t bytes;
    struct StagedGroup *groups;
    size_t ngroups;
} Staging;
/* Copies host arrays among the arguments to the GPU and redirects the buffer to the copies.  transfers: for each
 * argument 1 + Transfer, or 0; NULL: none says. */
int staging_in(Staging *staging, const Plan *plan, CudaContext *context, void *stream, char *buffer,
               const ModuleState *state, const unsigned char *transfers);
int staging_out(Staging *staging, CudaContext *context, void *stream, bool copy_back);

/* arguments.c: puts what compiled code takes into `bound`; new references lie in `made`.  1: it did; -1: exception
 * set. */
int arguments_adopt(const Kernel *kernel, bool on_gpu, PyObject **bound, PyObject **made, unsigned char *transfers);

/* report.c: raises or warns.  -1: exception set. */
int launch_report(Kernel *kernel, const Spec *spec, const HostLaunch *launch, const HostLaunchReport *report);

/* extensions.c: launches after every extension (option `extensions`) has seen every argument. */
PyObject *launch_plain(PyObject *launcher, PyObject *const *args, size_t nargsf, PyObject *kwnames); /* launch.c */
PyObject *launch_extended(PyObject *launcher, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* kernel_inspect.c */
extern PyMethodDef kernel_methods[];
extern PyGetSetDef kernel_getset[];

/* kernel.c */
PyObject *kernel_configure(PyObject *object, PyObject *args, PyObject *kwargs);
PyObject *kernel_forall(PyObject *object, PyObject *args, PyObject *kwargs);
int kernel_compile_signatures(Kernel *kernel, const Config *config);

/* launch.c */
extern PyType_Spec launcher_spec;
PyObject *launcher_new(Kernel *kernel, const Dims *grid, const Dims *block, PyObject *stream, unsigned shared_bytes,
                       int64_t tasks);
int kernel_device(Kernel *kernel, CudaContext **context); /* NULL: the host device.  -1: exception set */
void kernel_config(const Kernel *kernel, CudaContext *context, uint32_t facts, Config *config);

#endif
