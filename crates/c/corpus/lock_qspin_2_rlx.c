/*
 * A lock in the style of the Linux queued spinlock: one waiter is pending, the others queue, two threads, with
 * relaxed accesses only.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=12 rc20=12 power=12 armv8=12
 * why: Nothing orders the critical section with the unlock, so its store may be seen late; on TSO and PSO the
 *      read-modify-write that unlocks drains the store buffer, and RA makes every atomic release and acquire.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 2
#define ACQ memory_order_relaxed
#define REL memory_order_relaxed
#define ACQREL memory_order_relaxed

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
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
