/*
 * A branch to abort is there in release builds, and does order.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: The store to y is control-dependent on the load of x.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x, y;

static void *observes(void *unused) {
    int r = atomic_load_explicit(&x, memory_order_relaxed);
    if (r == 2)
        abort();
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return 0;
}

static void *copies(void *unused) {
    int r = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&x, r + 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, observes, 0);
    pthread_create(&b, 0, copies, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
