/* numpy_api.h: NumPy's C API as this folder uses it.  Its table of function pointers is filled by
 * constants_import_numpy(); it is constant from then on. */
#ifndef KRAIT_FRONTEND_NUMPY_API_H
#define KRAIT_FRONTEND_NUMPY_API_H

#define NPY_NO_DEPRECATED_API  NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION     NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL krait_frontend_array_api
#ifndef KRAIT_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <Python.h> /* PyObject */

#include <numpy/arrayobject.h>  /* PyArrayObject */
#include <numpy/arrayscalars.h> /* PyVoidArrType_Type */

#endif
