#pragma once
#include <time.h>
#define SEM_FAILED ((sem_t *)0)
#define SEM_VALUE_MAX 0x3fffffff
typedef struct { int __value; } sem_t;
int sem_init(sem_t *, int, unsigned);
int sem_destroy(sem_t *);
int sem_wait(sem_t *);
int sem_trywait(sem_t *);
int sem_timedwait(sem_t *, const struct timespec *);
int sem_post(sem_t *);
int sem_getvalue(sem_t *, int *);
