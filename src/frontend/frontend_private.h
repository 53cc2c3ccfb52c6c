/* frontend_private.h: what the files of this folder share. */
#ifndef KRAIT_FRONTEND_PRIVATE_H
#define KRAIT_FRONTEND_PRIVATE_H

#include "frontend/frontend.h"

/* ---- members.c ---- */

/* What the class defines itself; borrowed.  That of a static class of the interpreter lies elsewhere from 3.12 on. */
PyObject *frontend_class_dict(PyTypeObject *class);
/* The class in the order of resolution, behind `after` if that is one, that has the name itself, and what it has there.
 * NULL: none.  Borrowed. */
PyTypeObject *frontend_holder(PyTypeObject *class, PyObject *after, const char *name, PyObject **value);
/* The same with a guard, also of there being nothing. */
PyObject *frontend_class_has(Frontend *frontend, PyObject *class, PyObject *after, const char *name);

/* ---- objects.c ---- */

/* The function of krait.prelude, "module:function", that gives what a name of krait.cuda is as a value (threadIdx);
 * NULL: the object is no such name. */
const char *frontend_made_by(Frontend *frontend, ObjRef object);
/* What stands for an attribute of a class that is a new object whenever it is read, dict.fromkeys: borrowed. */
PyObject *objects_lasting(PyObject *holder, const char *name, PyObject *value);
bool objects_is_intrinsic(const Objects *objects, PyObject *object);
bool frontend_scalar_of_dtype(PyObject *dtype, Scalar *scalar);           /* in native byte order */
const Type *objects_krait_type(const Objects *objects, PyObject *object); /* NULL: not a krait type object */
/* Code nested in a function is named by a function object without closure, one for each code and globals. */
ObjRef objects_nested(Objects *objects, ObjHold *hold, PyObject *code, PyObject *globals);
bool objects_is_nested(const Objects *objects, ObjRef ref);

/* ---- constants.c ---- */

bool constants_import_numpy(void); /* false: exception set */

/* ---- references and exceptions (frontend.c) ---- */

/* The object's number, held by the compilation; 0: MemoryError set. */
ObjRef frontend_ref(Frontend *frontend, PyObject *object);

/* How a message names an object: "numpy.zeros", "math", "Body" (in the arena; prelude.c). */
const char *frontend_name_of(Frontend *frontend, PyObject *object);
/* Keeps a new reference until frontend_close and gives it back borrowed; NULL: it was NULL, or there is no memory
 * (exception set). */
PyObject *frontend_keep(Frontend *frontend, PyObject *new_reference);
/* Whether the exception that is set may become words of a message.  Interrupts and their like, and having no memory,
 * are raised as they are. */
bool frontend_may_put_into_words(void);
/* Turns the exception that is set into the Diag; always false.  What is raised as it is stays set, with DIAG_PYTHON. */
bool frontend_python_failed(Frontend *frontend, const Source *source, Span span, const char *what);

bool frontend_captures(Frontend *frontend, PyObject *object); /* whether it can come in as an argument (captures.c) */

/* The member of an enumeration, borrowed, and the constant for one of an enumeration that is none of ints; NULL: there
 * is none. (enumerations.c) */
const Const *frontend_member_const(Frontend *frontend, PyObject *member);
PyObject *frontend_enum_member(Frontend *frontend, const Type *type, int64_t value);

/* The class, union or other object that a constant of this type is; borrowed; NULL: nothing that isinstance takes.
 * (classes.c) */
PyObject *frontend_class_meant(Frontend *frontend, const Type *type);

/* ---- names.c: what a name means, with a guard ---- */

/* NULL: not defined (no diag), or diag->failed. */
PyObject *name_global(Frontend *frontend, PyObject *globals, PyObject *builtins, PyObject *name);
PyObject *name_attribute(Frontend *frontend, PyObject *holder, PyObject *name, const Source *source, Span span);
PyObject *name_cell(Frontend *frontend, PyObject *cell);
/* A function is part of the compilation: what it consists of is guarded. */
void name_function(Frontend *frontend, PyObject *function);
/* An array whose memory and layout compiled code has built in (array_guard.c).  False: exception set. */
bool name_array(Frontend *frontend, PyObject *array);
/* "module math has no attribute 'foo'"; *hint: the name that was probably meant, or NULL. */
const char *name_missing(Frontend *frontend, PyObject *holder, PyObject *name, const char **hint);
/* After a failure: what to write for a name that no scope has.  candidates: a new reference to a list of str; NULL:
 * none. */
void name_suggest_global(Frontend *frontend, PyObject *name, PyObject *candidates);

/* ---- guards.c ---- */

/* Borrowed; NULL without an exception: not there. */
PyObject *guard_find_global(PyObject *globals, PyObject *builtins, PyObject *name);
/* What the class has under the name, behind a base if `after` is one; NULL: nothing.  Borrowed. */
PyObject *guard_find_member(PyObject *class, PyObject *after, PyObject *name);
/* Adds a guard unless it is there; takes references of its own. */
void guard_add(Frontend *frontend, Guard guard);

#endif
