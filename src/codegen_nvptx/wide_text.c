/* wide_text.c: products and shifts of 64 bits whose factors were extended from 32 bits become wide products.
 *
 * In: PTX text as LLVM writes it, an instruction a line.  Out: the same text where `shl.b64`, `mul.lo.s64` and
 * `mad.lo.s64` of what `cvt.u64.u32` or `cvt.s64.s32` made are `mul.wide` and `mad.wide` of the 32 bits.  LLVM makes
 * wide products where the extension stands in the block of the product, and where it does not, as with extents of
 * arrays and their multiples that loops add, it leaves 64 bits: ptxas needs a pair of registers for the multiple, and
 * adds it in two instructions instead of one.
 *
 * A register that one instruction writes has one value between two of its executions; so what one that it was extended
 * from holds is the same wherever the extended one is read. */
#include <stdlib.h> /* strtoll, strtoul */
#include <string.h> /* memchr, strchr, strcspn, strlen, strncmp, strspn */

#include "codegen_nvptx/nvptx.h"

typedef struct {
    unsigned char written; /* by how many instructions: 0, 1, or 2 for more */
    char sign;             /* 'u' or 's': extended so; 0: otherwise made */
    unsigned long from;    /* this register of 32 bits */
} Wide;

typedef struct {
    Wide *wide;           /* of a function, by number: %rd */
    unsigned char *words; /* how many instructions write %r */
    unsigned long nwide, nwords;
} Registers;

static const char wide_name[] = "%rd", word_name[] = "%r";

/* The number of the register at a place that has this name; ULONG_MAX: another one, or none. */
static unsigned long number_at(const char *at, const char *name) {
    size_t length = strlen(name);
    if (strncmp(at, name, length) != 0 || at[length] < '0' || at[length] > '9') return (unsigned long)-1;
    return strtoul(at + length, NULL, 10);
}

static void note_written(Registers *registers, const char *at, unsigned char times) {
    unsigned long wide = number_at(at, wide_name), word = number_at(at, word_name);
    if (wide < registers->nwide && registers->wide[wide].written < 2) registers->wide[wide].written += times;
    if (word < registers->nwords && registers->words[word] < 2) registers->words[word] += times;
}

static void note_all(Registers *registers, const char *at, const char *end, unsigned char times) {
    for (; (at = memchr(at, '%', (size_t)(end - at))) != NULL; at++) note_written(registers, at, times);
}

/* What is extended, if the instruction does that. */
static void note_extension(Registers *registers, const char *op, const char *operands) {
    char sign = !strncmp(op, "cvt.u64.u32 ", 12) ? 'u' : !strncmp(op, "cvt.s64.s32 ", 12) ? 's' : 0;
    unsigned long wide = number_at(operands, wide_name);
    const char *from = strchr(operands, ' ');
    if (!sign || wide >= registers->nwide || !from) return;
    registers->wide[wide].from = number_at(from + 1, word_name);
    registers->wide[wide].sign = registers->wide[wide].from < registers->nwords ? sign : 0;
}

static void note_line(Registers *registers, const char *line, const char *end) {
    const char *op = line + strspn(line, " \t"), *operands = op + strcspn(op, " \t\n");
    if (op >= end || strchr(".$/", *op)) return;
    operands += strspn(operands, " \t");
    const char *first = memchr(op, ';', (size_t)(end - op));
    if (*op == '{' || *op == '@' || (first && memchr(first + 1, ';', (size_t)(end - first - 1)))) {
        note_all(registers, op, end, 2); /* several instructions, or one that is guarded */
    } else if (*operands == '{') {
        const char *close = memchr(operands, '}', (size_t)(end - operands));
        note_all(registers, operands, close ? close : end, 1);
    } else {
        note_written(registers, operands, 1);
        note_extension(registers, op, operands);
    }
}

