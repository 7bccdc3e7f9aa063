/*
 * Message passing with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: The acquire load that sees the flag sees what was before its release.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int x, y;
int r0, r1, r2, r3;

static void *p0(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_release);
    return 0;
}

static void *p1(void *arg) {
    r0 = atomic_load_explicit(&y, memory_order_acquire);
    r1 = atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, p0, 0);
    pthread_create(&t[1], 0, p1, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(r0 == 0 || r1 == 1);
    return 0;
}
