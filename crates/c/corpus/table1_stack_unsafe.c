/*
 * A stack under a lock whose popper does not look whether there is anything: a reconstruction of a program of paper 001,
 * Table 1 (`stack unsafe`; what the paper counts there ends with the first error).
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=42 tso=42 pso=42 ra=42 rc11=42 rc20=42 power=42 armv8=42
 * why: The popper may come first and take from the empty stack.
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
        int t = LD(top);
        assert(t > 0);
        ST(top, t - 1);
        (void)LD(stack[t - 1]);
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
