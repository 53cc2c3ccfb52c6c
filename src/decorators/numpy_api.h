/* numpy_api.h: NumPy's C API as this folder uses it: arrays and ufuncs.  module.c fills the tables of function
 * pointers that NumPy's headers ask for; they are constant from then on. */
#ifndef KRAIT_DECORATORS_NUMPY_API_H
#define KRAIT_DECORATORS_NUMPY_API_H

#define NPY_NO_DEPRECATED_API  NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION     NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL krait_decorators_array_api
#define PY_UFUNC_UNIQUE_SYMBOL krait_decorators_ufunc_api
#ifndef KRAIT_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <Python.h> /* PyObject */

#include <numpy/arrayobject.h> /* PyArrayObject */
#include <numpy/ufuncobject.h> /* PyUFuncObject */

#endif
