/*
 * A wait for a condition variable that was destroyed.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

int main(void) { pthread_cond_destroy(&c); pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); return 0; }
