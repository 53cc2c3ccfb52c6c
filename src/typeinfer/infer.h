/* infer.h: what the files of typeinfer share: the facts of values, the run over one function, and `Typing`, the one
 * operation being typed.
 *
 * Two phases, one set of rules.  `solve` asks rules for result facts until nothing changes; `rewrite` asks the same
 * rules once more with the final facts and t->emit set, and applies what they say.  A rule therefore must be a function
 * of the facts alone, and writes each decision once:
 *
 *   bool rule_func_hypot(Typing *t) {
 *       const Type *type = promote_args(t, 0, 2);                 the common type of the operands
 *       if (!type) return typing_bad_operands(t);
 *       typing_cast(t, 0, type), typing_cast(t, 1, type);         what the operands become
 *       return typing_result(t, type, NULL);                      what comes out; the call becomes CALL_FUNC t->func
 *   }
 *
 * What a rule can decide, besides the casts of operands:
 *   typing_result(t, type, konst)   the operation stays (a call of a library function becomes CALL_FUNC t->func);
 *                                   konst: its value if known, or NULL; a pure operation with a known value becomes a
 *                                   constant
 *   typing_become_op(t, op)         it becomes this operation instead, typed by that operation's own rule (rows of
 *                                   kind OP)
 *   typing_become_func(t, id)       it becomes a call of this library function, typed by its rule, with the same
 *                                   operands
 *   typing_become_pyfunc(t, object) it becomes a call of a Python function (typing_become_prelude: of krait.prelude),
 *                                   arguments bound to its parameters, keywords too
 *   typing_become_const(t, konst)   it is this constant
 *   typing_become_arg(t, i)         it is operand i (after its cast)
 *   typing_become(t, value, type)   it is this value, built with the typing_make_* functions when t->emit is set; value
 *                                   is NULL otherwise
 *
 * Rules of operations are rule_<name> with the name in ir_ops.def, rules of library functions rule_func_<name> with the
 * name in library/functions.def.  Operands of an operation are t->args[0 .. nargs-1]; for a library function these are
 * the arguments without the callee, the keyword ones last, their names in t->names; typing_bind_keywords puts them into
 * the order of the parameters.  The number of arguments was checked against the row.
 *
 * A rule refuses with typing_fail and friends, which return false; the message names types in NumPy's words
 * (typing_arg_text: "`x` (float32)").  While solving, a refusal is only remembered (types may still grow) and repeated
 * at the end with a message.
 *
 * README.md says which file has the rules of which operations; those of library functions are in rules_sequences.c and
 * rules_numbers.c (builtins, operator), rules_math.c (math, cmath), rules_ufunc.c (NumPy) and rules_cuda.c. */
#ifndef KRAIT_INFER_H
#define KRAIT_INFER_H

#include "library/library.h"     /* FuncInfo */
#include "typeinfer/typeinfer.h" /* InferConfig */

/* What is known about a value.  type TY_BOTTOM: no value reaches here yet; type NULL: the argument was not given
 * (typing_bind_keywords). */
typedef struct Fact {
    const Type *type;
    const Const *konst; /* the value when it is known, else NULL */
} Fact;

/* One run over one function. */
typedef struct Infer {
    const InferConfig *config;
    const InferHost *host;
    Arena *arena;
    TypeTable *types;
    Diag *diag;
    FuncInst *inst;
    Func *func;
    bool quiet;     /* solving: refusals are not worded yet */
    bool emit;      /* rewriting */
    bool device;    /* compiling for a kernel: config->device */
    bool leaves;    /* the result becomes a Python object */
    bool py_errors; /* Python error model (OPT_PYTHON_ERRORS) */
    bool int_range; /* a Python int that a NumPy integer cannot hold raises OverflowError; else it wraps */
    /* of the function; the instance's own stays what calls of itself saw until the run ends */
    Fact result;
    const Type **expected; /* by Value.id < nexpected, of a call: what its result is to be (growth.c), or NULL; of a
                              display of pairs: the dict that it is (named_numbers.c) */
    uint32_t nexpected;
    VEC(const Value *) whole; /* iters whose loops cannot become their rounds */
    struct Solver *solver;
    struct Narrowing *narrowing;
} Infer;

