/* types.h: the types of values: their kinds, their table, their text.  What a value of a type consists of and how it
 * lies in memory is repr.h.  Part of ir.h.
 *
 * Types are interned: equal types are the same pointer, in every thread and every compilation of one TypeTable.  No
 * Python.h here: Python objects are named by an ObjRef, a number that only the frontend and the decorators can turn
 * into an object. */
#ifndef KRAIT_IR_TYPES_H
#define KRAIT_IR_TYPES_H

#include "base/base.h"  /* Arena, Buf */
#include "ir/repr.h"    /* Repr */
#include "ir/strided.h" /* ArrayLayout */

typedef enum Scalar {
#define SCALAR(name, text, numpy_char, kind, bytes, weak_name) SCALAR_##name,
#include "ir/ir_types.def"
#undef SCALAR
    SCALAR_COUNT
} Scalar;

typedef struct ScalarInfo {
    const char *name;
    char numpy_char, kind; /* kind: b i u f c */
    uint8_t bytes;
    const char *weak_name; /* NULL: no Python type has this value set */
} ScalarInfo;
extern const ScalarInfo scalar_info[SCALAR_COUNT];
/* Floats of 16 bits, whose arithmetic is that of float32, rounded once more. */
static inline bool scalar_is_half(Scalar scalar) { return scalar == SCALAR_FLOAT16 || scalar == SCALAR_BFLOAT16; }

/* A number that stands for a Python object that the process keeps alive (frontend.h: Objects).  0: none. */
typedef uint32_t ObjRef;

/* ir_kinds.def says of each which fields of Type go with it. */
typedef enum TypeKind {
#define KIND(name, text, form, repr, leaves, values, truth, fields) TY_##name,
#include "ir/ir_kinds.def"
#undef KIND
    TY_COUNT
} TypeKind;

typedef enum KindLeaves { LEAVES_NEVER, LEAVES_ITEMS, LEAVES_ITSELF } KindLeaves;
extern const KindLeaves kind_leaves[TY_COUNT];
typedef enum KindValues { VALUES_MANY, VALUES_UNIT } KindValues;
extern const KindValues kind_values[TY_COUNT];
typedef enum KindTruth { TRUTH_REFUSED, TRUTH_FALSE, TRUTH_TRUE, TRUTH_TESTED, TRUTH_COUNT, TRUTH_OWN } KindTruth;
extern const KindTruth kind_truth[TY_COUNT];

typedef enum IterKind {
    ITER_RANGE,
    ITER_TUPLE,
    ITER_ARRAY,
    ITER_FLAT,
    ITER_LIST,
    ITER_GENERATOR,
    ITER_ENUMERATE,
    ITER_ZIP,
    ITER_REVERSED
} IterKind;

enum { TYPE_MAX_NDIM = 32 };   /* more dimensions than this are refused (NumPy allows 64; nobody has used 33) */
enum { ITER_MAX_PARTS = 255 }; /* of a zip */

/* ---- library functions ----
 *
 * What the intermediate representation knows of one: its names and what it does.  The rows stand in src/library, and
 * each begins with this. */
typedef uint32_t FuncId; /* 0: none; library/library.h has the numbers */
typedef struct FuncHead {
    FuncId id;
    const char *key;     /* "MATH_SIN" */
    const char *names;   /* Python names it answers to, separated by spaces */
    uint8_t least, most; /* arguments; most 255: any number */
    bool checked;        /* raises where its call has VF_CHECKED */
    const char *effects; /* as in ir_ops.def */
} FuncHead;
/* The first of its names, as messages and dumps show it; the key of a row without names. */
const char *func_name(Arena *arena, const FuncHead *func);
/* Finds a function by one of its names or its key; NULL: none. */
typedef const FuncHead *FuncFinder(void *self, const char *name, size_t length);

/* What a struct stands for.  A record is never a value of its own: compiled code has a reference to it in memory. */
typedef enum StructForm {
    STRUCT_VECTOR,       /* a small vector of CUDA: items of one scalar, named x y z w */
    STRUCT_RECORD,       /* an item of an array of structured dtype, numpy.void */
    STRUCT_RECORD_CLASS, /* the same of dtype (numpy.record, ...): numpy.record */
    STRUCT_INSTANCE,     /* the attributes of an instance of a Python class, `object`; flag: an equal instance may stand
                            for it */
    STRUCT_OBJECT,       /* the same, shared by all who have it, on the heap as a list of one item; item 0, without a
                            name, is an int whose bit i says that attribute i is set */
} StructForm;

