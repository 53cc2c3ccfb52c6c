/* rules_einsum.c: what the subscripts of numpy.einsum mean, for the prelude (krait/prelude/tensors.py).
 *
 * In: einsum_plan(subscripts, operands).  Out, all constants: for each operand a tuple of the number of each axis's
 * label; a tuple of the numbers of the output's labels, which are 0, 1, ...; a tuple of those that are summed over;
 * the letters of all, by number.
 * An ellipsis stands for the axes that an operand has besides its letters: labels of their own, from the last back. */
#include "typeinfer/rules_library.h"

enum { ELLIPSIS = 128, LABELS = ELLIPSIS + TYPE_MAX_NDIM, MOST_OPERANDS = 16 };

typedef struct Subscripts {
    Typing *t;
    const char *next;
    uint8_t labels[MOST_OPERANDS][TYPE_MAX_NDIM];
    unsigned ndims[MOST_OPERANDS], count;
    uint8_t output[TYPE_MAX_NDIM];
    unsigned noutput;
    unsigned seen[LABELS];  /* how often among the operands */
    int8_t numbers[LABELS]; /* -1: none yet */
} Subscripts;

static bool wrong(Subscripts *s, const char *text) { return typing_fail_arg(s->t, 0, DIAG_BAD_ARGUMENTS, "%s", text); }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Letters up to a comma or an arrow.  ndim: how many axes the operand has; -1: the output's, whose ellipsis stands for
 * all such labels. */
static bool read_labels(Subscripts *s, int ndim, uint8_t *labels, unsigned *count) {
    unsigned letters = 0, dots = 0, n = 0;
    const char *end = s->next;
    for (; *end && *end != ',' && *end != '-'; end++) {
        letters += is_letter(*end);
        dots += *end == '.';
        if (!is_letter(*end) && *end != '.' && *end != ' ')
            return wrong(s, "invalid subscript in einstein sum subscripts string, subscripts must be letters");
    }
    if (dots != 0 && dots != 3)
        return wrong(s, "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...')");
    if (ndim >= 0 && dots == 0 && letters < (unsigned)ndim)
        return wrong(s, "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                        "provided to broadcast the extra dimensions.");
    if (ndim >= 0 && letters > (unsigned)ndim)
        return wrong(s, "einstein sum subscripts string contains too many subscripts for operand");
    for (; s->next < end; s->next++) {
        if (is_letter(*s->next) && n < TYPE_MAX_NDIM) labels[n++] = (uint8_t)*s->next;
        if (*s->next != '.') continue;
        s->next += 2;
        unsigned extra = ndim >= 0 ? (unsigned)ndim - letters : TYPE_MAX_NDIM;
        for (unsigned i = 0; i < extra && n < TYPE_MAX_NDIM; i++) {
            unsigned label = LABELS - extra + i;
            if (ndim >= 0 || s->seen[label]) labels[n++] = (uint8_t)label;
        }
    }
    *count = n;
    return true;
}

static bool read_operands(Subscripts *s, const Type *operands) {
    for (s->count = 0; s->count < operands->count; s->count++) {
        const Type *type = operands->items[s->count];
        if (type->kind != TY_ARRAY) return typing_bad_operands(s->t);
        if (s->count > 0 && *s->next++ != ',')
            return wrong(s, "more operands provided to einstein sum function than specified in the subscripts string");
        TRY(read_labels(s, type->ndim, s->labels[s->count], &s->ndims[s->count]));
        for (unsigned i = 0; i < s->ndims[s->count]; i++) s->seen[s->labels[s->count][i]]++;
    }
    if (*s->next == ',')
        return wrong(s, "fewer operands provided to einstein sum function than specified in the subscripts string");
    return true;
}

/* After the arrow; without one the labels of an ellipsis, then in alphabetical order those that are there once. */
static bool read_output(Subscripts *s) {
    if (!*s->next) {
        for (unsigned label = ELLIPSIS; label < LABELS; label++)
            if (s->seen[label]) s->output[s->noutput++] = (uint8_t)label;
        for (unsigned label = 'A'; label <= 'z'; label++)
            if (s->seen[label] == 1 && s->noutput < TYPE_MAX_NDIM) s->output[s->noutput++] = (uint8_t)label;
        return true;
    }
    if (s->next[1] != '>')
        return wrong(s, "einstein sum subscript string does not contain proper '->' output specified");
    s->next += 2;
    TRY(read_labels(s, -1, s->output, &s->noutput));
    for (unsigned i = 0; i < s->noutput; i++) {
        if (!s->seen[s->output[i]])
            return wrong(s,
                         "einstein sum subscripts string included output subscript which never appeared in an input");
        for (unsigned j = 0; j < i; j++)
            if (s->output[j] == s->output[i])
                return wrong(s, "einstein sum subscripts string includes output subscript multiple times");
    }
    return true;
}

static const Const *tuple_of_numbers(Subscripts *s, const uint8_t *labels, unsigned count) {
    const Const *items[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < count; i++) items[i] = const_int(s->t->in->arena, s->t->in->types, s->numbers[labels[i]]);
    return const_tuple(s->t->in->arena, s->t->in->types, items, count);
}

static bool answer(Subscripts *s) {
    const Const *operands[MOST_OPERANDS];
    uint8_t summed[LABELS];
    unsigned nsummed = 0;
    for (unsigned label = 0; label < LABELS; label++) s->numbers[label] = -1;
    for (unsigned i = 0; i < s->noutput; i++) s->numbers[s->output[i]] = (int8_t)i;
    for (unsigned k = 0; k < s->count; k++)
        for (unsigned i = 0; i < s->ndims[k]; i++) {
            uint8_t label = s->labels[k][i];
            if (s->numbers[label] >= 0) continue;
            s->numbers[label] = (int8_t)(s->noutput + nsummed);
            summed[nsummed++] = label;
        }
    if (s->noutput + nsummed > TYPE_MAX_NDIM)
        return typing_fail(s->t, DIAG_UNSUPPORTED, "einsum of more than %d different subscripts", TYPE_MAX_NDIM);
    char names[TYPE_MAX_NDIM + 1] = {0};
    for (unsigned label = 0; label < LABELS; label++)
        if (s->numbers[label] >= 0) names[s->numbers[label]] = label < ELLIPSIS ? (char)label : '.';
    Arena *arena = s->t->in->arena;
    for (unsigned k = 0; k < s->count; k++) operands[k] = tuple_of_numbers(s, s->labels[k], s->ndims[k]);
    const Const *items[] = {const_tuple(arena, s->t->in->types, operands, s->count),
                            tuple_of_numbers(s, s->output, s->noutput), tuple_of_numbers(s, summed, nsummed),
                            const_str(arena, s->t->in->types, names)};
    return typing_become_const(s->t, const_tuple(arena, s->t->in->types, items, 4));
}

bool rule_func_einsum_plan(Typing *t) {
    Subscripts s = {.t = t};
    const Type *operands = t->args[1].type;
    TRY(typing_const_str(t, 0, &s.next));
    if (operands->kind != TY_TUPLE || operands->count == 0) return typing_bad_operands(t);
    if (operands->count > MOST_OPERANDS)
        return typing_fail(t, DIAG_UNSUPPORTED, "einsum of more than %d arrays", MOST_OPERANDS);
    TRY(read_operands(&s, operands));
    TRY(read_output(&s));
    return answer(&s);
}
