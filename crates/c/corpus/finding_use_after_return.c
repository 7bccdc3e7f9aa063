/*
 * A local variable of a thread is read by another after the function returned.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The pointer is published and outlives the call.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static _Atomic(int *) published;

static void leak(void) {
    int x = 3;
    atomic_store(&published, &x);
}

static void *worker(void *arg) {
    leak();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return *atomic_load(&published);
}
