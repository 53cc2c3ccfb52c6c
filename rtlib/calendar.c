/* calendar.c: the calendar of ir/calendar.h for compiled code, where numbers wrap. */
#include "ir/calendar.h"

#include "rt.h"

int64_t krait_rt_days_to_month_l(int64_t months) {
    int64_t days;
    (void)calendar_days_to_month(months, &days);
    return days;
}

int64_t krait_rt_month_of_day_l(int64_t day) { return calendar_month_of_day(day); }
