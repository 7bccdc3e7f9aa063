/*
 * The queue lock of Craig, Landin and Hagersten, two threads, with relaxed accesses only.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=4 ra=2 rc11=8 rc20=8 power=8 armv8=8
 * why: The store that unlocks may overtake the store to `shared` wherever stores are not kept in order (PSO,
 *      POWER, ARMv8) and gives no happens-before (RC11). TSO keeps stores in order and RA makes every atomic
 *      release and acquire.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 2
#define ACQ memory_order_relaxed
#define REL memory_order_relaxed
#define ACQREL memory_order_relaxed

static atomic_int cells[THREADS + 1];
static _Atomic(atomic_int *) tail = &cells[THREADS];
static atomic_int *mine[THREADS];

static void lock(int me) {
    mine[me] = &cells[me];
    atomic_store_explicit(mine[me], 1, memory_order_relaxed);
    atomic_int *before = atomic_exchange_explicit(&tail, mine[me], ACQREL);
    while (atomic_load_explicit(before, ACQ))
        ;
}

static void unlock(int me) { atomic_store_explicit(mine[me], 0, REL); }

static int shared;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    lock(me);
    shared = me;
    assert(shared == me);
    unlock(me);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
