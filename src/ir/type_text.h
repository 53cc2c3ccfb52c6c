/* type_text.h: how kinds of types are written, for type_text.c and type_parse.c. */
#ifndef KRAIT_IR_TYPE_TEXT_H
#define KRAIT_IR_TYPE_TEXT_H

#include "ir/ir.h" /* TY_COUNT, Type */

/* What follows the name of a kind: what only its own code knows; nothing; its items; its key and, of a dict, its value;
 * its object's number; this and its items. */
typedef enum KindForm { FORM_OWN, FORM_NAME, FORM_ITEMS, FORM_TABLE, FORM_OBJECT, FORM_OBJECT_ITEMS } KindForm;
typedef struct KindText {
    const char *name;
    KindForm form;
} KindText;
extern const KindText kind_text[TY_COUNT];
extern const char *const iter_text[ITER_REVERSED + 1];

bool type_text_is_word(const char *text); /* a name that needs no quotes */

#endif
