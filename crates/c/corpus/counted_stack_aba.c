/*
 * A stack whose top is a pointer with a counter that nobody raises.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=14 tso=14 pso=14 ra=14 rc11=15 rc20=15 power=15 armv8=17
 * why: The first thread prepares to take node 1; the second takes both and pushes node 1 again; the first then
 *      succeeds, with node 0, which is taken already, as the new top.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct node {
    _Atomic(struct node *) next;
    int value;
};

struct top {
    struct node *first;
    uintptr_t count;
};

static _Atomic struct top stack = { 0, 5 };
static struct node nodes[2] = { { 0, 0 }, { 0, 1 } };
static atomic_int taken[2];

#define NEXT(count) (count)
#ifndef NEXT
#define NEXT(count) ((count) + 1)
#endif

static void push(struct node *node) {
    struct top old = atomic_load_explicit(&stack, memory_order_relaxed), new;
    do {
        atomic_store_explicit(&node->next, old.first, memory_order_relaxed);
        new.first = node;
        new.count = NEXT(old.count);
    } while (!atomic_compare_exchange_strong_explicit(&stack, &old, new, memory_order_release, memory_order_relaxed));
}

static struct node *pop(void) {
    struct top old = atomic_load_explicit(&stack, memory_order_acquire), new;
    do {
        if (!old.first)
            return 0;
        new.first = atomic_load_explicit(&old.first->next, memory_order_relaxed);
        new.count = NEXT(old.count);
    } while (!atomic_compare_exchange_strong_explicit(&stack, &old, new, memory_order_acq_rel, memory_order_acquire));
    return old.first;
}

static void keep(struct node *node) {
    if (node)
        assert(atomic_exchange_explicit(&taken[node->value], 1, memory_order_relaxed) == 0);
}

static void *one(void *unused) {
    keep(pop());
    return 0;
}

static void *two(void *unused) {
    struct node *first = pop();
    struct node *second = pop();
    if (first)
        push(first);
    keep(second);
    return 0;
}

int main(void) {
    push(&nodes[0]);
    push(&nodes[1]);
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    keep(pop());
    return 0;
}
