/*
 * A test-and-set lock, two threads, with acquire and release.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
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

atomic_flag held = ATOMIC_FLAG_INIT;

static void lock(int me) {
    while (atomic_flag_test_and_set_explicit(&held, ACQ))
        ;
}

static void unlock(int me) { atomic_flag_clear_explicit(&held, REL); }

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
