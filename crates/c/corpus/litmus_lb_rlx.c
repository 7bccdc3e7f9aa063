/*
 * Load buffering, relaxed.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=unsafe armv8=unsafe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: Only POWER and ARMv8 let a store overtake an earlier load; RC11 forbids po and rf cycles.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int x, y;
int r0, r1, r2, r3;

static void *p0(void *arg) {
    r0 = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return 0;
}

static void *p1(void *arg) {
    r1 = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, p0, 0);
    pthread_create(&t[1], 0, p1, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(r0 == 0 || r1 == 0);
    return 0;
}
