/*
 * Two threads racing for the largest Fibonacci number, joined before main looks: a reconstruction of a program of
 * paper 001, Table 1.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=8953 tso=19404 pso=19404 ra=19404 rc11=19404 rc20=19404 power=19404 armv8=19404
 * why: The bound is the largest value that any execution reaches.
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
    assert(!(a > LIMIT || b > LIMIT));
    return 0;
}
