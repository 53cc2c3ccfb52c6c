/* lower.h: what the files of this folder share among themselves.
 *
 * A value crosses blocks (phis) and functions (parameters, results) as the list of its leaves (repr.h), each one LLVM
 * scalar or pointer, so that no aggregate stands in the way of LLVM's passes.  l_flatten and l_unflatten convert. */
#ifndef KRAIT_CODEGEN_LOWER_H
#define KRAIT_CODEGEN_LOWER_H

#include "codegen/lowering.h" /* Lower */

/* ---- state of lowering one module, and one function of it ---- */

typedef struct Iterator Iterator;

typedef struct LoweredFunction { /* by FuncInst.id */
    LLVMValueRef function;
    LLVMTypeRef type;
    uint32_t size; /* in values, with what it calls: lower_room.c */
} LoweredFunction;

typedef struct PendingPhi {
    const Value *value;
    LLVMValueRef *leaves;
    unsigned nleaves;
} PendingPhi;

typedef struct Scratch { /* memory of the function that several operations use, one after the other */
    LLVMValueRef memory;
    LLVMTypeRef type;
    uint64_t bytes;
    bool taken;
} Scratch;

struct LowerState {
    LoweredFunction *functions;
    size_t nfunctions;
    /* of the current function, by Value.id and Block.id */
    LLVMValueRef *values;
    Iterator **iterators;
    LLVMBasicBlockRef *starts, *ends;
    LLVMBasicBlockRef *landings; /* of blocks that unwind: where all that raises in one meets, before its handler */
    LLVMBasicBlockRef landing;   /* of the block at hand; NULL: what raises leaves the function */
    bool *raised, after_raise;   /* by Block.id: whether only what is raised leads there; of the block at hand */
    LLVMValueRef pending;        /* status on its way from a landing; NULL: not needed yet */
    LLVMBasicBlockRef exit;      /* where all returns meet, of `exit_leaves`; NULL: no need for it yet */
    LLVMValueRef *exit_leaves;   /* memory of each leaf */
    VEC(PendingPhi) phis;
    VEC(LLVMValueRef) caught;      /* memory of caught exceptions */
    LLVMValueRef *made;            /* by Value.id: that of exceptions made here that are one object each */
    struct IteratorSlots *slots;   /* lower_slots.c; NULL: none is shared */
    const struct Fetched *fetched; /* lower_iter_object.c: what the zips that are asked hold already, the last first */
    VEC(Scratch) scratch;          /* lower_slots.c */
    LLVMValueRef scratch_of;       /* the function */
    LLVMValueRef budget;           /* lower_safepoint.c; NULL: not needed yet */
    LLVMValueRef missed;           /* lower_array.c: memory of what MISSED asks; NULL: not needed yet */
    struct Coroutine *coroutine;   /* lower_generator.c; NULL: the function is none's */
    LLVMMetadataRef subprogram;    /* debug.c; NULL: no line table */
    uint32_t room, calls;          /* lower_room.c: for what it calls, left so far; calls of functions so far */
};

/* ---- one entry point for each file ---- */

bool lower_function(Lower *l, const FuncInst *inst); /* lower.c */
LoweredFunction *lower_lookup(Lower *l, const FuncInst *inst);
bool lower_declare(Lower *l);   /* lower_call.c: declares every function */
void lower_measure(Lower *l);   /* lower_room.c: after that */
void lower_make_room(Lower *l); /* for what is called by a function that begins */
void lower_call_if_no_room(Lower *l, const FuncInst *inst, LLVMValueRef call); /* that a call of it stays one */
LLVMValueRef lower_spend(Lower *l, const Value *value);                        /* lower_safepoint.c */
LLVMValueRef lower_safepoint(Lower *l, const Value *value);
bool l_looks(Lower *l); /* whether what is generated looks for signals: VF_LOOKS */
/* Spends for an operation that looks, and looks when the budget is spent; `owned` is freed (NULL: nothing) where that
 * raises. */
void l_look(Lower *l, LLVMValueRef cost, LLVMValueRef owned);
/* Memory in the entry block: of a type, or (NULL) of so many bytes on a line of the cache.  What it holds is lost when
 * it is given back. */
