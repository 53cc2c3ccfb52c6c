/* diag.c: the failure of a compilation, and the text a user reads about it.
 *
 *   operator + does not take int and (int, int)         what was found
 *     File "heat.py", line 12, in step                  where, as tracebacks say it
 *       y = a + pair                                    the line, without its indentation
 *           ^^^^^^^^                                    the exact expression
 *     hint: unpack the tuple first                      what to do
 *     note: called with (int, (int, int))               and through which calls one came here, innermost first
 *     File "heat.py", line 30, in main
 *       ...
 *
 * Columns are bytes of UTF-8 (as co_positions counts them); the carets are placed by what a terminal shows: tabs stay
 * tabs, wide characters take two places, combining ones none; of a long line what stands around them is shown.  Only
 * the first failure is kept: what follows from it is noise. */
#include "base/base.h"

#include <string.h> /* memcpy */

static const struct {
    const char *name, *exception, *text, *hint;
} diag_codes[DIAG_COUNT] = {
#define DIAG(name, exception, text, hint) {#name, exception, text, hint},
#include "base/diag_codes.def"
#undef DIAG
};

enum { NOTES_SHOWN_FIRST = 6, NOTES_SHOWN_LAST = 2 };
enum { LINE_SHOWN = 160, SHOWN_BEFORE = 60 }; /* bytes of a source line at most; of them before the carets */

const char *diag_exception_name(DiagCode code) { return diag_codes[code].exception; }
const char *diag_code_name(DiagCode code) { return diag_codes[code].name; }
const char *diag_code_text(DiagCode code) { return diag_codes[code].text; }

void diag_init(Diag *diag, Arena *arena) { *diag = (Diag){.arena = arena}; }

bool diag_fail(Diag *diag, DiagCode code, const Source *source, Span span, const char *format, ...) {
    diag->ignored = diag->failed;
    if (diag->failed) return false;
    diag->failed = true; /* first: if memory runs out in the next line, the code is known at least */
    diag->code = code;
    diag->source = source;
    diag->span = span;
    va_list args;
    va_start(args, format);
    diag->message = arena_vprintf(diag->arena, format, args);
    va_end(args);
    return false;
}

void diag_hint(Diag *diag, const char *format, ...) {
    if (!diag->failed || diag->ignored) return;
    va_list args;
    va_start(args, format);
    diag->hint = arena_vprintf(diag->arena, format, args);
    va_end(args);
}

void diag_headline(Diag *diag, const char *format, ...) {
    if (!diag->failed) return;
    va_list args;
    va_start(args, format);
    diag->headline = arena_vprintf(diag->arena, format, args);
    va_end(args);
}

void diag_note(Diag *diag, const Source *source, Span span, const char *format, ...) {
    if (!diag->failed) return;
    DiagNote *note = ARENA_NEW(diag->arena, DiagNote);
    note->source = source;
    note->span = span;
    va_list args;
    va_start(args, format);
    note->text = arena_vprintf(diag->arena, format, args);
    va_end(args);
    DiagNote **end = &diag->notes;
    while (*end) end = &(*end)->next;
    *end = note;
}

/* ---- rendering ---- */

typedef struct CharRange {
    uint32_t first, last;
} CharRange;

/* Characters that East Asian fonts and emoji show two places wide (Unicode's East_Asian_Width W and F). */
static const CharRange wide_chars[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2614, 0x2615},   {0x2648, 0x2653},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x2753, 0x2757},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
    {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD},
};

/* Characters that add nothing to the width: combining marks, joiners, variation selectors. */
static const CharRange zero_width_chars[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
};

