/* promote.c: which type arithmetic computes in, as tables.
 *
 * In: two scalar types, weak (Python's) or strong (NumPy's), and an operation.  Out: the common type, and the type of
 * the result.
 *
 * One character stands for one scalar type: 0 1 2 3 are Python's bool, int, float, complex; the others are NumPy's type
 * characters.  The promotion table gives the common type of two types (NEP 50 for numpy2; Numba's widening rules for
 * numba); the loop table of a promotion says for each operation in which type it computes given that common type, '.'
 * where the interpreter raises TypeError.  The rule sets are data: nothing but the row of tables chosen by
 * InferConfig.promotion knows which one is in force.
 *
 * To add an operation: one row in both loop tables.  tests/typeinfer/test_promotion.py compares every entry with
 * NumPy and with the interpreter. */
#include <string.h> /* strchr */

#include "typeinfer/infer.h" /* BinaryTypes */

enum { SLOTS = 18, FIRST_STRONG = 4 };
static const char slot_chars[SLOTS + 1] = "0123?bhilBHILefdFD";

_Static_assert(SCALAR_COUNT == SLOTS - FIRST_STRONG, "the tables have a slot for each scalar type");
_Static_assert(SCALAR_BOOL == 0 && SCALAR_UINT8 == 5 && SCALAR_FLOAT16 == 9 && SCALAR_COMPLEX128 == 13,
               "slots of strong types are in the order of ir_types.def");

/* clang-format off */

/* rows and columns in the order of slot_chars */
static const char numpy2_common[SLOTS][SLOTS + 1] = {
    "0123?bhilBHILefdFD", /* bool: as strong as NumPy's */
    "1123lbhilBHILefdFD", /* int: adapts to any number */
    "2223dddddddddefdFD", /* float: adapts to inexact types */
    "3333DDDDDDDDDFFDFD", /* complex: likewise */
    "?ldD?bhilBHILefdFD",
    "bbdDbbhilhildefdFD",
    "hhdDhhhilhildffdFD",
    "iidDiiiiliilddddDD",
    "lldDllllllllddddDD",
    "BBdDBhhilBHILefdFD",
    "HHdDHiiilHHILffdFD",
    "IIdDIllllIIILdddDD",
    "LLdDLddddLLLLdddDD",
    "eeeFeefddefddefdFD",
    "fffFfffddffddffdFD",
    "dddDddddddddddddDD",
    "FFFFFFFDDFFDDFFDFD",
    "DDDDDDDDDDDDDDDDDD",
};

/* Numba: Python's numbers are int64, float64, complex128, and promote like them */
static const char numba_common[SLOTS][SLOTS + 1] = {
    "0123?bhilBHILefdFD",
    "1123llllllllddddDD",
    "2223ddddddddddddDD",
    "3333DDDDDDDDDDDDDD",
    "?ldD?bhilBHILefdFD",
    "bldDbbhilhildefdFD",
    "hldDhhhilhildffdFD",
    "ildDiiiiliilddddDD",
    "lldDllllllllddddDD",
    "BldDBhhilBHILefdFD",
    "HldDHiiilHHILffdFD",
    "IldDIllllIIILdddDD",
    "LddDLddddLLLLdddDD",
    "eddDeefddefddefdFD",
    "fddDfffddffddffdFD",
    "dddDddddddddddddDD",
    "FDDDFFFDDFFDDFFDFD",
    "DDDDDDDDDDDDDDDDDD",
};

/* the type an operation computes in, for each common type; its result is the same type, save for comparisons */
typedef struct LoopRow {
    Op op;
    char loops[SLOTS + 1];
} LoopRow;

static const LoopRow numpy2_loops[] = {
    /*             0123?bhilBHILefdFD */
    {OP_ADD,      "1123?bhilBHILefdFD"},
    {OP_SUB,      "1123.bhilBHILefdFD"},
    {OP_MUL,      "1123?bhilBHILefdFD"},
    {OP_TRUEDIV,  "2223dddddddddefdFD"},
    {OP_FLOORDIV, "112.bbhilBHILefd.."},
    {OP_MOD,      "112.bbhilBHILefd.."},
    {OP_POW,      "1123bbhilBHILefdFD"},
    {OP_LSHIFT,   "11..bbhilBHIL....."},
    {OP_RSHIFT,   "11..bbhilBHIL....."},
    {OP_AND,      "01..?bhilBHIL....."},
    {OP_OR,       "01..?bhilBHIL....."},
    {OP_XOR,      "01..?bhilBHIL....."},
    {OP_LT,       "012.?bhilBHILefdFD"},
    {OP_LE,       "012.?bhilBHILefdFD"},
    {OP_GT,       "012.?bhilBHILefdFD"},
    {OP_GE,       "012.?bhilBHILefdFD"},
    {OP_EQ,       "0123?bhilBHILefdFD"},
    {OP_NE,       "0123?bhilBHILefdFD"},
    {OP_NEG,      "1123.bhilBHILefdFD"},
    {OP_POS,      "1123.bhilBHILefdFD"},
    {OP_INVERT,   "11..?bhilBHIL....."},
};