/* As NumPy numbers them; 3 is none. */
typedef enum TimeUnit {
    TIME_YEAR,
    TIME_MONTH,
    TIME_WEEK,
    TIME_DAY = 4,
    TIME_HOUR,
    TIME_MINUTE,
    TIME_SECOND,
    TIME_MILLISECOND,
    TIME_MICROSECOND,
    TIME_NANOSECOND,
    TIME_PICOSECOND,
    TIME_FEMTOSECOND,
    TIME_ATTOSECOND,
    TIME_GENERIC, /* takes the unit of what it meets */
    TIME_UNIT_COUNT
} TimeUnit;

enum { TYPE_MAX_WITHIN = 1 << 18 };

struct Type {
    TypeKind kind;
    uint8_t scalar;         /* Scalar, for TY_SCALAR */
    bool weak;              /* TY_SCALAR: a Python scalar (NEP 50) */
    uint8_t ndim;           /* TY_ARRAY */
    uint8_t layout;         /* ArrayLayout, for TY_ARRAY */
    bool readonly;          /* TY_ARRAY */
    bool record;            /* TY_ARRAY */
    bool unaligned;         /* TY_ARRAY: elements may lie at any address */
    uint8_t form, align;    /* TY_STRUCT: StructForm; what its address is a multiple of.  TY_TIME: TimeUnit */
    uint32_t bytes;         /* TY_STRUCT; TY_TIME: units a tick; TY_CHARS: characters */
    const uint32_t *places; /* TY_STRUCT: offset of each item; TY_NESTED: extent of each axis */
    uint8_t iter;           /* IterKind, for TY_ITER */
    const FuncHead *func;   /* TY_FUNC */
    ObjRef object;          /* TY_PYFUNC, TY_CLOSURE, TY_EXC_CLASS, TY_EXC, TY_OBJECT */
    const char *title;      /* of a class that is the object: its qualified name, for messages alone; may be NULL */
    bool flag;              /* TY_SCALAR with an object; TY_MEMBER; TY_TIME */
    uint32_t count;         /* of items */
    uint32_t depth,
        within; /* how deep items hold items; how many types with items lie within, at most TYPE_MAX_WITHIN */
    const Type *const *items;
    const char *const *names; /* TY_STRUCT; TY_TUPLE with an object, "" where the class means something else by it */

    /* of types.c alone */
    struct TypeTable *table;
    const Repr *_Atomic repr; /* NULL: not asked for yet */
};

/* The interning table: internally locked, one per module state, freed with it.  Every constructor returns the one equal
 * Type. */
typedef struct TypeTable TypeTable;
TypeTable *type_table_new(void); /* NULL: no memory */
void type_table_free(TypeTable *table);
/* True once a constructor found no memory: it then gave the type TY_BOTTOM, and whatever was compiled with it is not to
 * be used. */
bool type_table_exhausted(TypeTable *table);
void type_table_fail_after(TypeTable *table, size_t n); /* tests only: as arena_fail_after */

/* The one Type with these parts; TY_BOTTOM: out of memory. */
const Type *type_intern(TypeTable *table, const Type *wanted);
const Type *type_simple(TypeTable *table, TypeKind kind); /* the kinds without parameters */
/* weak is ignored where no Python type has the value set. */
const Type *type_scalar(TypeTable *table, Scalar scalar, bool weak);
const Type *type_tuple(TypeTable *table, const Type *const *items, size_t count);
/* Of the class `bytes`, what a bytes is in kernels: its numbers.  It has this title, and names that are empty. */
#define TITLE_OF_BYTES "bytes"
bool type_is_bytes(const Type *type);
const Type *type_named_tuple(TypeTable *table, ObjRef class, const char *title, const char *const *names,
                             const Type *const *items, size_t count);
/* Keyword arguments are a tuple of this title: no class of a user's has one with a space.  KEYWORD_MARK stands before
 * each name, so that no field is found where a method of the class is asked for. */
