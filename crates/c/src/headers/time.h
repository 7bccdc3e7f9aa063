#pragma once
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
struct timespec { time_t tv_sec; long tv_nsec; };
time_t time(time_t *);
clock_t clock(void);
int nanosleep(const struct timespec *, struct timespec *);
