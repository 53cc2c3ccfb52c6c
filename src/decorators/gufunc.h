/* gufunc.h: what the files of @guvectorize share: guvectorize.c (the decorator and its class), gufunc_layout.c (the
 * text of a layout), gufunc_loop.c (specialisations as the loops of a generalised ufunc of NumPy). */
#ifndef KRAIT_DECORATORS_GUFUNC_H
#define KRAIT_DECORATORS_GUFUNC_H

#include "decorators/vectorized.h" /* MAX_OPERANDS, UfuncTarget */

/* What a layout such as "(m,n),(n)->(m)" says of each operand.  Which dimensions are the same is NumPy's to say. */
typedef struct GufuncLayout {
    int nin, nout;
    uint8_t ndim[MAX_OPERANDS]; /* core dimensions */
} GufuncLayout;

/* 0; -1: ValueError that shows the place. */
int gufunc_layout_parse(GufuncLayout *layout, const char *text);

enum { GUFUNC_FORMS = 2 };

/* One loop: the types of its parameters, and the code for them, which is compiled when it is first wanted: once for
 * core dimensions that lie without gaps, once for any strides. */
typedef struct GufuncLoop {
    const Type *types[MAX_OPERANDS]; /* as the user declared or gave them; layouts do not matter */
    Spec *forms[GUFUNC_FORMS];       /* owned references; NULL: not compiled, or its guards failed */
} GufuncLoop;

typedef struct Gufunc {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *dict, *weakrefs;
    PyObject *module;
    PyObject *ufunc; /* NumPy's; its `obj` is this object */
    GufuncLayout layout;
    UfuncTarget target;
    unsigned max_blocksize; /* 0: what suits */
    uint32_t writable;      /* bit i: parameter i is an input that the function may write to */
    GufuncLoop **loops;
    Py_ssize_t nloops;
    char *name, *doc, *typenums; /* what the ufunc points to: its loops' types as NumPy numbers them */
    _Atomic int64_t each;        /* nanoseconds of one call of the function, when last measured */
    Specialiser core;
} Gufunc;

/* The ufunc without loops.  -1: exception set. */
int gufunc_make(Gufunc *self, const char *layout, int identity);
/* Adds a loop for these parameter types, compiled now for core dimensions without gaps.  -1: exception set. */
int gufunc_add_loop(Gufunc *self, const Type *const *types);
/* The loop with operands of these scalar types; NULL, without an exception: none. */
GufuncLoop *gufunc_find_loop(const Gufunc *self, const int *scalars);
/* Drops code whose guards do not hold any more. */
void gufunc_check_guards(Gufunc *self);

#endif
