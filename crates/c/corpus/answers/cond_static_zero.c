/*
 * A condition variable and a mutex of static storage need no initialiser.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m;
pthread_cond_t c;
int go;

void *t0(void *a)
{
    pthread_mutex_lock(&m);
    while (!go)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void)
{
    pthread_t p;
    pthread_create(&p, 0, t0, 0);
    pthread_mutex_lock(&m);
    go = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(p, 0);
    return 0;
}
