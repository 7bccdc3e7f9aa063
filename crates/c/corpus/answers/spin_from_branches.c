/*
 * Two calls of a wait on different ways through the same loop.
 * expect: all=FP0101
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x, y;

static int get(void)
{
    int v;
    while ((v = atomic_load(&x)) == 2)
        ;
    return v;
}

void *writer(void *u) { x = 1; x = 2; x = 3; return 0; }

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int sum = 0;
    for (int i = 0; i < 2; i++)
        sum += i ? 10 * get() : get();
    assert(sum != 30);
    return 0;
}
