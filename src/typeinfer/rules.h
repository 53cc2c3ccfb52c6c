/* rules.h: what the typing rules of one kind of value ask of those of another, file by file; infer.h is what they all
 * are written with. */
#ifndef KRAIT_TYPEINFER_RULES_H
#define KRAIT_TYPEINFER_RULES_H

#include "typeinfer/infer.h"

/* ---- keyword arguments whose names are not in the text of a call (rules_keywords.c) ---- */
/* What **name gets of a call: those of its keyword arguments that are not taken. */
Fact typing_rest_keywords(Typing *t, size_t positional, const bool *taken, Value **value);
bool typing_pairs_as_keywords(Typing *t); /* the operands of a display of a dict, key, value, ... */
const Type *typing_keywords_of_pairs(Infer *in, const Value *display); /* ... and their type */
bool typing_walk_keywords(Typing *t);                                  /* of what is walked the names are meant */
bool typing_compare_keywords(Typing *t);                               /* the operands, one at least of which is such */
bool typing_become_fields(Typing *t);       /* operand 0, a namedtuple, becomes the dict of its fields */
bool typing_as_dict(Typing *t, size_t arg); /* keyword arguments become the dict that they are */
bool typing_names_as_dict(Typing *t);       /* the arguments with names become one argument, a dict */
bool typing_take_apart(Typing *t);          /* **x among the arguments of a call become arguments with names */

/* ---- members of classes (rules_members.c) ---- */
/* Where the class of an operand has a method for the operation, a call of that: *own; true: not refused. */
bool typing_own_operation(Typing *t, bool *own);
/* What the builtin that called a special method makes of what that gave, or a refusal.  (own_answers.c) */
bool typing_take_answer(Typing *t, const char *method, Fact *fact, Value **value);
bool typing_has_method(Typing *t, const char *name, size_t arg); /* whether the class of an instance has it */
bool typing_texts_of_instances(Typing *t);                       /* in f-strings and print.  (own_texts.c) */
/* What x.name is, x of a class of the user's, or one, without a field of that name; MEMBER_NONE: typing goes on. */
Member typing_member(Typing *t, const Type *type, const char *name, ObjRef after);
bool typing_become_member(Typing *t, const Type *type, Member member);
bool typing_has_way(Typing *t, const Type *type); /* an instance that is walked by a method of its class */
bool typing_list_instance(Typing *t, size_t arg); /* such an operand becomes the list of its items */
/* f of x.f(...): x, its class or nothing comes before the arguments. */
bool typing_bind_receiver(Typing *t);
bool infer_is_function(const Type *type);
const char *infer_example(const Type *type); /* a value of the type as a program writes it; NULL: none is short */
bool infer_is_method(const InferHost *host, const Type *type); /* of such a one */
/* x.method that is not called where it stands becomes both, `x` and the function (krait/prelude/partials.py). */
bool typing_bind_method(Typing *t);
bool typing_call_instance(Typing *t, const Type *type); /* x(...): x.__call__(...) */

/* ---- members of enumerations (rules_enum.c) ---- */
bool typing_is_member(const Type *type);
/* x.name of one; *known: it has that. */
bool typing_member_attribute(Typing *t, const Type *type, bool *known);
const Const *typing_member_named(Typing *t, ObjRef class, const char *name); /* NULL: there is none */
/* The text or float that members of this type are too, or NULL; operand `i` becomes it if it is a member. */
const Type *typing_plain_type(Typing *t, const Type *type);
bool typing_plain_member(Typing *t, size_t i);
/* t->op on operands of these types, one of them a TY_MEMBER. */
bool typing_compare_members(Typing *t, const Type *a, const Type *b, Op op);
bool typing_identity_of_members(Typing *t, const Type *a, const Type *b);
bool typing_binary_members(Typing *t, const Type *a, const Type *b);
bool typing_invert_member(Typing *t, const Type *type);
bool typing_truth_of_member(Typing *t, const Type *type);
bool typing_flags_contain(Typing *t, const Type *where);
/* Color(x), Color[name], x in Color; *is: the class is an enumeration, and so it is that.  Operands that are walked
 * become the tuple of the members. */
bool typing_call_enum(Typing *t, ObjRef class, bool *is);
bool typing_index_enum(Typing *t, ObjRef class, bool *is);
bool typing_enum_contains(Typing *t, ObjRef class, bool *is);
bool typing_walk_enums(Typing *t);
bool typing_walks(const Typing *t); /* whether the operation walks its operands */

/* ---- instances on the heap (rules_object.c): `object` is the type of operand 0, or of its content ---- */
bool typing_get_attribute(Typing *t, const Type *object, unsigned field);
bool typing_has_attribute(Typing *t, const Type *object, unsigned field); /* whether it is set */
bool typing_set_attribute(Typing *t, const Type *object, unsigned field); /* to operand 1 */
bool typing_make_instance(Typing *t, const Type *callee, const StructClass *class);
/* The numbers of attributes, as bits, that __init__ assigns before anything can read them (assigned.c). */
uint64_t typing_surely_assigned(Typing *t, const Type *object, ObjRef init);

