/* overlap.c: whether two arrays that one loop walks have bytes in common (codegen/lower_overlap.c asks).
 *
 * In: of each the address of the first element and the bytes of an element, then, axis by axis, the extent and both
 * strides.  Out: 0, OVERLAP_EXACT where they lie exactly on each other, or OVERLAP_HARMFUL. */
#include "codegen_cpu/cpu.h"

typedef struct Pair { /* what two arrays are, `to` and `from`, over the axes of one loop */
    int64_t to, to_item, from, from_item;
    const int64_t *shape, *to_strides, *from_strides;
    unsigned ndim;
} Pair;

static int64_t overlap(const Pair *p) {
    ByteRange a = strided_range(p->ndim, p->shape, p->to_strides, (size_t)p->to_item),
              b = strided_range(p->ndim, p->shape, p->from_strides, (size_t)p->from_item);
    if (p->to + a.low >= p->from + b.high || p->from + b.low >= p->to + a.high) return 0;
    bool exact = p->to == p->from && p->to_item == p->from_item;
    for (unsigned i = 0; i < p->ndim; i++) exact &= p->to_strides[i] == p->from_strides[i];
    return exact ? OVERLAP_EXACT : OVERLAP_HARMFUL;
}

int64_t host_overlap_1(int64_t to, int64_t to_item, int64_t from, int64_t from_item, int64_t n, int64_t s, int64_t t) {
    return overlap(&(Pair){to, to_item, from, from_item, &n, &s, &t, 1});
}

int64_t host_overlap_2(int64_t to, int64_t to_item, int64_t from, int64_t from_item, int64_t n0, int64_t s0, int64_t t0,
                       int64_t n1, int64_t s1, int64_t t1) {
    const int64_t n[] = {n0, n1}, s[] = {s0, s1}, t[] = {t0, t1};
    return overlap(&(Pair){to, to_item, from, from_item, n, s, t, COUNT_OF(n)});
}

int64_t host_overlap_3(int64_t to, int64_t to_item, int64_t from, int64_t from_item, int64_t n0, int64_t s0, int64_t t0,
                       int64_t n1, int64_t s1, int64_t t1, int64_t n2, int64_t s2, int64_t t2) {
    const int64_t n[] = {n0, n1, n2}, s[] = {s0, s1, s2}, t[] = {t0, t1, t2};
    return overlap(&(Pair){to, to_item, from, from_item, n, s, t, COUNT_OF(n)});
}
