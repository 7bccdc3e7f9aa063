/*
 * Two threads, two writes each, in opposite orders, relaxed.
 * expect: sc=safe tso=safe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: Both first writes may win only if stores are not kept in order; RA and RC11 allow it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int x, y;

static void *p0(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 2, memory_order_relaxed);
    return 0;
}

static void *p1(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, p0, 0);
    pthread_create(&t[1], 0, p1, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(!(atomic_load_explicit(&x, memory_order_relaxed) == 1 && atomic_load_explicit(&y, memory_order_relaxed) == 1));
    return 0;
}
