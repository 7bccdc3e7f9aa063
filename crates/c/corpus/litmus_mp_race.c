/*
 * Message passing of plain data under a relaxed flag.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: A data race for RC11, and reordering on PSO, POWER and ARMv8; RA makes the flag release and acquire.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

int data;
atomic_int y;
int r0, r1 = 1;

static void *p0(void *arg) {
    data = 1;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return 0;
}

static void *p1(void *arg) {
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
    if (r0)
        r1 = data;
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, p0, 0);
    pthread_create(&t[1], 0, p1, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(r1 == 1);
    return 0;
}
