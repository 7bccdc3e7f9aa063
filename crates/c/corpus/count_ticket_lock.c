/*
 * A ticket lock with N threads. Known executions: N! (the orders of the tickets; 40320 for N = 8).
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
 * why: The tickets decide who is when in the critical section, and a waiting thread is blocked, not counted.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 3
#endif

atomic_uint next, serving;
int shared;

static void *worker(void *arg) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
        ;
    shared++;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    assert(shared == N);
    return 0;
}
