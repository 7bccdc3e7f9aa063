/*
 * Each function joins the threads that it started.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *leaf(void *a) { return 0; }

void *node(void *a)
{
    pthread_t p, q;
    pthread_create(&p, 0, leaf, 0);
    pthread_create(&q, 0, leaf, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
    return 0;
}

int main(void) { pthread_t p, q; pthread_create(&p, 0, node, 0); pthread_create(&q, 0, leaf, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