/* ---- operands that may be None (none_operands.c) ---- */
void typing_need_values(Typing *t); /* the operation's operands become values where it needs them */
/* What an Optional of it holds where it is None is zero, and may be computed with: the answer is meaningless. */
bool typing_missing_is_zero(const Type *type);
void typing_need_value(Typing *t, size_t arg, const char *words); /* words: as typing_none_words gives them */
/* "TypeError: ...", what the interpreter says of None as that operand; NULL: nobody knows. */
const char *typing_none_words(const Typing *t, size_t arg);

/* ---- calls ---- */
/* Of a Python function (rules_python.c); closure: its type if it is one, else NULL. */
bool typing_call_python(Typing *t, ObjRef function, const Type *closure, Value *closure_value);
bool typing_points_into_frame(const Type *type);           /* values of it: iterators and cells */
bool typing_only_shares(const Type *type);                 /* rules_closure.c */
bool typing_call_class(Typing *t, const Type *class_type); /* of numbers or vectors (rules_conversion.c) */
/* Tuples of any length (rules_vartuple.c). */
bool typing_as_list(Typing *t, size_t arg);                  /* such an operand becomes the list that it is */
const Type *typing_vartuple_of(Typing *t, const Type *type); /* what a tuple is without its length; NULL */
Value *typing_make_vartuple(Typing *t, Value *tuple, const Type *to);
bool typing_is_of_any_length(const Typing *t); /* an operation on them, or one that gives one */
bool typing_vartuple_binary(Typing *t);
/* Whether what both hold may lie in one tuple of any length, where one is such; false: refused. */
bool typing_tuples_meet(Typing *t, const Type *a, const Type *b);
bool typing_vartuple_getitem(Typing *t);
bool typing_spread(Typing *t);       /* f(*x): the arguments that x gives; false: how many is not known, or t failed */
bool typing_slice_any(Typing *t);    /* of a tuple, by bounds that are not known */
bool typing_meet_lengths(Typing *t); /* two tuples, one of any length, become lists */
bool typing_is_kept_iterator(Typing *t); /* iter() of a dict or a set that may change before it is used up */
bool typing_table_changes(Typing *t);    /* a loop over a dict or a set that it changes (rules_walked.c) */
bool typing_is_for_generator(Typing *t); /* the result of this call (rules_itertools.c) */
const char *typing_iterator_class(Typing *t, const Value *made); /* NULL: of a generator (rules_sequences.c) */
bool typing_call_exception(Typing *t, const Type *class_type);   /* (rules_exception.c) */
/* x.name that a user has said something about: true, it is that (rules_call.c). */
bool typing_attribute_overload(Typing *t);
bool typing_operator_overload(Typing *t, bool *own); /* what users say that x + y, x[i] or y in x is; *own: something */

/* print in kernels, of known keywords (rules_print.c). */
bool typing_kernel_print(Typing *t);

/* ---- views (rules_views.c) ---- */
/* The type of a view whose axis i is axis from[i] of an array, or, with TYPE_MAX_NDIM, a new one of length one; when
 * t->emit, *value, the array, becomes the view. */
const Type *typing_permuted(Typing *t, const Type *array, Value **value, const unsigned *from, unsigned ndim);

/* ---- indices with arrays (rules_advanced.c): x[i] and x[i] = v, operand 0 an array of this type ---- */
bool typing_index_has_array(const Typing *t);
bool typing_get_advanced(Typing *t, const Type *array);
bool typing_set_advanced(Typing *t, const Type *array);

/* ---- lists and tuples in place of arrays (rules_creation.c) ---- */
bool typing_is_one(const Typing *t);       /* both operands are one value, which is one object whatever its class */
bool typing_is_sequence(const Type *type); /* a list or a tuple */
bool typing_make_array(Typing *t, Fact *fact, Value **value); /* numpy.asarray of it */
bool typing_as_array(Typing *t, size_t arg); /* from here on operand number `arg` is numpy.asarray of it */
bool typing_as_array_of(Typing *t, size_t arg, const Type *element); /* the same, with elements of that type */

/* ---- operators (rules_arithmetic.c) ---- */
/* Operands that are lists or tuples beside an array become arrays; false: refused. */
bool typing_arrays_of_sequences(Typing *t, const Type *a, const Type *b);
FuncId typing_ufunc_of(Op op); /* what the operator is on arrays */
/* Whether both operands are numbers or arrays of them, one of them an array. */
bool typing_on_arrays(const Type *a, const Type *b);

bool typing_list_binary(Typing *t); /* rules_list.c: t->op, where an operand is a list */
bool typing_list_compare(Typing *t);
bool typing_compares_view(Typing *t);  /* an operand may be a view of a dict: refused, false (rules_walked.c) */
bool typing_compare_tuples(Typing *t); /* rules_tuple_compare.c */
bool typing_equals_itself(Typing *t);  /* the comparison of what is equal to itself with itself */
const Type *typing_common_item(Infer *in, const Type *tuple); /* the one type of all items, or NULL */

