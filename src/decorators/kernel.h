/* kernel.h: what the files of @cuda.jit share: kernel.c (the class), launcher.c, launch.c and quick.c
 * (kernel[grid, block](..)), plan.c (what a launch knows about a specialisation), arguments.c (arguments that stand for
 * others), captured.c (arrays that the code has), extensions.c (arguments that the user's objects replace), staging.c
 * (host arrays as arguments of a GPU kernel), device_notes.c (what threads printed and raised), report.c (what went
 * wrong on the host device), kernel_inspect.c (what a kernel tells). */
#ifndef KRAIT_DECORATORS_KERNEL_H
#define KRAIT_DECORATORS_KERNEL_H

#include <stddef.h> /* offsetof */

#include "decorators/decorators.h"

typedef struct Kernel {
    DISPATCHER_HEAD
    PyObject *launchers;   /* dict: what stands in kernel[...] -> Launcher */
    PyObject *last_key;    /* the one of them that was asked for last, if it may be known without its hash; or NULL */
    PyObject *last;        /* its Launcher */
    PyObject *specialised; /* dict: argument types -> what specialize gave; NULL: none yet */
    bool copies_told;      /* that a launch copied host arrays */
    bool roundabout;       /* the last one did, or went to another device: quick.c is not for such */
    bool adopts;           /* the last launch had arguments that stand for others: the next one begins with them */
} Kernel;

static inline Kernel *kernel_of_core(Specialiser *core) { return (Kernel *)((char *)core - offsetof(Kernel, core)); }

/* kernel[grid, block, stream, shared]; for forall, tasks >= 0 and the grid follows from the block. */
typedef struct Launcher {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Kernel *kernel;
    int64_t tasks;    /* or GRID_GIVEN, BLOCK_CHOSEN */
    PyObject *stream; /* keeps the handle's owner alive */
    bool small_grid;  /* Program.small holds of it; not known of a grid that follows from tasks */
    LaunchConfig config;
    PyObject *callbacks; /* pre_launch_callbacks; NULL: nobody asked for it */
} Launcher;

enum { GRID_GIVEN = -1, BLOCK_CHOSEN = -2 }; /* the latter: as forall chooses it, for the grid that is given */

typedef struct PlanArray { /* an array somewhere among the arguments */
    const Type *type;
    size_t item;       /* bytes of an element */
    uint32_t offset;   /* in the argument buffer */
    uint32_t argument; /* its number */
    uint32_t align;    /* of an element */
    uint32_t whole;    /* type_whole_align, less 1 */
    uint32_t rows;     /* codegen_nvptx_rows, less 1; 0: nothing is asked */
    uint8_t ndim;
    bool strided; /* its layout does not imply the strides */
    bool written;
    int32_t written_before; /* the last array before it that is written; -1: none */
} PlanArray;

typedef struct PlanMove { /* bytes of the argument buffer that go to the GPU's parameter buffer */
    uint32_t from, to, bytes;
} PlanMove;

typedef struct QuickArgument QuickArgument; /* quick.c: how an argument gets to its place in the parameter buffer */

/* What a launch needs to know about a specialisation, computed once. */
typedef struct Plan {
    QuickArgument *quick;  /* of every argument; NULL: some is of another kind */
    DeviceKernel **loaded; /* one per device */
    PlanArray *arrays;
    bool may_overlap; /* some array is written and there is another */
    uint32_t facts;   /* of FACTS_ALL, those that the code takes for granted */
    bool packs;       /* the code takes a parameter buffer, not the arguments as they lie */
    uint32_t ncaptured, narrays, nwords, nmoves, nints; /* ncaptured: Code.ndevice_arrays */
    PlanMove *words;                                    /* of 8 bytes; nmoves of other sizes follow */
    uint32_t *ints;                                     /* where integers of 64 bits lie in the argument buffer */
    size_t params_bytes;
    Kernel *kernel; /* whose specialisation it is of */
    const Code *code;
    int ndevices;
} Plan;

enum { MAX_PARAMS_BYTES = 4096 }; /* CUDA's limit for kernel parameters */

