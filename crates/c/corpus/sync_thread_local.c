/*
 * Thread-local variables do not interfere.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: Each thread counts in its own copy.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static _Thread_local int n = 10;

static void *worker(void *arg) {
    n += (int)(long)arg;
    assert(n == 10 + (int)(long)arg);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)(i + 1));
    n = 3;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(n == 3);
    return 0;
}
