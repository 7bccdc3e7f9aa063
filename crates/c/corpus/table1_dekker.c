/*
 * Dekker's algorithm with one round per thread, without fences: a reconstruction of a program of paper 001, Table
 * 1 (`dekker`). The paper unrolls loops 10 times.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=8 pso=16 ra=8 rc11=16 rc20=16 power=16 armv8=16
 * why: Store buffering.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

atomic_int flag[2], turn, inside;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    ST(flag[me], 1);
    while (LD(flag[1 - me])) {
        if (LD(turn) != me) {
            ST(flag[me], 0);
            while (LD(turn) != me)
                ;
            ST(flag[me], 1);
                }
    }
    ST(inside, me);
    assert(LD(inside) == me);
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
