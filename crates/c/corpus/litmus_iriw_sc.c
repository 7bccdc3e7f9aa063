/*
 * Independent reads of independent writes, sequentially consistent.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=15 tso=15 pso=15 ra=15 rc11=15 rc20=15 power=15 armv8=15
 * why: All readers agree on the order of sequentially consistent writes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int x, y;
int r0, r1, r2, r3;

static void *p0(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_seq_cst);
    return 0;
}

static void *p1(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_seq_cst);
    return 0;
}

static void *p2(void *arg) {
    r0 = atomic_load_explicit(&x, memory_order_seq_cst);
    r1 = atomic_load_explicit(&y, memory_order_seq_cst);
    return 0;
}

static void *p3(void *arg) {
    r2 = atomic_load_explicit(&y, memory_order_seq_cst);
    r3 = atomic_load_explicit(&x, memory_order_seq_cst);
    return 0;
}

int main(void) {
    pthread_t t[4];
    pthread_create(&t[0], 0, p0, 0);
    pthread_create(&t[1], 0, p1, 0);
    pthread_create(&t[2], 0, p2, 0);
    pthread_create(&t[3], 0, p3, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    assert(!(r0 == 1 && r1 == 0 && r2 == 1 && r3 == 0));
    return 0;
}
