/* own_answers.c: what the interpreter asks of what a special method gives.
 *
 * In: the method's name and what a call of it gives.  Out: what the builtin gives that called it: len() an int, of an
 * np.int64, too, and what is negative raises; bool() takes a bool alone, str() a str.  What is of another class is
 * refused in the interpreter's words. */
#include "typeinfer/rules.h"

#include <string.h> /* strchr, strcmp */

typedef struct Answer {
    const char *method;
    const char *kinds;   /* kinds of Python's numbers that it may be; "": a text */
    const char *strong;  /* ... and of those of NumPy's that are subclasses, or have __index__() */
    const char *refused; /* what the interpreter says of others, about %s, their class */
    const char *made_by; /* the function of the prelude that makes the answer of it, or NULL */
} Answer;

static const Answer answers[] = {
    {"__len__", "bi", "iu", "'%s' object cannot be interpreted as an integer", "answers:length"},
    {"__bool__", "b", NULL, "__bool__ should return bool, returned %s", NULL},
    {"__index__", "bi", NULL, "__index__ returned non-int (type %s)", "answers:whole"},
    {"__hash__", "bi", NULL, "__hash__ method should return an integer, not %s", "answers:hashed"},
    {"__int__", "bi", NULL, "__int__ returned non-int (type %s)", "answers:whole"},
    {"__float__", "f", "d", "__float__ returned non-float (type %s)", "answers:real"},
    {"__complex__", "c", "D", "__complex__ returned non-complex (type %s)", "answers:complex_number"},
    {"__str__", "", NULL, "__str__ returned non-string (type %s)", NULL},
    {"__repr__", "", NULL, "__repr__ returned non-string (type %s)", NULL},
    {"__format__", "", NULL, "__format__ must return a str, not %s", NULL},
};

static const Answer *answer_of(const char *method) {
    for (size_t i = 0; i < COUNT_OF(answers); i++)
        if (strcmp(answers[i].method, method) == 0) return &answers[i];
    return NULL;
}

/* Of NumPy's integers any has __index__(); of its floats and complex numbers that of Python's size is a subclass. */
static bool takes_number(const Answer *answer, const Type *type) {
    char kind = type_scalar_kind(type);
    if (!kind) return false;
    if (type->weak) return strchr(answer->kinds, kind);
    if (!answer->strong) return false;
    if (type->scalar == SCALAR_FLOAT64) kind = 'd';
    if (type->scalar == SCALAR_COMPLEX128) kind = 'D';
    return strchr(answer->strong, kind) != NULL;
}

static bool takes(const Answer *answer, const Type *type) {
    return *answer->kinds ? takes_number(answer, type) : typing_is_text(type);
}

bool typing_take_answer(Typing *t, const char *method, Fact *fact, Value **value) {
    const Answer *answer = answer_of(method);
    const Type *type = fact->type->kind == TY_BOTTOM ? NULL : infer_content(fact->type);
    if (!answer || !type) return true;
    if (!takes(answer, type)) {
        const char *name = typing_class_name(t, type);
        return typing_fail(t, DIAG_TYPING, answer->refused, name ? name : typing_text(t, type));
    }
    if (!answer->made_by) return true;
    Fact facts[2] = {{NULL, NULL}, *fact};
    Value *values[2] = {NULL, *value};
    return typing_call_prelude(t, answer->made_by, facts, values, 2, fact, value);
}