/* One operation or call being typed. */
typedef struct Typing {
    Infer *in;
    Value *at;          /* the operation; new values are inserted before it */
    Op op;              /* what is typed: at's operation until a rule said typing_become_op */
    FuncId func;        /* library function being called, else FUNC_NONE */
    const char *called; /* FUNC_NONE: the name of the ufunc that is called, else NULL */
    Fact *args;         /* [nargs] */
    Value **values;     /* [nargs] the operands; a value of NULL type means not given */
    size_t nargs;
    const char *const *names; /* keyword names of the last nnames arguments */
    size_t nnames;
    bool emit;        /* the second phase: decisions are applied */
    bool wraps;       /* casts made now keep the low bits of a Python int */
    bool keeps;       /* a Python int that becomes a float keeps its value, or raises */
    bool casts_index; /* and of a uint64, which as an index lies outside if an int64 cannot hold it: VF_FORWARD */

    /* the answer, through the functions below */
    const Type *result;
    const Const *konst;
    const Type **to;  /* [nargs] what each operand is cast to; NULL: stays */
    Value *value;     /* the value that takes the place of `at`; NULL: `at` stays */
    uint32_t flags;   /* VF_INPLACE of the operation; rules add VF_CHECKED, VF_UNCHECKED */
    int64_t imm;      /* imm.i of the operation */
    const char *text; /* imm.text of the operation */
    ObjRef after;     /* of super().name: the class whose bases it is looked for in */
    bool is_call;     /* `at` becomes CALL_FUNC func */
    FuncInst *inst;   /* `at` becomes CALL_INST inst with call_args */
    Value **call_args;
    bool failed;
    bool spreads;       /* a call: the last of the positional arguments, a tuple of any length, is the rest of them */
    bool spreads_mixed; /* zip(*x), where the items of each tuple in x have no common type */
    bool is_part;       /* of what `at` becomes: typing_sub */
} Typing;

typedef bool InferRule(Typing *t);

/* ---- answers (all return true) ---- */
bool typing_result(Typing *t, const Type *type, const Const *konst);
void typing_cast(Typing *t, size_t arg, const Type *type);
bool typing_become_op(Typing *t, Op op);
bool typing_become_func(Typing *t, FuncId func);
bool typing_become_pyfunc(Typing *t, ObjRef function);
bool typing_become_prelude(Typing *t, const char *name);
bool typing_become_const(Typing *t, const Const *konst);
bool typing_become_captured(Typing *t, int64_t index); /* it is that one of the captures */
bool typing_become_arg(Typing *t, size_t arg);
bool typing_become(Typing *t, Value *value, const Type *type);
bool typing_become_item(Typing *t, size_t arg, size_t index); /* it is that item of operand arg, a tuple */

/* ---- refusals (all return false) ---- */
bool typing_fail(Typing *t, DiagCode code, const char *format, ...) KRAIT_PRINTF(3, 4);
bool typing_fail_arg(Typing *t, size_t arg, DiagCode code, const char *format, ...)
    KRAIT_PRINTF(4, 5);                                                  /* caret under the argument */
bool typing_hint(Typing *t, const char *format, ...) KRAIT_PRINTF(2, 3); /* for the refusal just made */
/* "`sin` does not take a complex64" / "unsupported operand types for +: `a` (int) and `t` ((int, int))" */
bool typing_bad_operands(Typing *t);
/* typing_advice, where nothing is being typed; prefixes: also what is said of all names that start alike. */
const char *infer_advice(const char *name, bool device, bool prefixes);
/* What messages call a function: of Krait's own that stand for a row, "numpy.sum". */
const char *infer_shown_name(Infer *in, const Func *func);
const char *infer_text(Infer *in, const Type *type);  /* "float32", "`ValueError`": as a message shows it; advice.c */
const char *typing_text(Typing *t, const Type *type); /* the same */
/* What to do instead of a library function or method ("numpy.zeros", "array.sum") that is not compiled; NULL: nothing
 * is known. */
