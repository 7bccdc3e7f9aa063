/*
 * One thread destroys the barrier, another one waits at it later.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_barrier_t b;
sem_t s;

void *t0(void *a) { sem_wait(&s); pthread_barrier_wait(&b); return 0; }

int main(void)
{
    pthread_t p;
    sem_init(&s, 0, 0);
    pthread_barrier_init(&b, 0, 1);
    pthread_create(&p, 0, t0, 0);
    pthread_barrier_destroy(&b);
    sem_post(&s);
    pthread_join(p, 0);
    return 0;
}
