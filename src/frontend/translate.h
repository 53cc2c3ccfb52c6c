/* translate.h: one function being translated; private to this folder.
 *
 *   translate.c   blocks, edges, the stack
 *   function.c    what is translated: source, instructions, parameters, variables
 *   insns.c       one function per canonical instruction
 *   variables.c   those of constants, variables, cells, globals, attributes
 *   displays.c    tuples, lists and dicts under construction, calls, functions made in functions
 *   texts.c       f-strings
 *   handlers.c    try statements
 *   tidy.c        the clean-up at the end */
#ifndef KRAIT_FRONTEND_TRANSLATE_H
#define KRAIT_FRONTEND_TRANSLATE_H

#include "frontend/bytecode.h" /* Bytecode, Insn */
#include "frontend/cfg.h"      /* Cfg */
#include "frontend/frontend_private.h"
#include "frontend/ssa.h" /* Ssa */

/* A list on its way into a tuple or a call. */
typedef struct ListPart {
    Value *value;
    bool spread; /* *value */
} ListPart;
typedef struct List {
    VEC(ListPart) parts;
    const Block *block; /* that adds to it: another, which may not be alone behind this one, has a copy */
} List;

/* A dict, perhaps on its way into a call or a function's keyword defaults. */
typedef struct Map {
    const char **names; /* constant texts among the keys, else NULL */
    Value **keys;       /* NULL: **value of a call */
    Value **values;
    size_t count;
} Map;

/* A function whose attributes are still being set. */
typedef struct NewFunction {
    PyObject *code;  /* borrowed from the code around it */
    Value *defaults; /* a tuple, or NULL */
    Map *kwdefaults; /* or NULL */
    Value **cells;
    size_t ncells;
} NewFunction;

/* An f-string of values known at run time only. */
typedef struct Text {
    const char *template; /* for str.format */
    Value **values;
    size_t count;
    char converted; /* r, s or a: one value, converted, whose format may still follow; else 0 */
} Text;

typedef enum SlotKind {
    SLOT_NULL,
    SLOT_VALUE,
    SLOT_CODE,
    SLOT_LIST,
    SLOT_MAP,
    SLOT_FUNCTION,
    SLOT_TEXT,
    SLOT_NONE,    /* None, without a value yet */
    SLOT_HANDLED, /* a value: the exception that is handled (handlers.c) */
    SLOT_SAVED    /* a variable as it was before a comprehension took it: the value, and whether it is assigned */
} SlotKind;

/* One place of the abstract stack. */
typedef struct Slot {
    SlotKind kind;
    Span span;
    union {
        Value *value;
        PyObject *code;
        List *list;
        Map *map;
        NewFunction *function;
        Text *text;
    };
    Value *assigned; /* of SAVED; both dominate the slot, so that neither becomes a variable at an edge */
} Slot;

/* A generator expression that is a generator, unless its function shares variables that change. */
typedef struct MadeGenerator {
    Value *call, *function;
} MadeGenerator;

typedef struct Translator {
    Frontend *frontend;
    Arena *arena;
    TypeTable *types;
    Diag *diag;
    PyFunctionObject *function; /* borrowed from Objects */
    PyCodeObject *code;
    PyObject *locals; /* types declared of variables: a dict, borrowed; NULL: none */
    bool nested;      /* the function is a stand-in for code nested in another: its free variables are parameters */
    Func *func;
    const Source *source;
    Bytecode bytecode;
    Cfg cfg;

    /* variables: [0, nlocals) locals and cells, [nlocals, 2 nlocals) whether they are assigned, then the stack */
    Ssa ssa;
    size_t nlocals;
    const char **names;                            /* [nlocals] */
    uint64_t *tracked;                             /* locals that may be unassigned where they are loaded */
    uint64_t *bound;                               /* locals certainly assigned here */
    Value *true_value, *false_value, *undef_value; /* in the entry block, if anything is tracked */

    /* here */
    CfgBlock *cfg_block;
    Block *block;
    const Value *looked_at; /* the last value of the block that was looked at for whether it may raise */
    bool raises;            /* something in the block may raise, and leaves the function then */
    const Insn *insn;
    Span span;
    VEC(Slot) stack;
    bool underflow;
    const Const *keywords; /* names for the next call */
    Value *answer;         /* of any() or all() of a generator expression, whose call comes next */
    bool generates;        /* the next call makes a generator, of a generator expression */
    VEC(MadeGenerator) generators;
    VEC(Value *) taken; /* dicts of keyword arguments that are displays again (translate_take_pairs) */
    VEC(Value *) later; /* made_ahead.c: values, by number, that calls made ahead have no object for */
} Translator;

/* ---- translate.c ---- */

const Func *translate_function(Frontend *frontend, ObjRef ref);
/* A value that is stored to a variable, in the type that the option `locals` declares of it. */
bool translate_declared(Translator *t, size_t local, Value **value);
Value *translate_append(Translator *t, Op op, Value *const *args, size_t nargs);
Value *translate_append1(Translator *t, Op op, Value *a);
Value *translate_append2(Translator *t, Op op, Value *a, Value *b);
Value *translate_append3(Translator *t, Op op, Value *a, Value *b, Value *c);
/* operands.c */
/* What is one object in two tuples is equal, whatever it says itself (a NaN, arrays), and decides nothing: it is left
 * out of both. */
