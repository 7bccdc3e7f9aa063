/*
 * main returns while a thread still runs.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The other threads finish; their assertions count.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_int x;

static void *worker(void *arg) {
    atomic_store(&x, 1);
    assert(atomic_load(&x) == 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_detach(t);
    return 0;
}
