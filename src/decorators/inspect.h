/* inspect.h: facts about specialisations, for the classes that show them (Dispatcher, Kernel). */
#ifndef KRAIT_DECORATORS_INSPECT_H
#define KRAIT_DECORATORS_INSPECT_H

#include "decorators/decorators.h"

typedef enum InspectKind { INSPECT_TYPES, INSPECT_LLVM, INSPECT_ASM, INSPECT_DIAGNOSTICS } InspectKind;
typedef struct InspectText {
    InspectKind kind;
} InspectText;

/* The text that a stage leaves behind (driver_stage_text), as a str; NULL: exception set. */
PyObject *inspect_stage(const Specialiser *core, const Config *config, const Type *const *types, size_t count,
                        const char *stage);
PyObject *inspect_signatures(Specialiser *core);
PyObject *inspect_nopython_signatures(Specialiser *core);
PyObject *inspect_overloads(Specialiser *core);
PyObject *inspect_spec_metadata(Specialiser *core, const Spec *spec);
PyObject *inspect_metadata(Specialiser *core, PyObject *signature); /* signature NULL or None: a dict of all */
PyObject *inspect_text(Specialiser *core, InspectKind kind, PyObject *signature); /* the same */
PyObject *inspect_print_types(Specialiser *core, PyObject *file, PyObject *signature);

/* Counts of calls that found a specialisation, and of compilations. */
PyObject *inspect_stats(const Specialiser *core);
/* Forgets every specialisation and compiles the same ones again, with today's globals. */
PyObject *inspect_recompile(Specialiser *core);
/* The method disable_compile(val=True): from now on nothing is compiled, or is again. */
PyObject *inspect_disable_compile(Specialiser *core, PyObject *args, PyObject *kwargs);
/* What `make` says of the specialisation for a signature; signature NULL or None: a dict of all. */
typedef PyObject *InspectMake(Specialiser *core, const Spec *spec, const void *context);
PyObject *inspect_by_signature(Specialiser *core, PyObject *signature, InspectMake *make, const void *context);

PyObject *inspect_overload(Specialiser *core, const Spec *spec);                           /* an Overload */
PyObject *inspect_make_overload(Specialiser *core, const Spec *spec, const void *context); /* InspectMake of it */

/* ---- inspect_methods.c: methods and attributes of Dispatcher and Kernel alike ---- */
PyObject *inspect_method_llvm(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *inspect_method_asm(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *inspect_method_types(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *inspect_method_metadata(PyObject *self, PyObject *args, PyObject *kwargs);
#define ATTRIBUTE(name, doc) PyObject *inspect_get_##name(PyObject *self, void *closure);
#include "decorators/inspect_attributes.def"
#undef ATTRIBUTE

#endif
