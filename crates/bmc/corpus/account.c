/*
 * A bank account behind a mutex; deposits and withdrawals of any amounts that fit.
 * expect: safe
 */
#include <pthread.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int deposited, withdrawn;

static void *deposit(void *arg) {
    int amount = __VERIFIER_nondet_int();
    __VERIFIER_assume(amount >= 0 && amount <= 1000000);
    pthread_mutex_lock(&lock);
    balance += amount;
    pthread_mutex_unlock(&lock);
    deposited = amount;
    return 0;
}

static void *withdraw(void *arg) {
    int amount = __VERIFIER_nondet_int();
    __VERIFIER_assume(amount >= 0 && amount <= 1000000);
    pthread_mutex_lock(&lock);
    if (balance >= amount) {
        balance -= amount;
        withdrawn = amount;
    }
    assert(balance >= 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    balance = __VERIFIER_nondet_int();
    __VERIFIER_assume(balance >= 0 && balance <= 1000000);
    int before = balance;
    pthread_create(&a, 0, deposit, 0);
    pthread_create(&b, 0, withdraw, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(balance == before + deposited - withdrawn);
    return 0;
}
