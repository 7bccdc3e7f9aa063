/*
 * A wait with a time limit may end too late or in time.
 * expect: all=FP0101
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

void *t0(void *a) { pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }

int main(void)
{
    pthread_t p;
    struct timespec limit = { 1, 0 };
    pthread_create(&p, 0, t0, 0);
    pthread_mutex_lock(&m);
    if (!go)
        pthread_cond_timedwait(&c, &m, &limit);
    assert(go);
    pthread_mutex_unlock(&m);
    pthread_join(p, 0);
    return 0;
}
