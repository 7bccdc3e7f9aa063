/*
 * An atomic access to an allocation that was published by a relaxed exchange.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Atomic accesses do not race, but the object need not be there yet.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(atomic_int *) p;

static void *gives(void *unused) {
    atomic_int *q = calloc(1, sizeof *q);
    atomic_exchange_explicit(&p, q, memory_order_relaxed);
    return 0;
}

static void *takes(void *unused) {
    atomic_int *q = atomic_load_explicit(&p, memory_order_acquire);
    if (q)
        atomic_fetch_add_explicit(q, 1, memory_order_relaxed);
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