const char *typing_advice(Typing *t, const char *name);
#define NEEDS_HEAP " makes an array, which kernels cannot" /* behind the name of a function */
/* Refuses a variable that inner functions share, of two types that have no common one. */
bool infer_fail_contents(Typing *t, const char *name, const Type *here, const Type *elsewhere);
/* Where an operand stands that an operation does not take: operand_advice.def. */
typedef enum Where { ANYWHERE, OPERATOR, ORDER, CALLED, CALLEE, INDEXED, UNPACKED, ASSIGNED, DELETED } Where;
/* What to write instead, as a hint, if something is known; called: the function or attribute, "" for none; false. */
bool typing_hint_operands(Typing *t, Where where, const char *called);
/* x[i] of what has no items; false. */
bool typing_refuse_index(Typing *t, const Type *type);
bool typing_refuse_number(Typing *t, const char *what); /* argument 1 as the index of a list, of a text, ... */
/* "did you mean ...?", as a hint, if one of the names, or of what values of the type have, is near; else false.
 * class_name: of the rows of its methods, "builtins.str", or NULL.  near_names.c */
bool typing_hint_near(Typing *t, const char *name, const char *const *names, size_t count);
bool typing_hint_near_attribute(Typing *t, const Type *type, const char *class_name);
/* The class whose rows are the methods of a type, "builtins.str"; NULL: none are.  rules_attr.c */
const char *typing_class_of_methods(const Type *type);
/* The name of its class in the interpreter, "int", "numpy.float64"; NULL: it has none here.  none_operands.c */
const char *typing_class_name(Typing *t, const Type *type);
const char *typing_arg_text(Typing *t, size_t arg); /* "`x` (float32)", or "float32" for an unnamed expression */
const char *typing_func_name(Typing *t);            /* "math.sin": first name of the row; of a ufunc its own */

/* ---- arguments ---- */
/* Rearranges the arguments into the order of `params` (count of them; the first `least` are required); arguments not
 * given get type NULL. */
bool typing_bind_keywords(Typing *t, const char *const *params, size_t least, size_t count);
bool typing_given(const Typing *t, size_t arg); /* arg < nargs and given (an explicit None counts as given) */
bool typing_is_none(const Typing *t, size_t arg);
/* The constant int / tuple of ints / dtype an argument must be; false: refused with "must be known when the function is
 * compiled". */
bool typing_const_int(Typing *t, size_t arg, int64_t *out);
bool typing_const_bool(Typing *t, size_t arg, bool *out);
bool typing_const_shape(Typing *t, size_t arg, int64_t *shape,
                        size_t *ndim);           /* an int or a tuple of ints; room for TYPE_MAX_NDIM */
bool typing_refuse_shape(Typing *t, size_t arg); /* what is no shape */
/* The element type that an argument names: also a vector. */
const Type *typing_const_element(Typing *t, size_t arg);
const Type *typing_const_dtype(Typing *t, size_t arg); /* the strong scalar a dtype argument names; NULL: refused */
bool typing_const_str(Typing *t, size_t arg, const char **out);

/* Bottom anywhere in the arguments: the call has not been reached with values yet.  The solver never asks a rule then.
 */

/* ---- types ---- */
const Type *infer_scalar(Infer *in, Scalar scalar, bool weak);
const Type *infer_int(Infer *in); /* weak */
const Type *infer_float(Infer *in);
const Type *infer_complex(Infer *in);
const Type *infer_bool(Infer *in);
const Type *infer_none(Infer *in);
const Type *infer_strong(Infer *in, const Type *scalar); /* the strong scalar of the same Scalar; a struct: itself */
const Type *infer_bottom(Infer *in);
const Type *infer_sent(Infer *in); /* of a generator: what `yield` gives (joins.c) */
/* The strong scalar of a dtype, a class of numbers or the text of a dtype; NULL: it is none. */
const Type *infer_dtype(Infer *in, Fact fact);
/* Content of an Optional, else the type itself: what using it as a value needs (typing_cast then adds the check for
 * None). */
const Type *infer_content(const Type *type);
/* Common type of scalar operands first .. first+count-1 (NEP 50, Optional content used); NULL: one is not a scalar. */
const Type *promote_args(Typing *t, size_t first, size_t count);
/* The common type of operands in an arithmetic operation and its result; false: the operation does not exist for them.
 */
typedef struct BinaryTypes {
    const Type *compute; /* both operands are cast to this; NULL when they keep their own types (compare by value) */
    const Type *result;
} BinaryTypes;
bool promote_binary(Infer *in, Op op, const Type *a, const Type *b, BinaryTypes *out);
const Type *promote_unary(Infer *in, Op op, const Type *a); /* NULL: the operation does not exist */
/* Whether int(x), round and math.floor of an infinity or a NaN raise: on the host whatever the error model, since no
 * int stands for them. */
