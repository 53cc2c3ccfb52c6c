/* positions.c: the source range of every instruction of a code object.
 *
 * Input: co_linetable.  Output: one Span for each code unit; line 0: none is recorded.
 * Algorithm: the table is a row of entries; the first byte of each is 0x80 | kind << 3 | (number of code units - 1).
 * Lines are differences to the entry before.  Kinds: 0-9 short (same line, columns in one byte and a nibble), 10-12 one
 * line (0 to 2 lines further, two column bytes), 13 no columns, 14 long (varints), 15 nothing.  Columns of the long
 * form count from 1.  One pass, where PyCode_Addr2Location would start over for each instruction. */
#include "frontend/bytecode.h"

typedef struct Reader {
    const unsigned char *at, *end;
} Reader;

static unsigned read_byte(Reader *reader) { return reader->at < reader->end ? *reader->at++ : 0; }

static uint32_t read_varint(Reader *reader) { /* 6 bits a byte, least significant first */
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
        unsigned byte = read_byte(reader);
        value |= (uint32_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40)) break;
    }
    return value;
}

static int32_t read_signed(Reader *reader) { /* the sign is the lowest bit */
    uint32_t value = read_varint(reader);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

enum { KIND_SHORT_LAST = 9, KIND_LINE_0 = 10, KIND_LINE_2 = 12, KIND_NO_COLUMNS = 13, KIND_LONG = 14 };

static Span read_entry(Reader *reader, unsigned kind, int32_t *line) {
    Span span = {0};
    if (kind <= KIND_SHORT_LAST) {
        unsigned byte = read_byte(reader);
        span.col = kind << 3 | byte >> 4;
        span.end_col = span.col + (byte & 15);
    } else if (kind <= KIND_LINE_2) {
        *line += (int32_t)(kind - KIND_LINE_0);
        span.col = read_byte(reader);
        span.end_col = read_byte(reader);
    } else if (kind == KIND_NO_COLUMNS) {
        *line += read_signed(reader);
    } else if (kind == KIND_LONG) {
        *line += read_signed(reader);
        uint32_t lines = read_varint(reader), col = read_varint(reader), end_col = read_varint(reader);
        span.line = (uint32_t)*line;
        span.end_line = span.line + lines;
        span.col = col ? col - 1 : 0;
        span.end_col = end_col ? end_col - 1 : 0;
        return span;
    } else {
        return span;
    }
    span.line = span.end_line = (uint32_t)*line;
    return span;
}

Span *code_positions(Arena *arena, PyCodeObject *code, size_t nunits) {
    Span *spans = ARENA_ARRAY(arena, Span, nunits);
    const unsigned char *bytes = (const unsigned char *)PyBytes_AS_STRING(code->co_linetable);
    Reader reader = {bytes, bytes + PyBytes_GET_SIZE(code->co_linetable)};
    int32_t line = code->co_firstlineno;
    for (size_t unit = 0; unit < nunits && reader.at < reader.end;) {
        unsigned head = read_byte(&reader);
        Span span = read_entry(&reader, head >> 3 & 15, &line);
        for (unsigned i = 0; i <= (head & 7) && unit < nunits; i++) spans[unit++] = span;
    }
    return spans;
}
