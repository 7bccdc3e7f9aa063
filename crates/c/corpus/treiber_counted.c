/*
 * A Treiber stack with counted indices packed into 64 bits, against the ABA problem.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=16 tso=16 pso=16 ra=16 rc11=16 rc20=16 power=40 armv8=40
 * why: Push releases the node, pop acquires it, and the count makes a stale exchange fail.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdbool.h>

/* The low half of a word is the number of a node, the high half counts the changes. */
typedef unsigned long long word;
#define INDEX(w) ((unsigned)(w))
#define COUNT(w) ((w) >> 32)
#define WORD(index, count) ((word)(count) << 32 | (index))

struct node {
    int value;
    _Atomic word next;
};
static struct node nodes[4];
static _Atomic word top;

static void push(unsigned n, int value) {
    nodes[n].value = value;
    word old = atomic_load_explicit(&top, memory_order_acquire);
    do
        atomic_store_explicit(&nodes[n].next, WORD(INDEX(old), 0), memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(&top, &old, WORD(n, COUNT(old) + 1), memory_order_release,
                                                    memory_order_acquire));
}

static bool pop(int *value, unsigned *n) {
    word old = atomic_load_explicit(&top, memory_order_acquire);
    for (;;) {
        if (INDEX(old) == 0)
            return false;
        word next = atomic_load_explicit(&nodes[INDEX(old)].next, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&top, &old, WORD(INDEX(next), COUNT(old) + 1),
                                                    memory_order_acquire, memory_order_acquire))
            break;
    }
    *n = INDEX(old);
    *value = nodes[INDEX(old)].value;
    return true;
}

static void *worker(void *arg) {
    unsigned me = (unsigned)(long)arg, n;
    int value;
    push(me, 10 + (int)me);
    bool found = pop(&value, &n);
    assert(found && value == 10 + (int)n);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(INDEX(atomic_load(&top)) == 0);
    return 0;
}
