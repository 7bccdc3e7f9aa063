/*
 * A mutex is destroyed before another thread locks it.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *t0(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }

int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_mutex_destroy(&m); pthread_join(p, 0); return 0; }
