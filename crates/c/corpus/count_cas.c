/*
 * N threads, thread i (from 0) doing one relaxed compare-exchange of x from i - 1 to i, with x = 0 at the start.
 * Known executions for N = 4..10: 14, 43, 144, 523, 2048, 8597, 38486.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=14 tso=14 pso=14 ra=14 rc11=14 rc20=14 power=14 armv8=14
 * why: Only chains of consecutive exchanges succeed; there is nothing to violate.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 4
#endif

atomic_int x;

static void *worker(void *arg) {
    int expected = (int)(long)arg - 1;
    atomic_compare_exchange_strong_explicit(&x, &expected, (int)(long)arg, memory_order_relaxed, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[N];
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    return 0;
}
