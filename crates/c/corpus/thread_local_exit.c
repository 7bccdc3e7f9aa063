/*
 * A thread-local object of a thread that leaves by pthread_exit, read without waiting for it.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The thread may have ended when main reads.
 */
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local atomic_int v;
static _Atomic(atomic_int *) g;

static void *thread(void *unused) {
    atomic_store(&v, 3);
    atomic_store(&g, &v);
    pthread_exit(0);
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_int *p = atomic_load(&g);
    return p ? atomic_load(p) : 0;
}
