/*
 * Peterson's algorithm with relaxed accesses and sequentially consistent fences, N rounds per thread. Known
 * executions for N = 5 under RC11: 93652.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: The fences stand between announcing and looking, so at most one thread is inside.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 1
#endif
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

atomic_int flag[2], turn, inside;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int k = 0; k < N; k++) {
        ST(flag[me], 1);
        FENCE();
        ST(turn, 1 - me);
        FENCE();
        while (LD(flag[1 - me]) && LD(turn) == 1 - me)
            ;
        FENCE();
        ST(inside, me);
        assert(LD(inside) == me);
        FENCE();
        ST(flag[me], 0);
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
