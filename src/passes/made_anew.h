/* made_anew.h: what has one place in memory, however often it is made (made_anew.c). */
#ifndef KRAIT_PASSES_MADE_ANEW_H
#define KRAIT_PASSES_MADE_ANEW_H

#include "passes/private.h"

typedef bool HoldsIt(const Type *type); /* whether a value of the type may hold what is made */

/* Marks (Value.mark) whatever may hold what `made` gave: values made of it, cells it is put into. */
void made_anew_mark(const Func *func, Value *made, HoldsIt *holds);

/* Whether what `made` gave in an earlier round of a loop may be used after it is made again. */
bool made_anew_meets_older(Arena *arena, const Func *func, Value *made, HoldsIt *holds);

#endif