/* How many registers of a kind a function declares: `.reg .b64 %rd<52>;`. */
static unsigned long declared(const char *body, const char *end, const char *what) {
    for (const char *line = body; line < end; line += strcspn(line, "\n") + 1) {
        line += strspn(line, " \t");
        if (!strncmp(line, what, strlen(what))) return strtoul(line + strlen(what), NULL, 10);
    }
    return 0;
}

static const Wide *extension_at(const Registers *registers, const char *at) {
    unsigned long number = number_at(at, wide_name);
    if (number >= registers->nwide) return NULL;
    const Wide *wide = &registers->wide[number];
    return wide->sign && wide->written == 1 && registers->words[wide->from] == 1 ? wide : NULL;
}

static bool is_number(const char *at) { return (*at >= '0' && *at <= '9') || *at == '-'; }

/* The second factor of a product with what was extended so, or of a shift as one; false: it has none of 32 bits. */
static bool put_factor(Buf *out, const Registers *registers, const Wide *first, const char *at, bool shifts) {
    if (is_number(at)) {
        long long value = strtoll(at, NULL, 10);
        if (shifts && (value < 1 || value > 30)) return false;
        if (shifts) value = 1LL << value;
        if (first->sign == 'u' ? value < 0 || value > UINT32_MAX : value < INT32_MIN || value > INT32_MAX) return false;
        buf_printf(out, "%lld", value);
        return true;
    }
    const Wide *second = shifts ? NULL : extension_at(registers, at);
    if (!second || second->sign != first->sign) return false;
    buf_printf(out, "%%r%lu", second->from);
    return true;
}

/* Writes a line as a wide product; false: it is to stay as it is. */
static bool put_wide(Arena *arena, Buf *out, const Registers *registers, const char *line, const char *end) {
    static const struct {
        const char *op, *wide;
        bool shifts;
    } rows[] = {{"\tshl.b64 \t", "mul", true}, {"\tmul.lo.s64 \t", "mul", false}, {"\tmad.lo.s64 \t", "mad", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].op);
        if (strncmp(line, rows[i].op, length) != 0) continue;
        const char *result = line + length, *one = strchr(result, ' '), *other = one ? strchr(one + 1, ' ') : NULL;
        if (!one || !other || other > end) return false;
        const Wide *first = extension_at(registers, ++one);
        Buf factor;
        buf_init(&factor, arena);
        if (!first || !put_factor(&factor, registers, first, ++other, rows[i].shifts)) return false;
        const char *rest = other + strcspn(other, ",;");
        buf_printf(out, "\t%s.wide.%c32 \t%.*s %%r%lu, %s%.*s", rows[i].wide, first->sign, (int)(one - 1 - result),
                   result, first->from, factor.text, (int)(end - rest), rest);
        return true;
    }
    return false;
}

static void put_body(Arena *arena, Buf *out, const char *body, const char *end) {
    Registers registers = {.nwide = declared(body, end, ".reg .b64 \t%rd<"),
                           .nwords = declared(body, end, ".reg .b32 \t%r<")};
    registers.wide = ARENA_ARRAY(arena, Wide, registers.nwide);
    registers.words = ARENA_ARRAY(arena, unsigned char, registers.nwords);
    for (const char *line = body, *next; line < end; line = next) {
        next = line + strcspn(line, "\n");
        note_line(&registers, line, next);
        next += *next == '\n';
    }
    for (const char *line = body, *next; line < end; line = next) {
        const char *close = line + strcspn(line, "\n");
        next = close + (*close == '\n');
        if (!put_wide(arena, out, &registers, line, close)) buf_write(out, line, (size_t)(close - line));
        buf_write(out, close, (size_t)(next - close));
    }
}

char *nvptx_wide_text(Arena *arena, char *text) {
    Buf out;
    buf_init(&out, arena);
    const char *written = text;
    for (const char *at = text; (at = strstr(at, "\n{\n")) != NULL;) {
        const char *end = strstr(at, "\n}\n");
        if (!end) break;
        buf_write(&out, written, (size_t)(at + 1 - written));
        put_body(arena, &out, at + 1, end + 1);
        written = at = end + 1;
    }
    buf_puts(&out, written);
    return out.text;
}
