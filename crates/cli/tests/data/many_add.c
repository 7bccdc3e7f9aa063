#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int sum;

static void *adder(void *arg) {
    atomic_fetch_add_explicit(&sum, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, adder, 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    assert(atomic_load(&sum) == N);
    return 0;
}
