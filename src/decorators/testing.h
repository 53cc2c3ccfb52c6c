/* testing.h: the inside of the compiler, for the test suite alone. */
#ifndef KRAIT_DECORATORS_TESTING_H
#define KRAIT_DECORATORS_TESTING_H

#include <Python.h> /* PyObject */

/* Adds `_testing`, a module of functions from text to text, to the extension module.  -1: exception set. */
int testing_add(PyObject *module);
/* What testing_add asks of testing_frontend.c; its functions' self is the extension module. */
int testing_frontend_add(PyObject *module, PyObject *testing);
int testing_codegen_add(PyObject *module, PyObject *testing); /* testing_codegen.c */
int testing_stage_add(PyObject *module, PyObject *testing);   /* testing_stage.c */
int testing_passes_add(PyObject *testing);                    /* testing_passes.c */

#endif
