/*
 * The latch of PostgreSQL with a bounded number of turns, with fences: a reconstruction of a program of paper 001,
 * Table 1 (`pgsql_bnd y`, 36211 traces there).
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=40 tso=40 pso=40 ra=40 rc11=40 rc20=40 power=40 armv8=40
 * why: The fence makes the flag visible before the latch, and the reset of the latch before the flag is read.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

static atomic_int latch[2] = {1, 0}, flag[2] = {1, 0};

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int k = 0; k < 2; k++) {
        for (int tries = 0; tries < 2 && !LD(latch[me]); tries++)
            ;
        if (!LD(latch[me]))
            break;
        atomic_thread_fence(memory_order_seq_cst);
        assert(LD(flag[me]));
        ST(latch[me], 0);
        atomic_thread_fence(memory_order_seq_cst);
        if (LD(flag[me])) {
            ST(flag[me], 0);
            ST(flag[1 - me], 1);
            atomic_thread_fence(memory_order_seq_cst);
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
