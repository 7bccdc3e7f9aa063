/*
 * A test-and-test-and-set lock, two threads, with acquire and release.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Taking the lock acquires what releasing it released, which is all that mutual exclusion of plain data
 *      needs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 2
#define ACQ memory_order_acquire
#define REL memory_order_release
#define ACQREL memory_order_acq_rel

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
