/* promote.c: which type arithmetic computes in, as tables.
 *
 * In: two scalar types, weak (Python's) or strong (NumPy's), and an operation.  Out: the common type, and the type of
 * the result.
 *
 * One character stands for one scalar type: 0 1 2 3 are Python's bool, int, float, complex; the others are NumPy's type
 * characters, E is bfloat16, which promotes as float16 does, and with it to float32.  The promotion tables give the
 * common type of two types (NEP 50 for numpy2; Numba's widening rules for numba, which are others for each kind of
 * operation); the loop table says for each operation in which type it computes given that common type, '.' where the
 * interpreter raises TypeError.  The rule sets are data: nothing but the row of tables chosen by InferConfig.promotion
 * knows which one is in force.
 *
 * To add an operation: one row in loop_rows.  tests/typeinfer/test_promotion.py compares every entry with
 * NumPy and with the interpreter, tests/typeinfer/test_numba_promotion.py with what Numba gives. */
#include <string.h> /* strchr */

#include "typeinfer/infer.h" /* BinaryTypes */

enum { SLOTS = 19, FIRST_STRONG = 4, PROMOTIONS = 2 };
static const char slot_chars[SLOTS + 1] = "0123?bhilBHILefdFDE";

_Static_assert(SCALAR_COUNT == SLOTS - FIRST_STRONG, "the tables have a slot for each scalar type");
_Static_assert(SCALAR_BOOL == 0 && SCALAR_UINT8 == 5 && SCALAR_FLOAT16 == 9 && SCALAR_COMPLEX128 == 13 &&
                   SCALAR_BFLOAT16 == 14,
               "slots of strong types are in the order of ir_types.def");

/* clang-format off */

/* rows and columns in the order of slot_chars */
static const char numpy2_common[SLOTS][SLOTS + 1] = {
    "0123?bhilBHILefdFDE", /* bool: as strong as NumPy's */
    "1123lbhilBHILefdFDE", /* int: adapts to any number */
    "2223dddddddddefdFDE", /* float: adapts to inexact types */
    "3333DDDDDDDDDFFDFDF", /* complex: likewise */
    "?ldD?bhilBHILefdFDE",
    "bbdDbbhilhildefdFDE",
    "hhdDhhhilhildffdFDf",
    "iidDiiiiliilddddDDd",
    "lldDllllllllddddDDd",
    "BBdDBhhilBHILefdFDE",
    "HHdDHiiilHHILffdFDf",
    "IIdDIllllIIILdddDDd",
    "LLdDLddddLLLLdddDDd",
    "eeeFeefddefddefdFDf",
    "fffFfffddffddffdFDf",
    "dddDddddddddddddDDd",
    "FFFFFFFDDFFDDFFDFDF",
    "DDDDDDDDDDDDDDDDDDD",
    "EEEFEEfddEfddffdFDE",
};

/* Numba: Python's numbers are int64, float64, complex128, and promote like them */
static const char numba_common[SLOTS][SLOTS + 1] = {
    "0123?bhilBHILefdFDE",
    "1123llllllllddddDDd",
    "2223ddddddddddddDDd",
    "3333DDDDDDDDDDDDDDD",
    "?ldD?bhilBHILefdFDE",
    "bldDbbhilhildefdFDE",
    "hldDhhhilhildffdFDf",
    "ildDiiiiliilddddDDd",
    "lldDllllllllddddDDd",
    "BldDBhhilBHILefdFDE",
    "HldDHiiilHHILffdFDf",
    "IldDIllllIIILdddDDd",
    "LddDLddddLLLLdddDDd",
    "eddDeefddefddefdFDf",
    "fddDfffddffddffdFDf",
    "dddDddddddddddddDDd",
    "FDDDFFFDDFFDDFFDFDF",
    "DDDDDDDDDDDDDDDDDDD",
    "EddDEEfddEfddffdFDE",
};

/* operands of arithmetic and of bitwise operations, and of **: they differ where an operand is a bool or a float32 */
#define NUMBA_ARITHMETIC(python_bool, bools, float32) \
    python_bool, \
    "1123llllllllldddDDd", \
    "2223ddddddddddddDDd", \
    "3333DDDDDDDDDDDDDDD", \
    bools, \
    "lldDlllllllllefdFDE", \
    "lldDlllllllllffdFDf", \
    "lldDllllllllldddDDd", \
    "lldDllllllllldddDDd", \
    "lldDlllllLLLLefdFDE", \
    "lldDlllllLLLLfddDDf", \
    "lldDlllllLLLLdddDDd", \
    "lldDlllllLLLLdddDDd", \
    "eddDeefddefddefdFDf", \
    float32, \
    "dddDddddddddddddDDd", \
    "FDDDFFFDDFDDDFFDFDF", \
    "DDDDDDDDDDDDDDDDDDD", \
    "EddDEEfddEfddffdFDE"
