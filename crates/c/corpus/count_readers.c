/*
 * N readers of one variable and one writer. Known executions: 2^N under every model.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=8 tso=8 pso=8 ra=8 rc11=8 rc20=8 power=8 armv8=8
 * why: Each reader sees the old value or the new one, independently of the others.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 3
#endif
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

atomic_int x;

static void *reader(void *arg) {
    (void)LD(x);
    return 0;
}

static void *writer(void *arg) {
    ST(x, 1);
    return 0;
}

int main(void) {
    pthread_t t[N + 1];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], 0, reader, 0);
    pthread_create(&t[N], 0, writer, 0);
    for (int i = 0; i <= N; i++)
        pthread_join(t[i], 0);
    return 0;
}
