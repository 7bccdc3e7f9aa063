/*
 * Dekker's algorithm with one round per thread and full fences after the announcement and after the critical section: a
 * reconstruction of a program of paper 001, Table 1 (`dekker y`). Loops that are unrolled there (10 times) are counted here;
 * what the paper counts are complete executions and those that end in an assumption, under POWER: 246.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=safe armv8=safe
 * count: sc=134 tso=134 pso=144 ra=134 rc11=288 rc20=288 power=144 armv8=144
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
#define BOUND 10

void __VERIFIER_assume(int);

static atomic_int flag[2], turn, inside;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    ST(flag[me], 1);
    FENCE();
    for (int k = 0; LD(flag[1 - me]); k++) {
        __VERIFIER_assume(k < BOUND);
        if (LD(turn) != me) {
            ST(flag[me], 0);
            __VERIFIER_assume(LD(turn) == me);
            ST(flag[me], 1);
        }
    }
    ST(inside, me);
    assert(LD(inside) == me);
    FENCE();
    ST(turn, 1 - me);
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