static const char numba_operands[SLOTS][SLOTS + 1] = {
    NUMBA_ARITHMETIC("0123?llllllllefdFDE", "?ldD?llllllllefdFDE", "fddDfffddfdddffdFDf")};
static const char numba_powers[SLOTS][SLOTS + 1] = {
    NUMBA_ARITHMETIC("1123lllflllllefdFDE", "lldDlllflllllefdFDE", "ffdDfffffffffffdFDf")};

/* of << and >>: the left one decides about the sign */
static const char numba_shifts[SLOTS][SLOTS + 1] = {
    "11..llllllllle.....",
    "11..llllllllld.....",
    ".............d.....",
    ".............D.....",
    "ll..llllllllle.....",
    "ll..llllllllle.....",
    "ll..lllllllllf.....",
    "ll..llllllllld.....",
    "ll..llllllllld.....",
    "LL..LLLLLLLLLe.....",
    "LL..LLLLLLLLLf.....",
    "LL..LLLLLLLLLd.....",
    "LL..LLLLLLLLLd.....",
    "eddDeefddefddefdFD.",
    ".............f.....",
    ".............d.....",
    ".............F.....",
    ".............D.....",
    "...................",
};

/* of NumPy's functions: a kind of number that is lower than another's does not widen it */
static const char numba_ufuncs[SLOTS][SLOTS + 1] = {
    "0123?bhilBHILefdFDE",
    "1123llllllllddfdFDd",
    "2223ddddddddddddDDd",
    "3333DDDDDDDDDDDDDDD",
    "?ldD?bhilBHILefdFDE",
    "bldDbbhilhildefdFDE",
    "hldDhhhilhildffdFDf",
    "ildDiiiiliilddfdFDd",
    "lldDllllllllddfdFDd",
    "BldDBhhilBHILefdFDE",
    "HldDHiiilHHILffdFDf",
    "IldDIllllIIILdfdFDd",
    "LddDLddddLLLLdfdFDd",
    "eddDeefddefddefdFDf",
    "ffdDfffffffffffdFDf",
    "dddDddddddddddddDDd",
    "FFDDFFFFFFFFFFFDFDF",
    "DDDDDDDDDDDDDDDDDDD",
    "EddDEEfddEfddffdFDE",
};

/* the type an operation computes in, for each common type of its operands; its result is the same type, save for
 * comparisons */
typedef struct LoopRow {
    Op op;
    char loops[PROMOTIONS][SLOTS + 1];
    const char (*common[PROMOTIONS])[SLOTS + 1]; /* of its operands; NULL: as where control flow joins them */
} LoopRow;

static const LoopRow loop_rows[] = {
    /*             NumPy 2: 0123?bhilBHILefdFDE  Numba: 0123?bhilBHILefdFDE */
    {OP_ADD,       {"1123?bhilBHILefdFDE", "1123lllllLLLLefdFDE"}, {NULL, numba_operands}},
    {OP_SUB,       {"1123.bhilBHILefdFDE", "1123lllllLLLLefdFDE"}, {NULL, numba_operands}},
    {OP_MUL,       {"1123?bhilBHILefdFDE", "1123lllllLLLLefdFDE"}, {NULL, numba_operands}},
    {OP_TRUEDIV,   {"2223dddddddddefdFDE", "2223dddddddddefdFDE"}, {NULL, numba_operands}},
    {OP_FLOORDIV,  {"112.bbhilBHILefd..E", "112.lllllLLLLefd..E"}, {NULL, numba_operands}},
    {OP_MOD,       {"112.bbhilBHILefd..E", "112.lllllLLLLefd..E"}, {NULL, numba_operands}},
    {OP_POW,       {"1123bbhilBHILefdFDE", "1123lllllLLLLefdFDE"}, {NULL, numba_powers}},
    {OP_LSHIFT,    {"11..bbhilBHIL......", "11..lllllLLLL......"}, {NULL, numba_shifts}},
    {OP_RSHIFT,    {"11..bbhilBHIL......", "11..lllllLLLL......"}, {NULL, numba_shifts}},
    {OP_AND,       {"01..?bhilBHIL......", "01..?llllLLLL......"}, {NULL, numba_operands}},
    {OP_OR,        {"01..?bhilBHIL......", "01..?llllLLLL......"}, {NULL, numba_operands}},
    {OP_XOR,       {"01..?bhilBHIL......", "01..?llllLLLL......"}, {NULL, numba_operands}},
    {OP_LT,        {"012.?bhilBHILefdFDE", "012.?bhilBHILefdFDE"}, {NULL, NULL}},
    {OP_LE,        {"012.?bhilBHILefdFDE", "012.?bhilBHILefdFDE"}, {NULL, NULL}},
    {OP_GT,        {"012.?bhilBHILefdFDE", "012.?bhilBHILefdFDE"}, {NULL, NULL}},
    {OP_GE,        {"012.?bhilBHILefdFDE", "012.?bhilBHILefdFDE"}, {NULL, NULL}},
    {OP_EQ,        {"0123?bhilBHILefdFDE", "0123?bhilBHILefdFDE"}, {NULL, NULL}},
    {OP_NE,        {"0123?bhilBHILefdFDE", "0123?bhilBHILefdFDE"}, {NULL, NULL}},
    {OP_NEG,       {"1123.bhilBHILefdFDE", "1123lllllLLLLefdFDE"}, {NULL, NULL}},
    {OP_POS,       {"1123.bhilBHILefdFDE", "1123lllllLLLLefdFDE"}, {NULL, NULL}},
    {OP_INVERT,    {"11..?bhilBHIL......", "11..?llllLLLL......"}, {NULL, NULL}},
};
/* clang-format on */