/* plan.c */
Plan *plan_make(Kernel *kernel, Spec *spec); /* NULL: exception set */
static inline Plan *plan_of(Kernel *kernel, Spec *spec) {
    return KRAIT_UNLIKELY(!spec->extra) ? plan_make(kernel, spec) : spec->extra;
}
DeviceKernel *plan_load(Kernel *kernel, Spec *spec, Plan *plan, Device *device);
static inline bool plan_is_loaded(const Plan *plan, const Device *device) {
    const DeviceKernel *loaded = plan->loaded[device->ordinal];
    return loaded && !device_kernel_gone(loaded);
}
static inline DeviceKernel *plan_kernel(Kernel *kernel, Spec *spec, Plan *plan, Device *device) {
    DeviceKernel *loaded = plan->loaded[device->ordinal];
    return KRAIT_UNLIKELY(!loaded || device_kernel_gone(loaded)) ? plan_load(kernel, spec, plan, device) : loaded;
}
uint32_t plan_facts(const Plan *plan, const char *buffer, bool small_grid); /* facts_variant of a call */

/* quick.c */
int quick_prepare(Plan *plan, const Spec *spec); /* -1: exception set */

/* staging.c */
typedef struct Staging {
    void *memory;     /* one allocation for all */
    PyObject *keeper; /* of a memory manager's */
    size_t bytes;
    struct StagedGroup *groups;
    size_t ngroups;
} Staging;
/* Copies host arrays among the arguments to the GPU and redirects the buffer to the copies.  transfers: for each
 * argument 1 + Transfer, or 0; NULL: none says. */
int staging_in(Staging *staging, const Plan *plan, Device *device, void *stream, char *buffer, const ModuleState *state,
               const unsigned char *transfers);
int staging_out(Staging *staging, Device *device, void *stream, bool copy_back);

/* arguments.c: puts what compiled code takes into `bound`, for a launch on the stream of the thread's device; new
 * references lie in `made`.  What it found; -1: exception set. */
enum { ARGUMENTS_ADOPTED = 1, ARGUMENTS_ELSEWHERE = 2 }; /* a device array is not of this device, or gone */
int arguments_adopt(const Kernel *kernel, Device *device, void *stream, PyObject **bound, PyObject **made,
                    unsigned char *transfers);

/* device_notes.c: prints what a kernel's threads left; raises what one raised, `where` in words.  -1: exception set. */
int device_notes_print(Kernel *kernel, const Code *code, const char *bytes, size_t used, bool lost);
void device_notes_raise(Kernel *kernel, const Code *code, int32_t status, const void *exception, PyObject *where);
int device_notes_read(void *owner, const KernelNotes *notes); /* a KernelNotesReader; owner: a Plan */

/* report.c: raises or warns.  -1: exception set. */
int launch_report(Kernel *kernel, const Spec *spec, const LaunchConfig *config, const LaunchReport *report);

/* extensions.c: launches after every extension (option `extensions`) has seen every argument. */
PyObject *launch_plain(PyObject *launcher, PyObject *const *args, size_t nargsf, PyObject *kwnames); /* quick.c */
PyObject *launch_extended(PyObject *launcher, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* kernel_inspect.c */
extern PyMethodDef kernel_methods[];
extern PyGetSetDef kernel_getset[];

/* kernel.c */
PyObject *kernel_configure(PyObject *object, PyObject *args, PyObject *kwargs);
/* A new Launcher; stream, shared: NULL where they are not given. */
PyObject *kernel_launcher(Kernel *self, PyObject *grid, PyObject *block, PyObject *stream, PyObject *shared);
PyObject *kernel_subscript(PyObject *kernel, PyObject *key); /* launcher.c */
void kernel_forget_launchers(Kernel *self);                  /* those that kernel_subscript keeps */
PyObject *kernel_forall(PyObject *object, PyObject *args, PyObject *kwargs);
/* Warns of it, if reports of the kind were asked for; once a kernel where `once` says so.  -1: exception set. */
int kernel_report(Kernel *kernel, unsigned kind, bool *once, const char *format, ...);
int kernel_compile_signatures(Kernel *kernel, const Config *config);

/* launcher.c */
extern PyType_Spec launcher_spec;
int launcher_call_back(Launcher *self); /* pre_launch_callbacks; -1: exception set */
PyObject *launcher_new(Kernel *kernel, const LaunchConfig *config, PyObject *stream, int64_t tasks);

/* launch.c */
/* Any launch; what quick.c leaves. */
PyObject *launch_any(Launcher *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
/* In a block of cuda.graph(): the graph keeps the specialisation, whose code it launches.  loaded: where launches of it
 * may have to take turns, or NULL.  -1: exception set. */
int launch_keep_code(Spec *spec, DeviceKernel *loaded);
int launch_failed(Kernel *kernel, const Spec *spec, Device *device, int status, const LaunchConfig *config,
                  const LaunchReport *report);
/* What a kernel is compiled with for a device. */
void kernel_config(const Kernel *kernel, const Device *device, uint32_t facts, Config *config);

#endif
