/*
 * A wait in a loop stands wake-ups without a signal.
 * expect: all=safe (with --spurious all=safe)
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int go;

void *t0(void *a)
{
    pthread_mutex_lock(&m);
    if (!go)
        pthread_cond_wait(&c, &m);
    if (!go)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}

void *t1(void *a) { pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