/* ---- dates and durations (rules_time.c): t->op on operands of these types, one of them a TY_TIME ---- */
bool typing_binary_times(Typing *t, const Type *a, const Type *b);
bool typing_compare_times(Typing *t, const Type *a, const Type *b);
/* Of a ufunc of two: an integer beside a duration counts its ticks. */
bool typing_align_times(Typing *t);
bool typing_unary_time(Typing *t, const Type *type);

/* ---- elements of dtype S and U (rules_chars.c) ---- */
bool typing_compare_chars(Typing *t, const Type *a, const Type *b);
bool typing_compare_char_arrays(Typing *t, const Type *a, const Type *b);
/* Operand number `arg`, characters or a known str, as that type; false: it cannot be. */
bool typing_cast_chars(Typing *t, size_t arg, const Type *to);
bool typing_plain_chars(Typing *t); /* elements among the operands of what is done to a str or a bytes are those */
void typing_plain_receiver(Typing *t, const char *names); /* so is operand 0 of a method of these names */
/* A str or a bytes becomes the element that NumPy makes of it; false: it is none. */
bool typing_store_plain(Typing *t, size_t arg, const Type *element);

/* ---- strings (rules_string.c) ---- */
/* rules_bytes.c: bytes and strings that kernels know. */
bool typing_become_bytes(Typing *t, const Type *like, const Items *items);
bool typing_repeat_bytes(Typing *t);           /* x + y, x * y, where one is a bytes */
bool typing_walk_known(Typing *t, size_t arg); /* true: the loop over the string will be its rounds */
bool typing_known_character(Typing *t, bool *known);
bool typing_known_contains(Typing *t, bool *known);
bool typing_is_text(const Type *type); /* STR, STRING or TEXT */
/* The type with strings, which may be any, in place of texts that are known or not made yet. */
const Type *typeinfer_general(Infer *in, const Type *type);
bool typing_as(Typing *t, size_t arg, const Type *type); /* from here on the operand is of that type; true */
bool typing_kernel_text(Typing *t, bool *made);          /* rules_kernel_text.c: in a kernel, a template and values */
bool typing_settle_texts(Typing *t);                     /* operands that are texts not made yet are made; true */
/* Where the interpreter would call a special method that a user has written: refused.  Members of enumerations of texts
 * and floats become these, where the operation does not tell them apart.  (own_operators.c) */
bool typing_refuse_own(Typing *t);
Value *typing_make_text(Typing *t, Value *text); /* when emitting: the string of a FORMAT */
bool typing_number_from_text(Typing *t, const Type *to);
bool typing_join(Typing *t);
const Type *typing_characters_type(Infer *in); /* what a string becomes to be walked: a list of strings */
bool typing_string_binary(Typing *t);
bool typing_string_compare(Typing *t);
bool typing_string_contains(Typing *t);
bool typing_string_getitem(Typing *t);
bool typing_bytes_getitem(Typing *t);

/* ---- dicts and sets (rules_dict.c): t->op, where operand 0, or of a comparison or membership another, is one ---- */
/* What the argument of empty_list or Dict.empty says an item is: of the types that Python's numbers have, theirs. */
const Type *typing_declared_item(Typing *t, size_t arg);
bool typing_table_getitem(Typing *t);
bool typing_table_setitem(Typing *t);
bool typing_table_delitem(Typing *t);
bool typing_table_binary(Typing *t);
bool typing_table_compare(Typing *t);
bool typing_table_contains(Typing *t);
/* A dict, a set or a bytes among the operands becomes the list of what it gives when it is walked. */
bool typing_walked(Typing *t, size_t arg);

/* ---- records (rules_struct.c); `type` is that of operand 0, an array, or the content of an Optional ---- */
/* The field that an index names; *field is -1: it is no name of a field.  False: refused. */
bool typing_read_only(Typing *t); /* refuses: argument 0, an array, is read-only (rules_array.c) */
bool typing_find_field(Typing *t, const Type *type, Fact index, int *field);
int typing_attribute_field(const Type *type, const char *name);         /* -1: there is none, or it is hidden */
const char *typing_symbol(Op op);                                       /* "&" */
bool typing_too_many_indices(Typing *t, unsigned ndim, unsigned taken); /* refuses argument 1 as index of argument 0 */
bool typing_hint_fields(Typing *t, const Type *type);                   /* names them; false */
bool typing_get_field(Typing *t, const Type *type, unsigned field);
bool typing_set_field(Typing *t, const Type *type, unsigned field, size_t arg); /* to argument number arg */
bool typing_store_record(Typing *t, const Type *element, bool is_view);         /* rule_setitem's operands */
bool typing_same_dtype(const Type *a, const Type *b);                           /* of elements */
bool typing_unpack_record(Typing *t, const Type *type);                         /* it is the tuple of the fields */

#endif