static inline bool infer_ints_raise(const Infer *in) { return in->py_errors || in->int_range; }
/* What else the promotion in force decides. */
typedef struct PromotionRules {
    bool python_adapts;     /* Python's numbers adapt to the NumPy scalars they meet in a ufunc */
    bool half_loops;        /* ufuncs compute small integers in float16 */
    bool integers_to_float; /* numpy.divide computes all integers in float64 */
    bool float64_is_float;  /* a float64 is a Python float to a Python complex */
    bool int_range;         /* on the host a Python int that a NumPy integer cannot hold raises; else it wraps */
} PromotionRules;
const PromotionRules *promote_rules(const Infer *in);
const Type *promote_ufunc(Infer *in, const Type *a, const Type *b); /* common type of operands of a ufunc; NULL: none */

/* ---- building, when t->emit is set; values are inserted before t->at and need no further typing ---- */
/* The interpreter's function `what` (decorators/python_calls.c), which may raise `error`, is called. */
bool typing_call_interpreter(Typing *t, const char *what, const Type *result);
Value *typing_make_captured(Typing *t, int64_t index, const Type **type); /* NULL while solving */
Value *typing_make_const(Typing *t, const Const *konst);
Value *typing_make_int(Typing *t, int64_t value);
Value *typing_make_op(Typing *t, Op op, const Type *type, Value *const *args, size_t nargs);
Value *typing_make_op_imm(Typing *t, Op op, const Type *type, Value *const *args, size_t nargs, int64_t imm);
Value *typing_make_getattr(Typing *t, const char *name, const Type *type, Value *of);
Value *typing_make_extract(Typing *t, Value *tuple, size_t index);
/* ---- tuples (rules_tuple.c, rules_unpack.c) ---- */
Fact typing_item_fact(Fact tuple, size_t i); /* what is known of an item */
Fact typing_tuple_fact(Infer *in, const Fact *items, size_t count);
/* The items of a tuple that is being made; values: only when t->emit. */
typedef struct Items {
    Fact *facts;
    Value **values;
    size_t count;
} Items;
Items typing_items_new(Infer *in, size_t count);
void typing_items_add(Typing *t, Items *items, size_t arg, size_t from, size_t to); /* those of operand `arg` */
/* The result is a new tuple of these items. */
bool typing_become_tuple(Typing *t, const Fact *items, Value *const *values, size_t count);
/* Whether an extract takes what a starred target gets; it is a list of those items.  A target that nobody reads has no
 * extract, so that its items need no common type. */
bool typing_is_starred(const Typing *t);
bool typing_become_rest(Typing *t, size_t i);
Value *typing_make_func(Typing *t, FuncId func, const Type *type, Value *const *args, size_t nargs);
/* The value itself if it has that type; constants are converted at once.  A Python int made a NumPy integer that may
 * not hold it is VF_CHECKED where that raises. */
Value *typing_make_cast(Typing *t, Value *value, const Type *to);
bool typing_may_overflow(const Infer *in, const Type *from, const Type *to);

/* Types another operation on operands of these facts, as a part of what `at` becomes.  values: NULL while solving.
 * *value: the new value when t->emit.  names: for OP_CALL, as in imm.names. */
typedef struct SubOp {
    Op op;
    Value *const *values;
    const Fact *facts;
    size_t nargs;
    uint32_t flags;
    int64_t imm;
    const char *text;
    const char *const *names; /* of keyword arguments, the last ones */
    size_t nnames;
} SubOp;
bool typing_sub(Typing *t, const SubOp *sub, Fact *fact, Value **value);
/* A call of Python of the prelude; operand 0 is made here, and values of facts that are constants. */
bool typing_call_prelude(Typing *t, const char *name, Fact *facts, Value **values, size_t count, Fact *fact,
                         Value **value);

/* What is asked of an exception that was caught; *done: that is all there is to the operation.  (rules_caught.c) */
bool typing_take_caught(Typing *t, bool *done);
bool typing_call_like(Typing *t); /* type(e)(...): an exception of the class of one that was caught, operand 0 */
/* The interpreter makes an exception of this type now, as if it had been caught.  (rules_exception.c) */
Value *typing_exception_now(Typing *t, Value *exception, const Type *type);
bool typing_class_follows(Typing *t, const Type *type); /* its class, from its arguments */

