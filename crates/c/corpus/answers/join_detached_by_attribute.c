/*
 * A thread that is detached from the start.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *t0(void *a) { return 0; }

int main(void)
{
    pthread_t p;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    pthread_create(&p, &a, t0, 0);
    pthread_attr_destroy(&a);
    pthread_join(p, 0);
    return 0;
}
