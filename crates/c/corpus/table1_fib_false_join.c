/*
 * Two threads racing for the largest Fibonacci number, joined before main looks: a reconstruction of a program of
 * paper 001, Table 1.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=8951 tso=19402 pso=19402 ra=19402 rc11=19402 rc20=19402 power=19402 armv8=19402
 * why: The bound is reached by strict alternation.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

#define N 5
#define LIMIT 144

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
    pthread_t t[2];
    pthread_create(&t[0], 0, first, 0);
    pthread_create(&t[1], 0, second, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    int a = LD(i), b = LD(j);
    assert(!(a >= LIMIT || b >= LIMIT));
    return 0;
}