_Static_assert(PROMOTION_NUMPY2 == 0 && PROMOTION_NUMBA == 1, "the columns of loop_rows");

typedef struct PromotionTables {
    const char (*common)[SLOTS + 1]; /* where control flow joins two types */
    const char (*ufuncs)[SLOTS + 1]; /* operands of a ufunc */
    PromotionRules rules;
} PromotionTables;

static const PromotionTables promotion_tables[] = {
    [PROMOTION_NUMPY2] = {numpy2_common, numpy2_common, {true, true, true, true, true}},
    [PROMOTION_NUMBA] = {numba_common, numba_ufuncs, {0}},
};

const PromotionRules *promote_rules(const Infer *in) { return &promotion_tables[in->config->promotion].rules; }

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

/* NumPy takes exact Python ints for weak; a member of an enumeration is an int64 to it. */
static int slot_beside(const Type *type, const Type *other) {
    bool member = type->kind == TY_SCALAR && type->object && other->kind == TY_SCALAR && !other->weak;
    return member ? FIRST_STRONG + SCALAR_INT64 : slot_of(type);
}

static const Type *type_of_slot(TypeTable *types, char c) {
    static const Scalar weak[FIRST_STRONG] = {SCALAR_BOOL, SCALAR_INT64, SCALAR_FLOAT64, SCALAR_COMPLEX128};
    const char *at = c == '.' ? NULL : strchr(slot_chars, c);
    if (!at) return NULL;
    int slot = (int)(at - slot_chars);
    return slot < FIRST_STRONG ? type_scalar(types, weak[slot], true)
                               : type_scalar(types, (Scalar)(slot - FIRST_STRONG), false);
}

static const Type *promoted(TypeTable *types, const char (*common)[SLOTS + 1], const Type *a, const Type *b) {
    int row = slot_beside(a, b), column = slot_beside(b, a);
    return row < 0 || column < 0 ? NULL : type_of_slot(types, common[row][column]);
}

const Type *typeinfer_promote(Promotion promotion, TypeTable *types, const Type *a, const Type *b) {
    return promoted(types, promotion_tables[promotion].common, a, b);
}

const Type *promote_ufunc(Infer *in, const Type *a, const Type *b) {
    return promoted(in->types, promotion_tables[in->config->promotion].ufuncs, a, b);
}

static const LoopRow *find_loops(Op op) {
    for (size_t i = 0; i < COUNT_OF(loop_rows); i++)
        if (loop_rows[i].op == op) return &loop_rows[i];
    return NULL;
}

/* The common type of two scalars as operands of an operation; NULL: none. */
static const Type *common_type(Infer *in, const LoopRow *row, const Type *a, const Type *b) {
    Promotion promotion = in->config->promotion;
    const char (*common)[SLOTS + 1] = row ? row->common[promotion] : NULL;
    return promoted(in->types, common ? common : promotion_tables[promotion].common, a, b);
}

/* What it computes in. */
static const Type *loop_type(Infer *in, const LoopRow *row, const Type *common) {
    return row && common && slot_of(common) >= 0
               ? type_of_slot(in->types, row->loops[in->config->promotion][slot_of(common)])
               : NULL;
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
    return own && promote_rules(in)->float64_is_float && slot_of(a) == 3 && !b->weak && b->scalar == SCALAR_FLOAT64;
}

bool promote_binary(Infer *in, Op op, const Type *a, const Type *b, BinaryTypes *out) {
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR && complex_takes_float64(in, op, a, b)) b = infer_float(in);
    const LoopRow *row = find_loops(op);
    const Type *loop = loop_type(in, row, common_type(in, row, a, b));
    if (!loop) return false;
    *out = (BinaryTypes){loop, loop};
    if (!op_is_comparison(op)) return true;
    out->result = type_scalar(in->types, SCALAR_BOOL, a->weak && b->weak);
    char ka = scalar_info[a->scalar].kind, kb = scalar_info[b->scalar].kind;
    bool integers = (ka == 'i' || ka == 'u') && (kb == 'i' || kb == 'u');
    if (integers && (a->weak != b->weak || scalar_info[loop->scalar].kind == 'f'))
        out->compute = compare_integers(in, a, b);
    return true;
}

const Type *promote_unary(Infer *in, Op op, const Type *a) { return loop_type(in, find_loops(op), a); }