static const LoopRow numba_loops[] = {
    /*             0123?bhilBHILefdFD */
    {OP_ADD,      "1123lllllLLLLefdFD"},
    {OP_SUB,      "1123lllllLLLLefdFD"},
    {OP_MUL,      "1123lllllLLLLefdFD"},
    {OP_TRUEDIV,  "2223dddddddddefdFD"},
    {OP_FLOORDIV, "112.lllllLLLLefd.."},
    {OP_MOD,      "112.lllllLLLLefd.."},
    {OP_POW,      "1123lllllLLLLefdFD"},
    {OP_LSHIFT,   "11..lllllLLLL....."},
    {OP_RSHIFT,   "11..lllllLLLL....."},
    {OP_AND,      "01..?llllLLLL....."},
    {OP_OR,       "01..?llllLLLL....."},
    {OP_XOR,      "01..?llllLLLL....."},
    {OP_LT,       "012.?bhilBHILefdFD"},
    {OP_LE,       "012.?bhilBHILefdFD"},
    {OP_GT,       "012.?bhilBHILefdFD"},
    {OP_GE,       "012.?bhilBHILefdFD"},
    {OP_EQ,       "0123?bhilBHILefdFD"},
    {OP_NE,       "0123?bhilBHILefdFD"},
    {OP_NEG,      "1123lllllLLLLefdFD"},
    {OP_POS,      "1123lllllLLLLefdFD"},
    {OP_INVERT,   "11..?llllLLLL....."},
};
/* clang-format on */

_Static_assert(COUNT_OF(numpy2_loops) == COUNT_OF(numba_loops), "both promotions know the same operations");

typedef struct PromotionTables {
    const char (*common)[SLOTS + 1];
    const LoopRow *loops;
    const char *inexact; /* the type a function of one real or complex argument computes in */
    bool float64_is_float;
} PromotionTables;

static const PromotionTables promotion_tables[] = {
    [PROMOTION_NUMPY2] = {numpy2_common, numpy2_loops, "2223eefddefddefdFD", true},
    [PROMOTION_NUMBA] = {numba_common, numba_loops, "2223dddddddddefdFD", false},
};

static int slot_of(const Type *type) {
    if (type->kind != TY_SCALAR) return -1;
    if (!type->weak) return FIRST_STRONG + type->scalar;
    switch (scalar_info[type->scalar].kind) {
    case 'b': return 0;
    case 'f': return 2;
    case 'c': return 3;
    default: return 1;
    }
}

static const Type *type_of_slot(TypeTable *types, char c) {
    static const Scalar weak[FIRST_STRONG] = {SCALAR_BOOL, SCALAR_INT64, SCALAR_FLOAT64, SCALAR_COMPLEX128};
    const char *at = c == '.' ? NULL : strchr(slot_chars, c);
    if (!at) return NULL;
    int slot = (int)(at - slot_chars);
    return slot < FIRST_STRONG ? type_scalar(types, weak[slot], true)
                               : type_scalar(types, (Scalar)(slot - FIRST_STRONG), false);
}

const Type *typeinfer_promote(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    int row = slot_of(a), column = slot_of(b);
    if (row < 0 || column < 0) return NULL;
    return type_of_slot(types, promotion_tables[promotion].common[row][column]);
}

static const Type *loop_type(Infer *in, Op op, const Type *common) {
    const LoopRow *rows = promotion_tables[in->config->promotion].loops;
    for (size_t i = 0; i < COUNT_OF(numpy2_loops); i++)
        if (rows[i].op == op) return type_of_slot(in->types, rows[i].loops[slot_of(common)]);
    return NULL;
}

static bool is_comparison(Op op) {
    return op == OP_LT || op == OP_LE || op == OP_EQ || op == OP_NE || op == OP_GT || op == OP_GE;
}

/* Integers compare by value whatever their widths and signs: NumPy converts neither a Python int nor an int64 met by a
 * uint64.  Both become int64 when that holds all their values; else they keep their signs and lowering compares by
 * value. */
static const Type *compare_integers(Infer *in, const Type *a, const Type *b) {
    if (a->weak || b->weak) {
        bool wide_unsigned = a->scalar == SCALAR_UINT64 || b->scalar == SCALAR_UINT64;
        return wide_unsigned && a->scalar != b->scalar ? NULL
                                                       : type_scalar(in->types, SCALAR_INT64, a->weak && b->weak);
    }
    return NULL;
}

/* np.float64 is a subclass of float: a Python complex on the left takes it as one and stays a Python complex, save
 * where it has no such operation itself. */
static bool complex_takes_float64(Infer *in, Op op, const Type *a, const Type *b) {
    bool own = op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_TRUEDIV || op == OP_POW || op == OP_EQ ||
               op == OP_NE;
    return own && promotion_tables[in->config->promotion].float64_is_float && slot_of(a) == 3 && !b->weak &&
           b->scalar == SCALAR_FLOAT64;
}

bool promote_binary(Infer *in, Op op, const Type *a, const Type *b, BinaryTypes *out) {
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR && complex_takes_float64(in, op, a, b)) b = infer_float(in);
    const Type *common = typeinfer_promote(in->config->promotion, in->types, a, b);
    const Type *loop = common ? loop_type(in, op, common) : NULL;
    if (!loop) return false;
    *out = (BinaryTypes){loop, loop};
    if (!is_comparison(op)) return true;
    out->result = type_scalar(in->types, SCALAR_BOOL, a->weak && b->weak);
    char ka = scalar_info[a->scalar].kind, kb = scalar_info[b->scalar].kind;
    bool integers = (ka == 'i' || ka == 'u') && (kb == 'i' || kb == 'u');
    if (integers && (a->weak != b->weak || scalar_info[loop->scalar].kind == 'f'))
        out->compute = compare_integers(in, a, b);
    return true;
}

const Type *promote_unary(Infer *in, Op op, const Type *a) { return slot_of(a) < 0 ? NULL : loop_type(in, op, a); }

const Type *promote_to_inexact(Infer *in, const Type *scalar) {
    int slot = slot_of(scalar);
    return slot < 0 ? NULL : type_of_slot(in->types, promotion_tables[in->config->promotion].inexact[slot]);
}
