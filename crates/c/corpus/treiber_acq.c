/*
 * A Treiber stack: one thread pushes a node with a payload, the other pops it, with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: The pop acquires what the push released.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define REL memory_order_release
#define ACQ memory_order_acquire

struct node {
    int value;
    struct node *next;
};
static struct node a, b;
static _Atomic(struct node *) top = &b;

static void *pusher(void *arg) {
    a.value = 1;
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        a.next = old;
    while (!atomic_compare_exchange_weak_explicit(&top, &old, &a, REL, memory_order_relaxed));
    return 0;
}

static void *popper(void *arg) {
    struct node *old = atomic_load_explicit(&top, ACQ);
    while (!atomic_compare_exchange_weak_explicit(&top, &old, old->next, ACQ, ACQ))
        ;
    assert(old == &b || old->value == 1);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, pusher, 0);
    pthread_create(&t[1], 0, popper, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
