/*
 * A loop that reads its bound before any thread is started.
 * expect: all=FP0101
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int length = 11, a[16];
atomic_int x;

void *run(void *u) { x = a[10]; return 0; }

int main(void)
{
    for (int i = 0; i < length; i++)
        a[i] = i;
    pthread_t p;
    pthread_create(&p, 0, run, 0);
    pthread_join(p, 0);
    assert(x != 10);
    return 0;
}
