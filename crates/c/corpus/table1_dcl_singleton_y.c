/*
 * Double-checked locking of a singleton, with full fences: a reconstruction of a program of paper 001, Table 1
 * (`dcl singleton y`). The lock is two flags, which a thread that finds the other's raised does not pass. Complete executions
 * and those that end in an assumption, under POWER: 7, as in the paper.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: The value is written before the flag and read behind it, with a full fence on either side.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

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

static atomic_int ready, value;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    if (!LD(ready)) {
        lock(me);
        if (!LD(ready)) {
            ST(value, 42);
            FENCE();
            ST(ready, 1);
        }
        unlock(me);
    }
    FENCE();
    assert(LD(value) == 42);
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
