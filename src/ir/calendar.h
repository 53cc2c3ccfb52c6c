/* calendar.h: days and months of the calendar of today, always: for units of dates (times.c) and for what compiled code
 * converts (rtlib/calendar.c). */
#ifndef KRAIT_IR_CALENDAR_H
#define KRAIT_IR_CALENDAR_H

#include <stdbool.h> /* bool */
#include <stdint.h>  /* int64_t */

enum { DAYS_OF_ERA = 146097, DAYS_TO_EPOCH = 719468 }; /* of 400 years; from March 1 of year 0 to 1970-01-01 */

static inline int64_t calendar_floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Days from 1970-01-01 to the first of a month, counted from January of year 0; false: too many for an int64, and
 * *days is the number modulo 2**64. */
static inline bool calendar_days_to_month(int64_t months, int64_t *days) {
    int64_t year = calendar_floor_divide(months, 12), month = months - 12 * year; /* from 0 on */
    int64_t shifted = month < 2 ? year - 1 : year, era = calendar_floor_divide(shifted, 400);
    int64_t of_era = shifted - 400 * era, of_year = (153 * (month < 2 ? month + 10 : month - 2) + 2) / 5;
    int64_t rest = of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_EPOCH;
    bool wraps = __builtin_mul_overflow(era, DAYS_OF_ERA, days);
    return !__builtin_add_overflow(*days, rest, days) && !wraps;
}

/* Its reverse, in a year that begins in March: the day of leap years is the last of one. */
static inline int64_t calendar_month_of_day(int64_t day) {
    int64_t era = calendar_floor_divide(day, DAYS_OF_ERA), of_era = day - era * DAYS_OF_ERA + DAYS_TO_EPOCH;
    era += of_era / DAYS_OF_ERA;
    of_era %= DAYS_OF_ERA;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    return 12 * (year + 400 * era) + (5 * of_year + 2) / 153 + 2;
}

#endif
