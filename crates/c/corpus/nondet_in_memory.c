/*
 * Values that are assumed to be small after they were stored, to a global and to a variable whose address is taken.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=12 tso=12 pso=12 ra=12 rc11=12 rc20=12 power=12 armv8=12
 * why: The assumptions leave three values and two, and the sums are what the threads add.
 */
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static int limit, balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *amount) {
    pthread_mutex_lock(&lock);
    balance += *(int *)amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int amount = __VERIFIER_nondet_int();
    __VERIFIER_assume(amount >= 1 && amount <= 3);
    limit = __VERIFIER_nondet_int();
    __VERIFIER_assume(limit == 7 || limit == 9);
    pthread_create(threads, 0, deposit, &amount);
    pthread_create(threads + 1, 0, deposit, &amount);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    assert(balance == 2 * amount && balance < limit);
    return 0;
}
