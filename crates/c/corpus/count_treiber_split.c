/*
 * A Treiber stack with PUSHERS threads that push one node each and POPPERS threads that pop one each.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=16 tso=16 pso=16 ra=20 rc11=20 rc20=20 power=20 armv8=20
 * why: Push releases the node and pop acquires it; with a node per thread nothing is reused.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef POPPERS
#define POPPERS 1
#endif

struct node {
    int value;
    struct node *next;
};
static struct node nodes[PUSHERS];
static _Atomic(struct node *) top;

static void *push(void *arg) {
    struct node *n = &nodes[(long)arg];
    n->value = 42;
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        n->next = old;
    while (!atomic_compare_exchange_strong_explicit(&top, &old, n, memory_order_release, memory_order_relaxed));
    return 0;
}

static void *pop(void *arg) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old && !atomic_compare_exchange_strong_explicit(&top, &old, old->next, memory_order_acquire,
                                                           memory_order_acquire))
        ;
    assert(!old || old->value == 42);
    return 0;
}

int main(void) {
    pthread_t t[PUSHERS + POPPERS];
    for (long i = 0; i < PUSHERS; i++)
        pthread_create(&t[i], 0, push, (void *)i);
    for (int i = PUSHERS; i < PUSHERS + POPPERS; i++)
        pthread_create(&t[i], 0, pop, 0);
    for (int i = 0; i < PUSHERS + POPPERS; i++)
        pthread_join(t[i], 0);
    return 0;
}
