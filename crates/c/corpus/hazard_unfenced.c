/*
 * Hazard pointers: a reader announces the node it uses, the writer frees only what is not announced, without the
 * full fences.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=8 tso=9 pso=9 ra=9 rc11=9 rc20=9 power=9 armv8=9
 * why: Store buffering: the reader's announcement is not seen and its second look is too early, so it reads
 *      freed memory.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdlib.h>

static _Atomic(int *) current;
static _Atomic(int *) hazard;

static void *reader(void *arg) {
    int *p = atomic_load_explicit(&current, memory_order_acquire);
    atomic_store_explicit(&hazard, p, memory_order_relaxed);
    if (atomic_load_explicit(&current, memory_order_acquire) == p)
        assert(*p >= 1);
    atomic_store_explicit(&hazard, 0, memory_order_release);
    return 0;
}

static void *writer(void *arg) {
    int *fresh = malloc(sizeof *fresh);
    *fresh = 2;
    int *old = atomic_exchange_explicit(&current, fresh, memory_order_acq_rel);
    if (atomic_load_explicit(&hazard, memory_order_acquire) != old)
        free(old);
    return 0;
}

int main(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    atomic_store(&current, first);
    pthread_t t[2];
    pthread_create(&t[0], 0, reader, 0);
    pthread_create(&t[1], 0, writer, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
