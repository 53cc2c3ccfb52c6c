/* facts.h: where an array of a launch lies, and whether it is small (Program.small): what plan.c and quick.c find out
 * of every launch's arrays, to choose between the variants of the code, and whether its
 * rows are aligned. */
#ifndef KRAIT_DECORATORS_FACTS_H
#define KRAIT_DECORATORS_FACTS_H

#include "decorators/kernel.h" /* PlanArray */

typedef struct Extent {
    uintptr_t low, high; /* the first byte, one past the last */
} Extent;

/* Elements of so many bytes that an array without gaps of one dimension has at most, if it is small. */
static inline uint64_t facts_most(size_t item) {
    uint64_t most = SMALL_COUNT - SMALL_MARGIN, fit = item ? INT32_MAX / item : most;
    return fit < most ? fit : most;
}

/* Where an array of one dimension without gaps lies, and whether it is small; `whole`: of PlanArray. */
static inline bool facts_measure_vector(const void *start, uint64_t length, size_t item, uint64_t most, uint32_t whole,
                                        Extent *extent) {
    uintptr_t data = (uintptr_t)start;
    *extent = (Extent){data, data + length * item};
    return length <= most && !(data & whole);
}

/* Where the array lies; dims: its shape and, if it is strided, its strides.  false: it is too large for
 * Program.small, or lies where its elements are not accessed as a whole. */
static inline bool facts_measure(const PlanArray *array, const void *start, const int64_t *dims, Extent *extent) {
    uintptr_t data = (uintptr_t)start;
    uint64_t count = 1, longest = 0;
    if (array->ndim == 1 && !array->strided)
        return facts_measure_vector(start, (uint64_t)dims[0], array->item, facts_most(array->item), array->whole,
                                    extent);
    for (unsigned i = 0; i < array->ndim; i++) {
        uint64_t length = (uint64_t)dims[i];
        longest = length > longest ? length : longest;
        count *= length;
    }
    if (KRAIT_UNLIKELY(array->strided)) {
        ByteRange range = strided_range(array->ndim, dims, dims + array->ndim, array->item);
        *extent = (Extent){data + (uintptr_t)range.low, data + (uintptr_t)range.high};
        if (range.low <= INT32_MIN || range.high - range.low > INT32_MAX) return false;
    } else {
        *extent = (Extent){data, data + count * array->item};
        if (count * array->item > INT32_MAX) return false;
    }
    return longest <= SMALL_COUNT && count <= SMALL_COUNT - SMALL_MARGIN && !(data & array->whole);
}

/* Bits that are set where the array does not begin, or its rows do not follow each other, at multiples of as many bytes
 * as the code asks for: PlanArray.rows. */
static inline uintptr_t facts_between_rows(const void *start, unsigned ndim, const int64_t *dims, size_t item,
                                           uint32_t rows) {
    return ((uintptr_t)start | (ndim > 1 ? (uintptr_t)dims[ndim - 1] * item : 0)) & rows;
}

/* The facts that the variant of the code for such a call takes for granted. */
static inline uint32_t facts_variant(bool small, bool apart, bool rows) {
    return !small || !apart ? 0 : rows ? FACTS_ALL : FACTS_ALL & ~(uint32_t)FACT_ROWS;
}

/* An array without elements overlaps nothing: its extent is empty. */
static inline bool facts_meet(Extent one, Extent other) {
    return one.low < other.high && other.low < one.high && one.low < one.high && other.low < other.high;
}

/* Whether array i, which is the last of those measured, shares memory with another, and one of the two is written. */
static inline bool facts_overlap(const PlanArray *arrays, const Extent *extents, uint32_t i) {
    if (arrays[i].written) {
        for (uint32_t k = 0; k < i; k++)
            if (facts_meet(extents[i], extents[k])) return true;
    } else { /* most arrays are read alone: only those that are written matter to them */
        for (int32_t k = arrays[i].written_before; k >= 0; k = arrays[k].written_before)
            if (facts_meet(extents[i], extents[k])) return true;
    }
    return false;
}

#endif
