/*
 * Load buffering past an assertion: release builds do not have it.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Both machines may do the store to y before the load of x, since the assertion is not there in a release build.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;

void *t0(void *a)
{
    int r = atomic_load_explicit(&x, memory_order_relaxed);
    assert(r == 0);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return 0;
}

void *t1(void *a)
{
    if (atomic_load_explicit(&y, memory_order_relaxed) == 1)
        atomic_store_explicit(&x, 1, memory_order_relaxed);
    return 0;
}

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
