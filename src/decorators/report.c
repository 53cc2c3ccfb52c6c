/* report.c: what a launch reports (LaunchReport), as Python sees it.
 *
 * A thread that raised: that exception, with a note that names block and thread.  A missed barrier: LaunchError with
 * the barrier's line.  An access outside an array: OutOfBoundsWarning, shown at the source line; the access itself
 * was left out. */
#include "decorators/kernel.h"

#include <stdlib.h> /* free */

static void split(int64_t index, const unsigned size[3], long parts[3]) {
    parts[0] = (long)(index % size[0]);
    parts[1] = (long)(index / size[0] % size[1]);
    parts[2] = (long)(index / size[0] / size[1]);
}

static PyObject *thread_text(const LaunchConfig *launch, int64_t number) {
    long at[3];
    split(number < 0 ? 0 : number, launch->block.x, at);
    return PyUnicode_FromFormat("thread (%ld, %ld, %ld)", at[0], at[1], at[2]);
}

/* "block (1, 0, 0), thread (3, 0, 0)" */
static PyObject *place(const LaunchConfig *launch, const LaunchReport *report) {
    long block[3];
    split(report->bad_block < 0 ? 0 : report->bad_block, launch->grid.x, block);
    PyObject *thread = thread_text(launch, report->bad_thread), *text = NULL;
    if (thread) text = PyUnicode_FromFormat("block (%ld, %ld, %ld), %U", block[0], block[1], block[2], thread);
    Py_XDECREF(thread);
    return text;
}

static const AccessSite *site_of(const Spec *spec, uint32_t site) {
    return site < spec->code->naccess_sites ? &spec->code->access_sites[site] : NULL;
}

/* "thread (16, 0, 0) and 15 more ended without it", "thread (1, 0, 0) waits at line 12" */
static PyObject *missing_text(const Spec *spec, const LaunchConfig *launch, const LaunchReport *report) {
    const AccessSite *site = site_of(spec, report->missing_site);
    if (report->missing_block >= 0) {
        long block[3];
        split(report->missing_block, launch->grid.x, block);
        return PyUnicode_FromFormat("block (%ld, %ld, %ld) ended without it", block[0], block[1], block[2]);
    }
    PyObject *thread = thread_text(launch, report->missing_thread), *text = NULL;
    if (thread && site)
        text = PyUnicode_FromFormat("%U waits at line %u", thread, site->span.line);
    else if (thread && report->missing_more)
        text = PyUnicode_FromFormat("%U and %lld more ended without it", thread, (long long)report->missing_more);
    else if (thread)
        text = PyUnicode_FromFormat("%U ended without it", thread);
    Py_XDECREF(thread);
    return text;
}

static void raise_stuck(Kernel *kernel, const AccessSite *site, PyObject *where, PyObject *missing,
                        const LaunchReport *report) {
    PyObject *at = site ? PyUnicode_FromFormat(" at line %u in %s", site->span.line,
                                               site->function ? site->function : "?")
                        : PyUnicode_FromString("");
    if (!at) return;
    if (report->mask)
        PyErr_Format(kernel->core.state->errors[ERROR_LAUNCH],
                     "an operation of a warp was not reached by all lanes of its mask: %U waits%U for the lanes 0x%x; "
                     "%U\n  hint: every lane that the mask names must come to the same call with the same mask; a "
                     "mask made with cuda.ballot_sync before a branch names the lanes that take it",
                     where, at, (unsigned)report->mask, missing);
    else if (report->missing_block >= 0)
        PyErr_Format(
            kernel->core.state->errors[ERROR_LAUNCH],
            "a barrier of the grid was not reached by all of its blocks: %U waits%U; %U\n  hint: every thread of "
            "the grid must reach it",
            where, at, missing);
    else
        PyErr_Format(
            kernel->core.state->errors[ERROR_LAUNCH],
            "a barrier of the block was not reached by all of its threads: %U waits%U; %U\n  hint: move the barrier "
            "out of the branch or loop that only some threads take, to a line that all of them reach; only threads "
            "that a `return` has ended before are not waited for",
            where, at, missing);
    Py_DECREF(at);
    if (site) traceback_add(site->file, site->function, site->span, PyFunction_GET_GLOBALS(kernel->core.function));
}