static bool in_ranges(const CharRange *ranges, size_t count, uint32_t c) {
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

/* The character at text and how many bytes it has; a byte that is not UTF-8 stands for itself. */
static size_t utf8_decode(const char *text, const char *end, uint32_t *c) {
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : bytes[0] >= 0xC0 ? 2 : 1;
    *c = bytes[0];
    if (length == 1 || (size_t)(end - text) < length) return 1;
    uint32_t value = bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return 1;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    *c = value;
    return length;
}

static int display_width(uint32_t c) {
    if (c < 0x300) return 1;
    if (in_ranges(zero_width_chars, COUNT_OF(zero_width_chars), c)) return 0;
    return in_ranges(wide_chars, COUNT_OF(wide_chars), c) ? 2 : 1;
}

/* Line number `line` of the source, without its line break; false: the text is not known. */
static bool source_line(const Source *source, uint32_t line, const char **start, const char **end) {
    if (!source->text || line < source->first_line) return false;
    const char *at = source->text;
    for (uint32_t i = source->first_line; i < line; i++) {
        at = strchr(at, '\n');
        if (!at) return false;
        at++;
    }
    const char *stop = at + strcspn(at, "\n");
    while (stop > at && strchr(" \t\r\f", stop[-1])) stop--;
    *start = at;
    *end = stop;
    return stop > at;
}

/* The line of carets below text[from, to) of a line that is shown from `start`, behind so many other columns. */
static void render_carets(Buf *buf, int before, const char *start, const char *from, const char *to, const char *end) {
    buf_printf(buf, "\n    %*s", before, "");
    bool any = false;
    for (const char *at = start; at < to;) {
        uint32_t c;
        size_t length = utf8_decode(at, end, &c);
        bool marked = at + length > from;
        int width = c == '\t' ? 1 : display_width(c);
        for (int i = 0; i < width; i++) buf_putc(buf, c == '\t' ? '\t' : marked ? '^' : ' ');
        any |= marked;
        at += length;
    }
    if (!any) buf_putc(buf, '^');
}

static bool begins_with(const char *start, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - start) >= length && memcmp(start, word, length) == 0;
}

/* A function as a whole begins with its decorators; what is meant is the line that names it. */
static Span at_definition(const Source *source, Span span) {
    Span found = span;
    const char *start, *end;
    if (span.line != source->first_line || span.end_col > span.col || !source_line(source, span.line, &start, &end))
        return span;
    start += strspn(start, " \t\f");
    if (!begins_with(start, end, "@")) return span;
    while (source_line(source, ++found.line, &start, &end)) {
        const char *first = start + strspn(start, " \t\f");
        if (!begins_with(first, end, "def ") && !begins_with(first, end, "async def ")) continue;
        found.end_line = found.line;
        found.col = (uint32_t)(first - start);
        found.end_col = (uint32_t)(end - start);
        return found;
    }
    return span;
}

static const char *char_start(const char *at, const char *start) {
    while (at > start && (*at & 0xC0) == 0x80) at--;
    return at;
}

/* The line from start to end, or of a long one what stands around [from, to), and the carets below, if it has any. */
static void render_line(Buf *buf, const char *start, const char *end, const char *from, const char *to, bool carets) {
    static const char cut[] = "...";
    const char *first = start, *last = end;
    if (end - start > LINE_SHOWN) {
        if (from - start > SHOWN_BEFORE) first = char_start(from - SHOWN_BEFORE, start);
        if (end - first < LINE_SHOWN) first = char_start(end - LINE_SHOWN, start);
        if (end - first > LINE_SHOWN) last = char_start(first + LINE_SHOWN, start);
    }
    int before = first > start ? (int)sizeof cut - 1 : 0;
    buf_printf(buf, "\n    %s", before ? cut : "");
    buf_write(buf, first, (size_t)(last - first));
    if (last < end) buf_puts(buf, cut);
    if (carets) render_carets(buf, before, first, from, to < last ? to : last, end);
}

