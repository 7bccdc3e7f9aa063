/*
 * A read-write lock that nobody initialised.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_rwlock_t l;

int main(void) { pthread_rwlock_rdlock(&l); return 0; }
