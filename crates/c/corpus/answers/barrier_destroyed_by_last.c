/*
 * Whoever is told to may destroy the barrier at once.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_barrier_t b;

void *t0(void *a)
{
    if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
        pthread_barrier_destroy(&b);
    return 0;
}

int main(void)
{
    pthread_t p, q;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&p, 0, t0, 0);
    pthread_create(&q, 0, t0, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
    return 0;
}
