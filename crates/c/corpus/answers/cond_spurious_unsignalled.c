/*
 * Nobody signals: the wait ends only without a signal, and then the assertion fails.
 * expect: all=FP0401 (with --spurious all=FP0101)
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

int main(void) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); assert(0); return 0; }
