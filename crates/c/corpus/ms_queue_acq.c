/*
 * The queue of Michael and Scott: two threads enqueue, one dequeues, with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=24 tso=24 pso=24 ra=24 rc11=24 rc20=24 power=24 armv8=32
 * why: Linking a node releases its value; following the link acquires it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define REL memory_order_release
#define ACQ memory_order_acquire

struct node {
    int value;
    _Atomic(struct node *) next;
};
static struct node nodes[3];
static _Atomic(struct node *) head = &nodes[2], tail = &nodes[2];

static void enqueue(struct node *n, int value) {
    n->value = value;
    atomic_store_explicit(&n->next, 0, memory_order_relaxed);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, ACQ);
        struct node *after = atomic_load_explicit(&last->next, ACQ);
        if (after) {
            atomic_compare_exchange_strong_explicit(&tail, &last, after, REL, memory_order_relaxed);
            continue;
        }
        if (atomic_compare_exchange_strong_explicit(&last->next, &after, n, REL, memory_order_relaxed)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, n, REL, memory_order_relaxed);
            return;
        }
    }
}

static int dequeue(void) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, ACQ);
        struct node *after = atomic_load_explicit(&first->next, ACQ);
        if (!after)
            return 0;
        int value = after->value;
        if (atomic_compare_exchange_strong_explicit(&head, &first, after, REL, memory_order_relaxed))
            return value;
    }
}

static void *producer(void *arg) {
    long me = (long)arg;
    enqueue(&nodes[me], (int)me + 1);
    return 0;
}

static void *consumer(void *arg) {
    int got = dequeue();
    int more = dequeue();
    assert(got >= 0 && got <= 2 && more >= 0 && more <= 2);
    assert(got == 0 || more == 0 || got + more == 3);
    return 0;
}

int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, producer, (void *)i);
    pthread_create(&t[2], 0, consumer, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