#define KEYWORDS_TITLE "keyword arguments"
#define KEYWORD_MARK   "*"
bool type_is_keywords(const Type *type);
const char *type_keyword(const Type *keywords, size_t i); /* the name, without the mark */
bool type_has_names_of(const Type *a, const Type *b);     /* the same ones in the same places, as many; or none */
/* A tuple of the class of `like`, with as many items. */
const Type *type_tuple_like(TypeTable *table, const Type *like, const Type *const *items);
const Type *type_enum(TypeTable *table, ObjRef class, const char *title, bool flag);
const Type *type_member(TypeTable *table, ObjRef class, const char *title, bool flag);
const Type *type_optional(TypeTable *table, const Type *content); /* of None or an Optional: itself */
/* element may be weak: the array's is strong.  F with one dimension is C, and so is any layout with none. */
const Type *type_array(TypeTable *table, const Type *element, unsigned ndim, ArrayLayout layout, bool readonly);
/* A view on an array: of the same elements. */
const Type *type_view(TypeTable *table, const Type *array, unsigned ndim, ArrayLayout layout);
/* What field number `field` of the structs in an array, or of one record, is in memory: a view. */
const Type *type_field_view(TypeTable *table, const Type *array, unsigned field);
/* One record in memory: an array without axes whose element is the value. */
const Type *type_record(TypeTable *table, const Type *structure, bool readonly);
/* count 1 to 4; alignment as CUDA's types of that name have it. */
const Type *type_vector(TypeTable *table, Scalar scalar, unsigned count);
enum { VECTOR_MAX_COUNT = 4 };
const Type *type_vector_named(TypeTable *table, const char *name, size_t length); /* "float32x4"; NULL: none */
/* Ticks of `count` units. */
const Type *type_time(TypeTable *table, bool delta, TimeUnit unit, uint32_t count);
/* With ticks that both are multiples of; NULL: there are none. */
const Type *type_time_common(TypeTable *table, bool delta, const Type *a, const Type *b);
int64_t time_factor(const Type *from, const Type *to); /* ticks of `to` in one of `from`; 0: no whole number */
const char *time_unit_name(TimeUnit unit);
bool time_unit_find(const char *name, size_t length, TimeUnit *unit);
/* "datetime64[ns]", "<m8[25s]"; NULL: it names none. */
const Type *type_time_named(TypeTable *table, const char *text);
/* A date as ISO 8601 writes it, or NaT: ticks of the unit that it is precise to.  False: it is none. */
bool time_parse_date(const char *text, TimeUnit *unit, int64_t *ticks);
/* Ticks of one unit as ticks of another, rounded down.  False: there are too many. */
bool time_convert_date(int64_t *ticks, TimeUnit from, TimeUnit to);
/* An instance of a class with these attributes, laid out as a tuple of them. */
const Type *type_instance(TypeTable *table, ObjRef class, const char *title, bool flag, const char *const *names,
                          const Type *const *items, size_t count);
/* The same, shared: item 0 is an int; at most OBJECT_MOST attributes.  type_object_like: of the class of
 * `like`, with other items.  type_object_body: what the one item of its list is laid out as. */
enum { OBJECT_MOST = 62 };
const Type *type_shared_instance(TypeTable *table, ObjRef class, const char *title, const char *const *names,
                                 const Type *const *items, size_t count);
const Type *type_object_like(TypeTable *table, const Type *like, const Type *const *items);
const Type *type_object_body(const Type *object);
/* Instances that hold instances of their own class (recursive.c).  What attribute `field` holds; an item of the type by
 * itself may be a way back. */
const Type *type_attribute(const Type *object, unsigned field);
bool type_leads_back(const Type *object);           /* whether an instance may hold itself, by way of others */
bool type_mentions(const Type *type, ObjRef class); /* whether an instance of the class lies somewhere inside */
/* The instance of the class of `like` whose attributes hold what each of the lists says, which `join` unites; NULL:
 * nothing does. */
typedef const Type *TypeJoin(void *self, const Type *a, const Type *b);
const Type *type_object_of(TypeTable *table, const Type *like, const Type *const *const *lists, size_t nlists,
                           TypeJoin *join, void *self);
/* S, or wide U, of so many characters. */
const Type *type_chars(TypeTable *table, bool wide, uint32_t count);
enum { CHARS_MAX_COUNT = 256 }; /* longer ones are not compiled: each character is a leaf */
/* The struct that `like` says: form, count, items, names, places, bytes, align. */
const Type *type_struct(TypeTable *table, const Type *like);
const Type *type_nested(TypeTable *table, const Type *element, unsigned ndim, const uint32_t *extents);
/* A dict, or a set if there are no values. */
const Type *type_table_of(TypeTable *table, const Type *key, const Type *value);
bool type_is_function(const Type *type); /* which can be chosen: it is known but for its number */
/* One of the functions of both types; NULL: those are too many. */
const Type *type_choice(TypeTable *table, const Type *a, const Type *b);
/* What containers hold that are declared for a type: Python's numbers for int64, float64, complex128 and bool_. */
enum { TYPE_ITEM_TUPLE_MOST = 64 };
const Type *type_as_item(TypeTable *table, const Type *type);
static inline const Type *type_key(const Type *table); /* of a dict or a set */
static inline const Type *type_dict_value(const Type *dict);
const Type *type_slice(TypeTable *table, const Type *start, const Type *stop, const Type *step);
const Type *type_iter(TypeTable *table, IterKind iter, const Type *const *over, size_t count);
/* FLAT LIST DTYPE CLASS CLOSURE CELL EXC TEXT */
const Type *type_with_items(TypeTable *table, TypeKind kind, ObjRef object, const Type *const *items, size_t count);
const Type *type_object(TypeTable *table, TypeKind kind, ObjRef object); /* PYFUNC EXC_CLASS OBJECT */
const Type *type_func(TypeTable *table, const FuncHead *func);
/* Where the parsers of types and functions find library functions; none are known before. */
void type_table_set_functions(TypeTable *table, FuncFinder *find, void *self);
const FuncHead *type_table_function(const TypeTable *table, const char *name, size_t length); /* NULL: none */

