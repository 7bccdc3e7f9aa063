/*
 * Lamport's fast mutual exclusion, two threads, without fences: a reconstruction of a program of paper 001, Table
 * 1 (`lamport`). The paper unrolls loops 8 times.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=16 tso=36 pso=144 ra=40 rc11=144 rc20=144 power=144 armv8=144
 * why: Store buffering on x and y.
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
    if (LD(y) != 0) {
        ST(b[me], 0);
        while (LD(y) != 0)
            ;
        goto again;
    }
    ST(y, me + 1);
    if (LD(x) != me + 1) {
        ST(b[me], 0);
            while (LD(b[1 - me]))
            ;
            if (LD(y) != me + 1) {
            while (LD(y) != 0)
                ;
            goto again;
        }
    }
    ST(inside, me);
    assert(LD(inside) == me);
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
