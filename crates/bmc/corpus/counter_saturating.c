/*
 * The counter of counter_overflow.c, saturating by compare-exchange: it never gets negative.
 * expect: safe
 */
#include <pthread.h>
#include <stdatomic.h>
#include <limits.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static atomic_int counter;

static void *add(void *arg) {
    int amount = __VERIFIER_nondet_int();
    __VERIFIER_assume(amount >= 0);
    int old = atomic_load(&counter);
    for (;;) {
        int next = old > INT_MAX - amount ? INT_MAX : old + amount;
        if (atomic_compare_exchange_strong(&counter, &old, next))
            return 0;
    }
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
