/*
 * A Treiber stack with N threads, each pushing one node and popping one.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=20 tso=20 pso=20 ra=40 rc11=40 rc20=40 power=40 armv8=40
 * why: Push releases the node and pop acquires it; with a node per thread nothing is reused.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 2
#endif

struct node {
    int value;
    struct node *next;
};
static struct node nodes[N];
static _Atomic(struct node *) top;

static void push(struct node *n) {
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        n->next = old;
    while (!atomic_compare_exchange_strong_explicit(&top, &old, n, memory_order_release, memory_order_relaxed));
}

static struct node *pop(void) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old && !atomic_compare_exchange_strong_explicit(&top, &old, old->next, memory_order_acquire,
                                                           memory_order_acquire))
        ;
    return old;
}

static void *worker(void *arg) {
    long me = (long)arg;
    nodes[me].value = 42;
    push(&nodes[me]);
    struct node *n = pop();
    assert(n && n->value == 42);
    return 0;
}

int main(void) {
    pthread_t t[N];
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    assert(!atomic_load(&top));
    return 0;
}
