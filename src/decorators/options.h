/* options.h: the keyword options of the decorators (options.c). */
#ifndef KRAIT_DECORATORS_OPTIONS_H
#define KRAIT_DECORATORS_OPTIONS_H

#include <Python.h> /* PyObject */

#include "driver/driver.h" /* Config */

typedef struct ModuleState ModuleState;

typedef struct Options {
    uint32_t fastmath;
    unsigned parallel; /* ParallelParts */
    bool python_errors, boundscheck, check, nogil, debug, cache, device, lineinfo, uninterrupted, forceinline,
        has_carveout, note_doubles, races;
    int opt_level, max_registers, max_threads, min_blocks, max_cluster;
    int carveout; /* percentage of shared memory, -1 the driver's choice; if has_carveout */
    Promotion promotion;
    PyObject *linked; /* PTX, a str that `given` keeps for the decorator, a specialiser itself; NULL: none */
    PyObject *kept;   /* while an option is parsed: what stands for it in `given`; NULL: its value */
    PyObject *given;  /* dict of the options as given: targetoptions */
} Options;

/* What help() shows of the decorators (docs.c). */
extern const char jit_doc[], kernel_doc[], vectorize_doc[], guvectorize_doc[];
typedef enum OptionsFor {
    OPTIONS_JIT = 1,
    OPTIONS_KERNEL = 2,
    OPTIONS_VECTORIZE = 4,
    OPTIONS_GUVECTORIZE = 8,
    OPTIONS_CFUNC = 16 | OPTIONS_JIT /* takes the same */
} OptionsFor;
/* Defaults, then kwargs (may be NULL).  -1: TypeError names the valid options. */
int options_parse(Options *options, OptionsFor whom, PyObject *kwargs);
PyObject *options_list(PyObject *module, PyObject *unused);
void options_config(const Options *options, Config *config);

#endif
