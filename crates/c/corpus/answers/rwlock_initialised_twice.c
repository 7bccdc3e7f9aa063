/*
 * A read-write lock is initialised twice.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_rwlock_t l;

int main(void) { pthread_rwlock_init(&l, 0); pthread_rwlock_init(&l, 0); return 0; }
