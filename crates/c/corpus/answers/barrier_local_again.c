/*
 * An automatic barrier is initialised, destroyed and initialised again.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    pthread_barrier_t b;
    pthread_barrier_init(&b, 0, 1);
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b);
    pthread_barrier_init(&b, 0, 1);
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b);
    return 0;
}
