/*
 * A test-and-test-and-set lock, two threads, with relaxed accesses only.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=4 pso=8 ra=4 rc11=8 rc20=8 power=8 armv8=8
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

atomic_int held;

static void lock(int me) {
    for (;;) {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
        if (!atomic_exchange_explicit(&held, 1, ACQ))
            return;
    }
}

static void unlock(int me) { atomic_store_explicit(&held, 0, REL); }

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