void translate_leave_out_same(Translator *t, Value **x, Value **y);
/* d.keys() and d.items() of dicts are lists in compiled code: operators take sets of them; both: of the other operand,
 * too, which may be anything with items.  y: NULL if there is none. */
void translate_views_to_sets(Translator *t, Value **x, Value **y, bool both);
Value *translate_append_const(Translator *t, const Const *konst);
bool translate_refuse(Translator *t, Span span, Refusal refusal); /* always false */
bool translate_malformed(Translator *t, const char *what); /* always false: the bytecode is not what a compiler makes */

/* ---- edges (translate.c) ---- */

Block *translate_ir_block(Translator *t, CfgBlock *block);
/* Tells the successor what the stack looks like, of which `depth` slots go over. */
bool translate_enter(Translator *t, CfgBlock *to, size_t depth);
void translate_settle_texts(Translator *t);        /* f-strings on the stack are made here, not where they are used */
void translate_keep_slot(Translator *t, size_t i); /* the value of slot i is the block's, for successors */

/* ---- handlers.c ---- */

void translate_begin_part(Translator *t, size_t at); /* the instruction at `at` comes next */
/* What the instruction has made is a part: before a variable is written, and where it ends. */
bool translate_end_part(Translator *t);
bool translate_unwind(Translator *t, const Handler *row); /* what the block raises goes to the row's handler */
bool translate_holds_value(const Slot *slot);
void translate_start_handler(Translator *t, const Handler *row);
bool translate_raise(Translator *t, int count);
bool translate_reraise(Translator *t);
/* What was raised when a constant operation was done ahead is raised where it stands, for which a handler may wait;
 * what else failed, as for want of memory, fails the compilation: `what`. */
bool translate_raise_pending(Translator *t, const char *what);
bool insn_push_handled(Translator *t);
bool insn_matches(Translator *t);
bool insn_enter_with(Translator *t);
bool insn_exit_with(Translator *t);

/* ---- the stack (translate.c) ---- */

void translate_push(Translator *t, Slot slot);
void translate_push_value(Translator *t, Value *value);
Slot translate_pop(Translator *t);
Value *translate_slot_value(Translator *t, Slot slot,
                            bool sequence);   /* NULL: refused; sequence: a list may become a tuple */
Value *translate_pop_value(Translator *t);    /* NULL: refused */
Value *translate_pop_sequence(Translator *t); /* the same, but a list may become a tuple: only its items matter */
bool translate_pop_values(Translator *t, Value **values, size_t count); /* values[count - 1] was on top */
Slot *translate_peek(Translator *t, int depth);                         /* 1: the top; NULL: not that many */

/* ---- constants (translate.c) ---- */

bool translate_push_object(Translator *t, PyObject *object); /* what a Python object is in compiled code */
/* The same of one that the code has by a name, for messages. */
bool translate_push_named(Translator *t, PyObject *object, const char *name);
bool translate_is_read_only_row(const Const *konst); /* a library function that is read, not called: cuda.threadIdx.x */
PyObject *translate_attribute_holder(
    Translator *t, const Value *x); /* the object whose attributes are constants; borrowed; NULL: none */
const Const *translate_attribute_const(Translator *t, PyObject *holder, PyObject *name, Span span);
/* x.name of a constant object, or NULL where that is known at run time only; *failed tells which. */
/* subscripts.c: x[i] of what is known; NULL: it is an operation, or the Diag failed. */
Value *translate_constant_subscript(Translator *t, const Value *x, const Value *index);
/* Whether of this dict of a variable from outside, which is no argument of compiled code, the next instructions take
 * an item that it has, by a text. */
bool translate_looked_up(Translator *t, PyObject *object);
/* Whether it is a module without an attribute of that name: behind hasattr() nothing may come there, so that inference
 * refuses it. */
bool translate_lacks(Translator *t, PyObject *holder, PyObject *name);
/* Bound to its class, it is another object each time it is read: the call finds it. */
bool translate_is_class_method(Translator *t, const Value *x, PyObject *holder, PyObject *name);
Value *translate_constant_attribute(Translator *t, Value *x, PyObject *name, bool *failed);

/* ---- cells.c ---- */

void cells_settle(Translator *t);
/* Whether the function made here, or one inside it, assigns to its free variable number `index`. */
bool cells_function_assigns(Translator *t, const Value *made, uint32_t index);

/* ---- spreads.c ---- */

bool frontend_settle_spreads(Translator *t); /* dicts that are made to be taken apart by **x */

/* ---- tidy.c ---- */

bool frontend_tidy(Translator *t);

/* ---- function.c ---- */

bool translate_open(Translator *t, ObjRef ref); /* up to the entry, which is sealed */

