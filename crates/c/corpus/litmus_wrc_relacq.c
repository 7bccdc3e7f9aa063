/*
 * Write to read causality with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=5 tso=5 pso=5 ra=5 rc11=5 rc20=5 power=5 armv8=5
 * why: Release and acquire are cumulative.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int x, y;
int r0, r1, r2, r3;

static void *p0(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return 0;
}

static void *p1(void *arg) {
    r0 = atomic_load_explicit(&x, memory_order_acquire);
    if (r0)
        atomic_store_explicit(&y, 1, memory_order_release);
    return 0;
}

static void *p2(void *arg) {
    r1 = atomic_load_explicit(&y, memory_order_acquire);
    r2 = atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, p0, 0);
    pthread_create(&t[1], 0, p1, 0);
    pthread_create(&t[2], 0, p2, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    assert(!(r1 == 1 && r2 == 0));
    return 0;
}
