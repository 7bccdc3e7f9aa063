/*
 * Two threads count without a mutex.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Both may read the same old value.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static int n;

static void *worker(void *arg) {
    n++;
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, worker, 0);
    pthread_create(&t[1], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(n == 2);
    return 0;
}