static int warn_bad_access(Kernel *kernel, const AccessSite *site, PyObject *where) {
    PyObject *name = ((PyFunctionObject *)kernel->core.function)->func_name;
    const char *file = site->file ? site->file : "?", *array = site->array ? site->array : "x";
    PyObject *text = PyUnicode_FromFormat(
        "%s:%u: %U in kernel %U touched an element outside %s%s (axis %u); the access was left out: threads behind "
        "the end need a condition, if %s < %s.shape[%u]",
        file, site->span.line, where, name, site->array ? "the array " : "an array", site->array ? array : "",
        site->axis, site->index ? site->index : "i", array, site->axis);
    PyObject *filename = text ? PyUnicode_DecodeFSDefault(file) : NULL;
    int result = -1;
    if (filename)
        result = PyErr_WarnExplicitObject(kernel->core.state->errors[ERROR_OUT_OF_BOUNDS], text, filename,
                                          (int)site->span.line, NULL, NULL);
    Py_XDECREF(filename);
    Py_XDECREF(text);
    return result;
}

static int warn_unwatched(const Kernel *kernel) {
    return PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                            "check='race' did not look at all of a launch of %U: more than 2**24 threads, or more "
                            "accesses than memory has room for; launch it on less",
                            ((PyFunctionObject *)kernel->core.function)->func_name);
}

static int tell_printed(Kernel *kernel, const Spec *spec, const LaunchReport *report) {
    int result = 0;
    if (!report->interrupted && (report->printed || report->lost))
        result = device_notes_print(kernel, spec->code, report->printed, report->printed_bytes, report->lost);
    free(report->printed);
    return result;
}

/* "line 12 writes" */
static PyObject *access_text(const Spec *spec, const RaceReport *race, int which) {
    static const char *const words[] = {
        [RACE_READ] = "reads", [RACE_WRITE] = "writes", [RACE_ATOMIC] = "atomically updates"};
    const AccessSite *site = site_of(spec, race->sites[which]);
    return PyUnicode_FromFormat("line %u in %s %s", site ? site->span.line : 0,
                                site && site->function ? site->function : "?", words[race->kinds[which]]);
}

static void raise_race(Kernel *kernel, const Spec *spec, const LaunchConfig *launch, const RaceReport *race) {
    PyObject *access[2], *where[2];
    for (int i = 0; i < 2; i++) {
        LaunchReport at = {.bad_block = race->blocks[i], .bad_thread = race->threads[i]};
        access[i] = access_text(spec, race, i);
        where[i] = place(launch, &at);
    }
    const AccessSite *site = site_of(spec, race->sites[1]);
    bool one_block = race->blocks[0] == race->blocks[1];
    if (access[0] && access[1] && where[0] && where[1])
        PyErr_Format(
            kernel->core.state->errors[ERROR_LAUNCH],
            "a data race in %s memory: %U an element (%U) that %U (%U), and nothing puts them in order\n  hint: %s",
            race->shared ? "shared" : "global", access[0], where[0], access[1], where[1],
            one_block ? "put cuda.syncthreads() between the two, or update it with cuda.atomic"
                      : "blocks run in any order: update it with cuda.atomic, or use a launch for each step");
    for (int i = 0; i < 2; i++) {
        Py_XDECREF(access[i]);
        Py_XDECREF(where[i]);
    }
    if (site) traceback_add(site->file, site->function, site->span, PyFunction_GET_GLOBALS(kernel->core.function));
}

int launch_report(Kernel *kernel, const Spec *spec, const LaunchConfig *launch, const LaunchReport *report) {
    bool printed = tell_printed(kernel, spec, report) == 0, raised = report->status != 0 || report->stuck;
    if (report->interrupted || (!printed && !raised && !report->raced)) return -1;
    PyObject *earlier = printed ? NULL : errors_take(); /* what the kernel raised matters more */
    if (!raised && report->raced) {
        raise_race(kernel, spec, launch, &report->race);
        errors_come_after(earlier);
        return -1;
    }
    if (!raised && report->unwatched && warn_unwatched(kernel) < 0) return -1;
    if (!raised && report->bad_site == UINT32_MAX) return 0;
    PyObject *where = place(launch, report);
    int result = -1;
    if (!where) {
        errors_come_after(earlier);
        return -1;
    }
    if (report->stuck) {
        PyObject *missing = missing_text(spec, launch, report);
        if (missing) raise_stuck(kernel, site_of(spec, report->bad_site), where, missing, report);
        Py_XDECREF(missing);
    } else if (report->status != 0) {
        device_notes_raise(kernel, spec->code, report->status, report->exception, where);
    } else {
        const AccessSite *site = site_of(spec, report->bad_site);
        result = site ? warn_bad_access(kernel, site, where) : 0;
    }
    Py_DECREF(where);
    errors_come_after(earlier);
    return result;
}
