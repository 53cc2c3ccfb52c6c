/* units.h: functions typed in one compilation and taken by later ones; private to this folder. */
#ifndef KRAIT_DRIVER_UNITS_H
#define KRAIT_DRIVER_UNITS_H

#include "driver/job.h" /* Job, FuncInst */

typedef struct Unit Unit;

/* The Func of a function that an earlier compilation has left: Frontend.left.  NULL: none. */
const Func *units_function(void *self, ObjRef function);
/* Whether a new instance is there already, typed: then so is all that it calls.  False: it has to be inferred, or the
 * Diag says why what it calls cannot be translated. */
bool units_take(Job *job, FuncInst *inst);
/* Once all functions of a job are typed, before passes change them.  False: no memory, with MemoryError set. */
bool units_keep(Job *job);

#endif
