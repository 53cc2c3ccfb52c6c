/* objects.h: what objects.c and library_objects.c share: the numbers of objects. */
#ifndef KRAIT_FRONTEND_OBJECTS_H
#define KRAIT_FRONTEND_OBJECTS_H

#include "frontend/frontend_private.h"

typedef struct ObjEntry {
    PyObject *object; /* NULL: free */
    uint32_t number;
} ObjEntry;

typedef struct ObjTable { /* object address -> number; size is a power of two, at least half of it free */
    ObjEntry *entries;
    size_t size, used;
} ObjTable;

typedef struct ObjKnown { /* what stands behind an ObjRef */
    PyObject *object;     /* each hold has a reference of its own; NULL: gone */
    uint32_t holds;
    uint32_t last_hold; /* serial number of the last one */
    bool nested;        /* a stand-in for code nested in a function */
    bool kept;          /* held for good */
    bool ours;          /* the text of Krait's own functions means it */
} ObjKnown;

typedef struct ObjName { /* one name of one row of functions.def */
    const char *text;
    uint32_t length;
    FuncId func;
    bool found; /* its object is in `library` */
} ObjName;

struct Objects {
    const Library *functions;
    ObjTable numbers, library;
    ObjTable nested; /* code nested in a function -> its last stand-in */
    ObjHold kept;    /* for good */
    uint32_t nholds;
    ObjKnown *known; /* known[ref - 1] */
    size_t count, capacity;
    PyObject **library_objects; /* strong: keeps addresses in `library` theirs */
    size_t nlibrary, library_capacity;
    ObjName *names;
    size_t nnames;
    uint64_t modules; /* modules_imported() when the names not found were last tried */
    PyTypeObject *intrinsic, *krait_type;
    const Type *(*krait_type_get)(PyObject *);
    ObjDecorated decorated;
    ObjOverloadFind *overload_find; /* NULL: nobody may say anything yet */
    void *overload_context;
    bool overloaded; /* somebody has said something */
};

size_t object_hash(const void *address);
uint32_t object_number(const ObjTable *table, const PyObject *object); /* 0: not there */
bool object_set_number(ObjTable *table, PyObject *object, uint32_t number);
/* Room for one more item in an array of PyMem memory. */
bool objects_reserve(void **data, size_t item, size_t count, size_t *capacity);
/* Every single name of every row, to be looked up when an object is asked about (library_objects.c). */
bool objects_list_names(Objects *objects);

#endif