LLVMValueRef l_take_scratch(Lower *l, LLVMTypeRef type, uint64_t bytes, const char *name);
void l_give_scratch(Lower *l, LLVMValueRef memory);
LLVMValueRef l_iterator_slot(Lower *l, LLVMTypeRef type, const char *name);
LLVMValueRef lower_strip_start(Lower *l, const Value *value);
LLVMValueRef lower_strip_stop(Lower *l, const Value *value);
LLVMValueRef lower_strip_length(Lower *l, const Value *value);
void lower_recursion(Lower *l);
bool lower_may_raise(const Lower *l, const FuncInst *inst);            /* whether it returns a status */
void lower_result(Lower *l, const FuncInst *inst, LLVMValueRef value); /* emits the return */
void lower_status(Lower *l, LLVMValueRef status);                      /* the same of what raised */
void lower_exit(Lower *l);                                             /* at the end of a body */
LLVMValueRef lower_call_inst(Lower *l, const Value *call);
LLVMValueRef lower_call_func(Lower *l, const Value *call);

/* lower_narrow.c: 64-bit integers that fit 32 bits, where l->narrow */
bool l_is_narrow(const Lower *l, const Value *value);
LLVMValueRef l_narrowed(Lower *l, LLVMValueRef wide); /* i32 */
LLVMValueRef l_widened(Lower *l, LLVMValueRef value); /* i64 */
LLVMValueRef lower_narrow(Lower *l, const Value *value);
bool l_is_narrow_comparison(const Lower *l, const Value *value);
bool l_counts_narrowly(const Lower *l, const Value *range);

LLVMValueRef lower_truth(Lower *l, const Value *value); /* lower_truth.c */

