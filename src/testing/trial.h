/* trial.h: one run of a row of ir.c or typeinfer.c: text in, text out. */
#ifndef KRAIT_TESTING_TRIAL_H
#define KRAIT_TESTING_TRIAL_H

#include "testing/testing.h"

typedef struct Trial {
    Arena *arena;
    TypeTable *types;
    Diag diag;
    bool typed;
} Trial;

typedef struct TrialRow {
    const char *name;
    const char *(*run)(Trial *trial, const char *text); /* NULL: diag says why not */
} TrialRow;
extern const TrialRow testing_typeinfer_rows[];
extern const size_t testing_typeinfer_row_count;

const char *trial_refuse(Trial *trial, const char *text); /* NULL */
const char *trial_print_func(Trial *trial, const Func *func);
const Type *trial_whole_type(Trial *trial, const char *text);

#endif