/* What derives from what among exception classes: `all` are the class itself and its bases.  builtin: its name, if it
 * is one of the interpreter's, else NULL.  Nothing happens if the class is known. */
void type_table_add_exception(TypeTable *table, ObjRef class, const char *builtin, const ObjRef *all, size_t count);
/* Whether an exception of a class, or of the interpreter's class of that name, is one of `base`, which was added. */
bool type_table_exception_is(TypeTable *table, ObjRef class, const char *builtin, ObjRef base);
/* ... is one of the interpreter's class of the name `base`; the bases of `class` were added as well. */
bool type_table_exception_named(TypeTable *table, ObjRef class, const char *builtin, const char *base);

/* The text of a type, as messages, dumps and tests show it, and back:
 *   int float complex bool (weak)   int8 ... complex128 bool_ (strong; strong bool prints as bool_)   None
 *   (int, float32) for a tuple, (int,) for one item   int?  for an Optional
 *   named app.P#7(x: int, y: float)  for a namedtuple   enum app.E#8  flag#9  for members of an IntEnum and an IntFlag
 *   member app.E#8  bits app.E#9  for members of any other Enum and of a Flag
 *   array(float32, 2, C) array(float32, 1, C, readonly) array(float32, 1, A, unaligned)   float32x4
 *   record(x: float32 @ 0, "a b": nested(int8, 2, 3) @ 4; 16, 4) with size and alignment, recordclass(...) for
 *   numpy.record; ref(record(...)) ref(record(...), readonly) for one in memory
 *   instance app.P#7(x: int, y: float)  frozen#7(...) if an equal one may stand for it  shared app.P#7(int, x: int)
 *   S3 U10   datetime64[25s] timedelta64[ns] timedelta64 (no unit)
 *   range  slice(int, None, None)  Ellipsis  str  flat(array(...))
 *   iter.range(int) iter.zip(a, b)   dtype(float32)   class(float32)  class#8(float32)   func(math.sin)
 *   pyfunc#3  closure#3(...)  cell(int)  exc#4(int)  text(str, int)  caught   exc_class#4  object#5  bottom */
void type_print(Buf *buf, const Type *type);
const char *type_text(Arena *arena, const Type *type);
/* NULL: not a type; *end, if end is not NULL, is what follows it. */
const Type *type_parse(TypeTable *table, Arena *scratch, const char *text, const char **end);

typedef struct Const Const;

/* A class whose call makes a named tuple or an instance with these attributes, as what a call needs to know of it. */
typedef struct StructClass {
    const char *title;
    bool tuple, frozen;
    size_t count, least;           /* fields; the first `least` have no default */
    const char *const *parameters; /* their names */
    const char *const *names;      /* as in Type.names */
    const Const *const *fallbacks; /* defaults; NULL: none */
    /* On the host its instances are shared, with room for these attributes, the first without a name; NULL: they are
     * their fields, which is all that kernels know.  `names` is NULL where those are not known. */
    const char *const *attributes;
    size_t nattributes;
} StructClass;

/* What a class has under a name: a function, or what its `function` is wrapped in, or a constant. */
typedef enum MemberKind {
    MEMBER_NONE,
    MEMBER_METHOD,
    MEMBER_STATIC,
    MEMBER_CLASS,
    MEMBER_PROPERTY,
    MEMBER_VALUE
} MemberKind;
typedef struct Member {
    MemberKind kind;
    ObjRef function;     /* 0: of a value */
    const Const *konst;  /* the function, or the value */
    const Const *setter; /* the function that is called where the property is assigned to; NULL: there is none */
} Member;

/* What is asked of all members of an enumeration: themselves and one of their attributes, in the order of definition;
 * the text or float that each is too; all names, also of members that have several, and the member of each. */
typedef enum MembersWhat { MEMBERS, MEMBERS_ATTRIBUTE, MEMBERS_PLAIN, MEMBERS_NAMES, MEMBERS_BY_NAME } MembersWhat;

