/*
 * A ring of nondeterministic size whose producer does not wait for room.
 * expect: unsafe
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

static void *producer(void *arg) {
    ring[0 % size] = first;
    atomic_store(&tail, 1);
    ring[1 % size] = second;
    atomic_store(&tail, 2);
    return 0;
}

static void *consumer(void *arg) {
    __VERIFIER_assume(atomic_load(&tail) > 0);
    assert(ring[0] == first);
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
