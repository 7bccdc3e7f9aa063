/*
 * A lock in the style of the Linux queued spinlock: one waiter is pending, the others queue, three threads, with
 * acquire and release.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=444 tso=444 pso=444 ra=444 rc11=444 rc20=444 power=444 armv8=444
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

enum { LOCKED = 1, PENDING = 256 };
struct node {
    _Atomic(struct node *) next;
    atomic_int wait;
};
static atomic_int word;
static struct node nodes[THREADS];
static _Atomic(struct node *) tail;

static void take(void) {
    int v;
    for (;;) {
        while (atomic_load_explicit(&word, ACQ) & LOCKED)
            ;
        v = atomic_load_explicit(&word, memory_order_relaxed);
        if (!(v & LOCKED) && atomic_compare_exchange_strong_explicit(&word, &v, (v & ~PENDING) | LOCKED, ACQ,
                                                                     memory_order_relaxed))
            return;
    }
}

static void lock(int me) {
    int v = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &v, LOCKED, ACQ, memory_order_relaxed))
        return;
    if (!(atomic_fetch_or_explicit(&word, PENDING, ACQ) & PENDING)) {
        take();
        return;
    }
    struct node *mine = &nodes[me];
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, ACQREL);
    if (before) {
        atomic_store_explicit(&before->next, mine, REL);
        while (atomic_load_explicit(&mine->wait, ACQ))
            ;
    }
    take();
    struct node *expected = mine, *after;
    if (!atomic_compare_exchange_strong_explicit(&tail, &expected, (struct node *)0, REL, memory_order_relaxed)) {
        while (!(after = atomic_load_explicit(&mine->next, ACQ)))
            ;
        atomic_store_explicit(&after->wait, 0, REL);
    }
}

static void unlock(int me) { atomic_fetch_and_explicit(&word, ~LOCKED, REL); }

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
