/*
 * Szymanski's algorithm for two threads, with full fences after every store to a flag but the first, and after the critical
 * section: a reconstruction of a program of paper 001, Table 1 (`szymanski y`). Complete executions and those that end in an
 * assumption, under POWER: 226, as in the paper.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=safe armv8=safe
 * count: sc=6 tso=46 pso=46 ra=46 rc11=54 rc20=54 power=46 armv8=46
 * why: Full fences between the moves and the looks that matter. The branch between the last look and the critical
 *      section keeps the write of inside behind it on POWER and ARMv8. RC11 has no such order and no fence stands there: the
 *      write may be older than that of the thread that has left.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

void __VERIFIER_assume(int);

static atomic_int flag[2], inside;

static void *worker(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    ST(flag[me], 1);
    __VERIFIER_assume(LD(flag[other]) < 3);
    ST(flag[me], 3);
    FENCE();
    if (LD(flag[other]) == 1) {
        ST(flag[me], 2);
        FENCE();
        __VERIFIER_assume(LD(flag[other]) == 4);
    }
    ST(flag[me], 4);
    FENCE();
    __VERIFIER_assume(LD(flag[other]) < 2);
    ST(inside, me);
    assert(LD(inside) == me);
    FENCE();
    __VERIFIER_assume(LD(flag[other]) < 2 || LD(flag[other]) > 3);
    ST(flag[me], 0);
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
