/*
 * Lamport's fast mutual exclusion for two threads, with full fences after x and y are written and after the critical section:
 * a reconstruction of a program of paper 001, Table 1 (`lamport y`, loops unrolled 8 times). Complete executions and those
 * that end in an assumption, under POWER: 50, as in the paper.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=safe armv8=safe
 * count: sc=16 tso=16 pso=26 ra=16 rc11=40 rc20=40 power=30 armv8=30
 * why: Full fences between announcing and looking. The branch between the last look and the critical
 *      section keeps the write of inside behind it on POWER and ARMv8. RC11 has no such order and no fence stands there: the
 *      write may be older than that of the thread that has left.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define BOUND 8

void __VERIFIER_assume(int);

static atomic_int x, y, b[2], inside;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int k = 0;; k++) {
        __VERIFIER_assume(k < BOUND);
        ST(b[me], 1);
        ST(x, me + 1);
        FENCE();
        if (LD(y) != 0) {
            ST(b[me], 0);
            __VERIFIER_assume(LD(y) == 0);
            continue;
        }
        ST(y, me + 1);
        FENCE();
        if (LD(x) == me + 1)
            break;
        ST(b[me], 0);
        __VERIFIER_assume(LD(b[1 - me]) == 0);
        if (LD(y) == me + 1)
            break;
        __VERIFIER_assume(LD(y) == 0);
    }
    ST(inside, me);
    assert(LD(inside) == me);
    FENCE();
    ST(y, 0);
    ST(b[me], 0);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
