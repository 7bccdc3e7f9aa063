/*
 * A function that waits calls itself: the inner wait is no iteration of the outer one.
 * expect: all=FP0101
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;

static void wait_twice(int depth)
{
    while (atomic_load_explicit(&x, memory_order_relaxed))
        ;
    if (depth)
        wait_twice(depth - 1);
}

void *writer(void *u) { x = 1; return 0; }

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    wait_twice(1);
    assert(0);
    return 0;
}
