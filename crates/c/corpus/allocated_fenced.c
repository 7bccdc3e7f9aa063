/*
 * The same with a release fence before the relaxed store, and an acquire load.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: What stands before the fence happens before what stands behind the load.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) p;

static void *gives(void *unused) {
    int *q = malloc(sizeof *q);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&p, q, memory_order_relaxed);
    return 0;
}

static void *takes(void *unused) {
    int *q = atomic_load_explicit(&p, memory_order_acquire);
    if (q)
        *q = 18;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, gives, 0);
    pthread_create(&b, 0, takes, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(p);
    return 0;
}
