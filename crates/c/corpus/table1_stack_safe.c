/*
 * A stack under a lock, one thread pushing and one popping: a reconstruction of a program of paper 001, Table 1 (`stack safe`).
 * The lock is two flags, which a thread that finds the other's raised does not pass. Complete executions and those that end
 * in an assumption, under POWER: 1005, as in the paper.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=252 tso=252 pso=252 ra=252 rc11=252 rc20=252 power=252 armv8=252
 * why: The popper looks before it takes, and everything is between the fences of the lock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define SIZE 5

void __VERIFIER_assume(int);

static atomic_int wants[2];

static void lock(int me) {
    ST(wants[me], 1);
    FENCE();
    __VERIFIER_assume(LD(wants[1 - me]) == 0);
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(wants[me], 0);
}

static atomic_int top, stack[SIZE];

static void *pusher(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        lock(0);
        int t = LD(top);
        assert(t < SIZE);
        ST(stack[t], i);
        ST(top, t + 1);
        unlock(0);
    }
    return 0;
}

static void *popper(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        lock(1);
        if (LD(top) > 0) {
            int t = LD(top);
            assert(t > 0);
            ST(top, t - 1);
            (void)LD(stack[t - 1]);
        }
        unlock(1);
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, pusher, 0);
    pthread_create(&t[1], 0, popper, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
