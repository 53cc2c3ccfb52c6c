/* times.c: datetime64 and timedelta64: their units, and what two of them have in common.
 *
 * A value counts ticks of `bytes` units each; INT64_MIN is NaT.  Years and months are of no fixed length: they convert
 * between themselves, the others between themselves.  Two types meet in the largest tick that both are multiples of. */
#include <string.h> /* memcmp */

#include "ir/ir.h"

/* The units from the coarsest on, and how many of the next one make one; 0: none does. */
static const struct {
    const char *name;
    uint32_t of_next;
} units[TIME_UNIT_COUNT] = {
    [TIME_YEAR] = {"Y", 12},           [TIME_MONTH] = {"M", 0},          [TIME_WEEK] = {"W", 7},
    [TIME_WEEK + 1] = {"", 1},         [TIME_DAY] = {"D", 24},           [TIME_HOUR] = {"h", 60},
    [TIME_MINUTE] = {"m", 60},         [TIME_SECOND] = {"s", 1000},      [TIME_MILLISECOND] = {"ms", 1000},
    [TIME_MICROSECOND] = {"us", 1000}, [TIME_NANOSECOND] = {"ns", 1000}, [TIME_PICOSECOND] = {"ps", 1000},
    [TIME_FEMTOSECOND] = {"fs", 1000}, [TIME_ATTOSECOND] = {"as", 0},    [TIME_GENERIC] = {"", 0},
};

const char *time_unit_name(TimeUnit unit) { return units[unit].name; }

bool time_unit_find(const char *name, size_t length, TimeUnit *unit) {
    for (int i = 0; i < TIME_UNIT_COUNT; i++)
        if (length && strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return *unit = (TimeUnit)i, true;
    return false;
}

/* Ticks of `to` in one of `from`, which is at least as coarse; 0: none, or too many for an int64. */
static int64_t units_in(TimeUnit from, TimeUnit to) {
    int64_t count = 1;
    for (int unit = from; unit < (int)to; unit++)
        if (!units[unit].of_next || __builtin_mul_overflow(count, units[unit].of_next, &count)) return 0;
    return count;
}

int64_t time_factor(const Type *from, const Type *to) {
    int64_t count;
    if (from->form == TIME_GENERIC) return 1;
    if (from->form > to->form ||
        __builtin_mul_overflow(units_in((TimeUnit)from->form, (TimeUnit)to->form), from->bytes, &count))
        return 0;
    return count % to->bytes ? 0 : count / to->bytes;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

const Type *type_time_common(TypeTable *table, bool delta, const Type *a, const Type *b) {
    if (a->form == TIME_GENERIC) return type_time(table, delta, (TimeUnit)b->form, b->bytes);
    if (b->form == TIME_GENERIC) return type_time(table, delta, (TimeUnit)a->form, a->bytes);
    const Type *coarse = a->form <= b->form ? a : b, *fine = coarse == a ? b : a;
    int64_t count;
    if (__builtin_mul_overflow(units_in((TimeUnit)coarse->form, (TimeUnit)fine->form), coarse->bytes, &count) || !count)
        return NULL;
    return type_time(table, delta, (TimeUnit)fine->form, (uint32_t)common_divisor(count, fine->bytes));
}
