/*
 * Two threads racing for the largest Fibonacci number in three rounds each, main looks while they run.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * why: 1, 1, 2, 3, 5, 8, 13, 21: strict alternation of six rounds reaches 21, and nothing more than that.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

#define N 3
#define LIMIT 22

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
    int a = LD(i), b = LD(j);
    assert(!(a >= LIMIT || b >= LIMIT));
    return 0;
}
