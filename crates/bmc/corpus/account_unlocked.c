/*
 * The account of account.c, but the deposit forgets the mutex: an update is lost, for some amounts.
 * expect: unsafe
 */
#include <pthread.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *deposit(void *arg) {
    int amount = *(int *)arg;
    int old = balance;
    balance = old + amount;
    return 0;
}

static void *withdraw(void *arg) {
    int amount = *(int *)arg;
    pthread_mutex_lock(&lock);
    if (balance >= amount)
        balance -= amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    int in = __VERIFIER_nondet_int(), out = __VERIFIER_nondet_int();
    __VERIFIER_assume(in >= 0 && in <= 1000000);
    __VERIFIER_assume(out >= 0 && out <= 1000000);
    balance = 1000000;
    pthread_create(&a, 0, deposit, &in);
    pthread_create(&b, 0, withdraw, &out);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(balance == 1000000 + in - out);
    return 0;
}
