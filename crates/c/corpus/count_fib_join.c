/*
 * fib_true_join with a parameter N: two threads doing i += j and j += i, N times each, joined; then main reads
 * both. Known executions for N = 2..6: 20, 175, 1764, 19404, 226512 under TSO, RA and RC11; 19, 141, 1107, 8953,
 * 73789 under SC; 19404 for N = 5 under POWER.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=19 tso=20 pso=20 ra=20 rc11=20 rc20=20 power=20 armv8=20
 * why: The largest value is the Fibonacci number of 2N + 2 under SC, and coherence keeps every model below it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 2
#endif
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

atomic_int i = 1, j = 1;

static void *first(void *arg) {
    for (int k = 0; k < N; k++)
        ST(i, LD(i) + LD(j));
    return 0;
}

static void *second(void *arg) {
    for (int k = 0; k < N; k++)
        ST(j, LD(j) + LD(i));
    return 0;
}

int main(void) {
    int limit = 1, before = 1;
    for (int k = 0; k < 2 * N; k++) {
        int sum = limit + before;
        before = limit;
        limit = sum;
    }
    pthread_t t[2];
    pthread_create(&t[0], 0, first, 0);
    pthread_create(&t[1], 0, second, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    assert(LD(i) <= limit);
    assert(LD(j) <= limit);
    return 0;
}
