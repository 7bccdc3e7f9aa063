/*
 * A ring of nondeterministic size between one producer and one consumer, any values.
 * expect: safe
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

#define MOST 4
static int ring[MOST];
static int size, first, second;
static atomic_int head, tail;

static void put(int value) {
    int t = atomic_load(&tail);
    __VERIFIER_assume(t - atomic_load(&head) < size);
    ring[t % size] = value;
    atomic_store(&tail, t + 1);
}

static int get(void) {
    int h = atomic_load(&head);
    __VERIFIER_assume(atomic_load(&tail) > h);
    int value = ring[h % size];
    atomic_store(&head, h + 1);
    return value;
}

static void *producer(void *arg) {
    put(first);
    put(second);
    return 0;
}

static void *consumer(void *arg) {
    assert(get() == first);
    assert(get() == second);
    return 0;
}

int main(void) {
    pthread_t a, b;
    size = __VERIFIER_nondet_int();
    __VERIFIER_assume(size >= 1 && size <= MOST);
    first = __VERIFIER_nondet_int();
    second = __VERIFIER_nondet_int();
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
