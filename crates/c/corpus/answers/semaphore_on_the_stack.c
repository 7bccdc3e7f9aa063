/*
 * An automatic semaphore has no value before its initialisation, and needs none.
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
    sem_t s;
    int v;
    sem_init(&s, 0, 2);
    sem_wait(&s);
    sem_getvalue(&s, &v);
    assert(v == 1 && sem_trywait(&s) == 0 && sem_trywait(&s) == -1);
    sem_destroy(&s);
    return 0;
}
