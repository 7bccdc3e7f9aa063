/*
 * A Treiber stack: one thread pushes a node with a payload, the other pops it, with relaxed accesses only.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=4 rc20=4 power=4 armv8=4
 * why: The payload races with its reader in RC11 and may be seen late on POWER and ARMv8; on TSO and PSO the
 *      compare-exchange drains the store buffer, and RA synchronises.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define REL memory_order_relaxed
#define ACQ memory_order_relaxed

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
