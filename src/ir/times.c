/* times.c: datetime64 and timedelta64: their units, and what two of them have in common.
 *
 * A value counts ticks of `bytes` units each; INT64_MIN is NaT.  Years and months are of no fixed length: they convert
 * between themselves, the others between themselves.  Two types meet in the largest tick that both are multiples of. */
#include <string.h> /* memcmp */

#include "ir/calendar.h"
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

/* ---- names of dtypes ---- */

const Type *type_time_named(TypeTable *table, const char *text) {
    static const struct {
        const char *name;
        bool delta;
    } names[] = {{"datetime64", false}, {"timedelta64", true}, {"M8", false}, {"m8", true}};
    if (*text == '<' || *text == '=') text++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(text, names[i].name, length) != 0) continue;
        const char *at = text + length;
        uint32_t count = 0;
        TimeUnit unit;
        if (!*at) return type_time(table, names[i].delta, TIME_GENERIC, 1);
        if (*at++ != '[') return NULL;
        while (*at >= '0' && *at <= '9' && count < 100000000) count = 10 * count + (uint32_t)(*at++ - '0');
        const char *end = strchr(at, ']');
        if (!end || end[1] || !time_unit_find(at, (size_t)(end - at), &unit)) return NULL;
        return type_time(table, names[i].delta, unit, count ? count : 1);
    }
    return NULL;
}

/* ---- dates ---- */

static bool date_of_months(int64_t months, TimeUnit to, int64_t *ticks) {
    if (to == TIME_YEAR) return *ticks = calendar_floor_divide(months, 12), true;
    return to == TIME_MONTH
               ? (*ticks = months, true)
               : !__builtin_add_overflow(months, 12 * 1970, &months) && calendar_days_to_month(months, ticks);
}

bool time_convert_date(int64_t *ticks, TimeUnit from, TimeUnit to) {
    if (*ticks == INT64_MIN || from == to || from == TIME_GENERIC || to == TIME_GENERIC) return true;
    int64_t value = *ticks;
    if (from <= TIME_MONTH) {
        if (from == TIME_YEAR && __builtin_mul_overflow(value, 12, &value)) return false;
        if (to <= TIME_MONTH) return date_of_months(value, to, ticks);
        if (!date_of_months(value, from = TIME_DAY, &value)) return false;
    }
    if (to <= TIME_MONTH)
        return time_convert_date(&value, from, TIME_DAY) &&
               date_of_months(calendar_month_of_day(value) - 12 * 1970, to, ticks);
    int64_t factor = from <= to ? units_in(from, to) : units_in(to, from);
    if (from <= to) return factor && !__builtin_mul_overflow(value, factor, ticks);
    return *ticks = factor ? calendar_floor_divide(value, factor) : 0, true;
}

/* So many digits; -1: they are not there. */
static int64_t digits(const char **at, int count) {
    int64_t value = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (**at < '0' || **at > '9') return -1;
        value = 10 * value + (**at - '0');
    }
    return value;
}

/* The next two digits behind `mark`, below `limit`; false: the text goes on otherwise.  *found: they are there. */
static bool next_part(const char **at, char mark, int64_t least, int64_t limit, int64_t *part, bool *found) {
    *found = **at == mark || (mark == 'T' && **at == ' ');
    if (!*found) return **at == '\0';
    (*at)++;
    *part = digits(at, 2);
    return *part >= least && *part < limit;
}

/* Digits behind the point, as many as the unit has that they are precise to. */
static bool read_fraction(const char *at, TimeUnit *unit, int64_t *ticks) {
    int count = 0;
    while (at[count] >= '0' && at[count] <= '9') count++;
    if (!count || count > 18 || at[count]) return false;
    for (int i = 0; i < (count + 2) / 3 * 3; i++)
        if (__builtin_mul_overflow(*ticks, 10, ticks) ||
            __builtin_add_overflow(*ticks, i < count ? at[i] - '0' : 0, ticks))
            return false;
    *unit = (TimeUnit)(TIME_SECOND + (count + 2) / 3);
    return true;
}

bool time_parse_date(const char *text, TimeUnit *unit, int64_t *ticks) {
    static const struct {
        char mark;
        int8_t least, limit;
        TimeUnit unit;
    } parts[] = {{'-', 1, 13, TIME_MONTH},
                 {'-', 1, 32, TIME_DAY},
                 {'T', 0, 24, TIME_HOUR},
                 {':', 0, 60, TIME_MINUTE},
                 {':', 0, 60, TIME_SECOND}};
    if (!*text || strcmp(text, "NaT") == 0) return *unit = TIME_GENERIC, *ticks = INT64_MIN, true;
    int64_t year = digits(&text, 4), part;
    bool found = true;
    if (year < 0) return false;
    *ticks = year - 1970;
    *unit = TIME_YEAR;
    for (size_t i = 0; found && i < sizeof parts / sizeof *parts; i++) {
        if (!next_part(&text, parts[i].mark, parts[i].least, parts[i].limit, &part, &found)) return false;
        if (!found) return true;
        if (!time_convert_date(ticks, *unit, parts[i].unit)) return false;
        *ticks += part - parts[i].least;
        *unit = parts[i].unit;
        if (i == 1 && calendar_month_of_day(*ticks) != calendar_month_of_day(*ticks - (part - 1)))
            return false; /* February 30 */
    }
    if (!*text) return true;
    return *text == '.' && read_fraction(text + 1, unit, ticks);
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
