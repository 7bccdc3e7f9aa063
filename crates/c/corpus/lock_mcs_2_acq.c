/*
 * The queue lock of Mellor-Crummey and Scott, two threads, with acquire and release.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
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

struct node {
    _Atomic(struct node *) next;
    atomic_int wait;
};
static struct node nodes[THREADS];
static _Atomic(struct node *) tail;

static void lock(int me) {
    struct node *mine = &nodes[me];
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, ACQREL);
    if (!before)
        return;
    atomic_store_explicit(&before->next, mine, REL);
    while (atomic_load_explicit(&mine->wait, ACQ))
        ;
}

static void unlock(int me) {
    struct node *mine = &nodes[me];
    struct node *after = atomic_load_explicit(&mine->next, ACQ);
    if (!after) {
        struct node *expected = mine;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, (struct node *)0, REL, memory_order_relaxed))
            return;
        while (!(after = atomic_load_explicit(&mine->next, ACQ)))
            ;
    }
    atomic_store_explicit(&after->wait, 0, REL);
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
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
