/*
 * Lamport's fast mutual exclusion, two threads, with fences: a reconstruction of a program of paper 001, Table 1
 * (`lamport y`, 50 traces there). The paper unrolls loops 8 times.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=16 tso=16 pso=26 ra=16 rc11=28 power=26 armv8=26
 * why: Full fences after each announcement.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

atomic_int x, y, b[2], inside;

static void *worker(void *arg) {
    int me = (int)(long)arg;
again:
    ST(b[me], 1);
    ST(x, me + 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (LD(y) != 0) {
        ST(b[me], 0);
        while (LD(y) != 0)
            ;
        goto again;
    }
    ST(y, me + 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (LD(x) != me + 1) {
        ST(b[me], 0);
        atomic_thread_fence(memory_order_seq_cst);
        while (LD(b[1 - me]))
            ;
        atomic_thread_fence(memory_order_seq_cst);
        if (LD(y) != me + 1) {
            while (LD(y) != 0)
                ;
            goto again;
        }
    }
    atomic_thread_fence(memory_order_seq_cst);
    ST(inside, me);
    assert(LD(inside) == me);
    atomic_thread_fence(memory_order_seq_cst);
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
