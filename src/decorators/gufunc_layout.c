/* gufunc_layout.c: the layout of a generalised ufunc: which dimensions its operands have.
 *
 * layout = operands '->' operands      operands = operand { ',' operand }      operand = '(' [ dim { ',' dim } ] ')'
 * dim    = name [ '?' ] | size [ '?' ]
 *
 * NumPy reads the text again and decides which dimensions are one; this parser is here for its messages: each shows
 * the text with a caret under the place. */
#include "decorators/gufunc.h"

#include <ctype.h>  /* isalnum */
#include <string.h> /* memset */

typedef struct Reader {
    const char *text, *at;
} Reader;

static int refuse(const Reader *reader, const char *expected) {
    size_t column = (size_t)(reader->at - reader->text);
    char *space = PyMem_Malloc(column + 1);
    if (!space) return PyErr_NoMemory(), -1;
    memset(space, ' ', column);
    space[column] = '\0';
    PyErr_Format(PyExc_ValueError,
                 "layout of a generalised ufunc: %s is expected here\n    %s\n    %s^\n  it is written as in "
                 "'(m,n),(n)->(m)': the inputs, an arrow, the outputs, separated by commas",
                 expected, reader->text, space);
    PyMem_Free(space);
    return -1;
}

static void skip_space(Reader *reader) {
    while (isspace((unsigned char)*reader->at)) reader->at++;
}

static bool accept(Reader *reader, char c) {
    skip_space(reader);
    if (*reader->at != c) return false;
    reader->at++;
    return true;
}

static int read_dimension(Reader *reader) {
    const char *start = (skip_space(reader), reader->at);
    bool number = isdigit((unsigned char)*start);
    while (number ? isdigit((unsigned char)*reader->at) : isalnum((unsigned char)*reader->at) || *reader->at == '_')
        reader->at++;
    if (reader->at == start) return refuse(reader, "the name or the size of a dimension");
    const char *first = start;
    while (number && *first == '0') first++;
    if (number && first == reader->at) return reader->at = start, refuse(reader, "a size that is not 0");
    accept(reader, '?');
    return 0;
}

/* '(' has been read. */
static int read_operand(Reader *reader, uint8_t *ndim) {
    *ndim = 0;
    if (accept(reader, ')')) return 0;
    do {
        if (*ndim == TYPE_MAX_NDIM) return refuse(reader, "no further dimension");
        if (read_dimension(reader) < 0) return -1;
        ++*ndim;
    } while (accept(reader, ','));
    return accept(reader, ')') ? 0 : refuse(reader, "',' or ')'");
}

static int read_operands(Reader *reader, GufuncLayout *layout, int *count) {
    do {
        if (layout->nin + layout->nout == MAX_OPERANDS) return refuse(reader, "no further operand");
        if (!accept(reader, '(')) return refuse(reader, "'('");
        if (read_operand(reader, &layout->ndim[layout->nin + layout->nout]) < 0) return -1;
        ++*count;
    } while (accept(reader, ','));
    return 0;
}

int gufunc_layout_parse(GufuncLayout *layout, const char *text) {
    Reader reader = {text, text};
    *layout = (GufuncLayout){0};
    if (read_operands(&reader, layout, &layout->nin) < 0) return -1;
    if (!accept(&reader, '-')) return refuse(&reader, "',' or '->'");
    if (*reader.at != '>') return refuse(&reader, "'>'");
    reader.at++;
    if (read_operands(&reader, layout, &layout->nout) < 0) return -1;
    skip_space(&reader);
    return *reader.at ? refuse(&reader, "',' or the end") : 0;
}