/* ---- variables.c ---- */

PyObject *translate_code_name(Translator *t); /* the name that t->insn names; borrowed */
bool translate_assigns_free(Translator *t, PyCodeObject *code, const char *name);
bool insn_load_const(Translator *t);
bool insn_load_local(Translator *t, size_t local);
bool insn_save_local(Translator *t, size_t local);
bool insn_store_local(Translator *t, size_t local);
bool insn_delete_local(Translator *t, size_t local);
bool insn_make_cell(Translator *t, size_t local);
bool insn_load_cell(Translator *t, size_t local);
bool insn_store_cell(Translator *t, size_t local);
bool insn_load_global(Translator *t);
bool insn_load_attr(Translator *t);
bool insn_super_attr(Translator *t);
bool translate_super(Translator *t, Value *const *given, size_t count);
bool insn_store_attr(Translator *t);

/* ---- insns.c ---- */

bool translate_insn(Translator *t); /* t->insn, which does not end its block */

/* ---- patterns.c ---- */

bool insn_length(Translator *t);
bool insn_match_sequence(Translator *t);
bool insn_match_class(Translator *t, int positional);
bool insn_match_mapping(Translator *t);
bool insn_match_keys(Translator *t);

/* ---- texts.c ---- */

bool insn_format(Translator *t, int arg);
bool insn_convert(Translator *t, int how);
bool insn_string(Translator *t, int count);
Value *translate_text_value(Translator *t, const Text *text);
/* The Python object of a constant; a new reference, NULL without exception where there is none. */
PyObject *translate_const_object(const Const *konst);
/* Among the defaults of the stand-in of an inner function: one that is known only when the function is made. */
#define TRANSLATE_UNKNOWN_DEFAULT Py_NotImplemented

/* ---- made_ahead.c ---- */
/* The same of a function, too, and of a tuple of what has one. */
PyObject *translate_known_object(const Translator *t, const Const *konst);

bool translate_is_made_ahead(const Translator *t, const Value *callee);
bool translate_make_ahead(Translator *t, Value *const *operands, size_t count, const Const *names);

/* ---- generators.c ---- */

bool translate_is_generator_expression(const PyCodeObject *code);
bool translate_generator_loop(Translator *t);
bool translate_is_kept_generator(const PyCodeObject *code);
bool translate_kept_generator(Translator *t);
bool translate_taken_by(Translator *t, bool *answers);
void translate_note_generator(Translator *t, Value *call); /* the call that it was called for */
void translate_note_walked(Translator *t, Value *call);    /* of a comprehension: its iterator (generators.c) */
bool translate_walks_parameter(const Translator *t);
void translate_settle_generators(Translator *t); /* once it is known which variables change */
Value *translate_argument_of(Translator *t, const Value *callee, Value *argument);
bool insn_collect(Translator *t);
bool insn_load_bool(Translator *t, int value);
bool insn_yield(Translator *t, bool gives);
bool insn_pass_on(Translator *t);
Value *translate_returned_by(Translator *t, Value *walked); /* what `yield from` gives */

/* ---- displays.c ---- */

bool insn_list(Translator *t, int count);
bool insn_list_append(Translator *t, int depth, bool spread);
bool insn_list_to_tuple(Translator *t);
bool insn_map(Translator *t, int count);
bool insn_key_map(Translator *t, int count);
bool insn_map_add(Translator *t, int depth);
bool insn_put_all(Translator *t, int depth);
bool insn_map_merge(Translator *t, int depth);
bool insn_map_spread(Translator *t, int depth);
/* The dict of keyword arguments on the stack is a display again, SLOT_MAP (spreads.c); at the end such dicts go. */
bool translate_take_pairs(Translator *t, Slot *slot);
void translate_drop_taken(Translator *t);
Map *translate_new_pairs(Translator *t, size_t count);
bool translate_push_map(Translator *t, Map *map);
const char *translate_key_name(const Const *key); /* NULL: it is no text */

/* ---- keywords.c ---- */

bool translate_changes_keywords(Translator *t, Value *const *operands, size_t count, const Const *names, bool *changes);
bool translate_stores_keyword(Translator *t, Value *x, Value *name, Value *value, bool *stores);
bool translate_push_named_pairs(Translator *t, const Const *names, Value *const *values);
bool translate_push_pairs(Translator *t, PyObject *dict); /* of a variable from outside, which stands behind ** */
bool insn_set(Translator *t, int count);
bool insn_set_add(Translator *t, int depth);
bool insn_call(Translator *t, int count, bool keywords_on_top);
bool insn_call_ex(Translator *t, int flags);
bool insn_function(Translator *t, int flags);
bool insn_function_attribute(Translator *t, int flag);
Value *translate_list_value(Translator *t, const List *list); /* a tuple of its items */
Value *translate_new_list(Translator *t, const List *list);
Value *translate_new_map(Translator *t, const Map *map);
Value *translate_function_value(Translator *t, const NewFunction *function);
Value *translate_empty_tuple(Translator *t);

#endif
