/*
 * A local object whose address is published without a release.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=safe armv8=safe
 * count: sc=2 tso=2 pso=3 ra=2 rc11=3 rc20=3 power=3 armv8=3
 * why: The declaration of the object need not happen before the use by the other thread.
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(atomic_int *) p;
static pthread_t reader;

static void *reads(void *unused) {
    atomic_int *q = atomic_load_explicit(&p, memory_order_relaxed);
    if (q)
        atomic_store_explicit(q, 2, memory_order_relaxed);
    return 0;
}

static void *gives(void *unused) {
    atomic_int x;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&p, &x, memory_order_relaxed);
    pthread_join(reader, 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&reader, 0, reads, 0);
    pthread_create(&t, 0, gives, 0);
    pthread_join(t, 0);
    return 0;
}