/* File, line and function; the source line; the carets. */
static void render_place(Buf *buf, const Source *source, Span span) {
    if (!source || !source->file) return;
    if (span.line) span = at_definition(source, span);
    buf_printf(buf, "\n  File \"%s\"", source->file);
    if (span.line) buf_printf(buf, ", line %u", (unsigned)span.line);
    if (source->function) buf_printf(buf, ", in %s", source->function);
    const char *start, *end;
    if (!span.line || !source_line(source, span.line, &start, &end)) return;
    const char *line = start;
    while (start < end && strchr(" \t\f", *start)) start++;
    size_t length = (size_t)(end - line);
    bool to_end = span.end_line > span.line; /* the expression goes on in lines that are not shown */
    size_t from = span.col > length ? length : span.col;
    size_t to = to_end || span.end_col > length ? length : span.end_col;
    bool behind = from == length && span.end_col > span.col; /* something is missing at the end */
    render_line(buf, start, end, line + from > start ? line + from : start, line + to, from < to || behind);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_note(const DiagNote *a, const DiagNote *b) {
    if (!a->source != !b->source || !same_text(a->text, b->text)) return false;
    if (a->source &&
        (!same_text(a->source->file, b->source->file) || !same_text(a->source->function, b->source->function)))
        return false;
    return a->span.line == b->span.line && a->span.col == b->span.col;
}

/* Long chains of calls (recursion, above all) are cut in the middle, repeated places are told once. */
static void render_notes(Buf *buf, const DiagNote *notes) {
    size_t count = 0, index = 0;
    for (const DiagNote *note = notes; note; note = note->next) count++;
    for (const DiagNote *note = notes; note; index++) {
        if (count > NOTES_SHOWN_FIRST + NOTES_SHOWN_LAST + 1 && index >= NOTES_SHOWN_FIRST) {
            size_t left_out = count - NOTES_SHOWN_FIRST - NOTES_SHOWN_LAST;
            for (size_t i = 0; i < left_out; i++) note = note->next;
            buf_printf(buf, "\n  ... %zu more", left_out);
            count = 0; /* the rest is shown */
            continue;
        }
        buf_printf(buf, "\n  note: %s", note->text);
        render_place(buf, note->source, note->span);
        size_t repeated = 0;
        while (count && note->next && same_note(note, note->next)) note = note->next, repeated++, count--;
        if (repeated) buf_printf(buf, "\n  ... %zu more of the same", repeated);
        note = note->next;
    }
}

static bool is_internal(const Source *source) { return source && source->internal; }

static const char *file_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

static const DiagNote *users_notes(Arena *arena, const DiagNote *notes) {
    DiagNote *first = NULL, **end = &first;
    for (; notes; notes = notes->next) {
        if (is_internal(notes->source)) continue;
        *end = ARENA_NEW(arena, DiagNote);
        **end = (DiagNote){.source = notes->source, .span = notes->span, .text = notes->text};
        end = &(*end)->next;
    }
    return first;
}

/* What is found in Krait's own functions is told at the user's call of them; where it was found comes last, if nobody
 * says what to do about it. */
const char *diag_render(const Diag *diag) {
    if (!diag->failed) return "";
    if (!diag->message) return diag_codes[diag->code].text;
    DiagNote place = {.next = diag->notes, .source = diag->source, .span = diag->span};
    while (is_internal(place.source) && place.next) place = *place.next;
    Buf buf;
    buf_init(&buf, diag->arena);
    if (diag->headline && place.source != diag->source) buf_printf(&buf, "%s: ", diag->headline);
    buf_puts(&buf, diag->message);
    render_place(&buf, place.source, place.span);
    const char *hint = diag->hint ? diag->hint : diag_codes[diag->code].hint;
    if (hint) buf_printf(&buf, "\n  hint: %s", hint);
    render_notes(&buf, users_notes(diag->arena, place.next));
    if (!diag->hint && place.source != diag->source && diag->source->file &&
        *diag->source->file != '<') /* "<...>": it has no lines */
        buf_printf(&buf, "\n  note: found in %s, %s, line %u of Krait", diag->source->function,
                   file_name(diag->source->file), (unsigned)diag->span.line);
    return buf.text;
}