LLVMValueRef lower_unary(Lower *l, const Value *value); /* lower_scalar.c */
LLVMValueRef lower_binary(Lower *l, const Value *value);
LLVMValueRef l_compare_ints(Lower *l, Op op, bool is_signed, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef lower_compare(Lower *l, const Value *value); /* lower_compare.c */
LLVMValueRef l_compare_scalars(Lower *l, Op op, const Type *a_type, LLVMValueRef a, const Type *b_type, LLVMValueRef b);

LLVMValueRef lower_cast(Lower *l, const Value *value); /* lower_cast.c */
/* Whether an integer does not fit into another integer type, and the check that raises OverflowError then.  `item`: the
 * value in the program, if there is one: a check of a range's items may stay out of the loop. */
LLVMValueRef l_int_outside(Lower *l, LLVMValueRef value, const Type *from, const Type *to);
void l_check_int_range(Lower *l, LLVMValueRef value, const Type *from, const Type *to, const Value *item);
LLVMValueRef l_convert(Lower *l, LLVMValueRef value, const Type *from,
                       const Type *to); /* any types; lower_cast without checks */
LLVMValueRef l_int_power(Lower *l, LLVMValueRef base, LLVMValueRef exponent, bool is_signed); /* lower_power.c */
LLVMValueRef l_power(Lower *l, Scalar scalar, LLVMValueRef base, LLVMValueRef exponent);
bool l_has_vectors(const Lower *l, const PlatformMath *row); /* of a function, here (lower_math.c) */
LLVMValueRef l_easy_power(Lower *l, LLVMValueRef base, LLVMValueRef exponent);
typedef struct WholeExponent {
    LLVMValueRef magnitude, negative;
} WholeExponent;
LLVMValueRef l_whole_exponent(Lower *l, LLVMValueRef exponent, WholeExponent *out); /* whether it is small */
LLVMValueRef l_whole_power(Lower *l, LLVMValueRef base, WholeExponent exponent);
LLVMValueRef lower_power(Lower *l, const Value *value);

LLVMValueRef lower_tuple(Lower *l, const Value *value); /* lower_tuple.c */
LLVMValueRef lower_tuple_getitem(Lower *l, const Value *value);
LLVMValueRef lower_unpack(Lower *l, const Value *value);
LLVMValueRef lower_extract(Lower *l, const Value *value);
LLVMValueRef l_tuple_in_memory(Lower *l, const Type *tuple, LLVMValueRef value, LLVMValueRef *stride);

LLVMValueRef lower_field(Lower *l, const Value *value); /* lower_struct.c */
/* Bytes of a record to where another lies, which may be itself. */
void l_copy_record(Lower *l, const Type *record, LLVMValueRef to, LLVMValueRef from);
/* Where a view without axes points when the index that made it was outside. (lower_array.c) */
LLVMValueRef l_nowhere(Lower *l);

LLVMValueRef lower_chars_compare(Lower *l, const Value *value); /* lower_chars.c */
LLVMValueRef l_chars_convert(Lower *l, LLVMValueRef value, const Type *from, const Type *to);
LLVMValueRef l_chars_truth(Lower *l, const Type *type, LLVMValueRef value); /* any character */
LLVMValueRef l_chars_const(Lower *l, const Const *konst);

LLVMValueRef lower_time_binary(Lower *l, const Value *value); /* lower_time.c */
LLVMValueRef lower_time_negative(Lower *l, const Value *value);
LLVMValueRef lower_time_compare(Lower *l, const Value *value);
LLVMValueRef l_time_convert(Lower *l, LLVMValueRef value, const Type *from, const Type *to);

LLVMValueRef lower_getattr(Lower *l, const Value *value); /* lower_attr.c */

typedef struct Indices { /* the items of an index: of a tuple, or the index alone */
    const Type *const *types;
    LLVMValueRef *values;
    bool *forward;         /* no wrap-around */
    bool *certain;         /* not negative however integers wrap, which VF_FORWARD does not say */
    const Value **sources; /* NULL: not known */
    unsigned count;
} Indices;
Indices l_indices(Lower *l, const Type *const *type, LLVMValueRef value, const Value *operand); /* lower_array.c */
AccessPolicy l_access_policy(const Lower *l, const Value *at);
void l_raise_out_of_bounds(Lower *l, LLVMValueRef inside, LLVMValueRef index, unsigned axis, LLVMValueRef extent);
LLVMValueRef lower_missed(Lower *l);
LLVMValueRef lower_getitem(Lower *l, const Value *value);
LLVMValueRef lower_setitem(Lower *l, const Value *value);

LLVMValueRef lower_view(Lower *l, const Value *value); /* lower_view.c */
/* x[index]; *result: its type, or NULL, and it is a view of any layout. */
LLVMValueRef l_view_of(Lower *l, const Value *at, const Type *type, LLVMValueRef array, const Indices *x,
                       const Type **result);
LLVMValueRef l_view(Lower *l, const Value *at, const Type *type, LLVMValueRef array, const Type *index_type,
                    LLVMValueRef index, const Type *result);
LLVMValueRef lower_slice(Lower *l, const Value *value);
void l_unravel(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef linear, LLVMValueRef *index);
/* A tuple of numbers, or of such tuples, as an array; `checked`: integers must fit. */
void l_assign_tuple(Lower *l, const Type *to_type, LLVMValueRef to, const Type *tuple, LLVMValueRef from, bool checked);
LLVMValueRef lower_broadcast(Lower *l, const Value *value); /* lower_broadcast.c */
/* Raises unless one array can be assigned to the other. */
void l_check_assignment(Lower *l, const Type *to_type, LLVMValueRef to, const Type *from_type, LLVMValueRef from);
LLVMValueRef lower_map(Lower *l, const Value *value);                            /* lower_map.c */
LLVMValueRef lower_reduce(Lower *l, const Value *value);                         /* lower_reduce.c */
void l_fill(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef value); /* of the element's type */
void l_assign(Lower *l, const Type *to_type, LLVMValueRef to, const Type *from_type, LLVMValueRef from);
/* Normalises an index: negative ones count from the end, unless it is known to count forward. */
LLVMValueRef l_wrap_index(Lower *l, LLVMValueRef index, LLVMValueRef extent, bool forward);

LLVMValueRef lower_list(Lower *l, const Value *value);     /* lower_list.c */
LLVMValueRef l_const_string(Lower *l, const Const *konst); /* lower_string.c: of a str */
LLVMValueRef l_list_length(Lower *l, LLVMValueRef list);
LLVMValueRef l_table_length(Lower *l, const Type *type, LLVMValueRef table); /* of a dict or a set */
/* The item itself: without a reference of its own. */
LLVMValueRef l_list_item(Lower *l, const Type *type, LLVMValueRef list, LLVMValueRef index);
LLVMValueRef lower_new_array(Lower *l, const Value *value); /* lower_heap.c */

void lower_generator_open(Lower *l); /* lower_generator.c */
LLVMValueRef lower_yield(Lower *l, const Value *value);
void lower_generator_return(Lower *l, const Value *value); /* what it returns */
bool l_generator_ends(Lower *l, LLVMValueRef status);      /* what leaves the function; false: it is no generator's */
void lower_generator_close(Lower *l);
LLVMValueRef l_generator_more(Lower *l, LLVMValueRef generator);
LLVMValueRef l_generator_item(Lower *l, const Type *type, LLVMValueRef generator);

bool lower_parallel(Lower *l, const FuncInst *region); /* lower_parallel.c */
void lower_parallel_finish(Lower *l);                  /* everything is lowered */

LLVMValueRef lower_count(Lower *l, const Value *value); /* lower_count.c: RETAIN, RELEASE */
void l_count(Lower *l, Op op, const Type *type, LLVMValueRef value);
/* Heap objects that the value refers to may be seen by other threads from now on. */
void l_share(Lower *l, const Type *type, LLVMValueRef value);
void l_release_cell(Lower *l, const Type *content, LLVMValueRef cell); /* lower_call.c */

LLVMValueRef lower_iter(Lower *l, const Value *value); /* lower_iter.c */
LLVMValueRef lower_iter_more(Lower *l, const Value *value);
LLVMValueRef lower_iter_take(Lower *l, const Value *value);
LLVMValueRef lower_iter_left(Lower *l, const Value *value);
LLVMValueRef l_iter_object(Lower *l, const Value *value); /* lower_iter_object.c: makes one; a pointer */
/* counted: items come with references of their own. */
LLVMValueRef l_iter_object_more(Lower *l, const Type *iter, LLVMValueRef object, bool counted);
LLVMValueRef l_iter_object_take(Lower *l, const Type *iter, LLVMValueRef object, bool counted);
void l_give_up_fetched(Lower *l); /* where a generator that a zip asks raises */
LLVMValueRef l_flat_item(Lower *l, const Type *array_type, LLVMValueRef array, LLVMValueRef number);
LLVMValueRef l_array_item(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef index, const Type *result);
LLVMValueRef l_range_length(Lower *l, LLVMValueRef start, LLVMValueRef stop, LLVMValueRef step);

LLVMValueRef lower_exception(Lower *l, const Value *call); /* E(args): lower_raise.c */
bool lower_raise(Lower *l, const Value *value);
LLVMValueRef lower_check_bound(Lower *l, const Value *value);
LLVMBasicBlockRef l_raise_block(Lower *l, const char *builtin, const char *format, LLVMValueRef const *args,
                                unsigned count);
void l_raise_interrupt(Lower *l); /* what a signal's handler raised, whose trail target->safepoint has begun */
/* What the interpreter has raised: an i32, the row of its class in ir_exceptions.def, counted from 1; 0: nothing. */
void l_raise_raised(Lower *l, LLVMValueRef row);
LLVMValueRef l_raised(Lower *l, LLVMValueRef trail); /* where RaiseTrail.object is */
void l_begin_trail(Lower *l, LLVMValueRef trail, LLVMValueRef object);
LLVMValueRef l_take_raised(Lower *l);                /* what the interpreter has raised in this thread */
LLVMValueRef l_pending_site(Lower *l, ObjRef class); /* its status; no line of a traceback */
/* Raises builtin(number, text), as the exceptions of C's errno are. */
void l_raise_errno_if(Lower *l, LLVMValueRef condition, const char *builtin, int number, const char *text);
LLVMValueRef l_pending(Lower *l); /* the status that led to a handler */
void lower_landing(Lower *l, const Block *block);
void lower_resume(Lower *l);

LLVMValueRef lower_caught(Lower *l, const Value *value); /* lower_caught.c */
LLVMValueRef lower_matches(Lower *l, const Value *value);
LLVMValueRef lower_chain(Lower *l, const Value *value);
void lower_raise_caught(Lower *l, LLVMValueRef caught, bool noted, const Value *cause); /* cause: may be NULL */
LLVMValueRef l_caught_new(Lower *l, LLVMValueRef memory, ObjRef class); /* memory: NULL, or of lower_made */
LLVMValueRef lower_made(Lower *l); /* of an exception that is made and may get an object later */
/* The exception of `status` in `trail`, the buffer or what was caught, gets its cause. */
void l_give_cause(Lower *l, LLVMValueRef trail, LLVMValueRef status, const Value *cause);
void l_exception_bytes_later(Lower *l, LLVMValueRef call, unsigned operand); /* an i64, known when all is lowered */
void lower_drop_caught(Lower *l);                                            /* at the end of a function */
void lower_finish_caught(Lower *l);
void l_drop_raised(Lower *l, LLVMValueRef trail);      /* the object of what was raised, if there is one */
LLVMValueRef l_is_stop(Lower *l, LLVMValueRef status); /* i1: it stands for StopIteration */
LLVMValueRef lower_caught_arrives(Lower *l, const Type *type, LLVMValueRef value); /* a copy; for phis */
LLVMValueRef lower_caught_stays(Lower *l, const Type *type, LLVMValueRef value);

typedef struct Place { /* along an axis: index + offset, index an i32 */
    LLVMValueRef index;
    int64_t offset;
} Place;
Place l_place(Lower *l, LLVMValueRef index, const Value *source); /* lower_place.c */
bool l_places_are_near(const Type *type, const Place *places);
LLVMValueRef l_element_at(Lower *l, const Type *type, LLVMValueRef array, const Place *places);

void lower_params(Lower *l); /* lower_call.c */
LLVMValueRef lower_function_value(Lower *l, const Value *value);
LLVMValueRef lower_cell(Lower *l, const Value *value);
LLVMValueRef lower_cell_get(Lower *l, const Value *value);
LLVMValueRef lower_cell_set(Lower *l, const Value *value);

/* inline_check.c: whether Krait takes LLVM IR that a user wrote, parsed and verified. */
bool inline_check(Lower *l, const Value *call, LLVMModuleRef parsed);

/* ---- debug.c ---- */

void debug_begin(Lower *l, LLVMValueRef function);
void debug_locate(Lower *l, const Value *value); /* what is generated next comes from there */
void debug_end(Lower *l);
void debug_finish(Module *module);

/* ---- bitcode.c, check.c, optimise.c: stages on the finished module ---- */

bool codegen_bitcode_link(Module *module, Diag *diag);
bool codegen_check_callees(Module *module, bool optimised, Diag *diag);
bool optimise_run(Module *module, Diag *diag);

/* ---- zero_tests.c, sine_pairs.c: on the module as lowered ---- */

/* Of a finished function: what is built from here on stands where it begins, and is of no line. */
void module_build_at_entry(Module *module, LLVMValueRef function);
void zero_tests_hide(Module *module);
void sine_pairs_join(Module *module);

/* ---- divisions.c: where LLVM must not make vectors of a loop ---- */

/* The blocks of a loop but its header, from the latch upwards; the latch stands first. */
BlockList l_loop_body(Lower *l, const Block *latch, const Block *header);
bool l_loop_may_pass_by_division(Lower *l, const Block *latch, const Block *header);

/* ---- late_unroll.c ---- */

/* `latch`, the end of `block`, goes back to the header of a loop. */
void late_unroll_note(Lower *l, LLVMValueRef latch, const Block *block, const Block *header);
LoopsLeft late_unroll_release(Module *module);
/* Of a released loop whose rounds 31 bits count: how many have become one; 0: not known to be such. */
unsigned late_unroll_signed(Module *module, LLVMValueRef latch);

void turn_loops(Module *module); /* turn.c */
/* The most values that are alive at one place of the function. (alive.c) */
size_t values_alive(Module *module, LLVMValueRef function);

#endif
