/*
 * N threads doing one fetch_add on one variable. Known executions: N! under every model.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
 * why: Read-modify-writes of one variable are totally ordered, and every order is possible.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 3
#endif

atomic_int x;

static void *worker(void *arg) {
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    return 0;
}
