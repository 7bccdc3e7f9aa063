/*
 * A stack whose top is a pointer with a counter, exchanged at once: 16 bytes.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=13 tso=13 pso=13 ra=13 rc11=14 rc20=14 power=14 armv8=18
 * why: A node that was taken and pushed again comes back with another counter, so that a compare-exchange that was prepared
 *      before fails.
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
