/* The clock stands still, and the answer says so; broken-down times are all the same day. */
#include <time.h>
#include <sys/time.h>
#define __FP_NOW 1000000000
static struct tm __fp_day;
time_t time(time_t *t) {
    time_t now = __FP_NOW;
    if (t)
        *t = now;
    return now;
}
clock_t clock(void) { return __FP_NOW; }
double difftime(time_t a, time_t b) { return (double)(a - b); }
time_t mktime(struct tm *t) { return __FP_NOW; }
struct tm *localtime_r(const time_t *t, struct tm *into) {
    *into = (struct tm){ 0, 0, 0, 1, 0, 124, 1, 0, 0 };
    return into;
}
struct tm *gmtime_r(const time_t *t, struct tm *into) { return localtime_r(t, into); }
struct tm *localtime(const time_t *t) { return &__fp_day; }
struct tm *gmtime(const time_t *t) { return &__fp_day; }
char *asctime(const struct tm *t) { return "Mon Jan  1 00:00:00 2024\n"; }
char *ctime(const time_t *t) { return "Mon Jan  1 00:00:00 2024\n"; }
size_t strftime(char *s, size_t n, const char *f, const struct tm *t) {
    if (n > 0)
        s[0] = 0;
    return 0;
}
int clock_gettime(clockid_t c, struct timespec *t) {
    t->tv_sec = __FP_NOW;
    t->tv_nsec = 0;
    return 0;
}
int clock_getres(clockid_t c, struct timespec *t) {
    t->tv_sec = 0;
    t->tv_nsec = 1;
    return 0;
}
int timespec_get(struct timespec *t, int base) {
    clock_gettime(CLOCK_REALTIME, t);
    return base;
}
int gettimeofday(struct timeval *t, void *zone) {
    t->tv_sec = __FP_NOW;
    t->tv_usec = 0;
    return 0;
}
