/*
 * The same in a function that checks its argument.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=unsafe armv8=unsafe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: The check is compiled away, the store may come before the load.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void check(int r) { assert(r != 2); }

static void *observes(void *unused) {
    int r = atomic_load_explicit(&x, memory_order_relaxed);
    int s = atomic_load_explicit(&y, memory_order_relaxed);
    check(r + s - s);
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
