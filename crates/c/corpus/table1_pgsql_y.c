/*
 * The latch of PostgreSQL: two workers pass a token, resetting their latch before they look at the work, with
 * fences: a reconstruction of a program of paper 001, Table 1 (`pgsql y`, 16 traces there). The paper unrolls
 * loops 8 times.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 power=1 armv8=1
 * why: The fence makes the flag visible before the latch.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

static atomic_int latch[2] = {1, 0}, flag[2] = {1, 0};

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int k = 0; k < 1; k++) {
        while (!LD(latch[me]))
            ;
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
