/*
 * The latch of PostgreSQL: two workers pass a token, resetting their latch before they look at the work, with full fences:
 * a reconstruction of a program of paper 001, Table 1 (`pgsql y`, loops unrolled 8 times). Complete executions and those that
 * end in an assumption, under POWER: 16, as in the paper.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The flag is written before the latch and read behind it, with a full fence on either side.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define BOUND 8

void __VERIFIER_assume(int);

static atomic_int latch[2] = {1, 0}, flag[2] = {1, 0};

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int k = 0;; k++) {
        __VERIFIER_assume(k < BOUND);
        __VERIFIER_assume(LD(latch[me]));
        FENCE();
        assert(LD(flag[me]));
        ST(latch[me], 0);
        FENCE();
        if (LD(flag[me])) {
            ST(flag[me], 0);
            ST(flag[1 - me], 1);
            FENCE();
            ST(latch[1 - me], 1);
        }
    }
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
