/*
 * Two threads add any amounts to a counter atomically; the sum of two non-negative numbers may be negative.
 * expect: unsafe
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static atomic_int counter;

static void *add(void *arg) {
    int amount = __VERIFIER_nondet_int();
    __VERIFIER_assume(amount >= 0);
    atomic_fetch_add(&counter, amount);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(counter >= 0);
    return 0;
}
