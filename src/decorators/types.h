/* types.h: between types_object.c, types_new.c, types_derived.c, types_parts.c and types_struct.c. */
#ifndef KRAIT_DECORATORS_TYPES_H
#define KRAIT_DECORATORS_TYPES_H

#include "decorators/decorators.h"

/* types_object.c: result(args), each item of a tuple a type; result NULL: only the list of types. */
PyObject *types_signature(ModuleState *state, const Type *result, PyObject *args);

PyObject *types_new(PyTypeObject *class, PyObject *args, PyObject *kwargs); /* types_new.c: tp_new of all classes */

/* types_derived.c: a class that a program derives has objects of its own. */
bool types_is_derived(const PyTypeObject *class);
PyObject *types_make_derived(ModuleState *state, PyTypeObject *class, const Type *type); /* type NULL: found later */
int types_init(PyObject *self, PyObject *args, PyObject *kwargs);                        /* tp_init of all classes */
PyObject *types_as(PyObject *module, PyObject *args);                                    /* _type_as */
PyObject *types_get_name(PyObject *self, void *closure);
PyObject *types_compare(PyObject *self, PyObject *other, int op);
Py_hash_t types_hash(PyObject *self);

/* types_parts.c: what one class has that others have not, ended by a slot 0. */
enum { TYPES_MAX_OWN_SLOTS = 4 };
void types_own_slots(TypeClass class, PyType_Slot *slots);

/* types_struct.c */
const Type *types_of_dtype(ModuleState *state, PyObject *dtype); /* of its items; NULL: TypeError */
PyObject *types_extents(const Type *nested);                     /* a tuple */
PyObject *types_new_record(ModuleState *state, PyObject *args, PyObject *kwargs);
PyObject *types_new_nested(ModuleState *state, PyObject *args, PyObject *kwargs);
PyObject *types_new_time(ModuleState *state, bool delta, PyObject *args, PyObject *kwargs);
PyObject *types_new_chars(ModuleState *state, bool wide, PyObject *args, PyObject *kwargs);
PyObject *types_from_dtype(PyObject *module, PyObject *object);

/* Attributes and methods of Type that records have. */
PyObject *types_get_size(PyObject *self, void *closure);
PyObject *types_get_aligned(PyObject *self, void *closure);
PyObject *types_get_members(PyObject *self, void *closure);
PyObject *types_get_key(PyObject *self, void *closure); /* of dicts */
PyObject *types_get_value(PyObject *self, void *closure);
PyObject *types_define(PyObject *self, PyObject *type); /* of deferred types */
PyObject *types_typeof_field(PyObject *self, PyObject *name);
PyObject *types_offset_of_field(PyObject *self, PyObject *name);

#endif
