/* exact_text.c: instructions of a module's text that PTX's compiler takes wrongly become others that it does not.
 *
 * In: PTX text as LLVM writes it, an instruction a line.  Out: the same text with other instructions for:
 *   mul.hi of 32 bits     Of mul.hi(a, b) extended to 64 bits less y, as in `i // 3 - y`, ptxas makes one
 *                         multiplication that adds -y to the upper half, and one more sum for the carry; but where the
 *                         lower half of y is 0, that of -y gives no carry, and the difference is wrong by 2**32.  From
 *                         mul.wide it makes no such thing, and as many instructions as from mul.hi.
 *   neg.s32               Of min(min(a, -b), c) and max(max(a, -b), c) ptxas makes one instruction for sm_90, VIMNMX3,
 *                         that forgets the sign.  It does not know that ~b + 1 is -b.
 *   min, max of 16 bits   Where max(a, 7) == 7 is asked, ptxas takes for sm_90 and later the bit by which VIMNMX.S16x2
 *                         says which it chose; the instruction works on both halves of a register and says two, which
 *                         both go to one place, so that the half that nobody wrote decides.  It sees through
 *                         conversions and sums, so what comes to a test of equality on any way (slices.c) has 32 bits,
 *                         where it is right; what does not keeps 16, which are one instruction, not four.
 *   st of 8 or 16 bits    Of a wider register in which a float was computed, as where a packed record's field is stored
 *                         byte by byte, the driver's compiler stores the number made an integer.  What prmt has taken
 *                         out of the register is bits. */
#include <string.h> /* strchr, strcspn, strstr */

#include "codegen_nvptx/nvptx.h"

typedef struct {
    const char *op;      /* "OP \tRESULT, OPERANDS;" */
    const char *into[3]; /* only where the result comes to one of these; none: everywhere */
    const char *instead; /* @: the result, $: the operands, < and >: the first and the last of them */
    const char *operand; /* how the first operand begins, a register that may hold a float; NULL: anyhow */
} Row;

#define IN_32_BITS(FUNCTION, SIGN)                                                                         \
    "{ .reg .b32 v, w; cvt." SIGN "32." SIGN "16 v, <; cvt." SIGN "32." SIGN "16 w, >; " FUNCTION "." SIGN \
    "32 v, v, w; cvt.u16.u32 @, v; }"

#define STORE(PLACE, BITS, BYTES)                                                                             \
    {PLACE BITS " \t", {NULL}, "{ .reg .b32 v; prmt.b32 v, $, 0, " BYTES "; " PLACE BITS " \t@, v; }", "%r"}, \
        {PLACE BITS " \t",                                                                                    \
         {NULL},                                                                                              \
         "{ .reg .b32 v, w; mov.b64 {v, w}, $; prmt.b32 v, v, 0, " BYTES "; " PLACE BITS " \t@, v; }",        \
         "%rd"}
#define STORES(PLACE) STORE(PLACE, "b8", "0x4440"), STORE(PLACE, "b16", "0x4410")

static const Row rows[] = {
    {"mul.hi.u32 \t", {NULL}, "{ .reg .b64 w; mul.wide.u32 w, $; shr.u64 w, w, 32; cvt.u32.u64 @, w; }", NULL},
    {"mul.hi.s32 \t", {NULL}, "{ .reg .b64 w; mul.wide.s32 w, $; shr.u64 w, w, 32; cvt.u32.u64 @, w; }", NULL},
    {"neg.s32 \t", {"min.s32", "max.s32"}, "{ .reg .b32 w; not.b32 w, $; add.s32 @, w, 1; }", NULL},
    {"min.s16 \t", {"setp.eq.", "setp.ne."}, IN_32_BITS("min", "s"), NULL},
    {"max.s16 \t", {"setp.eq.", "setp.ne."}, IN_32_BITS("max", "s"), NULL},
    {"min.u16 \t", {"setp.eq.", "setp.ne."}, IN_32_BITS("min", "u"), NULL},
    {"max.u16 \t", {"setp.eq.", "setp.ne."}, IN_32_BITS("max", "u"), NULL},
    STORES("st.global."),
    STORES("st.shared."),
    STORES("st.local."),
    STORES("st."),
};

/* Whether what an instruction makes is an integer: its first type says so, or it works on bits. */
static bool makes_integer(const char *op, const char *end) {
    static const char *const of_bits[] = {"and.", "or.",  "xor.",  "not.",  "shl.",
                                          "shr.", "shf.", "prmt.", "lop3.", "bfe."};
    for (size_t i = 0; i < sizeof of_bits / sizeof *of_bits; i++)
        if (strncmp(op, of_bits[i], strlen(of_bits[i])) == 0) return true;
    for (const char *at = op; at < end; at++)
        if (*at == '.' && strchr("sufb", at[1]) && at[2] >= '0' && at[2] <= '9') return at[1] == 's' || at[1] == 'u';
    return false;
}

/* Whether the register at `name` may hold a float: the first line that writes it makes no integer. */
static bool may_be_float(const char *text, const char *name) {
    size_t length = strcspn(name, ";, ");
    for (const char *at = text; (at = strstr(at, "\t%")) != NULL; at++) {
        if (strncmp(at + 1, name, length) != 0 || at[1 + length] != ',') continue;
        const char *op = at;
        while (op > text && op[-1] != '\n') op--;
        op += strspn(op, "\t ");
        return !makes_integer(op, at);
    }
    return true;
}

/* The instruction with its operands in the place of one that starts at `at`; what follows, or NULL: it has others. */
static const char *put_instead(Buf *out, const char *text, const Row *row, const char *at) {
    const char *result = at + strlen(row->op), *comma = strchr(result, ','), *end = strchr(result, ';');
    if (!comma || !end || comma > end) return NULL;
    const char *first = comma + 2, *last = end;
    size_t begin = row->operand ? strlen(row->operand) : 0;
    if (begin && (strncmp(first, row->operand, begin) != 0 || first[begin] < '0' || first[begin] > '9')) return NULL;
    if (begin && !may_be_float(text, first)) return NULL;
    while (last > first && last[-1] != ' ') last--;
    for (const char *c = row->instead; *c; c++) {
        if (*c == '@')
            buf_write(out, result, (size_t)(comma - result));
        else if (*c == '$')
            buf_write(out, first, (size_t)(end - first));
        else if (*c == '<')
            buf_write(out, first, strcspn(first, ",;"));
        else if (*c == '>')
            buf_write(out, last, (size_t)(end - last));
        else
            buf_putc(out, *c);
    }
    return end + 1;
}

static char *rewrite(Arena *arena, char *text, const Row *row) {
    const char *at = strstr(text, row->op), *written = text;
    if (!at) return text;
    const Slice *slice = row->into[0] ? nvptx_slice(arena, text, row->into) : NULL;
    Buf out;
    buf_init(&out, arena);
    for (; at; at = strstr(at, row->op)) {
        const char *result = at + strlen(row->op);
        if (!slice || nvptx_slice_has(slice, result)) {
            buf_write(&out, written, (size_t)(at - written));
            written = put_instead(&out, text, row, at);
            if (!written) written = at;
        }
        at = result;
    }
    buf_puts(&out, written);
    return out.text;
}

char *nvptx_exact_text(Arena *arena, char *text) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) text = rewrite(arena, text, &rows[i]);
    return text;
}
