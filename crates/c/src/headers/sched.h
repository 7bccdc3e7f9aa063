#pragma once
#include <stddef.h>
#include <time.h>
struct sched_param { int sched_priority; };
typedef struct { unsigned long __bits[16]; } cpu_set_t;
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define CPU_SETSIZE 1024
#define CPU_ZERO(s) ((void)(s))
#define CPU_SET(n, s) ((void)(n), (void)(s))
#define CPU_CLR(n, s) ((void)(n), (void)(s))
#define CPU_ISSET(n, s) ((void)(n), (void)(s), 1)
#define CPU_COUNT(s) ((void)(s), 1)
int sched_yield(void);
int sched_getcpu(void);
int sched_setaffinity(pid_t, size_t, const cpu_set_t *);
int sched_getaffinity(pid_t, size_t, cpu_set_t *);
int sched_setscheduler(pid_t, int, const struct sched_param *);
int sched_get_priority_max(int);
int sched_get_priority_min(int);
