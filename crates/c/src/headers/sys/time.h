#pragma once
#include <time.h>
typedef long suseconds_t;
#define __suseconds_t_defined 1
#define __timeval_defined 1
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
int gettimeofday(struct timeval *, void *);
#define timeradd(a, b, r) ((r)->tv_sec = (a)->tv_sec + (b)->tv_sec, (r)->tv_usec = (a)->tv_usec + (b)->tv_usec)
#define timersub(a, b, r) ((r)->tv_sec = (a)->tv_sec - (b)->tv_sec, (r)->tv_usec = (a)->tv_usec - (b)->tv_usec)
#define timercmp(a, b, op) ((a)->tv_sec == (b)->tv_sec ? (a)->tv_usec op (b)->tv_usec : (a)->tv_sec op (b)->tv_sec)