/* ---- constants ---- */
/* The constant as another scalar type; NULL: it does not fit (a Python int beyond the range of the type). */
const Const *typing_konst_cast(Infer *in, const Const *konst, const Type *to);
/* False: a Python int that this strong integer type cannot hold; NumPy raises OverflowError. */
bool typing_konst_fits(const Const *konst, const Type *to);
bool typing_konst_is_int(const Const *konst, int64_t *out); /* weak or strong integer, or bool */

/* ---- between typing.c, solve.c, rewrite.c ---- */
enum { TYPING_SMALL = 8 };
typedef struct TypingSpace {
    Fact args[TYPING_SMALL];
    Value *values[TYPING_SMALL];
    const Type *to[TYPING_SMALL];
} TypingSpace;
void typing_open(Typing *t, Infer *in, Value *at, TypingSpace *space);
bool typing_run(Typing *t);     /* the rule of t->op */
Value *typing_apply(Typing *t); /* emit: the value that stands for t->at from now on */
/* Ufuncs and operators on whole arrays (rules_map.c): whether an operand is one; the call of t->func, a ufunc; an
 * operator that is this ufunc. */
bool typing_has_array(const Typing *t);
bool typing_map(Typing *t);
bool typing_map_operator(Typing *t, FuncId func);
/* A call of a ufunc that @vectorize made (rules_vectorized.c), whose arguments are t->args; of one with arrays, or with
 * keywords. */
bool typing_call_vectorized(Typing *t, const Type *callee);
bool typing_map_vectorized(Typing *t, const Type *callee, size_t nin);
/* Whether the arguments of a generalised ufunc's function have its core dimensions. */
bool typing_call_generalised(Typing *t, ObjRef gufunc, const UfuncShape *shape, const char *name);
/* The types of the loop that scalars t->args take, one for each; false: none fits. */
bool typing_vectorized_loop(Typing *t, const Type *callee, const Type **loop, InferSignature *declared);
Value *typing_make_shape(Typing *t, Value *array); /* when emitting: its extents, a tuple of ints */
/* Takes device= and like= out of the arguments of a call of such a row. */
bool typing_take_places(Typing *t, const FuncInfo *row);
bool typing_call_library(Typing *t); /* t->func is set and args are its arguments: counts them and runs its rule */
bool typeinfer_fact_join(Infer *in, Fact a, Fact b, Fact *out);
/* Which of several types that meet join first: complex, real, whole numbers, truth values, everything else. */
enum { TYPEINFER_RANKS = 5 };
int typeinfer_join_rank(const Type *type);
void solver_open(Infer *in);
bool solver_run(Infer *in);               /* as far as it goes with what is known of the callees */
void solver_wake(Infer *in, Value *call); /* its callee's result has changed: run again */
bool solver_report(Infer *in);            /* at the end: repeats the first refusal with its message */
bool typeinfer_rewrite(Infer *in);
bool typeinfer_check_stored(Infer *in); /* generators that are put where their variables change (stored_generators.c) */
/* Whether operand number `operand` of `at`, an Optional, is known to hold a value there (narrow.c). */
void narrow_open(Infer *in);
bool narrow_operand(Infer *in, const Value *at, uint32_t operand, const Value *value);
/* The type of attribute `name`, which `at` reads, as the class annotates it that a handler or isinstance has asked the
 * caught exception for on the way there; NULL: none is known. */
