/*
 * Peterson's algorithm with one round per thread, with fences: a reconstruction of a program of paper 001, Table 1
 * (`peterson y`, 10 traces there).
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Full fences between announcing and looking.
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
    atomic_thread_fence(memory_order_seq_cst);
    ST(turn, 1 - me);
    atomic_thread_fence(memory_order_seq_cst);
    while (LD(flag[1 - me]) && LD(turn) == 1 - me)
        ;
    atomic_thread_fence(memory_order_seq_cst);
    ST(inside, me);
    assert(LD(inside) == me);
    atomic_thread_fence(memory_order_seq_cst);
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
