/*
 * A ticket lock, three threads, with acquire and release.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
 * why: Taking the lock acquires what releasing it released, which is all that mutual exclusion of plain data
 *      needs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 3
#define ACQ memory_order_acquire
#define REL memory_order_release
#define ACQREL memory_order_acq_rel

atomic_uint next, serving;

static void lock(int me) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, ACQ) != mine)
        ;
}

static void unlock(int me) {
    unsigned now = atomic_load_explicit(&serving, memory_order_relaxed);
    atomic_store_explicit(&serving, now + 1, REL);
}

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
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