const Type *narrow_declared(Infer *in, const Value *at, const Value *caught, const char *name);
Value *typing_make_content(Typing *t, Value *optional); /* its content, without a check */
/* Loops over tuples whose items differ (rounds.c).  Whether t->at is the iter of a literal_unroll. */
bool typing_is_unrolled(const Typing *t);
/* True: the solver will make rounds of the loop over t->at, and solve again. */
bool typing_ask_rounds(Typing *t, uint32_t count);
bool typing_is_mixed(Typing *t, size_t arg); /* a tuple whose items have no common type */
bool typing_zip_for_comprehension(Typing *t, size_t count, bool numbers, bool *made);
void solver_ask_rounds(Infer *in, Value *iter, uint32_t count);
bool infer_make_rounds(Func *func, Value *iter, uint32_t count);
enum { WALK = UINT32_MAX }; /* in place of the number of rounds: the loop is over numbers instead (walks.c) */
bool infer_make_walk(Infer *in, Value *iter);
/* Containers (growth.c). */
bool typeinfer_is_open(const Type *type); /* a list, dict or set in it holds nothing yet */
/* A Python bool and another number: what they join to has forgotten which of them it was, as texts and classes show. */
bool typeinfer_mixes_bool(const Type *a, const Type *b);
const Type *typeinfer_join_items(Infer *in, const Type *a, const Type *b); /* of tuples, which keep them apart */
/* Refuses operand `arg`, of which the program sees more than its number, if it may be a bool on one path (joins.c). */
bool typing_refuse_mixed(Typing *t, size_t arg);
bool typeinfer_takes(Infer *in, const Type *type, const Type *more); /* held by a cast that keeps its kind */
/* The value has this type, or one that holds what this does, too: every display that it may come from gets it.  The
 * value that cannot, or NULL. */
/* The instance of the class of `like` whose attributes hold that; NULL: what its class leads back to has two types. */
const Type *typeinfer_object(Infer *in, const Type *like, const Type *const *items);
bool typeinfer_want_captured(Infer *in, int64_t index, const Type *type); /* false: not yet */
Value *typeinfer_grow(Infer *in, Value *value, const Type *type);
/* What gives items of the one type gives those of the other, which holds something where that holds nothing. */
void typeinfer_fill(Infer *in, Value *value, const Type *from, const Type *to);
const Type *typeinfer_with_items(Infer *in, const Type *like, const Type *const *items); /* NULL: it has none */
/* What is one container, or goes into one, with numbers of two types (wider.c); NULL: it differs in more. */
const Type *typeinfer_wider(Infer *in, const Type *a, const Type *b);
/* The type with dicts in place of what has names, and numbers of several types behind them (named_numbers.c). */
const Type *typeinfer_unnamed(Infer *in, const Type *type);
bool typeinfer_keeps_numbers(Infer *in, const Value *display); /* whether it becomes such a type */
bool typeinfer_name_display(Infer *in, Value *display);        /* it does, if it can, whatever it holds */
bool typeinfer_same_bits(const Type *a, const Type *b);        /* containers, one of which takes what the other does */
bool typeinfer_holds_narrower(const Type *container, const Type *wide); /* itself, other numbers than that */
/* The wider one of what a container holds and of operand `arg`, which is put in: that is made so.  NULL: none. */
const Type *typing_widen(Typing *t, const Type *held, size_t arg);
/* An argument becomes that, which the callee has asked for: false: it cannot, and the callee would cast. */
bool typing_widen_argument(Typing *t, const char *param, Value *value, const Type *from, const Type *to);
void solver_set_type(Infer *in, Value *value, const Type *type);
uint32_t solver_users(const Infer *in, const Value *value, Value *const **users);
bool solver_expect(Infer *in, Value *call, const Type *type); /* of the result of a call; false: it was no use */
bool solver_list_put(Typing *t, Value *list, const Type *item);
/* An item, or a container of it, that does not fit; false.  list: the value that is one. */
bool typing_refuse_item(Typing *t, const Value *list, const Type *is, const Type *item);
bool typing_refuse_entry(Typing *t, const Type *is, const Type *more);
bool solver_put(Typing *t, Value *container, const Type *more); /* what a container of type `more` holds */
/* Solver: the content of a cell grew. */
bool solver_cell_set(Typing *t, Value *cell, const Type *content);
/* Solver: a return statement with this fact. */
bool solver_return(Typing *t, Fact fact);
/* Block of a solved function: whether it is reached, and the value after which nothing is reached (NULL: its end is).
 */
bool solver_reached(const Infer *in, const Block *block);
Value *solver_stop(const Infer *in, const Block *block);

/* ---- the rules ---- */
#define OP(name, text, operands, rule, ...) InferRule rule_##rule;
#include "ir/ir_ops.def"
#undef OP
#define FUNC(id, rule, ...) InferRule rule_func_##rule;
#include "library/functions.def"
#undef FUNC

#endif