/* The class that a call finds a member of: its name in messages; bits without a name raise, or are left out. */
typedef struct EnumClass {
    const char *title;
    bool strict, conforms;
} EnumClass;

/* Whether the values of a type are instances of a class; neither is known of every type. */
typedef enum ClassAnswer { CLASS_NO, CLASS_YES, CLASS_UNKNOWN, CLASS_NOT_ONE } ClassAnswer;

static inline const Type *type_key(const Type *table) { return table->items[0]->items[0]->items[1]; }
static inline const Type *type_dict_value(const Type *dict) { return dict->items[0]->items[0]->items[2]; }
static inline bool type_is_instance(const Type *type) { /* of a class of the user's, no tuple */
    return type->kind == TY_STRUCT && (type->form == STRUCT_INSTANCE || type->form == STRUCT_OBJECT);
}
static inline bool type_is_shared(const Type *type) { return type->kind == TY_STRUCT && type->form == STRUCT_OBJECT; }
/* In the type of an instance, one of a class that it is part of. */
static inline bool type_is_back(const Type *type) { return type_is_shared(type) && type->count == 0; }
static inline bool type_is_table(const Type *type) { return type->kind == TY_DICT || type->kind == TY_SET; }
static inline bool type_is_container(const Type *type) { return type->kind == TY_LIST || type_is_table(type); }

/* A call that users may have said something about (krait.extending): the function's row, and the arguments, those given
 * by keyword last. */
typedef struct OverloadRequest {
    const FuncHead *func;
    const Type *const *types;
    const Const *const *konsts; /* NULL where the value is not known */
    size_t count;
    const char *const *names;
    size_t nnames;
    bool of_type; /* it asks alone whether the row, of a method, is about the type of the first argument */
} OverloadRequest;

static inline bool type_is_unit(const Type *type) { return kind_values[type->kind] == VALUES_UNIT; }
static inline bool type_is_scalar(const Type *type) { return type->kind == TY_SCALAR; }
static inline char type_scalar_kind(const Type *type) {
    return type->kind == TY_SCALAR ? scalar_info[type->scalar].kind : 0;
}
static inline bool type_is_integer(const Type *type) /* bool counts, as in Python */
{
    char kind = type_scalar_kind(type);
    return kind == 'i' || kind == 'u' || kind == 'b';
}
static inline const Type *type_element(const Type *array) { return array->items[0]; }
/* The scalar that the elements are; -1: they are no scalars. */
static inline int type_element_scalar(const Type *array) {
    return array->items[0]->kind == TY_SCALAR ? array->items[0]->scalar : -1;
}
static inline bool type_is_record(const Type *type) {
    return type->kind == TY_STRUCT && (type->form == STRUCT_RECORD || type->form == STRUCT_RECORD_CLASS);
}
/* Whether a value may become a Python object: what marshal_box makes one of. */
bool type_can_leave(const Type *type);
/* Whether arrays of such elements exist. */
bool type_can_be_element(const Type *type);
/* Index of a field of a struct or a namedtuple; -1: it has none of that name. */
int type_field(const Type *type, const char *name);

/* What one element of an array is as a value: its type; a reference to a record. */
const Type *type_element_value(TypeTable *table, const Type *array);
/* What an iterator gives; NULL: nothing, ever.  array[i] of one int, what iterating over an array gives. */
const Type *type_iter_item(TypeTable *table, const Type *iter);
bool type_is_caught(const Type *type); /* a caught exception, or none: memory of a function, which keeps its object */
/* Items taken out of a list have references of their own, and the list may change while it is walked. */
bool type_walks_list(const Type *iter); /* or a generator */
bool type_walks_generator(const Type *iter);
/* A generator of such items; `sent`, what `yield` gives where it goes on, and `returned`, what it is left with, are
 * None of most, which have `item` alone (NULL stands for None).  Asked of a generator, or of an iterator over one. */
const Type *type_generator(TypeTable *table, const Type *item, const Type *sent, const Type *returned);
enum { GENERATOR_ITEM, GENERATOR_SENT, GENERATOR_GIVEN }; /* its parts; returned, it is given to who walks it */
size_t type_generator_offset(const Type *generator, uint32_t part); /* from its GeneratorBody; behind the last, too */
const Type *type_sent(TypeTable *table, const Type *generator);
const Type *type_returned(TypeTable *table, const Type *generator);
const Type *type_array_item(TypeTable *table, const Type *array);
/* Whether array[index] is one element: an integer for each axis. */
bool type_takes_element(const Type *array, const Type *index);

#endif
