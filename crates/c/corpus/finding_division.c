/*
 * A division by zero.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The divisor is what the other thread wrote, zero at first.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_int d;

static void *worker(void *arg) {
    atomic_store(&d, 2);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    int q = 10 / atomic_load(&d);
    pthread_join(t, 0);
    return q;
}
